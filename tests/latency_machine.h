/* SPDX-License-Identifier: Apache-2.0 */
/* tests/latency_machine.h - a simulated CPU whose latencies are known, and what the probe makes of one of its
 * forms. */
#ifndef ISAPROBE_TESTS_LATENCY_MACHINE_H
#define ISAPROBE_TESTS_LATENCY_MACHINE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/decode.h"
#include "probe/latency.h"
#include "probe/transfer.h"
#include "tests/core_file.h"
#include "tests/near.h"

static const char CPU[] = "isaprobe-sim 1\n"
                          "name \"latency test\"\n"
                          "issue-width 6\n"
                          "ports p0 p1 p2 p3 p4 p5\n"
                          "load-ports p23\n"
                          "store-address-ports p2\n"
                          "store-data-ports p4\n"
                          "ticks-per-cycle 0.7\n"
                          "form \"add r64, r64\" ports 1*p015 latency 1\n"
                          "form \"sub r64, imm8\" ports 1*p015\n"
                          "form \"j*\" ports 1*p05\n"
                          "form \"nop\" ports none\n"
                          "form \"nop *\" ports none\n"
                          /* transfers: movd is 2 one way and 3 the other, which no chain can tell apart */
                          "form \"movsx* *\" ports 1*p015\n"
                          "form \"mov r32, imm32\" ports 1*p015\n"
                          "form \"cmp *\" ports 1*p015\n"
                          "form \"test r64, r64\" ports 1*p015\n"
                          "form \"cmov* r64, r64\" ports 1*p05\n"
                          "form \"set* *\" ports 1*p05\n"
                          "form \"pshufd xmm, xmm, imm8\" ports 1*p5\n"
                          "form \"vpshufd xmm, xmm, imm8\" ports 1*p5\n"
                          "form \"vmovd r32, xmm\" ports 1*p0 latency 3\n"
                          "form \"vmovd xmm, r32\" ports 1*p5 latency 2\n"
                          "form \"movd r32, xmm\" ports 1*p0 latency 3\n"
                          "form \"movd xmm, r32\" ports 1*p5 latency 2\n"
                          "form \"vptestmd k{k}, xmm, xmm\" ports 1*p5 latency 3\n"
                          "form \"vmovdqa32 xmm{k}{z}, xmm\" ports 1*p0 latency 2\n"
                          "form \"kmovq k, k\" ports 1*p0\n"
                          "form \"vandps xmm, xmm, xmm\" ports 1*p015\n"
                          "form \"vorps xmm, xmm, xmm\" ports 1*p015\n"
                          "form \"orps xmm, xmm\" ports 1*p015\n"
                          "form \"xor r64, r64\" ports 1*p015\n"
                          "form \"mov m*, r*\" ports 1*p2+1*p4\n"
                          "form \"mov r*, m*\" ports 1*p23\n"
                          "form \"vmovups m128, xmm\" ports 1*p2+1*p4\n"
                          "form \"vmovups xmm, m128\" ports 1*p23\n"
                          "form \"vmovups m512, zmm\" ports 1*p2+1*p4\n"
                          "form \"vmovups zmm, m512\" ports 1*p23\n"
                          "form \"vorps zmm, zmm, zmm\" ports 1*p015\n"
                          "form \"vmovups ymm, m256\" ports 1*p23\n"
                          "form \"vpshufd zmm, zmm, imm8\" ports 1*p5\n"
                          "form \"kxnorw k, k, k\" ports 1*p0\n"
                          /* forms under test */
                          "form \"vpaddd zmm, zmm, m512\" ports 1*p05+1*p23 latency 1\n"
                          "form \"vgatherdps xmm{k}, vm32x\" ports 1*p015+4*p23 latency 4\n"
                          "form \"vpaddd xmm, xmm, m128\" ports 1*p015+1*p23 latency 1\n"
                          "form \"vpaddd xmm{k}, xmm, m128\" ports 1*p015+1*p23 latency 1\n"
                          "form \"vpaddq xmm, xmm, xmm\" ports 1*p1 latency 4\n"
                          "form \"imul r64, r64\" ports 1*p1 latency 3\n"
                          "form \"dec r64\" ports 1*p015 latency 1\n"
                          "form \"adc r64, r64\" ports 1*p015 latency 1\n"
                          "form \"crc32 r64, r64\" ports 1*p1 latency 15\n"
                          "form \"aesdec xmm, xmm\" ports 1*p0 latency 3 op1->op1 5\n"
                          "form \"vpsubq xmm, xmm, xmm\" ports 1*p015 same-register eliminated\n"
                          "form \"vaddps xmm, xmm, xmm\" ports 1*p1 latency 4\n"
                          "form \"xchg r64, r64\" ports 3*p015 latency 2\n"
                          "form \"vaddpd xmm{k}, xmm, xmm\" ports 1*p1 latency 4 op2->op1 6\n"
                          "form \"bsf r64, m64\" ports 1*p1+1*p23 latency 3\n"
                          "form \"bsr r64, m64\" ports 1*p1+1*p23 latency 3 op2->flags none\n"
                          "form \"shl m32, cl\" ports 4*p1+1*p23+1*p2+1*p4 latency 1\n"
                          "form \"shl r64, cl\" ports 1*p05 latency 1\n"
                          "form \"popcnt r64, r64\" ports 3*p12 latency 3 op2->flags 0\n"
                          "form \"mul r64\" ports 1*p1+1*p5 latency 3 op1->rdx 4 rax->rdx 4\n"
                          /* they take 5 and 14 cycles, whatever they wait for */
                          "form \"bzhi r64, r64, r64\" ports 5*p1 latency 1 op2->flags 0\n"
                          "form \"pdep r64, r64, r64\" ports 5*p1 latency 1 op3->op1 0\n"
                          "form \"pext r64, r64, r64\" ports 14*p1 latency 1\n"
                          "form \"ror r64, cl\" ports 3*p05 latency 1 flags->op1 none\n"
                          "form \"vpmaxsd xmm{k}, xmm, xmm\" ports 4*p1 latency 1\n"
                          "form \"crc32 r32, r32\" ports 60*p1 latency 50\n"
                          /* or wait for a unit so long */
                          "form \"pshufw mm, mm, imm8\" ports 1*p5\n"
                          "form \"vphminposuw xmm, xmm\" ports 1*p0 blocking 12 one\n"
                          "form \"vpmaxuw xmm{k}{z}, xmm, xmm\" ports 1*p0 blocking 16 one\n"
                          "form \"vpmaxud xmm{k}{z}, xmm, xmm\" ports 1*p015\n"
                          "form \"kaddq k, k, k\" ports 1*p0 blocking 5 one\n"
                          "form \"kaddd k, k, k\" ports 1*p0 blocking 12 one\n"
                          "form \"paddd mm, mm\" ports 1*p0 blocking 12 one\n"
                          "form \"popcnt r64, m64\" ports 1*p1+1*p23 blocking 20 one\n"
                          "form \"xadd r64, r64\" ports 2*p015 latency 1 op2->op2 none\n"
                          "form \"stosq\" ports 1*p015+1*p2+1*p4 latency 1\n"
                          "fault \"vdivpd xmm, xmm, xmm\" illegal\n";

