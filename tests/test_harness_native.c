/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the measurements stand on: a kernel that misbehaves must be caught, and must cost only
 * itself. The kernels are machine code written by hand, so that nothing but harness/ is under test. They run
 * on the silicon of any x86-64 machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "common/cpus.h"
#include "generator/abi.h"
#include "generator/kernel.h"
#include "harness/child.h"
#include "harness/estimate.h"
#include "harness/meter.h"
#include "harness/native.h"
#include "harness/timer.h"
#include "harness/worker.h"
#include "tests/near.h"

enum { ROUNDS = 5, CODE_MAX = 8192, VALUES = HX_SAMPLE_ROWS * ROUNDS };

struct raw_kernel {
    struct gen_kernel kernel;
    uint8_t shorter[CODE_MAX], longer[CODE_MAX];
};

static size_t put(uint8_t *to, size_t at, const void *bytes, size_t count) {
    memcpy(to + at, bytes, count);
    return at + count;
}

/* mov rcx, rdi; loop: `copies` times `unit`; dec rcx; jnz loop; then `last` instead of or before the return.
 */
static size_t code_write(uint8_t *to, const void *unit, size_t unit_bytes, uint32_t copies) {
    size_t at = put(to, 0, "\x48\x89\xf9", 3);
    size_t head = at;
    for (uint32_t i = 0; i < copies; i++) {
        at = put(to, at, unit, unit_bytes);
    }
    at = put(to, at, "\x48\xff\xc9\x0f\x85", 5);
    int32_t back = (int32_t)head - (int32_t)(at + 4);
    at = put(to, at, &back, 4);
    return put(to, at, "\xc3", 1);
}

static void kernel_loop(struct raw_kernel *raw, const void *unit, size_t unit_bytes, uint32_t copies) {
    memset(raw, 0, sizeof *raw);
    raw->kernel.forms_per_unit = 1;
    raw->kernel.unit_instructions = 1;
    raw->kernel.shorter = (struct gen_code){.bytes = raw->shorter, .copies = copies};
    raw->kernel.longer = (struct gen_code){.bytes = raw->longer, .copies = 2 * copies};
    raw->kernel.shorter.length = code_write(raw->shorter, unit, unit_bytes, copies);
    raw->kernel.longer.length = code_write(raw->longer, unit, unit_bytes, 2 * copies);
}

/* The same bytes, then ret, for both lengths. */
static void kernel_once(struct raw_kernel *raw, const void *bytes, size_t count) {
    memset(raw, 0, sizeof *raw);
    raw->kernel.forms_per_unit = 1;
    size_t length = put(raw->shorter, put(raw->shorter, 0, bytes, count), "\xc3", 1);
    memcpy(raw->longer, raw->shorter, length);
    raw->kernel.shorter = (struct gen_code){.bytes = raw->shorter, .length = length, .copies = 1};
    raw->kernel.longer = (struct gen_code){.bytes = raw->longer, .length = length, .copies = 2};
}

struct fixture {
    struct raw_kernel chain, sentinel, good;
    struct hx_references references;
    struct hx_timer timer;
};

static const char ADD[] = "\x48\x01\xc0";                      /* add rax, rax */
static const char NOP8[] = "\x0f\x1f\x84\x00\x00\x00\x00\x00"; /* an eight-byte NOP */

static void fixture_open(struct fixture *fixture) {
    kernel_loop(&fixture->chain, ADD, 3, 96);
    kernel_loop(&fixture->sentinel, NOP8, 8, 192);
    kernel_loop(&fixture->good, ADD, 3, 64);
    fixture->references.chain = fixture->chain.kernel;
    fixture->references.sentinels[HX_SENTINEL_NOPS] = fixture->sentinel.kernel;
    struct ip_error err;
    enum ip_status status = hx_timer_open(&fixture->timer, "tsc", &fixture->references, -1, &err);
    if (status == IP_CAPABILITY) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_int_equal(status, IP_OK);
    fixture->timer.timeout_ms = 200;
}

