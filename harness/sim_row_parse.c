/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_row_parse.h"

#include <string.h>

bool hx_sim_fault_parse(const struct hx_sim_line *line, enum hx_outcome *outcome) {
    static const struct {
        const char *word;
        enum hx_outcome outcome;
    } faults[] = {
        {"illegal", HX_OUTCOME_ILLEGAL},
        {"segfault", HX_OUTCOME_SEGFAULT},
        {"arithmetic", HX_OUTCOME_ARITHMETIC},
        {"trap", HX_OUTCOME_TRAP},
        {"syscall", HX_OUTCOME_SYSCALL},
        {"timeout", HX_OUTCOME_TIMEOUT},
        {"wrecked", HX_OUTCOME_WRECKED},
        {"pages", HX_OUTCOME_PAGES},
        {"died", HX_OUTCOME_DIED},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (hx_sim_line_is(line, faults[i].word)) {
            *outcome = faults[i].outcome;
            return true;
        }
    }
    return false;
}

static enum ip_status ports_parse(struct hx_sim_description *description, struct hx_sim_row *row,
                                  struct hx_sim_line *line, struct ip_error *err) {
    if (!hx_sim_line_next(line) || line->word == NULL) {
        return hx_sim_line_fail(line, 0, err, "ports: a term such as 1*p01+2*p5, or none, is expected");
    }
    size_t where;
    const char *wrong = hx_sim_ports_parse(description, line->word, line->word_length, row, &where);
    return wrong != NULL ? hx_sim_line_fail(line, where, err, "ports: %s", wrong) : IP_OK;
}

/* As isa_operand_name has them, "k+1" and "mem_rsi" too. */
static bool operand_name_is_legal(const char *name, size_t length) {
    if (length == 0 || length >= HX_SIM_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool letter = name[i] >= 'a' && name[i] <= 'z', digit = name[i] >= '0' && name[i] <= '9';
        if (!letter && (i == 0 || (!digit && name[i] != '+' && name[i] != '_'))) {
            return false;
        }
    }
    return true;
}

/* The next word, if it is "none". */
static bool none_take(struct hx_sim_line *line) {
    struct hx_sim_line ahead = *line;
    bool none = hx_sim_line_next(&ahead) && hx_sim_line_is(&ahead, "none");
    *line = none ? ahead : *line;
    return none;
}

/* The current word is "src->dst"; its number of cycles follows, or "none". */
static enum ip_status pair_parse(struct hx_sim_row *row, struct hx_sim_line *line, struct ip_error *err) {
    struct hx_sim_pair pair = {0};
    const char *arrow = memmem(line->word, line->word_length, "->", 2);
    size_t before = (size_t)(arrow - line->word), after = line->word_length - before - 2;
    if (!operand_name_is_legal(line->word, before)) {
        return hx_sim_line_fail(line, 0, err, "an operand (op1, op2 ..., flags, mem, rax) is expected");
    }
    if (!operand_name_is_legal(arrow + 2, after)) {
        return hx_sim_line_fail(line, before + 2, err,
                                "an operand (op1, op2 ..., flags, mem, rax) is expected after ->");
    }
    if (row->pairs_count == HX_SIM_PAIRS_MAX) {
        return hx_sim_line_fail(line, 0, err, "more than %d operand pairs", HX_SIM_PAIRS_MAX);
    }
    memcpy(pair.src, line->word, before);
    memcpy(pair.dst, arrow + 2, after);
    uint64_t cycles = HX_SIM_INDEPENDENT;
    enum ip_status status = none_take(line) ? IP_OK
                                            : hx_sim_line_integer(line, "latency of the pair, if not none,",
                                                                  0, HX_SIM_LATENCY_MAX, &cycles, err);
    if (status == IP_OK) {
        pair.cycles = (uint16_t)cycles;
        row->pairs[row->pairs_count++] = pair;
    }
    return status;
}

static enum ip_status blocking_parse(struct hx_sim_description *description, struct hx_sim_row *row,
                                     struct hx_sim_line *line, struct ip_error *err) {
    uint64_t cycles;
    char name[HX_SIM_NAME_MAX];
    enum ip_status status = hx_sim_line_integer(line, "blocking", 1, HX_SIM_LATENCY_MAX, &cycles, err);
    if (status == IP_OK) {
        status = hx_sim_line_string(line, "name of the blocked unit", name, sizeof name, err);
    }
    if (status != IP_OK) {
        return status;
    }
    unsigned unit = 0;
    while (unit < description->units_count && strcmp(description->units[unit], name) != 0) {
        unit++;
    }
    if (unit == HX_SIM_UNITS_MAX) {
        return hx_sim_line_fail(line, 0, err, "more than %d units", HX_SIM_UNITS_MAX);
    }
    if (unit == description->units_count) {
        memcpy(description->units[description->units_count++], name, sizeof name);
    }
    row->blocking = (uint16_t)cycles;
    row->unit = (uint8_t)unit;
    return IP_OK;
}

