/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

enum { BEGINNINGS = 1 << 16 };

/* The bytes of an instruction in two words, those behind it zero. */
struct op_key {
    uint64_t word[2];
};

struct hx_sim_cached_op {
    struct op_key key;
    struct hx_sim_op op;
};

void hx_sim_ops_fini(struct hx_sim_ops *ops) {
    for (size_t i = 0; i < ops->size; i++) {
        free(ops->slots[i]);
    }
    free(ops->slots);
    free(ops->lengths);
    memset(ops, 0, sizeof *ops);
}

static struct op_key key_make(const uint8_t *code, size_t length) {
    struct op_key key = {0};
    memcpy(&key, code, length);
    return key;
}

static size_t slot_begin(const struct op_key *key, size_t size) {
    uint64_t hash =
        (key->word[0] ^ key->word[1] * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (size - 1);
}

/* Place in ops->lengths. */
static size_t beginning(const uint8_t *code, size_t code_bytes) {
    return code_bytes > 1 ? (size_t)code[0] << 8 | code[1] : (size_t)code[0] << 8;
}

/* No instruction is the beginning of another, so at most one cached one fits. */
static const struct hx_sim_op *op_find(const struct hx_sim_ops *ops, const uint8_t *code, size_t code_bytes) {
    if (ops->size == 0) {
        return NULL;
    }
    unsigned lengths = ops->lengths[beginning(code, code_bytes)] | ops->lengths[beginning(code, 1)];
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t length = (size_t)__builtin_ctz(lengths);
        if (length > code_bytes) {
            break;
        }
        const struct op_key key = key_make(code, length);
        for (size_t slot = slot_begin(&key, ops->size); ops->slots[slot] != NULL;
             slot = (slot + 1) & (ops->size - 1)) {
            const struct hx_sim_cached_op *cached = ops->slots[slot];
            if (cached->op.length == length && memcmp(&cached->key, &key, sizeof key) == 0) {
                return &cached->op;
            }
        }
    }
    return NULL;
}

static void op_insert(struct hx_sim_ops *ops, struct hx_sim_cached_op *cached) {
    size_t slot = slot_begin(&cached->key, ops->size);
    while (ops->slots[slot] != NULL) {
        slot = (slot + 1) & (ops->size - 1);
    }
    ops->slots[slot] = cached;
}

static bool ops_reserve(struct hx_sim_ops *ops) {
    if (2 * (ops->count + 1) <= ops->size) {
        return true;
    }
    struct hx_sim_ops larger = {
        .count = ops->count, .size = ops->size != 0 ? ops->size * 2 : 256, .lengths = ops->lengths};
    if (larger.lengths == NULL) {
        larger.lengths = calloc(BEGINNINGS, sizeof *larger.lengths);
        ops->lengths = larger.lengths;
    }
    larger.slots = calloc(larger.size, sizeof(struct hx_sim_cached_op *));
    if (larger.slots == NULL || larger.lengths == NULL) {
        free(larger.slots);
        return false;
    }
    for (size_t i = 0; i < ops->size; i++) {
        if (ops->slots[i] != NULL) {
            op_insert(&larger, ops->slots[i]);
        }
    }
    free(ops->slots);
    *ops = larger;
    return true;
}

/* IP_SYNTAX: no instruction there. */
static enum ip_status op_get(struct hx_sim_ops *ops, const struct hx_sim_description *description,
                             const uint8_t *code, size_t code_bytes, const struct hx_sim_op **op,
                             struct ip_error *err) {
    if ((*op = op_find(ops, code, code_bytes)) != NULL) {
        return IP_OK;
    }
    struct isa_form form;
    struct isa_binding binding;
    size_t length = 0;
    memset(&form, 0, sizeof form);
    memset(&binding, 0, sizeof binding);
    enum ip_status status = isa_decode(code, code_bytes, &form, &binding, &length, err);
    if (status != IP_OK) {
        return status;
    }
    struct hx_sim_cached_op *cached = calloc(1, sizeof *cached);
    if (cached == NULL || !ops_reserve(ops)) {
        free(cached);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the simulated CPU's instructions");
    }
    cached->key = key_make(code, length);
    ops->lengths[beginning(code, length)] |= (uint16_t)(1u << length);
    hx_sim_op_make(&cached->op, description, hx_sim_row_find(description, &form, &binding), &form, &binding,
                   code, length);
    op_insert(ops, cached);
    ops->count++;
    *op = &cached->op;
    return IP_OK;
}

static bool op_append(struct hx_sim_program *program, const struct hx_sim_op *op) {
    if (program->count == program->capacity) {
        size_t capacity = program->capacity != 0 ? program->capacity * 2 : 256;
        const struct hx_sim_op **ops = realloc(program->ops, capacity * sizeof *ops);
        if (ops == NULL) {
            return false;
        }
        program->ops = ops;
        program->capacity = capacity;
    }
    program->ops[program->count++] = op;
    return true;
}

