/* SPDX-License-Identifier: Apache-2.0 */
#include "api/isaprobe.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "oncore/oncore.h"
#include "results/export.h"

_Static_assert((int)ISAPROBE_SYNTAX_MAX == (int)ISA_SYNTAX_MAX, "the public header has the size of a syntax");
_Static_assert((int)ISAPROBE_UNTRUSTED == (int)IP_UNTRUSTED, "the public header has the statuses");

struct isaprobe_table {
    struct res_sheet sheet;
    const struct res_row **sorted; /* owned; by syntax */
};

const char *isaprobe_version(void) {
    return ISAPROBE_VERSION;
}

static enum isaprobe_status told(struct isaprobe_error *error, const struct ip_error *err) {
    error->status = (enum isaprobe_status)err->status;
    (void)snprintf(error->text, sizeof error->text, "%s%s%s", err->place, err->place[0] != '\0' ? ": " : "",
                   err->text);
    return error->status;
}

/* Numbers of tables and exports have a point, whatever the calling program's locale has: entered for the
 * length of one call, in its thread alone. */
struct numbers {
    locale_t plain, before;
};

static struct numbers numbers_enter(void) {
    struct numbers numbers = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (numbers.plain != (locale_t)0) {
        numbers.before = uselocale(numbers.plain);
    }
    return numbers;
}

static void numbers_leave(const struct numbers *numbers) {
    if (numbers->plain != (locale_t)0) {
        (void)uselocale(numbers->before);
        freelocale(numbers->plain);
    }
}

/* --- tables --------------------------------------------------------------------------------------------- */

static int row_compare(const void *left, const void *right) {
    const struct res_row *const *a = left, *const *b = right;
    return strcmp((*a)->form, (*b)->form);
}

enum isaprobe_status isaprobe_table_open(struct isaprobe_table **table, const char *path,
                                         struct isaprobe_error *error) {
    return isaprobe_table_open_architecture(table, path, NULL, error);
}

enum isaprobe_status isaprobe_table_open_architecture(struct isaprobe_table **table, const char *path,
                                                      const char *architecture,
                                                      struct isaprobe_error *error) {
    struct ip_error err = {0};
    struct isaprobe_table *made = calloc(1, sizeof *made);
    path = strcmp(path, "-") == 0 ? "./-" : path; /* the program's standard input is its own */
    if (made != NULL) {
        made->sheet.architecture = architecture;
    }
    const struct numbers numbers = numbers_enter();
    enum ip_status status = made == NULL ? ip_fail(&err, IP_NO_MEMORY, "out of memory for '%.200s'", path)
                                         : res_sheet_read(&made->sheet, path, false, &err);
    numbers_leave(&numbers);
    if (status == IP_OK) {
        made->sheet.architecture = NULL; /* the caller's */
        made->sorted = calloc(made->sheet.count + 1, sizeof(const struct res_row *));
        status =
            made->sorted != NULL ? IP_OK : ip_fail(&err, IP_NO_MEMORY, "out of memory for '%.200s'", path);
    }
    if (status != IP_OK) {
        isaprobe_table_close(made);
        return told(error, &err);
    }
    for (size_t i = 0; i < made->sheet.count; i++) {
        made->sorted[i] = &made->sheet.rows[i];
    }
    qsort(made->sorted, made->sheet.count, sizeof(const struct res_row *), row_compare);
    *table = made;
    return ISAPROBE_OK;
}

void isaprobe_table_close(struct isaprobe_table *table) {
    if (table != NULL) {
        free(table->sorted);
        res_sheet_fini(&table->sheet);
        free(table);
    }
}

const char *isaprobe_table_machine(const struct isaprobe_table *table) {
    return table->sheet.machine;
}

size_t isaprobe_table_size(const struct isaprobe_table *table) {
    return table->sheet.count;
}

static void form_fill(struct isaprobe_form *form, const struct res_row *row) {
    const char *usage = row->ports;
    *form = (struct isaprobe_form){
        .syntax = row->form,
        .name = row->name,
        .extension = row->extension,
        .status = row->status,
        .throughput = row->throughput,
        .throughput_slow = row->throughput_slow,
        .slots = row->slots,
        .ports = row->ports,
        .ports_cycles = usage[0] != '\0' ? isaprobe_ports_cycles(&usage, 1) : NAN,
        .latency_min = row->latency.known ? row->latency.low : NAN,
        .latency_max = row->latency.known ? row->latency.high : NAN,
        .latency_count = row->pair_count,
        .row = row,
    };
}

