/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/pool.h"

#include <string.h>

#include "generator/abi.h"
#include "generator/operands.h"
#include "generator/shapes.h"
#include "generator/x87.h"

/* Candidates in the order of preference; the last ones become the constants. */
static const uint8_t gpr_candidates[] = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, GEN_REG_CONSTANT};
/* ah, ch, dh, bh exclude the REX prefix, and without it byte registers end at bl. */
static const uint8_t gpr_candidates_no_rex[] = {0, 1, 2, 3};
/* Where pairs are written: of each the first, which stands for both. k0 cannot be a {k} operand, so that the
 * rest of its pair is constant. */
static const uint8_t mask_candidates[] = {1, 2, 3, 4, 5, 6, 7}, mask_candidates_paired[] = {2, 4, 6, 1};
static const uint8_t gpr_candidates_rex[GEN_POOL_REX] = {7, 8, 9, 10, 11, 12, GEN_REG_CONSTANT};

enum gen_file gen_file_of(enum isa_reg_class reg_class) {
    if (isa_reg_is_gpr(reg_class)) {
        return GEN_FILE_GPR;
    }
    if (isa_reg_is_vector(reg_class)) {
        return GEN_FILE_VECTOR;
    }
    switch (reg_class) {
    case ISA_REG_MASK:
        return GEN_FILE_MASK;
    case ISA_REG_MMX:
        return GEN_FILE_MMX;
    case ISA_REG_X87:
        return GEN_FILE_X87;
    case ISA_REG_TILE:
        return GEN_FILE_TILE;
    default:
        return GEN_FILES;
    }
}

bool gen_operand_is_free(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_REG && !operand->implicit && operand->reg < 0;
}

bool gen_operand_is_fixed(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_REG && operand->reg >= 0;
}

bool gen_form_has_high_byte(const struct isa_form *form) {
    for (unsigned o = 0; o < form->operand_count; o++) {
        if (form->operands[o].reg_class == ISA_REG_GPR8H && !form->operands[o].implicit) {
            return true;
        }
    }
    return false;
}

struct survey {
    uint32_t fixed[GEN_FILES];   /* bit per register that a form uses by itself */
    unsigned sources[GEN_FILES]; /* most constants that one form needs */
    bool used[GEN_FILES];
    bool no_rex, all_evex, any_zmm, any_wide, any_evex, any_vex, any_legacy, byte_masks;
    bool any_tiles;   /* a form of AMX, with or without a tile among its operands */
    bool late_stores; /* on their way to memory when the loop ends */
    bool mask_pairs;  /* a form writes two masks and names one */
    bool any_upper;   /* a VEX or EVEX instruction that may write the upper halves */
};

enum { STACK_POINTER = 4 };

static enum ip_status form_check(const struct isa_form *form, struct ip_error *err) {
    if (!form->derived) {
        return ip_fail(err, IP_USAGE, "form '%s' was not derived: run isa_forms_derive on it first",
                       form->syntax);
    }
    if (form->obstacle != ISA_OBSTACLE_NONE) {
        return ip_fail(err, IP_UNSUPPORTED, "'%s' cannot run in a kernel: %s", form->syntax,
                       form->note[0] != '\0' ? form->note : "the instruction tables say so");
    }
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (!operand->implicit && operand->kind == ISA_OPERAND_REG && operand->reg_class != ISA_REG_SEGMENT &&
            gen_file_of(operand->reg_class) == GEN_FILES) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "'%s' takes a register that kernels must leave alone (control, debug or bound)",
                           form->syntax);
        }
        const bool reserved =
            operand->reg == STACK_POINTER || operand->reg == GEN_REG_BASE || operand->reg == GEN_REG_COUNTER;
        if (!operand->implicit && operand->write && isa_reg_is_gpr(operand->reg_class) &&
            operand->reg_class != ISA_REG_GPR8H && reserved) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "'%s' writes a register that kernels need (the stack pointer, r14 or r15)",
                           form->syntax);
        }
    }
    return IP_OK;
}

static void survey_encoding(struct survey *survey, const struct isa_form *form, bool xmm_or_wider) {
    if (form->evex) {
        survey->any_evex = true;
        survey->any_zmm = survey->any_zmm || isa_form_vector_bits(form) == 512;
    } else if (form->vex) {
        survey->any_vex = survey->any_vex || xmm_or_wider;
    } else {
        survey->any_legacy = survey->any_legacy || xmm_or_wider;
    }
    survey->any_wide = survey->any_wide || isa_form_vector_bits(form) > 128;
    survey->any_upper =
        survey->any_upper || (xmm_or_wider && (form->evex || isa_form_vector_bits(form) > 128));
    if (xmm_or_wider && !form->evex) {
        survey->all_evex = false;
    }
}

