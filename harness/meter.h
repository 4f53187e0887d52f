/* SPDX-License-Identifier: Apache-2.0 */
/* harness/meter.h - kernels to statistics in core cycles, or a reason why not.
 *
 * Ticks become cycles through the bracketing chain of dependent `add r, r` (one cycle each); overhead goes by
 * differencing two lengths; a NOP sentinel beside every sample detects a neighbour on the same core. Samples
 * are repeated until stable. See docs/method.md. */
#ifndef ISAPROBE_HARNESS_METER_H
#define ISAPROBE_HARNESS_METER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/companion.h"
#include "harness/patience.h"
#include "harness/ruler.h"
#include "harness/timer.h"

enum hx_verdict {
    HX_VERDICT_OK,
    HX_VERDICT_UNSTABLE,  /* the batches disagree by more than the plan allows */
    HX_VERDICT_DISTURBED, /* the sentinel stayed off: something else used this core */
    HX_VERDICT_FAULT,     /* the kernel did not run: see `outcome` and `why` */
};

/* Was it measured, and not to be trusted? Another look may tell more. */
static inline bool hx_verdict_is_noise(enum hx_verdict verdict) {
    return verdict == HX_VERDICT_UNSTABLE || verdict == HX_VERDICT_DISTURBED;
}

struct hx_stat {
    enum hx_verdict verdict;
    enum hx_outcome outcome;
    double cycles; /* median of the batches, core cycles per form (kernel's forms_per_unit); NaN on a fault */
    double spread; /* (highest - lowest batch of the accepted ones) / median, or absolute when the median is
                      below 0.05 cycle */
    double low, high;       /* lowest and highest accepted batch */
    double ticks_per_cycle; /* of the bracketing chain */
    double sentinel_cycles; /* cycles of one filler beside it */
    uint32_t batches, retakes;
    bool screened;        /* one cheap look (hx_screen), no measurement: good for comparing only */
    uint64_t kernel_hash; /* names the kernel in an evidence log (results/evidence.h); 0: none was kept */
    char why[128];        /* "" when OK */
};

/* How carefully to measure. */
struct hx_plan {
    uint32_t rounds;      /* samples of each length in a batch; default 11, at most 256 */
    uint32_t passes;      /* complete measurements, each in processes of its own; default 2 */
    uint32_t min_batches; /* of a pass; default 3 */
    uint32_t max_batches; /* of a pass, retakes included; default 24, those accepted beyond 64 do not count */
    double spread_limit;  /* accept when (high-low)/median of min_batches batches is below; default 0.006 */
    double trust_limit;   /* report as unstable above; default 0.03 */
    double block_trust_limit; /* the same for a block with pages on demand, which may have modes of its own;
                                 default 0.10 (Putigny 2014: no value with more than 10 %) */
    uint32_t target_cycles;   /* length of the long run and of the chain's; default 12000 */
    uint32_t reference_every; /* chain and sentinel in every so many rounds; default 1 */
    uint32_t retakes;         /* rounds more of a batch whose samples are not alike; default 0 */
    uint32_t iterations;      /* fixed number of iterations, 0: from target_cycles */
    bool keep_process; /* all batches of a pass in one process: quicker, but a mode in which code runs for a
                          whole process is not seen; default false: each batch in one of its own */
};
void hx_plan_init(struct hx_plan *plan); /* the defaults */
/* For thousands of forms: shorter samples, the chain once in a batch, and a looser demand. With
 * `first` few attempts too: noise comes and goes, and what it spoiled is measured once more when the rest is
 * done. */
void hx_plan_quicken(struct hx_plan *plan, bool first);

/* What probe/ sees: a function from kernels to statistics. stats[i] belongs to kernels[i]; after an error
 * they are unspecified. Kernel pointers may be NULL: the statistic is then a fault with why "no kernel". */
struct hx_meter {
    enum ip_status (*measure)(void *self, const struct gen_kernel *const *kernels, size_t count,
                              struct hx_stat *stats, struct ip_error *err);
    void *self;
    /* NULL: this meter cannot look cheaply. */
    enum ip_status (*screen)(void *self, const struct gen_kernel *const *kernels, size_t count,
                             struct hx_stat *stats, struct ip_error *err);
    /* Until release, only these kernels (NULL ones apart) are looked at and measured, some of them several
     * times: what they need is prepared once. NULL: nothing to prepare. */
    enum ip_status (*hold)(void *self, const struct gen_kernel *const *kernels, size_t count,
                           struct ip_error *err);
    void (*release)(
        void *self); /* NULL where hold is; after a failed hold too, or without one, it does nothing */
    double (*seconds)(const void *self); /* NULL: those of `before`, see hx_seconds */
    const struct hx_meter *before;       /* borrowed; NULL: it stands before none */
    const char *filler; /* NASM text, the bench's: what takes an issue slot here and nothing else; NULL:
                           GEN_FILLER_NOP */
};

/* A meter that stands before `inner`, which must outlive it, and has its own state: without functions yet,
 * with all that is true of the machine whoever asks, and with its seconds. */
struct hx_meter hx_meter_before(const struct hx_meter *inner, void *self);

struct hx_held; /* harness/holding.h */

/* The kernels that the timer holds; all-zero: none. */
struct hx_holding {
    struct hx_held *items; /* owned; sorted by kernel */
    size_t count;
};

