/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_ports.h"

#include <stdlib.h>
#include <string.h>

#include "harness/sim_hash.h"

#define CYCLES_MAX (INT64_C(1) << 26)
/* Between ports that are free in the same cycle the one with the fewest µops so far is chosen, which balances
 * the load over overlapping sets. What was long ago is forgotten: no port counts as more µops behind. */
#define LOAD_LAG 64

void hx_sim_ports_fini(struct hx_sim_ports *ports) {
    for (unsigned i = 0; i < HX_SIM_PORTS_MAX; i++) {
        free(ports->port[i].busy);
    }
    free(ports->any.busy);
    free(ports->starts);
    memset(ports, 0, sizeof *ports);
}

/* First cycle >= from in which nothing starts on the port; behind the last that is busy all are free. */
static int64_t first_free(const struct hx_sim_port *port, int64_t from) {
    size_t word = (uint64_t)from / 64;
    if (word >= port->used) {
        return from;
    }
    uint64_t vacant = ~port->busy[word] & (~UINT64_C(0) << ((uint64_t)from % 64));
    while (vacant == 0) {
        if (++word == port->used) {
            return (int64_t)word * 64;
        }
        vacant = ~port->busy[word];
    }
    return (int64_t)word * 64 + __builtin_ctzll(vacant);
}

/* First cycle >= from in which something starts on the port; INT64_MAX: none. */
static int64_t first_busy(const struct hx_sim_port *port, int64_t from) {
    uint64_t mask = ~UINT64_C(0) << ((uint64_t)from % 64);
    for (size_t word = (uint64_t)from / 64; word < port->used; word++) {
        uint64_t bits = port->busy[word] & mask;
        if (bits != 0) {
            return (int64_t)word * 64 + __builtin_ctzll(bits);
        }
        mask = ~UINT64_C(0);
    }
    return INT64_MAX;
}

/* The port's µops that start in a cycle from `from` on. */
static unsigned waiting(const struct hx_sim_port *port, int64_t from) {
    size_t first = (uint64_t)from / 64;
    unsigned count = 0;
    for (size_t w = first; w < port->used; w++) {
        uint64_t bits = port->busy[w];
        bits &= w == first ? ~UINT64_C(0) << ((uint64_t)from % 64) : ~UINT64_C(0);
        count += bits != 0 ? (unsigned)__builtin_popcountll(bits) : 0;
    }
    return count;
}

static bool mark(struct hx_sim_port *port, int64_t cycle) {
    size_t word = (uint64_t)cycle / 64;
    if (word >= port->words) {
        size_t words = port->words * 2 > word + 1 ? port->words * 2 : word + 64;
        uint64_t *busy = realloc(port->busy, words * sizeof *busy);
        if (busy == NULL) {
            return false;
        }
        memset(busy + port->words, 0, (words - port->words) * sizeof *busy);
        port->busy = busy;
        port->words = words;
    }
    port->busy[word] |= UINT64_C(1) << ((uint64_t)cycle % 64);
    port->used = word >= port->used ? word + 1 : port->used;
    return true;
}

/* One µop more starts in that cycle. */
static bool start_count(struct hx_sim_ports *ports, int64_t cycle) {
    size_t words = ports->any.words;
    if (!mark(&ports->any, cycle)) {
        return false;
    }
    if (ports->any.words > words) {
        uint8_t *starts = realloc(ports->starts, ports->any.words * 64);
        if (starts == NULL) {
            return false;
        }
        memset(starts + words * 64, 0, (ports->any.words - words) * 64);
        ports->starts = starts;
    }
    ports->starts[cycle]++;
    return true;
}

static uint64_t load(const struct hx_sim_ports *ports, const struct hx_sim_port *port) {
    uint64_t least = ports->load_max > LOAD_LAG ? ports->load_max - LOAD_LAG : 0;
    return port->load > least ? port->load : least;
}

static unsigned random_port(struct hx_sim_ports *ports, uint32_t set) {
    uint64_t skip = ip_random_below(&ports->random, (uint64_t)__builtin_popcount(set));
    while (skip-- > 0) {
        set &= set - 1;
    }
    return (unsigned)__builtin_ctz(set);
}

static unsigned port_choose(struct hx_sim_ports *ports, uint32_t set, int64_t now, int64_t ready) {
    if (ports->uneven > 0 && ip_random_unit(&ports->random) < ports->uneven) {
        return random_port(ports, set);
    }
    if ((set & (set - 1)) == 0) { /* no choice */
        return (unsigned)__builtin_ctz(set);
    }
    unsigned best = HX_SIM_PORTS_MAX;
    int64_t best_key = 0;
    for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const struct hx_sim_port *port = &ports->port[i];
        int64_t key =
            ports->policy == HX_SIM_POLICY_COUNTERS ? (int64_t)waiting(port, now) : first_free(port, ready);
        if (best == HX_SIM_PORTS_MAX || key < best_key ||
            (key == best_key && load(ports, port) < load(ports, &ports->port[best]))) {
            best = i;
            best_key = key;
        }
    }
    return best;
}

int64_t hx_sim_ports_take(struct hx_sim_ports *ports, uint32_t set, int64_t now, int64_t ready) {
    if (ports->failed || ready >= CYCLES_MAX) {
        ports->failed = true;
        return ready;
    }
    struct hx_sim_port *port = &ports->port[port_choose(ports, set, now, ready)];
    int64_t cycle = first_free(port, ready);
    if (!mark(port, cycle) || !start_count(ports, cycle)) {
        ports->failed = true;
    }
    port->taken++;
    port->load = load(ports, port) + 1;
    ports->load_max = port->load > ports->load_max ? port->load : ports->load_max;
    return cycle;
}

unsigned hx_sim_ports_starting(const struct hx_sim_ports *ports, int64_t from, int64_t to) {
    unsigned count = 0;
    int64_t at = ports->failed ? INT64_MAX : first_busy(&ports->any, from);
    for (; at <= to; at = first_busy(&ports->any, at + 1)) {
        count += ports->starts[at];
    }
    return count;
}

int64_t hx_sim_ports_next(const struct hx_sim_ports *ports, int64_t from) {
    int64_t next = first_busy(&ports->any, from);
    return next < INT64_MAX ? next : from;
}

uint64_t hx_sim_ports_signature(const struct hx_sim_ports *ports, int64_t now) {
    uint64_t signature = 0;
    size_t word = (size_t)(now / 64);
    unsigned shift = (unsigned)(now % 64);
    for (unsigned i = 0; i < ports->count; i++) {
        const struct hx_sim_port *port = &ports->port[i];
        for (size_t w = word; w < port->used; w++) {
            uint64_t bits = port->busy[w] >> shift;
            bits |= shift > 0 && w + 1 < port->used ? port->busy[w + 1] << (64 - shift) : 0;
            if (bits != 0) { /* by its place, whatever word it lies in */
                signature = hx_sim_mix(hx_sim_mix(signature, w - word), bits);
            }
        }
        signature = hx_sim_mix(signature, ports->load_max - load(ports, port));
    }
    return signature;
}
