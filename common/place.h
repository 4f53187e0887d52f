/* SPDX-License-Identifier: Apache-2.0 */
/* common/place.h - where a file is, or is to be made, behind all symbolic links. */
#ifndef ISAPROBE_COMMON_PLACE_H
#define ISAPROBE_COMMON_PLACE_H

#include "common/text.h"

/* Appends the absolute path of the file behind `path`, so that all names of one file give one; unlike with
 * realpath the file itself may be missing. Where its directory is missing too, or cannot be resolved, the
 * path where the links ended: opening it tells why. */
void ip_place_append(struct ip_text *text, const char *path);

#endif
