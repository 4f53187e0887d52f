/* SPDX-License-Identifier: Apache-2.0 */
/* Copies what hx_host_read looks at, so that a machine that is not here can be described and tested. */
#include <errno.h>
#include <inttypes.h>
#include <libcpuid/libcpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/host.h"
#include "harness/host_cpuid.h"
#include "harness/host_files.h"

/* Makes the directories on the way to `name`. */
static enum ip_status parents_make(const char *name, struct ip_error *err) {
    char path[4400];
    (void)snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot make directory '%s'", path);
        }
        *slash = '/';
    }
    return IP_OK;
}

static enum ip_status file_write(const char *directory, const char *path, const struct ip_text *text,
                                 struct ip_error *err) {
    char name[4400];
    (void)snprintf(name, sizeof name, "%s%s", directory, path);
    enum ip_status status = parents_make(name, err);
    if (status != IP_OK) {
        return status;
    }
    FILE *file = fopen(name, "we");
    if (file == NULL) {
        return ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot write '%s'", name);
    }
    bool good = fwrite(ip_text_string(text), 1, text->length, file) == text->length;
    good = fclose(file) == 0 && good;
    return good ? IP_OK : ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot write '%s'", name);
}

/* A file that this machine lacks is absent from the record too. */
static enum ip_status file_copy(const char *directory, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    struct ip_error absent = {0};
    enum ip_status status = IP_OK;
    if (ip_file_read(&text, path, 1u << 26, &absent) == IP_OK) {
        status = file_write(directory, path, &text, err);
    }
    ip_text_fini(&text);
    return status;
}

/* Of the process's status only the CPUs that it may use: the rest is nobody's business. */
static enum ip_status allowed_record(const char *directory, struct ip_error *err) {
    static const char field[] = "Cpus_allowed_list:";
    struct ip_text text = {0}, kept = {0};
    struct ip_error absent = {0};
    enum ip_status status = IP_OK;
    if (ip_file_read(&text, HX_HOST_STATUS, 1u << 20, &absent) == IP_OK) {
        const char *line = strstr(ip_text_string(&text), field);
        if (line != NULL) {
            ip_text_append_bytes(&kept, line, strcspn(line, "\n"));
            ip_text_append(&kept, "\n");
            status = file_write(directory, HX_HOST_STATUS, &kept, err);
        }
    }
    ip_text_fini(&text);
    ip_text_fini(&kept);
    return status;
}

static enum ip_status instructions_record(const char *directory, int cpu, struct ip_error *err) {
    char name[4400], signature[13];
    struct ip_text text = {0};
    ip_text_printf(&text, "%" PRIx64 "\n", hx_host_xcr0());
    enum ip_status status = file_write(directory, HX_HOST_XCR0, &text, err);
    hx_host_signature(signature);
    if (status == IP_OK && signature[0] != '\0') {
        ip_text_clear(&text);
        ip_text_printf(&text, "%s\n", signature);
        status = file_write(directory, HX_HOST_HYPERVISOR, &text, err);
    }
    ip_text_fini(&text);
    if (status != IP_OK) {
        return status;
    }
    struct cpu_raw_data_t *raw = calloc(1, sizeof *raw);
    (void)snprintf(name, sizeof name, "%s%s", directory, HX_HOST_CPUID);
    if (raw == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the CPU's identity");
    }
    status = hx_host_cpuid_read(raw, cpu, err);
    if (status == IP_OK && cpuid_serialize_raw_data(raw, name) != 0) {
        status = ip_fail(err, IP_IO, "cannot record CPUID in '%s': %s", name, cpuid_error());
    }
    free(raw);
    return status;
}

/* What the system says of one CPU. */
static enum ip_status cpu_record(const char *directory, int cpu, struct ip_error *err) {
    static const char *const files[] = {HX_HOST_SIBLINGS, HX_HOST_GOVERNOR, HX_HOST_DRIVER, HX_HOST_PACKAGE,
                                        HX_HOST_DIE};
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        hx_host_cpu_file(path, cpu, files[i]);
        status = file_copy(directory, path, err);
    }
    return status;
}

/* The energy counters: where one may not be read, its name alone tells that it is there. */
static enum ip_status energy_record(const char *directory, struct ip_error *err) {
    static const char *const files[] = {"name", "energy_uj", "max_energy_range_uj"};
    enum { ZONES = 64, FILES = sizeof files / sizeof files[0] };
    enum ip_status status = IP_OK;
    for (unsigned i = 0; status == IP_OK && i < ZONES * FILES; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%u/%s", i / FILES,
                       files[i % FILES]);
        status = file_copy(directory, path, err);
    }
    return status;
}

enum ip_status hx_host_record(const char *directory, int cpu, struct ip_error *err) {
    static const char *const paths[] = {
        HX_HOST_CPUINFO,     HX_HOST_PARANOID, HX_HOST_SMT,   HX_HOST_NO_TURBO,  HX_HOST_BOOST,
        HX_HOST_CLOCKSOURCE, HX_HOST_CORES,    HX_HOST_ATOMS, HX_HOST_LOW_POWER,
    };
    if (directory[0] == '\0' || strlen(directory) > 4000) {
        return ip_fail(err, IP_USAGE, "'%.40s' cannot be the name of a directory", directory);
    }
    struct hx_cores cores;
    hx_cores_read(&cores, "");
    int measured = cpu >= 0 ? cpu : hx_host_core(&cores, "");
    bool differ = hx_core_kind(&cores, measured) != HX_CORE_ALIKE;
    enum ip_status status = instructions_record(directory, differ ? measured : -1, err);
    if (status == IP_OK) {
        status = allowed_record(directory, err);
    }
    if (status == IP_OK) { /* who reads the tree may name no CPU */
        status = cpu_record(directory, 0, err);
    }
    if (status == IP_OK && measured > 0) {
        status = cpu_record(directory, measured, err);
    }
    if (status == IP_OK) {
        status = energy_record(directory, err);
    }
    for (size_t i = 0; status == IP_OK && i < sizeof paths / sizeof paths[0]; i++) {
        status = file_copy(directory, paths[i], err);
    }
    return status;
}
