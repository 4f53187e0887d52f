/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/throughput.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "generator/operands.h"
#include "generator/shapes.h"
#include "generator/x87.h"
#include "probe/batch.h"
#include "probe/outside.h"

/* Instances in a unit: a multiple of every number of registers below, where there are as many. */
#define UNIT_INSTANCES 24u

enum { STATUS_FLAGS = 0x8c5 }; /* CF PF ZF SF OF; AF is nobody's condition */

/* Numbers of independent chains to try; 0: as many as the class has registers. One chain alone is worth
 * trying only for masks that are written and not read: each register that a loop does not use leaves a
 * physical one for the others (a Zen 4 has some 40, and 22 cycles pass before one that waited for a load is
 * free again). `frees`: a zero idiom gives that one back as soon as its instance retires, half a cycle before
 * the next writer would: 42 masks are enough where they were not, most of the time. (A Zen 5's idioms of
 * masks take what they give back: there one mask alone takes 0.50 in each process, with them 0.49 or 0.64,
 * two and four 0.50 or 0.59.) `places`: instances in a unit of a form that changes memory. With many, what
 * was written to one place has arrived when it is read again (`or m64, imm8` takes 0.55 cycle with 24 and
 * 0.51 with 32); few stay in the µop cache where an instance takes much of it (`shl m8, 1`: 1.00 or 0.51).
 * `apart`: bytes between the places of such a form, at least. A Zen 4 changes two neighbours in a cycle, and
 * one of what is 32 bytes apart.
 * `first`: where one of these says what nothing else would better, no others are tried. */
static const struct {
    unsigned registers, places, apart;
    bool first, frees;
} TRIES[] = {{1, 32, 0, false, false}, {1, 32, 0, false, true},  {2, 32, 0, false, true},
             {4, 24, 0, true, false},  {8, 32, 0, false, false}, {12, 16, 32, true, false},
             {0, 32, 32, false, false}};
enum { TRY_COUNT = sizeof TRIES / sizeof TRIES[0] };

/* Which variants of a form are measured: those that are tried first, all, or all in longer loops. A core that
 * loses a cycle at the end of a loop, now and then two (Zen 5), has loops of ten cycles whose lengths
 * disagree by a tenth; a loop for all forms would be long where each traps for thousands of cycles. */
enum round { ROUND_FIRST, ROUND_ALL, ROUND_LONGER };
enum { LONGER_TIMES = 6 };
static const double LONGER_CYCLES = 2.0; /* no more for whom longer loops are worth while */

enum branch { BRANCH_NONE, BRANCH_TAKEN, BRANCH_NOT_TAKEN, BRANCH_ANSWERS /* a return, with its call */ };

struct variant {
    size_t form, slot;
    struct gen_independence how;
    unsigned registers; /* in turn: as many as there are, if that is less; 0: all */
    double chains;      /* as independent as so many registers that the unit's instances have equally often */
    enum branch branch;
};

struct session {
    struct probe_batch batch;
    enum round round;
    struct variant *variants;
    size_t count, capacity;
};

/* Does the form wait for what an earlier instance of itself left in a register that cannot rotate, or that it
 * both reads and writes? */
static bool form_reads_what_it_writes(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG && operand->write && (operand->read || operand->cond_write)) {
            return true;
        }
        /* A partial write keeps the rest of the register. */
        if (operand->kind == ISA_OPERAND_REG && operand->write && isa_reg_is_gpr(operand->reg_class) &&
            operand->bits < 32) {
            return true;
        }
        /* A fixed register that one operand writes and another reads ("mul": rdx:rax = rax * op1). */
        for (unsigned j = 0; operand->kind == ISA_OPERAND_REG && operand->write && j < form->operand_count;
             j++) {
            const struct isa_operand *other = &form->operands[j];
            if (other->kind == ISA_OPERAND_REG && other->read && operand->reg >= 0 &&
                other->reg == operand->reg) {
                return true;
            }
        }
    }
    return false;
}

static bool form_renews_mask(const struct isa_form *form) {
    bool renews = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        renews = renews || (operand->kind == ISA_OPERAND_REG && operand->reg_class == ISA_REG_MASK &&
                            operand->write && !operand->read);
    }
    return renews && !form_reads_what_it_writes(form);
}

