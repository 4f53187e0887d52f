/* SPDX-License-Identifier: Apache-2.0 */
/* results/queries.h - the text of the kept statements. */
#ifndef ISAPROBE_RESULTS_QUERIES_H
#define ISAPROBE_RESULTS_QUERIES_H

#include "results/sql.h"

extern const char *const res_queries[RES_QUERIES];

#endif
