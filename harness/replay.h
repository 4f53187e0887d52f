/* SPDX-License-Identifier: Apache-2.0 */
/* harness/replay.h - the timer `replay:FILE`: returns the samples that a recording (harness/record.h) holds,
 * so that a machine that is not here can be measured again.
 *
 * Samples are found by the kernel's code; the n-th request for a kernel gets its n-th recording. A kernel
 * that is not there, or was recorded with fewer rounds or other iterations, is HX_OUTCOME_MISSING. */
#ifndef ISAPROBE_HARNESS_REPLAY_H
#define ISAPROBE_HARNESS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/text.h"
#include "harness/timer.h"

extern const struct hx_timer_ops hx_timer_replay;

struct hx_replay; /* a recording in memory */

/* A recording is read as a whole: larger ones are refused. */
#define HX_REPLAY_LIMIT_BYTES ((size_t)1 << 30)
/* Is the file too large to be read? False also where it is no file, or not there. */
bool hx_replay_is_too_large(const char *path);

/* Parses a recording; `name` stands in messages. IP_SYNTAX with "name:line:column": not a recording, cut
 * short, or damaged. */
IP_CHECK enum ip_status hx_replay_parse(struct hx_replay **replay, const char *name, const char *text,
                                        size_t length, struct ip_error *err);
/* Reads the header alone: whose samples they are, as it was told to the recorder (hx_recorder_open); "": not
 * known. IP_SYNTAX where it is no header of a recording. */
IP_CHECK enum ip_status hx_replay_machine(struct ip_text *machine, const char *name, const char *text,
                                          size_t length, struct ip_error *err);
void hx_replay_free(struct hx_replay *replay); /* NULL is fine */
size_t hx_replay_jobs(const struct hx_replay *replay);
bool hx_replay_is_of_silicon(const struct hx_replay *replay);
/* CPUID's vendor of that CPU; "": not known. Borrowed. */
const char *hx_replay_vendor(const struct hx_replay *replay);
/* Fills `samples` with the next recording of the job's kernel, or says why there is none. */
void hx_replay_take(struct hx_replay *replay, const struct hx_job *job, struct hx_samples *samples);

#endif