enum { HX_FILLER_BYTES = 32 };

/* Of the last batches: beside how many a sentinel took so much less than was thought to be undisturbed. */
struct hx_better {
    double cycles;
    uint32_t witnesses, seen;
};

/* The meter over a timer. */
struct hx_bench {
    struct hx_timer timer;
    struct hx_plan plan;
    struct hx_references references;
    struct gen_encoder encoder;
    struct hx_companion companion; /* beside a timer that runs on the silicon */
    bool roams;                    /* may change places with the companion (harness/roam.h) */
    struct hx_patience patience;   /* none where nothing runs on the silicon */
    struct hx_recorder *recorder;  /* owned; NULL: samples are not recorded */
    bool as_recorded; /* samples are recorded, or were: nothing that is not in them decides what is run, for
                         the same is to be run again */
    char filler[HX_FILLER_BYTES]; /* harness/filler.h */
    double nop_cycles; /* of a short NOP, the least that was seen when the filler was chosen; NaN: none */
    double sentinel_cycles;     /* of one filler, undisturbed: 1 / issue width */
    double sentinel_calibrated; /* the same, as it was measured */
    /* Of one run of each other sentinel, undisturbed: 1 / loads a cycle, a whole number for a round through
     * memory; NaN: NOPs stand for it. */
    double beside_cycles[HX_SENTINELS];
    double floor_cycles[HX_SENTINELS];     /* the least in short runs (harness/floor.h); NaN: not known */
    struct hx_better better[HX_SENTINELS]; /* harness/undisturbed.h */
    bool watches_memory;                   /* sentinels other than NOPs are wanted */
    bool sentinel_suspect; /* no issue width was found: the core was shared from the start, nothing is
                              accepted */
    struct hx_ruler ruler;
    double ticks_per_cycle; /* of the last calibration */
    double ticks_least;     /* of all calibrations */
    double chain_spread; /* of the calibration: (highest - lowest) / median of its batches' ticks per cycle */
    uint64_t kernels_run;
    double opened_s; /* on the clock of common/clock.h */
    struct hx_holding holding;
    double run_ticks; /* of all their samples, those of the references too */
};

struct hx_recorder; /* harness/record.h */

/* On the silicon, and nobody is to run the same again: time, and where the process is, may decide. */
static inline bool hx_bench_is_live(const struct hx_bench *bench) {
    return bench->timer.ops->on_silicon && !bench->as_recorded;
}

struct hx_bench_options {
    const char *timer;                 /* "tsc" when NULL */
    int cpu;                           /* -1: choose */
    bool no_companion;                 /* leave the other thread of the core alone */
    const char *record_path;           /* write every sample there, for replay; NULL: no */
    const char *record_machine;        /* ... and whose they are, in one line; NULL: not known */
    const volatile sig_atomic_t *stop; /* set by a signal handler; NULL: none */
};

/* Opens and validates: the chain must be stable, the sentinel must be at its best. IP_CAPABILITY, IP_IO,
 * IP_SYNTAX as the timer says. */
IP_CHECK enum ip_status hx_bench_open(struct hx_bench *bench, const struct hx_bench_options *options,
                                      struct ip_error *err);
void hx_bench_close(struct hx_bench *bench);
/* Looks again what undisturbed is like: long work may have begun at a bad moment. On the silicon
 * sentinel_cycles and beside_cycles may fall, and never rise, for a neighbour makes a core look narrower;
 * elsewhere NOPs are looked at where nothing could be accepted so far (sentinel_suspect). Where short NOPs
 * then come faster than when they were chosen to fill, or at no width, that is looked at again, too: the
 * meters of `bench` have what takes a slot from then on. Not between hx_hold and hx_release. */
IP_CHECK enum ip_status hx_bench_recalibrate(struct hx_bench *bench, struct ip_error *err);
/* Ends the recording, if there is one: IP_IO when the samples could not all be written. Call before
 * hx_bench_close. */
IP_CHECK enum ip_status hx_bench_finish(struct hx_bench *bench, struct ip_error *err);
/* The meter of `bench`, which it borrows. */
struct hx_meter hx_bench_meter(struct hx_bench *bench);

IP_CHECK enum ip_status hx_measure(const struct hx_meter *meter, const struct gen_kernel *const *kernels,
                                   size_t count, struct hx_stat *stats, struct ip_error *err);

/* One cheap look at each kernel, a tenth of a measurement or less: enough to see which of many deserve one. A
 * fault is final. Else `screened` is set, and the verdict says whether the look was disturbed. Measures where
 * the meter knows nothing cheaper. */
IP_CHECK enum ip_status hx_screen(const struct hx_meter *meter, const struct gen_kernel *const *kernels,
                                  size_t count, struct hx_stat *stats, struct ip_error *err);

/* Says which kernels the next calls take (hx_meter.hold), and that they are over. */
IP_CHECK enum ip_status hx_hold(const struct hx_meter *meter, const struct gen_kernel *const *kernels,
                                size_t count, struct ip_error *err);
void hx_release(const struct hx_meter *meter);

/* Seconds since the meter was opened, for whoever must not go on for ever beside a neighbour. None on a
 * simulated CPU: what is found there never hangs on how fast this one is. */
double hx_seconds(const struct hx_meter *meter);

#endif
