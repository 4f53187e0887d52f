/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/thesis.c - the tables of B. Putigny, "Benchmark-driven Approaches to Performance Modeling of
 * Multi-Core Architectures" (2014), chapter 2, measured on this CPU: 2.1 (unroll factor), 2.2 (16
 * instructions), 2.3 (number of registers), and the loop buffer.
 *
 *   thesis [FILE]      prints the report (Markdown) and keeps it in FILE; "-" or nothing: prints only
 *
 * Tables 2.1 and the loop buffer are measured as he did: the time of the whole loop, its overhead included,
 * divided by iterations x unroll; the best of 10 runs. The others through the project's own method, which
 * subtracts the overhead (docs/method.md). */
#include <errno.h>
#include <math.h>

#include "generator/shapes.h"
#include "probe/latency.h"
#include "probe/throughput.h"
#include "tests/bench/tool.h"

enum {
    ITERATIONS = 1024, /* of his loops */
    ITERATIONS_LONG = 16384,
    RUNS = 10,   /* he keeps the best of ten */
    REPEATS = 5, /* we do all that five times, and print the median */
    REGISTERS_MAX = 8,
};

/* --- measuring as he did ------------------------------------------------------------------------------- */

static double difference(double *shorter, double *longer, size_t count) {
    return hx_median(longer, count) - hx_median(shorter, count);
}

