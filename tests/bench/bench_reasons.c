/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdbool.h>

#include "tests/bench/bench.h"

void bench_reason_count(struct bench_reasons *reasons, const char *text) {
    char general[BENCH_REASON_BYTES];
    size_t length = 0;
    bool number = false;
    for (const char *at = text; *at != '\0' && length + 2 < sizeof general; at++) {
        bool digit = isdigit((unsigned char)*at) || (number && (isxdigit((unsigned char)*at) || *at == 'x'));
        if (!digit) {
            general[length++] = *at;
        } else if (!number) {
            general[length++] = '#';
        }
        number = digit;
    }
    general[length] = '\0';
    for (size_t i = 0; i < reasons->count; i++) {
        if (strcmp(reasons->items[i].text, general) == 0) {
            reasons->items[i].count++;
            return;
        }
    }
    if (reasons->count < BENCH_REASONS_MAX) {
        (void)snprintf(reasons->items[reasons->count].text, BENCH_REASON_BYTES, "%s", general);
        reasons->items[reasons->count++].count = 1;
    }
}

void bench_reasons_print(const struct bench_reasons *reasons) {
    for (size_t i = 0; i < reasons->count; i++) {
        (void)printf("  %4zu  %s\n", reasons->items[i].count, reasons->items[i].text);
    }
}