/* So many instances, or as many more or fewer as give each register as many. */
static unsigned whole_rounds(unsigned instances, unsigned registers) {
    bool uneven = registers > 0 && registers < instances;
    return uneven ? registers * ((2 * instances + registers) / (2 * registers)) : instances;
}

/* With all registers each must have as many: the chain of those that have more would decide. */
static enum ip_status instances_write(struct gen_program *program, const struct isa_form *form,
                                      const struct gen_independence *how, unsigned instances,
                                      struct ip_error *reason) {
    enum ip_status status = gen_throughput_program(program, form, how, instances, reason);
    unsigned whole = status == IP_OK ? whole_rounds(instances, program->registers) : instances;
    if (how->registers != 0 || gen_form_modifies_memory(form) || whole == instances) {
        return status;
    }
    gen_program_fini(program);
    gen_program_init(program);
    return gen_throughput_program(program, form, how, whole, reason);
}

/* Where some registers have more instances than others their chains decide. */
static double chains_of(const struct gen_program *program, const struct gen_independence *how) {
    double instances = program->forms_per_unit, registers = program->registers;
    return registers > 0 && instances > 0 ? instances / ceil(instances / registers) : how->registers;
}

static enum ip_status variant_add(struct session *session, size_t form_index, const struct isa_form *form,
                                  const struct gen_independence *how, unsigned instances, enum branch branch,
                                  struct probe_throughput *result, struct ip_error *err) {
    if (session->count == session->capacity) {
        size_t capacity = session->capacity != 0 ? session->capacity * 2 : 64;
        struct variant *grown = realloc(session->variants, capacity * sizeof *grown);
        if (grown == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "no memory for %zu kernels: measure fewer forms", capacity);
        }
        session->variants = grown;
        session->capacity = capacity;
    }
    struct gen_program program;
    struct ip_error reason;
    gen_program_init(&program);
    enum ip_status status = branch != BRANCH_NONE
                                ? gen_branch_program(&program, form, branch != BRANCH_NOT_TAKEN, &reason)
                                : instances_write(&program, form, how, instances, &reason);
    if (status != IP_OK) {
        gen_program_fini(&program);
        if (status == IP_NO_MEMORY) {
            *err = reason;
            return status;
        }
        snprintf(result->why, sizeof result->why, "%.127s", reason.text);
        return IP_OK;
    }
    program.copies *= session->round == ROUND_LONGER ? LONGER_TIMES : 1;
    struct variant *variant = &session->variants[session->count];
    variant->form = form_index;
    variant->how = *how;
    variant->chains = chains_of(&program, how);
    bool fewer = program.registers > 0 && program.registers < how->registers;
    variant->registers = fewer ? program.registers : how->registers;
    variant->branch = branch;
    status = probe_batch_add(&session->batch, &program, &variant->slot, err);
    if (status == IP_OK) {
        session->count++;
        probe_batch_rival(&session->batch, variant->slot,
                          &(struct probe_rival){.set = 2 * (uint32_t)form_index + 1 + how->slow_values});
    }
    return status;
}

/* The same with operands that take long. Last of a form's variants: they stand for themselves. */
static enum ip_status slow_variants_add(struct session *session, size_t form_index,
                                        const struct isa_form *form, struct probe_throughput *result,
                                        struct ip_error *err) {
    static const unsigned COUNTS[] = {4, 0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0] && status == IP_OK; i++) {
        struct gen_independence how = {.registers = COUNTS[i],
                                       .break_registers = form_reads_what_it_writes(form),
                                       .x87_frees = gen_x87_balance_of(form, true).room > 0,
                                       .slow_values = true};
        status = variant_add(session, form_index, form, &how, UNIT_INSTANCES, BRANCH_NONE, result, err);
    }
    return status;
}

