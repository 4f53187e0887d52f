/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_again.c - the list of forms that a scan measures more than once. */
#include <stdlib.h>

#include "cli/scan.h"

enum ip_status scan_again_add(struct scan *scan, struct isa_form *form, struct scan_again **added,
                              struct ip_error *err) {
    if (scan->again_count == scan->again_capacity) {
        size_t capacity = scan->again_capacity != 0 ? 2 * scan->again_capacity : 256;
        struct scan_again *grown = realloc(scan->again, capacity * sizeof *grown);
        if (grown == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms to be measured again", capacity);
        }
        scan->again = grown;
        scan->again_capacity = capacity;
    }
    *added = &scan->again[scan->again_count++];
    **added = (struct scan_again){.form = form};
    return IP_OK;
}

size_t scan_again_count(const struct scan *scan) {
    size_t count = 0;
    for (size_t i = 0; i < scan->again_count; i++) {
        count += !scan->again[i].stored;
    }
    return count;
}

void scan_again_fini(struct scan *scan) {
    for (size_t i = 0; i < scan->again_count; i++) {
        scan_readings_fini(&scan->again[i].readings);
    }
    free(scan->again);
}
