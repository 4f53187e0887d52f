/* SPDX-License-Identifier: Apache-2.0 */
/* isa/memory_file.h - files in memory, by which NASM and as get their source and hand over what they make:
 * nothing is left behind, however this process ends. Internal to isa/. */
#ifndef ISAPROBE_ISA_MEMORY_FILE_H
#define ISAPROBE_ISA_MEMORY_FILE_H

#include "common/text.h"

/* Its descriptor, which no dup2 of a child to a number below eight overwrites; -1 with errno. */
int isa_memory_file(const char *name);
/* All of it, and back to its begin. `reader` names who gets it. IP_IO. */
IP_CHECK enum ip_status isa_memory_file_write(int fd, const char *data, size_t length, const char *reader,
                                              struct ip_error *err);
/* Appends all that `writer` wrote there to `text`. IP_UNSUPPORTED: more than `limit_bytes`. IP_IO. */
IP_CHECK enum ip_status isa_memory_file_read(int fd, size_t limit_bytes, const char *writer,
                                             struct ip_text *text, struct ip_error *err);

/* Asked when `program` failed: has it what it needs to come to such files, /proc and /dev/null? IP_CAPABILITY
 * names what is missing; else the reason is another. */
IP_CHECK enum ip_status isa_memory_file_reachable(const char *program, struct ip_error *err);

#endif
