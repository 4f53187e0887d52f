/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/kind.h"
#include "isa/table.h"

/* The place in a line. */
struct cursor {
    const char *text;
    size_t at, length;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct cursor *c) {
    while (c->at < c->length && is_blank(c->text[c->at]))
        c->at++;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A piece of the row as a message shows it. */
struct shown {
    char text[64];
};

/* What cannot be printed must not reach a terminal. */
static const char *show(struct shown *shown, const char *object, size_t length) {
    if (length > 60)
        length = 60;
    for (size_t i = 0; i < length; i++)
        shown->text[i] = object[i];
    for (size_t i = 0; i < length; i++) {
        if (shown->text[i] < ' ' || shown->text[i] > '~')
            shown->text[i] = '?';
    }
    shown->text[length] = '\0';
    return shown->text;
}
#define SHOW(object, length) show(&(struct shown){{0}}, object, length)

/* Records the place, and fails. */
IP_PRINTF(4, 5)
static enum ip_status bad(unsigned *column, size_t at, struct ip_error *err, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *column = (unsigned)at + 1;
    return ip_fail(err, IP_SYNTAX, "%s", text);
}

static bool is_prefix(const char *word, size_t length) {
    static const char *const prefixes[] = {"lock", "rep", "repe", "repne", "{evex}", "{vex}"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strlen(prefixes[i]) == length && memcmp(prefixes[i], word, length) == 0)
            return true;
    }
    return false;
}

