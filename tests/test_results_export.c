/* SPDX-License-Identifier: Apache-2.0 */
/* Exports and back: every format over random forms of the whole table, the notations, and bad input. */
#include "tests/results_samples.h"

#include "common/random.h"
#include "isa/decode.h"
#include "results/export.h"
#include "tests/sheet_rows.h"

enum { FORMS = 600 };

/* --- a sheet of random facts ---------------------------------------------------------------------------- */

static double random_cycles(struct ip_random *random) {
    return (double)(ip_random_next(random) % 200000) / 10000;
}

static void random_name(const struct isa_form *form, struct ip_random *random, char name[16]) {
    (void)isa_operand_name(form, (unsigned)(ip_random_next(random) % form->operand_count), name);
}

static void random_ports(struct ip_random *random, char *ports) {
    static const char *const sets[] = {"0", "1", "06", "015", "23A", "49", "78", "0156B", "AB"};
    size_t terms = ip_random_next(random) % 4, used = 0;
    (void)snprintf(ports, RES_PORTS_MAX, "%s", terms == 0 ? "none" : "");
    for (size_t i = 0; i < terms; i++) {
        used += (size_t)snprintf(ports + used, RES_PORTS_MAX - used, "%s%u*p%s", i > 0 ? "+" : "",
                                 1 + (unsigned)(ip_random_next(random) % 9),
                                 sets[ip_random_next(random) % (sizeof sets / sizeof sets[0])]);
    }
}

static void row_fill(struct res_row *row, const struct isa_form *form, struct ip_random *random) {
    (void)snprintf(row->extension, sizeof row->extension, "%s", form->extension);
    (void)snprintf(row->status, sizeof row->status, "ok");
    uint64_t has = ip_random_next(random);
    row->throughput = (has & 1) != 0 ? random_cycles(random) : NAN;
    row->throughput_slow = (has & 64) != 0 ? random_cycles(random) : NAN;
    row->slots = (has & 2) != 0 ? (double)(ip_random_next(random) % 90) / 10 : NAN;
    if ((has & 4) != 0) {
        random_ports(random, row->ports);
    }
    if ((has & 128) != 0) {
        static const char *const units[] = {"div r64", "vsqrtpd xmm, xmm", "rdtsc"};
        strcpy(row->unit, units[ip_random_next(random) % 3]);
        row->unit_cycles = random_cycles(random);
    }
    static const char *const paths[] = {"register", "address", "index", "content"};
    for (uint64_t pairs = form->operand_count > 0 ? (has >> 3) % 4 : 0; pairs > 0; pairs--) {
        struct res_sheet_pair *pair = res_row_pair_add(row);
        assert_non_null(pair);
        random_name(form, random, pair->src);
        random_name(form, random, pair->dst);
        (void)snprintf(pair->path, sizeof pair->path, "%s", paths[ip_random_next(random) % 4]);
        pair->cycles = random_cycles(random);
        pair->upper_bound = ip_random_next(random) % 4 == 0;
        if (ip_random_next(random) % 3 == 0) {
            pair->same_register_cycles = random_cycles(random);
        }
        if (ip_random_next(random) % 3 == 0) {
            pair->slow_cycles = random_cycles(random);
        }
    }
    res_row_range_find(row);
}

static void sheet_make(struct res_sheet *sheet) {
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct ip_random random = {.state = 7};
    memset(sheet, 0, sizeof *sheet);
    (void)snprintf(sheet->machine, sizeof sheet->machine, "Imaginary <\"CPU\" & co>, 48 kB");
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    struct isa_form *forms[FORMS];
    size_t chosen[FORMS];
    for (size_t i = 0; i < FORMS; i++) {
        chosen[i] = i * (table.count / FORMS) + ip_random_next(&random) % (table.count / FORMS);
        forms[i] = &table.forms[chosen[i]];
    }
    assert_int_equal(isa_forms_derive(forms, FORMS, &err), IP_OK);
    for (size_t i = 0; i < FORMS; i++) {
        row_fill(row_made(sheet, forms[i]->syntax), forms[i], &random);
    }
    isa_table_fini(&table);
    assert_int_equal(res_sheet_derive(sheet, &err), IP_OK);
}