static enum ip_status code_decode(struct hx_sim_program *program, struct hx_sim_ops *ops,
                                  const struct hx_sim_description *description, const uint8_t *code,
                                  size_t code_bytes, struct hx_sim_verdict *verdict, struct ip_error *err) {
    for (size_t at = 0; at < code_bytes;) {
        const struct hx_sim_op *op;
        enum ip_status status = op_get(ops, description, code + at, code_bytes - at, &op, err);
        if (status == IP_SYNTAX) {
            verdict->outcome = HX_OUTCOME_ILLEGAL;
            snprintf(verdict->why, sizeof verdict->why, "no instruction at offset %zu of the kernel", at);
            return IP_OK;
        }
        if (status != IP_OK) {
            return status;
        }
        if (!op_append(program, op)) {
            return ip_fail(err, IP_NO_MEMORY, "no memory for the simulated kernel");
        }
        at += op->length;
        if (op->flow == HX_SIM_FLOW_RETURN && at < code_bytes) {
            verdict->outcome = HX_OUTCOME_UNKNOWN;
            snprintf(verdict->why, sizeof verdict->why,
                     "the simulated CPU returns at the end of a kernel only");
            return IP_OK;
        }
    }
    return IP_OK;
}

/* Position of the instruction that the branch ops[at] goes to; count when it is none of ours. */
static size_t branch_target(const struct hx_sim_program *program, size_t at) {
    int64_t distance = program->ops[at]->displacement; /* from the end of the branch */
    size_t target = at + 1;
    while (distance < 0 && target > 0) {
        distance += program->ops[--target]->length;
    }
    while (distance > 0 && target < program->count) {
        distance -= program->ops[target++]->length;
    }
    return distance == 0 ? target : program->count;
}

static bool is_branch(const struct hx_sim_op *op) {
    return op->flow == HX_SIM_FLOW_CONDITIONAL || op->flow == HX_SIM_FLOW_JUMP;
}

/* An unconditional jump back which no branch in between can leave behind. */
static bool is_endless(const struct hx_sim_program *program, size_t begin, size_t end) {
    if (program->ops[end]->flow != HX_SIM_FLOW_JUMP) {
        return false;
    }
    for (size_t i = begin; i < end; i++) {
        if (is_branch(program->ops[i]) && branch_target(program, i) > end) {
            return false;
        }
    }
    return true;
}

static void loop_find(struct hx_sim_program *program, struct hx_sim_verdict *verdict) {
    program->loop_begin = program->loop_end = program->count;
    size_t span = 0;
    for (size_t i = 0; i < program->count; i++) {
        if (!is_branch(program->ops[i]) || program->ops[i]->displacement >= 0) {
            continue;
        }
        size_t target = branch_target(program, i);
        if (target > i) {
            continue; /* into the middle of an instruction, or out of the kernel */
        }
        if (is_endless(program, target, i)) {
            verdict->outcome = HX_OUTCOME_TIMEOUT;
            snprintf(verdict->why, sizeof verdict->why, "the kernel has a loop without an end");
        }
        if (i + 1 - target > span) {
            span = i + 1 - target;
            program->loop_begin = target;
            program->loop_end = i;
        }
    }
}

static void rows_check(const struct hx_sim_program *program, struct hx_sim_verdict *verdict) {
    for (size_t i = 0; i < program->count; i++) {
        const struct hx_sim_op *op = program->ops[i];
        bool inside = i >= program->loop_begin && i <= program->loop_end;
        if (op->fault != HX_OUTCOME_OK) {
            verdict->outcome = op->fault;
            snprintf(verdict->why, sizeof verdict->why, "%.60s: fault of the simulated CPU", op->syntax);
            return;
        }
        if (inside && !op->listed) {
            verdict->outcome = HX_OUTCOME_UNKNOWN;
            snprintf(verdict->why, sizeof verdict->why, "%.56s: not in the simulated CPU's table",
                     op->syntax);
            return;
        }
    }
}

static void fusions_mark(struct hx_sim_program *program, const struct hx_sim_description *description) {
    for (size_t i = 0; i + 1 < program->count; i++) {
        const struct hx_sim_op *first = program->ops[i], *second = program->ops[i + 1];
        if (i > 0 && program->fused[i - 1]) {
            continue; /* it shares its slot already */
        }
        for (size_t f = 0; f < description->fusions_count && !first->loads && !first->stores; f++) {
            if (hx_sim_pattern_matches(description->fusions[f].first, first->syntax) &&
                hx_sim_pattern_matches(description->fusions[f].second, second->syntax)) {
                program->fused[i] = true;
            }
        }
    }
}

enum ip_status hx_sim_program_build(struct hx_sim_program *program, struct hx_sim_ops *ops,
                                    const struct hx_sim_description *description, const uint8_t *code,
                                    size_t code_bytes, struct hx_sim_verdict *verdict, struct ip_error *err) {
    struct hx_sim_program built = {0};
    struct hx_sim_verdict found = {.outcome = HX_OUTCOME_OK};
    enum ip_status status = code_decode(&built, ops, description, code, code_bytes, &found, err);
    if (status == IP_OK) {
        loop_find(&built, &found);
        rows_check(&built, &found);
        built.fused = calloc(built.count + 1, sizeof *built.fused);
        if (built.fused == NULL) {
            status = ip_fail(err, IP_NO_MEMORY, "no memory for the simulated kernel");
        }
    }
    if (status != IP_OK || found.outcome != HX_OUTCOME_OK) {
        hx_sim_program_fini(&built);
    }
    if (status == IP_OK) {
        if (found.outcome == HX_OUTCOME_OK) {
            fusions_mark(&built, description);
            *program = built;
        }
        *verdict = found;
    }
    return status;
}
