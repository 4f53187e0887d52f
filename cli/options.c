/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option general_options[] = {
    {"help", 'h', NULL, "print this help and exit", CLI_KIND_FLAG, 0, 0, 0, NULL},
    {0},
};

static const struct cli_option output_options[] = {
    {"format", 0, "FORMAT", "text (the default), csv, or json: one object per line", CLI_KIND_WORD,
     AT(format), 0, 0, "text csv json"},
    {"output", 'o', "FILE", "write the data to FILE; - is standard output, the default", CLI_KIND_OUTPUT,
     AT(output), 0, 0, NULL},
    {"quiet", 'q', NULL, "no progress and no warnings on standard error", CLI_KIND_FLAG, AT(quiet), 0, 0,
     NULL},
    {0},
};

static const struct cli_option table_options[] = {
    {"isa", 0, "FILE", "add the rows of this instruction table; may be repeated", CLI_KIND_FILES,
     AT(isa_files), 0, 0, NULL},
    {0},
};

static const struct cli_option timer_options[] = {
    {"timer", 't', "NAME", "tsc (the default), papi[:EVENT], sim:FILE or replay:FILE", CLI_KIND_STRING,
     AT(timer), 0, 0, "tsc papi sim: replay:"},
    {"cpu", 0, "N", "measure on this CPU", CLI_KIND_NUMBER, AT(cpu), 0, INT_MAX, NULL},
    {"no-companion", 0, NULL, "in a virtual machine: leave the other thread of the core alone", CLI_KIND_FLAG,
     AT(no_companion), 0, 0, NULL},
    {0},
};

static const struct cli_option samples_options[] = {
    {"record", 0, "FILE", "keep every sample in FILE, for --timer replay:FILE", CLI_KIND_OUTPUT, AT(record),
     0, 0, NULL},
    {"careful", 0, NULL, "more samples and a stricter demand on their agreement", CLI_KIND_FLAG, AT(careful),
     0, 0, NULL},
    {0},
};

static const struct cli_option forms_options[] = {
    {"extension", 'e', "NAME", "only forms of this extension (AVX2); may be repeated", CLI_KIND_LIST,
     AT(extensions), 0, 0, NULL},
    {0},
};

static const struct cli_option code_options[] = {
    {"loop", 'L', NULL, "the block is the body of a loop; without it, copies of it follow each other",
     CLI_KIND_FLAG, AT(predict.loop), 0, 0, NULL},
    {"hex", 'x', "HEX", "the block as machine code in hex digits", CLI_KIND_STRING, AT(hex), 0, 0, NULL},
    {"file", 'f', "FILE", "the block as text; - is standard input", CLI_KIND_FILE, AT(file), 0, 0, NULL},
    {"syntax", 's', "SYNTAX",
     "of the text: nasm (the default), att (GNU as), or objdump (a listing of objdump -d)", CLI_KIND_WORD,
     AT(predict.syntax), 0, 0, "nasm att objdump"},
    {"object", 'O', "FILE",
     "the block out of an object file or executable: what IACA's or OSACA's marks enclose", CLI_KIND_FILE,
     AT(predict.object), 0, 0, NULL},
    {"symbol", 0, "NAME", "with --object: all of this function", CLI_KIND_STRING, AT(predict.symbol), 0, 0,
     NULL},
    {"address", 0, "A-B", "with --object: from address A to before B, in hex", CLI_KIND_STRING,
     AT(predict.address), 0, 0, NULL},
    {0},
};

static const struct cli_option core_options[] = {
    {"cpu", 0, "N", "where cores differ: the store of CPU N's kind, not that of the performance cores",
     CLI_KIND_NUMBER, AT(cpu), 0, INT_MAX, NULL},
    {0},
};

