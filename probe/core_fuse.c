/* SPDX-License-Identifier: Apache-2.0 */
/* Macro-fusion: which instructions take no issue slot more when a conditional jump follows them.
 *
 * Each pair stands among NOPs that fill the issue width, once with and once without its jump: a jump that
 * adds no slot has been fused. Jumps that are taken would cost more than their slot, so the operands are
 * chosen (core_flags.c) such that the condition is false; the destination is set anew before each instance.
 * Each condition is tried together with its opposite first, and by itself where the two differ. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core_flags.h"
#include "probe/core_groups.h"
#include "probe/fusion.h"

enum {
    NOPS = 8,       /* around each pair */
    NOPS_MORE = 32, /* where these take no time */
    PLACES = 4,     /* in memory, in turn: at one place 8 and 16 bits wait for the round before on a Zen 4 */
    PLACE_DISP = 128,
    PLACES_APART = 64,
    GROUPS = CORE_CONDITIONS / 2, /* a condition and its opposite */
};

const char *const probe_fusion_jumps[CORE_CONDITIONS] = {"jo",  "jno",  "jb",  "jnb", "jz", "jnz",
                                                         "jbe", "jnbe", "js",  "jns", "jp", "jnp",
                                                         "jl",  "jnl",  "jle", "jnle"};

/* Registers that hold the values a destination can begin with, and the sources 1 and -1. */
static const char *const value_registers[CORE_FLAGS_VALUES] = {"rax", "rbx", "rsi", "rdi", "rbp",
                                                               "r8",  "r9",  "r10", "r11"};
static const char *const source_registers[2][4] = {{"dl", "dx", "edx", "rdx"},
                                                   {"r13b", "r13w", "r13d", "r13"}};
static const char *const source_memory[2] = {"[r14]", "[r14+8]"};
static const char *const destinations[4] = {"cl", "cx", "ecx", "rcx"};
static const char *const sizes[4] = {"byte", "word", "dword", "qword"};

enum operand { OPERAND_NONE, OPERAND_REGISTER, OPERAND_MEMORY, OPERAND_SHORT, OPERAND_LONG };

/* What stands on the two sides; a SHORT immediate has eight bits. */
static const struct {
    bool memory; /* destination */
    enum operand source;
} kinds[] = {
    {false, OPERAND_REGISTER}, {false, OPERAND_SHORT},   {false, OPERAND_LONG},
    {false, OPERAND_MEMORY},   {true, OPERAND_REGISTER}, {true, OPERAND_SHORT},
    {true, OPERAND_LONG},      {false, OPERAND_NONE},    {true, OPERAND_NONE},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], BINARY = 0x7f, TEST = 0x55, UNARY = 0x180 };

static const struct {
    const char *mnemonic;
    enum core_operation operation;
    unsigned kinds; /* a bit for each */
} operations[] = {
    {"cmp", CORE_SUB, BINARY}, {"test", CORE_AND, TEST}, {"add", CORE_ADD, BINARY}, {"sub", CORE_SUB, BINARY},
    {"and", CORE_AND, BINARY}, {"or", CORE_OR, BINARY},  {"xor", CORE_XOR, BINARY}, {"adc", CORE_ADD, BINARY},
    {"sbb", CORE_SUB, BINARY}, {"inc", CORE_INC, UNARY}, {"dec", CORE_DEC, UNARY},  {"neg", CORE_NEG, UNARY},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0], FIRSTS_MAX = OPERATIONS * KINDS * 4 };

enum verdict { UNKNOWN, SPLIT, FUSED, APART, LACKING };

/* One first instruction; width 0 to 3 stands for 8 to 64 bits. */
struct first {
    unsigned operation, kind, width;
    int value[CORE_CONDITIONS], source[CORE_CONDITIONS]; /* for which the condition is false; -1: none */
    enum verdict verdict[CORE_CONDITIONS];
    double extra[CORE_CONDITIONS]; /* slots of the jump, on the average of its group */
    unsigned nops;
    bool open; /* whether a slot more takes time is not known yet, or it takes none: no verdict counts */
    size_t bare, fuller, slot[CORE_CONDITIONS];
};

static bool first_exists(unsigned operation, unsigned kind, unsigned width) {
    unsigned bits = operations[operation].kinds;
    bool has = (bits >> kind & 1) != 0;
    /* With eight bits both kinds of immediate are one. */
    bool twice = width == 0 && kinds[kind].source == OPERAND_LONG && (bits >> (kind - 1) & 1) != 0;
    return has && !twice;
}

