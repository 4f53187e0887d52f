/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} keys[PROBE_CORE_KEYS] = {
    [PROBE_CORE_ISSUE_WIDTH] = {"issue_width", "slots a cycle"},
    [PROBE_CORE_RETIRE_WIDTH] = {"retire_width", "slots a cycle"},
    [PROBE_CORE_PREDECODE_BYTES] = {"predecode_bytes", "bytes a cycle"},
    [PROBE_CORE_DECODE_WIDTH] = {"decode_width", "instructions a cycle"},
    [PROBE_CORE_DECODE_COMPLEX] = {"decode_complex", "instructions a cycle"},
    [PROBE_CORE_LCP_STALL] = {"lcp_stall", "cycles"},
    [PROBE_CORE_UOP_CACHE_WIDTH] = {"uop_cache_width", "slots a cycle"},
    [PROBE_CORE_UOP_CACHE_SLOTS] = {"uop_cache_slots", "slots"},
    [PROBE_CORE_UOP_CACHE_BYTES] = {"uop_cache_bytes", "bytes"},
    [PROBE_CORE_LOOP_BUFFER_SLOTS] = {"loop_buffer_slots", "slots"},
    [PROBE_CORE_TAKEN_BRANCH] = {"taken_branch", "cycles"},
    [PROBE_CORE_LOAD_BASE] = {"load_base", "cycles"},
    [PROBE_CORE_LOAD_DISPLACEMENT] = {"load_displacement", "cycles"},
    [PROBE_CORE_LOAD_INDEX] = {"load_index", "cycles"},
    [PROBE_CORE_LOAD_INDEX_UNSCALED] = {"load_index_unscaled", "cycles"},
    [PROBE_CORE_LOAD_VECTOR] = {"load_vector", "cycles"},
    [PROBE_CORE_LEA_INDEX] = {"lea_index", "cycles"},
    [PROBE_CORE_LEA_SCALED] = {"lea_scaled", "cycles"},
    [PROBE_CORE_STORE_FORWARD] = {"store_forward", "cycles"},
    [PROBE_CORE_STORE_FORWARD_MANY] = {"store_forward_many", "cycles"},
    [PROBE_CORE_STORE_FORWARD_FAR] = {"store_forward_far", "cycles"},
    [PROBE_CORE_STORE_FORWARD_VECTOR] = {"store_forward_vector", "cycles"},
    [PROBE_CORE_STORE_FORWARD_BLOCKED] = {"store_forward_blocked", "cycles"},
    [PROBE_CORE_STORE_FORWARD_OTHER] = {"store_forward_other", "cycles"},
    [PROBE_CORE_STORE_FORWARD_LONG] = {"store_forward_long", "cycles"},
    [PROBE_CORE_STORE_FORWARD_PAIRS] = {"store_forward_pairs", "pairs"},
    [PROBE_CORE_STORE_FORWARD_ADDED] = {"store_forward_added", "cycles"},
    [PROBE_CORE_STORE_FORWARD_WRITTEN] = {"store_forward_written", "cycles"},
    [PROBE_CORE_ROB_SLOTS] = {"rob_slots", "slots"},
    [PROBE_CORE_SCHEDULER_UOPS] = {"scheduler_uops", "uops"},
    [PROBE_CORE_LOAD_BUFFER] = {"load_buffer", "loads"},
    [PROBE_CORE_STORE_BUFFER] = {"store_buffer", "stores"},
    [PROBE_CORE_L1I_BYTES] = {"l1i_bytes", "bytes"},
    [PROBE_CORE_UOP_CACHE_WINDOW] = {"uop_cache_window", "slots"},
    [PROBE_CORE_TAKEN_BRANCH_FAR] = {"taken_branch_far", "cycles"},
    [PROBE_CORE_TAKEN_BRANCH_NEAR] = {"taken_branch_near", "branches"},
    [PROBE_CORE_LOAD_YMM] = {"load_ymm", "cycles"},
    [PROBE_CORE_LOAD_ZMM] = {"load_zmm", "cycles"},
    [PROBE_CORE_LOAD_LINE_CROSS] = {"load_line_cross", "cycles more"},
    [PROBE_CORE_LOAD_PAGE_CROSS] = {"load_page_cross", "cycles more"},
    [PROBE_CORE_LOAD_ALIAS] = {"load_alias", "cycles more"},
    [PROBE_CORE_LOAD_RATE] = {"load_rate", "loads a cycle"},
    [PROBE_CORE_LOAD_RATE_128] = {"load_rate_128", "loads a cycle"},
    [PROBE_CORE_LOAD_RATE_256] = {"load_rate_256", "loads a cycle"},
    [PROBE_CORE_LOAD_RATE_512] = {"load_rate_512", "loads a cycle"},
    [PROBE_CORE_LOAD_RATE_STRIDE] = {"load_rate_stride", "loads a cycle"},
    [PROBE_CORE_LOAD_RATE_CROSS] = {"load_rate_cross", "loads a cycle"},
    [PROBE_CORE_STORE_RATE] = {"store_rate", "stores a cycle"},
    [PROBE_CORE_STORE_RATE_256] = {"store_rate_256", "stores a cycle"},
    [PROBE_CORE_STORE_RATE_512] = {"store_rate_512", "stores a cycle"},
    [PROBE_CORE_STORE_RATE_STRIDE] = {"store_rate_stride", "stores a cycle"},
    [PROBE_CORE_GPR_FILE] = {"gpr_file", "results"},
    [PROBE_CORE_VECTOR_FILE] = {"vector_file", "results"},
    [PROBE_CORE_BRANCH_BUFFER] = {"branch_buffer", "branches"},
    [PROBE_CORE_APART_SLOTS] = {"apart_slots", "slots"},
    [PROBE_CORE_STORE_PAIR_BYTES] = {"store_pair_bytes", "bytes"},
    [PROBE_CORE_STORE_ROW] = {"store_row", ""},
    [PROBE_CORE_STORE_READ] = {"store_read", ""},
    [PROBE_CORE_PORTS_IN_TURN] = {"ports_in_turn", ""},
    [PROBE_CORE_NOP_SLOTS] = {"nop_slots", "slots"},
    [PROBE_CORE_LEA_DISPLACEMENT] = {"lea_displacement", "cycles"},
    [PROBE_CORE_LEA_THREE] = {"lea_three", "cycles"},
    [PROBE_CORE_LEA_THREE_INDEX] = {"lea_three_index", "cycles"},
    [PROBE_CORE_LEA_THREE_RATE] = {"lea_three_rate", "LEAs a cycle"},
    [PROBE_CORE_STACK_SYNC] = {"stack_sync", "cycles more"},
    [PROBE_CORE_STACK_SYNC_ADDRESS] = {"stack_sync_address", "cycles more"},
    [PROBE_CORE_STACK_MOVE] = {"stack_move", "cycles more"},
    [PROBE_CORE_ISSUE_AGAIN] = {"issue_again", ""},
    [PROBE_CORE_LINE_CONSTANTS] = {"line_constants", ""},
    [PROBE_CORE_LINE_ENTRY] = {"line_entry", "instructions"},
    [PROBE_CORE_LINE_ACROSS] = {"line_across", ""},
    [PROBE_CORE_LOAD_TURNS] = {"load_turns", "cycles more"},
    [PROBE_CORE_STORE_FORWARD_CHANGED] = {"store_forward_changed", "cycles"},
};

