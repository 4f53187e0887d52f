/* SPDX-License-Identifier: Apache-2.0 */
/* The host's readers on recorded trees (tests/data/power), and the sweep on a copy that answers like a CPU.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#include "power/calibrate.h"
#include "power/governor.h"
#include "tests/near.h"

#define FREQ "/sys/devices/system/cpu/cpu0/cpufreq/"
#define RAPL "/sys/class/powercap/intel-rapl:0/"

/* Every recorded tree: what is read, and what is missing. */
static void recorded_trees(void **state) {
    (void)state;
    static const struct {
        const char *root;
        int cpu;
        size_t settings;
        double first_mhz, second_mhz, last_mhz;
        double first_volts, last_volts; /* 0: not shown */
        double sensor_volts;
        const char *counter; /* NULL: none */
        double uj;
    } trees[] = {
        {"server", 0, 28, 3700, 3600, 1000, 0, 0, 0, "package-0", 1000},
        {"server", 1, 28, 3700, 3600, 1000, 0, 0, 0, "package-1", 5000},
        {"ryzen", 0, 3, 3600, 2800, 2200, 0, 0, 1.092, "package-0", 64930873566},
        {"laptop", 0, 42, 4463, 4400, 400, 0, 0, 0, "package-0", 1200345},
        {"rk3399", 0, 6, 1416, 1200, 408, 1.125, 0.8, 0, NULL, 0},
    };
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        struct pw_machine machine;
        struct ip_lines missing = {0};
        struct ip_error err = {0};
        char root[64];
        (void)snprintf(root, sizeof root, "tests/data/power/%s", trees[i].root);
        print_message("%s, CPU %d\n", root, trees[i].cpu);
        assert_int_equal(pw_host_read(&machine, root, trees[i].cpu, &missing, &err), IP_OK);
        assert_int_equal(machine.setting_count, trees[i].settings);
        const struct pw_setting *last = &machine.settings[machine.setting_count - 1];
        assert_near(machine.settings[0].freq_hz, trees[i].first_mhz * 1e6, 0);
        assert_near(machine.settings[1].freq_hz, trees[i].second_mhz * 1e6, 0);
        assert_near(last->freq_hz, trees[i].last_mhz * 1e6, 0);
        assert_int_equal(machine.power, PW_POWER_UNKNOWN);
        if (trees[i].first_volts > 0) {
            assert_near(machine.settings[0].volts, trees[i].first_volts, 1e-9);
            assert_near(last->volts, trees[i].last_volts, 1e-9);
            assert_int_equal(missing.count, 1); /* the memory */
        } else {
            assert_true(isnan(machine.settings[0].volts));
            assert_int_equal(missing.count, 2);
            assert_non_null(strstr(missing.items[0], "voltages"));
        }
        ip_lines_fini(&missing);
        double volts = 0;
        assert_int_equal(pw_host_sensor_volts(root, &volts), trees[i].sensor_volts > 0);
        assert_near(volts, trees[i].sensor_volts, 1e-9);
        struct pw_energy_counter counter;
        if (trees[i].counter == NULL) {
            assert_int_equal(pw_energy_open(&counter, root, trees[i].cpu, NULL, &err), IP_CAPABILITY);
            assert_non_null(strstr(err.text, "no energy counter"));
            continue;
        }
        double uj = 0;
        assert_int_equal(pw_energy_open(&counter, root, trees[i].cpu, NULL, &err), IP_OK);
        assert_string_equal(counter.name, trees[i].counter);
        assert_int_equal(pw_energy_read_uj(&counter, &uj, &err), IP_OK);
        assert_near(uj, trees[i].uj, 0);
        assert_near(pw_energy_between_uj(&counter, 1000, 5000), 4000, 0);
        assert_near(pw_energy_between_uj(&counter, counter.range_uj - 10, 30), 40, 0);
    }
}