static double minimum(const double *values, size_t count) {
    double least = values[0];
    for (size_t i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

/* Core cycles of one instance of the form in a loop of `copies` units that runs `iterations` times, loop
 * overhead included; NaN when the kernel does not run. Ticks become cycles by the calibrating chain that runs
 * beside each sample. */
static double whole_loop_cycles(struct tool *tool, const struct gen_program *program, unsigned copies,
                                uint32_t iterations) {
    struct ip_error err = {0};
    struct gen_kernel kernel = {0};
    tool_must(tool, gen_kernel_make(&kernel, program, &tool->bench.encoder, copies, &err), &err);
    double cycles[REPEATS];
    size_t good = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double ticks[6][RUNS];
        const struct hx_job job = {.kernel = &kernel, .iterations = iterations, .rounds = RUNS};
        struct hx_samples samples = {.shorter = ticks[0],
                                     .longer = ticks[1],
                                     .reference_shorter = ticks[2],
                                     .reference_longer = ticks[3],
                                     .sentinel_shorter = ticks[4],
                                     .sentinel_longer = ticks[5]};
        tool_must(tool, tool->bench.timer.ops->run(&tool->bench.timer, &job, 1, &samples, &err), &err);
        if (samples.outcome != HX_OUTCOME_OK) {
            continue;
        }
        const struct gen_kernel *chain = &tool->bench.references.chain;
        double chain_cycles = (double)samples.reference_iterations *
                              (double)(chain->longer.copies - chain->shorter.copies) * chain->forms_per_unit;
        double ticks_per_cycle = difference(ticks[2], ticks[3], RUNS) / chain_cycles;
        double instances = (double)samples.iterations * kernel.shorter.copies * kernel.forms_per_unit;
        cycles[good++] = minimum(ticks[0], RUNS) / ticks_per_cycle / instances;
    }
    gen_kernel_fini(&kernel);
    return hx_median(cycles, good);
}

static struct isa_form *form_must(struct tool *tool, const char *syntax) {
    struct isa_form *form = tool_form(tool, syntax);
    if (form == NULL) {
        struct ip_error err = {0};
        (void)ip_fail(&err, IP_FAILED, "the built-in tables lack '%s'", syntax);
        tool_die(tool, &err);
    }
    return form;
}

/* --- Table 2.1 ----------------------------------------------------------------------------------------- */

static void table_unroll(struct tool *tool, FILE *out) {
    static const struct {
        unsigned unroll;
        double thesis;
    } rows[] = {{1, 4.01}, {2, 3.01}, {4, 3.01}, {8, 3.01}, {16, NAN}, {64, NAN}};
    static const char *const syntaxes[] = {"addpd xmm, xmm", "imul r64, r64"};
    (void)fprintf(
        out, "## Table 2.1: the unroll factor\n\n"
             "Latency in core cycles of one instruction of a dependent chain, loop overhead included, as "
             "in the thesis.\nHis column is ADDPD (three cycles on Sandy Bridge).\n"
             "Each once in a loop of 1024 iterations, as his, and once of 16384.\n\n"
             "| unroll | thesis | `addpd xmm, xmm`, 1024 | 16384 | `imul r64, r64`, 1024 | 16384 |\n"
             "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    struct gen_program programs[2];
    struct ip_error err = {0};
    for (int i = 0; i < 2; i++) {
        struct isa_form *form = form_must(tool, syntaxes[i]);
        /* His Listing 2.2: source and destination are one register, always the same. */
        const struct gen_link link = {.form = form, .src = 1, .dst = 0};
        tool_must(tool, gen_latency_program(&programs[i], &link, 1, 1, 0, &err), &err);
    }
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        (void)fprintf(out, "| %u | ", rows[r].unroll);
        if (isnan(rows[r].thesis)) {
            (void)fprintf(out, "-");
        } else {
            (void)fprintf(out, "%.2f", rows[r].thesis);
        }
        for (int i = 0; i < 2; i++) {
            (void)fprintf(out, " | %.2f | %.2f",
                          whole_loop_cycles(tool, &programs[i], rows[r].unroll, ITERATIONS),
                          whole_loop_cycles(tool, &programs[i], rows[r].unroll, ITERATIONS_LONG));
        }
        (void)fprintf(out, " |\n");
    }
    (void)fprintf(out, "\n");
    for (int i = 0; i < 2; i++) {
        gen_program_fini(&programs[i]);
    }
}

/* --- Table 2.2 ----------------------------------------------------------------------------------------- */

/* A row of his table and the forms that it stands for. */
struct thesis_row {
    const char *instruction, *operands;
    double throughput, throughput_agner, latency, latency_agner;
    const char *forms[4];
};

static const struct thesis_row thesis_rows[] = {
    {"ADD", "imm/r64, r64", 0.34, 0.33, 1.00, 1, {"add r64, imm32", "add r64, r64"}},
    {"MOV", "imm/r64, r64", 0.34, 0.33, 1.00, 1, {"mov r64, imm32", "mov r64, r64"}},
    {"INSERTPS", "imm, xmm, xmm", 1.01, 1, 1.02, 1, {"insertps xmm, xmm, imm8"}},
    {"SHUFPS/D", "imm, xmm, xmm", 1.01, 1, 1.02, 1, {"shufps xmm, xmm, imm8", "shufpd xmm, xmm, imm8"}},
    {"ADDPS/D", "xmm, xmm", 1.02, 1, 3.00, 3, {"addps xmm, xmm", "addpd xmm, xmm"}},
    {"ANDPS/D", "xmm, xmm", 1.01, 1, 1.02, 1, {"andps xmm, xmm", "andpd xmm, xmm"}},
    {"MOVAPS", "xmm, xmm", 1.01, 1, 1.02, 1, {"movaps xmm, xmm"}},
    {"ORPS/D", "xmm, xmm", 1.01, 1, 1.02, 1, {"orps xmm, xmm", "orpd xmm, xmm"}},
    {"MAXPS/D", "xmm, xmm", 1.02, 1, 3.00, 3, {"maxps xmm, xmm", "maxpd xmm, xmm"}},
    {"MINPS/D", "xmm, xmm", 1.02, 1, 3.00, 3, {"minps xmm, xmm", "minpd xmm, xmm"}},
    {"HSUBPS/D", "xmm, xmm", 2.01, 2, 5.00, 5, {"hsubps xmm, xmm", "hsubpd xmm, xmm"}},
    {"MOVQ", "xmm, xmm", 0.34, 0.33, 1.00, 1, {"movq xmm, xmm"}},
    {"MOVSS/D", "xmm, xmm", 1.01, 1, 1.02, 1, {"movss xmm, xmm", "movsd xmm, xmm"}},
    {"MULPS/D", "xmm, xmm", 1.02, 1, 5.00, 5, {"mulps xmm, xmm", "mulpd xmm, xmm"}},
    {"PADDB/W/D/Q",
     "xmm, xmm",
     0.51,
     0.5,
     1.01,
     1,
     {"paddb xmm, xmm", "paddw xmm, xmm", "paddd xmm, xmm", "paddq xmm, xmm"}},
    {"PAND", "xmm, xmm", 0.34, 0.33, 1.00, 1, {"pand xmm, xmm"}},
};
enum { THESIS_ROWS = sizeof thesis_rows / sizeof thesis_rows[0], FORMS_MAX = 4 * THESIS_ROWS };

/* "3.00", "1.00 to 2.00", or "-" where no register of the form leads to another. Flags have no column. */
static void latency_print(FILE *out, const struct isa_form *form, const struct probe_latency *latency) {
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        if (!pair->measured || pair->verdict != HX_VERDICT_OK ||
            form->operands[pair->src].kind != ISA_OPERAND_REG ||
            form->operands[pair->dst].kind != ISA_OPERAND_REG) {
            continue;
        }
        low = pair->cycles < low ? pair->cycles : low;
        high = pair->cycles > high ? pair->cycles : high;
    }
    if (low > high) {
        (void)fprintf(out, "-");
    } else if (high - low < 0.02) {
        (void)fprintf(out, "%.2f", high);
    } else {
        (void)fprintf(out, "%.2f to %.2f", low, high);
    }
}

