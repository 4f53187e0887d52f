/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_flags.h"

uint64_t core_flags_value(unsigned index, unsigned bits) {
    static const int64_t small[] = {0, 1, 2, 3, 5, -1, -5};
    enum { SMALL = sizeof small / sizeof small[0] };
    uint64_t least = ~UINT64_C(0) << (bits - 1); /* sign bit and all above it */
    return index < SMALL ? (uint64_t)small[index] : (index == SMALL ? least : ~least);
}

struct flags {
    bool carry, parity, zero, sign, overflow;
};

static struct flags flags_after(enum core_operation operation, unsigned bits, uint64_t a, uint64_t b) {
    uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    uint64_t top = UINT64_C(1) << (bits - 1);
    struct flags flags = {0};
    uint64_t result = 0;
    a &= mask;
    b &= mask;
    switch (operation) {
    case CORE_INC:
    case CORE_DEC:
        b = 1;
        break;
    case CORE_NEG:
        b = a;
        a = 0;
        break;
    default:
        break;
    }
    switch (operation) {
    case CORE_ADD:
    case CORE_INC:
        result = (a + b) & mask;
        flags.carry = operation == CORE_ADD && result < a;
        flags.overflow = ((a ^ result) & (b ^ result) & top) != 0;
        break;
    case CORE_SUB:
    case CORE_DEC:
    case CORE_NEG:
        result = (a - b) & mask;
        flags.carry = operation != CORE_DEC && a < b;
        flags.overflow = ((a ^ b) & (a ^ result) & top) != 0;
        break;
    case CORE_AND:
        result = a & b;
        break;
    case CORE_OR:
        result = a | b;
        break;
    case CORE_XOR:
        result = a ^ b;
        break;
    }
    flags.zero = result == 0;
    flags.sign = (result & top) != 0;
    flags.parity = __builtin_parityll(result & 0xff) == 0;
    return flags;
}

bool core_flags_true(enum core_operation operation, unsigned bits, uint64_t a, uint64_t b,
                     unsigned condition) {
    struct flags flags = flags_after(operation, bits, a, b);
    bool less = flags.sign != flags.overflow;
    const bool even[CORE_CONDITIONS / 2] = {
        flags.overflow, flags.carry,  flags.zero, flags.carry || flags.zero,
        flags.sign,     flags.parity, less,       less || flags.zero};
    return even[condition / 2] != (condition % 2 != 0);
}
