/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_xml.c - XML in the manner of uops.info's instructions.xml (docs/uopsinfo.xsd), written. What
 * uops.info has no place for stands in attributes of our own (isaprobe, src, dst, path, measured), which its
 * readers do not ask for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "isa/kind.h"
#include "isa/xed.h"
#include "probe/latency.h"
#include "results/formats.h"

static void attribute(struct ip_text *text, const char *name, const char *value) {
    ip_text_printf(text, " %s=\"", name);
    ip_text_append_xml(text, value);
    ip_text_append(text, "\"");
}

static void attribute_number(struct ip_text *text, const char *name, double value) {
    if (!isnan(value)) {
        ip_text_printf(text, " %s=\"", name);
        res_number_append(text, value);
        ip_text_append(text, "\"");
    }
}

static void upper_append(struct ip_text *text, const char *word) {
    for (; *word != '\0'; word++) {
        char c = ip_ascii_upper(*word);
        ip_text_append_bytes(text, &c, 1);
    }
}

/* --- the instruction ------------------------------------------------------------------------------------ */

/* What stands before the mnemonic: "LOCK ", "REP ", "{evex} ". */
static void prefix_append(struct ip_text *text, const struct isa_form *form) {
    if (form->prefix[0] == '{') {
        ip_text_printf(text, "%s ", form->prefix);
    } else if (form->prefix[0] != '\0') {
        upper_append(text, form->prefix);
        ip_text_append(text, " ");
    }
}

/* The attributes that tell the instructions of one iform apart: uiCA compares those that are there. */
static void distinctions_append(struct ip_text *text, const struct isa_form *form,
                                const struct isa_xed *xed) {
    if (xed->agen) {
        ip_text_append(text, " agen=\"B\"");
    }
    if (form->evex && isa_form_memory_operand(form) >= 0 && xed->bcast >= 0) {
        ip_text_printf(text, " bcast=\"%d\"", xed->bcast);
    }
    if (xed->eosz > 0) {
        ip_text_printf(text, " eosz=\"%d\"", xed->eosz);
    }
    if (form->evex) {
        bool masked = form->explicit_count > 1 && form->operands[1].mask;
        ip_text_printf(text, " evex=\"1\" mask=\"%d\" zeroing=\"%d\"", masked, form->zeroing);
        if (isa_form_memory_operand(form) < 0) {
            ip_text_printf(text, " sae=\"%d\"", form->decorator[0] != '\0');
        }
    } else if (form->vex) {
        ip_text_append(text, " vex=\"1\"");
    }
    if (form->decorator[0] != '\0') {
        ip_text_printf(text, " roundc=\"%d\"", strcmp(form->decorator, "{sae}") != 0);
    }
    if (xed->has_high8) {
        attribute(text, "high8", xed->high8);
    }
    if (xed->immzero >= 0) {
        ip_text_printf(text, " immzero=\"%d\"", xed->immzero);
    }
    if (xed->rep > 0) {
        ip_text_printf(text, " rep=\"%d\"", xed->rep);
    }
    if (strcmp(form->prefix, "lock") == 0) {
        ip_text_append(text, " locked=\"1\"");
    }
}

/* With `also` the other encoding of the form, which our own readers pass over. */
static void instruction_attributes(struct ip_text *text, const struct res_row *row,
                                   const struct isa_form *form, const struct isa_xed *xed, bool also) {
    const char *other = strrchr(xed->other, '_');
    ip_text_append(text, " asm=\"");
    if (also) { /* as assemblers are told to take it */
        ip_text_append(text, xed->other_loads ? "{load} " : "{store} ");
    }
    prefix_append(text, form);
    upper_append(text, form->mnemonic);
    ip_text_append(text, "\"");
    attribute(text, "category", xed->category);
    attribute(text, "cpl", "3");
    distinctions_append(text, form, xed);
    attribute(text, "extension", row->extension);
    attribute(text, "iclass", xed->iclass);
    attribute(text, "iform", also ? xed->other : xed->iform);
    attribute(text, "isa-set", form->isa_set[0] != '\0' ? form->isa_set : row->extension);
    ip_text_append(text, " string=\"");
    size_t stem = strcspn(row->name, " ");
    ip_text_printf(text, "%.*s%s", (int)stem, row->name, also ? other : "");
    ip_text_append_xml(text, row->name + stem);
    ip_text_append(text, "\"");
    attribute(text, "isaprobe", row->form);
    if (also) {
        ip_text_append(text, " also=\"1\"");
    }
}

