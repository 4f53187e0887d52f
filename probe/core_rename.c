/* SPDX-License-Identifier: Apache-2.0 */
/* What the renamer does: how wide it is, what it executes by itself, and what it takes apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/core_groups.h"
#include "probe/core_readings.h"

/* --- issue width --------------------------------------------------------------------------------------- */

static const char *const turns[PROBE_TURNS] = {
    [PROBE_TURNS_RATE] = "lea r8, [rax+rcx]; lea r9, [rax+rcx]; lea r10, [rax+rcx]; lea r11, [rax+rcx]",
    [PROBE_TURNS_TWO] = "add rax, rcx; lea r8, [rax+rcx]; lea r9, [r8+rcx]",
    [PROBE_TURNS_THREE] = "add rax, rcx; lea r8, [rax+rcx]; lea r9, [r8+rcx]; lea r10, [r8+rcx]",
};

static enum ip_status turns_learn(struct core_session *session, const size_t slots[PROBE_TURNS],
                                  struct ip_error *err) {
    double cycles[PROBE_TURNS];
    for (unsigned i = 0; i < PROBE_TURNS; i++) {
        cycles[i] = core_cycles(session, slots[i]);
    }
    enum probe_turns read = probe_turns_read(cycles);
    if (read == PROBE_TURNS_UNKNOWN) {
        return core_learn(session, "ports_in_turn", NAN, NAN, err, "not known: the kernels were not steady");
    }
    if (read == PROBE_TURNS_NOT_ASKED) {
        return core_learn(session, "ports_in_turn", NAN, NAN, err,
                          "not asked: only cores with four ports for LEA can tell");
    }
    return core_learn(session, "ports_in_turn", read == PROBE_TURNS_YES, 0, err,
                      "a chain that feeds two operations a link: %.2f cycles, three: %.2f",
                      cycles[PROBE_TURNS_TWO], cycles[PROBE_TURNS_THREE]);
}

enum ip_status core_width_measure(struct core_session *session, struct ip_error *err) {
    static const unsigned lengths[] = {4, 5, 8};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    size_t slots[LENGTHS];
    for (unsigned i = 0; i < LENGTHS; i++) {
        struct gen_program program;
        core_program_init(&program, "core: fillers of %u bytes", lengths[i]);
        core_fillers(session, &program.unit, lengths[i], 16);
        program.forms_per_unit = 16;
        enum ip_status status = core_add(session, &program, &slots[i], err);
        if (status != IP_OK) {
            return status;
        }
    }
    size_t turn_slots[PROBE_TURNS];
    enum ip_status status = core_units_add(session, "ports in turn", turns, PROBE_TURNS, turn_slots, err);
    status = status == IP_OK ? core_run(session, err) : status;
    if (status != IP_OK) {
        return status;
    }
    double least = INFINITY, spread = 0;
    for (unsigned i = 0; i < LENGTHS; i++) {
        double cycles = core_cycles(session, slots[i]);
        if (cycles < least) {
            least = cycles;
            spread = core_stat(session, slots[i])->spread;
        }
    }
    if (!isfinite(least)) {
        session->tally->untrusted++;
        session->width = NAN;
        return core_learn(session, "issue_width", NAN, NAN, err, "not known: %s",
                          core_stat(session, slots[0])->why);
    }
    session->width = core_near_integer(1 / least, 0.04 / least);
    const char *what =
        core_nops_ride(session) ? "NOPs share slots; moves of a register to itself" : "long NOPs";
    status =
        core_learn(session, "issue_width", session->width, spread, err, "%s: %.3f cycles each", what, least);
    if (status == IP_OK) {
        status = core_learn(session, "retire_width", NAN, NAN, err,
                            "not seen: no less than issue, and no faster stream can be made");
    }
    if (status == IP_OK) {
        status = turns_learn(session, turn_slots, err);
    }
    bool rides = core_nops_ride(session);
    return status == IP_OK
               ? core_learn(session, "nop_slots", rides ? 0 : 1, 0, err,
                            rides ? "more of them a cycle than of anything else" : "as of long NOPs")
               : status;
}