static void virtual_machine(void **state) {
    (void)state;
    struct pw_machine machine = {.setting_count = 7};
    struct ip_lines missing = {0};
    struct ip_error err = {0};
    assert_int_equal(pw_host_read(&machine, "tests/data/power/vm", 0, &missing, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "no cpufreq"));
    assert_non_null(strstr(err.text, "--machine FILE"));
    assert_int_equal(machine.setting_count, 7);
    assert_int_equal(missing.count, 0);
}

/* --- a tree of its own, in which energy flows
 * --------------------------------------------------------------- */

static const double c_f = 2e-9, static_w = 3;

struct fake {
    char root[128];
    double uj, range_uj;
    int loads, stop_after, fail_after;
    double stuck_khz; /* the clock never goes above */
    bool sensor;
    const char *sensor_name;
    /* What its PAPI knows: one event, in units of so many microjoules. */
    const char *papi_event;
    double papi_unit_uj, papi_begin_uj;
    int papi_started, papi_stopped, papi_reads, papi_breaks_after; /* 0: never */
};

static void file_write(const struct fake *fake, const char *name, const char *value) {
    char path[PW_PATH_MAX];
    assert_true(pw_path(path, sizeof path, fake->root, "%s", name));
    for (char *slash = strchr(path + strlen(fake->root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(value, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void number_write(const struct fake *fake, const char *name, double value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.0f\n", value);
    file_write(fake, name, text);
}

static void file_expect(const struct fake *fake, const char *name, const char *value) {
    char path[PW_PATH_MAX], got[64];
    assert_true(pw_path(path, sizeof path, fake->root, "%s", name));
    assert_true(pw_sysfs_line(path, got, sizeof got));
    assert_string_equal(got, value);
}

static void fake_root_make(struct fake *fake, const char *sensor) {
    *fake = (struct fake){.stop_after = -1,
                          .fail_after = -1,
                          .stuck_khz = 1e9,
                          .sensor = true,
                          .sensor_name = sensor,
                          .range_uj = 1e9};
    const char *base = getenv("TMPDIR");
    (void)snprintf(fake->root, sizeof fake->root, "%.80s/isaprobe-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(fake->root));
}

static void fake_init(struct fake *fake) {
    fake_root_make(fake, "/sys/class/hwmon/hwmon2/in0_input");
    fake->uj = 0.9e9; /* so that the counter wraps on the way */
    file_write(fake, FREQ "scaling_available_frequencies", "2000000 1600000 1200000 800000\n");
    file_write(fake, FREQ "scaling_driver", "acpi-cpufreq\n");
    file_write(fake, FREQ "scaling_governor", "ondemand\n");
    file_write(fake, FREQ "scaling_min_freq", "800000\n");
    file_write(fake, FREQ "scaling_max_freq", "1600000\n");
    file_write(fake, RAPL "name", "package-0\n");
    number_write(fake, RAPL "max_energy_range_uj", fake->range_uj);
    number_write(fake, RAPL "energy_uj", fake->uj);
    file_write(fake, "/sys/class/hwmon/hwmon2/in0_label", "Vcore\n");
}

/* A copy of a recorded tree, to be swept. */
static void fake_copy(struct fake *fake, const char *tree) {
    static const char *const names[] = {FREQ "scaling_available_frequencies",
                                        FREQ "scaling_driver",
                                        FREQ "scaling_governor",
                                        FREQ "scaling_min_freq",
                                        FREQ "scaling_max_freq",
                                        FREQ "cpuinfo_min_freq",
                                        FREQ "cpuinfo_max_freq",
                                        RAPL "name",
                                        RAPL "max_energy_range_uj",
                                        RAPL "energy_uj",
                                        "/sys/class/hwmon/hwmon1/in0_label"};
    fake_root_make(fake, "/sys/class/hwmon/hwmon1/in0_input");
    fake->sensor = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PW_PATH_MAX], value[PW_VALUE_MAX];
        assert_true(pw_path(path, sizeof path, tree, "%s", names[i]));
        if (pw_sysfs_line(path, value, sizeof value)) {
            file_write(fake, names[i], value);
            fake->sensor = fake->sensor || strstr(names[i], "label") != NULL;
        }
    }
    char energy[PW_PATH_MAX], range[PW_PATH_MAX];
    assert_true(pw_path(energy, sizeof energy, fake->root, RAPL "energy_uj"));
    assert_true(pw_sysfs_number(energy, &fake->uj));
    assert_true(pw_path(range, sizeof range, fake->root, RAPL "max_energy_range_uj"));
    assert_true(pw_sysfs_number(range, &fake->range_uj));
}

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void fake_fini(struct fake *fake) {
    assert_int_equal(nftw(fake->root, entry_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static double volts_at(double khz) {
    return 0.6 + 0.3 * khz / 2e6;
}

/* What a CPU would do meanwhile: take the frequency, use energy. */
static enum ip_status fake_load(void *self, double seconds, double *elapsed_s, struct ip_error *err) {
    struct fake *fake = self;
    char path[PW_PATH_MAX];
    double khz = 0, low = 0;
    if (fake->fail_after >= 0 && fake->loads++ >= fake->fail_after) {
        return ip_fail(err, IP_FAILED, "the load broke");
    }
    assert_true(pw_path(path, sizeof path, fake->root, FREQ "scaling_max_freq"));
    assert_true(pw_sysfs_number(path, &khz));
    assert_true(pw_path(path, sizeof path, fake->root, FREQ "scaling_min_freq"));
    assert_true(pw_sysfs_number(path, &low));
    assert_true(low == khz); /* held at one frequency */
    khz = fmin(khz, fake->stuck_khz);
    number_write(fake, FREQ "scaling_cur_freq", khz);
    if (fake->sensor) {
        number_write(fake, fake->sensor_name, volts_at(khz) * 1e3);
    }
    double volts = round(volts_at(khz) * 1e3) / 1e3;
    fake->uj += (c_f * volts * volts * khz * 1e3 + static_w) * seconds * 1e6;
    fake->uj -= fake->uj > fake->range_uj ? fake->range_uj : 0;
    number_write(fake, RAPL "energy_uj", fake->uj);
    *elapsed_s = seconds;
    return IP_OK;
}

static const char *fake_papi_start(void *self, const char *event, int *event_set) {
    struct fake *fake = self;
    if (fake->papi_event == NULL || strcmp(event, fake->papi_event) != 0) {
        return "Event does not exist";
    }
    fake->papi_begin_uj = fake->uj;
    fake->papi_started++;
    *event_set = 42;
    return NULL;
}

static bool fake_papi_read(void *self, int event_set, long long *value) {
    struct fake *fake = self;
    assert_int_equal(event_set, 42);
    *value = (long long)round((fake->uj - fake->papi_begin_uj) / fake->papi_unit_uj);
    return ++fake->papi_reads != fake->papi_breaks_after;
}

static void fake_papi_stop(void *self, int event_set) {
    struct fake *fake = self;
    assert_int_equal(event_set, 42);
    fake->papi_stopped++;
}

static bool fake_stop(void *self) {
    struct fake *fake = self;
    return fake->stop_after >= 0 && fake->stop_after-- == 0;
}

static enum ip_status sweep(struct fake *fake, struct pw_machine *machine, struct ip_lines *notes,
                            struct ip_error *err) {
    const struct pw_papi papi = {
        .self = fake, .start = fake_papi_start, .read = fake_papi_read, .stop = fake_papi_stop};
    const struct pw_sweep plan = {
        .root = fake->root, .papi = &papi, .seconds = 10, .self = fake, .load = fake_load, .stop = fake_stop};
    return pw_calibrate(machine, &plan, notes, err);
}

static void restored_expect(const struct fake *fake) {
    file_expect(fake, FREQ "scaling_governor", "ondemand");
    file_expect(fake, FREQ "scaling_min_freq", "800000");
    file_expect(fake, FREQ "scaling_max_freq", "1600000");
}

static void calibration_fits(void **state) {
    (void)state;
    struct fake fake;
    struct pw_machine machine;
    struct ip_lines notes = {0};
    struct ip_error err = {0};
    fake_init(&fake);
    if (sweep(&fake, &machine, &notes, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    restored_expect(&fake);
    assert_int_equal(machine.power, PW_POWER_FITTED);
    assert_int_equal(machine.setting_count, 4);
    assert_near(machine.capacitance_f * 1e9, c_f * 1e9, 1e-4);
    assert_near(machine.static_w, static_w, 1e-4);
    ip_lines_fini(&notes);
    fake_fini(&fake);
}

/* No powercap in the tree: the same fit through PAPI, by the registers (nanojoules) or its powercap. */
static void calibration_by_papi(void **state) {
    (void)state;
    static const struct {
        const char *event;
        double unit_uj;
    } components[] = {{"rapl:::PACKAGE_ENERGY:PACKAGE0", 1e-3}, {"powercap:::ENERGY_UJ:ZONE0", 1}};
    for (size_t i = 0; i < 2; i++) {
        struct fake fake;
        struct pw_machine machine;
        struct ip_lines notes = {0};
        struct ip_error err = {0};
        char path[PW_PATH_MAX];
        fake_init(&fake);
        fake.uj = 0;
        fake.range_uj = 1e12; /* PAPI's values do not wrap */
        fake.papi_event = components[i].event;
        fake.papi_unit_uj = components[i].unit_uj;
        assert_true(pw_path(path, sizeof path, fake.root, RAPL "name"));
        assert_int_equal(unlink(path), 0);
        if (sweep(&fake, &machine, &notes, &err) != IP_OK) {
            fail_msg("%s", err.text);
        }
        restored_expect(&fake);
        assert_int_equal(machine.power, PW_POWER_FITTED);
        assert_near(machine.capacitance_f * 1e9, c_f * 1e9, 1e-4);
        assert_near(machine.static_w, static_w, 1e-4);
        assert_int_equal(fake.papi_started, 1);
        assert_int_equal(fake.papi_stopped, 1);
        ip_lines_fini(&notes);
        /* It breaks in the middle: said, and everything is back. */
        fake.papi_breaks_after = fake.papi_reads + 3;
        assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_IO);
        assert_non_null(strstr(err.text, components[i].event));
        restored_expect(&fake);
        assert_int_equal(fake.papi_stopped, 2);
        ip_lines_fini(&notes);
        fake_fini(&fake);
    }
}

static void powercap_comes_first(void **state) {
    (void)state;
    struct fake fake;
    struct pw_machine machine;
    struct ip_lines notes = {0};
    struct ip_error err = {0};
    fake_init(&fake);
    fake.papi_event = "rapl:::PACKAGE_ENERGY:PACKAGE0";
    fake.papi_unit_uj = 1e-3;
    assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_OK);
    assert_int_equal(fake.papi_started, 0);
    ip_lines_fini(&notes);
    fake_fini(&fake);
}

/* The library itself: it says why not, or counts. */
static void papi_answers(void **state) {
    (void)state;
    int event_set = 0;
    assert_non_null(pw_papi_library.start(NULL, "rapl:::NO_SUCH_EVENT", &event_set));
    const char *why = pw_papi_library.start(NULL, "rapl:::PACKAGE_ENERGY:PACKAGE0", &event_set);
    if (why == NULL) {
        long long value = -1;
        assert_true(pw_papi_library.read(NULL, event_set, &value));
        assert_true(value >= 0);
        (pw_papi_library.stop)(NULL, event_set); /* cmocka 2 has a macro of that name */
    } else {
        print_message("no RAPL here: %s\n", why);
        assert_true(strlen(why) > 3);
    }
}

/* Each driver's files, swept: all settings are measured, and all is as it was. */
static void calibration_of_recorded_trees(void **state) {
    (void)state;
    static const struct {
        const char *tree, *governor, *low, *high;
        size_t settings;
        enum pw_power_kind power;
    } cases[] = {
        {"tests/data/power/server", "powersave", "1000000", "3700000", 28, PW_POWER_MEASURED},
        {"tests/data/power/ryzen", "ondemand", "2200000", "3600000", 3, PW_POWER_FITTED},
        {"tests/data/power/laptop", "powersave", "400000", "4463000", 42, PW_POWER_MEASURED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake fake;
        struct pw_machine machine;
        struct ip_lines notes = {0};
        struct ip_error err = {0};
        fake_copy(&fake, cases[i].tree);
        if (sweep(&fake, &machine, &notes, &err) != IP_OK) {
            fail_msg("%s: %s", cases[i].tree, err.text);
        }
        file_expect(&fake, FREQ "scaling_governor", cases[i].governor);
        file_expect(&fake, FREQ "scaling_min_freq", cases[i].low);
        file_expect(&fake, FREQ "scaling_max_freq", cases[i].high);
        assert_int_equal(machine.setting_count, cases[i].settings);
        assert_int_equal(machine.power, cases[i].power);
        if (machine.power == PW_POWER_FITTED) {
            assert_near(machine.capacitance_f * 1e9, c_f * 1e9, 1e-3);
            assert_near(machine.static_w, static_w, 1e-2);
        }
        ip_lines_fini(&notes);
        fake_fini(&fake);
    }
}

static void calibration_without_volts(void **state) {
    (void)state;
    struct fake fake;
    struct pw_machine machine;
    struct ip_lines notes = {0};
    struct ip_error err = {0};
    fake_init(&fake);
    fake.sensor = false;
    assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_OK);
    restored_expect(&fake);
    assert_int_equal(machine.power, PW_POWER_MEASURED);
    ip_lines_fini(&notes);
    fake_fini(&fake);
}

/* A counter that wraps where nobody says at what: the setting that meets it is left out. */
static void calibration_without_range(void **state) {
    (void)state;
    struct fake fake;
    struct pw_machine machine;
    struct ip_lines notes = {0};
    struct ip_error err = {0};
    char path[PW_PATH_MAX];
    fake_init(&fake);
    assert_true(pw_path(path, sizeof path, fake.root, RAPL "max_energy_range_uj"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_OK);
    restored_expect(&fake);
    assert_int_equal(machine.setting_count, 3);
    bool told = false;
    for (size_t i = 0; i < notes.count; i++) {
        told = told || strstr(notes.items[i], "went back at 1600 MHz, and its range is not told") != NULL;
    }
    assert_true(told);
    ip_lines_fini(&notes);
    fake_fini(&fake);
}

static void calibration_stops(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct fake fake;
        struct pw_machine machine = {.setting_count = 77};
        struct ip_lines notes = {0};
        struct ip_error err = {0};
        fake_init(&fake);
        fake.stop_after = way == 0 ? 2 : -1;
        fake.fail_after = way == 1 ? 3 : -1;
        fake.stuck_khz = way == 2 ? 800e3 : way == 3 ? 1300e3 : 1e9;
        static const enum ip_status expected[] = {IP_FAILED, IP_FAILED, IP_UNTRUSTED, IP_OK};
        assert_int_equal(sweep(&fake, &machine, &notes, &err), expected[way]);
        restored_expect(&fake);
        assert_int_equal(machine.setting_count, way == 3 ? 2 : 77); /* untouched on failure */
        ip_lines_fini(&notes);
        fake_fini(&fake);
    }
}

static void calibration_needs(void **state) {
    (void)state;
    static const char *const removed[] = {RAPL "name", FREQ "scaling_max_freq"};
    static const char *const words[] = {
        "PAPI cannot count rapl:::PACKAGE_ENERGY:PACKAGE0 (Event does not exist)", "scaling_max_freq"};
    for (size_t i = 0; i < 2; i++) {
        struct fake fake;
        struct pw_machine machine;
        struct ip_lines notes = {0};
        struct ip_error err = {0};
        char path[PW_PATH_MAX];
        fake_init(&fake);
        assert_true(pw_path(path, sizeof path, fake.root, "%s", removed[i]));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_CAPABILITY);
        assert_non_null(strstr(err.text, words[i]));
        ip_lines_fini(&notes);
        fake_fini(&fake);
    }
}

/* A machine without anything: the first failure, and beside it what else is not there. */
static void calibration_names_all(void **state) {
    (void)state;
    struct fake fake = {.sensor = false};
    struct pw_machine machine = {.setting_count = 7};
    struct ip_lines notes = {0};
    struct ip_error err = {0};
    (void)snprintf(fake.root, sizeof fake.root, "tests/data/power/vm");
    assert_int_equal(sweep(&fake, &machine, &notes, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "no cpufreq"));
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.items[0], "no energy counter"));
    assert_int_equal(machine.setting_count, 7);
    ip_lines_fini(&notes);
}

/* Killed in the middle, by a signal that cannot be caught. */
static void killed_restores(void **state) {
    (void)state;
    struct fake fake;
    fake_init(&fake);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pw_governor governor;
        struct ip_error err;
        (void)close(ends[0]);
        if (pw_governor_hold(&governor, fake.root, 0, &err) != IP_OK ||
            pw_governor_set_khz(&governor, 1200000, &err) != IP_OK) {
            _exit(1);
        }
        (void)raise(SIGKILL);
    }
    /* The guard holds the other end too: end of file comes when it is done. */
    (void)close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 0);
    (void)close(ends[0]);
    restored_expect(&fake);
    fake_fini(&fake);
}

static void frequency_is_held(void **state) {
    (void)state;
    struct fake fake;
    struct pw_governor governor;
    struct ip_error err = {0};
    fake_init(&fake);
    assert_int_equal(pw_governor_hold(&governor, fake.root, 0, &err), IP_OK);
    assert_int_equal(pw_governor_set_khz(&governor, 1200000, &err), IP_OK);
    file_expect(&fake, FREQ "scaling_min_freq", "1200000");
    file_expect(&fake, FREQ "scaling_max_freq", "1200000");
    assert_int_equal(pw_governor_release(&governor, &err), IP_OK);
    restored_expect(&fake);
    /* Upwards the maximum goes first, downwards the minimum: never a minimum above the maximum. */
    char limit[PW_PATH_MAX];
    assert_int_equal(pw_governor_hold(&governor, fake.root, 0, &err), IP_OK);
    assert_true(pw_path(limit, sizeof limit, fake.root, FREQ "scaling_max_freq"));
    assert_int_equal(unlink(limit), 0);
    assert_int_equal(pw_governor_set_khz(&governor, 1200000, &err), IP_CAPABILITY);
    file_expect(&fake, FREQ "scaling_min_freq", "800000");
    file_write(&fake, FREQ "scaling_max_freq", "1600000\n");
    assert_int_equal(pw_governor_release(&governor, &err), IP_OK);
    /* A file that vanished meanwhile is named. */
    char path[PW_PATH_MAX];
    assert_int_equal(pw_governor_hold(&governor, fake.root, 0, &err), IP_OK);
    assert_true(pw_path(path, sizeof path, fake.root, FREQ "scaling_governor"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pw_governor_release(&governor, &err), IP_IO);
    assert_non_null(strstr(err.text, "scaling_governor"));
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_trees),
        cmocka_unit_test(virtual_machine),
        cmocka_unit_test(calibration_fits),
        cmocka_unit_test(calibration_by_papi),
        cmocka_unit_test(powercap_comes_first),
        cmocka_unit_test(papi_answers),
        cmocka_unit_test(calibration_of_recorded_trees),
        cmocka_unit_test(calibration_without_volts),
        cmocka_unit_test(calibration_without_range),
        cmocka_unit_test(calibration_stops),
        cmocka_unit_test(calibration_needs),
        cmocka_unit_test(calibration_names_all),
        cmocka_unit_test(killed_restores),
        cmocka_unit_test(frequency_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
