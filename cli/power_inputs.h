/* SPDX-License-Identifier: Apache-2.0 */
/* cli/power_inputs.h - the machine, the kernel and the limits that the options of `power` describe. */
#ifndef ISAPROBE_CLI_POWER_INPUTS_H
#define ISAPROBE_CLI_POWER_INPUTS_H

#include "cli/cli.h"
#include "power/kernel.h"
#include "power/machine.h"
#include "power/model.h"

/* The number that an option gives; `value` stays where the option is absent. IP_USAGE names the option. */
IP_CHECK enum ip_status cli_power_number(const char *option, const char *given, double low, double *value,
                                         struct ip_error *err);

/* --machine, with --hops, --memory-ns and --pending. */
IP_CHECK enum ip_status cli_power_machine(struct pw_machine *machine, const struct cli_settings *settings,
                                          struct ip_error *err);
/* --kernel or --code, with --elements and what else they take; the body's cycles are known after it. */
IP_CHECK enum ip_status cli_power_kernel(struct pw_kernel *kernel, const struct pw_machine *machine,
                                         const struct cli_settings *settings, struct ip_error *err);
IP_CHECK enum ip_status cli_power_limits(struct pw_limits *limits, const struct cli_settings *settings,
                                         struct ip_error *err);

/* The identity of the CPU that the timer measures: what `cpu` in a machine's file is compared with. */
IP_CHECK enum ip_status cli_power_cpu(char *cpu, size_t size, const struct cli_settings *settings,
                                      struct ip_error *err);

/* cli/power_cycles.c: cycles of one iteration of NASM source on the machine that --machine names: by the
 * P54C's table for scc, else measured on this host. `shift` is added to line numbers in messages. */
IP_CHECK enum ip_status cli_power_cycles(double *cycles, const char *name, const char *source, int shift,
                                         const struct pw_machine *machine,
                                         const struct cli_settings *settings, struct ip_error *err);

#endif
