/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cpus.h"

/* What the child's own code calls between two kernels, and nothing that reaches outside the process but the
 * wire to its parent: read(2) is for that and for PAPI's counters, mmap (never executable) for pages that a
 * block touches. */
static int filter_rules_add(scmp_filter_ctx filter) {
    static const int allowed[] = {SCMP_SYS(exit_group), SCMP_SYS(exit), SCMP_SYS(rt_sigreturn),
                                  SCMP_SYS(setitimer),  SCMP_SYS(read), SCMP_SYS(munmap),
                                  SCMP_SYS(sigaltstack)};
    int code = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0] && code == 0; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    }
    if (code == 0) {
        code =
            seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, HX_WIRE_FD, 0));
    }
    if (code == 0) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    }
    return code;
}

enum ip_status hx_sandbox_init(struct hx_sandbox *sandbox, struct ip_error *err) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (filter == NULL) {
        return ip_fail(err, IP_CAPABILITY, "cannot prepare the seccomp filter for the measuring process");
    }
    int code = filter_rules_add(filter);
    if (code != 0) {
        seccomp_release(filter);
        return ip_fail_errno(err, IP_CAPABILITY, -code,
                             "cannot prepare the seccomp filter for the measuring process");
    }
    sandbox->filter = filter;
    return IP_OK;
}

void hx_sandbox_fini(struct hx_sandbox *sandbox) {
    if (sandbox->filter != NULL) {
        seccomp_release(sandbox->filter);
        sandbox->filter = NULL;
    }
}

int hx_cpu_pin(pid_t pid, int cpu) {
    struct ip_cpus only = {0};
    ip_cpus_add(&only, cpu);
    return ip_cpus_allow(pid, &only);
}

int hx_sandbox_enter(int cpu) {
    struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    return hx_cpu_pin(0, cpu);
}

void hx_sandbox_exit(void) {
    for (;;) {
        (void)syscall(SYS_exit_group, 0);
    }
}

int hx_sandbox_close(const struct hx_sandbox *sandbox) {
    int code = seccomp_load(sandbox->filter);
    return code == 0 ? 0 : -code;
}
