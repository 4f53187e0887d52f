/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/operands.h"

#include <inttypes.h>
#include <string.h>

#include "generator/abi.h"
#include "generator/x87.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

enum {
    PKRU_VALUE = 0x55555554,                /* key 0, which all pages have, opens everything: Linux's own */
    STACK_ADDRESS = GEN_STACK_TOP - 0x4000, /* RSP when the loop begins */
    STACK_CLEARED = 0x400,                  /* quadwords above it */
    FRAME_ADDRESS = GEN_STACK_TOP - 0x2000, /* a stack frame that is its own caller */
};

/* Its immediate numbers lanes of 128 bits or more. */
static bool takes_lanes(const struct isa_form *form) {
    const char *name = form->mnemonic;
    unsigned kind = strncmp(name, "vextract", 8) == 0 ? 8 : strncmp(name, "vshuf", 5) == 0 ? 5 : 0;
    return kind != 0 && (name[kind] == 'f' || name[kind] == 'i');
}

int64_t gen_immediate(const struct isa_form *form, unsigned o) {
    const struct isa_operand *operand = &form->operands[o];
    if (strcmp(form->mnemonic, "enter") == 0) {
        return operand->bits == 16 ? 16 : 0;
    }
    switch (operand->bits) {
    case 16:
        return 0x101;
    case 32:
        return 0x10101;
    case 64:
        return INT64_C(0x101010101);
    default:
        /* Not 1: shifts by one have an encoding of their own. Of two lanes 2 is the lowest, or each where it
         * is already, which a Zen 4 does as a move or a blend. */
        return takes_lanes(form) ? 1 : 2;
    }
}

bool gen_mnemonic_is_one_of(const char *mnemonic, const char *const *list) {
    for (; *list != NULL; list++) {
        if (mnemonic[0] == (*list)[0] && strcmp(mnemonic, *list) == 0) { /* most differ at once */
            return true;
        }
    }
    return false;
}

