/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench.c - opens a timer with its reference kernels and finds out what undisturbed looks like here.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "generator/abi.h"
#include "generator/shapes.h"
#include "harness/estimate.h"
#include "harness/filler.h"
#include "harness/floor.h"
#include "harness/holding.h"
#include "harness/meter.h"
#include "harness/record.h"
#include "harness/roam.h"
#include "harness/stats.h"
#include "harness/undisturbed.h"

enum {
    /* Small: they share the micro-op cache with the kernel, and all begin at the start of a page. With 192
     * NOPs blocks of 8-byte NOPs ran from the decoders, at 0.21 to 0.26 a NOP instead of 0.167, for minutes.
     */
    CHAIN_COPIES = 48,
    LOAD_COPIES = 4, /* of as many loads as there are registers */
    FORWARD_COPIES = 4,
    FORWARD_SHUFFLES = 6,
    SENTINEL_COPIES = 48,
    CALIBRATION_BATCHES = 12,
    CALIBRATION_ROUNDS = 11,
    SENTINELS_AGREEING = 7,   /* of the calibration's batches: more than half */
    LOADS_AGREEING = 2,       /* four loads a cycle in place of three are a fifth less: two will do */
    FORWARDS_AGREEING = 4,    /* a cycle in eleven is less than that */
    BESIDE_ATTEMPTS = 60,     /* to find what a sentinel takes undisturbed, at first ... */
    BESIDE_ATTEMPTS_MORE = 5, /* ... and each time that somebody asks for it again */
    FILLER_LOOKS = 4,         /* at short NOPs, before they are believed */
    SUSPECT_WIDTH = 3,        /* no x86-64 server or desktop core since 2008 issues fewer than four */
};

/* How far 1/sentinel may be from an integer: a loop of NOPs loses part of a group at its branch, or where the
 * decoders feed it. */
static const double WIDTH_TOLERANCE = 0.08;
static const double SENTINELS_AGREE = 0.03;
static const double BESIDE_AGREE = 0.02;

/* Takes the program over. */
static enum ip_status program_build(struct gen_kernel *kernel, struct gen_program *program,
                                    struct gen_encoder *encoder, uint32_t copies, struct ip_error *err) {
    enum ip_status status = program->unit.failed
                                ? ip_fail(err, IP_NO_MEMORY, "out of memory for a reference kernel")
                                : gen_kernel_make(kernel, program, encoder, copies, err);
    gen_program_fini(program);
    return status;
}

static enum ip_status reference_build(struct gen_kernel *kernel, struct gen_encoder *encoder,
                                      const char *title, const char *line, uint32_t copies, unsigned uses,
                                      bool one_loop, struct ip_error *err) {
    struct gen_program program;
    gen_program_init(&program);
    (void)snprintf(program.title, sizeof program.title, "%s", title);
    program.uses = uses;
    program.one_loop = one_loop;
    ip_lines_add(&program.unit, line);
    return program_build(kernel, &program, encoder, copies, err);
}

/* NOPs are of a length with which neither the micro-op cache nor the decoders limit them: docs/method.md,
 * "Fillers". */
static enum ip_status filler_build(struct hx_bench *bench, struct ip_error *err) {
    return reference_build(&bench->references.sentinels[HX_SENTINEL_NOPS], &bench->encoder,
                           "sentinel: fillers, the issue width", bench->filler, SENTINEL_COPIES, 0, false,
                           err);
}

/* The chain must be one that no core removes at rename: `add r, r`, not `add r, imm`, `lea`, `inc` or `mov`.
 */
static enum ip_status references_build(struct hx_bench *bench, struct ip_error *err) {
    enum ip_status status =
        reference_build(&bench->references.chain, &bench->encoder, "reference: dependent add, one cycle each",
                        "add rax, rax", CHAIN_COPIES, 0, true, err);
    if (status == IP_OK) {
        (void)snprintf(bench->filler, sizeof bench->filler, "%s", GEN_FILLER_NOP);
        status = filler_build(bench, err);
    }
    bool avx = __builtin_cpu_supports("avx") != 0;
    const unsigned uses[HX_CALLS] = {
        [HX_CALL_VECTOR] = avx ? GEN_USES_YMM : GEN_USES_XMM, [HX_CALL_X87] = GEN_USES_MMX | GEN_USES_X87};
    for (unsigned call = 0; call < HX_CALLS && status == IP_OK; call++) {
        status = reference_build(&bench->references.calls[call], &bench->encoder,
                                 "reference: the chain, registers filled first", "add rax, rax", CHAIN_COPIES,
                                 uses[call], false, err);
    }
    return status;
}

