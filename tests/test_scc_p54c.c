/* SPDX-License-Identifier: Apache-2.0 */
/* The in-order model of the P54C on machine code with cycles that its manual lets one count by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scc_model/p54c.h"

static void table_get(struct scc_p54c *table) {
    struct ip_error err = {0};
    if (scc_p54c_parse(table, "p54c", scc_p54c_csv(), &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
}

#define CODE(...) {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

static void cycles(void **state) {
    (void)state;
    static const struct {
        const char *what;
        uint8_t code[24];
        size_t bytes;
        double pipes, serial;
    } cases[] = {
        {"add eax, ebx: waits for itself", CODE(0x01, 0xd8), 1, 1},
        {"add eax, 1; add ebx, 1: pair", CODE(0x83, 0xc0, 1, 0x83, 0xc3, 1), 1, 2},
        {"add eax, 1; add ebx, eax: the second needs the first", CODE(0x83, 0xc0, 1, 0x01, 0xc3), 2, 2},
        {"shl eax, 2; shl ebx, 2: both want the U pipe", CODE(0xc1, 0xe0, 2, 0xc1, 0xe3, 2), 2, 2},
        {"dec ecx; jnz $: a branch pairs with its condition", CODE(0x49, 0x75, 0xfd), 1, 2},
        {"imul eax, ebx", CODE(0x0f, 0xaf, 0xc3), 9, 9},
        {"add esi, 8; mov eax, [esi]: address a cycle later", CODE(0x83, 0xc6, 8, 0x8b, 0x06), 3, 2},
        {"push eax, ebx, ecx, edx; pop edx, ecx, ebx, eax: pairs, and nothing waits for ESP",
         CODE(0x50, 0x53, 0x51, 0x52, 0x5a, 0x59, 0x5b, 0x58), 4, 8},
        {"push eax; pop ebx: no pair", CODE(0x50, 0x5b), 2, 2},
        {"pop eax; pop eax: no pair, both write it", CODE(0x58, 0x58), 2, 2},
        {"push eax; push esp: no pair, the value is that of the first", CODE(0x50, 0x54), 2, 2},
        {"push eax; mov ebx, [esp]: no pair, and no wait", CODE(0x50, 0x8b, 0x1c, 0x24), 2, 2},
        {"add esp, 4; pop esi: address a cycle later", CODE(0x83, 0xc4, 4, 0x5e), 3, 2},
        {"pop esp; pop eax: likewise", CODE(0x5c, 0x58), 3, 2},
        {"pop esi; mov eax, [esi]: likewise", CODE(0x5e, 0x8b, 0x06), 3, 2},
        {"add eax, [esi]; add ebx, [esi]: two cycles, paired", CODE(0x03, 0x06, 0x03, 0x1e), 2, 4},
        {"inc dword [esi]; inc dword [edi]: the second overlaps by a cycle", CODE(0xff, 0x06, 0xff, 0x07), 5,
         6},
        {"inc dword [esi]; cmp eax, [edi]: likewise", CODE(0xff, 0x06, 0x3b, 0x07), 4, 5},
        {"cmp eax, [edi]; inc dword [esi]: the whole way together", CODE(0x3b, 0x07, 0xff, 0x06), 3, 5},
        {"inc dword [esi]; add eax, 1: one cycle beside three", CODE(0xff, 0x06, 0x83, 0xc0, 1), 3, 4},
        {"mov dword [esi+4], 5; nop: displacement and immediate", CODE(0xc7, 0x46, 4, 5, 0, 0, 0, 0x90), 2,
         2},
        {"fadd st0, st0: the row's st is the top", CODE(0xd8, 0xc0), 3, 3},
        {"fld st0; fstp st0", CODE(0xd9, 0xc0, 0xdd, 0xd8), 2, 2},
        {"fxch st0; fsqrt, which names no register", CODE(0xd9, 0xc8, 0xd9, 0xfa), 70, 71},
        {"fadd st0, st1: latency 3", CODE(0xd8, 0xc1), 3, 3},
        {"fadd st1, st0; st2; st3; st4: one each cycle", CODE(0xdc, 0xc1, 0xdc, 0xc2, 0xdc, 0xc3, 0xdc, 0xc4),
         4, 12},
        {"fmul st1, st0; st2; st3: the multiplier takes two", CODE(0xdc, 0xc9, 0xdc, 0xca, 0xdc, 0xcb), 6, 9},
        {"fdiv st0, st1; add eax, 1: the divider is waited for", CODE(0xd8, 0xf1, 0x83, 0xc0, 1), 39, 40},
        {"fld [eax]; fstp [ebx]: a store wants its value a cycle before", CODE(0xdd, 0x00, 0xdd, 0x1b), 4, 3},
        {"fadd st1, st0; fxch st1: the exchange is free", CODE(0xdc, 0xc1, 0xd9, 0xc9), 3, 4},
    };
    struct scc_p54c table;
    table_get(&table);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_error err = {0};
        double pipes = -1, serial = -1;
        if (scc_p54c_cycles(&table, SCC_P54C_PIPES, cases[i].code, cases[i].bytes, &pipes, &err) != IP_OK ||
            scc_p54c_cycles(&table, SCC_P54C_SERIAL, cases[i].code, cases[i].bytes, &serial, &err) != IP_OK) {
            fail_msg("%s: %s", cases[i].what, err.text);
        }
        if (pipes != cases[i].pipes || serial != cases[i].serial) {
            fail_msg("%s: %g and %g cycles, not %g and %g", cases[i].what, pipes, serial, cases[i].pipes,
                     cases[i].serial);
        }
    }
}

/* As a source: the code is the body of a loop, whose branch may stand there or not. */
static void loops(void **state) {
    (void)state;
    static const struct {
        const char *what;
        uint8_t code[24];
        size_t bytes;
        double cycles;
    } cases[] = {
        {"add eax, 1; add ebx, 1", CODE(0x83, 0xc0, 1, 0x83, 0xc3, 1), 2},
        {"the same; dec ecx; jnz $$", CODE(0x83, 0xc0, 1, 0x83, 0xc3, 1, 0x49, 0x75, 0xf7), 2},
        {"add eax, 1, with which the counter pairs", CODE(0x83, 0xc0, 1), 2},
        {"mov eax, [ecx]; mov ebx, [ecx]: no address waits for the counter", CODE(0x8b, 0x01, 0x8b, 0x19), 2},
        {"jnz to what follows; add eax, 1: no inner loop", CODE(0x75, 0x00, 0x83, 0xc0, 1), 3},
        {"add eax, 1; jmp $$", CODE(0x83, 0xc0, 1, 0xeb, 0xfb), 1},
    };
    static const struct {
        const char *what;
        uint8_t code[24];
        size_t bytes;
    } inner[] = {
        {"dec edx; jnz $$; dec ecx; jnz $$", CODE(0x4a, 0x75, 0xfd, 0x49, 0x75, 0xfa)},
        {"add eax, 1; x: dec edx; jnz x", CODE(0x83, 0xc0, 1, 0x4a, 0x75, 0xfd)},
    };
    struct scc_p54c table;
    table_get(&table);
    const struct pw_cycles_source source = scc_p54c_source(&table);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_error err = {0};
        double cycles = -1;
        if (source.cycles(source.self, cases[i].code, cases[i].bytes, &cycles, &err) != IP_OK ||
            cycles != cases[i].cycles) {
            fail_msg("%s: %g cycles, not %g %s", cases[i].what, cycles, cases[i].cycles, err.text);
        }
    }
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        struct ip_error err = {0};
        double cycles = -1;
        if (source.cycles(source.self, inner[i].code, inner[i].bytes, &cycles, &err) != IP_UNSUPPORTED ||
            strstr(err.text, "inner loop") == NULL || cycles != -1) {
            fail_msg("%s: %g cycles: %s", inner[i].what, cycles, err.text);
        }
    }
}

