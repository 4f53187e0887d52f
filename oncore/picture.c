/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/decode.h"

enum {
    MARGIN = 24,
    TEXT_WIDTH = 400,
    CELL = 44,
    ROW = 22,
    BAR = 220,
    ARCS = 190,
    ROWS_MAX = 400 /* of instructions in the picture */
};

static const char paper[] = "#ffffff", ink[] = "#1b1f24", faint[] = "#6a737d", rule[] = "#d8dee4",
                  cool[] = "#9ec5e8", hot[] = "#d1495b";

static void label(struct ip_text *svg, double x, double y, const char *anchor, const char *colour, bool mono,
                  const char *text) {
    ip_text_printf(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, anchor, colour,
                   mono ? " class=\"m\"" : "");
    ip_text_append_xml(svg, text);
    ip_text_append(svg, "</text>\n");
}

static void box(struct ip_text *svg, double x, double y, double width, double height, const char *colour,
                double opacity) {
    ip_text_printf(svg,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                   "fill-opacity=\"%.2f\"/>\n",
                   x, y, width, height, colour, opacity);
}

static void number(struct ip_text *svg, double x, double y, const char *anchor, const char *colour,
                   double value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.2f", value);
    label(svg, x, y, anchor, colour, true, text);
}

static double bounds_draw(const struct core_prediction *prediction, struct ip_text *svg, double y) {
    label(svg, MARGIN, y, "start", faint, false, "Bounds, cycles per pass");
    y += 10;
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        double cycles = prediction->bounds[b];
        if (isnan(cycles)) {
            continue;
        }
        bool binds = b == prediction->binding;
        double part = prediction->cycles > 0.0 ? fmin(1.0, cycles / prediction->cycles) : 0.0;
        label(svg, MARGIN, y + 14, "start", binds ? hot : ink, false, core_bound_name(b));
        box(svg, MARGIN + 90, y + 3, fmax(1.0, part * BAR), ROW - 8, binds ? hot : cool, 1.0);
        number(svg, MARGIN + 96 + fmax(1.0, part * BAR), y + 14, "start", binds ? hot : ink, cycles);
        y += ROW;
    }
    return y;
}

static double ports_draw(const struct core_costs *costs, const struct core_prediction *prediction,
                         struct ip_text *svg, double x, double y, double height) {
    label(svg, x, y, "start", faint, false, "Pressure on each port, cycles per pass");
    double most = fmax(prediction->cycles, 1e-9);
    double base = y + height - 22;
    ip_text_printf(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x, base,
                   x + costs->port_count * (double)CELL, base, rule);
    for (unsigned p = 0; p < costs->port_count; p++) {
        double part = fmin(1.0, prediction->pressure[p] / most);
        double bar = part * (height - 62);
        bool binds = prediction->binding == CORE_BOUND_PORTS && (prediction->bottleneck >> p & 1) != 0;
        char name[2] = {costs->port_names[p], '\0'};
        box(svg, x + p * (double)CELL + 8, base - bar, CELL - 16, bar, binds ? hot : cool, 1.0);
        number(svg, x + (p + 0.5) * CELL, base - bar - 5, "middle", binds ? hot : ink,
               prediction->pressure[p]);
        label(svg, x + (p + 0.5) * CELL, base + 16, "middle", ink, true, name);
    }
    return y + height;
}

static void row_draw(const struct core_costs *costs, const struct core_prediction *prediction, size_t i,
                     struct ip_text *svg, double x, double y) {
    const struct core_instruction *instruction = &prediction->block.items[i];
    char text[160];
    (void)isa_disassemble_one(prediction->block.code + instruction->offset,
                              prediction->block.code_bytes - instruction->offset, instruction->offset, text,
                              sizeof text);
    if (strlen(text) > 48) {
        strcpy(text + 45, "...");
    }
    bool known = instruction->cost->known || instruction->fused;
    char place[24];
    (void)snprintf(place, sizeof place, "%x", (unsigned)instruction->offset);
    label(svg, MARGIN + 26, y + 15, "end", faint, true, place);
    label(svg, MARGIN + 38, y + 15, "start", known ? ink : hot, true, text);
    for (unsigned p = 0; p < costs->port_count; p++) {
        double share = prediction->shares[i][p];
        if (share > 0.0) {
            box(svg, x + p * (double)CELL + 1, y + 1, CELL - 2, ROW - 2, hot, 0.12 + 0.55 * fmin(1.0, share));
            number(svg, x + (p + 0.5) * CELL, y + 15, "middle", ink, share);
        }
    }
    if (instruction->renamed || instruction->fused || !known) {
        label(svg, x + 8, y + 15, "start", faint, false,
              !known                ? "not in the tables"
              : instruction->fused  ? "fused with the instruction before it"
              : instruction->joined ? "in the slot of the instruction behind it"
              : instruction->idiom || instruction->cost->eliminated >= 0.0 ? "done at rename"
                                                                           : "no port");
    }
}