/* As many NOPs as loads: cores issue twice as many instructions as they load in a cycle, or less, and a
 * neighbour that takes issue slots alone would leave loads alone. */
static enum ip_status loads_build(struct hx_bench *bench, struct ip_error *err) {
    static const char *const registers[] = {"rax", "rcx", "rdx", "rbx", "rsi", "rdi",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13"};
    enum { LOADS = sizeof registers / sizeof registers[0], SHORT_DISPS = 256 };
    struct gen_program program;
    gen_program_init(&program);
    (void)snprintf(program.title, sizeof program.title, "sentinel: loads, the ports that load");
    bool long_nops = strcmp(bench->filler, GEN_FILLER_LONG_NOP) == 0;
    const char *nop = long_nops ? GEN_FILLER_LONG_NOP : GEN_FILLER_NOP;
    program.forms_per_unit = LOADS;
    for (int i = 0; i < LOADS; i++) {
        ip_lines_printf(&program.unit, "mov %s, [r%u%+d]", registers[i], GEN_REG_BASE,
                        GEN_LOAD_STRIDE * i % SHORT_DISPS - SHORT_DISPS / 2);
        ip_lines_add(&program.unit, nop);
    }
    return program_build(&bench->references.sentinels[HX_SENTINEL_LOADS], &program, &bench->encoder,
                         LOAD_COPIES, err);
}

/* Vectors, for a core may pass on what general registers have stored without memory. Shuffles, because a
 * round of a store and a load alone has modes of its own (probe/latency_chains.c). */
static enum ip_status forwards_build(struct hx_bench *bench, unsigned shuffles, struct ip_error *err) {
    struct gen_program program;
    gen_program_init(&program);
    (void)snprintf(program.title, sizeof program.title, "sentinel: a chain through memory");
    program.uses = GEN_USES_XMM;
    program.forwards = true;
    for (unsigned i = 0; i < shuffles; i++) {
        ip_lines_add(&program.unit, "pshufd xmm0, xmm0, 0xe4");
    }
    ip_lines_printf(&program.unit, "movups [0x%x], xmm0", GEN_ARENA_FORWARD);
    ip_lines_printf(&program.unit, "movups xmm0, [0x%x]", GEN_ARENA_FORWARD);
    return program_build(&bench->references.sentinels[HX_SENTINEL_FORWARDS], &program, &bench->encoder,
                         FORWARD_COPIES, err);
}

/* Those that are not there: what they take undisturbed was not found yet. */
static enum ip_status sentinels_build(struct hx_bench *bench, struct ip_error *err) {
    const struct gen_kernel *sentinels = bench->references.sentinels;
    enum ip_status status = IP_OK;
    if (sentinels[HX_SENTINEL_LOADS].longer.bytes == NULL) {
        status = loads_build(bench, err);
    }
    if (status == IP_OK && sentinels[HX_SENTINEL_FORWARDS].longer.bytes == NULL) {
        status = forwards_build(bench, FORWARD_SHUFFLES, err);
    }
    return status;
}

/* With so many shuffles a core may take 20 cycles for one round and 21 for the next (a Zen 5; 19 with one
 * less): who waits for a whole number tries others in turn. */
static enum ip_status forwards_vary(struct hx_bench *bench, unsigned attempt, struct ip_error *err) {
    enum { FEWER = 3 };
    gen_kernel_fini(&bench->references.sentinels[HX_SENTINEL_FORWARDS]);
    return forwards_build(bench, FORWARD_SHUFFLES - attempt % FEWER, err);
}

/* Threads that are running or ready on this machine, or 0 where the system does not say. */
static int threads_running(void) {
    FILE *file = fopen("/proc/loadavg", "re");
    int running = 0;
    if (file != NULL) {
        if (fscanf(file, "%*f %*f %*f %d/", &running) != 1) { /* NOLINT(cert-err34-c): a kernel file */
            running = 0;
        }
        (void)fclose(file);
    }
    return running;
}

/* Rounds the sentinel to an issue width, if it is near to one that a core without a neighbour can have. */
static bool sentinel_is_suspect(struct hx_bench *bench) {
    double width = 1.0 / bench->sentinel_cycles;
    double nearest = round(width);
    if (!isfinite(width) || nearest < 1.0 || fabs(width - nearest) > WIDTH_TOLERANCE * nearest) {
        return true;
    }
    bench->sentinel_cycles = 1.0 / nearest; /* the rest is what the loop's branch costs, and noise */
    /* Half of a core of six looks like three. In a virtual machine, where there is a companion, nobody can
     * see who has the other half. */
    return hx_bench_is_live(bench) && nearest <= SUSPECT_WIDTH &&
           (bench->companion.pid != 0 || threads_running() > 1);
}

/* What most batches agree on. Beside a neighbour no two batches are alike, but their quantiles may well look
 * like a narrower core (one of six issues gave 0.25 cycle a NOP), which every later batch would then confirm.
 * NaN: they do not agree. Sorts. */
static double sentinel_agreed(double sentinels[CALIBRATION_BATCHES]) {
    hx_sort(sentinels, CALIBRATION_BATCHES);
    for (size_t i = 0; i + SENTINELS_AGREEING <= CALIBRATION_BATCHES; i++) {
        double middle = sentinels[i + SENTINELS_AGREEING / 2];
        if (sentinels[i + SENTINELS_AGREEING - 1] - sentinels[i] <= SENTINELS_AGREE * middle) {
            return middle;
        }
    }
    return NAN;
}

/* By how many ticks the clock advances: the greatest common divisor of all samples. Where it is finer than
 * what a run differs from the next, 0. */
static double clock_step_of(const struct hx_samples *samples, size_t count, uint32_t rounds) {
    const double coarse = 8.0;
    uint64_t step = 0;
    for (size_t i = 0; i < count; i++) {
        const double *const rows[] = {samples[i].reference_shorter, samples[i].reference_longer};
        for (size_t k = 0; k < 2 * (size_t)rounds; k++) {
            uint64_t ticks = (uint64_t)rows[k % 2][k / 2];
            while (ticks != 0) {
                uint64_t rest = step % ticks;
                step = ticks;
                ticks = rest;
            }
        }
    }
    return (double)step > coarse ? (double)step : 0.0;
}

static enum ip_status calibration_take(struct hx_bench *bench, struct hx_samples *samples,
                                       struct ip_error *err) {
    struct hx_job jobs[CALIBRATION_BATCHES];
    for (size_t i = 0; i < CALIBRATION_BATCHES; i++) {
        jobs[i] = (struct hx_job){.kernel = &bench->references.chain, .rounds = CALIBRATION_ROUNDS};
    }
    enum ip_status status = bench->timer.ops->run(&bench->timer, jobs, CALIBRATION_BATCHES, samples, err);
    if (status == IP_OK && bench->recorder != NULL) {
        status = hx_recorder_add(bench->recorder, jobs, samples, CALIBRATION_BATCHES, err);
    }
    if (status != IP_OK) {
        return status;
    }
    bench->references.clock_step = clock_step_of(samples, CALIBRATION_BATCHES, CALIBRATION_ROUNDS);
    double chains[CALIBRATION_BATCHES];
    double sentinels[CALIBRATION_BATCHES];
    size_t grown = 0;
    for (size_t i = 0; i < CALIBRATION_BATCHES; i++) {
        if (samples[i].outcome != HX_OUTCOME_OK) {
            return ip_fail(err, IP_CAPABILITY, "timer %s: the reference chain does not run here: %s",
                           bench->timer.ops->name, samples[i].why);
        }
        struct hx_estimate estimate =
            hx_estimate_batch(NULL, &bench->references, &samples[i], CALIBRATION_ROUNDS);
        /* Where another process took the CPU from it the shorter chain may well be the longer one. */
        bool grows = estimate.ticks_per_cycle > 0.0;
        sentinels[i] = grows ? estimate.sentinel_cycles : INFINITY;
        if (grows) {
            chains[grown++] = estimate.ticks_per_cycle;
        }
    }
    if (2 * grown <= CALIBRATION_BATCHES) {
        return ip_fail(err, IP_CAPABILITY,
                       "timer %s: the time of the reference chain does not grow with its length: this is no "
                       "clock for short kernels, or somebody else holds this CPU; use --timer tsc, and "
                       "leave the machine idle",
                       bench->timer.ops->name);
    }
    const double known = bench->sentinel_suspect ? 0.0 : bench->sentinel_cycles;
    const double known_calibrated = bench->sentinel_calibrated;
    bench->sentinel_cycles = bench->sentinel_calibrated = sentinel_agreed(sentinels);
    bench->ticks_per_cycle = hx_median(chains, grown);
    bench->ticks_least = fmin(bench->ticks_least, bench->ticks_per_cycle);
    bench->chain_spread = (chains[grown - 1] - chains[0]) / bench->ticks_per_cycle;
    bench->sentinel_suspect = sentinel_is_suspect(bench);
    /* A neighbour makes a core look narrower, never wider. */
    if (known > 0.0 && !(bench->sentinel_cycles <= known * (1.0 + SENTINELS_AGREE))) {
        bench->sentinel_cycles = known;
        bench->sentinel_calibrated = known_calibrated;
        bench->sentinel_suspect = false;
    }
    return IP_OK;
}

/* How much longer the call of a kernel is that fills such registers first. */
static enum ip_status call_measure(struct hx_bench *bench, enum hx_call call, struct hx_samples *samples,
                                   struct ip_error *err) {
    const struct gen_kernel *kernel = &bench->references.calls[call];
    struct hx_job jobs[CALIBRATION_BATCHES];
    if (kernel->longer.bytes == NULL || bench->as_recorded || strcmp(bench->timer.ops->unit, "ticks") != 0) {
        return IP_OK;
    }
    bench->references.call_cycles[call] = 0.0; /* of an earlier calibration */
    for (size_t i = 0; i < CALIBRATION_BATCHES; i++) {
        jobs[i] = (struct hx_job){.kernel = kernel, .rounds = CALIBRATION_ROUNDS};
    }
    enum ip_status status = bench->timer.ops->run(&bench->timer, jobs, CALIBRATION_BATCHES, samples, err);
    double extras[CALIBRATION_BATCHES];
    size_t count = 0;
    for (size_t i = 0; i < CALIBRATION_BATCHES && status == IP_OK; i++) {
        if (samples[i].outcome == HX_OUTCOME_OK) {
            struct hx_estimate estimate =
                hx_estimate_batch(kernel, &bench->references, &samples[i], CALIBRATION_ROUNDS);
            /* What the longer run took beyond its copies: one cycle each. */
            double bound = estimate.cycles / (1.0 - estimate.gap);
            extras[count++] = (bound - 1.0) * kernel->longer.copies * samples[i].iterations;
        }
    }
    if (status == IP_OK && count > 0) {
        hx_sort(extras, count);
        double extra = hx_quantile(extras, count, 0.25);
        bench->references.call_cycles[call] = extra > 0.0 ? extra : 0.0;
    }
    return status;
}

/* The least that the sentinel takes in short runs, now or at any time before. */
static enum ip_status floor_find(struct hx_bench *bench, enum hx_sentinel sentinel, struct ip_error *err) {
    double now = NAN;
    enum ip_status status = hx_floor_measure(bench, sentinel, &now, err);
    bench->floor_cycles[sentinel] = fmin(bench->floor_cycles[sentinel], now); /* NaN: nothing was known */
    return status;
}

/* What the NOPs of long runs agree on, put right by short ones. What was `known` before is no less true where
 * those are slower now. */
static enum ip_status nops_settle(struct hx_bench *bench, bool known, struct ip_error *err) {
    if (!bench->watches_memory) {
        return IP_OK;
    }
    enum ip_status status = floor_find(bench, HX_SENTINEL_NOPS, err);
    const double agreed = bench->sentinel_suspect ? NAN : bench->sentinel_cycles;
    double settled = hx_undisturbed_settled(HX_SENTINEL_NOPS, agreed, bench->floor_cycles[HX_SENTINEL_NOPS]);
    if (isnan(settled)) {
        bench->sentinel_suspect = bench->sentinel_suspect || !known;
    } else if (settled != agreed && 1.0 / settled > SUSPECT_WIDTH) {
        bench->sentinel_cycles = bench->sentinel_calibrated = settled;
        bench->sentinel_suspect = false;
    }
    return status;
}

/* How long a sentinel takes undisturbed: the least that was ever found, for a neighbour that loads steadily
 * makes three loads a cycle look like one. Where nothing is found for a while, somebody else loads too, or
 * this core has other limits: NOPs will have to do. */
static enum ip_status beside_measure(struct hx_bench *bench, enum hx_sentinel sentinel,
                                     struct hx_samples *samples, unsigned attempts, struct ip_error *err) {
    struct gen_kernel *kernel = &bench->references.sentinels[sentinel];
    struct hx_job jobs[CALIBRATION_BATCHES];
    double cycles[CALIBRATION_BATCHES];
    const bool loads = sentinel == HX_SENTINEL_LOADS;
    enum ip_status status = loads ? floor_find(bench, sentinel, err) : IP_OK;
    double found = NAN;
    for (size_t i = 0; i < CALIBRATION_BATCHES; i++) {
        jobs[i] = (struct hx_job){.kernel = kernel, .rounds = CALIBRATION_ROUNDS};
    }
    for (unsigned attempt = 0; attempt < attempts && isnan(found) && status == IP_OK; attempt++) {
        if (attempt > 0 && !hx_patience_wait(&bench->patience)) {
            break;
        }
        if (attempt > 0) {
            hx_bench_roam(bench);
            status = sentinel == HX_SENTINEL_FORWARDS ? forwards_vary(bench, attempt, err) : IP_OK;
        }
        if (status == IP_OK) {
            status = bench->timer.ops->run(&bench->timer, jobs, CALIBRATION_BATCHES, samples, err);
        }
        for (size_t i = 0; i < CALIBRATION_BATCHES && status == IP_OK; i++) {
            cycles[i] = INFINITY;
            if (samples[i].outcome == HX_OUTCOME_OK) {
                struct hx_estimate estimate =
                    hx_estimate_batch(kernel, &bench->references, &samples[i], CALIBRATION_ROUNDS);
                bool sound = hx_chain_is_sound(bench, &estimate);
                cycles[i] = sound ? estimate.sentinel_cycles : INFINITY;
            }
        }
        size_t agreeing = loads ? LOADS_AGREEING : FORWARDS_AGREEING;
        if (status == IP_OK) {
            hx_sort(cycles, CALIBRATION_BATCHES);
            double agreed = hx_least_agreed(cycles, CALIBRATION_BATCHES, agreeing, BESIDE_AGREE);
            found = hx_undisturbed_settled(sentinel, agreed, bench->floor_cycles[sentinel]);
        }
    }
    bench->beside_cycles[sentinel] = fmin(bench->beside_cycles[sentinel], found); /* NaN: nothing was known */
    if (status == IP_OK && isnan(bench->beside_cycles[sentinel])) {
        gen_kernel_fini(kernel);
    }
    return status;
}

static bool short_nops_fill(const struct hx_bench *bench) {
    return strcmp(bench->filler, GEN_FILLER_NOP) == 0;
}

/* The sentinel shows who takes issue slots, so that it is made of what takes one: of short NOPs so far. */
static enum ip_status filler_choose(struct hx_bench *bench, struct ip_error *err) {
    enum ip_status status = hx_filler_choose(bench, err);
    if (status == IP_OK && !short_nops_fill(bench)) { /* of which nothing is known yet */
        gen_kernel_fini(&bench->references.sentinels[HX_SENTINEL_NOPS]);
        gen_kernel_fini(&bench->references.sentinels[HX_SENTINEL_LOADS]);
        bench->floor_cycles[HX_SENTINEL_NOPS] = bench->floor_cycles[HX_SENTINEL_LOADS] = NAN;
        bench->sentinel_suspect = true;
        status = filler_build(bench, err);
    }
    return status;
}

/* Whether short NOPs fill after all. */
static enum ip_status filler_look(struct hx_bench *bench, struct ip_error *err) {
    return hx_bench_is_live(bench) && short_nops_fill(bench) ? filler_choose(bench, err) : IP_OK;
}

/* Chain, NOPs and the calls of vector kernels. */
static enum ip_status core_measure(struct hx_bench *bench, struct hx_samples *samples, struct ip_error *err) {
    /* A neighbour may go away: a calibration that looks shared is repeated. */
    const double known_step = bench->references.clock_step;
    const bool known = bench->sentinel_cycles > 0.0 && !bench->sentinel_suspect;
    enum ip_status status = calibration_take(bench, samples, err);
    if (status == IP_OK && bench->references.clock_step > known_step && !bench->as_recorded) {
        status = calibration_take(bench, samples, err); /* now with runs long enough for a coarse clock */
    }
    status = status == IP_OK ? nops_settle(bench, known, err) : status;
    while (status == IP_OK && bench->sentinel_suspect && hx_patience_wait(&bench->patience)) {
        hx_bench_roam(bench);
        status = filler_look(bench, err);
        status = status == IP_OK ? calibration_take(bench, samples, err) : status;
        status = status == IP_OK ? nops_settle(bench, known, err) : status;
    }
    for (unsigned call = 0; call < HX_CALLS && status == IP_OK; call++) {
        status = call_measure(bench, (enum hx_call)call, samples, err);
    }
    return status;
}

/* What runs beside kernels in place of NOPs, where that is wanted; with `core`, all else before it. */
static enum ip_status calibrate(struct hx_bench *bench, bool core, unsigned attempts, struct ip_error *err) {
    struct hx_samples samples[CALIBRATION_BATCHES];
    double *values =
        calloc((size_t)CALIBRATION_BATCHES * HX_SAMPLE_ROWS * CALIBRATION_ROUNDS, sizeof *values);
    if (values == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the calibration");
    }
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < CALIBRATION_BATCHES; i++) {
        hx_samples_place(&samples[i], values + i * HX_SAMPLE_ROWS * CALIBRATION_ROUNDS, CALIBRATION_ROUNDS);
    }
    enum ip_status status = core ? core_measure(bench, samples, err) : IP_OK;
    if (status == IP_OK && bench->watches_memory) {
        status = sentinels_build(bench, err);
    }
    for (size_t i = HX_SENTINEL_NOPS + 1; i < HX_SENTINELS && status == IP_OK && bench->watches_memory; i++) {
        bool known = isfinite(bench->beside_cycles[i]);
        status = beside_measure(bench, (enum hx_sentinel)i, samples, known ? 1 : attempts, err);
    }
    free(values);
    return status;
}

