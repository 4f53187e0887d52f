/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/rename.h"

#include <math.h>
#include <stdlib.h>

#include "generator/operands.h"
#include "generator/pool.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    COPIES = 8,          /* with one register for all operands, beside ... */
    BLOCKED_CYCLES = 24, /* ... blockers that take so long */
    WIDTH_MOST = 8,      /* ports of a set */
};

/* µops of an instance that tell nothing lie between. */
static const double NO_UOP = 0.3, A_UOP = 0.6;

/* The kernels of one form. */
struct trial {
    size_t chain, same, beside, alone;
    unsigned width; /* ports of the set that is blocked */
};

struct session {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct probe_portmap *map;
    struct isa_form *const *forms;
    const struct probe_usage *usages;
    struct probe_rename *results;
    struct trial *trials;
    size_t count;
};

static enum ip_status batch_run(const struct session *session, struct probe_batch *batch,
                                struct ip_error *err) {
    batch->looks = PROBE_MIX_LOOKS;
    return batch->count > 0 ? probe_batch_measure(batch, session->meter, session->encoder, err) : IP_OK;
}

/* -- Chains ------------------------------------------------------------------------------------------- */

static bool is_register(const struct isa_operand *operand, enum gen_file file) {
    return operand->kind == ISA_OPERAND_REG && !operand->mask && gen_operand_is_free(operand) &&
           gen_file_of(operand->reg_class) == file;
}

/* The register that it writes and, of the same file, the first that it reads; how many it reads. */
static unsigned sources_find(const struct isa_form *form, int *src, int *dst) {
    unsigned sources = 0;
    *src = *dst = -1;
    if (form->explicit_count == 0 || !form->operands[0].write || isa_form_memory_operand(form) >= 0) {
        return 0;
    }
    enum gen_file file = gen_file_of(form->operands[0].reg_class);
    for (unsigned i = 0; i < form->explicit_count && is_register(&form->operands[0], file); i++) {
        if (form->operands[i].kind == ISA_OPERAND_IMM) {
            return 0; /* it depends on the number */
        }
        if (is_register(&form->operands[i], file) && form->operands[i].read) {
            *src = sources++ == 0 ? (int)i : *src;
            *dst = 0;
        }
    }
    return sources;
}

static enum ip_status chain_add(const struct isa_form *form, int src, int dst, bool same,
                                struct probe_batch *batch, size_t *slot, struct ip_error *err) {
    const struct gen_link link = {.form = form, .src = src, .dst = dst, .same_register = same};
    struct gen_program program;
    struct ip_error reason;
    enum ip_status status = gen_latency_program(&program, &link, 1, 0, 0, &reason);
    if (status == IP_OK) {
        return probe_batch_add(batch, &program, slot, err);
    }
    if (status == IP_NO_MEMORY) {
        *err = reason;
        return status;
    }
    return IP_OK; /* there is no such chain */
}

static bool needs_keeper(const struct isa_form *form, int src, int dst) {
    return gen_latency_keeper_cycles(&(struct gen_link){.form = form, .src = src, .dst = dst}, 1) != 0;
}

enum ip_status probe_rename_chain_add(const struct isa_form *form, struct probe_batch *batch, size_t *slot,
                                      struct ip_error *err) {
    int src = -1, dst = -1;
    bool moves =
        sources_find(form, &src, &dst) == 1 && !form->operands[0].read && !needs_keeper(form, src, dst);
    return moves ? chain_add(form, src, dst, false, batch, slot, err) : IP_OK;
}

/* Has it one register, which it changes by a number or by itself? What reads flags computes with them. */
static bool changes_one(const struct isa_form *form) {
    bool one = form->explicit_count > 0 && is_register(&form->operands[0], GEN_FILE_GPR) &&
               form->operands[0].read && form->operands[0].write && form->flags_read == 0;
    for (unsigned i = 1; i < form->operand_count; i++) {
        const enum isa_operand_kind kind = form->operands[i].kind;
        one = one && kind == (i < form->explicit_count ? ISA_OPERAND_IMM : ISA_OPERAND_FLAGS);
    }
    return one;
}

enum ip_status probe_rename_change_add(const struct isa_form *form, struct probe_batch *batch, size_t *slot,
                                       struct ip_error *err) {
    return changes_one(form) ? chain_add(form, 0, 0, false, batch, slot, err) : IP_OK;
}

static enum ip_status chains_add(const struct session *session, size_t i, struct probe_batch *batch,
                                 struct ip_error *err) {
    const struct probe_usage *usage = &session->usages[i];
    const struct isa_form *form = session->forms[i];
    int src = -1, dst = -1;
    unsigned sources = sources_find(form, &src, &dst);
    bool one_slot = usage->verdict == PROBE_USAGE_OK && round(usage->slots) == 1;
    bool portless = usage->term_count == 0 || usage->hidden_ports != 0;
    if (!one_slot) {
        return IP_OK;
    }
    if (sources == 0 || changes_one(form)) {
        return portless ? probe_rename_change_add(form, batch, &session->trials[i].chain, err) : IP_OK;
    }
    if (sources == 1) {
        return portless ? probe_rename_chain_add(form, batch, &session->trials[i].chain, err) : IP_OK;
    }
    bool keeper = needs_keeper(form, src, dst);
    return keeper ? IP_OK : chain_add(form, src, dst, true, batch, &session->trials[i].same, err);
}

