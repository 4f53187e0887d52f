/* SPDX-License-Identifier: Apache-2.0 */
/* cli/predict.h - the parts of `predict`. */
#ifndef ISAPROBE_CLI_PREDICT_H
#define ISAPROBE_CLI_PREDICT_H

#include "cli/output.h"
#include "oncore/oncore.h"

enum { CLI_WORDS_MAX = 160 };

/* cmd_predict.c: the i-th instruction as text, as far as it fits. */
void cli_predict_words(const struct core_prediction *prediction, size_t i, char words[CLI_WORDS_MAX]);
/* Is it part of the critical chain? */
bool cli_predict_on_chain(const struct core_prediction *prediction, size_t i);
/* What must be known of it to understand its costs: "idiom", "fused with the one before"; "". Borrowed. */
const char *cli_predict_note(const struct core_instruction *instruction);

/* predict_timeline.c: the columns of --timeline in CSV and JSON. */
extern const struct cli_column cli_timeline_columns[];

/* IP_FAILED where there is nothing to show. Says on standard error, unless `quiet`, that fewer passes are
 * shown than `asked`. */
IP_CHECK enum ip_status cli_timeline_check(const struct core_costs *costs,
                                           const struct core_timeline *timeline, unsigned asked, bool quiet,
                                           struct ip_error *err);
/* Appends the picture in rows of characters. */
void cli_timeline_draw(const struct core_costs *costs, const struct core_prediction *prediction,
                       const struct core_timeline *timeline, struct ip_text *text);
/* A row for each µop, or for the instruction that has none. */
void cli_timeline_rows(struct cli_output *output, const struct core_costs *costs,
                       const struct core_prediction *prediction, const struct core_timeline *timeline);

#endif
