/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of real programs (BHive; Chen et al. 2019), as hex, one in a line, the first column of a CSV file:
 * how many `isaprobe measure` can measure, and why not the others. */
#include <stdbool.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/bench/bench.h"

enum { FILE_BYTES_MAX = 16 << 20 };

/* Writes every `step`-th block to a temporary file; returns how many. `path` is a template of mkstemp. */
static size_t sample_write(const struct ip_text *text, size_t wanted, char *path) {
    size_t rows = 0;
    for (const char *at = ip_text_string(text); (at = strchr(at, '\n')) != NULL; at++) {
        rows++;
    }
    size_t step = wanted > 0 && rows > wanted ? rows / wanted : 1;
    int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL) {
        return 0;
    }
    size_t written = 0;
    size_t row = 0;
    /* The first row is the header. */
    for (const char *line = strchr(ip_text_string(text), '\n');
         line != NULL && line[1] != '\0' && written < wanted; line = strchr(line + 1, '\n')) {
        if (row++ % step == 0) {
            (void)fprintf(file, "%.*s\n", (int)strcspn(line + 1, ",\r\n"), line + 1);
            written++;
        }
    }
    return fclose(file) == 0 ? written : 0;
}

/* The string behind "status" in a line of JSON; "" if there is none. */
static void status_find(const char *line, char status[BENCH_REASON_BYTES]) {
    const char *at = strstr(line, "\"status\"");
    size_t length = 0;
    if (at != NULL) {
        at += strlen("\"status\"");
        at += strspn(at, ": \"");
        while (at[length] != '\0' && at[length] != '"' && length + 1 < BENCH_REASON_BYTES) {
            status[length] = at[length];
            length++;
        }
    }
    status[length] = '\0';
}

static void output_read(FILE *output, size_t blocks, double begin) {
    struct bench_reasons *reasons = calloc(1, sizeof *reasons);
    char *line = NULL;
    size_t capacity = 0;
    size_t answers = 0;
    size_t measured = 0;
    size_t marked = 0;
    while (reasons != NULL && getline(&line, &capacity, output) > 0) {
        char status[BENCH_REASON_BYTES];
        status_find(line, status);
        answers++;
        if (strcmp(status, "ok") == 0) {
            measured++;
            continue;
        }
        marked += strncmp(status, "not ", 4) != 0;
        bench_reason_count(reasons, status);
    }
    free(line);
    (void)printf("%-44s %zu of %zu, %.1f %% (aim: 95 %%), %.2f s\n", "blocks measured", measured, blocks,
                 blocks != 0 ? 100.0 * (double)measured / (double)blocks : 0.0, ip_clock_seconds() - begin);
    (void)printf("%-44s %zu\n", "blocks with a number marked untrustworthy", marked);
    (void)printf("%-44s %zu\n", "blocks without an answer (aim: 0)", blocks - answers);
    if (reasons != NULL) {
        bench_reasons_print(reasons);
    }
    free(reasons);
}

void bench_bhive(const struct tool *tool, const struct bench_options *options) {
    (void)printf("\n## Blocks of real programs\n");
    if (access(options->bhive, R_OK) != 0) {
        (void)printf("skipped: no '%s'\n", options->bhive);
        return;
    }
    struct ip_error err = {0};
    struct ip_text text = {0};
    tool_must(tool, ip_file_read(&text, options->bhive, FILE_BYTES_MAX, &err), &err);
    char path[] = "/tmp/isaprobe-bench-XXXXXX";
    size_t blocks = sample_write(&text, options->blocks, path);
    ip_text_fini(&text);
    struct ip_text command = {0};
    ip_text_printf(&command, "'%s' measure --quiet --format json --hex-list '%s'", options->isaprobe, path);
    (void)fflush(stdout);
    double begin = ip_clock_seconds();
    FILE *output = command.failed ? NULL : popen(ip_text_string(&command), "r"); /* NOLINT(cert-env33-c) */
    if (output == NULL) {
        (void)printf("skipped: cannot run '%s'\n", options->isaprobe);
    } else {
        output_read(output, blocks, begin);
        (void)pclose(output);
    }
    ip_text_fini(&command);
    (void)unlink(path);
}
