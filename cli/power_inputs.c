/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/power_inputs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/store.h"
#include "power/host.h"
#include "power/reader.h"
#include "scc_model/scc.h"

enum ip_status cli_power_number(const char *option, const char *given, double low, double *value,
                                struct ip_error *err) {
    double number;
    if (given == NULL) {
        return IP_OK;
    }
    if (!pw_number(given, &number) || number < low || number > PW_NUMBER_MAX) {
        return ip_fail(err, IP_USAGE, "--%s takes a number from %g to %g, not '%.60s'", option, low,
                       PW_NUMBER_MAX, given);
    }
    *value = number;
    return IP_OK;
}

static void missing_report(const struct cli_settings *settings, struct ip_lines *missing) {
    for (size_t i = 0; i < missing->count && !settings->quiet; i++) {
        if (settings->power.memory_ns != NULL && strncmp(missing->items[i], "memory", 6) == 0) {
            continue; /* it is given */
        }
        cli_message("power", "this host: %s", missing->items[i]);
    }
    ip_lines_fini(missing);
}

enum ip_status cli_power_cpu(char *cpu, size_t size, const struct cli_settings *settings,
                             struct ip_error *err) {
    struct res_machine machine = {0};
    struct hx_host host = {0};
    enum ip_status status = cli_machine_read(&machine, &host, settings, err);
    if (status == IP_OK) {
        (void)snprintf(cpu, size, "%s", machine.identity);
    }
    res_machine_fini(&machine);
    hx_host_fini(&host);
    return status;
}

static enum ip_status machine_load(struct pw_machine *machine, const struct cli_settings *settings,
                                   struct ip_error *err) {
    const char *name = settings->power.machine;
    if (strcmp(name, "scc") == 0) {
        return scc_machine(machine, err);
    }
    if (strcmp(name, "host") == 0) {
        struct ip_lines missing = {0};
        const char *root = settings->root != NULL ? settings->root : "";
        enum ip_status status =
            pw_host_read(machine, root, settings->cpu >= 0 ? (int)settings->cpu : 0, &missing, err);
        missing_report(settings, &missing);
        /* A recorded tree does not say whose it is. */
        bool here = status == IP_OK && root[0] == '\0';
        return here ? cli_power_cpu(machine->cpu, sizeof machine->cpu, settings, err) : status;
    }
    enum ip_status status = pw_machine_read(machine, name, err);
    if (status == IP_IO && err->errno_value == ENOENT) {
        return ip_fail(err, IP_USAGE,
                       "no machine '%.100s': scc and host are built in, and no file has that name", name);
    }
    if (status == IP_OK && machine->power == PW_POWER_FITTED && !settings->quiet) {
        cli_message("power", "fitted from %zu settings: C %.4g nF%s, static %.4g W%s; at most %.1f %% off",
                    machine->fit.points, machine->fit.capacitance_f * 1e9,
                    machine->fit.capacitance_clamped ? " (it would be negative)" : "", machine->fit.static_w,
                    machine->fit.static_clamped ? " (it would be negative)" : "",
                    machine->fit.worst_relative * 100);
    }
    return status;
}

enum ip_status cli_power_machine(struct pw_machine *machine, const struct cli_settings *settings,
                                 struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    if (power->machine == NULL) {
        return ip_fail(err, IP_USAGE, "give a machine: --machine scc, host, or a FILE");
    }
    enum ip_status status = machine_load(machine, settings, err);
    double memory_ns = NAN;
    if (status == IP_OK) {
        status = cli_power_number("hops", power->hops, 0, &machine->hops, err);
    }
    if (status == IP_OK) {
        status = cli_power_number("pending", power->pending, 1, &machine->pending, err);
    }
    if (status == IP_OK) {
        status = cli_power_number("memory-ns", power->memory_ns, 0, &memory_ns, err);
    }
    if (status == IP_OK && isfinite(memory_ns)) {
        machine->terms[0] = (struct pw_term){.kind = PW_TERM_TIME, .amount = memory_ns / 1e9};
        machine->term_count = 1;
    }
    if (status == IP_OK && power->hops != NULL) {
        bool per_hop = false;
        for (size_t i = 0; i < machine->term_count; i++) {
            per_hop = per_hop || machine->terms[i].per_hop;
        }
        if (status == IP_OK && machine->hops != floor(machine->hops)) {
            status = ip_fail(err, IP_USAGE, "--hops takes a whole number, not '%.60s'", power->hops);
        } else if (!per_hop) {
            status = ip_fail(err, IP_USAGE, "--hops: machine '%s' has no access cost per hop", machine->name);
        }
    }
    return status;
}

/* Options for cycles that come from elsewhere would be passed over without a word. */
static enum ip_status unused_check(bool from_code, const struct cli_settings *settings,
                                   struct ip_error *err) {
    if (!from_code && settings->store != NULL) {
        return ip_fail(err, IP_USAGE,
                       "--store is for cycles that come from code: the kernel's file or --cycles says them; "
                       "give --derive or --code");
    }
    bool measured = from_code && settings->store == NULL && strcmp(settings->power.machine, "scc") != 0;
    if (!measured && settings->record != NULL) {
        return ip_fail(err, IP_USAGE, "where no loop is measured there are no samples to --record");
    }
    return IP_OK;
}