static int sheet_open(void **state) {
    struct res_sheet *sheet = calloc(1, sizeof *sheet);
    sheet_make(sheet);
    *state = sheet;
    return 0;
}

static int sheet_close(void **state) {
    res_sheet_fini(*state);
    free(*state);
    return 0;
}

/* --- comparing ------------------------------------------------------------------------------------------ */

static bool same_number(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) < 6e-5;
}

static void assert_same_pairs(const struct res_row *a, const struct res_row *b) {
    assert_int_equal(a->pair_count, b->pair_count);
    for (size_t i = 0; i < a->pair_count; i++) {
        const struct res_sheet_pair *x = &a->pairs[i], *y = &b->pairs[i];
        assert_string_equal(x->src, y->src);
        assert_string_equal(x->dst, y->dst);
        assert_string_equal(x->path, y->path);
        assert_true(same_number(x->cycles, y->cycles));
        assert_true(same_number(x->same_register_cycles, y->same_register_cycles));
        assert_true(same_number(x->slow_cycles, y->slow_cycles));
        assert_int_equal(x->upper_bound, y->upper_bound);
        assert_int_equal(x->slow_upper_bound, y->slow_upper_bound);
    }
}

static void assert_same_range(const struct res_row *a, const struct res_row *b, bool bounds) {
    assert_int_equal(a->latency.known, b->latency.known);
    if (a->latency.known) {
        assert_true(same_number(a->latency.low, b->latency.low));
        assert_true(same_number(a->latency.high, b->latency.high));
    }
    if (a->latency.known && bounds) {
        assert_int_equal(a->latency.low_bound, b->latency.low_bound);
        assert_int_equal(a->latency.high_bound, b->latency.high_bound);
    }
}

/* Ports as a set of terms: some formats do not keep the order of ports in a term. */
static void assert_same_ports(const struct res_row *a, const struct res_row *b) {
    char x[RES_PORTS_MAX] = "", y[RES_PORTS_MAX] = "";
    assert_true(a->ports[0] == '\0' || res_usage_normal(a->ports, UINT32_MAX, x, sizeof x));
    assert_true(b->ports[0] == '\0' || res_usage_normal(b->ports, UINT32_MAX, y, sizeof y));
    assert_string_equal(x, y);
}

static void assert_same_unit(const struct res_row *a, const struct res_row *b) {
    assert_string_equal(a->unit, b->unit);
    assert_true(same_number(a->unit_cycles, b->unit_cycles));
}

