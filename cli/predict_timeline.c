/* SPDX-License-Identifier: Apache-2.0 */
/* cli/predict_timeline.c - predict --timeline: the simulated passes as rows of characters, or of numbers. */
#include "cli/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct cli_column cli_timeline_columns[] = {
    {.name = "pass"},   {.name = "instruction"}, {.name = "offset"},    {.name = "text"},
    {.name = "issue"},  {.name = "uop"},         {.name = "port"},      {.name = "dispatch"},
    {.name = "cycles"}, {.name = "loaded"},      {.name = "forwarded"}, {.name = "ready"},
    {.name = "retire"}, {.name = "cached"},      {.name = "note"},      {.name = NULL},
};

enum ip_status cli_timeline_check(const struct core_costs *costs, const struct core_timeline *timeline,
                                  unsigned asked, bool quiet, struct ip_error *err) {
    if (timeline->passes == 0 && isnan(core_issue_width(costs))) {
        return ip_fail(
            err, IP_FAILED,
            "--timeline has nothing to show: the store lacks the issue width, without which nothing "
            "is simulated; 'isaprobe core --only issue_width' adds it");
    }
    if (timeline->passes == 0) {
        return ip_fail(err, IP_FAILED,
                       "--timeline has nothing to show: one pass takes longer than the %d cycles that are "
                       "simulated; give a part of the block",
                       CORE_CYCLES_MAX);
    }
    if (timeline->passes < asked && !quiet) {
        cli_message("predict",
                    "--timeline %u: this block is simulated for %u pass%s only, all of which is shown", asked,
                    timeline->passes, timeline->passes == 1 ? "" : "es");
    }
    return IP_OK;
}

/* --- rows of characters ----------------------------------------------------------------------------- */

enum {
    LINE = 120,     /* characters of a line at most */
    TEXT_MOST = 36, /* of them for an instruction */
    GRID = 10,      /* cycles between the marks that guide the eye */
    PANEL_MOST = LINE,
    ROWS_MOST = CORE_PORTS_MAX + 2 /* a port is taken once in a cycle */
};

/* A part of the time, as wide as a line has room. */
struct panel {
    size_t from, cycles;
};

/* What one instruction does in the cycles of a panel: rows that are needed only where several µops begin in
 * one cycle. */
struct drawing {
    struct panel panel;
    char cells[ROWS_MOST][PANEL_MOST + 1];
    unsigned rows;
};

static const struct core_uop *uops_of(const struct core_timeline *timeline, const struct core_step *step) {
    return step->uop_count > 0 ? &timeline->uops[step->uop] : NULL;
}

/* The last cycle of the instruction's row. */
static size_t row_end(const struct core_step *step) {
    size_t issued = (size_t)step->issued, retired = core_timeline_cycle(step->retired);
    return retired > issued ? retired : issued;
}

/* Did its store wait for others before it went into the cache? */
static bool cached_late(const struct core_step *step) {
    return !isnan(step->cached) && core_timeline_cycle(step->cached) > core_timeline_cycle(step->done);
}

/* The last cycle in which anything of it is drawn. */
static size_t last_cycle(const struct core_timeline *timeline, const struct core_step *step) {
    size_t last = row_end(step);
    if (cached_late(step) && core_timeline_cycle(step->cached) > last) {
        last = core_timeline_cycle(step->cached);
    }
    for (size_t u = 0; u < step->uop_count; u++) {
        size_t begin = (size_t)uops_of(timeline, step)[u].begin;
        last = begin > last ? begin : last;
    }
    return last;
}

/* What the instruction is doing in a cycle between its issue and its end. */
static char state_of(const struct core_timeline *timeline, const struct core_step *step, size_t cycle) {
    bool loading = false;
    for (size_t u = 0; u < step->uop_count; u++) {
        const struct core_uop *uop = &uops_of(timeline, step)[u];
        if (uop->kind == CORE_UOP_UNIT && cycle >= core_timeline_cycle(uop->begin) &&
            cycle < core_timeline_cycle(uop->begin + uop->cycles)) {
            return 'u';
        }
        loading = loading || (uop->kind == CORE_UOP_LOAD && uop->begin <= cycle &&
                              cycle < core_timeline_cycle(step->loaded));
    }
    if (loading) {
        return step->forwarded ? 'f' : 'e';
    }
    if (cycle >= core_timeline_cycle(step->started) && cycle < core_timeline_cycle(step->result)) {
        return 'e';
    }
    return cycle < core_timeline_cycle(step->done) ? '=' : '-';
}