static enum ip_status form_variants_add(struct session *session, size_t form_index,
                                        const struct isa_form *form, struct probe_throughput *result,
                                        struct ip_error *err) {
    if (gen_form_branches(form)) {
        /* Not taken first: it is at least as fast, and wins where both are the same. */
        const struct gen_independence none = {0};
        if (gen_form_needs_target(form)) {
            enum branch branch = gen_form_is_return(form) ? BRANCH_ANSWERS : BRANCH_TAKEN;
            return variant_add(session, form_index, form, &none, 0, branch, result, err);
        }
        enum ip_status status =
            variant_add(session, form_index, form, &none, 0, BRANCH_NOT_TAKEN, result, err);
        return status != IP_OK ? status
                               : variant_add(session, form_index, form, &none, 0, BRANCH_TAKEN, result, err);
    }
    /* A form that writes some of the flags may have to wait for the others, which it keeps. */
    bool some = form->flags_written != 0 && (~form->flags_written & STATUS_FLAGS) != 0;
    bool flags = form->flags_read != 0 || some, registers = form_reads_what_it_writes(form);
    bool renews_mask = form_renews_mask(form);
    for (unsigned way = 0; way < 8; way++) {
        bool break_flags = (way & 1) != 0, break_registers = (way & 2) != 0, x87_frees = (way & 4) != 0;
        if ((break_flags && !flags) || (break_registers && !registers) ||
            (x87_frees && gen_x87_balance_of(form, break_registers).room == 0)) {
            continue;
        }
        for (unsigned i = 0; i < TRY_COUNT; i++) {
            bool alone = TRIES[i].registers == 1;
            if ((session->round == ROUND_FIRST && !TRIES[i].first) || (alone && !renews_mask)) {
                continue;
            }
            struct gen_independence how = {.registers = TRIES[i].registers,
                                           .break_flags = break_flags,
                                           .break_registers = break_registers,
                                           .frees_masks = TRIES[i].frees && renews_mask,
                                           .x87_frees = x87_frees};
            bool modifies = gen_form_modifies_memory(form);
            unsigned instances = modifies ? TRIES[i].places : UNIT_INSTANCES;
            how.stride = modifies ? TRIES[i].apart : 0;
            enum ip_status status =
                variant_add(session, form_index, form, &how, instances, BRANCH_NONE, result, err);
            if (status != IP_OK) {
                return status;
            }
        }
    }
    return gen_form_depends_on_values(form) ? slow_variants_add(session, form_index, form, result, err)
                                            : IP_OK;
}

static void how_name(const struct variant *variant, char *buffer, size_t size) {
    const struct gen_independence *how = &variant->how;
    if (variant->branch != BRANCH_NONE) {
        snprintf(buffer, size, "%s",
                 variant->branch == BRANCH_TAKEN     ? "taken"
                 : variant->branch == BRANCH_ANSWERS ? "taken, with the call that it answers"
                                                     : "not taken");
        return;
    }
    char registers[24];
    if (variant->registers == 0) {
        snprintf(registers, sizeof registers, "all registers");
    } else {
        snprintf(registers, sizeof registers, "%u register%s", variant->registers,
                 variant->registers == 1 ? "" : "s");
    }
    snprintf(buffer, size, "%s%s%s%s%s", registers, how->break_flags ? ", flags broken" : "",
             how->break_registers ? ", registers broken" : "", how->frees_masks ? ", masks freed" : "",
             how->x87_frees ? ", stack freed" : "");
}

/* Variants that reach the same throughput differ by noise only, and the least of many noisy values is too
 * small: those within this much of the least count as equal, and their median stands for them. */
static const double EQUAL_VARIANTS = 0.02;
static const double CLEARLY = 0.05;
static const double STEADY_SPREAD = 0.02;

/* A value whose batches agree, or whose two lengths do (a wide spread is how the meter says that they do
 * not). */
static bool stat_steady(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK && stat->spread <= STEADY_SPREAD;
}

/* The most that the form can take: what the batches saw, and what the longer loop alone says where the
 * lengths disagree (the gap is relative to that, and part of the spread). */
static double stat_upper(const struct hx_stat *stat) {
    return fmax(stat->high, stat->spread < 1.0 ? stat->cycles / (1.0 - stat->spread) : INFINITY);
}

/* A steady value beats an unsteady one, unless all that the unsteady one saw is clearly smaller: then the
 * form is faster than the steady variant, and the result has to say that it is not sure by how much. Among
 * equals the smaller. */
