/* SPDX-License-Identifier: Apache-2.0 */
/* Recording and replaying samples: the round trip, and every way in which a recording can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "harness/record.h"
#include "harness/replay.h"
#include "harness/samples_text.h"

enum { ROUNDS = 3 };

static uint8_t code_a[] = {0x90, 0xc3}, code_b[] = {0x90, 0x90, 0xc3}, code_c[] = {0x0f, 0x0b, 0xc3};

#define CODE(array)                                                                                          \
    { .bytes = (array), .length = sizeof(array), .copies = 1 }
static const struct gen_kernel kernel_ab = {.shorter = CODE(code_a), .longer = CODE(code_b)};
static const struct gen_kernel kernel_cb = {.shorter = CODE(code_c), .longer = CODE(code_b)};
static const struct gen_kernel kernel_aa = {.shorter = CODE(code_a), .longer = CODE(code_a)};

struct take {
    struct hx_samples samples;
    double values[HX_SAMPLE_ROWS * 8];
};

static void take_init(struct take *take, double first) {
    memset(take, 0, sizeof *take);
    hx_samples_place(&take->samples, take->values, ROUNDS);
    for (int i = 0; i < HX_SAMPLE_ROWS * ROUNDS; i++) {
        take->values[i] = first + i;
    }
    take->samples.iterations = 96;
    take->samples.reference_iterations = 100;
    take->samples.sentinel_iterations = 200;
}

/* Three jobs: kernel_ab, a fault of kernel_cb, kernel_ab again with other samples. */
static void record(const char *path) {
    struct hx_recorder *recorder = NULL;
    struct ip_error err;
    static struct take first, fault, second;
    take_init(&first, 0.1); /* not representable in few digits */
    take_init(&fault, 0);
    take_init(&second, 1e15);
    fault.samples.outcome = HX_OUTCOME_SEGFAULT;
    fault.samples.fault_address = UINT64_C(0xdeadbeef12345678);
    snprintf(fault.samples.why, sizeof fault.samples.why, "two\nlines");
    struct hx_job jobs[2] = {{.kernel = &kernel_ab, .rounds = ROUNDS},
                             {.kernel = &kernel_cb, .rounds = ROUNDS}};
    struct hx_samples samples[2] = {first.samples, fault.samples};
    assert_int_equal(hx_recorder_open(&recorder, path, true, "AuthenticAMD", "one, AVX", &err), IP_OK);
    assert_int_equal(hx_recorder_add(recorder, jobs, samples, 2, &err), IP_OK);
    assert_int_equal(hx_recorder_add(recorder, jobs, &second.samples, 1, &err), IP_OK);
    assert_int_equal(hx_recorder_close(recorder, &err), IP_OK);
}

static void recording_read(struct ip_text *text) {
    char path[] = "/tmp/isaprobe-replay-XXXXXX";
    int fd = mkstemp(path);
    struct ip_error err;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    record(path);
    assert_int_equal(ip_file_read(text, path, 1 << 20, &err), IP_OK);
    assert_int_equal(unlink(path), 0);
}

static void samples_come_back(void **state) {
    (void)state;
    char path[] = "/tmp/isaprobe-replay-XXXXXX";
    int fd = mkstemp(path);
    struct ip_error err;
    static struct take expected, take;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    record(path);
    struct hx_timer timer = {.ops = &hx_timer_replay};
    if (hx_timer_replay.open(&timer, path, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_int_equal(unlink(path), 0);
    assert_true(timer.replays_silicon);
    assert_string_equal(timer.vendor, "AuthenticAMD");
    struct hx_job job = {.kernel = &kernel_ab, .rounds = ROUNDS};
    take_init(&expected, 0.1);
    take_init(&take, -1);
    assert_int_equal(hx_timer_replay.run(&timer, &job, 1, &take.samples, &err), IP_OK);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_OK);
    assert_memory_equal(take.values, expected.values, sizeof expected.values);
    assert_int_equal(take.samples.iterations, 96);
    assert_int_equal(take.samples.reference_iterations, 100);
    assert_int_equal(take.samples.sentinel_iterations, 200);
    /* the second request gets the second recording */
    take_init(&expected, 1e15);
    assert_int_equal(hx_timer_replay.run(&timer, &job, 1, &take.samples, &err), IP_OK);
    assert_memory_equal(take.values, expected.values, sizeof expected.values);
    /* and there is no third */
    assert_int_equal(hx_timer_replay.run(&timer, &job, 1, &take.samples, &err), IP_OK);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_MISSING);
    assert_non_null(strstr(take.samples.why, "fewer runs"));
    /* a fault is replayed as well */
    job.kernel = &kernel_cb;
    assert_int_equal(hx_timer_replay.run(&timer, &job, 1, &take.samples, &err), IP_OK);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_SEGFAULT);
    assert_true(take.samples.fault_address == UINT64_C(0xdeadbeef12345678));
    assert_string_equal(take.samples.why, "two lines");
    hx_timer_replay.close(&timer);
    assert_null(timer.state);
}