static void syntax_write(const struct first *first, char buffer[ISA_SYNTAX_MAX]) {
    unsigned bits = 8u << first->width;
    char source[16] = "";
    switch (kinds[first->kind].source) {
    case OPERAND_NONE:
        break;
    case OPERAND_REGISTER:
        (void)snprintf(source, sizeof source, ", r%u", bits);
        break;
    case OPERAND_MEMORY:
        (void)snprintf(source, sizeof source, ", m%u", bits);
        break;
    case OPERAND_SHORT:
        (void)snprintf(source, sizeof source, ", imm8");
        break;
    case OPERAND_LONG:
        (void)snprintf(source, sizeof source, ", imm%u", bits > 32 ? 32 : bits);
        break;
    }
    (void)snprintf(buffer, ISA_SYNTAX_MAX, "%s %s%u%s", operations[first->operation].mnemonic,
                   kinds[first->kind].memory ? "m" : "r", bits, source);
}

/* The instruction itself; `source` 0 is 1, 1 is -1. `disp` is that of its place in memory. */
static void first_line(const struct first *first, int source, unsigned disp, struct ip_lines *lines) {
    const char *mnemonic = operations[first->operation].mnemonic;
    unsigned width = first->width;
    char destination[32], operand[40] = "";
    if (kinds[first->kind].memory) {
        (void)snprintf(destination, sizeof destination, "%s [r14+%u]", sizes[width], disp);
    } else {
        (void)snprintf(destination, sizeof destination, "%s", destinations[width]);
    }
    const char *sign = source != 0 ? "-" : "";
    switch (kinds[first->kind].source) {
    case OPERAND_NONE:
        break;
    case OPERAND_REGISTER:
        (void)snprintf(operand, sizeof operand, ", %s", source_registers[source][width]);
        break;
    case OPERAND_MEMORY:
        (void)snprintf(operand, sizeof operand, ", %s", source_memory[source]);
        break;
    case OPERAND_SHORT:
        (void)snprintf(operand, sizeof operand, ", %s1", sign);
        break;
    case OPERAND_LONG:
        (void)snprintf(operand, sizeof operand, ", strict %s %s1", sizes[width], sign);
        break;
    }
    ip_lines_printf(lines, "%s %s%s", mnemonic, destination, operand);
}

/* Operands for which the condition is false. */
static void operands_choose(struct first *first, unsigned condition) {
    unsigned bits = 8u << first->width;
    first->value[condition] = first->source[condition] = -1;
    for (int source = 0; source < 2; source++) {
        for (int value = 0; value < CORE_FLAGS_VALUES; value++) {
            if (!core_flags_true(operations[first->operation].operation, bits,
                                 core_flags_value((unsigned)value, bits), source != 0 ? ~UINT64_C(0) : 1,
                                 condition)) {
                first->value[condition] = value;
                first->source[condition] = source;
                return;
            }
        }
    }
}

/* One instance: the destination set anew, CF cleared, the instruction, its jump (condition -1: none), NOPs.
 */
static void instance_lines(const struct core_session *session, const struct first *first, unsigned place,
                           int condition, struct ip_lines *lines) {
    unsigned disp = PLACE_DISP + PLACES_APART * place;
    const char *value = value_registers[condition >= 0 ? first->value[condition] : 1];
    if (kinds[first->kind].memory) {
        ip_lines_printf(lines, "mov [r14+%u], %s", disp, value);
    } else {
        ip_lines_printf(lines, "mov rcx, %s", value);
    }
    ip_lines_add(lines, "test rdx, rdx");
    first_line(first, condition >= 0 ? first->source[condition] : 0, disp, lines);
    if (condition >= 0) {
        ip_lines_printf(lines, "%s short $+2", probe_fusion_jumps[condition]);
    }
    core_fillers(session, lines, 8, first->nops);
}

static unsigned places_of(const struct first *first) {
    return kinds[first->kind].memory ? PLACES : 1;
}

static void program_begin(const struct first *first, struct gen_program *program) {
    char syntax[ISA_SYNTAX_MAX];
    syntax_write(first, syntax);
    core_program_init(program, "core: %s and a jump", syntax);
    for (unsigned i = 0; i < CORE_FLAGS_VALUES; i++) {
        ip_lines_printf(&program->init, "mov %s, 0x%" PRIx64, value_registers[i],
                        core_flags_value(i, 8u << first->width));
    }
    core_lines(&program->init, "mov edx, 1; mov r13, -1", 1);
    core_memory_fill(program, 1);
    memset(program->memory_fill + 8, 0xff, 8);
}