/* Runs good, bad, good: the bad one must end as expected, and the good ones around it must be measured.
 * `after`: the last, NULL: the same as the first. */
static void assert_caught_before(const void *bytes, size_t count, enum hx_outcome expected,
                                 const char *why_part, const struct gen_kernel *after) {
    static struct fixture fixture;
    static struct raw_kernel bad;
    fixture_open(&fixture);
    kernel_once(&bad, bytes, count);
    struct hx_job jobs[3] = {{.kernel = &fixture.good.kernel, .rounds = ROUNDS},
                             {.kernel = &bad.kernel, .rounds = ROUNDS},
                             {.kernel = after != NULL ? after : &fixture.good.kernel, .rounds = ROUNDS}};
    static double values[3][VALUES];
    struct hx_samples samples[3];
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < 3; i++) {
        hx_samples_place(&samples[i], values[i], ROUNDS);
    }
    struct ip_error err;
    enum ip_status status = fixture.timer.ops->run(&fixture.timer, jobs, 3, samples, &err);
    if (status != IP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(samples[0].outcome, HX_OUTCOME_OK);
    assert_int_equal(samples[1].outcome, expected);
    assert_int_equal(samples[2].outcome, HX_OUTCOME_OK);
    if (strstr(samples[1].why, why_part) == NULL) {
        fail_msg("'%s' does not say '%s'", samples[1].why, why_part);
    }
    assert_true(samples[2].longer[0] > 0.0);
    hx_timer_close(&fixture.timer);
}

#define ASSERT_CAUGHT(code, outcome, why) assert_caught_before(code, sizeof(code) - 1, outcome, why, NULL)

static void test_illegal_instruction(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x0f\x0b", HX_OUTCOME_ILLEGAL, "illegal instruction"); /* ud2 */
}

/* The process goes on after it: registers, stack, flags, MXCSR and the x87 stack are put back. */
static void test_illegal_instruction_in_a_mess(void **state) {
    (void)state;
    static const char MESS[] =
        "\x31\xdb\x4d\x31\xff\x50\x50"         /* xor ebx, ebx; xor r15, r15; push rax, twice */
        "\xfd\xd9\xe8\xd9\xe8"                 /* std; fld1, twice */
        "\x68\x00\x00\x00\x00\x0f\xae\x14\x24" /* push 0; ldmxcsr [rsp]: no exception is masked */
        "\x0f\x0b";                            /* ud2 */
    static const char CHECK[] =
        "\x48\x83\xec\x20\xd9\x34\x24"         /* sub rsp, 32; fnstenv [rsp] */
        "\x66\x83\x7c\x24\x08\xff\x75\x14"     /* cmp word [rsp + 8], -1; jne to the ud2 */
        "\x0f\xae\x1c\x24"                     /* stmxcsr [rsp] */
        "\x81\x24\x24\xc0\xff\x00\x00"         /* and dword [rsp], 0xffc0 */
        "\x81\x3c\x24\x80\x1f\x00\x00\x74\x02" /* cmp dword [rsp], 0x1f80; je behind the ud2 */
        "\x0f\x0b\x48\x83\xc4\x20";            /* ud2; add rsp, 32 */
    static struct raw_kernel check;
    kernel_once(&check, CHECK, sizeof CHECK - 1);
    assert_caught_before(MESS, sizeof MESS - 1, HX_OUTCOME_ILLEGAL, "illegal instruction", &check.kernel);
}

