/* SPDX-License-Identifier: Apache-2.0 */
/* results/tree.h - nested lists and records as text: JSON, the constructors of Lua tables, and the flow style
 * of YAML. One reader does for all three, since they differ only in how a key is set apart (":" or "="), in
 * what may go without quotes, and in the brackets of a list. */
#ifndef ISAPROBE_RESULTS_TREE_H
#define ISAPROBE_RESULTS_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* A scalar (text != NULL), or a record or list: its children in their order. */
struct res_node {
    char *key;  /* NULL: an item of a list */
    char *text; /* without quotes, escapes resolved */
    struct res_node *first, *next;
    bool quoted;
};

struct res_tree {
    struct res_node *root;
    void *blocks; /* owned memory */
};

void res_tree_fini(struct res_tree *tree); /* all-zero is fine */

/* Reads one value from *at, which moves behind it; at most 32 levels deep. `line` is the number of the first
 * line, for messages, and moves along. IP_SYNTAX names `name` and the line. */
IP_CHECK enum ip_status res_tree_read(struct res_tree *tree, const char *name, const char **at,
                                      unsigned *line, struct ip_error *err);

/* The child with this key; NULL when there is none, or no node. */
const struct res_node *res_node_find(const struct res_node *node, const char *key);
/* The text of that child; NULL when it is absent, null (JSON), nil (Lua), ~ (YAML) or no scalar. */
const char *res_node_text(const struct res_node *node, const char *key);
double res_node_number(const struct res_node *node, const char *key); /* NaN: none */

#endif