static void refusals(void **state) {
    (void)state;
    struct scc_p54c table;
    struct ip_error err = {0};
    double out = 5;
    table_get(&table);
    static const uint8_t cpuid[] = {0x0f, 0xa2}, cut[] = {0x0f};
    assert_int_equal(scc_p54c_cycles(&table, SCC_P54C_PIPES, cpuid, 2, &out, &err), IP_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no row for 'cpuid'"));
    assert_int_equal(scc_p54c_cycles(&table, SCC_P54C_PIPES, cut, 1, &out, &err), IP_SYNTAX);
    assert_int_equal(scc_p54c_cycles(&table, SCC_P54C_PIPES, cut, 0, &out, &err), IP_SYNTAX);
    assert_true(out == 5);
}

/* The throughput column follows from the ports: what is taken longest. */
static void throughput_from_ports(void **state) {
    (void)state;
    struct scc_p54c table;
    table_get(&table);
    for (int i = 0; i < table.row_count; i++) {
        const struct scc_row *row = &table.rows[i];
        double most = 0;
        for (int u = 0; u < row->use_count; u++) {
            int width = 0;
            for (unsigned mask = row->uses[u].mask; mask != 0; mask &= mask - 1) {
                width++;
            }
            double per = (double)row->uses[u].cycles / width;
            most = per > most ? per : most;
        }
        if (most != row->throughput_cycles) {
            fail_msg("%s: %g by its ports, %g in the table", row->form, most, row->throughput_cycles);
        }
    }
}

static void table_errors(void **state) {
    (void)state;
#define HEAD "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency\n"
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"", "f:1"},
        {HEAD, "f"},
        {"form,latency\n", "f:1"},
        {HEAD "nop,,I86,ok,1,1,0.5,,1,1*p01\n", "f:2"},
        {HEAD "nop,,I86,ok,1,1,0.5,,1,1*p9,\n", "f:2"},
        {HEAD "nop,,I86,ok,1,1,0.5,,1,1*p01+,\n", "f:2"},
        {HEAD "nop,,I86,ok,1,1,0.5,,1,0.5*p01,\n", "f:2"},
        {HEAD "nop,,I86,ok,-1,-1,0.5,,1,1*p01,\n", "f:2"},
        {HEAD "nop,,I86,ok,,,0.5,,1,1*p01,\n", "f:2"},
        {HEAD "nop,,I86,ok,1,1,0,,1,1*p01,\n", "f:2"},
        {HEAD "\"nop,,I86,ok,1,1,0.5,,1,1*p01,\n", "f:2"},
        {HEAD "nop,,I86,ok,1,1,0.5,,1,1*p01,,more\n", "f:2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scc_p54c table = {.row_count = -3};
        struct ip_error err = {0};
        if (scc_p54c_parse(&table, "f", cases[i].text, &err) != IP_SYNTAX ||
            strcmp(err.place, cases[i].place) != 0) {
            fail_msg("case %zu: %s: %s", i, err.place, err.text);
        }
        assert_int_equal(table.row_count, -3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles),       cmocka_unit_test(loops),
        cmocka_unit_test(refusals),     cmocka_unit_test(throughput_from_ports),
        cmocka_unit_test(table_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