/* The samples of a simulated CPU: who replays them has no patience, as it had none. */
static void what_ran_on_no_silicon_says_so(void **state) {
    (void)state;
    static const char text[] = "isaprobe-samples 1\n";
    struct hx_replay *replay = NULL;
    struct ip_error err;
    assert_int_equal(hx_replay_parse(&replay, "r", text, sizeof text - 1, &err), IP_OK);
    assert_false(hx_replay_is_of_silicon(replay));
    hx_replay_free(replay);
}

static void what_is_not_there_is_missing(void **state) {
    (void)state;
    struct ip_text text = {0};
    struct hx_replay *replay = NULL;
    struct ip_error err;
    static struct take take;
    recording_read(&text);
    assert_int_equal(hx_replay_parse(&replay, "r", text.data, text.length, &err), IP_OK);
    assert_int_equal(hx_replay_jobs(replay), 3);
    assert_true(hx_replay_is_of_silicon(replay));
    take_init(&take, 0);
    struct hx_job job = {.kernel = &kernel_aa, .rounds = ROUNDS};
    hx_replay_take(replay, &job, &take.samples);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_MISSING);
    assert_non_null(strstr(take.samples.why, "does not hold"));
    /* the same code with other contents of its registers is another kernel */
    struct gen_kernel filled = kernel_ab;
    filled.vector_fill[5] = 1;
    job.kernel = &filled;
    hx_replay_take(replay, &job, &take.samples);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_MISSING);
    job = (struct hx_job){.kernel = &kernel_ab, .rounds = ROUNDS + 1};
    hx_replay_take(replay, &job, &take.samples);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_MISSING);
    assert_non_null(strstr(take.samples.why, "3 rounds, 4"));
    job = (struct hx_job){.kernel = &kernel_ab, .rounds = ROUNDS, .iterations = 7};
    hx_replay_take(replay, &job, &take.samples);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_MISSING);
    assert_non_null(strstr(take.samples.why, "96 iterations, 7"));
    /* fewer rounds than recorded: the first ones; the right iterations: found */
    job = (struct hx_job){.kernel = &kernel_ab, .rounds = 2, .iterations = 96};
    hx_samples_place(&take.samples, take.values, 2);
    hx_replay_take(replay, &job, &take.samples);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_OK);
    assert_true(take.samples.longer[0] == 3.1 && take.samples.longer[1] == 4.1);
    hx_replay_free(replay);
    ip_text_fini(&text);
}

/* Whose CPU it was: those with names for their ports, or nobody's. */
static void the_machine_is_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *machine, *message;
    } cases[] = {
        {HX_SAMPLES_HEADER "\n", "", ""},
        {HX_SAMPLES_HEADER "\nmachine e2251e7b61c197f7 a b, c\n", "a b, c", ""},
        {HX_SAMPLES_HEADER "\non-silicon\nmachine af63d94c8601e773 d\njob 1", "d", ""}, /* no more is read */
        {HX_SAMPLES_HEADER "\nmachine af63dc4c8601ec8c a", "",
         "the recording is cut short here; record again"},
        {HX_SAMPLES_HEADER "\nmachine af63dc4c8601ec8c b\n", "",
         "the checksum does not fit: the line above is damaged; record again"},
        {HX_SAMPLES_HEADER "\nmachine x b\n", "", "the checksum of the machine's name is expected"},
        {"isaprobe-sim 1\n", "", "a recording begins with the line `" HX_SAMPLES_HEADER "`"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_text machine = {0};
        struct ip_error err = {0};
        enum ip_status status = hx_replay_machine(&machine, "r", cases[i].text, strlen(cases[i].text), &err);
        assert_string_equal(ip_text_string(&machine), cases[i].machine);
        assert_int_equal(status, cases[i].message[0] == '\0' ? IP_OK : IP_SYNTAX);
        assert_string_equal(err.text, cases[i].message);
        ip_text_fini(&machine);
    }
    struct ip_text text = {0}, machine = {0};
    struct ip_error err;
    recording_read(&text);
    assert_int_equal(hx_replay_machine(&machine, "r", text.data, text.length, &err), IP_OK);
    assert_string_equal(ip_text_string(&machine), "one, AVX");
    ip_text_fini(&machine);
    ip_text_fini(&text);
}

