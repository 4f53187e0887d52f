/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/nasm.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/child.h"
#include "isa/memory_file.h"

extern char **environ;

/* The child's descriptors. Files in memory leave nothing behind, however this process ends. */
enum { FD_SOURCE = 3, FD_CODE, FD_LIST, FD_WORDS };
enum { OUTPUT_MAX = 64 << 20 };

void isa_nasm_result_fini(struct isa_nasm_result *result) {
    ip_text_fini(&result->code);
    ip_text_fini(&result->list);
    ip_text_fini(&result->words);
}

static bool is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Looks for NASM as a shell would. */
static bool nasm_find(char *path, size_t size) {
    const char *given = getenv("ISAPROBE_NASM");
    if (given != NULL && given[0] != '\0') {
        if (strlen(given) >= size || !is_program(given))
            return false;
        strcpy(path, given);
        return true;
    }
    const char *search = getenv("PATH");
    while (search != NULL && search[0] != '\0') {
        size_t length = strcspn(search, ":");
        const char *folder = length == 0 ? "." : search;
        size_t folder_length = length == 0 ? 1 : length;
        if (folder_length + sizeof "/nasm" <= size) {
            memcpy(path, folder, folder_length);
            strcpy(path + folder_length, "/nasm");
            if (is_program(path))
                return true;
        }
        search += length;
        search += search[0] == ':';
    }
    return false;
}

/* Starts NASM on the files. */
static enum ip_status child_start(const char *path, const struct isa_nasm *nasm, bool preprocess,
                                  pid_t *child, struct ip_error *err) {
    char *arguments[16];
    unsigned count = 0;
    arguments[count++] = "nasm";
    if (!preprocess)
        arguments[count++] = "-a";
    arguments[count++] = "-w+error";
    arguments[count++] = "-w-obsolete"; /* NASM 3 warns of what newer CPUs lack (XOP, FMA4) */
    arguments[count++] = "-f";
    arguments[count++] =
        nasm->listing ? "elf64" : "bin"; /* a listing is the same in both; bin takes a fifth more */
    if (nasm->listing) {
        arguments[count++] = "-l";
        arguments[count++] = "/proc/self/fd/5";
    }
    arguments[count++] = "-o";
    arguments[count++] = "/proc/self/fd/4";
    arguments[count++] = ISA_NASM_SOURCE;
    arguments[count] = NULL;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ip_fail(err, IP_NO_MEMORY, "no memory to start NASM");
    if (isa_bounds_attributes_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ip_fail(err, IP_NO_MEMORY, "no memory to start NASM");
    }
    int failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < ISA_NASM_FILES && failure == 0; i++)
        failure = posix_spawn_file_actions_adddup2(&actions, nasm->fds[i], FD_SOURCE + i);
    for (int fd = 1; fd <= 2 && failure == 0; fd++)
        failure = posix_spawn_file_actions_adddup2(&actions, nasm->fds[FD_WORDS - FD_SOURCE], fd);
    if (failure == 0)
        failure = posix_spawn(child, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    enum ip_status status = failure != 0 ? isa_memory_file_reachable("NASM", err) : IP_OK;
    if (failure != 0 && status == IP_OK)
        status = ip_fail_errno(err, failure == ENOMEM ? IP_NO_MEMORY : IP_CAPABILITY, failure,
                               "cannot start %.200s", path);
    return status;
}

static void files_close(struct isa_nasm *nasm) {
    for (int i = 0; i < ISA_NASM_FILES; i++) {
        if (nasm->fds[i] >= 0)
            close(nasm->fds[i]);
        nasm->fds[i] = -1;
    }
}

enum ip_status isa_nasm_start(const struct ip_text *source, bool preprocess, bool listing,
                              struct isa_nasm *nasm, struct ip_error *err) {
    static const char *const names[ISA_NASM_FILES] = {"source", "code", "list", "words"};
    char path[4096];
    if (!nasm_find(path, sizeof path)) {
        const char *given = getenv("ISAPROBE_NASM");
        if (given != NULL && given[0] != '\0')
            return ip_fail(err, IP_CAPABILITY,
                           "no NASM at '%.200s' (ISAPROBE_NASM); correct or unset that variable", given);
        return ip_fail(err, IP_CAPABILITY,
                       "no nasm on PATH; install NASM 2.16 or set ISAPROBE_NASM to the program");
    }
    struct isa_nasm started = {.fds = {-1, -1, -1, -1}, .listing = listing};
    pid_t child = -1;
    enum ip_status status =
        source->failed ? ip_fail(err, IP_NO_MEMORY, "no memory for NASM's source") : IP_OK;
    for (int i = 0; i < ISA_NASM_FILES && status == IP_OK; i++) {
        started.fds[i] = isa_memory_file(names[i]);
        if (started.fds[i] < 0)
            status = ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno,
                                   "cannot make a file in memory for NASM");
    }
    if (status == IP_OK)
        status = isa_memory_file_write(started.fds[0], ip_text_string(source), source->length, "NASM", err);
    if (status == IP_OK)
        status = child_start(path, &started, preprocess, &child, err);
    if (status != IP_OK) {
        files_close(&started);
        return status;
    }
    started.child = child;
    started.bounds = isa_bounds_set(child, source->length);
    *nasm = started;
    return IP_OK;
}

enum ip_status isa_nasm_finish(struct isa_nasm *nasm, struct isa_nasm_result *result, struct ip_error *err) {
    int state = 0;
    enum ip_status status = isa_child_wait(nasm->child, "NASM", &state, err);
    const int *fds = nasm->fds;
    if (status == IP_OK)
        status = isa_memory_file_read(fds[FD_WORDS - FD_SOURCE], OUTPUT_MAX, "NASM", &result->words, err);
    if (status == IP_OK) {
        result->success = WIFEXITED(state) && WEXITSTATUS(state) == 0;
        result->stopped = isa_bounds_met(&nasm->bounds, state, ip_text_string(&result->words));
        if (WIFSIGNALED(state) && result->stopped.text[0] == '\0')
            status = ip_fail(err, IP_FAILED, "NASM was killed by signal %d", WTERMSIG(state));
    }
    if (status == IP_OK && !result->success)
        status = isa_memory_file_reachable("NASM", err);
    if (status == IP_OK && result->success && !nasm->listing)
        status = isa_memory_file_read(fds[FD_CODE - FD_SOURCE], OUTPUT_MAX, "NASM", &result->code, err);
    if (status == IP_OK && result->success && nasm->listing)
        status = isa_memory_file_read(fds[FD_LIST - FD_SOURCE], OUTPUT_MAX, "NASM", &result->list, err);
    files_close(nasm);
    nasm->child = 0;
    return status;
}
