/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/output.h"
#include "cli/portmap.h"

static const struct cli_column columns[] = {
    {.name = "ports"},
    {.name = "width"},
    {.name = "kind"},
    {.name = "forms"},
    {.name = "scalar_blocker", .text_hidden = true},
    {.name = "vector_blocker", .text_hidden = true},
    {.name = "wide_blocker", .text_hidden = true},
    {.name = "blockers", .text_only = true},
    {.name = "members"},
    {.name = "residual"},
    {.name = "alternatives"},
    {.name = "port_count", .text_hidden = true},
    {.name = "issue_width", .text_hidden = true},
    {.name = "status"},
    {.name = NULL},
};

enum { SHOWN_MEMBERS = 5 };

static void blocker_cell(const struct probe_portmap *map, int blocker, struct ip_text *text) {
    if (blocker >= 0) {
        const struct probe_port_member *member = &map->members[blocker];
        ip_text_printf(text, "%s%s", member->form->syntax, member->scaled ? " (scaled)" : "");
    }
}

/* Is a member of the same class and mnemonic before it? (Forms of one mnemonic differ in their world.) */
static bool named_before(const struct probe_portmap *map, size_t member) {
    for (size_t i = 0; i < member; i++) {
        if (map->members[i].class == map->members[member].class &&
            map->members[i].scaled == map->members[member].scaled &&
            strcmp(map->members[i].form->mnemonic, map->members[member].form->mnemonic) == 0) {
            return true;
        }
    }
    return false;
}

/* The first few mnemonics of the class; all of them outside the text format. */
static void members_cell(const struct probe_portmap *map, unsigned class, bool all, struct ip_text *text) {
    unsigned shown = 0;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        if (member->class != (int)class || named_before(map, i)) {
            continue;
        }
        if (!all && shown == SHOWN_MEMBERS) {
            ip_text_append(text, " ...");
            return;
        }
        ip_text_printf(text, "%s%s%s", shown++ > 0 ? " " : "", member->form->mnemonic,
                       member->scaled ? "(scaled)" : "");
    }
}

/* What the class would be in the other set systems that explain the measurements as well. */
static void alternatives_cell(const struct probe_portmap *map, unsigned class, struct ip_text *text) {
    char buffer[PROBE_PORTSET_PORTS + 6];
    for (unsigned s = 1; s < map->solutions; s++) {
        ip_text_printf(text, "%s%s", s > 1 ? " " : "",
                       probe_ports_print(map, map->alternatives.sets[s][class], buffer));
    }
}

static void class_row(struct cli_output *output, const struct probe_portmap *map, unsigned number,
                      struct cli_tally *tally) {
    const struct probe_port_class *class = &map->classes[number];
    struct ip_text cells[6] = {{0}};
    char ports[PROBE_PORTSET_PORTS + 6];
    for (unsigned w = 0; w < 3; w++) {
        blocker_cell(map, class->blocker[w], &cells[w]);
        bool told = w > 0 && class->blocker[w] == class->blocker[w - 1];
        if (class->blocker[w] >= 0 && !told) {
            ip_text_printf(&cells[3], "%s%s", cells[3].length > 0 ? " | " : "", cells[w].data);
        }
    }
    members_cell(map, number, output->format != CLI_FORMAT_TEXT, &cells[4]);
    alternatives_cell(map, number, &cells[5]);
    cli_tally_add(tally, true, class->contradicted || !map->confirmed ? HX_VERDICT_UNSTABLE : HX_VERDICT_OK);
    const struct cli_value row[] = {
        cli_text(probe_port_class_print(map, class, ports)),
        cli_integer(class->width),
        cli_text(class->load    ? "load"
                 : class->store ? "store"
                                : "core"),
        cli_integer(class->members),
        cli_text(cells[0].data),
        cli_text(cells[1].data),
        cli_text(cells[2].data),
        cli_text(cells[3].data),
        cli_text(cells[4].data),
        cli_number(class->residual),
        cli_text(cells[5].data),
        cli_integer(map->port_count),
        cli_number(map->issue_width),
        cli_text(class->contradicted                          ? "contradictory"
                 : !map->confirmed                            ? "unconfirmed"
                 : probe_port_class_is_ambiguous(map, number) ? "ambiguous"
                                                              : "ok"),
    };
    cli_output_row(output, row, NULL);
    for (unsigned i = 0; i < 6; i++) {
        ip_text_fini(&cells[i]);
    }
}

/* Narrow sets first, memory last. */
static void map_rows(struct cli_output *output, const struct probe_portmap *map, struct cli_tally *tally) {
    for (unsigned memory = 0; memory < 2; memory++) {
        for (unsigned width = 1; width <= PROBE_PORTSET_PORTS; width++) {
            for (unsigned c = 0; c < map->class_count; c++) {
                const struct probe_port_class *class = &map->classes[c];
                if (class->width == width && (class->load || class->store) == (memory == 1)) {
                    class_row(output, map, c, tally);
                }
            }
        }
    }
}

/* What the rows do not say; their status says what matters with --quiet too. */
static void map_tell(const struct cli_command *command, const struct probe_portmap *map) {
    cli_message(command->name, "%u ports, %.2f issue slots a cycle, from %zu kernels", map->port_count,
                map->issue_width, map->kernels);
    if (map->solutions > 1) {
        cli_message(command->name,
                    "%s%u systems of sets explain what was measured: time alone cannot tell which is true",
                    map->more_solutions != PROBE_PORTSET_NO_MORE ? "more than " : "", map->solutions);
    }
    if (map->solutions == 1 && map->more_solutions != PROBE_PORTSET_NO_MORE) {
        cli_message(
            command->name,
            "the search for systems of sets was broken off: others, and smaller ones, may explain what "
            "was measured");
    }
    for (size_t i = 0; i < map->notes.count; i++) {
        cli_message(command->name, "%s", map->notes.items[i]);
    }
}

static int portmap_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_forms forms = {0};
    struct cli_bench bench;
    struct cli_tally tally = {0};
    struct ip_error err = {0};
    struct probe_portmap map = {0};
    bool measured = false;
    enum ip_status status = cli_forms_load(&forms, settings, &err);
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, &err);
        if (status == IP_OK) {
            status = cli_portmap_get(&bench, &forms.table, NULL, true, &map, &measured, &err);
        }
        status = cli_bench_close(&bench, status, &err);
    }
    if (status == IP_OK) {
        if (!settings->quiet) {
            map_tell(command, &map);
        }
        map_rows(&output, &map, &tally);
        code = cli_tally_exit(&tally, settings, command->name, "classes");
    } else {
        cli_interrupted_whole(command->name, settings,
                              "nothing is known of the ports before all is measured");
        code = cli_report(command->name, &err);
    }
    probe_portmap_fini(&map);
    cli_forms_fini(&forms);
    return cli_output_close(&output, code);
}

const struct cli_command cli_cmd_portmap = {
    .name = "portmap",
    .summary = "find the execution ports of this CPU, from time alone",
    .arguments = "",
    .description =
        "Sorts one-uop forms into classes that may use the same ports, and solves for the smallest sets of\n"
        "ports that explain how fast pairs and triples of classes run together. Port names are a "
        "convention:\n"
        "the vendor's where it is known, else 0, 1, 2 ... A store takes its two ports at once.\n",
    .groups = CLI_GROUP_METER | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 0,
    .run = portmap_run,
};
