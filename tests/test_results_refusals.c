/* SPDX-License-Identifier: Apache-2.0 */
/* What a store refuses, with one line that names it, and leaves as it is. */
#include "tests/results_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/random.h"
#include "results/hash.h"

static uint64_t file_hash(const char *path) {
    struct ip_text content = {0};
    struct ip_error err = {0};
    must(ip_file_read(&content, path, 1u << 30, &err), &err);
    uint64_t hash = res_hash(0, ip_text_string(&content), content.length);
    ip_text_fini(&content);
    return hash;
}

/* Opening for writing fails with this status and these words; the file stays as it is. */
static void expect_refusal(const char *path, const char *cpu, enum ip_status status, const char *words) {
    struct res_machine machine = sample_machine(cpu);
    struct res_store *store = NULL;
    struct ip_error err = {0};
    uint64_t before = file_hash(path);
    assert_int_equal(res_store_open(&store, path, &machine, &err), status);
    assert_null(store);
    if (strstr(err.text, words) == NULL || strstr(err.text, path) == NULL || strchr(err.text, '\n') != NULL) {
        fail_msg("'%s' does not say '%s' of '%s' in one line", err.text, words, path);
    }
    assert_true(file_hash(path) == before);
    char lock[128];
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(access(lock, F_OK), -1);
}

static void test_other_cpu(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 2);
    expect_refusal(place->path, "two", IP_FAILED, "another CPU (Imaginary one; this is Imaginary two)");
}

static void test_newer_schema(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 2);
    sql(place->path, "PRAGMA user_version = 99");
    expect_refusal(place->path, "one", IP_FAILED, "schema 99");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "schema 99"));
    sql(place->path, "PRAGMA user_version = 0");
    expect_refusal(place->path, "one", IP_FAILED, "schema 0");
}

static void test_other_program(void **state) {
    struct place *place = *state;
    sql(place->path, "CREATE TABLE addresses(name TEXT)");
    expect_refusal(place->path, "one", IP_FAILED, "another program");
}

static void file_write(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void test_no_database(void **state) {
    struct place *place = *state;
    char noise[4096];
    memset(noise, 'x', sizeof noise);
    file_write(place->path, noise, sizeof noise);
    expect_refusal(place->path, "one", IP_IO, "not an SQLite file");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_IO);
}

/* A scan that was killed before its first write leaves an empty file: that is no damage. */
static void test_empty_file(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    file_write(place->path, "", 0);
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "is empty"));
    sample_store_make(place->path, &machine, 1);
}

static void test_absent(void **state) {
    struct place *place = *state;
    struct res_store *store = NULL;
    struct ip_error err = {0};
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "there is no store"));
    assert_int_equal(access(place->path, F_OK), -1);
}

static void test_truncated(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 200);
    struct stat about;
    assert_int_equal(stat(place->path, &about), 0);
    assert_int_equal(truncate(place->path, about.st_size / 2), 0);
    expect_refusal(place->path, "one", IP_IO, "is damaged");
}

/* Pages overwritten with noise: refused, or, where the page was free or its damage does not show, whole.
 * Never a crash, and never a change. */
static void test_damaged_pages(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 200);
    struct ip_text content = {0};
    struct ip_error err = {0};
    must(ip_file_read(&content, place->path, 1u << 30, &err), &err);
    const uint64_t seed = 20140;
    struct ip_random random = {.state = seed};
    print_message("seed %llu\n", (unsigned long long)seed);
    const size_t page = 4096;
    size_t pages = content.length / page, refused = 0;
    for (size_t at = 1; at < pages; at++) {
        FILE *file = fopen(place->path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(content.data, 1, content.length, file), content.length);
        assert_int_equal(fseek(file, (long)(at * page), SEEK_SET), 0);
        for (size_t i = 0; i < page / 8; i++) {
            uint64_t noise = ip_random_next(&random);
            assert_int_equal(fwrite(&noise, 1, sizeof noise, file), sizeof noise);
        }
        assert_int_equal(fclose(file), 0);
        uint64_t before = file_hash(place->path);
        struct res_store *store = NULL;
        enum ip_status status = res_store_open(&store, place->path, &machine, &err);
        if (status == IP_OK) {
            res_store_close(store);
        } else {
            refused++;
            assert_int_equal(status, IP_IO);
            assert_non_null(strstr(err.text, "damaged"));
            assert_null(strstr(err.text, "***")); /* what is wrong, not SQLite's heading */
            assert_true(file_hash(place->path) == before);
        }
    }
    ip_text_fini(&content);
    print_message("%zu of %zu damaged pages refused\n", refused, pages - 1);
    assert_true(refused == pages - 1);
}

/* --- in a process of its own ------------------------------------------------------------------------------
 */

/* What a child has to say; its exit status would not hold it. */
struct verdict {
    enum ip_status status;
    char text[480];
    unsigned stored;
};