/* --- elimination --------------------------------------------------------------------------------------- */

/* A dependent chain of `links` instances. */
struct chain {
    const char *form, *unit;
    unsigned links, uses;
};

static const struct chain chains[] = {
    {"mov r64, r64", "mov rax, rcx; mov rcx, rax", 2, 0},
    {"mov r32, r32", "mov eax, ecx; mov ecx, eax", 2, 0},
    {"mov r16, r16", "mov ax, cx; mov cx, ax", 2, 0},
    {"mov r8, r8", "mov al, cl; mov cl, al", 2, 0},
    {"movzx r32, r8", "movzx eax, cl; movzx ecx, al", 2, 0},
    {"movzx r32, r16", "movzx eax, cx; movzx ecx, ax", 2, 0},
    {"movsxd r64, r32", "movsxd rax, ecx; movsxd rcx, eax", 2, 0},
    {"xchg r64, r64", "xchg rax, rcx", 1, 0},
    {"add r64, imm8", "add rax, 1", 1, 0},
    {"add r64, imm32", "add rax, 0x1000", 1, 0},
    {"add r32, imm8", "add eax, 1", 1, 0},
    {"sub r64, imm8", "sub rax, 1", 1, 0},
    {"sub r64, imm32", "sub rax, 0x1000", 1, 0},
    {"sub r32, imm8", "sub eax, 1", 1, 0},
    {"inc r64", "inc rax", 1, 0},
    {"inc r32", "inc eax", 1, 0},
    {"dec r64", "dec rax", 1, 0},
    {"dec r32", "dec eax", 1, 0},
    {"lea r64, agen", "lea rax, [rax+8]", 1, 0},
    {"and r64, imm8", "and rax, 1", 1, 0},
    {"not r64", "not rax", 1, 0},
    {"movaps xmm, xmm", "movaps xmm0, xmm1; movaps xmm1, xmm0", 2, GEN_USES_XMM},
    {"movdqa xmm, xmm", "movdqa xmm0, xmm1; movdqa xmm1, xmm0", 2, GEN_USES_XMM},
    {"movups xmm, xmm", "movups xmm0, xmm1; movups xmm1, xmm0", 2, GEN_USES_XMM},
    {"movq mm, mm", "movq mm0, mm1; movq mm1, mm0", 2, GEN_USES_MMX},
    {"vmovdqa xmm, xmm", "vmovdqa xmm0, xmm1; vmovdqa xmm1, xmm0", 2, GEN_USES_YMM},
    {"vmovdqa ymm, ymm", "vmovdqa ymm0, ymm1; vmovdqa ymm1, ymm0", 2, GEN_USES_YMM},
    {"vmovaps ymm, ymm", "vmovaps ymm0, ymm1; vmovaps ymm1, ymm0", 2, GEN_USES_YMM},
    {"vmovdqa64 zmm, zmm", "vmovdqa64 zmm0, zmm1; vmovdqa64 zmm1, zmm0", 2, GEN_USES_EVEX},
    {"vmovaps zmm, zmm", "vmovaps zmm0, zmm1; vmovaps zmm1, zmm0", 2, GEN_USES_EVEX},
};
enum { CHAINS = sizeof chains / sizeof chains[0] };

enum ip_status core_eliminate_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[CHAINS];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < CHAINS && status == IP_OK; i++) {
        struct gen_program program;
        core_program_init(&program, "core: chain of %s", chains[i].form);
        core_lines(&program.unit, chains[i].unit, 4);
        program.forms_per_unit = 4 * chains[i].links;
        program.uses = chains[i].uses;
        status = core_add(session, &program, &slots[i], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < CHAINS && status == IP_OK; i++) {
        session->tally->untrusted += core_stat(session, slots[i])->verdict != HX_VERDICT_OK &&
                                     core_stat(session, slots[i])->verdict != HX_VERDICT_FAULT;
        /* A link of one cycle was executed. Less: at least some of them were not. */
        if (core_cycles(session, slots[i]) < 0.9) {
            char key[PROBE_CORE_FACT_MAX];
            probe_core_fact_key("eliminate", chains[i].form, NULL, key);
            status = core_learn_stat(session, key, slots[i], err, "dependent chain, cycles for each link");
        }
    }
    return status;
}

