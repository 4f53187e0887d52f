/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the generator share: forms by their syntax, units as one text. */
#ifndef ISAPROBE_TESTS_GENERATOR_TESTING_H
#define ISAPROBE_TESTS_GENERATOR_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/kernel.h"
#include "generator/shapes.h"
#include "isa/assemble.h"
#include "isa/decode.h"
#include "isa/table.h"

static inline struct isa_form form_of(const char *syntax) {
    struct isa_form form;
    struct isa_form *pointer = &form;
    struct ip_error err = {0};
    if (isa_form_parse(&form, syntax, &err) != IP_OK || isa_forms_derive(&pointer, 1, &err) != IP_OK) {
        fail_msg("form '%s': %s", syntax, err.text);
    }
    return form;
}

/* The unit's lines, each ended by a newline. Owned by the caller. */
static inline char *unit_of(const struct gen_program *program) {
    struct ip_text text = {0};
    for (size_t i = 0; i < program->unit.count; i++) {
        ip_text_printf(&text, "%s\n", program->unit.items[i]);
    }
    assert_false(text.failed);
    return text.data != NULL ? text.data : strdup("");
}

static inline void assert_unit(const struct gen_program *program, const char *expected) {
    char *unit = unit_of(program);
    assert_string_equal(unit, expected);
    free(unit);
}

/* Both lengths of the kernel are the bytes that NASM makes of the printed source. */
static inline void assert_print_is_build(const struct gen_program *program, struct gen_encoder *encoder,
                                         uint32_t copies) {
    struct gen_kernel kernel = {0};
    struct ip_error err = {0};
    if (gen_kernel_make(&kernel, program, encoder, copies, &err) != IP_OK) {
        fail_msg("'%s': %s", program->title, err.text);
    }
    const struct gen_code *codes[2] = {&kernel.shorter, &kernel.longer};
    for (unsigned i = 0; i < 2; i++) {
        struct ip_text source = {0}, bytes = {0};
        assert_int_equal(gen_program_print(program, codes[i]->copies, &source, &err), IP_OK);
        if (isa_assemble_source("kernel.asm", source.data, &bytes, &err) != IP_OK) {
            fail_msg("'%s': %s: %s", program->title, err.place, err.text);
        }
        if (bytes.length != codes[i]->length || memcmp(bytes.data, codes[i]->bytes, bytes.length) != 0) {
            fail_msg("'%s': %zu bytes printed, %zu built, or they differ", program->title, bytes.length,
                     codes[i]->length);
        }
        ip_text_fini(&source);
        ip_text_fini(&bytes);
    }
    assert_int_equal(kernel.longer.copies, 2 * kernel.shorter.copies);
    gen_kernel_fini(&kernel);
}

#endif