struct machine {
    struct core_file file;
    struct hx_bench bench;
    struct hx_meter meter;
};

static inline int machine_setup(void **state) {
    struct machine *machine = calloc(1, sizeof *machine);
    assert_non_null(machine);
    core_file_write(&machine->file, CPU);
    struct hx_bench_options options = {.timer = machine->file.timer, .cpu = -1};
    struct ip_error err = {0};
    if (hx_bench_open(&machine->bench, &options, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    machine->meter = hx_bench_meter(&machine->bench);
    *state = machine;
    return 0;
}

static inline int machine_teardown(void **state) {
    struct machine *machine = *state;
    hx_bench_close(&machine->bench);
    unlink(machine->file.path);
    free(machine);
    return 0;
}

static inline void measure(struct machine *machine, const char *syntax, struct isa_form *form,
                           struct probe_latency *latency) {
    struct ip_error err = {0};
    struct isa_form *forms[1] = {form};
    assert_int_equal(isa_form_parse(form, syntax, &err), IP_OK);
    assert_int_equal(isa_forms_derive(forms, 1, &err), IP_OK);
    if (probe_latency_measure(&machine->meter, &machine->bench.encoder, NULL, forms, 1, latency, &err) !=
        IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
}

static inline const struct probe_latency_pair *pair_find(const struct isa_form *form,
                                                         const struct probe_latency *latency, const char *src,
                                                         const char *dst) {
    for (size_t i = 0; i < latency->count; i++) {
        char from[16], to[16];
        isa_operand_name(form, (unsigned)latency->pairs[i].src, from);
        isa_operand_name(form, (unsigned)latency->pairs[i].dst, to);
        if (strcmp(from, src) == 0 && strcmp(to, dst) == 0) {
            return &latency->pairs[i];
        }
    }
    fail_msg("%s has no pair %s -> %s", form->syntax, src, dst);
    return NULL;
}

/* How often these bytes stand in the unit. */
static inline unsigned in_unit(const struct gen_kernel *kernel, const uint8_t *bytes, size_t length) {
    const uint8_t *at = kernel->shorter.bytes + kernel->shorter.loop_offset;
    const uint8_t *end = at + kernel->unit_bytes;
    unsigned found = 0;
    for (; (at = memmem(at, (size_t)(end - at), bytes, length)) != NULL; at++) {
        found++;
    }
    return found;
}

static inline void check_exact(const struct isa_form *form, const struct probe_latency *latency,
                               const char *src, const char *dst, double cycles) {
    const struct probe_latency_pair *pair = pair_find(form, latency, src, dst);
    if (!pair->measured) {
        fail_msg("%s -> %s: %s", src, dst, pair->why);
    }
    assert_false(pair->upper_bound);
    assert_int_equal(pair->verdict, HX_VERDICT_OK);
    assert_near(pair->cycles, cycles, 0.05);
}

#endif
