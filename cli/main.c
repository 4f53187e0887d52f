/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/store.h"

const struct cli_command *const cli_commands[] = {
    &cli_cmd_latency,  &cli_cmd_throughput, &cli_cmd_pair,
    &cli_cmd_portmap,  &cli_cmd_ports,      &cli_cmd_core,
    &cli_cmd_measure,  &cli_cmd_scan,       &cli_cmd_show,
    &cli_cmd_list,     &cli_cmd_emit,       &cli_cmd_predict,
    &cli_cmd_validate, &cli_cmd_export,     &cli_cmd_compare,
    &cli_cmd_power,    &cli_cmd_doctor,     NULL,
};

const struct cli_command *cli_command_find(const char *name) {
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0) {
            return *command;
        }
    }
    return NULL;
}

static int command_unknown(const char *name) {
    return cli_usage_error(NULL, "unknown command '%s'", name);
}

static int help_print(const struct cli_command *command) {
    struct ip_text text = {0};
    if (command != NULL) {
        cli_help_command(&text, command);
    } else {
        cli_help_program(&text);
    }
    int code = cli_print(NULL, &text);
    ip_text_fini(&text);
    return code;
}

static int argument_unexpected(const char *argument) {
    return cli_usage_error(NULL, "unexpected argument '%s'", argument);
}

/* `isaprobe help [COMMAND]` */
static int help_run(int argc, char **argv) {
    static const char *const itself[] = {"help", "--help", "-h"};
    if (argc > 3) {
        return argument_unexpected(argv[3]);
    }
    for (size_t i = 0; argc > 2 && i < sizeof itself / sizeof itself[0]; i++) {
        if (strcmp(argv[2], itself[i]) == 0) {
            return help_print(NULL); /* what that says is all that there is to say of it */
        }
    }
    const struct cli_command *about = argc > 2 ? cli_command_find(argv[2]) : NULL;
    return argc > 2 && about == NULL ? command_unknown(argv[2]) : help_print(about);
}

static int completion_print(const char *shell) {
    struct ip_text text = {0};
    int code = cli_completion(&text, shell)
                   ? cli_print(NULL, &text)
                   : cli_usage_error(NULL, "no completion for shell '%s': choose bash, zsh or fish", shell);
    ip_text_fini(&text);
    return code;
}

static int command_run(const struct cli_command *command, int argc, char **argv) {
    struct cli_settings settings;
    cli_settings_init(&settings);
    int code = CLI_EXIT_USAGE;
    switch (cli_options_parse(command, argc, argv, &settings)) {
    case CLI_PARSE_RUN:
        code = cli_machine_check(command, &settings);
        code = code == CLI_EXIT_OK ? cli_files_check(command, &settings) : code;
        code = code == CLI_EXIT_OK ? command->run(command, &settings) : code;
        if (cli_signal() != 0) {
            code = 128 + cli_signal();
        }
        break;
    case CLI_PARSE_HELP:
        code = help_print(command);
        break;
    case CLI_PARSE_ERROR:
        break;
    }
    cli_settings_fini(&settings);
    return code;
}

int main(int argc, char **argv) {
    cli_streams_secure();
    cli_signals_install();
    (void)setlocale(LC_CTYPE, ""); /* numbers keep their point: LC_NUMERIC stays "C" */

    if (argc < 2) {
        return cli_usage_error(NULL, "no command given");
    }
    const char *first =
        argv[1]; /* what is behind --help and --version does not matter, as elsewhere in GNU */
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        return help_print(NULL);
    }
    if (strcmp(first, "--version") == 0) {
        struct ip_text text = {0};
        ip_text_append(&text, "isaprobe " ISAPROBE_VERSION "\n");
        int code = cli_print(NULL, &text);
        ip_text_fini(&text);
        return code;
    }
    if (strcmp(first, "--completion") == 0) {
        return argc > 3 ? argument_unexpected(argv[3]) : completion_print(argc > 2 ? argv[2] : "");
    }
    if (strcmp(first, "help") == 0) {
        return help_run(argc, argv);
    }
    if (first[0] == '-') {
        return cli_usage_error(NULL, "unknown option '%s' before the command", first);
    }
    const struct cli_command *command = cli_command_find(first);
    return command == NULL ? command_unknown(first) : command_run(command, argc - 1, argv + 1);
}
