/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/table.h"

#include <stdlib.h>
#include <string.h>

#include "isa/parse.h"

enum { TABLE_BYTES_MAX = 64 << 20 };

/* The text of isa/x86-64/ *.isa; see the Makefile. */
extern const char isa_builtin_text[], isa_builtin_text_end[];

void isa_table_fini(struct isa_table *table) {
    free(table->forms);
    free(table->index);
    memset(table, 0, sizeof *table);
}

/* The slot of `syntax`, or the free one where it belongs. */
static uint32_t *slot_of(const struct isa_table *table, const char *syntax) {
    size_t i = ip_text_hash(syntax) & (table->index_size - 1);
    while (table->index[i] != 0 && strcmp(table->forms[table->index[i] - 1].syntax, syntax) != 0)
        i = (i + 1) & (table->index_size - 1);
    return &table->index[i];
}

static bool forms_reserve(struct isa_table *table, size_t count) {
    if (count <= table->capacity)
        return true;
    size_t capacity = table->capacity == 0 ? 256 : table->capacity;
    while (capacity < count)
        capacity *= 2;
    struct isa_form *forms = realloc(table->forms, capacity * sizeof *forms);
    if (forms == NULL)
        return false;
    table->forms = forms;
    table->capacity = capacity;
    return true;
}

/* Makes the index large enough for `count` forms. */
static bool index_reserve(struct isa_table *table, size_t count) {
    size_t size = table->index_size == 0 ? 512 : table->index_size;
    while (size < count * 2)
        size *= 2;
    if (size == table->index_size)
        return true;
    uint32_t *index = calloc(size, sizeof *index);
    if (index == NULL)
        return false;
    free(table->index);
    table->index = index;
    table->index_size = size;
    for (size_t i = 0; i < table->count; i++)
        *slot_of(table, table->forms[i].syntax) = (uint32_t)i + 1;
    return true;
}

/* Where the parser of a text stands. */
struct reader {
    struct isa_table *table;
    struct isa_row row;
    size_t added; /* forms behind table->count, not indexed yet */
    char extension[20];
    const char *name;
    unsigned line;
};

static enum ip_status extension_set(struct reader *reader, const char *text, size_t length, size_t at,
                                    struct ip_error *err) {
    while (at < length && (text[at] == ' ' || text[at] == '\t'))
        at++;
    size_t start = at;
    while (at < length && text[at] != ' ' && text[at] != '\t' && text[at] != '\r')
        at++;
    size_t end = at;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        at++;
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+";
    bool good = end > start && at == length && end - start < sizeof reader->extension;
    for (size_t i = start; i < end && good; i++) /* it stands in the files of others */
        good = text[i] != '\0' && strchr(letters, text[i]) != NULL;
    if (!good)
        return ip_fail_at(err, IP_SYNTAX, reader->name, reader->line, (unsigned)start + 1,
                          "'extension' takes one name of at most %d letters, digits and _ - . +",
                          (int)sizeof reader->extension - 1);
    memcpy(reader->extension, text + start, end - start);
    reader->extension[end - start] = '\0';
    return IP_OK;
}

static enum ip_status line_add(struct reader *reader, const char *text, size_t length, struct ip_error *err) {
    const char *comment = memchr(text, '#', length);
    if (comment != NULL)
        length = (size_t)(comment - text);
    size_t at = 0;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        at++;
    if (at == length)
        return IP_OK;
    if (length - at >= 9 && memcmp(text + at, "extension", 9) == 0 &&
        (length - at == 9 || text[at + 9] == ' ' || text[at + 9] == '\t' || text[at + 9] == '\r'))
        return extension_set(reader, text, length, at + 9, err);
    unsigned column = 0;
    enum ip_status status = isa_row_parse(&reader->row, text, length, &column, err);
    if (status == IP_OK) {
        struct isa_table *table = reader->table;
        memcpy(reader->row.base.extension, reader->extension, sizeof reader->extension);
        if (!forms_reserve(table, table->count + reader->added + reader->row.form_count))
            return ip_fail(err, IP_NO_MEMORY, "no memory for the instruction table");
        column = (unsigned)at + 1;
        for (unsigned i = 0; i < reader->row.form_count && status == IP_OK; i++) {
            status = isa_row_form(&reader->row, i, &table->forms[table->count + reader->added], err);
            if (status == IP_OK)
                reader->added++;
        }
    }
    if (status != IP_OK && status != IP_NO_MEMORY) {
        struct ip_error inner = *err;
        return ip_fail_at(err, status, reader->name, reader->line, column, "%s", inner.text);
    }
    return status;
}