/* Copies text[0..length) in lower case. */
static void copy_lower(char *to, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        to[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    to[length] = '\0';
}

/* Prefixes and the mnemonic. */
static enum ip_status parse_head(struct isa_row *row, struct cursor *c, unsigned *column,
                                 struct ip_error *err) {
    for (;;) {
        skip_blanks(c);
        size_t start = c->at;
        if (start < c->length && c->text[start] == '{') {
            while (c->at < c->length && c->text[c->at] != '}')
                c->at++;
            if (c->at < c->length)
                c->at++;
        } else {
            while (c->at < c->length && is_word(c->text[c->at]))
                c->at++;
        }
        size_t length = c->at - start;
        if (length == 0 || length >= ISA_MNEMONIC_MAX || (c->at < c->length && !is_blank(c->text[c->at])))
            return bad(column, start, err, "'%s' is no mnemonic",
                       SHOW(c->text + start,
                            length == 0 || length >= ISA_MNEMONIC_MAX ? c->length - start : length + 1));
        char word[ISA_MNEMONIC_MAX];
        copy_lower(word, c->text + start, length);
        if (strcmp(word, "repz") == 0)
            strcpy(word, "repe");
        else if (strcmp(word, "repnz") == 0)
            strcpy(word, "repne");
        if (is_prefix(word, strlen(word))) {
            if (row->base.prefix[0] != '\0')
                return bad(column, start, err, "'%s' is a second prefix; a row has at most one",
                           SHOW(word, strlen(word)));
            strcpy(row->base.prefix, word);
            continue;
        }
        if (word[0] == '{')
            return bad(column, start, err, "'%s' is no prefix (lock rep repe repne {evex} {vex})",
                       SHOW(word, strlen(word)));
        strcpy(row->base.mnemonic, word);
        isa_mnemonic_canonicalise(row->base.mnemonic);
        return IP_OK;
    }
}

/* "{rn-sae}" and "{sae}". */
static bool is_decorator(const char *text) {
    static const char *const decorators[] = {"{sae}", "{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"};
    for (size_t i = 0; i < sizeof decorators / sizeof decorators[0]; i++) {
        if (strcmp(text, decorators[i]) == 0)
            return true;
    }
    return false;
}

/* One alternative: a kind, and {k} or {k}{z} behind it. */
static enum ip_status parse_alternative(struct isa_row *row, const char *item, size_t length, size_t at,
                                        unsigned *column, struct ip_error *err) {
    unsigned position = row->operand_count;
    if (length == 0)
        return bad(column, at, err, "an operand is missing here");
    char text[32];
    if (length >= sizeof text)
        return bad(column, at, err, "'%s' is no operand kind", SHOW(item, length));
    copy_lower(text, item, length);
    if (row->counts[position] == ISA_ALTERNATIVES_MAX)
        return bad(column, at, err, "'%s' is one alternative too many; split the row", SHOW(item, length));
    struct isa_alternative *alternative = &row->alternatives[position][row->counts[position]];
    memset(alternative, 0, sizeof *alternative);
    if (length > 3 && memcmp(text + length - 3, "{z}", 3) == 0) {
        alternative->zeroing = true;
        length -= 3;
    }
    if (length > 3 && memcmp(text + length - 3, "{k}", 3) == 0) {
        alternative->masked = true;
        length -= 3;
    }
    if (alternative->zeroing && !alternative->masked)
        return bad(column, at, err, "'%s': {z} needs {k} before it", SHOW(item, length + 3));
    if (alternative->masked && position != 0)
        return bad(column, at, err, "'%s': only the first operand is masked", SHOW(item, length + 3));
    if (!isa_kind_parse(text, length, &alternative->operand))
        return bad(column, at, err, "'%s' is no operand kind", SHOW(item, length));
    row->counts[position]++;
    return IP_OK;
}

static enum ip_status parse_operands(struct isa_row *row, struct cursor *c, unsigned *column,
                                     struct ip_error *err) {
    skip_blanks(c);
    if (c->at == c->length)
        return IP_OK;
    for (;;) {
        skip_blanks(c);
        size_t start = c->at;
        while (c->at < c->length && c->text[c->at] != ',')
            c->at++;
        size_t end = c->at;
        while (end > start && is_blank(c->text[end - 1]))
            end--;
        if (row->base.decorator[0] != '\0')
            return bad(column, start, err, "'%s' follows the rounding decorator, which must be last",
                       SHOW(c->text + start, end - start));
        char word[12];
        if (end - start < sizeof word && end > start && c->text[start] == '{') {
            copy_lower(word, c->text + start, end - start);
            if (!is_decorator(word))
                return bad(column, start, err, "'%s' is no decorator ({sae} {rn-sae})",
                           SHOW(word, strlen(word)));
            strcpy(row->base.decorator, word);
        } else {
            if (row->operand_count == ISA_ROW_OPERANDS_MAX)
                return bad(column, start, err, "'%s' is one operand too many",
                           SHOW(c->text + start, end - start));
            row->counts[row->operand_count] = 0;
            size_t item = start;
            for (size_t i = start; i <= end; i++) {
                if (i < end && c->text[i] != '/')
                    continue;
                enum ip_status status = parse_alternative(row, c->text + item, i - item, item, column, err);
                if (status != IP_OK)
                    return status;
                item = i + 1;
            }
            row->form_count *= row->counts[row->operand_count];
            row->operand_count++;
            if (row->form_count > ISA_ROW_FORMS_MAX)
                return bad(column, start, err, "the row stands for too many forms; split it");
        }
        if (c->at == c->length)
            return IP_OK;
        c->at++;
    }
}

/* "op2", "flags". The bit of override_reads and override_writes, or 0. */
static unsigned operand_bit(const char *word, size_t length) {
    if (length == 5 && memcmp(word, "flags", 5) == 0)
        return 1u << 15;
    if (length == 3 && word[0] == 'o' && word[1] == 'p' && word[2] >= '1' && word[2] <= '8')
        return 1u << (word[2] - '1');
    return 0;
}

/* What follows the semicolon. */
static enum ip_status parse_attributes(struct isa_row *row, struct cursor *c, unsigned *column,
                                       struct ip_error *err) {
    uint16_t *list = NULL;
    for (;;) {
        skip_blanks(c);
        size_t start = c->at;
        if (start == c->length)
            return IP_OK;
        while (c->at < c->length && !is_blank(c->text[c->at]))
            c->at++;
        const char *word = c->text + start;
        size_t length = c->at - start;
        if (length == 5 && memcmp(word, "note:", 5) == 0) {
            skip_blanks(c);
            size_t rest = c->length - c->at;
            while (rest > 0 && is_blank(c->text[c->at + rest - 1]))
                rest--;
            if (rest >= sizeof row->base.note)
                return bad(column, c->at, err, "the note is too long: '%s ...'", SHOW(c->text + c->at, rest));
            memcpy(row->base.note, c->text + c->at, rest);
            row->base.note[rest] = '\0';
            return IP_OK;
        }
        unsigned bit = operand_bit(word, length);
        if (length == 6 && memcmp(word, "reads:", 6) == 0) {
            list = &row->base.override_reads;
            row->base.override = true;
        } else if (length == 7 && memcmp(word, "writes:", 7) == 0) {
            list = &row->base.override_writes;
            row->base.override = true;
        } else if (length == 3 && memcmp(word, "raw", 3) == 0) {
            row->base.encode_raw = true;
        } else if (length == 7 && memcmp(word, "unsized", 7) == 0) {
            row->base.memory_unsized = true;
        } else if (bit != 0 && list != NULL) {
            if (bit != 1u << 15 && bit >= 1u << row->operand_count)
                return bad(column, start, err, "the row has no operand '%s'", SHOW(word, length));
            *list = (uint16_t)(*list | bit);
        } else {
            return bad(column, start, err, "'%s' is no attribute (reads: writes: note: raw unsized)",
                       SHOW(word, length));
        }
    }
}

enum ip_status isa_row_parse(struct isa_row *row, const char *text, size_t length, unsigned *column,
                             struct ip_error *err) {
    size_t semicolon = 0;
    while (semicolon < length && text[semicolon] != ';')
        semicolon++;
    struct cursor c = {text, 0, semicolon};
    while (c.length > 0 && is_blank(text[c.length - 1]))
        c.length--;
    memset(&row->base, 0, sizeof row->base);
    row->operand_count = 0;
    row->form_count = 1;
    enum ip_status status = parse_head(row, &c, column, err);
    if (status == IP_OK)
        status = parse_operands(row, &c, column, err);
    if (status == IP_OK && semicolon < length) {
        c.at = semicolon + 1;
        c.length = length;
        status = parse_attributes(row, &c, column, err);
    }
    return status;
}

enum ip_status isa_row_form(const struct isa_row *row, unsigned n, struct isa_form *form,
                            struct ip_error *err) {
    /* The last operand varies fastest. */
    unsigned choice[ISA_ROW_OPERANDS_MAX];
    for (unsigned i = row->operand_count; i-- > 0;) {
        choice[i] = n % row->counts[i];
        n /= row->counts[i];
    }
    struct isa_form out = row->base;
    unsigned count = 0;
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct isa_alternative *alternative = &row->alternatives[i][choice[i]];
        out.operands[count++] = alternative->operand;
        if (alternative->masked) {
            out.operands[count++] = (struct isa_operand){
                .kind = ISA_OPERAND_REG, .reg_class = ISA_REG_MASK, .reg = -1, .bits = 64, .mask = true};
            out.zeroing = alternative->zeroing;
        }
    }
    out.explicit_count = out.operand_count = (uint8_t)count;
    /* "op2" of a row counts what is written, as people do; the mask stands between. */
    if (count > row->operand_count) {
        uint16_t *lists[] = {&out.override_reads, &out.override_writes};
        for (unsigned i = 0; i < 2; i++) {
            unsigned flags = *lists[i] & 0x8000u, others = *lists[i] & 0x7fffu;
            *lists[i] = (uint16_t)(flags | (others & 1u) | (others & ~1u) << 1);
        }
    }
    if (!isa_form_syntax_build(&out))
        return ip_fail(err, IP_SYNTAX, "the syntax of '%s' is longer than %d characters", out.mnemonic,
                       ISA_SYNTAX_MAX - 1);
    *form = out;
    return IP_OK;
}

enum ip_status isa_form_parse(struct isa_form *form, const char *syntax, struct ip_error *err) {
    struct isa_row row;
    unsigned column = 0;
    if (isa_row_parse(&row, syntax, strlen(syntax), &column, err) != IP_OK) {
        struct ip_error inner = *err;
        return ip_fail(err, inner.status, "column %u: %s", column, inner.text);
    }
    if (row.form_count != 1)
        return ip_fail(err, IP_SYNTAX, "'%.60s' has alternatives; write one form", syntax);
    return isa_row_form(&row, 0, form, err);
}
