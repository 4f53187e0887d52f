/* SPDX-License-Identifier: Apache-2.0 */
/* The description of the host: recorded trees (tests/data/host), broken ones, and this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/host.h"
#include "tests/refused.h"

static bool has_feature(const struct hx_host *host, const char *name) {
    for (size_t i = 0; i < host->features.count; i++) {
        if (strcmp(host->features.items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void bare_metal_is_described(void **state) {
    (void)state;
    struct hx_host host;
    struct ip_error err = {0};
    assert_int_equal(hx_host_read(&host, "tests/data/host/metal", -1, &err), IP_OK);
    assert_string_equal(host.vendor, "GenuineIntel");
    assert_string_equal(host.brand, "Example CPU bare metal @ 3.45GHz");
    assert_int_equal(host.family, 6);
    assert_int_equal(host.model, 0x55);
    assert_int_equal(host.stepping, 4);
    assert_false(host.hypervisor);
    assert_string_equal(host.hypervisor_name, "");
    assert_int_equal(host.tsc_hz, 3450000000); /* leaf 0x15: 25 MHz * 276 / 2, not the bogomips */
    assert_true(host.tsc_invariant);
    assert_int_equal(host.cpus, 8);
    assert_int_equal(host.cpus_allowed, 5);
    assert_int_equal(host.smt_siblings, 2);
    assert_string_equal(host.smt_active, "1");
    assert_string_equal(host.governor, "powersave");
    assert_string_equal(host.scaling_driver, "intel_pstate");
    assert_string_equal(host.turbo, "on"); /* no_turbo is 0 */
    assert_string_equal(host.clocksource, "tsc");
    assert_int_equal(host.perf_event_paranoid, 3);
    assert_int_equal(host.l1d_bytes, 32 * 1024);
    assert_int_equal(host.l2_bytes, 1024 * 1024);
    assert_true(host.avx && host.avx2 && host.avx512);
    assert_false(host.amx);
    assert_true(has_feature(&host, "avx2"));
    assert_false(has_feature(&host, "hypervisor"));
    for (size_t i = 1; i < host.features.count; i++) {
        assert_true(strcmp(host.features.items[i - 1], host.features.items[i]) < 0);
    }
    hx_host_fini(&host);
}

/* Of several kinds of core each is another CPU; the first kind is measured where nobody names a CPU. */
static void kinds_of_core_are_told_apart(void **state) {
    (void)state;
    static const struct {
        int named, cpu;
        const char *kind, *governor;
    } cases[] = {{-1, 0, "performance", "performance"},
                 {6, 6, "performance", ""},
                 {5, 5, "efficiency", "powersave"},
                 {9, 9, "low-power", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hx_host host;
        struct ip_error err = {0};
        assert_int_equal(hx_host_read(&host, "tests/data/host/hybrid", cases[i].named, &err), IP_OK);
        assert_int_equal(host.cpu, cases[i].cpu);
        assert_string_equal(host.core_kind, cases[i].kind);
        assert_string_equal(host.governor, cases[i].governor);
        hx_host_fini(&host);
    }
    struct hx_host host;
    struct ip_error err = {0};
    assert_int_equal(hx_host_read(&host, "tests/data/host/hybrid", 10, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "CPU 10 is of none"));
    struct hx_cores cores;
    struct ip_cpus allowed = {0};
    ip_cpus_add(&allowed, 5);
    ip_cpus_add(&allowed, 9);
    hx_cores_read(&cores, "tests/data/host/hybrid");
    assert_int_equal(hx_core_default(&cores, &allowed, 9), 5);
    ip_cpus_add(&allowed, 6);
    assert_int_equal(hx_core_default(&cores, &allowed, 9), 6);
    ip_cpus_add(&allowed, 3);
    assert_int_equal(hx_core_default(&cores, &allowed, 9), 3);
    assert_int_equal(hx_core_default(&cores, &allowed, 6), 6); /* is one of them already */
    hx_cores_read(&cores, "tests/data/host/metal");
    assert_int_equal(hx_core_kind(&cores, 0), HX_CORE_ALIKE);
    assert_int_equal(hx_core_default(&cores, &allowed, 9), 9);
}

static void ranges_of_cpus(void **state) {
    (void)state;
    const char *list = "0-3,8,10-11", *const broken[] = {"",    "x",  "-1",  "3-1",    "2-",
                                                         "1;2", " 1", "\n1", "0-99999"};
    static const int expected[][2] = {{0, 3}, {8, 8}, {10, 11}};
    int first = 0, last = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_true(hx_cpu_range_next(&list, &first, &last));
        assert_int_equal(first, expected[i][0]);
        assert_int_equal(last, expected[i][1]);
    }
    assert_false(hx_cpu_range_next(&list, &first, &last));
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        list = broken[i];
        assert_false(hx_cpu_range_next(&list, &first, &last));
        assert_ptr_equal(list, broken[i]);
    }
}