/* Kernels may map pages, but none of a file that the program has open. */
static void test_inherited_file(void **state) {
    (void)state;
    char code[] = "\x31\xff\xbe\x00\x10\x00\x00\xba\x03\x00\x00\x00" /* rdi 0, rsi 4096, rdx read and write */
                  "\x41\xba\x01\x00\x00\x00\x41\xb8\x00\x00\x00\x00" /* r10 MAP_SHARED, r8 the file */
                  "\x45\x31\xc9\xb8\x09\x00\x00\x00\x0f\x05"         /* r9 0; mmap */
                  "\x48\x85\xc0\x78\x06\xc7\x00\x01\x00\x00\x00";    /* if it is not negative: mov [rax], 1 */
    enum { FILE_AT = 20 };
    char page[4096] = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(page, 1, sizeof page, file), sizeof page);
    assert_int_equal(fflush(file), 0);
    int fd = fileno(file);
    memcpy(code + FILE_AT, &fd, sizeof fd);
    ASSERT_CAUGHT(code, HX_OUTCOME_OK, "");
    assert_int_equal(pread(fd, page, sizeof page, 0), sizeof page);
    assert_int_equal(page[0], 0);
    assert_int_equal(fclose(file), 0);
}

static void test_clobbered_callee_saved(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x31\xdb", HX_OUTCOME_WRECKED, "callee-saved");     /* xor ebx, ebx */
    ASSERT_CAUGHT("\x4d\x31\xff", HX_OUTCOME_WRECKED, "callee-saved"); /* xor r15, r15 */
}

static void test_wrecked_stack(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x31\xe4", HX_OUTCOME_SEGFAULT, "0x0"); /* xor esp, esp: the return faults */
    /* pop rax; push 0; push rax: returns to the right place with a stack that is eight bytes off */
    ASSERT_CAUGHT("\x58\x6a\x00\x50", HX_OUTCOME_WRECKED, "RSP");
}

static void test_endless_loop(void **state) {
    (void)state;
    ASSERT_CAUGHT("\xeb\xfe", HX_OUTCOME_TIMEOUT, "did not end");
}

static void test_segmentation_fault(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x48\x8b\x04\x25\x00\x20\x00\x00", HX_OUTCOME_SEGFAULT, "0x2000"); /* mov rax, [0x2000] */
}

static void test_code_is_not_writable(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x48\x89\x04\x25\x00\x00\x00\x10", HX_OUTCOME_SEGFAULT,
                  "0x10000000"); /* mov [code], rax */
}

static void test_arena_is_not_executable(void **state) {
    (void)state;
    ASSERT_CAUGHT("\xb8\x00\x40\x01\x20\xff\xe0", HX_OUTCOME_SEGFAULT, "0x20014000"); /* jmp to the data */
}

static void test_division_by_zero(void **state) {
    (void)state;
    ASSERT_CAUGHT("\x31\xc9\x48\xf7\xf1", HX_OUTCOME_ARITHMETIC, "arithmetic"); /* xor ecx, ecx; div rcx */
}

static void test_breakpoint(void **state) {
    (void)state;
    ASSERT_CAUGHT("\xcc", HX_OUTCOME_TRAP, "trap");
}

static void test_system_call(void **state) {
    (void)state;
    ASSERT_CAUGHT("\xb8\x27\x00\x00\x00\x0f\x05", HX_OUTCOME_SYSCALL, "39"); /* getpid */
}

static void test_direction_flag(void **state) {
    (void)state;
    ASSERT_CAUGHT("\xfd", HX_OUTCOME_WRECKED, "direction flag"); /* std */
}

static void test_mxcsr(void **state) {
    (void)state;
    /* push 0x7f80; ldmxcsr [rsp]; pop rax */
    ASSERT_CAUGHT("\x68\x80\x7f\x00\x00\x0f\xae\x14\x24\x58", HX_OUTCOME_WRECKED, "MXCSR");
}

static void test_unknown_cpu_is_refused(void **state) {
    (void)state;
    struct hx_references references;
    memset(&references, 0, sizeof references);
    struct hx_timer timer;
    struct ip_error err;
    assert_int_equal(hx_timer_open(&timer, "tsc", &references, 9999, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "CPU 9999"));
    assert_non_null(strstr(err.text, "--cpu"));
}

