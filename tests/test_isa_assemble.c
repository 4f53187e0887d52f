/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "isa/assemble.h"
#include "isa/encode.h"
#include "isa/gas.h"
#include "tests/refused.h"

static void test_lines(void **state) {
    (void)state;
    /* As NASM 3 says it. */
    static const char *const later[][2] = {
        {"frobnicate rax", "instruction expected, found `frobnicate rax'"},
        {"frobnicate", "label `frobnicate' alone on a line without a colon might be in error"},
        {"add rax, 0x123456789", "signed dword exceeds bounds"},
    };
    static const struct {
        const char *line;
        const char *hex; /* "" for a rejected line */
        const char *complaint;
    } cases[] = {
        {"add rax, rbx", "4801d8", ""},
        {"frobnicate rax", "", "parser: instruction expected"},
        {"frobnicate", "", "label alone on a line without a colon might be in error"},
        {"mov qword [r14+rcx*8+0x12345678], strict dword 0x11223344", "49c784ce7856341244332211", ""},
        {"mov rax, strict qword 0x1122334455667788", "48b88877665544332211", ""},
        {"db 0x62,0xf1,0xed,0x58,0xc2,0xd3,0x11 ; a comment", "62f1ed58c2d311", ""},
        {"db 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "0102030405060708090a0b0c0d0e0f", ""},
        {"db 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "", "not a single instruction of at most 15 bytes"},
        {"", "", "the line gives no code"},
        {"; nothing", "", "the line gives no code"},
        {"resb 4", "", "uninitialized space declared in non-BSS section `.text': zeroing"},
        {"times 3 nop", "", "not a single instruction of at most 15 bytes"},
        {"nop\nnop", "", "the line holds a line break"},
        {"nop \\", "", "the line ends in a backslash"},
        {"[bits 16]", "", "directives are not instructions"},
        {" %include \"x\"", "", "directives are not instructions"},
        {"mov eax, dword [0x12345678]", "8b042578563412", ""}, /* absolute, not relative to RIP */
        {"jz strict near $+6", "0f8400000000", ""},
        {"jmp 0x1234", "e934120000", ""}, /* what a linker would fill in is listed in parentheses */
        {"mov rax, [abs qword 0x1122334455667788]", "48a18877665544332211", ""},
        {"add rax, 0x123456789", "", "signed dword immediate exceeds bounds"},
        {"xor eax, eax", "31c0", ""},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    const char *lines[COUNT];
    struct isa_code codes[COUNT];
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    for (size_t i = 0; i < COUNT; i++)
        lines[i] = cases[i].line;
    assert_int_equal(isa_assemble_lines(lines, COUNT, codes, &complaints, &err), IP_OK);
    assert_int_equal(complaints.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char hex[2 * ISA_CODE_MAX + 1] = "";
        for (unsigned k = 0; k < codes[i].length; k++)
            snprintf(hex + 2 * k, 3, "%02x", codes[i].bytes[k]);
        assert_string_equal(hex, cases[i].hex);
        const char *complaint = cases[i].complaint;
        for (size_t k = 0; k < sizeof later / sizeof later[0]; k++) {
            if (strcmp(lines[i], later[k][0]) == 0 && strcmp(complaints.items[i], later[k][1]) == 0)
                complaint = later[k][1];
        }
        if (strncmp(complaints.items[i], complaint, strlen(complaint)) != 0 ||
            (cases[i].complaint[0] == '\0') != (complaints.items[i][0] == '\0'))
            fail_msg("'%s': '%s'", cases[i].line, complaints.items[i]);
    }
    ip_lines_fini(&complaints);
    /* Without complaints asked for, and with nothing to do. */
    assert_int_equal(isa_assemble_lines(lines, COUNT, codes, NULL, &err), IP_OK);
    assert_int_equal(codes[0].length, 3);
    assert_int_equal(isa_assemble_lines(lines, 0, codes, NULL, &err), IP_OK);
}

static void test_long_line(void **state) {
    (void)state;
    char line[ISA_LINE_MAX + 1];
    memset(line, ' ', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    memcpy(line, "nop", 3);
    const char *lines[] = {line, line + 1, "nop"};
    struct isa_code codes[3];
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    assert_int_equal(isa_assemble_lines(lines, 1, codes, &complaints, &err), IP_OK);
    assert_int_equal(codes[0].length, 0);
    assert_string_equal(complaints.items[0], "the line is longer than 159 characters");
    ip_lines_fini(&complaints);
    line[ISA_LINE_MAX - 1] = '\0';
    assert_int_equal(isa_assemble_lines(lines, 1, codes, NULL, &err), IP_OK);
    assert_int_equal(codes[0].length, 1);
}

static enum ip_status nop_assemble(struct ip_error *err) {
    struct ip_text code = {0};
    enum ip_status status = isa_assemble_source("nop", "nop\n", &code, err);
    ip_text_fini(&code);
    return status;
}

static void test_memory_refused(void **state) {
    (void)state;
    struct refused refused = refused_try(nop_assemble, SCMP_SYS(memfd_create), EPERM);
    if (!refused.done) {
        print_message("skipped: no seccomp filter can be loaded here\n");
        skip();
    }
    assert_int_equal(refused.status, IP_CAPABILITY);
    assert_string_equal(refused.err.text, "cannot make a file in memory for NASM: Operation not permitted");
}

static enum ip_status lines_assemble(struct ip_error *err) {
    const char *const line = "nop";
    struct isa_code code;
    struct ip_lines complaints = {0};
    enum ip_status status = isa_assemble_lines(&line, 1, &code, &complaints, err);
    ip_lines_fini(&complaints);
    return status;
}

static enum ip_status nop_assemble_att(struct ip_error *err) {
    struct ip_text code = {0};
    enum ip_status status = isa_assemble_att("nop", "nop\n", &code, err);
    ip_text_fini(&code);
    return status;
}

/* Without /proc and /dev no assembler comes to its files: that is this system's fault, not the source's. */
static void test_folders_hidden(void **state) {
    (void)state;
    static const struct {
        refused_attempt *attempt;
        const char *folder, *text;
    } cases[] = {
        {nop_assemble, "/proc",
         "NASM cannot work without /proc/self/fd (mount /proc): No such file or directory"},
        {lines_assemble, "/proc",
         "NASM cannot work without /proc/self/fd (mount /proc): No such file or directory"},
        {nop_assemble, "/dev", "NASM cannot work without /dev/null (mount /dev): No such file or directory"},
        {nop_assemble_att, "/proc",
         "the GNU assembler cannot work without /proc/self/fd (mount /proc): No such file or directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_error ignored;
        if (cases[i].attempt(&ignored) != IP_OK) {
            print_message("skipped: %s\n", ignored.text); /* no such assembler here */
            continue;
        }
        struct refused refused = refused_hidden(cases[i].attempt, cases[i].folder);
        if (!refused.done) {
            print_message("skipped: this process may hide no folder (unshare, mount)\n");
            skip();
        }
        assert_int_equal(refused.status, IP_CAPABILITY);
        assert_string_equal(refused.err.text, cases[i].text);
    }
}

/* Many lines, by one NASM and by as many as there are CPUs: each code is with its line, and so is each
 * complaint; the listing's columns hold for line numbers of six digits, offsets, long instructions. */
static void test_many_lines(void **state) {
    (void)state;
    enum { COUNT = 120000, EVERY = 1000 };
    const char **lines = malloc(COUNT * sizeof *lines);
    struct isa_code *codes = malloc(COUNT * sizeof *codes);
    struct ip_lines complaints[2] = {{0}};
    struct ip_error err = {0};
    struct ip_cpus allowed, one = {0};
    assert_true(lines != NULL && codes != NULL);
    assert_int_equal(ip_cpus_allowed(&allowed), 0);
    for (int cpu = 0; ip_cpus_count(&one) == 0; cpu++) {
        if (ip_cpus_has(&allowed, cpu))
            ip_cpus_add(&one, cpu);
    }
    for (size_t i = 0; i < COUNT; i++)
        lines[i] = i % EVERY == 7   ? "mov qword [r14+rcx*8+0x12345678], strict dword 0x11223344"
                   : i % EVERY == 9 ? "add rax, rbx, rcx, rdx"
                                    : "nop";
    for (size_t run = 0; run < 2; run++) {
        memset(codes, 0xff, COUNT * sizeof *codes);
        assert_int_equal(ip_cpus_allow(0, run == 0 ? &one : &allowed), 0);
        assert_int_equal(isa_assemble_lines(lines, COUNT, codes, &complaints[run], &err), IP_OK);
        assert_int_equal(complaints[run].count, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(codes[i].length, i % EVERY == 7 ? 12 : i % EVERY == 9 ? 0 : 1);
            assert_string_equal(complaints[run].items[i],
                                i % EVERY == 9 ? "invalid combination of opcode and operands" : "");
        }
        ip_lines_fini(&complaints[run]);
    }
    free(codes);
    free(lines);
}

static void test_source(void **state) {
    (void)state;
    struct ip_text code = {0};
    struct ip_error err = {0};
    assert_int_equal(
        isa_assemble_source("block", "%define R rax\nagain: add R, rbx\n jnz again\n", &code, &err), IP_OK);
    assert_int_equal(code.length, 5);
    assert_memory_equal(code.data, "\x48\x01\xd8\x75\xfb", 5);
    assert_int_equal(isa_assemble_source("block", "nop\nadd rax, rbx, rcx, rdx\n", &code, &err), IP_SYNTAX);
    assert_string_equal(err.place, "block:2");
    assert_string_equal(err.text, "invalid combination of opcode and operands");
    assert_int_equal(code.length, 5); /* untouched */
    assert_int_equal(isa_assemble_source("block", "nop\n\nfrob\n", &code, &err), IP_SYNTAX);
    assert_string_equal(err.place, "block:3");
    ip_text_fini(&code);
}

/* A few words of source may want hours or all memory: NASM is stopped, and the same call works again. */
static void test_source_without_end(void **state) {
    (void)state;
    struct ip_text code = {0};
    struct ip_error err = {0};
    struct rlimit before, second;
    assert_int_equal(getrlimit(RLIMIT_CPU, &before), 0);
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    second = before;
    second.rlim_cur = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + 3;
    assert_int_equal(setrlimit(RLIMIT_CPU, &second), 0); /* NASM's, too: not its 10 s in a test */
    assert_int_equal(isa_assemble_source("block", "nop\ntimes 400000000000 nop\n", &code, &err), IP_SYNTAX);
    assert_int_equal(setrlimit(RLIMIT_CPU, &before), 0);
    assert_string_equal(err.place, "block");
    char expected[160];
    (void)snprintf(expected, sizeof expected,
                   "NASM would take more than %lu s of CPU time (ulimit -t): give a block whose 'times' and "
                   "%%rep repeat less",
                   (unsigned long)second.rlim_cur);
    assert_string_equal(err.text, expected);
    assert_int_equal(isa_assemble_source("block", "resb 400000000000\n", &code, &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, "more than 512 MB of memory"));
    assert_null(code.data);
    assert_int_equal(isa_assemble_source("block", "times 1000 nop\n", &code, &err), IP_OK);
    assert_int_equal(code.length, 1000);
    ip_text_fini(&code);
}

/* A bound of this process's own is told as such. */
static void test_bound_of_our_own(void **state) {
    (void)state;
    const char *lines[40];
    struct isa_code codes[40];
    struct ip_error err = {0};
    struct rlimit before, small;
    for (size_t i = 0; i < 40; i++) {
        lines[i] = "nop";
    }
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum ip_status status = isa_assemble_lines(lines, 40, codes, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, IP_FAILED);
    assert_string_equal(err.text, "NASM would take more than 1 KB of output (ulimit -f) for 40 lines");
}

static void test_nasm_missing(void **state) {
    (void)state;
    const char *lines[] = {"nop"};
    struct isa_code code = {.length = 9};
    struct ip_error err = {0};
    struct ip_lines complaints = {0};
    setenv("ISAPROBE_NASM", "/nonexistent/nasm", 1);
    assert_int_equal(isa_assemble_lines(lines, 1, &code, &complaints, &err), IP_CAPABILITY);
    assert_string_equal(err.text,
                        "no NASM at '/nonexistent/nasm' (ISAPROBE_NASM); correct or unset that variable");
    setenv("ISAPROBE_NASM", "/", 1);
    assert_int_equal(isa_assemble_lines(lines, 1, &code, &complaints, &err), IP_CAPABILITY);
    assert_string_equal(err.text, "no NASM at '/' (ISAPROBE_NASM); correct or unset that variable");
    unsetenv("ISAPROBE_NASM");
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent:", 1);
    assert_int_equal(isa_assemble_lines(lines, 1, &code, &complaints, &err), IP_CAPABILITY);
    assert_string_equal(err.text, "no nasm on PATH; install NASM 2.16 or set ISAPROBE_NASM to the program");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(code.length, 9); /* untouched */
    assert_int_equal(complaints.count, 0);
    assert_int_equal(isa_assemble_lines(lines, 1, &code, NULL, &err), IP_OK);
    assert_int_equal(code.length, 1);
}

/* A program that is not NASM: it fails without naming a line, or dies. */
static void test_nasm_broken(void **state) {
    (void)state;
    static const struct {
        const char *script;
        enum ip_status status;
        const char *text;
    } cases[] = {
        {"#!/bin/sh\necho 'out of paper'\nexit 3\n", IP_FAILED, "NASM failed and said: out of paper"},
        {"#!/bin/sh\nkill -9 $$\n", IP_FAILED, "was killed by signal 9"},
        {"#!/bin/sh\nexit 1\n", IP_CAPABILITY, "NASM failed, and said nothing: is ISAPROBE_NASM"},
        {"#!/bin/sh\n", IP_CAPABILITY, "NASM wrote no listing: is ISAPROBE_NASM"},
    };
    enum { MANY = 9000 }; /* enough for several */
    static const char *many[MANY];
    static struct isa_code many_codes[MANY];
    for (size_t i = 0; i < MANY; i++)
        many[i] = "nop";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[] = "/tmp/isaprobe-test-XXXXXX";
        int fd = mkstemp(path);
        size_t length = strlen(cases[i].script);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, cases[i].script, length), length);
        assert_int_equal(fchmod(fd, 0700), 0);
        close(fd);
        setenv("ISAPROBE_NASM", path, 1);
        const char *lines[] = {"nop"};
        struct isa_code code;
        struct ip_error err = {0};
        assert_int_equal(isa_assemble_lines(lines, 1, &code, NULL, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
        assert_int_equal(isa_assemble_lines(many, MANY, many_codes, NULL, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
        struct ip_text source_code = {0};
        if (cases[i].status == IP_CAPABILITY) { /* also where a source could have no code */
            assert_int_equal(isa_assemble_source("f", "nop", &source_code, &err), IP_CAPABILITY);
            assert_non_null(strstr(err.text, cases[i].text));
        }
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
        unsetenv("ISAPROBE_NASM");
        unlink(path);
    }
}

/* Works with the standard descriptors closed, where new files get the numbers that the child uses. */
static void test_low_descriptors(void **state) {
    (void)state;
    int saved = dup(0);
    close(0);
    const char *lines[] = {"nop", "ret"};
    struct isa_code codes[2];
    struct ip_error err = {0};
    enum ip_status status = isa_assemble_lines(lines, 2, codes, NULL, &err);
    dup2(saved, 0);
    close(saved);
    assert_int_equal(status, IP_OK);
    assert_int_equal(codes[1].bytes[0], 0xc3);
}

/* All names are found by bisection: Zydis numbers them in their order. */
static void test_mnemonics_are_found(void **state) {
    (void)state;
    for (int m = ZYDIS_MNEMONIC_INVALID + 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        assert_int_equal(isa_zydis_mnemonic(ZydisMnemonicGetString((ZydisMnemonic)m)), m);
    }
    assert_int_equal(isa_zydis_mnemonic("frob"), ZYDIS_MNEMONIC_INVALID);
    assert_int_equal(isa_zydis_mnemonic(""), ZYDIS_MNEMONIC_INVALID);
    assert_int_equal(isa_zydis_mnemonic("zzz"), ZYDIS_MNEMONIC_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mnemonics_are_found),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_memory_refused),
        cmocka_unit_test(test_folders_hidden),
        cmocka_unit_test(test_many_lines),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_source_without_end),
        cmocka_unit_test(test_bound_of_our_own),
        cmocka_unit_test(test_nasm_missing),
        cmocka_unit_test(test_nasm_broken),
        cmocka_unit_test(test_low_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
