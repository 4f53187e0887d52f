/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernels.h"
#include "cli/power_inputs.h"
#include "isa/assemble.h"
#include "oncore/loop.h"
#include "oncore/oncore.h"
#include "results/store.h"
#include "scc_model/p54c.h"

/* "name:7" becomes "name:9". */
static void place_shift(struct ip_error *err, int shift) {
    char *colon = strrchr(err->place, ':');
    char *end = NULL;
    long line = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    if (colon != NULL && *end == '\0' && line + shift > 0) {
        (void)snprintf(colon, sizeof err->place - (size_t)(colon - err->place), ":%ld", line + shift);
    }
}

static enum ip_status source_assemble(struct ip_text *code, const char *name, const char *source, int bits,
                                      int shift, struct ip_error *err) {
    struct ip_text text = {0};
    ip_text_printf(&text, "bits %d\n", bits);
    ip_text_append(&text, source);
    enum ip_status status = text.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory")
                                        : isa_assemble_source(name, ip_text_string(&text), code, err);
    ip_text_fini(&text);
    if (status == IP_OK && code->length == 0) {
        status = ip_fail_at(err, IP_SYNTAX, name, 0, 0, "the code holds no instruction");
    } else if (status == IP_SYNTAX) {
        place_shift(err, shift - 1);
    }
    return status;
}

/* Measures the loop with one fill. */
static enum ip_status fill_measure(struct hx_stat *stat, struct cli_bench *bench, const struct ip_text *body,
                                   uint64_t fill, struct ip_error *err) {
    struct cli_kernels kernels;
    enum ip_status status = cli_kernels_init(&kernels, 1, err);
    if (status != IP_OK) {
        return status;
    }
    status = cli_block_program(&kernels.programs[0], body, true, fill, err);
    status = cli_kernels_note(&kernels, 0, status, err);
    if (status == IP_OK) {
        status = cli_kernels_measure(&kernels, bench, 0, err);
    }
    if (status == IP_OK) {
        *stat = kernels.stats[0];
    }
    cli_kernels_fini(&kernels);
    return status;
}

/* The harness as a source of cycles: of the loop as `measure --loop` runs it. */
static enum ip_status measured_cycles(void *self, const uint8_t *code, size_t code_bytes, double *cycles,
                                      struct ip_error *err) {
    const struct cli_settings *settings = self;
    struct ip_text body = {0};
    ip_text_append_bytes(&body, code, code_bytes);
    enum ip_status status =
        body.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for a loop") : core_loop_open(&body, err);
    struct cli_bench bench;
    struct hx_stat stat = {.verdict = HX_VERDICT_FAULT};
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, err);
        bool again = true;
        for (size_t i = 0; status == IP_OK && again && i < CLI_FILLS; i++) {
            struct hx_stat now;
            status = fill_measure(&now, &bench, &body, cli_fills[i], err);
            if (status == IP_OK &&
                (i == 0 || now.verdict != HX_VERDICT_FAULT)) { /* the first reason is kept */
                stat = now;
            }
            again = status == IP_OK && cli_fill_failed(&now);
        }
        status = cli_bench_close(&bench, status, err);
    }
    ip_text_fini(&body);
    if (status != IP_OK) {
        return status;
    }
    if (stat.verdict == HX_VERDICT_FAULT) {
        return ip_fail(err, IP_UNSUPPORTED, "the loop cannot be measured: %s", stat.why);
    }
    if (stat.verdict != HX_VERDICT_OK) {
        return ip_fail(err, IP_UNTRUSTED,
                       "the loop's cycles are not to be trusted: %s; try again, or give --cycles", stat.why);
    }
    *cycles = stat.cycles;
    return IP_OK;
}

/* --- the on-core model as a source of cycles: tables, no measurement ---------------------------------------
 */

