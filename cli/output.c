/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cli_value cli_text(const char *text) {
    return (struct cli_value){.type = text != NULL ? CLI_TYPE_TEXT : CLI_TYPE_NONE, .text = text};
}

struct cli_value cli_number(double number) {
    return (struct cli_value){.type = CLI_TYPE_NUMBER, .number = number};
}

struct cli_value cli_quantity(double number) {
    return (struct cli_value){.type = CLI_TYPE_NUMBER, .number = number, .integer = 9};
}

void cli_number_exact_append(struct ip_text *text, const struct cli_value *value) {
    if (value->integer > 0) {
        ip_text_printf(text, "%.*g", (int)value->integer, value->number);
    } else {
        ip_text_printf(text, "%.4f", value->number);
    }
}

struct cli_value cli_integer(int64_t integer) {
    return (struct cli_value){.type = CLI_TYPE_INTEGER, .integer = integer};
}

struct cli_value cli_bool(bool value) {
    return (struct cli_value){.type = CLI_TYPE_BOOL, .integer = value};
}

struct cli_value cli_list(const struct cli_value *values, size_t items) {
    return (struct cli_value){.type = CLI_TYPE_LIST, .list = values, .count = items};
}

static bool colour_wanted(const struct cli_output *output) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(output->stream)) != 0 && (no_colour == NULL || no_colour[0] == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* By name, or a file that it goes to: what stands there already is not to be replaced. */
static bool is_standard_output(const char *path) {
    struct stat one, other;
    return path == NULL || strcmp(path, "-") == 0 ||
           (stat(path, &one) == 0 && fstat(STDOUT_FILENO, &other) == 0 && S_ISREG(one.st_mode) &&
            one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

int cli_output_open(struct cli_output *output, const struct cli_command *command,
                    const struct cli_settings *settings, const struct cli_column *columns) {
    memset(output, 0, sizeof *output);
    output->format = (enum cli_format)settings->format;
    output->command = command->name;
    output->columns = columns;
    if (is_standard_output(settings->output)) {
        output->stream = stdout;
        if (fcntl(STDOUT_FILENO, F_GETFL) >= 0 && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
            cli_message(command->name, "cannot write standard output: it is closed");
            return CLI_EXIT_FAILED;
        }
    } else {
        /* An earlier file is emptied only when there is something to put in its place, and a new one stays
         * only then. Behind a link to nothing O_EXCL finds none, and what is made there stays. */
        int fd = open(settings->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        output->path = settings->output;
        output->made = fd >= 0;
        if (fd < 0 && errno == EEXIST) {
            fd = open(settings->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        }
        output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (output->stream == NULL) {
            int reason = errno;
            cli_message(command->name, "cannot write '%s': %s", settings->output, strerror(reason));
            if (fd >= 0) {
                (void)close(fd);
            }
            return cli_exit_code(ip_refusal_or(reason, IP_IO));
        }
    }
    const char *codeset = nl_langinfo(CODESET);
    output->utf8 = codeset != NULL && strcmp(codeset, "UTF-8") == 0;
    output->colour = output->format == CLI_FORMAT_TEXT && colour_wanted(output);
    return CLI_EXIT_OK;
}

static void output_write(struct cli_output *output, const struct ip_text *text) {
    if (text->failed) {
        output->failed = true;
    }
    if (output->failed) {
        return;
    }
    struct stat about;
    if (!output->written && output->path != NULL && fstat(fileno(output->stream), &about) == 0 &&
        S_ISREG(about.st_mode) && ftruncate(fileno(output->stream), 0) != 0) {
        output->failed = true;
        output->write_errno = errno;
        return;
    }
    output->written = true;
    errno = 0;
    if (fwrite(ip_text_string(text), 1, text->length, output->stream) != text->length) {
        output->failed = true;
        output->write_errno = errno;
    }
}

static void text_row_keep(struct cli_output *output, struct ip_lines *cells) {
    if (output->row_count == output->row_capacity) {
        size_t capacity = output->row_capacity != 0 ? 2 * output->row_capacity : 64;
        struct ip_lines *rows = realloc(output->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            output->failed = true;
            ip_lines_fini(cells);
            return;
        }
        output->rows = rows;
        output->row_capacity = capacity;
    }
    output->failed = output->failed || cells->failed;
    output->rows[output->row_count++] = *cells;
    memset(cells, 0, sizeof *cells);
}

void cli_output_row(struct cli_output *output, const struct cli_value *values, struct ip_lines *cells) {
    struct ip_text text = {0};
    struct ip_lines own = {0};
    switch (output->format) {
    case CLI_FORMAT_TEXT:
        if (cells == NULL) {
            cli_text_cells(&own, output->columns, values);
            cells = &own;
        }
        text_row_keep(output, cells);
        break;
    case CLI_FORMAT_CSV:
        if (!output->written) {
            cli_csv_header(&text, output->columns);
        }
        cli_csv_row(&text, output->columns, values);
        output_write(output, &text);
        break;
    case CLI_FORMAT_JSON:
        cli_json_row(&text, output->columns, values);
        output_write(output, &text);
        break;
    }
    if (cells != NULL) {
        ip_lines_fini(cells);
    }
    ip_text_fini(&text);
}

void cli_output_raw(struct cli_output *output, const struct ip_text *text) {
    output_write(output, text);
}

static int output_complain(const struct cli_output *output, int write_errno) {
    if (cli_signal() != 0) {
        return 128 + cli_signal();
    }
    if (write_errno == EPIPE) {
        return 128 + SIGPIPE;
    }
    if (write_errno == 0) {
        cli_message(output->command, "out of memory");
    } else if (output->path == NULL) {
        cli_message(output->command, "cannot write standard output: %s", strerror(write_errno));
    } else {
        cli_message(output->command, "cannot write '%s': %s", output->path, strerror(write_errno));
    }
    return CLI_EXIT_FAILED;
}

/* What is left to write: the table of text; of a command that did its work and had no row the header of CSV,
 * and nothing else, so that an earlier file does not stand for what was found now. CLI_EXIT_UNTRUSTED without
 * a row is a failure like others: a number that is not to be trusted has a row. */
static void output_end(struct cli_output *output, int code) {
    struct ip_text text = {0};
    if (output->format == CLI_FORMAT_TEXT && output->row_count > 0) {
        cli_text_table(&text, output);
        output_write(output, &text);
    } else if (!output->written && code == CLI_EXIT_OK) {
        if (output->format == CLI_FORMAT_CSV && output->columns != NULL) {
            cli_csv_header(&text, output->columns);
        }
        output_write(output, &text);
    }
    ip_text_fini(&text);
}

int cli_output_close(struct cli_output *output, int code) {
    output_end(output, code);
    for (size_t i = 0; i < output->row_count; i++) {
        ip_lines_fini(&output->rows[i]);
    }
    free(output->rows);
    output->rows = NULL;
    output->row_count = 0;

    int write_errno = output->write_errno;
    bool failed = output->failed;
    errno = 0;
    if (fflush(output->stream) != 0 && write_errno == 0) {
        failed = true;
        write_errno = errno;
    }
    errno = 0;
    if (fclose(output->stream) != 0 && write_errno == 0) {
        failed = true;
        write_errno = errno;
    }
    output->stream = NULL;
    if (output->made && !output->written) {
        (void)unlink(output->path);
    }
    return failed ? output_complain(output, write_errno) : code;
}
