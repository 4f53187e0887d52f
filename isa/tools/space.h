/* SPDX-License-Identifier: Apache-2.0 */
/* isa/tools/space.h - a walk through the opcode space of 64-bit mode. */
#ifndef ISAPROBE_ISA_TOOLS_SPACE_H
#define ISAPROBE_ISA_TOOLS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called with bytes that may begin an instruction; many do not, and many are alike. */
typedef void walk_visit(void *context, const uint8_t *code, size_t bytes);

/* False when the decoder does not start. */
bool walk_space(walk_visit *visit, void *context);

#endif