static enum ip_status predicted_cycles(void *self, const uint8_t *code, size_t code_bytes, double *cycles,
                                       struct ip_error *err) {
    struct core_costs *costs = self;
    const struct core_options options = {.loop = true};
    struct core_prediction prediction = {0};
    enum ip_status status = core_predict(costs, code, code_bytes, &options, &prediction, err);
    if (status == IP_OK && (prediction.missing_count > 0 || isnan(prediction.cycles))) {
        const struct core_instruction *missing =
            prediction.missing_count > 0 ? &prediction.block.items[prediction.missing[0]] : NULL;
        status =
            ip_fail(err, IP_UNSUPPORTED,
                    "the store lacks what the model needs of '%.100s': isaprobe scan --parts "
                    "latency,throughput,slots,ports \"%.100s\", or leave --store out to measure the loop",
                    missing != NULL ? missing->cost->form.syntax : "any form",
                    missing != NULL ? missing->cost->form.syntax : "FORM");
    }
    for (size_t i = 0; status == IP_OK && i < prediction.block.count; i++) {
        if (prediction.block.items[i].back) {
            status = ip_fail(err, IP_UNSUPPORTED,
                             "the branch at byte %u closes an inner loop, which may run any number of times: "
                             "give --cycles",
                             (unsigned)prediction.block.items[i].offset);
        }
    }
    if (status == IP_OK) {
        *cycles = prediction.cycles;
    }
    core_prediction_fini(&prediction);
    return status;
}

/* Does the store hold the CPU that the machine's file describes? */
static enum ip_status store_check(const struct pw_machine *machine, struct res_store *store,
                                  struct ip_error *err) {
    struct ip_text identity = {0};
    enum ip_status status = res_machine_get(store, &identity, err);
    if (status == IP_OK && machine->cpu[0] != '\0' && strcmp(machine->cpu, ip_text_string(&identity)) != 0) {
        status = ip_fail(err, IP_USAGE, "machine '%s' describes another CPU (%.150s) than the store (%.150s)",
                         machine->name, machine->cpu, ip_text_string(&identity));
    }
    ip_text_fini(&identity);
    return status;
}

/* The loop is measured where this process runs: is that the CPU that the machine's file describes? */
static enum ip_status cpu_check(const struct pw_machine *machine, const struct cli_settings *settings,
                                struct ip_error *err) {
    char here[sizeof machine->cpu];
    if (machine->cpu[0] == '\0') {
        if (!settings->quiet) {
            cli_message("power",
                        "machine '%s' does not say its CPU: the loop's cycles are those of this host; give "
                        "--cycles where that is another CPU",
                        machine->name);
        }
        return IP_OK;
    }
    enum ip_status status = cli_power_cpu(here, sizeof here, settings, err);
    if (status == IP_OK && strcmp(here, machine->cpu) != 0) {
        return ip_fail(
            err, IP_USAGE,
            "machine '%s' describes another CPU (%.150s) than this one (%.150s): give --cycles, which "
            "cannot be measured here",
            machine->name, machine->cpu, here);
    }
    return status;
}

enum ip_status cli_power_cycles(double *cycles, const char *name, const char *source, int shift,
                                const struct pw_machine *machine, const struct cli_settings *settings,
                                struct ip_error *err) {
    struct scc_p54c table;
    struct pw_cycles_source from = {
        .name = "this host", .bits = 64, .cycles = measured_cycles, .self = (void *)(uintptr_t)settings};
    enum ip_status status = IP_OK;
    struct res_store *store = NULL;
    struct core_costs costs = {0};
    bool scc = strcmp(settings->power.machine, "scc") == 0;
    if (scc && settings->store != NULL) {
        status = ip_fail(err, IP_USAGE, "--store holds another CPU than the SCC's, whose table is built in");
    } else if (settings->store != NULL) {
        status = res_store_open_readonly(&store, settings->store, err);
        status = status == IP_OK ? store_check(machine, store, err) : status;
        status = status == IP_OK ? core_costs_open(&costs, store, err) : status;
        from = (struct pw_cycles_source){
            .name = "on-core model", .bits = 64, .cycles = predicted_cycles, .self = &costs};
    } else if (scc) {
        status = scc_p54c_parse(&table, "P54C table", scc_p54c_csv(), err);
        from = scc_p54c_source(&table);
    } else {
        status = cpu_check(machine, settings, err);
    }
    struct ip_text code = {0};
    if (status == IP_OK) {
        status = source_assemble(&code, name, source, from.bits, shift, err);
    }
    if (status == IP_OK) {
        status = from.cycles(from.self, (const uint8_t *)code.data, code.length, cycles, err);
    }
    ip_text_fini(&code);
    core_costs_fini(&costs);
    res_store_close(store);
    if (status == IP_OK && !settings->quiet) {
        cli_message("power", "%s takes %.2f cycles per iteration (%s)", name, *cycles, from.name);
    }
    return status;
}
