/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_flags.h - the flags of simple integer instructions, to choose operands for which a conditional
 * jump is not taken (Intel SDM, volume 1, appendix A and B). Pure. Internal to probe/. */
#ifndef ISAPROBE_PROBE_CORE_FLAGS_H
#define ISAPROBE_PROBE_CORE_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CORE_CONDITIONS = 16, /* in the order of their encoding: o no b nb z nz be nbe s ns p np l nl le nle */
    CORE_FLAGS_VALUES = 9
};

enum core_operation { CORE_ADD, CORE_SUB, CORE_AND, CORE_OR, CORE_XOR, CORE_INC, CORE_DEC, CORE_NEG };

/* Value number `index` of a destination of `bits` bits, sign-extended to 64: small ones, and both ends. */
uint64_t core_flags_value(unsigned index, unsigned bits);

/* Is `condition` true after `operation` on destination `a` and source `b`? CF is clear before. */
bool core_flags_true(enum core_operation operation, unsigned bits, uint64_t a, uint64_t b,
                     unsigned condition);

#endif
