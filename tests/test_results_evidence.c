/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel behind a number, and the machine behind a store. */
#include "tests/results_samples.h"

#include "tests/near.h"

/* Every kernel takes one cycle; NULL is a fault. */
static enum ip_status scripted(void *self, const struct gen_kernel *const *kernels, size_t count,
                               struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    *(size_t *)self += count;
    for (size_t i = 0; i < count; i++) {
        stats[i] = sample_stat(1.0);
        if (kernels[i] == NULL) {
            stats[i] = (struct hx_stat){.verdict = HX_VERDICT_FAULT};
        }
    }
    return IP_OK;
}

/* Head `90 90`, unit `unit` twice (four times in the longer one), tail `c3`. */
static struct gen_kernel kernel_make(const char *unit) {
    struct gen_kernel kernel = {.forms_per_unit = 1, .unit_instructions = 1, .unit_bytes = strlen(unit)};
    size_t bytes = strlen(unit);
    struct gen_code *codes[] = {&kernel.shorter, &kernel.longer};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t copies = 2u << i;
        codes[i]->bytes = calloc(1, 3 + copies * bytes);
        codes[i]->copies = copies;
        codes[i]->loop_offset = 2;
        memset(codes[i]->bytes, 0x90, 2);
        for (uint32_t j = 0; j < copies; j++) {
            memcpy(codes[i]->bytes + 2 + j * bytes, unit, bytes);
        }
        codes[i]->length = 3 + copies * bytes;
        codes[i]->bytes[codes[i]->length - 1] = 0xc3;
    }
    return kernel;
}

static void test_log(void **state) {
    struct place *place = *state;
    size_t measured = 0;
    static const char filler[] = "mov r14, r14";
    struct res_log log = {.inner = {.measure = scripted, .self = &measured, .filler = filler}};
    struct hx_meter meter = res_log_meter(&log);
    assert_ptr_equal(meter.filler, filler); /* else a scan's slots are those among NOPs */
    struct gen_kernel kernels[4] = {kernel_make("\x48\x01\xc0"), kernel_make("\x48\x01\xc1"),
                                    kernel_make("\x48\x01\xc0"), kernel_make("\x48\x01\xc0")};
    kernels[3].memory_fill[5] = 7; /* the same code on other values is another kernel */
    const struct gen_kernel *pointers[] = {&kernels[0], &kernels[1], NULL, &kernels[2], &kernels[3]};
    struct hx_stat stats[5];
    struct ip_error err = {0};
    must(hx_measure(&meter, pointers, 5, stats, &err), &err);
    assert_int_equal(measured, 5);
    assert_true(stats[0].kernel_hash != 0);
    assert_true(stats[0].kernel_hash != stats[1].kernel_hash);
    assert_true(stats[2].kernel_hash == 0);
    assert_true(stats[0].kernel_hash == stats[3].kernel_hash);
    assert_true(stats[0].kernel_hash != stats[4].kernel_hash);
    assert_int_equal(log.count, 3);
    const struct res_kernel *kernel = res_log_find(&log, stats[1].kernel_hash);
    assert_non_null(kernel);
    assert_int_equal(kernel->head_bytes, 2);
    assert_int_equal(kernel->unit_bytes, 3);
    assert_int_equal(kernel->copies, 2);
    assert_memory_equal(kernel->bytes + kernel->head_bytes, "\x48\x01\xc1", 3);
    assert_null(res_log_find(&log, 12345));

    /* Into the store and out again. */
    struct res_store *store = sample_store_open(place->path, true);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 0);
    sample.throughput.stat = stats[1];
    enum res_status found = RES_STATUS_FAULT;
    must(res_form_put(store, &facts, &log, &found, &err), &err);
    struct res_form form = {0};
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    const struct res_evidence *evidence = &form.throughput.evidence;
    assert_true(evidence->kernel == stats[1].kernel_hash);
    assert_int_equal(evidence->unit_bytes, 3);
    assert_memory_equal(evidence->unit, "\x48\x01\xc1", 3);
    assert_int_equal(evidence->copies, 2);
    assert_int_equal(evidence->forms_per_unit, 1);
    res_form_fini(&form);

    /* What was replaced leaves no kernel behind when the run has ended. */
    sample.throughput.stat = stats[4];
    must(res_form_put(store, &facts, &log, &found, &err), &err);
    must(res_run_end(store, "finished", 2, &err), &err);
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    assert_true(form.throughput.evidence.kernel == stats[4].kernel_hash);
    assert_int_equal(form.throughput.evidence.unit_bytes, 3);
    res_form_fini(&form);
    res_store_close(store);
    assert_near(number(place->path, "SELECT count(*) FROM kernels"), 1.0, 0.0);
    assert_near(number(place->path, "SELECT count(*) FROM preparations WHERE memory_fill <> zeroblob(64)"),
                1.0, 0.0);
    assert_near(number(place->path, "SELECT count(*) FROM preparations"), 1.0, 0.0);

    res_log_clear(&log);
    assert_null(res_log_find(&log, stats[0].kernel_hash));
    res_log_fini(&log);
    for (size_t i = 0; i < 4; i++) {
        gen_kernel_fini(&kernels[i]);
    }
}

