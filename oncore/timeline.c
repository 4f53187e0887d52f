/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "oncore/binding.h"

enum { FIRST_CAPACITY = 64 };

const char *core_uop_kind_name(enum core_uop_kind kind) {
    static const char *const names[] = {[CORE_UOP_LOAD] = "load",
                                        [CORE_UOP_OPERATION] = "operation",
                                        [CORE_UOP_STORE] = "store",
                                        [CORE_UOP_UNIT] = "unit"};
    return names[kind];
}

void core_timeline_fini(struct core_timeline *timeline) {
    free(timeline->steps);
    free(timeline->uops);
    memset(timeline, 0, sizeof *timeline);
}

size_t core_timeline_cycle(double time) {
    return core_binding_cycle(time);
}

/* `items` with room for more; as they were when there is no memory. */
static void *grow(struct core_timeline *timeline, void *items, size_t *capacity, size_t size) {
    size_t wanted = *capacity > 0 ? 2 * *capacity : FIRST_CAPACITY;
    void *moved = realloc(items, wanted * size);
    if (moved == NULL) {
        timeline->failed = true;
        return items;
    }
    *capacity = wanted;
    return moved;
}

void core_timeline_uop_add(struct core_timeline *timeline, struct core_uop uop) {
    if (timeline->uop_count == timeline->uop_capacity && !timeline->failed) {
        timeline->uops = grow(timeline, timeline->uops, &timeline->uop_capacity, sizeof uop);
    }
    if (!timeline->failed) {
        timeline->uops[timeline->uop_count++] = uop;
    }
}

void core_timeline_step_add(struct core_timeline *timeline, struct core_step step) {
    if (timeline->step_count == timeline->step_capacity && !timeline->failed) {
        timeline->steps = grow(timeline, timeline->steps, &timeline->step_capacity, sizeof step);
    }
    if (timeline->failed) {
        return;
    }
    if (timeline->step_count > 0) {
        const struct core_step *before = &timeline->steps[timeline->step_count - 1];
        step.uop = before->uop + before->uop_count;
    } else {
        step.uop = 0;
    }
    step.uop_count = timeline->uop_count - step.uop;
    timeline->steps[timeline->step_count++] = step;
}

void core_timeline_close(struct core_timeline *timeline, unsigned passes) {
    while (timeline->step_count > 0 && timeline->steps[timeline->step_count - 1].pass >= passes) {
        timeline->uop_count = timeline->steps[--timeline->step_count].uop;
    }
    timeline->passes = passes;
}
