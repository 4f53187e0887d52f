/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sandbox.h - what the child process does to itself before it runs foreign code. */
#ifndef ISAPROBE_HARNESS_SANDBOX_H
#define ISAPROBE_HARNESS_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

/* Where the child keeps the wire to its parent, in place of standard input: the only file that it may write
 * to. */
enum { HX_WIRE_FD = 0 };

/* The seccomp filter, prepared in the parent and loaded in the child. */
struct hx_sandbox {
    void *filter; /* scmp_filter_ctx */
};

/* Prepares the filter: any system call but those that the child needs raises SIGSYS. IP_CAPABILITY when
 * libseccomp refuses. */
IP_CHECK enum ip_status hx_sandbox_init(struct hx_sandbox *sandbox, struct ip_error *err);
void hx_sandbox_fini(struct hx_sandbox *sandbox);

/* Pins process `pid` (0: this one) to `cpu`. Returns 0 or an errno value. */
int hx_cpu_pin(pid_t pid, int cpu);
/* In the child: no core file, pinned to `cpu`. Returns 0 or an errno value. */
int hx_sandbox_enter(int cpu);
/* In the child: from here on only the filter's system calls. Returns 0 or an errno value. */
int hx_sandbox_close(const struct hx_sandbox *sandbox);
/* In the child: ends the process. Does not return, but does not say so to the compiler: AddressSanitizer
 * would then inspect the stack before the call, with system calls that the filter forbids. */
void hx_sandbox_exit(void);

#endif