/* A list may be longer than any line, as where the numbers have gaps. */
static void lists_of_cpus(void **state) {
    (void)state;
    struct ip_text list = {0}, again = {0};
    struct ip_cpus cpus;
    for (int cpu = 0; cpu < IP_CPUS_MAX; cpu += 2) {
        ip_text_printf(&list, "%s%d", cpu > 0 ? "," : "", cpu);
    }
    assert_true(hx_cpus_of_list(&cpus, ip_text_string(&list)));
    assert_int_equal(ip_cpus_count(&cpus), IP_CPUS_MAX / 2);
    hx_cpus_print(&again, &cpus);
    assert_string_equal(ip_text_string(&again), ip_text_string(&list));
    ip_text_clear(&again);
    assert_true(hx_cpus_of_list(&cpus, "0-3,8,10-11\n12"));
    hx_cpus_print(&again, &cpus);
    assert_string_equal(ip_text_string(&again), "0-3,8,10-11");
    assert_true(hx_cpus_of_list(&cpus, ""));
    assert_int_equal(ip_cpus_count(&cpus), 0);
    assert_false(hx_cpus_of_list(&cpus, "0-3,x"));
    assert_int_equal(ip_cpus_count(&cpus), 0);
    ip_text_fini(&list);
    ip_text_fini(&again);
}

static void guest_without_anything_is_described(void **state) {
    (void)state;
    struct hx_host host;
    struct ip_error err = {0};
    assert_int_equal(hx_host_read(&host, "tests/data/host/vm", -1, &err), IP_OK);
    assert_string_equal(host.brand, "Example guest");
    assert_true(host.hypervisor);
    assert_string_equal(host.hypervisor_name, "KVM");
    assert_int_equal(host.tsc_hz, 2599995000); /* from the bogomips */
    assert_false(host.tsc_invariant);          /* constant, but it stops */
    assert_int_equal(host.cpus, 1);
    assert_int_equal(host.cpus_allowed, 0);
    assert_int_equal(host.smt_siblings, 0);
    assert_string_equal(host.smt_active, "");
    assert_string_equal(host.governor, "");
    assert_string_equal(host.turbo, "");
    assert_int_equal(host.perf_event_paranoid, -99);
    assert_true(host.avx && host.avx2);
    assert_false(host.avx512); /* CPUID has it, XCR0 has not */
    assert_false(host.amx);
    hx_host_fini(&host);
}

/* A tree under /tmp with these two files, "" for none. */
static void tree_make(char *root, const char *cpuid, const char *cpuinfo) {
    char name[128];
    strcpy(root, "/tmp/isaprobe-host-XXXXXX");
    assert_non_null(mkdtemp(root));
    const char *const files[][2] = {{"cpuid.raw", cpuid}, {"proc/cpuinfo", cpuinfo}};
    snprintf(name, sizeof name, "%s/proc", root);
    assert_int_equal(mkdir(name, 0700), 0);
    for (size_t i = 0; i < 2; i++) {
        if (files[i][1][0] == '\0') {
            continue;
        }
        snprintf(name, sizeof name, "%s/%s", root, files[i][0]);
        FILE *file = fopen(name, "w");
        assert_non_null(file);
        fputs(files[i][1], file);
        assert_int_equal(fclose(file), 0);
    }
}