/* --- what waits for an addition that rename did ------------------------------------------------------------
 */

/* Rename keeps such a sum as a register and a number; not every unit can add the number by itself. */
struct consumer {
    const char *form, *unit; /* from RAX to RAX */
};

static const struct consumer consumers[] = {
    {"shl r64, imm8", "shl rax, 2"},
    {"shr r64, imm8", "shr rax, 2"},
    {"sar r64, imm8", "sar rax, 2"},
    {"rol r64, imm8", "rol rax, 2"},
    {"ror r64, imm8", "ror rax, 2"},
    {"rorx r64, r64, imm8", "rorx rax, rax, 2"},
    {"shlx r64, r64, r64", "shlx rax, rax, r13"},
    {"add r64, r64", "add rax, r13"},
    {"and r64, imm8", "and rax, 15"},
    {"imul r64, r64", "imul rax, r13"},
    {"movsxd r64, r32", "movsxd rax, eax"},
    {"bswap r64", "bswap rax"},
    {"popcnt r64, r64", "popcnt rax, rax"},
    {"not r64", "not rax"},
    {"cmovz r64, r64", "cmovz rax, rax"},
};
enum { CONSUMERS = sizeof consumers / sizeof consumers[0] };

/* Less is what an addition takes that was executed after all. */
static const double AFTER_MIN = 1.5;

enum ip_status core_after_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[CONSUMERS][2];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < CONSUMERS; i++) {
        for (unsigned add = 0; add < 2 && status == IP_OK; add++) {
            struct gen_program program;
            core_program_init(&program, "core: %s%s", consumers[i].form, add ? " after an addition" : "");
            for (unsigned n = 0; n < 4; n++) {
                core_lines(&program.unit, add ? "add rax, 8" : "", add);
                core_lines(&program.unit, consumers[i].unit, 1);
            }
            program.forms_per_unit = 4;
            status = core_add(session, &program, &slots[i][add], err);
        }
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < CONSUMERS && status == IP_OK; i++) {
        double more = core_cycles(session, slots[i][1]) - core_cycles(session, slots[i][0]);
        if (more > AFTER_MIN) {
            char key[PROBE_CORE_FACT_MAX];
            probe_core_fact_key("after", consumers[i].form, NULL, key);
            status = core_learn(session, key, core_near_integer(more, 0.1),
                                core_stat(session, slots[i][1])->spread, err,
                                "chain with add r64, imm8, less the chain without");
        }
    }
    return status;
}

/* --- idioms -------------------------------------------------------------------------------------------- */

/* `pattern` has the register's name three times: destination and sources. */
struct idiom {
    const char *form, *mnemonic;
    const char *const *registers; /* 8 */
    const char *other;            /* register that nobody writes */
    const char *feed;             /* an instruction of some latency on register 0 */
    bool three;                   /* operands */
    unsigned uses;
    unsigned bytes; /* with one of the registers for all operands */
};

static const char *const gpr32[8] = {"eax", "ecx", "edx", "ebx", "ebp", "esi", "edi", "r8d"};
static const char *const gpr64[8] = {"rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8"};
static const char *const xmms[8] = {"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"};
static const char *const ymms[8] = {"ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7"};
static const char *const zmms[8] = {"zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7"};
/* Eight with the one that nobody writes and another: the first is written twice. */
static const char *const masks[8] = {"k1", "k2", "k3", "k4", "k5", "k6", "k1", "k0"};

#define GPR_FEED  "imul rax, rax"
#define SSE_FEED  "mulps xmm0, xmm0"
#define AVX_FEED  "vmulps ymm0, ymm0, ymm0"
#define ZMM_FEED  "vmulps zmm0, zmm0, zmm0"
#define MASK_FEED "kshiftlw k1, k1, 1"

