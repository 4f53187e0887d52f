/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "harness/sim_noise.h"
#include "harness/sim_program.h"

/* How long the long run takes where the job does not say. */
#define TARGET_CYCLES  6000.0
#define ITERATIONS_MAX 1000000.0

/* What a piece of code costs, alone and beside a neighbour. */
struct cost_entry {
    uint64_t hash; /* of the code; 0: empty */
    bool known[2];
    struct hx_sim_cost cost[2];
    struct hx_sim_verdict verdict;
};

struct sim {
    struct hx_sim_description description;
    struct hx_sim_noise noise;
    struct hx_sim_ops ops;
    struct cost_entry *costs; /* owned; open addressing */
    size_t costs_count, costs_size;
};

static void sim_close(struct hx_timer *timer) {
    struct sim *sim = timer->state;
    if (sim != NULL) {
        hx_sim_description_fini(&sim->description);
        hx_sim_ops_fini(&sim->ops);
        free(sim->costs);
        free(sim);
        timer->state = NULL;
    }
}

/* "FILE#p1": the uops of a port are counted instead of time. Appends FILE; returns "1", or NULL: time. */
static const char *event_split(const char *argument, struct ip_text *path) {
    const char *mark = strrchr(argument, '#');
    bool event = mark != NULL && mark[1] == 'p' && mark[2] != '\0' && mark[3] == '\0';
    ip_text_append_bytes(path, argument, event ? (size_t)(mark - argument) : strlen(argument));
    return event ? mark + 2 : NULL;
}

static enum ip_status event_choose(struct hx_sim_description *description, const char *port,
                                   struct ip_error *err) {
    const char *at = strchr(description->ports, *port);
    if (!description->port_counters || at == NULL) {
        return ip_fail(err, IP_CAPABILITY, "timer sim: this CPU does not count the uops of port %s", port);
    }
    description->counted_ports = 1u << (at - description->ports);
    return IP_OK;
}

static enum ip_status sim_open(struct hx_timer *timer, const char *argument, struct ip_error *err) {
    if (argument[0] == '\0') {
        return ip_fail(err, IP_USAGE, "timer sim: name the description of the CPU, as in sim:FILE");
    }
    struct sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the simulated CPU");
    }
    struct ip_text path = {0};
    const char *event = event_split(argument, &path);
    enum ip_status status = path.failed
                                ? ip_fail(err, IP_NO_MEMORY, "no memory for the simulated CPU")
                                : hx_sim_description_read(&sim->description, ip_text_string(&path), err);
    ip_text_fini(&path);
    if (status == IP_OK && event != NULL) {
        status = event_choose(&sim->description, event, err);
        if (status != IP_OK) {
            hx_sim_description_fini(&sim->description);
        }
    }
    if (status != IP_OK) {
        free(sim);
        return status;
    }
    hx_sim_noise_init(&sim->noise, &sim->description);
    timer->state = sim;
    return IP_OK;
}

static struct cost_entry *cost_slot(struct cost_entry *costs, size_t size, uint64_t hash) {
    size_t slot = (size_t)(hash >> 16) & (size - 1);
    while (costs[slot].hash != 0 && costs[slot].hash != hash) {
        slot = (slot + 1) & (size - 1);
    }
    return &costs[slot];
}

static bool costs_reserve(struct sim *sim) {
    if (2 * (sim->costs_count + 1) <= sim->costs_size) {
        return true;
    }
    size_t size = sim->costs_size != 0 ? sim->costs_size * 2 : 256;
    struct cost_entry *costs = calloc(size, sizeof *costs);
    if (costs == NULL) {
        return false;
    }
    for (size_t i = 0; i < sim->costs_size; i++) {
        if (sim->costs[i].hash != 0) {
            *cost_slot(costs, size, sim->costs[i].hash) = sim->costs[i];
        }
    }
    free(sim->costs);
    sim->costs = costs;
    sim->costs_size = size;
    return true;
}

