/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_xml.c - XML in the manner of uops.info's instructions.xml (docs/uopsinfo.xsd), written. What
 * uops.info has no place for stands in attributes of our own (isaprobe, src, dst, path, measured), which its
 * readers do not ask for. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/kind.h"
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

static void attribute_integer(struct ip_text *text, const char *name, double value) {
    if (!isnan(value)) {
        ip_text_printf(text, " %s=\"%.0f\"", name, floor(value + 0.5));
    }
}

static void upper_append(struct ip_text *text, const char *word) {
    for (; *word != '\0'; word++) {
        char c = (char)toupper((unsigned char)*word);
        ip_text_append_bytes(text, &c, 1);
    }
}

/* --- the instruction ------------------------------------------------------------------------------------ */

/* The type of a vector's elements in the names of XED, as far as a form tells. */
static void element_append(struct ip_text *text, const struct isa_form *form) {
    if (form->evex) {
        ip_text_printf(text, "%c%u", form->floating ? 'f' : 'i', form->element_bits);
    } else if (form->vex) {
        ip_text_append(text, "dq");
    } else {
        ip_text_append(text, !form->floating ? "dq" : form->element_bits == 64 ? "pd" : "ps");
    }
}

static void iform_operand_append(struct ip_text *text, const struct isa_form *form,
                                 const struct isa_operand *operand) {
    bool narrow = operand->bits == 8;
    switch (operand->kind) {
    case ISA_OPERAND_REG:
        if (isa_reg_is_vector(operand->reg_class)) {
            ip_text_append(text, operand->reg_class == ISA_REG_XMM   ? "_XMM"
                                 : operand->reg_class == ISA_REG_YMM ? "_YMM"
                                                                     : "_ZMM");
            element_append(text, form);
        } else if (isa_reg_is_gpr(operand->reg_class) && operand->reg < 0) {
            ip_text_append(text, narrow      ? "_GPR8"
                                 : form->vex ? (operand->bits == 64 ? "_GPR64q" : "_GPR32d")
                                             : "_GPRv");
        } else if (operand->reg_class == ISA_REG_MASK) {
            ip_text_append(text, "_MASKmskw");
        } else if (operand->reg_class == ISA_REG_MMX) {
            ip_text_append(text, "_MMXq");
        } else {
            ip_text_append(text, "_");
            const char *fixed =
                operand->reg >= 0 ? isa_reg_name(operand->reg_class, (unsigned)operand->reg) : NULL;
            upper_append(text, fixed != NULL ? fixed : "REG");
        }
        break;
    case ISA_OPERAND_MEM:
        ip_text_append(text, "_MEM");
        if (isa_form_vector_bits(form) > 0) {
            element_append(text, form);
        } else {
            ip_text_append(text, narrow ? "b" : "v");
        }
        break;
    case ISA_OPERAND_IMM:
        ip_text_append(text, operand->bits > 8 && !operand->imm_fixed ? "_IMMz" : "_IMMb");
        break;
    case ISA_OPERAND_AGEN:
        ip_text_append(text, "_AGEN");
        break;
    case ISA_OPERAND_REL:
        ip_text_append(text, narrow ? "_RELBRb" : "_RELBRd");
        break;
    case ISA_OPERAND_FLAGS:
        break;
    }
}

/* A name in the manner of XED's iforms, by rule: docs/exports.md says how far that goes. */
static void iform_append(struct ip_text *text, const struct isa_form *form) {
    ip_text_append(text, " iform=\"");
    upper_append(text, form->mnemonic);
    bool masked = form->explicit_count > 1 && form->operands[1].mask;
    bool vector = form->explicit_count > 1 && form->operands[0].kind == ISA_OPERAND_REG &&
                  isa_reg_is_vector(form->operands[0].reg_class);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        iform_operand_append(text, form, &form->operands[i]);
        if (i == 0 && form->evex && vector && !masked) {
            ip_text_append(text, "_MASKmskw");
        }
    }
    ip_text_append(text, form->evex ? "_AVX512\"" : "\"");
}

static const char *category(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REL) {
            return form->flags_read != 0 ? "COND_BR" : "UNCOND_BR";
        }
    }
    return form->extension;
}

