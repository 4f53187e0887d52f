/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the description of a simulated CPU; what parses is also asked for a form and runs a short loop, so
 * that no description can make the model overflow. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "harness/sim_core.h"
#include "harness/sim_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* mov rbx, rax; add rax, [rsi]; imul rcx, rbx; mov [rsi], rax; div rcx; sub rdi, 1; jnz; ret */
static const uint8_t loop[] =
    "\x48\x89\xc3\x48\x03\x06\x48\x0f\xaf\xcb\x48\x89\x06\x48\xf7\xf1\x48\x83\xef\x01"
    "\x75\xea\xc3";

static void loop_run(const struct hx_sim_description *description) {
    struct hx_sim_ops ops = {0};
    struct hx_sim_program program = {0};
    struct hx_sim_verdict verdict;
    struct hx_sim_cost cost = {0};
    struct ip_error err;
    struct hx_sim_widths widths = {description->issue_width, description->retire_width};
    if (hx_sim_program_build(&program, &ops, description, loop, sizeof loop - 1, &verdict, &err) == IP_OK &&
        verdict.outcome == HX_OUTCOME_OK &&
        hx_sim_core_run(description, &program, widths, &cost, &err) == IP_OK &&
        !(cost.cycles_per_iteration > 0)) {
        abort(); /* a loop takes time */
    }
    hx_sim_program_fini(&program);
    hx_sim_ops_fini(&ops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hx_sim_description description;
    struct ip_error err;
    if (hx_sim_description_parse(&description, "fuzz", (const char *)data, size, NULL, &err) == IP_OK) {
        loop_run(&description);
        /* the rest of the input as a table to import */
        (void)!hx_sim_import_text(&description, "fuzz", (const char *)data, size, &err);
        hx_sim_description_fini(&description);
    }
    return 0;
}