static int entry_remove(const char *name, const struct stat *about, int type, struct FTW *walk) {
    (void)about;
    (void)type;
    (void)walk;
    return remove(name);
}

static void tree_remove(const char *root) {
    assert_int_equal(nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void broken_trees_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *cpuid, *cpuinfo;
        enum ip_status status;
        const char *word;
    } cases[] = {
        {"", "processor\t: 0\n", IP_IO, "cpuid.raw"},
        {"this is no dump\n", "processor\t: 0\n", IP_SYNTAX, "CPU"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char root[64];
        struct hx_host host, before;
        struct ip_error err = {0};
        memset(&host, 0x5a, sizeof host);
        before = host;
        tree_make(root, cases[i].cpuid, cases[i].cpuinfo);
        enum ip_status status = hx_host_read(&host, root, -1, &err);
        tree_remove(root);
        assert_int_equal(status, cases[i].status);
        assert_non_null(strstr(err.text, cases[i].word));
        assert_memory_equal(&host, &before, sizeof host);
    }
}

/* Not everything has /proc: what it would tell is unknown. */
static enum ip_status host_read(struct ip_error *err) {
    struct hx_host host = {0};
    enum ip_status status = hx_host_read(&host, "", -1, err);
    if (status == IP_OK && (host.cpus != 0 || host.cpus_allowed != 0 || host.vendor[0] == '\0')) {
        status = ip_fail(err, IP_FAILED, "%d CPUs, %d allowed, of '%s'", host.cpus, host.cpus_allowed,
                         host.vendor);
    }
    hx_host_fini(&host);
    return status;
}

static void host_without_proc_is_described(void **state) {
    (void)state;
    char root[64];
    struct hx_host host;
    struct ip_error err = {0};
    tree_make(root, "version=0.6.2\nbasic_cpuid[0]=00000001 756e6547 6c65746e 49656e69\n", "");
    enum ip_status status = hx_host_read(&host, root, -1, &err);
    tree_remove(root);
    assert_int_equal(status, IP_OK);
    assert_string_equal(host.vendor, "GenuineIntel");
    assert_int_equal(host.cpus, 0);
    hx_host_fini(&host);
    struct refused refused = refused_hidden(host_read, "/proc");
    if (!refused.done) {
        print_message("skipped: this process may hide no folder (unshare, mount)\n");
        skip();
    }
    if (refused.status != IP_OK) {
        fail_msg("%s", refused.err.text);
    }
}

static void absent_tree_is_an_error(void **state) {
    (void)state;
    struct hx_host host;
    struct ip_error err = {0};
    assert_int_equal(hx_host_read(&host, "tests/data/host/absent", -1, &err), IP_IO);
    assert_non_null(strstr(err.text, "tests/data/host/absent"));
}

static void strings_equal(const struct hx_host *a, const struct hx_host *b) {
    assert_string_equal(a->vendor, b->vendor);
    assert_string_equal(a->brand, b->brand);
    assert_string_equal(a->hypervisor_name, b->hypervisor_name);
    assert_string_equal(a->governor, b->governor);
    assert_string_equal(a->turbo, b->turbo);
    assert_string_equal(a->clocksource, b->clocksource);
}

static void recording_describes_the_same_machine(void **state) {
    (void)state;
    char root[64], directory[128];
    struct hx_host here, recorded;
    struct ip_error err = {0};
    tree_make(root, "", "");
    snprintf(directory, sizeof directory, "%s/new/tree", root);
    assert_int_equal(hx_host_record(directory, -1, &err), IP_OK);
    assert_int_equal(hx_host_read(&here, "", -1, &err), IP_OK);
    assert_int_equal(hx_host_read(&recorded, directory, -1, &err), IP_OK);
    tree_remove(root);
    strings_equal(&here, &recorded);
    assert_int_equal(here.tsc_hz, recorded.tsc_hz);
    assert_int_equal(here.cpus, recorded.cpus);
    assert_int_equal(here.cpus_allowed, recorded.cpus_allowed);
    assert_true(here.cpus_allowed >= 1 && here.cpus_allowed <= here.cpus);
    assert_int_equal(here.hypervisor, recorded.hypervisor);
    assert_int_equal(here.avx, recorded.avx);
    assert_int_equal(here.avx512, recorded.avx512);
    assert_int_equal(here.amx, recorded.amx);
    assert_int_equal(here.l1d_bytes, recorded.l1d_bytes);
    assert_int_equal(here.features.count, recorded.features.count);
    hx_host_fini(&here);
    hx_host_fini(&recorded);
}

/* False, and `err`, when the file below `directory` does not hold `word`. */
static bool recorded(const char *directory, const char *path, const char *word, struct ip_error *err) {
    char name[160], line[32] = "";
    snprintf(name, sizeof name, "%s%s", directory, path);
    FILE *file = fopen(name, "re");
    bool good = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, word) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return good || ip_fail(err, IP_FAILED, "%s holds '%s'", name, line) == IP_OK;
}

