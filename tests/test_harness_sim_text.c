/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of simulated CPUs: what is accepted, where errors are placed, imported tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/port_events.h"
#include "harness/sim_description.h"
#include "isa/decode.h"

#define HEAD "isaprobe-sim 1\nports p0 p1 p5 p6 p2 p3 p7 p4\n"

static void errors_have_a_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"", "t:1:1", "isaprobe-sim 1"},
        {"# nothing\n\n", "t:1:1", "isaprobe-sim 1"},
        {"issue-width 4\n", "t:1:1", "begins with"},
        {"isaprobe-sim 2\n", "t:1:14", "from 1 to 1"},
        {"isaprobe-sim 1\n", "t:1", "without a `ports` line"},
        {"isaprobe-sim 1 extra\n", "t:1:16", "nothing more"},
        {HEAD "issue-width\n", "t:3:12", "issue-width: an integer from 1 to 64"},
        {HEAD "issue-width 0\n", "t:3:13", "from 1 to 64"},
        {HEAD "issue-width 65\n", "t:3:13", "from 1 to 64"},
        {HEAD "issue-width 99999999999999999999999\n", "t:3:13", "from 1 to 64"},
        {HEAD "issue-width 4x\n", "t:3:13", "integer"},
        {HEAD "  frobnicate 4\n", "t:3:3", "unknown setting"},
        {HEAD "noise -1\n", "t:3:7", "noise: a number from 0 to 10"},
        {HEAD "noise nan\n", "t:3:7", "number"},
        {HEAD "drift wobble 1\n", "t:3:7", "sine AMPLITUDE PERIOD"},
        {HEAD "drift sine 0.1\n", "t:3:15", "period"},
        {HEAD "neighbour window 9 3 0.5\n", "t:3:20", "run behind the last"},
        {HEAD "neighbour often\n", "t:3:11", "window FROM TO SHARE"},
        {HEAD "policy random\n", "t:3:8", "earliest, counters or uneven"},
        {HEAD "ports p9\n", "t:3:1", "listed already"},
        {"isaprobe-sim 1\nports p0 p1 p0\n", "t:2:13", "listed twice"},
        {"isaprobe-sim 1\nports p0 q1\n", "t:2:10", "a port is p and"},
        {"isaprobe-sim 1\nports\n", "t:2:6", "ports are expected"},
        {"isaprobe-sim 1\nform \"nop\" ports none\n", "t:2:1", "must come before"},
        {"isaprobe-sim 1\nload-ports p23\n", "t:2:13", "a set of ports"},
        {HEAD "load-ports p29\n", "t:3:14", "a set of ports"},
        {HEAD "wide-closes p9\n", "t:3:14", "a set of ports"},
        {HEAD "form\n", "t:3:5", "form: a name"},
        {HEAD "form \"add r64, r64\n", "t:3:6", "form: a name"},
        {HEAD "form \"add\" latency 1\n", "t:3:21", "needs `ports`"},
        {HEAD "form \"add\" ports 1*p08\n", "t:3:22", "no such port"},
        {HEAD "form \"add\" ports p0\n", "t:3:18", "number of µops"},
        {HEAD "form \"add\" ports 1*q0\n", "t:3:19", "*p and port names"},
        {HEAD "form \"add\" ports 1*p0+\n", "t:3:23", "number of µops"},
        {HEAD "form \"add\" ports 200*p0\n", "t:3:18", "1 to 100"},
        {HEAD "form \"add\" ports 1*p0 latency x\n", "t:3:31", "latency: an integer"},
        {HEAD "form \"add\" ports 1*p0 latency 1001\n", "t:3:31", "0 to 1000"},
        {HEAD "form \"add\" ports 1*p0 op1-> 1\n", "t:3:28", "after ->"},
        {HEAD "form \"add\" ports 1*p0 ->op1 1\n", "t:3:23", "an operand"},
        {HEAD "form \"add\" ports 1*p0 op1->+1 1\n", "t:3:28", "after ->"},
        {HEAD "form \"add\" ports 1*p0 op1->op2\n", "t:3:31", "latency of the pair"},
        {HEAD "form \"add\" ports 1*p0 blocking 4\n", "t:3:33", "name of the blocked unit"},
        {HEAD "form \"add\" ports 1*p0 same-register maybe\n", "t:3:37", "breaks"},
        {HEAD "form \"add\" ports 1*p0 microcode 4\n", "t:3:23", "`fetch-width` line must come before"},
        {HEAD "microcode 5 4\n", "t:3:1", "`fetch-width` line must come before"},
        {HEAD "fetch-width 8\nmicrocode 5\n", "t:4:12", "cycles: an integer from 1 to 1000"},
        {HEAD "fetch-width 8\nform \"add\" ports 1*p0 microcode 0\n", "t:4:33", "from 1 to 1000"},
        {HEAD "form \"add\" ports 1*p0 reads rax\n", "t:3:29", "op1 to op9"},
        {HEAD "form \"add\" ports 1*p0 speed 4\n", "t:3:23", "expected ports, latency"},
        {HEAD "form \"nop\" ports none\nform \"nop\" ports none\n", "t:4:6", "described already"},
        {HEAD "default ports none\ndefault ports none\n", "t:4:1", "a default already"},
        {HEAD "fault \"ud2\" sulks\n", "t:3:13", "illegal, segfault"},
        {HEAD "fuse \"sub *\"\n", "t:3:13", "second form"},
        {HEAD "ports-csv \"x.csv\"\n", "t:3:1", "may not import"},
        {HEAD "name \"a\" \"b\"\n", "t:3:10", "nothing more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_sim_description description;
        struct ip_error err;
        memset(&description, 0x5a, sizeof description);
        enum ip_status status =
            hx_sim_description_parse(&description, "t", cases[i].text, strlen(cases[i].text), NULL, &err);
        if (status != IP_SYNTAX || strcmp(err.place, cases[i].place) != 0 ||
            strstr(err.text, cases[i].words) == NULL) {
            fail_msg("case %zu: status %d, %s: %s; expected %s: ... %s ...", i, (int)status, err.place,
                     err.text, cases[i].place, cases[i].words);
        }
        assert_int_equal(((unsigned char *)&description)[0], 0x5a); /* untouched */
    }
}

