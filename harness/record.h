/* SPDX-License-Identifier: Apache-2.0 */
/* harness/record.h - writes every job's samples to a file that `replay:FILE` reads: a machine in a bug
 * report. The format is described in docs/sim.md, "Recorded samples". */
#ifndef ISAPROBE_HARNESS_RECORD_H
#define ISAPROBE_HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "harness/timer.h"

struct hx_recorder;

/* Creates (or truncates) `path`; `on_silicon` and `vendor` (of such) as the timer says of itself; `machine`:
 * the CPU's identity in one line, NULL where it is not known. IP_IO, or IP_CAPABILITY where permissions
 * forbid it, names the path. */
IP_CHECK enum ip_status hx_recorder_open(struct hx_recorder **recorder, const char *path, bool on_silicon,
                                         const char *vendor, const char *machine, struct ip_error *err);
/* Appends jobs[0..count) and what came back. IP_IO names the path. */
IP_CHECK enum ip_status hx_recorder_add(struct hx_recorder *recorder, const struct hx_job *jobs,
                                        const struct hx_samples *samples, size_t count, struct ip_error *err);
/* Writes what is left and closes; frees the recorder in any case. IP_IO: not all of it reached the file. */
IP_CHECK enum ip_status hx_recorder_close(struct hx_recorder *recorder, struct ip_error *err);

#endif