static void the_vendor_is_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *vendor, *message;
    } cases[] = {{HX_SAMPLES_HEADER "\n", "", ""},
                 {HX_SAMPLES_HEADER "\non-silicon\n", "", ""},
                 {HX_SAMPLES_HEADER "\non-silicon GenuineIntel\n", "GenuineIntel", ""},
                 {HX_SAMPLES_HEADER "\non-silicon CentaurHauls\n", "",
                  "the vendor of a CPU is expected: AuthenticAMD or GenuineIntel"},
                 {HX_SAMPLES_HEADER "\non-silicon AuthenticAMD x\n", "", "the end of the line is expected"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hx_replay *replay = NULL;
        struct ip_error err;
        enum ip_status status = hx_replay_parse(&replay, "r", cases[i].text, strlen(cases[i].text), &err);
        if (cases[i].message[0] == '\0') {
            assert_int_equal(status, IP_OK);
            assert_string_equal(hx_replay_vendor(replay), cases[i].vendor);
            hx_replay_free(replay);
        } else {
            assert_int_equal(status, IP_SYNTAX);
            assert_string_equal(err.text, cases[i].message);
            assert_memory_equal(err.place, "r:2:", 4);
        }
    }
}

/* Wherever a recording is cut, it is either complete up to a job or an error with a place. */
static void cut_recordings_are_errors(void **state) {
    (void)state;
    struct ip_text text = {0};
    struct ip_error err;
    unsigned good = 0;
    recording_read(&text);
    for (size_t length = 0; length <= text.length; length++) {
        struct hx_replay *replay = NULL;
        char *cut = malloc(length + 1); /* of exactly this size: reading on would be seen */
        assert_non_null(cut);
        memcpy(cut, text.data, length);
        enum ip_status status = hx_replay_parse(&replay, "cut", cut, length, &err);
        free(cut);
        if (status == IP_OK) {
            good++;
            hx_replay_free(replay);
        } else {
            assert_int_equal(status, IP_SYNTAX);
            assert_memory_equal(err.place, "cut:", 4);
            assert_null(replay);
        }
    }
    assert_int_equal(good, 6); /* each of three lines of the header, and behind each of three jobs */
    ip_text_fini(&text);
}

/* Any changed byte is noticed. */
static void damaged_recordings_are_errors(void **state) {
    (void)state;
    struct ip_text text = {0};
    struct ip_error err;
    recording_read(&text);
    for (size_t at = 0; at < text.length; at++) {
        struct hx_replay *replay = NULL;
        char kept = text.data[at];
        text.data[at] = kept == '7' ? '8' : '7';
        if (hx_replay_parse(&replay, "damaged", text.data, text.length, &err) != IP_SYNTAX) {
            fail_msg("byte %zu ('%c') was changed unnoticed", at, kept);
        }
        text.data[at] = kept;
    }
    ip_text_fini(&text);
}

static void errors_have_a_place(void **state) {
    (void)state;
#define HEAD "isaprobe-samples 1\n"
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"", "r:1:1", "begins with"},
        {"isaprobe-samples 2\n", "r:1:1", "begins with"},
        {HEAD "jab\n", "r:2:1", "`job`"},
        {HEAD "job 12 sad rounds 1\n", "r:2:8", "outcome"},
        {HEAD "job 12 ok rounds x\n", "r:2:18", "number of rounds"},
        {HEAD "job 12 ok rounds 99999999\n", "r:2:24", "number of rounds"},
        {HEAD "job 12 ok rounds 1 iterations 1 2\n", "r:2:34", "number of iterations"},
        {HEAD "job 12 ok rounds 1 iterations 1 2 3 address 0\nshorter x\n", "r:3:9", "one for each round"},
        {HEAD "job 12 ok rounds 1 iterations 1 2 3 address 0\nshorter 1 2\n", "r:3:10", "end of the line"},
        {HEAD "job 12 ok rounds 1 iterations 1 2 3 address 0\nlonger 1\n", "r:3:1", "row of samples"},
        {HEAD "job 12 ok rounds 1 iterations 1 2 3 address 0\nshorter 1e999\n", "r:3:9", "number"},
        {HEAD "job 12 trap rounds 0 iterations 1 2 3 address 0\nwhy x\nend 5\n", "r:4:6", "checksum"},
        {HEAD "job 12 trap rounds 0 iterations 1 2 3 address 0\nwhy x", "r:3:6", "cut short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_replay *replay = NULL;
        struct ip_error err;
        enum ip_status status = hx_replay_parse(&replay, "r", cases[i].text, strlen(cases[i].text), &err);
        if (status != IP_SYNTAX || strcmp(err.place, cases[i].place) != 0 ||
            strstr(err.text, cases[i].words) == NULL) {
            fail_msg("case %zu: status %d, %s: %s; expected %s: ... %s ...", i, (int)status, err.place,
                     err.text, cases[i].place, cases[i].words);
        }
    }
}

