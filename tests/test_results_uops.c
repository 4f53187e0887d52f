/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of uops.info's own tables: names, architectures, latencies. */
#include "tests/results_samples.h"

#include "results/export.h"
#include "tests/sheet_rows.h"

#define REFERENCE "../shared/reference/golden_cove_sample.csv"

static int row_by_name(const void *left, const void *right) {
    const struct res_row *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Nearly every name of a published table is the name of one of our forms. */
static void test_names_of_uops_info(void **state) {
    (void)state;
    struct res_sheet published = {0}, ours = {0};
    struct ip_error err = {0};
    if (access(REFERENCE, R_OK) != 0) {
        print_message("skipped: no %s\n", REFERENCE);
        skip();
    }
    assert_int_equal(res_sheet_read(&published, REFERENCE, false, &err), IP_OK);
    assert_true(published.count > 1000);
    struct isa_table table = {0};
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    for (size_t i = 0; i < table.count; i++) {
        struct res_row *row = row_made(&ours, table.forms[i].syntax);
        (void)snprintf(row->extension, sizeof row->extension, "%s", table.forms[i].extension);
    }
    isa_table_fini(&table);
    assert_int_equal(res_sheet_derive(&ours, &err), IP_OK);
    qsort(ours.rows, ours.count, sizeof ours.rows[0], row_by_name);
    size_t found = 0;
    for (size_t i = 0; i < published.count; i++) {
        bool known =
            bsearch(&published.rows[i], ours.rows, ours.count, sizeof ours.rows[0], row_by_name) != NULL;
        found += known;
        if (!known && getenv("VERBOSE") != NULL) {
            print_message("no form for %s\n", published.rows[i].name);
        }
    }
    print_message("%zu of %zu names found\n", found, published.count);
    assert_true(found * 100 >= published.count * 98);
    res_sheet_fini(&published);
    res_sheet_fini(&ours);
}

/* A file of uops.info's kind: of several architectures one is read, and nothing is mixed. */
static void test_architectures(void **state) {
    (void)state;
    static const char text[] =
        "<root>\n"
        "<instruction string=\"CMC\"><architecture name=\"NHM\"><measurement TP_loop=\"1.00\"/>\n"
        "</architecture></instruction>\n"
        "<instruction string=\"IMUL (R64, R64)\">\n"
        "<architecture name=\"NHM\"><measurement TP_loop=\"1.00\" ports=\"1*p1\">\n"
        "<latency start_op=\"1\" target_op=\"1\" cycles=\"7\"/></measurement></architecture>\n"
        "<architecture name=\"ZEN4\"><measurement TP_loop=\"5.00\">\n"
        "<latency start_op=\"2\" target_op=\"1\" cycles=\"3\"/></measurement></architecture>\n"
        "</instruction>\n"
        "<instruction string=\"STC\"><architecture name=\"NHM\"><measurement TP_loop=\"1.00\"/>\n"
        "</architecture></instruction>\n"
        "</root>";
    struct ip_error err = {0};
    struct res_sheet sheet = {0};
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u", text, &err), IP_SYNTAX);
    assert_string_equal(err.place, "u:7");
    assert_non_null(strstr(err.text, "--arch NAME': NHM, ZEN4"));
    sheet.architecture = "SKL";
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u", text, &err), IP_USAGE);
    assert_non_null(strstr(err.text, "no architecture 'SKL': --arch takes one of NHM, ZEN4"));
    assert_int_equal(sheet.count, 0);
    sheet.architecture = "zen4";
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u", text, &err), IP_OK);
    assert_int_equal(sheet.count, 1);
    assert_string_equal(sheet.rows[0].name, "IMUL (R64, R64)");
    assert_true(sheet.rows[0].throughput == 5 && sheet.rows[0].pair_count == 1);
    assert_true(sheet.rows[0].latency.high == 3 && sheet.rows[0].ports[0] == '\0');
    sheet.architecture = "NHM";
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u", text, &err), IP_OK);
    assert_int_equal(sheet.count, 3);
    assert_true(sheet.rows[1].throughput == 1 && sheet.rows[1].latency.high == 7);
    /* Of one architecture the name is no matter. */
    sheet.architecture = "SKL";
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u",
                                     "<root><instruction string=\"CMC\"><architecture name=\"NHM\">"
                                     "<measurement TP=\"2\"/></architecture></instruction></root>",
                                     &err),
                     IP_OK);
    assert_int_equal(sheet.count, 1);
    assert_true(sheet.rows[0].throughput == 2);
    res_sheet_fini(&sheet);
}

static const struct res_sheet_pair *pair_at(const struct res_row *row, size_t at, const char *src,
                                            const char *dst, const char *path) {
    assert_true(at < row->pair_count);
    assert_string_equal(row->pairs[at].src, src);
    assert_string_equal(row->pairs[at].dst, dst);
    assert_string_equal(row->pairs[at].path, path);
    return &row->pairs[at];
}

/* uops.info's file, as its writer (cpuBench.py of nanoBench) makes it: a least and a greatest value where the
 * ways to measure do not agree, each a bound or not; suppressed operands by their idx. */