static const struct idiom idioms[] = {
    {"xor r32, r32", "xor", gpr32, "r9d", GPR_FEED, false, 0, 2},
    {"xor r64, r64", "xor", gpr64, "r9", GPR_FEED, false, 0, 3},
    {"sub r32, r32", "sub", gpr32, "r9d", GPR_FEED, false, 0, 2},
    {"sub r64, r64", "sub", gpr64, "r9", GPR_FEED, false, 0, 3},
    {"and r64, r64", "and", gpr64, "r9", GPR_FEED, false, 0, 3},
    {"sbb r64, r64", "sbb", gpr64, "r9", GPR_FEED, false, 0, 3},
    {"pxor xmm, xmm", "pxor", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"xorps xmm, xmm", "xorps", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 3},
    {"xorpd xmm, xmm", "xorpd", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"psubd xmm, xmm", "psubd", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"pcmpgtd xmm, xmm", "pcmpgtd", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"pcmpeqd xmm, xmm", "pcmpeqd", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"pcmpeqb xmm, xmm", "pcmpeqb", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"pcmpeqw xmm, xmm", "pcmpeqw", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"pcmpeqq xmm, xmm", "pcmpeqq", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 5},
    {"pcmpgtq xmm, xmm", "pcmpgtq", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 5},
    {"psubsb xmm, xmm", "psubsb", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"psubsw xmm, xmm", "psubsw", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"psubusb xmm, xmm", "psubusb", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"psubusw xmm, xmm", "psubusw", xmms, "xmm9", SSE_FEED, false, GEN_USES_XMM, 4},
    {"vpxor xmm, xmm, xmm", "vpxor", xmms, "xmm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vpxor ymm, ymm, ymm", "vpxor", ymms, "ymm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vxorps ymm, ymm, ymm", "vxorps", ymms, "ymm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vpsubd ymm, ymm, ymm", "vpsubd", ymms, "ymm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vpcmpgtd ymm, ymm, ymm", "vpcmpgtd", ymms, "ymm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vpcmpeqd ymm, ymm, ymm", "vpcmpeqd", ymms, "ymm9", AVX_FEED, true, GEN_USES_YMM, 4},
    {"vpxord zmm, zmm, zmm", "vpxord", zmms, "zmm9", ZMM_FEED, true, GEN_USES_EVEX, 6},
    {"vpsubd zmm, zmm, zmm", "vpsubd", zmms, "zmm9", ZMM_FEED, true, GEN_USES_EVEX, 6},
    {"kxorb k, k, k", "kxorb", masks, "k7", MASK_FEED, true, GEN_USES_EVEX, 4},
    {"kxorw k, k, k", "kxorw", masks, "k7", MASK_FEED, true, GEN_USES_EVEX, 4},
    {"kxord k, k, k", "kxord", masks, "k7", MASK_FEED, true, GEN_USES_EVEX, 5},
    {"kxorq k, k, k", "kxorq", masks, "k7", MASK_FEED, true, GEN_USES_EVEX, 5},
};
enum { IDIOMS = sizeof idioms / sizeof idioms[0], IDIOM_COPIES = 7, IDIOM_BYTES = 6 };

static void idiom_line(struct ip_lines *lines, const struct idiom *idiom, unsigned number, bool same) {
    const char *destination = idiom->registers[number];
    const char *source = same ? destination : idiom->other;
    if (idiom->three) {
        ip_lines_printf(lines, "%s %s, %s, %s", idiom->mnemonic, destination, source,
                        same ? source : idiom->registers[7]);
    } else {
        ip_lines_printf(lines, "%s %s, %s", idiom->mnemonic, destination, source);
    }
}

/* Kernels of one idiom: the feed alone, feed and idiom in one chain, many with one register for all operands,
 * many with different ones. */
struct idiom_slots {
    size_t feed, chained, same, different;
};

