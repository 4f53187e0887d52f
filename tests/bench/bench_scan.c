/* SPDX-License-Identifier: Apache-2.0 */
/* What `isaprobe scan` takes, and where: a seeded sample of all forms of the built-in tables in latency,
 * throughput and issue slots, with the plan of a scan, in three sizes; and two single readings of it against
 * each other. A scan stores the middle of several: tests/bench/scans.sh. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "probe/latency.h"
#include "probe/slots.h"
#include "probe/throughput.h"
#include "probe/transfer.h"
#include "tests/bench/bench.h"

enum { GROUP = 512 /* as a scan has them */, WORST_MAX = 30 };

struct facts {
    struct probe_latency latency;
    struct probe_throughput throughput;
    struct probe_slots slots;
};

/* Where the time of a scan went, and what came of it. */
struct scan_run {
    struct facts *facts; /* owned; of each form */
    size_t count;
    double seconds;        /* in all */
    double meter_seconds;  /* from kernels to statistics */
    double build_seconds;  /* of CPU time of this process outside of the meter */
    double kernel_seconds; /* in the kernels themselves, references included */
    double waited_seconds; /* for neighbours to go away */
    size_t kernels;        /* runs of a kernel in a batch or look */
};

/* All forms that can be measured, derived, in a seeded order: the first of them are a sample. */
static struct isa_form **forms_shuffle(struct tool *tool, uint64_t seed, size_t *count) {
    struct ip_error err = {0};
    struct isa_form **forms = tool_alloc(tool, tool->table.count, sizeof(struct isa_form *));
    for (size_t i = 0; i < tool->table.count; i++) {
        forms[i] = &tool->table.forms[i];
    }
    double begin = ip_clock_seconds();
    tool_must(tool, isa_forms_derive(forms, tool->table.count, &err), &err);
    (void)printf("%-44s %.2f s for all %zu forms\n", "deriving operands (NASM, Zydis)",
                 ip_clock_seconds() - begin, tool->table.count);
    *count = 0;
    for (size_t i = 0; i < tool->table.count; i++) {
        if (forms[i]->obstacle == ISA_OBSTACLE_NONE) {
            forms[(*count)++] = forms[i];
        }
    }
    bench_forms_shuffle(forms, *count, *count, seed);
    return forms;
}

static void group_measure(struct tool *tool, const struct hx_meter *meter, struct gen_encoder *encoder,
                          struct probe_transfers *transfers, struct isa_form *const *forms, size_t count,
                          struct facts *facts) {
    struct ip_error err = {0};
    struct probe_throughput throughput[GROUP];
    struct probe_slots slots[GROUP];
    struct probe_latency latency[GROUP];
    tool_must(tool, probe_throughput_measure(meter, encoder, forms, count, throughput, &err), &err);
    tool_must(tool, probe_slots_measure(meter, encoder, forms, throughput, count, slots, &err), &err);
    tool_must(tool, probe_latency_measure_with(meter, encoder, transfers, forms, NULL, count, latency, &err),
              &err);
    for (size_t i = 0; i < count; i++) {
        facts[i] = (struct facts){latency[i], throughput[i], slots[i]};
    }
}

static void scan_run(struct tool *tool, struct gen_encoder *encoder, struct isa_form *const *forms,
                     size_t count, struct scan_run *run) {
    struct ip_error err = {0};
    struct bench_timed timed = {.inner = &tool->meter};
    const struct hx_meter meter = bench_timed_meter(&timed);
    struct probe_transfers transfers = {0};
    const struct hx_plan full = tool->bench.plan;
    *run = (struct scan_run){.count = count, .facts = tool_alloc(tool, count, sizeof *run->facts)};
    double begin = ip_clock_seconds(), ticks = tool->bench.run_ticks, cpu = bench_cpu_seconds();
    size_t kernels = tool->bench.kernels_run;
    uint32_t waited_ms = tool->bench.patience.waited_ms;
    tool_must(tool, probe_transfers_init(&transfers, &tool->table, &err), &err);
    probe_transfers_need_all(&transfers);
    tool_must(tool, probe_transfers_calibrate(&transfers, &meter, encoder, &err), &err);
    hx_plan_quicken(&tool->bench.plan, true);
    for (size_t at = 0; at < count; at += GROUP) {
        size_t some = count - at < GROUP ? count - at : GROUP;
        group_measure(tool, &meter, encoder, &transfers, forms + at, some, run->facts + at);
    }
    tool->bench.plan = full;
    probe_transfers_fini(&transfers);
    run->seconds = ip_clock_seconds() - begin;
    run->meter_seconds = timed.seconds;
    run->build_seconds = bench_cpu_seconds() - cpu - timed.cpu_seconds;
    run->kernel_seconds =
        tool->host.tsc_hz != 0 ? (tool->bench.run_ticks - ticks) / (double)tool->host.tsc_hz : 0.0;
    run->kernels = tool->bench.kernels_run - kernels;
    run->waited_seconds = 1e-3 * (tool->bench.patience.waited_ms - waited_ms);
}

static void scan_run_fini(struct scan_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        probe_latency_fini(&run->facts[i].latency);
    }
    free(run->facts);
}

/* What two runs say about one form. */
enum verdict { VERDICT_NOTHING, VERDICT_DOUBTFUL, VERDICT_SAME, VERDICT_OTHER };

static bool is_doubtful(enum hx_verdict verdict) {
    return verdict == HX_VERDICT_UNSTABLE || verdict == HX_VERDICT_DISTURBED;
}

/* The same after rounding: a latency to whole cycles, a throughput within 5 % or 0.02 cycle. On the edge of
 * rounding 1 % decides. */