static void cell_set(struct drawing *drawing, unsigned row, size_t cycle, char mark) {
    const struct panel *panel = &drawing->panel;
    if (cycle < panel->from || cycle >= panel->from + panel->cycles || row >= ROWS_MOST) {
        return;
    }
    drawing->cells[row][cycle - panel->from] = mark;
    drawing->rows = row + 1 > drawing->rows ? row + 1 : drawing->rows;
}

/* Marks what happens in a cycle, in the first row in which it covers none but these marks. */
static void cell_mark(struct drawing *drawing, size_t cycle, char mark, const char *may_cover) {
    unsigned row = 0;
    if (cycle >= drawing->panel.from && cycle < drawing->panel.from + drawing->panel.cycles) {
        while (row < ROWS_MOST &&
               strchr(may_cover, drawing->cells[row][cycle - drawing->panel.from]) == NULL) {
            row++;
        }
    }
    cell_set(drawing, row, cycle, mark);
}

static void step_draw(const struct core_costs *costs, const struct core_timeline *timeline,
                      const struct core_step *step, struct drawing *drawing) {
    const struct panel *panel = &drawing->panel;
    for (unsigned row = 0; row < ROWS_MOST; row++) {
        for (size_t c = 0; c < panel->cycles; c++) {
            drawing->cells[row][c] = (panel->from + c) % GRID == 0 ? '.' : ' ';
        }
        drawing->cells[row][panel->cycles] = '\0';
    }
    drawing->rows = 1;
    size_t first = (size_t)step->issued, last = row_end(step);
    for (size_t cycle = first; cycle <= last; cycle++) {
        cell_set(drawing, 0, cycle,
                 cycle == last    ? 'r'
                 : cycle == first ? 'i'
                                  : state_of(timeline, step, cycle));
    }
    for (size_t u = 0; u < step->uop_count; u++) {
        const struct core_uop *uop = &uops_of(timeline, step)[u];
        if (uop->port >= 0) {
            cell_mark(drawing, (size_t)uop->begin, costs->port_names[uop->port], " .i=uefr-");
        }
    }
    if (cached_late(step)) {
        cell_mark(drawing, core_timeline_cycle(step->cached), 'c', " .-");
    }
}

/* A line without blanks at its end. */
static void line_append(struct ip_text *text, const char *label, unsigned width, const char *cells) {
    ip_text_printf(text, "%-*s  %s", (int)width, label, cells);
    ip_text_trim(text);
    ip_text_append(text, "\n");
}

static void ruler_append(struct ip_text *text, const struct panel *panel, unsigned width) {
    char cells[PANEL_MOST + 32] = "";
    size_t used = 0;
    for (size_t c = 0; c < panel->cycles; c += GRID) {
        used += (size_t)snprintf(cells + used, sizeof cells - used, "%-*zu", GRID, panel->from + c);
    }
    line_append(text, "pass  instruction", width, cells);
}

/* "   0 *imul rax, rbx": the pass, how it stands to the chain or the one before, the words. */
static void label_print(const struct core_prediction *prediction, uint32_t pass, size_t i, char *label,
                        size_t size) {
    char words[CLI_WORDS_MAX];
    cli_predict_words(prediction, i, words);
    if (strlen(words) > TEXT_MOST) {
        strcpy(words + TEXT_MOST - 3, "...");
    }
    char mark = prediction->block.items[i].fused ? '+' : cli_predict_on_chain(prediction, i) ? '*' : ' ';
    (void)snprintf(label, size, "%4u %c%s", (unsigned)pass, mark, words);
}

static void legend_append(struct ip_text *text, const struct core_timeline *timeline) {
    ip_text_printf(
        text,
        "\ntimeline of the first %u pass%s, from an empty core on: a row begins with an instruction's "
        "issue and ends where it retires\n"
        "  i issued   = waits   0-9 A-Z begins on this port   e works   u its unit is busy   "
        "f waits for a store's data\n"
        "  - done, not yet retired   r retires   c its store is in the cache, where it waited for "
        "others   * on the chain   + fused\n\n",
        timeline->passes, timeline->passes == 1 ? "" : "es");
}

/* All steps of which something falls into the panel. What is fused with an instruction has no time of its
 * own, and is named below it. */
