/* SPDX-License-Identifier: Apache-2.0 */
/* results/transfer.h - latencies between register files, for those who add latencies up.
 *
 * A chain goes to another register file and back, so that the store has an upper bound of each way: both
 * together, less the one cycle that the other takes at least. Two such bounds are nearly twice what both ways
 * take. A chain in a block goes there as often as back, and no measurement tells more than the sum; so the
 * form that a pair was measured through is taken to be as fast as the one that it was measured through itself
 * (of an odd number of cycles the way to general registers takes the fewer), and the sum is right. */
#ifndef ISAPROBE_RESULTS_TRANSFER_H
#define ISAPROBE_RESULTS_TRANSFER_H

#include "results/store.h"

/* A form that pairs of operands were measured through, and cycles of it that their bounds hold too much. */
enum { RES_TRANSFERS = 32 };
struct res_transfer {
    char form[ISA_SYNTAX_MAX];
    double surplus;
};

/* Those that were asked for; all-zero: none. */
struct res_transfers {
    struct res_transfer items[RES_TRANSFERS];
    unsigned count;
};

/* Cycles of a pair of which the store has the upper bound `bound`, measured through `via` ("movd xmm, r32",
 * or several with " + "), such that a way there and a way back add up to what both take together; at least
 * one. The bound itself, where the store does not have what it was measured through. Statuses as the store's.
 */
IP_CHECK enum ip_status res_transfer_cycles(struct res_store *store, struct res_transfers *transfers,
                                            const char *via, double bound, double *cycles,
                                            struct ip_error *err);

#endif
