/* SPDX-License-Identifier: Apache-2.0 */
/* power/plot.h - one figure as SVG: what the model says at every setting, beside what was measured. */
#ifndef ISAPROBE_POWER_PLOT_H
#define ISAPROBE_POWER_PLOT_H

#include "common/text.h"
#include "power/measured.h"
#include "power/model.h"

enum pw_plot_kind { PW_PLOT_CYCLES, PW_PLOT_TIME, PW_PLOT_GFLOPS_PER_WATT };
#define PW_PLOT_WORDS "cycles time gflops-per-watt"

struct pw_plot {
    enum pw_plot_kind kind;
    const char *title, *subtitle;       /* borrowed; any UTF-8 */
    const struct pw_point *points;      /* borrowed */
    size_t count;                       /* > 0 */
    const struct pw_measured *measured; /* borrowed, one for each point; NULL: none */
    int best;                           /* index of the chosen setting, -1: mark none */
};

/* Appends the figure, 800 by 500. The x axis is the divisor, or the frequency where settings have none. */
void pw_plot_svg(struct ip_text *svg, const struct pw_plot *plot);

#endif
