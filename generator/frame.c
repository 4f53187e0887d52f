/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/frame.h"

#include <inttypes.h>
#include <stdio.h>

#include "generator/abi.h"
#include "isa/form.h"

/* The ABI's callee-saved registers, in the order in which they are pushed. */
static const char *const saved[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
enum { SAVED_COUNT = sizeof saved / sizeof saved[0] };

struct sink {
    gen_frame_sink *call;
    void *self;
};

static IP_PRINTF(3, 4) void put(const struct sink *sink, const char *comment, const char *format, ...) {
    char line[GEN_FRAME_LINE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sink->call(sink->self, line, comment);
}

static const char *gpr(unsigned number) {
    return isa_reg_name(ISA_REG_GPR64, number);
}

/* mov to the 32-bit name where that gives the same value: shorter, and what one writes by hand. */
static void put_gpr(const struct sink *sink, const char *comment, unsigned number, uint64_t value) {
    enum isa_reg_class reg_class = value <= UINT32_MAX ? ISA_REG_GPR32 : ISA_REG_GPR64;
    put(sink, comment, "mov %s, 0x%" PRIx64, isa_reg_name(reg_class, number), value);
}

static void put_vectors(const struct sink *sink, unsigned uses) {
    const char *comment = "vector registers";
    bool legacy = (uses & GEN_USES_XMM) != 0;
    bool evex = !legacy && (uses & GEN_USES_EVEX) != 0;
    bool vex = !legacy && !evex && (uses & GEN_USES_YMM) != 0;
    if (!legacy && !evex && !vex) {
        return;
    }
    const char *mnemonic = legacy ? "movups" : "vmovups";
    enum isa_reg_class reg_class = legacy || (uses & GEN_USES_VEX_128) != 0 ? ISA_REG_XMM
                                   : vex || (uses & GEN_USES_EVEX_256) != 0 ? ISA_REG_YMM
                                                                            : ISA_REG_ZMM;
    for (unsigned i = 0; i < (evex ? 32u : 16u); i++) {
        put(sink, comment, "%s %s, [abs 0x%x]", mnemonic, isa_reg_name(reg_class, i), GEN_ARENA_VECTOR);
        comment = NULL;
    }
}

/* Palette 1: every tile has 16 rows of 64 bytes. What is not written here is zero from the start. */
static void put_tiles(const struct sink *sink) {
    enum { COLUMN_BYTES = 16, ROWS = 48 };
    put(sink, "tiles of 16 rows of 64 bytes", "mov dword [abs 0x%x], 1", GEN_ARENA_TILES);
    for (unsigned i = 0; i < 4; i++) {
        put(sink, NULL, "mov dword [abs 0x%x], 0x400040", GEN_ARENA_TILES + COLUMN_BYTES + 4 * i);
    }
    for (unsigned i = 0; i < 2; i++) {
        put(sink, NULL, "mov dword [abs 0x%x], 0x10101010", GEN_ARENA_TILES + ROWS + 4 * i);
    }
    put(sink, NULL, "ldtilecfg [abs 0x%x]", GEN_ARENA_TILES);
}

static void put_masks(const struct sink *sink, const struct gen_program *program) {
    const char *comment =
        program->idle_masks != 0 ? "masks: all ones, or zero where nothing names them" : "masks: all ones";
    for (unsigned i = 0; i < 8 && (program->uses & GEN_USES_MASK) != 0; i++) {
        put(sink, comment, "%s%c k%u, k%u, k%u", (program->idle_masks >> i & 1) != 0 ? "kxor" : "kxnor",
            (program->uses & GEN_USES_MASK_64) != 0 ? 'q' : 'w', i, i, i);
        comment = NULL;
    }
}

static void put_other_files(const struct sink *sink, const struct gen_program *program) {
    unsigned uses = program->uses;
    put_masks(sink, program);
    for (unsigned i = 0; i < 8 && (uses & GEN_USES_MMX) != 0; i++) {
        put(sink, i == 0 ? "MMX registers" : NULL, "movq mm%u, [abs 0x%x]", i, GEN_ARENA_VECTOR);
    }
    if ((uses & GEN_USES_X87) != 0) {
        put(sink, "x87: empty stack, default control word", "fninit");
    }
    if ((uses & GEN_USES_TILES) != 0) {
        put_tiles(sink);
    }
}

static void put_gprs(const struct sink *sink, const struct gen_program *program) {
    bool all = (program->uses & GEN_USES_ALL_GPR) != 0;
    const char *comment = "general-purpose registers";
    for (unsigned i = 0; i < 16; i++) {
        bool skipped = (int)i == program->counter || (!all && (i == 4 || i == GEN_REG_BASE));
        if (!skipped) {
            put_gpr(sink, comment, i, program->gpr_fill);
            comment = NULL;
        }
    }
    if (!all) {
        put_gpr(sink, "base of the data", GEN_REG_BASE, GEN_DATA_BASE);
    }
    if ((program->uses & GEN_USES_STACK) != 0) {
        put_gpr(sink, "stack of the loop", 4, GEN_STACK_TOP - 0x4000);
    }
}

void gen_frame_prologue(const struct gen_program *program, gen_frame_sink *call, void *self) {
    const struct sink sink = {call, self};
    for (unsigned i = 0; i < SAVED_COUNT; i++) {
        put(&sink, i == 0 ? "save what the caller owns" : NULL, "push %s", saved[i]);
    }
    put(&sink, NULL, "mov [abs 0x%x], rsp", GEN_ARENA_RSP);
    put(&sink, NULL, "stmxcsr [abs 0x%x]", GEN_ARENA_MXCSR);
    put(&sink, "flush denormals", "ldmxcsr [abs 0x%x]", GEN_ARENA_FAST_FP);
    if (program->counter >= 0) {
        put(&sink, "iterations", "mov %s, rdi", gpr((unsigned)program->counter));
    } else {
        put(&sink, "iterations", "mov [abs 0x%x], rdi", GEN_ARENA_COUNTER);
    }
    put_vectors(&sink, program->uses);
    put_other_files(&sink, program);
    put_gprs(&sink, program);
    /* What the program itself prepares comes behind it: the init lines. */
    put(&sink, "nothing else is in flight when the loop begins", "lfence");
}

void gen_frame_count(const struct gen_program *program, char line[GEN_FRAME_LINE_MAX]) {
    if (program->counter >= 0 && program->keeps_carry) {
        (void)snprintf(line, GEN_FRAME_LINE_MAX, "dec %s", gpr((unsigned)program->counter));
    } else if (program->counter >= 0) {
        (void)snprintf(line, GEN_FRAME_LINE_MAX, "sub %s, 1", gpr((unsigned)program->counter));
    } else {
        (void)snprintf(line, GEN_FRAME_LINE_MAX, "sub qword [abs 0x%x], 1", GEN_ARENA_COUNTER);
    }
}

void gen_frame_epilogue(const struct gen_program *program, gen_frame_sink *call, void *self) {
    const struct sink sink = {call, self};
    /* Without this fence the epilogue runs in the shadow of the loop's last chain if the loop's exit was
     * predicted, and after it if not: two modes that last for many runs and shift short kernels by 3 %
     * (docs/method.md, "Overhead"). */
    put(&sink, "nor when it ends", "lfence");
    if ((program->uses & GEN_USES_LATE_STORES) != 0) {
        put(&sink, "what leaves the caches has arrived: it would hold up the next run", "mfence");
    }
    const char *comment = "restore and return";
    /* Only kernels that move RSP on purpose restore it: from the others a wrecked stack shall be seen. */
    if ((program->uses & (GEN_USES_STACK | GEN_USES_ALL_GPR)) != 0) {
        put(&sink, comment, "mov rsp, [abs 0x%x]", GEN_ARENA_RSP);
        comment = NULL;
    }
    put(&sink, comment, "ldmxcsr [abs 0x%x]", GEN_ARENA_MXCSR);
    if ((program->uses & (GEN_USES_YMM | GEN_USES_EVEX)) != 0) {
        put(&sink, NULL, "vzeroupper");
    }
    if ((program->uses & GEN_USES_MMX) != 0) {
        put(&sink, NULL, "emms");
    }
    if ((program->uses & GEN_USES_X87) != 0) {
        put(&sink, NULL, "fninit");
    }
    if ((program->uses & GEN_USES_TILES) != 0) {
        put(&sink, NULL, "tilerelease");
    }
    put(&sink, NULL, "cld");
    for (unsigned i = SAVED_COUNT; i > 0; i--) {
        put(&sink, NULL, "pop %s", saved[i - 1]);
    }
    put(&sink, NULL, "ret");
}
