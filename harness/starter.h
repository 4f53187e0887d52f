/* SPDX-License-Identifier: Apache-2.0 */
/* harness/starter.h - a small process whose only work is to start measuring processes. A fork copies the page
 * tables of who forks, and whatever that one writes to afterwards, page by page: a scan of the whole ISA
 * starts thousands of processes beside tables of a hundred megabytes, and spent a tenth of its time so. The
 * starter is forked once, before there is much to copy. */
#ifndef ISAPROBE_HARNESS_STARTER_H
#define ISAPROBE_HARNESS_STARTER_H

#include <sys/types.h>

#include "common/error.h"

/* What a new process has of its own; the starter keeps no copy. */
struct hx_start {
    int shared_fd; /* the memory that it shares with who asked for it */
    int code_fd;
    int wire; /* its end of the wire */
    size_t shared_bytes;
};

/* Runs in the new process, and does not return. `start` has the descriptors' numbers there. */
typedef void hx_start_main(const void *self, const struct hx_start *start);

struct hx_starter {
    pid_t pid; /* 0: there is none */
    int wire;
};

/* Forks the starter, whose processes will run `main` with what `self` points to as it is now, and waits until
 * it is ready. IP_CAPABILITY: the system does not let this process have what it takes. IP_FAILED: it cannot
 * now. */
IP_CHECK enum ip_status hx_starter_open(struct hx_starter *starter, hx_start_main *main, const void *self,
                                        struct ip_error *err);
/* Ends it, and with it all processes that it started. An all-zero starter is fine. */
void hx_starter_close(struct hx_starter *starter);

/* Starts a process; it dies with the starter, which dies with this process. The descriptors stay the
 * caller's. IP_CAPABILITY, IP_FAILED: the system refuses, as above, or the starter is gone. */
IP_CHECK enum ip_status hx_starter_start(const struct hx_starter *starter, const struct hx_start *start,
                                         pid_t *pid, struct ip_error *err);
/* Waits for the end of a process that it started. *wait_status as of waitpid(2). */
IP_CHECK enum ip_status hx_starter_wait(const struct hx_starter *starter, pid_t pid, int *wait_status,
                                        struct ip_error *err);
/* Kills such a process. The next one starts when it has ended. */
void hx_starter_kill(const struct hx_starter *starter, pid_t pid);

#endif
