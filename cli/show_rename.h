/* SPDX-License-Identifier: Apache-2.0 */
/* cli/show_rename.h - what the store's facts about the core say of one form: elimination, idioms, fusion. */
#ifndef ISAPROBE_CLI_SHOW_RENAME_H
#define ISAPROBE_CLI_SHOW_RENAME_H

#include "cli/port_words.h"
#include "probe/core_params.h"

/* Facts that are not there are not measured. */
void cli_rename_of_facts(const struct probe_core *core, const char *syntax, struct probe_rename *renamed,
                         struct probe_fusion *fusion);

#endif
