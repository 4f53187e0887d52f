/* SPDX-License-Identifier: Apache-2.0 */
#include "results/transfer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Half of the way there and back, in whole cycles: an operation does not begin between two. */
static double half(const struct res_form *form, const struct res_pair *pair) {
    double both = round(pair->value.cycles) + 1.0;
    bool general = strncmp(form->syntax + strcspn(form->syntax, " "), " r", 2) == 0;
    return general ? floor(both / 2.0) : ceil(both / 2.0);
}

/* Cycles beyond the one that everybody takes. 0: a form without such a bound, or that the store does not
 * have. */
static enum ip_status surplus_read(struct res_store *store, const char *syntax, double *surplus,
                                   struct ip_error *err) {
    struct res_form form = {0};
    bool there = false;
    enum ip_status status = res_form_find(store, syntax, &form, &there, err);
    *surplus = 0.0;
    if (status != IP_OK || !there) {
        return status;
    }
    for (size_t i = 0; i < form.pair_count; i++) {
        const struct res_pair *pair = &form.pairs[i];
        bool bound = pair->upper_bound && strcmp(pair->path, "register") == 0;
        *surplus = bound ? fmax(0.0, half(&form, pair) - 1.0) : *surplus;
    }
    res_form_fini(&form);
    return IP_OK;
}

static enum ip_status surplus_get(struct res_store *store, struct res_transfers *transfers,
                                  const char *syntax, double *surplus, struct ip_error *err) {
    for (unsigned i = 0; i < transfers->count; i++) {
        if (strcmp(transfers->items[i].form, syntax) == 0) {
            *surplus = transfers->items[i].surplus;
            return IP_OK;
        }
    }
    enum ip_status status = surplus_read(store, syntax, surplus, err);
    if (status == IP_OK && transfers->count < RES_TRANSFERS) {
        struct res_transfer *transfer = &transfers->items[transfers->count++];
        (void)snprintf(transfer->form, sizeof transfer->form, "%s", syntax);
        transfer->surplus = *surplus;
    }
    return status;
}

enum ip_status res_transfer_cycles(struct res_store *store, struct res_transfers *transfers, const char *via,
                                   double bound, double *cycles, struct ip_error *err) {
    static const char plus[] = " + ";
    *cycles = bound;
    enum ip_status status = IP_OK;
    for (const char *at = via, *next = NULL; at != NULL && *at != '\0' && status == IP_OK; at = next) {
        next = strstr(at, plus);
        size_t length = next != NULL ? (size_t)(next - at) : strlen(at);
        next = next != NULL ? next + sizeof plus - 1 : NULL;
        char syntax[ISA_SYNTAX_MAX];
        if (length < sizeof syntax && (*at < '0' || *at > '9')) { /* "6 x movsxd r64, r32" is known well */
            double surplus = 0.0;
            memcpy(syntax, at, length);
            syntax[length] = '\0';
            status = surplus_get(store, transfers, syntax, &surplus, err);
            *cycles -= surplus;
        }
    }
    *cycles = fmax(fmin(bound, 1.0), *cycles);
    return status;
}
