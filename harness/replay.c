/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/text.h"
#include "harness/replay_text.h"
#include "harness/samples_text.h"

/* Jobs of one kernel, in the order of recording. */
struct replay_slot {
    size_t first, next; /* position + 1; 0: none (left) */
};

struct hx_replay {
    struct hx_recording recording;
    struct replay_slot *slots; /* owned; open addressing by the key of recording.jobs[first - 1] */
    size_t slots_size;
};

static struct replay_slot *slot_find(const struct hx_replay *replay, uint64_t key) {
    size_t at = (size_t)(key >> 20) & (replay->slots_size - 1);
    while (replay->slots[at].first != 0 && replay->recording.jobs[replay->slots[at].first - 1].key != key) {
        at = (at + 1) & (replay->slots_size - 1);
    }
    return &replay->slots[at];
}

/* From the last job to the first, so that each slot ends at the first one. */
static void slots_fill(struct hx_replay *replay) {
    for (size_t i = replay->recording.count; i-- > 0;) {
        struct hx_recorded_job *job = &replay->recording.jobs[i];
        struct replay_slot *slot = slot_find(replay, job->key);
        job->next = slot->first;
        slot->first = slot->next = i + 1;
    }
}

bool hx_replay_is_too_large(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && (size_t)about.st_size > HX_REPLAY_LIMIT_BYTES;
}

enum ip_status hx_replay_parse(struct hx_replay **replay, const char *name, const char *text, size_t length,
                               struct ip_error *err) {
    struct hx_replay *parsed = calloc(1, sizeof *parsed);
    if (parsed == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", name);
    }
    enum ip_status status = hx_recording_parse(&parsed->recording, name, text, length, err);
    if (status == IP_OK) {
        parsed->slots_size = 16;
        while (parsed->slots_size < 2 * parsed->recording.count) {
            parsed->slots_size *= 2;
        }
        parsed->slots = calloc(parsed->slots_size, sizeof *parsed->slots);
        if (parsed->slots == NULL) {
            status = ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", name);
        }
    }
    if (status != IP_OK) {
        hx_replay_free(parsed);
        return status;
    }
    slots_fill(parsed);
    *replay = parsed;
    return IP_OK;
}

void hx_replay_free(struct hx_replay *replay) {
    if (replay != NULL) {
        hx_recording_fini(&replay->recording);
        free(replay->slots);
        free(replay);
    }
}

bool hx_replay_is_of_silicon(const struct hx_replay *replay) {
    return replay->recording.on_silicon;
}

const char *hx_replay_vendor(const struct hx_replay *replay) {
    return replay->recording.vendor;
}

enum ip_status hx_replay_machine(struct ip_text *machine, const char *name, const char *text, size_t length,
                                 struct ip_error *err) {
    struct hx_recording header = {0};
    enum ip_status status = hx_recording_header_parse(&header, name, text, length, err);
    ip_text_append(machine, header.machine);
    return status;
}

size_t hx_replay_jobs(const struct hx_replay *replay) {
    return replay->recording.count;
}

static void missing(struct hx_samples *samples, const char *why) {
    samples->outcome = HX_OUTCOME_MISSING;
    snprintf(samples->why, sizeof samples->why, "%s", why);
}

void hx_replay_take(struct hx_replay *replay, const struct hx_job *job, struct hx_samples *samples) {
    samples->fault_address = 0;
    samples->iterations = samples->reference_iterations = samples->sentinel_iterations = 0;
    struct replay_slot *slot = slot_find(replay, hx_samples_key(job->kernel));
    if (slot->first == 0) {
        missing(samples, "the recording does not hold this kernel");
        return;
    }
    if (slot->next == 0) {
        missing(samples, "the recording holds fewer runs of this kernel than are asked for");
        return;
    }
    const struct hx_recorded_job *found = &replay->recording.jobs[slot->next - 1];
    if (found->outcome == HX_OUTCOME_OK && found->rounds < job->rounds) {
        snprintf(samples->why, sizeof samples->why,
                 "recorded with %" PRIu32 " rounds, %" PRIu32 " are asked for", found->rounds, job->rounds);
        samples->outcome = HX_OUTCOME_MISSING;
        return;
    }
    if (found->outcome == HX_OUTCOME_OK && job->iterations != 0 && found->iterations[0] != job->iterations) {
        snprintf(samples->why, sizeof samples->why,
                 "recorded with %" PRIu32 " iterations, %" PRIu32 " are asked for", found->iterations[0],
                 job->iterations);
        samples->outcome = HX_OUTCOME_MISSING;
        return;
    }
    slot->next = found->next;
    samples->outcome = found->outcome;
    samples->fault_address = found->fault_address;
    samples->iterations = found->iterations[0];
    samples->reference_iterations = found->iterations[1];
    samples->sentinel_iterations = found->iterations[2];
    memcpy(samples->why, found->why, sizeof samples->why);
    if (found->outcome != HX_OUTCOME_OK) {
        return;
    }
    double *const rows[HX_SAMPLE_ROWS] = {samples->shorter,           samples->longer,
                                          samples->reference_shorter, samples->reference_longer,
                                          samples->sentinel_shorter,  samples->sentinel_longer};
    for (size_t i = 0; i < HX_SAMPLE_ROWS && job->rounds > 0; i++) {
        memcpy(rows[i], replay->recording.values + found->values + i * found->rounds,
               job->rounds * sizeof(double));
    }
}

static enum ip_status replay_open(struct hx_timer *timer, const char *argument, struct ip_error *err) {
    if (argument[0] == '\0') {
        return ip_fail(err, IP_USAGE, "timer replay: name the recording, as in replay:FILE");
    }
    struct ip_text text = {0};
    struct hx_replay *replay = NULL;
    enum ip_status status = ip_file_read(&text, argument, HX_REPLAY_LIMIT_BYTES, err);
    if (status == IP_OK) {
        status = hx_replay_parse(&replay, argument, ip_text_string(&text), text.length, err);
    }
    ip_text_fini(&text);
    if (status == IP_OK) {
        timer->state = replay;
        timer->replays_silicon = hx_replay_is_of_silicon(replay);
        (void)snprintf(timer->vendor, sizeof timer->vendor, "%s", hx_replay_vendor(replay));
    }
    return status;
}

static void replay_close(struct hx_timer *timer) {
    hx_replay_free(timer->state);
    timer->state = NULL;
}

static enum ip_status replay_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    (void)err; /* all that can go wrong is an outcome */
    for (size_t i = 0; i < count; i++) {
        hx_replay_take(timer->state, &jobs[i], &samples[i]);
    }
    return IP_OK;
}

const struct hx_timer_ops hx_timer_replay = {
    .name = "replay",
    .unit = "ticks",
    .summary = "samples recorded earlier with --record, read from the file in replay:FILE",
    .replays = true,
    .open = replay_open,
    .close = replay_close,
    .run = replay_run,
};
