/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/block.h"
#include "cli/replace.h"
#include "cli/validate.h"
#include "common/random.h"

enum { LIST_MAX = 1 << 26, LINE_MAX_BYTES = 2 * CLI_BLOCK_BYTES_MAX + 512 };

const char *cli_notion_name(enum cli_notion notion) {
    return notion == CLI_NOTION_LOOP ? "loop" : "unrolled";
}

const char *cli_apart_name(enum cli_apart apart) {
    static const char *const names[CLI_APARTS] = {
        [CLI_APART_NOT] = "counted",           [CLI_APART_UNPREDICTED] = "unpredicted",
        [CLI_APART_UNMEASURED] = "unmeasured", [CLI_APART_UNSTABLE] = "unstable",
        [CLI_APART_SPLIT] = "split",           [CLI_APART_PAGES] = "pages",
        [CLI_APART_DENORMAL] = "denormal"};
    return names[apart];
}

void cli_samples_fini(struct cli_samples *samples) {
    for (size_t i = 0; i < samples->count; i++) {
        ip_text_fini(&samples->items[i].code);
        free(samples->items[i].hex);
    }
    free(samples->items);
    ip_lines_fini(&samples->others);
    memset(samples, 0, sizeof *samples);
}

static enum ip_status sample_add(struct cli_samples *samples, const char *hex, unsigned line,
                                 struct ip_error *err) {
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity != 0 ? 2 * samples->capacity : 256;
        struct cli_sample *items = realloc(samples->items, capacity * sizeof *items);
        if (items == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu blocks", capacity);
        }
        samples->items = items;
        samples->capacity = capacity;
    }
    struct cli_sample *sample = &samples->items[samples->count];
    memset(sample, 0, sizeof *sample);
    sample->line = line;
    sample->hex = strdup(hex);
    if (sample->hex == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a block");
    }
    for (unsigned n = 0; n < CLI_NOTIONS; n++) {
        struct cli_case *item = &sample->cases[n];
        item->predicted = item->measured = item->spread = item->mca = NAN;
        item->bound = -1;
    }
    enum ip_status status = cli_hex_parse(&sample->code, hex, err);
    if (status != IP_OK) {
        free(sample->hex);
        return status;
    }
    samples->count++;
    return IP_OK;
}

/* The next line of a text that is cut up; NULL at the end. */
static char *line_next(char **rest) {
    char *line = *rest;
    if (line == NULL || *line == '\0') {
        return NULL;
    }
    char *end = strchr(line, '\n');
    *rest = end != NULL ? end + 1 : NULL;
    if (end != NULL) {
        *end = '\0';
    }
    return line;
}

enum ip_status cli_samples_read(struct cli_samples *samples, const char *path, long percent, long seed,
                                struct ip_error *err) {
    struct ip_text text = {0};
    struct cli_samples read = {0};
    struct ip_random random = {.state = (uint64_t)seed};
    enum ip_status status =
        ip_text_file_read(&text, path, LIST_MAX, "one block of hex digits a line is expected", err);
    char *rest = text.data;
    unsigned line = 0;
    for (char *start; status == IP_OK && (start = line_next(&rest)) != NULL;) {
        line++;
        start += strspn(start, " \t\"");
        start[strcspn(start, ",;\"\r")] = '\0';
        if (start[0] == '\0' || start[0] == '#' || (line == 1 && strcmp(start, "hex") == 0)) {
            continue;
        }
        if (percent > 0 && percent < 100 && (long)ip_random_below(&random, 100) >= percent) {
            continue;
        }
        struct ip_error reason = {0};
        status = sample_add(&read, start, line, &reason);
        if (status == IP_SYNTAX) {
            status = ip_fail_at(err, IP_SYNTAX, path, line, 0, "bad hex: %s", reason.text);
        } else if (status != IP_OK) {
            *err = reason;
        }
    }
    ip_text_fini(&text);
    if (status == IP_OK && read.count == 0) {
        status = ip_fail(err, IP_SYNTAX,
                         "'%.200s' holds no block: one of hex digits a line, or in the first column", path);
    }
    if (status != IP_OK) {
        cli_samples_fini(&read);
        return status;
    }
    *samples = read;
    return IP_OK;
}

static int compare_hex(const void *a, const void *b) {
    return strcmp((*(struct cli_sample *const *)a)->hex, (*(struct cli_sample *const *)b)->hex);
}

static int compare_key(const void *key, const void *item) {
    return strcmp(key, (*(struct cli_sample *const *)item)->hex);
}

#define MEASURED_HEADER "hex,notion,cycles,spread,fill,status"

/* A number of CSV; NaN when the field is empty. Returns false where it is none. */
static bool field_number(const char *field, double *value) {
    char *end;
    *value = strtod(field, &end);
    if (end == field) {
        *value = NAN;
    }
    return *end == '\0';
}