static bool stat_beats(const struct hx_stat *stat, const struct probe_throughput *best) {
    if (!best->measured) {
        return true;
    }
    bool steady = stat_steady(stat), best_steady = stat_steady(&best->stat);
    if (steady == best_steady) {
        return stat->cycles < best->cycles;
    }
    const struct hx_stat *unsteady = steady ? &best->stat : stat;
    const struct hx_stat *other = steady ? stat : &best->stat;
    bool unsteady_wins = stat_upper(unsteady) * (1.0 + CLEARLY) < other->cycles;
    return steady ? !unsteady_wins : unsteady_wins;
}

static void result_set(struct probe_throughput *result, const struct variant *variant,
                       const struct hx_stat *stat) {
    result->measured = true;
    result->cycles = stat->cycles;
    result->spread = stat->spread;
    result->registers = variant->registers;
    result->verdict = stat->verdict;
    result->stat = *stat;
    how_name(variant, result->how, sizeof result->how);
    snprintf(result->why, sizeof result->why, "%s", stat->verdict == HX_VERDICT_OK ? "" : stat->why);
}

static void variant_take(const struct variant *variant, const struct hx_stat *stat,
                         struct probe_throughput *result) {
    if (variant->how.slow_values) {
        bool less = isnan(result->slow_cycles) || stat->cycles < result->slow_cycles;
        if (!stat->screened && stat->verdict == HX_VERDICT_OK && less) {
            result->slow_cycles = stat->cycles;
        }
        return;
    }
    if (!(stat->cycles > 0)) { /* a fault, no sample that could be used, or more instances that took less */
        if (!result->measured) {
            bool less = stat->verdict == HX_VERDICT_OK;
            result->verdict = less ? HX_VERDICT_UNSTABLE : stat->verdict;
            result->stat = *stat;
            snprintf(result->why, sizeof result->why, "%s",
                     less ? "unstable: twice as many instances took no longer" : stat->why);
        }
        return;
    }
    const struct gen_independence *how = &variant->how;
    if (variant->branch == BRANCH_NONE && !how->break_flags && !how->break_registers) {
        result->plain_cycles = stat->cycles; /* of those with the most registers in the end */
    }
    if (stat->screened || !stat_beats(stat, result)) {
        return;
    }
    result_set(result, variant, stat);
}

static bool stat_equals(const struct hx_stat *stat, double least) {
    return !stat->screened && stat->verdict == HX_VERDICT_OK && stat->cycles >= least &&
           stat->cycles <= least * (1.0 + EQUAL_VARIANTS);
}

/* Replaces the least of the form's variants by the median of those that equal it. The variants of a form are
 * neighbours. */
static void result_settle(const struct session *session, size_t first, size_t count,
                          struct probe_throughput *result) {
    const struct variant *variants = session->variants + first;
    const struct hx_stat *stats = session->batch.stats;
    double least = result->cycles;
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        equal += stat_equals(&stats[variants[i].slot], least);
    }
    for (size_t i = 0; i < count && equal > 0; i++) {
        const struct hx_stat *stat = &stats[variants[i].slot];
        size_t below = 0;
        for (size_t j = 0; j < count; j++) {
            const struct hx_stat *other = &stats[variants[j].slot];
            below += stat_equals(other, least) &&
                     (other->cycles < stat->cycles || (other->cycles == stat->cycles && j < i));
        }
        if (stat_equals(stat, least) && below == (equal - 1) / 2) {
            result_set(result, &variants[i], stat);
            return;
        }
    }
}

/* A string operation takes as long as it has to repeat. */
static void repetitions_append(const struct isa_form *form, char *buffer, size_t size) {
    size_t used = strlen(buffer);
    if (form->prefix[0] == 'r' && gen_form_is_string(form)) {
        snprintf(buffer + used, size - used, ", rcx %d", GEN_REPETITIONS);
    }
}

static bool same_way(const struct variant *a, const struct variant *b) {
    return a->branch == b->branch && a->how.break_flags == b->how.break_flags &&
           a->how.break_registers == b->how.break_registers && a->how.x87_frees == b->how.x87_frees;
}

