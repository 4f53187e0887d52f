/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/latency_given.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernels.h"
#include "cli/links.h"

enum { LINKS = ISA_OPERANDS_MAX * ISA_OPERANDS_MAX };

static void pair_take(struct probe_latency_pair *pair, const struct gen_link *link,
                      const struct hx_stat *stat) {
    pair->src = link->src;
    pair->dst = link->dst;
    pair->path = link->src_address ? PROBE_PATH_ADDRESS : PROBE_PATH_REGISTER;
    pair->measured = stat->verdict != HX_VERDICT_FAULT;
    pair->cycles = stat->cycles - gen_latency_keeper_cycles(link, 1);
    pair->spread = stat->spread;
    pair->chained_cycles = pair->same_register_cycles = pair->slow_cycles = NAN;
    pair->verdict = stat->verdict;
    (void)snprintf(pair->why, sizeof pair->why, "%s", stat->why);
}

/* All chains of one form: one NASM run, one batch. */
static enum ip_status form_measure(struct cli_bench *bench, const struct cli_settings *settings,
                                   const struct isa_form *form, struct probe_latency *result,
                                   struct ip_error *err) {
    struct gen_link links[LINKS];
    unsigned count = cli_links_direct(form, links, LINKS);
    if (count == 0) {
        return IP_OK;
    }
    struct cli_kernels kernels;
    struct probe_latency_pair *pairs = calloc(count, sizeof *pairs);
    enum ip_status status = pairs != NULL ? cli_kernels_init(&kernels, count, err)
                                          : ip_fail(err, IP_NO_MEMORY, "out of memory for %u chains", count);
    if (status != IP_OK) {
        free(pairs);
        return status;
    }
    for (unsigned i = 0; status == IP_OK && i < count; i++) {
        status =
            gen_latency_program(&kernels.programs[i], &links[i], 1, (unsigned)settings->registers, 0, err);
        status = cli_kernels_note(&kernels, i, status, err);
    }
    if (status == IP_OK) {
        status = cli_kernels_measure(&kernels, bench, (unsigned)settings->unroll, err);
    }
    for (unsigned i = 0; status == IP_OK && i < count; i++) {
        pair_take(&pairs[i], &links[i], &kernels.stats[i]);
    }
    cli_kernels_fini(&kernels);
    if (status != IP_OK) {
        free(pairs);
        return status;
    }
    *result = (struct probe_latency){.pairs = pairs, .count = count};
    return IP_OK;
}

enum ip_status cli_latency_given(struct cli_bench *bench, const struct cli_settings *settings,
                                 struct isa_form *const *forms, size_t count, struct probe_latency *results,
                                 struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t done = 0;
    for (; status == IP_OK && done < count; done++) {
        status = form_measure(bench, settings, forms[done], &results[done], err);
    }
    for (size_t i = 0; status != IP_OK && i < done; i++) {
        probe_latency_fini(&results[i]);
    }
    return status;
}
