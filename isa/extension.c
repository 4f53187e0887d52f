/* SPDX-License-Identifier: Apache-2.0 */
/* Forms by their extension, as users name it: in either case. */
#include <string.h>

#include "common/ascii.h"
#include "isa/nearest.h"
#include "isa/table.h"

bool isa_extension_wanted(const struct ip_lines *extensions, const char *extension) {
    for (size_t i = 0; i < extensions->count; i++) {
        if (ip_ascii_same(extensions->items[i], extension)) {
            return true;
        }
    }
    return extensions->count == 0;
}

static enum ip_status unknown_extension(const struct isa_table *table, const char *wanted,
                                        struct ip_error *err) {
    struct isa_nearest nearest = {.wanted = wanted};
    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || strcmp(table->forms[i].extension, table->forms[i - 1].extension) != 0) {
            isa_nearest_add(&nearest, table->forms[i].extension);
        }
    }
    char list[ISA_NEAREST_TEXT];
    if (nearest.count > 0) {
        return ip_fail(err, IP_USAGE, "no extension is called '%.60s'; nearest: %s", wanted,
                       isa_nearest_list(&nearest, list));
    }
    return ip_fail(err, IP_USAGE,
                   "no extension is called '%.60s': 'isaprobe list' shows the extension of each form",
                   wanted);
}

enum ip_status isa_table_extensions_check(const struct isa_table *table, const struct ip_lines *extensions,
                                          struct ip_error *err) {
    for (size_t i = 0; i < extensions->count; i++) {
        bool found = false;
        for (size_t j = 0; j < table->count && !found; j++) {
            found = ip_ascii_same(table->forms[j].extension, extensions->items[i]);
        }
        if (!found) {
            return unknown_extension(table, extensions->items[i], err);
        }
    }
    return IP_OK;
}
