/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/binding.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES = 128,          /* a port's name is a character */
    CYCLES_CLEARED = 512, /* so many more at a time */
    DISPATCH = 5,         /* cycles from issue to the first in which a µop may begin, as in uiCA */
    QUEUE = 24,  /* µops that wait for a port, where ports are given in turn: as AMD says of Zen 3 and 4 */
    BALANCE = 6, /* and so many more than for another port are too many: fitted to measured loops
                    (docs/oncore.md) */
};

/* Fractions of a cycle come from latencies that vary; a µop starts so much early rather than a cycle late. */
static const double EARLY = 0.3;

enum ip_status core_binding_open(struct core_binding *binding, const struct core_costs *costs,
                                 struct ip_error *err) {
    memset(binding, 0, sizeof *binding);
    binding->cycles = malloc(CORE_CYCLES_MAX * sizeof *binding->cycles);
    if (binding->cycles == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the simulation of a block");
    }
    double bank = probe_core_get(&costs->core, PROBE_CORE_LOAD_RATE_STRIDE);
    binding->bank_loads = isnan(bank) ? UINT_MAX : (unsigned)fmax(1.0, round(bank));
    binding->in_turn = probe_core_get(&costs->core, PROBE_CORE_PORTS_IN_TURN) > 0.5;
    binding->port_names = costs->port_names;
    return IP_OK;
}

void core_binding_fini(struct core_binding *binding) {
    free(binding->cycles);
    memset(binding, 0, sizeof *binding);
}

size_t core_binding_cycle(double time) {
    time -= EARLY;
    if (time <= 0.0) {
        return 0;
    }
    size_t whole = (size_t)time;
    return whole + ((double)whole < time);
}

/* Cycles are cleared as time goes on: most blocks need few. */
static struct core_cycle *cycle_at(struct core_binding *binding, size_t number) {
    if (number >= binding->cleared) {
        size_t end = number + CYCLES_CLEARED < CORE_CYCLES_MAX ? number + CYCLES_CLEARED : CORE_CYCLES_MAX;
        memset(binding->cycles + binding->cleared, 0, (end - binding->cleared) * sizeof *binding->cycles);
        binding->cleared = end;
    }
    return &binding->cycles[number];
}

/* Notes a load that begins in the bank; false: as many as may do so already. */
static bool bank_take(const struct core_binding *binding, struct core_cycle *cycle, int bank) {
    unsigned same = 0, used = 0;
    for (; used < 4 && cycle->banks[used] != 0; used++) {
        same += cycle->banks[used] == bank + 1;
    }
    if (same >= binding->bank_loads) {
        return false;
    }
    if (used < 4) {
        cycle->banks[used] = (uint8_t)(bank + 1);
    }
    return true;
}

double core_binding_take(struct core_binding *binding, uint32_t ports, double from, int bank,
                         enum core_takes takes) {
    for (size_t number = core_binding_cycle(from); number < CORE_CYCLES_MAX; number++) {
        struct core_cycle *cycle = cycle_at(binding, number);
        uint32_t taken = takes == CORE_TAKES_RESULT ? 0 : cycle->busy;
        taken |= takes == CORE_TAKES_PORT ? 0 : cycle->results;
        uint32_t free_ports = ports & ~taken;
        if (free_ports == 0 || (bank >= 0 && !bank_take(binding, cycle, bank))) {
            continue;
        }
        int best = __builtin_ctz(free_ports);
        for (uint32_t left = free_ports & (free_ports - 1); left != 0; left &= left - 1) {
            int port = __builtin_ctz(left);
            best = binding->load_of[port] < binding->load_of[best] ? port : best;
        }
        binding->taken = best;
        if (takes != CORE_TAKES_PORT) {
            cycle->results |= UINT32_C(1) << best;
        }
        if (takes != CORE_TAKES_RESULT) {
            cycle->busy |= UINT32_C(1) << best;
            binding->load_of[best]++;
            binding->waiting[best]++;
        }
        return (double)number;
    }
    binding->taken = -1;
    binding->full = true;
    return from;
}

bool core_binding_waste(struct core_binding *binding, uint32_t ports, double from, double until) {
    const size_t end = core_binding_cycle(until);
    size_t number = core_binding_cycle(from);
    while (number <= end && number < CORE_CYCLES_MAX && (ports & ~cycle_at(binding, number)->busy) == 0) {
        number++;
    }
    if (number <= end) {
        (void)core_binding_take(binding, ports, (double)number, -1, CORE_TAKES_PORT);
    }
    return number <= end;
}

/* Those that have begun wait no longer. */
static void begun_take_off(struct core_binding *binding, double issued) {
    double now = issued - DISPATCH;
    for (; (double)binding->begun < now && binding->begun < CORE_CYCLES_MAX; binding->begun++) {
        for (uint32_t left = cycle_at(binding, binding->begun)->busy; left != 0; left &= left - 1) {
            binding->waiting[__builtin_ctz(left)]--;
        }
    }
}

/* The one for which fewest wait (Abel and Reineke 2022, of Intel's cores). */
static uint32_t port_by_count(const struct core_binding *binding, uint32_t ports) {
    int best = 0, least = INT_MAX;
    for (uint32_t left = ports; left != 0; left &= left - 1) {
        int port = __builtin_ctz(left);
        int rank = binding->waiting[port] * NAMES + binding->port_names[port];
        best = rank < least ? port : best;
        least = rank < least ? rank : least;
    }
    return UINT32_C(1) << best;
}

/* The one that was given to another µop longest ago, of those whose queue is not full, nor much longer than
 * another's. */
static uint32_t port_in_turn(struct core_binding *binding, uint32_t ports) {
    int best = -1, least = INT_MAX, shortest = QUEUE;
    for (uint32_t left = ports; left != 0; left &= left - 1) {
        int waiting = binding->waiting[__builtin_ctz(left)];
        shortest = waiting < shortest ? waiting : shortest;
    }
    for (uint32_t left = ports; left != 0; left &= left - 1) {
        int port = __builtin_ctz(left), waiting = binding->waiting[port];
        if (waiting < QUEUE && waiting <= shortest + BALANCE && binding->given[port] < least) {
            best = port;
            least = binding->given[port];
        }
    }
    if (best < 0) {
        return 0;
    }
    binding->given[best] = ++binding->givens;
    return UINT32_C(1) << best;
}

uint32_t core_binding_port(struct core_binding *binding, uint32_t ports, double issued) {
    begun_take_off(binding, issued);
    return binding->in_turn ? port_in_turn(binding, ports) : port_by_count(binding, ports);
}
