/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/power_inputs.h"
#include "common/clock.h"
#include "common/cpus.h"
#include "power/calibrate.h"
#include "power/plot.h"

/* Those behind MODEL_COLUMNS only with --measured. */
enum { MODEL_COLUMNS = 16 };
static const struct cli_column columns[] = {
    {.name = "divisor"},
    {.name = "freq_hz"},
    {.name = "volts"},
    {.name = "compute_cycles"},
    {.name = "memory_cycles"},
    {.name = "cycles"},
    {.name = "bound"},
    {.name = "time_s"},
    {.name = "slowdown"},
    {.name = "power_w"},
    {.name = "energy_j"},
    {.name = "gflops_per_watt"},
    {.name = "edp_js"},
    {.name = "ed2p_js2"},
    {.name = "allowed"},
    {.name = "best"},
    {.name = "measured_cycles"},
    {.name = "measured_time_s"},
    {.name = "measured_power_w"},
    {.name = "measured_gflops_per_watt"},
    {.name = "error"},
    {.name = NULL},
};

/* People read engineering units. */
static const struct cli_column text_columns[] = {
    {.name = "divisor"}, {.name = "MHz"},      {.name = "V"},    {.name = "cycles"}, {.name = "bound"},
    {.name = "ms"},      {.name = "slowdown"}, {.name = "W"},    {.name = "mJ"},     {.name = "GFlops/W"},
    {.name = "mJ s"},    {.name = "mJ s2"},    {.name = "best"}, {.name = NULL},
};

static const struct cli_column measured_text_columns[] = {
    {.name = "divisor"}, {.name = "MHz"},      {.name = "V"},        {.name = "cycles"}, {.name = "bound"},
    {.name = "ms"},      {.name = "slowdown"}, {.name = "W"},        {.name = "mJ"},     {.name = "GFlops/W"},
    {.name = "mJ s"},    {.name = "mJ s2"},    {.name = "measured"}, {.name = "ms"},     {.name = "GFlops/W"},
    {.name = "error"},   {.name = "best"},     {.name = NULL},
};

static void cell_fixed(struct ip_lines *cells, int decimals, double number) {
    if (isfinite(number)) {
        ip_lines_printf(cells, "%.*f", decimals, number);
    } else {
        ip_lines_add(cells, "-");
    }
}

static void cell_significant(struct ip_lines *cells, int digits, double number) {
    if (isfinite(number)) {
        ip_lines_printf(cells, "%.*g", digits, number);
    } else {
        ip_lines_add(cells, "-");
    }
}

static const char *bound_name(enum pw_bound bound) {
    return bound == PW_BOUND_MEMORY ? "memory" : "compute";
}

/* How far the model's cycles are from the measured ones, relative to these. */
static double model_error(const struct pw_point *p, const struct pw_measured *measured) {
    return p->cycles / measured->cycles - 1;
}

/* `measured` NULL: there is none for any setting. */
static void text_row(struct cli_output *output, const struct pw_point *p, const struct pw_measured *measured,
                     bool allowed, bool best) {
    struct ip_lines cells = {0};
    cell_fixed(&cells, 0, p->setting->divisor != 0 ? p->setting->divisor : NAN);
    cell_fixed(&cells, 0, p->setting->freq_hz / 1e6);
    cell_significant(&cells, 3, p->setting->volts);
    cell_fixed(&cells, 0, p->cycles);
    ip_lines_add(&cells, bound_name(p->bound));
    cell_significant(&cells, 5, p->time_s * 1e3);
    cell_fixed(&cells, 3, p->slowdown);
    cell_significant(&cells, 4, p->power_w);
    cell_significant(&cells, 5, p->energy_j * 1e3);
    cell_significant(&cells, 5, p->gflops_per_watt);
    cell_significant(&cells, 4, p->edp_js * 1e3);
    cell_significant(&cells, 4, p->ed2p_js2 * 1e3);
    if (measured != NULL) {
        cell_fixed(&cells, 0, measured->cycles);
        cell_significant(&cells, 5, measured->time_s * 1e3);
        cell_significant(&cells, 5, measured->gflops_per_watt);
        double error = model_error(p, measured);
        if (isfinite(error)) {
            ip_lines_printf(&cells, "%+.1f %%", 100 * error);
        } else {
            ip_lines_add(&cells, "-");
        }
    }
    ip_lines_add(&cells, best ? "best" : allowed ? "" : "over the limit");
    cli_output_row(output, NULL, &cells);
}

