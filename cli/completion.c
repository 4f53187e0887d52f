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

static void commands_append(struct ip_text *text) {
    ip_text_append(text, "help");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, " %s", (*command)->name);
    }
}

static void bash_names(struct ip_text *text, const struct cli_command *command,
                       const struct cli_option *option) {
    (void)command;
    ip_text_printf(text, " --%s", option->name);
}

static void bash_values(struct ip_text *text, const struct cli_command *command,
                        const struct cli_option *option) {
    if (option->argument == NULL) {
        return;
    }
    ip_text_printf(text, "        %s:--%s", command->name, option->name);
    if (option->letter != 0) {
        ip_text_printf(text, "|%s:-%c", command->name, option->letter);
    }
    const char *words = option->words != NULL ? option->words : "";
    if (takes_file(option)) {
        ip_text_printf(text, ") _isaprobe_files '%s'; return ;;\n", words);
    } else if (words[0] != '\0') {
        ip_text_printf(text, ") _isaprobe_words '%s'; return ;;\n", words);
    } else {
        ip_text_append(text, ") return ;;\n");
    }
}

static void bash_completion(struct ip_text *text) {
    ip_text_append(
        text, "# bash completion for isaprobe, made by 'isaprobe --completion bash'\n"
              "_isaprobe_words() {\n"
              "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
              "    case ${COMPREPLY[0]} in *:) compopt -o nospace 2>/dev/null ;; esac\n"
              "}\n"
              "_isaprobe_files() {\n"
              "    compopt -o filenames 2>/dev/null\n"
              "    mapfile -t COMPREPLY < <(compgen -f -W \"$1\" -- \"$word\")\n"
              "}\n"
              "_isaprobe() {\n"
              "    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
              "    COMPREPLY=()\n"
              "    # '=' and ':' are words of their own here.\n"
              "    case $word in =|:) word='' at=$((at + 1)) ;; esac\n"
              "    local before=${COMP_WORDS[at-1]}\n"
              "    case $before in\n"
              "        =) before=${COMP_WORDS[at-2]} ;;\n"
              "        :) case ${COMP_WORDS[at-2]} in sim|replay) _isaprobe_files '' ;; esac; return ;;\n"
              "    esac\n"
              "    if [ \"$at\" -eq 1 ]; then\n"
              "        _isaprobe_words '");
    commands_append(text);
    ip_text_append(text, " --help --version --completion'\n        return\n    fi\n"
                         "    case $command:$before in\n"
                         "        help:*) _isaprobe_words '");
    commands_append(text);
    ip_text_append(text, "'; return ;;\n"
                         "        --completion:*) _isaprobe_words 'bash zsh fish'; return ;;\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        options_visit(text, *command, bash_values);
    }
    ip_text_append(text, "    esac\n    case $command:$word in\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        if ((*command)->file_arguments) {
            ip_text_printf(text, "        %s:[!-]*|%s:) _isaprobe_files '' ;;\n", (*command)->name,
                           (*command)->name);
        }
        ip_text_printf(text, "        %s:*) _isaprobe_words '", (*command)->name);
        options_visit(text, *command, bash_names);
        ip_text_append(text, "' ;;\n");
    }
    ip_text_append(text, "    esac\n}\ncomplete -F _isaprobe isaprobe\n");
}

/* The value's part of an option's specification, in single quotes. */
static void zsh_value(struct ip_text *text, const struct cli_option *option) {
    ip_text_printf(text, ":%s:", option->argument);
    if (option->words == NULL) {
        ip_text_append(text, takes_file(option) ? "_files" : " ");
    } else if (option->kind == CLI_KIND_WORD) {
        ip_text_printf(text, "(%s)", option->words);
    } else {
        ip_text_append(text, takes_file(option)
                                 ? "{ compadd "
                                 : "{ if compset -P \"*\\:\"; then _files; else compadd -S \"\" ");
        quoted(text, option->words, ":");
        ip_text_append(text, takes_file(option) ? "; _files }" : "; fi }");
    }
}

static void zsh_option(struct ip_text *text, const struct cli_command *command,
                       const struct cli_option *option) {
    (void)command;
    bool again = option->kind == CLI_KIND_LIST || option->kind == CLI_KIND_FILES;
    const char *equals = option->argument != NULL ? "=" : "";
    ip_text_append(text, "                ");
    if (option->letter == 0) {
        ip_text_printf(text, "'%s--%s%s[", again ? "*" : "", option->name, equals);
    } else {
        if (again) {
            ip_text_append(text, "'*'");
        } else {
            ip_text_printf(text, "'(-%c --%s)'", option->letter, option->name);
        }
        ip_text_printf(text, "{-%c%s,--%s%s}'[", option->letter, option->argument != NULL ? "+" : "",
                       option->name, equals);
    }
    quoted(text, option->help, "[]:\\");
    ip_text_append(text, "]");
    if (option->argument != NULL) {
        zsh_value(text, option);
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
    ip_text_append(text, "        'help:explain a command'\n    )\n"
                         "    if (( CURRENT == 2 )); then\n        _describe command commands\n"
                         "        compadd -- --help --version --completion\n        return\n"
                         "    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "        %s)\n            _arguments \\\n", (*command)->name);
        options_visit(text, *command, zsh_option);
        ip_text_printf(text, "                '*:argument:%s'\n            ;;\n",
                       (*command)->file_arguments ? "_files" : " ");
    }
    ip_text_append(
        text, "        help) _describe command commands ;;\n        --completion) compadd bash zsh fish ;;\n"
              "    esac\n}\n"
              "[ \"$funcstack[1]\" = _isaprobe ] && _isaprobe \"$@\" || compdef _isaprobe isaprobe\n");
}

static void fish_option(struct ip_text *text, const struct cli_command *command,
                        const struct cli_option *option) {
    ip_text_printf(text, "complete -c isaprobe -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                   option->name);
    if (option->letter != 0) {
        ip_text_printf(text, " -s %c", option->letter);
    }
    if (option->argument != NULL) {
        bool prefixed = option->kind == CLI_KIND_STRING && option->words != NULL; /* fish splits at ':' */
        ip_text_append(text, takes_file(option) || prefixed ? " -r -F" : " -x");
    }
    if (option->words != NULL) {
        ip_text_printf(text, " -a '%s'", option->words);
    }
    ip_text_append(text, " -d '");
    quoted(text, option->help, "\\");
    ip_text_append(text, "'\n");
}

static void fish_completion(struct ip_text *text) {
    ip_text_append(
        text, "# fish completion for isaprobe, made by 'isaprobe --completion fish'\n"
              "complete -c isaprobe -f\n"
              "complete -c isaprobe -n __fish_use_subcommand -s h -l help -d 'print this help and exit'\n"
              "complete -c isaprobe -n __fish_use_subcommand -l version -d 'print the version and exit'\n"
              "complete -c isaprobe -n __fish_use_subcommand -l completion -x -a 'bash zsh fish' "
              "-d 'print the completions and exit'\n"
              "complete -c isaprobe -n '__fish_seen_subcommand_from help' -a '");
    commands_append(text);
    ip_text_append(text, "'\n"
                         "complete -c isaprobe -n __fish_use_subcommand -a help -d 'explain a command'\n");
    for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
        ip_text_printf(text, "complete -c isaprobe -n __fish_use_subcommand -a %s -d '", (*command)->name);
        quoted(text, (*command)->summary, "\\");
        ip_text_append(text, "'\n");
        if ((*command)->file_arguments) {
            ip_text_printf(text, "complete -c isaprobe -n '__fish_seen_subcommand_from %s' -F\n",
                           (*command)->name);
        }
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
