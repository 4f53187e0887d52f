/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/block.h"
#include "cli/forms.h"
#include "cli/links.h"
#include "cli/output.h"
#include "generator/shapes.h"

enum cli_shape { SHAPE_LATENCY, SHAPE_THROUGHPUT, SHAPE_PAIR, SHAPE_BRANCH, SHAPE_BLOCK };

enum {
    UNROLL_DEFAULT = 4,
    BLOCK_FILL = 0x12345600, /* as `measure` begins */
};

static enum ip_status form_program(struct gen_program *program, struct cli_forms *forms,
                                   const struct cli_settings *settings, struct ip_error *err) {
    if (settings->argument_count != 1) {
        return ip_fail(err, IP_USAGE, "give one FORM");
    }
    struct isa_form *form = NULL, *with = NULL;
    enum ip_status status = cli_forms_load(forms, settings, err);
    if (status == IP_OK) {
        status = cli_forms_single(forms, settings->arguments[0], &form, err);
    }
    if (status != IP_OK) {
        return status;
    }
    unsigned registers = (unsigned)settings->registers;
    switch ((enum cli_shape)settings->shape) {
    case SHAPE_LATENCY: {
        struct gen_link links[CLI_LINKS_MAX];
        unsigned count = 0;
        status = cli_links_make(forms, form, settings, links, &count, err);
        return status == IP_OK ? gen_latency_program(program, links, count, registers, 0, err) : status;
    }
    case SHAPE_THROUGHPUT: {
        struct gen_independence how = {.registers = registers};
        return gen_throughput_program(program, form, &how, registers != 0 ? registers : 8, err);
    }
    case SHAPE_PAIR:
        if (settings->with == NULL) {
            return ip_fail(err, IP_USAGE, "--shape pair needs --with FORM");
        }
        status = cli_forms_single(forms, settings->with, &with, err);
        return status == IP_OK ? gen_pair_program(program, form, 4, with, 4, err) : status;
    case SHAPE_BRANCH:
        return gen_branch_program(program, form, !settings->not_taken, err);
    case SHAPE_BLOCK:
        break;
    }
    return ip_fail(err, IP_USAGE, "no such shape");
}

/* An option of another shape does nothing, and whoever gave it thinks that it does. */
static enum ip_status options_check(const struct cli_settings *settings, struct ip_error *err) {
    const struct {
        const char *name;
        bool given;
        enum cli_shape shape;
        const char *of;
    } options[] = {{"--src", settings->src != NULL, SHAPE_LATENCY, "latency"},
                   {"--dst", settings->dst != NULL, SHAPE_LATENCY, "latency"},
                   {"--path", settings->path != 0, SHAPE_LATENCY, "latency"},
                   {"--via", settings->via.count > 0, SHAPE_LATENCY, "latency"},
                   {"--with", settings->with != NULL, SHAPE_PAIR, "pair"},
                   {"--not-taken", settings->not_taken, SHAPE_BRANCH, "branch"},
                   {"--hex", settings->hex != NULL, SHAPE_BLOCK, "block"},
                   {"--file", settings->file != NULL, SHAPE_BLOCK, "block"}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given && (enum cli_shape)settings->shape != options[i].shape) {
            return ip_fail(err, IP_USAGE, "%s is of --shape %s", options[i].name, options[i].of);
        }
    }
    if (settings->registers != 0 && settings->shape != SHAPE_LATENCY && settings->shape != SHAPE_THROUGHPUT) {
        return ip_fail(err, IP_USAGE, "--registers is of --shape latency or throughput");
    }
    return IP_OK;
}

static enum ip_status source_make(struct ip_text *source, const struct cli_settings *settings,
                                  struct ip_error *err) {
    struct cli_forms forms = {0};
    struct ip_text code = {0};
    struct gen_program program;
    enum ip_status status = options_check(settings, err);
    if (status != IP_OK) {
        return status;
    }
    if (settings->shape == SHAPE_BLOCK) {
        status = cli_block_read(&code, settings, err);
        if (status == IP_OK) {
            status = gen_block_program(&program, (const uint8_t *)code.data, code.length, BLOCK_FILL, err);
        }
    } else {
        status = form_program(&program, &forms, settings, err);
    }
    if (status == IP_OK) {
        uint32_t copies = settings->unroll != 0 ? (uint32_t)settings->unroll : UNROLL_DEFAULT;
        status = gen_program_print(&program, copies, source, err);
        gen_program_fini(&program);
    }
    ip_text_fini(&code);
    cli_forms_fini(&forms);
    return status;
}

static const struct cli_column columns[] = {{.name = "source"}, {.name = NULL}};

static int emit_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct ip_text source = {0};
    struct ip_error err = {0};
    if (source_make(&source, settings, &err) != IP_OK) {
        code = cli_report(command->name, &err);
    } else if (output.format == CLI_FORMAT_TEXT) {
        cli_output_raw(&output, &source);
    } else {
        const struct cli_value row[] = {cli_text(ip_text_string(&source))};
        cli_output_row(&output, row, NULL);
    }
    ip_text_fini(&source);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"shape", 's', "SHAPE", "latency (the default), throughput, pair, branch or block", CLI_KIND_WORD,
     AT(shape), 0, 0, "latency throughput pair branch block"},
    {"src", 0, "OPERAND", "latency: the chain enters here (op1, op2, flags, rax ...)", CLI_KIND_STRING,
     AT(src), 0, 0, NULL},
    {"dst", 0, "OPERAND", "latency: the chain leaves here", CLI_KIND_STRING, AT(dst), 0, 0, NULL},
    {"path", 0, "PATH", "latency from memory: through its address (the default) or content", CLI_KIND_WORD,
     AT(path), 0, 0, "address content"},
    {"via", 0, "FORM", "latency: this form brings the value back; may be repeated", CLI_KIND_LIST, AT(via), 0,
     0, NULL},
    {"with", 'w', "FORM", "pair: the second form", CLI_KIND_STRING, AT(with), 0, 0, NULL},
    {"not-taken", 0, NULL, "branch: a conditional jump that is never taken", CLI_KIND_FLAG, AT(not_taken), 0,
     0, NULL},
    {"registers", 'r', "N", "latency, throughput: so many registers in turn (1: always the same)",
     CLI_KIND_NUMBER, AT(registers), 1, 32, NULL},
    {"unroll", 'u', "N", "so many copies of the unit in the loop (4)", CLI_KIND_NUMBER, AT(unroll), 1, 4096,
     NULL},
    {"hex", 'x', "HEX", "block: machine code in hex digits", CLI_KIND_STRING, AT(hex), 0, 0, NULL},
    {"file", 'f', "FILE", "block: NASM source; - is standard input", CLI_KIND_FILE, AT(file), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_emit = {
    .name = "emit",
    .summary = "print the NASM source of a benchmark kernel",
    .arguments = "[FORM|BLOCK]",
    .description = "The source assembles ('nasm -f bin') to the bytes that the harness runs. FORM must name "
                   "one form; with\n"
                   "--shape block the argument is a block as in 'isaprobe measure'.\n",
    .options = options,
    .groups = CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = emit_run,
};
