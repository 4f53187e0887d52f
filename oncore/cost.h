/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/cost.h - what one instruction form costs, as far as the tables know it, and where that comes from:
 * a store, or a table made by hand. docs/oncore.md. */
#ifndef ISAPROBE_ONCORE_COST_H
#define ISAPROBE_ONCORE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "isa/form.h"
#include "probe/core_params.h"
#include "probe/entries.h"
#include "results/store.h"
#include "results/transfer.h"

/* Units that forms share come first: those that are guessed, then those that a scan gave a name. */
enum {
    CORE_UNIT_SCALAR,
    CORE_UNIT_VECTOR,
    CORE_UNIT_LOADS,
    CORE_UNIT_LEA,
    CORE_UNIT_TILES,
    CORE_UNIT_ENTRY,  /* the way from general registers to other ones */
    CORE_UNIT_ATOMIC, /* what locks memory, each after the other */
    CORE_UNIT_NAMED,
    CORE_UNITS_SHARED = CORE_UNIT_NAMED + PROBE_UNITS_MAX
};
enum { CORE_PORTS_MAX = 32, CORE_TERMS_MAX = 24, CORE_PAIRS_MAX = 48 };

/* µops that may go to any of `ports`; bit p is the port whose name is core_costs.port_names[p]. */
struct core_term {
    uint32_t ports;
    double uops;
    bool open; /* of a usage that is the first of several: the port map leaves open which it is */
    /* Not the ports, but the way of their results to the general registers is taken: only what writes one at
     * once waits; of it, what could go to any of these ports waits on all of them. 0: the ports are. */
    uint32_t results_of;
};

/* Cycles from operand `src` (its position in the form) to operand `dst`. */
struct core_latency {
    int8_t src, dst;
    bool address, index; /* from the address register of a memory operand; else from the register itself */
    float cycles;        /* -INFINITY: the destination does not wait for the source */
    bool late;           /* no unit hands this source on early: the form's bypass is not of it */
    float own_less;      /* so many less where the source is the destination's own register; 0: none */
};

enum core_source {
    CORE_SOURCE_NONE,     /* the tables say nothing: an issue slot is all that counts of it */
    CORE_SOURCE_MEASURED, /* from the form's own measurement */
    CORE_SOURCE_COMPOSED, /* a memory form from its register twin, a load and a store */
    CORE_SOURCE_ASSUMED,  /* from the throughput alone: a unit of its own */
};

/* What an instruction does to addresses that pass through general registers; anything else is opaque. */
enum core_action {
    CORE_ACTION_OPAQUE,
    CORE_ACTION_MOVE,
    CORE_ACTION_MOVE_SIGNED,
    CORE_ACTION_ADD,
    CORE_ACTION_SUBTRACT,
    CORE_ACTION_AND,
    CORE_ACTION_OR,
    CORE_ACTION_XOR,
    CORE_ACTION_SHIFT_LEFT,
    CORE_ACTION_SHIFT_RIGHT,
    CORE_ACTION_SHIFT_SIGNED,
    CORE_ACTION_MULTIPLY,
    CORE_ACTION_NEGATE,
    CORE_ACTION_COMPLEMENT,
    CORE_ACTION_INCREMENT,
    CORE_ACTION_DECREMENT,
    CORE_ACTION_LEA,
    CORE_ACTION_EXCHANGE,
    CORE_ACTION_FENCE, /* of all: what is older is done before it, what is younger begins behind it */
    CORE_ACTION_PUSH,  /* from here on: it moves RSP */
    CORE_ACTION_POP,
    CORE_ACTION_CALL,
    CORE_ACTION_RETURN,
    CORE_ACTION_LEAVE,
};

struct core_cost {
    struct isa_form form; /* derived */
    enum core_action action;
    bool loads, stores, branch;
    uint32_t flags_changed; /* RFLAGS bits */
    bool filled;            /* what the store has of it is here */
    bool known;             /* slots and ports in some way: the form is not left out */
    enum core_source source;