/* With rax these have encodings of their own, which are other forms ("add eax, imm32", "xchg eax, r32"). */
static bool has_accumulator_form(const struct isa_form *form) {
    static const char *const names[] = {"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "test"};
    bool immediate = false, named = strcmp(form->mnemonic, "xchg") == 0;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        immediate = immediate || form->operands[o].kind == ISA_OPERAND_IMM;
    }
    immediate = immediate && !gen_form_has_high_byte(form); /* with ah they have none */
    for (size_t i = 0; immediate && i < sizeof names / sizeof names[0]; i++) {
        named = named || strcmp(form->mnemonic, names[i]) == 0;
    }
    return named;
}

static void survey_form(struct survey *survey, const struct isa_form *form) {
    unsigned sources[GEN_FILES] = {0};
    bool wide = false;
    bool masks = false;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        bool indexed = operand->kind == ISA_OPERAND_MEM && isa_reg_is_vector(operand->reg_class);
        if (indexed) {
            sources[GEN_FILE_VECTOR]++;
            survey->used[GEN_FILE_VECTOR] = true;
            wide = true;
        }
        enum gen_file file = operand->kind == ISA_OPERAND_REG ? gen_file_of(operand->reg_class) : GEN_FILES;
        if (file == GEN_FILES) {
            continue;
        }
        survey->used[file] = true;
        wide = wide || file == GEN_FILE_VECTOR;
        masks = masks || file == GEN_FILE_MASK;
        if (operand->beside) {
            continue; /* with operand 0 */
        }
        if (gen_operand_is_fixed(operand)) {
            survey->fixed[file] |= UINT32_C(1) << operand->reg;
        } else if (!operand->write) {
            sources[file]++;
        }
    }
    survey->no_rex = survey->no_rex || gen_form_has_high_byte(form);
    /* One more than its sources: a number divided by itself is soon done. */
    sources[GEN_FILE_VECTOR] += form->floating && gen_form_depends_on_values(form) ? 1 : 0;
    survey->fixed[GEN_FILE_GPR] |= has_accumulator_form(form) ? 1u : 0u;
    for (unsigned gpr = 0; gpr < 8; gpr++) { /* MASKMOVQ and XLAT do not list theirs */
        survey->fixed[GEN_FILE_GPR] |= (gen_fixed_is_pointer(form, gpr) ? 1u : 0u) << gpr;
    }
    survey->mask_pairs = survey->mask_pairs || isa_form_beside_operand(form) >= 0;
    survey->late_stores = survey->late_stores || gen_form_leaves_stores(form);
    survey->any_tiles = survey->any_tiles || strncmp(form->isa_set, "AMX_", 4) == 0;
    /* vpmovm2b and the like: 64 bits of mask; without AVX512BW only 16 exist. */
    survey->byte_masks = survey->byte_masks || (masks && strstr(form->isa_set, "BW") != NULL);
    survey_encoding(survey, form, wide);
    for (unsigned f = 0; f < GEN_FILES; f++) {
        survey->sources[f] = sources[f] > survey->sources[f] ? sources[f] : survey->sources[f];
    }
}

/* Splits the candidates of a file that no form fixes into rotating and constant ones. */
static bool file_split(struct gen_pool *pool, enum gen_file file, const uint8_t *candidates, unsigned count,
                       const struct survey *survey) {
    uint8_t *rotating = pool->rotating[file];
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        if ((survey->fixed[file] >> candidates[i] & 1) == 0) {
            rotating[left++] = candidates[i];
        }
    }
    /* Of ah, bh, ch and dh none to spare: four chains of one cycle are what four ports can do. */
    unsigned least = file == GEN_FILE_GPR && survey->no_rex ? 0 : 1;
    unsigned constants = survey->sources[file] > 0 ? survey->sources[file] : least;
    constants = constants > GEN_POOL_CONSTANTS ? GEN_POOL_CONSTANTS : constants;
    if (left < constants + 1) {
        return false;
    }
    for (unsigned i = 0; i < GEN_POOL_CONSTANTS && constants > 0; i++) {
        unsigned back = i < constants ? i : constants - 1;
        pool->constant[file][i] = rotating[left - 1 - back];
    }
    pool->rotating_count[file] = (uint8_t)(left - constants);
    return true;
}

static void rex_split(struct gen_pool *pool, const struct survey *survey) {
    for (unsigned i = 0; i < GEN_POOL_REX; i++) {
        if ((survey->fixed[GEN_FILE_GPR] >> gpr_candidates_rex[i] & 1) == 0) {
            pool->rex[pool->rex_count++] = gpr_candidates_rex[i];
        }
    }
}

