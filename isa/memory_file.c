/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FD_FIRST = 8 };

int isa_memory_file(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || fd >= FD_FIRST)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST);
    int saved = errno == EINVAL ? EMFILE : errno; /* so high a number may not be had */
    (void)close(fd);
    errno = saved;
    return high;
}

enum ip_status isa_memory_file_reachable(const char *program, struct ip_error *err) {
    static const char *const needed[][2] = {{"/proc/self/fd", "mount /proc"}, {"/dev/null", "mount /dev"}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (access(needed[i][0], R_OK) != 0)
            return ip_fail_errno(err, IP_CAPABILITY, errno, "%s cannot work without %s (%s)", program,
                                 needed[i][0], needed[i][1]);
    }
    return IP_OK;
}

enum ip_status isa_memory_file_write(int fd, const char *data, size_t length, const char *reader,
                                     struct ip_error *err) {
    for (size_t at = 0; at < length;) {
        ssize_t count = write(fd, data + at, length - at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return ip_fail_errno(err, IP_IO, errno, "cannot hand the source to %s", reader);
        at += (size_t)count;
    }
    if (lseek(fd, 0, SEEK_SET) != 0)
        return ip_fail_errno(err, IP_IO, errno, "cannot hand the source to %s", reader);
    return IP_OK;
}

enum ip_status isa_memory_file_read(int fd, size_t limit_bytes, const char *writer, struct ip_text *text,
                                    struct ip_error *err) {
    struct stat about;
    if (fstat(fd, &about) != 0)
        return ip_fail_errno(err, IP_IO, errno, "cannot read the output of %s", writer);
    if ((size_t)about.st_size > limit_bytes)
        return ip_fail(err, IP_UNSUPPORTED, "the output of %s is larger than %zu MiB; split the source",
                       writer, limit_bytes >> 20);
    char buffer[65536];
    for (off_t at = 0;;) {
        ssize_t count = pread(fd, buffer, sizeof buffer, at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return ip_fail_errno(err, IP_IO, errno, "cannot read the output of %s", writer);
        if (count == 0)
            break;
        ip_text_append_bytes(text, buffer, (size_t)count);
        at += count;
    }
    return text->failed ? ip_fail(err, IP_NO_MEMORY, "no memory for the output of %s", writer) : IP_OK;
}
