/* SPDX-License-Identifier: Apache-2.0 */
/* Exports as the tools want them: names, whole numbers, and which forms they do not tell apart. */
#include "tests/results_samples.h"

#include "results/export.h"
#include "tests/sheet_rows.h"

/* Some names that do not change from one LLVM to the next. */
static void test_llvm_names(void **state) {
    (void)state;
    if (!llvm_is_here()) {
        skip();
    }
    static const char *const forms[][2] = {
        {"add r64, r64", "'ADD64rr RBX RBX R"},
        {"imul r32, r32, imm32", "'IMUL32rri E"},
        {"vaddpd ymm, ymm, ymm", "'VADDPDYrr YMM1 YMM2 YMM3'"},
        {"lock add m64, r64", "'LOCK_PREFIX'"},
    };
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        row_made(&sheet, forms[i][0])->throughput = 1;
    }
    struct res_export export = {.format = RES_FORMAT_LLVM_EXEGESIS, .exegesis = RES_EXEGESIS_THROUGHPUT};
    struct ip_text text = {0};
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_int_equal(export.written, sizeof forms / sizeof forms[0]);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strstr(ip_text_string(&text), forms[i][1]) == NULL) {
            fail_msg("%s is not in\n%s", forms[i][1], ip_text_string(&text));
        }
    }
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* uiCA and OSACA read whole numbers of µops: others stand elsewhere, and come back. */
static void test_fractional_ports(void **state) {
    (void)state;
    struct res_sheet sheet = {0}, back = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_UOPSINFO_XML};
    struct res_row *row = row_made(&sheet, "add r64, r64");
    strcpy(row->ports, "1.5*p01");
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_null(strstr(text.data, " ports="));
    assert_non_null(strstr(text.data, " usage=\"1.5*p01\""));
    assert_non_null(strstr(text.data, "ADD_GPRv_GPRv_03")); /* the other encoding, which is not read again */
    assert_int_equal(res_export_read(&back, RES_FORMAT_UOPSINFO_XML, "x", text.data, &err), IP_OK);
    assert_int_equal(back.count, 1);
    assert_string_equal(back.rows[0].ports, "1.5*p01");
    ip_text_fini(&text);
    res_sheet_fini(&back);
    res_sheet_fini(&sheet);
}

/* Readers of XML want whole numbers: a half that noise made less is one (probe_latency_whole). */
static void test_whole_latencies(void **state) {
    (void)state;
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_UOPSINFO_XML};
    struct res_row *row = row_made(&sheet, "add r64, r64");
    struct res_sheet_pair *pair = res_row_pair_add(row);
    assert_non_null(pair);
    strcpy(pair->src, "op2");
    strcpy(pair->dst, "op1");
    strcpy(pair->path, "register");
    pair->cycles = 3.48;
    pair->slow_cycles = 7.44;
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_non_null(strstr(text.data, " cycles=\"4\""));
    assert_non_null(strstr(text.data, " max_cycles=\"7\""));
    assert_non_null(strstr(text.data, " measured=\"3.48\""));
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

static void path_make(struct res_row *row, const char *src, const char *path, double cycles, bool bound,
                      double share) {
    struct res_sheet_pair *pair = res_row_pair_add(row);
    assert_non_null(pair);
    (void)snprintf(pair->src, sizeof pair->src, "%s", src);
    strcpy(pair->dst, "op1");
    (void)snprintf(pair->path, sizeof pair->path, "%s", path);
    pair->cycles = cycles;
    pair->upper_bound = bound;
    pair->share = share;
}

static void pair_make(struct res_row *row, const char *src, double cycles, bool bound, double share) {
    path_make(row, src, "register", cycles, bound, share);
}

