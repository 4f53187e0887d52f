/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/tools/rows.h"

#include <stdlib.h>
#include <string.h>

#include "isa/kind.h"

enum { OPERANDS = 8, ITEMS = 16, ITEM = 24 };

/* One alternative of one operand. */
struct item {
    char text[ITEM];
    int rank; /* order among alternatives: register, masked, memory, broadcast, immediates */
    bool plain_register, fixed_register, memory;
};

struct row {
    struct item items[OPERANDS][ITEMS];
    unsigned counts[OPERANDS], operands;
    bool raw, unsized, dead;
};

static int rank_of(const struct isa_operand *op, bool masked, bool zeroing) {
    switch (op->kind) {
    case ISA_OPERAND_REG:
        return op->reg >= 0 ? 70 : zeroing ? 2 : masked ? 1 : 0;
    case ISA_OPERAND_MEM:
    case ISA_OPERAND_AGEN:
        return (op->broadcast != 0 ? 30 : 20) + (zeroing ? 2 : masked ? 1 : 0);
    case ISA_OPERAND_IMM:
        return op->imm_fixed ? 80 : 40 + op->bits / 8;
    default:
        return 60 + op->bits / 8;
    }
}

static void row_fill(struct row *row, const struct isa_form *form) {
    memset(row, 0, sizeof *row);
    row->raw = form->encode_raw;
    row->unsized = form->memory_unsized;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->mask)
            continue;
        bool masked = i == 0 && form->explicit_count > 1 && form->operands[1].mask;
        struct item *item = &row->items[row->operands][0];
        char kind[ITEM];
        isa_kind_print(op, kind);
        snprintf(item->text, sizeof item->text, "%.13s%s", kind,
                 !masked         ? ""
                 : form->zeroing ? "{k}{z}"
                                 : "{k}");
        item->rank = rank_of(op, masked, masked && form->zeroing);
        item->fixed_register = op->kind == ISA_OPERAND_REG && op->reg >= 0;
        item->plain_register = op->kind == ISA_OPERAND_REG && !item->fixed_register;
        item->memory = op->kind == ISA_OPERAND_MEM && op->broadcast == 0;
        row->counts[row->operands++] = 1;
    }
}

static size_t stem(const struct item *item) {
    return strcspn(item->text, "{");
}

/* Readable alternatives are one register class, one memory width, broadcasts, immediates. */
static bool may_join(const struct item *a, const struct item *b) {
    bool both_registers = a->plain_register && b->plain_register, both_memory = a->memory && b->memory;
    if (both_registers || both_memory)
        return stem(a) == stem(b) && strncmp(a->text, b->text, stem(a)) == 0;
    return !(a->fixed_register && b->fixed_register);
}

static bool same_sets(const struct row *a, const struct row *b, unsigned except) {
    for (unsigned p = 0; p < a->operands; p++) {
        if (p == except)
            continue;
        if (a->counts[p] != b->counts[p])
            return false;
        for (unsigned i = 0; i < a->counts[p]; i++) {
            if (strcmp(a->items[p][i].text, b->items[p][i].text) != 0)
                return false;
        }
    }
    return true;
}

static bool join(struct row *a, const struct row *b, unsigned p) {
    if (a->operands != b->operands || a->raw != b->raw || a->unsized != b->unsized || !same_sets(a, b, p) ||
        a->counts[p] + b->counts[p] > ITEMS)
        return false;
    for (unsigned i = 0; i < a->counts[p]; i++)
        for (unsigned k = 0; k < b->counts[p]; k++)
            if (!may_join(&a->items[p][i], &b->items[p][k]))
                return false;
    for (unsigned k = 0; k < b->counts[p]; k++) {
        unsigned at = a->counts[p]++;
        while (at > 0 && a->items[p][at - 1].rank > b->items[p][k].rank) {
            a->items[p][at] = a->items[p][at - 1];
            at--;
        }
        a->items[p][at] = b->items[p][k];
    }
    return true;
}

static void row_print(FILE *out, const struct row *row, const struct isa_form *form) {
    fprintf(out, "%s%s%s", form->prefix, form->prefix[0] != '\0' ? " " : "", form->mnemonic);
    for (unsigned p = 0; p < row->operands; p++) {
        fputs(p == 0 ? " " : ", ", out);
        for (unsigned i = 0; i < row->counts[p]; i++)
            fprintf(out, "%s%s", i > 0 ? "/" : "", row->items[p][i].text);
    }
    if (form->decorator[0] != '\0')
        fprintf(out, ", %s", form->decorator);
    if (row->raw || row->unsized)
        fprintf(out, " ;%s%s", row->unsized ? " unsized" : "", row->raw ? " raw" : "");
    fputc('\n', out);
}

bool walk_rows_print(FILE *out, const struct isa_form *const *forms, size_t count) {
    struct row *rows = malloc(count * sizeof *rows);
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        row_fill(&rows[i], forms[i]);
    /* The last operand first: it varies most. */
    for (unsigned p = OPERANDS; p-- > 0;)
        for (size_t a = 0; a < count; a++)
            for (size_t b = a + 1; b < count && !rows[a].dead; b++)
                if (!rows[b].dead && p < rows[a].operands && join(&rows[a], &rows[b], p))
                    rows[b].dead = true;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].dead)
            row_print(out, &rows[i], forms[0]);
    }
    free(rows);
    return true;
}
