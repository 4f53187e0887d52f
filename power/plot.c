/* SPDX-License-Identifier: Apache-2.0 */
#include "power/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The figure and the area between the axes. */
static const double width = 800, height = 500, left = 92, right = 776, top = 84, bottom = 432;

/* Okabe and Ito's blue and vermillion: told apart by colour-blind readers, and the dash by all. */
static const char model_colour[] = "#0072b2", measured_colour[] = "#d55e00";

struct axis {
    double low, high, step;
};

struct frame {
    const struct pw_plot *plot;
    struct axis x, y;
    bool by_divisor;
    double y_scale;     /* of the values for display */
    const char *y_name; /* with its unit */
};

static double model_value(const struct frame *frame, size_t i) {
    const struct pw_point *p = &frame->plot->points[i];
    switch (frame->plot->kind) {
    case PW_PLOT_CYCLES:
        return p->cycles;
    case PW_PLOT_TIME:
        return p->time_s;
    case PW_PLOT_GFLOPS_PER_WATT:
        break;
    }
    return p->gflops_per_watt;
}

static double measured_value(const struct frame *frame, size_t i) {
    const struct pw_measured *m = &frame->plot->measured[i];
    switch (frame->plot->kind) {
    case PW_PLOT_CYCLES:
        return m->cycles;
    case PW_PLOT_TIME:
        return m->time_s;
    case PW_PLOT_GFLOPS_PER_WATT:
        break;
    }
    return m->gflops_per_watt;
}

static double x_value(const struct frame *frame, size_t i) {
    const struct pw_setting *setting = frame->plot->points[i].setting;
    return frame->by_divisor ? setting->divisor : setting->freq_hz / 1e6;
}

/* A step of 1, 2 or 5 times a power of ten that gives about `ticks` of them. */
static double nice_step(double span, double ticks) {
    double raw = span / ticks;
    double power = pow(10, floor(log10(raw)));
    double part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void x_axis_choose(struct frame *frame) {
    double a = x_value(frame, 0), b = x_value(frame, frame->plot->count - 1);
    frame->x.low = fmin(a, b);
    frame->x.high = fmax(a, b);
    double span = frame->x.high - frame->x.low;
    double margin = span > 0 ? 0.03 * span : 0.5 + 0.05 * frame->x.high;
    frame->x.low -= margin;
    frame->x.high += margin;
    frame->x.step = nice_step(frame->x.high - frame->x.low, 9);
    if (frame->by_divisor) {
        frame->x.step = span <= 20 ? 1 : fmax(1, frame->x.step);
    }
}

/* From 0, so that heights compare; names the unit that keeps the numbers short. */
static void y_axis_choose(struct frame *frame) {
    static const struct {
        double scale;
        const char *names[3];
    } units[] = {
        {1e9, {"Cycles (billions)", NULL, NULL}},  {1e6, {"Cycles (millions)", NULL, NULL}},
        {1e3, {"Cycles (thousands)", NULL, NULL}}, {1, {"Cycles", "Time (s)", "Power efficiency (GFlops/W)"}},
        {1e-3, {NULL, "Time (ms)", NULL}},         {1e-6, {NULL, "Time (µs)", NULL}},
        {1e-9, {NULL, "Time (ns)", NULL}},
    };
    double highest = 0;
    for (size_t i = 0; i < frame->plot->count; i++) {
        double model = model_value(frame, i);
        highest = isfinite(model) ? fmax(highest, model) : highest;
        double measured = frame->plot->measured != NULL ? measured_value(frame, i) : NAN;
        highest = isfinite(measured) ? fmax(highest, measured) : highest;
    }
    int kind = (int)frame->plot->kind;
    frame->y_scale = 1;
    frame->y_name = units[3].names[kind];
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        bool usable = units[u].names[kind] != NULL;
        if (usable && (highest >= units[u].scale || units[u].scale == 1)) {
            frame->y_scale = units[u].scale;
            frame->y_name = units[u].names[kind];
            if (highest >= units[u].scale) {
                break;
            }
        }
    }
    highest = highest > 0 ? highest / frame->y_scale : 1;
    frame->y.low = 0;
    frame->y.step = nice_step(highest, 6);
    frame->y.high = ceil(highest * 1.04 / frame->y.step) * frame->y.step;
}

