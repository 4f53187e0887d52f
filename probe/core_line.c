/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_line.c - how long straight code takes by how many instructions a line of it has. */
#include <math.h>
#include <stdio.h>

#include "probe/core_groups.h"
#include "probe/entries.h"

enum {
    LINE = 64,           /* bytes */
    COPIES_MOST = 64,    /* lines in the shorter loop, the longer one has twice as many */
    INSTRUCTIONS = 1024, /* in the shorter loop: what holds decoded code has room for both */
};

/* Instructions in a line. Close to each other where cores were seen to take a step. */
static const unsigned counts[] = {6,  8,  10, 12, 13, 14, 15, 16, 17, 18, 20, 22,
                                  24, 25, 26, 28, 30, 32, 36, 40, 48, 56, 64};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* Eight instructions of eight bytes that load: with two constants each, and with one. */
static const char *const with_constants[] = {"cmp byte [r14+0x100], 0",
                                             "db 0x3e,0x45,0x38,0x8e,0,1,0,0"}; /* cmp [r14+0x100], r9b */
enum { TWO, ONE, CONSTANTS };

/* So much longer are lines with as many constants again. */
static const double LONGER = 1.08;

static void line_write(struct gen_program *program, unsigned count) {
    core_program_init(program, "core: lines of %u instructions", count);
    program->copies = INSTRUCTIONS / count < COPIES_MOST ? INSTRUCTIONS / count : COPIES_MOST;
    for (unsigned i = 0; i < count; i++) {
        core_nops(&program->unit, LINE * (i + 1) / count - LINE * i / count, 1);
    }
}

static enum ip_status counts_learn(struct core_session *session, const size_t slots[COUNTS],
                                   struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < COUNTS && status == IP_OK; i++) {
        char key[PROBE_CORE_FACT_MAX];
        (void)snprintf(key, sizeof key, "line %02u", counts[i]);
        status = core_learn_stat(session, key, slots[i], err, "straight code of NOPs");
    }
    return status;
}

static enum ip_status constants_learn(struct core_session *session, const size_t slots[CONSTANTS],
                                      struct ip_error *err) {
    const double two = core_cycles(session, slots[TWO]), one = core_cycles(session, slots[ONE]);
    if (isnan(two) || isnan(one)) {
        return core_learn_stat(session, "line_constants", slots[isnan(two) ? TWO : ONE], err, "");
    }
    return core_learn(session, "line_constants", two > LONGER * one, 0, err,
                      "lines of eight comparisons with two constants each: %.2f cycles, with one %.2f", two,
                      one);
}

/* What the lines say together. */
static enum ip_status entries_learn(struct core_session *session, struct ip_error *err) {
    struct probe_entries entries;
    probe_entries_find(&entries, session->core, session->width);
    const char *how = "as the lines say that take more than what issues";
    if (entries.size == 0) {
        how = "not known: no line takes more than what issues, or none explain those that do";
    }
    enum ip_status status =
        core_learn(session, "line_entry", entries.size > 0 ? entries.size : NAN, 0, err, "%s", how);
    return status == IP_OK ? core_learn(session, "line_across", entries.size > 0 ? entries.across : NAN, 0,
                                        err, "%s", how)
                           : status;
}

static enum ip_status not_asked(struct core_session *session, struct ip_error *err) {
    static const char *const names[] = {"line_entry", "line_across", "line_constants"};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == IP_OK; i++) {
        status = core_learn(session, names[i], NAN, NAN, err,
                            "not asked: NOPs share the slots of others and tell nothing of lines");
    }
    return status;
}

enum ip_status core_line_measure(struct core_session *session, struct ip_error *err) {
    if (core_nops_ride(session)) {
        return not_asked(session, err);
    }
    size_t slots[COUNTS + CONSTANTS];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < COUNTS + CONSTANTS && status == IP_OK; i++) {
        struct gen_program program;
        if (i < COUNTS) {
            line_write(&program, counts[i]);
        } else {
            core_program_init(&program, "core: lines of eight comparisons, %u", i - COUNTS);
            program.copies = COPIES_MOST;
            core_lines(&program.unit, with_constants[i - COUNTS], LINE / 8);
        }
        status = core_add(session, &program, &slots[i], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    status = status == IP_OK ? counts_learn(session, slots, err) : status;
    status = status == IP_OK ? entries_learn(session, err) : status;
    return status == IP_OK ? constants_learn(session, slots + COUNTS, err) : status;
}
