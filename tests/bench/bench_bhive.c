/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of real programs (BHive; Chen et al. 2019), as hex, one in a line, the first column of a CSV file:
 * how many can be measured, and why not the others. */
#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>

#include "generator/shapes.h"
#include "tests/bench/bench.h"

enum { BLOCK_BYTES_MAX = 4096, BATCH = 50, REASONS_MAX = 64, FILE_BYTES_MAX = 16 << 20 };
static const uint64_t gpr_fill = 0x12345600; /* as in the BHive protocol */

struct reasons {
    struct {
        char text[96];
        size_t count;
    } items[REASONS_MAX];
    size_t count;
};

/* Counts `text` with its numbers left out, so that one reason is one line. */
static void reason_count(struct reasons *reasons, const char *text) {
    char general[sizeof reasons->items[0].text];
    size_t length = 0;
    bool number = false;
    for (const char *at = text; *at != '\0' && length + 2 < sizeof general; at++) {
        bool digit = isdigit((unsigned char)*at) || (number && (isxdigit((unsigned char)*at) || *at == 'x'));
        if (!digit) {
            general[length++] = *at;
        } else if (!number) {
            general[length++] = '#';
        }
        number = digit;
    }
    general[length] = '\0';
    for (size_t i = 0; i < reasons->count; i++) {
        if (strcmp(reasons->items[i].text, general) == 0) {
            reasons->items[i].count++;
            return;
        }
    }
    if (reasons->count < REASONS_MAX) {
        (void)snprintf(reasons->items[reasons->count].text, sizeof general, "%s", general);
        reasons->items[reasons->count++].count = 1;
    }
}

static int hex_value(char c) {
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                        : -1;
}

/* Bytes of the hex digits at the start of `line`; 0: none, or not hex. */
static size_t hex_decode(const char *line, uint8_t *code) {
    size_t bytes = 0;
    for (; bytes < BLOCK_BYTES_MAX; line += 2) {
        int high = hex_value(line[0]);
        int low = high >= 0 ? hex_value(line[1]) : -1;
        if (low < 0) {
            break;
        }
        code[bytes++] = (uint8_t)(16 * high + low);
    }
    return *line == ',' || *line == '\n' || *line == '\0' ? bytes : 0;
}

struct tally {
    size_t blocks, measured, marked, refused;
    struct reasons reasons;
};

static void batch_measure(struct tool *tool, struct gen_kernel *kernels, size_t count, struct tally *tally) {
    struct ip_error err = {0};
    const struct gen_kernel *pointers[BATCH];
    struct hx_stat stats[BATCH];
    for (size_t i = 0; i < count; i++) {
        pointers[i] = &kernels[i];
    }
    tool_must(tool, hx_measure(&tool->meter, pointers, count, stats, &err), &err);
    for (size_t i = 0; i < count; i++) {
        if (stats[i].verdict == HX_VERDICT_OK) {
            tally->measured++;
        } else if (stats[i].verdict == HX_VERDICT_FAULT) {
            reason_count(&tally->reasons, stats[i].why);
        } else {
            tally->marked++;
            reason_count(&tally->reasons, stats[i].why);
        }
        gen_kernel_fini(&kernels[i]);
        kernels[i] = (struct gen_kernel){0};
    }
}

/* False: the block was refused and the reason counted. */
static bool block_prepare(struct tool *tool, const char *line, struct gen_kernel *kernel,
                          struct tally *tally) {
    struct ip_error err = {0};
    uint8_t code[BLOCK_BYTES_MAX];
    struct gen_program program;
    size_t bytes = hex_decode(line, code);
    if (bytes == 0) {
        reason_count(&tally->reasons, "not hexadecimal");
        return false;
    }
    if (gen_block_program(&program, code, bytes, gpr_fill, &err) != IP_OK) {
        reason_count(&tally->reasons, err.text);
        return false;
    }
    enum ip_status status = gen_kernel_make(kernel, &program, &tool->bench.encoder, 0, &err);
    gen_program_fini(&program);
    if (status != IP_OK) {
        reason_count(&tally->reasons, err.text);
    }
    return status == IP_OK;
}

void bench_bhive(struct tool *tool, const struct bench_options *options) {
    (void)printf("\n## Blocks of real programs\n");
    if (access(options->bhive, R_OK) != 0) {
        (void)printf("skipped: no '%s'\n", options->bhive);
        return;
    }
    struct ip_error err = {0};
    struct ip_text text = {0};
    tool_must(tool, ip_file_read(&text, options->bhive, FILE_BYTES_MAX, &err), &err);
    size_t rows = 0;
    for (const char *at = text.data; (at = strchr(at, '\n')) != NULL; at++) {
        rows++;
    }
    size_t step = rows > options->blocks && options->blocks > 0 ? rows / options->blocks : 1;
    struct tally *tally = tool_alloc(tool, 1, sizeof *tally);
    struct gen_kernel kernels[BATCH] = {0};
    size_t waiting = 0;
    size_t row = 0;
    double begin = tool_seconds();
    /* The first row is the header. */
    for (const char *line = strchr(text.data, '\n');
         line != NULL && line[1] != '\0' && tally->blocks < options->blocks; line = strchr(line + 1, '\n')) {
        if (row++ % step != 0) {
            continue;
        }
        tally->blocks++;
        waiting += block_prepare(tool, line + 1, &kernels[waiting], tally);
        if (waiting == BATCH) {
            batch_measure(tool, kernels, waiting, tally);
            waiting = 0;
        }
    }
    if (waiting > 0) {
        batch_measure(tool, kernels, waiting, tally);
    }
    (void)printf("%-44s %zu of %zu, %.1f %% (aim: 95 %%), %.2f s\n", "blocks measured", tally->measured,
                 tally->blocks,
                 tally->blocks != 0 ? 100.0 * (double)tally->measured / (double)tally->blocks : 0.0,
                 tool_seconds() - begin);
    (void)printf("%-44s %zu\n", "blocks with a number marked untrustworthy", tally->marked);
    for (size_t i = 0; i < tally->reasons.count; i++) {
        (void)printf("  %4zu  %s\n", tally->reasons.items[i].count, tally->reasons.items[i].text);
    }
    free(tally);
    ip_text_fini(&text);
}