/* Writes, reads, writes again: both texts must be the same byte by byte. The caller compares the sheets. */
static void round_trip(struct res_sheet *sheet, struct res_export *export, struct res_sheet *back) {
    struct ip_text first = {0}, second = {0};
    struct ip_error err = {0};
    assert_int_equal(res_export_write(sheet, export, &first, &err), IP_OK);
    memset(back, 0, sizeof *back);
    if (res_export_read(back, export->format, "test", ip_text_string(&first), &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_int_equal(back->count, export->written);
    struct res_export again = *export;
    /* What the format does not hold of the machine is the only thing to carry over. */
    memcpy(back->machine, sheet->machine, sizeof back->machine);
    for (size_t i = 0; i < back->count; i++) {
        const struct res_row *row = res_sheet_find(sheet, back->rows[i].form);
        assert_non_null(row);
        memcpy(back->rows[i].extension, row->extension, sizeof row->extension);
    }
    assert_int_equal(res_export_write(back, &again, &second, &err), IP_OK);
    assert_int_equal(again.written, export->written);
    /* MAQAO's has all forms in its list, those too that the table made of it does not tell apart. */
    assert_int_equal(again.merged, export->format == RES_FORMAT_MAQAO_LUA ? export->merged : 0);
    if (export->format != RES_FORMAT_OSACA) { /* its header sums up all forms, those left out too */
        assert_string_equal(ip_text_string(&first), ip_text_string(&second));
    }
    ip_text_fini(&first);
    ip_text_fini(&second);
}

static void test_csv_json_xml_hold_everything(void **state) {
    struct res_sheet *sheet = *state;
    static const enum res_format formats[] = {RES_FORMAT_CSV, RES_FORMAT_JSON, RES_FORMAT_UOPSINFO_XML};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct res_export export = {.format = formats[f]};
        struct res_sheet back;
        round_trip(sheet, &export, &back);
        assert_int_equal(back.count, sheet->count);
        for (size_t i = 0; i < back.count; i++) {
            const struct res_row *a = res_sheet_find(sheet, back.rows[i].form), *b = &back.rows[i];
            assert_string_equal(a->form, b->form);
            assert_string_equal(a->name, b->name);
            assert_true(same_number(a->throughput_slow, b->throughput_slow));
            assert_true(same_number(a->throughput, b->throughput));
            assert_true(same_number(a->slots, b->slots));
            assert_same_ports(a, b);
            assert_same_pairs(a, b);
            assert_same_range(a, b, true);
            if (formats[f] == RES_FORMAT_UOPSINFO_XML) {
                assert_same_unit(a, b);
            }
        }
        res_sheet_fini(&back);
    }
}

/* A latency that is known as a range only, as from Lua or a table of uops.info: from CSV through each format
 * that has all of a form, and back. */
static void test_ranges_without_pairs(void **state) {
    (void)state;
    static const char text[] =
        "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\r\n"
        "cmc,CMC,BASE,,1,<=6,0.25,2.5,1,1*p06,\r\n"
        "stc,STC,BASE,,<=2,3.25,,,,none,\r\n"
        "clc,CLC,BASE,,,,1,,,,\r\n";
    static const enum res_format formats[] = {RES_FORMAT_CSV, RES_FORMAT_JSON, RES_FORMAT_UOPSINFO_XML};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct res_sheet sheet = {0};
        struct ip_error err = {0};
        struct ip_text between = {0}, back = {0};
        struct res_export export = {.format = formats[f]}, last = {.format = RES_FORMAT_CSV};
        assert_int_equal(res_export_read(&sheet, RES_FORMAT_CSV, "test", text, &err), IP_OK);
        assert_int_equal(res_export_write(&sheet, &export, &between, &err), IP_OK);
        assert_int_equal(res_export_read(&sheet, formats[f], "test", between.data, &err), IP_OK);
        assert_int_equal(res_export_write(&sheet, &last, &back, &err), IP_OK);
        assert_string_equal(ip_text_string(&back), text);
        ip_text_fini(&between);
        ip_text_fini(&back);
        res_sheet_fini(&sheet);
    }
}

static void test_lua_holds_ranges(void **state) {
    struct res_sheet *sheet = *state;
    struct res_export export = {.format = RES_FORMAT_MAQAO_LUA};
    struct res_sheet back;
    round_trip(sheet, &export, &back);
    assert_int_equal(back.count, sheet->count);
    for (size_t i = 0; i < back.count; i++) {
        const struct res_row *a = &sheet->rows[i], *b = &back.rows[i];
        assert_string_equal(a->form, b->form);
        assert_true(same_number(a->throughput, b->throughput));
        assert_true(same_number(a->slots, b->slots));
        assert_same_ports(a, b);
        assert_same_range(a, b, false);
    }
    res_sheet_fini(&back);
    /* The machine's name, which may hold a file's, stays in its comment. */
    struct ip_text text = {0};
    struct ip_error err = {0};
    (void)snprintf(sheet->machine, sizeof sheet->machine, "sim:a\nos.exit()\r");
    assert_int_equal(res_export_write(sheet, &export, &text, &err), IP_OK);
    assert_non_null(strstr(ip_text_string(&text), "\n-- measured on: sim:a os.exit() \n"));
    ip_text_fini(&text);
}

