/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_params.h - the parameters of a core, as far as they are known: how wide its stages are, how long
 * memory takes, which instructions it fuses or removes. Measured by `isaprobe core`, kept in the store's
 * table `core`, used by the on-core model (oncore/).
 *
 * A parameter is a number with a name (enum probe_core_key); what is not known is marked so, and the model
 * then leaves out the bound that needs it. A fact is a number about one or two instruction forms, named by
 * their syntax:
 *
 *   "fuse"      first form and conditional jump: 1 when the pair takes one issue slot, 0 when it takes two
 *   "eliminate" form: cycles of one link in a dependent chain of it, where that is below one ("mov r64, r64")
 *   "micro", "micro_index"  form with a memory operand: its issue slots, addressed by a base, and by base and
 *               index
 *   "idiom"     form with the same register for both sources: 2 when it takes no port either (it is done at
 *               rename), 1 when only the dependence is broken, 0 when neither ("xor r32, r32")
 *   "after"     form: cycles more that it waits for a number which rename added an immediate to
 *
 *   "branch"    form: 1 when a taken branch takes a port from it, 0 when not ("shl r64, imm8")
 *
 *   "wide"      form of a narrower vector: 1 when it loses a port while 512 bits are in flight, 0 when not
 *               ("vmulpd ymm, ymm, ymm")
 *
 *   "output"    form: cycles that an instance waits for the one before with the same destination, which it
 *               only writes; 0 when it does not wait
 *
 * Pure: no clock, no CPU state, no stdio. */
#ifndef ISAPROBE_PROBE_CORE_PARAMS_H
#define ISAPROBE_PROBE_CORE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "isa/form.h"

