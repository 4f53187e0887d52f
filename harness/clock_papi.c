/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <papi.h>
#include <stdio.h>
#include <string.h>

#include "harness/clock.h"

/* Starts the event in this process. PAPI counts the calling thread, so the child must do it itself. */
static int papi_start(const char *event, int *event_set) {
    int code = PAPI_library_init(PAPI_VER_CURRENT);
    if (code != PAPI_VER_CURRENT) {
        return code < 0 ? code : PAPI_EINVAL;
    }
    *event_set = PAPI_NULL;
    code = PAPI_create_eventset(event_set);
    if (code == PAPI_OK) {
        code = PAPI_add_named_event(*event_set, event);
    }
    if (code == PAPI_OK) {
        code = PAPI_start(*event_set);
    }
    return code;
}

static int papi_child_open(struct hx_clock *clock) {
    return papi_start(clock->event, &clock->event_set) == PAPI_OK ? 0 : EOPNOTSUPP;
}

static uint64_t papi_now(const struct hx_clock *clock) {
    long long value = 0;
    if (PAPI_read(clock->event_set, &value) != PAPI_OK) {
        return 0;
    }
    return (uint64_t)value;
}

enum ip_status hx_clock_papi_init(struct hx_clock *clock, const char *event, struct ip_error *err) {
    const char *name = event[0] != '\0' ? event : "PAPI_TOT_CYC";
    if (strlen(name) >= sizeof clock->event) {
        return ip_fail(err, IP_USAGE, "timer papi: event name '%.40s...' is too long", name);
    }
    int event_set = PAPI_NULL;
    int code = papi_start(name, &event_set);
    if (code == PAPI_OK) {
        long long value = 0;
        (void)PAPI_stop(event_set, &value);
        (void)PAPI_cleanup_eventset(event_set);
        (void)PAPI_destroy_eventset(&event_set);
    }
    char reason[128];
    const char *text = PAPI_strerror(code);
    (void)snprintf(reason, sizeof reason, "%s", text != NULL ? text : "PAPI cannot be initialised");
    /* The child initialises the library again for itself: what was opened here counts this process. */
    PAPI_shutdown();
    if (code != PAPI_OK) {
        return ip_fail(
            err, IP_CAPABILITY,
            "timer papi: event %s cannot be counted here: %s; use --timer tsc, or ask for access to the "
            "counters (kernel.perf_event_paranoid, a PMU in the virtual machine)",
            name, reason);
    }
    memset(clock, 0, sizeof *clock);
    clock->unit = "counts";
    clock->child_open = papi_child_open;
    clock->begin = papi_now;
    clock->end = papi_now;
    (void)snprintf(clock->event, sizeof clock->event, "%s", name);
    clock->event_set = PAPI_NULL;
    return IP_OK;
}
