/* SPDX-License-Identifier: Apache-2.0 */
/* power/fit.h - C and static power by least squares from measured (frequency, voltage, watts). */
#ifndef ISAPROBE_POWER_FIT_H
#define ISAPROBE_POWER_FIT_H

#include "power/machine.h"

/* watts = C·V²·f + static over the settings that have a voltage and measured watts, both parts >= 0. False:
 * fewer than two such settings, or all with the same V²·f. */
bool pw_fit(struct pw_fit *fit, const struct pw_setting *settings, size_t count);

#endif