static void test_unknown_timer_is_refused(void **state) {
    (void)state;
    struct hx_references references;
    memset(&references, 0, sizeof references);
    struct hx_timer timer;
    struct ip_error err;
    assert_int_equal(hx_timer_open(&timer, "sundial", &references, -1, &err), IP_USAGE);
    assert_string_equal(err.text,
                        "unknown timer 'sundial'; there are tsc, papi[:EVENT], sim:FILE and replay:FILE");
    assert_int_equal(hx_timer_open(&timer, "tsc:1", &references, -1, &err), IP_USAGE);
}

/* Cycles of one of the kernel's instructions, by the medians of 25 samples. */
static double cycles_each(struct fixture *fixture, const struct gen_kernel *kernel) {
    enum { MANY = 25 };
    struct hx_job job = {.kernel = kernel, .rounds = MANY};
    static double values[HX_SAMPLE_ROWS * MANY];
    struct hx_samples samples;
    memset(&samples, 0, sizeof samples);
    hx_samples_place(&samples, values, MANY);
    struct ip_error err;
    assert_int_equal(fixture->timer.ops->run(&fixture->timer, &job, 1, &samples, &err), IP_OK);
    assert_int_equal(samples.outcome, HX_OUTCOME_OK);
    struct hx_estimate estimate = hx_estimate_batch(kernel, &fixture->references, &samples, MANY);
    assert_true(estimate.ticks_per_cycle > 0.0);
    return estimate.cycles;
}

/* A longer kernel takes longer: the one thing about time that holds on any machine. */
static void test_time_grows_with_length(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    assert_true(cycles_each(&fixture, &fixture.good.kernel) > 0.0);
    hx_timer_close(&fixture.timer);
}

/* What leaves the caches is on its way to memory when its loop is over. That it arrives is a part of the run,
 * or it would hold up the next: the shorter one after the longer (-3 to -9 cycles each). */
static void test_time_grows_with_what_leaves_the_caches(void **state) {
    (void)state;
    enum { COPIES = 24 };
    struct gen_program program;
    struct gen_kernel kernel = {0};
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    static struct fixture fixture;
    fixture_open(&fixture);
    gen_program_init(&program);
    program.uses = GEN_USES_LATE_STORES;
    program.forms_per_unit = 1;
    ip_lines_printf(&program.unit, "clflush [0x%x]", GEN_DATA_ADDRESS);
    assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, COPIES, &err), IP_OK);
    assert_true(cycles_each(&fixture, &kernel) > 0.0);
    gen_kernel_fini(&kernel);
    gen_program_fini(&program);
    gen_encoder_fini(&encoder);
    hx_timer_close(&fixture.timer);
}

static void test_stop_ends_the_run(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    static const volatile sig_atomic_t stop = 1;
    fixture.timer.stop = &stop;
    static struct raw_kernel endless;
    kernel_once(&endless, "\xeb\xfe", 2);
    struct hx_job job = {.kernel = &endless.kernel, .rounds = ROUNDS};
    static double values[VALUES];
    struct hx_samples samples;
    memset(&samples, 0, sizeof samples);
    hx_samples_place(&samples, values, ROUNDS);
    fixture.timer.timeout_ms = 60000;
    struct ip_error err;
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, &job, 1, &samples, &err), IP_FAILED);
    assert_string_equal(err.text, "interrupted");
    hx_timer_close(&fixture.timer);
}

static enum hx_outcome block_outcome(const void *bytes, size_t count) {
    static struct fixture fixture;
    fixture_open(&fixture);
    static struct raw_kernel block;
    kernel_once(&block, bytes, count);
    block.kernel.map_on_demand = true;
    struct hx_job job = {.kernel = &block.kernel, .rounds = ROUNDS};
    static double values[VALUES];
    struct hx_samples samples;
    memset(&samples, 0, sizeof samples);
    hx_samples_place(&samples, values, ROUNDS);
    struct ip_error err;
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, &job, 1, &samples, &err), IP_OK);
    hx_timer_close(&fixture.timer);
    return samples.outcome;
}

