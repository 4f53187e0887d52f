/* SPDX-License-Identifier: Apache-2.0 */
/* results/machine.h - whose facts a store holds. A store belongs to one CPU, real or simulated, and is
 * refused to any other. */
#ifndef ISAPROBE_RESULTS_MACHINE_H
#define ISAPROBE_RESULTS_MACHINE_H

#include "common/error.h"
#include "common/text.h"
#include "harness/host.h"

struct res_machine {
    char kind[8];       /* "host", "sim" or "replay" */
    char identity[256]; /* one line; what is compared: equal means the same CPU */
    char recorded[256]; /* of recorded samples: the identity of the CPU that they are of; "": not known */
    char slug[128];     /* lower-case letters, digits and dashes: the name of its default store */
    char vendor[16], brand[64], codename[64], hypervisor[16];
    int family, model, stepping; /* -1: has none */
    uint64_t tsc_hz, l1d_bytes, l1i_bytes, l2_bytes, l3_bytes;
    struct ip_text features; /* separated by blanks */
};

void res_machine_fini(struct res_machine *machine); /* all-zero is fine */

/* The CPU of this host. Its identity is made of what CPUID says (names and numbers of the model, private
 * caches, usable vector extensions): the family and model alone do not tell CPUs apart. */
IP_CHECK enum ip_status res_machine_of_host(struct res_machine *machine, const struct hx_host *host,
                                            struct ip_error *err);

/* Is it the CPU of this identity, or samples of it? */
bool res_machine_is(const struct res_machine *machine, const char *identity);
/* The CPU, for people: of samples whose they are, where that is known. Borrowed. */
const char *res_machine_whose(const struct res_machine *machine);

/* The CPU that a file stands for: a description (kind "sim") or recorded samples ("replay"). Its identity is
 * the file's name without directory, and a hash of its content and of the tables that a description imports.
 * Fails as opening that timer would where the description is none. */
IP_CHECK enum ip_status res_machine_of_file(struct res_machine *machine, const char *kind, const char *path,
                                            struct ip_error *err);

/* Where the store of `machine` is by default: isaprobe/SLUG.db below `data_home` ($XDG_DATA_HOME), or below
 * .local/share of `home` where the former is NULL, "" or relative. IP_USAGE when neither serves. */
IP_CHECK enum ip_status res_default_path(struct ip_text *path, const struct res_machine *machine,
                                         const char *data_home, const char *home, struct ip_error *err);

/* Makes the directories above `path` that are missing (mode 0700). */
IP_CHECK enum ip_status res_directories_make(const char *path, struct ip_error *err);

#endif