/* Where a format has one latency, it is not that of the operand into which the result is merged. */
static void test_one_latency(void **state) {
    (void)state;
    static const struct {
        double exact, bound, share, latency;
    } cases[] = {
        {3, 9, 7, 7},     /* a conversion */
        {8, 9, 7, 8},     /* both know something */
        {3, 9, 9, 3},     /* nothing is known of the way back: the bound may be twice what it takes */
        {3, 9, NAN, 3},   /* neither does a file say */
        {NAN, 9, 7, 7},   /* no exact one */
        {NAN, 9, NAN, 9}, /* nor a share */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_sheet sheet = {0};
        struct ip_error err = {0};
        struct ip_text text = {0};
        struct res_row *row = row_made(&sheet, "vcvtsi2sd xmm, xmm, r64");
        char expected[40];
        strcpy(row->ports, "1*p0");
        if (!isnan(cases[i].exact)) {
            pair_make(row, "op2", cases[i].exact, false, NAN);
        }
        pair_make(row, "op3", cases[i].bound, true, cases[i].share);
        struct res_export export = {.format = RES_FORMAT_OSACA};
        assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
        (void)snprintf(expected, sizeof expected, " latency: %.0f,", cases[i].latency);
        assert_non_null(strstr(text.data, expected));
        if (llvm_is_here()) {
            export.format = RES_FORMAT_LLVM_SCHED_JSON;
            assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
            (void)snprintf(expected, sizeof expected, " \"Latency\": %.0f,", cases[i].latency);
            assert_non_null(strstr(text.data, expected));
        }
        ip_text_fini(&text);
        res_sheet_fini(&sheet);
    }
}

/* CQA knows mnemonics only: ADD does not get the costs of LOCK ADD, nor MOV those of segment registers. */
static void test_lua_folds_what_a_mnemonic_says(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool plain;
    } cases[] = {
        {"add m64, r64", true},
        {"lock add m64, r64", false},
        {"rep movsb", false},
        {"repne scasb", false},
        {"{evex} vaddpd xmm, xmm, xmm", true},
        {"mov sreg, r16", false},
        {"mov r64, sreg", false},
        {"vaddpd zmm, zmm, zmm, {rn-sae}", true},
        {"xchg m64, r64", true},
        {"movsb", true},
    };
    struct res_sheet sheet = {0}, back = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_MAQAO_LUA};
    size_t plain = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        row_made(&sheet, cases[i].form)->throughput = 1;
        plain += cases[i].plain;
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_int_equal(export.merged, sizeof cases / sizeof cases[0] - plain);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[80];
        (void)snprintf(expected, sizeof expected, "{form = \"%s\", mnemonic = \"", cases[i].form);
        if ((strstr(text.data, expected) != NULL) != cases[i].plain) {
            fail_msg("%s is %s", cases[i].form, cases[i].plain ? "not folded" : "folded");
        }
    }
    assert_int_equal(res_export_read(&back, RES_FORMAT_MAQAO_LUA, "test", text.data, &err), IP_OK);
    assert_int_equal(back.count, sheet.count); /* all are listed */
    ip_text_fini(&text);
    res_sheet_fini(&back);
    res_sheet_fini(&sheet);
}

/* Of a bound the form's own share, as in the formats of one latency. */
static void test_lua_takes_shares(void **state) {
    (void)state;
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_MAQAO_LUA};
    struct res_row *row = row_made(&sheet, "vcvtsi2sd xmm, xmm, r64");
    pair_make(row, "op2", 3, false, NAN);
    pair_make(row, "op3", 9, true, 7);
    res_row_range_find(row);
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_non_null(strstr(text.data, "latency = {min = 3, max = 7}"));
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* The line of the form in a machine file of OSACA; NULL: it has none. */
static const char *osaca_line(const char *text, const char *form) {
    char key[160];
    (void)snprintf(key, sizeof key, ", isaprobe: \"%s\"}\n", form);
    const char *at = strstr(text, key);
    while (at != NULL && at > text && at[-1] != '\n') {
        at--;
    }
    return at;
}

/* "sar %rax" of gcc and clang has one operand, and is found beside "sar $3, %rax". */
static void test_osaca_shifts_by_one(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"sar r64, 1", "- {name: sar, operands: [{class: register, name: gpr}], "},
        {"rol m32, 1", "- {name: rol, operands: [{class: memory, base: \"*\", offset: \"*\", index: \"*\", "
                       "scale: \"*\"}], "},
        {"sar r64, imm8",
         "- {name: sar, operands: [{class: immediate, imd: int}, {class: register, name: gpr}], "},
        {"rol m32, imm8", "- {name: rol, operands: [{class: immediate, imd: int}, {class: memory, "},
    };
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        strcpy(row_made(&sheet, forms[i][0])->ports, "1*p0");
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_int_equal(export.merged, 0);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *line = osaca_line(text.data, forms[i][0]);
        assert_non_null(line);
        assert_memory_equal(line, forms[i][1], strlen(forms[i][1]));
    }
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* No two entries are alike to OSACA, which has no word for the mask of a store: the plain one stands for
 * both.
 */