static void test_latencies_of_uops_info(void **state) {
    (void)state;
    static const char text[] =
        "<root>\n"
        "<instruction string=\"DIV (R32)\">\n"
        "<operand idx=\"1\" r=\"1\" type=\"reg\" width=\"32\">EAX,ECX</operand>\n"
        "<operand idx=\"2\" r=\"1\" w=\"1\" suppressed=\"1\" type=\"reg\" width=\"32\">EAX</operand>\n"
        "<operand idx=\"3\" w=\"1\" suppressed=\"1\" type=\"reg\" width=\"8\">\n  AH\n</operand>\n"
        "<operand idx=\"4\" w=\"1\" flag_CF=\"undef\" suppressed=\"1\" type=\"flags\"/>\n"
        "<operand idx=\"5\" w=\"1\" suppressed=\"1\" type=\"mem\"/>\n"
        "<operand idx=\"6\" w=\"1\" suppressed=\"1\" type=\"reg\">MXCSR</operand>\n"
        "<operand idx=\"7\" w=\"1\" suppressed=\"1\" type=\"reg\">K0,K1</operand>\n"
        "<operand idx=\"8\" r=\"1\" implicit=\"1\" type=\"reg\">CL</operand>\n"
        "<architecture name=\"SKL\"><measurement>\n"
        "<latency start_op=\"1\" target_op=\"2\" min_cycles=\"23\" max_cycles=\"26\"/>\n"
        "<latency start_op=\"2\" target_op=\"3\" min_cycles=\"1\" max_cycles=\"7\""
        " max_cycles_is_upper_bound=\"1\"/>\n"
        "<latency start_op=\"3\" target_op=\"4\" min_cycles=\"2\" min_cycles_is_upper_bound=\"1\""
        " max_cycles=\"4\" min_cycles_same_reg=\"0\" max_cycles_same_reg=\"1\"/>\n"
        "<latency start_op=\"5\" target_op=\"6\" min_cycles_addr=\"5\" max_cycles_addr=\"6\""
        " min_cycles_addr_index=\"7\" max_cycles_addr_index=\"8\" max_cycles_addr_index_is_upper_bound=\"1\""
        " min_cycles_mem=\"9\" max_cycles_mem=\"10\"/>\n"
        "<latency start_op=\"5\" target_op=\"7\" cycles_addr=\"11\" cycles_addr_VSIB=\"12\""
        " cycles_addr_VSIB_is_upper_bound=\"1\"/>\n"
        "<latency start_op=\"8\" target_op=\"99\" cycles=\"13\" cycles_is_upper_bound=\"1\"/>\n"
        "</measurement></architecture></instruction>\n"
        "<instruction string=\"NEG (R64)\"><architecture name=\"SKL\">\n"
        "<measurement TP_loop=\"-\" TP_unrolled=\"2.00\" uops_retire_slots=\"\">\n"
        "<latency start_op=\"1\" target_op=\"2\" cycles=\"1\"/>\n"
        "</measurement></architecture></instruction></root>";
    struct ip_error err = {0};
    struct res_sheet sheet = {0};
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_UOPSINFO_XML, "u", text, &err), IP_OK);
    assert_int_equal(sheet.count, 2);
    const struct res_row *row = &sheet.rows[0];
    assert_int_equal(row->pair_count, 9);
    const struct res_sheet_pair *pair = pair_at(row, 0, "op1", "rax", "register");
    assert_true(pair->cycles == 23 && pair->slow_cycles == 26);
    assert_false(pair->upper_bound || pair->slow_upper_bound);
    pair = pair_at(row, 1, "rax", "rax", "register"); /* AH is a part of it */
    assert_true(pair->cycles == 1 && pair->slow_cycles == 7 && isnan(pair->same_register_cycles));
    assert_true(!pair->upper_bound && pair->slow_upper_bound);
    pair = pair_at(row, 2, "rax", "flags", "register");
    assert_true(pair->cycles == 2 && pair->slow_cycles == 4 && pair->same_register_cycles == 0);
    assert_true(pair->upper_bound && !pair->slow_upper_bound);
    pair = pair_at(row, 3, "mem", "other", "address");
    assert_true(pair->cycles == 5 && pair->slow_cycles == 6 && !pair->slow_upper_bound);
    pair = pair_at(row, 4, "mem", "other", "index");
    assert_true(pair->cycles == 7 && pair->slow_cycles == 8 && pair->slow_upper_bound);
    pair = pair_at(row, 5, "mem", "other", "content");
    assert_true(pair->cycles == 9 && pair->slow_cycles == 10);
    pair = pair_at(row, 6, "mem", "op7", "address"); /* one of several registers keeps its number */
    assert_true(pair->cycles == 11 && isnan(pair->slow_cycles) && !pair->upper_bound);
    pair = pair_at(row, 7, "mem", "op7", "index");
    assert_true(pair->cycles == 12 && pair->upper_bound);
    pair = pair_at(row, 8, "op8", "op99", "register"); /* CL is written, and numbered */
    assert_true(pair->cycles == 13 && pair->upper_bound);
    assert_true(row->latency.low == 1 && !row->latency.low_bound);
    assert_true(row->latency.high == 26 && !row->latency.high_bound);
    (void)pair_at(&sheet.rows[1], 0, "op1", "op2", "register"); /* not the operand of the one before */
    assert_true(sheet.rows[1].throughput == 2 && isnan(sheet.rows[1].slots));
    res_sheet_fini(&sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_uops_info),
        cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_latencies_of_uops_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
