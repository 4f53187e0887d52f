/* SPDX-License-Identifier: Apache-2.0 */
/* harness/fault.c - what the child does when a kernel faults: record the outcome and end, or map the page and
 * go on. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "generator/abi.h"
#include "harness/call.h"
#include "harness/child.h"

enum {
    CHILD_POINTER_OFFSET = 0xf00, /* in the arena's control page: a handler has no other argument */
    HANDLER_STACK_BYTES = 65536,
};

static struct hx_child *fault_child(void) {
    struct hx_child *child = NULL;
    memcpy(&child, (const void *)(uintptr_t)(GEN_ARENA_ADDRESS + CHILD_POINTER_OFFSET), sizeof child);
    return child;
}

static void fault_end(struct hx_child *child, enum hx_outcome outcome, uint64_t address, int error) {
    child->shared->fault_address = address;
    child->shared->fault_errno = error;
    child->shared->outcome = outcome;
    hx_sandbox_exit();
}

/* An instruction that the CPU lacks did nothing: the process can go on, without the kernel. Thousands of
 * forms end so, and a process for each would take longer than all else that is done with them. */
static bool kernel_leave(const struct hx_child *child, ucontext_t *context) {
    greg_t *at = &context->uc_mcontext.gregs[REG_RIP];
    bool in_kernel =
        *at >= (greg_t)GEN_CODE_ADDRESS && *at < (greg_t)(GEN_CODE_ADDRESS + child->shared->code_bytes);
    if (in_kernel) {
        *at = (greg_t)(uintptr_t)hx_call_leave;
    }
    return in_kernel;
}

static void fault_handle(int signal_number, siginfo_t *info, void *context) {
    int saved_errno = errno;
    struct hx_child *child = fault_child();
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    switch (signal_number) {
    case SIGILL:
        if (!kernel_leave(child, context)) {
            fault_end(child, HX_OUTCOME_ILLEGAL, address, 0);
        }
        return;
    case SIGFPE:
        fault_end(child, HX_OUTCOME_ARITHMETIC, address, 0);
        return;
    case SIGTRAP:
        fault_end(child, HX_OUTCOME_TRAP, address, 0);
        return;
    case SIGSYS:
        fault_end(child, HX_OUTCOME_SYSCALL, (uint64_t)info->si_syscall, 0);
        return;
    case SIGALRM:
        if (child->alarmed == child->shared->current) {
            fault_end(child, HX_OUTCOME_TIMEOUT, 0, 0);
        }
        child->alarmed = child->shared->current;
        return;
    default:
        break;
    }
    uint32_t current = child->shared->current;
    bool wanted =
        current < child->shared->count && child->parts.kernels[child->parts.jobs[current].held].map_on_demand;
    if (signal_number != SIGSEGV || !wanted) {
        fault_end(child, HX_OUTCOME_SEGFAULT, address, 0);
    }
    if (info->si_code == SEGV_ACCERR) {
        fault_end(child, HX_OUTCOME_SEGFAULT, address, 0); /* a page of ours that is protected */
    }
    if (info->si_code != SEGV_MAPERR) {
        fault_end(child, HX_OUTCOME_PAGES, address, 0); /* SI_KERNEL: a non-canonical or misaligned access */
    }
    int error = hx_pages_map(child, address);
    if (error != 0) {
        fault_end(child, HX_OUTCOME_PAGES, address, error);
    }
    errno = saved_errno;
}

int hx_fault_handlers_install(struct hx_child *child) {
    void *stack = mmap(NULL, HANDLER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
        return errno;
    }
    memcpy((void *)(uintptr_t)(GEN_ARENA_ADDRESS + CHILD_POINTER_OFFSET), (const void *)&child, sizeof child);
    stack_t alternate = {.ss_sp = stack, .ss_size = HANDLER_STACK_BYTES};
    if (sigaltstack(&alternate, NULL) != 0) {
        return errno;
    }
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = fault_handle;
    (void)sigfillset(&action.sa_mask);
    static const int signals[] = {SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGALRM, SIGSEGV, SIGBUS};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], &action, NULL) != 0) {
            return errno;
        }
    }
    /* The parent's handlers are not for this process. A terminal's Ctrl-C is for the parent, who ends this
     * process or still waits for its jobs. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        (void)signal(ignored[i], SIG_IGN);
    }
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : errno;
}