/* Runs `body` in a child process and returns what it filled in. */
static struct verdict in_child(void (*body)(const struct place *, struct verdict *),
                               const struct place *place) {
    int ends[2];
    struct verdict verdict = {.status = IP_USAGE};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body(place, &verdict);
        _exit(write(ends[1], &verdict, sizeof verdict) == (ssize_t)sizeof verdict ? 0 : 1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &verdict, sizeof verdict), (ssize_t)sizeof verdict);
    (void)close(ends[0]);
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    return verdict;
}

static void take(struct verdict *verdict, enum ip_status status, const struct ip_error *err) {
    verdict->status = status;
    (void)snprintf(verdict->text, sizeof verdict->text, "%s", status == IP_OK ? "" : err->text);
}

/* Root is not stopped by permissions. */
static void privileges_drop(void) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        _exit(3);
    }
}

static void open_unprivileged(const struct place *place, struct verdict *verdict) {
    privileges_drop();
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    take(verdict, res_store_open(&store, place->path, &machine, &err), &err);
    res_store_close(store);
}

static void read_one(const struct place *place, struct verdict *verdict) {
    struct res_store *store = NULL;
    struct res_form form = {0};
    struct ip_error err = {0};
    enum ip_status status = res_store_open_readonly(&store, place->path, &err);
    if (status == IP_OK) {
        status = res_form_get(store, "frob1 r64, m64", &form, &err);
    }
    take(verdict, status, &err);
    verdict->stored = (unsigned)form.pair_count;
    res_form_fini(&form);
    res_store_close(store);
}

static void read_unprivileged(const struct place *place, struct verdict *verdict) {
    privileges_drop();
    read_one(place, verdict);
}

static void test_readonly_directory(void **state) {
    struct place *place = *state;
    /* A new one. */
    assert_int_equal(chmod(place->directory, 0555), 0);
    struct verdict verdict = in_child(open_unprivileged, place);
    assert_int_equal(verdict.status, IP_CAPABILITY);
    assert_non_null(strstr(verdict.text, "ermission denied"));
    assert_int_equal(access(place->path, F_OK), -1);
    /* One that is there can be read, but not written. */
    assert_int_equal(chmod(place->directory, 0777), 0);
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 3);
    assert_int_equal(chmod(place->path, 0444), 0);
    assert_int_equal(chmod(place->directory, 0555), 0);
    uint64_t before = file_hash(place->path);
    verdict = in_child(open_unprivileged, place);
    assert_int_equal(verdict.status, IP_CAPABILITY);
    verdict = in_child(read_unprivileged, place);
    assert_string_equal(verdict.text, "");
    assert_int_equal(verdict.stored, SAMPLE_PAIRS);
    /* The directory may be written, the file not. */
    assert_int_equal(chmod(place->directory, 0777), 0);
    verdict = in_child(open_unprivileged, place);
    assert_int_equal(verdict.status, IP_CAPABILITY);
    assert_non_null(strstr(verdict.text, "no permission"));
    /* Nor read. */
    assert_int_equal(chmod(place->path, 0), 0);
    verdict = in_child(read_unprivileged, place);
    if (geteuid() == 0) {
        assert_int_equal(chmod(place->path, 0600), 0);
    }
    assert_int_equal(verdict.status, IP_CAPABILITY);
    assert_int_equal(chmod(place->path, 0600), 0);
    assert_true(file_hash(place->path) == before);
}

/* Users share a store: the lock that one's killed scan has left is no obstacle to another. */
static void test_lock_of_another(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct stat about;
    char lock[128], kept[136], words[200];
    (void)snprintf(lock, sizeof lock, "%s.lock", place->path);
    (void)snprintf(kept, sizeof kept, "%s.kept", lock);
    mode_t before = umask(022);
    sample_store_make(place->path, &machine, 1);
    assert_int_equal(chmod(place->path, 0666), 0);
    struct res_store *store = NULL;
    struct ip_error err = {0};
    must(res_store_open(&store, place->path, &machine, &err), &err);
    assert_int_equal(link(lock, kept), 0);
    res_store_close(store);
    assert_int_equal(rename(kept, lock), 0); /* as if the scan had been killed */
    (void)umask(before);
    assert_int_equal(stat(lock, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0666);
    struct verdict verdict = in_child(open_unprivileged, place);
    assert_string_equal(verdict.text, "");
    /* One that may not be opened is named, and whose it is. */
    int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    verdict = in_child(open_unprivileged, place);
    assert_int_equal(verdict.status, IP_CAPABILITY);
    (void)snprintf(words, sizeof words, "the lock '%s' of user %ld", lock, (long)geteuid());
    assert_non_null(strstr(verdict.text, words));
}

/* Stores forms until that fails. */
static void fill(const struct place *place, struct verdict *verdict) {
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct res_run run = sample_run();
    struct ip_error err = {0};
    enum ip_status status = res_store_open(&store, place->path, &machine, &err);
    if (status == IP_OK) {
        status = res_run_begin(store, &run, &err);
    }
    while (status == IP_OK && verdict->stored < 100000) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, verdict->stored);
        enum res_status found = RES_STATUS_OK;
        status = res_form_put(store, &facts, NULL, &found, &err);
        verdict->stored += status == IP_OK;
    }
    take(verdict, status, &err);
    res_store_close(store);
}

