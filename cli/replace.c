/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/place.h"

static enum ip_status no_memory(const char *path, struct ip_error *err) {
    return ip_fail(err, IP_NO_MEMORY, "out of memory for '%.200s'", path);
}

static enum ip_status cannot_write(const char *path, struct ip_error *err) {
    int reason = errno != 0 ? errno : EIO;
    return ip_fail_errno(err, ip_refusal_or(reason, IP_IO), reason, "cannot write '%.200s'", path);
}

/* A file beside `path`, whose name `temporary` gets. -1: none. */
static int beside_open(const char *path, struct ip_text *temporary) {
    ip_text_printf(temporary, "%s.%ld", path, (long)getpid());
    if (temporary->failed) {
        errno = ENOMEM;
        return -1;
    }
    return open(temporary->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* May the file at `path` be written, or one be made? errno says why not. */
static bool may_write(const char *path, bool there) {
    if (there) {
        return access(path, W_OK) == 0; /* renaming would not ask */
    }
    struct ip_text temporary = {0};
    int fd = beside_open(path, &temporary);
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(temporary.data);
    }
    ip_text_fini(&temporary);
    return fd >= 0;
}

enum ip_status cli_replacement_open(struct cli_replacement *replacement, const char *path,
                                    struct ip_error *err) {
    struct stat about;
    struct ip_text place = {0};
    const bool there = stat(path, &about) == 0;
    if (!there && errno != ENOENT) {
        return cannot_write(path, err); /* links in a ring, for one */
    }
    const bool at_once = there && !S_ISREG(about.st_mode);
    if (at_once) {
        ip_text_append(&place, path);
    } else {
        ip_place_append(&place, path);
    }
    if (place.failed) {
        ip_text_fini(&place);
        return no_memory(path, err);
    }
    if (!at_once && !may_write(place.data, there)) {
        enum ip_status status = cannot_write(path, err);
        ip_text_fini(&place);
        return status;
    }
    int fd = at_once ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    *replacement = (struct cli_replacement){.path = place.data, .at_once = at_once};
    replacement->stream = !at_once  ? open_memstream(&replacement->data, &replacement->bytes)
                          : fd >= 0 ? fdopen(fd, "w")
                                    : NULL;
    if (replacement->stream == NULL) {
        enum ip_status status = cannot_write(path, err);
        if (fd >= 0) {
            (void)close(fd);
        }
        free(replacement->path);
        return status;
    }
    return IP_OK;
}

static bool all_write(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t written = write(fd, data, bytes);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        data += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Writes beside the file and renames. False, with errno: what is there is as it was. */
static bool beside_put(const struct cli_replacement *replacement) {
    struct ip_text temporary = {0};
    struct stat about;
    int fd = beside_open(replacement->path, &temporary);
    bool done = fd >= 0;
    if (fd >= 0) {
        if (stat(replacement->path, &about) == 0) {
            (void)fchmod(fd, about.st_mode & 07777);
        }
        done = all_write(fd, replacement->data, replacement->bytes);
        done = close(fd) == 0 && done;
        done = done && rename(temporary.data, replacement->path) == 0;
        int reason = errno;
        if (!done) {
            (void)unlink(temporary.data);
        }
        errno = reason;
    }
    ip_text_fini(&temporary);
    return done;
}

/* Over what is there, as every other output is written. */
static bool over_put(const struct cli_replacement *replacement) {
    int fd = open(replacement->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool done =
        all_write(fd, replacement->data, replacement->bytes) && ftruncate(fd, (off_t)replacement->bytes) == 0;
    return close(fd) == 0 && done;
}

/* The directory is not ours to change, or the name is (in a sticky directory, or a mount of its own). */
static bool is_denied(int reason) {
    return reason == EBUSY || ip_refusal_or(reason, IP_OK) != IP_OK;
}

enum ip_status cli_replacement_close(struct cli_replacement *replacement, bool good, struct ip_error *err) {
    errno = 0;
    bool written = ferror(replacement->stream) == 0;
    written = fclose(replacement->stream) == 0 && written;
    if (written && good && !replacement->at_once) {
        written = beside_put(replacement) || (is_denied(errno) && over_put(replacement));
    }
    enum ip_status status = written ? IP_OK : cannot_write(replacement->path, err);
    free(replacement->path);
    free(replacement->data);
    memset(replacement, 0, sizeof *replacement);
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
