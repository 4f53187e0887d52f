/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/block.h"
#include "cli/code_input.h"
#include "cli/kernels.h"
#include "cli/output.h"
#include "generator/shapes.h"
#include "isa/decode.h"
#include "oncore/loop.h"

enum { GROUP = 64 }; /* blocks that are assembled and measured together */

struct block {
    struct ip_text code;
    unsigned line; /* of the list; 0: the only one */
    char why[160]; /* the input itself is at fault; "": it is not */
    bool bad_hex;
    struct hx_stat stat;
    uint64_t fill;
    bool done;
};

struct blocks {
    struct block *items;
    size_t count, capacity;
};

static void blocks_fini(struct blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++) {
        ip_text_fini(&blocks->items[i].code);
    }
    free(blocks->items);
    memset(blocks, 0, sizeof *blocks);
}

static struct block *block_add(struct blocks *blocks, struct ip_error *err) {
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity != 0 ? 2 * blocks->capacity : 64;
        struct block *items = realloc(blocks->items, capacity * sizeof *items);
        if (items == NULL) {
            (void)ip_fail(err, IP_NO_MEMORY, "out of memory for %zu blocks", capacity);
            return NULL;
        }
        blocks->items = items;
        blocks->capacity = capacity;
    }
    struct block *block = &blocks->items[blocks->count++];
    memset(block, 0, sizeof *block);
    return block;
}

/* One hex block per line, or in the first column of CSV; a first line "hex,..." is a header; '#' begins a
 * comment line. A bad line becomes a row with its reason. */
static enum ip_status list_read(struct blocks *blocks, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status =
        ip_text_file_read(&text, path, 1u << 26, "one block of hex digits a line is expected", err);
    unsigned line = 0;
    char *rest = status == IP_OK && text.length > 0 ? text.data : NULL;
    while (rest != NULL && status == IP_OK) {
        char *start = rest;
        rest = strchr(start, '\n');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        line++;
        start += strspn(start, " \t\"");
        start[strcspn(start, ",;\"")] = '\0';
        if (start[0] == '\0' || start[0] == '#' || (line == 1 && strcmp(start, "hex") == 0)) {
            continue;
        }
        struct block *block = block_add(blocks, err);
        if (block == NULL) {
            status = IP_NO_MEMORY;
            break;
        }
        block->line = line;
        struct ip_error reason = {0};
        if (cli_hex_parse(&block->code, start, &reason) != IP_OK) {
            (void)snprintf(block->why, sizeof block->why, "bad hex: %.140s", reason.text);
            block->done = block->bad_hex = true;
        }
    }
    ip_text_fini(&text);
    if (status == IP_OK && blocks->count == 0) {
        status = ip_fail(err, IP_SYNTAX, "'%s' holds no block: one per line, in hex digits", path);
    }
    return status;
}

/* How the blocks are to be run. */
struct how {
    unsigned copies; /* as in gen_kernel_build */
    bool loop;
};

/* Measures those of blocks[0..count) that are not done with one fill. */
static enum ip_status fill_run(struct cli_bench *bench, struct block *blocks, size_t count, uint64_t fill,
                               struct how how, struct ip_error *err) {
    struct cli_kernels kernels;
    size_t todo[GROUP], todo_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!blocks[i].done) {
            todo[todo_count++] = i;
        }
    }
    if (todo_count == 0) {
        return IP_OK;
    }
    enum ip_status status = cli_kernels_init(&kernels, todo_count, err);
    for (size_t i = 0; status == IP_OK && i < todo_count; i++) {
        const struct ip_text *code = &blocks[todo[i]].code;
        status = cli_block_program(&kernels.programs[i], code, how.loop, fill, err);
        status = cli_kernels_note(&kernels, i, status, err);
    }
    if (status == IP_OK) {
        status = cli_kernels_measure(&kernels, bench, how.copies, err);
    }
    for (size_t i = 0; status == IP_OK && i < todo_count; i++) {
        struct block *block = &blocks[todo[i]];
        const struct hx_stat *stat = &kernels.stats[i];
        bool better = stat->verdict != HX_VERDICT_FAULT;
        if (better || block->fill == 0) { /* the first reason is kept */
            block->stat = *stat;
            block->fill = fill;
        }
        block->done = !cli_fill_failed(stat);
    }
    cli_kernels_fini(&kernels);
    return status;
}