void cli_option_tables(const struct cli_command *command, const struct cli_option *tables[CLI_TABLES_MAX]) {
    size_t count = 0;
    if (command->options != NULL) {
        tables[count++] = command->options;
    }
    if ((command->groups & CLI_GROUP_FORMS) != 0) {
        tables[count++] = forms_options;
    }
    if ((command->groups & CLI_GROUP_CODE) != 0) {
        tables[count++] = code_options;
    }
    if ((command->groups & (CLI_GROUP_TIMER | CLI_GROUP_METER)) != 0) {
        tables[count++] = timer_options;
    }
    if ((command->groups & CLI_GROUP_METER) != 0) {
        tables[count++] = samples_options;
    }
    if ((command->groups & CLI_GROUP_CORE) != 0) {
        tables[count++] = core_options;
    }
    if ((command->groups & CLI_GROUP_TABLE) != 0) {
        tables[count++] = table_options;
    }
    if ((command->groups & CLI_GROUP_OUTPUT) != 0) {
        tables[count++] = output_options;
    }
    tables[count++] = general_options;
    for (; count < CLI_TABLES_MAX; count++) {
        tables[count] = NULL;
    }
}

void cli_settings_init(struct cli_settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->cpu = -1;
}

void cli_settings_fini(struct cli_settings *settings) {
    ip_lines_fini(&settings->isa_files);
    ip_lines_fini(&settings->via);
    ip_lines_fini(&settings->extensions);
    ip_lines_fini(&settings->only);
}

int cli_word_find(const char *words, const char *word) {
    size_t length = strlen(word);
    int position = 0;
    for (const char *at = words; *at != '\0'; position++) {
        size_t span = strcspn(at, " ");
        if (span == length && strncmp(at, word, span) == 0) {
            return position;
        }
        at += span + (at[span] == ' ');
    }
    return -1;
}

/* False: a message was printed. */
static bool option_store(const struct cli_command *command, const struct cli_option *option,
                         const char *value, struct cli_settings *settings) {
    void *field = (char *)settings + option->offset;
    switch (option->kind) {
    case CLI_KIND_FLAG:
        *(bool *)field = true;
        return true;
    case CLI_KIND_STRING:
    case CLI_KIND_FILE:
    case CLI_KIND_OUTPUT:
        if (value[0] == '\0') {
            (void)cli_usage_error(command->name, "--%s needs an argument: %s", option->name,
                                  option->argument);
            return false;
        }
        *(const char **)field = value;
        return true;
    case CLI_KIND_LIST:
    case CLI_KIND_FILES:
        ip_lines_add(field, value);
        return true;
    case CLI_KIND_NUMBER: {
        char *end = NULL;
        errno = 0;
        long number = strtol(value, &end, 10);
        if (end == value || *end != '\0' || errno != 0 || number < option->low || number > option->high) {
            (void)cli_usage_error(command->name, "--%s takes a whole number from %ld to %ld, not '%s'",
                                  option->name, option->low, option->high, value);
            return false;
        }
        *(long *)field = number;
        return true;
    }
    case CLI_KIND_WORD: {
        int position = cli_word_find(option->words, value);
        if (position < 0) {
            (void)cli_usage_error(command->name, "unknown %s '%s': choose one of %s", option->name, value,
                                  option->words);
            return false;
        }
        *(int *)field = position;
        return true;
    }
    }
    return false;
}

enum { OPTIONS_MAX = 48, VALUE_FIRST = 256 };

struct collected {
    const struct cli_option *options[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 1];
    char shorts[2 * OPTIONS_MAX + 3];
    size_t count;
};

