/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hx_sim_line_next(struct hx_sim_line *line) {
    while (line->at < line->length &&
           (line->text[line->at] == ' ' || line->text[line->at] == '\t' || line->text[line->at] == '\r')) {
        line->at++;
    }
    line->quoted = false;
    line->word = line->text + line->at;
    line->word_length = 0;
    if (line->at == line->length || line->text[line->at] == '#') {
        return false;
    }
    if (line->text[line->at] == '"') {
        line->quoted = true;
        const char *begin = line->text + line->at + 1;
        const char *end = memchr(begin, '"', line->length - line->at - 1);
        if (end == NULL) {
            line->word = NULL;
            return true;
        }
        line->word = begin;
        line->word_length = (size_t)(end - begin);
        line->at = (size_t)(end - line->text) + 1;
        return true;
    }
    while (line->at < line->length && strchr(" \t\r#\"", line->text[line->at]) == NULL) {
        line->at++;
        line->word_length++;
    }
    if (line->word_length == 0) { /* a NUL byte, which strchr finds */
        line->at++;
        line->word_length = 1;
    }
    return true;
}

bool hx_sim_line_is(const struct hx_sim_line *line, const char *keyword) {
    return line->word != NULL && !line->quoted && line->word_length == strlen(keyword) &&
           memcmp(line->word, keyword, line->word_length) == 0;
}

unsigned hx_sim_line_column(const struct hx_sim_line *line) {
    size_t at = line->word != NULL ? (size_t)(line->word - line->text) : line->at;
    return (unsigned)at + (line->quoted && line->word != NULL ? 0 : 1); /* the quote, not what it quotes */
}

enum ip_status hx_sim_line_fail(const struct hx_sim_line *line, size_t offset, struct ip_error *err,
                                const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ip_fail_at(err, IP_SYNTAX, line->file, line->number, hx_sim_line_column(line) + (unsigned)offset,
                      "%s", text);
}

/* The next word as a NUL-terminated copy; false: there is none, or it does not fit. */
static bool word_copy(struct hx_sim_line *line, char *buffer, size_t size) {
    if (!hx_sim_line_next(line) || line->word == NULL || line->word_length >= size) {
        return false;
    }
    memcpy(buffer, line->word, line->word_length);
    buffer[line->word_length] = '\0';
    return strlen(buffer) == line->word_length; /* no NUL inside */
}

enum ip_status hx_sim_line_integer(struct hx_sim_line *line, const char *what, uint64_t low, uint64_t high,
                                   uint64_t *value, struct ip_error *err) {
    char word[32];
    uint64_t result = 0;
    bool good = word_copy(line, word, sizeof word) && !line->quoted && word[0] != '\0';
    for (const char *c = word; good && *c != '\0'; c++) {
        good = *c >= '0' && *c <= '9' && result <= (UINT64_MAX - 9) / 10;
        result = result * 10 + (uint64_t)(*c - '0');
    }
    if (!good || result < low || result > high) {
        return hx_sim_line_fail(line, 0, err, "%s: an integer from %llu to %llu is expected", what,
                                (unsigned long long)low, (unsigned long long)high);
    }
    *value = result;
    return IP_OK;
}

enum ip_status hx_sim_line_number(struct hx_sim_line *line, const char *what, double low, double high,
                                  double *value, struct ip_error *err) {
    char word[40];
    char *end = word;
    double result = 0;
    bool good = word_copy(line, word, sizeof word) && !line->quoted &&
                strspn(word, "0123456789.eE+-") == strlen(word);
    if (good) {
        result = strtod(word, &end);
    }
    if (!good || end == word || *end != '\0' || !isfinite(result) || result < low || result > high) {
        return hx_sim_line_fail(line, 0, err, "%s: a number from %g to %g is expected", what, low, high);
    }
    *value = result;
    return IP_OK;
}

enum ip_status hx_sim_line_string(struct hx_sim_line *line, const char *what, char *buffer, size_t size,
                                  struct ip_error *err) {
    char copy[512];
    if (!word_copy(line, copy, size < sizeof copy ? size : sizeof copy) || copy[0] == '\0') {
        return hx_sim_line_fail(
            line, 0, err, "%s: a name of 1 to %zu characters is expected (in double quotes if it has blanks)",
            what, size - 1);
    }
    memcpy(buffer, copy, strlen(copy) + 1);
    return IP_OK;
}

enum ip_status hx_sim_line_end(struct hx_sim_line *line, struct ip_error *err) {
    if (hx_sim_line_next(line)) {
        return hx_sim_line_fail(line, 0, err, "nothing more is expected on this line");
    }
    return IP_OK;
}
