/* SPDX-License-Identifier: Apache-2.0 */
/* isa/object.h - a region of machine code out of an ELF file: the object of one source, or an executable.
 * Pure: works on bytes, which may be hostile. */
#ifndef ISAPROBE_ISA_OBJECT_H
#define ISAPROBE_ISA_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct isa_region {
    const uint8_t *code; /* borrowed from the file */
    size_t length;
    uint64_t address; /* of its first byte; in an object file the offset in its section */
};

/* Is this an ELF file at all? */
bool isa_object_is(const uint8_t *file, size_t file_bytes);

/* All of the section ".text". IP_SYNTAX when the file is no x86-64 ELF file, or is damaged; IP_USAGE when it
 * has no code. */
IP_CHECK enum ip_status isa_object_text(const uint8_t *file, size_t file_bytes, struct isa_region *region,
                                        struct ip_error *err);

/* The function `symbol`: from its address, as long as the symbol table says. IP_USAGE when there is no such
 * symbol with a size, with the nearest name. */
IP_CHECK enum ip_status isa_object_symbol(const uint8_t *file, size_t file_bytes, const char *symbol,
                                          struct isa_region *region, struct ip_error *err);

/* Addresses first <= a < end. IP_USAGE when no section with code holds them all. */
IP_CHECK enum ip_status isa_object_range(const uint8_t *file, size_t file_bytes, uint64_t first, uint64_t end,
                                         struct isa_region *region, struct ip_error *err);

/* What stands between the markers of IACA and OSACA (mov ebx, 111 or 222, and the bytes 64 67 90 behind it),
 * in `code` of any origin. IP_USAGE when there are none, or only the first. */
IP_CHECK enum ip_status isa_object_marked(const uint8_t *code, size_t code_bytes, struct isa_region *region,
                                          struct ip_error *err);

/* The marked region of a file: of the section with code that has marks. */
IP_CHECK enum ip_status isa_object_marks(const uint8_t *file, size_t file_bytes, struct isa_region *region,
                                         struct ip_error *err);

#endif