static double x_place(const struct frame *frame, double x) {
    return left + (x - frame->x.low) / (frame->x.high - frame->x.low) * (right - left);
}

static double y_place(const struct frame *frame, double y) {
    return bottom - (y / frame->y_scale - frame->y.low) / (frame->y.high - frame->y.low) * (bottom - top);
}

static void label(struct ip_text *svg, double x, double y, const char *attributes, const char *string) {
    ip_text_printf(svg, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    ip_text_append_xml(svg, string);
    ip_text_append(svg, "</text>\n");
}

/* With the decimals that the axis' step needs. */
static void number_label(struct ip_text *svg, double x, double y, const char *attributes, double number,
                         double step) {
    int decimals = (int)fmax(0, ceil(-log10(step) - 1e-9));
    ip_text_printf(svg, "<text x=\"%.1f\" y=\"%.1f\" %s>%.*f</text>\n", x, y, attributes, decimals, number);
}

/* In the middle above the axes, smaller where it would not fit: bold letters are about 0.65 of their size
 * wide, others 0.58. */
static void heading(struct ip_text *svg, double y, double size, double letter, const char *attributes,
                    const char *string) {
    size_t letters = 0;
    for (const char *c = string; *c != '\0'; c++) {
        letters += ((unsigned char)*c & 0xc0) != 0x80;
    }
    char all[96];
    (void)snprintf(all, sizeof all, "font-size=\"%.3g\" text-anchor=\"middle\" %s",
                   fmin(size, (width - 20) / (letter * (double)(letters + 1))), attributes);
    label(svg, width / 2, y, all, string);
}

static void axes_append(struct ip_text *svg, const struct frame *frame) {
    ip_text_append(svg, "<g stroke=\"#dddddd\" stroke-width=\"1\">\n");
    int y_ticks = (int)lround(frame->y.high / frame->y.step);
    for (int i = 1; i <= y_ticks; i++) {
        double y = y_place(frame, i * frame->y.step * frame->y_scale);
        ip_text_printf(svg, "<path d=\"M%.1f %.1fH%.1f\"/>\n", left, y, right);
    }
    ip_text_append(svg, "</g>\n<g stroke=\"#333333\" stroke-width=\"1.2\" fill=\"none\">\n");
    ip_text_printf(svg, "<path d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", left, top, bottom, right);
    int first = (int)ceil(frame->x.low / frame->x.step);
    int last = (int)floor(frame->x.high / frame->x.step);
    for (int i = first; i <= last; i++) {
        ip_text_printf(svg, "<path d=\"M%.1f %.1fv6\"/>\n", x_place(frame, i * frame->x.step), bottom);
    }
    ip_text_append(svg, "</g>\n<g font-size=\"14\">\n");
    for (int i = first; i <= last; i++) {
        number_label(svg, x_place(frame, i * frame->x.step), bottom + 22, "text-anchor=\"middle\"",
                     i * frame->x.step, frame->x.step);
    }
    for (int i = 0; i <= y_ticks; i++) {
        double y = i * frame->y.step;
        number_label(svg, left - 8, y_place(frame, y * frame->y_scale) + 5, "text-anchor=\"end\"", y,
                     frame->y.step);
    }
    ip_text_append(svg, "</g>\n<g font-size=\"15\" text-anchor=\"middle\">\n");
    label(svg, (left + right) / 2, bottom + 48, "",
          frame->by_divisor ? "Core frequency divisor" : "Core frequency (MHz)");
    double middle = (top + bottom) / 2;
    ip_text_printf(svg, "<text transform=\"translate(26 %.1f) rotate(-90)\">%s</text>\n</g>\n", middle,
                   frame->y_name);
}

static void curve_append(struct ip_text *svg, const struct frame *frame, bool measured) {
    double (*value)(const struct frame *, size_t) = measured ? measured_value : model_value;
    const char *colour = measured ? measured_colour : model_colour;
    ip_text_printf(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\"%s d=\"", colour,
                   measured ? " stroke-dasharray=\"7 5\"" : "");
    bool pen_down = false; /* a setting without a value leaves a gap */
    for (size_t i = 0; i < frame->plot->count; i++) {
        double y = value(frame, i);
        if (isfinite(y)) {
            ip_text_printf(svg, "%s%.1f %.1f", pen_down ? "L" : "M", x_place(frame, x_value(frame, i)),
                           y_place(frame, y));
        }
        pen_down = isfinite(y);
    }
    ip_text_append(svg, "\"/>\n");
    for (size_t i = 0; i < frame->plot->count; i++) {
        double y = value(frame, i);
        if (!isfinite(y)) {
            continue;
        }
        double at_x = x_place(frame, x_value(frame, i)), at_y = y_place(frame, y);
        if (measured) {
            ip_text_printf(svg, "<path stroke=\"%s\" stroke-width=\"2.2\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n",
                           colour, at_x - 4, at_y - 4);
        } else {
            ip_text_printf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", at_x, at_y,
                           colour);
        }
    }
}