/* The widths that are left to this thread. */
static struct hx_sim_widths widths(const struct hx_sim_description *d, bool neighbour) {
    double share = neighbour ? d->neighbour_share : 1;
    double issue = floor(d->issue_width * share + 0.5), retire = floor(d->retire_width * share + 0.5);
    return (struct hx_sim_widths){.issue = issue < 1 ? 1 : (unsigned)issue,
                                  .retire = retire < 1 ? 1 : (unsigned)retire};
}

/* One length of a kernel: its code is hashed once, not for every run. */
struct runnable {
    const struct gen_code *code;
    uint64_t hash;
    bool known[2]; /* cost[neighbour] is */
    struct hx_sim_cost cost[2];
};

static struct runnable runnable_make(const struct gen_code *code) {
    uint64_t hash = code->length;
    for (size_t at = 0; at < code->length; at += sizeof hash) {
        uint64_t word = 0;
        size_t left = code->length - at;
        memcpy(&word, code->bytes + at, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (struct runnable){.code = code, .hash = hash | 1};
}

/* Fills the cost of the code (alone or beside the neighbour) or the reason why it does not run. */
static enum ip_status cost_get(struct sim *sim, struct runnable *runnable, bool neighbour,
                               struct hx_sim_verdict *verdict, struct ip_error *err) {
    if (!costs_reserve(sim)) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the simulated CPU's results");
    }
    struct cost_entry *entry = cost_slot(sim->costs, sim->costs_size, runnable->hash);
    if (entry->hash == 0 || (!entry->known[neighbour] && entry->verdict.outcome == HX_OUTCOME_OK)) {
        struct hx_sim_program program = {0};
        struct hx_sim_verdict found;
        struct hx_sim_cost cost = {0};
        enum ip_status status =
            hx_sim_program_build(&program, &sim->ops, &sim->description, runnable->code->bytes,
                                 runnable->code->length, &found, err);
        if (status == IP_OK && found.outcome == HX_OUTCOME_OK) {
            program.hash = runnable->hash;
            status = hx_sim_core_run(&sim->description, &program, widths(&sim->description, neighbour), &cost,
                                     err);
        }
        hx_sim_program_fini(&program);
        if (status != IP_OK) {
            return status;
        }
        sim->costs_count += entry->hash == 0;
        entry->hash = runnable->hash;
        entry->verdict = found;
        entry->cost[neighbour] = cost;
        entry->known[neighbour] = true;
    }
    *verdict = entry->verdict;
    runnable->cost[neighbour] = entry->cost[neighbour];
    runnable->known[neighbour] = true;
    return IP_OK;
}

/* One run of one length of a kernel. */
static enum ip_status sample(struct sim *sim, struct runnable *runnable, uint32_t iterations, double *ticks,
                             struct ip_error *err) {
    bool neighbour = hx_sim_noise_neighbour(&sim->noise, &sim->description);
    if (!runnable->known[neighbour]) {
        struct hx_sim_verdict ignored; /* it runs alone, so it runs */
        enum ip_status status = cost_get(sim, runnable, neighbour, &ignored, err);
        if (status != IP_OK) {
            return status;
        }
    }
    const struct hx_sim_cost *cost = &runnable->cost[neighbour];
    double called = gen_code_iterations(runnable->code, iterations);
    if (sim->description.counted_ports != 0) {
        *ticks = called * cost->uops_per_iteration;
        return IP_OK;
    }
    *ticks = hx_sim_noise_ticks(&sim->noise, &sim->description,
                                cost->fixed_cycles + called * cost->cycles_per_iteration);
    return IP_OK;
}

/* Whether both lengths run, and how many iterations the kernel gets. */
static enum ip_status kernel_prepare(struct sim *sim, struct runnable lengths[2], uint32_t asked,
                                     double target, uint32_t *iterations, struct hx_sim_verdict *verdict,
                                     struct ip_error *err) {
    double per_iteration = 0;
    for (int i = 0; i < 2; i++) {
        enum ip_status status = cost_get(sim, &lengths[i], false, verdict, err);
        if (status != IP_OK || verdict->outcome != HX_OUTCOME_OK) {
            return status;
        }
        per_iteration = fmax(per_iteration, lengths[i].cost[0].cycles_per_iteration);
    }
    double chosen = per_iteration > 0 ? ceil(target / per_iteration) : 1;
    *iterations = asked != 0 ? asked : (uint32_t)fmin(chosen, ITERATIONS_MAX);
    return IP_OK;
}

static enum ip_status job_run(struct sim *sim, const struct hx_references *references,
                              const struct hx_job *job, struct hx_samples *out, struct ip_error *err) {
    const struct gen_kernel *kernels[3] = {&references->sentinels[HX_SENTINEL_NOPS], &references->chain,
                                           job->kernel};
    const char *const names[3] = {"NOP sentinel: ", "calibration chain: ", ""};
    uint32_t *const iterations[3] = {&out->sentinel_iterations, &out->reference_iterations, &out->iterations};
    double *const shorter[3] = {out->sentinel_shorter, out->reference_shorter, out->shorter};
    double *const longer[3] = {out->sentinel_longer, out->reference_longer, out->longer};
    double target = job->target_cycles != 0 ? job->target_cycles : TARGET_CYCLES;
    struct runnable lengths[3][2];
    out->outcome = HX_OUTCOME_OK;
    out->fault_address = 0;
    out->why[0] = '\0';
    for (int k = 0; k < 3; k++) {
        struct hx_sim_verdict verdict = {0};
        uint32_t asked = k == 2 ? job->iterations : 0;
        lengths[k][0] = runnable_make(&kernels[k]->shorter);
        lengths[k][1] = runnable_make(&kernels[k]->longer);
        enum ip_status status = kernel_prepare(sim, lengths[k], asked, target, iterations[k], &verdict, err);
        if (status != IP_OK) {
            return status;
        }
        if (verdict.outcome != HX_OUTCOME_OK) {
            out->outcome = verdict.outcome;
            snprintf(out->why, sizeof out->why, "%s%.70s", names[k], verdict.why);
            return IP_OK;
        }
    }
    for (uint32_t round = 0; round < job->rounds; round++) {
        for (int k = 0; k < 3; k++) {
            enum ip_status status = sample(sim, &lengths[k][0], *iterations[k], &shorter[k][round], err);
            if (status == IP_OK) {
                status = sample(sim, &lengths[k][1], *iterations[k], &longer[k][round], err);
            }
            if (status != IP_OK) {
                return status;
            }
        }
    }
    return IP_OK;
}

static enum ip_status sim_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                              struct hx_samples *samples, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (timer->stop != NULL && *timer->stop != 0) {
            return ip_fail(err, IP_FAILED, "interrupted");
        }
        enum ip_status status = job_run(timer->state, timer->references, &jobs[i], &samples[i], err);
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}

enum ip_status hx_sim_exact_cycles(struct hx_timer *timer, const uint8_t *code, size_t code_bytes,
                                   double *fixed_cycles, double *cycles_per_iteration, struct ip_error *err) {
    const struct gen_code given = {.bytes = (uint8_t *)code, .length = code_bytes};
    struct runnable runnable = runnable_make(&given);
    struct hx_sim_verdict verdict = {0};
    enum ip_status status = cost_get(timer->state, &runnable, false, &verdict, err);
    if (status != IP_OK) {
        return status;
    }
    if (verdict.outcome != HX_OUTCOME_OK) {
        return ip_fail(err, IP_UNSUPPORTED, "%s", verdict.why);
    }
    *fixed_cycles = runnable.cost[0].fixed_cycles;
    *cycles_per_iteration = runnable.cost[0].cycles_per_iteration;
    return IP_OK;
}

const struct hx_timer_ops hx_timer_sim = {
    .name = "sim",
    .unit = "ticks",
    .summary = "a simulated CPU, described by the file in sim:FILE",
    .open = sim_open,
    .close = sim_close,
    .run = sim_run,
};
