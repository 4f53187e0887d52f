/* SPDX-License-Identifier: Apache-2.0 */
/* probe/transfer.h - the instructions that carry a value from the kind of a chain's destination back to the
 * kind of its source, and what each of them costs. docs/latency.md explains the rules. */
#ifndef ISAPROBE_PROBE_TRANSFER_H
#define ISAPROBE_PROBE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "isa/form.h"
#include "isa/table.h"
#include "probe/batch.h"

/* Where an operand lives. Registers of one file overlap, whatever their width. */
enum probe_file {
    PROBE_FILE_NONE, /* immediates, control registers: nothing that a chain could pass through */
    PROBE_FILE_GPR,
    PROBE_FILE_FLAGS,
    PROBE_FILE_VECTOR,
    PROBE_FILE_MASK,
    PROBE_FILE_MMX,
    PROBE_FILE_X87,
    PROBE_FILE_TILE,
    PROBE_FILE_MEMORY,
};
enum probe_file probe_operand_file(const struct isa_operand *operand);

/* Which encodings may stand in one kernel: legacy SSE beside VEX with dirty upper halves costs hundreds of
 * cycles. */
enum probe_world { PROBE_WORLD_ANY, PROBE_WORLD_LEGACY, PROBE_WORLD_VEX };
enum probe_world probe_form_world(const struct isa_form *form);

/* Instructions that serve to put a value back. Of these OR alone closes chains of registers by itself, too.
 */
enum probe_restore {
    PROBE_RESTORE_NONE,
    PROBE_RESTORE_AND,
    PROBE_RESTORE_OR,   /* keeps what passes as long as it is a part of the other source */
    PROBE_RESTORE_ONES, /* makes all ones of zeros: the mask that a gather of zeros consumes */
};

struct probe_transfer {
    struct isa_form form; /* derived */
    enum probe_file from, to;
    int src, dst; /* operand numbers */
    enum probe_world world;
    enum probe_restore restore;
    uint32_t flags_read, flags_written; /* for transfers from and to the flags */
    size_t slot;                        /* of its calibrating chain; SIZE_MAX: none */
    size_t apart_slot; /* of the same with NOPs in each round, if it chains to itself; of a load
                          and a store of a general register among more than a core learns */
    int partner;       /* the other transfer in that chain; -1: alone */
    bool needed;       /* set by the user before the chains are added: only these are calibrated */
    bool usable;       /* the CPU runs it; until calibrated: NASM and Zydis know it */
    bool pinned;       /* `cycles` is exact; else it is the lower bound 1, or 0 of a load and a store */
    double cycles;
    double buffered_cycles; /* the same of a load or a store whose value is not passed on at rename: among
                               more pairs of them than a core knows, or as what is left of a round shows */
};

struct probe_transfers {
    struct probe_transfer *items; /* owned */
    size_t count;
    bool calibrated;
};

void probe_transfers_fini(struct probe_transfers *transfers); /* all-zero is fine and empty */

/* Prepares the transfers (from `table` where they are in it). */
IP_CHECK enum ip_status probe_transfers_init(struct probe_transfers *transfers, const struct isa_table *table,
                                             struct ip_error *err);
/* Marks all as needed: to be calibrated before it is known which will be. */
void probe_transfers_need_all(struct probe_transfers *transfers);
/* Finds out which of the needed transfers this CPU runs and what they cost; the others become unusable. */
IP_CHECK enum ip_status probe_transfers_calibrate(struct probe_transfers *transfers,
                                                  const struct hx_meter *meter, struct gen_encoder *encoder,
                                                  struct ip_error *err);

/* May `transfer` carry what `dst` of `form` holds to its `src`? */
bool probe_transfer_fits(const struct probe_transfer *transfer, const struct isa_form *form, int dst,
                         int src);

#endif