static enum ip_status group_run(struct cli_bench *bench, struct block *blocks, size_t count, struct how how,
                                struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < CLI_FILLS; i++) {
        status = fill_run(bench, blocks, count, cli_fills[i], how, err);
    }
    return status;
}

static const struct cli_column columns[] = {
    {.name = "line"},
    {.name = "block"},
    {.name = "instructions"},
    {.name = "cycles"},
    {.name = "spread", .text_hidden = true},
    {.name = "fill", .text_hidden = true},
    {.name = "status"},
    {.name = NULL},
};

/* 0 when the bytes do not decode to the end. */
static int64_t instructions_count(const struct ip_text *code) {
    char buffer[128];
    int64_t count = 0;
    for (size_t at = 0; at < code->length; count++) {
        size_t length = isa_disassemble_one((const uint8_t *)code->data + at, code->length - at, 0, buffer,
                                            sizeof buffer);
        if (length == 0) {
            return 0;
        }
        at += length;
    }
    return count;
}

/* A spread that makes the second decimal doubtful. */
static const double WORTH_SAYING = 0.02;

static void block_row(struct cli_output *output, const struct block *block, struct cli_tally *tally) {
    struct ip_text hex = {0};
    char fill[32], buffer[160];
    for (size_t i = 0; i < block->code.length; i++) {
        ip_text_printf(&hex, "%02x", (unsigned char)block->code.data[i]);
    }
    bool readable = block->why[0] == '\0', measured = readable && block->stat.verdict != HX_VERDICT_FAULT;
    cli_tally_add(tally, measured, block->stat.verdict);
    const char *status =
        cli_status_text(measured, block->stat.verdict, readable ? block->stat.why : block->why, buffer);
    if (output->format == CLI_FORMAT_TEXT && measured && block->stat.verdict == HX_VERDICT_OK &&
        block->stat.spread > WORTH_SAYING) {
        (void)snprintf(buffer, sizeof buffer, "ok, spread %.0f %%", 100.0 * block->stat.spread);
        status = buffer;
    }
    (void)snprintf(fill, sizeof fill, "0x%" PRIx64, block->fill);
    if (output->format == CLI_FORMAT_TEXT && hex.length > 40) {
        hex.length = 37; /* the start is enough for people */
        hex.data[37] = '\0';
        ip_text_append(&hex, "...");
    }
    const struct cli_value row[] = {
        cli_integer(block->line),
        cli_text(ip_text_string(&hex)),
        cli_integer(instructions_count(&block->code)),
        cli_number(measured ? block->stat.cycles : NAN),
        cli_number(measured ? block->stat.spread : NAN),
        cli_text(measured ? fill : NULL),
        cli_text(status),
    };
    output->failed = output->failed || hex.failed;
    cli_output_row(output, row, NULL);
    ip_text_fini(&hex);
}

static enum ip_status blocks_read(struct blocks *blocks, const struct cli_settings *settings,
                                  struct ip_error *err) {
    if (settings->hex_list != NULL) {
        if (settings->argument_count > 0 || settings->hex != NULL || settings->file != NULL ||
            settings->predict.object != NULL) {
            return ip_fail(err, IP_USAGE, "--hex-list goes with no other block");
        }
        if (settings->predict.syntax != CLI_SYNTAX_NASM || settings->predict.symbol != NULL ||
            settings->predict.address != NULL) {
            return ip_fail(err, IP_USAGE,
                           "--syntax, --symbol and --address say nothing of --hex-list: it has hex digits");
        }
        return list_read(blocks, settings->hex_list, err);
    }
    struct block *block = block_add(blocks, err);
    if (block == NULL) {
        return IP_NO_MEMORY;
    }
    block->line = 1;
    return cli_code_read(&block->code, settings, err);
}

