/* SPDX-License-Identifier: Apache-2.0 */
/* cli/forms.h - the instruction table as the command line wants it, and the forms that the user named. */
#ifndef ISAPROBE_CLI_FORMS_H
#define ISAPROBE_CLI_FORMS_H

#include "cli/cli.h"
#include "isa/table.h"

struct cli_forms {
    struct isa_table table;  /* built-in rows, then those of --isa */
    struct isa_form **items; /* owned array of forms in the table: each once, in the order of the queries */
    size_t count;
};

void cli_forms_fini(struct cli_forms *forms); /* all-zero is fine */
IP_CHECK enum ip_status cli_forms_load(struct cli_forms *forms, const struct cli_settings *settings,
                                       struct ip_error *err);
/* Adds what `query` names; not those that are at items[from..count) already. */
IP_CHECK enum ip_status cli_forms_select(struct cli_forms *forms, const char *query, size_t from,
                                         struct ip_error *err);
/* Loads, selects every argument of `settings` and derives what was selected. */
IP_CHECK enum ip_status cli_forms_prepare(struct cli_forms *forms, const struct cli_settings *settings,
                                          struct ip_error *err);
/* The one form, derived, that `query` names: where it names several the one that is written so. IP_USAGE when
 * there is none: the text lists some. */
IP_CHECK enum ip_status cli_forms_single(struct cli_forms *forms, const char *query, struct isa_form **form,
                                         struct ip_error *err);

/* Why the form cannot be measured in a loop, as a status; NULL when it can. `buffer` holds 160 bytes. */
const char *cli_form_obstacle(const struct isa_form *form, char *buffer);

#endif
