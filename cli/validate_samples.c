/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <float.h>
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
        for (unsigned n = 0; n < CLI_NOTIONS; n++) {
            free(samples->items[i].cases[n].why);
        }
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

/* Of blocks that are there twice, the first first. */
static int compare_hex(const void *a, const void *b) {
    const struct cli_sample *first = *(struct cli_sample *const *)a, *second = *(struct cli_sample *const *)b;
    int order = strcmp(first->hex, second->hex);
    return order != 0 ? order : (first > second) - (first < second);
}

static int compare_key(const void *key, const void *item) {
    return strcmp(key, (*(struct cli_sample *const *)item)->hex);
}

/* The samples in the order of their hex digits; NULL: out of memory. */
static struct cli_sample **samples_sort(const struct cli_samples *samples) {
    struct cli_sample **sorted = malloc((samples->count + 1) * sizeof(struct cli_sample *));
    for (size_t i = 0; sorted != NULL && i < samples->count; i++) {
        sorted[i] = &samples->items[i];
    }
    if (sorted != NULL) {
        qsort(sorted, samples->count, sizeof(struct cli_sample *), compare_hex);
    }
    return sorted;
}

/* Marks what an earlier line has already. */
static enum ip_status repeats_mark(struct cli_samples *samples, struct ip_error *err) {
    struct cli_sample **sorted = samples_sort(samples);
    if (sorted == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu blocks", samples->count);
    }
    for (size_t i = 1; i < samples->count; i++) {
        sorted[i]->again = strcmp(sorted[i]->hex, sorted[i - 1]->hex) == 0;
    }
    free(sorted);
    return IP_OK;
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
        start[strcspn(start, ",;\"")] = '\0';
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
    if (status == IP_OK) {
        status = repeats_mark(&read, err);
    }
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

#define MEASURED_HEADER "hex,notion,cycles,spread,fill,status"
enum field { FIELD_HEX, FIELD_NOTION, FIELD_CYCLES, FIELD_SPREAD, FIELD_FILL, FIELD_STATUS, FIELDS };

/* One row, cut up. */
struct measurement {
    const char *fields[FIELDS];
    enum cli_notion notion;
    double cycles, spread; /* NaN: none */
    uint64_t fill;
};

/* A number of CSV of at least `least`; NaN when the field is empty. Returns false where it is none. */
static bool field_number(const char *field, double least, double *value) {
    char *end;
    *value = field[0] != '\0' ? strtod(field, &end) : NAN;
    return field[0] == '\0' || (*end == '\0' && isfinite(*value) && *value >= least);
}

static bool fill_read(const char *field, uint64_t *fill) {
    char *end;
    errno = 0;
    *fill = strtoull(field, &end, 0);
    return field[0] >= '0' && field[0] <= '9' && *end == '\0' && errno == 0;
}

/* Cuts the line at its commas. The fields are written without quotes, and read without. */
static bool fields_cut(struct measurement *row, char *line) {
    unsigned found = 0;
    if (strchr(line, '"') != NULL) {
        return false;
    }
    for (char *at = line; at != NULL; found++) {
        char *comma = strchr(at, ',');
        if (found == FIELDS) {
            return false;
        }
        row->fields[found] = at;
        if (comma != NULL) {
            *comma = '\0';
        }
        at = comma != NULL ? comma + 1 : NULL;
    }
    return found == FIELDS;
}

static enum ip_status measurement_parse(struct measurement *row, char *line, const char *path,
                                        unsigned number, struct ip_error *err) {
    if (!fields_cut(row, line)) {
        return ip_fail_at(err, IP_SYNTAX, path, number, 1,
                          "no measurement: " MEASURED_HEADER " are expected, without quotes");
    }
    const char *const *fields = row->fields;
    struct ip_text code = {0};
    struct ip_error reason = {0};
    enum ip_status status = cli_hex_parse(&code, fields[FIELD_HEX], &reason);
    ip_text_fini(&code);
    if (status == IP_SYNTAX) {
        return ip_fail_at(err, IP_SYNTAX, path, number, 0, "bad hex: %s", reason.text);
    }
    if (status != IP_OK) {
        *err = reason;
        return status;
    }
    const char *expected = NULL;
    enum field bad = FIELD_NOTION;
    row->notion = strcmp(fields[FIELD_NOTION], "loop") == 0 ? CLI_NOTION_LOOP : CLI_NOTION_UNROLLED;
    if (strcmp(fields[FIELD_NOTION], cli_notion_name(row->notion)) != 0) {
        expected = "unrolled or loop";
    } else if (!field_number(fields[bad = FIELD_CYCLES], DBL_MIN, &row->cycles)) {
        expected = "a number larger than 0, or nothing";
    } else if (!field_number(fields[bad = FIELD_SPREAD], 0, &row->spread)) {
        expected = "a number of at least 0, or nothing";
    } else if (!fill_read(fields[bad = FIELD_FILL], &row->fill)) {
        expected = "an integer such as 0x12345600";
    } else if (fields[bad = FIELD_STATUS][0] == '\0') {
        expected = "ok, or why it is no measurement to be trusted";
    }
    if (expected != NULL) {
        static const char *const names[FIELDS] = {"hex", "notion", "cycles", "spread", "fill", "status"};
        return ip_fail_at(err, IP_SYNTAX, path, number, 1 + (unsigned)(fields[bad] - line),
                          "%s '%.40s': expected %s", names[bad], fields[bad], expected);
    }
    return IP_OK;
}

static void case_take(struct cli_case *item, const struct measurement *row) {
    item->measured = row->cycles;
    item->spread = row->spread;
    item->fill = row->fill;
    item->once = strcmp(row->fields[FIELD_STATUS], "once") == 0;
    (void)snprintf(item->status, sizeof item->status, "%s", item->once ? "ok" : row->fields[FIELD_STATUS]);
    item->done = true;
}

static enum ip_status measurement_take(struct cli_sample **sorted, size_t count, struct ip_lines *others,
                                       char *line, const char *path, unsigned number, struct ip_error *err) {
    struct measurement row;
    enum ip_status status = measurement_parse(&row, line, path, number, err);
    if (status != IP_OK) {
        return status;
    }
    const char *hex = row.fields[FIELD_HEX];
    struct cli_sample **hit = bsearch(hex, sorted, count, sizeof(struct cli_sample *), compare_key);
    if (hit == NULL) {
        ip_lines_printf(others, "%s,%s,%s,%s,%s,%s", hex, row.fields[FIELD_NOTION], row.fields[FIELD_CYCLES],
                        row.fields[FIELD_SPREAD], row.fields[FIELD_FILL], row.fields[FIELD_STATUS]);
        return IP_OK;
    }
    if ((*hit)->cases[row.notion].done) {
        return ip_fail_at(err, IP_SYNTAX, path, number, 1,
                          "a line above has a measurement of '%.40s', %s, too: leave one of them", hex,
                          row.fields[FIELD_NOTION]);
    }
    while (hit > sorted && strcmp(hit[-1]->hex, hex) == 0) {
        hit--;
    }
    for (; hit < sorted + count && strcmp((*hit)->hex, hex) == 0; hit++) {
        case_take(&(*hit)->cases[row.notion], &row);
    }
    return IP_OK;
}

enum ip_status cli_measurements_read(struct cli_samples *samples, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    struct cli_sample **sorted = samples_sort(samples);
    if (sorted == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu blocks", samples->count);
    }
    enum ip_status status =
        ip_text_file_read(&text, path, LIST_MAX, "CSV is expected, as --keep writes it", err);
    char *rest = text.data;
    unsigned number = 0;
    for (char *line; status == IP_OK && (line = line_next(&rest)) != NULL;) {
        number++;
        bool header = number == 1 && strcmp(line, MEASURED_HEADER) == 0;
        if (!header && line[0] != '\0') {
            status = measurement_take(sorted, samples->count, &samples->others, line, path, number, err);
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

/* The fields of the cycles and their spread; empty is what would be no number when it is read. */
static void cycles_print(char *cycles, size_t size, const struct cli_case *item) {
    bool known = isfinite(item->measured) && item->measured > 0;
    int length = known ? snprintf(cycles, size, "%.6g,", item->measured) : snprintf(cycles, size, ",");
    if (known && isfinite(item->spread) && item->spread >= 0) {
        (void)snprintf(cycles + length, size - (size_t)length, "%.4g", item->spread);
    }
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
            char cycles[64];
            if (!item->done || samples->items[i].again) {
                continue;
            }
            cycles_print(cycles, sizeof cycles, item);
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
