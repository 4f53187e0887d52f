/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/tool.h - what the measuring programs (thesis, bench) share: an open table and meter, and a way
 * out. They are programs for people: they print, and end on the first error. */
#ifndef ISAPROBE_TESTS_BENCH_TOOL_H
#define ISAPROBE_TESTS_BENCH_TOOL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/text.h"
#include "harness/host.h"
#include "harness/meter.h"
#include "harness/stats.h"
#include "isa/decode.h"
#include "isa/table.h"

struct tool {
    const char *name; /* of the program, for messages */
    struct isa_table table;
    struct hx_host host;
    struct hx_bench bench;
    struct hx_meter meter;
};

_Noreturn static inline void tool_die(const struct tool *tool, const struct ip_error *err) {
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: %s%s%s\n", tool->name, err->place, err->place[0] != '\0' ? ": " : "",
                  err->text);
    exit(err->status == IP_CAPABILITY ? 3 : 1);
}

/* Ends the program unless `status` is IP_OK. */
static inline void tool_must(const struct tool *tool, enum ip_status status, const struct ip_error *err) {
    if (status != IP_OK) {
        tool_die(tool, err);
    }
}

static inline void *tool_alloc(const struct tool *tool, size_t count, size_t size) {
    void *memory = calloc(count != 0 ? count : 1, size);
    if (memory == NULL) {
        struct ip_error err = {0};
        (void)ip_fail(&err, IP_NO_MEMORY, "out of memory");
        tool_die(tool, &err);
    }
    return memory;
}

/* Opens everything; `timer` NULL: tsc. */
static inline void tool_open(struct tool *tool, const char *name, const char *timer) {
    struct ip_error err = {0};
    memset(tool, 0, sizeof *tool);
    tool->name = name;
    tool_must(tool, isa_table_builtin_add(&tool->table, &err), &err);
    tool_must(tool, hx_host_read(&tool->host, "", -1, &err), &err);
    const struct hx_bench_options options = {.timer = timer, .cpu = -1};
    tool_must(tool, hx_bench_open(&tool->bench, &options, &err), &err);
    tool->meter = hx_bench_meter(&tool->bench);
}

static inline void tool_close(struct tool *tool) {
    hx_bench_close(&tool->bench);
    hx_host_fini(&tool->host);
    isa_table_fini(&tool->table);
}

/* Writes the text to a new file, and its name to `written` (64 bytes). */
static inline void tool_file_write(const struct tool *tool, const struct ip_text *text, char *written) {
    struct ip_error err = {0};
    (void)strcpy(written, "/tmp/isaprobe-bench-XXXXXX");
    int fd = mkstemp(written);
    if (fd < 0 || text->failed || write(fd, text->data, text->length) != (ssize_t)text->length ||
        close(fd) != 0) {
        tool_must(tool, ip_fail(&err, IP_IO, "%s: %s", written, strerror(errno)), &err);
    }
}

/* The form with this syntax, derived; NULL when the built-in tables lack it. */
static inline struct isa_form *tool_form(struct tool *tool, const char *syntax) {
    struct isa_form *form = isa_table_find(&tool->table, syntax);
    if (form != NULL) {
        struct ip_error err = {0};
        tool_must(tool, isa_forms_derive(&form, 1, &err), &err);
    }
    return form;
}

#endif