/* Above the axes, where no curve can cross it. */
static void legend_append(struct ip_text *svg, const struct frame *frame) {
    double x = left, y = top - 14;
    ip_text_printf(svg,
                   "<path stroke=\"%s\" stroke-width=\"2.2\" d=\"M%.1f %.1fh30\"/>\n"
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
                   model_colour, x, y - 5, x + 15, y - 5, model_colour);
    label(svg, x + 38, y, "font-size=\"14\"", "model");
    if (frame->plot->measured != NULL) {
        x += 110;
        ip_text_printf(
            svg,
            "<path stroke=\"%s\" stroke-width=\"2.2\" stroke-dasharray=\"7 5\" d=\"M%.1f %.1fh30\"/>\n"
            "<path stroke=\"%s\" stroke-width=\"2.2\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n",
            measured_colour, x, y - 5, measured_colour, x + 11, y - 9);
        label(svg, x + 38, y, "font-size=\"14\"", "measured");
    }
}

static void ring_append(struct ip_text *svg, double x, double y) {
    ip_text_printf(svg,
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"none\" stroke=\"#333333\" "
                   "stroke-width=\"1.6\"/>\n",
                   x, y);
}

/* A ring round the chosen setting; the legend names it. */
static void best_append(struct ip_text *svg, const struct frame *frame) {
    int best = frame->plot->best;
    if (best < 0 || !isfinite(model_value(frame, (size_t)best))) {
        return;
    }
    struct ip_text words = {0};
    ip_text_printf(&words, frame->by_divisor ? "chosen: divisor %g" : "chosen: %g MHz",
                   x_value(frame, (size_t)best));
    ring_append(svg, x_place(frame, x_value(frame, (size_t)best)),
                y_place(frame, model_value(frame, (size_t)best)));
    ring_append(svg, right - 160, top - 19);
    label(svg, right, top - 14, "font-size=\"14\" text-anchor=\"end\"", ip_text_string(&words));
    svg->failed = svg->failed || words.failed;
    ip_text_fini(&words);
}

void pw_plot_svg(struct ip_text *svg, const struct pw_plot *plot) {
    struct frame frame = {.plot = plot, .by_divisor = plot->points[0].setting->divisor != 0};
    x_axis_choose(&frame);
    y_axis_choose(&frame);
    ip_text_printf(svg,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                   "viewBox=\"0 0 %.0f %.0f\" font-family=\"DejaVu Sans, Arial, sans-serif\" "
                   "fill=\"#222222\">\n<title>",
                   width, height, width, height);
    ip_text_append_xml(svg, plot->title);
    ip_text_printf(svg, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", width, height);
    heading(svg, 26, 18, 0.65, "font-weight=\"bold\"", plot->title);
    heading(svg, 45, 13, 0.58, "fill=\"#555555\"", plot->subtitle);
    axes_append(svg, &frame);
    curve_append(svg, &frame, false);
    if (plot->measured != NULL) {
        curve_append(svg, &frame, true);
    }
    legend_append(svg, &frame);
    best_append(svg, &frame);
    ip_text_append(svg, "</svg>\n");
}
