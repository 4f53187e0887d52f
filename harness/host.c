/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/host.h"

#include <errno.h>
#include <libcpuid/libcpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "harness/host_cpuid.h"
#include "harness/host_files.h"
#include "harness/sandbox.h"

#define XCR0_AVX    UINT64_C(0x6)     /* SSE and AVX state */
#define XCR0_AVX512 UINT64_C(0xe6)    /* and the masks and ZMM state */
#define XCR0_AMX    UINT64_C(0x60000) /* tile configuration and data */

bool hx_host_word_read(const char *root, const char *path, char *word, size_t size) {
    char name[4200];
    word[0] = '\0';
    if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name) {
        return false;
    }
    FILE *file = fopen(name, "re");
    if (file == NULL) {
        return false;
    }
    bool good = fgets(word, (int)size, file) != NULL;
    (void)fclose(file);
    if (!good) {
        word[0] = '\0';
    }
    word[strcspn(word, "\n")] = '\0';
    return good;
}

/* Number of CPUs in a list such as "0-3,8". 0 when it is none. */
static int list_count(const char *list) {
    struct ip_cpus cpus;
    return hx_cpus_of_list(&cpus, list) ? ip_cpus_count(&cpus) : 0;
}

/* The value behind "name<blanks>: " on the first line that begins so; NULL if none. Not terminated. */
static const char *field_find(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0) {
            const char *at = line + length + strspn(line + length, " \t");
            if (*at == ':') {
                return at + 1 + strspn(at + 1, " \t");
            }
        }
    }
    return NULL;
}

static bool flag_present(const char *flags, const char *flag) {
    size_t length = strlen(flag);
    while (flags != NULL && *flags != '\0' && *flags != '\n') {
        size_t span = strcspn(flags, " \n");
        if (span == length && strncmp(flags, flag, length) == 0) {
            return true;
        }
        flags += span + (flags[span] == ' ');
    }
    return false;
}

static void cpuinfo_read(struct hx_host *host, const char *text) {
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        host->cpus += strncmp(at, "processor\t", 10) == 0;
    }
    const char *flags = field_find(text, "flags");
    host->tsc_invariant =
        host->tsc_invariant || (flag_present(flags, "constant_tsc") && flag_present(flags, "nonstop_tsc"));
    const char *bogomips = field_find(text, "bogomips");
    if (host->tsc_hz == 0 && bogomips != NULL && flag_present(flags, "constant_tsc")) {
        /* Linux derives it from the TSC: two per tick. It is cut to 0.01, so 10 kHz are lost at most. */
        host->tsc_hz = (uint64_t)(strtod(bogomips, NULL) * 500000.0 + 0.5);
    }
}

static int word_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool hypervisor_emulates(const char *signature) {
    return strcmp(signature, "TCGTCGTCGTCG") == 0;
}

static void hypervisor_name(char name[16], const char *signature) {
    static const char *const known[][2] = {
        {"KVMKVMKVM", "KVM"},      {"Microsoft Hv", "Hyper-V"},  {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},   {"TCGTCGTCGTCG", "QEMU"},     {"VBoxVBoxVBox", "VirtualBox"},
        {"bhyve bhyve ", "bhyve"}, {" lrpepyh vr", "Parallels"}, {"prl hyperv  ", "Parallels"},
        {"ACRNACRNACRN", "ACRN"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(signature, known[i][0]) == 0) {
            signature = known[i][1];
            break;
        }
    }
    (void)snprintf(name, 16, "%.15s", signature[0] != '\0' ? signature : "unnamed");
}

static uint64_t cache_bytes(int32_t kib) {
    return kib > 0 ? (uint64_t)kib * 1024 : 0;
}

/* Of leaf 1. (libcpuid's fields for these have other names in each second version.) */
static void signature_take(struct hx_host *host, uint32_t signature) {
    host->stepping = (int)(signature & 15);
    host->family = (int)(signature >> 8 & 15) + (int)(signature >> 20 & 255);
    host->model = (int)(signature >> 4 & 15) + (int)(signature >> 16 & 15) * 16;
}