static void files_that_fail_are_io_errors(void **state) {
    (void)state;
    struct hx_recorder *recorder = NULL;
    struct hx_timer timer = {.ops = &hx_timer_replay};
    struct ip_error err;
    assert_int_equal(hx_recorder_open(&recorder, "/nonexistent/r.samples", false, "", NULL, &err), IP_IO);
    assert_non_null(strstr(err.text, "/nonexistent/r.samples"));
    assert_null(recorder);
    assert_int_equal(hx_timer_replay.open(&timer, "/nonexistent/r.samples", &err), IP_IO);
    assert_int_equal(hx_timer_replay.open(&timer, "", &err), IP_USAGE);
    if (access("/dev/full", W_OK) != 0) {
        print_message("the full disk is not tested: there is no /dev/full\n");
        return;
    }
    static struct take take;
    take_init(&take, 0.1);
    struct hx_job job = {.kernel = &kernel_ab, .rounds = ROUNDS};
    assert_int_equal(hx_recorder_open(&recorder, "/dev/full", false, "", NULL, &err), IP_OK);
    enum ip_status status = IP_OK;
    for (int i = 0; i < 100 && status == IP_OK; i++) { /* more than any buffer */
        status = hx_recorder_add(recorder, &job, &take.samples, 1, &err);
    }
    assert_int_equal(status, IP_IO);
    assert_non_null(strstr(err.text, "/dev/full"));
    assert_int_equal(hx_recorder_close(recorder, &err), IP_IO); /* said again at the end */
    /* little data, which fails only when the file is closed */
    assert_int_equal(hx_recorder_open(&recorder, "/dev/full", false, "", NULL, &err), IP_OK);
    assert_int_equal(hx_recorder_add(recorder, &job, &take.samples, 1, &err), IP_OK);
    assert_int_equal(hx_recorder_close(recorder, &err), IP_IO);
    assert_non_null(strstr(err.text, "/dev/full"));
}

/* A recording that was made by an earlier version stays readable: the file is part of the tests. */
static void kept_recording_is_read(void **state) {
    (void)state;
    struct hx_timer timer = {.ops = &hx_timer_replay};
    struct ip_error err;
    static struct take take;
    if (hx_timer_replay.open(&timer, "tests/data/three_jobs.samples", &err) != IP_OK) {
        fail_msg("%s: %s (run from the root of the repository)", err.place, err.text);
    }
    take_init(&take, 0);
    struct hx_job job = {.kernel = &kernel_ab, .rounds = ROUNDS};
    assert_int_equal(hx_timer_replay.run(&timer, &job, 1, &take.samples, &err), IP_OK);
    assert_int_equal(take.samples.outcome, HX_OUTCOME_OK);
    assert_true(take.samples.shorter[0] == 0.1);
    hx_timer_replay.close(&timer);
}

/* By its size alone: the files have no blocks. */
static void what_is_too_large_is_told_before(void **state) {
    (void)state;
    char path[] = "/tmp/isaprobe-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)HX_REPLAY_LIMIT_BYTES), 0);
    assert_false(hx_replay_is_too_large(path));
    assert_int_equal(ftruncate(fd, (off_t)HX_REPLAY_LIMIT_BYTES + 1), 0);
    assert_true(hx_replay_is_too_large(path));
    close(fd);
    unlink(path);
    assert_false(hx_replay_is_too_large(path));
    assert_false(hx_replay_is_too_large("/dev/null"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_back),
        cmocka_unit_test(what_is_not_there_is_missing),
        cmocka_unit_test(what_ran_on_no_silicon_says_so),
        cmocka_unit_test(the_vendor_is_read),
        cmocka_unit_test(the_machine_is_read),
        cmocka_unit_test(cut_recordings_are_errors),
        cmocka_unit_test(damaged_recordings_are_errors),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(files_that_fail_are_io_errors),
        cmocka_unit_test(what_is_too_large_is_told_before),
        cmocka_unit_test(kept_recording_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
