/* SPDX-License-Identifier: Apache-2.0 */
#include "results/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_ABSOLUTE     0.3
#define CYCLES_ROUNDED      0.55 /* of one side: probe_latency_whole */
#define THROUGHPUT_ABSOLUTE 0.02
#define SLOTS_ABSOLUTE      0.3

const char *res_aspect_name(enum res_aspect aspect) {
    static const char *const names[] = {"latency", "throughput", "slots", "ports"};
    return names[aspect];
}

void res_comparison_fini(struct res_comparison *comparison) {
    free(comparison->differences);
    free(comparison->classes);
    memset(comparison, 0, sizeof *comparison);
}

/* --- one value ------------------------------------------------------------------------------------------ */

struct work {
    struct res_comparison *made;
    struct res_class_change *class; /* of the form in hand */
    const struct res_row *a, *b;
    uint32_t a_pipes, b_pipes; /* the ports that the lists of pipes of either sheet name */
    double relative, cycles_absolute;
    bool failed;
};

static bool same_number(double a, double b, double relative, double absolute) {
    return fabs(a - b) <= fmax(absolute, relative * fmax(fabs(a), fabs(b)));
}

static bool near(const struct work *work, double a, double b) {
    return same_number(a, b, work->relative, work->cycles_absolute);
}

/* A bound says no more than that the true value is not above it. */
static bool same_cycles(const struct work *work, double a, bool a_bound, double b, bool b_bound) {
    return near(work, a, b) || (a_bound && !b_bound && b < a) || (b_bound && !a_bound && a < b);
}

static struct res_difference *difference_add(struct work *work, enum res_aspect aspect) {
    struct res_comparison *made = work->made;
    if (made->count == made->capacity) {
        size_t capacity = made->capacity != 0 ? 2 * made->capacity : 64;
        struct res_difference *grown = realloc(made->differences, capacity * sizeof *grown);
        if (grown == NULL) {
            work->failed = true;
            return NULL;
        }
        made->differences = grown;
        made->capacity = capacity;
    }
    struct res_difference *difference = &made->differences[made->count++];
    memset(difference, 0, sizeof *difference);
    difference->a = work->a;
    difference->b = work->b;
    difference->aspect = aspect;
    difference->before = difference->after = NAN;
    return difference;
}

static void cycles_print(char *buffer, size_t size, double cycles, bool bound) {
    struct ip_text text = {0};
    ip_text_append(&text, bound ? "<=" : "");
    res_number_append(&text, cycles);
    (void)snprintf(buffer, size, "%s", ip_text_string(&text));
    ip_text_fini(&text);
}

/* Returns whether it is a single number, as far as one can read. */
static bool range_print(char *buffer, size_t size, const struct res_sheet_range *range) {
    char low[40], high[40];
    cycles_print(low, sizeof low, range->low, range->low_bound);
    cycles_print(high, sizeof high, range->high, range->high_bound);
    bool single = strcmp(low, high) == 0;
    (void)snprintf(buffer, size, single ? "%s%.0s" : "[%s;%s]", low, high);
    return single;
}

/* --- one aspect ----------------------------------------------------------------------------------------- */

static const struct res_sheet_pair *pair_find(const struct res_row *row, const struct res_sheet_pair *like) {
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        if (strcmp(pair->src, like->src) == 0 && strcmp(pair->dst, like->dst) == 0 &&
            strcmp(pair->path, like->path) == 0) {
            return pair;
        }
    }
    return NULL;
}

static bool pairs_compare(struct work *work, bool *changed) {
    bool compared = false;
    for (size_t i = 0; i < work->a->pair_count; i++) {
        const struct res_sheet_pair *a = &work->a->pairs[i], *b = pair_find(work->b, a);
        if (b == NULL) {
            continue;
        }
        compared = true;
        if (same_cycles(work, a->cycles, a->upper_bound, b->cycles, b->upper_bound)) {
            continue;
        }
        *changed = true;
        struct res_difference *difference = difference_add(work, RES_ASPECT_LATENCY);
        if (difference != NULL) {
            difference->pair = a;
            difference->before = a->cycles;
            difference->after = b->cycles;
            cycles_print(difference->a_text, sizeof difference->a_text, a->cycles, a->upper_bound);
            cycles_print(difference->b_text, sizeof difference->b_text, b->cycles, b->upper_bound);
        }
    }
    return compared;
}

/* The least that an export may say for a bound of the row: the form's own share of it. NaN: it has none. */
static double least_share(const struct res_row *row) {
    double least = NAN;
    for (size_t i = 0; i < row->pair_count; i++) {
        least = row->pairs[i].upper_bound ? fmin(least, row->pairs[i].share) : least;
    }
    return least;
}

