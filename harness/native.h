/* SPDX-License-Identifier: Apache-2.0 */
/* harness/native.h - the timers that run kernels on the silicon, in a pinned, sandboxed child process per
 * batch. */
#ifndef ISAPROBE_HARNESS_NATIVE_H
#define ISAPROBE_HARNESS_NATIVE_H

#include "harness/timer.h"

extern const struct hx_timer_ops hx_timer_tsc;
extern const struct hx_timer_ops hx_timer_papi;

#endif