/* On the other CPU, too: a neighbour may be steady enough to make a core of six issues look like one of four,
 * but hardly so on two. Stays where it is the better. */
static enum ip_status calibrate_elsewhere(struct hx_bench *bench, struct ip_error *err) {
    double first = bench->sentinel_suspect ? INFINITY : bench->sentinel_calibrated;
    hx_bench_roam(bench);
    enum ip_status status = calibrate(bench, true, BESIDE_ATTEMPTS_MORE, err);
    if (status == IP_OK && bench->sentinel_calibrated == first) { /* nothing better was found */
        hx_bench_roam(bench);
    }
    return status;
}

/* Beside a neighbour who stays short NOPs come as fast as longer ones: at other times and in other places
 * they may not. */
static enum ip_status filler_find(struct hx_bench *bench, struct ip_error *err) {
    enum ip_status status = filler_choose(bench, err);
    for (unsigned again = 0; again < FILLER_LOOKS && status == IP_OK && bench->roams &&
                             short_nops_fill(bench) && hx_patience_wait(&bench->patience);
         again++) {
        hx_bench_roam(bench);
        status = filler_choose(bench, err);
    }
    return status;
}

/* Beside a neighbour who stayed all the time short NOPs came as fast as long ones. When he has gone they come
 * faster than they did then, or at a rate that is no issue width. */