/* Has `one` a single latency, as of a format that has room for no more, and within the row's? */
static bool is_one_of(const struct work *work, const struct res_row *one, const struct res_row *row) {
    const struct res_sheet_range *range = &row->latency;
    const double value = one->latency.low, low = fmin(range->low, least_share(row));
    bool above = range->low_bound || value >= low || near(work, value, low);
    bool below = value <= range->high || near(work, value, range->high);
    return value == one->latency.high && range->low != range->high && above && below;
}

static bool same_low(const struct work *work) {
    const struct res_sheet_range *a = &work->a->latency, *b = &work->b->latency;
    return same_cycles(work, a->low, a->low_bound, b->low, b->low_bound) ||
           near(work, least_share(work->a), b->low) || near(work, a->low, least_share(work->b));
}

static bool ranges_compare(struct work *work, bool *changed) {
    const struct res_sheet_range *a = &work->a->latency, *b = &work->b->latency;
    if (!a->known || !b->known) {
        return false;
    }
    if ((same_low(work) && same_cycles(work, a->high, a->high_bound, b->high, b->high_bound)) ||
        is_one_of(work, work->a, work->b) || is_one_of(work, work->b, work->a)) {
        return true;
    }
    *changed = true;
    struct res_difference *difference = difference_add(work, RES_ASPECT_LATENCY);
    if (difference != NULL) {
        bool a_single = range_print(difference->a_text, sizeof difference->a_text, a);
        bool b_single = range_print(difference->b_text, sizeof difference->b_text, b);
        if (a_single && b_single) {
            difference->before = a->low;
            difference->after = b->low;
        }
    }
    return true;
}

static bool latency_compare(struct work *work, bool *changed) {
    bool pairs = work->a->pair_count > 0 && work->b->pair_count > 0;
    return pairs ? pairs_compare(work, changed) : ranges_compare(work, changed);
}

static bool number_compare(struct work *work, enum res_aspect aspect, double a, double b, double absolute,
                           bool *changed) {
    if (isnan(a) || isnan(b)) {
        return false;
    }
    *changed = !same_number(a, b, work->relative, absolute);
    struct res_difference *difference = *changed ? difference_add(work, aspect) : NULL;
    if (difference != NULL) {
        difference->before = a;
        difference->after = b;
        cycles_print(difference->a_text, sizeof difference->a_text, a, false);
        cycles_print(difference->b_text, sizeof difference->b_text, b, false);
    }
    return true;
}

static uint32_t pipes_of(const struct res_sheet *sheet) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    uint32_t pipes = 0;
    unsigned count;
    for (size_t i = 0; i < sheet->count; i++) {
        const char *ports = sheet->rows[i].ports;
        if (res_usage_is_of_pipes(ports) && res_usage_parse(ports, terms, &count)) {
            for (unsigned t = 0; t < count; t++) {
                pipes |= terms[t].ports;
            }
        }
    }
    return pipes;
}

/* Where one side lists pipes alone, the other side's loads and integer ports are no difference. */
static bool ports_compare(struct work *work, bool *changed) {
    uint32_t within = res_usage_is_of_pipes(work->a->ports)   ? work->a_pipes
                      : res_usage_is_of_pipes(work->b->ports) ? work->b_pipes
                                                              : UINT32_MAX;
    char a[RES_PORTS_MAX], b[RES_PORTS_MAX];
    if (work->a->ports[0] == '\0' || work->b->ports[0] == '\0' ||
        !res_usage_normal(work->a->ports, within, a, sizeof a) ||
        !res_usage_normal(work->b->ports, within, b, sizeof b)) {
        return false;
    }
    *changed = strcmp(a, b) != 0;
    struct res_difference *difference = *changed ? difference_add(work, RES_ASPECT_PORTS) : NULL;
    if (difference != NULL) {
        memcpy(difference->a_text, a, sizeof a);
        memcpy(difference->b_text, b, sizeof b);
    }
    return true;
}

static void form_compare(struct work *work) {
    const struct res_row *a = work->a, *b = work->b;
    bool changed[RES_ASPECTS] = {false}, compared[RES_ASPECTS];
    compared[RES_ASPECT_LATENCY] = latency_compare(work, &changed[RES_ASPECT_LATENCY]);
    compared[RES_ASPECT_THROUGHPUT] =
        number_compare(work, RES_ASPECT_THROUGHPUT, a->throughput, b->throughput, THROUGHPUT_ABSOLUTE,
                       &changed[RES_ASPECT_THROUGHPUT]);
    compared[RES_ASPECT_SLOTS] = number_compare(work, RES_ASPECT_SLOTS, a->slots, b->slots, SLOTS_ABSOLUTE,
                                                &changed[RES_ASPECT_SLOTS]);
    compared[RES_ASPECT_PORTS] = ports_compare(work, &changed[RES_ASPECT_PORTS]);
    for (int i = 0; i < RES_ASPECTS; i++) {
        work->class->compared[i] += compared[i];
        work->class->changed[i] += changed[i];
    }
    work->class->forms++;
    if (changed[RES_ASPECT_THROUGHPUT]) {
        work->class->slower += b->throughput > a->throughput;
        work->class->faster += b->throughput < a->throughput;
    }
}

