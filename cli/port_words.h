/* SPDX-License-Identifier: Apache-2.0 */
/* cli/port_words.h - what `ports` tells apart from ports, in words: fusion, elimination, idioms. */
#ifndef ISAPROBE_CLI_PORT_WORDS_H
#define ISAPROBE_CLI_PORT_WORDS_H

#include "cli/output.h"
#include "probe/fusion.h"
#include "probe/rename.h"

enum { CLI_JUMPS_TEXT = 128, CLI_PORT_WORDS = 256 };

/* Uops that share an issue slot with another, in a form that touches memory; NaN: not known. */
double cli_micro_fused(const struct probe_portmap *map, const struct isa_form *form,
                       const struct probe_usage *usage);

/* "no dependence, no port", "no dependence", "ordinary"; NULL: not measured. Static storage. */
const char *cli_same_register_words(const struct probe_rename *renamed);

/* "jz jnz jb": those that fuse; NULL: not measured. `buffer` holds CLI_JUMPS_TEXT bytes; returns it. */
const char *cli_fusion_jumps(const struct probe_fusion *fusion, char *buffer);

/* What rename does with it, for people, what is ordinary left out; "" for nothing. `buffer` holds
 * CLI_PORT_WORDS bytes; returns it. */
const char *cli_rename_words(const struct probe_rename *renamed, const struct probe_fusion *fusion,
                             char *buffer);

/* The same behind how many uops share a slot. */
const char *cli_port_words(const struct probe_portmap *map, const struct isa_form *form,
                           const struct probe_usage *usage, const struct probe_rename *renamed,
                           const struct probe_fusion *fusion, char *buffer);

#endif
