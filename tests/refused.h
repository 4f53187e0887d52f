/* SPDX-License-Identifier: Apache-2.0 */
/* tests/refused.h - what comes of an attempt while the system refuses a system call, as a container's seccomp
 * filter does. */
#ifndef ISAPROBE_TESTS_REFUSED_H
#define ISAPROBE_TESTS_REFUSED_H

#include <seccomp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

typedef enum ip_status refused_attempt(struct ip_error *err);

struct refused {
    bool done; /* else no filter can be loaded here */
    enum ip_status status;
    struct ip_error err;
};

/* In a process of its own, which is refused `system_call` with `error`. */
static inline struct refused refused_try(refused_attempt *attempt, int system_call, int error) {
    struct refused none = {0};
    struct refused *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return none;
    }
    pid_t pid = fork();
    if (pid == 0) {
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        bool loaded = filter != NULL &&
                      seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), system_call, 0) == 0 &&
                      seccomp_load(filter) == 0;
        seccomp_release(filter);
        if (loaded) {
            shared->status = attempt(&shared->err);
            shared->done = true;
        }
        _exit(0);
    }
    int state = 0;
    (void)waitpid(pid, &state, 0);
    struct refused found = *shared;
    (void)munmap(shared, sizeof *shared);
    return found;
}

#endif