/* --- matching ------------------------------------------------------------------------------------------- */

/* A row under the word that both sheets know it by. */
struct key {
    const char *word;
    const struct res_row *row;
};

static int key_compare(const void *left, const void *right) {
    const struct key *a = left, *b = right;
    int word = strcmp(a->word, b->word);
    return word != 0 ? word : (a->row > b->row) - (a->row < b->row);
}

static bool has_forms(const struct res_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) {
        if (sheet->rows[i].form[0] == '\0') {
            return false;
        }
    }
    return true;
}

/* Sorted; rows without a word, and further rows of the same word, are left out. */
static struct key *keys_make(const struct res_sheet *sheet, bool forms, size_t *count) {
    struct key *keys = calloc(sheet->count + 1, sizeof *keys);
    size_t made = 0;
    for (size_t i = 0; keys != NULL && i < sheet->count; i++) {
        const char *word = forms ? sheet->rows[i].form : sheet->rows[i].name;
        if (word[0] != '\0') {
            keys[made++] = (struct key){.word = word, .row = &sheet->rows[i]};
        }
    }
    *count = 0;
    if (keys != NULL) {
        qsort(keys, made, sizeof *keys, key_compare);
        for (size_t i = 0; i < made; i++) {
            if (*count == 0 || strcmp(keys[*count - 1].word, keys[i].word) != 0) {
                keys[(*count)++] = keys[i];
            }
        }
    }
    return keys;
}

static struct res_class_change *class_of(struct res_comparison *made, const char *extension) {
    for (size_t i = 0; i < made->class_count; i++) {
        if (strcmp(made->classes[i].extension, extension) == 0) {
            return &made->classes[i];
        }
    }
    struct res_class_change *grown = realloc(made->classes, (made->class_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    made->classes = grown;
    struct res_class_change *class = &grown[made->class_count++];
    memset(class, 0, sizeof *class);
    (void)snprintf(class->extension, sizeof class->extension, "%s", extension);
    return class;
}

static int class_compare(const void *left, const void *right) {
    const struct res_class_change *a = left, *b = right;
    return strcmp(a->extension, b->extension);
}

static const struct key *key_find(const struct key *keys, size_t count, const char *word) {
    struct key wanted = {.word = word};
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(keys[middle].word, wanted.word);
        if (order == 0) {
            return &keys[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

enum ip_status res_compare(const struct res_sheet *a, const struct res_sheet *b,
                           struct res_tolerance tolerance, struct res_comparison *comparison,
                           struct ip_error *err) {
    struct res_comparison made = {0};
    bool forms = has_forms(a) && has_forms(b);
    size_t a_count, b_count;
    struct key *a_keys = keys_make(a, forms, &a_count), *b_keys = keys_make(b, forms, &b_count);
    struct work work = {.made = &made,
                        .a_pipes = pipes_of(a),
                        .b_pipes = pipes_of(b),
                        .relative = tolerance.relative,
                        .cycles_absolute =
                            a->whole_latencies || b->whole_latencies ? CYCLES_ROUNDED : CYCLES_ABSOLUTE,
                        .failed = a_keys == NULL || b_keys == NULL};
    for (size_t i = 0; i < a->count && !work.failed; i++) {
        work.a = &a->rows[i];
        const char *word = forms ? work.a->form : work.a->name;
        const struct key *own = key_find(a_keys, a_count, word), *other = key_find(b_keys, b_count, word);
        if (own == NULL || own->row != work.a || other == NULL) {
            continue;
        }
        work.b = other->row;
        work.class = class_of(&made, work.a->extension[0] != '\0' ? work.a->extension : work.b->extension);
        work.failed = work.class == NULL;
        if (!work.failed) {
            form_compare(&work);
            made.common++;
        }
    }
    made.only_a = a_count - made.common;
    made.only_b = b_count - made.common;
    free(a_keys);
    free(b_keys);
    if (work.failed) {
        res_comparison_fini(&made);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for comparing %zu forms", a->count);
    }
    if (made.class_count > 0) {
        qsort(made.classes, made.class_count, sizeof *made.classes, class_compare);
    }
    res_comparison_fini(comparison);
    *comparison = made;
    return IP_OK;
}
