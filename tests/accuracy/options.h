/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/options.h - what the command line of `accuracy` asks for. */
#ifndef ISAPROBE_TESTS_ACCURACY_OPTIONS_H
#define ISAPROBE_TESTS_ACCURACY_OPTIONS_H

#include <stdbool.h>

#include "tests/accuracy/reference.h"

struct options {
    const char *timer, *differences, *reference, *form;
    bool all;
    bool scopes[REFERENCE_UNMAPPED]; /* which groups of rows to compare */

    bool ports;
    unsigned sample;   /* one row of so many; 0: all */
    unsigned seconds;  /* stop measuring after so long and compare what there is; 0: when all is done */
    unsigned repeat;   /* measure so many times, and tell how often all agree; 0: once */
    const char *store; /* take the port map from there; NULL: measure it */
    const char *wide;  /* LLVM's table of 512-bit rows, without `ports` the group "model"; NULL: none */
};

#endif
