/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cli.h - what the subcommands share: settings, option tables, messages, exit codes.
 *
 * Only cli/ prints and exits. Data goes to the output (cli/output.h), all else to standard error. */
#ifndef ISAPROBE_CLI_CLI_H
#define ISAPROBE_CLI_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/text.h"

/* Exit codes; a signal n gives 128 + n. */
enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_CAPABILITY = 3,
    CLI_EXIT_UNTRUSTED = 4,
};

enum cli_format { CLI_FORMAT_TEXT, CLI_FORMAT_CSV, CLI_FORMAT_JSON };

/* The values of all options of all subcommands: option tables point into it by offset. Strings are borrowed
 * from argv. */
struct cli_settings {
    int format; /* enum cli_format */
    const char *output;
    bool quiet, verbose;
    struct ip_lines isa_files;

    const char *timer;
    long cpu; /* -1: choose */
    bool no_companion;
    const char *record;
    bool careful;

    long registers, unroll; /* 0: choose */
    int shape;              /* enum cli_shape of cmd_emit.c */
    const char *src, *dst;
    int path; /* 0: address, 1: content */
    const char *with;
    struct ip_lines via;
    bool not_taken;

    const char *file, *hex, *hex_list;
    bool count, coverage;
    const char *root, *save;

    const char *store, *list, *parts;
    struct ip_lines extensions;
    bool no_store;
    struct ip_lines only; /* of cmd_core.c */
    bool force, retry, no_latency, no_throughput, evidence;
    long group; /* 0: the default */

    struct cli_export {
        int format, exegesis; /* enum res_format, enum res_exegesis */
        const char *arch;
        bool doubtful;
    } export; /* cmd_export.c, cmd_compare.c */
    const char *tolerance;
    bool by_class;

    struct cli_power {
        const char *machine, *kernel, *code, *measured;
        const char *elements, *per_iteration, *bytes, *flops, *cycles; /* numbers, as given */
        const char *memory_ns, *pending, *hops;
        const char *max_slowdown, *max_time, *max_power;
        int metric, plot;
        bool calibrate, derive, describe;
    } power; /* cmd_power.c */

    struct cli_predict {
        const char *object, *symbol, *address; /* a region of an ELF file */
        const char *svg;
        int syntax; /* enum cli_syntax (cli/code_input.h) */
        bool loop, measure;
        long timeline; /* passes; 0: none */
    } predict;         /* cmd_predict.c */

    struct cli_validate {
        const char *measured, *keep; /* CSV of measurements to read, to write */
        const char *mca, *mca_cpu;   /* program and -mcpu */
        bool no_measure, closed, blocks;
        int notion;
        long sample, seed, worst;
    } validate; /* cmd_validate.c */

    char **arguments; /* what is left after the options */
    int argument_count;
};

enum cli_kind {
    CLI_KIND_FLAG,   /* bool */
    CLI_KIND_STRING, /* const char * */
    CLI_KIND_FILE,   /* const char *: a file that is read, or the store; completed as a file name */
    CLI_KIND_OUTPUT, /* const char *: a file that is written */
    CLI_KIND_LIST,   /* struct ip_lines: may be repeated */
    CLI_KIND_FILES,  /* struct ip_lines of file names */
    CLI_KIND_NUMBER, /* long in low..high */
    CLI_KIND_WORD,   /* int: position in `words` */
};

/* One option: parsing, --help and the completions all come from this. A table ends with name NULL. */
struct cli_option {
    const char *name;     /* long name without dashes */
    char letter;          /* 0: none */
    const char *argument; /* "FILE"; NULL: takes none */
    const char *help;     /* one line */
    enum cli_kind kind;
    size_t offset; /* in struct cli_settings */
    long low, high;
    /* Separated by blanks; CLI_KIND_FILE: names that are no files; CLI_KIND_STRING: what completions offer,
     * where "sim:" stands before a file's name. NULL: none. */
    const char *words;
};