static void data_row(struct cli_output *output, const struct pw_point *p, const struct pw_measured *measured,
                     bool allowed, bool best) {
    const struct pw_measured none = {NAN, NAN, NAN, NAN}, *m = measured != NULL ? measured : &none;
    const struct cli_value row[] = {
        p->setting->divisor != 0 ? cli_integer(p->setting->divisor) : cli_text(NULL),
        cli_integer((int64_t)llround(p->setting->freq_hz)),
        cli_quantity(p->setting->volts),
        cli_quantity(p->compute_cycles),
        cli_quantity(p->memory_cycles),
        cli_quantity(p->cycles),
        cli_text(bound_name(p->bound)),
        cli_quantity(p->time_s),
        cli_quantity(p->slowdown),
        cli_quantity(p->power_w),
        cli_quantity(p->energy_j),
        cli_quantity(p->gflops_per_watt),
        cli_quantity(p->edp_js),
        cli_quantity(p->ed2p_js2),
        cli_bool(allowed),
        cli_bool(best),
        cli_quantity(m->cycles),
        cli_quantity(m->time_s),
        cli_quantity(m->power_w),
        cli_quantity(m->gflops_per_watt),
        cli_quantity(model_error(p, m)),
    };
    cli_output_row(output, row, NULL);
}

struct advice {
    struct pw_machine machine;
    struct pw_kernel kernel;
    struct pw_limits limits;
    struct pw_point points[PW_SETTINGS_MAX];
    struct pw_measured measured[PW_SETTINGS_MAX];
    size_t best;
};

static void advice_rows(struct cli_output *output, const struct advice *advice,
                        const struct cli_settings *settings) {
    if (output->format == CLI_FORMAT_TEXT) {
        struct ip_text why = {0};
        ip_text_printf(&why, "%s on %s\n", advice->kernel.title, advice->machine.title);
        pw_explain(&why, advice->points, advice->machine.setting_count, advice->best,
                   (enum pw_metric)settings->power.metric, &advice->limits);
        ip_text_append(&why, "\n\n");
        cli_output_raw(output, &why);
        ip_text_fini(&why);
    }
    for (size_t i = 0; i < advice->machine.setting_count; i++) {
        const struct pw_point *point = &advice->points[i];
        const struct pw_measured *measured = settings->power.measured != NULL ? &advice->measured[i] : NULL;
        bool allowed = pw_allowed(point, &advice->limits);
        if (output->format == CLI_FORMAT_TEXT) {
            text_row(output, point, measured, allowed, i == advice->best);
        } else {
            data_row(output, point, measured, allowed, i == advice->best);
        }
    }
}

enum plot_choice { PLOT_NONE, PLOT_CYCLES, PLOT_TIME, PLOT_GFLOPS_PER_WATT };

static enum ip_status advice_plot(struct cli_output *output, struct advice *advice,
                                  const struct cli_settings *settings, struct ip_error *err) {
    const struct pw_machine *machine = &advice->machine;
    struct ip_text svg = {0}, title = {0};
    if (settings->power.plot == PLOT_GFLOPS_PER_WATT &&
        !isfinite(advice->points[advice->best].gflops_per_watt)) {
        return ip_fail(err, IP_USAGE,
                       "GFlops/W cannot be plotted: they need the machine's power and the kernel's "
                       "flops");
    }
    static const char *const what[] = {"", "cycles", "time", "power efficiency"};
    ip_text_printf(&title, "%s: %s", advice->kernel.title, what[settings->power.plot]);
    const struct pw_plot plot = {
        .kind = (enum pw_plot_kind)(settings->power.plot - PLOT_CYCLES),
        .title = ip_text_string(&title),
        .subtitle = machine->title,
        .points = advice->points,
        .count = machine->setting_count,
        .measured = settings->power.measured != NULL ? advice->measured : NULL,
        .best = (int)advice->best,
    };
    pw_plot_svg(&svg, &plot);
    cli_output_raw(output, &svg);
    ip_text_fini(&title);
    ip_text_fini(&svg);
    return IP_OK;
}

static enum ip_status measured_read(struct advice *advice, const struct cli_settings *settings,
                                    struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status = pw_file_read(&text, settings->power.measured, "CSV", err);
    if (status == IP_OK) {
        status = pw_measured_parse(advice->measured, settings->power.measured, ip_text_string(&text),
                                   &advice->machine, advice->points, advice->kernel.flops, err);
    }
    ip_text_fini(&text);
    return status;
}