static void test_osaca_masked_stores(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool written;
    } cases[] = {
        {"vmovapd m128{k}, xmm", false}, /* first, and yet not taken */
        {"vmovapd m128, xmm", true},         {"{evex} vmovapd m128, xmm", false},
        {"vmovapd xmm{k}, m128", true},      {"vmovapd xmm, m128", true},
        {"vcompresspd m256{k}, ymm", false}, {"vcompresspd m256, ymm", true},
        {"vpscatterdd vm32z{k}, zmm", true}, /* there is no other */
    };
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        strcpy(row_made(&sheet, cases[i].form)->ports, "1*p0");
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_int_equal(export.merged, 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if ((osaca_line(text.data, cases[i].form) != NULL) != cases[i].written) {
            fail_msg("%s is %swritten", cases[i].form, cases[i].written ? "not " : "");
        }
    }
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* A unit that is busy longer than the ports is one more port to OSACA, which knows nothing else that binds,
 * and the divider to those who read uops.info's XML. */
static void test_units(void **state) {
    (void)state;
    static const struct {
        const char *form, *ports, *unit, *osaca, *xml;
        double cycles;
    } cases[] = {
        {"sqrtpd xmm, xmm", "2*p1", "vdivpd xmm, xmm, xmm",
         "[[2, [\"1\"]], [7.499, [\"U0\"]]], isaprobe_unit: \"vdivpd xmm, xmm, xmm\", isaprobe: \"sqrt",
         " uops=\"2\" div_cycles=\"7\" unit=\"vdivpd xmm, xmm, xmm\" unit_cycles=\"7.499\"", 7.499},
        {"div r64", "", "div r64",
         " [[6.93, [\"U1\"]]], isaprobe_unit: \"div r64\", isaprobe_ports: unknown, isaprobe: \"div r64\"}",
         " div_cycles=\"7\" unit=\"div r64\" unit_cycles=\"6.93\"/>", 6.93},
        {"rdtsc", "none", "rdtsc", " [[38, [\"U2\"]]], isaprobe_unit: \"rdtsc\", isaprobe: \"rdtsc\"}",
         " uops=\"0\" unit=\"rdtsc\" unit_cycles=\"38\"/>", 38},
        {"add r64, r64", "1*p01", "", " [[1, [\"0\", \"1\"]]], isaprobe: \"add r64, r64\"}",
         " ports=\"1*p01\" uops=\"1\"/>", NAN},
        {"idiv r64", "", "div r64", " [[7, [\"U1\"]]], isaprobe_unit: \"div r64\", ",
         " div_cycles=\"7\" unit=\"div r64\" unit_cycles=\"7\"/>", 7},
    };
    static const enum res_format formats[] = {RES_FORMAT_OSACA, RES_FORMAT_UOPSINFO_XML};
    struct res_sheet sheet = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_row *row = row_made(&sheet, cases[i].form);
        strcpy(row->ports, cases[i].ports);
        strcpy(row->unit, cases[i].unit);
        row->unit_cycles = row->throughput = cases[i].cycles;
    }
    for (size_t f = 0; f < 2; f++) {
        struct ip_error err = {0};
        struct ip_text text = {0};
        struct res_sheet back = {0};
        struct res_export export = {.format = formats[f]};
        assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
        assert_true(f > 0 || strstr(text.data, "ports: [\"0\", \"1\", \"U0\", \"U1\", \"U2\"]\n") != NULL);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const char *expected = f == 0 ? cases[i].osaca : cases[i].xml;
            if (strstr(text.data, expected) == NULL) {
                fail_msg("%s is not in\n%s", expected, text.data);
            }
        }
        assert_int_equal(res_export_read(&back, formats[f], "test", text.data, &err), IP_OK);
        for (size_t i = 0; i < back.count; i++) {
            const struct res_row *row = res_sheet_find(&sheet, back.rows[i].form);
            assert_string_equal(back.rows[i].ports, row->ports);
            assert_string_equal(back.rows[i].unit, row->unit);
        }
        ip_text_fini(&text);
        res_sheet_fini(&back);
    }
    res_sheet_fini(&sheet);
}

/* What compilers write: comparisons without the immediate, which is in the name, and the width of a source
 * where the destination is as wide for several. */
