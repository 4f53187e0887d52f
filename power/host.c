/* SPDX-License-Identifier: Apache-2.0 */
#include "power/host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"

/* Drivers without a table of frequencies (intel_pstate, amd-pstate) take any multiple of the bus clock. */
static const double step_khz = 100e3;

static int frequency_descending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* "2400000 2300000 ..." in kHz; the count. */
static size_t table_parse(const char *line, double *khz, size_t limit) {
    size_t count = 0;
    while (*line != '\0' && count < limit) {
        char *end = NULL;
        double value = strtod(line, &end);
        if (end == line) {
            break;
        }
        if (value > 0 && isfinite(value)) {
            khz[count++] = value;
        }
        line = end;
    }
    return count;
}

static size_t range_fill(const char *root, int cpu, double *khz, size_t limit) {
    char path[PW_PATH_MAX];
    double low = 0, high = 0;
    if (!pw_path(path, sizeof path, root, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_min_freq", cpu) ||
        !pw_sysfs_number(path, &low) ||
        !pw_path(path, sizeof path, root, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu) ||
        !pw_sysfs_number(path, &high) || low <= 0 || high < low) {
        return 0;
    }
    size_t count = 0;
    khz[count++] = high;
    for (double at = floor((high - 1) / step_khz) * step_khz; at > low && count + 1 < limit; at -= step_khz) {
        khz[count++] = at;
    }
    if (low < high) {
        khz[count++] = low;
    }
    return count;
}

static size_t frequencies_read(const char *root, int cpu, double *khz, size_t limit) {
    char path[PW_PATH_MAX], line[PW_VALUE_MAX];
    size_t count = 0;
    if (pw_path(path, sizeof path, root,
                "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_available_frequencies", cpu) &&
        pw_sysfs_line(path, line, sizeof line)) {
        count = table_parse(line, khz, limit);
    }
    if (count == 0) {
        count = range_fill(root, cpu, khz, limit);
    }
    qsort(khz, count, sizeof *khz, frequency_descending);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || khz[i] < khz[kept - 1]) {
            khz[kept++] = khz[i];
        }
    }
    return kept;
}

/* The operating point of this frequency in debugfs (shown to root only). */
static bool operating_volts(const char *root, int cpu, double khz, double *volts) {
    char path[PW_PATH_MAX];
    double uv = 0;
    if (!pw_path(path, sizeof path, root, "/sys/kernel/debug/opp/cpu%d/opp:%.0f/supply-0/u_volt_target", cpu,
                 khz * 1e3) ||
        !pw_sysfs_number(path, &uv) || uv <= 0) {
        return false;
    }
    *volts = uv / 1e6;
    return true;
}

/* Only drivers that know the board label their inputs: "CPU Core" is asus_ec_sensors', "CPU Core Voltage"
 * asus_wmi_sensors'. */
static bool core_label(const char *label) {
    static const char *const labels[] = {"vcore", "cpu core", "cpu core voltage", "vddcore"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        if (ip_ascii_same(label, labels[i])) {
            return true;
        }
    }
    return false;
}

bool pw_host_sensor_volts(const char *root, double *volts) {
    enum { MONITORS = 16, INPUTS = 16 };
    for (int m = 0; m < MONITORS; m++) {
        for (int i = 0; i < INPUTS; i++) {
            char path[PW_PATH_MAX], label[64];
            double mv = 0;
            if (!pw_path(path, sizeof path, root, "/sys/class/hwmon/hwmon%d/in%d_label", m, i) ||
                !pw_sysfs_line(path, label, sizeof label)) {
                continue;
            }
            if (core_label(label) &&
                pw_path(path, sizeof path, root, "/sys/class/hwmon/hwmon%d/in%d_input", m, i) &&
                pw_sysfs_number(path, &mv) && mv > 0) {
                *volts = mv / 1e3;
                return true;
            }
        }
    }
    return false;
}

enum ip_status pw_host_read(struct pw_machine *machine, const char *root, int cpu, struct ip_lines *missing,
                            struct ip_error *err) {
    double khz[PW_SETTINGS_MAX];
    struct pw_machine host = {.name = "host", .pending = 1, .access_size_bytes = 64};
    size_t count = frequencies_read(root, cpu, khz, PW_SETTINGS_MAX);
    if (count == 0) {
        return ip_fail(
            err, IP_CAPABILITY,
            "no cpufreq for CPU %d (%s/sys/devices/system/cpu/cpu%d/cpufreq: absent or empty, as in most "
            "virtual machines): describe the machine in a file, and give --machine FILE",
            cpu, root, cpu);
    }
    bool volts_all = true;
    for (size_t i = 0; i < count; i++) {
        host.settings[i] = (struct pw_setting){.freq_hz = khz[i] * 1e3, .volts = NAN, .measured_w = NAN};
        volts_all = operating_volts(root, cpu, khz[i], &host.settings[i].volts) && volts_all;
    }
    host.setting_count = count;
    for (size_t i = 0; !volts_all && i < count; i++) {
        host.settings[i].volts = NAN;
    }
    char path[PW_PATH_MAX], driver[40];
    if (!pw_path(path, sizeof path, root, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_driver", cpu) ||
        !pw_sysfs_line(path, driver, sizeof driver)) {
        (void)snprintf(driver, sizeof driver, "unknown driver");
    }
    (void)snprintf(host.title, sizeof host.title, "This host, CPU %d (cpufreq: %s)", cpu, driver);
    if (!volts_all) {
        ip_lines_add(missing,
                     "voltages: no operating points under /sys/kernel/debug/opp (root only): C and static "
                     "power cannot be told apart without them");
    }
    ip_lines_add(missing,
                 "memory: the cost of an access stands in no file: give --memory-ns (and --pending)");
    pw_machine_settle(&host, false);
    *machine = host;
    return IP_OK;
}
