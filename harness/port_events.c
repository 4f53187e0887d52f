/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/port_events.h"

#include <math.h>
#include <string.h>

#include "common/text.h"
#include "harness/stats.h"

enum { ROUNDS = 9 };

static const char digits[] = "0123456789ABCDEF"; /* names of ports */

static bool event_open(struct hx_port_events *events, const struct ip_text *specification, char name, int cpu,
                       const struct hx_references *references) {
    struct ip_error ignored; /* an event that is not there is no error */
    struct hx_timer *timer = &events->timers[events->count];
    if (events->count == HX_PORT_EVENTS_MAX || specification->failed ||
        hx_timer_open(timer, ip_text_string(specification), references, cpu, &ignored) != IP_OK) {
        return false;
    }
    events->names[events->count++] = name;
    return true;
}

/* Events of the CPU that a timer simulates. */
static void simulated_open(struct hx_port_events *events, const char *specification, int cpu,
                           const struct hx_references *references) {
    struct ip_text name = {0};
    for (unsigned port = 0; digits[port] != '\0'; port++) {
        ip_text_clear(&name);
        ip_text_printf(&name, "%s#p%c", specification, digits[port]);
        (void)event_open(events, &name, digits[port], cpu, references);
    }
    ip_text_fini(&name);
}

static void silicon_open(struct hx_port_events *events, int cpu, const struct hx_references *references) {
    static const char *const silicon[] = {"papi:UOPS_DISPATCHED_PORT:PORT_", "papi:UOPS_DISPATCHED:PORT_",
                                          "papi:UOPS_EXECUTED_PORT:PORT_"};
    struct ip_text name = {0};
    for (size_t s = 0; s < sizeof silicon / sizeof *silicon && events->count == 0; s++) {
        for (unsigned port = 0; digits[port] != '\0'; port++) {
            ip_text_clear(&name);
            ip_text_printf(&name, "%s%u", silicon[s], port);
            if (!event_open(events, &name, digits[port], cpu, references) && port == 0) {
                break; /* a machine that does not count port 0 by this name counts none by it */
            }
        }
    }
    ip_text_fini(&name);
}

void hx_port_events_open(struct hx_port_events *events, const char *specification, int cpu,
                         const struct hx_references *references) {
    memset(events, 0, sizeof *events);
    if (specification != NULL && strncmp(specification, "sim:", 4) == 0) {
        simulated_open(events, specification, cpu, references);
    } else if (specification == NULL || strncmp(specification, "replay", 6) != 0) {
        silicon_open(events, cpu, references);
    }
}

void hx_port_events_close(struct hx_port_events *events) {
    for (unsigned i = 0; i < events->count; i++) {
        hx_timer_close(&events->timers[i]);
    }
    memset(events, 0, sizeof *events);
}

enum ip_status hx_port_events_count(struct hx_port_events *events, const struct gen_kernel *kernel,
                                    double counts[HX_PORT_EVENTS_MAX], struct ip_error *err) {
    for (unsigned i = 0; i < events->count; i++) {
        double values[HX_SAMPLE_ROWS * ROUNDS];
        struct hx_samples samples = {0};
        const struct hx_job job = {.kernel = kernel, .rounds = ROUNDS, .iterations = 100};
        hx_samples_place(&samples, values, ROUNDS);
        enum ip_status status = events->timers[i].ops->run(&events->timers[i], &job, 1, &samples, err);
        if (status != IP_OK) {
            return status;
        }
        if (samples.outcome != HX_OUTCOME_OK) {
            counts[i] = NAN;
            continue;
        }
        double forms = (double)(kernel->longer.copies - kernel->shorter.copies) * samples.iterations *
                       kernel->forms_per_unit;
        hx_sort(samples.longer, ROUNDS);
        hx_sort(samples.shorter, ROUNDS);
        counts[i] =
            (hx_quantile(samples.longer, ROUNDS, 0.5) - hx_quantile(samples.shorter, ROUNDS, 0.5)) / forms;
    }
    return IP_OK;
}