static const char *const kinds[] = {"fuse ",   "eliminate ", "idiom ", "micro ", "micro_index ", "after ",
                                    "branch ", "output ",    "line ",  "move ",  "wide "};

void probe_core_fini(struct probe_core *core) {
    free(core->facts);
    memset(core, 0, sizeof *core);
}

const char *probe_core_key_name(enum probe_core_key key) {
    return keys[key].name;
}

const char *probe_core_key_unit(enum probe_core_key key) {
    return keys[key].unit;
}

double probe_core_get(const struct probe_core *core, enum probe_core_key key) {
    return core->values[key].known ? core->values[key].value : NAN;
}

/* Position of the first fact that is not before `key`. */
static size_t fact_position(const struct probe_core *core, const char *key) {
    size_t low = 0, high = core->fact_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(core->facts[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct probe_core_value *fact_add(struct probe_core *core, const char *key, struct ip_error *err) {
    size_t at = fact_position(core, key);
    if (at < core->fact_count && strcmp(core->facts[at].key, key) == 0) {
        return &core->facts[at].value;
    }
    if (core->fact_count == core->fact_capacity) {
        size_t capacity = core->fact_capacity != 0 ? 2 * core->fact_capacity : 64;
        struct probe_core_fact *facts = realloc(core->facts, capacity * sizeof *facts);
        if (facts == NULL) {
            (void)ip_fail(err, IP_NO_MEMORY, "out of memory for %zu facts of the core", capacity);
            return NULL;
        }
        core->facts = facts;
        core->fact_capacity = capacity;
    }
    memmove(core->facts + at + 1, core->facts + at, (core->fact_count - at) * sizeof *core->facts);
    core->fact_count++;
    memset(&core->facts[at], 0, sizeof core->facts[at]);
    (void)snprintf(core->facts[at].key, sizeof core->facts[at].key, "%s", key);
    return &core->facts[at].value;
}

enum ip_status probe_core_set(struct probe_core *core, const char *key, double value, double spread,
                              const char *how, struct ip_error *err) {
    struct probe_core_value *to = NULL;
    for (unsigned i = 0; i < PROBE_CORE_KEYS && to == NULL; i++) {
        to = strcmp(keys[i].name, key) == 0 ? &core->values[i] : NULL;
    }
    bool fact = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        fact = fact || strncmp(key, kinds[i], strlen(kinds[i])) == 0;
    }
    if (to == NULL && (!fact || strlen(key) >= PROBE_CORE_FACT_MAX)) {
        return ip_fail(err, IP_USAGE, "'%.120s' is no parameter of a core", key);
    }
    if (to == NULL) {
        to = fact_add(core, key, err);
    }
    if (to == NULL) {
        return IP_NO_MEMORY;
    }
    *to = (struct probe_core_value){.known = !isnan(value), .value = value, .spread = spread};
    (void)snprintf(to->how, sizeof to->how, "%s", how != NULL ? how : "");
    return IP_OK;
}

const struct probe_core_fact *probe_core_facts_find(const struct probe_core *core, const char *start,
                                                    size_t *count) {
    char behind[PROBE_CORE_FACT_MAX + 1];
    (void)snprintf(behind, sizeof behind, "%s\x7f", start); /* sorts behind all that begins so */
    size_t first = fact_position(core, start);
    *count = fact_position(core, behind) - first;
    return *count > 0 ? core->facts + first : NULL;
}

const struct probe_core_value *probe_core_find(const struct probe_core *core, const char *key) {
    for (unsigned i = 0; i < PROBE_CORE_KEYS; i++) {
        if (strcmp(keys[i].name, key) == 0) {
            const struct probe_core_value *value = &core->values[i];
            return value->known || value->how[0] != '\0' ? value : NULL;
        }
    }
    size_t at = fact_position(core, key);
    bool there = at < core->fact_count && strcmp(core->facts[at].key, key) == 0;
    return there ? &core->facts[at].value : NULL;
}

const char *probe_core_fact_key(const char *kind, const char *form, const char *second, char *buffer) {
    (void)snprintf(buffer, PROBE_CORE_FACT_MAX, "%s %s%s%s", kind, form, second != NULL ? " + " : "",
                   second != NULL ? second : "");
    return buffer;
}

const struct probe_core_value *probe_core_fact_get(const struct probe_core *core, const char *kind,
                                                   const char *form, const char *second) {
    char key[PROBE_CORE_FACT_MAX];
    probe_core_fact_key(kind, form, second, key);
    size_t at = fact_position(core, key);
    if (at < core->fact_count && strcmp(core->facts[at].key, key) == 0 && core->facts[at].value.known) {
        return &core->facts[at].value;
    }
    return NULL;
}
