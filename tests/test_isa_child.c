/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of isa/child: the end of a child, and who else may take it. */
#include "isa/child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t child_new(int code) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(code);
    }
    return child;
}

static void test_end(void **state) {
    (void)state;
    struct ip_error err = {0};
    int ended = 0;
    assert_int_equal(isa_child_wait(child_new(3), "as", &ended, &err), IP_OK);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 3);
}

/* With SIGCHLD ignored the kernel keeps nothing of a child, and another thread may have waited for it. */
static void test_end_is_lost(void **state) {
    (void)state;
    struct ip_error err = {0};
    int ended = 77;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    enum ip_status status = isa_child_wait(child_new(0), "as", &ended, &err);
    (void)signal(SIGCHLD, before);
    assert_int_equal(status, IP_CAPABILITY);
    assert_non_null(strstr(err.text, "how as ended is lost"));
    assert_non_null(strstr(err.text, "SIGCHLD"));
    assert_int_equal(ended, 77); /* untouched */
    pid_t child = child_new(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(isa_child_wait(child, "as", &ended, &err), IP_CAPABILITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_end), cmocka_unit_test(test_end_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
