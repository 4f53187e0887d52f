/* SPDX-License-Identifier: Apache-2.0 */
/* tests/random_forms.h - a random sample of the forms of a table. For cmocka tests. */
#ifndef ISAPROBE_TESTS_RANDOM_FORMS_H
#define ISAPROBE_TESTS_RANDOM_FORMS_H

#include "common/random.h"
#include "isa/decode.h"
#include "isa/table.h"

/* Fills forms[0..wanted) with different forms, derived; the table has more than so many. */
static inline void random_forms_draw(struct isa_table *table, struct ip_random *random,
                                     struct isa_form **forms, size_t wanted) {
    struct ip_error err = {0};
    size_t count = 0;
    while (count < wanted) {
        struct isa_form *form = &table->forms[ip_random_below(random, table->count)];
        bool again = false;
        for (size_t i = 0; i < count && !again; i++) {
            again = forms[i] == form;
        }
        if (!again) {
            forms[count++] = form;
        }
    }
    assert_int_equal(isa_forms_derive(forms, wanted, &err), IP_OK);
}

#endif
