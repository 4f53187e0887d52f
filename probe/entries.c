/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/entries.h"

#include <math.h>
#include <stdlib.h>

enum {
    DENSE = 36, /* instructions in a line: no code has more */
    LINES_MOST = DENSE,
    SIZE_LEAST = 2,
};

/* Long straight code was seen to take 1 to 3 % more than short loops of it: what takes so little more than
 * what issues is bound by that, and what is so near to a whole number is one. */
static const double ERROR_MOST = 0.05;

/* Lines that are known, by their instructions, and what they take. */
struct lines {
    unsigned instructions[LINES_MOST]; /* in order */
    double cycles[LINES_MOST];
    unsigned count;
    double width;
};

static void lines_read(struct lines *lines, const struct probe_core *core, double width) {
    static const char kind[] = "line ";
    size_t count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(core, kind, &count);
    *lines = (struct lines){.width = width};
    for (size_t i = 0; i < count && lines->count < LINES_MOST; i++) {
        const unsigned number = (unsigned)strtoul(facts[i].key + sizeof kind - 1, NULL, 10);
        if (!facts[i].value.known || number == 0 || number > DENSE) {
            continue;
        }
        unsigned at = lines->count++;
        for (; at > 0 && lines->instructions[at - 1] > number; at--) {
            lines->instructions[at] = lines->instructions[at - 1];
            lines->cycles[at] = lines->cycles[at - 1];
        }
        lines->instructions[at] = number;
        lines->cycles[at] = facts[i].value.value;
    }
}

static bool issue_hides(const struct lines *lines, unsigned instructions, double cycles) {
    return cycles <= (1 + ERROR_MOST) * instructions / lines->width;
}

static double settled(double cycles) {
    return fabs(cycles - round(cycles)) <= ERROR_MOST * cycles ? round(cycles) : cycles;
}

/* Part of the lines of so many instructions, of those in which k - 1 or k entries begin, that have k. */
static double share_of(const struct probe_entries *entries, unsigned instructions, unsigned k) {
    const unsigned below = (k - 1) * entries->size;
    bool any = instructions > below && instructions <= below + entries->size;
    return !any ? 0 : entries->across ? (double)(instructions - below) / entries->size : 1;
}

/* What a line takes in which k entries begin: of the known lines with such the one with most of them tells,
 * and of several the first, of which issue hides least. As one less where all are hidden; and where none is
 * known one entry more takes as much more as the last one did. */
static double cycles_of(const struct probe_entries *entries, const struct lines *lines, unsigned k) {
    double most = 0,
           cycles = k > 1 ? 2 * entries->cycles[k - 1] - entries->cycles[k - 2] : entries->cycles[0];
    for (unsigned i = 0; i < lines->count; i++) {
        const double share = share_of(entries, lines->instructions[i], k), less = entries->cycles[k - 1];
        if (share > most) {
            const bool hidden = issue_hides(lines, lines->instructions[i], lines->cycles[i]);
            const double read = less + (lines->cycles[i] - less) / share;
            cycles = hidden ? less : fmax(settled(read), less);
            most = share;
        }
    }
    return cycles;
}

static void cycles_fill(struct probe_entries *entries, const struct lines *lines) {
    const bool hidden = issue_hides(lines, lines->instructions[0], lines->cycles[0]);
    entries->cycles[0] = hidden ? 0 : settled(lines->cycles[0]);
    for (unsigned k = 1; k <= PROBE_ENTRIES_MOST; k++) {
        entries->cycles[k] = cycles_of(entries, lines, k);
    }
}

/* Cycles of a line of so many in straight code: after as many lines as an entry has instructions it begins
 * with one again. */
static double straight_cycles(const struct probe_entries *entries, unsigned instructions, double width) {
    const unsigned count = entries->across ? entries->size : 1;
    double cycles = 0;
    for (unsigned line = 0, before = 0; line < count; line++) {
        const unsigned begun = ((line + 1) * instructions + entries->size - 1) / entries->size;
        cycles += entries->cycles[begun - before];
        before = begun;
    }
    return fmax(cycles / count, instructions / width);
}

static bool explain_all(const struct probe_entries *entries, const struct lines *lines) {
    for (unsigned i = 0; i < lines->count; i++) {
        const double cycles = straight_cycles(entries, lines->instructions[i], lines->width);
        if (!(fabs(cycles - lines->cycles[i]) <= ERROR_MOST * lines->cycles[i])) {
            return false;
        }
    }
    return true;
}

void probe_entries_find(struct probe_entries *entries, const struct probe_core *core, double width) {
    struct lines lines;
    lines_read(&lines, core, width);
    bool all_issue = true;
    for (unsigned i = 0; i < lines.count; i++) {
        all_issue = all_issue && lines.cycles[i] <= (1 + ERROR_MOST) * fmax(lines.instructions[i] / width, 1);
    }
    for (unsigned size = PROBE_ENTRIES_SIZE_MOST; size >= SIZE_LEAST && !all_issue; size--) {
        for (unsigned across = 0; across < 2; across++) {
            *entries = (struct probe_entries){.size = size, .across = across != 0};
            cycles_fill(entries, &lines);
            if (explain_all(entries, &lines)) {
                return;
            }
        }
    }
    *entries = (struct probe_entries){0};
}
