/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/code_input.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/block.h"
#include "isa/gas.h"
#include "isa/object.h"

enum { SOURCE_MAX = 1 << 20 };
static const size_t OBJECT_MAX = (size_t)1 << 30;

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static const char *listing_bytes(const char *line) {
    line += strspn(line, " ");
    size_t digits = strspn(line, "0123456789abcdef");
    return digits > 0 && line[digits] == ':' && line[digits + 1] == '\t' ? line + digits + 2 : NULL;
}

enum ip_status cli_objdump_parse(struct ip_text *code, const char *name, const char *listing,
                                 struct ip_error *err) {
    struct ip_text bytes = {0};
    for (const char *line = listing; line != NULL && *line != '\0';) {
        const char *at = listing_bytes(line);
        while (at != NULL && hex_digit(at[0]) >= 0 && hex_digit(at[1]) >= 0 &&
               (at[2] == ' ' || at[2] == '\t' || at[2] == '\n' || at[2] == '\0' || at[2] == '\r')) {
            uint8_t byte = (uint8_t)(16 * hex_digit(at[0]) + hex_digit(at[1]));
            ip_text_append_bytes(&bytes, &byte, 1);
            at += at[2] == ' ' ? 3 : 2;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    enum ip_status status = IP_OK;
    if (bytes.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the code of '%s'", name);
    } else if (bytes.length == 0) {
        status =
            ip_fail(err, IP_SYNTAX,
                    "'%s' is no listing of 'objdump -d': lines of address, tab and bytes are expected", name);
    }
    if (status != IP_OK) {
        ip_text_fini(&bytes);
        return status;
    }
    ip_text_fini(code);
    *code = bytes;
    return IP_OK;
}

/* "0x401000-0x401020" */
static enum ip_status range_parse(const char *text, uint64_t *first, uint64_t *end, struct ip_error *err) {
    char *rest;
    errno = 0;
    *first = strtoull(text, &rest, 16);
    if (errno != 0 || rest == text || *rest != '-') {
        return ip_fail(err, IP_USAGE,
                       "--address '%.60s': give the first address and that behind the last, in hex: "
                       "401000-401020",
                       text);
    }
    const char *second = rest + 1;
    *end = strtoull(second, &rest, 16);
    if (errno != 0 || rest == second || *rest != '\0' || *end <= *first) {
        return ip_fail(err, IP_USAGE,
                       "--address '%.60s': give the first address and that behind the last, in hex: "
                       "401000-401020",
                       text);
    }
    return IP_OK;
}

static enum ip_status object_read(struct ip_text *code, const struct cli_settings *settings,
                                  struct ip_error *err) {
    const struct cli_predict *predict = &settings->predict;
    struct ip_text file = {0};
    struct isa_region region = {0};
    if (predict->symbol != NULL && predict->address != NULL) {
        return ip_fail(err, IP_USAGE, "--symbol and --address do not go together");
    }
    enum ip_status status = ip_file_read(&file, predict->object, OBJECT_MAX, err);
    const uint8_t *bytes = (const uint8_t *)ip_text_string(&file);
    if (status == IP_OK && predict->symbol != NULL) {
        status = isa_object_symbol(bytes, file.length, predict->symbol, &region, err);
    } else if (status == IP_OK && predict->address != NULL) {
        uint64_t first = 0, end = 0;
        status = range_parse(predict->address, &first, &end, err);
        if (status == IP_OK) {
            status = isa_object_range(bytes, file.length, first, end, &region, err);
        }
    } else if (status == IP_OK) {
        status = isa_object_marks(bytes, file.length, &region, err);
    }
    if (status != IP_OK && err->place[0] == '\0' && status != IP_IO) {
        struct ip_error reason = *err;
        status = ip_fail_at(err, status, predict->object, 0, 0, "%s", reason.text);
    }
    struct ip_text made = {0};
    if (status == IP_OK) {
        ip_text_append_bytes(&made, region.code, region.length);
        status = made.failed
                     ? ip_fail(err, IP_NO_MEMORY, "out of memory for the code of '%s'", predict->object)
                     : IP_OK;
    }
    ip_text_fini(&file);
    if (status != IP_OK) {
        ip_text_fini(&made);
        return status;
    }
    ip_text_fini(code);
    *code = made;
    return IP_OK;
}

/* Keeps what stands between the comments LLVM-MCA-BEGIN and LLVM-MCA-END, if they are there: of one region,
 * so that nobody takes its cycles for those of another. */
static enum ip_status mca_region_cut(struct ip_text *source, const char *name, struct ip_error *err) {
    static const char mark[] = "LLVM-MCA-BEGIN";
    char *begin = strstr(source->data, mark);
    if (begin == NULL) {
        return IP_OK;
    }
    begin += strcspn(begin, "\n");
    const char *another = strstr(begin, mark);
    if (another != NULL) {
        return ip_fail_at(err, IP_SYNTAX, name, ip_line_of(source->data, another), 0,
                          "another region begins here: mark the one block that is to be predicted");
    }
    char *end = strstr(begin, "LLVM-MCA-END");
    if (end != NULL) { /* the comment's own line goes, too */
        while (end > begin && *end != '\n') {
            end--;
        }
        *end = '\0';
    }
    /* Lines before it stay as empty ones: messages name the right line. */
    for (char *at = source->data; at < begin; at++) {
        *at = *at == '\n' ? '\n' : ' ';
    }
    source->length = strlen(source->data);
    return IP_OK;
}

/* AT&T source or a listing. */
static enum ip_status text_read(struct ip_text *code, const struct cli_settings *settings,
                                struct ip_error *err) {
    const char *argument = settings->argument_count > 0 ? settings->arguments[0] : NULL;
    const char *file = settings->file;
    if (argument != NULL && strcmp(argument, "-") == 0) {
        file = "-";
        argument = NULL;
    }
    if ((argument != NULL) + (file != NULL) != 1) {
        return ip_fail(err, IP_USAGE, "give one block: as an argument or with --file");
    }
    const char *name = file == NULL ? "block" : strcmp(file, "-") == 0 ? "standard input" : file;
    struct ip_text source = {0};
    enum ip_status status = IP_OK;
    if (file != NULL) {
        status =
            ip_text_file_read(&source, file, SOURCE_MAX, "machine code is given with --hex or --object", err);
    } else {
        ip_text_append(&source, argument);
    }
    if (status == IP_OK && settings->predict.syntax == CLI_SYNTAX_OBJDUMP) {
        status = cli_objdump_parse(code, name, ip_text_string(&source), err);
    } else if (status == IP_OK && source.length > 0) {
        status = mca_region_cut(&source, name, err);
        ip_text_append(&source, "\n");
        status = status != IP_OK ? status
                 : source.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory")
                                 : isa_assemble_att(name, source.data, code, err);
    }
    ip_text_fini(&source);
    return cli_block_name_check(status, argument, err);
}

enum ip_status cli_code_read(struct ip_text *code, const struct cli_settings *settings,
                             struct ip_error *err) {
    enum ip_status status;
    bool other = settings->argument_count > 0 || settings->file != NULL || settings->hex != NULL;
    if (settings->predict.object == NULL &&
        (settings->predict.symbol != NULL || settings->predict.address != NULL)) {
        return ip_fail(err, IP_USAGE, "--symbol and --address are of an object file: name it with --object");
    }
    if (settings->predict.syntax != CLI_SYNTAX_NASM &&
        (settings->predict.object != NULL || settings->hex != NULL)) {
        return ip_fail(err, IP_USAGE, "--syntax is of text: it goes with neither --hex nor --object");
    }
    if (settings->predict.object != NULL) {
        status = other ? ip_fail(err, IP_USAGE, "--object goes with no other block")
                       : object_read(code, settings, err);
    } else if (settings->predict.syntax != CLI_SYNTAX_NASM) {
        status = text_read(code, settings, err);
    } else {
        status = cli_block_read(code, settings, err);
    }
    if (status == IP_OK && code->length == 0) {
        status = ip_fail(err, IP_SYNTAX, "the block is empty: give instructions, such as 'add rax, rbx'");
        /* A path may be a comment in AT&T's syntax. */
        status =
            cli_block_name_check(status, settings->argument_count > 0 ? settings->arguments[0] : NULL, err);
    } else if (status == IP_OK && code->length > CLI_BLOCK_BYTES_MAX) {
        status = ip_fail(err, IP_SYNTAX, "the block is longer than %d bytes", CLI_BLOCK_BYTES_MAX);
    }
    return status;
}
