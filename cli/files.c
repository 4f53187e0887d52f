/* SPDX-License-Identifier: Apache-2.0 */
/* cli/files.c - what a command is to write may be nothing that it is to read, nor anybody's store. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* A file that the command was given. One that is not there yet is known by its directory and its name. */
struct file {
    const char *option; /* without dashes; NULL: an argument */
    const char *path;
    bool output, there;
    dev_t device;
    ino_t inode;
    const char *name; /* NULL: the file itself */
};

struct files {
    struct file *items; /* owned */
    size_t count, capacity;
    bool failed;
};

/* Devices and pipes may be had twice. */
static bool file_find(struct file *file) {
    struct stat about;
    const char *slash = strrchr(file->path, '/');
    char directory[4096] = ".";
    file->there = stat(file->path, &about) == 0;
    if (file->there) {
        file->device = about.st_dev;
        file->inode = about.st_ino;
        return S_ISREG(about.st_mode);
    }
    if (slash != NULL) {
        (void)snprintf(directory, sizeof directory, "%.*s/", (int)(slash - file->path), file->path);
    }
    file->name = slash != NULL ? slash + 1 : file->path;
    if (stat(directory, &about) != 0) {
        return false; /* it will not be opened either */
    }
    file->device = about.st_dev;
    file->inode = about.st_ino;
    return true;
}

static void file_add(struct files *files, const char *option, const char *path, bool output) {
    struct file file = {.option = option, .path = path, .output = output};
    if (path == NULL || strcmp(path, "-") == 0 || !file_find(&file)) {
        return;
    }
    if (files->count == files->capacity) {
        size_t capacity = files->capacity != 0 ? 2 * files->capacity : 16;
        struct file *items = realloc(files->items, capacity * sizeof *items);
        if (items == NULL) {
            files->failed = true;
            return;
        }
        files->items = items;
        files->capacity = capacity;
    }
    files->items[files->count++] = file;
}

static bool is_same(const struct file *a, const struct file *b) {
    return a->there == b->there && a->device == b->device && a->inode == b->inode &&
           (a->there || strcmp(a->name, b->name) == 0);
}

/* "dot" of --kernel is no file. */
static bool is_word(const struct cli_option *option, const char *value) {
    return option->words != NULL && value != NULL && cli_word_find(option->words, value) >= 0;
}

/* The file behind sim:FILE and replay:FILE. */
static const char *timer_file(const char *timer) {
    static const char *const prefixes[] = {"sim:", "replay:"};
    for (size_t i = 0; timer != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(timer, prefixes[i], strlen(prefixes[i])) == 0) {
            return timer + strlen(prefixes[i]);
        }
    }
    return NULL;
}

static void files_collect(struct files *files, const struct cli_command *command,
                          const struct cli_settings *settings) {
    const struct cli_option *tables[CLI_TABLES_MAX];
    cli_option_tables(command, tables);
    for (size_t t = 0; t < CLI_TABLES_MAX && tables[t] != NULL; t++) {
        for (const struct cli_option *option = tables[t]; option->name != NULL; option++) {
            const void *field = (const char *)settings + option->offset;
            const struct ip_lines *lines = field;
            if (option->kind == CLI_KIND_FILE || option->kind == CLI_KIND_OUTPUT) {
                const char *path = *(const char *const *)field;
                if (!is_word(option, path)) {
                    file_add(files, option->name, path, option->kind == CLI_KIND_OUTPUT);
                }
            }
            for (size_t i = 0; option->kind == CLI_KIND_FILES && i < lines->count; i++) {
                file_add(files, option->name, lines->items[i], false);
            }
        }
    }
    file_add(files, "timer", timer_file(settings->timer), false);
    for (int i = 0; command->file_arguments && i < settings->argument_count; i++) {
        file_add(files, NULL, settings->arguments[i], false);
    }
}

/* Measurements may go back to where they came from: those that were read are written again. */
static bool may_be_same(const struct file *output, const struct file *other) {
    return strcmp(output->option, "keep") == 0 && other->option != NULL &&
           strcmp(other->option, "measured") == 0;
}

