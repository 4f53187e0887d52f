/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/operands.h"
#include "generator/shapes.h"
#include "isa/decode.h"

enum { FLAG_C = 0x1, FLAG_P = 0x4, FLAG_Z = 0x40, FLAG_S = 0x80, FLAG_O = 0x800 };

/* A pair of transfers that takes so little can only be one cycle each: no transfer takes less than one. */
#define ROUND_OF_ONES_CYCLES 2.15
/* A chain of one transfer below this was removed at rename on its way, so it says nothing. */
#define LEAST_CHAIN_CYCLES 0.85
/* What noise spoilt is measured so many times more: all that is closed by it hangs on it. */
enum { CALIBRATION_RETRIES = 12, CALIBRATION_SECONDS = 10 };
/* So near to a whole number the latency of a transfer is one: with noise, and where nothing goes through
 * memory so far below it, too, for no chain takes less than it has to (VPTESTMD of 512 bits 4.90 in one
 * process of a Zen 4, 5.00 in the others: the masks of 118 forms were late by a cycle in a whole scan). */
#define WHOLE_TOLERANCE 0.02
#define WHOLE_BELOW     0.2
/* By so much, in cycles, a chain of transfers alone may be slower than they are. */
#define CONTENDED_CYCLES 0.35
/* So many NOPs stand in each round of a transfer that chains to itself, once more: of one cycle's worth of
 * issue on any CPU. By so much longer the round is one of a slower transfer. */
enum { APART_NOPS = 2 };
#define APART_CYCLES 0.75

/* One row of the list of transfers. `own`: the source operand through which the instruction can be chained to
 * itself (-1: it cannot). Where `own` differs from `src`, one µop reads both, and a µop is taken to have one
 * latency from each of its sources: so its k -> k chain tells what it takes from xmm to k. */
struct transfer_row {
    const char *syntax;
    signed char src, dst, own;
    enum probe_restore restore;
};