static void test_osaca_names_of_compilers(void **state) {
    (void)state;
#define XMM "{class: register, name: xmm}"
    static const struct {
        const char *form, *begin;
    } cases[] = {
        {"cmppd xmm, xmm, imm8",
         "- {name: cmppd, operands: [{class: immediate, imd: int}, " XMM ", " XMM "], "},
        {"cmppd xmm, xmm, imm8",
         "- {name: [cmpeqpd, cmpltpd, cmplepd, cmpunordpd, cmpneqpd, cmpnltpd, cmpnlepd, "
         "cmpordpd], operands: [" XMM ", " XMM "], latency: "},
        {"vcmpsd xmm, xmm, xmm, imm8", "- {name: [vcmpeqsd, vcmpltsd, "},
        {"vcmpsd xmm, xmm, xmm, imm8", ", vcmptrue_ussd], operands: [" XMM ", " XMM ", " XMM "], latency: "},
        {"vpcmpud k, zmm, zmm, imm8",
         "- {name: [vpcmpltud, vpcmpleud, vpcmpnequd, vpcmpnltud, vpcmpnleud], "},
        {"vcvtpd2ps xmm, xmm", "- {name: [vcvtpd2ps, vcvtpd2psx], operands: [" XMM ", " XMM "], "},
        {"vcvtpd2ps xmm, ymm", "- {name: [vcvtpd2ps, vcvtpd2psy], "},
        {"vcvtpd2ps xmm, m128", "- {name: [vcvtpd2ps, vcvtpd2psx], operands: [{class: memory, "},
        {"vcvtpd2ps xmm, m256", "- {name: [vcvtpd2psy], operands: [{class: memory, "},
        {"vcvtpd2ps ymm, zmm", "- {name: vcvtpd2ps, operands: "},
        {"vfpclassps k{k}, m512, imm8", "- {name: [vfpclasspsz], operands: [{class: immediate, "},
        {"vfpclassps k{k}, m128, imm8", "- {name: [vfpclassps, vfpclasspsx], operands: [{class: immediate, "},
        {"cvtpd2ps xmm, m128", "- {name: cvtpd2ps, operands: "},
        {"cmpsd", "- {name: cmpsd, operands: [], "},
        {"cmp r64, imm8", "- {name: cmp, operands: "},
    };
    struct res_sheet sheet = {0}, back = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (res_sheet_find(&sheet, cases[i].form) == NULL) {
            strcpy(row_made(&sheet, cases[i].form)->ports, "1*p0");
        }
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_int_equal(export.merged, 0);
    assert_int_equal(export.written, sheet.count);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strstr(text.data, cases[i].begin) == NULL) {
            fail_msg("'%s' is not in\n%s", cases[i].begin, text.data);
        }
    }
    assert_null(strstr(text.data, "vpcmpequd"));
    assert_null(strstr(text.data, "[cmpeqsd")); /* of strings, without an immediate */
    /* The second entry of a comparison is no second form. */
    assert_int_equal(res_export_read(&back, RES_FORMAT_OSACA, "test", text.data, &err), IP_OK);
    assert_int_equal(back.count, sheet.count);
    ip_text_fini(&text);
    res_sheet_fini(&back);
    res_sheet_fini(&sheet);
}

/* OSACA adds a store's latency to that of the load behind it: only what both take beyond the load is the
 * store's, and the way from its address is nobody's. */