static enum ip_status filler_confirm(struct hx_bench *bench, struct ip_error *err) {
    static const double clearly = 0.95;
    const bool short_ones = short_nops_fill(bench);
    if (!bench->sentinel_suspect && !(bench->sentinel_calibrated < clearly * bench->nop_cycles)) {
        return IP_OK;
    }
    enum ip_status status = filler_look(bench, err);
    return status == IP_OK && short_nops_fill(bench) != short_ones
               ? calibrate(bench, true, BESIDE_ATTEMPTS_MORE, err)
               : status;
}

enum ip_status hx_bench_recalibrate(struct hx_bench *bench, struct ip_error *err) {
    bool core = bench->sentinel_suspect || hx_bench_is_live(bench);
    enum ip_status status = calibrate(bench, core, BESIDE_ATTEMPTS_MORE, err);
    return status == IP_OK ? filler_confirm(bench, err) : status;
}

enum ip_status hx_bench_open(struct hx_bench *bench, const struct hx_bench_options *options,
                             struct ip_error *err) {
    struct hx_bench opened;
    memset(&opened, 0, sizeof opened);
    hx_plan_init(&opened.plan);
    opened.opened_s = ip_clock_seconds();
    enum ip_status status = references_build(&opened, err);
    if (status == IP_OK) {
        status = hx_timer_open(&opened.timer, options->timer != NULL ? options->timer : "tsc", NULL,
                               options->cpu, err);
    }
    if (status == IP_OK && opened.timer.ops->on_silicon && !options->no_companion) {
        hx_companion_start(&opened.companion, hx_companion_cpu("", opened.timer.cpu));
        opened.roams = opened.companion.pid > 0 && options->cpu < 0 && options->record_path == NULL;
    }
    if (status == IP_OK) {
        opened.as_recorded = options->record_path != NULL || opened.timer.ops->replays;
        /* Who replays a record has NOPs only. */
        opened.watches_memory = hx_bench_is_live(&opened) && strcmp(opened.timer.ops->unit, "ticks") == 0;
    }
    if (status == IP_OK && options->record_path != NULL) {
        status = hx_recorder_open(&opened.recorder, options->record_path, opened.timer.ops->on_silicon,
                                  opened.timer.vendor, options->record_machine, err);
    }
    if (status == IP_OK) {
        /* The timer borrows the references where they will live from now on. */
        *bench = opened;
        bench->timer.references = &bench->references;
        bench->timer.stop = options->stop;
        if (bench->timer.ops->on_silicon || bench->timer.replays_silicon) {
            hx_patience_init(&bench->patience, bench->timer.ops->on_silicon);
        }
        for (size_t i = 0; i < HX_SENTINELS; i++) {
            bench->beside_cycles[i] = bench->floor_cycles[i] = NAN;
        }
        bench->ticks_least = NAN;
        status = filler_find(bench, err);
        status = status == IP_OK ? calibrate(bench, true, BESIDE_ATTEMPTS, err) : status;
        if (status == IP_OK && bench->roams) {
            status = calibrate_elsewhere(bench, err);
        }
        status = status == IP_OK ? filler_confirm(bench, err) : status;
        opened = *bench;
    }
    if (status != IP_OK) {
        hx_bench_close(&opened);
        memset(bench, 0, sizeof *bench);
    }
    return status;
}

enum ip_status hx_bench_finish(struct hx_bench *bench, struct ip_error *err) {
    if (bench->recorder == NULL) {
        return IP_OK;
    }
    struct hx_recorder *recorder = bench->recorder;
    bench->recorder = NULL;
    return hx_recorder_close(recorder, err);
}

void hx_bench_close(struct hx_bench *bench) {
    struct ip_error ignored; /* who wants to know calls hx_bench_finish first */
    (void)!hx_bench_finish(bench, &ignored);
    hx_holding_end(&bench->holding, &bench->timer);
    hx_companion_stop(&bench->companion);
    hx_timer_close(&bench->timer);
    gen_kernel_fini(&bench->references.chain);
    for (size_t i = 0; i < HX_SENTINELS; i++) {
        gen_kernel_fini(&bench->references.sentinels[i]);
    }
    for (unsigned call = 0; call < HX_CALLS; call++) {
        gen_kernel_fini(&bench->references.calls[call]);
    }
    gen_encoder_fini(&bench->encoder);
    memset(bench, 0, sizeof *bench);
}