static void chains_read(const struct session *session, size_t i, const struct probe_batch *batch) {
    struct probe_rename *result = &session->results[i];
    result->link_cycles = probe_mix_cycles(batch, session->trials[i].chain);
    result->same_register_cycles = probe_mix_cycles(batch, session->trials[i].same);
    if (isfinite(result->link_cycles)) {
        result->eliminated = result->link_cycles < PROBE_RENAME_EXECUTED ? PROBE_YES : PROBE_NO;
    }
    if (isfinite(result->same_register_cycles)) {
        result->breaks = result->same_register_cycles < PROBE_RENAME_EXECUTED ? PROBE_YES : PROBE_NO;
    }
}

/* -- Beside blockers ---------------------------------------------------------------------------------- */

/* Blockers of the widest set that the form's µops use, alone and with instances of one register each. */
static enum ip_status blockers_add(const struct session *session, size_t i, struct probe_batch *batch,
                                   struct ip_error *err) {
    const struct probe_portmap *map = session->map;
    struct trial *trial = &session->trials[i];
    struct probe_usage_subject company;
    uint32_t ports = 0;
    int member = -1;
    for (unsigned t = 0; t < session->usages[i].term_count; t++) {
        const struct probe_usage_term *term = &session->usages[i].terms[t];
        ports = !term->store && ports_in(term->ports) > ports_in(ports) ? term->ports : ports;
    }
    probe_usage_subject_init(&company, session->forms[i]);
    for (unsigned c = 0; c < map->class_count && member < 0 && ports != 0; c++) {
        bool core = !map->classes[c].load && !map->classes[c].store;
        member = core && map->classes[c].ports == ports ? probe_usage_blocker(&company, map, c) : -1;
    }
    trial->width = ports_in(ports);
    if (member < 0 || trial->width > WIDTH_MOST || trial->width + 0.5 > map->issue_width) {
        return IP_OK;
    }
    const struct gen_part parts[2] = {
        probe_port_part(&map->members[member], BLOCKED_CYCLES * trial->width),
        {.form = session->forms[i], .count = COPIES, .how = {.same_register = true}},
    };
    enum ip_status status = probe_mix_add(batch, parts, 1, &trial->alone, err);
    return status == IP_OK ? probe_mix_add(batch, parts, 2, &trial->beside, err) : status;
}

static void blockers_read(const struct session *session, size_t i, const struct probe_batch *batch) {
    const struct trial *trial = &session->trials[i];
    struct probe_rename *result = &session->results[i];
    double more = probe_mix_cycles(batch, trial->beside) - probe_mix_cycles(batch, trial->alone);
    result->same_register_uops = more * trial->width / COPIES;
    if (result->same_register_uops < NO_UOP) {
        result->portless = PROBE_YES;
    } else if (result->same_register_uops > A_UOP) {
        result->portless = PROBE_NO;
    }
}

/* -- All together ------------------------------------------------------------------------------------- */

static enum ip_status chains_measure(const struct session *session, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        status = chains_add(session, i, &batch, err);
    }
    status = status == IP_OK ? batch_run(session, &batch, err) : status;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        chains_read(session, i, &batch);
    }
    probe_batch_fini(&batch);
    return status;
}

/* Only of those whose chains are broken: it tells the others nothing new. */
static enum ip_status blockers_measure(const struct session *session, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        if (session->results[i].breaks == PROBE_YES) {
            status = blockers_add(session, i, &batch, err);
        }
    }
    status = status == IP_OK ? batch_run(session, &batch, err) : status;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        blockers_read(session, i, &batch);
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_rename_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                    const struct probe_portmap *map, struct isa_form *const *forms,
                                    size_t count, const struct probe_usage *usages,
                                    struct probe_rename *results, struct ip_error *err) {
    struct session session = {.meter = meter,
                              .encoder = encoder,
                              .map = map,
                              .forms = forms,
                              .usages = usages,
                              .results = results,
                              .trials = calloc(count + 1, sizeof *session.trials),
                              .count = count};
    if (session.trials == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the renaming of %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        session.trials[i] = (struct trial){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, 0};
        results[i] =
            (struct probe_rename){.link_cycles = NAN, .same_register_cycles = NAN, .same_register_uops = NAN};
    }
    enum ip_status status = chains_measure(&session, err);
    status = status == IP_OK ? blockers_measure(&session, err) : status;
    free(session.trials);
    return status;
}
