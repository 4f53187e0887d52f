/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_json.c - JSON: one object a line, as 'isaprobe show' has them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/formats.h"

static void pair_append(struct ip_text *text, const struct res_sheet_pair *pair) {
    ip_text_printf(text, "{\"src\": \"%s\", \"dst\": \"%s\", \"path\": \"%s\", \"cycles\": ", pair->src,
                   pair->dst, pair->path);
    res_number_append(text, pair->cycles);
    ip_text_printf(text, ", \"bound\": \"%s\"", pair->upper_bound ? "upper" : "exact");
    if (!isnan(pair->same_register_cycles)) {
        ip_text_append(text, ", \"same_register_cycles\": ");
        res_number_append(text, pair->same_register_cycles);
    }
    if (!isnan(pair->slow_cycles)) {
        ip_text_append(text, ", \"slow_cycles\": ");
        res_number_append(text, pair->slow_cycles);
        ip_text_append(text, pair->slow_upper_bound ? ", \"slow_bound\": \"upper\"" : "");
    }
    ip_text_append(text, "}");
}

/* A range that no pairs stand behind, as from a format without them. */
static void range_append(struct ip_text *text, const struct res_sheet_range *range) {
    ip_text_append(text, ", \"latency_min\": {\"cycles\": ");
    res_number_append(text, range->low);
    ip_text_printf(
        text, ", \"bound\": \"%s\"}, \"latency_max\": {\"cycles\": ", range->low_bound ? "upper" : "exact");
    res_number_append(text, range->high);
    ip_text_printf(text, ", \"bound\": \"%s\"}", range->high_bound ? "upper" : "exact");
}

static void key_text(struct ip_text *text, const char *key, const char *value) {
    ip_text_printf(text, ", \"%s\": ", key);
    if (value[0] == '\0') {
        ip_text_append(text, "null");
    } else {
        ip_text_append_json(text, value);
    }
}

void res_json_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text) {
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        ip_text_append(text, "{\"form\": ");
        ip_text_append_json(text, row->form);
        key_text(text, "name", row->name);
        key_text(text, "isa", row->extension);
        ip_text_append(text, ", \"latency\": [");
        for (size_t p = 0; p < row->pair_count; p++) {
            ip_text_append(text, p > 0 ? ", " : "");
            pair_append(text, &row->pairs[p]);
        }
        ip_text_append(text, "]");
        if (row->pair_count == 0 && row->latency.known) {
            range_append(text, &row->latency);
        }
        ip_text_append(text, ", \"throughput\": ");
        res_number_or(text, row->throughput, "null");
        if (!isnan(row->throughput_slow)) {
            ip_text_append(text, ", \"throughput_slow_cycles\": ");
            res_number_append(text, row->throughput_slow);
        }
        ip_text_append(text, ", \"slots\": ");
        res_number_or(text, row->slots, "null");
        key_text(text, "ports", row->ports);
        key_text(text, "status", row->status);
        ip_text_append(text, "}\n");
        export->written++;
    }
}

static void text_copy(char *to, size_t size, const char *from) {
    (void)snprintf(to, size, "%s", from != NULL ? from : "");
}

static bool pair_read(const struct res_node *node, struct res_sheet_pair *pair) {
    text_copy(pair->src, sizeof pair->src, res_node_text(node, "src"));
    text_copy(pair->dst, sizeof pair->dst, res_node_text(node, "dst"));
    text_copy(pair->path, sizeof pair->path, res_node_text(node, "path"));
    pair->cycles = res_node_number(node, "cycles");
    pair->same_register_cycles = res_node_number(node, "same_register_cycles");
    pair->slow_cycles = res_node_number(node, "slow_cycles");
    const char *bound = res_node_text(node, "bound"), *slow_bound = res_node_text(node, "slow_bound");
    pair->upper_bound = bound != NULL && strcmp(bound, "upper") == 0;
    pair->slow_upper_bound = slow_bound != NULL && strcmp(slow_bound, "upper") == 0;
    return pair->src[0] != '\0' && pair->dst[0] != '\0' && !isnan(pair->cycles);
}

static void bound_read(const struct res_node *node, double *cycles, bool *bound) {
    const char *word = res_node_text(node, "bound");
    *cycles = res_node_number(node, "cycles");
    *bound = word != NULL && strcmp(word, "upper") == 0;
}

/* False: there is a half of it only. */
static bool range_read(const struct res_node *node, struct res_sheet_range *range) {
    const struct res_node *low = res_node_find(node, "latency_min"),
                          *high = res_node_find(node, "latency_max");
    range->known = low != NULL || high != NULL;
    bound_read(low, &range->low, &range->low_bound);
    bound_read(high, &range->high, &range->high_bound);
    return !range->known || (!isnan(range->low) && !isnan(range->high));
}

static enum ip_status row_read(struct res_row *row, const struct res_node *node, const char *name,
                               unsigned line, struct ip_error *err) {
    const char *form = res_node_text(node, "form");
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (form == NULL || strlen(form) >= sizeof row->form) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "an object without \"form\"");
    }
    text_copy(row->form, sizeof row->form, form);
    text_copy(row->name, sizeof row->name, res_node_text(node, "name"));
    text_copy(row->extension, sizeof row->extension, res_node_text(node, "isa"));
    text_copy(row->status, sizeof row->status, res_node_text(node, "status"));
    text_copy(row->ports, sizeof row->ports, res_node_text(node, "ports"));
    row->throughput = res_node_number(node, "throughput");
    row->throughput_slow = res_node_number(node, "throughput_slow_cycles");
    row->slots = res_node_number(node, "slots");
    if (!res_usage_parse(row->ports, terms, &count)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                          "'%.60s' is no port usage: expected such as 1*p01+2*p5", row->ports);
    }
    if (!range_read(node, &row->latency)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "latency_min or latency_max lacks cycles");
    }
    const struct res_node *list = res_node_find(node, "latency");
    for (const struct res_node *item = list != NULL ? list->first : NULL; item != NULL; item = item->next) {
        struct res_sheet_pair *pair = res_row_pair_add(row);
        if (pair == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name);
        }
        if (!pair_read(item, pair)) {
            return ip_fail_at(err, IP_SYNTAX, name, line, 0, "a latency lacks src, dst or cycles");
        }
    }
    return IP_OK;
}

enum ip_status res_json_read(struct res_sheet *sheet, const char *name, const char *text,
                             struct ip_error *err) {
    unsigned line = 1;
    for (const char *at = text; *at != '\0';) {
        struct res_tree tree = {0};
        enum ip_status status = res_tree_read(&tree, name, &at, &line, err);
        struct res_row *row = status == IP_OK ? res_sheet_row_add(sheet) : NULL;
        if (status == IP_OK) {
            status = row == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name)
                                 : row_read(row, tree.root, name, line, err);
        }
        res_tree_fini(&tree);
        if (status != IP_OK) {
            return status;
        }
        for (; *at != '\0' && strchr(" \r\n\t", *at) != NULL; at++) {
            line += *at == '\n';
        }
    }
    return IP_OK;
}