static void instruction_attributes(struct ip_text *text, const struct res_row *row,
                                   const struct isa_form *form) {
    ip_text_append(text, " asm=\"");
    if (form->prefix[0] == '{') {
        ip_text_printf(text, "%s ", form->prefix);
    }
    upper_append(text, form->mnemonic);
    ip_text_append(text, "\"");
    attribute(text, "category", category(form));
    attribute(text, "cpl", "3");
    if (form->evex) {
        bool masked = form->explicit_count > 1 && form->operands[1].mask;
        ip_text_printf(text, " evex=\"1\" mask=\"%d\" zeroing=\"%d\"", masked, form->zeroing);
    }
    attribute(text, "extension", row->extension);
    ip_text_append(text, " iclass=\"");
    upper_append(text, form->mnemonic);
    ip_text_append(text, "\"");
    iform_append(text, form);
    attribute(text, "isa-set", form->isa_set[0] != '\0' ? form->isa_set : row->extension);
    if (strcmp(form->prefix, "lock") == 0) {
        ip_text_append(text, " locked=\"1\"");
    }
    attribute(text, "string", row->name);
    attribute(text, "isaprobe", row->form);
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

static void flags_append(struct ip_text *text, const struct isa_form *form) {
    static const struct {
        const char *name;
        uint32_t bit;
    } flags[] = {{"AF", 0x10}, {"CF", 1}, {"OF", 0x800}, {"PF", 4}, {"SF", 0x80}, {"ZF", 0x40}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        bool reads = (form->flags_read & flags[i].bit) != 0,
             writes = (form->flags_written & flags[i].bit) != 0;
        if (reads || writes) {
            ip_text_printf(text, " flag_%s=\"%s\"", flags[i].name,
                           reads && writes ? "r/w"
                           : reads         ? "r"
                                           : "w");
        }
    }
}

static void operand_append(struct ip_text *text, const struct isa_form *form, unsigned number) {
    static const struct {
        const char *type, *name;
    } kinds[] = {
        [ISA_OPERAND_REG] = {"reg", "REG"},     [ISA_OPERAND_MEM] = {"mem", "MEM"},
        [ISA_OPERAND_AGEN] = {"agen", "AGEN"},  [ISA_OPERAND_IMM] = {"imm", "IMM"},
        [ISA_OPERAND_REL] = {"relbr", "RELBR"}, [ISA_OPERAND_FLAGS] = {"flags", "REG"},
    };
    const struct isa_operand *operand = &form->operands[number];
    unsigned same = 0; /* operands of this name before it */
    for (unsigned i = 0; i < number; i++) {
        same += strcmp(kinds[form->operands[i].kind].name, kinds[operand->kind].name) == 0;
    }
    ip_text_printf(text, "      <operand idx=\"%u\"", number + 1);
    if (operand->implicit) {
        ip_text_append(text, " implicit=\"1\" suppressed=\"1\"");
    }
    ip_text_printf(text, " name=\"%s%u\"%s%s type=\"%s\"%s", kinds[operand->kind].name, same,
                   operand->mask ? " opmask=\"1\"" : "", operand->read ? " r=\"1\"" : "",
                   kinds[operand->kind].type, operand->write ? " w=\"1\"" : "");
    if (operand->cond_write) {
        ip_text_append(text, " conditionalWrite=\"1\"");
    }
    if (operand->kind == ISA_OPERAND_FLAGS) {
        flags_append(text, form);
    } else if (operand->bits != 0) {
        ip_text_printf(text, " width=\"%u\"", operand->bits);
    }
    if (operand->kind == ISA_OPERAND_REG) {
        ip_text_append(text, ">");
        registers_append(text, operand, form->evex);
        ip_text_append(text, "</operand>\n");
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
    attribute_integer(text, name, pair->cycles);
    if (pair->upper_bound) {
        ip_text_printf(text, " cycles%s_is_upper_bound=\"1\"", suffix);
    }
    (void)snprintf(name, sizeof name, "cycles%s_same_reg", suffix);
    attribute_integer(text, name, pair->same_register_cycles);
    (void)snprintf(name, sizeof name, "max_cycles%s", suffix);
    attribute_integer(text, name, pair->slow_cycles);
    ip_text_printf(text, " start_op=\"%u\" target_op=\"%u\" src=\"%s\" dst=\"%s\" path=\"%s\"", from, to,
                   pair->src, pair->dst, pair->path);
    attribute_number(text, "measured", pair->cycles);
    attribute_number(text, "measured_same_reg", pair->same_register_cycles);
    attribute_number(text, "measured_slow", pair->slow_cycles);
    ip_text_append(text, "/>\n");
}

static void measurement_append(struct ip_text *text, const struct res_row *row, const char *arch) {
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
        attribute_number(text, "TP_ports", probe_ports_bound(terms, count));
        attribute(text, "ports", row->ports);
    }
    if (ports) {
        attribute_integer(text, "uops", res_row_uops(row));
    }
    attribute_integer(text, "uops_retire_slots", row->slots);
    attribute_number(text, "slots", row->slots);
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
        ip_text_append(text, "    <instruction");
        instruction_attributes(text, row, row->info);
        ip_text_append(text, ">\n");
        for (unsigned o = 0; o < row->info->operand_count; o++) {
            operand_append(text, row->info, o);
        }
        measurement_append(text, row, export->arch != NULL ? export->arch : "isaprobe");
        ip_text_append(text, "    </instruction>\n");
        export->written++;
    }
    ip_text_append(text, open != NULL ? "  </extension>\n</root>\n" : "</root>\n");
    free(order);
}
