/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_schedule.c - the JSON from which schedtool makes scheduling models of LLVM: a record for
 * each opcode, with Port [[uops, [ports]]], Uops, Tp and Latency. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/latency.h"
#include "results/formats.h"

static void record_append(struct ip_text *text, const struct res_row *row, const char *opcode) {
    double latency = res_row_latency(row), uops = res_row_uops(row);
    ip_text_printf(text, "  \"%s\": {\"SchedReads\": [], \"SchedWrites\": []", opcode);
    if (row->ports[0] != '\0') {
        ip_text_append(text, ", \"Port\": ");
        res_ports_append(text, row->ports, "[", "]", "");
        ip_text_printf(text, ", \"Uops\": %.0f", uops);
    }
    if (!isnan(row->throughput)) {
        /* schedtool wants a float here and an integer below. */
        char digits[32];
        (void)snprintf(digits, sizeof digits, "%.4f", row->throughput);
        ip_text_printf(text, ", \"Tp\": %s", digits);
    }
    if (!isnan(latency)) {
        ip_text_printf(text, ", \"Latency\": %.0f", probe_latency_whole(latency));
    }
    ip_text_append(text, ", \"isaprobe\": ");
    ip_text_append_json(text, row->form);
    ip_text_append(text, "}");
}

/* Of forms with one opcode the most general: no fixed registers or values. */
static int generality(const struct isa_form *form) {
    int rank = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        rank -= (operand->kind == ISA_OPERAND_REG && operand->reg >= 0) || operand->imm_fixed ||
                operand->reg_class == ISA_REG_GPR8H;
    }
    return rank;
}

enum ip_status res_schedule_write(const struct res_sheet *sheet, struct res_export *export,
                                  struct ip_text *text, struct ip_error *err) {
    struct res_llvm_name *names = NULL;
    struct res_choice *choices = calloc(sheet->count + 1, sizeof *choices);
    if (choices == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count);
    }
    enum ip_status status = res_llvm_names(sheet, &names, err);
    size_t count = 0;
    for (size_t i = 0; status == IP_OK && i < sheet->count; i++) {
        /* What a prefix adds is no opcode of its own. */
        if (names[i].opcode[0] == '\0' || names[i].prefix[0] != '\0') {
            export->unnamed++;
            continue;
        }
        choices[count].row = i;
        choices[count].rank = generality(sheet->rows[i].info);
        (void)snprintf(choices[count++].key, sizeof choices[0].key, "%s", names[i].opcode);
    }
    res_choices_make(choices, count, &export->merged);
    ip_text_append(text, "{");
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        if (choices[i].chosen) {
            ip_text_append(text, export->written++ > 0 ? ",\n" : "\n");
            record_append(text, &sheet->rows[choices[i].row], choices[i].key);
        }
    }
    ip_text_append(text, "\n}\n");
    free(choices);
    free(names);
    return status;
}

enum ip_status res_schedule_read(struct res_sheet *sheet, const char *name, const char *text,
                                 struct ip_error *err) {
    struct res_tree tree = {0};
    const char *at = text;
    unsigned line = 1, number = 1;
    enum ip_status status = res_tree_read(&tree, name, &at, &line, err);
    sheet->whole_latencies = true;
    for (const struct res_node *node = status == IP_OK ? tree.root->first : NULL;
         status == IP_OK && node != NULL; node = node->next) {
        struct res_row *row = res_sheet_row_add(sheet);
        number++; /* one record a line */
        if (row == NULL) {
            status = ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name);
            break;
        }
        const char *form = res_node_text(node, "isaprobe");
        const struct res_node *ports = res_node_find(node, "Port");
        if (node->key == NULL || form == NULL || (ports != NULL && !res_ports_of_node(ports, row->ports))) {
            status = ip_fail_at(err, IP_SYNTAX, name, number, 0,
                                "expected \"OPCODE\": {\"Port\": [[1, [0]]], ..., \"isaprobe\": \"FORM\"}");
            break;
        }
        (void)snprintf(row->form, sizeof row->form, "%s", form);
        row->throughput = res_node_number(node, "Tp");
        double latency = res_node_number(node, "Latency");
        row->latency = (struct res_sheet_range){.known = !isnan(latency), .low = latency, .high = latency};
    }
    res_tree_fini(&tree);
    return status;
}