static void table_instructions(struct tool *tool, FILE *out) {
    struct isa_form *forms[FORMS_MAX];
    const struct thesis_row *row_of[FORMS_MAX];
    size_t count = 0;
    for (size_t r = 0; r < THESIS_ROWS; r++) {
        for (int f = 0; f < 4 && thesis_rows[r].forms[f] != NULL; f++) {
            row_of[count] = &thesis_rows[r];
            forms[count++] = form_must(tool, thesis_rows[r].forms[f]);
        }
    }
    struct ip_error err = {0};
    struct probe_latency latencies[FORMS_MAX] = {0};
    struct probe_throughput throughputs[FORMS_MAX] = {0};
    struct gen_encoder *encoder = &tool->bench.encoder;
    tool_must(tool, probe_latency_measure(&tool->meter, encoder, &tool->table, forms, count, latencies, &err),
              &err);
    tool_must(tool, probe_throughput_measure(&tool->meter, encoder, forms, count, throughputs, &err), &err);

    (void)fprintf(
        out, "## Table 2.2: sixteen instructions\n\n"
             "Reciprocal throughput and latency in core cycles; his figures and Agner Fog's are for Sandy "
             "Bridge. A row of his stands\nfor several forms; each is measured here. Two latencies mean "
             "that the source operands differ.\n\n"
             "| thesis row | form | throughput here | thesis | Agner | latency here | thesis | Agner |\n"
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i++) {
        const struct thesis_row *row = row_of[i];
        bool first = i == 0 || row_of[i - 1] != row;
        (void)fprintf(out, "| %s%s%s | `%s` | ", first ? row->instruction : "", first ? " " : "",
                      first ? row->operands : "", forms[i]->syntax);
        if (throughputs[i].measured && throughputs[i].verdict == HX_VERDICT_OK) {
            (void)fprintf(out, "%.2f", throughputs[i].cycles);
        } else {
            (void)fprintf(out, "not measured: %s", throughputs[i].why);
        }
        (void)fprintf(out, " | %.2f | %.3g | ", row->throughput, row->throughput_agner);
        latency_print(out, forms[i], &latencies[i]);
        (void)fprintf(out, " | %.2f | %.3g |\n", row->latency, row->latency_agner);
        probe_latency_fini(&latencies[i]);
    }
    (void)fprintf(out, "\n");
}

/* --- Table 2.3 ----------------------------------------------------------------------------------------- */

