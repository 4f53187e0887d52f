/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold whatever the clock does, and what a busy neighbour may do to it. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cpus.h"
#include "probe/latency.h"
#include "probe/throughput.h"
#include "tests/bench/bench.h"

enum { REPEATS = 15 };

/* A register pair's latency (source op2 to op1, or what there is), or NaN. */
static double register_latency(const struct isa_form *form, const struct probe_latency *latency,
                               enum hx_verdict *verdict) {
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        if (pair->measured && form->operands[pair->src].kind == ISA_OPERAND_REG &&
            form->operands[pair->dst].kind == ISA_OPERAND_REG) {
            *verdict = pair->verdict;
            return pair->cycles;
        }
    }
    *verdict = HX_VERDICT_FAULT;
    return NAN;
}

static void range_print(const char *what, double *values, size_t count, const char *aim) {
    double median = hx_median(values, count);
    if (count == 0) {
        (void)printf("%-44s no trustworthy value\n", what);
        return;
    }
    (void)printf("%-44s median %.4f, %.4f to %.4f, %zu of %d runs%s\n", what, median, values[0],
                 values[count - 1], count, REPEATS, aim);
}

void bench_invariants(struct tool *tool) {
    (void)printf("\n## Invariants\n");
    struct ip_error err = {0};
    struct isa_form *forms[2] = {tool_form(tool, "imul r64, r64"), tool_form(tool, "add r64, r64")};
    if (forms[0] == NULL || forms[1] == NULL) {
        (void)printf("skipped: the built-in tables lack imul or add r64, r64\n");
        return;
    }
    double latencies[2][REPEATS];
    double throughputs[REPEATS];
    size_t latency_count[2] = {0};
    size_t throughput_count = 0;
    for (int r = 0; r < REPEATS; r++) {
        struct probe_latency results[2] = {0};
        struct probe_throughput throughput = {0};
        tool_must(
            tool,
            probe_latency_measure(&tool->meter, &tool->bench.encoder, &tool->table, forms, 2, results, &err),
            &err);
        tool_must(
            tool,
            probe_throughput_measure(&tool->meter, &tool->bench.encoder, &forms[1], 1, &throughput, &err),
            &err);
        for (int f = 0; f < 2; f++) {
            enum hx_verdict verdict = HX_VERDICT_FAULT;
            double cycles = register_latency(forms[f], &results[f], &verdict);
            if (verdict == HX_VERDICT_OK) {
                latencies[f][latency_count[f]++] = cycles;
            }
            probe_latency_fini(&results[f]);
        }
        if (throughput.measured && throughput.verdict == HX_VERDICT_OK) {
            throughputs[throughput_count++] = throughput.cycles;
        }
    }
    range_print("latency of imul r64, r64", latencies[0], latency_count[0],
                " (Intel since Nehalem: 3.00 +- 0.03)");
    range_print("latency of add r64, r64", latencies[1], latency_count[1], " (1.00 +- 0.01)");
    range_print("throughput of add r64, r64", throughputs, throughput_count, "");
    if (throughput_count > 0) {
        double median = hx_median(throughputs, throughput_count);
        double ports = round(1 / median);
        (void)printf("%-44s %.2f %% off 1/%.0f (aim: 2 %%)\n", "", 100 * fabs(median * ports - 1), ports);
    }
}

/* Another CPU that this process may use, or -1. */
static int other_cpu(int cpu) {
    struct ip_cpus allowed;
    if (ip_cpus_allowed(&allowed) != 0) {
        return -1;
    }
    for (int i = 0; i < IP_CPUS_MAX; i++) {
        if (i != cpu && ip_cpus_has(&allowed, i)) {
            return i;
        }
    }
    return -1;
}

/* Starts a process that computes on `cpu` until it is killed or its parent ends; its id, or -1. */
static pid_t neighbour_start(int cpu) {
    pid_t pid = fork();
    if (pid == 0) {
        struct ip_cpus one = {0};
        ip_cpus_add(&one, cpu);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ip_cpus_allow(0, &one) != 0) {
            _exit(1);
        }
        volatile double sum = 0;
        for (unsigned i = 0;; i++) {
            sum = sum * 0.5 + (double)(i * i);
        }
    }
    return pid;
}

