/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_groups.h - the groups of experiments of `isaprobe core`. Each measures and records what it finds
 * in session->core. core_width_measure goes first: the others need session->width. Internal to probe/. */
#ifndef ISAPROBE_PROBE_CORE_GROUPS_H
#define ISAPROBE_PROBE_CORE_GROUPS_H

#include "probe/core_session.h"

IP_CHECK enum ip_status core_width_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_eliminate_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_after_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_idiom_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_micro_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_fuse_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_memory_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_forward_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_commit_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_front_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_move_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_again_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_line_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_branch_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_wide_measure(struct core_session *session, struct ip_error *err);
IP_CHECK enum ip_status core_window_measure(struct core_session *session, struct ip_error *err);

/* The integer that is no further than `tolerance` from `value`, or `value`. */
double core_near_integer(double value, double tolerance);

#endif
