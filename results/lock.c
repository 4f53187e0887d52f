/* SPDX-License-Identifier: Apache-2.0 */
#include "results/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

/* The lock could not be opened. */
static enum ip_status open_failed(const char *path, const char *store_path, int reason,
                                  struct ip_error *err) {
    bool permission = reason == EACCES || reason == EPERM || reason == EROFS;
    struct stat about;
    if (permission && lstat(path, &about) == 0 && access(store_path, W_OK) == 0) {
        return ip_fail_errno(err, IP_CAPABILITY, reason,
                             "cannot open the lock '%.200s' of user %ld (remove it if that user scans no "
                             "more, or give another --store FILE)",
                             path, (long)about.st_uid);
    }
    return ip_fail_errno(err, permission ? IP_CAPABILITY : IP_IO, reason,
                         "cannot write beside the store '%.200s' (--store FILE puts it elsewhere)",
                         store_path);
}

/* Whoever may write the store may take the lock that a killed scan of somebody else has left. Fails where
 * that was not us: then it is as it is. */
static void rights_share(int fd, const char *store_path) {
    struct stat about;
    if (stat(store_path, &about) == 0) {
        int group = fchown(fd, (uid_t)-1, about.st_gid);
        (void)group;
        (void)fchmod(fd, about.st_mode & 0666);
    }
}

/* Record locks (fcntl) and not flock: a child that measures does not inherit them, so that they end with the
 * scan itself, and they know who holds them. */
static enum ip_status lock_set(int fd, const char *store_path, struct ip_error *err) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &whole) == 0) {
        return IP_OK;
    }
    if (errno != EACCES && errno != EAGAIN) {
        return ip_fail_errno(err, IP_IO, errno, "cannot lock the store '%.200s'", store_path);
    }
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &holder) != 0 || holder.l_type == F_UNLCK) {
        return ip_fail(err, IP_FAILED,
                       "the store '%.200s' is in use by another scan: try again when it has ended",
                       store_path);
    }
    return ip_fail(err, IP_FAILED,
                   "the store '%.200s' is in use by another scan (process %ld): wait for it, or give another "
                   "--store FILE",
                   store_path, (long)holder.l_pid);
}

/* The one before us removed the file between our open and our lock: the lock that we have is of no use. */
static bool lock_is_stale(int fd, const char *path) {
    struct stat ours, there;
    return fstat(fd, &ours) != 0 || stat(path, &there) != 0 || ours.st_dev != there.st_dev ||
           ours.st_ino != there.st_ino;
}

/* The directory of a path, with its slash; nothing of a name alone. */
static void directory_append(struct ip_text *text, const char *path) {
    const char *slash = strrchr(path, '/');
    ip_text_append_bytes(text, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
}

/* Follows symbolic links of the file's own; where they end it may be still to be made. */
static void links_follow(struct ip_text *path) {
    enum { LINKS_MAX = 40 }; /* as Linux has */
    char target[PATH_MAX];
    for (int i = 0; i < LINKS_MAX && !path->failed; i++) {
        ssize_t length = readlink(ip_text_string(path), target, sizeof target - 1);
        if (length < 0) {
            return;
        }
        target[length] = '\0';
        struct ip_text next = {0};
        if (target[0] != '/') {
            directory_append(&next, ip_text_string(path));
        }
        ip_text_append(&next, target);
        ip_text_fini(path);
        *path = next;
    }
}

/* Where the store is, whatever symbolic links lead there, so that all who use it mean one lock. A directory
 * that cannot be resolved stays as it is: opening the lock tells why. */
static void place_append(struct ip_text *text, const char *store_path) {
    struct ip_text path = {0}, directory = {0};
    ip_text_append(&path, store_path);
    links_follow(&path);
    directory_append(&directory, ip_text_string(&path));
    const char *name = ip_text_string(&path) + directory.length;
    char *whole = realpath(directory.length > 0 ? directory.data : ".", NULL);
    if (whole != NULL) {
        ip_text_printf(text, "%s/%s", whole, name);
    } else {
        ip_text_append(text, ip_text_string(&path));
    }
    text->failed = text->failed || path.failed || directory.failed;
    free(whole);
    ip_text_fini(&directory);
    ip_text_fini(&path);
}

enum ip_status res_lock_take(struct res_lock *lock, const char *store_path, struct ip_error *err) {
    struct ip_text path = {0};
    place_append(&path, store_path);
    ip_text_append(&path, ".lock");
    if (path.failed) {
        ip_text_fini(&path);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the name of the lock");
    }
    int fd = -1;
    enum ip_status status = IP_OK;
    do {
        if (fd >= 0) {
            (void)close(fd);
        }
        fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            rights_share(fd, store_path);
        }
        status = fd >= 0 ? lock_set(fd, store_path, err) : open_failed(path.data, store_path, errno, err);
    } while (status == IP_OK && lock_is_stale(fd, path.data));
    if (status != IP_OK) {
        if (fd >= 0) {
            (void)close(fd);
        }
        ip_text_fini(&path);
        return status;
    }
    *lock = (struct res_lock){.fd = fd, .path = path.data}; /* the text's memory is the lock's now */
    return IP_OK;
}

void res_lock_drop(struct res_lock *lock) {
    if (lock->path != NULL) {
        (void)unlink(lock->path); /* while it is held: whoever opened it meanwhile finds that it is stale */
        (void)close(lock->fd);
        free(lock->path);
    }
    *lock = (struct res_lock){.fd = -1};
}
