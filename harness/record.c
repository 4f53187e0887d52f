/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "harness/samples_text.h"

struct hx_recorder {
    FILE *file;
    char *path;
    struct ip_text text; /* of one job */
};

static enum ip_status write_failed(const struct hx_recorder *recorder, int errno_value,
                                   struct ip_error *err) {
    bool no_room = errno_value == ENOSPC || errno_value == EFBIG || errno_value == EDQUOT;
    return ip_fail_errno(err, ip_refusal_or(errno_value, IP_IO), errno_value,
                         "cannot write the recording %s; %schoose another place", recorder->path,
                         no_room ? "free some space or " : "");
}

static void recorder_free(struct hx_recorder *recorder) {
    ip_text_fini(&recorder->text);
    free(recorder->path);
    free(recorder);
}

static bool header_write(FILE *file, bool on_silicon, const char *vendor, const char *machine) {
    const size_t length = machine != NULL ? strnlen(machine, HX_SAMPLES_MACHINE_MAX - 1) : 0;
    const uint64_t hash = hx_samples_hash(HX_SAMPLES_HASH_BEGIN, machine, length);
    bool named = false; /* the word that the CPU would have ports of, not any word */
    for (size_t i = 0; hx_samples_vendors[i] != NULL; i++) {
        named = named || strcmp(vendor, hx_samples_vendors[i]) == 0;
    }
    return fputs(HX_SAMPLES_HEADER "\n", file) >= 0 &&
           (!on_silicon ||
            fprintf(file, HX_SAMPLES_SILICON "%s%s\n", named ? " " : "", named ? vendor : "") >= 0) &&
           (machine == NULL ||
            fprintf(file, HX_SAMPLES_MACHINE "%016" PRIx64 " %.*s\n", hash, (int)length, machine) >= 0);
}

enum ip_status hx_recorder_open(struct hx_recorder **recorder, const char *path, bool on_silicon,
                                const char *vendor, const char *machine, struct ip_error *err) {
    struct hx_recorder *opened = calloc(1, sizeof *opened);
    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        free(opened);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", path);
    }
    opened->file = fopen(path, "we");
    if (opened->file == NULL) {
        enum ip_status status = write_failed(opened, errno, err);
        recorder_free(opened);
        return status;
    }
    if (!header_write(opened->file, on_silicon, vendor, machine)) {
        enum ip_status status = write_failed(opened, errno, err);
        (void)fclose(opened->file);
        recorder_free(opened);
        return status;
    }
    *recorder = opened;
    return IP_OK;
}

static void row_print(struct ip_text *text, const char *word, const double *values, uint32_t rounds) {
    ip_text_append(text, word);
    for (uint32_t i = 0; i < rounds; i++) {
        ip_text_printf(text, " %.17g", values[i]); /* enough digits to read the same number back */
    }
    ip_text_append(text, "\n");
}

static void job_print(struct ip_text *text, const struct hx_job *job, const struct hx_samples *samples) {
    uint32_t rounds = samples->outcome == HX_OUTCOME_OK ? job->rounds : 0;
    ip_text_printf(text,
                   "job %016" PRIx64 " %s rounds %" PRIu32 " iterations %" PRIu32 " %" PRIu32 " %" PRIu32,
                   hx_samples_key(job->kernel), hx_samples_outcome_words[samples->outcome], rounds,
                   samples->iterations, samples->reference_iterations, samples->sentinel_iterations);
    ip_text_printf(text, " address %" PRIx64 "\n", samples->fault_address);
    if (samples->outcome != HX_OUTCOME_OK) {
        char why[sizeof samples->why];
        snprintf(why, sizeof why, "%s", samples->why);
        for (char *c = why; *c != '\0'; c++) {
            *c = *c == '\n' || *c == '\r' ? ' ' : *c;
        }
        ip_text_printf(text, "why %s\n", why);
        return;
    }
    const double *rows[HX_SAMPLE_ROWS] = {samples->shorter,           samples->longer,
                                          samples->reference_shorter, samples->reference_longer,
                                          samples->sentinel_shorter,  samples->sentinel_longer};
    for (int i = 0; i < HX_SAMPLE_ROWS; i++) {
        row_print(text, hx_samples_row_words[i], rows[i], rounds);
    }
}

enum ip_status hx_recorder_add(struct hx_recorder *recorder, const struct hx_job *jobs,
                               const struct hx_samples *samples, size_t count, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        struct ip_text *text = &recorder->text;
        ip_text_clear(text);
        job_print(text, &jobs[i], &samples[i]);
        /* The checksum makes a damaged number an error instead of a wrong result. */
        ip_text_printf(text, "end %016" PRIx64 "\n",
                       hx_samples_hash(HX_SAMPLES_HASH_BEGIN, ip_text_string(text), text->length));
        if (text->failed) {
            return ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", recorder->path);
        }
        if (fwrite(text->data, 1, text->length, recorder->file) != text->length) {
            return write_failed(recorder, errno, err);
        }
    }
    return IP_OK;
}

enum ip_status hx_recorder_close(struct hx_recorder *recorder, struct ip_error *err) {
    enum ip_status status = IP_OK;
    bool failed = ferror(recorder->file) != 0; /* an earlier hx_recorder_add said so already */
    errno = 0;
    if (fclose(recorder->file) != 0 || failed) {
        status = write_failed(recorder, errno != 0 ? errno : EIO, err);
    }
    recorder_free(recorder);
    return status;
}
