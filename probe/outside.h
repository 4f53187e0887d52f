/* SPDX-License-Identifier: Apache-2.0 */
/* probe/outside.h - instructions whose time is not the core's: trapped by a hypervisor, or answered by a unit
 * outside of the core. */
#ifndef ISAPROBE_PROBE_OUTSIDE_H
#define ISAPROBE_PROBE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/form.h"

/* Does the form take so long that it must leave the core? Only where no memory is named, since a cache miss
 * takes as long, but for a system register that is stored (SGDT, SIDT, SLDT, SMSW, STR: kernels that deny
 * these to programs answer themselves, "UMIP"), and for what is stored past the caches and read again. Then
 * `why` (size bytes; NULL where that is 0) gets the reason not to trust the value: a trap takes some thousand
 * cycles and a random number some hundred to thousand, both as others please. */
bool probe_is_outside(const struct isa_form *form, double cycles, char *why, size_t size);

#endif
