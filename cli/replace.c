/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void replacement_free(struct cli_replacement *replacement) {
    free(replacement->path);
    free(replacement->temporary);
    memset(replacement, 0, sizeof *replacement);
}

/* A file beside `path` with the rights of the one that is there. */
static int beside_open(const struct cli_replacement *replacement, const struct stat *about) {
    if (about != NULL && access(replacement->path, W_OK) != 0) {
        return -1; /* renaming would not ask */
    }
    int fd = open(replacement->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && about != NULL) {
        (void)fchmod(fd, about->st_mode & 07777);
    }
    return fd;
}

enum ip_status cli_replacement_open(struct cli_replacement *replacement, const char *path,
                                    struct ip_error *err) {
    struct stat about;
    struct cli_replacement made = {0};
    bool there = stat(path, &about) == 0;
    bool file = !there || S_ISREG(about.st_mode);
    made.path = there && file ? realpath(path, NULL) : strdup(path);
    if (made.path != NULL && file) {
        size_t size = strlen(made.path) + 24;
        made.temporary = malloc(size);
        if (made.temporary != NULL) {
            (void)snprintf(made.temporary, size, "%s.%ld", made.path, (long)getpid());
        }
    }
    if (made.path == NULL || (file && made.temporary == NULL)) {
        replacement_free(&made);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for '%.200s'", path);
    }
    int fd = file ? beside_open(&made, there ? &about : NULL) : open(path, O_WRONLY | O_CLOEXEC);
    made.stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (made.stream == NULL) {
        enum ip_status status = ip_fail_errno(err, IP_IO, errno, "cannot write '%.200s'", path);
        if (fd >= 0) {
            (void)close(fd);
        }
        replacement_free(&made);
        return status;
    }
    *replacement = made;
    return IP_OK;
}

enum ip_status cli_replacement_close(struct cli_replacement *replacement, bool good, struct ip_error *err) {
    errno = 0;
    bool written = ferror(replacement->stream) == 0;
    written = fclose(replacement->stream) == 0 && written;
    if (written && good && replacement->temporary != NULL) {
        written = rename(replacement->temporary, replacement->path) == 0;
    }
    enum ip_status status = written ? IP_OK
                                    : ip_fail_errno(err, IP_IO, errno != 0 ? errno : EIO,
                                                    "cannot write '%.200s'", replacement->path);
    if (replacement->temporary != NULL && (!written || !good)) {
        (void)unlink(replacement->temporary);
    }
    replacement_free(replacement);
    return status;
}

enum ip_status cli_replacement_try(const char *path, struct ip_error *err) {
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
        return IP_OK;
    }
    struct cli_replacement replacement;
    enum ip_status status = cli_replacement_open(&replacement, path, err);
    return status == IP_OK ? cli_replacement_close(&replacement, false, err) : status;
}