static const struct transfer_row ROWS[] = {
    /* within the general-purpose registers: sign extensions are never removed at rename */
    {"movsxd r64, r32", 1, 0, 1, PROBE_RESTORE_NONE},
    {"movsx r64, r16", 1, 0, 1, PROBE_RESTORE_NONE},
    {"movsx r64, r8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"movsx r32, r8h", 1, 0, 1, PROBE_RESTORE_NONE},
    /* flags: CMP, not TEST: what the flags of logic take depends on who reads them (ADC 1 cycle, CMOV 2 on a
     * Redwood Cove), so TEST cannot be calibrated */
    {"cmp r64, r64", 0, 2, -1, PROBE_RESTORE_NONE},
    {"cmp r32, r32", 0, 2, -1, PROBE_RESTORE_NONE},
    {"cmp r16, r16", 0, 2, -1, PROBE_RESTORE_NONE},
    {"cmp r8, r8", 0, 2, -1, PROBE_RESTORE_NONE},
    {"cmp r8h, r8h", 0, 2, -1, PROBE_RESTORE_NONE},
    {"cmovb r64, r64", 2, 0, -1, PROBE_RESTORE_NONE},
    {"cmovz r64, r64", 2, 0, -1, PROBE_RESTORE_NONE},
    {"cmovs r64, r64", 2, 0, -1, PROBE_RESTORE_NONE},
    {"cmovo r64, r64", 2, 0, -1, PROBE_RESTORE_NONE},
    {"cmovp r64, r64", 2, 0, -1, PROBE_RESTORE_NONE},
    {"setb r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"setz r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"sets r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"seto r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"setp r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"setb r8h", 1, 0, -1, PROBE_RESTORE_NONE},
    {"setz r8h", 1, 0, -1, PROBE_RESTORE_NONE},
    /* within the vectors floating-point logic, an integer and a floating-point shuffle: forwarding between
     * kinds may cost, and a core may count both shuffles among the integers (Zen 3). x | f is f, too, where x
     * is a part of f. */
    {"orps xmm, xmm", 0, 0, 0, PROBE_RESTORE_OR},
    {"vorps xmm, xmm, xmm", 1, 0, 1, PROBE_RESTORE_OR},
    {"vorps ymm, ymm, ymm", 1, 0, 1, PROBE_RESTORE_OR},
    {"vorps zmm, zmm, zmm", 1, 0, 1, PROBE_RESTORE_OR},
    {"pshufd xmm, xmm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"movshdup xmm, xmm", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpshufd xmm, xmm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpshufd ymm, ymm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpermilps xmm, xmm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpermilps ymm, ymm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpshufd zmm, zmm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"vpermilps zmm, zmm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    /* what puts a value back, with OR behind it: (x & f) | f is f, whatever x is */
    {"andps xmm, xmm", 0, 0, 0, PROBE_RESTORE_AND},
    {"vandps xmm, xmm, xmm", 1, 0, 1, PROBE_RESTORE_AND},
    {"vandps ymm, ymm, ymm", 1, 0, 1, PROBE_RESTORE_AND},
    /* what makes a full mask of the zeros that a gather loads */
    {"vpcmpeqd xmm, xmm, xmm", 1, 0, 1, PROBE_RESTORE_ONES},
    {"vpcmpeqd ymm, ymm, ymm", 1, 0, 1, PROBE_RESTORE_ONES},
    {"vptestnmd k{k}, xmm, xmm", 2, 0, 1, PROBE_RESTORE_ONES},
    {"vptestnmd k{k}, ymm, ymm", 2, 0, 1, PROBE_RESTORE_ONES},
    {"vptestnmd k{k}, zmm, zmm", 2, 0, 1, PROBE_RESTORE_ONES},
    /* general-purpose <-> vector */
    {"movd r32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq r64, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovd r32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovq r64, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pmovmskb r32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpmovmskb r32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd xmm, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq xmm, r64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovd xmm, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovq xmm, r64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pinsrq xmm, r64, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpinsrq xmm, xmm, r64, imm8", 2, 0, -1, PROBE_RESTORE_NONE},
    {"vpbroadcastd xmm, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    /* masks */
    {"kmovq k, k", 1, 0, 1, PROBE_RESTORE_NONE},
    {"kmovw k, k", 1, 0, 1, PROBE_RESTORE_NONE},
    {"kmovq k, r64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovd k, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovw k, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovq r64, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovd r32, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovw r32, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vptestmd k{k}, xmm, xmm", 2, 0, 1, PROBE_RESTORE_NONE},
    {"vptestmd k{k}, ymm, ymm", 2, 0, 1, PROBE_RESTORE_NONE},
    {"vptestmb k{k}, xmm, xmm", 2, 0, 1, PROBE_RESTORE_NONE},
    {"vptestmd k{k}, zmm, zmm", 2, 0, 1, PROBE_RESTORE_NONE},
    {"vcmpps k{k}, xmm, xmm, imm8", 2, 0, 1, PROBE_RESTORE_NONE},
    {"vpmovd2m k, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpmovm2d xmm, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpmovm2b xmm, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovdqa32 xmm{k}{z}, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovaps xmm{k}{z}, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovdqa32 zmm{k}{z}, zmm", 1, 0, -1, PROBE_RESTORE_NONE},
    /* MMX */
    {"pshufw mm, mm, imm8", 1, 0, 1, PROBE_RESTORE_NONE},
    {"movd mm, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq mm, r64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd r32, mm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq r64, mm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq2dq xmm, mm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movdq2q mm, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    /* x87 */
    {"fcomi st0, st", 0, 3, -1, PROBE_RESTORE_NONE},
    {"fcmovb st0, st", 3, 0, -1, PROBE_RESTORE_NONE},
    {"fcmove st0, st", 3, 0, -1, PROBE_RESTORE_NONE},
    /* what memory holds: loads of what was stored, and stores */
    {"mov r64, m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"mov m64, r64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"mov r32, m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"mov m32, r32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movzx r32, m16", 1, 0, -1, PROBE_RESTORE_NONE},
    {"mov m16, r16", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movzx r32, m8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"mov m8, r8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd mm, m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd m32, mm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq mm, m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq m64, mm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd xmm, m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movd m32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq xmm, m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movq m64, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movups xmm, m128", 1, 0, -1, PROBE_RESTORE_NONE},
    {"movups m128, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pinsrb xmm, m8, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pextrb m8, xmm, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pinsrw xmm, m16, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"pextrw m16, xmm, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpbroadcastb xmm, m8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpextrb m8, xmm, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovw xmm, m16", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovw m16, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpbroadcastw xmm, m16", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vpextrw m16, xmm, imm8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovd xmm, m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovd m32, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovq xmm, m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovq m64, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups xmm, m128", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups m128, xmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups ymm, m256", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups m256, ymm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups zmm, m512", 1, 0, -1, PROBE_RESTORE_NONE},
    {"vmovups m512, zmm", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovb k, m8", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovb m8, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovw k, m16", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovw m16, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovd k, m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovd m32, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovq k, m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"kmovq m64, k", 1, 0, -1, PROBE_RESTORE_NONE},
    {"fld m32", 0, 1, -1, PROBE_RESTORE_NONE},
    {"fst m32", 1, 0, -1, PROBE_RESTORE_NONE},
    {"fld m64", 0, 1, -1, PROBE_RESTORE_NONE},
    {"fst m64", 1, 0, -1, PROBE_RESTORE_NONE},
    {"fld m80", 0, 1, -1, PROBE_RESTORE_NONE},
    {"fstp m80", 1, 0, -1, PROBE_RESTORE_NONE},
};
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

enum probe_file probe_operand_file(const struct isa_operand *operand) {
    switch (operand->kind) {
    case ISA_OPERAND_FLAGS:
        return PROBE_FILE_FLAGS;
    case ISA_OPERAND_MEM:
        return PROBE_FILE_MEMORY;
    case ISA_OPERAND_REG:
        break;
    default:
        return PROBE_FILE_NONE;
    }
    if (isa_reg_is_gpr(operand->reg_class)) {
        return PROBE_FILE_GPR;
    }
    if (isa_reg_is_vector(operand->reg_class)) {
        return PROBE_FILE_VECTOR;
    }
    switch (operand->reg_class) {
    case ISA_REG_MASK:
        return PROBE_FILE_MASK;
    case ISA_REG_MMX:
        return PROBE_FILE_MMX;
    case ISA_REG_X87:
        return PROBE_FILE_X87;
    case ISA_REG_TILE:
        return PROBE_FILE_TILE;
    default:
        return PROBE_FILE_NONE;
    }
}

enum probe_world probe_form_world(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (isa_reg_is_vector(operand->reg_class)) {
            return form->vex || form->evex ? PROBE_WORLD_VEX : PROBE_WORLD_LEGACY;
        }
    }
    return PROBE_WORLD_ANY;
}

static bool worlds_mix(enum probe_world a, enum probe_world b) {
    return a == PROBE_WORLD_ANY || b == PROBE_WORLD_ANY || a == b;
}

void probe_transfers_fini(struct probe_transfers *transfers) {
    free(transfers->items);
    memset(transfers, 0, sizeof *transfers);
}

static bool through_memory(const struct probe_transfer *transfer) {
    return transfer->from == PROBE_FILE_MEMORY || transfer->to == PROBE_FILE_MEMORY;
}

/* A load or a store of a general-purpose register may be done at rename, in no time. */
static bool renamed_perhaps(const struct probe_transfer *transfer) {
    return through_memory(transfer) && (transfer->from == PROBE_FILE_GPR || transfer->to == PROBE_FILE_GPR);
}

/* Fills what can be said of a transfer before it runs. */
static void transfer_describe(struct probe_transfer *transfer, const struct transfer_row *row) {
    const struct isa_form *form = &transfer->form;
    transfer->src = row->src;
    transfer->dst = row->dst;
    transfer->restore = row->restore;
    transfer->slot = transfer->apart_slot = SIZE_MAX;
    transfer->partner = -1;
    transfer->cycles = transfer->buffered_cycles = 1.0;
    transfer->usable = form->derived && form->obstacle == ISA_OBSTACLE_NONE &&
                       row->src < form->operand_count && row->dst < form->operand_count;
    if (!transfer->usable) {
        return;
    }
    transfer->from = probe_operand_file(&form->operands[row->src]);
    transfer->to = probe_operand_file(&form->operands[row->dst]);
    transfer->world = probe_form_world(form);
    transfer->flags_read = form->flags_read;
    transfer->flags_written = form->flags_written;
    /* The operands must be what the row says; a table may hold a row of the user's with that syntax. */
    transfer->usable = transfer->from != PROBE_FILE_NONE && transfer->to != PROBE_FILE_NONE &&
                       form->operands[row->src].read && form->operands[row->dst].write;
}

static unsigned gpr_bits(const struct isa_operand *operand) {
    switch (operand->reg_class) {
    case ISA_REG_GPR8:
    case ISA_REG_GPR8H:
        return 8;
    case ISA_REG_GPR16:
        return 16;
    case ISA_REG_GPR32:
        return 32;
    default:
        return 64;
    }
}

/* A general-purpose value flows from `written` to `read` without a merge on the way. */
static bool gpr_flows(const struct isa_operand *written, const struct isa_operand *read) {
    if ((written->reg_class == ISA_REG_GPR8H) != (read->reg_class == ISA_REG_GPR8H)) {
        /* The high byte is part of any wider register; the low byte is not. */
        return read->reg_class == ISA_REG_GPR8H && gpr_bits(written) >= 32;
    }
    unsigned written_bits = gpr_bits(written) == 32 ? 64 : gpr_bits(written);
    return gpr_bits(read) <= written_bits;
}

/* Does the value that `written` holds reach an instruction that reads it as `read`? */
static bool operand_flows(const struct isa_form *writer, int dst, const struct isa_form *reader, int src) {
    const struct isa_operand *written = &writer->operands[dst];
    const struct isa_operand *read = &reader->operands[src];
    enum probe_file file = probe_operand_file(written);
    if (file != probe_operand_file(read)) {
        return false;
    }
    if (file == PROBE_FILE_FLAGS) {
        /* Every flag that is read must come from the writer, which may leave an undefined one alone. */
        uint32_t wanted = reader->flags_read;
        return wanted != 0 && (wanted & ~isa_form_flags_defined(writer)) == 0;
    }
    if (file == PROBE_FILE_GPR) {
        return gpr_flows(written, read);
    }
    if (file == PROBE_FILE_MEMORY) {
        return written->bits == read->bits;
    }
    return true;
}

/* Vector transfers of the width that the form has: a 512-bit one among narrower forms closes a port. */
static bool vector_width_fits(const struct isa_operand *transferred, const struct isa_operand *operand) {
    if (probe_operand_file(operand) != PROBE_FILE_VECTOR ||
        probe_operand_file(transferred) != PROBE_FILE_VECTOR) {
        return true;
    }
    return (transferred->reg_class == ISA_REG_ZMM) == (operand->reg_class == ISA_REG_ZMM) &&
           (transferred->reg_class != ISA_REG_YMM || operand->reg_class == ISA_REG_YMM);
}

/* Is it the lower part of what a vector store writes that is read: half of 256 bits or more, or what a
 * general-purpose register holds? */
static bool loads_part(const struct isa_operand *written, const struct probe_transfer *load) {
    const struct isa_operand *read = &load->form.operands[load->src];
    bool half = written->bits >= 256 && read->bits * 2 == written->bits;
    bool general = written->bits >= 128 && read->bits == 64 && load->to == PROBE_FILE_GPR;
    return written->kind == ISA_OPERAND_MEM && read->kind == ISA_OPERAND_MEM && (half || general);
}

/* Is it the count of a shift that the transfer may make zero, as SETcc does? What such a shift takes is
 * another matter: on a Zen 3 its flags come 31 cycles late, in every second process. */
static bool makes_no_count(const struct probe_transfer *transfer, const struct isa_form *form, int src) {
    return gen_form_counts_in_cl(form) && src == (int)form->explicit_count - 1 &&
           transfer->from == PROBE_FILE_FLAGS && transfer->form.operands[transfer->dst].bits == 8;
}

bool probe_transfer_fits(const struct probe_transfer *transfer, const struct isa_form *form, int dst,
                         int src) {
    const struct isa_form *other = &transfer->form;
    if (!transfer->usable || !worlds_mix(transfer->world, probe_form_world(form)) ||
        makes_no_count(transfer, form, src)) {
        return false;
    }
    /* A part of a vector is loaded sooner than all of it was stored: on a Golden Cove a round of a store of
     * 256 bits takes 5 cycles with a load of 128, 6 with one of 256. And an address wants the value in a
     * general-purpose register, which costs another transfer where a vector was loaded. */
    bool part = dst >= 0 && loads_part(&form->operands[dst], transfer);
    /* Loads and stores close no port. A store that is wider than the result takes the zeros above it. */
    if (dst >= 0 && ((!part && !operand_flows(form, dst, other, transfer->src)) ||
                     (transfer->to != PROBE_FILE_MEMORY &&
                      !vector_width_fits(&other->operands[transfer->src], &form->operands[dst])))) {
        return false;
    }
    return src < 0 || (operand_flows(other, transfer->dst, form, src) &&
                       (transfer->from == PROBE_FILE_MEMORY ||
                        vector_width_fits(&other->operands[transfer->dst], &form->operands[src])));
}

/* The first transfer that leads back from where `transfer` leads to. */
static int transfer_partner(const struct probe_transfers *transfers, const struct probe_transfer *transfer) {
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *other = &transfers->items[i];
        if (other->from == transfer->to && other->to == transfer->from &&
            probe_transfer_fits(other, &transfer->form, transfer->dst, transfer->src)) {
            return (int)i;
        }
    }
    return -1;
}

enum ip_status probe_transfers_init(struct probe_transfers *transfers, const struct isa_table *table,
                                    struct ip_error *err) {
    struct probe_transfer *items = calloc(ROW_COUNT, sizeof *items);
    struct isa_form **forms = calloc(ROW_COUNT, sizeof *forms);
    enum ip_status status = IP_OK;
    if (items == NULL || forms == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the list of transfers");
    }
    for (size_t i = 0; i < ROW_COUNT && status == IP_OK; i++) {
        const struct isa_form *known = table != NULL ? isa_table_find(table, ROWS[i].syntax) : NULL;
        if (known != NULL) {
            items[i].form = *known;
        } else {
            status = isa_form_parse(&items[i].form, ROWS[i].syntax, err);
        }
        forms[i] = &items[i].form;
    }
    if (status == IP_OK) {
        status = isa_forms_derive(forms, ROW_COUNT, err);
    }
    free(forms);
    if (status != IP_OK) {
        free(items);
        return status;
    }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        transfer_describe(&items[i], &ROWS[i]);
    }
    transfers->items = items;
    transfers->count = ROW_COUNT;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        items[i].partner = ROWS[i].own < 0 ? transfer_partner(transfers, &items[i]) : -1;
        items[i].usable = items[i].usable && (ROWS[i].own >= 0 || items[i].partner >= 0);
    }
    return IP_OK;
}

void probe_transfers_need_all(struct probe_transfers *transfers) {
    for (size_t i = 0; i < transfers->count; i++) {
        transfers->items[i].needed = true;
    }
}

/* Adds a calibrating chain of at least so many rounds in the loop (0: as many as usual); *slot stays SIZE_MAX
 * where there is none. */
static enum ip_status chain_add(struct probe_batch *batch, const struct gen_link *links, unsigned count,
                                unsigned nops, unsigned rounds, size_t *slot, struct ip_error *err) {
    struct gen_program program;
    gen_program_init(&program);
    enum ip_status status = gen_latency_program(&program, links, count, 0, nops, err);
    if (status == IP_OK) {
        program.copies =
            rounds > 0 ? (rounds + program.forms_per_unit - 1) / program.forms_per_unit : program.copies;
        return probe_batch_add(batch, &program, slot, err);
    }
    gen_program_fini(&program);
    return status == IP_NO_MEMORY ? status : IP_OK;
}

/* Rounds of CMP and CMOV take three cycles where CMOV takes two (Intel's cores before Broadwell), and say not
 * which of the two is longer: CMP and SETcc take two, which decides it. */
static void flags_decider_need(struct probe_transfers *transfers) {
    bool needed = false;
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *transfer = &transfers->items[i];
        needed = needed || (transfer->needed && transfer->usable &&
                            (transfer->from == PROBE_FILE_FLAGS || transfer->to == PROBE_FILE_FLAGS));
    }
    for (size_t i = 0; i < transfers->count; i++) {
        struct probe_transfer *transfer = &transfers->items[i];
        transfer->needed = transfer->needed || (needed && strcmp(transfer->form.syntax, "setb r8") == 0);
    }
}

/* Adds the calibrating chains of the needed transfers; the others become unusable. */
static enum ip_status chains_add(struct probe_transfers *transfers, struct probe_batch *batch,
                                 struct ip_error *err) {
    flags_decider_need(transfers);
    /* A round trip is read with its partner's own: need goes along, at most twice (k <-> xmm, xmm -> k). */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < transfers->count; i++) {
            struct probe_transfer *transfer = &transfers->items[i];
            if (transfer->needed && transfer->usable && transfer->partner >= 0) {
                transfers->items[transfer->partner].needed = true;
            }
        }
    }
    for (size_t i = 0; i < transfers->count; i++) {
        struct probe_transfer *transfer = &transfers->items[i];
        if (!transfer->usable || !transfer->needed) {
            transfer->usable = false;
            continue;
        }
        struct gen_link links[2] = {{.form = &transfer->form, .src = transfer->src, .dst = transfer->dst}};
        unsigned count = 1;
        if (ROWS[i].own >= 0) {
            links[0].src = ROWS[i].own;
        } else {
            const struct probe_transfer *partner = &transfers->items[transfer->partner];
            links[1] = (struct gen_link){.form = &partner->form, .src = partner->src, .dst = partner->dst};
            count = 2;
        }
        enum ip_status status = chain_add(batch, links, count, 0, 0, &transfer->slot, err);
        transfer->usable = transfer->slot != SIZE_MAX;
        if (status == IP_OK && count == 1 && !through_memory(transfer)) {
            status = chain_add(batch, links, count, APART_NOPS, 0, &transfer->apart_slot, err);
        } else if (status == IP_OK && renamed_perhaps(transfer)) {
            status = chain_add(batch, links, count, 0, GEN_PAIRS_FORGOTTEN, &transfer->apart_slot, err);
        }
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}

static bool stat_good(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK;
}

/* A transfer is one µop of a fixed latency: what its chain is off a whole number is noise, which would go
 * into every result that it closes, and differ from run to run. One that is further off is taken as measured.
 */
static double whole_cycles(double cycles) {
    double nearest = round(cycles);
    return fabs(cycles - nearest) <= WHOLE_TOLERANCE * nearest ? nearest : cycles;
}

/* As whole_cycles, and if it is not much below a whole number, that. */
static double whole_or_above(const struct probe_transfer *transfer, double cycles) {
    double above = ceil(cycles);
    return !through_memory(transfer) && above - cycles <= WHOLE_BELOW ? above : whole_cycles(cycles);
}

/* As whole_or_above, of a chain of one transfer alone. Where a port is slower than what it computes the chain
 * waits for itself now and then: a shuffle of 512 bits in two halves takes 1.13 cycles on a Zen 4, 1 among
 * others. Taken as measured it made three others in a chain 0.4 cycle too short. What stores and loads take
 * need not be whole. */
static double alone_cycles(const struct probe_transfer *transfer, double cycles) {
    double whole = whole_or_above(transfer, cycles), below = floor(cycles);
    bool contended =
        whole == cycles && !through_memory(transfer) && below >= 1.0 && cycles - below <= CONTENDED_CYCLES;
    return contended ? below : whole;
}

/* Does a transfer that chains to itself take longer as soon as anything stands between its instances? */
static bool is_unsteady(const struct probe_transfer *transfer, const struct hx_stat *stats) {
    const struct hx_stat *apart = transfer->apart_slot != SIZE_MAX ? &stats[transfer->apart_slot] : NULL;
    return transfer->pinned && apart != NULL && stat_good(apart) &&
           apart->cycles >= transfer->cycles + APART_CYCLES;
}

/* What takes now one cycle and now two tells nothing of what stands beside it, and all that moves within such
 * a file is taken for that: alone it takes longer now and then, too. On a Zen 5 KMOVQ and KMOVW take one
 * cycle behind each other, but two in one process of eight, and behind two NOPs, and beside VPCMPB either. */
static void unsteady_leave(struct probe_transfers *transfers, const struct hx_stat *stats) {
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *unsteady = &transfers->items[i];
        if (unsteady->from != unsteady->to || !is_unsteady(unsteady, stats)) {
            continue;
        }
        for (size_t j = 0; j < transfers->count; j++) {
            struct probe_transfer *other = &transfers->items[j];
            other->usable = other->usable && (other->from != unsteady->from || other->to != unsteady->to);
        }
    }
}

