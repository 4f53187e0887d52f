/* SPDX-License-Identifier: Apache-2.0 */
/* power/measured.h - measurements of a kernel at the settings of a machine, to be shown beside the model. */
#ifndef ISAPROBE_POWER_MEASURED_H
#define ISAPROBE_POWER_MEASURED_H

#include "power/model.h"

/* NaN: not measured. */
struct pw_measured {
    double cycles, time_s, power_w;
    double gflops_per_watt; /* with the model's power where the watts were not measured */
};

/* Reads CSV, with quotes or without: a header with `divisor` or `freq_hz`, and `cycles` or `time_s` (the
 * other is derived), and `power_w` if it was measured; other columns are passed over. Fills
 * measured[0..machine->setting_count), which belong to points[]. IP_SYNTAX at "file:line": no such column, or
 * twice, no such setting, or twice, a bad or negative number, other fields than the header's, a frequency
 * that is not the divisor's, a time that is not that of the cycles. */
IP_CHECK enum ip_status pw_measured_parse(struct pw_measured *measured, const char *file, const char *text,
                                          const struct pw_machine *machine, const struct pw_point *points,
                                          double flops, struct ip_error *err);

#endif
