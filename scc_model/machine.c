/* SPDX-License-Identifier: Apache-2.0 */
#include "scc_model/scc.h"

/* Voltages, frequencies and access costs: Putigny 2014, section 2.3.3 and Table 2.5, after Intel's SCC
 * Programmer's Guide. The thesis leaves C and the mesh's clock open: here they are assumptions. C is 87.7 W /
 * 48 / (1.14² V² · 1 GHz), figures quoted of Howard et al., ISSCC 2010, that could not be checked there. It
 * scales all watts and joules and changes no comparison between settings. */
static const char machine_text[] =
    "# Intel Single-chip Cloud Computer: one P54C core, sequential code.\n"
    "machine scc\n"
    "title Intel Single-chip Cloud Computer, one core\n"
    "reference 1600 MHz                # core clock = reference / divisor\n"
    "clock memory 800 MHz              # DDR3, not changed at run time\n"
    "clock mesh 800 MHz                # assumed; plays no part at 0 hops\n"
    "access 40 core cycles\n"
    "access 46 memory cycles\n"
    "access 8 mesh cycles per hop      # 4 cycles, there and back\n"
    "hops 0\n"
    "pending 2 requests\n"
    "access-size 8 bytes               # the thesis counts one access for each double\n"
    "capacitance 1.406 nF              # assumed: docs/power.md\n"
    "static 0 W                        # the thesis has none\n"
    "setting div 2 800 MHz 1.1 V\n"
    "setting div 3 533 MHz 0.8 V\n"
    "setting div 4 400 MHz 0.7 V\n"
    "setting div 5 320 MHz 0.6 V\n"
    "setting div 6 266 MHz 0.6 V\n"
    "setting div 7 228 MHz 0.6 V\n"
    "setting div 8 200 MHz 0.6 V\n"
    "setting div 9 178 MHz 0.6 V\n"
    "setting div 10 160 MHz 0.6 V\n"
    "setting div 11 145 MHz 0.6 V\n"
    "setting div 12 133 MHz 0.6 V\n"
    "setting div 13 123 MHz 0.6 V\n"
    "setting div 14 114 MHz 0.6 V\n"
    "setting div 15 106 MHz 0.6 V\n"
    "setting div 16 100 MHz 0.6 V\n";

const char *scc_machine_text(void) {
    return machine_text;
}

enum ip_status scc_machine(struct pw_machine *machine, struct ip_error *err) {
    return pw_machine_parse(machine, "scc (built in)", machine_text, err);
}
