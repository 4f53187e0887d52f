/* SPDX-License-Identifier: Apache-2.0 */
/* tests/brief.h - tests of a file that go over the same code once more, for its results only: under memcheck,
 * which looks at the code, they would take minutes. Each branch that they take another test takes there, too
 * (gcov -b of each test by itself tells). */
#ifndef ISAPROBE_TESTS_BRIEF_H
#define ISAPROBE_TESTS_BRIEF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* tests/unit.sh --valgrind sets the variable. */
static inline void skip_under_memcheck(void) {
    if (getenv("ISAPROBE_TEST_BRIEF") != NULL) {
        skip();
    }
}

#endif