/* More kernels than the log begins with. */
static void test_log_grows(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    size_t measured = 0;
    static const char filler[] = "mov r14, r14";
    struct res_log log = {.inner = {.measure = scripted, .self = &measured, .filler = filler}};
    struct hx_meter meter = res_log_meter(&log);
    assert_ptr_equal(meter.filler, filler); /* else a scan's slots are those among NOPs */
    struct gen_kernel kernel = kernel_make("\x48\x01\xc0");
    const struct gen_kernel *pointer = &kernel;
    uint64_t *hashes = calloc(COUNT, sizeof *hashes);
    struct ip_error err = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        struct hx_stat stat;
        kernel.forms_per_unit = i + 1;
        must(hx_measure(&meter, &pointer, 1, &stat, &err), &err);
        hashes[i] = stat.kernel_hash;
    }
    assert_int_equal(log.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct res_kernel *found = res_log_find(&log, hashes[i]);
        assert_non_null(found);
        assert_int_equal(found->forms_per_unit, i + 1);
    }
    free(hashes);
    res_log_fini(&log);
    gen_kernel_fini(&kernel);
}

static void test_machine(void **state) {
    (void)state;
    struct hx_host host = {.vendor = "GenuineIntel",
                           .brand = "Intel(R) Xeon(R) @ 2.60GHz",
                           .family = 6,
                           .model = 167,
                           .stepping = 1,
                           .l1d_bytes = 48 << 10,
                           .avx = true};
    struct res_machine machine = {0};
    struct ip_error err = {0};
    must(res_machine_of_host(&machine, &host, &err), &err);
    assert_string_equal(machine.identity,
                        "GenuineIntel family 6 model 167 stepping 1, Intel(R) Xeon(R) @ 2.60GHz, L1d "
                        "48 KiB, AVX");
    assert_string_equal(machine.slug, "genuineintel-6-167-1-intel-r-xeon-r-2-60ghz");
    /* The same model with another cache is another CPU. */
    struct res_machine other = {0};
    host.l1d_bytes = 32 << 10;
    must(res_machine_of_host(&other, &host, &err), &err);
    assert_string_not_equal(machine.identity, other.identity);
    /* And so is another kind of core, which has another store. */
    host.l1d_bytes = 48 << 10;
    (void)strcpy(host.core_kind, "efficiency");
    res_machine_fini(&other);
    must(res_machine_of_host(&other, &host, &err), &err);
    assert_string_equal(other.identity,
                        "GenuineIntel family 6 model 167 stepping 1, Intel(R) Xeon(R) @ 2.60GHz, efficiency "
                        "core, L1d 48 KiB, AVX");
    assert_string_equal(other.slug, "genuineintel-6-167-1-intel-r-xeon-r-2-60ghz-efficiency");

    struct ip_text path = {0};
    must(res_default_path(&path, &machine, "/data", "/home/me", &err), &err);
    assert_string_equal(ip_text_string(&path),
                        "/data/isaprobe/genuineintel-6-167-1-intel-r-xeon-r-2-60ghz.db");
    must(res_default_path(&path, &machine, "relative", "/home/me", &err), &err);
    assert_string_equal(ip_text_string(&path),
                        "/home/me/.local/share/isaprobe/genuineintel-6-167-1-intel-r-xeon-r-2-60ghz.db");
    must(res_default_path(&path, &machine, NULL, "/home/me", &err), &err);
    assert_int_equal(res_default_path(&path, &machine, "", NULL, &err), IP_USAGE);
    ip_text_fini(&path);
    res_machine_fini(&machine);
    res_machine_fini(&other);
}

static void file_write(const char *path, const char *mode, const char *text) {
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A simulated CPU is what its description says: the content counts, not the directory. */
static void test_machine_of_file(void **state) {
    struct place *place = *state;
    struct res_machine first = {0}, second = {0};
    struct ip_error err = {0};
    file_write(place->path, "w", "isaprobe-sim 1\nports p0 p1\n");
    must(res_machine_of_file(&first, "sim", place->path, &err), &err);
    assert_string_equal(first.kind, "sim");
    assert_string_equal(first.slug, "sim-cpu-db");
    file_write(place->path, "a", "seed 1\n");
    must(res_machine_of_file(&second, "sim", place->path, &err), &err);
    assert_string_not_equal(first.identity, second.identity);
    assert_int_equal(unlink(place->path), 0);
    assert_int_equal(res_machine_of_file(&second, "sim", place->path, &err), IP_IO);
}

/* The tables that it imports are what it says, too. */
static void test_machine_of_imports(void **state) {
    struct place *place = *state;
    struct res_machine machines[3]; /* without features: nothing to finish */
    struct ip_error err = {0};
    static const char *const tables[] = {"instruction,latency,ports\nIMUL (R64; R64),3,1*p1\n",
                                         "instruction,latency,ports\nIMUL (R64; R64),9,1*p1\n",
                                         "instruction,latency,ports\nIMUL (R64; R64),3,1*p1\n"};
    char table[128];
    (void)snprintf(table, sizeof table, "%s/table.csv", place->directory);
    file_write(place->path, "w", "isaprobe-sim 1\nports p0 p1\nports-csv \"table.csv\"\n");
    for (size_t i = 0; i < 3; i++) {
        file_write(table, "w", tables[i]);
        must(res_machine_of_file(&machines[i], "sim", place->path, &err), &err);
    }
    assert_string_not_equal(machines[0].identity, machines[1].identity);
    assert_string_equal(machines[0].identity, machines[2].identity);
    assert_int_equal(unlink(table), 0);
    assert_int_equal(res_machine_of_file(&machines[0], "sim", place->path, &err), IP_IO);
    assert_non_null(strstr(err.text, "table.csv"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_log), cmocka_unit_test(test_log_grows),
                                       cmocka_unit_test(test_machine), TEST(test_machine_of_file),
                                       TEST(test_machine_of_imports)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
