/* SPDX-License-Identifier: Apache-2.0 */
/* cli/replace.h - a file that is written beside the one of its name, and takes its place as a whole or not at
 * all. Where no file may be made beside it, or none may take its place, it is written over in the end.
 */
#ifndef ISAPROBE_CLI_REPLACE_H
#define ISAPROBE_CLI_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

/* Must not move while it is open. */
struct cli_replacement {
    FILE *stream;
    char *path;   /* owned: what is replaced, behind all links */
    bool at_once; /* what is there is no file but a pipe or a device, and written while the stream is */
    char *data;   /* owned: what the stream has, which goes to the file when it is closed */
    size_t bytes;
};

/* IP_IO, or IP_CAPABILITY where permissions forbid it: it cannot be written there, and nothing has changed.
 */
IP_CHECK enum ip_status cli_replacement_open(struct cli_replacement *replacement, const char *path,
                                             struct ip_error *err);
/* Would it open? Changes nothing; pipes and devices are not tried. */
IP_CHECK enum ip_status cli_replacement_try(const char *path, struct ip_error *err);
/* Puts it in its place when `good` and the stream has not failed. Else what is there stays. */
IP_CHECK enum ip_status cli_replacement_close(struct cli_replacement *replacement, bool good,
                                              struct ip_error *err);

#endif
