/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_ports.h"

#include <stdlib.h>
#include <string.h>

#include "harness/samples_text.h"

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

/* First cycle >= from in which nothing starts on the port; beyond its words all are free. */
static int64_t first_free(const struct hx_sim_port *port, int64_t from) {
    size_t word = (size_t)(from / 64);
    if (word >= port->words) {
        return from;
    }
    uint64_t vacant = ~port->busy[word] & (~UINT64_C(0) << (from % 64));
    while (vacant == 0) {
        if (++word == port->words) {
            return (int64_t)word * 64;
        }
        vacant = ~port->busy[word];
    }
    return (int64_t)word * 64 + __builtin_ctzll(vacant);
}

/* µops bound to the port that have not started by cycle `now`. */
static unsigned waiting(const struct hx_sim_port *port, int64_t now) {
    size_t word = (size_t)(now / 64);
    unsigned count = 0;
    for (size_t w = word; w < port->words; w++) {
        uint64_t bits = port->busy[w];
        if (w == word) {
            bits &= ~UINT64_C(0) << (now % 64);
        }
        count += (unsigned)__builtin_popcountll(bits);
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
    if (!mark(port, cycle)) {
        ports->failed = true;
    }
    port->taken++;
    port->load = load(ports, port) + 1;
    ports->load_max = port->load > ports->load_max ? port->load : ports->load_max;
    return cycle;
}

uint64_t hx_sim_ports_signature(const struct hx_sim_ports *ports, int64_t now) {
    uint64_t signature = HX_SAMPLES_HASH_BEGIN;
    size_t word = (size_t)(now / 64);
    unsigned shift = (unsigned)(now % 64);
    for (unsigned i = 0; i < HX_SIM_PORTS_MAX; i++) {
        const struct hx_sim_port *port = &ports->port[i];
        size_t last = port->words;
        while (last > word && port->busy[last - 1] == 0) {
            last--;
        }
        for (size_t w = word; w < last; w++) {
            uint64_t bits = port->busy[w] >> shift;
            bits |= shift > 0 && w + 1 < last ? port->busy[w + 1] << (64 - shift) : 0;
            if (bits != 0) { /* by its place, whatever word it lies in */
                uint64_t item[2] = {w - word, bits};
                signature = hx_samples_hash(signature, item, sizeof item);
            }
        }
        uint64_t behind = ports->load_max - load(ports, port);
        signature = hx_samples_hash(signature, &behind, sizeof behind);
    }
    return signature;
}
