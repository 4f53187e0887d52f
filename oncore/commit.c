/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/commit.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "oncore/later.h"

/* With more loads than these for each store that take their data from one no two stores share a cycle,
 * whichever are read: of a Zen 4, in a loop and in straight code (docs/core.md, "Stores"). */
static const double READS_LOOP = 0.3, READS_STRAIGHT = 0.4;

/* Where any two share a cycle, a store of which one a cycle was seen shares none; elsewhere its place tells.
 */
static struct core_commit_width width_read(const struct core_costs *costs, enum probe_core_key key,
                                           bool anywhere) {
    static const double single = 1.5, least = 0.1; /* between one and two; what can have been seen */
    double rate = probe_core_get(&costs->core, key);
    return (struct core_commit_width){.cycles = rate >= least ? fmax(1.0, round(1.0 / rate)) : 1.0,
                                      .alone = anywhere && rate < single};
}

static const struct core_commit_width *width_of(const struct core_commits *commits, unsigned bytes) {
    return bytes == 64 ? &commits->of_512 : bytes == 32 ? &commits->of_256 : &commits->narrow;
}

void core_commits_init(struct core_commits *commits, const struct core_costs *costs, unsigned stores,
                       bool loop) {
    memset(commits, 0, sizeof *commits);
    commits->pass = stores;
    double pair = probe_core_get(&costs->core, PROBE_CORE_STORE_PAIR_BYTES);
    commits->anywhere = pair == 0.0;
    commits->narrow.cycles = 1.0;
    commits->of_256 = width_read(costs, PROBE_CORE_STORE_RATE_256, commits->anywhere);
    commits->of_512 = width_read(costs, PROBE_CORE_STORE_RATE_512, commits->anywhere);
    commits->bytes = pair >= 1.0 ? (uint64_t)pair : CORE_LINE_BYTES;
    commits->more = probe_core_get(&costs->core, PROBE_CORE_STORE_ROW) > 0.5 ? UINT_MAX : 1;
    bool unread = probe_core_get(&costs->core, PROBE_CORE_STORE_READ) > 0.5;
    commits->reads_most = unread ? (loop ? READS_LOOP : READS_STRAIGHT) * stores : INFINITY;
}

/* Is it in the block into which the last store went? */
static bool in_run(const struct core_commits *commits, struct core_word address) {
    return commits->run.open && commits->run.symbol == address.symbol &&
           commits->run.block == address.number / commits->bytes;
}

void core_commits_read(struct core_commits *commits) {
    commits->reads++;
}

double core_commits_take(struct core_commits *commits, const struct core_word *where, unsigned bytes,
                         double done) {
    const struct core_commit_width *width = width_of(commits, bytes);
    bool same =
        commits->anywhere ? !width->alone && !commits->run.alone : where != NULL && in_run(commits, *where);
    bool shares = same && !commits->apart && commits->run.more < commits->more && done <= commits->last;
    commits->last = shares ? commits->last : core_later(commits->last + 1.0, done) + width->cycles - 1.0;
    commits->run.more = shares ? commits->run.more + 1 : 0;
    if (++commits->stores == commits->pass) {
        commits->apart = commits->reads > commits->reads_most;
        commits->stores = commits->reads = 0;
    }
    commits->run.alone = width->alone;
    commits->run.open = where != NULL;
    commits->run.symbol = where != NULL ? where->symbol : 0;
    commits->run.block = where != NULL ? where->number / commits->bytes : 0;
    return commits->last;
}
