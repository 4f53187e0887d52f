/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores that hit the first-level cache: latency by address and by register file, forwarding from a
 * store, rates, and what crossing a line or a page costs. */
#include <math.h>
#include <string.h>

#include "generator/abi.h"
#include "probe/core_groups.h"

/* How the cycles of a unit become the parameter. */
enum reading {
    READ_CYCLES,   /* as they are */
    READ_LESS_ONE, /* something else of one cycle is in the chain; if it can be more: an upper bound */
    READ_MORE,     /* what they are more than those of the last experiment without a key */
    READ_RATE,     /* instances a cycle */
};

enum { REPEAT = 8 }; /* of a line with %u */

/* `unit` is one chain's link, or, with %u, a line for each of REPEAT places `stride` bytes apart from
 * `offset` on. */
struct experiment {
    const char *key; /* NULL: only measured, for the next ones */
    const char *init, *unit;
    unsigned offset, stride, uses;
    enum reading reading;
    bool pointers; /* memory holds the address of the data's base, else zeros */
    const char *how;
};

/* A register that XOR zeroes rename may know to be zero, and an index that is known to be zero may cost
 * nothing: on a Zen 5 `mov rax, [rax+rbx*8]` takes 4 cycles then, and 5 with a zero from a MOV. So no kernel
 * of addresses zeroes by XOR. */
#define LINK(key, init, unit, uses, reading, pointers, how)                                                  \
    { key, init, unit, 0, 0, uses, reading, pointers, how }
#define RATE(key, unit, offset, stride, uses, how)                                                           \
    { key, "", unit, offset, stride, uses, READ_RATE, false, how }

/* Two loads of 128 bits. */
#define V2(place) "movups xmm0, [r14+" #place "]; movups xmm1, [r14+" #place "+16]; "

static const struct experiment experiments[] = {
    LINK("load_base", "mov rax, r14", "mov rax, [rax]", 0, READ_CYCLES, true, "chain of mov rax, [rax]"),
    LINK("load_displacement", "mov rax, r14", "mov rax, [rax+0x1000]", 0, READ_CYCLES, true,
         "chain of mov rax, [rax+0x1000]"),
    LINK("load_index", "mov rax, r14; mov ebx, 0", "mov rax, [rax+rbx*8]", 0, READ_CYCLES, true,
         "chain of mov rax, [rax+rbx*8]"),
    LINK("load_index_unscaled", "mov rax, r14; mov ebx, 0", "mov rax, [rax+rbx]", 0, READ_CYCLES, true,
         "chain of mov rax, [rax+rbx]"),
    LINK("load_vector", "mov rax, r14", "movups xmm0, [rax]; movq rax, xmm0", GEN_USES_XMM, READ_LESS_ONE,
         true, "at most: chain with movq, less one cycle for that"),
    LINK("load_ymm", "mov rax, r14", "vmovups ymm0, [rax]; vmovq rax, xmm0", GEN_USES_YMM, READ_LESS_ONE,
         true, "at most: chain with vmovq, less one cycle for that"),
    LINK("load_zmm", "mov rax, r14", "vmovups zmm0, [rax]; vmovq rax, xmm0", GEN_USES_EVEX, READ_LESS_ONE,
         true, "at most: chain with vmovq, less one cycle for that"),
    LINK("lea_index", "mov ebx, 0", "lea rax, [rax+rbx]", 0, READ_CYCLES, false,
         "chain of lea rax, [rax+rbx]"),
    LINK("lea_displacement", "", "lea rax, [rax+8]", 0, READ_CYCLES, false, "chain of lea rax, [rax+8]"),
    LINK("lea_three", "mov ebx, 0", "lea rax, [rax+rbx+8]", 0, READ_CYCLES, false,
         "chain of lea rax, [rax+rbx+8]"),
    LINK("lea_three_index", "mov ebx, 0", "lea rax, [rbx+rax+8]", 0, READ_CYCLES, false,
         "chain of lea rax, [rbx+rax+8]"),
    LINK("lea_scaled", "mov ebx, 0", "lea rax, [rbx+rax*8]", 0, READ_CYCLES, false,
         "chain of lea rax, [rbx+rax*8]"),
    LINK(NULL, "mov eax, 0", "mov rax, [r14+rax+0x38]", 0, READ_CYCLES, false, NULL),
    LINK("load_line_cross", "mov eax, 0", "mov rax, [r14+rax+0x3c]", 0, READ_MORE, false,
         "chain of loads of 8 bytes, 4 in each line"),
    LINK("load_page_cross", "mov eax, 0", "mov rax, [r14+rax+0xffc]", 0, READ_MORE, false,
         "chain of loads of 8 bytes, 4 in each page"),
    LINK(NULL, "mov eax, 0", "mov [r14+0x140], rcx; mov rax, [r14+rax+0x1100]", 0, READ_CYCLES, false, NULL),
    LINK("load_alias", "mov eax, 0", "mov [r14+0x100], rcx; mov rax, [r14+rax+0x1100]", 0, READ_MORE, false,
         "chain of loads, each after a store 4 KiB below it"),
    /* The addition keeps a chain that takes no time from being bound by something else. */
    LINK("store_forward_far", "mov ebx, 0", "mov [r14+rbx], rax; mov rax, [r14+rbx]; add rax, rcx", 0,
         READ_LESS_ONE, false, "chain of store and load at [r14+rbx] and an addition, less its one cycle"),
    LINK("store_forward_changed", "mov ecx, 0", "mov rbx, [r14+8]; add [rbx], rcx", 0, READ_CYCLES, true,
         "chain of add [rbx], rcx, each behind mov rbx, [r14+8]"),
    LINK("store_forward_vector", "", "movups [r14], xmm0; movups xmm0, [r14]", GEN_USES_XMM, READ_CYCLES,
         false, "chain of movups [r14], xmm0 and back"),
    LINK(NULL, "mov ecx, 0", "add rsp, rcx", 0, READ_CYCLES, false, NULL),
    LINK("stack_sync", "mov ecx, 8", "push rax; add rsp, rcx", 0, READ_MORE, false,
         "chain of push rax and add rsp, rcx, less that of the addition"),
    LINK("stack_move", "mov ecx, 0", "mov rdx, rsp; mov rsp, rdx; add rsp, rcx", 0, READ_MORE, false,
         "chain of mov rdx, rsp, mov rsp, rdx and add rsp, rcx, less that of the addition"),
    LINK(NULL, "", "push rax; mov rcx, [r14]; pop rax; mov rdx, [r14]", 0, READ_CYCLES, false, NULL),
    LINK("stack_sync_address", "", "push rax; mov rcx, [rsp]; pop rax; mov rdx, [rsp]", 0, READ_MORE, false,
         "push, a load at [rsp], pop and another, less the same with loads at [r14]"),
    LINK("store_forward_blocked", "", "mov [r14], eax; mov rax, [r14]", 0, READ_CYCLES, false,
         "chain of mov [r14], eax and mov rax, [r14]"),
    LINK(NULL, "", V2(0) "mov rax, [r14+256]; " V2(64) "mov rcx, [r14+320]", GEN_USES_XMM, READ_CYCLES, false,
         NULL),
    LINK("load_turns", "", V2(0) V2(64) "mov rax, [r14+256]; mov rcx, [r14+320]", GEN_USES_XMM, READ_MORE,
         false, "four movups of loads and two mov behind them, less the same with a mov after every two"),
    RATE("lea_three_rate", "lea rax, [r14+rbx+%u]", 8, 8, 0, "of base, index and number"),
    RATE("load_rate", "mov rax, [r14+%u]", 0, 8, 0, "loads of one line"),
    RATE("load_rate_128", "movups xmm0, [r14+%u]", 0, 16, GEN_USES_XMM, "loads of two lines"),
    RATE("load_rate_256", "vmovups ymm0, [r14+%u]", 0, 32, GEN_USES_YMM, "loads of four lines"),
    RATE("load_rate_512", "vmovups zmm0, [r14+%u]", 0, 64, GEN_USES_EVEX, "loads of eight lines"),
    RATE("load_rate_stride", "mov rax, [r14+%u]", 0, 64, 0, "at the same offset in eight lines"),
    RATE("load_rate_cross", "mov rax, [r14+%u]", 60, 64, 0, "each half in one line, half in the next"),
    RATE("store_rate", "mov [r14+%u], rax", 0, 8, 0, "stores to one line"),
    RATE("store_rate_256", "vmovups [r14+%u], ymm0", 0, 32, GEN_USES_YMM, "stores to four lines"),
    RATE("store_rate_512", "vmovups [r14+%u], zmm0", 0, 64, GEN_USES_EVEX, "stores to eight lines"),
    RATE("store_rate_stride", "mov [r14+%u], rax", 0, 64, 0, "at the same offset in eight lines"),
};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

