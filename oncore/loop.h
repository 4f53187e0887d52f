/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/loop.h - the loop that a block is the body of. */
#ifndef ISAPROBE_ONCORE_LOOP_H
#define ISAPROBE_ONCORE_LOOP_H

#include "common/error.h"
#include "common/text.h"

/* When `code` does not end in a branch back to its start, appends what the measured loop ends with: a
 * subtraction of one from a register that the block does not use ("sub r15, 1"; r15 when it uses all) and a
 * conditional jump to the start. IP_SYNTAX when the bytes are no code. */
IP_CHECK enum ip_status core_loop_close(struct ip_text *code, struct ip_error *err);

/* The body alone: takes off a branch back to the start at the end of `code`, if one is there, so that another
 * may close the loop. IP_SYNTAX when the bytes are no code, or nothing is left. */
IP_CHECK enum ip_status core_loop_open(struct ip_text *code, struct ip_error *err);

#endif
