/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files as `predict --object` gets them: any bytes give a region inside the file, or an error in words.
 */
#include <stdint.h>
#include <stdlib.h>

#include "isa/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum ip_status status, const struct isa_region *region, const struct ip_error *err,
                  const uint8_t *data, size_t size) {
    if (status == IP_OK) {
        if (region->code < data || region->length > size ||
            (size_t)(region->code - data) > size - region->length) {
            abort();
        }
    } else if (err->text[0] == '\0') {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ip_error err = {0};
    struct isa_region region = {0};
    check(isa_object_text(data, size, &region, &err), &region, &err, data, size);
    check(isa_object_symbol(data, size, "f", &region, &err), &region, &err, data, size);
    check(isa_object_range(data, size, 0, 4, &region, &err), &region, &err, data, size);
    check(isa_object_range(data, size, UINT64_MAX - 8, UINT64_MAX, &region, &err), &region, &err, data, size);
    check(isa_object_marks(data, size, &region, &err), &region, &err, data, size);
    check(isa_object_marked(data, size, &region, &err), &region, &err, data, size);
    return 0;
}