/* Pages that a block touches appear; what cannot be mapped is reported. */
static void test_pages_on_demand(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    static struct raw_kernel kernels[3];
    kernel_once(&kernels[0], "\xb8\x00\x56\x34\x12\x8b\x08\x8b\x88\x00\x00\x10\x00",
                13); /* two pages, 1 MiB apart */
    kernel_once(&kernels[1], "\x48\xb8\x00\x00\x00\x00\x00\x00\x00\x80\x8b\x08", 12); /* non-canonical */
    kernel_once(&kernels[2], "\x31\xc0\x8b\x00", 4); /* the null page: mapped only for privileged users */
    struct hx_job jobs[3];
    static double values[3][VALUES];
    struct hx_samples samples[3];
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < 3; i++) {
        kernels[i].kernel.map_on_demand = true;
        jobs[i] = (struct hx_job){.kernel = &kernels[i].kernel, .rounds = ROUNDS};
        hx_samples_place(&samples[i], values[i], ROUNDS);
    }
    struct ip_error err;
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, jobs, 3, samples, &err), IP_OK);
    assert_int_equal(samples[0].outcome, HX_OUTCOME_OK);
    assert_int_equal(samples[1].outcome, HX_OUTCOME_PAGES);
    assert_true(samples[2].outcome == HX_OUTCOME_PAGES || samples[2].outcome == HX_OUTCOME_OK);
    hx_timer_close(&fixture.timer);
}

/* What a block stores in one page does not appear in another one. */
static void test_pages_have_memory_of_their_own(void **state) {
    (void)state;
    static const char code[] = "\xb8\x00\x56\x34\x12"          /* mov eax, 0x12345600 */
                               "\xc7\x00\x07\x00\x00\x00"      /* mov dword [rax], 7 */
                               "\x8b\x88\x00\x10\x00\x00"      /* mov ecx, [rax+0x1000] */
                               "\x83\xf9\x07\x75\x02\x0f\x0b"; /* cmp ecx, 7; jne over; ud2; over: */
    assert_int_equal(block_outcome(code, sizeof code - 1), HX_OUTCOME_OK);
}

/* A block that goes 64 bytes further in each pass: its calls end before it needs 16 pages, which one call of
 * 6000 cycles would pass on any CPU that takes less than six cycles for it. */
static void test_block_that_walks_is_called_often(void **state) {
    (void)state;
    static const char code[] = "\x48\x89\xf9"                  /* mov rcx, rdi */
                               "\xb8\x00\x56\x34\x12"          /* mov eax, 0x12345600 */
                               "\x8b\x10\x83\xc0\x40"          /* pass: mov edx, [rax]; add eax, 64 */
                               "\x3d\x00\x56\x35\x12\x72\x02"  /* cmp eax, 0x12355600; jb on */
                               "\x0f\x0b\x48\xff\xc9\x75\xed"; /* ud2; on: dec rcx; jnz pass */
    assert_int_equal(block_outcome(code, sizeof code - 1), HX_OUTCOME_OK);
}

/* A software event needs no PMU: the whole PAPI path runs on a virtual machine too. TASK-CLOCK counts
 * nanoseconds of the thread. */