/* --- its operands --------------------------------------------------------------------------------------- */

static void registers_append(struct ip_text *text, const struct isa_operand *operand, bool evex) {
    unsigned count = isa_reg_count(operand->reg_class, evex);
    const char *comma = "";
    for (unsigned i = operand->mask ? 1 : 0; i < count; i++) {
        if (operand->reg >= 0 && i != (unsigned)operand->reg) {
            continue;
        }
        const char *name = isa_reg_name(operand->reg_class, i);
        ip_text_append(text, comma);
        upper_append(text, name != NULL ? name : "?");
        comma = ",";
    }
    if (count == 0) { /* control, debug, bound registers, and those that cannot be written */
        ip_text_append(text, operand->other_reg == ISA_OTHER_CONTROL ? "CR0"
                             : operand->other_reg == ISA_OTHER_DEBUG ? "DR0"
                             : operand->other_reg == ISA_OTHER_BOUND ? "BND0"
                                                                     : "OTHER");
    }
}

static void flags_append(struct ip_text *text, const struct isa_form *form,
                         const struct isa_operand *operand) {
    static const struct {
        const char *name;
        uint32_t bit;
    } flags[] = {{"AF", 0x10}, {"CF", 1}, {"OF", 0x800}, {"PF", 4}, {"SF", 0x80}, {"ZF", 0x40}};
    const char *write = operand->cond_write ? "cw" : "w";
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        /* What is written under a condition is read for that reason only, as far as the form says. */
        bool writes = (form->flags_written & flags[i].bit) != 0;
        bool reads = (form->flags_read & flags[i].bit) != 0 && !(writes && operand->cond_write);
        if (reads || writes) {
            ip_text_printf(text, " flag_%s=\"%s%s%s\"", flags[i].name, reads ? "r" : "",
                           reads && writes ? "/" : "", writes ? write : "");
        }
    }
}

static void operand_append(struct ip_text *text, const struct isa_form *form, unsigned number,
                           const struct isa_xed *xed) {
    static const char *const types[] = {
        [ISA_OPERAND_REG] = "reg", [ISA_OPERAND_MEM] = "mem",   [ISA_OPERAND_AGEN] = "agen",
        [ISA_OPERAND_IMM] = "imm", [ISA_OPERAND_REL] = "relbr", [ISA_OPERAND_FLAGS] = "flags",
    };
    const struct isa_operand *operand = &form->operands[number];
    bool fixed = operand->kind == ISA_OPERAND_REG ? operand->reg >= 0
                                                  : operand->kind == ISA_OPERAND_IMM && operand->bits == 0;
    ip_text_printf(text, "      <operand idx=\"%u\"", number + 1);
    if (operand->implicit) {
        ip_text_append(text, " suppressed=\"1\"");
    } else if (fixed) {
        ip_text_append(text, " implicit=\"1\"");
    }
    ip_text_printf(text, " name=\"%s\"%s%s type=\"%s\"%s", xed->names[number],
                   operand->mask ? " opmask=\"1\"" : "", operand->read ? " r=\"1\"" : "",
                   types[operand->kind], operand->write ? " w=\"1\"" : "");
    if (operand->cond_write) {
        ip_text_append(text, " conditionalWrite=\"1\"");
    }
    if (operand->kind == ISA_OPERAND_FLAGS) {
        flags_append(text, form, operand);
    } else if (operand->bits != 0) {
        ip_text_printf(text, " width=\"%u\"", operand->bits);
    }
    if (operand->broadcast != 0) {
        ip_text_printf(text, " memory-suffix=\"{1to%u}\"", operand->broadcast);
    }
    if (operand->kind == ISA_OPERAND_MEM && isa_reg_is_vector(operand->reg_class)) {
        ip_text_printf(text, " VSIB=\"%cMM\"",
                       operand->reg_class == ISA_REG_XMM   ? 'X'
                       : operand->reg_class == ISA_REG_YMM ? 'Y'
                                                           : 'Z');
    }
    if (operand->kind == ISA_OPERAND_REG) {
        ip_text_append(text, ">");
        registers_append(text, operand, form->evex);
        ip_text_append(text, "</operand>\n");
    } else if (operand->kind == ISA_OPERAND_IMM && operand->imm_fixed) {
        ip_text_printf(text, ">%lld</operand>\n", (long long)operand->imm);
    } else {
        ip_text_append(text, "/>\n");
    }
}