static void file_write(const char *name, const char *word) {
    FILE *file = fopen(name, "we");
    if (file != NULL) {
        fputs(word, file);
        fclose(file);
    }
}

#define ZONE    "/sys/class/powercap/intel-rapl:1"
#define PACKAGE "/sys/devices/system/cpu/cpu0/topology/physical_package_id"

static enum ip_status energy_record(struct ip_error *err) {
    static const char tree[] = "/sys/class/tree";
    mkdir("/sys/class/powercap", 0700);
    mkdir("/sys/class/powercap/intel-rapl:0", 0700);
    mkdir(ZONE, 0700);
    file_write("/sys/class/powercap/intel-rapl:0/name", "psys\n");
    file_write(ZONE "/name", "package-0\n");
    file_write(ZONE "/energy_uj", "5\n");
    file_write(ZONE "/max_energy_range_uj", "9\n");
    enum ip_status status = hx_host_record(tree, -1, err);
    bool good = status == IP_OK && recorded(tree, "/sys/class/powercap/intel-rapl:0/name", "psys\n", err) &&
                recorded(tree, ZONE "/name", "package-0\n", err) &&
                recorded(tree, ZONE "/energy_uj", "5\n", err) &&
                recorded(tree, ZONE "/max_energy_range_uj", "9\n", err);
    if (good && access(PACKAGE, R_OK) != access("/sys/class/tree" PACKAGE, R_OK)) {
        return ip_fail(err, IP_FAILED, "the package of CPU 0 is not recorded");
    }
    return good ? IP_OK : err->status;
}

static void energy_counters_are_recorded(void **state) {
    (void)state;
    struct refused refused = refused_hidden(energy_record, "/sys/class");
    if (!refused.done) {
        print_message("skipped: this process may hide no folder (unshare, mount)\n");
        skip();
    }
    if (refused.status != IP_OK) {
        fail_msg("%s", refused.err.text);
    }
}

static void recording_into_a_file_fails(void **state) {
    (void)state;
    struct ip_error err = {0};
    assert_int_equal(hx_host_record("/dev/null/tree", -1, &err), IP_IO);
    assert_non_null(strstr(err.text, "/dev/null"));
    assert_int_equal(hx_host_record("", -1, &err), IP_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bare_metal_is_described),
        cmocka_unit_test(kinds_of_core_are_told_apart),
        cmocka_unit_test(ranges_of_cpus),
        cmocka_unit_test(lists_of_cpus),
        cmocka_unit_test(guest_without_anything_is_described),
        cmocka_unit_test(broken_trees_are_errors),
        cmocka_unit_test(host_without_proc_is_described),
        cmocka_unit_test(absent_tree_is_an_error),
        cmocka_unit_test(recording_describes_the_same_machine),
        cmocka_unit_test(energy_counters_are_recorded),
        cmocka_unit_test(recording_into_a_file_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
