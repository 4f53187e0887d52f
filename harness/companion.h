/* SPDX-License-Identifier: Apache-2.0 */
/* harness/companion.h - a process that keeps the other thread of the measured core busy with next to nothing,
 * so that a hypervisor runs nobody else's work there. docs/method.md, "The other thread of the core". */
#ifndef ISAPROBE_HARNESS_COMPANION_H
#define ISAPROBE_HARNESS_COMPANION_H

#include <sys/types.h>

struct hx_companion {
    pid_t pid; /* 0: there is none */
    int cpu;   /* on which it runs */
};

/* The CPU that is likely to be the other thread of the core of `cpu`: what the system says, else, in a
 * virtual machine that says nothing, its neighbour in pairs of CPUs. -1: there is none, this process may not
 * use it, or there is no hypervisor (then an idle thread stays idle). `root` is put before /sys: "" on this
 * machine. */
int hx_companion_cpu(const char *root, int cpu);

/* Starts one on that CPU, at the lowest priority; it ends with this process however that ends. Where it
 * cannot be had there is none: nothing depends on it but the noise. */
void hx_companion_start(struct hx_companion *companion, int cpu);
void hx_companion_move(struct hx_companion *companion, int cpu); /* where that is possible */
void hx_companion_stop(struct hx_companion *companion);          /* an all-zero companion is fine */

#endif