static void test_osaca_stores(void **state) {
    (void)state;
    static const struct {
        const char *form, *latency;
        double address, content, registers;
    } cases[] = {
        {"mov m64, r64", "0", 10, 0.125, NAN},
        {"movnti m64, r64", "4", 10, 7, NAN},
        {"mov r64, m64", "4", 4, NAN, NAN},
        {"movups xmm, m128", "5", 5, NAN, NAN},
        {"movups m128, xmm", "4", 10, 8, NAN},
        {"vmovups ymm, m256", "6", 6, NAN, NAN},
        {"vmovups m256, ymm", "3", 10, 8, NAN},
        {"vextracti128 m128, ymm, imm8", "7", 10, 11, NAN}, /* its memory is as wide as an xmm */
        {"vmovups m512, zmm", "0", 10, 10, NAN},            /* no load of that class */
        {"setz m8", "0", 9, NAN, NAN},
        {"add m64, r64", "1", 5, 2, 1}, /* reads it, too */
        {"movntdq m128, xmm", "~", NAN, NAN, NAN},
    };
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_row *row = row_made(&sheet, cases[i].form);
        const bool load = cases[i].address < 9;
        strcpy(row->ports, "1*p0");
        if (!isnan(cases[i].address)) {
            path_make(row, load ? "op2" : "op1", "address", cases[i].address, !load, NAN);
        }
        if (!isnan(cases[i].content)) {
            path_make(row, "op2", "content", cases[i].content, true, NAN);
        }
        if (!isnan(cases[i].registers)) {
            pair_make(row, "op2", cases[i].registers, false, NAN);
        }
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    assert_non_null(strstr(text.data, "}\nstore_to_load_forward_latency: 0\n"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[40];
        const char *line = osaca_line(text.data, cases[i].form);
        (void)snprintf(expected, sizeof expected, " latency: %s, throughput:", cases[i].latency);
        assert_non_null(line);
        const char *found = strstr(line, " latency: ");
        if (strncmp(found, expected, strlen(expected)) != 0) {
            fail_msg("%s: expected%s found%.24s", cases[i].form, expected, found);
        }
    }
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* What a vector's store takes where its ports are not known is not what a general register's does. */
static void test_osaca_stores_of_vectors(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"vmovups m512, zmm", ""},         {"vmovups m256, ymm", ""},      {"vmovups m128, xmm", "1*p49"},
        {"mov m64, r64", "1*p49+1*p0156"}, {"vmovups zmm, m512", "2*p23"}, {"movq m64, mm", ""},
    };
    static const char *const lines[] = {
        "{src: zmm, base: \"*\", index: \"*\", offset: \"*\", scale: \"*\", port_pressure: [[1, [\"4\", "
        "\"9\"]]]}",
        "{src: ymm, base: \"*\", index: \"*\", offset: \"*\", scale: \"*\", port_pressure: [[1, [\"4\", "
        "\"9\"]]]}",
        "{dst: zmm, base: \"*\", index: \"*\", offset: \"*\", scale: \"*\", port_pressure: [[2, [\"2\", "
        "\"3\"]]]}",
        "store_throughput_default: [[1, [\"4\", \"9\"]], [1, [\"0\", ",
    };
    struct res_sheet sheet = {0};
    struct ip_error err = {0};
    struct ip_text text = {0};
    struct res_export export = {.format = RES_FORMAT_OSACA};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct res_row *row = row_made(&sheet, forms[i][0]);
        strcpy(row->ports, forms[i][1]);
        row->throughput = 1;
    }
    assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strstr(text.data, lines[i]) == NULL) {
            fail_msg("%s is not in\n%s", lines[i], text.data);
        }
    }
    assert_null(strstr(text.data, "{src: mm"));
    assert_null(strstr(text.data, "{dst: ymm"));
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
}

/* Which CPU a file is of, and what OSACA's says of the core, is read again. */
static void test_heads(void **state) {
    (void)state;
    static const enum res_format formats[] = {RES_FORMAT_OSACA, RES_FORMAT_MAQAO_LUA};
    struct res_sheet sheet = {.core = {[RES_SHEET_ROB_SLOTS] = 445, [RES_SHEET_SCHEDULER_UOPS] = 101}};
    struct ip_error err = {0};
    strcpy(row_made(&sheet, "cmc")->ports, "1*p0");
    for (size_t f = 0; f < 2; f++) {
        for (int named = 0; named < 2; named++) {
            struct res_sheet back = {0};
            struct ip_text text = {0};
            struct res_export export = {.format = formats[f]};
            strcpy(sheet.machine, named ? "An \"imaginary\" CPU, 48 KiB" : "");
            assert_int_equal(res_export_write(&sheet, &export, &text, &err), IP_OK);
            assert_int_equal(res_export_read(&back, formats[f], "file", text.data, &err), IP_OK);
            assert_string_equal(back.machine, named ? sheet.machine : "file");
            if (formats[f] == RES_FORMAT_OSACA) {
                assert_non_null(strstr(
                    text.data, "\nROB_size: 445\nretired_uOps_per_cycle: ~\nscheduler_size: 101\nhidden"));
                assert_memory_equal(back.core, sheet.core, sizeof back.core);
            }
            ip_text_fini(&text);
            res_sheet_fini(&back);
        }
    }
    res_sheet_fini(&sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llvm_names),
        cmocka_unit_test(test_fractional_ports),
        cmocka_unit_test(test_whole_latencies),
        cmocka_unit_test(test_one_latency),
        cmocka_unit_test(test_lua_folds_what_a_mnemonic_says),
        cmocka_unit_test(test_lua_takes_shares),
        cmocka_unit_test(test_osaca_shifts_by_one),
        cmocka_unit_test(test_osaca_masked_stores),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_osaca_stores),
        cmocka_unit_test(test_osaca_names_of_compilers),
        cmocka_unit_test(test_osaca_stores_of_vectors),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