/* A kernel with all conditions of a group, or with one. */
static enum ip_status jumps_add(struct core_session *session, struct first *first, int group, int condition,
                                struct ip_error *err) {
    struct gen_program program;
    size_t slot;
    unsigned count = 0;
    program_begin(first, &program);
    for (int c = 0; c < CORE_CONDITIONS; c++) {
        bool wanted = (condition >= 0 ? c == condition : c / 2 == group) && first->value[c] >= 0;
        for (unsigned place = 0; wanted && place < places_of(first); place++) {
            instance_lines(session, first, place, c, &program.unit);
            count++;
        }
    }
    if (count == 0) {
        gen_program_fini(&program);
        return IP_OK;
    }
    program.forms_per_unit = count;
    enum ip_status status = core_add(session, &program, &slot, err);
    for (int c = 0; c < CORE_CONDITIONS; c++) {
        if (condition >= 0 ? c == condition : c / 2 == group) {
            first->slot[c] = slot;
        }
    }
    return status;
}

/* A kernel without jumps; of so many fillers more. */
static enum ip_status bare_add(struct core_session *session, const struct first *first, unsigned more,
                               size_t *slot, struct ip_error *err) {
    struct gen_program program;
    program_begin(first, &program);
    program.forms_per_unit = places_of(first);
    for (unsigned place = 0; place < places_of(first); place++) {
        instance_lines(session, first, place, -1, &program.unit);
        core_fillers(session, &program.unit, 8, more);
    }
    return core_add(session, &program, slot, err);
}

/* How many conditions of this one's group were measured with it. */
static unsigned group_size(const struct first *first, unsigned condition) {
    unsigned count = 0;
    for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
        count += c / 2 == condition / 2 && first->value[c] >= 0;
    }
    return count;
}

/* A jump that is not fused was seen to add as little as 0.7 slots. */
static const double APART_SLOTS = 0.6;

/* `extra` is the mean of the jumps that were measured together, at most two. */
static enum verdict verdict_of(double extra, unsigned together) {
    double fused = together > 1 ? 0.25 : 0.35;
    if (isnan(extra)) {
        return UNKNOWN;
    }
    return extra < fused ? FUSED : (extra > APART_SLOTS ? APART : SPLIT);
}

/* May a jump take less than a slot? */
static bool may_fuse(const struct first *first) {
    bool may = false;
    for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
        may = may || (first->value[c] >= 0 && first->verdict[c] != APART);
    }
    return may;
}

static enum ip_status groups_measure(struct core_session *session, struct first *firsts, size_t count,
                                     struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (!firsts[i].open) {
            continue;
        }
        status = bare_add(session, &firsts[i], 0, &firsts[i].bare, err);
        for (int group = 0; group < GROUPS && status == IP_OK; group++) {
            status = jumps_add(session, &firsts[i], group, -1, err);
        }
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct first *first = &firsts[i];
        for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
            if (first->value[c] >= 0 && first->open) {
                first->extra[c] = (core_cycles(session, first->slot[c]) - core_cycles(session, first->bare)) *
                                  session->width;
                first->verdict[c] = verdict_of(first->extra[c], group_size(first, c));
            }
        }
    }
    return status;
}

/* Where something else than the issue decides (two stores, of one that the core does in a cycle) no slot
 * takes time, and no jump: a filler tells. */
static enum ip_status fillers_measure(struct core_session *session, struct first *firsts, size_t count,
                                      struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct first *first = &firsts[i];
        first->open = first->open && may_fuse(first);
        status = first->open ? bare_add(session, first, 0, &first->bare, err) : IP_OK;
        status = first->open && status == IP_OK ? bare_add(session, first, 1, &first->fuller, err) : status;
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct first *first = &firsts[i];
        if (first->open) {
            double cycles = core_cycles(session, first->fuller) - core_cycles(session, first->bare);
            first->open = cycles * session->width < APART_SLOTS;
        }
        for (unsigned c = 0; c < CORE_CONDITIONS && first->open; c++) {
            first->verdict[c] = UNKNOWN;
        }
    }
    return status;
}

static enum ip_status singles_measure(struct core_session *session, struct first *firsts, size_t count,
                                      struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool bare = false;
        for (int c = 0; c < CORE_CONDITIONS && status == IP_OK; c++) {
            bool again = firsts[i].value[c] >= 0 && firsts[i].verdict[c] <= SPLIT && !firsts[i].open;
            status = again && !bare ? bare_add(session, &firsts[i], 0, &firsts[i].bare, err) : status;
            bare = bare || again;
            if (again && status == IP_OK) {
                status = jumps_add(session, &firsts[i], -1, c, err);
            }
        }
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct first *first = &firsts[i];
        for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
            if (first->value[c] >= 0 && first->verdict[c] <= SPLIT && !first->open) {
                first->extra[c] = (core_cycles(session, first->slot[c]) - core_cycles(session, first->bare)) *
                                  session->width;
                enum verdict verdict = verdict_of(first->extra[c], 1);
                bool lacks = core_lacks(session, first->slot[c]) || core_lacks(session, first->bare);
                first->verdict[c] = lacks ? LACKING : (verdict == SPLIT ? UNKNOWN : verdict);
            }
        }
    }
    return status;
}

