/* SPDX-License-Identifier: Apache-2.0 */
/* tests/sheet_rows.h - what tests of exports share: rows of a sheet, and is LLVM here? */
#ifndef ISAPROBE_TESTS_SHEET_ROWS_H
#define ISAPROBE_TESTS_SHEET_ROWS_H

#include "results/export.h"
#include "results/sheet.h"

/* A new row of the sheet, of which nothing else is known. */
static inline struct res_row *row_made(struct res_sheet *sheet, const char *form) {
    struct res_row *row = res_sheet_row_add(sheet);
    assert_non_null(row);
    (void)snprintf(row->form, sizeof row->form, "%s", form);
    return row;
}

static inline bool llvm_is_here(void) {
    if (system("llvm-mc --version >/dev/null 2>&1") == 0) { // NOLINT(cert-env33-c): asks the shell for it
        return true;
    }
    print_message("skipped: llvm-mc is not installed\n");
    return false;
}

#endif