static enum ip_status idiom_add(struct core_session *session, const struct idiom *idiom,
                                struct idiom_slots *slots, struct ip_error *err) {
    struct gen_program programs[4];
    static const char *const what[4] = {"feed", "feed and idiom", "one register", "different registers"};
    for (unsigned i = 0; i < 4; i++) {
        core_program_init(&programs[i], "core: %s: %s", idiom->form, what[i]);
        programs[i].uses = idiom->uses;
    }
    core_lines(&programs[0].unit, idiom->feed, 1);
    core_lines(&programs[1].unit, idiom->feed, 1);
    idiom_line(&programs[1].unit, idiom, 0, true);
    for (unsigned i = 0; i < IDIOM_COPIES; i++) {
        idiom_line(&programs[2].unit, idiom, i, true);
        idiom_line(&programs[3].unit, idiom, i, false);
    }
    programs[2].forms_per_unit = programs[3].forms_per_unit = IDIOM_COPIES;
    size_t *const to[4] = {&slots->feed, &slots->chained, &slots->same, &slots->different};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < 4; i++) {
        if (status == IP_OK) {
            status = core_add(session, &programs[i], to[i], err);
        } else {
            gen_program_fini(&programs[i]);
        }
    }
    return status;
}

/* NOPs as long as idioms are: where those are more than a line of code holds, these are, too. */
static enum ip_status idiom_nops_add(struct core_session *session, size_t slots[IDIOM_BYTES + 1],
                                     struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned bytes = 1; bytes <= IDIOM_BYTES && status == IP_OK; bytes++) {
        struct gen_program program;
        core_program_init(&program, "core: NOPs of %u bytes", bytes);
        core_nops(&program.unit, bytes, IDIOM_COPIES);
        program.forms_per_unit = IDIOM_COPIES;
        status = core_add(session, &program, &slots[bytes], err);
    }
    return status;
}

/* Cycles of one that is executed, on all ports that it may use, in independent instances. Those of legacy SSE
 * wait for themselves: `vpxor xmm` stands for them. NaN: not known. */
static double executed(const struct core_session *session, const struct idiom_slots slots[IDIOMS],
                       unsigned i) {
    const char *stands = idioms[i].uses == GEN_USES_XMM ? "vpxor xmm, xmm, xmm" : idioms[i].form;
    double cycles = NAN;
    for (unsigned k = 0; k < IDIOMS; k++) {
        if (strcmp(idioms[k].form, stands) == 0) {
            cycles = core_cycles(session, slots[k].different);
        }
    }
    return cycles;
}