/* --- what was measured ---------------------------------------------------------------------------------- */

/* 1, 2 ...; 0 when the form has no such operand. */
static unsigned operand_index(const struct isa_form *form, const char *name) {
    char buffer[16];
    for (unsigned i = 0; i < form->operand_count; i++) {
        if (strcmp(isa_operand_name(form, i, buffer), name) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static void latency_append(struct ip_text *text, const struct isa_form *form,
                           const struct res_sheet_pair *pair) {
    unsigned from = operand_index(form, pair->src), to = operand_index(form, pair->dst);
    if (from == 0 || to == 0) {
        return; /* a register that the form does not name: docs/exports.md */
    }
    const char *suffix = strcmp(pair->path, "address") == 0   ? "_addr"
                         : strcmp(pair->path, "index") == 0   ? "_addr_index"
                         : strcmp(pair->path, "content") == 0 ? "_mem"
                                                              : "";
    char name[40];
    ip_text_append(text, "          <latency");
    (void)snprintf(name, sizeof name, "cycles%s", suffix);
    attribute_number(text, name, probe_latency_whole(pair->cycles));
    if (pair->upper_bound) {
        ip_text_printf(text, " cycles%s_is_upper_bound=\"1\"", suffix);
    }
    (void)snprintf(name, sizeof name, "cycles%s_same_reg", suffix);
    attribute_number(text, name, probe_latency_whole(pair->same_register_cycles));
    (void)snprintf(name, sizeof name, "max_cycles%s", suffix);
    attribute_number(text, name, probe_latency_whole(pair->slow_cycles));
    ip_text_printf(text, " start_op=\"%u\" target_op=\"%u\" src=\"%s\" dst=\"%s\" path=\"%s\"", from, to,
                   pair->src, pair->dst, pair->path);
    attribute_number(text, "measured", pair->cycles);
    attribute_number(text, "measured_same_reg", pair->same_register_cycles);
    attribute_number(text, "measured_slow", pair->slow_cycles);
    ip_text_append(text, "/>\n");
}

static bool ports_are_whole(const struct probe_usage_term *terms, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (terms[i].uops != floor(terms[i].uops)) {
            return false;
        }
    }
    return true;
}

static bool says_divider(const char *syntax) {
    const char *end = syntax + strcspn(syntax, " ");
    const char *division = strstr(syntax, "div"), *root = strstr(syntax, "sqrt");
    return (division != NULL && division < end) || (root != NULL && root < end);
}

/* Is it the unit of divisions or of roots? It is called after one of its forms, whichever was first. */
static bool is_divider(const struct res_sheet *sheet, const char *unit) {
    bool is = says_divider(unit);
    for (size_t i = 0; i < sheet->count && !is; i++) {
        is = strcmp(sheet->rows[i].unit, unit) == 0 && says_divider(sheet->rows[i].form);
    }
    return is;
}

/* Readers know one unit, the divider, and whole cycles of it. */
static void unit_append(struct ip_text *text, const struct res_sheet *sheet, const struct res_row *row) {
    if (row->unit[0] == '\0') {
        return;
    }
    if (is_divider(sheet, row->unit)) {
        attribute_number(text, "div_cycles", fmax(1.0, round(row->unit_cycles)));
    }
    attribute(text, "unit", row->unit);
    attribute_number(text, "unit_cycles", row->unit_cycles);
}

static void measurement_append(struct ip_text *text, const struct res_sheet *sheet, const struct res_row *row,
                               const char *arch) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count = 0;
    bool ports = row->ports[0] != '\0' && res_usage_parse(row->ports, terms, &count);
    ip_text_append(text, "      <architecture");
    attribute(text, "name", arch);
    ip_text_append(text, ">\n        <measurement");
    attribute_number(text, "TP", row->throughput);
    attribute_number(text, "TP_loop", row->throughput);
    attribute_number(text, "TP_unrolled", row->throughput);
    attribute_number(text, "TP_slow", row->throughput_slow);
    if (ports && count > 0) {
        attribute_number(text, "TP_ports", probe_ports_bound(terms, count, NULL));
        /* Readers want whole numbers there. */
        attribute(text, ports_are_whole(terms, count) ? "ports" : "usage", row->ports);
    }
    if (ports) {
        attribute_number(text, "uops", round(res_row_uops(row)));
    }
    unit_append(text, sheet, row);
    attribute_number(text, "uops_retire_slots", round(row->slots));
    attribute_number(text, "slots", row->slots);
    if (row->pair_count == 0 && row->latency.known) { /* from a format without pairs: no <latency> says it */
        attribute_number(text, "latency_min", row->latency.low);
        ip_text_append(text, row->latency.low_bound ? " latency_min_is_upper_bound=\"1\"" : "");
        attribute_number(text, "latency_max", row->latency.high);
        ip_text_append(text, row->latency.high_bound ? " latency_max_is_upper_bound=\"1\"" : "");
    }
    ip_text_append(text, row->pair_count > 0 ? ">\n" : "/>\n");
    for (size_t i = 0; i < row->pair_count; i++) {
        latency_append(text, row->info, &row->pairs[i]);
    }
    ip_text_append(text, row->pair_count > 0 ? "        </measurement>\n" : "");
    ip_text_append(text, "      </architecture>\n");
}

/* --- the file ------------------------------------------------------------------------------------------- */

struct order {
    const char *extension;
    size_t row;
};

static int order_compare(const void *left, const void *right) {
    const struct order *a = left, *b = right;
    int extension = strcmp(a->extension, b->extension);
    return extension != 0 ? extension : (a->row > b->row) - (a->row < b->row);
}

static void instruction_append(struct ip_text *text, const struct res_sheet *sheet, const struct res_row *row,
                               const struct isa_xed *xed, const char *arch, bool also) {
    ip_text_append(text, "    <instruction");
    instruction_attributes(text, row, row->info, xed, also);
    ip_text_append(text, ">\n");
    for (unsigned o = 0; o < row->info->operand_count; o++) {
        operand_append(text, row->info, o, xed);
    }
    measurement_append(text, sheet, row, arch != NULL ? arch : "isaprobe");
    ip_text_append(text, "    </instruction>\n");
}

void res_xml_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text) {
    struct order *order = calloc(sheet->count + 1, sizeof *order);
    if (order == NULL) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < sheet->count; i++) {
        order[i] = (struct order){.extension = sheet->rows[i].extension, .row = i};
    }
    qsort(order, sheet->count, sizeof *order, order_compare);
    ip_text_append(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<root");
    attribute(text, "machine", sheet->machine);
    ip_text_append(text, ">\n");
    const char *open = NULL;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[order[i].row];
        if (row->info == NULL) {
            export->unnamed++;
            continue;
        }
        if (open == NULL || strcmp(open, row->extension) != 0) {
            ip_text_append(text, open != NULL ? "  </extension>\n" : "");
            ip_text_append(text, "  <extension");
            attribute(text, "name", row->extension);
            ip_text_append(text, ">\n");
            open = row->extension;
        }
        struct isa_xed xed;
        struct ip_error unnamed;
        if (isa_xed_describe(row->info, &xed, &unnamed) != IP_OK) {
            export->unnamed++;
            continue;
        }
        instruction_append(text, sheet, row, &xed, export->arch, false);
        if (xed.other[0] != '\0') {
            instruction_append(text, sheet, row, &xed, export->arch, true);
        }
        export->written++;
    }
    ip_text_append(text, open != NULL ? "  </extension>\n</root>\n" : "</root>\n");
    free(order);
}