/* Reading writes nothing. */
static void read_limited(const struct place *place, struct verdict *verdict) {
    struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 1024};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(3);
    }
    read_one(place, verdict);
}

/* Takes all room that is left beside the store. */
static void room_take(const struct place *place) {
    char path[128], block[4096] = {0};
    (void)snprintf(path, sizeof path, "%s/ballast", place->directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    while (fd >= 0 && write(fd, block, sizeof block) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(close(fd), 0);
}

static void fill_limited(const struct place *place, struct verdict *verdict) {
    struct rlimit limit = {.rlim_cur = 2u << 20, .rlim_max = 2u << 20};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(3);
    }
    fill(place, verdict);
}

/* All forms that were reported as stored are there, whole; and the store takes more. */
static void expect_intact(const struct place *place, unsigned stored) {
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    struct res_run run = sample_run();
    must(res_store_open(&store, place->path, &machine, &err), &err); /* checks for damage */
    for (unsigned i = 0; i <= stored; i++) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, i);
        struct res_form form = {0};
        enum ip_status status = res_form_get(store, sample.form.syntax, &form, &err);
        if (i == stored) {
            assert_int_equal(status, IP_FAILED); /* the form in hand is not there at all */
            must(res_run_begin(store, &run, &err), &err);
            enum res_status found = RES_STATUS_FAULT;
            must(res_form_put(store, &facts, NULL, &found, &err), &err);
            break;
        }
        must(status, &err);
        assert_int_equal(form.pair_count, SAMPLE_PAIRS);
        assert_true(form.throughput.cycles == sample.throughput.cycles);
        assert_string_equal(form.status, "ok");
        res_form_fini(&form);
    }
    res_store_close(store);
}

static void test_file_may_not_grow(void **state) {
    struct place *place = *state;
    struct verdict verdict = in_child(fill_limited, place);
    assert_int_equal(verdict.status, IP_IO);
    if (strstr(verdict.text, "may not grow so large (ulimit -f)") == NULL) {
        fail_msg("after %u forms: %s", verdict.stored, verdict.text);
    }
    assert_true(verdict.stored > 10);
    expect_intact(place, verdict.stored);
    verdict = in_child(read_limited, place);
    assert_string_equal(verdict.text, "");
    assert_int_equal(verdict.stored, SAMPLE_PAIRS);
}

static void test_disk_full(void **state) {
    struct place *place = *state;
    struct place small = {0};
    (void)snprintf(small.directory, sizeof small.directory, "%.50s/small", place->directory);
    (void)snprintf(small.path, sizeof small.path, "%s/cpu.db", small.directory);
    assert_int_equal(mkdir(small.directory, 0777), 0);
    if (mount("isaprobe-test", small.directory, "tmpfs", 0, "size=4m") != 0) {
        print_message("skip: cannot mount a small tmpfs here (%m): RLIMIT_FSIZE has to do\n");
        assert_int_equal(rmdir(small.directory), 0);
        skip();
    }
    struct verdict verdict = in_child(fill, &small), read = {.text = "not read"};
    /* Room again, as the message asks for. */
    bool grown = mount("isaprobe-test", small.directory, "tmpfs", MS_REMOUNT, "size=32m") == 0;
    if (grown && verdict.status == IP_IO) {
        expect_intact(&small, verdict.stored);
        room_take(&small);
        read = in_child(read_one, &small);
    }
    assert_int_equal(umount2(small.directory, MNT_DETACH), 0);
    assert_int_equal(rmdir(small.directory), 0);
    assert_true(grown);
    assert_int_equal(verdict.status, IP_IO);
    if (strstr(verdict.text, "no room left") == NULL) {
        fail_msg("after %u forms: %s", verdict.stored, verdict.text);
    }
    assert_true(verdict.stored > 10);
    assert_string_equal(read.text, "");
    assert_int_equal(read.stored, SAMPLE_PAIRS);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_other_cpu),       TEST(test_newer_schema),      TEST(test_other_program),
        TEST(test_no_database),     TEST(test_empty_file),        TEST(test_absent),
        TEST(test_truncated),       TEST(test_damaged_pages),     TEST(test_readonly_directory),
        TEST(test_lock_of_another), TEST(test_file_may_not_grow), TEST(test_disk_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