static void neighbour_stop(pid_t pid) {
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

static const char *const neighbour_syntaxes[] = {
    "add r64, r64",    "imul r64, r64",        "mov r64, r64",    "lea r64, agen",
    "popcnt r64, r64", "shl r64, imm8",        "addpd xmm, xmm",  "mulpd xmm, xmm",
    "pand xmm, xmm",   "paddd xmm, xmm",       "movaps xmm, xmm", "shufps xmm, xmm, imm8",
    "bsf r64, r64",    "andn r64, r64, r64",   "xor r64, r64",    "adc r64, r64",
    "hsubpd xmm, xmm", "vaddpd ymm, ymm, ymm", "divpd xmm, xmm",  "vpaddd ymm, ymm, ymm",
    "mov r64, imm32",  "sqrtpd xmm, xmm"};
enum { NEIGHBOUR_FORMS = sizeof neighbour_syntaxes / sizeof neighbour_syntaxes[0] };

struct tally {
    size_t within, marked, wrong;
};

static void tally_add(struct tally *tally, const char *syntax, const char *what, double alone, bool trusted,
                      double beside) {
    if (!trusted) {
        tally->marked++;
    } else if (fabs(beside - alone) <= fmax(0.02 * alone, 0.01)) {
        tally->within++;
    } else {
        tally->wrong++;
        (void)printf("  silently wrong: %s of %s, %.3f alone, %.3f beside the neighbour\n", what, syntax,
                     alone, beside);
    }
}

/* What one meter says about the forms. */
struct answers {
    struct probe_latency latencies[NEIGHBOUR_FORMS];
    struct probe_throughput throughputs[NEIGHBOUR_FORMS];
};

static void answers_measure(struct tool *tool, struct isa_form *const *forms, size_t count,
                            struct answers *answers) {
    struct ip_error err = {0};
    memset(answers, 0, sizeof *answers);
    tool_must(tool,
              probe_latency_measure(&tool->meter, &tool->bench.encoder, &tool->table, forms, count,
                                    answers->latencies, &err),
              &err);
    tool_must(tool,
              probe_throughput_measure(&tool->meter, &tool->bench.encoder, forms, count, answers->throughputs,
                                       &err),
              &err);
}

static void answers_fini(struct answers *answers) {
    for (size_t i = 0; i < NEIGHBOUR_FORMS; i++) {
        probe_latency_fini(&answers->latencies[i]);
    }
}

static void answers_compare(struct isa_form *const *forms, size_t count, const struct answers *alone,
                            const struct answers *beside) {
    struct tally tally = {0};
    for (size_t i = 0; i < count; i++) {
        const struct probe_throughput *ta = &alone->throughputs[i];
        const struct probe_throughput *tb = &beside->throughputs[i];
        if (ta->measured && ta->verdict == HX_VERDICT_OK) {
            tally_add(&tally, forms[i]->syntax, "throughput", ta->cycles,
                      tb->measured && tb->verdict == HX_VERDICT_OK, tb->cycles);
        }
        const struct probe_latency *la = &alone->latencies[i];
        const struct probe_latency *lb = &beside->latencies[i];
        for (size_t p = 0; p < la->count && p < lb->count; p++) {
            const struct probe_latency_pair *a = &la->pairs[p];
            const struct probe_latency_pair *b = &lb->pairs[p];
            if (a->measured && a->verdict == HX_VERDICT_OK) {
                char from[16];
                char to[16];
                char what[48];
                (void)snprintf(what, sizeof what, "latency %s->%s",
                               isa_operand_name(forms[i], (unsigned)a->src, from),
                               isa_operand_name(forms[i], (unsigned)a->dst, to));
                tally_add(&tally, forms[i]->syntax, what, a->cycles,
                          b->measured && b->verdict == HX_VERDICT_OK, b->cycles);
            }
        }
    }
    (void)printf("%-44s %zu within 2 %%, %zu marked untrustworthy, %zu silently wrong (aim: 0)\n",
                 "values beside it", tally.within, tally.marked, tally.wrong);
}

/* Opens a fresh meter, as the program would that is started beside the neighbour. */
static void measure_beside(const struct tool *tool, struct isa_form *const *forms, size_t count,
                           const struct answers *alone) {
    struct ip_error err = {0};
    struct tool second = *tool;
    memset(&second.bench, 0, sizeof second.bench);
    const struct hx_bench_options options = {.timer = NULL, .cpu = tool->bench.timer.cpu};
    enum ip_status status = hx_bench_open(&second.bench, &options, &err);
    if (status == IP_UNTRUSTED) {
        (void)printf("the meter refuses to measure beside the neighbour: %s\n", err.text);
        return;
    }
    tool_must(tool, status, &err);
    second.meter = hx_bench_meter(&second.bench);
    struct answers *beside = tool_alloc(tool, 1, sizeof *beside);
    answers_measure(&second, forms, count, beside);
    answers_compare(forms, count, alone, beside);
    answers_fini(beside);
    free(beside);
    hx_bench_close(&second.bench);
}

void bench_neighbour(struct tool *tool) {
    (void)printf("\n## Beside a busy neighbour\n");
    int cpu = other_cpu(tool->bench.timer.cpu);
    if (cpu < 0) {
        (void)printf("skipped: this process may use one CPU only\n");
        return;
    }
    struct isa_form *forms[NEIGHBOUR_FORMS];
    size_t count = 0;
    for (size_t i = 0; i < NEIGHBOUR_FORMS; i++) {
        struct isa_form *form = tool_form(tool, neighbour_syntaxes[i]);
        if (form != NULL && form->obstacle == ISA_OBSTACLE_NONE) {
            forms[count++] = form;
        }
    }
    (void)printf("%zu forms on CPU %d, a busy loop on CPU %d\n", count, tool->bench.timer.cpu, cpu);
    (void)fflush(stdout);
    struct answers *alone = tool_alloc(tool, 1, sizeof *alone);
    answers_measure(tool, forms, count, alone);
    pid_t pid = neighbour_start(cpu);
    if (pid < 0) {
        (void)printf("skipped: cannot start the neighbour: %s\n", strerror(errno));
    } else {
        measure_beside(tool, forms, count, alone);
        neighbour_stop(pid);
    }
    answers_fini(alone);
    free(alone);
}