/* Is there a way to make the instances independent of which no sample was undisturbed? It may be the fastest.
 */
static const struct variant *way_missed(const struct session *session, size_t first, size_t count) {
    const struct variant *variants = session->variants + first;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < count && !seen; j++) {
            enum hx_verdict verdict = session->batch.stats[variants[j].slot].verdict;
            seen = same_way(&variants[i], &variants[j]) && verdict != HX_VERDICT_DISTURBED;
        }
        if (!seen) {
            return &variants[i];
        }
    }
    return NULL;
}

/* Marks a value that looks good but is not to be trusted. */
static void result_doubt(const struct session *session, size_t first, size_t count,
                         const struct isa_form *form, struct probe_throughput *result) {
    if (!result->measured || result->verdict != HX_VERDICT_OK) {
        return;
    }
    const struct variant *missed = way_missed(session, first, count);
    if (probe_is_outside(form, result->cycles, result->why, sizeof result->why)) {
        result->verdict = HX_VERDICT_UNSTABLE;
    } else if (missed != NULL) {
        char how[sizeof result->how];
        how_name(missed, how, sizeof how);
        result->verdict = HX_VERDICT_DISTURBED;
        snprintf(result->why, sizeof result->why,
                 "disturbed: never undisturbed with %.60s, which may be faster", how);
    }
}

bool probe_throughput_is_steady(const struct probe_throughput *throughput) {
    return throughput->measured && throughput->verdict == HX_VERDICT_OK &&
           throughput->spread <= STEADY_SPREAD;
}

enum { PORTS_MOST = 6, PORTS_OF_SEVERAL = 4 };

bool probe_throughput_is_plain(const struct probe_throughput *throughput) {
    const double near = 0.015;
    for (unsigned ports = 1; throughput->measured && ports <= PORTS_MOST; ports++) {
        double uops = throughput->cycles * ports, whole = round(uops);
        bool may_be = whole == 1.0 || (whole > 1.0 && ports <= PORTS_OF_SEVERAL);
        if (may_be && fabs(uops - whole) <= near * uops) {
            return true;
        }
    }
    return false;
}

/* A whole number of cycles, or the n-th part of one, as on n equal ports: nothing that is in the way of an
 * instance leaves that but by chance. */
static bool is_unhindered(const struct probe_throughput *result) {
    const double near = 0.008, near_cycles = 0.05;
    double whole = fmax(round(result->cycles), 1.0);
    bool told = fabs(result->cycles - whole) <= fmin(near * whole, near_cycles);
    for (unsigned ports = 2; ports <= PORTS_MOST; ports++) {
        told = told || fabs(result->cycles * ports - 1.0) <= near;
    }
    return told && probe_throughput_is_steady(result);
}

/* Do more chains take less in proportion, and decide? Then instances wait for each other, and with even more
 * registers they may be faster still, whatever the number looks like. */
static bool is_chained(const struct session *session, size_t first, size_t count,
                       const struct probe_throughput *result) {
    const double near = 0.1;
    const struct variant *variants = session->variants + first;
    for (size_t i = 0; i < count; i++) {
        double few = session->batch.stats[variants[i].slot].cycles;
        for (size_t j = 0; j < count; j++) {
            double more = session->batch.stats[variants[j].slot].cycles;
            double times = variants[j].chains / variants[i].chains;
            if (times > 1 && same_way(&variants[i], &variants[j]) &&
                more <= result->cycles * (1 + EQUAL_VARIANTS) && fabs(few - more * times) <= near * few) {
                return true;
            }
        }
    }
    return false;
}

/* Was a variant only looked at, and the look spoilt, or far above the result? More registers are no slower:
 * it may be what says more. */
static bool is_overlooked(const struct session *session, size_t first, size_t count,
                          const struct probe_throughput *result) {
    const double near = 0.1;
    bool overlooked = false;
    for (size_t i = first; i < first + count && !overlooked; i++) {
        const struct hx_stat *stat = &session->batch.stats[session->variants[i].slot];
        bool slower = !(stat->cycles <= result->cycles * (1 + near));
        overlooked = stat->screened && slower && session->variants[i].registers > result->registers;
    }
    return overlooked;
}