static void identity_take(struct hx_host *host, const struct cpu_raw_data_t *raw, const struct cpu_id_t *id,
                          uint64_t xcr0) {
    (void)snprintf(host->vendor, sizeof host->vendor, "%.15s", id->vendor_str);
    (void)snprintf(host->brand, sizeof host->brand, "%.63s", id->brand_str);
    (void)snprintf(host->codename, sizeof host->codename, "%.63s", id->cpu_codename);
    signature_take(host, raw->basic_cpuid[1][EAX]);
    host->l1d_bytes = cache_bytes(id->l1_data_cache);
    host->l1i_bytes = cache_bytes(id->l1_instruction_cache);
    host->l2_bytes = cache_bytes(id->l2_cache);
    host->l3_bytes = cache_bytes(id->l3_cache);

    const uint32_t *leaf1 = raw->basic_cpuid[1], *leaf7 = raw->basic_cpuid[7],
                   *clock = raw->basic_cpuid[0x15];
    uint32_t highest = raw->basic_cpuid[0][EAX];
    host->hypervisor = (leaf1[ECX] >> 31 & 1) != 0;
    bool ymm = (xcr0 & XCR0_AVX) == XCR0_AVX, zmm = (xcr0 & XCR0_AVX512) == XCR0_AVX512;
    host->avx = ymm && (leaf1[ECX] >> 28 & 1) != 0;
    host->avx2 = ymm && highest >= 7 && (leaf7[EBX] >> 5 & 1) != 0;
    host->avx512 = zmm && highest >= 7 && (leaf7[EBX] >> 16 & 1) != 0;
    host->amx = (xcr0 & XCR0_AMX) == XCR0_AMX && highest >= 7 && (leaf7[EDX] >> 24 & 1) != 0;
    host->tsc_invariant = raw->ext_cpuid[0][EAX] >= 0x80000007u && (raw->ext_cpuid[7][EDX] >> 8 & 1) != 0;
    if (highest >= 0x15 && clock[EAX] != 0 && clock[EBX] != 0 && clock[ECX] != 0) {
        host->tsc_hz = (uint64_t)clock[ECX] * clock[EBX] / clock[EAX];
    }
    for (int feature = 0; feature < NUM_CPU_FEATURES; feature++) {
        if (id->flags[feature] != 0) {
            ip_lines_add(&host->features, cpu_feature_str((cpu_feature_t)feature));
        }
    }
    if (host->features.count > 1) {
        qsort(host->features.items, host->features.count, sizeof *host->features.items, word_compare);
    }
}

static void warning_drop(const char *text) {
    (void)text; /* libcpuid would write it to stderr; what it means shows in the values */
}

enum ip_status hx_host_cpuid_read(struct cpu_raw_data_t *raw, int cpu, struct ip_error *err) {
    struct ip_cpus before;
    if (cpu >= 0 && (ip_cpus_allowed(&before) != 0 || hx_cpu_pin(0, cpu) != 0)) {
        return ip_fail(err, IP_CAPABILITY,
                       "cannot go to CPU %d to read what it is; choose another with --cpu", cpu);
    }
    bool good = cpuid_get_raw_data(raw) == 0;
    if (cpu >= 0) {
        (void)ip_cpus_allow(0, &before);
    }
    return good ? IP_OK : ip_fail(err, IP_CAPABILITY, "cannot read CPUID: %s", cpuid_error());
}

static enum ip_status identity_read(struct hx_host *host, const char *root, struct ip_error *err) {
    bool recorded = root[0] != '\0';
    char name[4200], word[64];
    struct cpu_raw_data_t *raw = calloc(1, sizeof *raw);
    struct cpu_id_t *id = calloc(1, sizeof *id);
    if (raw == NULL || id == NULL) {
        free(raw);
        free(id);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the CPU's identity");
    }
    (void)snprintf(name, sizeof name, "%s%s", root, HX_HOST_CPUID);
    (void)cpuid_set_warn_function(warning_drop);
    enum ip_status status = IP_OK;
    if (recorded) {
        /* An empty name would be standard output to libcpuid; ours never is. */
        FILE *file = fopen(name, "re");
        if (file == NULL) {
            status = ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot open '%s'", name);
        } else {
            (void)fclose(file);
        }
    }
    if (status == IP_OK && !recorded) {
        status = hx_host_cpuid_read(raw, host->core_kind[0] != '\0' ? host->cpu : -1, err);
    } else if (status == IP_OK && cpuid_deserialize_raw_data(raw, name) != 0) {
        status = ip_fail(err, IP_SYNTAX, "cannot read CPUID from %s: %s", name, cpuid_error());
    }
    if (status == IP_OK && cpu_identify(raw, id) != 0) {
        status = ip_fail(err, recorded ? IP_SYNTAX : IP_CAPABILITY, "libcpuid cannot identify this CPU: %s",
                         cpuid_error());
    }
    if (status == IP_OK) {
        uint64_t xcr0 = hx_host_xcr0();
        char signature[13];
        hx_host_signature(signature);
        if (recorded) {
            xcr0 = hx_host_word_read(root, HX_HOST_XCR0, word, sizeof word) ? strtoull(word, NULL, 16) : 0;
            (void)hx_host_word_read(root, HX_HOST_HYPERVISOR, signature, sizeof signature);
        }
        identity_take(host, raw, id, xcr0);
        if (host->hypervisor) {
            hypervisor_name(host->hypervisor_name, signature);
            host->emulated = hypervisor_emulates(signature);
        }
    }
    free(raw);
    free(id);
    return status;
}

void hx_host_cpu_file(char path[128], int cpu, const char *file) {
    (void)snprintf(path, 128, "/sys/devices/system/cpu/cpu%d/%.60s", cpu < 0 ? 0 : cpu, file);
}