enum ip_status core_idiom_measure(struct core_session *session, struct ip_error *err) {
    struct idiom_slots slots[IDIOMS];
    size_t nops[IDIOM_BYTES + 1];
    enum ip_status status = idiom_nops_add(session, nops, err);
    for (unsigned i = 0; i < IDIOMS && status == IP_OK; i++) {
        status = idiom_add(session, &idioms[i], &slots[i], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < IDIOMS && status == IP_OK; i++) {
        double feed = core_cycles(session, slots[i].feed), chained = core_cycles(session, slots[i].chained);
        double same = core_cycles(session, slots[i].same);
        double different = core_cycles(session, slots[i].different);
        if (isnan(feed) || isnan(chained) || isnan(same) || isnan(different)) {
            const struct idiom_slots *of = &slots[i];
            session->tally->untrusted +=
                !core_lacks(session, of->feed) && !core_lacks(session, of->chained) &&
                !core_lacks(session, of->same) && !core_lacks(session, of->different);
            continue;
        }
        bool breaks = chained < 0.8 * feed;
        const struct probe_idiom read = {.same = same,
                                         .different = different,
                                         .nops = core_cycles(session, nops[idioms[i].bytes]),
                                         .executed = executed(session, slots, i),
                                         .slot = 1 / session->width};
        bool free = probe_idiom_is_free(&read);
        char key[PROBE_CORE_FACT_MAX];
        probe_core_fact_key("idiom", idioms[i].form, NULL, key);
        status = core_learn(session, key, breaks ? 1 + free : 0, core_stat(session, slots[i].same)->spread,
                            err, "after %.1f cycles: %.2f; one register %.3f, different ones %.3f", feed,
                            chained, same, different);
    }
    return status;
}

/* Cycles from what a place says to what was measured, at most. */
static const double APART_FIT = 0.08;

/* --- micro-fusion -------------------------------------------------------------------------------------- */

/* `line` has R where the destination register stands, and A for the address. */
struct micro {
    const char *form, *line;
    const char *const *registers;
    unsigned uses;
};

static const struct micro micros[] = {
    {"lea r64, agen", "lea R, [A]", gpr64, 0},
    {"mov r64, m64", "mov R, [A]", gpr64, 0},
    {"movzx r32, m8", "movzx R, byte [A]", gpr32, 0},
    {"add r64, m64", "add R, [A]", gpr64, 0},
    {"cmp r64, m64", "cmp R, [A]", gpr64, 0},
    {"cmp m64, imm8", "cmp qword [A], 1", gpr64, 0},
    {"imul r64, m64", "imul R, [A]", gpr64, 0},
    {"add m64, r64", "add [A], R", gpr64, 0},
    {"inc m64", "inc qword [A]", gpr64, 0},
    {"mov m64, r64", "mov [A], R", gpr64, 0},
    {"mov m64, imm32", "mov qword [A], 1000", gpr64, 0},
    {"movaps xmm, m128", "movaps R, [A]", xmms, GEN_USES_XMM},
    {"addps xmm, m128", "addps R, [A]", xmms, GEN_USES_XMM},
    {"paddd xmm, m128", "paddd R, [A]", xmms, GEN_USES_XMM},
    {"movaps m128, xmm", "movaps [A], R", xmms, GEN_USES_XMM},
    {"vmovdqa ymm, m256", "vmovdqa R, [A]", ymms, GEN_USES_YMM},
    {"vaddps ymm, ymm, m256", "vaddps R, ymm9, [A]", ymms, GEN_USES_YMM},
    {"vpaddd ymm, ymm, m256", "vpaddd R, ymm9, [A]", ymms, GEN_USES_YMM},
    {"vfmadd231ps ymm, ymm, m256", "vfmadd231ps R, ymm9, [A]", ymms, GEN_USES_YMM},
    {"vmovdqa m256, ymm", "vmovdqa [A], R", ymms, GEN_USES_YMM},
    {"vpaddd zmm, zmm, m512", "vpaddd R, zmm9, [A]", zmms, GEN_USES_EVEX},
    {"vmovdqa64 m512, zmm", "vmovdqa64 [A], R", zmms, GEN_USES_EVEX},
};
/* So many of them in a kernel, each with a register and a cache line of its own, so that none waits for
 * another. What is taken apart can leave slots of its cycle empty, as the number of NOPs before it will have
 * it: the least of several numbers counts. */
enum { MICROS = sizeof micros / sizeof micros[0], MICRO_COPIES = 4, MICRO_NOPS = 10, MICRO_VARIANTS = 6 };

static void micro_line(struct ip_lines *lines, const struct micro *micro, unsigned copy, bool index) {
    struct ip_text line = {0};
    /* Not r8 and above, and not rbx, which is the index. */
    static const unsigned chosen[MICRO_COPIES] = {0, 1, 2, 4};
    for (const char *at = micro->line; *at != '\0'; at++) {
        if (*at == 'R') {
            ip_text_append(&line, micro->registers[chosen[copy]]);
        } else if (*at == 'A') {
            ip_text_printf(&line, "r14%s+%u", index ? "+rbx" : "", 64 * copy + 8);
        } else {
            ip_text_append_bytes(&line, at, 1);
        }
    }
    ip_lines_add(lines, ip_text_string(&line));
    lines->failed = lines->failed || line.failed;
    ip_text_fini(&line);
}

static enum ip_status micro_add(struct core_session *session, const struct micro *micro, bool index,
                                unsigned nops, size_t *slot, struct ip_error *err) {
    struct gen_program program;
    core_program_init(&program, "core: slots of %s%s", micro->form, index ? ", with index" : "");
    program.uses = micro->uses;
    core_lines(&program.init, "mov ebx, 0", 1);
    for (unsigned copy = 0; copy < MICRO_COPIES; copy++) {
        micro_line(&program.unit, micro, copy, index);
        core_fillers(session, &program.unit, 4, nops);
    }
    program.forms_per_unit = MICRO_COPIES;
    return core_add(session, &program, slot, err);
}

/* The slots of what is not a NOP, in the kernel that has least of them. */
static enum ip_status micro_learn(struct core_session *session, const struct micro *micro, bool index,
                                  const size_t slots[MICRO_VARIANTS], struct ip_error *err) {
    double least = INFINITY, spread = NAN;
    bool fault = false;
    for (unsigned v = 0; v < MICRO_VARIANTS; v++) {
        double more = core_cycles(session, slots[v]) * session->width - (MICRO_NOPS + v);
        fault = fault || core_lacks(session, slots[v]);
        if (more < least) {
            least = more;
            spread = core_stat(session, slots[v])->spread;
        }
    }
    if (!isfinite(least)) {
        session->tally->untrusted += !fault;
        return IP_OK;
    }
    char key[PROBE_CORE_FACT_MAX];
    probe_core_fact_key(index ? "micro_index" : "micro", micro->form, NULL, key);
    return core_learn(session, key, core_near_integer(least, 0.35), spread, err,
                      "%.2f slots among %d and more NOPs", least, MICRO_NOPS);
}

/* Cycles of a kernel of `nops` NOPs after each instruction of two slots, when such a one begins only in the
 * first `first` slots of a cycle. */
static double apart_cycles(unsigned nops, unsigned first, unsigned width) {
    enum { TIMES = 360 }; /* all numbers of NOPs and widths come round */
    unsigned cycles = 0, at = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        if (at >= first) {
            cycles++;
            at = 0;
        }
        at += 2 + nops;
        cycles += at / width;
        at %= width;
    }
    return (double)cycles / TIMES;
}

