/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/program.h"
#include "generator/shapes.h"
#include "probe/usage_steps.h"

enum { INSTANCES = 24 };

static const double UOP_TOLERANCE = 0.2;  /* of the count of all uops */
static const double PRINTED_LEAST = 0.05; /* uops on a port */

/* uops on each port of a unit of the part; `counts` untouched when nothing stands in it. */
static enum ip_status part_count(struct hx_port_events *events, struct gen_encoder *encoder,
                                 const struct gen_part *part, double counts[HX_PORT_EVENTS_MAX],
                                 struct ip_error *err) {
    struct gen_program program;
    struct gen_kernel kernel;
    enum ip_status status = gen_mix_program(&program, part, 1, err);
    if (status != IP_OK || program.unit.count == 0) {
        if (status == IP_OK) {
            gen_program_fini(&program);
        }
        return status;
    }
    status = gen_encoder_program_add(encoder, &program, err);
    status = status == IP_OK ? gen_encoder_flush(encoder, err) : status;
    status = status == IP_OK ? gen_kernel_build(&kernel, &program, encoder, 0, err) : status;
    if (status == IP_OK) {
        status = hx_port_events_count(events, &kernel, counts, err);
        gen_kernel_fini(&kernel);
    }
    gen_program_fini(&program);
    return status;
}

static enum ip_status form_count(struct hx_port_events *events, struct gen_encoder *encoder,
                                 const struct isa_form *form, struct probe_counted *counted,
                                 struct ip_error *err) {
    struct gen_part part = {.form = form, .count = INSTANCES, .how = probe_usage_independence(form)};
    double with[HX_PORT_EVENTS_MAX] = {0}, without[HX_PORT_EVENTS_MAX] = {0};
    enum ip_status status = part_count(events, encoder, &part, with, err);
    part.how.renewals_only = true; /* what renews its operands is no part of the form */
    status = status == IP_OK ? part_count(events, encoder, &part, without, err) : status;
    if (status != IP_OK) {
        return status;
    }
    counted->ports = events->count;
    memcpy(counted->names, events->names, sizeof counted->names);
    for (unsigned i = 0; i < events->count; i++) {
        counted->uops[i] = (with[i] - without[i]) / INSTANCES;
        counted->total += counted->uops[i];
    }
    counted->measured = isfinite(counted->total);
    return IP_OK;
}

enum ip_status probe_counted_measure(struct hx_port_events *events, struct gen_encoder *encoder,
                                     struct isa_form *const *forms, size_t count,
                                     struct probe_counted *results, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        memset(&results[i], 0, sizeof results[i]);
        struct ip_error reason; /* what cannot stand in a kernel is told by the measurement of time */
        enum ip_status status =
            events->count > 0 ? form_count(events, encoder, forms[i], &results[i], &reason) : IP_OK;
        if (status == IP_NO_MEMORY || status == IP_IO || status == IP_FAILED) {
            *err = reason;
            return status;
        }
    }
    return IP_OK;
}

bool probe_counted_agrees(const struct probe_counted *counted, const struct probe_usage *usage) {
    double least = 0, most = usage->hidden_most;
    for (unsigned t = 0; t < usage->term_count; t++) {
        bool hidden = usage->hidden_ports != 0 && usage->terms[t].ports == usage->hidden_ports;
        double uops = hidden ? 0 : usage->terms[t].uops * (usage->terms[t].store ? 2 : 1);
        least += uops;
        most += uops;
    }
    return counted->total >= least - UOP_TOLERANCE && counted->total <= most + UOP_TOLERANCE;
}

const char *probe_counted_print(const struct probe_counted *counted, char *buffer) {
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < counted->ports && used + 16 < PROBE_COUNTED_TEXT; i++) {
        if (counted->uops[i] >= PRINTED_LEAST) {
            used += (size_t)snprintf(buffer + used, PROBE_COUNTED_TEXT - used, "%s%.2f p%c",
                                     used > 0 ? " + " : "", counted->uops[i], counted->names[i]);
        }
    }
    return buffer;
}