/* Options that several subcommands take. */
enum cli_group {
    CLI_GROUP_OUTPUT = 1, /* --format --output --quiet */
    CLI_GROUP_TABLE = 2,  /* --isa */
    CLI_GROUP_METER = 4,  /* those of CLI_GROUP_TIMER, --record --careful: a kernel is measured */
    CLI_GROUP_CORE = 8,   /* --cpu, of what measures nothing: whose store */
    CLI_GROUP_CODE =
        16, /* --loop --hex --file --syntax --object --symbol --address: a block (cli/code_input.h) */
    CLI_GROUP_FORMS = 32, /* --extension: which of the forms (cli/selection.h) */
    CLI_GROUP_TIMER = 64, /* --timer --cpu --no-companion */
};

struct cli_command {
    const char *name;
    const char *summary;              /* one line */
    const char *arguments;            /* "FORM..." as in the usage line, "" if none */
    const char *description;          /* some lines for --help */
    const struct cli_option *options; /* its own; may be NULL */
    unsigned groups;                  /* enum cli_group */
    int min_arguments, max_arguments; /* max -1: any number */
    bool file_arguments;              /* they are files to read */
    /* Returns an exit code. Messages are printed already. */
    int (*run)(const struct cli_command *command, struct cli_settings *settings);
};

extern const struct cli_command *const cli_commands[]; /* NULL-terminated, in the order of --help */
const struct cli_command *cli_command_find(const char *name);

extern const struct cli_command cli_cmd_list, cli_cmd_emit, cli_cmd_measure, cli_cmd_latency,
    cli_cmd_throughput, cli_cmd_pair, cli_cmd_portmap, cli_cmd_ports, cli_cmd_scan, cli_cmd_show,
    cli_cmd_export, cli_cmd_compare, cli_cmd_doctor, cli_cmd_power, cli_cmd_predict, cli_cmd_validate,
    cli_cmd_core;

/* options.c: the tables that apply to `command`, its own first, then the groups; NULL-terminated. */
enum { CLI_TABLES_MAX = 10 };
void cli_option_tables(const struct cli_command *command, const struct cli_option *tables[CLI_TABLES_MAX]);

enum cli_parse { CLI_PARSE_RUN, CLI_PARSE_HELP, CLI_PARSE_ERROR };
/* Parses argv[1..] (argv[0] is the subcommand). `settings` must be initialised; finish it in any case. */
enum cli_parse cli_options_parse(const struct cli_command *command, int argc, char **argv,
                                 struct cli_settings *settings);
void cli_settings_init(struct cli_settings *settings);
void cli_settings_fini(struct cli_settings *settings);
/* Position of `word` among `words`, or -1. */
int cli_word_find(const char *words, const char *word);

/* files.c: refuses to write over what the command reads, over another of its outputs, or over any store;
 * and to read standard input twice.
 * Returns an exit code; a message is printed unless it is CLI_EXIT_OK. Nothing has been changed. */
int cli_files_check(const struct cli_command *command, const struct cli_settings *settings);

/* help.c */
void cli_help_program(struct ip_text *text);
void cli_help_command(struct ip_text *text, const struct cli_command *command);

/* completion.c: false for an unknown shell. */
bool cli_completion(struct ip_text *text, const char *shell);

/* report.c: one line on standard error each. `command` may be NULL. */
void cli_message(const char *command, const char *format, ...) IP_PRINTF(2, 3);
/* "1 form%s", "2 form%s": the s, or none. */
const char *cli_plural(size_t count);
/* Of a command that a signal ended before it had what it was for: says so. */
void cli_interrupted_whole(const char *command, const struct cli_settings *settings, const char *what);
/* Of a command that a signal ended: how much of it was done, in one line. */
void cli_interrupted(const char *command, const struct cli_settings *settings, size_t done, size_t all,
                     const char *what);
/* Prints the error unless a signal has come, and returns its exit code. */
int cli_report(const char *command, const struct ip_error *err);
int cli_exit_code(enum ip_status status);
/* A usage error with a pointer to --help; returns CLI_EXIT_USAGE. */
int cli_usage_error(const char *command, const char *format, ...) IP_PRINTF(2, 3);

/* Writes `text` to standard output and closes it; returns an exit code. */
int cli_print(const char *command, const struct ip_text *text);

/* signals.c */
void cli_signals_install(void); /* SIGINT, SIGTERM, SIGHUP are noted; SIGPIPE is ignored (writes then fail) */
const volatile sig_atomic_t *cli_signal_flag(void);
int cli_signal(void);          /* the signal that came, or 0 */
void cli_streams_secure(void); /* gives closed standard streams an unusable descriptor */

#endif
