/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/cost_fill.c - what the store says of a form, as a cost. Where it does not say all, the rest follows
 * from the form's register twin and from plain loads and stores, and the cost says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/operands.h"
#include "oncore/cost_steps.h"
#include "probe/output.h"
#include "results/core.h"

/* A link of a chain that takes less than this is not executed: it is done at rename. */
static const double RENAMED = 0.5;
/* Throughputs of one operation in two widths, relative. */
static const double NEARLY = 0.1;
/* A form is slower than its ports when it takes so much longer: noise is below. */
static const double SLOWER = 1.08, SLOWER_CYCLES = 0.05;
/* A store that is slower still is slow for the places that it was measured at: how stores enter the cache is
 * simulated. */
static const double STORE_SLOWER_MOST = 1.25;
/* Rename did a form where it took less time than its ports would. */
static const double FASTER = 0.92;
/* One slot holds a load and an operation, or a store's address and its data. */
static const double UOPS_OF_A_SLOT = 2.0;

/* Flags without a defined value are not written: BT leaves OF to an ADOX, IMUL leaves ZF to a CMOVZ. But
 * shifts and rotations write OF whatever the number is (it is defined of 1), and some write all flags. Seen
 * on a Zen 4 and a Zen 5 (docs/oncore.md, "From bytes to costs"). */
static uint32_t flags_changed(const struct isa_form *form) {
    static const char *const all[] = {"shl", "shr",  "sar",  "rol", "ror", "rcl",
                                      "rcr", "shld", "shrd", "bsf", "bsr", "bextr"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(form->mnemonic, all[i]) == 0) {
            return form->flags_written;
        }
    }
    return isa_form_flags_defined(form);
}

void core_cost_describe(struct core_cost *cost) {
    static const struct {
        const char *mnemonic;
        enum core_action action;
    } actions[] = {
        {"mov", CORE_ACTION_MOVE},
        {"movzx", CORE_ACTION_MOVE},
        {"movsxd", CORE_ACTION_MOVE_SIGNED},
        {"movsx", CORE_ACTION_MOVE_SIGNED},
        {"cdqe", CORE_ACTION_MOVE_SIGNED},
        {"add", CORE_ACTION_ADD},
        {"sub", CORE_ACTION_SUBTRACT},
        {"and", CORE_ACTION_AND},
        {"or", CORE_ACTION_OR},
        {"xor", CORE_ACTION_XOR},
        {"shl", CORE_ACTION_SHIFT_LEFT},
        {"shr", CORE_ACTION_SHIFT_RIGHT},
        {"sar", CORE_ACTION_SHIFT_SIGNED},
        {"imul", CORE_ACTION_MULTIPLY},
        {"neg", CORE_ACTION_NEGATE},
        {"not", CORE_ACTION_COMPLEMENT},
        {"inc", CORE_ACTION_INCREMENT},
        {"dec", CORE_ACTION_DECREMENT},
        {"lea", CORE_ACTION_LEA},
        {"xchg", CORE_ACTION_EXCHANGE},
        {"push", CORE_ACTION_PUSH},
        {"pop", CORE_ACTION_POP},
        {"lfence", CORE_ACTION_FENCE},
        {"call", CORE_ACTION_CALL},
        {"ret", CORE_ACTION_RETURN},
        {"leave", CORE_ACTION_LEAVE},
        {"pushfq", CORE_ACTION_PUSH},
        {"pushf", CORE_ACTION_PUSH},
        {"popfq", CORE_ACTION_POP},
        {"popf", CORE_ACTION_POP},
    };
    const struct isa_form *form = &cost->form;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        cost->loads = cost->loads || (operand->kind == ISA_OPERAND_MEM && operand->read);
        cost->stores = cost->stores || (operand->kind == ISA_OPERAND_MEM && operand->write);
        cost->branch = cost->branch || operand->kind == ISA_OPERAND_REL;
    }
    for (size_t i = 0; i < sizeof actions / sizeof actions[0] && form->prefix[0] == '\0'; i++) {
        if (strcmp(actions[i].mnemonic, form->mnemonic) == 0) {
            cost->action = actions[i].action;
        }
    }
    cost->flags_changed = flags_changed(form);
    cost->slots = cost->cycles = cost->unit_cycles = cost->modifies = cost->forwarded = NAN;
    cost->eliminated = -1.0;
    cost->unit = -1;
    cost->output = -1;
}

