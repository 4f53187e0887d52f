/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct ip_text *text, size_t more) {
    if (text->failed) {
        return false;
    }
    if (more >= (size_t)-1 / 2 - text->length) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity != 0 ? text->capacity : 64;
    while (capacity < needed) {
        capacity *= 2;
    }
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void ip_text_fini(struct ip_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

void ip_text_clear(struct ip_text *text) {
    text->length = 0;
    text->failed = false;
    if (text->data != NULL) {
        text->data[0] = '\0';
    }
}

void ip_text_append_bytes(struct ip_text *text, const void *bytes, size_t count) {
    if (!text_reserve(text, count)) {
        return;
    }
    if (count > 0) {
        memcpy(text->data + text->length, bytes, count);
    }
    text->length += count;
    text->data[text->length] = '\0';
}

void ip_text_append(struct ip_text *text, const char *string) {
    ip_text_append_bytes(text, string, strlen(string));
}

/* Length of the well-formed UTF-8 sequence at `at` (RFC 3629), 0 if it is none. */
static size_t utf8_length(const unsigned char *at) {
    if (at[0] < 0x80) {
        return 1;
    }
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0; /* also the end of the string */
        }
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] > 0x9f;
    bool beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

/* U+FFFD, for what is not UTF-8. */
static const char replacement[] = "\xef\xbf\xbd";

void ip_text_append_xml(struct ip_text *text, const char *string) {
    static const char special[] = "&<>\"";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0';) {
        size_t length = utf8_length(at);
        const char *found = strchr(special, *at);
        /* U+FFFE and U+FFFF, which XML has no place for either */
        bool none = length == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
        if (length == 0 || none) {
            ip_text_append(text, replacement);
            length = none ? length : 1;
        } else if (found != NULL) {
            ip_text_append(text, entities[found - special]);
        } else {
            ip_text_append_bytes(text, *at < 0x20 ? " " : (const char *)at, length);
        }
        at += length;
    }
}

void ip_text_append_json(struct ip_text *text, const char *string) {
    ip_text_append(text, "\"");
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0';) {
        size_t length = utf8_length(at);
        if (length == 0) {
            ip_text_append(text, replacement);
            at++;
        } else if (*at == '"' || *at == '\\') {
            ip_text_printf(text, "\\%c", *at++);
        } else if (*at < 0x20 || *at == 0x7f) {
            ip_text_printf(text, "\\u%04x", *at++);
        } else {
            ip_text_append_bytes(text, at, length);
            at += length;
        }
    }
    ip_text_append(text, "\"");
}

void ip_text_vprintf(struct ip_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !text_reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    text->length += (size_t)length;
}

void ip_text_trim(struct ip_text *text) {
    while (text->length > 0 && text->data[text->length - 1] == ' ') {
        text->data[--text->length] = '\0';
    }
}

void ip_text_printf(struct ip_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ip_text_vprintf(text, format, args);
    va_end(args);
}

unsigned ip_line_of(const char *text, const char *at) {
    unsigned line = 1;
    for (const char *c = text; c < at; c++) {
        line += *c == '\n';
    }
    return line;
}

const char *ip_text_string(const struct ip_text *text) {
    return text->data != NULL ? text->data : "";
}

/* Lines lie one behind the other in blocks: a kernel has a hundred of them, and lives for a moment. */
struct ip_lines_block {
    struct ip_lines_block *next;
    size_t size, used; /* of `text` */
    char text[];
};

void ip_lines_fini(struct ip_lines *lines) {
    for (struct ip_lines_block *block = lines->blocks; block != NULL;) {
        struct ip_lines_block *next = block->next;
        free(block);
        block = next;
    }
    free(lines->items);
    memset(lines, 0, sizeof *lines);
}

/* Room for so many bytes; NULL: no memory. */
static char *block_room(struct ip_lines *lines, size_t bytes) {
    enum { BYTES_LEAST = 256 };
    struct ip_lines_block *block = lines->blocks;
    if (block == NULL || block->size - block->used < bytes) {
        size_t size = block != NULL ? 2 * block->size : BYTES_LEAST;
        size = size < bytes ? bytes : size;
        block = malloc(sizeof *block + size);
        if (block == NULL) {
            return NULL;
        }
        *block = (struct ip_lines_block){.next = lines->blocks, .size = size};
        lines->blocks = block;
    }
    char *room = block->text + block->used;
    block->used += bytes;
    return room;
}

