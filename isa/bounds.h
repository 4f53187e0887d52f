/* SPDX-License-Identifier: Apache-2.0 */
/* isa/bounds.h - assemblers as children that may not go on for ever: a few words of a user's source ("times
 * 400000000000 nop") would keep one busy for hours, or want all memory. Internal to isa/. */
#ifndef ISAPROBE_ISA_BOUNDS_H
#define ISAPROBE_ISA_BOUNDS_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct isa_bound {
    uint64_t most;
    bool inherited; /* this process's own, which is closer */
};

/* What a child may take. */
struct isa_bounds {
    struct isa_bound cpu_s, memory_bytes, output_bytes;
};

/* "10 s of CPU time", "1 KB of output (ulimit -f)" where the bound is this process's own: what a child would
 * have taken more of; "": it was not stopped. */
struct isa_bound_met {
    char text[48];
};

/* Attributes with which a bound ends the child even where this process ignores its signal; to be destroyed.
 * Returns an errno, 0 for success. */
int isa_bounds_attributes_init(posix_spawnattr_t *attributes);

/* Bounds a child that was just started: some 10 s, more for a long source, 512 MB and 64 MB; where this
 * process is bounded more closely, so is the child. No core file is written when it meets one of these. What
 * the child took before this call it keeps: another bound ends it then. */
struct isa_bounds isa_bounds_set(pid_t child, size_t source_bytes);

/* Was it a bound that ended the child, whose wait status is `state` and which said `words`? */
struct isa_bound_met isa_bounds_met(const struct isa_bounds *bounds, int state, const char *words);

#endif