static void all_settings_arrive(void **state) {
    (void)state;
    static const char text[] = HEAD
        "name \"A core\" # with a comment\r\n"
        "issue-width 6\n\tretire-width 8\nrob 512\nscheduler 97\n"
        "fetch-width 8\nfetch-queue 144\nmicrocode 5 4\nload-latency 4\nforward-latency 3\ntaken-branch 2\n"
        "load-ports p23\nstore-address-ports p237\nstore-data-ports p4\n"
        "wide-closes p1\npolicy uneven 0.25\nticks-per-cycle 0.66\noverhead 35\nresolution 26\n"
        "noise 1e-3\njitter 4\ndrift sine 0.04 500\nspikes 0.01 3000\n"
        "neighbour window 10 20 0.5\nneighbour random 0.001 200 0.75\nseed 42\n"
        "form \"add r64, r64\" ports 1*p0156 latency 1 op2->op1 2 flags->op1 3\n"
        "form \"vp2intersectd k, xmm, xmm\" ports 2*p0 op2->k+1 7\n"
        "form \"div *\" ports 3*p0+2*p15 blocking 6 divider slots 4 microcode 3\n"
        "fault \"ud2\" illegal\nfuse \"cmp *\" \"j*\"\n"
        "default ports 1*p5 latency 2";
    struct hx_sim_description d;
    struct ip_error err;
    if (hx_sim_description_parse(&d, "t", text, strlen(text), NULL, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_string_equal(d.name, "A core");
    assert_int_equal(d.issue_width, 6);
    assert_int_equal(d.retire_width, 8);
    assert_int_equal(d.rob, 512);
    assert_int_equal(d.scheduler, 97);
    assert_int_equal(d.fetch_width, 8);
    assert_int_equal(d.fetch_queue, 144);
    assert_int_equal(d.microcode_slots, 5);
    assert_int_equal(d.microcode_cycles, 4);
    assert_int_equal(d.load_latency, 4);
    assert_int_equal(d.forward_latency, 3);
    assert_int_equal(d.taken_branch, 2);
    assert_int_equal(d.load_ports, 0x30);
    assert_int_equal(d.store_address_ports, 0x70);
    assert_int_equal(d.store_data_ports, 0x80);
    assert_int_equal(d.wide_closes, 0x2);
    assert_true(d.uneven == 0.25 && d.ticks_per_cycle == 0.66 && d.overhead_ticks == 35);
    assert_true(d.resolution_ticks == 26 && d.noise == 1e-3 && d.jitter_ticks == 4);
    assert_true(d.drift == HX_SIM_DRIFT_SINE && d.drift_amplitude == 0.04 && d.drift_period == 500);
    assert_true(d.spike_probability == 0.01 && d.spike_ticks == 3000);
    assert_true(d.neighbour_from == 10 && d.neighbour_to == 20 && d.neighbour_runs == 200);
    assert_true(d.neighbour_probability == 0.001 && d.neighbour_share == 0.75 && d.seed == 42);
    struct isa_form form = {.syntax = "add r64, r64"};
    const struct hx_sim_row *row = hx_sim_row_find(&d, &form, NULL);
    assert_non_null(row);
    assert_int_equal(row->pairs_count, 2);
    assert_string_equal(row->pairs[1].src, "flags");
    assert_int_equal(row->pairs[1].cycles, 3);
    assert_int_equal(row->uops[0].ports, 0xf);
    row = hx_sim_row_find(&d, &(struct isa_form){.syntax = "vp2intersectd k, xmm, xmm"}, NULL);
    assert_string_equal(row->pairs[0].src, "op2");
    assert_string_equal(row->pairs[0].dst, "k+1");
    assert_int_equal(row->pairs[0].cycles, 7);
    row = hx_sim_row_find(&d, &(struct isa_form){.syntax = "div r64"}, NULL);
    assert_int_equal(row->uops_count, 2);
    assert_int_equal(row->uops[0].count, 3);
    assert_int_equal(row->slots, 4);
    assert_int_equal(row->microcode, 3);
    assert_string_equal(d.units[row->unit], "divider");
    row = hx_sim_row_find(&d, &(struct isa_form){.syntax = "ud2"}, NULL);
    assert_int_equal(row->fault, HX_OUTCOME_ILLEGAL);
    row = hx_sim_row_find(&d, &(struct isa_form){.syntax = "paddd xmm, xmm"}, NULL);
    assert_string_equal(row->syntax, "default");
    hx_sim_description_fini(&d);
}

static void defaults_are_sane(void **state) {
    (void)state;
    struct hx_sim_description d;
    struct ip_error err;
    assert_int_equal(hx_sim_description_parse(&d, "t", HEAD, strlen(HEAD), NULL, &err), IP_OK);
    assert_int_equal(d.retire_width, d.issue_width);
    assert_int_equal(d.scheduler, d.rob);
    assert_true(d.ticks_per_cycle == 1 && d.noise == 0 && d.neighbour_from == d.neighbour_to);
    assert_null(hx_sim_row_find(&d, &(struct isa_form){.syntax = "add r64, r64"}, NULL));
    hx_sim_description_fini(&d);
}

static void patterns_match(void **state) {
    (void)state;
    assert_true(hx_sim_pattern_matches("add *", "add r64, r64"));
    assert_true(hx_sim_pattern_matches("*", ""));
    assert_true(hx_sim_pattern_matches("v*pd *mm, *", "vaddpd xmm, xmm, m128"));
    assert_true(hx_sim_pattern_matches("a*b*c", "aXbXbXc"));
    assert_true(hx_sim_pattern_matches("nop", "nop"));
    assert_false(hx_sim_pattern_matches("nop", "nopw"));
    assert_false(hx_sim_pattern_matches("add *", "add"));
    assert_false(hx_sim_pattern_matches("a*b*c", "aXbXbX"));
    assert_false(hx_sim_pattern_matches("", "x"));
}

static void described_cpus_parse(void **state) {
    (void)state;
    static const char *const files[] = {"tests/data/skl.sim", "tests/data/noisy.sim",
                                        "tests/data/hopeless.sim", "tests/data/smt.sim"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct hx_sim_description d;
        struct ip_error err;
        if (hx_sim_description_read(&d, files[i], &err) != IP_OK) {
            fail_msg("%s: %s (run from the root of the repository)", err.place, err.text);
        }
        assert_true(d.rows.count > 8);
        hx_sim_description_fini(&d);
    }
}

static void missing_file_is_an_io_error(void **state) {
    (void)state;
    struct hx_sim_description d;
    struct ip_error err;
    assert_int_equal(hx_sim_description_read(&d, "/nonexistent/cpu.sim", &err), IP_IO);
    assert_true(strstr(err.text, "/nonexistent/cpu.sim") != NULL || strstr(err.place, "cpu.sim") != NULL);
}

/* The name of a machine instruction in published tables. */
static void assert_name(const char *code, size_t bytes, const char *expected) {
    struct isa_form form = {0};
    struct isa_binding binding;
    struct ip_error err;
    size_t length;
    char name[ISA_SYNTAX_MAX];
    assert_int_equal(isa_decode((const uint8_t *)code, bytes, &form, &binding, &length, &err), IP_OK);
    hx_sim_import_name(&form, name);
    assert_string_equal(name, expected);
}

static void names_of_published_tables(void **state) {
    (void)state;
    assert_name("\x48\x01\xd8", 3, "ADD (R64, R64)");
    assert_name("\x48\x83\xc0\x05", 4, "ADD (R64, I8)");
    assert_name("\x48\x03\x06", 3, "ADD (R64, M64)");
    assert_name("\x88\xd8", 2, "MOV (R8l, R8l)");
    assert_name("\x48\xd3\xe0", 3, "SHL (R64, CL)");
    assert_name("\xc5\xf9\x58\xc1", 4, "VADDPD (XMM, XMM, XMM)");
    assert_name("\x62\xf1\xf5\x9a\x58\x00", 6, "VADDPD_Z (XMM, K, XMM, M64_1to2)");
    assert_name("\xf0\x48\x01\x06", 4, "ADD_LOCK (M64, R64)");
    assert_name("\x0f\xa2", 2, "CPUID");
    assert_name("\x75\x02", 2, "JNZ (Rel8)");
}

/* Names as they are published, and as they are looked up. */
static void published_names_are_read(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"ADD (R64, R64)", "ADD (R64, R64)"},
        {"ADD_03 (R64, R64)", "ADD (R64, R64)"},
        {"SHL_R4 (R8l, 1)", "SHL (R8l, 1)"},
        {"ADD_LOCK (M64, I8)", "ADD_LOCK (M64, I8)"},
        {"VCMPSD_EVEX_SAE (K, XMM, XMM, I8)", "VCMPSD_EVEX_SAE (K, XMM, XMM, I8)"},
        {"LEA_B_IS_D8 (R64)", "LEA_B_IS_D8 (R64)"},
        {"CALL_NEAR (R64)", "CALL (R64)"},
        {"CPUID", "CPUID"},
        {"clc", "CLC"},
        {"add RW:GPR:64, 0x0", "ADD (R64, 0)"},
        {"add qword ptr RW:MEM(64), IMM(8)", "ADD (M64, I8)"},
        {"rol RW:GPR:16, R:cl", "ROL (R16, CL)"},
        {"cmp R:al,bl,cl,dl, R:al,bl,cl,dl", "CMP (R8l, R8l)"},
        {"vaddpd W:YMM0..15, R:YMM0..15, ymmword ptr R:MEM(256)", "VADDPD (YMM, YMM, M256)"},
        {"lea W:GPR:32, MEM(0)", "LEA (R32, ?)"},
    };
    char name[ISA_SYNTAX_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(hx_sim_published_name(names[i][0], strlen(names[i][0]), name));
        assert_string_equal(name, names[i][1]);
    }
    char endless[2 * ISA_SYNTAX_MAX];
    memset(endless, 'A', sizeof endless);
    assert_false(hx_sim_published_name(endless, sizeof endless, name));
    memset(endless, 'a', sizeof endless);
    assert_false(hx_sim_published_name(endless, sizeof endless, name));
}

