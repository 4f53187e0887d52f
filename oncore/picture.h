/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/picture.h - a prediction as a picture (SVG 1.1): the bounds, the pressure on each port, each
 * instruction's part of it, and the critical chain as arcs beside the listing. */
#ifndef ISAPROBE_ONCORE_PICTURE_H
#define ISAPROBE_ONCORE_PICTURE_H

#include "common/text.h"
#include "oncore/oncore.h"

/* Appends the picture. Check svg->failed once, at the end. */
void core_picture_write(const struct core_costs *costs, const struct core_prediction *prediction,
                        const char *title, struct ip_text *svg);

#endif