static void kernel_read(struct hx_host *host, const char *root) {
    char word[128], path[128];
    hx_host_cpu_file(path, host->cpu, HX_HOST_SIBLINGS);
    if (hx_host_word_read(root, path, word, sizeof word)) {
        host->smt_siblings = list_count(word);
    }
    (void)hx_host_word_read(root, HX_HOST_SMT, host->smt_active, sizeof host->smt_active);
    hx_host_cpu_file(path, host->cpu, HX_HOST_GOVERNOR);
    (void)hx_host_word_read(root, path, host->governor, sizeof host->governor);
    hx_host_cpu_file(path, host->cpu, HX_HOST_DRIVER);
    (void)hx_host_word_read(root, path, host->scaling_driver, sizeof host->scaling_driver);
    (void)hx_host_word_read(root, HX_HOST_CLOCKSOURCE, host->clocksource, sizeof host->clocksource);
    if (hx_host_word_read(root, HX_HOST_NO_TURBO, word, sizeof word)) {
        memcpy(host->turbo, word[0] == '0' ? "on" : "off", word[0] == '0' ? 3 : 4);
    } else if (hx_host_word_read(root, HX_HOST_BOOST, word, sizeof word)) {
        memcpy(host->turbo, word[0] == '1' ? "on" : "off", word[0] == '1' ? 3 : 4);
    }
    host->perf_event_paranoid = -99;
    if (hx_host_word_read(root, HX_HOST_PARANOID, word, sizeof word)) {
        char *end = NULL;
        long value = strtol(word, &end, 10);
        host->perf_event_paranoid =
            end != word && *end == '\0' && value > -99 && value < 99 ? (int)value : -99;
    }
}

/* A file of /proc below the root; "" where it cannot be read. */
static enum ip_status proc_file_read(struct ip_text *text, const char *root, const char *path,
                                     struct ip_error *err) {
    struct ip_text name = {0};
    ip_text_printf(&name, "%s%s", root, path);
    enum ip_status status = name.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", path)
                                        : ip_file_read(text, ip_text_string(&name), 1u << 26, err);
    ip_text_fini(&name);
    if (status == IP_IO) {
        ip_text_clear(text);
        status = IP_OK;
    }
    return status;
}

/* What a system without /proc does not tell stays unknown. */
static enum ip_status proc_read(struct hx_host *host, const char *root, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status = proc_file_read(&text, root, HX_HOST_CPUINFO, err);
    if (status == IP_OK) {
        cpuinfo_read(host, ip_text_string(&text));
        status = proc_file_read(&text, root, HX_HOST_STATUS, err);
    }
    if (status == IP_OK) {
        const char *allowed = field_find(ip_text_string(&text), "Cpus_allowed_list");
        host->cpus_allowed = allowed != NULL ? list_count(allowed) : 0;
    }
    ip_text_fini(&text);
    return status;
}

int hx_host_core(const struct hx_cores *cores, const char *root) {
    struct ip_cpus allowed;
    memset(&allowed, 0xff, sizeof allowed);
    if (root[0] == '\0') {
        (void)ip_cpus_allowed(&allowed);
    }
    return hx_core_default(cores, &allowed, -1);
}

static enum ip_status cores_read(struct hx_host *host, const char *root, int cpu, struct ip_error *err) {
    hx_cores_read(&host->cores, root);
    host->cpu = cpu >= 0 ? cpu : hx_host_core(&host->cores, root);
    enum hx_core_kind kind = hx_core_kind(&host->cores, host->cpu);
    if (cpu >= 0 && kind == HX_CORE_ALIKE && ip_cpus_count(&host->cores.cpus[HX_CORE_PERFORMANCE]) > 0) {
        return ip_fail(err, IP_CAPABILITY,
                       "CPU %d is of none of this machine's kinds of core: choose another with --cpu "
                       "('isaprobe doctor' lists them)",
                       cpu);
    }
    (void)snprintf(host->core_kind, sizeof host->core_kind, "%s", hx_core_kind_name(kind));
    return IP_OK;
}

enum ip_status hx_host_read(struct hx_host *host, const char *root, int cpu, struct ip_error *err) {
    if (strlen(root) > 4000) {
        return ip_fail(err, IP_USAGE, "the name of the root directory is too long");
    }
    struct hx_host made = {0};
    enum ip_status status = cores_read(&made, root, cpu, err);
    if (status == IP_OK) {
        status = identity_read(&made, root, err);
    }
    if (status == IP_OK) {
        status = proc_read(&made, root, err);
    }
    if (status == IP_OK && made.features.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the CPU's features");
    }
    if (status != IP_OK) {
        hx_host_fini(&made);
        return status;
    }
    kernel_read(&made, root);
    *host = made;
    return IP_OK;
}

void hx_host_fini(struct hx_host *host) {
    ip_lines_fini(&host->features);
    memset(host, 0, sizeof *host);
}
