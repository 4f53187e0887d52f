/* SPDX-License-Identifier: Apache-2.0 */
#include "common/place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void ip_place_append(struct ip_text *text, const char *path) {
    struct ip_text end = {0}, directory = {0};
    ip_text_append(&end, path);
    links_follow(&end);
    directory_append(&directory, ip_text_string(&end));
    const char *name = ip_text_string(&end) + directory.length;
    char *whole = realpath(directory.length > 0 ? directory.data : ".", NULL);
    if (whole != NULL) {
        ip_text_printf(text, "%s/%s", whole, name);
    } else {
        ip_text_append(text, ip_text_string(&end));
    }
    text->failed = text->failed || end.failed || directory.failed;
    free(whole);
    ip_text_fini(&directory);
    ip_text_fini(&end);
}