static void test_papi_software_event(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    struct hx_timer papi;
    struct ip_error err;
    enum ip_status status = hx_timer_open(&papi, "papi:perf::TASK-CLOCK", &fixture.references, -1, &err);
    if (status == IP_CAPABILITY) {
        print_message("skipped: %s\n", err.text);
        hx_timer_close(&fixture.timer);
        skip();
    }
    assert_int_equal(status, IP_OK);
    struct hx_job job = {.kernel = &fixture.good.kernel, .rounds = ROUNDS};
    static double values[VALUES];
    struct hx_samples samples;
    memset(&samples, 0, sizeof samples);
    hx_samples_place(&samples, values, ROUNDS);
    assert_int_equal(papi.ops->run(&papi, &job, 1, &samples, &err), IP_OK);
    assert_int_equal(samples.outcome, HX_OUTCOME_OK);
    for (size_t i = 0; i < ROUNDS; i++) {
        assert_true(samples.longer[i] > 0.0);
    }
    hx_timer_close(&papi);
    hx_timer_close(&fixture.timer);
}

static void test_papi_absence_is_explained(void **state) {
    (void)state;
    struct hx_references references;
    memset(&references, 0, sizeof references);
    struct hx_timer timer;
    struct ip_error err;
    assert_int_equal(hx_timer_open(&timer, "papi:NO_SUCH_EVENT", &references, -1, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "timer papi: event NO_SUCH_EVENT cannot be counted here: "));
    assert_non_null(strstr(err.text, "use --timer tsc"));
}

/* Page faults of children that ended. */
static long children_faults(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return usage.ru_minflt;
}

/* Kernels that are held are run as often as asked, any of them in any order, and one that is illegal costs
 * only itself each time, and no process; what is not held is refused. */
static void test_held_kernels_run_again(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    static struct raw_kernel bad;
    kernel_once(&bad, "\x0f\x0b", 2); /* ud2 */
    const struct gen_kernel *const kernels[] = {&fixture.good.kernel, &bad.kernel, &fixture.good.kernel};
    struct ip_error err;
    assert_int_equal(fixture.timer.ops->hold(&fixture.timer, kernels, 3, ROUNDS, &err), IP_OK);
    static double values[3][VALUES];
    struct hx_samples samples[3];
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < 3; i++) {
        hx_samples_place(&samples[i], values[i], ROUNDS);
    }
    static const uint32_t orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 0}, {1, 1, 2}};
    long ended = children_faults();
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        struct hx_job jobs[3];
        for (size_t i = 0; i < 3; i++) {
            jobs[i] =
                (struct hx_job){.kernel = kernels[orders[o][i]], .rounds = ROUNDS, .held = orders[o][i]};
        }
        assert_int_equal(fixture.timer.ops->run(&fixture.timer, jobs, 3, samples, &err), IP_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(samples[i].outcome, orders[o][i] == 1 ? HX_OUTCOME_ILLEGAL : HX_OUTCOME_OK);
            assert_true(orders[o][i] == 1 || samples[i].longer[ROUNDS - 1] > 0.0);
        }
    }
    assert_int_equal(children_faults(), ended);
    const struct hx_job strange = {.kernel = &fixture.good.kernel, .rounds = ROUNDS, .held = 3};
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, &strange, 1, samples, &err), IP_FAILED);
    fixture.timer.ops->release(&fixture.timer);
    const struct hx_job alone = {.kernel = &fixture.good.kernel, .rounds = ROUNDS};
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, &alone, 1, samples, &err), IP_OK);
    hx_timer_close(&fixture.timer);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* all were waited for */
    assert_int_equal(errno, ECHILD);
}

