/* SPDX-License-Identifier: Apache-2.0 */
/* cli/block.h - a block of machine code from what the user gives: NASM text, hex digits, or a file. */
#ifndef ISAPROBE_CLI_BLOCK_H
#define ISAPROBE_CLI_BLOCK_H

#include "cli/cli.h"

enum { CLI_BLOCK_BYTES_MAX = 65536 };

/* Hex digits, with or without blanks, "0x" and commas between bytes. IP_SYNTAX names the column. */
IP_CHECK enum ip_status cli_hex_parse(struct ip_text *code, const char *hex, struct ip_error *err);

/* The block that --hex, --file or the argument gives. In an argument, ';' separates instructions; in a file
 * ("-": standard input) it begins a comment, as NASM has it. */
IP_CHECK enum ip_status cli_block_read(struct ip_text *code, const struct cli_settings *settings,
                                       struct ip_error *err);

/* After an argument was no block: IP_USAGE and the option to use when it is the name of a file; else
 * `status`. */
enum ip_status cli_block_name_check(enum ip_status status, const char *argument, struct ip_error *err);

#endif
