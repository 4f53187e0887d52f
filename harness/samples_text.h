/* SPDX-License-Identifier: Apache-2.0 */
/* harness/samples_text.h - what the recorder writes and the replay timer reads (docs/sim.md, "Recorded
 * samples"). Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SAMPLES_TEXT_H
#define ISAPROBE_HARNESS_SAMPLES_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "harness/timer.h"

#define HX_SAMPLES_HEADER "isaprobe-samples 1"
/* A line behind it, with the CPU's vendor: the timer ran kernels on one. */
#define HX_SAMPLES_SILICON "on-silicon"
/* And one behind that, or behind the first: whose samples they are, in words (results/machine.h). */
#define HX_SAMPLES_MACHINE "machine "
enum { HX_SAMPLES_MACHINE_MAX = 256 };
/* The vendors whose ports have names (probe/portlabel.c); NULL ends them. */
extern const char *const hx_samples_vendors[];

enum { HX_SAMPLES_OUTCOMES = HX_OUTCOME_UNKNOWN + 1 };

/* "ok", "illegal" ...: one word each. */
extern const char *const hx_samples_outcome_words[HX_SAMPLES_OUTCOMES];
/* Names of the rows of samples, in the order of hx_samples_place. */
extern const char *const hx_samples_row_words[HX_SAMPLE_ROWS];

/* What identifies a kernel: both lengths of its code and what its registers and memory begin with. */
uint64_t hx_samples_key(const struct gen_kernel *kernel);

#define HX_SAMPLES_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
/* FNV-1a, 64 bits, continued from `hash`. */
uint64_t hx_samples_hash(uint64_t hash, const void *bytes, size_t count);

#endif