static bool measurement_take(struct cli_sample **sorted, size_t count, struct ip_lines *others, char *line) {
    char *fields[6] = {0};
    unsigned found = 0;
    for (char *at = line; at != NULL && found < 6;) {
        fields[found++] = at;
        at = found < 6 ? strchr(at, ',') : NULL;
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    if (found < 6) {
        return false;
    }
    enum cli_notion notion = strcmp(fields[1], "loop") == 0 ? CLI_NOTION_LOOP : CLI_NOTION_UNROLLED;
    if (notion == CLI_NOTION_UNROLLED && strcmp(fields[1], "unrolled") != 0) {
        return false;
    }
    double measured, spread;
    if (!field_number(fields[2], &measured) || !field_number(fields[3], &spread)) {
        return false;
    }
    struct cli_sample **hit = bsearch(fields[0], sorted, count, sizeof(struct cli_sample *), compare_key);
    int status_length = (int)strcspn(fields[5], "\r\n");
    if (hit == NULL) {
        ip_lines_printf(others, "%s,%s,%s,%s,%s,%.*s", fields[0], fields[1], fields[2], fields[3], fields[4],
                        status_length, fields[5]);
        return true;
    }
    while (hit > sorted && strcmp(hit[-1]->hex, fields[0]) == 0) {
        hit--;
    }
    for (; hit < sorted + count && strcmp((*hit)->hex, fields[0]) == 0; hit++) {
        struct cli_case *item = &(*hit)->cases[notion];
        item->measured = measured;
        item->spread = spread;
        item->fill = strtoull(fields[4], NULL, 0);
        (void)snprintf(item->status, sizeof item->status, "%.*s", status_length, fields[5]);
        item->once = strcmp(item->status, "once") == 0;
        if (item->once) {
            (void)snprintf(item->status, sizeof item->status, "ok");
        }
        item->done = true;
    }
    return true;
}

enum ip_status cli_measurements_read(struct cli_samples *samples, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    struct cli_sample **sorted = malloc((samples->count + 1) * sizeof(struct cli_sample *));
    if (sorted == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu blocks", samples->count);
    }
    for (size_t i = 0; i < samples->count; i++) {
        sorted[i] = &samples->items[i];
    }
    qsort(sorted, samples->count, sizeof(struct cli_sample *), compare_hex);
    enum ip_status status =
        ip_text_file_read(&text, path, LIST_MAX, "CSV is expected, as --keep writes it", err);
    char *rest = text.data;
    unsigned number = 0;
    for (char *line; status == IP_OK && (line = line_next(&rest)) != NULL;) {
        number++;
        bool header = number == 1 && strncmp(line, MEASURED_HEADER, sizeof MEASURED_HEADER - 1) == 0;
        if (!header && line[0] != '\0' && !measurement_take(sorted, samples->count, &samples->others, line)) {
            status = ip_fail_at(err, IP_SYNTAX, path, number, 0,
                                "no measurement: hex,notion,cycles,spread,fill,status are expected");
        }
    }
    if (status == IP_OK && number == 0) {
        status = ip_fail(err, IP_SYNTAX, "'%.200s' is empty: CSV is expected, as --keep writes it", path);
    }
    if (status == IP_OK && samples->others.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the measurements in '%.200s'", path);
    }
    ip_text_fini(&text);
    free(sorted);
    return status;
}

enum ip_status cli_measurements_write(const struct cli_samples *samples, const char *path, size_t *kept,
                                      struct ip_error *err) {
    *kept = 0;
    struct cli_replacement replacement;
    enum ip_status status = cli_replacement_open(&replacement, path, err);
    if (status != IP_OK) {
        return status;
    }
    FILE *file = replacement.stream;
    bool failed = fprintf(file, MEASURED_HEADER "\n") < 0;
    for (size_t i = 0; i < samples->count && !failed; i++) {
        for (unsigned n = 0; n < CLI_NOTIONS && !failed; n++) {
            const struct cli_case *item = &samples->items[i].cases[n];
            char cycles[64] = ",";
            if (!item->done) {
                continue;
            }
            if (!isnan(item->measured)) {
                (void)snprintf(cycles, sizeof cycles, "%.6g,%.4g", item->measured, item->spread);
            }
            char words[sizeof item->status];
            (void)snprintf(words, sizeof words, "%s", item->once ? "once" : item->status);
            for (char *at = words; *at != '\0'; at++) {
                *at = *at == ',' || *at == '"' || *at == '\n' ? ';' : *at;
            }
            failed = fprintf(file, "%s,%s,%s,0x%" PRIx64 ",%s\n", samples->items[i].hex, cli_notion_name(n),
                             cycles, item->fill, words) < 0;
            *kept += !failed;
        }
    }
    const bool any = *kept > 0;
    for (size_t i = 0; i < samples->others.count && any && !failed; i++) {
        failed = fprintf(file, "%s\n", samples->others.items[i]) < 0;
        *kept += !failed;
    }
    return cli_replacement_close(&replacement, any, err);
}
