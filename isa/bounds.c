/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/bounds.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A hundred times what our largest source takes, and in time fifty times what a line does. */
enum { OUTPUT_MAX = 64 << 20, MEMORY_MAX = 512 << 20 };
enum { CPU_SECONDS = 10, SOURCE_BYTES_PER_SECOND = 100000 };

int isa_bounds_attributes_init(posix_spawnattr_t *attributes) {
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGXCPU);
    sigaddset(&defaults, SIGXFSZ);
    int failure = posix_spawnattr_init(attributes);
    if (failure == 0) {
        (void)posix_spawnattr_setsigdefault(attributes, &defaults);
        (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
    }
    return failure;
}

/* Returns the bound that holds. */
static struct isa_bound limit_set(pid_t child, int resource, uint64_t most) {
    const struct isa_bound ours = {.most = most};
    struct rlimit limit;
    if (prlimit(child, resource, NULL, &limit) != 0) {
        return ours; /* it has ended already */
    }
    if (limit.rlim_cur <= most) {
        return (struct isa_bound){.most = limit.rlim_cur, .inherited = true};
    }
    limit.rlim_cur = most;
    (void)prlimit(child, resource, &limit, NULL);
    return ours;
}

struct isa_bounds isa_bounds_set(pid_t child, size_t source_bytes) {
    (void)limit_set(child, RLIMIT_CORE, 0); /* before any bound that would make the child dump core */
    struct isa_bounds bounds = {
        .cpu_s = limit_set(child, RLIMIT_CPU, CPU_SECONDS + source_bytes / SOURCE_BYTES_PER_SECOND),
        .memory_bytes = limit_set(child, RLIMIT_AS, MEMORY_MAX),
        .output_bytes = limit_set(child, RLIMIT_FSIZE, OUTPUT_MAX),
    };
    return bounds;
}

/* `option` of ulimit shows the bound that this process had. */
static struct isa_bound_met bound_met(struct isa_bound bound, const char *unit, char option) {
    struct isa_bound_met met;
    char whose[16] = "";
    if (bound.inherited) {
        (void)snprintf(whose, sizeof whose, " (ulimit -%c)", option);
    }
    (void)snprintf(met.text, sizeof met.text, "%" PRIu64 " %s%s", bound.most, unit, whose);
    return met;
}

static struct isa_bound_met bytes_met(struct isa_bound bound, const char *what, char option) {
    bool mega = bound.most % (1 << 20) == 0;
    char unit[24];
    (void)snprintf(unit, sizeof unit, "%cB of %s", mega ? 'M' : 'K', what);
    bound.most = mega ? bound.most >> 20 : (bound.most + 1023) >> 10;
    return bound_met(bound, unit, option);
}

/* NASM says "critical: SOURCE:LINE: out of memory!", as "out of memory allocating N bytes" or "memory
 * exhausted". */
static bool memory_lacked(const char *words) {
    return strstr(words, ": out of memory!") != NULL || strstr(words, "out of memory allocating ") != NULL ||
           strstr(words, "memory exhausted") != NULL;
}

struct isa_bound_met isa_bounds_met(const struct isa_bounds *bounds, int state, const char *words) {
    struct isa_bound_met met = {""};
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGXCPU) {
        met = bound_met(bounds->cpu_s, "s of CPU time", 't');
    } else if (WIFSIGNALED(state) && WTERMSIG(state) == SIGXFSZ) {
        met = bytes_met(bounds->output_bytes, "output", 'f');
    } else if (WIFEXITED(state) && WEXITSTATUS(state) != 0 && memory_lacked(words)) {
        met = bytes_met(bounds->memory_bytes, "memory", 'v');
    }
    return met;
}