static bool same_latency(double a, double b) {
    return lround(a) == lround(b) || fabs(a - b) <= 0.01 * fmax(fabs(a), fabs(b));
}

static bool same_throughput(double a, double b) {
    return fabs(a - b) <= fmax(0.05 * fmin(a, b), 0.02);
}

static enum verdict facts_compare(const struct facts *a, const struct facts *b, char *what, size_t size) {
    bool any = false;
    if (is_doubtful(a->throughput.verdict) || is_doubtful(b->throughput.verdict)) {
        return VERDICT_DOUBTFUL;
    }
    if (a->throughput.measured && b->throughput.measured) {
        any = true;
        if (!same_throughput(a->throughput.cycles, b->throughput.cycles)) {
            (void)snprintf(what, size, "throughput %.3f, %.3f", a->throughput.cycles, b->throughput.cycles);
            return VERDICT_OTHER;
        }
    }
    for (size_t i = 0; i < a->latency.count && i < b->latency.count; i++) {
        const struct probe_latency_pair *x = &a->latency.pairs[i], *y = &b->latency.pairs[i];
        if (is_doubtful(x->verdict) || is_doubtful(y->verdict)) {
            return VERDICT_DOUBTFUL;
        }
        if (x->measured && y->measured) {
            any = true;
            if (!same_latency(x->cycles, y->cycles)) {
                (void)snprintf(what, size, "latency %d -> %d %.3f, %.3f", x->src + 1, x->dst + 1, x->cycles,
                               y->cycles);
                return VERDICT_OTHER;
            }
        }
    }
    return any ? VERDICT_SAME : VERDICT_NOTHING;
}

static void agreement_print(struct isa_form *const *forms, const struct scan_run *a,
                            const struct scan_run *b) {
    size_t counts[4] = {0}, printed = 0;
    for (size_t i = 0; i < a->count; i++) {
        char what[64] = "";
        enum verdict verdict = facts_compare(&a->facts[i], &b->facts[i], what, sizeof what);
        counts[verdict]++;
        if (verdict == VERDICT_OTHER && printed++ < WORST_MAX) {
            (void)printf("  differs: %-40s %s\n", forms[i]->syntax, what);
        }
    }
    size_t compared = counts[VERDICT_SAME] + counts[VERDICT_OTHER];
    (void)printf("%-44s %zu of %zu, %.2f %% (make bench-scans: what scans store of several)\n",
                 "two readings: the same rounded values", counts[VERDICT_SAME], compared,
                 compared != 0 ? 100.0 * (double)counts[VERDICT_SAME] / (double)compared : 0.0);
    (void)printf("%-44s %zu; without a number %zu\n", "not to be trusted in one of them",
                 counts[VERDICT_DOUBTFUL], counts[VERDICT_NOTHING]);
}

static double memory_mib(void) {
    struct rusage self = {0}, children = {0};
    (void)getrusage(RUSAGE_SELF, &self);
    (void)getrusage(RUSAGE_CHILDREN, &children);
    return (double)(self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss : children.ru_maxrss) / 1024.0;
}

static void run_print(const struct scan_run *run, size_t all) {
    double projected = run->seconds * (double)all / (double)run->count;
    (void)printf("%6zu forms  %7.2f s  %6.2f ms a form  %6.0f kernels a second  all %zu: %.0f s\n",
                 run->count, run->seconds, 1e3 * run->seconds / (double)run->count,
                 (double)run->kernels / run->seconds, all, projected);
}

void bench_scan(struct tool *tool, const struct bench_options *options) {
    static const double shares[] = {0.1, 0.5, 1.0};
    enum { SHARES = sizeof shares / sizeof shares[0] };
    (void)printf("\n## A scan: latency, throughput, issue slots (seed %llu)\n",
                 (unsigned long long)options->seed);
    size_t all = 0;
    struct isa_form **forms = forms_shuffle(tool, options->seed, &all);
    size_t sample = options->forms < all ? options->forms : all;
    struct scan_run runs[SHARES] = {{0}}, again = {0};
    struct gen_encoder encoder = {0};
    for (size_t i = 0; i < SHARES; i++) {
        gen_encoder_fini(&encoder); /* each size encodes for itself */
        scan_run(tool, &encoder, forms, (size_t)ceil(shares[i] * (double)sample), &runs[i]);
        run_print(&runs[i], all);
    }
    const struct scan_run *first = &runs[SHARES - 1];
    gen_encoder_fini(&encoder);
    scan_run(tool, &encoder, forms, sample, &again);
    double total = first->seconds, building = first->build_seconds;
    double encoding = total - first->meter_seconds - building; /* this process waits for NASM alone */
    (void)printf("%-44s %.2f s (%.0f %%)\n", "encoding with NASM", encoding, 100.0 * encoding / total);
    (void)printf("%-44s %.2f s (%.0f %%)\n", "building kernels and inferring", building,
                 100.0 * building / total);
    (void)printf(
        "%-44s %.2f s (%.0f %%), of which in kernels and references %.2f s, waiting for neighbours %.2f s\n",
        "measuring", first->meter_seconds, 100.0 * first->meter_seconds / total, first->kernel_seconds,
        first->waited_seconds);
    (void)printf("%-44s %.2f (aim: below 2)\n", "wall time to the kernels' own",
                 total / first->kernel_seconds);
    (void)printf("%-44s %.0f MiB (aim: below 477)\n", "peak memory, this process or NASM", memory_mib());
    agreement_print(forms, first, &again);
    for (size_t i = 0; i < SHARES; i++) {
        scan_run_fini(&runs[i]);
    }
    scan_run_fini(&again);
    gen_encoder_fini(&encoder);
    free(forms);
}