bool isaprobe_table_form(const struct isaprobe_table *table, size_t position, struct isaprobe_form *form) {
    if (position >= table->sheet.count) {
        return false;
    }
    form_fill(form, &table->sheet.rows[position]);
    return true;
}

bool isaprobe_table_find(const struct isaprobe_table *table, const char *syntax, struct isaprobe_form *form) {
    size_t low = 0, high = table->sheet.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(table->sorted[middle]->form, syntax);
        if (order == 0) {
            form_fill(form, table->sorted[middle]);
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

bool isaprobe_form_latency(const struct isaprobe_form *form, size_t position,
                           struct isaprobe_latency *latency) {
    const struct res_row *row = form->row;
    if (position >= row->pair_count) {
        return false;
    }
    const struct res_sheet_pair *pair = &row->pairs[position];
    *latency = (struct isaprobe_latency){.src = pair->src,
                                         .dst = pair->dst,
                                         .path = pair->path,
                                         .cycles = pair->cycles,
                                         .slow_cycles = pair->slow_cycles,
                                         .upper_bound = pair->upper_bound};
    return true;
}

/* --- machine code --------------------------------------------------------------------------------------- */

enum isaprobe_status isaprobe_code_form(const uint8_t *code, size_t code_bytes,
                                        char syntax[ISAPROBE_SYNTAX_MAX], size_t *length,
                                        struct isaprobe_error *error) {
    struct isa_form form;
    struct ip_error err = {0};
    size_t bytes = 0;
    if (isa_decode(code, code_bytes, &form, NULL, &bytes, &err) != IP_OK) {
        return told(error, &err);
    }
    memcpy(syntax, form.syntax, ISAPROBE_SYNTAX_MAX);
    *length = bytes;
    return ISAPROBE_OK;
}

static double ports_cycles(const char *const *usages, size_t count) {
    /* Equal sets are one term: there are few of them however many instructions. */
    struct probe_usage_term all[PROBE_USAGE_TERMS], terms[PROBE_USAGE_TERMS];
    unsigned known = 0, found;
    for (size_t i = 0; i < count; i++) {
        if (usages[i][0] == '\0' || !res_usage_parse(usages[i], terms, &found)) {
            return NAN;
        }
        for (unsigned t = 0; t < found; t++) {
            unsigned at = 0;
            while (at < known && all[at].ports != terms[t].ports) {
                at++;
            }
            if (at == PROBE_USAGE_TERMS) {
                return NAN;
            }
            if (at == known) {
                all[known++] = terms[t];
            } else {
                all[at].uops += terms[t].uops;
            }
        }
    }
    return probe_ports_bound(all, known, NULL);
}

double isaprobe_ports_cycles(const char *const *usages, size_t count) {
    const struct numbers numbers = numbers_enter();
    const double cycles = ports_cycles(usages, count);
    numbers_leave(&numbers);
    return cycles;
}

/* --- the on-core model ---------------------------------------------------------------------------------- */

_Static_assert((int)ISAPROBE_PORTS_MAX > (int)CORE_PORTS_MAX, "the public header has room for all ports");

struct isaprobe_model {
    struct res_store *store;
    struct core_costs costs;
};

enum isaprobe_status isaprobe_model_open(struct isaprobe_model **model, const char *path,
                                         struct isaprobe_error *error) {
    struct ip_error err = {0};
    struct isaprobe_model *made = calloc(1, sizeof *made);
    const struct numbers numbers = numbers_enter();
    enum ip_status status = made == NULL ? ip_fail(&err, IP_NO_MEMORY, "out of memory for '%.200s'", path)
                                         : res_store_open_readonly(&made->store, path, &err);
    if (status == IP_OK) {
        status = core_costs_open(&made->costs, made->store, &err);
    }
    numbers_leave(&numbers);
    if (status != IP_OK) {
        isaprobe_model_close(made);
        return told(error, &err);
    }
    *model = made;
    return ISAPROBE_OK;
}

void isaprobe_model_close(struct isaprobe_model *model) {
    if (model != NULL) {
        core_costs_fini(&model->costs);
        res_store_close(model->store);
        free(model);
    }
}

enum isaprobe_status isaprobe_model_predict(struct isaprobe_model *model, const uint8_t *code,
                                            size_t code_bytes, bool loop,
                                            struct isaprobe_prediction *prediction,
                                            struct isaprobe_error *error) {
    struct ip_error err = {0};
    const struct core_options options = {.loop = loop};
    struct core_prediction *found = calloc(1, sizeof *found);
    const struct numbers numbers = numbers_enter();
    enum ip_status status = found == NULL
                                ? ip_fail(&err, IP_NO_MEMORY, "out of memory for a prediction")
                                : core_predict(&model->costs, code, code_bytes, &options, found, &err);
    numbers_leave(&numbers);
    if (status != IP_OK) {
        free(found);
        return told(error, &err);
    }
    *prediction = (struct isaprobe_prediction){
        .cycles = found->cycles,
        .bound = core_bound_name(found->binding),
        .slots = found->slots,
        .issue = found->bounds[CORE_BOUND_ISSUE],
        .ports = found->bounds[CORE_BOUND_PORTS],
        .chain = found->bounds[CORE_BOUND_CHAIN],
        .instructions = found->block.count,
        .missing = found->missing_count,
    };
    (void)core_ports_print(&model->costs, found->bottleneck, prediction->bottleneck);
    if (found->missing_count > 0) {
        memcpy(prediction->missing_form, found->block.items[found->missing[0]].cost->form.syntax,
               sizeof prediction->missing_form);
    }
    core_prediction_fini(found);
    free(found);
    return ISAPROBE_OK;
}

/* --- exports -------------------------------------------------------------------------------------------- */

static bool format_find(const char *word, enum res_format *format) {
    size_t length = strlen(word);
    const char *at = res_format_words;
    for (int i = 0; *at != '\0'; i++) {
        size_t span = strcspn(at, " ");
        if (span == length && strncmp(at, word, span) == 0) {
            *format = (enum res_format)i;
            return true;
        }
        at += span + (at[span] == ' ');
    }
    return false;
}

/* A sheet of the same rows, for the export to derive: the table itself stays as it is. */
static enum ip_status sheet_copy(struct res_sheet *copy, const struct res_sheet *sheet,
                                 struct ip_error *err) {
    memcpy(copy->machine, sheet->machine, sizeof copy->machine);
    memcpy(copy->core, sheet->core, sizeof copy->core);
    for (size_t i = 0; i < sheet->count; i++) {
        struct res_row *row = res_sheet_row_add(copy);
        if (row == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count);
        }
        *row = sheet->rows[i];
        row->pairs = NULL;
        row->pair_count = 0;
        row->info = NULL;
        for (size_t p = 0; p < sheet->rows[i].pair_count; p++) {
            struct res_sheet_pair *pair = res_row_pair_add(row);
            if (pair == NULL) {
                return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count);
            }
            *pair = sheet->rows[i].pairs[p];
        }
        if (row->form[0] == '\0') {
            return ip_fail(err, IP_USAGE,
                           "'%.200s' has names of uops.info and no syntaxes: it cannot be exported",
                           sheet->machine);
        }
    }
    return IP_OK;
}

enum isaprobe_status isaprobe_table_export(const struct isaprobe_table *table, const char *format,
                                           const char *arch, char **text, size_t *length,
                                           struct isaprobe_error *error) {
    struct ip_error err = {0};
    struct res_export export = {.arch = arch};
    struct res_sheet copy = {0};
    struct ip_text made = {0};
    const struct numbers numbers = numbers_enter();
    enum ip_status status = format_find(format, &export.format)
                                ? sheet_copy(&copy, &table->sheet, &err)
                                : ip_fail(&err, IP_USAGE, "unknown export format '%.40s': choose one of %s",
                                          format, res_format_words);
    if (status == IP_OK) {
        status = res_export_write(&copy, &export, &made, &err);
    }
    numbers_leave(&numbers);
    res_sheet_fini(&copy);
    if (status != IP_OK) {
        ip_text_fini(&made);
        return told(error, &err);
    }
    *text = made.data;
    *length = made.length;
    return ISAPROBE_OK;
}