/* Where instructions that are taken apart begin, from those of which the index makes two slots of one. */
static enum ip_status apart_learn(struct core_session *session, size_t slots[2 * MICROS][MICRO_VARIANTS],
                                  struct ip_error *err) {
    unsigned width = (unsigned)round(session->width), best = 0, forms = 0;
    double least = INFINITY;
    for (unsigned first = 1; first <= width; first++) {
        double sum = 0;
        unsigned count = 0;
        for (unsigned i = 0; i < MICROS; i++) {
            const struct probe_core_value *plain =
                probe_core_fact_get(session->core, "micro", micros[i].form, NULL);
            const struct probe_core_value *index =
                probe_core_fact_get(session->core, "micro_index", micros[i].form, NULL);
            bool accesses = strstr(micros[i].form, "agen") == NULL;
            bool apart = accesses && plain != NULL && index != NULL && plain->value == 1 && index->value == 2;
            for (unsigned v = 0; v < MICRO_VARIANTS && apart; v++) {
                double cycles = core_cycles(session, slots[2 * i + 1][v]);
                if (!isnan(cycles)) {
                    sum += fabs(cycles - apart_cycles(MICRO_NOPS + v, first, width));
                    count++;
                }
            }
        }
        if (count > 0 && sum / count < least) {
            least = sum / count;
            best = first;
            forms = count / MICRO_VARIANTS;
        }
    }
    if (best == 0) {
        return core_learn(session, "apart_slots", NAN, NAN, err, "not seen: an index takes nothing apart");
    }
    if (least > APART_FIT) {
        session->tally->untrusted++;
        return core_learn(session, "apart_slots", NAN, NAN, err,
                          "not known: no place in a cycle explains the kernels within %.2f cycles",
                          APART_FIT);
    }
    return core_learn(session, "apart_slots", best, least, err,
                      "where %u forms with an index begin, within %.3f cycles", forms, least);
}

enum ip_status core_micro_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[2 * MICROS][MICRO_VARIANTS];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < 2 * MICROS * MICRO_VARIANTS && status == IP_OK; i++) {
        unsigned number = i / MICRO_VARIANTS, variant = i % MICRO_VARIANTS;
        status = micro_add(session, &micros[number / 2], number % 2 != 0, MICRO_NOPS + variant,
                           &slots[number][variant], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < 2 * MICROS && status == IP_OK; i++) {
        status = micro_learn(session, &micros[i / 2], i % 2 != 0, slots[i], err);
    }
    return status == IP_OK ? apart_learn(session, slots, err) : status;
}