static enum ip_status advise(struct cli_output *output, const struct cli_settings *settings,
                             struct ip_error *err) {
    struct advice advice = {.best = 0};
    enum ip_status status = cli_power_machine(&advice.machine, settings, err);
    if (status == IP_OK && settings->power.describe) {
        struct ip_text text = {0};
        pw_machine_print(&text, &advice.machine);
        cli_output_raw(output, &text);
        ip_text_fini(&text);
        return IP_OK;
    }
    if (status == IP_OK) {
        status = cli_power_limits(&advice.limits, settings, err);
    }
    if (status == IP_OK) {
        status = cli_power_kernel(&advice.kernel, &advice.machine, settings, err);
    }
    if (status == IP_OK) {
        status = pw_model(advice.points, &advice.machine, &advice.kernel, err);
    }
    if (status == IP_OK) {
        status = pw_choose(advice.points, advice.machine.setting_count,
                           (enum pw_metric)settings->power.metric, &advice.limits, &advice.best, err);
    }
    if (status == IP_OK && settings->power.measured != NULL) {
        status = measured_read(&advice, settings, err);
    }
    if (status == IP_OK && settings->power.plot != PLOT_NONE) {
        status = advice_plot(output, &advice, settings, err);
    } else if (status == IP_OK) {
        advice_rows(output, &advice, settings);
    }
    pw_kernel_fini(&advice.kernel);
    return status;
}

/* --- calibration -----------------------------------------------------------------------------------------
 */

/* Busy arithmetic, so that the core draws what it draws at work. */
static enum ip_status load_spin(void *self, double seconds, double *elapsed_s, struct ip_error *err) {
    (void)self;
    double begin = ip_clock_seconds(), now = begin;
    volatile double sink = 1;
    while (now - begin < seconds) {
        if (cli_signal() != 0) {
            return ip_fail(err, IP_FAILED, "interrupted");
        }
        for (int i = 0; i < 20000; i++) {
            sink = sink * 1.0000001 + 1e-9;
        }
        now = ip_clock_seconds();
    }
    *elapsed_s = now - begin;
    return IP_OK;
}

static bool stop_wanted(void *self) {
    (void)self;
    return cli_signal() != 0;
}

static enum ip_status calibrate(struct cli_output *output, const struct cli_settings *settings,
                                struct ip_error *err) {
    struct pw_machine machine;
    struct ip_lines notes = {0};
    struct pw_sweep sweep = {.root = settings->root != NULL ? settings->root : "",
                             .cpu = settings->cpu >= 0 ? (int)settings->cpu : 0,
                             .seconds = 1,
                             .load = load_spin,
                             .stop = stop_wanted};
    /* A recorded tree knows nothing of this machine's counters. */
    sweep.papi = sweep.root[0] == '\0' ? &pw_papi_library : NULL;
    struct ip_cpus only = {0};
    ip_cpus_add(&only, sweep.cpu);
    char cpu[sizeof machine.cpu] = ""; /* a recorded tree does not say whose it is */
    enum ip_status status = sweep.root[0] == '\0' ? cli_power_cpu(cpu, sizeof cpu, settings, err) : IP_OK;
    if (status == IP_OK && ip_cpus_allow(0, &only) != 0) {
        status = ip_fail(err, IP_CAPABILITY, "cannot run on CPU %d: choose another with --cpu", sweep.cpu);
    }
    if (status == IP_OK) {
        status = pw_calibrate(&machine, &sweep, &notes, err);
    }
    if (status == IP_OK && machine.power == PW_POWER_FITTED) {
        ip_lines_printf(&notes, "fitted from %zu settings: C %.4g nF, static %.4g W; at most %.1f %% off",
                        machine.fit.points, machine.fit.capacitance_f * 1e9, machine.fit.static_w,
                        machine.fit.worst_relative * 100);
    }
    for (size_t i = 0; i < notes.count && !settings->quiet; i++) {
        cli_message("power", "%s", notes.items[i]);
    }
    ip_lines_fini(&notes);
    if (status == IP_OK) {
        struct ip_text text = {0};
        memcpy(machine.cpu, cpu, sizeof cpu);
        pw_machine_print(&text, &machine);
        cli_output_raw(output, &text);
        ip_text_fini(&text);
    }
    return status;
}

/* Options that would be passed over without a word. */
static enum ip_status options_check(const struct cli_settings *settings, struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    bool host = power->machine == NULL || strcmp(power->machine, "host") == 0;
    bool kernel = power->kernel != NULL || power->code != NULL;
    if (power->calibrate && (!host || kernel || power->describe || power->plot != PLOT_NONE)) {
        return ip_fail(
            err, IP_USAGE,
            "--calibrate measures this host and prints its description: leave --machine, --kernel, "
            "--code, --describe and --plot out");
    }
    if ((power->calibrate || power->describe) && (settings->store != NULL || settings->record != NULL)) {
        return ip_fail(err, IP_USAGE,
                       "--store and --record are of a kernel's cycles, which %s does not ask for",
                       power->calibrate ? "--calibrate" : "--describe");
    }
    bool own = power->calibrate || power->describe || power->plot != PLOT_NONE;
    if (own && settings->format != CLI_FORMAT_TEXT) {
        return ip_fail(err, IP_USAGE, "--format is that of the table: %s has a format of its own",
                       power->calibrate  ? "--calibrate"
                       : power->describe ? "--describe"
                                         : "--plot");
    }
    return IP_OK;
}

