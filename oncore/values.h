/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/values.h - what can be told of the addresses that a block uses: general registers as "symbol +
 * number", followed from instruction to instruction, and what was stored where. Internal to oncore/.
 *
 * Symbol 0 is a plain number. At the start each register is a symbol of its own, or, in the protocol of BHive
 * (Chen et al. 2019), all registers and memory are one known number. */
#ifndef ISAPROBE_ONCORE_VALUES_H
#define ISAPROBE_ONCORE_VALUES_H

#include "oncore/block.h"
#include "oncore/word.h"

enum { CORE_STORES_KEPT = 64, CORE_LINES = 256, CORE_LINE_BYTES = 64 };

/* The registers that name a place, and how often each was written before: the same name is the same place
 * without looking at what the registers hold. */
struct core_name {
    int8_t base, index; /* -1: none */
    uint8_t scale;
    uint32_t base_writes, index_writes;
    uint32_t base_added; /* of RSP: additions of numbers, which are no writes */
};

struct core_store {
    struct core_word address, value;
    struct core_name name;
    uint16_t bytes;
    bool general; /* from a general register or an immediate */
    bool indexed;
    bool unnamed;                      /* no register names it */
    const struct core_instruction *by; /* borrowed */
    uint64_t serial;
    double data, commit; /* cycles: when the data is there, when it is in the cache */
};

struct core_values {
    struct core_word gprs[16];
    uint32_t writes[16];   /* of each register; PUSH and POP do not count, which decode follows ... */
    uint32_t added;        /* ... nor do additions of numbers to RSP, which it may follow */
    struct core_word code; /* where the block begins */
    struct core_words words;
    bool filled; /* memory that nobody wrote holds `fill` in each quadword */
    uint64_t fill;
    struct core_store stores[CORE_STORES_KEPT]; /* a ring */
    uint64_t store_count;
    uint16_t touched[CORE_LINES]; /* by a hash of cache lines: how many of `stores` touch it */
};

void core_values_init(struct core_values *values, bool filled, uint64_t fill);

/* Where an instruction loads and stores: one place, but for PUSH and POP of memory. */
struct core_places {
    bool loads, stores; /* it does, and the address can be followed */
    struct core_word load, store;
};
struct core_places core_values_places(struct core_values *values, const struct core_instruction *instruction);

/* The youngest store that overlaps the access; NULL: none that is known. */
struct core_store *core_values_find(struct core_values *values, struct core_word address, unsigned bytes);

/* Notes a store; the caller fills in the times. */
struct core_store *core_values_store(struct core_values *values, const struct core_instruction *instruction,
                                     struct core_word address);

/* Cycles from the store's data to the load's, when the store is still on its way. */
struct core_forwarding {
    double renamed; /* through the register file: general registers, a plain address on both sides */
    double alike;   /* ... at least */
    double other; /* ... at least, where another register names the place, or the same one with a new value */
    double added; /* ... at least, where both name it by RSP, and numbers were added to that between */
    double written;  /* ... at least, where both name it by RSP, which was written in another way between */
    double part;     /* ... at least, where the load begins behind the store, or one of them names no place */
    double changed;  /* ... at most, with the operation, where the load is of an instruction that stores its
                        result there; NaN: not known */
    double buffered; /* what an operation on memory takes through the store buffer, itself included; infinite
                        where that is not known */
    double far;      /* through the store buffer */
    double vector;
    double blocked; /* the load takes more than the store gave: it waits for the cache, and so much more */
    double load; /* from the address; what takes less did not wait for the address: the store was foretold */
};
/* `loop`: the block is the body of a loop, so that the core may learn which load meets which store, if it has
 * no more of them than the core remembers. */
void core_forwarding_read(struct core_forwarding *forwarding, const struct core_costs *costs,
                          const struct core_block *block, bool loop);
/* To the load of `where`, to which `values` have come. */
double core_forward_cycles(const struct core_forwarding *forwarding, const struct core_values *values,
                           const struct core_instruction *load, struct core_word where,
                           const struct core_store *store);

/* Is what takes so many cycles forwarded without the load's address? On a core whose store buffer passes data
 * on sooner than a load takes, whatever registers name the place. */
bool core_forward_foretold(const struct core_forwarding *forwarding, double cycles);

/* Follows the instruction: afterwards the registers hold its results. `forwarded` is the store that its load
 * hits, NULL when none. */
void core_values_step(struct core_values *values, const struct core_instruction *instruction,
                      const struct core_store *forwarded);

#endif
