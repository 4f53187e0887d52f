/* SPDX-License-Identifier: Apache-2.0 */
/* power/energy_papi.c - PAPI's own functions behind struct pw_papi. */
#include <papi.h>
#include <stddef.h>

#include "power/energy.h"

static const char *library_start(void *self, const char *event, int *event_set) {
    (void)self;
    *event_set = PAPI_NULL;
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
        return "the library cannot be initialised";
    }
    int code = PAPI_create_eventset(event_set);
    code = code == PAPI_OK ? PAPI_add_named_event(*event_set, event) : code;
    code = code == PAPI_OK ? PAPI_start(*event_set) : code;
    if (code == PAPI_OK) {
        return NULL;
    }
    const char *why = PAPI_strerror(code);
    (void)PAPI_cleanup_eventset(*event_set);
    (void)PAPI_destroy_eventset(event_set);
    return why != NULL ? why : "unknown error";
}

static bool library_read(void *self, int event_set, long long *value) {
    (void)self;
    return PAPI_read(event_set, value) == PAPI_OK;
}

static void library_stop(void *self, int event_set) {
    (void)self;
    long long value = 0;
    (void)PAPI_stop(event_set, &value);
    (void)PAPI_cleanup_eventset(event_set);
    (void)PAPI_destroy_eventset(&event_set);
    PAPI_shutdown();
}

const struct pw_papi pw_papi_library = {
    .self = NULL, .start = library_start, .read = library_read, .stop = library_stop};
