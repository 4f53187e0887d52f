/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/accuracy/lines.h"

#include <string.h>

enum ip_status lines_open(struct lines *lines, const char *path, size_t limit, struct ip_error *err) {
    struct lines opened = {.most = 1};
    enum ip_status status = ip_file_read(&opened.text, path, limit, err);
    if (status != IP_OK) {
        return status;
    }
    for (size_t i = 0; i < opened.text.length; i++) {
        opened.most += opened.text.data[i] == '\n';
    }
    opened.rest = opened.text.data;
    (void)lines_next(&opened); /* the heading */
    *lines = opened;
    return IP_OK;
}

char *lines_next(struct lines *lines) {
    char *line = lines->rest;
    if (line == NULL || *line == '\0') {
        return NULL;
    }
    lines->rest = strchr(line, '\n');
    if (lines->rest != NULL) {
        *lines->rest++ = '\0';
    }
    lines->number++;
    return line;
}

void lines_close(struct lines *lines) {
    ip_text_fini(&lines->text);
}
