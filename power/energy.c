/* SPDX-License-Identifier: Apache-2.0 */
#include "power/energy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* --- powercap ------------------------------------------------------------------------------------------- */

/* Where `cpu` is. Trees without the file have one package, kernels that tell no dies have one in each. */
static int topology_number(const char *root, int cpu, const char *name) {
    char path[PW_PATH_MAX];
    double number = 0;
    bool told = pw_path(path, sizeof path, root, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name) &&
                pw_sysfs_number(path, &number);
    return told && number < INT_MAX ? (int)number : 0;
}

/* "package-1", or "package-1-die-0" where a package has several counters. */
static bool zone_holds(const char *zone, int package, int die) {
    char whole[PW_NAME_MAX], part[PW_NAME_MAX];
    (void)snprintf(whole, sizeof whole, "package-%d", package);
    (void)snprintf(part, sizeof part, "package-%d-die-%d", package, die);
    return strcmp(zone, whole) == 0 || strcmp(zone, part) == 0;
}

/* *found stays false when the tree has no such package. */
static enum ip_status powercap_open(struct pw_energy_counter *counter, const char *root, int cpu, bool *found,
                                    struct ip_error *err) {
    enum { ZONES = 64 };
    int at = topology_number(root, cpu, "physical_package_id"), die = topology_number(root, cpu, "die_id");
    for (int i = 0; i < ZONES; i++) {
        struct pw_energy_counter package = {.range_uj = 0};
        char path[PW_PATH_MAX];
        if (!pw_path(path, sizeof path, root, "/sys/class/powercap/intel-rapl:%d/name", i) ||
            !pw_sysfs_line(path, package.name, sizeof package.name) || !zone_holds(package.name, at, die)) {
            continue;
        }
        double now = 0;
        if (!pw_path(package.path, sizeof package.path, root, "/sys/class/powercap/intel-rapl:%d/energy_uj",
                     i)) {
            continue;
        }
        if (!pw_sysfs_number(package.path, &now)) {
            return ip_fail_errno(err, IP_CAPABILITY, errno,
                                 "the energy counter %s cannot be read (root only on most systems)",
                                 package.path);
        }
        if (pw_path(path, sizeof path, root, "/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", i)) {
            (void)pw_sysfs_number(path, &package.range_uj); /* 0 stays where it is not told */
        }
        *counter = package;
        *found = true;
        return IP_OK;
    }
    return IP_OK;
}

/* --- PAPI ----------------------------------------------------------------------------------------------- */

/* What the components call the energy of a package, and the unit they count it in. */
static const struct {
    const char *event; /* and the package's number */
    double unit_uj;
} events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE", 1e-3},
    {"powercap:::ENERGY_UJ:ZONE", 1},
};

/* Otherwise `why` receives what the first of them said. */
static bool papi_open(struct pw_energy_counter *counter, int package, const struct pw_papi *papi,
                      struct ip_text *why) {
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct pw_energy_counter opened = {.papi = papi, .unit_uj = events[i].unit_uj};
        (void)snprintf(opened.name, sizeof opened.name, "package-%d", package);
        (void)snprintf(opened.path, sizeof opened.path, "%s%d", events[i].event, package);
        const char *refused = papi->start(papi->self, opened.path, &opened.event_set);
        if (refused == NULL) {
            *counter = opened;
            return true;
        }
        if (i == 0) {
            ip_text_printf(why, ", and PAPI cannot count %s (%s)", opened.path, refused);
        }
    }
    return false;
}

/* --- either --------------------------------------------------------------------------------------------- */

enum ip_status pw_energy_open(struct pw_energy_counter *counter, const char *root, int cpu,
                              const struct pw_papi *papi, struct ip_error *err) {
    bool found = false;
    int package = topology_number(root, cpu, "physical_package_id");
    struct ip_text why = {0};
    enum ip_status status = powercap_open(counter, root, cpu, &found, err);
    if (found || (papi != NULL && papi_open(counter, package, papi, &why))) {
        status = IP_OK;
    } else if (status == IP_OK) {
        status = ip_fail(err, IP_CAPABILITY,
                         "no energy counter: %s/sys/class/powercap has no intel-rapl zone of package %d (no "
                         "RAPL here, or the module intel_rapl_msr is not loaded)%s",
                         root, package, ip_text_string(&why));
    } /* else the file is there, and PAPI cannot read it either */
    ip_text_fini(&why);
    return status;
}

void pw_energy_close(struct pw_energy_counter *counter) {
    if (counter->papi != NULL) {
        counter->papi->stop(counter->papi->self, counter->event_set);
        counter->papi = NULL;
    }
}

enum ip_status pw_energy_read_uj(const struct pw_energy_counter *counter, double *uj, struct ip_error *err) {
    if (counter->papi != NULL) {
        long long value = 0;
        if (!counter->papi->read(counter->papi->self, counter->event_set, &value)) {
            return ip_fail(err, IP_IO, "PAPI cannot read %s any more", counter->path);
        }
        *uj = (double)value * counter->unit_uj;
        return IP_OK;
    }
    errno = 0;
    if (!pw_sysfs_number(counter->path, uj)) {
        return ip_fail_errno(err, IP_IO, errno, "cannot read the energy counter %s", counter->path);
    }
    return IP_OK;
}

double pw_energy_between_uj(const struct pw_energy_counter *counter, double before_uj, double after_uj) {
    return after_uj >= before_uj ? after_uj - before_uj : after_uj + counter->range_uj - before_uj;
}
