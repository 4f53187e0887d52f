/* SPDX-License-Identifier: Apache-2.0 */
/* common/text.h - growing strings, lists of strings, whole files. */
#ifndef ISAPROBE_COMMON_TEXT_H
#define ISAPROBE_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* A growing, always NUL-terminated string. All-zero is a valid empty one. A failed allocation
 * sets `failed`, and every later call does nothing: check once, at the end. */
struct ip_text {
    char *data; /* owned; NULL while empty */
    size_t length, capacity;
    bool failed;
};

void ip_text_fini(struct ip_text *text);
void ip_text_clear(struct ip_text *text); /* keeps the memory */
void ip_text_append(struct ip_text *text, const char *string);
void ip_text_append_bytes(struct ip_text *text, const void *bytes, size_t count);
void ip_text_trim(struct ip_text *text); /* drops blanks at the end */
void ip_text_printf(struct ip_text *text, const char *format, ...) IP_PRINTF(2, 3);
void ip_text_vprintf(struct ip_text *text, const char *format, va_list args) IP_PRINTF(2, 0);
/* "" for an empty text; borrowed. */
const char *ip_text_string(const struct ip_text *text);
/* The line, counted from 1, in which `at` stands, a place in `text`. */
unsigned ip_line_of(const char *text, const char *at);
/* FNV-1a of a string (Fowler, Noll, Vo 1991): for tables that are looked up by it. */
static inline uint32_t ip_text_hash(const char *string) {
    uint32_t hash = UINT32_C(2166136261);
    for (const unsigned char *c = (const unsigned char *)string; *c != '\0'; c++) {
        hash = (hash ^ *c) * UINT32_C(16777619);
    }
    return hash;
}
/* Appends what stands for `string` in XML, in an attribute too; a blank for a control character, which XML
 * has no place for, and U+FFFD for what is not UTF-8. */
void ip_text_append_xml(struct ip_text *text, const char *string);
/* Appends `string` as a string of JSON (and of YAML), with its quotes: control characters escaped, U+FFFD for
 * what is not UTF-8. */
void ip_text_append_json(struct ip_text *text, const char *string);

struct ip_lines_block;

/* A growing list of owned strings, with the same rule of failure. */
struct ip_lines {
    char **items;
    size_t count, capacity;
    struct ip_lines_block *blocks; /* owned: where the strings lie */
    bool failed;
};

void ip_lines_fini(struct ip_lines *lines);
void ip_lines_add(struct ip_lines *lines, const char *string);
/* Adds items[number] once more: both are then one string. */
void ip_lines_repeat(struct ip_lines *lines, size_t number);
void ip_lines_printf(struct ip_lines *lines, const char *format, ...) IP_PRINTF(2, 3);

/* Reads a whole file; "-" is standard input. IP_IO, or IP_CAPABILITY where permissions forbid it, names the
 * file; IP_SYNTAX when it is larger than `limit_bytes`. `text` must be all-zero or hold an earlier text,
 * which is replaced. */
IP_CHECK enum ip_status ip_file_read(struct ip_text *text, const char *path, size_t limit_bytes,
                                     struct ip_error *err);
/* The same of a file that is text; a byte order mark at its begin is left out, and lines end in LF, whether
 * they did in that, in CR LF or in CR. IP_SYNTAX, with `expected`
 * ("one form a line is expected"), where it has a NUL byte, behind which nobody would look. */
IP_CHECK enum ip_status ip_text_file_read(struct ip_text *text, const char *path, size_t limit_bytes,
                                          const char *expected, struct ip_error *err);

#endif
