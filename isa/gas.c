/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/gas.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/bounds.h"
#include "isa/child.h"
#include "isa/memory_file.h"
#include "isa/object.h"

extern char **environ;

enum { FD_OBJECT = 3, OBJECT_MAX = 64 << 20 };

/* The environment with messages in English, which are read here; owned by the caller, the strings are not.
 * NULL: no memory. */
static char **english_environment(void) {
    size_t count = 0, kept = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **made = calloc(count + 2, sizeof *made);
    for (size_t i = 0; made != NULL && i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", strlen("LC_ALL=")) != 0) {
            made[kept++] = environ[i];
        }
    }
    if (made != NULL) {
        made[kept] = "LC_ALL=C";
    }
    return made;
}

/* How a run of as ended. */
struct ending {
    int state; /* waitpid's */
    struct isa_bounds bounds;
};

static enum ip_status as_run(int source, size_t source_bytes, int object, int words, struct ending *ending,
                             struct ip_error *err) {
    const char *given = getenv("ISAPROBE_AS");
    const char *program = given != NULL && given[0] != '\0' ? given : "as";
    char *arguments[] = {"as", "--64", "-o", "/proc/self/fd/3", "--", "-", NULL};
    char **environment = english_environment();
    if (environment == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory to start the GNU assembler");
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = 0;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed == 0 && (failed = isa_bounds_attributes_init(&attributes)) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    if (failed == 0) {
        failed = posix_spawn_file_actions_adddup2(&actions, source, STDIN_FILENO);
        failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, words, STDOUT_FILENO);
        failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
        failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, object, FD_OBJECT);
        failed = failed != 0 ? failed
                             : posix_spawnp(&child, program, &actions, &attributes, arguments, environment);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    if (failed == 0) {
        ending->bounds = isa_bounds_set(child, source_bytes);
    }
    int ended = 0;
    enum ip_status status = failed == 0 ? isa_child_wait(child, "the GNU assembler", &ended, err) : IP_OK;
    if (status != IP_OK) {
        return status;
    }
    if (failed != 0 || (WIFEXITED(ended) && WEXITSTATUS(ended) == 127)) {
        return given != NULL && given[0] != '\0'
                   ? ip_fail(err, IP_CAPABILITY,
                             "no GNU as at '%.200s' (ISAPROBE_AS); correct or unset that variable", given)
                   : ip_fail(
                         err, IP_CAPABILITY,
                         "AT&T source needs the GNU assembler: install binutils, or name it in ISAPROBE_AS");
    }
    ending->state = ended;
    return IP_OK;
}

/* "{standard input}:2: Error: no such instruction: `foo'" */
static enum ip_status complaint(const char *name, const struct ip_text *words, struct ip_error *err) {
    const char *line = strstr(ip_text_string(words), ": Error: ");
    const char *text = line;
    unsigned number = 0;
    if (words->length == 0) {
        return ip_fail(
            err, IP_CAPABILITY,
            "the GNU assembler failed, and said nothing: is ISAPROBE_AS, or 'as' on PATH, another program?");
    }
    if (line != NULL) {
        text += strlen(": Error: ");
        while (line > ip_text_string(words) && line[-1] >= '0' && line[-1] <= '9') {
            line--;
        }
        number = (unsigned)strtoul(line, NULL, 10);
    } else {
        text = ip_text_string(words);
    }
    return ip_fail_at(err, IP_SYNTAX, name, number, 0, "as: %.*s", (int)strcspn(text, "\n"), text);
}

enum ip_status isa_assemble_att(const char *name, const char *source, struct ip_text *code,
                                struct ip_error *err) {
    struct ip_text object = {0}, words = {0}, made = {0};
    int files[3] = {isa_memory_file("source"), isa_memory_file("object"), isa_memory_file("words")};
    struct ending ending = {0};
    enum ip_status status = IP_OK;
    if (files[0] < 0 || files[1] < 0 || files[2] < 0) {
        status = ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot make files for as");
    }
    if (status == IP_OK) {
        status = isa_memory_file_write(files[0], source, strlen(source), "as", err);
    }
    if (status == IP_OK) {
        status = as_run(files[0], strlen(source), files[1], files[2], &ending, err);
    }
    if (status == IP_OK) {
        status = isa_memory_file_read(files[2], OBJECT_MAX, "as", &words, err);
    }
    if (status == IP_OK) {
        struct isa_bound_met met = isa_bounds_met(&ending.bounds, ending.state, ip_text_string(&words));
        bool success = WIFEXITED(ending.state) && WEXITSTATUS(ending.state) == 0;
        if (met.text[0] != '\0') {
            status = ip_fail_at(err, IP_SYNTAX, name, 0, 0,
                                "as would take more than %s: give a block whose .rept and .fill repeat less",
                                met.text);
        } else if (!success) {
            status = isa_memory_file_reachable("the GNU assembler", err);
            status = status == IP_OK ? complaint(name, &words, err) : status;
        }
    }
    if (status == IP_OK) {
        status = isa_memory_file_read(files[1], OBJECT_MAX, "as", &object, err);
    }
    if (status == IP_OK && object.length == 0) {
        status =
            ip_fail(err, IP_CAPABILITY,
                    "the GNU assembler wrote no object: is ISAPROBE_AS, or 'as' on PATH, another program?");
    }
    struct isa_region region = {0};
    if (status == IP_OK) {
        struct ip_error reason;
        if (isa_object_text((const uint8_t *)ip_text_string(&object), object.length, &region, &reason) ==
            IP_OK) {
            ip_text_append_bytes(&made, region.code, region.length);
        } /* else: no code */
        status = made.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the code of '%s'", name) : IP_OK;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (files[i] >= 0) {
            (void)close(files[i]);
        }
    }
    ip_text_fini(&object);
    ip_text_fini(&words);
    if (status != IP_OK) {
        ip_text_fini(&made);
        return status;
    }
    ip_text_fini(code);
    *code = made;
    return IP_OK;
}
