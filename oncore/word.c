/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/word.h"

#include <stddef.h>

enum { SHIFT_MOST = 6, FACTOR_MOST = 1 << 12 }; /* of a product that does not reach the end of 64 bits */

/* What a symbol stands for is not known; its numbers begin so far from 0 that they do not wrap around. */
static const uint64_t MIDDLE = UINT64_C(1) << 46;

struct core_word core_word_constant(uint64_t number) {
    return (struct core_word){.symbol = 0, .number = number};
}

struct core_word core_word_unknown(struct core_words *words) {
    return (struct core_word){.symbol = ++words->symbols, .number = MIDDLE};
}

static bool same(struct core_word a, struct core_word b) {
    return a.symbol == b.symbol && a.number == b.number;
}

/* What was made or used so many others ago, from 1 on. */
static struct core_made *made_at(struct core_words *words, uint32_t ago) {
    return &words->made[(words->made_count - ago) % CORE_MADE_KEPT];
}

static uint32_t made_kept(const struct core_words *words) {
    return words->made_count < CORE_MADE_KEPT ? words->made_count : CORE_MADE_KEPT;
}

/* Makes it the last that was used: what each pass uses is forgotten for nothing that is new in each. */
static const struct core_made *made_use(struct core_words *words, uint32_t ago) {
    const struct core_made used = *made_at(words, ago);
    for (; ago > 1; ago--) {
        *made_at(words, ago) = *made_at(words, ago - 1);
    }
    *made_at(words, 1) = used;
    return made_at(words, 1);
}

/* The last used first: most are made again soon. */
static uint32_t made_symbol(struct core_words *words, struct core_made made) {
    for (uint32_t ago = 1; ago <= made_kept(words); ago++) {
        const struct core_made *old = made_at(words, ago);
        if (old->how == made.how && old->scale == made.scale && same(old->a, made.a) &&
            same(old->b, made.b)) {
            return made_use(words, ago)->symbol;
        }
    }
    made.symbol = ++words->symbols;
    words->made[words->made_count++ % CORE_MADE_KEPT] = made;
    return made.symbol;
}

struct core_word core_word_add(struct core_words *words, struct core_word a, struct core_word b,
                               uint64_t scale) {
    const struct core_word of_a = {a.symbol, 0}, of_b = {b.symbol, 0};
    if (b.symbol != 0 && a.symbol == 0 && scale == 1) {
        a.symbol = b.symbol;
    } else if (b.symbol != 0) {
        const bool swap = scale == 1 && a.symbol > b.symbol;
        a.symbol = made_symbol(words, (struct core_made){.how = CORE_MADE_SUM,
                                                         .a = swap ? of_b : of_a,
                                                         .b = swap ? of_a : of_b,
                                                         .scale = scale});
    }
    a.number += b.number * scale;
    return a;
}

/* How the symbol was made; NULL: it was not, or that is forgotten. */
static const struct core_made *made_find(struct core_words *words, uint32_t symbol) {
    for (uint32_t ago = 1; ago <= made_kept(words); ago++) {
        if (made_at(words, ago)->symbol == symbol) {
            return made_use(words, ago);
        }
    }
    return NULL;
}

static bool is_narrow(struct core_words *words, uint32_t symbol, unsigned bits) {
    const struct core_made *made = made_find(words, symbol);
    return made != NULL && made->how == CORE_MADE_NARROW && made->scale <= bits;
}

struct core_word core_word_narrow(struct core_words *words, struct core_word word, unsigned bits) {
    if (bits == 0 || bits >= 64) {
        return word;
    }
    if (word.symbol == 0) {
        word.number &= (UINT64_C(1) << bits) - 1;
    } else if (!is_narrow(words, word.symbol, bits)) {
        const struct core_word of = {word.symbol, 0};
        word.symbol = made_symbol(words, (struct core_made){.how = CORE_MADE_NARROW, .a = of, .scale = bits});
    }
    return word;
}

static struct core_word subtract(struct core_words *words, struct core_word a, struct core_word b) {
    if (b.symbol == 0 || b.symbol == a.symbol) {
        return (struct core_word){.symbol = b.symbol == 0 ? a.symbol : 0, .number = a.number - b.number};
    }
    const struct core_made *made = made_find(words, b.symbol);
    const bool negated =
        made != NULL && made->how == CORE_MADE_SUM && made->a.symbol == 0 && made->scale == UINT64_MAX;
    struct core_word less =
        negated ? core_word_add(words, a, made->b, 1) : core_word_add(words, a, b, UINT64_MAX);
    less.number -= negated ? b.number : 0;
    less.number += MIDDLE; /* which went with b */
    return less;
}

static uint64_t shift_signed(uint64_t number, unsigned bits) {
    const uint64_t sign = UINT64_C(0) - (number >> 63);
    return bits == 0 ? number : number >> bits | sign << (64 - bits);
}

/* Of two numbers. */
static bool computed(enum core_action action, uint64_t a, uint64_t b, uint64_t *number) {
    switch (action) {
    case CORE_ACTION_AND:
        *number = a & b;
        return true;
    case CORE_ACTION_OR:
        *number = a | b;
        return true;
    case CORE_ACTION_XOR:
        *number = a ^ b;
        return true;
    case CORE_ACTION_SHIFT_LEFT:
        *number = a << (b & 63);
        return true;
    case CORE_ACTION_SHIFT_RIGHT:
        *number = a >> (b & 63);
        return true;
    case CORE_ACTION_SHIFT_SIGNED:
        *number = shift_signed(a, b & 63);
        return true;
    case CORE_ACTION_MULTIPLY:
        *number = a * b;
        return true;
    default:
        return false;
    }
}

struct core_word core_word_combine(struct core_words *words, enum core_action action, struct core_word a,
                                   struct core_word b) {
    uint64_t number = 0;
    if (action == CORE_ACTION_ADD) {
        return core_word_add(words, a, b, 1);
    }
    if (action == CORE_ACTION_SUBTRACT) {
        return subtract(words, a, b);
    }
    if (!computed(action, a.number, b.number, &number)) {
        return core_word_unknown(words);
    }
    if ((a.symbol == 0 && b.symbol == 0) || (action == CORE_ACTION_XOR && same(a, b))) {
        return core_word_constant(number);
    }
    if (action == CORE_ACTION_SHIFT_LEFT && b.symbol == 0 && b.number <= SHIFT_MOST) {
        return core_word_add(words, core_word_constant(0), a, UINT64_C(1) << b.number);
    }
    if (action == CORE_ACTION_MULTIPLY && b.symbol == 0 && b.number <= FACTOR_MOST) {
        return core_word_add(words, core_word_constant(0), a, b.number);
    }
    const bool nothing =
        b.symbol == 0 && b.number == 0 && (action == CORE_ACTION_OR || action == CORE_ACTION_XOR);
    return nothing ? a
                   : (struct core_word){
                         .symbol = made_symbol(words, (struct core_made){.how = action, .a = a, .b = b}),
                         .number = MIDDLE};
}
