/* SPDX-License-Identifier: Apache-2.0 */
/* The public header, as a program outside the project uses it. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/isaprobe.h"

static const char rows[] =
    "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\n"
    "\"add r64, m64\",\"ADD (R64, M64)\",BASE,ok,1,<=6,0.5,,1,1*p06+1*p23,op1->op1=1;op2:address->op1<=6\n"
    "cmc,CMC,BASE,unstable,,,,,,,\n"
    "\"imul r64, r64\",\"IMUL (R64, R64)\",BASE,ok,3,3,1,,1,1*p1,\n";

/* A table of a file with this text; NULL: there is none. */
static struct isaprobe_table *table_of(const char *text) {
    char path[] = "/tmp/isaprobe-api-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        return NULL;
    }
    (void)close(fd);
    struct isaprobe_table *table = NULL;
    struct isaprobe_error error;
    enum isaprobe_status status = isaprobe_table_open(&table, path, &error);
    (void)unlink(path);
    return status == ISAPROBE_OK ? table : NULL;
}

static int table_open(void **state) {
    *state = table_of(rows);
    return *state != NULL ? 0 : -1;
}

static int table_close(void **state) {
    isaprobe_table_close(*state);
    return 0;
}

static void test_forms(void **state) {
    const struct isaprobe_table *table = *state;
    struct isaprobe_form form;
    struct isaprobe_latency latency;
    assert_int_equal(isaprobe_table_size(table), 3);
    assert_false(isaprobe_table_form(table, 3, &form));
    assert_true(isaprobe_table_form(table, 1, &form));
    assert_string_equal(form.syntax, "cmc");
    assert_string_equal(form.status, "unstable");
    assert_true(isnan(form.throughput) && isnan(form.slots) && isnan(form.latency_min) &&
                isnan(form.ports_cycles));
    assert_false(isaprobe_table_find(table, "add r64, r64", &form));
    assert_true(isaprobe_table_find(table, "add r64, m64", &form));
    assert_string_equal(form.name, "ADD (R64, M64)");
    assert_true(form.throughput == 0.5 && form.slots == 1 && form.ports_cycles == 0.5);
    assert_true(form.latency_min == 1 && form.latency_max == 6);
    assert_int_equal(form.latency_count, 2);
    assert_true(isaprobe_form_latency(&form, 1, &latency));
    assert_string_equal(latency.src, "op2");
    assert_string_equal(latency.dst, "op1");
    assert_string_equal(latency.path, "address");
    assert_true(latency.cycles == 6 && latency.upper_bound);
    assert_false(isaprobe_form_latency(&form, 2, &latency));
}

static void test_code(void **state) {
    const struct isaprobe_table *table = *state;
    static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc3, 0xf5}; /* imul rax, rbx; cmc */
    char syntax[ISAPROBE_SYNTAX_MAX];
    struct isaprobe_error error;
    struct isaprobe_form form;
    size_t length = 0;
    assert_int_equal(isaprobe_code_form(code, sizeof code, syntax, &length, &error), ISAPROBE_OK);
    assert_int_equal(length, 4);
    assert_true(isaprobe_table_find(table, syntax, &form));
    assert_string_equal(form.ports, "1*p1");
    assert_int_equal(isaprobe_code_form(code, 3, syntax, &length, &error), ISAPROBE_SYNTAX);
    assert_true(strlen(error.text) > 10);
    assert_int_equal(length, 4); /* untouched */
}

static void test_ports(void **state) {
    (void)state;
    static const char *const usages[] = {"1*p01", "1*p01", "1*p0+1*p5", "none"};
    assert_true(isaprobe_ports_cycles(usages, 4) == 1.5);
    assert_true(isaprobe_ports_cycles(usages, 0) == 0);
    static const char *const unknown[] = {"1*p01", ""};
    assert_true(isnan(isaprobe_ports_cycles(unknown, 2)));
}

static void test_export(void **state) {
    const struct isaprobe_table *table = *state;
    struct isaprobe_error error;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(isaprobe_table_export(table, "uopsinfo-xml", "SKL", &text, &length, &error),
                     ISAPROBE_OK);
    assert_int_equal(strlen(text), length);
    assert_non_null(strstr(text, "<architecture name=\"SKL\">"));
    assert_non_null(strstr(text, "string=\"ADD (R64, M64)\""));
    free(text);
    assert_int_equal(isaprobe_table_export(table, "excel", NULL, &text, &length, &error), ISAPROBE_USAGE);
    assert_non_null(strstr(error.text, "maqao-lua"));
    /* The CPU's name stands unquoted in YAML. */
    static const char *const names[] = {"", "x: y", "x\ny", "\"", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        text = NULL;
        assert_int_equal(isaprobe_table_export(table, "uopsinfo-xml", names[i], &text, &length, &error),
                         ISAPROBE_USAGE);
        assert_non_null(strstr(error.text, "name of the CPU"));
        assert_null(text);
    }
}

/* A program that ignores SIGCHLD never hears how NASM ended, and is told so. */
/* What a file says of the CPU itself, the next export says, too. */
static void test_machine(void **state) {
    (void)state;
    struct isaprobe_table *table = table_of(
        "osaca_version: 0.5.0\nmicro_architecture: \"A CPU\"\nROB_size: 445\nscheduler_size: ~\n"
        "instruction_forms:\n- {name: cmc, operands: [], port_pressure: [[1, [\"0\"]]], isaprobe: cmc}\n");
    struct isaprobe_error error;
    char *text = NULL;
    size_t length = 0;
    assert_non_null(table);
    assert_string_equal(isaprobe_table_machine(table), "A CPU");
    assert_int_equal(isaprobe_table_export(table, "osaca", NULL, &text, &length, &error), ISAPROBE_OK);
    assert_non_null(strstr(text, "\nmicro_architecture: \"A CPU\"\n"));
    assert_non_null(strstr(text, "\nROB_size: 445\n"));
    assert_non_null(strstr(text, "\nscheduler_size: ~\n"));
    free(text);
    isaprobe_table_close(table);
}