static void test_osaca_holds_one_latency(void **state) {
    struct res_sheet *sheet = *state;
    struct res_export export = {.format = RES_FORMAT_OSACA};
    struct res_sheet back;
    round_trip(sheet, &export, &back);
    assert_int_equal(export.written + export.merged + export.unnamed, sheet->count);
    assert_true(export.written > sheet->count / 2);
    for (size_t i = 0; i < back.count; i++) {
        const struct res_row *a = res_sheet_find(sheet, back.rows[i].form), *b = &back.rows[i];
        assert_true(same_number(a->throughput, b->throughput));
        assert_true(same_number(a->slots, b->slots));
        assert_same_ports(a, b);
        assert_same_unit(a, b);
        assert_int_equal(a->latency.known, b->latency.known);
        const struct isa_operand *first = &a->info->operands[0];
        if (first->kind == ISA_OPERAND_MEM && first->write && !first->read) { /* what is left of the load */
            assert_true(!b->latency.known || (b->latency.low >= 0 && b->latency.high <= 21));
        } else if (b->latency.known) {
            assert_true(b->latency.high <= a->latency.high + 6e-5 &&
                        b->latency.high >= a->latency.low - 6e-5);
        }
    }
    res_sheet_fini(&back);
}

/* --- LLVM ----------------------------------------------------------------------------------------------- */

static void test_exegesis_holds_one_value(void **state) {
    struct res_sheet *sheet = *state;
    if (!llvm_is_here()) {
        skip();
    }
    static const enum res_exegesis kinds[] = {RES_EXEGESIS_LATENCY, RES_EXEGESIS_THROUGHPUT,
                                              RES_EXEGESIS_UOPS};
    for (size_t k = 0; k < 3; k++) {
        struct res_export export = {.format = RES_FORMAT_LLVM_EXEGESIS, .exegesis = kinds[k]};
        struct res_sheet back;
        round_trip(sheet, &export, &back);
        assert_true(export.written > 100);
        for (size_t i = 0; i < back.count; i++) {
            const struct res_row *a = res_sheet_find(sheet, back.rows[i].form), *b = &back.rows[i];
            assert_true(kinds[k] != RES_EXEGESIS_THROUGHPUT || same_number(a->throughput, b->throughput));
            assert_true(kinds[k] != RES_EXEGESIS_UOPS || same_number(a->slots, b->slots));
            assert_true(kinds[k] != RES_EXEGESIS_LATENCY || b->latency.known);
        }
        res_sheet_fini(&back);
    }
}

static void test_schedule_holds_one_form_an_opcode(void **state) {
    struct res_sheet *sheet = *state;
    if (!llvm_is_here()) {
        skip();
    }
    struct res_export export = {.format = RES_FORMAT_LLVM_SCHED_JSON};
    struct res_sheet back;
    round_trip(sheet, &export, &back);
    assert_true(export.written > sheet->count / 2);
    for (size_t i = 0; i < back.count; i++) {
        const struct res_row *a = res_sheet_find(sheet, back.rows[i].form), *b = &back.rows[i];
        assert_true(same_number(a->throughput, b->throughput));
        assert_same_ports(a, b);
        assert_int_equal(a->latency.known, b->latency.known);
        assert_true(!b->latency.known || b->latency.high == floor(b->latency.high));
    }
    res_sheet_fini(&back);
}

