/* SPDX-License-Identifier: Apache-2.0 */
#include "power/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

enum ip_status pw_file_read(struct ip_text *text, const char *path, const char *what, struct ip_error *err) {
    char expected[80];
    (void)snprintf(expected, sizeof expected, "%.60s is expected", what);
    return ip_text_file_read(text, path, FILE_BYTES_MAX, expected, err);
}

void pw_reader_init(struct pw_reader *reader, const char *file, const char *text) {
    memset(reader, 0, sizeof *reader);
    reader->file = file;
    reader->next = text;
}

enum ip_status pw_reader_fail(const struct pw_reader *reader, struct ip_error *err, const char *format, ...) {
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ip_fail_at(err, IP_SYNTAX, reader->file, reader->line, 0, "%s", text);
}

bool pw_reader_raw(struct pw_reader *reader) {
    if (*reader->next == '\0') {
        return false;
    }
    reader->line++;
    reader->raw = reader->next;
    reader->raw_length = strcspn(reader->next, "\n");
    reader->next += reader->raw_length;
    reader->next += *reader->next == '\n';
    return true;
}

static enum ip_status words_split(struct pw_reader *reader, struct ip_error *err) {
    size_t length = strcspn(reader->raw, "#\n");
    if (length >= sizeof reader->copy) {
        return pw_reader_fail(reader, err, "the line is longer than %zu characters", sizeof reader->copy - 1);
    }
    memcpy(reader->copy, reader->raw, length);
    reader->copy[length] = '\0';
    reader->count = 0;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)reader->copy[i];
        if (c == ' ' || c == '\t' || c == '\r') {
            reader->copy[i++] = '\0';
            continue;
        }
        reader->offsets[reader->count] = i;
        reader->words[reader->count++] = reader->copy + i;
        while (i < length && strchr(" \t\r", reader->copy[i]) == NULL) {
            c = (unsigned char)reader->copy[i++];
            if (c < 0x20 || c == 0x7f) {
                return pw_reader_fail(reader, err, "a control character (0x%02x): this file is to be text",
                                      c);
            }
        }
    }
    return IP_OK;
}

enum ip_status pw_reader_next(struct pw_reader *reader, bool *more, struct ip_error *err) {
    while (pw_reader_raw(reader)) {
        enum ip_status status = words_split(reader, err);
        if (status != IP_OK) {
            return status;
        }
        if (reader->count > 0) {
            *more = true;
            return IP_OK;
        }
    }
    *more = false;
    return IP_OK;
}

/* Length of the decimal number that begins `word`, 0 if none. No "inf", "nan", hexadecimal. */
static size_t number_length(const char *word) {
    size_t at = strspn(word, "+-") <= 1 ? strspn(word, "+-") : 0;
    size_t digits = strspn(word + at, "0123456789");
    at += digits;
    if (word[at] == '.') {
        size_t more = strspn(word + at + 1, "0123456789");
        digits += more;
        at += 1 + more;
    }
    if (digits == 0) {
        return 0;
    }
    if (word[at] == 'e' || word[at] == 'E') {
        size_t sign = word[at + 1] == '+' || word[at + 1] == '-';
        size_t exponent = strspn(word + at + 1 + sign, "0123456789");
        at += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return at;
}

bool pw_number(const char *word, double *number) {
    size_t length = number_length(word);
    if (length == 0 || word[length] != '\0') {
        return false;
    }
    double value = strtod(word, NULL);
    if (!isfinite(value)) {
        return false;
    }
    *number = value;
    return true;
}

struct unit {
    const char *name;
    double scale;
};

static const struct unit units[][8] = {
    [PW_UNIT_HZ] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {NULL, 0}},
    [PW_UNIT_VOLT] = {{"V", 1}, {"mV", 1e-3}, {"uV", 1e-6}, {NULL, 0}},
    [PW_UNIT_WATT] = {{"W", 1}, {"mW", 1e-3}, {NULL, 0}},
    [PW_UNIT_FARAD] = {{"F", 1}, {"uF", 1e-6}, {"nF", 1e-9}, {"pF", 1e-12}, {NULL, 0}},
    [PW_UNIT_SECOND] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}},
    [PW_UNIT_BYTE] = {{"bytes", 1}, {"byte", 1}, {"KiB", 1024}, {"MiB", 1048576}, {NULL, 0}},
};

