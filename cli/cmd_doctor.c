/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/output.h"
#include "generator/shapes.h"
#include "harness/host.h"
#include "harness/port_events.h"
#include "isa/assemble.h"
#include "power/energy.h"

static const struct cli_column columns[] = {
    {.name = "check"}, {.name = "value"}, {.name = "state"}, {.name = "advice"}, {.name = NULL},
};

struct doctor {
    struct cli_output output;
    const struct hx_host *host;
    const struct cli_settings *settings;
};

static void line(struct doctor *doctor, const char *check, const char *state, const char *advice,
                 const char *format, ...) IP_PRINTF(5, 6);

static void line(struct doctor *doctor, const char *check, const char *state, const char *advice,
                 const char *format, ...) {
    struct ip_text value = {0};
    va_list args;
    va_start(args, format);
    ip_text_vprintf(&value, format, args);
    va_end(args);
    if (doctor->output.format == CLI_FORMAT_TEXT) { /* sentences make no table */
        struct ip_text text = {0};
        ip_text_printf(&text, "%-20s %-9s %s\n", check, state, ip_text_string(&value));
        if (advice[0] != '\0') {
            ip_text_printf(&text, "%-30s (%s)\n", "", advice);
        }
        cli_output_raw(&doctor->output, &text);
        ip_text_fini(&text);
    } else {
        const struct cli_value row[] = {cli_text(check), cli_text(ip_text_string(&value)), cli_text(state),
                                        cli_text(advice)};
        cli_output_row(&doctor->output, row, NULL);
    }
    ip_text_fini(&value);
}

static void cpu_lines(struct doctor *doctor) {
    const struct hx_host *host = doctor->host;
    line(doctor, "cpu", "ok", "", "%s (%s, family 0x%x, model 0x%x, stepping %d%s%s)",
         host->brand[0] != '\0' ? host->brand : "unnamed", host->vendor, (unsigned)host->family,
         (unsigned)host->model, host->stepping, host->codename[0] != '\0' ? "; libcpuid takes it for " : "",
         host->codename);
    line(doctor, "caches", "ok", "", "L1d %llu KiB, L1i %llu KiB, L2 %llu KiB, L3 %llu KiB",
         (unsigned long long)host->l1d_bytes / 1024, (unsigned long long)host->l1i_bytes / 1024,
         (unsigned long long)host->l2_bytes / 1024, (unsigned long long)host->l3_bytes / 1024);
    line(doctor, "vectors", "ok", "", "SSE2%s%s%s%s", host->avx ? " AVX" : "", host->avx2 ? " AVX2" : "",
         host->avx512 ? " AVX-512" : "", host->amx ? " AMX" : "");
}

static void clock_lines(struct doctor *doctor) {
    const struct hx_host *host = doctor->host;
    char rate[32] = "unknown rate";
    if (host->tsc_hz != 0) {
        (void)snprintf(rate, sizeof rate, "%.3f GHz", (double)host->tsc_hz / 1e9);
    }
    if (host->tsc_invariant) {
        line(doctor, "tsc", "ok", "", "%s, invariant", rate);
    } else {
        line(doctor, "tsc", "degraded",
             "its rate may change: figures are calibrated all the same, but expect more retakes",
             "%s, not invariant", rate);
    }
    if (host->clocksource[0] != '\0') {
        line(doctor, "clocksource", "ok", "", "%s", host->clocksource);
    }
    bool busy_clock = strcmp(host->governor, "performance") != 0;
    if (host->governor[0] == '\0') {
        line(doctor, "frequency", "degraded",
             "the clock can be neither seen nor set here: every experiment is calibrated by a chain of adds",
             "no cpufreq");
    } else {
        line(doctor, "frequency", busy_clock ? "degraded" : "ok",
             busy_clock ? "for fewer retakes: cpupower frequency-set -g performance" : "",
             "governor %s, driver %s%s%s", host->governor,
             host->scaling_driver[0] != '\0' ? host->scaling_driver : "unknown",
             host->turbo[0] != '\0' ? ", turbo " : "", host->turbo);
    }
}

static void counter_lines(struct doctor *doctor) {
    const struct hx_host *host = doctor->host;
    if (host->perf_event_paranoid == -99) {
        line(doctor, "perf_event_paranoid", "degraded", "no perf events: counters will not work", "unknown");
    } else {
        bool open = host->perf_event_paranoid <= 2;
        line(doctor, "perf_event_paranoid", open ? "ok" : "degraded",
             open ? "" : "for --timer papi: sysctl kernel.perf_event_paranoid=2", "%d",
             host->perf_event_paranoid);
    }
}