/* Would other variants than these tell anything else? */
static bool others_may_tell(const struct session *session, size_t first, size_t count,
                            const struct isa_form *form, const struct probe_throughput *result) {
    bool lacking = result->verdict == HX_VERDICT_FAULT && result->stat.outcome == HX_OUTCOME_ILLEGAL;
    bool told = is_unhindered(result) && !is_chained(session, first, count, result) &&
                !is_overlooked(session, first, count, result);
    return !gen_form_branches(form) && !lacking && !told;
}

static void result_clear(struct probe_throughput *result) {
    memset(result, 0, sizeof *result);
    result->cycles = result->spread = result->plain_cycles = result->slow_cycles = NAN;
}

/* Do the two lengths of its loop disagree, or is it restless? */
static bool wants_longer_loops(const struct probe_throughput *result) {
    return result->measured && result->verdict == HX_VERDICT_UNSTABLE && result->cycles <= LONGER_CYCLES;
}

/* Measures those forms that are `open`, and leaves open what another round may tell better. */
static enum ip_status variants_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                       struct isa_form *const *forms, bool *open, size_t count,
                                       enum round round, struct probe_throughput *results,
                                       struct ip_error *err) {
    struct session session = {.round = round};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (open[i]) {
            open[i] = false; /* without a variant there will be none */
            result_clear(&results[i]);
            status = form_variants_add(&session, i, forms[i], &results[i], err);
        }
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&session.batch, meter, encoder, err);
    }
    for (size_t i = 0; i < session.count && status == IP_OK; i++) {
        const struct variant *variant = &session.variants[i];
        variant_take(variant, &session.batch.stats[variant->slot], &results[variant->form]);
    }
    for (size_t i = 0, end; i < session.count && status == IP_OK; i = end) {
        size_t ordinary = 0;
        for (end = i; end < session.count && session.variants[end].form == session.variants[i].form;) {
            ordinary += !session.variants[end].how.slow_values;
            end++;
        }
        size_t number = session.variants[i].form;
        struct probe_throughput *result = &results[number];
        result_settle(&session, i, ordinary, result);
        if (result->measured) {
            repetitions_append(forms[number], result->how, sizeof result->how);
        }
        result_doubt(&session, i, ordinary, forms[number], result);
        open[number] = round == ROUND_FIRST ? others_may_tell(&session, i, ordinary, forms[number], result)
                                            : round == ROUND_ALL && wants_longer_loops(result);
    }
    free(session.variants);
    probe_batch_fini(&session.batch);
    return status;
}

/* What longer loops say counts where it is steady. */
static enum ip_status longer_loops_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                           struct isa_form *const *forms, bool *open, size_t count,
                                           struct probe_throughput *results, struct ip_error *err) {
    struct probe_throughput *found = calloc(count + 1, sizeof *found);
    if (found == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    enum ip_status status = variants_measure(meter, encoder, forms, open, count, ROUND_LONGER, found, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (probe_throughput_is_steady(&found[i])) {
            results[i] = found[i];
        }
    }
    free(found);
    return status;
}

enum ip_status probe_throughput_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                        struct isa_form *const *forms, size_t count,
                                        struct probe_throughput *results, struct ip_error *err) {
    struct probe_throughput *found = calloc(count + 1, sizeof *found);
    bool *open = calloc(count + 1, sizeof *open);
    enum ip_status status = found == NULL || open == NULL
                                ? ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count)
                                : IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        open[i] = forms[i]->obstacle == ISA_OBSTACLE_NONE;
        if (!open[i]) {
            result_clear(&found[i]);
            snprintf(found[i].why, sizeof found[i].why, "%s", forms[i]->note);
        }
    }
    if (status == IP_OK) {
        status = variants_measure(meter, encoder, forms, open, count, ROUND_FIRST, found, err);
    }
    if (status == IP_OK) {
        status = variants_measure(meter, encoder, forms, open, count, ROUND_ALL, found, err);
    }
    if (status == IP_OK) {
        status = longer_loops_measure(meter, encoder, forms, open, count, found, err);
    }
    if (status == IP_OK) {
        memcpy(results, found, count * sizeof *results);
    }
    free(found);
    free(open);
    return status;
}
