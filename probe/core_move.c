/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_move.c - operations that take the MOV before them into their own slot: `mov rcx, rdi` and
 * `add rcx, rsi` are one operation of three registers then.
 *
 * Each stands among fillers, and a MOV to its destination once right before it and once with the fillers
 * between them: as many bytes and the same dependences, and a slot less where the two are one. */
#include <math.h>
#include <stdio.h>

#include "probe/core_groups.h"

enum { FILLERS = 8, FILLER_BYTES = 8 };

enum source { NONE, REGISTER, SHORT, LONG, SOURCES };

static const struct {
    const char *name;
    bool has[SOURCES]; /* what it may have behind its destination */
} operations[] = {
    {"add", {[REGISTER] = true, [SHORT] = true, [LONG] = true}},
    {"sub", {[REGISTER] = true, [SHORT] = true, [LONG] = true}},
    {"and", {[REGISTER] = true, [SHORT] = true, [LONG] = true}},
    {"or", {[REGISTER] = true, [SHORT] = true, [LONG] = true}},
    {"xor", {[REGISTER] = true, [SHORT] = true, [LONG] = true}},
    {"cmp", {[REGISTER] = true, [SHORT] = true}},
    {"test", {[REGISTER] = true}},
    {"imul", {[REGISTER] = true}},
    {"inc", {[NONE] = true}},
    {"dec", {[NONE] = true}},
    {"not", {[NONE] = true}},
    {"neg", {[NONE] = true}},
    {"bswap", {[NONE] = true}},
    {"shl", {[SHORT] = true}},
    {"shr", {[SHORT] = true}},
    {"sar", {[SHORT] = true}},
    {"rol", {[SHORT] = true}},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const struct {
    unsigned bits;
    const char *to, *from, *other; /* registers; nobody writes the last two */
} widths[] = {{64, "rcx", "rdi", "rsi"}, {32, "ecx", "edi", "esi"}};
enum { WIDTHS = sizeof widths / sizeof widths[0], PAIRS = OPERATIONS * WIDTHS * SOURCES };

/* One operation of a width with a source. */
struct pair {
    unsigned operation, width;
    enum source source;
    size_t together, apart;
};

static enum ip_status kernel_add(struct core_session *session, const struct pair *pair, bool together,
                                 size_t *slot, struct ip_error *err) {
    static const char *const immediates[SOURCES] = {[NONE] = "", [SHORT] = ", 5", [LONG] = ", 0x12345"};
    struct gen_program program;
    const char *name = operations[pair->operation].name, *to = widths[pair->width].to;
    core_program_init(&program, "core: MOV and %s of %u bits, %s", name, widths[pair->width].bits,
                      together ? "together" : "apart");
    ip_lines_printf(&program.unit, "mov %s, %s", to, widths[pair->width].from);
    if (!together) {
        core_fillers(session, &program.unit, FILLER_BYTES, FILLERS);
    }
    if (pair->source == REGISTER) {
        ip_lines_printf(&program.unit, "%s %s, %s", name, to, widths[pair->width].other);
    } else {
        ip_lines_printf(&program.unit, "%s %s%s", name, to, immediates[pair->source]);
    }
    if (together) {
        core_fillers(session, &program.unit, FILLER_BYTES, FILLERS);
    }
    return core_add(session, &program, slot, err);
}

static enum ip_status fact_learn(struct core_session *session, const struct pair *pair,
                                 struct ip_error *err) {
    const double fused = 0.35, apart = 0.6;
    const double extra =
        1.0 + (core_cycles(session, pair->together) - core_cycles(session, pair->apart)) * session->width;
    const unsigned bits = widths[pair->width].bits;
    char operand[16] = "", syntax[ISA_SYNTAX_MAX], key[PROBE_CORE_FACT_MAX];
    if (pair->source == REGISTER) {
        (void)snprintf(operand, sizeof operand, ", r%u", bits);
    } else if (pair->source != NONE) {
        (void)snprintf(operand, sizeof operand, ", imm%u", pair->source == SHORT ? 8 : 32);
    }
    (void)snprintf(syntax, sizeof syntax, "%s r%u%s", operations[pair->operation].name, bits, operand);
    probe_core_fact_key("move", syntax, NULL, key);
    if (isnan(extra) || (extra >= fused && extra <= apart)) {
        session->tally->untrusted +=
            !core_lacks(session, pair->together) && !core_lacks(session, pair->apart);
        return IP_OK;
    }
    return core_learn(session, key, extra < fused, 0, err,
                      "a MOV to its destination before it adds %.2f slots", extra);
}

static unsigned pairs_fill(struct pair pairs[PAIRS]) {
    unsigned count = 0;
    for (unsigned o = 0; o < OPERATIONS; o++) {
        for (unsigned w = 0; w < WIDTHS; w++) {
            for (enum source s = 0; s < SOURCES; s++) {
                if (operations[o].has[s]) {
                    pairs[count++] = (struct pair){.operation = o, .width = w, .source = s};
                }
            }
        }
    }
    return count;
}

enum ip_status core_move_measure(struct core_session *session, struct ip_error *err) {
    struct pair pairs[PAIRS];
    const unsigned count = pairs_fill(pairs);
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        status = kernel_add(session, &pairs[i], true, &pairs[i].together, err);
        status = status == IP_OK ? kernel_add(session, &pairs[i], false, &pairs[i].apart, err) : status;
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        status = fact_learn(session, &pairs[i], err);
    }
    return status;
}
