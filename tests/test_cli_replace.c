/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cli/replace: what is there, and what stands in its place. */
#include "cli/replace.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char directory[64], file[96], link[96];
};

static int place_open(void **state) {
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->directory, sizeof place->directory, "/tmp/isaprobe-replace-XXXXXX");
    if (mkdtemp(place->directory) == NULL || chmod(place->directory, 0777) != 0) {
        free(place);
        return -1;
    }
    (void)snprintf(place->file, sizeof place->file, "%s/file", place->directory);
    (void)snprintf(place->link, sizeof place->link, "%s/link", place->directory);
    *state = place;
    return 0;
}

static int place_close(void **state) {
    struct place *place = *state;
    (void)chmod(place->directory, 0777);
    (void)unlink(place->file);
    (void)unlink(place->link);
    int left = rmdir(place->directory); /* fails when a file is left that has no business there */
    free(place);
    return left;
}

static void text_put(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void expect_text(const char *path, const char *text) {
    char found[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, text);
}

static enum ip_status replace(const char *path, const char *text, bool good, struct ip_error *err) {
    struct cli_replacement replacement;
    enum ip_status status = cli_replacement_open(&replacement, path, err);
    if (status != IP_OK) {
        return status;
    }
    (void)fputs(text, replacement.stream);
    return cli_replacement_close(&replacement, good, err);
}

/* The same for somebody whom permissions stop, which root is not. */
static enum ip_status replace_unprivileged(const char *path, const char *text) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ip_error err = {0};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(99);
        }
        enum ip_status status = cli_replacement_try(path, &err);
        _exit((int)(status == IP_OK ? replace(path, text, true, &err) : status));
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return (enum ip_status)WEXITSTATUS(ended);
}

static void test_replaced(void **state) {
    const struct place *place = *state;
    struct ip_error err = {0};
    struct stat about;
    assert_int_equal(cli_replacement_try(place->file, &err), IP_OK);
    assert_int_equal(access(place->file, F_OK), -1);
    assert_int_equal(replace(place->file, "nothing", false, &err), IP_OK);
    assert_int_equal(access(place->file, F_OK), -1);
    assert_int_equal(replace(place->file, "first", true, &err), IP_OK);
    expect_text(place->file, "first");
    assert_int_equal(chmod(place->file, 0640), 0);
    assert_int_equal(symlink("file", place->link), 0);
    assert_int_equal(replace(place->link, "bad", false, &err), IP_OK);
    expect_text(place->file, "first");
    assert_int_equal(replace(place->link, "2", true, &err), IP_OK);
    expect_text(place->file, "2");
    assert_int_equal(stat(place->file, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
}

/* A link whose file is still to be made stays a link. */
static void test_dangling_link(void **state) {
    const struct place *place = *state;
    struct ip_error err = {0};
    struct stat about;
    assert_int_equal(symlink("file", place->link), 0);
    assert_int_equal(replace(place->link, "made", true, &err), IP_OK);
    assert_int_equal(lstat(place->link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    expect_text(place->file, "made");
    /* One that leads to itself leads nowhere. */
    assert_int_equal(unlink(place->link), 0);
    assert_int_equal(symlink("link", place->link), 0);
    assert_int_equal(cli_replacement_try(place->link, &err), IP_IO);
    assert_non_null(strstr(err.text, place->link));
}

/* A file that may be written in a directory that may not is written over. */
static void test_unwritable_directory(void **state) {
    const struct place *place = *state;
    text_put(place->file, "what was there", 0666);
    assert_int_equal(chmod(place->directory, 0555), 0);
    assert_int_equal(replace_unprivileged(place->file, "shorter"), IP_OK);
    expect_text(place->file, "shorter");
    assert_int_equal(replace_unprivileged(place->file, "longer than it was"), IP_OK);
    expect_text(place->file, "longer than it was");
    assert_int_equal(replace_unprivileged(place->link, "new"), IP_CAPABILITY);
    /* Nor one that may not be written, where a file beside it may. */
    assert_int_equal(chmod(place->directory, 0777), 0);
    assert_int_equal(chmod(place->file, 0444), 0);
    assert_int_equal(replace_unprivileged(place->file, "new"), IP_CAPABILITY);
    expect_text(place->file, "longer than it was");
}

/* Where a file beside it may be made, and none take its place, too. */
static void test_sticky_directory(void **state) {
    const struct place *place = *state;
    if (geteuid() != 0) {
        print_message("skipped: only root makes a file of another user\n");
        skip();
    }
    text_put(place->file, "what was there", 0666);
    assert_int_equal(chmod(place->directory, 01777), 0);
    assert_int_equal(replace_unprivileged(place->file, "shorter"), IP_OK);
    expect_text(place->file, "shorter");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_replaced), TEST(test_dangling_link),
                                       TEST(test_unwritable_directory), TEST(test_sticky_directory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
