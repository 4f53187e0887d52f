/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/timer.h"

enum ip_status cli_machine_read(struct res_machine *machine, struct hx_host *host,
                                const struct cli_settings *settings, struct ip_error *err) {
    const char *timer = settings->timer;
    enum ip_status status = hx_host_read(host, "", settings->cpu, err);
    if (status != IP_OK) {
        return status;
    }
    static const char *const files[] = {"sim", "replay"};
    for (size_t i = 0; timer != NULL && i < sizeof files / sizeof files[0]; i++) {
        size_t length = strlen(files[i]);
        if (strncmp(timer, files[i], length) == 0 && timer[length] == ':' && timer[length + 1] != '\0') {
            return res_machine_of_file(machine, files[i], timer + length + 1, err);
        }
    }
    return res_machine_of_host(machine, host, err);
}

static bool timer_known(const char *timer) {
    size_t length = strcspn(timer, ":");
    for (const struct hx_timer_ops *const *ops = hx_timers; *ops != NULL; ops++) {
        if (strlen((*ops)->name) == length && strncmp((*ops)->name, timer, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether this process may use it is another question, and only of measuring. */
static bool cpu_known(long cpu) {
    static const char cpus[] = "/sys/devices/system/cpu";
    char path[sizeof cpus + 32];
    (void)snprintf(path, sizeof path, "%s/cpu%ld", cpus, cpu);
    return access(path, F_OK) == 0 || access(cpus, F_OK) != 0;
}

int cli_machine_check(const struct cli_command *command, const struct cli_settings *settings) {
    if (settings->timer != NULL && !timer_known(settings->timer)) {
        cli_message(command->name,
                    "unknown timer '%.200s'; there are tsc, papi[:EVENT], sim:FILE and replay:FILE",
                    settings->timer);
        return CLI_EXIT_USAGE;
    }
    /* Those of a recorded machine are its own affair. */
    if (settings->root == NULL && settings->cpu >= 0 && !cpu_known(settings->cpu)) {
        cli_message(command->name, "there is no CPU %ld here: choose another with --cpu", settings->cpu);
        return CLI_EXIT_CAPABILITY;
    }
    return CLI_EXIT_OK;
}

static enum ip_status path_of(struct ip_text *path, const char *given, const struct res_machine *machine,
                              struct ip_error *err) {
    if (given == NULL) {
        return res_default_path(path, machine, getenv("XDG_DATA_HOME"), getenv("HOME"), err);
    }
    ip_text_clear(path);
    ip_text_append(path, given);
    return path->failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the name of the store") : IP_OK;
}

enum ip_status cli_store_find(struct ip_text *path, const struct cli_settings *settings,
                              struct ip_error *err) {
    struct res_machine machine = {0};
    struct hx_host host = {0};
    enum ip_status status =
        settings->store != NULL ? IP_OK : cli_machine_read(&machine, &host, settings, err);
    status = status == IP_OK ? path_of(path, settings->store, &machine, err) : status;
    res_machine_fini(&machine);
    hx_host_fini(&host);
    return status;
}

enum ip_status cli_store_open_readonly(struct res_store **store, struct ip_text *path,
                                       const struct cli_settings *settings, struct ip_error *err) {
    enum ip_status status = cli_store_find(path, settings, err);
    return status == IP_OK ? res_store_open_readonly(store, ip_text_string(path), err) : status;
}

enum ip_status cli_store_same_machine(struct res_store *store, const char *path,
                                      const struct cli_settings *settings, struct ip_error *err) {
    struct res_machine machine = {0};
    struct hx_host host = {0};
    struct ip_text identity = {0};
    enum ip_status status = cli_machine_read(&machine, &host, settings, err);
    status = status == IP_OK ? res_machine_get(store, &identity, err) : status;
    if (status == IP_OK && !res_machine_is(&machine, ip_text_string(&identity))) {
        status = ip_fail(
            err, IP_FAILED,
            "the store '%.100s' is of another CPU (%.100s; this is %.100s): give another --store FILE", path,
            ip_text_string(&identity), res_machine_whose(&machine));
    }
    ip_text_fini(&identity);
    res_machine_fini(&machine);
    hx_host_fini(&host);
    return status;
}

enum ip_status cli_store_open(struct res_store **store, struct ip_text *path, struct hx_host *host,
                              const struct cli_settings *settings, struct ip_error *err) {
    struct res_machine machine = {0};
    enum ip_status status = cli_machine_read(&machine, host, settings, err);
    status = status == IP_OK ? path_of(path, settings->store, &machine, err) : status;
    if (status == IP_OK && settings->store == NULL) {
        status = res_directories_make(ip_text_string(path), err);
    }
    status = status == IP_OK ? res_store_open(store, ip_text_string(path), &machine, err) : status;
    res_machine_fini(&machine);
    return status;
}

struct res_run cli_store_run(const struct cli_settings *settings, const struct hx_host *host,
                             const struct hx_bench *bench, const char *selection) {
    return (struct res_run){.version = ISAPROBE_VERSION,
                            .timer = settings->timer != NULL ? settings->timer : "tsc",
                            .selection = selection,
                            .governor = host->governor,
                            .turbo = host->turbo,
                            .cpu = bench->timer.cpu,
                            .ticks_per_cycle = bench->ticks_per_cycle,
                            .chain_spread = bench->chain_spread,
                            .sentinel_cycles = bench->sentinel_cycles,
                            .sentinel_suspect = bench->sentinel_suspect,
                            .plan = bench->plan};
}
