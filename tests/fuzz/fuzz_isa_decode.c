/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code to forms: whatever the bytes, a form that prints, or an error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ip_lines lines = {0};
    for (size_t at = 0; at < size;) {
        struct isa_form form;
        struct isa_binding binding;
        struct ip_error err = {0};
        size_t length = 0;
        char line[ISA_LINE_MAX], name[16];
        if (isa_decode(data + at, size - at, &form, &binding, &length, &err) != IP_OK) {
            if (err.text[0] == '\0')
                abort();
            at++;
            continue;
        }
        if (length == 0 || length > size - at || length > ISA_CODE_MAX || form.syntax[0] == '\0' ||
            form.operand_count > ISA_OPERANDS_MAX || form.explicit_count > form.operand_count)
            abort();
        for (unsigned i = 0; i < form.operand_count; i++)
            isa_operand_name(&form, i, name);
        if (isa_form_print(&form, &binding, line, &err) == IP_OK && strlen(line) >= sizeof line)
            abort();
        at += length;
    }
    isa_disassemble(data, size, &lines);
    ip_lines_fini(&lines);
    return 0;
}
