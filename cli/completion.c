/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for three shells from the same tables as parsing and --help. */
#include <string.h>

#include "cli/cli.h"

typedef void option_visitor(struct ip_text *text, const struct cli_command *command,
                            const struct cli_option *option);

static void options_visit(struct ip_text *text, const struct cli_command *command, option_visitor *visit) {
    const struct cli_option *tables[CLI_TABLES_MAX];
    cli_option_tables(command, tables);
    for (size_t i = 0; i < CLI_TABLES_MAX && tables[i] != NULL; i++) {
        for (const struct cli_option *option = tables[i]; option->name != NULL; option++) {
            visit(text, command, option);
        }
    }
}

static bool takes_file(const struct cli_option *option) {
    return option->kind == CLI_KIND_FILE || option->kind == CLI_KIND_OUTPUT || option->kind == CLI_KIND_FILES;
}

/* Inside single quotes of a shell, with what zsh's specifications treat specially. */
static void quoted(struct ip_text *text, const char *string, const char *escaped) {
    for (; *string != '\0'; string++) {
        if (*string == '\'') {
            ip_text_append(text, "'\\''");
            continue;
        }
        if (strchr(escaped, *string) != NULL) {
            ip_text_append(text, "\\");
        }
        ip_text_append_bytes(text, string, 1);
    }
}

static void bash_names(struct ip_text *text, const struct cli_command *command,
                       const struct cli_option *option) {
    (void)command;
    ip_text_printf(text, " --%s", option->name);
}

static void bash_values(struct ip_text *text, const struct cli_command *command,
                        const struct cli_option *option) {
    if (option->kind == CLI_KIND_WORD) {
        ip_text_printf(text,
                       "        %s:--%s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"); return ;;\n",
                       command->name, option->name, option->words);
    } else if (takes_file(option)) {
        ip_text_printf(text,
                       "        %s:--%s) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n",
                       command->name, option->name);
    } else if (option->argument != NULL) {
        ip_text_printf(text, "        %s:--%s) return ;;\n", command->name, option->name);
    }
}

static void bash_completion(struct ip_text *text) {
    ip_text_append(text,
                   "# bash completion for isaprobe, made by 'isaprobe --completion bash'\n"
                   "_isaprobe() {\n"
                   "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                   "    local command=${COMP_WORDS[1]}\n"
                   "    COMPREPLY=()\n"
                   "    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$command\" = "
                   "help ]; }; then\n"
                   "        mapfile -t COMPREPLY < <(compgen -W 'help");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, " %s", (*command)->name);
    }
    ip_text_append(text, " --help --version' -- \"$word\")\n        return\n    fi\n"
                         "    case $command:$before in\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        options_visit(text, *command, bash_values);
    }
    ip_text_append(text, "    esac\n    case $command in\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "        %s) mapfile -t COMPREPLY < <(compgen -W '", (*command)->name);
        options_visit(text, *command, bash_names);
        ip_text_append(text, "' -- \"$word\") ;;\n");
    }
    ip_text_append(text, "    esac\n}\ncomplete -F _isaprobe isaprobe\n");
}

static void zsh_option(struct ip_text *text, const struct cli_command *command,
                       const struct cli_option *option) {
    (void)command;
    bool again = option->kind == CLI_KIND_LIST || option->kind == CLI_KIND_FILES;
    ip_text_printf(text, "                '%s--%s%s[", again ? "*" : "", option->name,
                   option->argument != NULL ? "=" : "");
    quoted(text, option->help, "[]:\\");
    ip_text_append(text, "]");
    if (option->kind == CLI_KIND_WORD) {
        ip_text_printf(text, ":%s:(%s)", option->argument, option->words);
    } else if (takes_file(option)) {
        ip_text_printf(text, ":%s:_files", option->argument);
    } else if (option->argument != NULL) {
        ip_text_printf(text, ":%s: ", option->argument);
    }
    ip_text_append(text, "' \\\n");
}

static void zsh_completion(struct ip_text *text) {
    ip_text_append(text, "#compdef isaprobe\n# made by 'isaprobe --completion zsh'\n_isaprobe() {\n"
                         "    local -a commands=(\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "        '%s:", (*command)->name);
        quoted(text, (*command)->summary, ":\\");
        ip_text_append(text, "'\n");
    }
    ip_text_append(text,
                   "        'help:explain a command'\n    )\n"
                   "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
                   "    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "        %s)\n            _arguments \\\n", (*command)->name);
        options_visit(text, *command, zsh_option);
        ip_text_append(text, "                '*:argument: '\n            ;;\n");
    }
    ip_text_append(text,
                   "        help) _describe command commands ;;\n    esac\n}\n"
                   "[ \"$funcstack[1]\" = _isaprobe ] && _isaprobe \"$@\" || compdef _isaprobe isaprobe\n");
}

static void fish_option(struct ip_text *text, const struct cli_command *command,
                        const struct cli_option *option) {
    ip_text_printf(text, "complete -c isaprobe -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                   option->name);
    if (option->letter != 0) {
        ip_text_printf(text, " -s %c", option->letter);
    }
    if (option->kind == CLI_KIND_WORD) {
        ip_text_printf(text, " -x -a '%s'", option->words);
    } else if (takes_file(option)) {
        ip_text_append(text, " -r -F");
    } else if (option->argument != NULL) {
        ip_text_append(text, " -x");
    }
    ip_text_append(text, " -d '");
    quoted(text, option->help, "\\");
    ip_text_append(text, "'\n");
}

static void fish_completion(struct ip_text *text) {
    ip_text_append(text, "# fish completion for isaprobe, made by 'isaprobe --completion fish'\n"
                         "complete -c isaprobe -f\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "complete -c isaprobe -n __fish_use_subcommand -a %s -d '", (*command)->name);
        quoted(text, (*command)->summary, "\\");
        ip_text_append(text, "'\n");
        options_visit(text, *command, fish_option);
    }
}

bool cli_completion(struct ip_text *text, const char *shell) {
    static const struct {
        const char *name;
        void (*write)(struct ip_text *text);
    } shells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].write(text);
            return true;
        }
    }
    return false;
}
