/* SPDX-License-Identifier: Apache-2.0 */
#include "results/tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/text.h"
#include "results/sheet.h"

enum { DEPTH_MAX = 32, BLOCK_BYTES = 64 << 10 };

/* Memory that goes all at once. */
struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
};

struct reader {
    struct res_tree *tree;
    const char *name, *at;
    unsigned line;
    struct ip_error *err;
};

void res_tree_fini(struct res_tree *tree) {
    struct block *block = tree->blocks;
    while (block != NULL) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    memset(tree, 0, sizeof *tree);
}

static void *take(struct reader *reader, size_t size) {
    size = (size + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
    struct block *block = reader->tree->blocks;
    if (block == NULL || block->size - block->used < size) {
        size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof *block + bytes);
        if (block == NULL) {
            return NULL;
        }
        *block = (struct block){.next = reader->tree->blocks, .size = bytes};
        reader->tree->blocks = block;
    }
    void *taken = (char *)block->data + block->used;
    block->used += size;
    return taken;
}

static enum ip_status no_memory(struct reader *reader) {
    return ip_fail(reader->err, IP_NO_MEMORY, "out of memory for %s", reader->name);
}

static enum ip_status wrong(struct reader *reader, const char *what) {
    return ip_fail_at(reader->err, IP_SYNTAX, reader->name, reader->line, 0, "%s", what);
}

static void blanks_skip(struct reader *reader) {
    for (; *reader->at != '\0' && strchr(" \t\r\n", *reader->at) != NULL; reader->at++) {
        reader->line += *reader->at == '\n';
    }
}

static int hex_digit(char c) {
    return ip_ascii_is_digit(c) ? c - '0' : ip_ascii_is_hex(c) ? (c | 32) - 'a' + 10 : -1;
}

/* "\u00b5": only what one byte of UTF-8 or two can hold occurs in forms and names. */
static bool escape_u(const char **at, char **out) {
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit((*at)[i]);
        if (digit < 0) {
            return false;
        }
        code = code * 16 + (unsigned)digit;
    }
    *at += 4;
    if (code == 0 || code > 0x7ff) {
        return false;
    }
    if (code >= 0x80) {
        *(*out)++ = (char)(0xc0 | code >> 6);
        code = 0x80 | (code & 0x3f);
    }
    *(*out)++ = (char)code;
    return true;
}

static enum ip_status quoted_read(struct reader *reader, char **text) {
    char quote = *reader->at++;
    const char *end = reader->at;
    while (*end != '\0' && *end != quote && *end != '\n') {
        end += *end == '\\' && end[1] != '\0' && quote == '"' ? 2 : 1;
    }
    if (*end != quote) {
        return wrong(reader, "a quoted text does not end on its line");
    }
    char *out = *text = take(reader, (size_t)(end - reader->at) + 1);
    if (out == NULL) {
        return no_memory(reader);
    }
    while (reader->at < end) {
        char c = *reader->at++;
        if (c != '\\' || quote != '"') {
            *out++ = c;
            continue;
        }
        static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
        c = *reader->at++;
        const char *known = strchr(from, c);
        if (c == 'u') {
            if (!escape_u(&reader->at, &out)) {
                return wrong(reader, "an escape \\u is not of four hexadecimal digits up to 07ff");
            }
        } else {
            *out++ = known != NULL ? to[known - from] : c;
        }
    }
    *out = '\0';
    reader->at = end + 1;
    return IP_OK;
}

static enum ip_status bare_read(struct reader *reader, char **text) {
    size_t length = strcspn(reader->at, ",:=[]{}\"'\r\n");
    while (length > 0 && reader->at[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return wrong(reader, *reader->at == '\0' ? "the text ends in the middle of a record"
                                                 : "expected a value: a number, a text, a list or a record");
    }
    *text = take(reader, length + 1);
    if (*text == NULL) {
        return no_memory(reader);
    }
    memcpy(*text, reader->at, length);
    (*text)[length] = '\0';
    reader->at += length;
    return IP_OK;
}

static enum ip_status value_read(struct reader *reader, struct res_node **made, unsigned depth);

/* "key: value", "key = value" or a value. */
static enum ip_status item_read(struct reader *reader, struct res_node **made, unsigned depth) {
    enum ip_status status = value_read(reader, made, depth);
    if (status != IP_OK) {
        return status;
    }
    blanks_skip(reader);
    if ((*reader->at != ':' && *reader->at != '=') || (*made)->text == NULL) {
        return IP_OK;
    }
    char *key = (*made)->text;
    reader->at++;
    blanks_skip(reader);
    status = value_read(reader, made, depth);
    if (status == IP_OK) {
        (*made)->key = key;
    }
    return status;
}

static enum ip_status children_read(struct reader *reader, struct res_node *node, unsigned depth) {
    char close = *reader->at++ == '{' ? '}' : ']';
    struct res_node **end = &node->first;
    for (;;) {
        blanks_skip(reader);
        if (*reader->at == close) {
            reader->at++;
            return IP_OK;
        }
        if (depth == DEPTH_MAX) {
            return wrong(reader, "nested too deep");
        }
        enum ip_status status = item_read(reader, end, depth + 1);
        if (status != IP_OK) {
            return status;
        }
        end = &(*end)->next;
        blanks_skip(reader);
        if (*reader->at == ',') {
            reader->at++;
        } else if (*reader->at != close) {
            return wrong(reader, *reader->at == '\0' ? "the text ends in the middle of a record"
                                                     : "expected a comma or the end of a list or record");
        }
    }
}

static enum ip_status value_read(struct reader *reader, struct res_node **made, unsigned depth) {
    struct res_node *node = take(reader, sizeof *node);
    if (node == NULL) {
        return no_memory(reader);
    }
    memset(node, 0, sizeof *node);
    *made = node;
    if (*reader->at == '{' || *reader->at == '[') {
        return children_read(reader, node, depth);
    }
    node->quoted = *reader->at == '"' || *reader->at == '\'';
    return node->quoted ? quoted_read(reader, &node->text) : bare_read(reader, &node->text);
}

enum ip_status res_tree_read(struct res_tree *tree, const char *name, const char **at, unsigned *line,
                             struct ip_error *err) {
    struct res_tree made = {0};
    struct reader reader = {.tree = &made, .name = name, .at = *at, .line = *line, .err = err};
    blanks_skip(&reader);
    enum ip_status status = value_read(&reader, &made.root, 0);
    if (status != IP_OK) {
        res_tree_fini(&made);
        return status;
    }
    res_tree_fini(tree);
    *tree = made;
    *at = reader.at;
    *line = reader.line;
    return IP_OK;
}

const struct res_node *res_node_find(const struct res_node *node, const char *key) {
    for (const struct res_node *child = node != NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        if (child->key != NULL && strcmp(child->key, key) == 0) {
            return child;
        }
    }
    return NULL;
}

const char *res_node_text(const struct res_node *node, const char *key) {
    const struct res_node *child = res_node_find(node, key);
    if (child == NULL || child->text == NULL) {
        return NULL;
    }
    bool nothing =
        strcmp(child->text, "null") == 0 || strcmp(child->text, "nil") == 0 || strcmp(child->text, "~") == 0;
    return nothing && !child->quoted ? NULL : child->text;
}

double res_node_number(const struct res_node *node, const char *key) {
    return res_number_read(res_node_text(node, key));
}