static void test_llvm_mc_absent(void **state) {
    struct res_sheet *sheet = *state;
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_LLVM_EXEGESIS};
    assert_int_equal(setenv("ISAPROBE_LLVM_MC", "/nonexistent/llvm-mc", 1), 0);
    assert_int_equal(res_export_write(sheet, &export, &text, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "/nonexistent/llvm-mc"));
    /* A program that is there, and another one. */
    assert_int_equal(setenv("ISAPROBE_LLVM_MC", "true", 1), 0);
    assert_int_equal(res_export_write(sheet, &export, &text, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "does not disassemble"));
    assert_int_equal(unsetenv("ISAPROBE_LLVM_MC"), 0);
}

/* A file without one form is no export. */
static void test_nothing_to_write(void **state) {
    (void)state;
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    (void)row_made(&sheet, "mov cr, r64"); /* OSACA has no word for a control register */
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "none of the 1 forms"));
    assert_null(text.data);
    res_sheet_fini(&sheet);
}

/* --- notations ------------------------------------------------------------------------------------------ */

static void test_names(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"add r64, m64", "ADD (R64, M64)"},
        {"add m8, r8h", "ADD (M8, R8h)"},
        {"lock add m64, r64", "ADD_LOCK (M64, R64)"},
        {"shl r64, cl", "SHL (R64, CL)"},
        {"vaddpd zmm{k}{z}, zmm, zmm, {rn-sae}", "VADDPD_ER_Z (ZMM, K, ZMM, ZMM)"},
        {"{evex} vaddpd xmm, xmm, xmm", "VADDPD_EVEX (XMM, XMM, XMM)"},
        {"vaddpd xmm, xmm, m64{1to2}", "VADDPD (XMM, XMM, M64_1to2)"},
        {"movsd xmm, xmm", "MOVSD_XMM (XMM, XMM)"},
        {"vpgatherdd zmm{k}, vm32z", "VPGATHERDD (ZMM, K, VSIB_ZMM)"},
        {"cmc", "CMC"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct isa_form form;
        struct ip_error err = {0};
        char name[RES_NAME_MAX];
        assert_int_equal(isa_form_parse(&form, names[i][0], &err), IP_OK);
        struct isa_form *one = &form;
        assert_int_equal(isa_forms_derive(&one, 1, &err), IP_OK);
        res_uops_name(&form, name);
        assert_string_equal(name, names[i][1]);
    }
    static const char *const plain[][2] = {
        {"ADD_01 (R64, R64)", "ADD (R64, R64)"},
        {"XOR_R4 (R8l, I8)", "XOR (R8l, I8)"},
        {"MOVSD_XMM_0F10 (XMM, XMM)", "MOVSD_XMM (XMM, XMM)"},
        {"VADDPD_ER_Z (ZMM, K, ZMM, ZMM)", "VADDPD_ER_Z (ZMM, K, ZMM, ZMM)"},
        {"IMUL_IMMB (R16, R16, I8)", "IMUL (R16, R16, I8)"},
        {"CMC", "CMC"},
        {"LEA_B_IS_D8 (R64)", "LEA_B_IS_D8 (R64)"},
        {"VADDPD_EVEX (XMM, XMM, M64_1to2)", "VADDPD (XMM, XMM, M64_1to2)"},
        {"VADDPD_EVEX (XMM, XMM, XMM)", "VADDPD_EVEX (XMM, XMM, XMM)"},
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        char name[RES_NAME_MAX];
        (void)snprintf(name, sizeof name, "%s", plain[i][0]);
        res_uops_name_plain(name);
        assert_string_equal(name, plain[i][1]);
    }
}