/* A terminal's Ctrl-C is for who measures, not for what is in hand. */
static void test_signals_for_the_parent_are_ignored(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    struct hx_child_common common = {.page_fd = memfd_create("pages", MFD_CLOEXEC)};
    struct hx_starter starter;
    struct hx_worker worker;
    struct ip_error err;
    assert_int_equal(hx_clock_tsc_init(&common.clock, &err), IP_OK);
    assert_int_equal(ftruncate(common.page_fd, HX_PAGES_BYTES), 0);
    assert_int_equal(hx_sandbox_init(&common.sandbox, &err), IP_OK);
    assert_int_equal(hx_starter_open(&starter, hx_child_main, &common, &err), IP_OK);
    const struct gen_kernel *const kernels[] = {&fixture.good.kernel};
    const struct hx_job job = {.kernel = &fixture.good.kernel, .rounds = ROUNDS};
    assert_int_equal(hx_worker_open(&worker, &starter, &fixture.timer, kernels, 1, 1, ROUNDS, &err), IP_OK);
    double values[VALUES];
    struct hx_samples samples = {0};
    hx_samples_place(&samples, values, ROUNDS);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    pid_t pid = 0;
    for (size_t i = 0; i <= sizeof signals / sizeof signals[0]; i++) {
        assert_int_equal(hx_worker_run(&worker, &job, 1, &samples, &err), IP_OK);
        assert_int_equal(samples.outcome, HX_OUTCOME_OK);
        pid = pid == 0 ? worker.pid : pid;
        assert_int_equal(worker.pid, pid);
        if (i < sizeof signals / sizeof signals[0]) {
            assert_int_equal(kill(pid, signals[i]), 0);
        }
    }
    hx_worker_close(&worker);
    hx_starter_close(&starter);
    hx_sandbox_fini(&common.sandbox);
    (void)close(common.page_fd);
    hx_timer_close(&fixture.timer);
}

/* Any CPU that this process may use but `cpu`; -1: there is none. */
static int other_cpu(int cpu) {
    struct ip_cpus allowed;
    assert_int_equal(ip_cpus_allowed(&allowed), 0);
    for (int i = 0; i < IP_CPUS_MAX; i++) {
        if (i != cpu && ip_cpus_has(&allowed, i)) {
            return i;
        }
    }
    return -1;
}

/* What is held goes on after a move to another CPU, and a CPU that is not there is refused. */
static void test_held_kernels_move(void **state) {
    (void)state;
    static struct fixture fixture;
    fixture_open(&fixture);
    int first = fixture.timer.cpu, second = other_cpu(first);
    if (second < 0) {
        hx_timer_close(&fixture.timer);
        print_message("this process may use one CPU only\n");
        skip();
    }
    const struct gen_kernel *const kernels[] = {&fixture.good.kernel};
    const struct hx_job job = {.kernel = &fixture.good.kernel, .rounds = ROUNDS};
    struct ip_error err;
    double values[VALUES];
    struct hx_samples samples;
    memset(&samples, 0, sizeof samples);
    hx_samples_place(&samples, values, ROUNDS);
    assert_int_equal(fixture.timer.ops->hold(&fixture.timer, kernels, 1, ROUNDS, &err), IP_OK);
    for (int i = 0; i < 4; i++) {
        int cpu = i % 2 != 0 ? first : second;
        assert_int_equal(fixture.timer.ops->run(&fixture.timer, &job, 1, &samples, &err), IP_OK);
        assert_int_equal(samples.outcome, HX_OUTCOME_OK);
        assert_true(fixture.timer.ops->move(&fixture.timer, cpu));
        assert_int_equal(fixture.timer.cpu, cpu);
    }
    assert_int_equal(fixture.timer.ops->run(&fixture.timer, &job, 1, &samples, &err), IP_OK);
    assert_false(fixture.timer.ops->move(&fixture.timer, IP_CPUS_MAX - 1));
    assert_int_equal(fixture.timer.cpu, first);
    hx_timer_close(&fixture.timer);
}