static int power_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    bool text = settings->format == CLI_FORMAT_TEXT, measured = settings->power.measured != NULL;
    struct ip_error err = {0};
    if (options_check(settings, &err) != IP_OK) {
        return cli_report(command->name, &err);
    }
    struct cli_column data_columns[sizeof columns / sizeof columns[0]];
    memcpy(data_columns, columns, sizeof columns);
    if (!measured) {
        data_columns[MODEL_COLUMNS].name = NULL;
    }
    int code = cli_output_open(&output, command, settings,
                               !text      ? data_columns
                               : measured ? measured_text_columns
                                          : text_columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    enum ip_status status =
        settings->power.calibrate ? calibrate(&output, settings, &err) : advise(&output, settings, &err);
    code = status == IP_OK ? CLI_EXIT_OK : cli_report(command->name, &err);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)
#define TEXT(name, argument, help, field)                                                                    \
    { name, 0, argument, help, CLI_KIND_STRING, AT(power.field), 0, 0, NULL }

static const struct cli_option options[] = {
    {"machine", 'm', "NAME", "scc, host, or the file of a machine description", CLI_KIND_FILE,
     AT(power.machine), 0, 0, "scc host"},
    {"kernel", 'k', "NAME", "dot, matvec, matmul, or the file of a kernel description", CLI_KIND_FILE,
     AT(power.kernel), 0, 0, "dot matvec matmul"},
    {"metric", 0, "METRIC", "what to optimise: energy (the default), gflops-per-watt, edp, ed2p, time",
     CLI_KIND_WORD, AT(power.metric), 0, 0, PW_METRIC_WORDS},
    TEXT("max-slowdown", "X", "take at most X times as long as the fastest setting", max_slowdown),
    TEXT("max-time", "SECONDS", "take at most so long", max_time),
    TEXT("max-power", "WATTS", "draw at most so much", max_power),
    {"plot", 0, "WHAT", "an SVG figure instead of the table (none): cycles, time or gflops-per-watt",
     CLI_KIND_WORD, AT(power.plot), 0, 0, "none " PW_PLOT_WORDS},
    {"measured", 0, "FILE", "CSV of measurements, to show beside the model in table and plot", CLI_KIND_FILE,
     AT(power.measured), 0, 0, NULL},
    {"store", 'S', "FILE",
     "the loop's cycles by the on-core model from this store, instead of measuring them", CLI_KIND_FILE,
     AT(store), 0, 0, NULL},
    {"code", 'c', "FILE", "the kernel is this loop body, NASM source, with its closing branch or without",
     CLI_KIND_FILE, AT(power.code), 0, 0, NULL},
    TEXT("elements", "N", "so many elements, instead of the kernel's size", elements),
    TEXT("elements-per-iteration", "N", "elements of one iteration of --code (1)", per_iteration),
    TEXT("bytes-per-iteration", "N", "bytes from memory for one iteration of --code", bytes),
    TEXT("flops-per-iteration", "N", "floating-point operations of one iteration of --code", flops),
    TEXT("cycles", "N", "core cycles of one iteration, instead of the kernel's or those of the code", cycles),
    {"derive", 0, NULL, "the kernel's cycles from its code, not from its description", CLI_KIND_FLAG,
     AT(power.derive), 0, 0, NULL},
    TEXT("memory-ns", "NS", "a memory access takes so long, at any core clock", memory_ns),
    TEXT("pending", "N", "memory requests in flight at once", pending),
    TEXT("hops", "N", "mesh hops to the memory controller (scc: 0)", hops),
    {"describe", 0, NULL, "print the machine's description and stop", CLI_KIND_FLAG, AT(power.describe), 0, 0,
     NULL},
    {"calibrate", 0, NULL, "measure this host's watts at every frequency, print its description",
     CLI_KIND_FLAG, AT(power.calibrate), 0, 0, NULL},
    {"root", 0, "DIR", "read a recorded tree of /sys instead of this machine's", CLI_KIND_FILE, AT(root), 0,
     0, NULL},
    {0},
};

const struct cli_command cli_cmd_power = {
    .name = "power",
    .summary = "choose the frequency at which a kernel costs the least energy",
    .arguments = "--machine NAME --kernel NAME",
    .description =
        "Time, power and energy of a kernel at every frequency of a machine, and the best setting for\n"
        "a metric. Ties go to the faster setting, or to less energy where none is faster. docs/power.md\n"
        "explains the model and the files.\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 0,
    .run = power_run,
};
