/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/starter.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum request_kind { REQUEST_START, REQUEST_WAIT, REQUEST_FORGET };

enum { START_FDS = 3 }; /* shared memory, code, wire */

/* To the starter; with REQUEST_START the descriptors go along. */
struct request {
    enum request_kind kind;
    pid_t pid;
    size_t shared_bytes;
};

/* From the starter, when it is ready and to each request but REQUEST_FORGET. */
struct reply {
    pid_t pid; /* of the new process; -1: none, for `error` */
    int error;
    int wait_status;
};

/* A message with room for descriptors. */
struct envelope {
    struct iovec part;
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(START_FDS * sizeof(int))];
    struct msghdr message;
};

static void envelope_address(struct envelope *envelope, struct request *request, bool descriptors) {
    memset(envelope, 0, sizeof *envelope);
    envelope->part = (struct iovec){.iov_base = request, .iov_len = sizeof *request};
    envelope->message = (struct msghdr){.msg_iov = &envelope->part, .msg_iovlen = 1};
    if (descriptors) {
        envelope->message.msg_control = envelope->control;
        envelope->message.msg_controllen = sizeof envelope->control;
    }
}

static bool request_send(const struct hx_starter *starter, struct request *request,
                         const int fds[START_FDS]) {
    struct envelope envelope;
    envelope_address(&envelope, request, fds != NULL);
    if (fds != NULL) {
        struct cmsghdr *rights = CMSG_FIRSTHDR(&envelope.message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(START_FDS * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, START_FDS * sizeof(int));
    }
    ssize_t sent = 0;
    do {
        sent = sendmsg(starter->wire, &envelope.message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *request;
}

/* Returns false where nobody asks any more. fds: those that came along. */
static bool request_receive(int wire, struct request *request, int fds[START_FDS]) {
    struct envelope envelope;
    envelope_address(&envelope, request, true);
    ssize_t got = 0;
    do {
        got = recvmsg(wire, &envelope.message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const struct cmsghdr *rights = got > 0 ? CMSG_FIRSTHDR(&envelope.message) : NULL;
    if (rights != NULL && rights->cmsg_len == CMSG_LEN(START_FDS * sizeof(int))) {
        memcpy(fds, CMSG_DATA(rights), START_FDS * sizeof(int));
    }
    return got == (ssize_t)sizeof *request && (request->kind != REQUEST_START || rights != NULL);
}

static bool reply_receive(const struct hx_starter *starter, struct reply *reply) {
    ssize_t got = 0;
    do {
        got = recv(starter->wire, reply, sizeof *reply, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *reply;
}

static int end_wait(pid_t pid) {
    int wait_status = 0;
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return wait_status;
}

/* From now on this process dies with its parent; at once, where that has died already. Returns 0 or an errno
 * value: the system does not let it. */
static int dies_with(pid_t parent) {
    int error = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? 0 : errno;
    if (getppid() != parent) {
        _exit(1);
    }
    return error;
}

static struct reply process_start(int wire, const struct request *request, const int fds[START_FDS],
                                  hx_start_main *main, const void *self) {
    const struct hx_start start = {
        .shared_fd = fds[0], .code_fd = fds[1], .wire = fds[2], .shared_bytes = request->shared_bytes};
    pid_t starter = getpid(), pid = fork();
    if (pid == 0) {
        (void)close(wire);
        if (dies_with(starter) == 0) {
            main(self, &start);
        }
        _exit(1);
    }
    const struct reply reply = {.pid = pid, .error = pid < 0 ? errno : 0};
    for (size_t i = 0; i < START_FDS; i++) {
        (void)close(fds[i]);
    }
    return reply;
}

/* Serves until nobody asks any more. A terminal's Ctrl-C is for who asks, who may still want to finish. */
static _Noreturn void starter_run(int wire, pid_t parent, hx_start_main *main, const void *self) {
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        (void)signal(ignored[i], SIG_IGN);
    }
    (void)signal(SIGCHLD, SIG_DFL);
    const struct reply ready = {.error = dies_with(parent)};
    bool good = send(wire, &ready, sizeof ready, MSG_NOSIGNAL) > 0 && ready.error == 0;
    struct request request;
    int fds[START_FDS];
    while (good && request_receive(wire, &request, fds)) {
        struct reply reply = {0};
        if (request.kind == REQUEST_START) {
            reply = process_start(wire, &request, fds, main, self);
        } else {
            reply.wait_status = end_wait(request.pid);
        }
        if (request.kind != REQUEST_FORGET && send(wire, &reply, sizeof reply, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    _exit(0);
}

static enum ip_status is_gone(struct ip_error *err) {
    return ip_fail(err, IP_FAILED,
                   "the starter of measuring processes is gone: somebody killed it; try again");
}

void hx_starter_close(struct hx_starter *starter) {
    if (starter->pid > 0) {
        (void)kill(starter->pid, SIGKILL);
        (void)end_wait(starter->pid);
        (void)close(starter->wire);
    }
    *starter = (struct hx_starter){0};
}

enum ip_status hx_starter_open(struct hx_starter *starter, hx_start_main *main, const void *self,
                               struct ip_error *err) {
    int wires[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wires) != 0) {
        return ip_fail_errno(err, ip_refusal_or(errno, IP_FAILED), errno,
                             "cannot make a wire to the starter of measuring processes");
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void)close(wires[0]);
        starter_run(wires[1], parent, main, self);
    }
    int error = errno;
    (void)close(wires[1]);
    if (pid < 0) {
        (void)close(wires[0]);
        return ip_fail_errno(err, ip_refusal_or(error, IP_FAILED), error,
                             "cannot start the starter of measuring processes");
    }
    struct hx_starter opened = {.pid = pid, .wire = wires[0]};
    struct reply ready = {0};
    enum ip_status status = IP_OK;
    if (!reply_receive(&opened, &ready)) {
        status = is_gone(err);
    } else if (ready.error != 0) {
        status = ip_fail_errno(err, ip_refusal_or(ready.error, IP_FAILED), ready.error,
                               "the starter of measuring processes cannot be made to end with this process "
                               "(prctl; does a container or a seccomp filter forbid it?)");
    }
    if (status != IP_OK) {
        hx_starter_close(&opened);
        return status;
    }
    *starter = opened;
    return IP_OK;
}

enum ip_status hx_starter_start(const struct hx_starter *starter, const struct hx_start *start, pid_t *pid,
                                struct ip_error *err) {
    const int fds[START_FDS] = {start->shared_fd, start->code_fd, start->wire};
    struct request request = {.kind = REQUEST_START, .shared_bytes = start->shared_bytes};
    struct reply reply = {0};
    if (!request_send(starter, &request, fds) || !reply_receive(starter, &reply)) {
        return is_gone(err);
    }
    if (reply.pid < 0) {
        return ip_fail_errno(err, ip_refusal_or(reply.error, IP_FAILED), reply.error,
                             "cannot start the measuring process");
    }
    *pid = reply.pid;
    return IP_OK;
}

enum ip_status hx_starter_wait(const struct hx_starter *starter, pid_t pid, int *wait_status,
                               struct ip_error *err) {
    struct request request = {.kind = REQUEST_WAIT, .pid = pid};
    struct reply reply = {0};
    if (!request_send(starter, &request, NULL) || !reply_receive(starter, &reply)) {
        return is_gone(err);
    }
    *wait_status = reply.wait_status;
    return IP_OK;
}

void hx_starter_kill(const struct hx_starter *starter, pid_t pid) {
    (void)kill(pid, SIGKILL); /* its number is nobody else's until the starter has waited for it */
    struct request request = {.kind = REQUEST_FORGET, .pid = pid};
    (void)request_send(starter, &request, NULL); /* where it is gone, so are its processes */
}