/* What the exact half of a round leaves to the other. */
static void pin_rest(struct probe_transfer *transfer, double rest) {
    transfer->cycles = whole_or_above(transfer, rest > 1.0 ? rest : 1.0);
    transfer->pinned = true;
}

/* What a load or a store takes at least, by a round of both: one that takes up a store's value at rename
 * costs nothing, and that is so unless something was seen that speaks against it. */
static double least_through_memory(const struct hx_stat *round) {
    return stat_good(round) && whole_cycles(round->cycles) >= 2 * LEAST_CHAIN_CYCLES ? 1.0 : 0.0;
}

/* The same of one that the core does not know. A load and a store have one such round each, of the same two.
 */
static double buffered_least(const struct probe_transfers *transfers, const struct probe_transfer *transfer,
                             const struct hx_stat *stats) {
    const size_t own = transfer->apart_slot;
    const size_t other = transfer->partner >= 0 ? transfers->items[transfer->partner].apart_slot : SIZE_MAX;
    const double least = own != SIZE_MAX ? least_through_memory(&stats[own]) : 0.0;
    return fmax(least, other != SIZE_MAX ? least_through_memory(&stats[other]) : 0.0);
}

/* Reads what the chains gave. */
static void chains_read(struct probe_transfers *transfers, const struct hx_stat *stats) {
    /* First those that chain to themselves: their latency is exact. */
    for (size_t i = 0; i < transfers->count; i++) {
        struct probe_transfer *transfer = &transfers->items[i];
        if (!transfer->usable) {
            continue;
        }
        /* Only what does not run is left out. If noise could take a transfer away, the pairs that it closes
         * would come out differently for a whole run: without a floating-point shuffle a cycle more, without
         * any a cycle less (vaddpd 2 or 3). One whose cost is not known stays, at its bound. */
        if (transfer->slot == SIZE_MAX || stats[transfer->slot].verdict == HX_VERDICT_FAULT) {
            transfer->usable = false;
            continue;
        }
        const struct hx_stat *stat = &stats[transfer->slot];
        if (renamed_perhaps(transfer)) {
            transfer->cycles = least_through_memory(stat);
            transfer->buffered_cycles = buffered_least(transfers, transfer, stats);
        }
        if (transfer->partner < 0 && stat_good(stat) && stat->cycles >= LEAST_CHAIN_CYCLES) {
            transfer->cycles = alone_cycles(transfer, stat->cycles);
            transfer->pinned = true;
        }
    }
    /* Then round trips: of two cycles in all, or with one half that is exact; that may make others exact. */
    for (unsigned pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < transfers->count; i++) {
            struct probe_transfer *transfer = &transfers->items[i];
            if (!transfer->usable || transfer->partner < 0 || !stat_good(&stats[transfer->slot])) {
                continue;
            }
            struct probe_transfer *partner = &transfers->items[transfer->partner];
            double round_cycles = whole_cycles(stats[transfer->slot].cycles);
            if (transfer->pinned) {
                if (!partner->pinned && !through_memory(transfer)) {
                    pin_rest(partner, round_cycles - transfer->cycles);
                }
            } else if (partner->pinned) {
                pin_rest(transfer, round_cycles - partner->cycles);
            } else if (!through_memory(transfer) && round_cycles >= 2 * LEAST_CHAIN_CYCLES &&
                       round_cycles <= ROUND_OF_ONES_CYCLES) {
                transfer->pinned = true; /* `cycles` is 1 already */
            } else if (through_memory(transfer) && !renamed_perhaps(transfer) &&
                       round_cycles < 2 * LEAST_CHAIN_CYCLES) {
                transfer->cycles = 0.0;
            }
        }
    }
}

enum ip_status probe_transfers_calibrate(struct probe_transfers *transfers, const struct hx_meter *meter,
                                         struct gen_encoder *encoder, struct ip_error *err) {
    struct probe_batch batch = {
        .retries = CALIBRATION_RETRIES, .retry_seconds = CALIBRATION_SECONDS, .whole = true};
    enum ip_status status = chains_add(transfers, &batch, err);
    if (status == IP_OK) {
        status = probe_batch_measure(&batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        chains_read(transfers, batch.stats);
        unsteady_leave(transfers, batch.stats);
        transfers->calibrated = true;
    }
    probe_batch_fini(&batch);
    return status;
}
