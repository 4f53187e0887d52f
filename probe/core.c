/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "probe/core_groups.h"
#include "probe/core_settle.h"

static const struct {
    const char *name, *summary;
    const char *covers; /* parameters (or how they begin) and kinds of facts, separated by blanks */
    enum ip_status (*measure)(struct core_session *session, struct ip_error *err);
} groups[] = {
    {"issue", "issue width", "issue_width retire_width nop_slots ports_in_turn", core_width_measure},
    {"eliminate", "what rename removes from dependent chains", "eliminate", core_eliminate_measure},
    {"after", "instructions that wait for an addition that rename did", "after", core_after_measure},
    {"idiom", "instructions that do not wait for their operand", "idiom", core_idiom_measure},
    {"micro", "issue slots of memory operands, by address", "micro micro_index apart_slots",
     core_micro_measure},
    {"fuse", "pairs with a conditional jump that fuse", "fuse", core_fuse_measure},
    {"again", "operations that are issued twice", "issue_again", core_again_measure},
    {"move", "operations that take the MOV before them into their slot", "move", core_move_measure},
    {"memory", "loads and stores in the first-level cache",
     "load_ lea_ store_forward_far store_forward_vector store_forward_blocked store_forward_changed "
     "store_rate "
     "stack_",
     core_memory_measure},
    {"forward", "stores loaded through the same register, or another one", "store_forward",
     core_forward_measure},
    {"commit", "how stores enter the first-level cache", "store_pair_bytes store_row store_read",
     core_commit_measure},
    {"branch", "taken branches and small loops", "taken_branch loop_buffer uop_cache_width branch",
     core_branch_measure},
    {"wide", "ports that 512 bits close for narrower vectors", "wide", core_wide_measure},
    {"line", "straight code by instructions in 64 bytes of it", "line line_entry line_across line_constants",
     core_line_measure},
    {"front", "decoders, µop cache, instruction cache", "predecode decode lcp uop_cache l1i",
     core_front_measure},
    {"window", "what can be in flight",
     "rob scheduler load_buffer store_buffer gpr_file vector_file branch_buffer", core_window_measure},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

const char *probe_core_group_name(size_t group) {
    return group < GROUPS ? groups[group].name : NULL;
}

const char *probe_core_group_summary(size_t group) {
    return group < GROUPS ? groups[group].summary : NULL;
}

/* How much of `name` one of the blank-separated words begins. */
static size_t covered(const char *words, const char *name) {
    size_t most = 0;
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (length > most && strncmp(words, name, length) == 0) {
            most = length;
        }
        words += length + (words[length] == ' ');
    }
    return most;
}

int probe_core_group_find(const char *name) {
    int found = -1;
    size_t most = 0;
    for (int i = 0; i < GROUPS; i++) {
        if (strcmp(groups[i].name, name) == 0) {
            return i;
        }
    }
    bool known = strcmp(name, "micro_index") == 0;
    for (unsigned key = 0; key < PROBE_CORE_KEYS; key++) {
        known = known || strcmp(probe_core_key_name(key), name) == 0;
    }
    for (int i = 0; i < GROUPS && known; i++) {
        size_t length = covered(groups[i].covers, name);
        if (length > most) {
            most = length;
            found = i;
        }
    }
    return found;
}

/* Two passes at least, and more while they disagree. */
enum { PASSES_MIN = 2, PASSES_MAX = 4 };

/* Measures a group until two passes agree on all that it tells, or there were enough of them. */
static enum ip_status group_measure(struct core_session *session, unsigned group, struct ip_error *err) {
    struct probe_core passes[PASSES_MAX] = {0}, *core = session->settled;
    struct probe_core_tally *tally = session->tally;
    size_t disputed = 0, untrusted = SIZE_MAX;
    unsigned count = 0;
    enum ip_status status = IP_OK;
    while (status == IP_OK && (count < PASSES_MIN || (count < PASSES_MAX && disputed > 0))) {
        struct probe_core_tally pass = {0};
        session->core = &passes[count++];
        session->tally = &pass;
        status = groups[group].measure(session, err);
        tally->kernels += pass.kernels;
        untrusted = pass.untrusted < untrusted ? pass.untrusted : untrusted;
        status = status == IP_OK ? core_passes_settle(passes, count, NULL, &disputed, err) : status;
    }
    status = status == IP_OK ? core_passes_settle(passes, count, core, &disputed, err) : status;
    /* What no pass could see for noise, or what they saw differently. */
    tally->untrusted += disputed > untrusted ? disputed : untrusted;
    session->tally = tally;
    session->core = core;
    for (unsigned p = 0; p < PASSES_MAX; p++) {
        probe_core_fini(&passes[p]);
    }
    return status;
}

enum ip_status probe_core_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                  unsigned selected, struct probe_core *core, struct probe_core_tally *tally,
                                  struct ip_error *err) {
    memset(tally, 0, sizeof *tally);
    struct core_session session = {
        .meter = meter, .encoder = encoder, .core = core, .settled = core, .tally = tally, .width = NAN};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < GROUPS && status == IP_OK; i++) {
        if (i == 0 || (selected >> i & 1) != 0) {
            status = group_measure(&session, i, err);
        }
        if (i == 0) {
            session.width = probe_core_get(core, PROBE_CORE_ISSUE_WIDTH);
        }
        if (status == IP_OK && isnan(session.width)) {
            break; /* what the others say would be wrong by as much as this one */
        }
    }
    probe_batch_fini(&session.batch);
    return status;
}

double core_near_integer(double value, double tolerance) {
    double nearest = round(value);
    return fabs(value - nearest) <= tolerance ? nearest : value;
}
