/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/block.h - a basic block as the model sees it: instructions with their costs, what they read and
 * write, and how long each value takes through them. */
#ifndef ISAPROBE_ONCORE_BLOCK_H
#define ISAPROBE_ONCORE_BLOCK_H

#include "oncore/cost.h"

/* What carries a value from one instruction to the next: registers by file (the narrow names of a register
 * are the register), the carry flag, the overflow flag, and all others as one, as cores rename them. Memory
 * is told apart by address. */
enum core_resource {
    CORE_RESOURCE_GPR = 0,
    CORE_RESOURCE_RSP = 4,
    CORE_RESOURCE_RBP = 5,
    CORE_RESOURCE_VECTOR = 16,
    CORE_RESOURCE_MASK = 48,
    CORE_RESOURCE_X87 = 56,
    CORE_RESOURCE_MMX = 64,
    CORE_RESOURCE_TILE = 72,
    CORE_RESOURCE_CARRY = 80,
    CORE_RESOURCE_OVERFLOW = 81,
    CORE_RESOURCE_FLAGS = 82,
    CORE_RESOURCES = 83
};
/* "rax", "zmm3", "k1", "CF", "flags". Static storage. */
const char *core_resource_name(unsigned resource);

enum { CORE_SOURCES_MAX = 14, CORE_TARGETS_MAX = 8, CORE_INSTRUCTION_TEXT = 96 };

struct core_instruction {
    uint32_t offset;
    uint8_t length;
    const struct core_cost *cost;     /* borrowed from the costs */
    const struct core_cost *executed; /* whose µops it takes: its own cost, or that of the branch fused with
                                         it, where rename would do it alone or the tables lack it; borrowed */
    const char *syntax; /* borrowed: by which the core's facts name it; `cost` may be that of a zero */
    struct isa_binding binding;

    /* Values that it waits for. The first address_count of them make its address; latency[t][s] is from the
     * s-th source to the t-th target, for a load's address the whole way through memory. */
    uint8_t sources[CORE_SOURCES_MAX], source_count, address_count;
    uint8_t targets[CORE_TARGETS_MAX], target_count;
    float latency[CORE_TARGETS_MAX][CORE_SOURCES_MAX];
    float through_load[CORE_TARGETS_MAX]; /* from the address to the target */
    uint16_t late;                        /* bit s: the form's bypass is not of the s-th source */
    float to_store; /* from its slowest source, which may be a load, to what it stores; of a plain store 0 */
    float index_more; /* cycles that its load takes longer for the index of its address */

    uint8_t x87_top;    /* the register that is ST0 before it, counted from the block's first ST0 */
    int8_t memory;      /* position of its memory operand; -1: none */
    bool clears;        /* it writes vector registers 0 to 15, which are none of its targets */
    bool general;       /* it writes a general register */
    bool at_once;       /* ... in a cycle or two */
    bool loads, stores; /* explicit or implicit memory */
    bool stack;         /* through RSP, which it moves: PUSH, POP */
    bool loads_rsp;     /* ... and what it loads is RSP's new value: POP RSP */
    bool answered;      /* a CALL and a RET of the block that answers it */
    double pair_cycles; /* what the CALL and the RET take of which this is one, the one that counts; 0 */
    bool copies;        /* it loads from one place and stores to another: PUSH and POP of memory, MOVS */
    bool syncs;     /* names RSP after such an instruction moved it: RSP comes stack_sync later, to it and to
                       all that follow */
    uint16_t bytes; /* of the access */
    bool renamed;   /* takes a slot and no port */
    uint8_t apart;  /* slots more that an index costs: it parts a load or store and its operation */
    double slots;   /* issue slots, when it is not fused with the one before */
    bool idiom;     /* same register for both sources: its result waits for nothing */
    bool fused;     /* with the instruction before it: no slot, no port of its own */
    bool joined;    /* a move that the instruction behind it takes into its slot */
    bool back;      /* a branch back into the block that does not close it: an inner loop, counted once */
    uint32_t
        ports; /* of its operation, where a branch that is fused with it decides them; 0: as the form's */
    uint32_t closed; /* ports of the form's that it does without, where it has others, beside 512 bits */
};

struct core_block {
    struct core_instruction *items; /* owned */
    size_t count;
    const uint8_t *code; /* borrowed */
    size_t code_bytes;
    double load_cycles; /* of a plain load from its address; NaN: unknown */
    double stack_sync;  /* cycles; 0 where it is not known */
};

/* The terms of `executed` that it takes: none where it is renamed, or fused with the one before. */
unsigned core_term_count(const struct core_instruction *instruction);
/* The ports of the t-th of these terms. */
uint32_t core_term_ports(const struct core_instruction *instruction, unsigned t);

/* Decodes `code` (borrowed: it must outlive the block) and looks every form up. IP_SYNTAX with the offset
 * when the bytes are no instruction or end in the middle of one. */
IP_CHECK enum ip_status core_block_decode(struct core_block *block, const uint8_t *code, size_t code_bytes,
                                          struct core_costs *costs, struct ip_error *err);
void core_block_fini(struct core_block *block); /* all-zero is fine */

#endif
