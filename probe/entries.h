/* SPDX-License-Identifier: Apache-2.0 */
/* probe/entries.h - what holds decoded code, by its entries: how many instructions one has, and what a line
 * of 64 bytes takes by how many begin in it. Found from what `isaprobe core` measures of lines ("line N");
 * docs/core.md, "Lines of code".
 *
 *     struct probe_entries entries;
 *     probe_entries_find(&entries, &core, issue_width);
 *     entries.size > 0 ? entries.cycles[3] : NAN      of a line in which three entries begin
 */
#ifndef ISAPROBE_PROBE_ENTRIES_H
#define ISAPROBE_PROBE_ENTRIES_H

#include <stdbool.h>

#include "probe/core_params.h"

enum {
    PROBE_ENTRIES_SIZE_MOST = 16, /* instructions that are looked for in an entry */
    PROBE_ENTRIES_MOST = 64,      /* in a line: each instruction begins one */
};

struct probe_entries {
    unsigned size; /* instructions in an entry, at most; 0: not known, or what issues is all */
    bool across;   /* an entry that is not full goes on in the next line; else each line begins one */
    double cycles[PROBE_ENTRIES_MOST + 1]; /* of a line in which so many begin, beside what issues */
};

/* The largest entries with which every line of up to 36 instructions that is known takes what was measured,
 * within 5 %: of n instructions in a line n/size begin one on average, if an entry goes on in the next line.
 * What issues, `width` instructions a cycle, hides what takes less: as many entries as that take no more than
 * one less. `size` is 0 where no line takes more than what issues, or no entries explain those that do. */
void probe_entries_find(struct probe_entries *entries, const struct probe_core *core, double width);

#endif
