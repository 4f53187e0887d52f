/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/commit.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "oncore/later.h"

/* With more loads than these for each store that take their data from one no two stores share a cycle,
 * whichever are read: of a Zen 4, in a loop and in straight code (docs/core.md, "Stores"). */
static const double READS_LOOP = 0.3, READS_STRAIGHT = 0.4;

void core_commits_init(struct core_commits *commits, const struct core_costs *costs, unsigned stores,
                       bool loop) {
    memset(commits, 0, sizeof *commits);
    commits->pass = stores;
    double pair = probe_core_get(&costs->core, PROBE_CORE_STORE_PAIR_BYTES);
    commits->anywhere = pair == 0.0;
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

double core_commits_take(struct core_commits *commits, const struct core_word *where, double done) {
    bool same = commits->anywhere || (where != NULL && in_run(commits, *where));
    bool shares = same && !commits->apart && commits->run.more < commits->more && done <= commits->last;
    commits->last = shares ? commits->last : core_later(commits->last + 1.0, done);
    commits->run.more = shares ? commits->run.more + 1 : 0;
    if (++commits->stores == commits->pass) {
        commits->apart = commits->reads > commits->reads_most;
        commits->stores = commits->reads = 0;
    }
    commits->run.open = where != NULL;
    commits->run.symbol = where != NULL ? where->symbol : 0;
    commits->run.block = where != NULL ? where->number / commits->bytes : 0;
    return commits->last;
}
