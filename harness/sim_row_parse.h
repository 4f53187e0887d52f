/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_row_parse.h - the attributes of a `form` or `default` line. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_ROW_PARSE_H
#define ISAPROBE_HARNESS_SIM_ROW_PARSE_H

#include "harness/sim_description.h"
#include "harness/sim_line.h"

/* Reads "ports ... latency ..." to the end of the line into `row`, whose syntax is set already. A new unit
 * name is added to the description. */
IP_CHECK enum ip_status hx_sim_row_parse(struct hx_sim_description *description, struct hx_sim_row *row,
                                         struct hx_sim_line *line, struct ip_error *err);

/* Microcode keeps a front end busy: the description must have one. */
IP_CHECK enum ip_status hx_sim_microcode_allowed(const struct hx_sim_description *description,
                                                 const struct hx_sim_line *line, struct ip_error *err);

/* "illegal", "timeout" ... -> the outcome; false: no such word. */
bool hx_sim_fault_parse(const struct hx_sim_line *line, enum hx_outcome *outcome);

#endif
