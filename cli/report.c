/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* One write per line, so that lines of several processes do not mix. Control characters that came in with the
 * user's words are shown as '?': a message stays one line and cannot steer the terminal. */
static void line_write(const char *command, const char *text) {
    char line[1400];
    int length = command != NULL ? snprintf(line, sizeof line - 1, "isaprobe: %s: %s", command, text)
                                 : snprintf(line, sizeof line - 1, "isaprobe: %s", text);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used > sizeof line - 2) {
        used = sizeof line - 2;
    }
    for (size_t i = 0; i < used; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = '?';
        }
    }
    line[used++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored; /* there is no place left to complain */
}

void cli_message(const char *command, const char *format, ...) {
    char text[1200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    line_write(command, text);
}

int cli_usage_error(const char *command, const char *format, ...) {
    char text[900];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (command != NULL) {
        cli_message(command, "%s; see 'isaprobe %s --help'", text, command);
    } else {
        cli_message(NULL, "%s; see 'isaprobe --help'", text);
    }
    return CLI_EXIT_USAGE;
}

int cli_exit_code(enum ip_status status) {
    switch (status) {
    case IP_OK:
        return CLI_EXIT_OK;
    case IP_SYNTAX:
    case IP_USAGE:
        return CLI_EXIT_USAGE;
    case IP_CAPABILITY:
        return CLI_EXIT_CAPABILITY;
    case IP_UNTRUSTED:
        return CLI_EXIT_UNTRUSTED;
    case IP_FAILED:
    case IP_NO_MEMORY:
    case IP_IO:
    case IP_UNSUPPORTED:
        break;
    }
    return CLI_EXIT_FAILED;
}

const char *cli_plural(size_t count) {
    return count == 1 ? "" : "s";
}

void cli_interrupted_whole(const char *command, const struct cli_settings *settings, const char *what) {
    if (cli_signal() != 0 && !settings->quiet) {
        cli_message(command, "interrupted: %s", what);
    }
}

void cli_interrupted(const char *command, const struct cli_settings *settings, size_t done, size_t all,
                     const char *what) {
    if (all == 1) {
        cli_interrupted_whole(command, settings,
                              done == 1 ? "it had been measured" : "it was not measured to its end");
    } else if (cli_signal() != 0 && !settings->quiet) {
        cli_message(command, "interrupted: %zu of %zu %s were measured", done, all, what);
    }
}

int cli_report(const char *command, const struct ip_error *err) {
    /* What fails after an interrupt fails because of it. */
    if (cli_signal() != 0) {
        return 128 + cli_signal();
    }
    if (err->place[0] != '\0') {
        cli_message(command, "%s: %s", err->place, err->text);
    } else {
        cli_message(command, "%s", err->text);
    }
    return cli_exit_code(err->status);
}

int cli_print(const char *command, const struct ip_text *text) {
    if (text->failed) {
        cli_message(command, "out of memory");
        return CLI_EXIT_FAILED;
    }
    errno = 0;
    bool good = fwrite(ip_text_string(text), 1, text->length, stdout) == text->length;
    good = fflush(stdout) == 0 && good;
    int write_errno = errno;
    good = fclose(stdout) == 0 && good;
    if (good) {
        return CLI_EXIT_OK;
    }
    if (write_errno == EPIPE) {
        return 128 + SIGPIPE; /* the reader has seen enough: no message */
    }
    cli_message(command, "cannot write standard output: %s",
                strerror(write_errno != 0 ? write_errno : errno));
    return CLI_EXIT_FAILED;
}