/* A line with its place put in for %u. */
static void place_line(struct ip_lines *lines, const char *line, unsigned place) {
    const char *hole = strstr(line, "%u");
    ip_lines_printf(lines, "%.*s%u%s", (int)(hole - line), line, place, hole + 2);
}

static enum ip_status experiment_add(struct core_session *session, const struct experiment *experiment,
                                     size_t *slot, struct ip_error *err) {
    struct gen_program program;
    core_program_init(&program, "core: %s", experiment->key != NULL ? experiment->key : "to compare with");
    program.uses = experiment->uses;
    core_lines(&program.init, experiment->init, 1);
    core_memory_fill(&program, experiment->pointers ? GEN_DATA_BASE : 0);
    if (experiment->reading == READ_RATE) {
        for (unsigned i = 0; i < REPEAT; i++) {
            place_line(&program.unit, experiment->unit, experiment->offset + i * experiment->stride);
        }
        program.forms_per_unit = REPEAT;
    } else {
        core_lines(&program.unit, experiment->unit, 1);
    }
    return core_add(session, &program, slot, err);
}

enum ip_status core_memory_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[EXPERIMENTS], base = 0;
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < EXPERIMENTS && status == IP_OK; i++) {
        status = experiment_add(session, &experiments[i], &slots[i], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < EXPERIMENTS && status == IP_OK; i++) {
        const struct experiment *experiment = &experiments[i];
        double cycles = core_cycles(session, slots[i]);
        if (experiment->key == NULL) {
            base = slots[i];
            continue;
        }
        bool baseless = experiment->reading == READ_MORE && isnan(core_cycles(session, base));
        if (isnan(cycles) || baseless) {
            status = core_learn_stat(session, experiment->key, isnan(cycles) ? slots[i] : base, err, "");
            continue;
        }
        double value = cycles, noise = core_stat(session, slots[i])->spread;
        switch (experiment->reading) {
        case READ_CYCLES:
            break;
        case READ_LESS_ONE:
            value = cycles - 1;
            break;
        case READ_MORE:
            value = cycles - core_cycles(session, base);
            break;
        case READ_RATE:
            value = 1 / cycles;
            break;
        }
        status = core_learn(session, experiment->key, value, noise, err, "%s", experiment->how);
    }
    return status;
}