/* An arc from the instruction that makes a value to the one that waits for it; one that comes from the pass
 * before is dashed. */
static void chain_draw(const struct core_prediction *prediction, struct ip_text *svg, double x, double y) {
    for (unsigned l = 0; l < prediction->chain_count; l++) {
        const struct core_link *link = &prediction->chain[l];
        const struct core_link *before = &prediction->chain[l > 0 ? l - 1 : prediction->chain_count - 1];
        if (link->instruction >= ROWS_MAX || before->instruction >= ROWS_MAX) {
            continue;
        }
        double from = y + (before->instruction + 0.5) * ROW, to = y + (link->instruction + 0.5) * ROW;
        bool carried = before->instruction >= link->instruction;
        double reach = fmin(64, 26 + 0.25 * fabs(to - from)) + (carried ? 14 : 0);
        if (before->instruction == link->instruction) { /* it waits for itself */
            from -= 5;
            to += 5;
        }
        ip_text_printf(svg,
                       "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"%s\" "
                       "stroke-width=\"1.6\"%s marker-end=\"url(#a)\"/>\n",
                       x, from, x + reach, from, x + reach, to, x + 4, to, hot,
                       carried ? " stroke-dasharray=\"4 3\"" : "");
        char text[64];
        (void)snprintf(text, sizeof text, "%s +%.1f",
                       link->memory ? "memory" : core_resource_name(link->from), link->cycles);
        label(svg, x + 84, y + (link->instruction + 0.5) * ROW + 4, "start", hot, false, text);
    }
}

void core_picture_write(const struct core_costs *costs, const struct core_prediction *prediction,
                        const char *title, struct ip_text *svg) {
    size_t rows = prediction->block.count < ROWS_MAX ? prediction->block.count : ROWS_MAX;
    unsigned bounds = 0;
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        bounds += !isnan(prediction->bounds[b]);
    }
    double ports = MARGIN + TEXT_WIDTH;
    double top = 74, head = fmax(160.0, 16.0 + bounds * (double)ROW);
    double listing = top + head + 44;
    double width = ports + costs->port_count * (double)CELL + ARCS + MARGIN;
    double height = listing + rows * (double)ROW + MARGIN;
    ip_text_printf(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<style>.m{font-family:monospace;font-size:12px}</style>\n"
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"%s\"/></marker></defs>\n",
        width, height, width, height, hot);
    box(svg, 0, 0, width, height, paper, 1.0);
    ip_text_printf(svg, "<text x=\"%d\" y=\"34\" font-size=\"18\" fill=\"%s\">", MARGIN, ink);
    char line[120];
    (void)snprintf(line, sizeof line, "%.2f cycles per pass, bound by: %s", prediction->cycles,
                   core_bound_name(prediction->binding));
    ip_text_append_xml(svg, line);
    ip_text_append(svg, "</text>\n");
    label(svg, MARGIN, 54, "start", faint, false, title);
    (void)bounds_draw(prediction, svg, top + 6);
    (void)ports_draw(costs, prediction, svg, ports, top + 6, head);
    for (size_t i = 0; i <= rows; i++) {
        ip_text_printf(svg, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", MARGIN,
                       listing + i * (double)ROW, width - MARGIN, listing + i * (double)ROW, rule);
    }
    for (unsigned p = 0; p < costs->port_count; p++) {
        char name[2] = {costs->port_names[p], '\0'};
        label(svg, ports + (p + 0.5) * CELL, listing - 6, "middle", faint, true, name);
    }
    label(svg, MARGIN + 38, listing - 6, "start", faint, false, "Instructions and their part of each port");
    if (prediction->chain_count > 0) {
        label(svg, ports + costs->port_count * (double)CELL + 10, listing - 6, "start", faint, false,
              "Critical chain");
    }
    for (size_t i = 0; i < rows; i++) {
        row_draw(costs, prediction, i, svg, ports, listing + i * (double)ROW);
    }
    chain_draw(prediction, svg, ports + costs->port_count * (double)CELL + 6, listing);
    ip_text_append(svg, "</svg>\n");
}