static void panel_append(const struct core_costs *costs, const struct core_prediction *prediction,
                         const struct core_timeline *timeline, struct drawing *drawing, unsigned width,
                         struct ip_text *text) {
    const struct panel *panel = &drawing->panel;
    ruler_append(text, panel, width);
    for (size_t s = 0; s < timeline->step_count; s++) {
        const struct core_step *step = &timeline->steps[s];
        if ((size_t)step->issued >= panel->from + panel->cycles || last_cycle(timeline, step) < panel->from) {
            continue;
        }
        char label[CLI_WORDS_MAX + 16];
        label_print(prediction, step->pass, step->instruction, label, sizeof label);
        step_draw(costs, timeline, step, drawing);
        for (unsigned row = 0; row < drawing->rows; row++) {
            line_append(text, row == 0 ? label : "", width, drawing->cells[row]);
        }
        for (size_t i = step->instruction + 1;
             i < prediction->block.count && prediction->block.items[i].fused; i++) {
            label_print(prediction, step->pass, i, label, sizeof label);
            line_append(text, label, width, "");
        }
    }
}

void cli_timeline_draw(const struct core_costs *costs, const struct core_prediction *prediction,
                       const struct core_timeline *timeline, struct ip_text *text) {
    unsigned width = (unsigned)strlen("pass  instruction");
    for (size_t i = 0; i < prediction->block.count; i++) {
        char label[CLI_WORDS_MAX + 16];
        label_print(prediction, 0, i, label, sizeof label);
        width = strlen(label) > width ? (unsigned)strlen(label) : width;
    }
    size_t end = 0;
    for (size_t s = 0; s < timeline->step_count; s++) {
        size_t last = last_cycle(timeline, &timeline->steps[s]);
        end = last + 1 > end ? last + 1 : end;
    }
    legend_append(text, timeline);
    struct drawing drawing;
    const size_t room = (LINE - 2 - width) / GRID * GRID;
    for (size_t from = 0; from < end; from += room) {
        drawing.panel = (struct panel){.from = from, .cycles = end - from < room ? end - from : room};
        ip_text_append(text, from > 0 ? "\n" : "");
        panel_append(costs, prediction, timeline, &drawing, width, text);
    }
}

/* --- rows of numbers -------------------------------------------------------------------------------- */

static void row_add(struct cli_output *output, const struct core_costs *costs,
                    const struct core_prediction *prediction, uint32_t pass, size_t i,
                    const struct core_step *step, const struct core_uop *uop) {
    static const struct cli_value nothing;
    const struct core_instruction *instruction = &prediction->block.items[i];
    char words[CLI_WORDS_MAX], port[2] = "";
    cli_predict_words(prediction, i, words);
    if (uop != NULL && uop->port >= 0) {
        port[0] = costs->port_names[uop->port];
    }
    const char *note = cli_predict_note(instruction);
    const bool loads = step != NULL && !isnan(step->loaded);
    const struct cli_value row[] = {
        cli_integer(pass),
        cli_integer((int64_t)i),
        cli_integer(instruction->offset),
        cli_text(words),
        step != NULL ? cli_integer((int64_t)step->issued) : nothing,
        cli_text(uop != NULL ? core_uop_kind_name(uop->kind) : NULL),
        cli_text(port[0] != '\0' ? port : NULL),
        uop != NULL ? cli_number(uop->begin) : nothing,
        uop != NULL ? cli_number(uop->cycles) : nothing,
        loads ? cli_number(step->loaded) : nothing,
        loads ? cli_bool(step->forwarded) : nothing,
        step != NULL ? cli_number(step->done) : nothing,
        step != NULL ? cli_number(step->retired) : nothing,
        step != NULL && !isnan(step->cached) ? cli_number(step->cached) : nothing,
        cli_text(note[0] != '\0' ? note : NULL),
    };
    cli_output_row(output, row, NULL);
}

void cli_timeline_rows(struct cli_output *output, const struct core_costs *costs,
                       const struct core_prediction *prediction, const struct core_timeline *timeline) {
    for (size_t s = 0; s < timeline->step_count; s++) {
        const struct core_step *step = &timeline->steps[s];
        for (size_t u = 0; u < step->uop_count; u++) {
            row_add(output, costs, prediction, step->pass, step->instruction, step,
                    &uops_of(timeline, step)[u]);
        }
        if (step->uop_count == 0) {
            row_add(output, costs, prediction, step->pass, step->instruction, step, NULL);
        }
        for (size_t i = step->instruction + 1;
             i < prediction->block.count && prediction->block.items[i].fused; i++) {
            row_add(output, costs, prediction, step->pass, i, NULL, NULL);
        }
    }
}
