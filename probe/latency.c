/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/operands.h"
#include "probe/latency_session.h"

/* Of a chain that takes no whole number of cycles: of the form alone, and in a longer round. */
enum { BETWEEN_RETRIES = 3, LONGER_RETRIES = 2 };
/* Of a longer round that noise spoilt. */
enum { LONGER_VOID_RETRIES = 3 };
/* So far below a half is a half. */
static const double HALF_BELOW = 0.05;

const char *probe_path_name(enum probe_path path) {
    switch (path) {
    case PROBE_PATH_REGISTER:
        return "register";
    case PROBE_PATH_ADDRESS:
        return "address";
    case PROBE_PATH_INDEX:
        return "index";
    case PROBE_PATH_CONTENT:
        return "content";
    }
    return "";
}

const char *probe_latency_bound(const struct probe_latency_pair *pair) {
    if (pair->independent) {
        return "none";
    }
    return !pair->measured ? NULL : pair->upper_bound ? "upper" : "exact";
}

double probe_latency_whole(double cycles) {
    return floor(cycles + 0.5 + HALF_BELOW);
}

void probe_latency_fini(struct probe_latency *latency) {
    free(latency->pairs);
    memset(latency, 0, sizeof *latency);
}

static void session_fini(struct latency_session *session) {
    probe_batch_fini(&session->batch);
    free(session->experiments);
    for (size_t i = 0; session->results != NULL && i < session->count; i++) {
        probe_latency_fini(&session->results[i]);
    }
    free(session->results);
}

/* An operand that a value can come from or go to. RSP is the harness's own and never allocated. */
static bool operand_counts(const struct isa_operand *operand) {
    return probe_operand_file(operand) != PROBE_FILE_NONE;
}

static enum probe_path operand_path(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN ? PROBE_PATH_ADDRESS
                                                                                 : PROBE_PATH_REGISTER;
}

/* AX that MUL r8 writes is RAX, as AL is, which it reads: one register, one source. */
static bool register_is_read(const struct isa_form *form, unsigned o) {
    const struct isa_operand *operand = &form->operands[o];
    for (unsigned i = 0; operand->reg >= 0 && i < form->operand_count; i++) {
        const struct isa_operand *other = &form->operands[i];
        if (i != o && other->kind == ISA_OPERAND_REG && isa_reg_is_gpr(other->reg_class) && other->read &&
            other->reg == operand->reg) {
            return true;
        }
    }
    return false;
}

/* The source that `operand` is, if any: registers, masks and flags that are read, addresses. */
static bool operand_is_source(const struct isa_form *form, unsigned o) {
    const struct isa_operand *operand = &form->operands[o];
    if (operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN) {
        return (!operand->implicit || gen_string_pointer(form, o) >= 0) && !operand->absolute;
    }
    /* The rest of a general-purpose register of which 8 or 16 bits are written is kept. */
    bool kept = operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) && operand->write &&
                operand->bits < 32 && !register_is_read(form, o);
    return (operand->read || kept) && operand_counts(operand);
}

static bool operand_is_destination(const struct isa_operand *operand) {
    return operand->write && operand_counts(operand) && operand->kind != ISA_OPERAND_MEM;
}

/* Memory whose content passes from a store to a load: named by the form, and not scattered or gathered. */
static bool operand_has_content(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_MEM && !operand->implicit && operand->reg_class == ISA_REG_NONE &&
           operand->bits != 0;
}

static void pair_init(struct probe_latency_pair *pair, int src, int dst, enum probe_path path) {
    memset(pair, 0, sizeof *pair);
    pair->src = src;
    pair->dst = dst;
    pair->path = path;
    pair->cycles = pair->spread = pair->chained_cycles = NAN;
    pair->same_register_cycles = pair->slow_cycles = NAN;
    pair->verdict = HX_VERDICT_OK;
}

