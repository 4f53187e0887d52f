/* SPDX-License-Identifier: Apache-2.0 */
/* isa/child.h - the end of an assembler that runs as a child process. */
#ifndef ISAPROBE_ISA_CHILD_H
#define ISAPROBE_ISA_CHILD_H

#include <sys/types.h>

#include "common/error.h"

/* Waits for the end of `child`, which is `program`; *state as of waitpid(2). IP_CAPABILITY where the kernel
 * or somebody else has it already: what the child has written cannot be trusted to be whole then. */
IP_CHECK enum ip_status isa_child_wait(pid_t child, const char *program, int *state, struct ip_error *err);

#endif
