/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/outside.h"

#include <stdio.h>

#include "generator/operands.h"
#include "probe/transfer.h"

/* No instruction that a core executes by itself on registers takes as long: divisions of 128 bits, PAUSE and
 * the slowest of x87 stay below 300. A trap to a hypervisor takes a thousand and more. */
#define INSIDE_CYCLES_MOST 500.0

enum { SYSTEM_BITS_MOST = 80 }; /* a descriptor table's address and limit */

/* Does it only store a system register, which waits for no cache: SGDT, SLDT, SMSW ...? */
static bool stores_of_the_system(const struct isa_form *form, int memory) {
    const struct isa_operand *stored = &form->operands[memory];
    bool system = stored->write && !stored->read && stored->bits != 0 && stored->bits <= SYSTEM_BITS_MOST;
    for (unsigned i = 0; i < form->operand_count && system; i++) {
        const struct isa_operand *operand = &form->operands[i];
        system = (int)i == memory || !operand->read || probe_operand_file(operand) == PROBE_FILE_NONE;
    }
    return system;
}

bool probe_is_outside(const struct isa_form *form, double cycles, char *why, size_t size) {
    int memory = isa_form_memory_operand(form);
    bool stores_past = gen_form_stores_past_caches(form) || (memory < 0 && gen_form_leaves_stores(form));
    const char *what =
        stores_past  ? ": what is stored past the caches comes back from memory"
        : memory < 0 ? " without memory: it traps to a hypervisor or waits for a unit outside of the core"
        : stores_of_the_system(form, memory)
            ? " to store what the system keeps: it traps to a hypervisor or to the kernel"
            : NULL;
    if (!(cycles > INSIDE_CYCLES_MOST) || what == NULL) {
        return false;
    }
    (void)snprintf(why, size, "%.0f cycles%s", cycles, what);
    return true;
}