static enum ip_status pairs_list(struct probe_latency *latency, const struct isa_form *form,
                                 struct ip_error *err) {
    if (form->obstacle != ISA_OBSTACLE_NONE) {
        return IP_OK;
    }
    struct probe_latency_pair *pairs =
        calloc((size_t)ISA_OPERANDS_MAX * (2 * ISA_OPERANDS_MAX), sizeof *pairs);
    if (pairs == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the operand pairs of %s", form->syntax);
    }
    size_t count = 0;
    for (unsigned src = 0; src < form->operand_count; src++) {
        for (unsigned dst = 0; dst < form->operand_count; dst++) {
            const struct isa_operand *source = &form->operands[src];
            const struct isa_operand *destination = &form->operands[dst];
            bool stores = destination->write && operand_has_content(destination);
            bool loads = source->read && operand_has_content(source);
            bool ends = operand_is_destination(destination);
            bool carried = loads || (source->kind != ISA_OPERAND_MEM && operand_is_source(form, src));
            if ((stores && carried) || (loads && ends)) {
                pair_init(&pairs[count++], (int)src, (int)dst, PROBE_PATH_CONTENT);
            }
            bool addressed = source->kind == ISA_OPERAND_MEM && stores;
            if (!operand_is_source(form, src) || !(ends || addressed)) {
                continue;
            }
            pair_init(&pairs[count++], (int)src, (int)dst, operand_path(source));
            if (source->kind == ISA_OPERAND_MEM && isa_reg_is_vector(source->reg_class)) {
                pair_init(&pairs[count++], (int)src, (int)dst, PROBE_PATH_INDEX);
            }
        }
    }
    /* A scan keeps those of thousands of forms. */
    struct probe_latency_pair *fitting = realloc(pairs, (count + 1) * sizeof *pairs);
    latency->pairs = fitting != NULL ? fitting : pairs;
    latency->count = count;
    return IP_OK;
}

/* The chains that were added since the last time; the transfers are calibrated. */
static enum ip_status chains_measure(struct latency_session *session, const struct hx_meter *meter,
                                     struct gen_encoder *encoder, struct ip_error *err) {
    latency_rivals_set(session);
    return probe_batch_measure(&session->batch, meter, encoder, err);
}

/* The pairs are read; what lies between two whole numbers of cycles, or may be the form's own pace, is tried
 * in longer rounds. */
static enum ip_status longer_measure(struct latency_session *session, const struct hx_meter *meter,
                                     struct gen_encoder *encoder, struct ip_error *err) {
    const size_t first = session->experiment_count;
    enum ip_status status = latency_longer_add(session, first, err);
    const size_t paced = session->experiment_count;
    if (status == IP_OK) {
        status = latency_paced_add(session, first, err);
    }
    session->batch.between_retries = LONGER_RETRIES;
    session->batch.retries = LONGER_VOID_RETRIES;
    if (status == IP_OK && session->experiment_count > first) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        latency_longer_read(session, first, paced);
        latency_paced_read(session, paced, session->experiment_count);
    }
    return status;
}

static bool is_asked(const struct latency_session *session, size_t form, size_t pair) {
    return session->asked == NULL || pair >= PROBE_LATENCY_ASKED_MOST ||
           (session->asked[form] >> pair & 1) != 0;
}

static enum ip_status session_run(struct latency_session *session, const struct hx_meter *meter,
                                  struct gen_encoder *encoder, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        status = pairs_list(&session->results[i], session->forms[i], err);
        for (size_t j = 0; j < session->results[i].count && status == IP_OK; j++) {
            status = is_asked(session, i, j) ? latency_chains_add(session, i, j, err) : IP_OK;
        }
    }
    if (status == IP_OK && !session->transfers->calibrated) {
        latency_delays_need(session);
        status = probe_transfers_calibrate(session->transfers, meter, encoder, err);
    }
    if (status == IP_OK) {
        status = chains_measure(session, meter, encoder, err);
    }
    if (status == IP_OK) {
        status = latency_chains_add_rest(session, err);
    }
    if (status == IP_OK) {
        status = chains_measure(session, meter, encoder, err);
    }
    if (status == IP_OK) {
        latency_session_read(session);
        status = longer_measure(session, meter, encoder, err);
    }
    if (status == IP_OK) {
        latency_buffered_settle(session);
    }
    return status;
}

enum ip_status probe_latency_measure_with(const struct hx_meter *meter, struct gen_encoder *encoder,
                                          struct probe_transfers *transfers, struct isa_form *const *forms,
                                          const uint64_t *asked, size_t count, struct probe_latency *results,
                                          struct ip_error *err) {
    if (count == 0) {
        return IP_OK;
    }
    struct latency_session session = {.forms = forms,
                                      .asked = asked,
                                      .count = count,
                                      .transfers = transfers,
                                      .batch = {.between_retries = BETWEEN_RETRIES}};
    session.results = calloc(count, sizeof *session.results);
    if (session.results == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    enum ip_status status = session_run(&session, meter, encoder, err);
    if (status == IP_OK) {
        memcpy(results, session.results, count * sizeof *results);
        free(session.results);
        session.results = NULL; /* the pairs are the caller's now */
    }
    session_fini(&session);
    return status;
}

enum ip_status probe_latency_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct isa_table *table, struct isa_form *const *forms,
                                     size_t count, struct probe_latency *results, struct ip_error *err) {
    struct probe_transfers transfers = {0};
    enum ip_status status = probe_transfers_init(&transfers, table, err);
    if (status == IP_OK) {
        status = probe_latency_measure_with(meter, encoder, &transfers, forms, NULL, count, results, err);
    }
    probe_transfers_fini(&transfers);
    return status;
}
