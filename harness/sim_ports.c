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
    memset(ports, 0, sizeof *ports);
}

/* First cycle >= from in which nothing starts on the port; behind the last that is busy all are free. */
static int64_t first_free(const struct hx_sim_port *port, int64_t from) {
    size_t word = (size_t)(from / 64);
    if (word >= port->used) {
        return from;
    }
    uint64_t vacant = ~port->busy[word] & (~UINT64_C(0) << (from % 64));
    while (vacant == 0) {
        if (++word == port->used) {
            return (int64_t)word * 64;
        }
        vacant = ~port->busy[word];
    }
    return (int64_t)word * 64 + __builtin_ctzll(vacant);
}

/* The port's µops that start in a cycle from `from` to `to`. */
static unsigned starting(const struct hx_sim_port *port, int64_t from, int64_t to) {
    size_t first = (size_t)(from / 64), last = (size_t)(to / 64);
    unsigned count = 0;
    for (size_t w = first; w <= last && w < port->used; w++) {
        uint64_t bits = port->busy[w];
        bits &= w == first ? ~UINT64_C(0) << (from % 64) : ~UINT64_C(0);
        bits &= w == last ? ~UINT64_C(0) >> (63 - to % 64) : ~UINT64_C(0);
        count += bits != 0 ? (unsigned)__builtin_popcountll(bits) : 0;
    }
    return count;
}

static bool mark(struct hx_sim_port *port, int64_t cycle) {
    size_t word = (size_t)(cycle / 64);
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
    port->busy[word] |= UINT64_C(1) << (cycle % 64);
    port->used = word >= port->used ? word + 1 : port->used;
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
    unsigned best = HX_SIM_PORTS_MAX;
    int64_t best_key = 0;
    for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const struct hx_sim_port *port = &ports->port[i];
        int64_t key = ports->policy == HX_SIM_POLICY_COUNTERS ? (int64_t)starting(port, now, INT64_MAX)
                                                              : first_free(port, ready);
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
    if (!mark(port, cycle)) {
        ports->failed = true;
    }
    port->taken++;
    port->load = load(ports, port) + 1;
    ports->load_max = port->load > ports->load_max ? port->load : ports->load_max;
    return cycle;
}

unsigned hx_sim_ports_starting(const struct hx_sim_ports *ports, int64_t from, int64_t to) {
    unsigned count = 0;
    for (unsigned i = 0; i < ports->count; i++) {
        count += starting(&ports->port[i], from, to);
    }
    return count;
}

int64_t hx_sim_ports_next(const struct hx_sim_ports *ports, int64_t from) {
    size_t words = 0;
    for (unsigned i = 0; i < ports->count; i++) {
        words = ports->port[i].used > words ? ports->port[i].used : words;
    }
    uint64_t mask = ~UINT64_C(0) << (from % 64);
    for (size_t w = (size_t)(from / 64); w < words; w++) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < ports->count; i++) {
            bits |= w < ports->port[i].used ? ports->port[i].busy[w] : 0;
        }
        bits &= mask;
        if (bits != 0) {
            return (int64_t)w * 64 + __builtin_ctzll(bits);
        }
        mask = ~UINT64_C(0);
    }
    return from;
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
