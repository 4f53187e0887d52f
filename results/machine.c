/* SPDX-License-Identifier: Apache-2.0 */
#include "results/machine.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "harness/replay.h"
#include "harness/sim_description.h"
#include "results/hash.h"

enum { DESCRIPTION_MAX_BYTES = 1 << 30 };

void res_machine_fini(struct res_machine *machine) {
    ip_text_fini(&machine->features);
    memset(machine, 0, sizeof *machine);
}

/* Letters and digits stay, everything between them becomes one dash. */
static void slug_make(char *slug, size_t size, const char *text) {
    size_t length = 0;
    bool gap = false;
    for (const char *at = text; *at != '\0' && length + 2 < size; at++) {
        if (!ip_ascii_is_alnum(*at)) {
            gap = true;
            continue;
        }
        if (gap && length > 0) {
            slug[length++] = '-';
        }
        gap = false;
        slug[length++] = ip_ascii_lower(*at);
    }
    slug[length] = '\0';
}

static void caches_append(struct ip_text *text, const struct hx_host *host) {
    static const struct {
        const char *name;
        size_t offset;
    } caches[] = {
        {"L1d", offsetof(struct hx_host, l1d_bytes)},
        {"L1i", offsetof(struct hx_host, l1i_bytes)},
        {"L2", offsetof(struct hx_host, l2_bytes)},
    };
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        uint64_t bytes = 0;
        memcpy(&bytes, (const char *)host + caches[i].offset, sizeof bytes);
        if (bytes != 0) {
            ip_text_printf(text, ", %s %llu KiB", caches[i].name, (unsigned long long)(bytes / 1024));
        }
    }
}

enum ip_status res_machine_of_host(struct res_machine *machine, const struct hx_host *host,
                                   struct ip_error *err) {
    struct ip_text identity = {0}, features = {0};
    ip_text_printf(&identity, "%s family %d model %d stepping %d, %s", host->vendor, host->family,
                   host->model, host->stepping, host->brand);
    if (host->core_kind[0] != '\0') {
        ip_text_printf(&identity, ", %s core", host->core_kind);
    }
    caches_append(&identity, host);
    ip_text_printf(&identity, "%s%s%s%s", host->avx ? ", AVX" : "", host->avx2 ? ", AVX2" : "",
                   host->avx512 ? ", AVX-512" : "", host->amx ? ", AMX" : "");
    for (size_t i = 0; i < host->features.count; i++) {
        ip_text_printf(&features, "%s%s", i > 0 ? " " : "", host->features.items[i]);
    }
    if (identity.failed || features.failed) {
        ip_text_fini(&identity);
        ip_text_fini(&features);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the description of this machine");
    }
    struct res_machine made = {.kind = "host",
                               .family = host->family,
                               .model = host->model,
                               .stepping = host->stepping,
                               .tsc_hz = host->tsc_hz,
                               .l1d_bytes = host->l1d_bytes,
                               .l1i_bytes = host->l1i_bytes,
                               .l2_bytes = host->l2_bytes,
                               .l3_bytes = host->l3_bytes,
                               .features = features};
    (void)snprintf(made.identity, sizeof made.identity, "%s", ip_text_string(&identity));
    ip_text_fini(&identity);
    (void)snprintf(made.vendor, sizeof made.vendor, "%s", host->vendor);
    (void)snprintf(made.brand, sizeof made.brand, "%s", host->brand);
    (void)snprintf(made.codename, sizeof made.codename, "%s", host->codename);
    (void)snprintf(made.hypervisor, sizeof made.hypervisor, "%s", host->hypervisor_name);
    char name[160];
    (void)snprintf(name, sizeof name, "%s-%d-%d-%d-%s-%s", host->vendor, host->family, host->model,
                   host->stepping, host->brand, host->core_kind);
    slug_make(made.slug, sizeof made.slug, name);
    *machine = made;
    return IP_OK;
}

static enum ip_status content_hash(uint64_t *hash, const char *path, struct ip_error *err) {
    struct ip_text content = {0};
    enum ip_status status = ip_file_read(&content, path, DESCRIPTION_MAX_BYTES, err);
    if (status == IP_OK) {
        *hash = res_hash(*hash, ip_text_string(&content), content.length);
    }
    ip_text_fini(&content);
    return status;
}

/* One hash of a description and of the tables that it imports, which are part of the CPU. `name` is the end
 * of `path`. The file is read once: it may be a pipe. */
static enum ip_status sim_hash(uint64_t *hash, const char *path, const char *name, struct ip_error *err) {
    struct ip_text content = {0}, directory = {0};
    struct hx_sim_description description = {0};
    enum ip_status status =
        ip_text_file_read(&content, path, DESCRIPTION_MAX_BYTES, "the description of a CPU is expected", err);
    ip_text_append_bytes(&directory, path, (size_t)(name - path));
    if (status == IP_OK && directory.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the description of this machine");
    }
    if (status == IP_OK) {
        *hash = res_hash(*hash, ip_text_string(&content), content.length);
        status = hx_sim_description_parse(&description, path, ip_text_string(&content), content.length,
                                          ip_text_string(&directory), err);
    }
    for (size_t i = 0; status == IP_OK && i < description.imports.count; i++) {
        status = content_hash(hash, description.imports.items[i], err);
    }
    hx_sim_description_fini(&description);
    ip_text_fini(&directory);
    ip_text_fini(&content);
    return status;
}

bool res_machine_is(const struct res_machine *machine, const char *identity) {
    bool recorded = machine->recorded[0] != '\0' && strcmp(machine->recorded, identity) == 0;
    return recorded || strcmp(machine->identity, identity) == 0;
}

const char *res_machine_whose(const struct res_machine *machine) {
    return machine->recorded[0] != '\0' ? machine->recorded : machine->identity;
}

/* The hash of a recording, and whose it is. */
static enum ip_status recording_read(uint64_t *hash, char *identity, size_t size, const char *path,
                                     struct ip_error *err) {
    struct ip_text content = {0}, machine = {0};
    enum ip_status status = ip_file_read(&content, path, DESCRIPTION_MAX_BYTES, err);
    if (status == IP_OK) {
        *hash = res_hash(*hash, ip_text_string(&content), content.length);
        status = hx_replay_machine(&machine, path, ip_text_string(&content), content.length, err);
    }
    (void)snprintf(identity, size, "%s", ip_text_string(&machine));
    ip_text_fini(&machine);
    ip_text_fini(&content);
    return status;
}

enum ip_status res_machine_of_file(struct res_machine *machine, const char *kind, const char *path,
                                   struct ip_error *err) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    uint64_t hash = 0;
    struct res_machine made = {.family = -1, .model = -1, .stepping = -1};
    enum ip_status status = strcmp(kind, "sim") == 0
                                ? sim_hash(&hash, path, name, err)
                                : recording_read(&hash, made.recorded, sizeof made.recorded, path, err);
    if (status != IP_OK) {
        return status;
    }
    (void)snprintf(made.kind, sizeof made.kind, "%s", kind);
    (void)snprintf(made.identity, sizeof made.identity, "%s %.100s, content %016llx", kind, name,
                   (unsigned long long)hash);
    (void)snprintf(made.brand, sizeof made.brand, "%.63s", name);
    char words[160];
    (void)snprintf(words, sizeof words, "%s-%.100s", kind, name);
    slug_make(made.slug, sizeof made.slug, words);
    *machine = made;
    return IP_OK;
}
