/* SPDX-License-Identifier: Apache-2.0 */
/* cli/selection.h - which forms a command is about: FORMs, lists of them in files, extensions. */
#ifndef ISAPROBE_CLI_SELECTION_H
#define ISAPROBE_CLI_SELECTION_H

#include "cli/forms.h"

/* Loads the tables and selects what the arguments and --list name (all forms when there are none) and, of
 * these, those of the --extension options, if there are any; in the order of the table. The forms are not
 * derived. */
IP_CHECK enum ip_status cli_selection_make(struct cli_forms *forms, const struct cli_settings *settings,
                                           struct ip_error *err);

/* Of the forms selected keeps those of the --extension options, if there are any. IP_USAGE when one of these
 * is in no table, or none of the forms is of them. */
IP_CHECK enum ip_status cli_selection_keep(struct cli_forms *forms, const struct cli_settings *settings,
                                           struct ip_error *err);

/* The selection in words, for the store: "all", "FORM...", "--extension AVX2". */
void cli_selection_describe(struct ip_text *text, const struct cli_settings *settings);

#endif