static const struct hx_sim_row *row_of(const struct hx_sim_description *d, const char *code, size_t bytes) {
    struct isa_form form = {0};
    struct isa_binding binding;
    struct ip_error err;
    size_t length;
    assert_int_equal(isa_decode((const uint8_t *)code, bytes, &form, &binding, &length, &err), IP_OK);
    return hx_sim_row_find(d, &form, &binding);
}

/* LEA goes by its address, and an EVEX form by a row of its own where there is one. */
static void rows_of_published_tables(void **state) {
    (void)state;
    static const char table[] = "scheme,throughput_measured,uops,ports\n"
                                "LEA_B_D8 (R64),0.5,1,1*p15\n"
                                "LEA_B_IS_D8 (R64),1,1,1*p1\n"
                                "\"lea W:GPR:32, MEM(0)\",0.25,1,1*p0156\n"
                                "\"VADDPD (XMM, XMM, M128)\",0.5,1,1*p01+1*p23\n"
                                "\"VADDPD_EVEX (XMM, XMM, M128)\",0.5,1,1*p5+1*p23\n"
                                "\"VADDPD (XMM, XMM, XMM)\",0.5,1,1*p01\n";
    static const char head[] = HEAD "load-ports p23\nstore-address-ports p237\nstore-data-ports p4\n";
    struct hx_sim_description d;
    struct ip_error err;
    assert_int_equal(hx_sim_description_parse(&d, "t", head, strlen(head), NULL, &err), IP_OK);
    assert_int_equal(hx_sim_import_text(&d, "c", table, strlen(table), &err), IP_OK);
    assert_true(hx_sim_rows_index(&d.imported));
    const struct hx_sim_row *rows = d.imported.items;
    assert_ptr_equal(row_of(&d, "\x48\x8d\x46\x10", 4), &rows[0]);     /* lea rax, [rsi+16] */
    assert_ptr_equal(row_of(&d, "\x48\x8d\x44\x8e\x10", 5), &rows[1]); /* lea rax, [rsi+4*rcx+16] */
    assert_ptr_equal(row_of(&d, "\x8d\x46\x10", 3), &rows[2]);         /* lea eax, [rsi+16] */
    assert_null(row_of(&d, "\x48\x8d\x06", 3));                        /* lea rax, [rsi] */
    assert_ptr_equal(row_of(&d, "\xc5\xf9\x58\x00", 4), &rows[3]);
    assert_ptr_equal(row_of(&d, "\x62\xf1\xfd\x08\x58\x00", 6), &rows[4]);
    assert_ptr_equal(row_of(&d, "\x62\xf1\xfd\x08\x58\xc1", 6), &rows[5]); /* EVEX without a row */
    hx_sim_description_fini(&d);
}

