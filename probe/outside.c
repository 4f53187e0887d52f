/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/outside.h"

#include <stdio.h>

/* No instruction that a core executes by itself on registers takes as long: divisions of 128 bits, PAUSE and
 * the slowest of x87 stay below 300. A trap to a hypervisor takes a thousand and more. */
#define INSIDE_CYCLES_MOST 500.0

bool probe_is_outside(const struct isa_form *form, double cycles, char *why, size_t size) {
    if (!(cycles > INSIDE_CYCLES_MOST) || isa_form_memory_operand(form) >= 0) {
        return false;
    }
    (void)snprintf(
        why, size,
        "%.0f cycles without memory: it traps to a hypervisor or waits for a unit outside of the core",
        cycles);
    return true;
}