static void test_ports(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"1*p01+2*p5", "2*p5+1*p01"},
        {"1*p23A+1*p0156B", "1*p23A+1*p0156B"},
        {"1*p10", "1*p01"},
        {"1*p5+1*p5", "2*p5"},
        {"none", "none"},
        {"0.5*p0+0.5*p1", "0.5*p0+0.5*p1"},
        {"1*FP12+2*FP0+1*p3", "2*p0+1*p3+1*p12"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char normal[RES_PORTS_MAX];
        assert_true(res_usage_normal(same[i][0], UINT32_MAX, normal, sizeof normal));
        assert_string_equal(normal, same[i][1]);
    }
    char normal[RES_PORTS_MAX];
    assert_true(res_usage_normal("1*p89+1*p12+2*p38", 0xf, normal, sizeof normal));
    assert_string_equal(normal, "1*p12+2*p38");
    assert_true(res_usage_normal("1*p89", 0xf, normal, sizeof normal));
    assert_string_equal(normal, "none");
    assert_true(res_usage_is_of_pipes("1*FP0") && !res_usage_is_of_pipes("1*p0"));
    static const char *const bad[] = {"1*01",   "p01",    "1*p",   "1*p01+", "x",      "-1*p0", "1*p0+2",
                                      "1e9*p0", "1*p01 ", "1*F01", "1*FP",   "1*FPX*", "1FP0"};
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(res_usage_parse(bad[i], terms, &count));
    }
}

/* --- bad input ------------------------------------------------------------------------------------------ */

