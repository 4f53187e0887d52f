/* SPDX-License-Identifier: Apache-2.0 */
/* cli/validate_mca.c - llvm-mca beside our own prediction: one llvm-mc disassembles all blocks, one llvm-mca
 * predicts them, a region each. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/validate.h"
#include "isa/decode.h"
#include "oncore/loop.h"

extern char **environ;

enum { VERSION_MAX = 40, VERSION_MIN = 11, ITERATIONS = 100, OUTPUT_MAX = 1 << 28 };

/* What no block holds: it tells the blocks apart in llvm-mc's output. */
static const char mark_bytes[] = "0x0f,0x1f,0x80,0x34,0x12,0xfe,0x5a\n";
static const char mark_text[] = "1526600244(%rax)";

static bool on_path(const char *program) {
    const char *search = getenv("PATH");
    char path[PATH_MAX];
    if (strchr(program, '/') != NULL) {
        return access(program, X_OK) == 0;
    }
    while (search != NULL && search[0] != '\0') {
        size_t length = strcspn(search, ":");
        int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, search, program);
        if (written > 0 && (size_t)written < sizeof path && access(path, X_OK) == 0) {
            return true;
        }
        search += length + (search[length] == ':');
    }
    return false;
}

static bool mca_find(const char *given, struct ip_text *program) {
    if (given != NULL) {
        ip_text_append(program, given);
        return on_path(ip_text_string(program));
    }
    for (int version = VERSION_MAX; version >= VERSION_MIN; version--) {
        ip_text_clear(program);
        ip_text_printf(program, "llvm-mca-%d", version);
        if (on_path(ip_text_string(program))) {
            return true;
        }
    }
    ip_text_clear(program);
    ip_text_append(program, "llvm-mca");
    return on_path(ip_text_string(program));
}

/* The disassembler beside it: llvm-mc-19 of llvm-mca-19. NULL: the program is not called so; `name` is what
 * it is called. */
static char *mc_name(const char *mca, struct ip_text *mc, const char **name) {
    const char *slash = strrchr(mca, '/'), *found = NULL;
    *name = slash != NULL ? slash + 1 : mca;
    for (const char *at = strstr(*name, "mca"); at != NULL; at = strstr(at + 1, "mca")) {
        found = at;
    }
    if (found == NULL) {
        return NULL;
    }
    ip_text_append_bytes(mc, mca, (size_t)(found - mca));
    ip_text_append(mc, "mc");
    ip_text_append(mc, found + 3);
    return mc->failed ? NULL : mc->data;
}

