/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/word.h - what a general register holds, as "symbol + number": what instructions make of such words.
 * The same of the same has the same symbol. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_WORD_H
#define ISAPROBE_ONCORE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "oncore/cost.h"

/* Symbol 0 is a plain number. */
struct core_word {
    uint32_t symbol;
    uint64_t number;
};

/* How a symbol was made of `a` and `b`: their sum, the second times `scale`, of symbols alone; `a` in fewer
 * bits, `scale` of them, its symbol alone; or what an action makes of both. Symbol 0: not used yet. */
struct core_made {
    unsigned how; /* CORE_MADE_SUM, CORE_MADE_NARROW or an enum core_action */
    struct core_word a, b;
    uint64_t scale;
    uint32_t symbol;
};

enum { CORE_MADE_SUM = 64, CORE_MADE_NARROW }; /* behind all actions */
enum { CORE_MADE_KEPT = 64 };

struct core_words {
    uint32_t symbols;                      /* given out so far */
    struct core_made made[CORE_MADE_KEPT]; /* a ring, in the order in which they were used last */
    uint32_t made_count;
};

struct core_word core_word_constant(uint64_t number);
/* A symbol of its own. */
struct core_word core_word_unknown(struct core_words *words);
/* a + b * scale */
struct core_word core_word_add(struct core_words *words, struct core_word a, struct core_word b,
                               uint64_t scale);
/* Its lower bits. Of a symbol these are taken to be positive and not to wrap around, as indices are, so that
 * extending them, in either way, changes nothing. */
struct core_word core_word_narrow(struct core_words *words, struct core_word word, unsigned bits);
/* What an action that adds, subtracts, shifts or the like makes of two operands; unknown of any other. */
struct core_word core_word_combine(struct core_words *words, enum core_action action, struct core_word a,
                                   struct core_word b);

#endif
