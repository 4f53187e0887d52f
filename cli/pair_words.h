/* SPDX-License-Identifier: Apache-2.0 */
/* cli/pair_words.h - what a pair shares, in words, with the numbers behind it. */
#ifndef ISAPROBE_CLI_PAIR_WORDS_H
#define ISAPROBE_CLI_PAIR_WORDS_H

#include "common/text.h"
#include "probe/pair.h"

/* "4 ports", "at most 2 ports", "no port": for a cell of a table. `buffer` of `size` bytes; returns it. */
const char *cli_pair_sharing(const struct probe_pair *pair, char *buffer, size_t size);

/* Appends a paragraph. `pair` was measured. */
void cli_pair_words(struct ip_text *text, const char *a, const char *b, const struct probe_pair *pair);

#endif