/* Runs a program with `input`; its output is collected, its complaints are not. */
static enum ip_status program_run(char *const *arguments, const struct ip_text *input, struct ip_text *output,
                                  int *code, struct ip_error *err) {
    int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
    pid_t child = 0;
    int failed = in < 0 || out < 0 ? errno : 0;
    for (size_t at = 0; failed == 0 && at < input->length;) {
        ssize_t count = write(in, input->data + at, input->length - at);
        failed = count < 0 && errno != EINTR ? errno : 0;
        at += count > 0 ? (size_t)count : 0;
    }
    posix_spawn_file_actions_t actions;
    if (failed == 0 && lseek(in, 0, SEEK_SET) == 0 &&
        (failed = posix_spawn_file_actions_init(&actions)) == 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        failed = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    int ended = 0;
    while (failed == 0 && waitpid(child, &ended, 0) < 0) {
        failed = errno == EINTR ? 0 : errno;
    }
    *code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    char buffer[65536];
    for (off_t at = 0; failed == 0 && at < OUTPUT_MAX;) {
        ssize_t count = pread(out, buffer, sizeof buffer, at);
        if (count <= 0) {
            break;
        }
        ip_text_append_bytes(output, buffer, (size_t)count);
        at += count;
    }
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    if (failed != 0) {
        return ip_fail_errno(err, IP_FAILED, failed, "cannot run '%.60s'", arguments[0]);
    }
    return output->failed
               ? ip_fail(err, IP_NO_MEMORY, "out of memory for the output of '%.60s'", arguments[0])
               : IP_OK;
}

/* All blocks as lines of bytes, an instruction each, with the mark before each block. */
static enum ip_status bytes_write(const struct cli_samples *samples, enum cli_notion notion,
                                  struct ip_text *input, struct ip_error *err) {
    for (size_t i = 0; i < samples->count; i++) {
        struct ip_text code = {0};
        enum ip_status status = IP_OK;
        ip_text_append_bytes(&code, samples->items[i].code.data, samples->items[i].code.length);
        if (notion == CLI_NOTION_LOOP) {
            struct ip_error ignored;
            status = core_loop_close(&code, &ignored); /* what is no code stays as it is */
        }
        (void)status;
        ip_text_append(input, mark_bytes);
        for (size_t at = 0; at < code.length;) {
            char text[160];
            size_t length =
                isa_disassemble_one((const uint8_t *)code.data + at, code.length - at, 0, text, sizeof text);
            if (length == 0) {
                break;
            }
            for (size_t k = 0; k < length; k++) {
                ip_text_printf(input, "0x%02x%c", (unsigned char)code.data[at + k],
                               k + 1 < length ? ',' : '\n');
            }
            at += length;
        }
        ip_text_fini(&code);
    }
    return input->failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for llvm-mca's input") : IP_OK;
}

/* llvm-mc's listing with a region for each block. */
static void regions_write(struct ip_text *listing, struct ip_text *source) {
    char *rest = listing->data;
    long block = -1;
    for (char *line = rest; line != NULL && *line != '\0'; line = rest) {
        rest = strchr(line, '\n');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        if (strstr(line, mark_text) != NULL) {
            if (block >= 0) {
                ip_text_append(source, "# LLVM-MCA-END\n");
            }
            ip_text_printf(source, "# LLVM-MCA-BEGIN %ld\n", ++block);
        } else if (block >= 0) {
            ip_text_printf(source, "%s\n", line);
        }
    }
    if (block >= 0) {
        ip_text_append(source, "# LLVM-MCA-END\n");
    }
}

static void cycles_read(struct cli_samples *samples, enum cli_notion notion, const char *report) {
    size_t block = samples->count;
    for (const char *line = report; line != NULL && *line != '\0';) {
        const char *name = strstr(line, "Code Region - ");
        const char *end = strchr(line, '\n');
        if (name != NULL && (end == NULL || name < end)) {
            block = strtoul(name + strlen("Code Region - "), NULL, 10);
        }
        if (strncmp(line, "Total Cycles:", 13) == 0 && block < samples->count) {
            samples->items[block].cases[notion].mca = strtod(line + 13, NULL) / ITERATIONS;
        }
        line = end != NULL ? end + 1 : NULL;
    }
}

/* Runs both programs, and puts what they say into the samples. *told: anything at all. */
static enum ip_status programs_run(struct cli_samples *samples, enum cli_notion notion, char *mca, char *mc,
                                   const char *cpu, bool *told, struct ip_error *err) {
    char processor[64], iterations[32];
    (void)snprintf(processor, sizeof processor, "-mcpu=%.50s", cpu != NULL ? cpu : "native");
    (void)snprintf(iterations, sizeof iterations, "-iterations=%d", ITERATIONS);
    struct ip_text bytes = {0}, listing = {0}, source = {0}, report = {0};
    char *disassemble[] = {mc, "-disassemble", "-triple=x86_64", NULL};
    char *predict[] = {mca,
                       "-mtriple=x86_64",
                       processor,
                       iterations,
                       "-all-views=false",
                       "-summary-view",
                       "-skip-unsupported-instructions=any",
                       NULL};
    char *plain[] = {mca, "-mtriple=x86_64", processor, iterations, "-all-views=false", "-summary-view",
                     NULL};
    int code = 0;
    enum ip_status status = bytes_write(samples, notion, &bytes, err);
    if (status == IP_OK) {
        status = program_run(disassemble, &bytes, &listing, &code, err);
    }
    if (status == IP_OK && listing.length > 0) {
        regions_write(&listing, &source);
        status = source.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for llvm-mca's input")
                               : program_run(predict, &source, &report, &code, err);
        if (status == IP_OK && report.length == 0) { /* before version 19 it lacks the last option */
            status = program_run(plain, &source, &report, &code, err);
        }
    }
    *told = status == IP_OK && (listing.length == 0 || report.length > 0);
    if (status == IP_OK) {
        cycles_read(samples, notion, ip_text_string(&report));
    }
    ip_text_fini(&bytes);
    ip_text_fini(&listing);
    ip_text_fini(&source);
    ip_text_fini(&report);
    return status;
}

enum ip_status cli_mca_run(struct cli_samples *samples, enum cli_notion notion, const char *program,
                           const char *cpu, bool *found, char version[64], struct ip_error *err) {
    struct ip_text mca = {0}, mc = {0};
    const char *name = NULL;
    enum ip_status status = IP_OK;
    *found = mca_find(program, &mca);
    if (!*found && program != NULL) {
        status = ip_fail(err, IP_CAPABILITY, "there is no program '%.200s': install llvm", program);
    } else if (*found && mc_name(mca.data, &mc, &name) == NULL) {
        status = ip_fail(err, IP_CAPABILITY,
                         "'%.200s' is not called llvm-mca, so that its llvm-mc cannot be found: name it so",
                         mca.data);
    } else if (*found) {
        (void)snprintf(version, 64, "%.63s", name);
        bool told = false;
        status = programs_run(samples, notion, mca.data, mc.data, cpu, &told, err);
        if (status == IP_OK && !told) {
            *found = false;
            status =
                program == NULL && cpu == NULL
                    ? IP_OK
                    : ip_fail(err, IP_CAPABILITY,
                              "'%.200s' tells no cycles of these blocks: does it know '%.50s' (--mca-cpu)?",
                              mca.data, cpu != NULL ? cpu : "native");
        }
    }
    ip_text_fini(&mca);
    ip_text_fini(&mc);
    return status;
}
