/* SPDX-License-Identifier: Apache-2.0 */
#include "power/energy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- powercap ------------------------------------------------------------------------------------------- */

/* *found stays false when the tree has no package. */
static enum ip_status powercap_open(struct pw_energy_counter *counter, const char *root, bool *found,
                                    struct ip_error *err) {
    enum { PACKAGES = 8 };
    for (int i = 0; i < PACKAGES; i++) {
        struct pw_energy_counter package = {.range_uj = 0};
        char path[PW_PATH_MAX];
        if (!pw_path(path, sizeof path, root, "/sys/class/powercap/intel-rapl:%d/name", i) ||
            !pw_sysfs_line(path, package.name, sizeof package.name) ||
            strncmp(package.name, "package", 7) != 0) {
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

/* What the components call the energy of the first package, and the unit they count it in. */
static const struct {
    const char *event;
    double unit_uj;
} events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE0", 1e-3},
    {"rapl::RAPL_ENERGY_PKG", 1e-3},
    {"powercap:::ENERGY_UJ:ZONE0", 1},
};

static bool papi_open(struct pw_energy_counter *counter, const struct pw_papi *papi, const char **why) {
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        int event_set = 0;
        const char *refused = papi->start(papi->self, events[i].event, &event_set);
        if (refused == NULL) {
            *counter = (struct pw_energy_counter){
                .papi = papi, .event_set = event_set, .unit_uj = events[i].unit_uj};
            (void)snprintf(counter->name, sizeof counter->name, "package-0");
            (void)snprintf(counter->path, sizeof counter->path, "%s", events[i].event);
            return true;
        }
        *why = i == 0 ? refused : *why;
    }
    return false;
}

/* --- either --------------------------------------------------------------------------------------------- */

enum ip_status pw_energy_open(struct pw_energy_counter *counter, const char *root, const struct pw_papi *papi,
                              struct ip_error *err) {
    bool found = false;
    const char *why = "";
    enum ip_status status = powercap_open(counter, root, &found, err);
    if (found || (papi != NULL && papi_open(counter, papi, &why))) {
        return IP_OK;
    }
    if (status != IP_OK) {
        return status; /* the file is there, and PAPI cannot read it either */
    }
    return ip_fail(err, IP_CAPABILITY,
                   "no energy counter: %s/sys/class/powercap has no intel-rapl package (no RAPL here, or the "
                   "module intel_rapl_msr is not loaded)%s%s%s%s%s",
                   root, papi != NULL ? ", and PAPI cannot count " : "", papi != NULL ? events[0].event : "",
                   papi != NULL ? " (" : "", papi != NULL ? why : "", papi != NULL ? ")" : "");
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