/* All conditions of each, those that took no slots' time among more NOPs again. */
static enum ip_status pairs_measure(struct core_session *session, struct first *firsts, size_t count,
                                    struct ip_error *err) {
    static const unsigned nops[] = {NOPS, NOPS_MORE};
    enum ip_status status = IP_OK;
    for (size_t pass = 0; pass < sizeof nops / sizeof nops[0] && status == IP_OK; pass++) {
        for (size_t i = 0; i < count; i++) {
            firsts[i].nops = firsts[i].open ? nops[pass] : firsts[i].nops;
        }
        status = groups_measure(session, firsts, count, err);
        status = status == IP_OK ? fillers_measure(session, firsts, count, err) : status;
    }
    return status == IP_OK ? singles_measure(session, firsts, count, err) : status;
}

/* A condition that can only be true is told by its opposite. */
static unsigned told_by(const struct first *first, unsigned condition) {
    return first->value[condition] >= 0 ? condition : condition ^ 1;
}

static enum ip_status facts_learn(struct core_session *session, const struct first *first,
                                  struct ip_error *err) {
    char syntax[ISA_SYNTAX_MAX], jump[16], key[PROBE_CORE_FACT_MAX];
    enum ip_status status = IP_OK;
    syntax_write(first, syntax);
    for (unsigned c = 0; c < CORE_CONDITIONS && status == IP_OK; c++) {
        unsigned from = told_by(first, c);
        if (first->verdict[from] != FUSED && first->verdict[from] != APART) {
            session->tally->untrusted += first->value[from] >= 0 && first->verdict[from] != LACKING;
            continue;
        }
        (void)snprintf(jump, sizeof jump, "%s rel8", probe_fusion_jumps[c]);
        probe_core_fact_key("fuse", syntax, jump, key);
        status = core_learn(session, key, first->verdict[from] == FUSED, 0, err, "the jump adds %.2f slots%s",
                            first->extra[from], from != c ? " (its opposite; never untaken)" : "");
    }
    return status;
}

static size_t firsts_fill(struct first *firsts) {
    size_t count = 0;
    for (unsigned width = 0; width < 4; width++) {
        for (unsigned operation = 0; operation < OPERATIONS; operation++) {
            for (unsigned kind = 0; kind < KINDS; kind++) {
                if (!first_exists(operation, kind, width)) {
                    continue;
                }
                firsts[count] =
                    (struct first){.operation = operation, .kind = kind, .width = width, .open = true};
                for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
                    operands_choose(&firsts[count], c);
                }
                count++;
            }
        }
    }
    return count;
}

enum ip_status core_fuse_measure(struct core_session *session, struct ip_error *err) {
    struct first *firsts = calloc(FIRSTS_MAX, sizeof *firsts);
    if (firsts == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for pairs that may fuse");
    }
    size_t count = firsts_fill(firsts);
    enum ip_status status = pairs_measure(session, firsts, count, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        status = facts_learn(session, &firsts[i], err);
    }
    free(firsts);
    return status;
}

/* -- Single forms ------------------------------------------------------------------------------------- */

static void fusion_read(const struct first *first, struct probe_fusion *fusion) {
    fusion->measured = true;
    for (unsigned c = 0; c < CORE_CONDITIONS; c++) {
        enum verdict verdict = first->verdict[told_by(first, c)];
        fusion->fused |= verdict == FUSED ? 1u << c : 0;
        fusion->apart |= verdict == APART ? 1u << c : 0;
    }
}

enum ip_status probe_fusion_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                    double issue_width, struct isa_form *const *forms, size_t count,
                                    struct probe_fusion *results, struct ip_error *err) {
    struct first *firsts = calloc(FIRSTS_MAX, sizeof *firsts);
    if (firsts == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for pairs that may fuse");
    }
    struct probe_core_tally tally = {0};
    struct core_session session = {.meter = meter, .encoder = encoder, .tally = &tally, .width = issue_width};
    size_t all = firsts_fill(firsts);
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        char syntax[ISA_SYNTAX_MAX] = "";
        size_t at = 0;
        results[i] = (struct probe_fusion){0};
        for (; at < all && strcmp(syntax, forms[i]->syntax) != 0; at++) {
            syntax_write(&firsts[at], syntax);
        }
        if (strcmp(syntax, forms[i]->syntax) == 0) {
            status = pairs_measure(&session, &firsts[at - 1], 1, err);
        }
        if (status == IP_OK && strcmp(syntax, forms[i]->syntax) == 0) {
            fusion_read(&firsts[at - 1], &results[i]);
        }
    }
    probe_batch_fini(&session.batch);
    free(firsts);
    return status;
}