/* A loop of the user's: --code with its numbers. */
static enum ip_status code_kernel(struct pw_kernel *kernel, const struct pw_machine *machine,
                                  const struct cli_settings *settings, struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    double elements = NAN, per_iteration = 1, bytes = NAN, flops = 0;
    if (power->elements == NULL || power->bytes == NULL) {
        return ip_fail(err, IP_USAGE, "--code needs --elements and --bytes-per-iteration");
    }
    enum ip_status status = cli_power_number("elements", power->elements, 1, &elements, err);
    if (status == IP_OK) {
        status = cli_power_number("elements-per-iteration", power->per_iteration, 1, &per_iteration, err);
    }
    if (status == IP_OK) {
        status = cli_power_number("bytes-per-iteration", power->bytes, 0, &bytes, err);
    }
    if (status == IP_OK) {
        status = cli_power_number("flops-per-iteration", power->flops, 0, &flops, err);
    }
    if (status == IP_OK) {
        status = unused_check(power->cycles == NULL, settings, err);
    }
    struct ip_text source = {0};
    double cycles = NAN;
    if (status == IP_OK && power->cycles == NULL) {
        status = pw_file_read(&source, power->code, "NASM source", err);
        if (status == IP_OK) {
            status =
                cli_power_cycles(&cycles, power->code, ip_text_string(&source), 0, machine, settings, err);
        }
    }
    ip_text_fini(&source);
    if (status != IP_OK) {
        return status;
    }
    *kernel = (struct pw_kernel){.size = elements, .unroll = per_iteration, .body_cycles = cycles};
    kernel->iterations = elements / per_iteration;
    kernel->accesses = kernel->iterations * bytes / machine->access_size_bytes;
    kernel->flops = kernel->iterations * flops;
    const char *base = strrchr(power->code, '/');
    (void)snprintf(kernel->name, sizeof kernel->name, "%.60s", base != NULL ? base + 1 : power->code);
    (void)snprintf(kernel->title, sizeof kernel->title, "%s", kernel->name);
    return IP_OK;
}

static enum ip_status named_kernel(struct pw_kernel *kernel, const struct pw_machine *machine,
                                   const struct cli_settings *settings, struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    double elements = 0;
    if (power->bytes != NULL || power->flops != NULL || power->per_iteration != NULL) {
        return ip_fail(
            err, IP_USAGE,
            "--bytes-per-iteration, --flops-per-iteration and --elements-per-iteration go with --code: a "
            "kernel's file says them");
    }
    enum ip_status status = cli_power_number("elements", power->elements, 1, &elements, err);
    if (status != IP_OK) {
        return status;
    }
    status = scc_kernel_text(power->kernel) != NULL ? scc_kernel(kernel, power->kernel, elements, err)
                                                    : pw_kernel_read(kernel, power->kernel, elements, err);
    if (status == IP_IO && err->errno_value == ENOENT) {
        return ip_fail(err, IP_USAGE,
                       "no kernel '%.100s': dot, matvec and matmul are built in, and no file has that name",
                       power->kernel);
    }
    bool derive =
        power->cycles == NULL && (power->derive || (status == IP_OK && !isfinite(kernel->body_cycles)));
    if (status == IP_OK) {
        status = unused_check(derive, settings, err);
    }
    if (status == IP_OK && derive) {
        if (kernel->code_line == 0) {
            return ip_fail(err, IP_USAGE, "--derive: kernel '%s' has no code", kernel->name);
        }
        status = cli_power_cycles(&kernel->body_cycles, power->kernel, ip_text_string(&kernel->code),
                                  (int)kernel->code_line - 1, machine, settings, err);
    }
    return status;
}

enum ip_status cli_power_kernel(struct pw_kernel *kernel, const struct pw_machine *machine,
                                const struct cli_settings *settings, struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    if (power->kernel != NULL && power->code != NULL) {
        return ip_fail(err, IP_USAGE, "--kernel and --code do not go together: the kernel has its own code");
    }
    if (power->kernel == NULL && power->code == NULL) {
        return ip_fail(err, IP_USAGE,
                       "give a kernel: --kernel dot, matvec, matmul or a FILE; or --code FILE");
    }
    enum ip_status status = power->code != NULL ? code_kernel(kernel, machine, settings, err)
                                                : named_kernel(kernel, machine, settings, err);
    return status == IP_OK ? cli_power_number("cycles", power->cycles, 0, &kernel->body_cycles, err) : status;
}

enum ip_status cli_power_limits(struct pw_limits *limits, const struct cli_settings *settings,
                                struct ip_error *err) {
    const struct cli_power *power = &settings->power;
    *limits = (struct pw_limits){0};
    enum ip_status status =
        cli_power_number("max-slowdown", power->max_slowdown, 1, &limits->max_slowdown, err);
    if (status == IP_OK) {
        status = cli_power_number("max-time", power->max_time, 1e-12, &limits->max_time_s, err);
    }
    return status == IP_OK ? cli_power_number("max-power", power->max_power, 1e-12, &limits->max_power_w, err)
                           : status;
}