enum probe_core_key {
    PROBE_CORE_ISSUE_WIDTH,  /* slots a cycle */
    PROBE_CORE_RETIRE_WIDTH, /* slots a cycle */
    PROBE_CORE_NOP_SLOTS, /* issue slots of a NOP behind another instruction: 0 where it shares that one's */
    PROBE_CORE_PORTS_IN_TURN,   /* 1: ports are given to µops in turn, whatever waits for them; 0: not so */
    PROBE_CORE_PREDECODE_BYTES, /* bytes of code a cycle, when neither µop cache nor loop buffer serves */
    PROBE_CORE_DECODE_WIDTH,    /* one-slot instructions a cycle, from the decoders */
    PROBE_CORE_DECODE_COMPLEX,  /* instructions of several slots a cycle, from the decoders */
    PROBE_CORE_LCP_STALL,       /* cycles that a length-changing prefix costs the predecoder */
    PROBE_CORE_UOP_CACHE_WIDTH, /* slots a cycle from the µop cache */
    PROBE_CORE_UOP_CACHE_SLOTS, /* its capacity */
    PROBE_CORE_UOP_CACHE_BYTES, /* bytes of code beyond which a loop leaves it */
    PROBE_CORE_LOOP_BUFFER_SLOTS,   /* capacity of the loop buffer; 0: there is none, or it gains nothing */
    PROBE_CORE_TAKEN_BRANCH,        /* cycles between two taken branches, at best: of the smallest loop */
    PROBE_CORE_LOAD_BASE,           /* L1 load to use, general-purpose register, [base] */
    PROBE_CORE_LOAD_DISPLACEMENT,   /* [base + large displacement] */
    PROBE_CORE_LOAD_INDEX,          /* [base + index * scale] */
    PROBE_CORE_LOAD_INDEX_UNSCALED, /* [base + index] */
    PROBE_CORE_LOAD_VECTOR,         /* to a vector register */
    PROBE_CORE_LEA_INDEX,           /* address computed, not accessed: base + index */
    PROBE_CORE_LEA_SCALED,          /* base + index * scale */
    PROBE_CORE_LEA_DISPLACEMENT,    /* base + number */
    PROBE_CORE_LEA_THREE,           /* base + index + number: from the base ... */
    PROBE_CORE_LEA_THREE_INDEX,     /* ... and from the index */
    PROBE_CORE_LEA_THREE_RATE,      /* such LEAs a cycle */
    PROBE_CORE_STACK_SYNC, /* cycles that RSP comes later to what names it, after PUSH or POP moved it */
    PROBE_CORE_STACK_SYNC_ADDRESS, /* cycles more of loads at [rsp] behind a PUSH and a POP */
    PROBE_CORE_STACK_MOVE,         /* cycles that a move from RSP and one back take */
    /* Store and load of one address by the same registers, in a loop of few such pairs: data to data */
    PROBE_CORE_STORE_FORWARD,
    PROBE_CORE_STORE_FORWARD_MANY, /* ... and of more than the core remembers */
    PROBE_CORE_STORE_FORWARD_FAR,  /* ... when the address is computed anew, so that it is not predicted */
    PROBE_CORE_STORE_FORWARD_VECTOR,
    PROBE_CORE_STORE_FORWARD_BLOCKED, /* a load wider than the store before it */
    PROBE_CORE_STORE_FORWARD_OTHER,   /* ... named by another register, in a loop of few such pairs */
    PROBE_CORE_STORE_FORWARD_LONG,    /* ... and of more than the core remembers */
    PROBE_CORE_STORE_FORWARD_PAIRS,   /* how many it remembers */
    PROBE_CORE_STORE_FORWARD_ADDED,   /* ... named by RSP, to which numbers were added, in long code */
    PROBE_CORE_STORE_FORWARD_WRITTEN, /* ... which was written in another way, in a loop of few such pairs */
    PROBE_CORE_ROB_SLOTS,             /* reorder buffer */
    PROBE_CORE_SCHEDULER_UOPS,        /* µops that wait for their operands */
    PROBE_CORE_LOAD_BUFFER,
    PROBE_CORE_STORE_BUFFER,
    PROBE_CORE_L1I_BYTES,        /* code beyond which a loop leaves the instruction cache */
    PROBE_CORE_UOP_CACHE_WINDOW, /* slots in 64 bytes of code beyond which they do not enter the µop cache */
    PROBE_CORE_TAKEN_BRANCH_FAR, /* cycles between two taken branches, when a loop has more of them ... */
    PROBE_CORE_TAKEN_BRANCH_NEAR, /* ... than so many */
    PROBE_CORE_LOAD_YMM,          /* as LOAD_VECTOR */
    PROBE_CORE_LOAD_ZMM,
    PROBE_CORE_LOAD_LINE_CROSS, /* cycles more for a load that lies in two cache lines */
    PROBE_CORE_LOAD_PAGE_CROSS, /* ... in two pages of 4 KiB */
    PROBE_CORE_LOAD_ALIAS,      /* cycles more for a load after a store 4 KiB away */
    PROBE_CORE_LOAD_RATE,       /* loads a cycle, general-purpose registers */
    PROBE_CORE_LOAD_RATE_128,
    PROBE_CORE_LOAD_RATE_256,
    PROBE_CORE_LOAD_RATE_512,
    PROBE_CORE_LOAD_RATE_STRIDE, /* ... from different cache lines */
    PROBE_CORE_LOAD_RATE_CROSS,  /* ... that lie in two cache lines */
    PROBE_CORE_STORE_RATE,       /* stores a cycle, to one cache line */
    PROBE_CORE_STORE_RATE_256,
    PROBE_CORE_STORE_RATE_512,
    PROBE_CORE_STORE_RATE_STRIDE, /* ... to different cache lines */
    PROBE_CORE_STORE_PAIR_BYTES,  /* two stores enter the cache in one cycle if both lie in one aligned block
                                     of so many bytes; 0: any two ... */
    PROBE_CORE_STORE_ROW,         /* ... 1: and all that follow each other into one */
    PROBE_CORE_STORE_READ,        /* ... 1: but not where a load takes its data from one of them */
    PROBE_CORE_GPR_FILE,          /* results that general-purpose registers can hold for unretired µops */
    PROBE_CORE_VECTOR_FILE,
    PROBE_CORE_BRANCH_BUFFER, /* unretired conditional jumps */
    PROBE_CORE_APART_SLOTS, /* an instruction that is taken apart begins in the first so many slots of a cycle
                             */
    PROBE_CORE_ISSUE_AGAIN, /* 1: an operation that is issued with one of a cycle that it waits for takes its
                               port twice */
    PROBE_CORE_LINE_CONSTANTS, /* 1: an entry of decoded code holds only as many displacements and immediates
                                  as instructions */
    PROBE_CORE_LINE_ENTRY,     /* instructions in such an entry (probe/entries.h; "line N", a fact) */
    PROBE_CORE_LINE_ACROSS,    /* 1: one that is not full goes on in the next line */
    PROBE_CORE_LOAD_TURNS,     /* cycles more for two loads in a row, among loads that have fewer ports: the
                                  second goes to the ports that the first did not take */
    PROBE_CORE_STORE_FORWARD_CHANGED, /* from ADD to ADD of one place in memory, whose address is loaded anew
                                       */
    PROBE_CORE_KEYS
};

