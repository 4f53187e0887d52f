/* SPDX-License-Identifier: Apache-2.0 */
/* power/kernel.h - a kernel as the energy model sees it: what one iteration computes, how many there are,
 * what goes to memory. docs/power.md describes the file. */
#ifndef ISAPROBE_POWER_KERNEL_H
#define ISAPROBE_POWER_KERNEL_H

#include "common/error.h"
#include "common/text.h"
#include "power/reader.h"

struct pw_kernel {
    char name[PW_NAME_MAX], title[PW_TITLE_MAX];
    double size;        /* elements, as the description counts them */
    double unroll;      /* elements of one iteration */
    double body_cycles; /* core cycles of one iteration; NaN: to be derived from `code` */
    double iterations, accesses, flops;
    struct ip_text code; /* owned; NASM source of one iteration, "" if none */
    unsigned code_line;  /* of its first line in the file */
};

/* Parses a description. `size` > 0 replaces the file's. IP_SYNTAX at "file:line". `kernel` is all-zero or
 * holds an earlier one, which is replaced. */
IP_CHECK enum ip_status pw_kernel_parse(struct pw_kernel *kernel, const char *file, const char *text,
                                        double size, struct ip_error *err);
IP_CHECK enum ip_status pw_kernel_read(struct pw_kernel *kernel, const char *path, double size,
                                       struct ip_error *err);
void pw_kernel_fini(struct pw_kernel *kernel); /* an all-zero kernel is fine */

#endif
