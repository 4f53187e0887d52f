/* SPDX-License-Identifier: Apache-2.0 */
/* tests/refused.h - what comes of an attempt while the system refuses a system call, as a container's seccomp
 * filter does, or lacks a folder such as /proc. */
#ifndef ISAPROBE_TESTS_REFUSED_H
#define ISAPROBE_TESTS_REFUSED_H

#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

typedef enum ip_status refused_attempt(struct ip_error *err);

struct refused {
    bool done; /* else this system cannot be made to lack it */
    enum ip_status status;
    struct ip_error err;
};

/* This process is refused `system_call` with `error`. */
static inline bool refused_load(int system_call, int error) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool loaded = filter != NULL &&
                  seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), system_call, 0) == 0 &&
                  seccomp_load(filter) == 0;
    seccomp_release(filter);
    return loaded;
}

/* For this process the folder is empty. */
static inline bool refused_hide(const char *folder) {
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mount("none", "/", "", MS_REC | MS_PRIVATE, "") == 0 && mount("none", folder, "tmpfs", 0, "") == 0;
}

/* In a process of its own, which has `folder` empty, or, where that is NULL, is refused `system_call`. */
static inline struct refused refused_without(refused_attempt *attempt, const char *folder, int system_call,
                                             int error) {
    struct refused none = {0};
    struct refused *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return none;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (folder != NULL ? refused_hide(folder) : refused_load(system_call, error)) {
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

static inline struct refused refused_try(refused_attempt *attempt, int system_call, int error) {
    return refused_without(attempt, NULL, system_call, error);
}

static inline struct refused refused_hidden(refused_attempt *attempt, const char *folder) {
    return refused_without(attempt, folder, 0, 0);
}

#endif