/* The counter that `power --calibrate` would read. */
static void energy_line(struct doctor *doctor) {
    const char *root = doctor->settings->root != NULL ? doctor->settings->root : "";
    struct pw_energy_counter counter;
    struct ip_error err = {0};
    int cpu = doctor->host->cpu < 0 ? 0 : doctor->host->cpu;
    if (pw_energy_open(&counter, root, cpu, root[0] == '\0' ? &pw_papi_library : NULL, &err) == IP_OK) {
        line(doctor, "energy", "ok", "", "RAPL through %s", counter.papi == NULL ? "powercap" : "PAPI");
        pw_energy_close(&counter);
    } else if (err.errno_value != 0) {
        line(doctor, "energy", "degraded",
             "energy_uj is root's on most systems: 'power --calibrate' needs root",
             "RAPL through powercap, whose counter cannot be read");
    } else {
        line(doctor, "energy", "degraded", "time is measured here, energy is not", "no counter");
    }
}

static void cores_line(struct doctor *doctor) {
    const struct hx_host *host = doctor->host;
    struct ip_text kinds = {0};
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        if (ip_cpus_count(&host->cores.cpus[kind]) > 0) {
            ip_text_printf(&kinds, "%s%s: CPUs ", kinds.length > 0 ? ", " : "", hx_core_kind_name(kind));
            hx_cpus_print(&kinds, &host->cores.cpus[kind]);
        }
    }
    line(doctor, "cores", "ok", "--cpu N measures another kind, which has a store of its own",
         "%s; measured: %s", ip_text_string(&kinds), host->core_kind);
    ip_text_fini(&kinds);
}

static void neighbour_lines(struct doctor *doctor) {
    const struct hx_host *host = doctor->host;
    if (host->cpus == 0) {
        line(doctor, "cpus", "degraded", "mount /proc, which tells", "unknown");
    } else {
        line(doctor, "cpus", host->cpus_allowed > 0 ? "ok" : "degraded", "", "%d, of which %d allowed",
             host->cpus, host->cpus_allowed);
    }
    if (host->core_kind[0] != '\0') {
        cores_line(doctor);
    }
    if (host->emulated) {
        line(doctor, "hypervisor", "degraded",
             "an emulated CPU has no times of its own, hence no figures: give the guest KVM, or measure "
             "on the host",
             "%s, which emulates this CPU", host->hypervisor_name);
    } else if (host->hypervisor) {
        line(doctor, "hypervisor", "degraded",
             "other guests may disturb: a sentinel beside every sample detects it, the sample is retaken",
             "%s", host->hypervisor_name);
    } else {
        line(doctor, "hypervisor", "ok", "", "none");
    }
    if (host->smt_siblings > 1) {
        line(doctor, "smt", "degraded", "leave the sibling of the measuring CPU idle (--cpu N chooses it)",
             "%d threads on a core", host->smt_siblings);
    } else if (host->hypervisor || host->smt_siblings == 0) {
        line(doctor, "smt", "degraded",
             "two CPUs may be threads of one core without saying so: keep the machine idle",
             "none is reported");
    } else {
        line(doctor, "smt", "ok", "", "one thread on a core");
    }
}

/* NASM says its version in what it assembles. */
static bool nasm_line(struct doctor *doctor) {
    struct ip_text version = {0};
    struct ip_error err = {0};
    if (isa_assemble_source("version", "db __?NASM_VER?__\n", &version, &err) != IP_OK) {
        line(doctor, "nasm", "missing", "install NASM 2.15 or later, or set ISAPROBE_NASM", "%s", err.text);
        return false;
    }
    line(doctor, "nasm", "ok", "", "%.*s", (int)(version.length < 32 ? version.length : 32),
         ip_text_string(&version));
    ip_text_fini(&version);
    return true;
}

static void timer_name(char *check, size_t size, const char *name) {
    (void)snprintf(check, size, "timer %.40s", name);
}

/* What is peculiar to this core or this machine, each behind a semicolon. */
static void extras_print(const struct hx_bench *bench, char *text, size_t size) {
    size_t used = 0;
    if (bench->references.clock_step > 0) {
        used = (size_t)snprintf(text, size, "; it advances in steps of %.0f, so runs are longer",
                                bench->references.clock_step);
    }
    if (used < size && strcmp(bench->filler, GEN_FILLER_MOVE) == 0) {
        used += (size_t)snprintf(text + used, size - used, "; NOPs share issue slots: moves fill them");
    } else if (used < size && strcmp(bench->filler, GEN_FILLER_LONG_NOP) == 0) {
        used += (size_t)snprintf(text + used, size - used,
                                 "; short NOPs come slower than slots: long ones fill them");
    }
    if (used < size && bench->companion.pid != 0) {
        (void)snprintf(text + used, size - used, "; a companion keeps CPU %d", bench->companion.cpu);
    }
}

