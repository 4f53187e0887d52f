/* SPDX-License-Identifier: Apache-2.0 */
/* results/notation.c - port usage and numbers as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "results/sheet.h"

/* One for each bit of a set. */
static const char port_names[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

char res_port_name(unsigned port) {
    return port < sizeof port_names - 1 ? port_names[port] : '?';
}

bool res_usage_parse(const char *text, struct probe_usage_term *terms, unsigned *count) {
    unsigned found = 0;
    if (text[0] == '\0' || strcmp(text, "none") == 0) {
        *count = 0;
        return true;
    }
    for (const char *at = text;; at++) {
        char *end;
        double uops = strtod(at, &end);
        size_t letters = end[0] != '*' ? 0 : end[1] == 'p' ? 1 : strncmp(end + 1, "FP", 2) == 0 ? 2 : 0;
        if (end == at || !(uops > 0) || uops > 1e6 || letters == 0 || found == PROBE_USAGE_TERMS) {
            return false;
        }
        uint32_t ports = 0;
        const char *name;
        for (at = end + 1 + letters; *at != '\0' && (name = strchr(port_names, *at)) != NULL; at++) {
            ports |= UINT32_C(1) << (name - port_names);
        }
        if (ports == 0 || (*at != '\0' && *at != '+')) {
            return false;
        }
        terms[found++] = (struct probe_usage_term){.uops = uops, .ports = ports};
        if (*at == '\0') {
            break;
        }
    }
    *count = found;
    return true;
}

static int term_compare(const void *left, const void *right) {
    const struct probe_usage_term *a = left, *b = right;
    int width = __builtin_popcount(a->ports) - __builtin_popcount(b->ports);
    return width != 0 ? width : (a->ports > b->ports) - (a->ports < b->ports);
}

bool res_usage_is_of_pipes(const char *text) {
    return strstr(text, "*FP") != NULL;
}

bool res_usage_normal(const char *text, uint32_t within, char *normal, size_t size) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned found, count = 0;
    if (!res_usage_parse(text, terms, &found)) {
        return false;
    }
    for (unsigned i = 0; i < found; i++) {
        if ((terms[i].ports & within) != 0) {
            terms[count++] = terms[i];
        }
    }
    qsort(terms, count, sizeof terms[0], term_compare);
    struct ip_text made = {0};
    for (unsigned i = 0; i < count; i++) {
        double uops = terms[i].uops;
        while (i + 1 < count && terms[i + 1].ports == terms[i].ports) {
            uops += terms[++i].uops;
        }
        ip_text_append(&made, made.length > 0 ? "+" : "");
        res_number_append(&made, uops);
        ip_text_append(&made, "*p");
        for (unsigned port = 0; port < sizeof port_names - 1; port++) {
            if ((terms[i].ports >> port & 1) != 0) {
                ip_text_append_bytes(&made, &port_names[port], 1);
            }
        }
    }
    bool fits = !made.failed && made.length < size;
    if (fits) {
        (void)snprintf(normal, size, "%s", count > 0 ? ip_text_string(&made) : found > 0 ? "none" : text);
    }
    ip_text_fini(&made);
    return fits;
}

void res_number_append(struct ip_text *text, double number) {
    char digits[40];
    int length = snprintf(digits, sizeof digits, "%.4f", number);
    while (length > 0 && length < (int)sizeof digits && digits[length - 1] == '0') {
        digits[--length] = '\0';
    }
    if (length > 0 && length < (int)sizeof digits && digits[length - 1] == '.') {
        digits[--length] = '\0';
    }
    ip_text_append(text, strcmp(digits, "-0") == 0 ? "0" : digits);
}

double res_number_read(const char *text) {
    if (text == NULL || !(ip_ascii_is_digit(text[0]) || text[0] == '-' || text[0] == '.')) {
        return NAN;
    }
    char *end;
    double number = strtod(text, &end);
    return *end == '\0' && isfinite(number) ? number : NAN;
}

bool res_number_known(const char *text, double *number) {
    *number = res_number_read(text);
    return !isnan(*number) || text == NULL || text[0] == '\0' || strcmp(text, "-") == 0;
}
