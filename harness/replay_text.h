/* SPDX-License-Identifier: Apache-2.0 */
/* harness/replay_text.h - the parsed text of a recording. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_REPLAY_TEXT_H
#define ISAPROBE_HARNESS_REPLAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "harness/samples_text.h"
#include "harness/timer.h"

struct hx_recorded_job {
    uint64_t key, fault_address;
    enum hx_outcome outcome;
    uint32_t rounds, iterations[3]; /* of the kernel, the reference chain, the sentinel */
    char why[sizeof((struct hx_samples *)NULL)->why];
    size_t values; /* offset of HX_SAMPLE_ROWS rows of `rounds` values in hx_recording.values */
    size_t next;   /* for the user of the recording */
};

struct hx_recording {
    bool on_silicon;
    char vendor[13];                      /* of the CPU, "": not known */
    char machine[HX_SAMPLES_MACHINE_MAX]; /* the CPU's identity, "": not known */
    struct hx_recorded_job *jobs;         /* owned */
    size_t count, capacity;
    double *values; /* owned */
    size_t values_count, values_capacity;
};

/* What stands before the jobs: all but these, and nothing to free. As hx_recording_parse. */
IP_CHECK enum ip_status hx_recording_header_parse(struct hx_recording *recording, const char *name,
                                                  const char *text, size_t length, struct ip_error *err);
/* `recording` is untouched unless IP_OK. */
IP_CHECK enum ip_status hx_recording_parse(struct hx_recording *recording, const char *name, const char *text,
                                           size_t length, struct ip_error *err);
void hx_recording_fini(struct hx_recording *recording);

#endif
