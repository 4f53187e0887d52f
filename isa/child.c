/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/child.h"

#include <errno.h>
#include <sys/wait.h>

enum ip_status isa_child_wait(pid_t child, const char *program, int *state, struct ip_error *err) {
    int ended = 0;
    while (waitpid(child, &ended, 0) < 0) {
        if (errno == ECHILD) {
            return ip_fail(err, IP_CAPABILITY,
                           "how %s ended is lost: the program that asks for it ignores SIGCHLD, or waits for "
                           "children that are not its own; SIGCHLD must be at its default meanwhile",
                           program);
        }
        if (errno != EINTR) {
            return ip_fail_errno(err, IP_FAILED, errno, "lost %s (process %ld)", program, (long)child);
        }
    }
    *state = ended;
    return IP_OK;
}