enum ip_status core_width_find(struct core_costs *costs, struct ip_error *err) {
    if (costs->core.values[PROBE_CORE_ISSUE_WIDTH].known) {
        return IP_OK;
    }
    double width = NAN;
    enum ip_status status = res_width_get(costs->store, &width, err);
    if (status == IP_OK && width >= 1.0) {
        status = probe_core_set(&costs->core, probe_core_key_name(PROBE_CORE_ISSUE_WIDTH), width, NAN,
                                "port map or sentinel", err);
    }
    return status;
}

int core_operand_find(const struct isa_form *form, const char *name) {
    char buffer[16];
    for (unsigned i = 0; i < form->operand_count; i++) {
        if (strcmp(isa_operand_name(form, i, buffer), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Between registers, from an instance to the next rather than through other forms. */
static bool chained_alone(const struct core_cost *cost, const struct res_pair *pair) {
    return isnan(pair->chained_cycles) && strcmp(pair->src, pair->dst) == 0 &&
           strcmp(pair->path, "register") == 0 && isa_form_vector_bits(&cost->form) != 0;
}

/* A unit may hand a result to its own next instruction earlier than to others: a chain of the form through
 * itself is then shorter than through others. */
static float bypass_find(const struct core_cost *cost, const struct res_form *known) {
    double most = 0.0;
    for (size_t i = 0; i < known->pair_count && isa_form_vector_bits(&cost->form) != 0; i++) {
        const struct res_pair *pair = &known->pairs[i];
        bool data =
            strcmp(pair->path, "register") == 0 && !isnan(pair->chained_cycles) && !isnan(pair->value.cycles);
        most = data ? fmax(most, round(pair->value.cycles) - round(pair->chained_cycles)) : most;
    }
    return (float)most;
}

/* What the bypass makes shorter takes as long as the longest other source without it. What is merged under a
 * mask takes that by itself: it comes in late, and no bypass is in its chain. */
static bool comes_late(const struct core_cost *cost, const struct res_form *known,
                       const struct res_pair *alone) {
    double longest = NAN;
    for (size_t i = 0; i < known->pair_count; i++) {
        const struct res_pair *pair = &known->pairs[i];
        const bool told = strcmp(pair->path, "register") == 0 && !isnan(pair->chained_cycles);
        longest = told ? fmax(longest, pair->value.cycles) : longest;
    }
    return alone->value.cycles + (double)cost->bypass / 2.0 > longest;
}

/* A form with a memory operand has the bypass of its register twin. */
static enum ip_status bypass_fill(struct core_costs *costs, struct core_cost *cost,
                                  const struct res_form *known, struct ip_error *err) {
    char syntax[ISA_SYNTAX_MAX];
    cost->bypass = known != NULL ? bypass_find(cost, known) : 0.0f;
    if (cost->bypass > 0.0f || isa_form_vector_bits(&cost->form) == 0 ||
        !core_twin_syntax(&cost->form, syntax)) {
        return IP_OK;
    }
    struct res_form twin = {0};
    bool there = false;
    enum ip_status status = res_form_find(costs->store, syntax, &twin, &there, err);
    if (status == IP_OK && there) {
        cost->bypass = bypass_find(cost, &twin);
        res_form_fini(&twin);
    }
    return status;
}

/* What a source takes less where it is the destination's own register, as in a chain with one register for
 * all sources. Not of idioms, whose sources must all be one, nor of what hands results to itself earlier. */
static float own_less(const struct core_cost *cost, const struct res_pair *pair) {
    bool tells = !pair->independent && cost->bypass <= 0.0f && pair->same_register_cycles >= RENAMED;
    return tells ? (float)fmax(0.0, pair->value.cycles - pair->same_register_cycles) : 0.0f;
}

/* Rename does a form that gives each register that it writes in no time: not XADD, which moves one and adds.
 * `least` is the least latency to each operand, infinite where there is none; returns the most of them, or
 * -1.
 */
static double all_renamed(const double least[ISA_OPERANDS_MAX]) {
    double most = -1.0;
    for (unsigned d = 0; d < ISA_OPERANDS_MAX; d++) {
        most = isfinite(least[d]) ? fmax(most, fmax(0.0, least[d])) : most;
    }
    return most < RENAMED ? most : -1.0;
}

static enum ip_status latency_fill(struct core_costs *costs, struct core_cost *cost,
                                   const struct res_form *known, struct ip_error *err) {
    double least[ISA_OPERANDS_MAX], same_most = -1.0; /* to each operand */
    for (unsigned d = 0; d < ISA_OPERANDS_MAX; d++) {
        least[d] = INFINITY;
    }
    for (size_t i = 0; i < known->pair_count; i++) {
        const struct res_pair *pair = &known->pairs[i];
        int src = core_operand_find(&cost->form, pair->src), dst = core_operand_find(&cost->form, pair->dst);
        bool content = strcmp(pair->path, "content") == 0;
        if (content && src >= 0 && src == dst && !isnan(pair->value.cycles)) {
            cost->modifies = pair->value.cycles;
        }
        bool tells = pair->independent || !isnan(pair->value.cycles);
        if (content || !tells || src < 0 || dst < 0 || cost->latency_count == CORE_PAIRS_MAX) {
            continue;
        }
        double cycles = pair->value.cycles;
        if (pair->upper_bound && !isnan(cycles)) {
            enum ip_status status =
                res_transfer_cycles(costs->store, &costs->transfers, pair->via, cycles, &cycles, err);
            if (status != IP_OK) {
                return status;
            }
        }
        const bool alone = chained_alone(cost, pair), late = alone && comes_late(cost, known, pair);
        float slower = alone && !late ? cost->bypass : 0.0f; /* measured with the bypass */
        cost->latencies[cost->latency_count++] =
            (struct core_latency){.src = (int8_t)src,
                                  .dst = (int8_t)dst,
                                  .address = strcmp(pair->path, "address") == 0,
                                  .index = strcmp(pair->path, "index") == 0,
                                  .cycles = pair->independent ? -INFINITY : (float)fmax(0.0, cycles) + slower,
                                  .late = late,
                                  .own_less = own_less(cost, pair)};
        bool data = !pair->independent && cost->form.operands[dst].kind == ISA_OPERAND_REG &&
                    cost->form.operands[src].kind == ISA_OPERAND_REG;
        if (data) {
            /* A chain of the form through itself tells elimination better than what is left after a
             * transfer was subtracted. */
            double chained = isnan(pair->chained_cycles) ? pair->value.cycles : pair->chained_cycles;
            least[dst] = fmin(least[dst], fmin(chained, pair->value.cycles));
            same_most =
                isnan(pair->same_register_cycles) ? same_most : fmax(same_most, pair->same_register_cycles);
        }
    }
    cost->latency_known = cost->latency_count > 0;
    cost->eliminated = all_renamed(least);
    cost->same_breaks = cost->eliminated < 0.0 && same_most >= 0.0 && same_most < RENAMED;
    cost->same_eliminated = cost->same_breaks;
    return IP_OK;
}

/* Issue slots when they were not measured: a load goes with the operation that it feeds, a store's address
 * with its data. */
static double slots_guess(const struct core_costs *costs, const struct core_cost *cost) {
    double operations = 0.0;
    for (unsigned i = 0; i < cost->term_count; i++) {
        uint32_t memory = costs->load_ports | costs->store_ports;
        operations += (cost->terms[i].ports & ~memory) != 0 ? cost->terms[i].uops : 0.0;
    }
    double slots = operations + (cost->stores ? 1.0 : 0.0);
    return slots < 1.0 ? 1.0 : slots;
}

static void term_add(struct core_cost *cost, struct core_term term) {
    for (unsigned i = 0; i < cost->term_count; i++) {
        if (cost->terms[i].ports == term.ports) {
            cost->terms[i].uops += term.uops;
            cost->terms[i].open = cost->terms[i].open || term.open;
            return;
        }
    }
    if (cost->term_count < CORE_TERMS_MAX) {
        cost->terms[cost->term_count++] = term;
    }
}

/* "add r64, m64", not "movq mm, r64". */
static bool names_memory(const char *syntax) {
    for (const char *at = strstr(syntax, " m"); at != NULL; at = strstr(at + 1, " m")) {
        if (at[2] >= '0' && at[2] <= '9') {
            return true;
        }
    }
    return false;
}

bool core_ports_told(const struct res_ports *ports) {
    return ports->known && ports->usage[0] != '\0' &&
           (strcmp(ports->verdict, "ok") == 0 || strcmp(ports->verdict, "ambiguous") == 0);
}

bool core_ports_usable(const struct res_form *form) {
    const struct res_ports *ports = &form->ports;
    if (!core_ports_told(ports)) {
        return false;
    }
    double slots = isnan(ports->slots) ? form->slots.cycles : ports->slots;
    bool notes =
        strstr(form->extension, "X87") != NULL; /* the address, without a slot (probe_usage_slotless) */
    return isnan(slots) || !names_memory(form->syntax) ||
           (double)ports->uops <= UOPS_OF_A_SLOT * fmax(1.0, round(slots)) + notes;
}

/* The ports of a form between registers: its own, else those of a form as fast that differs in the width of
 * general registers only. */
static enum ip_status register_ports(struct core_costs *costs, const char *syntax, struct core_cost *cost,
                                     bool *found, struct ip_error *err) {
    struct res_form form = {0};
    bool there = false;
    *found = false;
    enum ip_status status = res_form_find(costs->store, syntax, &form, &there, err);
    if (status != IP_OK || !there) {
        return status;
    }
    double cycles = form.throughput.cycles;
    for (unsigned width = 0; status == IP_OK && !*found; width++) {
        char other[ISA_SYNTAX_MAX];
        double apart = fabs(form.throughput.cycles - cycles);
        if (core_ports_usable(&form) && (there && apart <= NEARLY * cycles)) {
            status = core_ports_parse(costs, form.ports.usage, cost->terms, &cost->term_count, err);
            *found = status == IP_OK;
        }
        res_form_fini(&form);
        there = false;
        if (*found || width == CORE_WIDTHS) {
            break;
        }
        if (core_width_syntax(syntax, width, other) && status == IP_OK) {
            status = res_form_find(costs->store, other, &form, &there, err);
        }
    }
    return status;
}

/* Is it no general register that the form stores? */
static bool stores_other(const struct isa_form *form) {
    bool other = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        other = other || (operand->kind == ISA_OPERAND_REG && !isa_reg_is_gpr(operand->reg_class));
    }
    return other;
}

/* From the register twin (which may be missing for a plain move), a load and a store. */
static enum ip_status compose(struct core_costs *costs, struct core_cost *cost, bool *done,
                              struct ip_error *err) {
    char syntax[ISA_SYNTAX_MAX];
    *done = false;
    int memory = isa_form_memory_operand(&cost->form);
    if (memory < 0 || costs->load_term_count == 0 || (cost->stores && costs->store_term_count == 0)) {
        return IP_OK;
    }
    const bool stack = cost->action == CORE_ACTION_PUSH || cost->action == CORE_ACTION_POP;
    const bool moves = cost->action == CORE_ACTION_MOVE || cost->action == CORE_ACTION_MOVE_SIGNED ||
                       strstr(cost->form.mnemonic, "mov") != NULL;
    /* Not MASKMOVQ, which stores byte by byte, nor PUSHF. */
    const bool plain = stack ? cost->form.explicit_count > 0 : moves && !cost->form.operands[memory].implicit;
    enum ip_status status = IP_OK;
    if (!plain || (cost->loads && cost->stores)) {
        if (!core_twin_syntax(&cost->form, syntax)) {
            return IP_OK;
        }
        bool found = false;
        status = register_ports(costs, syntax, cost, &found, err);
        if (status != IP_OK || !found) {
            return status;
        }
        (void)snprintf(cost->why, sizeof cost->why, "ports of '%.60s' and a plain %s", syntax,
                       cost->stores ? cost->loads ? "load and store" : "store" : "load");
    } else {
        cost->term_count = 0;
        (void)snprintf(cost->why, sizeof cost->why, "ports of a plain %s", cost->stores ? "store" : "load");
    }
    for (unsigned i = 0; i < costs->load_term_count && cost->loads; i++) {
        term_add(cost, costs->load_terms[i]);
    }
    for (unsigned i = 0; i < costs->store_term_count && cost->stores; i++) {
        /* Not the way by which a general register's data come. */
        bool way = (costs->store_terms[i].ports & ~costs->store_ports) != 0 && stores_other(&cost->form);
        if (!way) {
            term_add(cost, costs->store_terms[i]);
        }
    }
    cost->source = CORE_SOURCE_COMPOSED;
    *done = true;
    return IP_OK;
}

static uint32_t all_ports(const struct core_cost *cost) {
    uint32_t ports = 0;
    for (unsigned i = 0; i < cost->term_count; i++) {
        ports |= cost->terms[i].ports;
    }
    return ports;
}

/* A form that loads takes a load port, and one that stores a store's: a usage without them is incomplete, as
 * one of a single access is of a form that does both. */
static bool memory_told(const struct core_costs *costs, const struct core_cost *cost) {
    uint32_t ports = all_ports(cost), memory = costs->load_ports | costs->store_ports;
    double accesses = 0.0;
    for (unsigned t = 0; t < cost->term_count; t++) {
        accesses += (cost->terms[t].ports & ~memory) == 0 ? cost->terms[t].uops : 0.0;
    }
    if (cost->loads && cost->stores && memory != 0 && accesses < 2.0) {
        return false;
    }
    return (!cost->loads || costs->load_ports == 0 || (ports & costs->load_ports) != 0) &&
           (!cost->stores || costs->store_ports == 0 || (ports & costs->store_ports) != 0);
}

/* An operand-size prefix before an immediate of 16 bits holds up the predecoder of some cores: in a long
 * kernel such a form is slow, but no unit is. */
static bool changes_length(const struct isa_form *form) {
    bool immediate = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        immediate = immediate || (form->operands[i].kind == ISA_OPERAND_IMM && form->operands[i].bits == 16);
    }
    return immediate && !form->vex && !form->evex;
}

double core_terms_cycles(const struct core_cost *cost) {
    double most = 0.0;
    for (unsigned t = 0; t < cost->term_count; t++) {
        most = fmax(most, cost->terms[t].uops / __builtin_popcount(cost->terms[t].ports));
    }
    return most;
}

/* What a vector unit gives to a general register goes the way of general results. Beside blockers that looks
 * as if it took the ports of these; and what could go to any port waits, wherever it was to go, so that some
 * more µops seem to go to all of them (docs/oncore.md, "From bytes to costs"). Only where ports are given in
 * turn was that seen. */
static void results_find(const struct core_costs *costs, struct core_cost *cost) {
    const struct isa_form *form = &cost->form;
    const struct isa_operand *result = &form->operands[0];
    bool gives = (isa_form_vector_bits(form) != 0 || form->floating) && form->explicit_count > 0 &&
                 result->kind == ISA_OPERAND_REG && result->write && isa_reg_is_gpr(result->reg_class);
    if (!gives || !(probe_core_get(&costs->core, PROBE_CORE_PORTS_IN_TURN) > 0.5)) {
        return;
    }
    for (unsigned s = 0; s < cost->term_count; s++) {
        for (unsigned t = 0; t < cost->term_count; t++) {
            struct core_term *few = &cost->terms[s], *all = &cost->terms[t];
            int few_ports = __builtin_popcount(few->ports), all_ports = __builtin_popcount(all->ports);
            bool part = (few->ports & ~all->ports) == 0 && few_ports > 1 && all_ports > few_ports;
            if (part && few->uops == few_ports && all->uops == all_ports - few_ports) {
                few->results_of = all->ports;
                cost->terms[t] = cost->terms[--cost->term_count];
                return;
            }
        }
    }
}

/* Does it take longer than its ports? */
static bool slower(const struct core_cost *cost, double cycles, double expected) {
    return cost->stores && !gen_form_locks(&cost->form)
               ? cycles > expected * SLOWER && cycles < expected * STORE_SLOWER_MOST
               : cycles > expected * SLOWER + SLOWER_CYCLES;
}

static enum ip_status ports_fill(struct core_costs *costs, struct core_cost *cost,
                                 const struct res_form *known, struct ip_error *err) {
    const struct res_ports *ports = &known->ports;
    enum ip_status status = IP_OK;
    bool usable = core_ports_usable(known), composed = false;
    if (usable) {
        status = core_ports_parse(costs, ports->usage, cost->terms, &cost->term_count, err);
        cost->source = CORE_SOURCE_MEASURED;
        usable = status == IP_OK && memory_told(costs, cost);
        cost->term_count = usable ? cost->term_count : 0;
    }
    if (usable || status != IP_OK) {
        /* nothing to add */
    } else if (cost->eliminated < 0.0 || cost->loads || cost->stores) {
        status = compose(costs, cost, &composed, err);
    }
    if (status == IP_OK && !usable && !composed && cost->eliminated < 0.0 && !cost->loads && !cost->stores) {
        status = register_ports(costs, cost->form.syntax, cost, &composed, err);
        if (composed) {
            cost->source = CORE_SOURCE_COMPOSED;
            (void)snprintf(cost->why, sizeof cost->why, "ports of the same form of another width");
        }
    }
    if (status != IP_OK) {
        return status;
    }
    results_find(costs, cost);
    cost->known = usable || composed;
    if (!cost->known && cost->eliminated >= 0.0) {
        cost->known = true; /* renamed: it takes a slot and no port */
        cost->source = CORE_SOURCE_MEASURED;
    }
    cost->at_rename = usable && cost->eliminated >= 0.0 && ports->cycles < FASTER * ports->expected_cycles;
    /* Ports that are not its own may still be held up by the unit that it waits for. */
    double expected = usable ? ports->expected_cycles : core_terms_cycles(cost);
    double cycles = isnan(ports->cycles) ? cost->cycles : ports->cycles;
    bool runs = cost->term_count > 0 || !isa_form_is_nop(&cost->form); /* elsewhere than on a port: EMMS */
    if (cost->known && runs && slower(cost, cycles, expected) && cost->eliminated < 0.0 &&
        !changes_length(&cost->form)) {
        cost->unit_cycles = isnan(ports->unit_cycles) ? cycles : ports->unit_cycles;
    }
    if (!cost->known && cost->branch && !cost->loads && !cost->stores) {
        cost->known = true; /* a slot, and the port that taken ones were seen to need */
        cost->source = CORE_SOURCE_ASSUMED;
        if (costs->branch_ports != 0) {
            cost->terms[cost->term_count++] = (struct core_term){.ports = costs->branch_ports, .uops = 1.0};
        }
        (void)snprintf(cost->why, sizeof cost->why, "a branch: only its issue slot%s",
                       costs->branch_ports != 0 ? " and its port count" : " counts");
    }
    if (!cost->known && !isnan(cost->cycles)) {
        cost->known = true;
        cost->source = CORE_SOURCE_ASSUMED;
        cost->unit_cycles = cost->cycles;
        (void)snprintf(cost->why, sizeof cost->why, "its ports are not known: only its throughput counts");
    }
    return IP_OK;
}

/* The twin's latencies; what was a register and is memory now comes a load later. */
static enum ip_status latency_compose(struct core_costs *costs, struct core_cost *cost,
                                      struct ip_error *err) {
    char syntax[ISA_SYNTAX_MAX];
    int memory = isa_form_memory_operand(&cost->form);
    if (cost->latency_known || memory < 0 || isnan(costs->load_cycles) ||
        !core_twin_syntax(&cost->form, syntax)) {
        return IP_OK;
    }
    struct res_form twin = {0};
    bool there = false;
    enum ip_status status = res_form_find(costs->store, syntax, &twin, &there, err);
    if (status != IP_OK || !there) {
        return status;
    }
    status = latency_fill(costs, cost, &twin, err);
    cost->eliminated = -1.0;
    cost->same_breaks = cost->same_eliminated = false;
    for (unsigned i = 0; i < cost->latency_count; i++) {
        struct core_latency *pair = &cost->latencies[i];
        if (pair->src == memory) {
            pair->address = true;
            pair->cycles += (float)costs->load_cycles;
        }
    }
    res_form_fini(&twin);
    return status;
}

/* A register that the form only writes, where a chain through it was seen to wait. */
static void output_fill(const struct core_costs *costs, struct core_cost *cost) {
    const struct probe_core_value *fact =
        probe_core_fact_get(&costs->core, "output", cost->form.syntax, NULL);
    int output = probe_output_operand(&cost->form);
    if (fact != NULL && fact->value > 0.0 && output >= 0 && cost->latency_count < CORE_PAIRS_MAX) {
        cost->output = (int8_t)output;
        cost->latencies[cost->latency_count++] =
            (struct core_latency){.src = (int8_t)output, .dst = (int8_t)output, .cycles = (float)fact->value};
    }
}

/* Measured for one form of a mnemonic. */
static float after_find(const struct core_costs *costs, const struct core_cost *cost) {
    char key[PROBE_CORE_FACT_MAX];
    (void)snprintf(key, sizeof key, "after %s ", cost->form.mnemonic);
    size_t count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(&costs->core, key, &count);
    for (size_t i = 0; i < count; i++) {
        if (facts[i].value.known) {
            return (float)facts[i].value.value;
        }
    }
    return 0.0f;
}

/* A NOP of no slot, and nobody measured the core itself: it shares that of the instruction before it. */
static void nops_share(struct core_costs *costs) {
    struct probe_core_value *slots = &costs->core.values[PROBE_CORE_NOP_SLOTS];
    if (!slots->known) {
        *slots = (struct probe_core_value){
            .known = true, .spread = NAN, .how = "the store has a NOP that takes no issue slot"};
    }
}

enum ip_status core_cost_fill(struct core_costs *costs, struct core_cost *cost, struct ip_error *err) {
    if (costs->store == NULL) {
        return IP_OK;
    }
    bool done = false;
    enum ip_status status = core_zero_fill(costs, cost, err);
    status = status == IP_OK ? core_lea_fill(costs, cost, &done, err) : status;
    status = status == IP_OK && !done ? core_stack_fill(costs, cost, &done, err) : status;
    if (status != IP_OK || done) {
        return status;
    }
    cost->after = after_find(costs, cost);
    struct res_form known = {0};
    bool there = false;
    status = res_form_find(costs->store, cost->form.syntax, &known, &there, err);
    if (status != IP_OK) {
        return status;
    }
    status = bypass_fill(costs, cost, there ? &known : NULL, err);
    if (there) {
        cost->cycles = known.throughput.cycles;
        status = status == IP_OK ? latency_fill(costs, cost, &known, err) : status;
        status = status == IP_OK ? core_forwarded_fill(costs, cost, &known, err) : status;
        status = status == IP_OK ? core_stored_fill(costs, cost, &known, err) : status;
    } else {
        known.throughput.cycles = known.slots.cycles = NAN;
        known.ports =
            (struct res_ports){.slots = NAN, .cycles = NAN, .expected_cycles = NAN, .unit_cycles = NAN};
    }
    if (status == IP_OK) {
        status = latency_compose(costs, cost, err);
    }
    core_idiom_fill(costs, cost);
    output_fill(costs, cost);
    if (status == IP_OK) {
        status = ports_fill(costs, cost, &known, err);
    }
    if (status == IP_OK) {
        cost->unit = core_unit_find(costs, cost, known.ports.unit);
        bool counted = !isnan(known.slots.cycles) && strcmp(known.slots.verdict, "ok") == 0;
        bool mixed = !isnan(known.ports.slots) && core_ports_told(&known.ports);
        cost->slots = counted ? known.slots.cycles : mixed ? known.ports.slots : slots_guess(costs, cost);
        if (counted && round(cost->slots) < 1.0 && isa_form_is_nop(&cost->form)) {
            nops_share(costs);
        }
        cost->slots = fmax(1.0, round(cost->slots));
        if (!cost->known) {
            (void)snprintf(cost->why, sizeof cost->why, "%s",
                           !there              ? "the store does not have it"
                           : known.why[0] != 0 ? known.why
                                               : "the store has no number of it");
        }
    }
    res_form_fini(&known);
    return status;
}