#define DOCUMENT "---\nmode: latency\n  - { value: 1 }\ninfo: 'isaprobe: cmc'\n"
static void test_bad_text(void **state) {
    (void)state;
    static const struct {
        enum res_format format;
        const char *text, *place, *words;
    } cases[] = {
        {RES_FORMAT_CSV, "form,what\n", "bad:1", "header"},
        {RES_FORMAT_CSV,
         "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\na,b\n",
         "bad:2", "11 fields"},
        {RES_FORMAT_CSV,
         "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\nadd,,,"
         "ok,,,x,,,,\n",
         "bad:2", "no number"},
        {RES_FORMAT_CSV,
         "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\nadd,,,"
         "ok,,,,,,,op1=3\n",
         "bad:2", "no list of latencies"},
        {RES_FORMAT_CSV,
         "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\nadd,,,"
         "ok,,,,,,1*q,\n",
         "bad:2", "no port usage"},
        {RES_FORMAT_JSON, "{\"form\": \"cmc\"}\n{\"form\": ", "bad:2", "ends in the middle"},
        {RES_FORMAT_JSON, "{\"name\": \"x\"}\n", "bad:1", "without \"form\""},
        {RES_FORMAT_JSON, "{\"form\": \"x\" \"y\"}\n", "bad:1", "comma"},
        {RES_FORMAT_JSON, "{\"form\": \"x\n", "bad:1", "does not end"},
        {RES_FORMAT_JSON, "{\"form\": \"x\", \"latency\": [{\"src\": \"op1\"}]}", "bad:1", "lacks"},
        {RES_FORMAT_JSON, "{\"form\": \"x\",\n\"latency_max\": {\"cycles\": 3}}", "bad:2", "latency_min or"},
        {RES_FORMAT_UOPSINFO_XML, "<root>\n<instruction>\n</root>", "bad:2", "string="},
        {RES_FORMAT_UOPSINFO_XML, "<root>\n<instruction string=\"x\"/>", "bad:2", "without </root>"},
        {RES_FORMAT_UOPSINFO_XML,
         "<root><instruction string=\"x\">\n<measurement TP_loop=\"1,00\"/>\n</instruction></root>", "bad:2",
         "'1,00' is no number"},
        {RES_FORMAT_UOPSINFO_XML,
         "<root><instruction string=\"x\">\n<measurement slots=\"1 \"/>\n</instruction></root>", "bad:2",
         "'1 ' is no number"},
        {RES_FORMAT_UOPSINFO_XML,
         "<root><instruction string=\"x\"><measurement>\n"
         "<latency start_op=\"1\" target_op=\"1\" cycles=\"3x\"/>\n</measurement></instruction></root>",
         "bad:2", "'3x' is no number"},
        {RES_FORMAT_UOPSINFO_XML,
         "<root><instruction string=\"x\"><measurement>\n"
         "<latency start_op=\"1\" target_op=\"1\" min_cycles=\"3\" max_cycles=\"inf\"/>\n</measurement>"
         "</instruction></root>",
         "bad:2", "'inf' is no number"},
        {RES_FORMAT_UOPSINFO_XML, "<root a=1></root>", "bad:1", "=\"value\""},
        {RES_FORMAT_UOPSINFO_XML, "<root a=\"1", "bad:1", "no end"},
        {RES_FORMAT_OSACA, "isa: x86\n", "bad:1", "no instruction_forms"},
        {RES_FORMAT_OSACA, "isa: x86\ninstruction_forms:\n- name: add\n", "bad:3", "one form a line"},
        {RES_FORMAT_LLVM_EXEGESIS, "mode: latency\n", "bad:1", "---"},
        {RES_FORMAT_LLVM_EXEGESIS, "---\nmode: speed\n", "bad:2", "unknown mode"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT "...\nmode: latency\n", "bad:6", "---"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT "---\nmode: latency\n", "bad:5", "does not end"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT, "bad:4", "in the middle"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT "...\n---\nmode: latency\n  - { value: 1", "bad:8",
         "in the middle"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT "...\n---\n  - { value: 1 }\n", "bad:7", "without value or mode"},
        {RES_FORMAT_LLVM_EXEGESIS, DOCUMENT "...\n---\ninfo: 'isaprobe: cmc'\n...\n", "bad:8",
         "without measurement"},
        {RES_FORMAT_LLVM_EXEGESIS, "---\nmode: uops\n  - { value: 1 }\n...\n", "bad:4", "without info"},
        {RES_FORMAT_LLVM_SCHED_JSON, "{\n\"A\": {\"Port\": 3}\n}", "bad:2", "expected"},
        {RES_FORMAT_LLVM_SCHED_JSON, "{\n\"A\": {\"Port\": [[0, [1]]], \"isaprobe\": \"x\"}\n}", "bad:2",
         "expected"},
        {RES_FORMAT_MAQAO_LUA, "x = 1\n", "bad:1", "isaprobe_forms"},
        {RES_FORMAT_MAQAO_LUA, "isaprobe_forms = {\n{rcpt = 1},\n", "bad:3", "ends in the middle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_sheet sheet = {0};
        struct ip_error err = {0};
        assert_int_equal(res_export_read(&sheet, cases[i].format, "bad", cases[i].text, &err), IP_SYNTAX);
        if (strcmp(err.place, cases[i].place) != 0 || strstr(err.text, cases[i].words) == NULL) {
            fail_msg("case %zu: expected %s ... %s, got %s: %s", i, cases[i].place, cases[i].words, err.place,
                     err.text);
        }
        assert_int_equal(sheet.count, 0);
    }
}

/* Lists within lists without end must not exhaust the stack. */
/* Fields that fill the buffer of a line to the last byte, and empty ones behind them. */
static void test_long_fields(void **state) {
    (void)state;
    enum { BUFFER = 1 << 15 };
    char *text = malloc(BUFFER + 1000);
    assert_non_null(text);
    for (size_t length = BUFFER - 16; length < BUFFER + 2; length++) {
        int at =
            sprintf(text, "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,"
                          "ports,latency\n");
        memset(text + at, 'a', length);
        memset(text + at + length, ',', 10);
        memcpy(text + at + length + 10, "\n", 2);
        struct res_sheet sheet = {0};
        struct ip_error err = {0};
        assert_int_equal(res_export_read(&sheet, RES_FORMAT_CSV, "test", text, &err), IP_SYNTAX);
        res_sheet_fini(&sheet);
    }
    free(text);
}

static void test_deep_nesting(void **state) {
    (void)state;
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    char text[4096] = "{\"form\": ";
    memset(text + strlen(text), '[', sizeof text - strlen(text) - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(res_export_read(&sheet, RES_FORMAT_JSON, "deep", text, &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, "too deep"));
}

/* Takes the attribute ` name="..."` out of a text, wherever it stands. */
static void attribute_drop(struct ip_text *text, const char *name) {
    char begin[32];
    (void)snprintf(begin, sizeof begin, " %s=\"", name);
    char *to = text->data;
    for (const char *at = text->data; *at != '\0';) {
        if (*at == ' ' && strncmp(at, begin, strlen(begin)) == 0) {
            at = strchr(at + strlen(begin), '"') + 1;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* Without our own attributes the ends of latencies have the names that isaprobe gives, of the operands. */
static void test_suppressed_names(void **state) {
    struct res_sheet *sheet = *state, back = {0};
    struct res_export export = {.format = RES_FORMAT_UOPSINFO_XML};
    struct ip_text text = {0};
    struct ip_error err = {0};
    size_t named = 0;
    assert_int_equal(res_export_write(sheet, &export, &text, &err), IP_OK);
    attribute_drop(&text, "src");
    attribute_drop(&text, "dst");
    assert_int_equal(res_export_read(&back, RES_FORMAT_UOPSINFO_XML, "u", text.data, &err), IP_OK);
    for (size_t i = 0; i < back.count; i++) {
        const struct res_row *a = res_sheet_find(sheet, back.rows[i].form), *b = &back.rows[i];
        assert_int_equal(a->pair_count, b->pair_count);
        for (size_t p = 0; p < a->pair_count; p++) {
            if (strcmp(a->pairs[p].src, "k+1") != 0) {
                assert_string_equal(a->pairs[p].src, b->pairs[p].src);
            }
            if (strcmp(a->pairs[p].dst, "k+1") != 0) {
                assert_string_equal(a->pairs[p].dst, b->pairs[p].dst);
            }
            named += strncmp(a->pairs[p].dst, "op", 2) != 0;
        }
    }
    assert_true(named > 20);
    ip_text_fini(&text);
    res_sheet_fini(&back);
}

/* A greatest latency that is a bound, of a least one that is not, goes through the formats that have all. */
static void test_slow_bounds(void **state) {
    (void)state;
    static const enum res_format formats[] = {RES_FORMAT_CSV, RES_FORMAT_JSON};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct res_sheet sheet = {0}, back;
        struct res_export export = {.format = formats[f]};
        struct res_sheet_pair *pair = res_row_pair_add(row_made(&sheet, "cmc"));
        assert_non_null(pair);
        strcpy(pair->src, "flags");
        strcpy(pair->dst, "flags");
        strcpy(pair->path, "register");
        pair->cycles = 1;
        pair->slow_cycles = 7;
        pair->slow_upper_bound = true;
        res_row_range_find(&sheet.rows[0]);
        assert_true(!sheet.rows[0].latency.low_bound && sheet.rows[0].latency.high_bound);
        round_trip(&sheet, &export, &back);
        assert_same_pairs(&sheet.rows[0], &back.rows[0]);
        assert_same_range(&sheet.rows[0], &back.rows[0], true);
        res_sheet_fini(&back);
        res_sheet_fini(&sheet);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_json_xml_hold_everything),
        cmocka_unit_test(test_slow_bounds),
        cmocka_unit_test(test_suppressed_names),
        cmocka_unit_test(test_nothing_to_write),
        cmocka_unit_test(test_ranges_without_pairs),
        cmocka_unit_test(test_lua_holds_ranges),
        cmocka_unit_test(test_osaca_holds_one_latency),
        cmocka_unit_test(test_exegesis_holds_one_value),
        cmocka_unit_test(test_schedule_holds_one_form_an_opcode),
        cmocka_unit_test(test_llvm_mc_absent),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_long_fields),
        cmocka_unit_test(test_deep_nesting),
    };
    return cmocka_run_group_tests(tests, sheet_open, sheet_close);
}
