/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/commit.h"

#include <limits.h>
#include <string.h>

#include "oncore/later.h"

void core_commits_init(struct core_commits *commits, const struct core_costs *costs, unsigned stores) {
    memset(commits, 0, sizeof *commits);
    commits->pass = stores;
    double pair = probe_core_get(&costs->core, PROBE_CORE_STORE_PAIR_BYTES);
    commits->bytes = pair >= 1.0 ? (uint64_t)pair : CORE_LINE_BYTES;
    commits->more = probe_core_get(&costs->core, PROBE_CORE_STORE_ROW) > 0.5 ? UINT_MAX : 1;
    commits->unread = probe_core_get(&costs->core, PROBE_CORE_STORE_READ) > 0.5;
}

/* Is it in the block into which the last store went? */
static bool in_run(const struct core_commits *commits, struct core_word address) {
    return commits->run.open && commits->run.symbol == address.symbol &&
           commits->run.block == address.number / commits->bytes;
}

void core_commits_read(struct core_commits *commits, struct core_word address) {
    if (in_run(commits, address)) {
        commits->run.read = true;
        commits->run.since = 0;
    }
}

double core_commits_take(struct core_commits *commits, const struct core_word *where, double done) {
    bool same = where != NULL && in_run(commits, *where);
    bool shares = same && !(commits->unread && commits->run.read) && commits->run.more < commits->more &&
                  done <= commits->last;
    commits->last = shares ? commits->last : core_later(commits->last + 1.0, done);
    commits->run.more = shares ? commits->run.more + 1 : 0;
    commits->run.since++;
    commits->run.read = commits->run.read && same && commits->run.since < commits->pass;
    commits->run.open = where != NULL;
    commits->run.symbol = where != NULL ? where->symbol : 0;
    commits->run.block = where != NULL ? where->number / commits->bytes : 0;
    return commits->last;
}
