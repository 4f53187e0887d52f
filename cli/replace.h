/* SPDX-License-Identifier: Apache-2.0 */
/* cli/replace.h - a file that is written beside the one of its name, and takes its place as a whole or not at
 * all.
 */
#ifndef ISAPROBE_CLI_REPLACE_H
#define ISAPROBE_CLI_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

struct cli_replacement {
    FILE *stream;
    char *path;      /* owned: what is replaced, behind all links */
    char *temporary; /* owned; NULL: what is there is no file but a pipe or a device, and written at once */
};

/* IP_IO: it cannot be written there, and nothing has changed. */
IP_CHECK enum ip_status cli_replacement_open(struct cli_replacement *replacement, const char *path,
                                             struct ip_error *err);
/* Would it open? Changes nothing; pipes and devices are not tried. */
IP_CHECK enum ip_status cli_replacement_try(const char *path, struct ip_error *err);
/* Puts it in its place when `good`, and else removes it, as when the stream has failed. */
IP_CHECK enum ip_status cli_replacement_close(struct cli_replacement *replacement, bool good,
                                              struct ip_error *err);

#endif
