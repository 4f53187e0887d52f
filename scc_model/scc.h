/* SPDX-License-Identifier: Apache-2.0 */
/* scc_model/scc.h - Intel's Single-chip Cloud Computer as a machine of power/, and the kernels that Putigny
 * 2014 (section 2.3) studied on it. They are descriptions like any user's file. */
#ifndef ISAPROBE_SCC_MODEL_SCC_H
#define ISAPROBE_SCC_MODEL_SCC_H

#include "power/kernel.h"
#include "power/machine.h"

/* The text of the machine's description (its Table 2.5), and the name it has in messages. */
const char *scc_machine_text(void);
IP_CHECK enum ip_status scc_machine(struct pw_machine *machine, struct ip_error *err);

/* Names of the built-in kernels, NULL-terminated: dot, matvec, matmul. */
extern const char *const scc_kernel_names[];
/* The description of a kernel, NULL for an unknown name. */
const char *scc_kernel_text(const char *name);
/* `size` > 0 replaces the kernel's own. IP_USAGE for an unknown name. */
IP_CHECK enum ip_status scc_kernel(struct pw_kernel *kernel, const char *name, double size,
                                   struct ip_error *err);

#endif
