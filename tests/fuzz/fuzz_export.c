/* SPDX-License-Identifier: Apache-2.0 */
/* Every reader of exports on any text; the first byte chooses the format. What is read keeps to its limits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good) {
    if (!good) {
        abort();
    }
}

static int ends(const char *text, size_t size) {
    return memchr(text, '\0', size) != NULL;
}

static void row_check(const struct res_row *row) {
    check(ends(row->form, sizeof row->form) && ends(row->name, sizeof row->name) &&
          ends(row->extension, sizeof row->extension) && ends(row->status, sizeof row->status) &&
          ends(row->ports, sizeof row->ports));
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    check(res_usage_parse(row->ports, terms, &count));
    for (size_t i = 0; i < row->pair_count; i++) {
        check(ends(row->pairs[i].src, sizeof row->pairs[i].src) &&
              ends(row->pairs[i].path, sizeof row->pairs[i].path));
    }
    (void)res_row_latency(row);
    (void)res_row_uops(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 1 << 16) {
        return 0;
    }
    char *text = malloc(size);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    enum ip_status status;
    unsigned format = data[0] % (RES_FORMATS + 1);
    if (format == RES_FORMATS) {
        status = res_uops_csv_read(&sheet, "fuzz", text, &err);
    } else {
        status = res_export_read(&sheet, (enum res_format)format, "fuzz", text, &err);
    }
    check(status == IP_OK || status == IP_SYNTAX || status == IP_NO_MEMORY);
    check(status == IP_OK || err.text[0] != '\0');
    for (size_t i = 0; i < sheet.count; i++) {
        row_check(&sheet.rows[i]);
    }
    res_sheet_fini(&sheet);
    free(text);
    return 0;
}