static bool is_database(const char *path) {
    static const char magic[] = "SQLite format 3"; /* and its zero */
    char begin[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && read(fd, begin, sizeof begin) == (ssize_t)sizeof begin &&
                 memcmp(begin, magic, sizeof magic) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return found;
}

/* What the output at `at` is besides, as words; "": nothing. */
static void conflict_find(const struct files *files, size_t at, char *words, size_t size) {
    const struct file *output = &files->items[at];
    words[0] = '\0';
    for (size_t i = 0; i < files->count && words[0] == '\0'; i++) {
        const struct file *other = &files->items[i];
        if (i == at || !is_same(output, other) || may_be_same(output, other)) {
            continue;
        }
        if (other->option == NULL) {
            (void)snprintf(words, size, "one of the files to read");
        } else if (strcmp(other->option, "store") == 0) {
            (void)snprintf(words, size, "the store itself");
        } else {
            (void)snprintf(words, size, "the file that --%s %s", other->option,
                           other->output ? "writes" : "reads");
        }
    }
    if (words[0] == '\0' && output->there && is_database(output->path)) {
        (void)snprintf(words, size, "an SQLite file, as stores are");
    }
}

/* Only --output has "-" for standard output. */
static bool dash_refuse(const struct cli_command *command, const struct cli_settings *settings) {
    const struct cli_option *tables[CLI_TABLES_MAX];
    cli_option_tables(command, tables);
    for (size_t t = 0; t < CLI_TABLES_MAX && tables[t] != NULL; t++) {
        for (const struct cli_option *option = tables[t]; option->name != NULL; option++) {
            const char *const *path = (const void *)((const char *)settings + option->offset);
            if (option->kind == CLI_KIND_OUTPUT && path != &settings->output && *path != NULL &&
                strcmp(*path, "-") == 0) {
                cli_message(command->name,
                            "--%s: only --output goes to standard output; name a file (./- is one called -)",
                            option->name);
                return true;
            }
        }
    }
    return false;
}

/* Whether the option reads standard input when it is "-": stores and directories are no streams. */
static unsigned streams_count(const struct cli_option *option, const struct cli_settings *settings) {
    const void *field = (const char *)settings + option->offset;
    if (option->kind == CLI_KIND_FILE) {
        const char *path = *(const char *const *)field;
        bool stream = path != NULL && option->offset != offsetof(struct cli_settings, store) &&
                      strcmp(option->argument, "DIR") != 0;
        return stream && strcmp(path, "-") == 0;
    }
    unsigned count = 0;
    const struct ip_lines *lines = field;
    for (size_t i = 0; option->kind == CLI_KIND_FILES && i < lines->count; i++) {
        count += strcmp(lines->items[i], "-") == 0;
    }
    return count;
}

/* What the first reader leaves of standard input is nothing. */
static bool second_reader_refuse(const struct cli_command *command, const struct cli_settings *settings) {
    const struct cli_option *tables[CLI_TABLES_MAX];
    unsigned count = 0;
    cli_option_tables(command, tables);
    for (size_t t = 0; t < CLI_TABLES_MAX && tables[t] != NULL; t++) {
        for (const struct cli_option *option = tables[t]; option->name != NULL; option++) {
            count += streams_count(option, settings);
        }
    }
    for (int i = 0; command->file_arguments && i < settings->argument_count; i++) {
        count += strcmp(settings->arguments[i], "-") == 0;
    }
    if (count > 1) {
        cli_message(command->name, "standard input can be read once: name a file in the place of one -");
    }
    return count > 1;
}

int cli_files_check(const struct cli_command *command, const struct cli_settings *settings) {
    struct files files = {0};
    char words[80];
    int code = CLI_EXIT_OK;
    if (dash_refuse(command, settings) || second_reader_refuse(command, settings)) {
        return CLI_EXIT_USAGE;
    }
    files_collect(&files, command, settings);
    if (files.failed) {
        cli_message(command->name, "out of memory");
        code = CLI_EXIT_FAILED;
    }
    for (size_t i = 0; i < files.count && code == CLI_EXIT_OK; i++) {
        if (!files.items[i].output) {
            continue;
        }
        conflict_find(&files, i, words, sizeof words);
        if (words[0] != '\0') {
            cli_message(command->name, "--%s '%.200s' is %s: name another file", files.items[i].option,
                        files.items[i].path, words);
            code = CLI_EXIT_USAGE;
        }
    }
    free(files.items);
    return code;
}
