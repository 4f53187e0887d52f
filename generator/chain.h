/* SPDX-License-Identifier: Apache-2.0 */
/* generator/chain.h - the plan of a latency chain: where the value lives between its links. */
#ifndef ISAPROBE_GENERATOR_CHAIN_H
#define ISAPROBE_GENERATOR_CHAIN_H

#include "generator/pool.h"
#include "generator/shapes.h"

enum {
    GEN_LINKS_MAX = 10,
    GEN_ROTATION_MAX = 12,
    /* What was written so many links ago is there, and each line has to be assembled. A power of two: in
     * rounds of two and four links a register is always written by the same one (docs/kernels.md). */
    GEN_ROTATION_USUAL = 8
};

enum gen_place { GEN_PLACE_REGISTER, GEN_PLACE_FLAGS, GEN_PLACE_MEMORY };

/* Where the value is at some moment. */
struct gen_location {
    enum gen_place place;
    enum gen_file file;
    enum isa_reg_class reg_class;
    uint8_t number;
};

/* One end of a link: what it reads or writes. `number` -1: the generator chooses. */
struct gen_end {
    enum gen_place place;
    enum gen_file file;
    enum isa_reg_class reg_class;
    int number;
};

/* How a link that moves the x87 stack is balanced. */
enum gen_x87_way {
    GEN_X87_STAYS,
    GEN_X87_FREES,        /* the far end of the stack is marked empty before it pushes */
    GEN_X87_POPS,         /* what it pushed is popped */
    GEN_X87_LOADS_BEFORE, /* what it will pop is loaded */
    GEN_X87_LOADS_AFTER,  /* it popped the value itself; something else takes its place */
};

struct gen_link_plan {
    const struct isa_form *form;
    int src, dst;
    struct gen_end in, out;
    bool in_place; /* one operand is both: the value stays where it is */
    bool keeps;    /* the source's value is kept in GEN_REG_KEEPER by xor */
    int pointer; /* the pointer that the form names itself, a string's, which is renewed from there; -1: none
                  */
    bool address, index;
    bool late_load; /* of what this link stores: see gen_link */
    bool same;      /* the sources beside the chain, of its file, are the same register as the source */
    enum gen_x87_way x87;
    int fixed_number; /* register that holds the value after this link, -1: rotating */
    uint8_t
        scratch[ISA_OPERANDS_MAX]; /* slice + 1 of each operand that is written beside the chain; 0: none */
};

struct gen_chain {
    struct gen_link_plan links[GEN_LINKS_MAX];
    unsigned count;
    struct gen_pool pool;
    unsigned rotation;          /* registers that rotate in each slice */
    unsigned rounds;            /* of the chain in a unit */
    bool chain_in[GEN_FILES];   /* the value passes through this file: its first slice belongs to the chain */
    bool memory;                /* the value passes through memory */
    bool memory_rotates;        /* ... at a fresh address each time: a link merges what it writes into it */
    bool pointers;              /* the chain's registers hold pointers (pointer chase) */
    unsigned cursor[GEN_FILES]; /* where the rotations are while the unit is written */
    unsigned memory_slot;
};

IP_CHECK enum ip_status gen_chain_plan(struct gen_chain *chain, const struct gen_link *links, unsigned count,
                                       unsigned registers, struct ip_error *err);
/* The register at position `round` of a slice. */
unsigned gen_chain_slice(const struct gen_chain *chain, enum gen_file file, unsigned slice, unsigned round);
/* True when an instruction of the unit writes the flags. */
bool gen_chain_writes_flags(const struct gen_chain *chain);
/* True when an instruction of the unit writes this register, which is not one that rotates. */
bool gen_chain_writes_fixed(const struct gen_chain *chain, enum gen_file file, unsigned number);

#endif