enum ip_status isa_table_text_add(struct isa_table *table, const char *name, const char *text, size_t length,
                                  struct ip_error *err) {
    struct reader reader = {.table = table, .name = name, .extension = "USER"};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line_length = end == NULL ? length - at : (size_t)(end - (text + at));
        reader.line++;
        enum ip_status status = line_add(&reader, text + at, line_length, err);
        if (status != IP_OK)
            return status;
        at += line_length + 1;
    }
    if (!index_reserve(table, table->count + reader.added))
        return ip_fail(err, IP_NO_MEMORY, "no memory for the instruction table");
    const size_t first = table->count;
    for (size_t i = 0; i < reader.added; i++) {
        const struct isa_form *form = &table->forms[first + i];
        uint32_t *slot = slot_of(table, form->syntax);
        if (*slot != 0) {
            table->forms[*slot - 1] = *form;
            continue;
        }
        if (table->count != first + i)
            table->forms[table->count] = *form;
        *slot = (uint32_t)++table->count;
    }
    return IP_OK;
}

enum ip_status isa_table_file_add(struct isa_table *table, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status =
        ip_text_file_read(&text, path, TABLE_BYTES_MAX, "one row of a table a line is expected", err);
    if (status == IP_OK)
        status = isa_table_text_add(table, strcmp(path, "-") == 0 ? "standard input" : path,
                                    ip_text_string(&text), text.length, err);
    ip_text_fini(&text);
    return status;
}

/* The text is the files one after the other, each behind a line "# file NAME". */
enum ip_status isa_table_builtin_add(struct isa_table *table, struct ip_error *err) {
    static const char mark[] = "# file ";
    const size_t mark_length = sizeof mark - 1;
    const char *at = isa_builtin_text, *end = isa_builtin_text_end;
    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        if (eol == NULL || (size_t)(eol - at) <= mark_length || memcmp(at, mark, mark_length) != 0)
            return ip_fail(err, IP_FAILED, "the built-in instruction tables are damaged; rebuild isaprobe");
        char name[128];
        size_t name_length = (size_t)(eol - at) - mark_length;
        if (name_length >= sizeof name)
            name_length = sizeof name - 1;
        memcpy(name, at + mark_length, name_length);
        name[name_length] = '\0';
        const char *body = eol + 1;
        const char *next = body;
        while (next < end && !((size_t)(end - next) > mark_length && memcmp(next, mark, mark_length) == 0)) {
            const char *line_end = memchr(next, '\n', (size_t)(end - next));
            next = line_end == NULL ? end : line_end + 1;
        }
        enum ip_status status = isa_table_text_add(table, name, body, (size_t)(next - body), err);
        if (status != IP_OK)
            return status;
        at = next;
    }
    return IP_OK;
}

struct isa_form *isa_table_find(const struct isa_table *table, const char *syntax) {
    if (table->count == 0)
        return NULL;
    struct isa_form form;
    struct ip_error err;
    if (isa_form_parse(&form, syntax, &err) != IP_OK)
        return NULL;
    uint32_t position = *slot_of(table, form.syntax);
    return position == 0 ? NULL : &table->forms[position - 1];
}
