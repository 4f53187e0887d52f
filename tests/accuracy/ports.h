/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/ports.h - does the port usage that was measured agree with the published one? docs/ports.md.
 */
#ifndef ISAPROBE_TESTS_ACCURACY_PORTS_H
#define ISAPROBE_TESTS_ACCURACY_PORTS_H

#include "common/error.h"
#include "tests/accuracy/options.h"

/* Measures the rows of options->reference (a sample of them) and prints how many agree: forms of registers,
 * of memory and of 512 bits apart. */
IP_CHECK enum ip_status ports_compare(const struct options *options, struct ip_error *err);

#endif