static void test_export_without_sigchld(void **state) {
    const struct isaprobe_table *table = *state;
    struct isaprobe_error error;
    char *text = NULL;
    size_t length = 0;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    enum isaprobe_status status = isaprobe_table_export(table, "uopsinfo-xml", NULL, &text, &length, &error);
    (void)signal(SIGCHLD, before);
    assert_int_equal(status, ISAPROBE_CAPABILITY);
    assert_non_null(strstr(error.text, "NASM"));
    assert_non_null(strstr(error.text, "SIGCHLD"));
    assert_null(text);
}

/* Sets a locale whose numbers have a comma; made here, for a bare system has none. False: it cannot be made.
 */
static bool comma_locale_set(const char *directory) {
    char command[256];
    (void)snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                   directory);
    const bool made = system(command) == 0; /* NOLINT(cert-env33-c): a program of glibc's own */
    return made && setenv("LOCPATH", directory, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL &&
           strcmp(localeconv()->decimal_point, ",") == 0;
}

/* In a program whose numbers have a comma. */
static void test_locale(void **state) {
    char directory[] = "/tmp/isaprobe-locale-XXXXXX", command[64];
    assert_non_null(mkdtemp(directory));
    const bool has = comma_locale_set(directory);
    if (has) {
        void *table = NULL;
        struct isaprobe_form form;
        struct isaprobe_error error;
        char *text = NULL, half[8];
        size_t length = 0;
        static const char *const usages[] = {"1.5*p01"};
        assert_int_equal(table_open(&table), 0);
        assert_true(isaprobe_table_find(table, "add r64, m64", &form));
        assert_true(form.throughput == 0.5 && form.ports_cycles == 0.5);
        assert_true(isaprobe_ports_cycles(usages, 1) == 0.75);
        assert_int_equal(isaprobe_table_export(table, "csv", NULL, &text, &length, &error), ISAPROBE_OK);
        assert_non_null(strstr(text, ",0.5,"));
        (void)snprintf(half, sizeof half, "%.1f", 0.5);
        assert_string_equal(half, "0,5"); /* the program's own numbers are as they were */
        free(text);
        assert_int_equal(table_close(&table), 0);
        (void)setlocale(LC_ALL, "C");
    }
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
    if (!has) {
        print_message("skipped: localedef makes no locale with a decimal comma here (package locales)\n");
        skip();
    }
    (void)state;
}

/* The model wants a store, and says so; what it predicts is tested in test_oncore.c and by tests/install.sh.
 */
static void test_model_errors(void **state) {
    (void)state;
    struct isaprobe_model *model = NULL;
    struct isaprobe_error error;
    assert_int_equal(isaprobe_model_open(&model, "/nonexistent/store.db", &error), ISAPROBE_FAILED);
    assert_non_null(strstr(error.text, "/nonexistent/store.db"));
    assert_null(model);
    isaprobe_model_close(NULL);
}

static void test_errors(void **state) {
    (void)state;
    struct isaprobe_table *table = NULL;
    struct isaprobe_error error;
    assert_int_equal(isaprobe_table_open(&table, "/nonexistent/store.db", &error), ISAPROBE_IO);
    assert_non_null(strstr(error.text, "/nonexistent/store.db"));
    assert_null(table);
    assert_int_equal(isaprobe_table_open(&table, "/dev/null", &error), ISAPROBE_SYNTAX);
    assert_int_equal(isaprobe_table_open(&table, "-", &error), ISAPROBE_IO);
    assert_non_null(strstr(error.text, "No such file"));
    isaprobe_table_close(NULL);
    assert_true(isaprobe_version()[0] != '\0');
}

static void test_architectures(void **state) {
    (void)state;
    static const char text[] =
        "<root><instruction string=\"CMC\">\n"
        "<architecture name=\"NHM\"><measurement TP_loop=\"1.00\"/></architecture>\n"
        "<architecture name=\"SKL\"><measurement TP_loop=\"2.00\"/></architecture></instruction></root>";
    char path[] = "/tmp/isaprobe-api-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    (void)close(fd);
    struct isaprobe_table *table = NULL;
    struct isaprobe_error error;
    struct isaprobe_form form;
    assert_int_equal(isaprobe_table_open(&table, path, &error), ISAPROBE_SYNTAX);
    assert_non_null(strstr(error.text, "NHM, SKL"));
    assert_int_equal(isaprobe_table_open_architecture(&table, path, "ZEN4", &error), ISAPROBE_USAGE);
    assert_non_null(strstr(error.text, "NHM, SKL"));
    assert_null(table);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(isaprobe_table_open_architecture(&table, path, i == 0 ? "nhm" : "SKL", &error),
                         ISAPROBE_OK);
        assert_int_equal(isaprobe_table_size(table), 1);
        assert_true(isaprobe_table_form(table, 0, &form));
        assert_true(form.throughput == 1.0 + i);
        isaprobe_table_close(table);
        table = NULL;
    }
    (void)unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, table_open, table_close),
        cmocka_unit_test_setup_teardown(test_code, table_open, table_close),
        cmocka_unit_test_setup_teardown(test_export, table_open, table_close),
        cmocka_unit_test(test_machine),
        cmocka_unit_test_setup_teardown(test_export_without_sigchld, table_open, table_close),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_model_errors),
        cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
