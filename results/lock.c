/* SPDX-License-Identifier: Apache-2.0 */
#include "results/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/place.h"

/* The lock could not be opened. */
static enum ip_status open_failed(const char *path, const char *store_path, int reason,
                                  struct ip_error *err) {
    enum ip_status status = ip_refusal_or(reason, IP_IO);
    struct stat about;
    if (status == IP_CAPABILITY && lstat(path, &about) == 0 && access(store_path, W_OK) == 0) {
        return ip_fail_errno(err, IP_CAPABILITY, reason,
                             "cannot open the lock '%.200s' of user %ld (remove it if that user scans no "
                             "more, or give another --store FILE)",
                             path, (long)about.st_uid);
    }
    return ip_fail_errno(err, status, reason,
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

enum ip_status res_lock_take(struct res_lock *lock, const char *store_path, struct ip_error *err) {
    struct ip_text path = {0};
    ip_place_append(&path, store_path); /* all who use the store mean one lock */
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