bool gen_form_divides(const struct isa_form *form) {
    static const char *const list[] = {"div", "idiv", NULL};
    return gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_counts_in_cl(const struct isa_form *form) {
    static const char *const list[] = {"shl", "shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd", NULL};
    const struct isa_operand *last =
        &form->operands[form->explicit_count != 0 ? form->explicit_count - 1 : 0];
    return form->explicit_count > 1 && last->kind == ISA_OPERAND_REG && last->reg_class == ISA_REG_GPR8 &&
           last->reg == RCX && gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_modifies_memory(const struct isa_form *form) {
    int o = isa_form_memory_operand(form);
    return o >= 0 && form->operands[o].read && form->operands[o].write;
}

bool gen_form_locks(const struct isa_form *form) {
    return strcmp(form->prefix, "lock") == 0 ||
           (strcmp(form->mnemonic, "xchg") == 0 && gen_form_modifies_memory(form));
}

bool gen_form_stores_past_caches(const struct isa_form *form) {
    int o = isa_form_memory_operand(form);
    const char *name = form->mnemonic;
    name += *name == 'v';
    return o >= 0 && form->operands[o].write && strncmp(name, "movnt", 5) == 0;
}

bool gen_form_leaves_stores(const struct isa_form *form) {
    static const char *const list[] = {"maskmovq",   "maskmovdqu", "vmaskmovdqu", "clflush",
                                       "clflushopt", "clwb",       "clzero",      "cldemote",
                                       "movdiri",    "movdir64b",  NULL};
    return gen_form_stores_past_caches(form) || gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_is_string(const struct isa_form *form) {
    static const char *const list[] = {
        "movsb", "movsw", "movsd",    "movsq",      "stosb",       "stosw", "stosd", "stosq", "lodsb",
        "lodsw", "lodsd", "lodsq",    "cmpsb",      "cmpsw",       "cmpsd", "cmpsq", "scasb", "scasw",
        "scasd", "scasq", "maskmovq", "maskmovdqu", "vmaskmovdqu", "xlat",  "xlatb", NULL};
    /* movsd and cmpsd are SSE2 instructions too: those have explicit operands. */
    const char *name = form->mnemonic + (form->mnemonic[0] == 'v');
    bool addressed = form->explicit_count == 0 || (name[0] == 'm' && strncmp(name, "maskmov", 7) == 0);
    return addressed && gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_looks_up_al(const struct isa_form *form) {
    return strncmp(form->mnemonic, "xlat", 4) == 0;
}

bool gen_fixed_is_pointer(const struct isa_form *form, unsigned gpr) {
    if (!gen_form_is_string(form)) {
        return false;
    }
    return gen_form_looks_up_al(form) ? gpr == RBX : (gpr == RSI || gpr == RDI);
}

static bool is_gpr(const struct isa_operand *operand, unsigned gpr) {
    return gen_operand_is_fixed(operand) && isa_reg_is_gpr(operand->reg_class) && operand->reg == (int)gpr;
}

bool gen_pointer_moves_alone(const struct isa_form *form, unsigned src, unsigned dst) {
    bool compares = gen_form_scans(form) || strncmp(form->mnemonic, "cmps", 4) == 0;
    bool counts = form->prefix[0] == 'r' && (compares || is_gpr(&form->operands[src], RCX));
    bool pointer = is_gpr(&form->operands[dst], RSI) || is_gpr(&form->operands[dst], RDI);
    return pointer && src != dst && !counts && gen_form_is_string(form) && form->operands[dst].write;
}

int gen_string_pointer(const struct isa_form *form, unsigned o) {
    if (!gen_form_is_string(form) || form->operands[o].kind != ISA_OPERAND_MEM) {
        return -1;
    }
    if (gen_form_looks_up_al(form)) {
        return RBX;
    }
    return strstr(form->mnemonic, "maskmov") != NULL ? RDI : -1;
}

uint64_t gen_divisor(const struct gen_pool *pool) {
    /* A divisor in ah to bh is the second byte. */
    return pool->slow_values ? GEN_SLOW_DIVISOR : (pool->high_bytes ? 0x101 : 1);
}

uint64_t gen_fixed_value(const struct gen_pool *pool, const struct isa_form *form, unsigned gpr,
                         uint64_t otherwise) {
    if (gen_fixed_is_pointer(form, gpr)) {
        const uint64_t to = GEN_DATA_BASE - 0x1800;
        /* CMPS that goes on while its elements differ: eight bytes on they do (gen_fill_for_form). */
        return gpr != RDI ? GEN_DATA_BASE : gen_form_seeks(form) && !gen_form_scans(form) ? to + 8 : to;
    }
    if (form->prefix[0] == 'r' && gpr == RCX) {
        return GEN_REPETITIONS;
    }
    if (gen_form_divides(form)) {
        /* rdx:rax = 0x11, divisor 1: the quotient fits and the next division sees the same again. */
        return pool->slow_values ? GEN_SLOW_DIVIDEND : (gpr == RAX ? 0x11 : 0);
    }
    if (pool->slow_values && gpr == RCX && gen_form_counts_in_cl(form)) {
        return 0;
    }
    static const char *const by_ecx[] = {"xgetbv", "rdpkru", "rdpru", NULL};
    bool selects = gen_mnemonic_is_one_of(form->mnemonic, by_ecx);
    bool keys = strcmp(form->mnemonic, "wrpkru") == 0;
    if ((selects || keys) && gpr == RCX) {
        return 0; /* what ECX selects; others fault, or RDPRU has nothing to read */
    }
    if (keys && (gpr == RAX || gpr == RDX)) {
        return gpr == RAX ? PKRU_VALUE : 0;
    }
    if (strcmp(form->mnemonic, "leave") == 0 && gpr == RBP) {
        return FRAME_ADDRESS;
    }
    if (strcmp(form->mnemonic, "clzero") == 0 && gpr == RAX) {
        return GEN_DATA_BASE - 0x1800; /* the line that it clears */
    }
    if (strcmp(form->mnemonic, "monitorx") == 0) {
        return gpr == RAX ? GEN_DATA_BASE : 0; /* the line to watch; no extensions, no hints: others fault */
    }
    return otherwise;
}

bool gen_form_is_stack(const struct isa_form *form) {
    for (unsigned o = form->explicit_count; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) && operand->reg == RSP &&
            operand->write) {
            return true;
        }
    }
    return false;
}

void gen_stack_reset(struct ip_lines *lines) {
    ip_lines_printf(lines, "mov esp, 0x%x", STACK_ADDRESS);
}

bool gen_form_points_by_register(const struct isa_form *form) {
    static const char *const list[] = {"movdir64b", "umonitor", NULL};
    return gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_loads_segment(const struct isa_form *form) {
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (operand->kind == ISA_OPERAND_REG && operand->reg_class == ISA_REG_SEGMENT && operand->write) {
            return true;
        }
    }
    return false;
}

bool gen_form_offsets_bits(const struct isa_form *form) {
    static const char *const list[] = {"bt", "btc", "btr", "bts", NULL};
    return gen_mnemonic_is_one_of(form->mnemonic, list) && form->operands[0].kind == ISA_OPERAND_MEM &&
           form->operands[1].kind == ISA_OPERAND_REG;
}

bool gen_form_takes_selector(const struct isa_form *form) {
    static const char *const list[] = {"lar", "lsl", "verr", "verw", NULL};
    return gen_mnemonic_is_one_of(form->mnemonic, list);
}

bool gen_form_scans(const struct isa_form *form) {
    return gen_form_is_string(form) && strncmp(form->mnemonic, "scas", 4) == 0;
}

bool gen_form_seeks(const struct isa_form *form) {
    bool compares = gen_form_scans(form) || strncmp(form->mnemonic, "cmps", 4) == 0;
    return compares && gen_form_is_string(form) && strcmp(form->prefix, "repne") == 0;
}

uint64_t gen_form_gpr_fill(const struct isa_form *form, uint64_t otherwise) {
    if (gen_form_loads_segment(form)) {
        return 0; /* null selectors */
    }
    if (gen_form_takes_selector(form)) {
        return GEN_SELECTOR;
    }
    if (gen_form_scans(form)) { /* what memory holds, or nothing that it holds */
        return gen_form_seeks(form) ? UINT64_C(0x0202020202020202) : UINT64_C(0x0101010101010101);
    }
    return gen_form_offsets_bits(form) ? 1 : otherwise;
}

bool gen_form_loads_state(const struct isa_form *form) {
    static const char *const list[] = {"popf",   "popfq",   "ldmxcsr",   "vldmxcsr", "fldcw",    "fldenv",
                                       "frstor", "fxrstor", "fxrstor64", "wrpkru",   "wrgsbase", NULL};
    return gen_mnemonic_is_one_of(form->mnemonic, list) || gen_form_loads_segment(form);
}

/* POPF and POP GS take what lies on the stack: zeros. */
static bool pops_state(const struct isa_form *form) {
    return strncmp(form->mnemonic, "popf", 4) == 0 ||
           (gen_form_is_stack(form) && gen_form_loads_segment(form));
}

static void stack_clear(struct gen_program *program, const struct gen_pool *pool) {
    gen_renew(&program->init, pool, GEN_FILE_GPR, RDI, STACK_ADDRESS, false);
    gen_renew(&program->init, pool, GEN_FILE_GPR, RCX, STACK_CLEARED, false);
    gen_renew(&program->init, pool, GEN_FILE_GPR, RAX, 0, false);
    ip_lines_add(&program->init, "rep stosq");
    gen_renew(&program->init, pool, GEN_FILE_GPR, RDI, program->gpr_fill, false);
    gen_renew(&program->init, pool, GEN_FILE_GPR, RCX, program->gpr_fill, false);
    gen_renew(&program->init, pool, GEN_FILE_GPR, RAX, program->gpr_fill, false);
}

bool gen_form_has_tile(const struct isa_form *form) {
    bool tile = false;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        tile = tile || form->operands[o].reg_class == ISA_REG_TILE;
    }
    return tile;
}

bool gen_form_moves_tile(const struct isa_form *form) {
    return gen_form_has_tile(form) && isa_form_memory_operand(form) >= 0;
}

bool gen_form_is_gather(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    return memory >= 0 && isa_reg_is_vector(form->operands[memory].reg_class);
}

bool gen_operand_is_consumed(const struct isa_form *form, unsigned o) {
    /* The destination comes first; of the others only the mask is written. */
    const struct isa_operand *operand = &form->operands[o];
    return gen_form_is_gather(form) && operand->kind == ISA_OPERAND_REG && operand->write &&
           (o > 0 || operand->reg_class == ISA_REG_MASK);
}

void gen_renew(struct ip_lines *lines, const struct gen_pool *pool, enum gen_file file, unsigned number,
               uint64_t value, bool ones) {
    switch (file) {
    case GEN_FILE_GPR:
        ip_lines_printf(lines, "mov %s, 0x%" PRIx32, isa_reg_name(ISA_REG_GPR32, number), (uint32_t)value);
        break;
    case GEN_FILE_VECTOR: {
        const char *ymm = isa_reg_name(ISA_REG_YMM, number), *xmm = isa_reg_name(ISA_REG_XMM, number);
        if (ones) {
            ip_lines_printf(lines, "vpcmpeqd %s, %s, %s", ymm, ymm, ymm);
        } else if (pool->legacy_vectors) {
            ip_lines_printf(lines, "pxor %s, %s", xmm, xmm);
        } else if (number < 16) {
            ip_lines_printf(lines, "vpxor %s, %s, %s", xmm, xmm, xmm);
        } else {
            const char *zmm = isa_reg_name(ISA_REG_ZMM, number);
            const char *name = (pool->uses & GEN_USES_EVEX_256) != 0 ? xmm : zmm;
            ip_lines_printf(lines, "vpxord %s, %s, %s", name, name, name);
        }
        break;
    }
    case GEN_FILE_MASK: {
        /* Not an idiom: it reads a constant register instead of the one that it renews. */
        unsigned constant = pool->constant[GEN_FILE_MASK][0];
        ip_lines_printf(lines, "kxnor%c k%u, k%u, k%u", (pool->uses & GEN_USES_MASK_64) != 0 ? 'q' : 'w',
                        number, constant, constant);
        break;
    }
    case GEN_FILE_TILE:
        ip_lines_printf(lines, "tilezero tmm%u", number);
        break;
    case GEN_FILE_MMX:
        ip_lines_printf(lines, "pxor mm%u, mm%u", number, number);
        break;
    default:
        break; /* x87 registers have no cheap renewal: callers do not ask */
    }
}

static bool program_has_vectors(const struct gen_program *program) {
    return (program->uses & (GEN_USES_XMM | GEN_USES_YMM | GEN_USES_EVEX)) != 0;
}

void gen_vector_load(struct ip_lines *lines, const struct gen_pool *pool, unsigned number) {
    const char *base = isa_reg_name(ISA_REG_GPR64, pool->base);
    if (pool->legacy_vectors) {
        ip_lines_printf(lines, "movaps %s, [%s]", isa_reg_name(ISA_REG_XMM, number), base);
    } else {
        bool wide = (pool->uses & GEN_USES_EVEX) != 0 && (pool->uses & GEN_USES_EVEX_256) == 0;
        ip_lines_printf(lines, "vmovups %s, [%s]", isa_reg_name(wide ? ISA_REG_ZMM : ISA_REG_YMM, number),
                        base);
    }
}

/* What single forms need before all else. */
static void form_prepare(struct gen_program *program, const struct gen_pool *pool,
                         const struct isa_form *form) {
    if (pops_state(form)) {
        stack_clear(program, pool);
    }
    if (strcmp(form->mnemonic, "leave") == 0) {
        ip_lines_printf(&program->init, "mov ebp, 0x%x", FRAME_ADDRESS);
        ip_lines_add(&program->init, "mov [rbp], rbp");
    }
    if (gen_form_points_by_register(form)) {
        gen_renew(&program->init, pool, GEN_FILE_GPR, pool->constant[GEN_FILE_GPR][0], GEN_DATA_BASE - 0x1800,
                  false);
    }
}

void gen_init_lines(struct gen_program *program, const struct gen_pool *pool,
                    const struct isa_form *const *forms, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        form_prepare(program, pool, forms[i]);
    }
    if (pool->base != GEN_REG_BASE) {
        gen_renew(&program->init, pool, GEN_FILE_GPR, pool->base, GEN_DATA_BASE, false);
    }
    if (pool->division) {
        for (unsigned i = 0; i < GEN_POOL_CONSTANTS; i++) {
            if (i == 0 || pool->constant[GEN_FILE_GPR][i] != pool->constant[GEN_FILE_GPR][i - 1]) {
                gen_renew(&program->init, pool, GEN_FILE_GPR, pool->constant[GEN_FILE_GPR][i],
                          gen_divisor(pool), false);
            }
        }
    }
    if (pool->rows) {
        unsigned rows = pool->constant[GEN_FILE_GPR][0];
        gen_renew(&program->init, pool, GEN_FILE_GPR, rows, GEN_TILE_ROW_BYTES, false);
        for (unsigned i = 0; i < 8; i++) {
            ip_lines_printf(&program->init, "tileloadd tmm%u, [%s+%s]", i,
                            isa_reg_name(ISA_REG_GPR64, pool->base), isa_reg_name(ISA_REG_GPR64, rows));
        }
    }
    /* Sources that differ: a number divided by itself is soon done. */
    for (unsigned i = 1; i < GEN_POOL_CONSTANTS && pool->slow_values && program_has_vectors(program); i++) {
        if (pool->constant[GEN_FILE_VECTOR][i] != pool->constant[GEN_FILE_VECTOR][i - 1]) {
            gen_vector_load(&program->init, pool, pool->constant[GEN_FILE_VECTOR][i]);
        }
    }
    uint32_t done = 0;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned gpr = 0; gpr < 8; gpr++) {
            uint64_t value = gen_fixed_value(pool, forms[i], gpr, program->gpr_fill);
            bool own = false;
            for (unsigned o = 0; o < forms[i]->operand_count; o++) {
                const struct isa_operand *operand = &forms[i]->operands[o];
                own = own || (gen_operand_is_fixed(operand) && isa_reg_is_gpr(operand->reg_class) &&
                              operand->reg == (int)gpr);
            }
            bool pointer = gen_fixed_is_pointer(forms[i], gpr);
            if ((own || pointer) && value != program->gpr_fill && (done >> gpr & 1) == 0) {
                gen_renew(&program->init, pool, GEN_FILE_GPR, gpr, value, false);
                done |= UINT32_C(1) << gpr;
            }
        }
    }
    if ((program->uses & GEN_USES_X87) != 0) {
        gen_x87_init(&program->init, forms, count, pool->slow_values);
    }
}