enum { PROBE_CORE_HOW_MAX = 192 }; /* room for a measurement's reason behind its own */

struct probe_core_value {
    bool known;
    double value;
    double spread;                /* of repeated measurements, relative; NaN: not known */
    char how[PROBE_CORE_HOW_MAX]; /* in words: the experiment */
};

enum { PROBE_CORE_FACT_MAX = 2 * ISA_SYNTAX_MAX + 24 };

struct probe_core_fact {
    char key[PROBE_CORE_FACT_MAX]; /* "fuse cmp r64, r64 + jz rel8", "output popcnt r64, r64" */
    struct probe_core_value value;
};

/* All-zero: nothing is known. */
struct probe_core {
    struct probe_core_value values[PROBE_CORE_KEYS];
    struct probe_core_fact *facts; /* owned; sorted by key */
    size_t fact_count, fact_capacity;
};

void probe_core_fini(struct probe_core *core); /* all-zero is fine */

/* "issue_width" ...: the name in the store and on the command line. */
const char *probe_core_key_name(enum probe_core_key key);
/* "slots a cycle" ...: its unit, for people. */
const char *probe_core_key_unit(enum probe_core_key key);

/* The value, or NaN when it is not known. */
double probe_core_get(const struct probe_core *core, enum probe_core_key key);

/* Sets the parameter or fact that is called `key`, replacing what was there. `how` may be NULL. IP_USAGE when
 * `key` is neither a parameter's name nor begins like a fact; IP_NO_MEMORY. */
IP_CHECK enum ip_status probe_core_set(struct probe_core *core, const char *key, double value, double spread,
                                       const char *how, struct ip_error *err);

/* What was recorded of the parameter or fact that is called `key`, known or not, or NULL. Borrowed until the
 * next probe_core_set. */
const struct probe_core_value *probe_core_find(const struct probe_core *core, const char *key);

/* The fact about `form` (and `second`, which may be NULL), or NULL when nothing is known. Borrowed until the
 * next probe_core_set. */
const struct probe_core_value *probe_core_fact_get(const struct probe_core *core, const char *kind,
                                                   const char *form, const char *second);

/* The facts whose keys begin with `start` ("fuse ", "after shl "): *count of them, in a row; NULL for none.
 * Borrowed until the next probe_core_set. */
const struct probe_core_fact *probe_core_facts_find(const struct probe_core *core, const char *start,
                                                    size_t *count);

/* Writes the key of a fact; `buffer` holds PROBE_CORE_FACT_MAX bytes. Returns it. */
const char *probe_core_fact_key(const char *kind, const char *form, const char *second, char *buffer);

#endif