/* `string` is in a block; NULL: there was no memory for it. */
static void lines_take(struct ip_lines *lines, char *string) {
    lines->failed = lines->failed || string == NULL;
    if (lines->failed) {
        return;
    }
    if (lines->count == lines->capacity) {
        size_t capacity = lines->capacity != 0 ? 2 * lines->capacity : 16;
        char **items = realloc(lines->items, capacity * sizeof *items);
        if (items == NULL) {
            lines->failed = true;
            return;
        }
        lines->items = items;
        lines->capacity = capacity;
    }
    lines->items[lines->count++] = string;
}

void ip_lines_add(struct ip_lines *lines, const char *string) {
    size_t bytes = strlen(string) + 1;
    char *room = block_room(lines, bytes);
    if (room != NULL) {
        memcpy(room, string, bytes);
    }
    lines_take(lines, room);
}

void ip_lines_repeat(struct ip_lines *lines, size_t number) {
    lines_take(lines, lines->items[number]);
}

void ip_lines_printf(struct ip_lines *lines, const char *format, ...) {
    struct ip_text text = {0};
    va_list args;
    va_start(args, format);
    ip_text_vprintf(&text, format, args);
    va_end(args);
    if (text.failed) {
        lines->failed = true;
    } else {
        ip_lines_add(lines, ip_text_string(&text));
    }
    ip_text_fini(&text);
}

enum ip_status ip_file_read(struct ip_text *text, const char *path, size_t limit_bytes,
                            struct ip_error *err) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rbe");
    if (file == NULL) {
        return ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot open '%s'", path);
    }
    struct ip_text result = {0};
    char block[65536];
    size_t got = 0;
    while (!result.failed && result.length <= limit_bytes &&
           (got = fread(block, 1, sizeof block, file)) > 0) {
        ip_text_append_bytes(&result, block, got);
    }
    int read_errno = ferror(file) != 0 ? errno : 0;
    if (!is_stdin) {
        (void)fclose(file);
    }
    enum ip_status status = IP_OK;
    if (read_errno != 0) {
        status = ip_fail_errno(err, ip_refusal_or(read_errno, IP_IO), read_errno, "cannot read '%s'", path);
    } else if (result.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory while reading '%s'", path);
    } else if (result.length > limit_bytes) {
        path = is_stdin ? "standard input" : path;
        status = ip_fail(err, IP_SYNTAX, "'%s' is larger than %zu bytes, the limit for such a file", path,
                         limit_bytes);
    }
    if (status != IP_OK) {
        ip_text_fini(&result);
        return status;
    }
    ip_text_fini(text);
    *text = result;
    return IP_OK;
}

/* "\r\n" and "\r" become "\n", so that a line ends here as it did where the file was written. */
static void line_ends_make(struct ip_text *text) {
    char *to = text->data != NULL ? strchr(text->data, '\r') : NULL;
    if (to == NULL) {
        return;
    }
    for (const char *at = to; *at != '\0'; at++) {
        if (*at == '\r') {
            *to++ = '\n';
            at += at[1] == '\n';
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    text->length = (size_t)(to - text->data);
}

enum ip_status ip_text_file_read(struct ip_text *text, const char *path, size_t limit_bytes,
                                 const char *expected, struct ip_error *err) {
    static const char mark[] = "\xef\xbb\xbf"; /* what some editors begin UTF-8 with */
    struct ip_text read = {0};
    enum ip_status status = ip_file_read(&read, path, limit_bytes, err);
    if (status == IP_OK && read.length >= 3 && memcmp(read.data, mark, 3) == 0) {
        read.length -= 3;
        memmove(read.data, read.data + 3, read.length + 1);
    }
    if (status == IP_OK && strlen(ip_text_string(&read)) != read.length) {
        status = ip_fail(err, IP_SYNTAX, "'%.200s' is not text: %s",
                         strcmp(path, "-") == 0 ? "standard input" : path, expected);
    }
    if (status == IP_OK) {
        line_ends_make(&read);
        ip_text_fini(text);
        *text = read;
    } else {
        ip_text_fini(&read);
    }
    return status;
}
