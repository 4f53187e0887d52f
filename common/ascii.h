/* SPDX-License-Identifier: Apache-2.0 */
/* common/ascii.h - letters and digits of instructions' names and of our own formats. Those of <ctype.h> and
 * <strings.h> depend on the locale: in Turkish toupper('i') is 'i'. */
#ifndef ISAPROBE_COMMON_ASCII_H
#define ISAPROBE_COMMON_ASCII_H

#include <stdbool.h>

static inline bool ip_ascii_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline bool ip_ascii_is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static inline bool ip_ascii_is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static inline bool ip_ascii_is_letter(char c) {
    return ip_ascii_is_lower(c) || ip_ascii_is_upper(c);
}

static inline bool ip_ascii_is_alnum(char c) {
    return ip_ascii_is_letter(c) || ip_ascii_is_digit(c);
}

static inline bool ip_ascii_is_hex(char c) {
    return ip_ascii_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A blank, or what ends a line. */
static inline bool ip_ascii_is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char ip_ascii_lower(char c) {
    return (char)(ip_ascii_is_upper(c) ? c - 'A' + 'a' : c);
}

static inline char ip_ascii_upper(char c) {
    return (char)(ip_ascii_is_lower(c) ? c - 'a' + 'A' : c);
}

static inline void ip_ascii_capitals(char *string) {
    for (; *string != '\0'; string++) {
        *string = ip_ascii_upper(*string);
    }
}

/* Equal but for capitals? */
static inline bool ip_ascii_same(const char *a, const char *b) {
    for (; *a != '\0' && ip_ascii_lower(*a) == ip_ascii_lower(*b); a++, b++) {
    }
    return ip_ascii_lower(*a) == ip_ascii_lower(*b);
}

#endif