static void table_registers(struct tool *tool, FILE *out) {
    static const double thesis[REGISTERS_MAX] = {3.01, 1.51, 1.13, 1.02, 1.02, 1.02, 1.02, 1.02};
    static const char *const syntaxes[] = {"addpd xmm, xmm", "mulpd xmm, xmm"};
    struct ip_error err = {0};
    double cycles[2][REGISTERS_MAX];
    for (int f = 0; f < 2; f++) {
        struct isa_form *form = form_must(tool, syntaxes[f]);
        struct gen_kernel kernels[REGISTERS_MAX] = {0};
        const struct gen_kernel *pointers[REGISTERS_MAX];
        struct hx_stat stats[REGISTERS_MAX];
        for (unsigned n = 1; n <= REGISTERS_MAX; n++) {
            struct gen_program program;
            const struct gen_independence how = {.registers = n};
            tool_must(tool, gen_throughput_program(&program, form, &how, n, &err), &err);
            tool_must(
                tool,
                gen_kernel_make(&kernels[n - 1], &program, &tool->bench.encoder, (64 + n - 1) / n, &err),
                &err);
            gen_program_fini(&program);
            pointers[n - 1] = &kernels[n - 1];
        }
        tool_must(tool, hx_measure(&tool->meter, pointers, REGISTERS_MAX, stats, &err), &err);
        for (unsigned n = 0; n < REGISTERS_MAX; n++) {
            cycles[f][n] = stats[n].verdict == HX_VERDICT_OK ? stats[n].cycles : NAN;
            gen_kernel_fini(&kernels[n]);
        }
    }
    (void)fprintf(
        out, "## Table 2.3: the number of registers\n\n"
             "Cycles for each instruction when 1 to 8 registers take turns, each of them a chain of its "
             "own. In an ideal machine n chains take\nlatency / n, but never less than the throughput: the "
             "columns \"ideal\", computed from the first row and the smallest.\n\n"
             "| registers | thesis, `addpd` | `addpd` here | ideal | `mulpd` here | ideal |\n"
             "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    double least[2] = {minimum(cycles[0], REGISTERS_MAX), minimum(cycles[1], REGISTERS_MAX)};
    for (unsigned n = 0; n < REGISTERS_MAX; n++) {
        (void)fprintf(out, "| %u | %.2f", n + 1, thesis[n]);
        for (int f = 0; f < 2; f++) {
            (void)fprintf(out, " | %.2f | %.2f", cycles[f][n], fmax(cycles[f][0] / (n + 1), least[f]));
        }
        (void)fprintf(out, " |\n");
    }
    (void)fprintf(out, "\n");
}

/* --- the loop buffer ------------------------------------------------------------------------------------ */

static void table_loop_buffer(struct tool *tool, FILE *out) {
    static const unsigned unrolls[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    static const char *const syntaxes[] = {"add r64, r64", "add r64, imm32"};
    (void)fprintf(
        out,
        "## The loop buffer\n\n"
        "Cycles for each ADD in a loop of so many independent ones (8 registers), loop overhead "
        "included. In the thesis: 0.33\nunrolled by 64 and 0.5 unrolled by 1024, \"exceeding the capacity "
        "of the instruction loop buffer\".\n\n"
        "| unroll | thesis | `add r64, r64` | bytes | `add r64, imm32` | bytes |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    struct ip_error err = {0};
    struct gen_program programs[2];
    size_t bytes[2] = {0};
    for (int i = 0; i < 2; i++) {
        const struct gen_independence how = {.registers = REGISTERS_MAX};
        tool_must(
            tool,
            gen_throughput_program(&programs[i], form_must(tool, syntaxes[i]), &how, REGISTERS_MAX, &err),
            &err);
        struct gen_kernel one = {0};
        tool_must(tool, gen_kernel_make(&one, &programs[i], &tool->bench.encoder, 8, &err), &err);
        bytes[i] = (one.longer.length - one.shorter.length) / (one.longer.copies - one.shorter.copies);
        gen_kernel_fini(&one);
    }
    for (size_t u = 0; u < sizeof unrolls / sizeof unrolls[0]; u++) {
        (void)fprintf(out, "| %u | %s", unrolls[u],
                      unrolls[u] == 64     ? "0.33"
                      : unrolls[u] == 1024 ? "0.5"
                                           : "-");
        for (int i = 0; i < 2; i++) {
            unsigned copies = unrolls[u] / REGISTERS_MAX;
            (void)fprintf(out, " | %.3f | %zu", whole_loop_cycles(tool, &programs[i], copies, ITERATIONS),
                          bytes[i] * copies);
        }
        (void)fprintf(out, " |\n");
    }
    for (int i = 0; i < 2; i++) {
        gen_program_fini(&programs[i]);
    }
    (void)fprintf(out, "\n");
}

static void head(const struct tool *tool, FILE *out) {
    (void)fprintf(
        out,
        "# The thesis's tables on this CPU\n\nWritten by `make thesis` (tests/bench/thesis.c); what differs "
        "from the thesis, and why, is in [thesis.md](thesis.md).\n\n"
        "Bertrand Putigny measured an Intel Xeon E5-2650 (Sandy Bridge) at a fixed 2.00 GHz. This is: %s, "
        "family %d, model %d, stepping %d%s%s%s, timer %s.\n\n",
        tool->host.brand, tool->host.family, tool->host.model, tool->host.stepping,
        tool->host.hypervisor ? ", under the hypervisor " : "",
        tool->host.hypervisor ? tool->host.hypervisor_name : "",
        tool->host.hypervisor ? " with a moving clock" : "", tool->bench.timer.ops->name);
}

int main(int argc, char **argv) {
    struct tool tool;
    const char *path = argc > 1 ? argv[1] : "-";
    /* In memory first: a run that fails leaves an earlier report as it was. */
    char *report = NULL;
    size_t report_bytes = 0;
    FILE *out = open_memstream(&report, &report_bytes);
    if (argc > 2 || out == NULL) {
        (void)fprintf(stderr, "usage: thesis [FILE]\n");
        return 2;
    }
    tool_open(&tool, "thesis", NULL);
    head(&tool, out);
    table_unroll(&tool, out);
    table_instructions(&tool, out);
    table_registers(&tool, out);
    table_loop_buffer(&tool, out);
    tool_close(&tool);
    int failed = fclose(out);
    failed |= fwrite(report, 1, report_bytes, stdout) != report_bytes || fflush(stdout) != 0;
    if (strcmp(path, "-") != 0) {
        FILE *file = fopen(path, "we");
        if (file == NULL) {
            (void)fprintf(stderr, "thesis: cannot open '%s': %s\n", path, strerror(errno));
            return 1;
        }
        failed |= fwrite(report, 1, report_bytes, file) != report_bytes;
        failed |= fclose(file) != 0;
    }
    free(report);
    if (failed) {
        (void)fprintf(stderr, "thesis: cannot write the report\n");
        return 1;
    }
    return 0;
}
