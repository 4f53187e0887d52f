/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

void cli_help_program(struct ip_text *text) {
    ip_text_append(text, "Usage: isaprobe COMMAND [OPTION]... [ARGUMENT]...\n"
                         "Measure what this CPU's manual does not say: the latency and reciprocal throughput "
                         "of its instructions.\n\nCommands:\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "  %-11s %s\n", (*command)->name, (*command)->summary);
    }
    ip_text_append(text,
                   "  help        explain a command: isaprobe help COMMAND\n"
                   "\nOptions:\n"
                   "  -h, --help              print this help and exit\n"
                   "      --version           print the version and exit\n"
                   "      --completion SHELL  print the completions for bash, zsh or fish and exit\n"
                   "\nExit status: 0 ok, 1 failed, 2 usage, 3 this host lacks a capability, 4 measured but "
                   "not to be trusted, 128+n on signal n.\n"
                   "Full documentation: man isaprobe\n");
}

static void options_print(struct ip_text *text, const struct cli_option *table) {
    for (const struct cli_option *option = table; option->name != NULL; option++) {
        char left[64];
        char letter[8] = "    ";
        if (option->letter != 0) {
            (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
        }
        (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name,
                       option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
        /* A long name has the line to itself. */
        ip_text_printf(text, strlen(left) > 24 ? "  %s\n%27s%s\n" : "  %-24s%s%s\n", left,
                       strlen(left) > 24 ? "" : " ", option->help);
    }
}

void cli_help_command(struct ip_text *text, const struct cli_command *command) {
    ip_text_printf(text, "Usage: isaprobe %s [OPTION]...%s%s\n%c%s.\n\n%s\nOptions:\n", command->name,
                   command->arguments[0] != '\0' ? " " : "", command->arguments,
                   command->summary[0] - 'a' + 'A', command->summary + 1, command->description);
    const struct cli_option *tables[CLI_TABLES_MAX];
    cli_option_tables(command, tables);
    for (size_t i = 0; i < CLI_TABLES_MAX && tables[i] != NULL; i++) {
        options_print(text, tables[i]);
    }
}