/* Opens the timer as a measurement would, with its validation. */
static bool timer_line(struct doctor *doctor, const char *specification) {
    char check[48];
    struct cli_bench bench;
    struct cli_settings settings = *doctor->settings;
    struct ip_error err = {0};
    settings.timer = specification;
    timer_name(check, sizeof check, specification);
    enum ip_status status = cli_bench_open(&bench, &settings, &err);
    if (status == IP_OK && bench.bench.sentinel_suspect) {
        line(doctor, check, "degraded", "something runs on this core now: leave the machine idle", "%s",
             bench.bench.timer.ops->summary);
    } else if (status == IP_OK) {
        const struct hx_bench *bare = &bench.bench;
        char more[160] = "";
        extras_print(bare, more, sizeof more);
        line(doctor, check, "ok", "", "%s; %.4f %s per cycle, spread %.2f %%%s", bare->timer.ops->summary,
             bare->ticks_per_cycle, bare->timer.ops->unit, 100.0 * bare->chain_spread, more);
    } else {
        line(doctor, check, "missing", "", "%s", err.text);
    }
    return cli_bench_close(&bench, status, &err) == IP_OK;
}

/* Events that count the uops of each port: a second opinion for `ports`, which does without. */
static void port_counter_line(struct doctor *doctor) {
    struct hx_port_events events;
    hx_port_events_open(&events, doctor->settings->timer, doctor->settings->cpu, NULL);
    if (events.count > 0) {
        line(doctor, "port counters", "ok", "", "%u ports are counted: 'ports' compares with them",
             events.count);
    } else {
        line(doctor, "port counters", "degraded",
             "'ports' works without: it infers from time alone, and checks itself",
             "no event counts the uops of a port here");
    }
    hx_port_events_close(&events);
}

/* True when the timer that --timer names (tsc by default) works. */
static bool timer_lines(struct doctor *doctor) {
    const char *wanted = doctor->settings->timer != NULL ? doctor->settings->timer : "tsc";
    bool good = false, seen = false;
    for (const struct hx_timer_ops *const *ops = hx_timers; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, "sim") == 0 || strcmp((*ops)->name, "replay") == 0) {
            char check[48];
            timer_name(check, sizeof check, (*ops)->name);
            line(doctor, check, "ok", "", "%s", (*ops)->summary);
            continue;
        }
        bool works = timer_line(doctor, (*ops)->name);
        if (strcmp((*ops)->name, wanted) == 0) {
            good = works;
            seen = true;
        }
    }
    return seen ? good : timer_line(doctor, wanted);
}

static int doctor_run(const struct cli_command *command, struct cli_settings *settings) {
    struct ip_error err = {0};
    if (settings->save != NULL && hx_host_record(settings->save, settings->cpu, &err) != IP_OK) {
        return cli_report(command->name, &err);
    }
    struct doctor doctor = {.settings = settings};
    int code = cli_output_open(&doctor.output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct hx_host host = {0};
    if (hx_host_read(&host, settings->root != NULL ? settings->root : "", settings->cpu, &err) != IP_OK) {
        return cli_output_close(&doctor.output, cli_report(command->name, &err));
    }
    doctor.host = &host;
    cpu_lines(&doctor);
    clock_lines(&doctor);
    neighbour_lines(&doctor);
    counter_lines(&doctor);
    energy_line(&doctor);
    if (settings->root == NULL) {
        bool nasm = nasm_line(&doctor);
        bool timer = timer_lines(&doctor);
        port_counter_line(&doctor);
        if (!nasm || !timer) {
            cli_message(command->name, "%s: nothing can be measured here",
                        nasm ? "the timer does not work" : "NASM does not work");
            code = CLI_EXIT_CAPABILITY;
        }
    }
    hx_host_fini(&host);
    return cli_output_close(&doctor.output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"root", 0, "DIR", "describe the machine recorded in DIR, and measure nothing", CLI_KIND_FILE, AT(root),
     0, 0, NULL},
    {"save", 0, "DIR", "record this machine in DIR first, for a bug report", CLI_KIND_FILE, AT(save), 0, 0,
     NULL},
    {0},
};

const struct cli_command cli_cmd_doctor = {
    .name = "doctor",
    .summary = "tell what this machine can measure, what is degraded and what to do",
    .arguments = "",
    .description = "Looks at the CPU, its clock, neighbours and counters, tries NASM and every timer. The "
                   "exit status is\n"
                   "0 when latency and throughput can be measured, else 3.\n",
    .options = options,
    .groups = CLI_GROUP_TIMER | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 0,
    .run = doctor_run,
};
