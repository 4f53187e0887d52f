/* SPDX-License-Identifier: Apache-2.0 */
/* Users' blocks: any bytes are either refused with a text or copied whole, and can be printed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes that the unit's lines ("db 0x48,0x01 ; text") name. */
static void unit_check(const struct gen_program *program, const uint8_t *data, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < program->unit.count; i++) {
        const char *next = program->unit.items[i] + 2;
        do {
            char *end;
            unsigned long value = strtoul(next + 1, &end, 16);
            if (end == next + 1 || at >= size || value != data[at++]) {
                abort();
            }
            next = end;
        } while (*next == ',');
        if (strncmp(next, " ;", 2) != 0 || strchr(next, '\n') != NULL) {
            abort();
        }
    }
    if (at != size) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gen_program program;
    struct ip_error err = {0};
    gen_program_init(&program);
    if (gen_block_program(&program, data, size, 0x2345600, &err) != IP_OK) {
        if (err.text[0] == '\0' || strchr(err.text, '\n') != NULL || program.unit.count != 0) {
            abort();
        }
        return 0;
    }
    unit_check(&program, data, size);
    struct ip_text source = {0};
    if (gen_program_print(&program, 2, &source, &err) != IP_OK) {
        abort();
    }
    ip_text_fini(&source);
    gen_program_fini(&program);
    return 0;
}