/* The bodies of loops, which the harness closes. */
static enum ip_status loops_open(struct blocks *blocks, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < blocks->count && status == IP_OK; i++) {
        struct block *block = &blocks->items[i];
        struct ip_error reason = {0};
        if (!block->done && core_loop_open(&block->code, &reason) != IP_OK) {
            (void)snprintf(block->why, sizeof block->why, "%.150s", reason.text);
            block->done = true;
            status = blocks->count == 1 ? ip_fail(err, reason.status, "%s", reason.text) : IP_OK;
        }
    }
    return status;
}

/* The other lines are measured all the same: whoever measures a hundred thousand wants those. */
static int bad_hex_tell(const struct cli_command *command, const struct cli_settings *settings,
                        const struct blocks *blocks, int code) {
    const struct block *first = NULL;
    size_t bad = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        first = first == NULL && blocks->items[i].bad_hex ? &blocks->items[i] : first;
        bad += blocks->items[i].bad_hex;
    }
    if (first == NULL) {
        return code;
    }
    char more[40] = "";
    if (bad > 1) {
        (void)snprintf(more, sizeof more, " (and %zu more)", bad - 1);
    }
    const char *list = settings->hex_list;
    cli_message(command->name, "%s:%u: %s%s", strcmp(list, "-") == 0 ? "standard input" : list, first->line,
                first->why, more);
    return CLI_EXIT_USAGE;
}

static int measure_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct blocks blocks = {0};
    struct cli_bench bench;
    struct cli_tally tally = {0};
    struct ip_error err = {0};
    const struct how how = {.copies = (unsigned)settings->unroll, .loop = settings->predict.loop};
    enum ip_status status =
        how.loop && how.copies != 0
            ? ip_fail(&err, IP_USAGE, "--loop and --unroll do not go together: the loop has the block once")
            : blocks_read(&blocks, settings, &err);
    if (status == IP_OK && how.loop) {
        status = loops_open(&blocks, &err);
    }
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, &err);
        for (size_t at = 0; status == IP_OK && at < blocks.count; at += GROUP) {
            size_t count = blocks.count - at < GROUP ? blocks.count - at : GROUP;
            cli_bench_progress(&bench, "blocks", at, blocks.count);
            status = group_run(&bench, blocks.items + at, count, how, &err);
            for (size_t i = 0; status == IP_OK && i < count; i++) {
                block_row(&output, &blocks.items[at + i], &tally);
            }
        }
        status = cli_bench_close(&bench, status, &err);
    }
    if (blocks.count > 1) {
        cli_interrupted(command->name, settings, tally.measured + tally.missing, blocks.count, "blocks");
    }
    code = status == IP_OK ? cli_tally_exit(&tally, settings, command->name, "blocks")
                           : cli_report(command->name, &err);
    code = status == IP_OK ? bad_hex_tell(command, settings, &blocks, code) : code;
    blocks_fini(&blocks);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"hex-list", 'l', "FILE", "many blocks: hex digits, one block per line or first CSV column",
     CLI_KIND_FILE, AT(hex_list), 0, 0, NULL},
    {"unroll", 'u', "N", "so many copies of the block in the loop (and twice as many, for the difference)",
     CLI_KIND_NUMBER, AT(unroll), 1, 4096, NULL},
    {0},
};

const struct cli_command cli_cmd_measure = {
    .name = "measure",
    .summary = "measure a block of instructions: cycles per iteration",
    .arguments = "[BLOCK]",
    .description =
        "BLOCK is NASM text with ';' between instructions ('imul rax, rbx; add rax, rcx'), or - for source "
        "from\n"
        "standard input. It is repeated in a loop; pages that it touches are mapped for it. Registers and\n"
        "memory begin with a mappable address, or with small values where the block faults with it.\n",
    .options = options,
    .groups = CLI_GROUP_CODE | CLI_GROUP_METER | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = measure_run,
};
