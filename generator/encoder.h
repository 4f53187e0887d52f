/* SPDX-License-Identifier: Apache-2.0 */
/* generator/encoder.h - looking a line up in the encoder (for kernel.c; users see generator/kernel.h). */
#ifndef ISAPROBE_GENERATOR_ENCODER_H
#define ISAPROBE_GENERATOR_ENCODER_H

#include "generator/kernel.h"

/* The encoding of a line that was added and flushed; borrowed. IP_UNSUPPORTED with NASM's complaint for a
 * rejected line; IP_FAILED for one that was never added. */
IP_CHECK enum ip_status gen_encoder_line_find(const struct gen_encoder *encoder, const char *line,
                                              const struct isa_code **code, struct ip_error *err);

#endif
