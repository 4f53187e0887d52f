/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/bench.h - the parts of `make bench`. Each prints its own section. */
#ifndef ISAPROBE_TESTS_BENCH_BENCH_H
#define ISAPROBE_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/tool.h"

struct bench_options {
    const char *isaprobe; /* the program */
    const char *bhive;    /* file of hex blocks */
    const char *store;    /* of the predictions; NULL: none */
    size_t forms;         /* sample of forms */
    size_t blocks;        /* sample of blocks */
    uint64_t seed;
};

/* bench_common.c: puts a seeded sample of the forms in front, without repetition. */
void bench_forms_shuffle(struct isa_form **forms, size_t count, size_t sample, uint64_t seed);
/* ... CPU time of this process, its children left out; and a meter that looks at both clocks before and after
 * another one. */
double bench_cpu_seconds(void);
struct bench_timed {
    const struct hx_meter *inner;
    double seconds, cpu_seconds;
    size_t kernels; /* measured, not only looked at */
};
struct hx_meter bench_timed_meter(struct bench_timed *timed);

/* bench_reasons.c: counts texts with their numbers left out, so that one reason is one line. */
enum { BENCH_REASONS_MAX = 64, BENCH_REASON_BYTES = 96 };
struct bench_reasons {
    struct {
        char text[BENCH_REASON_BYTES];
        size_t count;
    } items[BENCH_REASONS_MAX];
    size_t count;
};
void bench_reason_count(struct bench_reasons *reasons, const char *text);
void bench_reasons_print(const struct bench_reasons *reasons);

/* bench_repeat.c: speed, where the time goes, and two complete runs against each other, of forms up to 256
 * bits or of the wide ones, which change what the core does for others. */
void bench_repeat(struct tool *tool, const struct bench_options *options, bool wide);
/* bench_scan.c: the time of a scan, where it goes, and whether two agree. */
void bench_scan(struct tool *tool, const struct bench_options *options);
/* bench_program.c: seconds of one run of arguments[0], without its output; negative when it cannot be run. */
double bench_run_seconds(char *const *arguments, int *exit_code);
/* ... and the wall time of `isaprobe latency ADDPD`. */
void bench_program(const struct bench_options *options);
/* bench_invariants.c: what must hold whatever the clock does, alone and beside a busy neighbour. */
void bench_invariants(struct tool *tool);
void bench_neighbour(struct tool *tool);
/* bench_predict.c: the time of a prediction, in the library and as a command, and of many. */
void bench_predict(const struct tool *tool, const struct bench_options *options);
/* bench_blocks.c: predictions of random blocks against what they take. */
void bench_blocks(struct tool *tool, const struct bench_options *options);
/* bench_bhive.c: blocks of real programs. */
void bench_bhive(const struct tool *tool, const struct bench_options *options);

#endif