/* The tables as getopt_long wants them; an option's value is VALUE_FIRST plus its position. */
static void options_collect(const struct cli_command *command, struct collected *all) {
    memset(all, 0, sizeof *all);
    const struct cli_option *tables[CLI_TABLES_MAX];
    cli_option_tables(command, tables);
    size_t shorts = 0;
    all->shorts[shorts++] = ':'; /* tells a missing argument from an unknown option */
    for (size_t t = 0; t < CLI_TABLES_MAX && tables[t] != NULL; t++) {
        for (const struct cli_option *option = tables[t]; option->name != NULL; option++) {
            if (all->count == OPTIONS_MAX) {
                return; /* test_cli's --help cases would show the loss */
            }
            all->options[all->count] = option;
            all->longs[all->count] =
                (struct option){option->name, option->argument != NULL ? required_argument : no_argument,
                                NULL, VALUE_FIRST + (int)all->count};
            if (option->letter != 0) {
                all->shorts[shorts++] = option->letter;
                if (option->argument != NULL) {
                    all->shorts[shorts++] = ':';
                }
            }
            all->count++;
        }
    }
}

/* Only flags and lists take more than one: of others the first value would be passed over without a word. */
static bool may_repeat(const struct cli_option *option) {
    return option->kind == CLI_KIND_FLAG || option->kind == CLI_KIND_LIST || option->kind == CLI_KIND_FILES;
}

static const struct cli_option *option_by_value(const struct collected *all, int value) {
    if (value >= VALUE_FIRST) {
        size_t position = (size_t)(value - VALUE_FIRST);
        return position < all->count ? all->options[position] : NULL;
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->options[i]->letter == value) {
            return all->options[i];
        }
    }
    return NULL;
}

/* getopt_long's complaint in our words. */
static void complain(const struct cli_command *command, const struct collected *all, int value, char **argv) {
    const struct cli_option *option = option_by_value(all, optopt);
    if (value == ':' && option != NULL) {
        (void)cli_usage_error(command->name, "--%s needs an argument: %s", option->name, option->argument);
    } else if (optopt >= VALUE_FIRST && option != NULL) {
        (void)cli_usage_error(command->name, "--%s takes no value", option->name);
    } else if (optopt != 0) {
        (void)cli_usage_error(command->name, "unknown option '-%c'", optopt);
    } else {
        (void)cli_usage_error(command->name, "unknown option '%s'", argv[optind - 1]);
    }
}

enum cli_parse cli_options_parse(const struct cli_command *command, int argc, char **argv,
                                 struct cli_settings *settings) {
    struct collected all;
    bool given[OPTIONS_MAX] = {false};
    options_collect(command, &all);
    optind = 0; /* GNU: start afresh */
    opterr = 0;
    int value = 0;
    while ((value = getopt_long(argc, argv, all.shorts, all.longs, NULL)) != -1) {
        if (value == 'h' || value == VALUE_FIRST + (int)all.count - 1) {
            return CLI_PARSE_HELP; /* the last table is general_options */
        }
        const struct cli_option *option = value == '?' || value == ':' ? NULL : option_by_value(&all, value);
        if (option == NULL) {
            complain(command, &all, value, argv);
            return CLI_PARSE_ERROR;
        }
        for (size_t i = 0; i < all.count; i++) {
            if (all.options[i] == option && given[i] && !may_repeat(option)) {
                (void)cli_usage_error(command->name, "--%s is given twice: it takes one %s", option->name,
                                      option->argument);
                return CLI_PARSE_ERROR;
            }
            given[i] = given[i] || all.options[i] == option;
        }
        if (!option_store(command, option, optarg, settings)) {
            return CLI_PARSE_ERROR;
        }
    }
    settings->arguments = argv + optind;
    settings->argument_count = argc - optind;
    if (settings->argument_count < command->min_arguments) {
        (void)cli_usage_error(command->name, "missing argument: isaprobe %s [OPTION]... %s", command->name,
                              command->arguments);
        return CLI_PARSE_ERROR;
    }
    if (command->max_arguments >= 0 && settings->argument_count > command->max_arguments) {
        (void)cli_usage_error(command->name, "unexpected argument '%s'%s",
                              settings->arguments[command->max_arguments],
                              command->max_arguments == 0 || command->file_arguments
                                  ? ""
                                  : " (a syntax with operands must be quoted)");
        return CLI_PARSE_ERROR;
    }
    return CLI_PARSE_RUN;
}