/* Divides by zero unless both lengths lie where bit 7 of the address is set. */
static void test_each_process_has_its_code_elsewhere(void **state) {
    (void)state;
    static const char where[] = "\x48\x8d\x05\x00\x00\x00\x00" /* lea rax, [rip] */
                                "\x48\xc1\xe8\x07"             /* shr rax, 7 */
                                "\x83\xe0\x01"                 /* and eax, 1 */
                                "\x89\xc1"                     /* mov ecx, eax */
                                "\xb8\x01\x00\x00\x00"         /* mov eax, 1 */
                                "\x99\xf7\xf1";                /* cdq; div ecx */
    enum { PROCESSES = 64 };
    static struct fixture fixture;
    static struct raw_kernel kernel;
    fixture_open(&fixture);
    kernel_once(&kernel, where, sizeof where - 1);
    unsigned divided = 0, faulted = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        const struct hx_job job = {.kernel = &kernel.kernel, .rounds = ROUNDS};
        double values[VALUES];
        struct hx_samples samples = {0};
        hx_samples_place(&samples, values, ROUNDS);
        struct ip_error err;
        assert_int_equal(fixture.timer.ops->run(&fixture.timer, &job, 1, &samples, &err), IP_OK);
        divided += samples.outcome == HX_OUTCOME_OK;
        faulted += samples.outcome != HX_OUTCOME_OK;
    }
    hx_timer_close(&fixture.timer);
    assert_within(divided, PROCESSES / 16, PROCESSES / 2); /* a quarter of all places */
    assert_within(faulted, PROCESSES / 2, PROCESSES);
}

/* A calibration beside a neighbour finds a narrower core: what was found before stays. */
static void test_a_core_grows_no_narrower(void **state) {
    (void)state;
    struct hx_bench bench;
    struct ip_error err = {0};
    const struct hx_bench_options options = {.cpu = -1, .no_companion = true};
    if (hx_bench_open(&bench, &options, &err) != IP_OK) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (!(bench.sentinel_cycles > 0.0)) { /* an emulated CPU: nothing in its time repeats */
        hx_bench_close(&bench);
        print_message("skipped: no calibration here found what a NOP takes\n");
        skip();
    }
    const double pretended = bench.sentinel_cycles / 4.0;
    bench.sentinel_cycles = bench.sentinel_calibrated = pretended;
    bench.nop_cycles = pretended; /* else what fills the slots is in doubt */
    bench.sentinel_suspect = false;
    enum ip_status status = hx_bench_recalibrate(&bench, &err);
    double kept = bench.sentinel_cycles;
    bool suspect = bench.sentinel_suspect;
    hx_bench_close(&bench);
    assert_int_equal(status, IP_OK);
    assert_true(kept == pretended);
    assert_false(suspect);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_kernels_run_again),
        cmocka_unit_test(test_signals_for_the_parent_are_ignored),
        cmocka_unit_test(test_held_kernels_move),
        cmocka_unit_test(test_each_process_has_its_code_elsewhere),
        cmocka_unit_test(test_a_core_grows_no_narrower),
        cmocka_unit_test(test_illegal_instruction),
        cmocka_unit_test(test_illegal_instruction_in_a_mess),
        cmocka_unit_test(test_clobbered_callee_saved),
        cmocka_unit_test(test_wrecked_stack),
        cmocka_unit_test(test_endless_loop),
        cmocka_unit_test(test_segmentation_fault),
        cmocka_unit_test(test_code_is_not_writable),
        cmocka_unit_test(test_arena_is_not_executable),
        cmocka_unit_test(test_division_by_zero),
        cmocka_unit_test(test_breakpoint),
        cmocka_unit_test(test_system_call),
        cmocka_unit_test(test_direction_flag),
        cmocka_unit_test(test_mxcsr),
        cmocka_unit_test(test_unknown_cpu_is_refused),
        cmocka_unit_test(test_unknown_timer_is_refused),
        cmocka_unit_test(test_time_grows_with_length),
        cmocka_unit_test(test_time_grows_with_what_leaves_the_caches),
        cmocka_unit_test(test_stop_ends_the_run),
        cmocka_unit_test(test_pages_on_demand),
        cmocka_unit_test(test_pages_have_memory_of_their_own),
        cmocka_unit_test(test_inherited_file),
        cmocka_unit_test(test_block_that_walks_is_called_often),
        cmocka_unit_test(test_papi_software_event),
        cmocka_unit_test(test_papi_absence_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
