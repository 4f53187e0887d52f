/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/block.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "isa/assemble.h"

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

enum ip_status cli_hex_parse(struct ip_text *code, const char *hex, struct ip_error *err) {
    struct ip_text bytes = {0};
    enum ip_status status = IP_OK;
    for (const char *at = hex; *at != '\0' && status == IP_OK;) {
        if (strchr(" \t\r\n,:", *at) != NULL) {
            at++;
        } else if (at[0] == '0' && (at[1] | 0x20) == 'x') {
            at += 2;
        } else if (digit_value(at[0]) >= 0 && digit_value(at[1]) >= 0) {
            uint8_t byte = (uint8_t)(digit_value(at[0]) * 16 + digit_value(at[1]));
            ip_text_append_bytes(&bytes, &byte, 1);
            at += 2;
        } else {
            bool odd = digit_value(at[0]) >= 0;
            status = ip_fail(err, IP_SYNTAX, "column %zu: %s", (size_t)(at - hex) + (odd ? 2 : 1),
                             odd ? "a byte needs two hex digits" : "not a hex digit");
        }
    }
    if (status == IP_OK && bytes.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory");
    } else if (status == IP_OK && bytes.length == 0) {
        status = ip_fail(err, IP_SYNTAX, "no bytes: give machine code in hex digits, such as 4801d8");
    } else if (status == IP_OK && bytes.length > CLI_BLOCK_BYTES_MAX) {
        status = ip_fail(err, IP_SYNTAX, "the block is longer than %d bytes", CLI_BLOCK_BYTES_MAX);
    }
    if (status != IP_OK) {
        ip_text_fini(&bytes);
        return status;
    }
    ip_text_fini(code);
    *code = bytes;
    return IP_OK;
}

static enum ip_status source_assemble(struct ip_text *code, const char *name, const char *source,
                                      struct ip_error *err) {
    struct ip_text bytes = {0};
    enum ip_status status = isa_assemble_source(name, source, &bytes, err);
    if (status == IP_OK && bytes.length == 0) {
        status = ip_fail(err, IP_SYNTAX, "the block is empty: give instructions, such as 'add rax, rbx'");
    } else if (status == IP_OK && bytes.length > CLI_BLOCK_BYTES_MAX) {
        status = ip_fail(err, IP_SYNTAX, "the block is longer than %d bytes", CLI_BLOCK_BYTES_MAX);
    }
    if (status != IP_OK) {
        ip_text_fini(&bytes);
        return status;
    }
    ip_text_fini(code);
    *code = bytes;
    return IP_OK;
}

enum ip_status cli_block_name_check(enum ip_status status, const char *argument, struct ip_error *err) {
    if (status == IP_SYNTAX && argument != NULL && access(argument, F_OK) == 0) {
        return ip_fail(
            err, IP_USAGE,
            "'%.200s' is no instruction, but a file of that name exists: text is read with --file %.200s",
            argument, argument);
    }
    return status;
}

enum ip_status cli_block_read(struct ip_text *code, const struct cli_settings *settings,
                              struct ip_error *err) {
    const char *argument = settings->argument_count > 0 ? settings->arguments[0] : NULL;
    const char *file = settings->file;
    if (argument != NULL && strcmp(argument, "-") == 0) {
        file = "-";
        argument = NULL;
    }
    if ((argument != NULL) + (file != NULL) + (settings->hex != NULL) != 1) {
        return ip_fail(err, IP_USAGE, "give one block: as an argument, with --hex or with --file");
    }
    if (settings->hex != NULL) {
        enum ip_status status = cli_hex_parse(code, settings->hex, err);
        struct ip_error inner = *err;
        return status == IP_SYNTAX ? ip_fail(err, status, "--hex '%.60s': %s", settings->hex, inner.text)
                                   : status;
    }
    struct ip_text source = {0};
    enum ip_status status = IP_OK;
    if (file != NULL) {
        status = ip_text_file_read(&source, file, 1u << 20, "machine code is given with --hex", err);
    } else {
        ip_text_append(&source, argument);
        for (size_t i = 0; i < source.length; i++) {
            source.data[i] = source.data[i] == ';' ? '\n' : source.data[i];
        }
    }
    if (status == IP_OK) {
        const char *name = file == NULL ? "block" : strcmp(file, "-") == 0 ? "standard input" : file;
        status = source.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory")
                               : source_assemble(code, name, ip_text_string(&source), err);
    }
    ip_text_fini(&source);
    return cli_block_name_check(status, argument, err);
}