static void tables_are_imported(void **state) {
    (void)state;
    static const char table[] = "instruction,latency,throughput_measured,slots,ports\n"
                                "\"ADD (R64, M64)\",[1;\xe2\x89\xa4"
                                "6],0.50,1,1*p0156+1*p23\n"
                                "\"MOV (M64, R64)\",[\xe2\x89\xa4"
                                "2;\xe2\x89\xa4"
                                "10],1.00,1,1*p237+1*p4\r\n"
                                "DIV (R32),[23.0;28],6.00,10,2*p0+4*p5\n"
                                "\"PADDB (MM, MM)\",[1;3],0.50,1,1*p0\n"
                                "CPUID,,,,\n";
    struct hx_sim_description d;
    struct ip_error err;
    static const char head[] = HEAD "load-ports p23\nstore-address-ports p237\nstore-data-ports p4\n";
    assert_int_equal(hx_sim_description_parse(&d, "t", head, strlen(head), NULL, &err), IP_OK);
    if (hx_sim_import_text(&d, "c", table, strlen(table), &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_true(hx_sim_rows_index(&d.imported));
    assert_int_equal(d.imported.count, 4);
    assert_int_equal(hx_sim_rows_find(&d.imported, "PADDB (MM, MM)")->latency, 3); /* no memory */
    const struct hx_sim_row *row = hx_sim_rows_find(&d.imported, "ADD (R64, M64)");
    assert_int_equal(row->latency, 1);
    assert_int_equal(row->memory_latency, 6);
    assert_int_equal(row->slots, 1);
    row = hx_sim_rows_find(&d.imported, "MOV (M64, R64)");
    assert_false(row->latency_given);
    row = hx_sim_rows_find(&d.imported, "DIV (R32)");
    assert_int_equal(row->latency, 28);
    assert_int_equal(row->slots, 10);
    static const char bad[] = "instruction,ports\nADD,1*p0\nSUB,1*p9\n";
    assert_int_equal(hx_sim_import_text(&d, "c", bad, strlen(bad), &err), IP_SYNTAX);
    assert_string_equal(err.place, "c:3:8");
    assert_int_equal(hx_sim_import_text(&d, "c", "a,b\n", 4, &err), IP_SYNTAX);
    assert_string_equal(err.place, "c:1:1");
    assert_int_equal(hx_sim_import_text(&d, "c", "instruction,ports\nADD\n", 22, &err), IP_SYNTAX);
    assert_string_equal(err.place, "c:2:1");
    hx_sim_description_fini(&d);
}

static void published_table_is_imported(void **state) {
    (void)state;
    static const char path[] = "../shared/reference/skylake_x_ports.csv";
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is not here\n", path);
        skip();
    }
    static const char text[] = HEAD "load-ports p23\nstore-address-ports p237\nstore-data-ports p4\n"
                                    "ports-csv \"skylake_x_ports.csv\"\n";
    struct hx_sim_description d;
    struct ip_error err;
    if (hx_sim_description_parse(&d, "t", text, strlen(text), "../shared/reference/", &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_true(d.imported.count > 4000);
    struct isa_form form = {0};
    struct isa_binding binding;
    size_t length;
    assert_int_equal(isa_decode((const uint8_t *)"\x48\x0f\xaf\xc3", 4, &form, &binding, &length, &err),
                     IP_OK);
    const struct hx_sim_row *row = hx_sim_row_find(&d, &form, &binding); /* imul rax, rbx */
    assert_non_null(row);
    assert_int_equal(row->latency, 3);
    assert_int_equal(row->uops_count, 1);
    assert_int_equal(row->uops[0].ports, 2); /* p1 */
    hx_sim_description_fini(&d);
}

/* A description and its table in a folder whose name is longer than any buffer for names. */
static void long_names_are_whole(void **state) {
    (void)state;
    enum { FOLDERS = 7, NAME = 200 };
    static const char *const texts[][2] = {{"d.sim", HEAD "port-counters\nports-csv \"t.csv\"\n"},
                                           {"t.csv", "instruction,ports\nADD,1*p0\n"}};
    char root[] = "/tmp/isaprobe-sim-XXXXXX", path[2048], part[NAME + 1];
    assert_non_null(mkdtemp(root));
    memset(part, 'd', NAME);
    part[NAME] = '\0';
    size_t length = strlen(strcpy(path, root)), ends[FOLDERS];
    for (size_t i = 0; i < FOLDERS; i++) {
        ends[i] = length;
        length += (size_t)snprintf(path + length, sizeof path - length, "/%s", part);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path + length, sizeof path - length, "/%s", texts[i][0]);
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        assert_true(fputs(texts[i][1], file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    char specification[2100];
    (void)snprintf(path + length, sizeof path - length, "/d.sim");
    (void)snprintf(specification, sizeof specification, "sim:%s", path);
    struct hx_sim_description d = {0};
    struct hx_references references;
    struct hx_timer timer = {0};
    struct hx_port_events events;
    struct ip_error errs[2] = {{0}};
    memset(&references, 0, sizeof references);
    enum ip_status read = hx_sim_description_read(&d, path, &errs[0]);
    enum ip_status opened = hx_timer_open(&timer, specification, &references, -1, &errs[1]);
    hx_port_events_open(&events, specification, -1, &references);
    size_t imported = d.imported.count;
    unsigned counted = events.count;
    hx_port_events_close(&events);
    hx_timer_close(&timer);
    hx_sim_description_fini(&d);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path + length, sizeof path - length, "/%s", texts[i][0]);
        assert_int_equal(remove(path), 0);
    }
    for (size_t i = FOLDERS; i > 0; i--) {
        path[length] = '\0';
        assert_int_equal(rmdir(path), 0);
        length = ends[i - 1];
    }
    assert_int_equal(rmdir(root), 0);
    if (read != IP_OK || opened != IP_OK) {
        fail_msg("%s; %s", errs[0].text, errs[1].text);
    }
    assert_int_equal(imported, 1);
    assert_int_equal(counted, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_a_place),         cmocka_unit_test(all_settings_arrive),
        cmocka_unit_test(defaults_are_sane),           cmocka_unit_test(patterns_match),
        cmocka_unit_test(described_cpus_parse),        cmocka_unit_test(missing_file_is_an_io_error),
        cmocka_unit_test(names_of_published_tables),   cmocka_unit_test(tables_are_imported),
        cmocka_unit_test(published_names_are_read),    cmocka_unit_test(rows_of_published_tables),
        cmocka_unit_test(published_table_is_imported), cmocka_unit_test(long_names_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