struct gen_pool gen_pool_with_rex(const struct gen_pool *pool) {
    struct gen_pool other = *pool;
    other.high_bytes = false; /* a divisor of theirs is the whole register */
    if (pool->high_bytes) {
        other.rotating_count[GEN_FILE_GPR] = (uint8_t)(pool->rex_count - 1);
        memcpy(other.rotating[GEN_FILE_GPR], pool->rex, pool->rex_count);
        for (unsigned i = 0; i < GEN_POOL_CONSTANTS; i++) {
            other.constant[GEN_FILE_GPR][i] = pool->rex[pool->rex_count - 1];
        }
    }
    return other;
}

static unsigned survey_uses(const struct survey *survey) {
    unsigned uses = 0;
    if (survey->used[GEN_FILE_VECTOR]) {
        if (survey->any_legacy) {
            uses |= GEN_USES_XMM;
        } else if (survey->any_evex) {
            uses |= GEN_USES_EVEX | (survey->any_zmm ? 0u : (unsigned)GEN_USES_EVEX_256);
        } else {
            uses |= GEN_USES_YMM;
        }
        if (!survey->any_legacy && !survey->any_wide) {
            uses |= GEN_USES_VEX_128;
        }
    }
    if (survey->used[GEN_FILE_MASK]) {
        uses |= GEN_USES_MASK | (survey->byte_masks ? (unsigned)GEN_USES_MASK_64 : 0u);
    }
    uses |= survey->used[GEN_FILE_MMX] ? (unsigned)GEN_USES_MMX : 0u;
    uses |= survey->late_stores ? (unsigned)GEN_USES_LATE_STORES : 0u;
    uses |= survey->any_tiles ? (unsigned)GEN_USES_TILES : 0u;
    uses |= survey->used[GEN_FILE_X87] ? (unsigned)GEN_USES_X87 : 0u;
    return uses;
}

enum ip_status gen_pool_init(struct gen_pool *pool, const struct isa_form *const *forms, unsigned count,
                             struct ip_error *err) {
    struct survey survey = {.all_evex = true};
    struct gen_pool made = {.base = GEN_REG_BASE};
    for (unsigned i = 0; i < count; i++) {
        enum ip_status status = form_check(forms[i], err);
        if (status != IP_OK) {
            return status;
        }
        survey_form(&survey, forms[i]);
        made.division = made.division || gen_form_divides(forms[i]);
        made.rows = made.rows || gen_form_has_tile(forms[i]);
    }
    made.legacy_vectors = survey.any_legacy;
    made.vex_vectors = survey.any_vex || (survey.any_evex && survey.used[GEN_FILE_VECTOR]);
    /* 128-bit VEX instructions leave the upper halves clean. */
    if (made.legacy_vectors && survey.any_upper) {
        return ip_fail(
            err, IP_UNSUPPORTED,
            "'%s': legacy SSE and VEX/EVEX instructions do not meet in one kernel (dirty upper halves "
            "cost hundreds of cycles); choose forms of one encoding",
            forms[0]->syntax);
    }
    uint8_t numbers[32];
    for (unsigned i = 0; i < 32; i++) {
        numbers[i] = (uint8_t)i;
    }
    unsigned vectors = survey.used[GEN_FILE_VECTOR] && survey.all_evex ? 32 : 16;
    const uint8_t *masks = survey.mask_pairs ? mask_candidates_paired : mask_candidates;
    unsigned mask_count = survey.mask_pairs ? sizeof mask_candidates_paired : sizeof mask_candidates;
    bool fits = file_split(&made, GEN_FILE_VECTOR, numbers, vectors, &survey) &&
                file_split(&made, GEN_FILE_MASK, masks, mask_count, &survey) &&
                file_split(&made, GEN_FILE_MMX, numbers, 8, &survey) &&
                file_split(&made, GEN_FILE_TILE, numbers, 8, &survey) &&
                file_split(&made, GEN_FILE_X87, numbers + 1, gen_x87_depth(forms, count) - 1, &survey);
    made.high_bytes = survey.no_rex;
    if (survey.no_rex) {
        made.base = 6;
        rex_split(&made, &survey);
        fits = fits &&
               file_split(&made, GEN_FILE_GPR, gpr_candidates_no_rex, sizeof gpr_candidates_no_rex, &survey);
    } else {
        fits = fits && file_split(&made, GEN_FILE_GPR, gpr_candidates, sizeof gpr_candidates, &survey);
    }
    if (!fits) {
        return ip_fail(err, IP_UNSUPPORTED, "'%s' leaves no register of its class for a kernel",
                       forms[0]->syntax);
    }
    made.uses = survey_uses(&survey);
    *pool = made;
    return IP_OK;
}