static const char *const unit_examples[] = {
    [PW_UNIT_HZ] = "Hz, kHz, MHz or GHz", [PW_UNIT_VOLT] = "V, mV or uV",
    [PW_UNIT_WATT] = "W or mW",           [PW_UNIT_FARAD] = "F, uF, nF or pF",
    [PW_UNIT_SECOND] = "s, ms, us or ns", [PW_UNIT_BYTE] = "bytes, KiB or MiB",
};

enum ip_status pw_quantity(const struct pw_reader *reader, size_t *at, enum pw_unit unit, const char *what,
                           double *value, struct ip_error *err) {
    if (*at >= reader->count) {
        return pw_reader_fail(reader, err, "the %s is missing: a number and its unit (%s)", what,
                              unit_examples[unit]);
    }
    const char *word = reader->words[*at];
    size_t length = number_length(word);
    if (length == 0) {
        return pw_reader_fail(reader, err, "'%.40s' is no number: the %s is a number and its unit (%s)", word,
                              what, unit_examples[unit]);
    }
    const char *name = word + length;
    size_t used = 1;
    if (*name == '\0') {
        name = *at + 1 < reader->count ? reader->words[*at + 1] : "";
        used = 2;
    }
    double scale = 0;
    for (const struct unit *u = units[unit]; u->name != NULL; u++) {
        scale = strcmp(u->name, name) == 0 ? u->scale : scale;
    }
    if (scale == 0) {
        double other;
        bool none = *name == '\0' || pw_number(name, &other);
        return none ? pw_reader_fail(reader, err, "the %s %.*s has no unit: write %s behind it", what,
                                     (int)length, word, unit_examples[unit])
                    : pw_reader_fail(reader, err, "'%.40s' is no unit of the %s: use %s", name, what,
                                     unit_examples[unit]);
    }
    double number = strtod(word, NULL) * scale;
    if (!isfinite(number)) {
        return pw_reader_fail(reader, err, "the %s %.40s is too large", what, word);
    }
    *value = number;
    *at += used;
    return IP_OK;
}

enum ip_status pw_count(const struct pw_reader *reader, size_t *at, const char *what, double *value,
                        struct ip_error *err) {
    double number;
    if (*at >= reader->count) {
        return pw_reader_fail(reader, err, "the %s is missing: a whole number", what);
    }
    const char *word = reader->words[*at];
    if (!pw_number(word, &number) || number != floor(number) || number < 0 || number > PW_NUMBER_MAX) {
        return pw_reader_fail(reader, err, "the %s is a whole number of at most %g, not '%.40s'", what,
                              PW_NUMBER_MAX, word);
    }
    *value = number;
    *at += 1;
    return IP_OK;
}

enum ip_status pw_line_end(const struct pw_reader *reader, size_t at, struct ip_error *err) {
    if (at < reader->count) {
        return pw_reader_fail(reader, err, "'%.40s' is not expected here, behind '%.40s'", reader->words[at],
                              reader->words[at - 1]);
    }
    return IP_OK;
}

enum ip_status pw_line_rest(const struct pw_reader *reader, const char *what, char *out, size_t size,
                            struct ip_error *err) {
    if (reader->count < 2) {
        return pw_reader_fail(reader, err, "the %s is missing behind '%.40s'", what, reader->words[0]);
    }
    size_t first = reader->offsets[1];
    size_t last = reader->offsets[reader->count - 1] + strlen(reader->words[reader->count - 1]);
    if (last - first >= size) {
        return pw_reader_fail(reader, err, "the %s is longer than %zu characters", what, size - 1);
    }
    memcpy(out, reader->raw + first, last - first);
    out[last - first] = '\0';
    return IP_OK;
}
