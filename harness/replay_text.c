/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/replay_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/samples_text.h"

enum { ROUNDS_MAX = 1000000 };

struct reader {
    const char *name, *text;
    size_t length, at, line_begin;
    unsigned line;
    struct hx_recording *recording;
};

static enum ip_status bad(const struct reader *r, struct ip_error *err, const char *what) {
    return ip_fail_at(err, IP_SYNTAX, r->name, r->line, (unsigned)(r->at - r->line_begin) + 1, "%s", what);
}

/* Where the text ends, a different complaint is due. */
static enum ip_status bad_word(const struct reader *r, struct ip_error *err, const char *what) {
    if (r->at >= r->length) {
        return bad(r, err, "the recording is cut short here; record again");
    }
    return bad(r, err, what);
}

/* Takes `word` if it comes next. */
static bool accept(struct reader *r, const char *word) {
    size_t length = strlen(word);
    if (r->length - r->at < length || memcmp(r->text + r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static bool line_end(struct reader *r) {
    if (r->at >= r->length || r->text[r->at] != '\n') {
        return false;
    }
    r->at++;
    r->line++;
    r->line_begin = r->at;
    return true;
}

static bool digit_value(char c, unsigned base, unsigned *value) {
    *value = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
             : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                    : 99;
    return *value < base;
}

static bool integer_read(struct reader *r, unsigned base, uint64_t limit, uint64_t *value) {
    uint64_t result = 0;
    size_t begin = r->at;
    unsigned digit;
    for (; r->at < r->length && digit_value(r->text[r->at], base, &digit); r->at++) {
        if (result > (limit - digit) / base) {
            return false;
        }
        result = result * base + digit;
    }
    *value = result;
    return r->at > begin;
}

static bool number_read(struct reader *r, double *value) {
    char word[40];
    size_t length = 0;
    while (r->at + length < r->length && length + 1 < sizeof word && r->text[r->at + length] != '\0' &&
           strchr("0123456789.e+-", r->text[r->at + length]) != NULL) {
        word[length] = r->text[r->at + length];
        length++;
    }
    word[length] = '\0';
    char *end = word;
    double result = strtod(word, &end);
    if (length == 0 || *end != '\0' || !isfinite(result)) {
        return false;
    }
    r->at += length;
    *value = result;
    return true;
}

static bool value_append(struct hx_recording *recording, double value) {
    if (recording->values_count == recording->values_capacity) {
        size_t capacity = recording->values_capacity != 0 ? recording->values_capacity * 2 : 256;
        double *values = realloc(recording->values, capacity * sizeof *values);
        if (values == NULL) {
            return false;
        }
        recording->values = values;
        recording->values_capacity = capacity;
    }
    recording->values[recording->values_count++] = value;
    return true;
}

static bool job_append(struct hx_recording *recording, const struct hx_recorded_job *job) {
    if (recording->count == recording->capacity) {
        size_t capacity = recording->capacity != 0 ? recording->capacity * 2 : 64;
        struct hx_recorded_job *jobs = realloc(recording->jobs, capacity * sizeof *jobs);
        if (jobs == NULL) {
            return false;
        }
        recording->jobs = jobs;
        recording->capacity = capacity;
    }
    recording->jobs[recording->count++] = *job;
    return true;
}

/* "job KEY OUTCOME rounds N iterations A B C address X" */
static enum ip_status job_line(struct reader *r, struct hx_recorded_job *job, struct ip_error *err) {
    uint64_t number;
    if (!accept(r, "job ") || !integer_read(r, 16, UINT64_MAX, &job->key) || !accept(r, " ")) {
        return bad_word(r, err, "`job` and the kernel's key are expected");
    }
    int outcome = 0;
    while (outcome < HX_SAMPLES_OUTCOMES && !accept(r, hx_samples_outcome_words[outcome])) {
        outcome++;
    }
    if (outcome == HX_SAMPLES_OUTCOMES) {
        return bad_word(r, err, "the outcome is expected: ok, illegal, segfault ...");
    }
    job->outcome = (enum hx_outcome)outcome;
    if (!accept(r, " rounds ") || !integer_read(r, 10, ROUNDS_MAX, &number)) {
        return bad_word(r, err, "the number of rounds is expected");
    }
    job->rounds = (uint32_t)number;
    if (!accept(r, " iterations")) {
        return bad_word(r, err, "`iterations` and three numbers are expected");
    }
    for (int i = 0; i < 3; i++) {
        if (!accept(r, " ") || !integer_read(r, 10, UINT32_MAX, &number)) {
            return bad_word(r, err, "the number of iterations is expected");
        }
        job->iterations[i] = (uint32_t)number;
    }
    if (!accept(r, " address ") || !integer_read(r, 16, UINT64_MAX, &job->fault_address) || !line_end(r)) {
        return bad_word(r, err, "`address`, a hexadecimal number and the end of the line are expected");
    }
    return IP_OK;
}

static enum ip_status why_line(struct reader *r, struct hx_recorded_job *job, struct ip_error *err) {
    if (!accept(r, "why ")) {
        return bad_word(r, err, "`why` is expected");
    }
    size_t length = 0;
    while (r->at < r->length && r->text[r->at] != '\n') {
        char c = r->text[r->at];
        if (length + 1 >= sizeof job->why || c == '\0') {
            return bad(r, err, "the reason is too long");
        }
        job->why[length++] = c;
        r->at++;
    }
    return line_end(r) ? IP_OK : bad_word(r, err, "");
}

static enum ip_status rows_read(struct reader *r, const struct hx_recorded_job *job, struct ip_error *err) {
    for (int row = 0; row < HX_SAMPLE_ROWS; row++) {
        if (!accept(r, hx_samples_row_words[row])) {
            return bad_word(r, err, "a row of samples is expected: shorter, longer, reference-shorter ...");
        }
        for (uint32_t i = 0; i < job->rounds; i++) {
            double value;
            if (!accept(r, " ") || !number_read(r, &value)) {
                return bad_word(r, err, "a number is expected: one for each round");
            }
            if (!value_append(r->recording, value)) {
                return ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", r->name);
            }
        }
        if (!line_end(r)) {
            return bad_word(r, err, "the end of the line is expected: one number for each round");
        }
    }
    return IP_OK;
}

static enum ip_status job_read(struct reader *r, struct ip_error *err) {
    struct hx_recorded_job job = {.values = r->recording->values_count};
    size_t begin = r->at;
    enum ip_status status = job_line(r, &job, err);
    if (status == IP_OK) {
        status = job.outcome == HX_OUTCOME_OK ? rows_read(r, &job, err) : why_line(r, &job, err);
    }
    if (status != IP_OK) {
        return status;
    }
    uint64_t expected = hx_samples_hash(HX_SAMPLES_HASH_BEGIN, r->text + begin, r->at - begin), found;
    if (!accept(r, "end ") || !integer_read(r, 16, UINT64_MAX, &found)) {
        return bad_word(r, err, "`end` and the checksum of the job are expected");
    }
    if (found != expected) {
        return bad(r, err, "the checksum does not fit: the job above is damaged; record again");
    }
    if (!line_end(r)) {
        return bad_word(r, err, "the end of the line is expected");
    }
    return job_append(r->recording, &job)
               ? IP_OK
               : ip_fail(err, IP_NO_MEMORY, "no memory for the recording %s", r->name);
}

/* " AuthenticAMD" or nothing, to the end of the line. */
static enum ip_status vendor_read(struct reader *r, struct ip_error *err) {
    if (accept(r, " ")) {
        const char *vendor = NULL;
        for (size_t i = 0; hx_samples_vendors[i] != NULL && vendor == NULL; i++) {
            vendor = accept(r, hx_samples_vendors[i]) ? hx_samples_vendors[i] : NULL;
        }
        if (vendor == NULL) {
            return bad_word(r, err, "the vendor of a CPU is expected: AuthenticAMD or GenuineIntel");
        }
        (void)snprintf(r->recording->vendor, sizeof r->recording->vendor, "%s", vendor);
    }
    return line_end(r) ? IP_OK : bad_word(r, err, "the end of the line is expected");
}

/* "machine " was there; a checksum and the identity are the rest of the line. */
static enum ip_status machine_read(struct reader *r, struct ip_error *err) {
    char *machine = r->recording->machine;
    size_t length = 0;
    uint64_t expected = 0;
    if (!integer_read(r, 16, UINT64_MAX, &expected) || !accept(r, " ")) {
        return bad_word(r, err, "the checksum of the machine's name is expected");
    }
    for (; r->at < r->length && r->text[r->at] != '\n' && length + 1 < HX_SAMPLES_MACHINE_MAX; r->at++) {
        machine[length++] = r->text[r->at];
    }
    machine[length] = '\0';
    if (!line_end(r)) {
        return bad_word(r, err, "the end of the line is expected");
    }
    return hx_samples_hash(HX_SAMPLES_HASH_BEGIN, machine, length) == expected
               ? IP_OK
               : bad(r, err, "the checksum does not fit: the line above is damaged; record again");
}

static enum ip_status header_read(struct reader *r, struct ip_error *err) {
    enum ip_status status = IP_OK;
    if (!accept(r, HX_SAMPLES_HEADER) || !line_end(r)) {
        status = bad(r, err, "a recording begins with the line `" HX_SAMPLES_HEADER "`");
    }
    if (status == IP_OK && accept(r, HX_SAMPLES_SILICON)) {
        r->recording->on_silicon = true;
        status = vendor_read(r, err);
    }
    return status == IP_OK && accept(r, HX_SAMPLES_MACHINE) ? machine_read(r, err) : status;
}

enum ip_status hx_recording_header_parse(struct hx_recording *recording, const char *name, const char *text,
                                         size_t length, struct ip_error *err) {
    struct hx_recording parsed = {0};
    struct reader reader = {.name = name, .text = text, .length = length, .line = 1, .recording = &parsed};
    enum ip_status status = header_read(&reader, err);
    if (status == IP_OK) {
        *recording = parsed;
    }
    return status;
}

enum ip_status hx_recording_parse(struct hx_recording *recording, const char *name, const char *text,
                                  size_t length, struct ip_error *err) {
    struct hx_recording parsed = {0};
    struct reader reader = {.name = name, .text = text, .length = length, .line = 1, .recording = &parsed};
    enum ip_status status = header_read(&reader, err);
    while (status == IP_OK && reader.at < reader.length) {
        status = job_read(&reader, err);
    }
    if (status != IP_OK) {
        hx_recording_fini(&parsed);
        return status;
    }
    *recording = parsed;
    return IP_OK;
}

void hx_recording_fini(struct hx_recording *recording) {
    free(recording->jobs);
    free(recording->values);
    memset(recording, 0, sizeof *recording);
}
