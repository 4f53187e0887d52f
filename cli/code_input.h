/* SPDX-License-Identifier: Apache-2.0 */
/* cli/code_input.h - the block that the options of `predict` describe: text in one of three notations, hex
 * digits, or a region of an ELF file. */
#ifndef ISAPROBE_CLI_CODE_INPUT_H
#define ISAPROBE_CLI_CODE_INPUT_H

#include "cli/cli.h"
#include "common/text.h"

/* The order of --syntax's words. */
enum cli_syntax { CLI_SYNTAX_NASM, CLI_SYNTAX_ATT, CLI_SYNTAX_OBJDUMP };

/* `code` receives the bytes. IP_USAGE when no block, or more than one, is given; else as the reader of the
 * notation says. */
IP_CHECK enum ip_status cli_code_read(struct ip_text *code, const struct cli_settings *settings,
                                      struct ip_error *err);

/* The bytes of a listing as `objdump -d` writes it ("  401000:<tab>48 89 d8 <tab>mov ..."); lines that are
 * none are passed over. IP_SYNTAX when there is no byte. */
IP_CHECK enum ip_status cli_objdump_parse(struct ip_text *code, const char *name, const char *listing,
                                          struct ip_error *err);

#endif