enum ip_status hx_sim_microcode_allowed(const struct hx_sim_description *description,
                                        const struct hx_sim_line *line, struct ip_error *err) {
    return description->fetch_width > 0
               ? IP_OK
               : hx_sim_line_fail(line, 0, err, "the `fetch-width` line must come before microcode");
}

static enum ip_status microcode_parse(const struct hx_sim_description *description, struct hx_sim_row *row,
                                      struct hx_sim_line *line, struct ip_error *err) {
    uint64_t cycles = 0;
    enum ip_status status = hx_sim_microcode_allowed(description, line, err);
    if (status == IP_OK) {
        status = hx_sim_line_integer(line, "microcode", 1, HX_SIM_LATENCY_MAX, &cycles, err);
    }
    row->microcode = (uint16_t)cycles;
    return status;
}

static enum ip_status same_register_parse(struct hx_sim_row *row, struct hx_sim_line *line,
                                          struct ip_error *err) {
    bool any = hx_sim_line_next(line);
    if (any && hx_sim_line_is(line, "breaks")) {
        row->same_register = HX_SIM_SAME_BREAKS;
    } else if (any && hx_sim_line_is(line, "eliminated")) {
        row->same_register = HX_SIM_SAME_ELIMINATED;
    } else {
        return hx_sim_line_fail(line, 0, err, "same-register: `breaks` or `eliminated` is expected");
    }
    return IP_OK;
}

static enum ip_status reads_parse(struct hx_sim_row *row, struct hx_sim_line *line, struct ip_error *err) {
    if (!hx_sim_line_next(line) || line->word == NULL || line->word_length != 3 ||
        memcmp(line->word, "op", 2) != 0 || line->word[2] < '1' || line->word[2] > '9') {
        return hx_sim_line_fail(line, 0, err, "reads: an operand op1 to op9 is expected");
    }
    row->reads |= (uint16_t)(1u << (line->word[2] - '1'));
    return IP_OK;
}

enum ip_status hx_sim_row_parse(struct hx_sim_description *description, struct hx_sim_row *row,
                                struct hx_sim_line *line, struct ip_error *err) {
    bool ports = false;
    while (hx_sim_line_next(line)) {
        enum ip_status status = IP_OK;
        uint64_t number;
        if (hx_sim_line_is(line, "ports")) {
            ports = true;
            status = ports_parse(description, row, line, err);
        } else if (hx_sim_line_is(line, "latency")) {
            status = hx_sim_line_integer(line, "latency", 0, HX_SIM_LATENCY_MAX, &number, err);
            if (status == IP_OK) {
                row->latency = (uint16_t)number;
                row->latency_given = true;
            }
        } else if (hx_sim_line_is(line, "slots")) {
            status = hx_sim_line_integer(line, "slots", 1, HX_SIM_UOPS_MAX, &number, err);
            if (status == IP_OK) {
                row->slots = (uint16_t)number;
                row->slots_given = true;
            }
        } else if (hx_sim_line_is(line, "eliminated")) {
            row->eliminated = true;
        } else if (hx_sim_line_is(line, "together")) {
            row->together = true;
        } else if (hx_sim_line_is(line, "microcode")) {
            status = microcode_parse(description, row, line, err);
        } else if (hx_sim_line_is(line, "same-register")) {
            status = same_register_parse(row, line, err);
        } else if (hx_sim_line_is(line, "blocking")) {
            status = blocking_parse(description, row, line, err);
        } else if (hx_sim_line_is(line, "reads")) {
            status = reads_parse(row, line, err);
        } else if (line->word != NULL && !line->quoted &&
                   memmem(line->word, line->word_length, "->", 2) != NULL) {
            status = pair_parse(row, line, err);
        } else {
            status = hx_sim_line_fail(line, 0, err,
                                      "expected ports, latency, slots, together, microcode, eliminated, "
                                      "same-register, blocking, reads or a pair such as op2->op1");
        }
        if (status != IP_OK) {
            return status;
        }
    }
    if (!ports && !row->eliminated) {
        return hx_sim_line_fail(line, 0, err, "the form needs `ports` (or `eliminated`)");
    }
    return IP_OK;
}
