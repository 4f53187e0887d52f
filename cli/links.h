/* SPDX-License-Identifier: Apache-2.0 */
/* cli/links.h - the links of a latency chain from the words of the command line. */
#ifndef ISAPROBE_CLI_LINKS_H
#define ISAPROBE_CLI_LINKS_H

#include "cli/forms.h"
#include "generator/shapes.h"

enum { CLI_LINKS_MAX = 4 };

/* links[0] is `form` from settings->src to settings->dst (by default the first pair that chains directly);
 * the others are the forms of --via, each from the operand that takes over what the link before has left, the
 * last one to the operand that the first starts from. IP_USAGE says which operand does not fit. */
IP_CHECK enum ip_status cli_links_make(struct cli_forms *forms, const struct isa_form *form,
                                       const struct cli_settings *settings,
                                       struct gen_link links[CLI_LINKS_MAX], unsigned *count,
                                       struct ip_error *err);

/* The links by which `form` chains to itself without a transfer: every source with every destination of the
 * same register file, memory through its address. At most `limit`; returns how many. */
unsigned cli_links_direct(const struct isa_form *form, struct gen_link *links, unsigned limit);

/* Does any operand depend on another? */
bool cli_links_any(const struct isa_form *form);

#endif