    double slots;  /* issue slots */
    double cycles; /* reciprocal throughput; NaN: not measured */
    struct core_term terms[CORE_TERMS_MAX];
    unsigned term_count;
    int unit; /*  an unpipelined unit that is busy for unit_cycles: core_costs' number; -1: none */
    double unit_cycles;
    struct core_latency latencies[CORE_PAIRS_MAX];
    unsigned latency_count;
    bool latency_known;
    float bypass; /* cycles less from another such form on the same ports than the latencies say; 0: none */
    float after;  /* cycles more that it waits for a sum that rename made; 0: none */
    double modifies;   /* from memory to the same place, through the form; NaN: not measured */
    double forwarded;  /* from the data of a store on its way to what a load of it gives; NaN: not measured */
    bool put_late;     /* ... and a cycle more from a store of as many bytes: the store takes that */
    double stored;     /* cycles that a store's data come later than those of a plain store */
    double eliminated; /* >= 0: done at rename, and a chain takes so many cycles a link; -1: no */
    bool at_rename;    /* ... and it takes its ports only where a branch is fused with it */
    bool same_breaks;  /* with one register for both sources the result does not wait for it */
    bool same_eliminated; /* ... and takes no port */
    int8_t output;        /* operand that it only writes, and waits for all the same; -1: none */
    bool zero_apart;      /* the store has a row for an immediate of zero */
    char why[128];        /* what is missing or composed; "" */
};

/* An unpipelined unit that a scan of ports found. */
struct core_named_unit {
    char name[PROBE_UNIT_NAME]; /* the form that it is called after */
    uint32_t ports;             /* the fewest of that form's operation; 0: not known */
};

/* Costs by syntax, made when they are first asked for. */
struct core_costs {
    struct res_store *store;  /* borrowed; NULL: only what core_costs_add gave */
    struct core_cost **items; /* owned */
    size_t count, capacity;
    uint32_t *index; /* owned; open addressing, position + 1 */
    size_t index_size;
    char port_names[CORE_PORTS_MAX + 1];
    unsigned port_count;
    double load_cycles; /* of a plain load, from its address; NaN: unknown */
    uint32_t load_ports, store_ports;
    uint32_t branch_ports; /* of a branch that is taken; 0: not known */
    uint32_t wide_closed;  /* for narrower vectors, while 512 bits are in flight */
    struct core_term load_terms[CORE_TERMS_MAX], store_terms[CORE_TERMS_MAX];
    unsigned load_term_count, store_term_count;
    struct core_named_unit units[PROBE_UNITS_MAX];
    unsigned unit_count;
    struct res_transfers transfers;
    struct probe_core core;       /* owned */
    struct probe_entries entries; /* of what holds decoded code */
};

/* From a store, which is borrowed and must outlive the costs. Statuses as the store's. */
IP_CHECK enum ip_status core_costs_open(struct core_costs *costs, struct res_store *store,
                                        struct ip_error *err);
void core_costs_fini(struct core_costs *costs); /* all-zero is fine, and an empty table */

/* The cost of `form` (derived, as isa_decode gives it): from the table, else from the store, else unknown.
 * Borrowed; stays where it is until core_costs_fini. */
IP_CHECK enum ip_status core_costs_get(struct core_costs *costs, const struct isa_form *form,
                                       const struct core_cost **cost, struct ip_error *err);

/* Adds a form by hand: "1*p01+2*p5" (or "none") and its slots; `latency` for all its pairs (NaN: unknown;
 * from an address: the load latency more). IP_SYNTAX when the ports do not parse. */
IP_CHECK enum ip_status core_costs_add(struct core_costs *costs, const struct isa_form *form,
                                       const char *ports, double slots, double latency, struct ip_error *err);

/* Has it ports that are the first of several that the port map leaves open? */
bool core_cost_is_open(const struct core_cost *cost);

/* Parses "1*p01+2*p5" or "none"; of "1*p01 or 1*p12" the first, whose terms are open. Ports that are new are
 * added to the names. */
IP_CHECK enum ip_status core_ports_parse(struct core_costs *costs, const char *text,
                                         struct core_term terms[CORE_TERMS_MAX], unsigned *count,
                                         struct ip_error *err);
/* "015": the names of a set of ports. `buffer` holds CORE_PORTS_MAX + 1 bytes; returns it. */
const char *core_ports_print(const struct core_costs *costs, uint32_t ports, char *buffer);

/* Slots a cycle: the parameter, else the port map's or the sentinel's, which core_costs_open puts there. NaN:
 * unknown. */
double core_issue_width(const struct core_costs *costs);

#endif
