/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, returns and indirect jumps: a model of what a CPU does with the addresses follows each unit from its
 * begin to its end. */
#include "generator/control.h"
#include "generator/encoder.h"
#include "tests/generator_testing.h"

enum { LINES_MAX = 128, STEPS_MAX = 1000, DEPTH = 64, SLOTS = 32 };

struct machine {
    const struct gen_program *program;
    size_t offsets[LINES_MAX + 1]; /* of each line, and the end */
    long registers[16], memory[SLOTS], stack[DEPTH];
    size_t depth, at, form_runs;
};

/* The number behind `prefix` in the line; the line must have it. */
static long number_after(const char *line, const char *prefix) {
    const char *at = strstr(line, prefix);
    assert_non_null(at);
    return strtol(at + strlen(prefix), NULL, 10);
}

/* The register that the line names as its last (`last`) or first operand. */
static unsigned register_of(const char *line, bool last) {
    const char *word = last ? strrchr(line, ' ') + 1 : strchr(line, ' ') + 1;
    for (unsigned i = 0; i < 16; i++) {
        const char *name = isa_reg_name(ISA_REG_GPR64, i);
        if (strncmp(word, name, strlen(name)) == 0) {
            return i;
        }
    }
    fail_msg("'%s' names no register", line);
    return 0;
}

/* Where a jump or call goes. */
static long target_of(const struct machine *machine, const char *line) {
    if (strchr(line, '[') != NULL) {
        return machine->memory[(number_after(line, "[r14+") - 1024) / 64];
    }
    const char *here = strchr(line, '$');
    return here != NULL ? (long)machine->offsets[machine->at] + strtol(here + 1, NULL, 10)
                        : machine->registers[register_of(line, true)];
}

static size_t line_at(const struct machine *machine, long offset, const char *line) {
    for (size_t i = 0; i <= machine->program->unit.count; i++) {
        if ((long)machine->offsets[i] == offset) {
            return i;
        }
    }
    fail_msg("'%s' goes to %ld, where no instruction begins", line, offset);
    return 0;
}

static void step(struct machine *machine, const char *mnemonic) {
    const char *line = machine->program->unit.items[machine->at];
    size_t length = strlen(mnemonic), next = machine->at + 1;
    machine->form_runs += strncmp(line, mnemonic, length) == 0 && strncmp(line, "jmp short", 9) != 0;
    if (strncmp(line, "lea ", 4) == 0) {
        machine->registers[register_of(line, false)] =
            (long)machine->offsets[machine->at] + number_after(line, "$");
    } else if (strncmp(line, "mov [", 5) == 0) {
        machine->memory[(number_after(line, "[r14+") - 1024) / 64] =
            machine->registers[register_of(line, true)];
    } else if (strncmp(line, "jmp ", 4) == 0) {
        next = line_at(machine, target_of(machine, line), line);
    } else if (strncmp(line, "call ", 5) == 0) {
        assert_true(machine->depth < DEPTH);
        machine->stack[machine->depth++] = (long)machine->offsets[next];
        next = line_at(machine, target_of(machine, line), line);
        assert_int_not_equal(next, machine->at + 1); /* that would be no call to the predictor */
    } else if (strncmp(line, "ret", 3) == 0) {
        assert_true(machine->depth > 0);
        next = line_at(machine, machine->stack[--machine->depth], line);
    } else if (strcmp(line, "mov esp, 0x20034000") != 0) {
        fail_msg("'%s' was not to be run", line);
    }
    machine->at = next;
}

/* As the CPU meets it: from the first line to the end, `runs` times through an instance of the form. */
static void follow(const char *syntax, size_t runs) {
    struct isa_form form = form_of(syntax);
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    assert_int_equal(gen_branch_program(&program, &form, false, &err), IP_UNSUPPORTED);
    if (gen_branch_program(&program, &form, true, &err) != IP_OK) {
        fail_msg("%s: %s", syntax, err.text);
    }
    assert_int_equal(program.forms_per_unit, runs);
    assert_int_equal(gen_encoder_program_add(&encoder, &program, &err), IP_OK);
    assert_int_equal(gen_encoder_flush(&encoder, &err), IP_OK);
    struct machine machine = {.program = &program};
    assert_true(program.unit.count < LINES_MAX);
    for (size_t i = 0; i < program.unit.count; i++) {
        const struct isa_code *code = NULL;
        if (gen_encoder_line_find(&encoder, program.unit.items[i], &code, &err) != IP_OK) {
            fail_msg("%s: %s", syntax, err.text);
        }
        machine.offsets[i + 1] = machine.offsets[i] + code->length;
    }
    for (unsigned steps = 0; machine.at < program.unit.count; steps++) {
        assert_true(steps < STEPS_MAX);
        step(&machine, form.mnemonic);
    }
    assert_int_equal(machine.form_runs, runs);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
}

static void test_ways(void **state) {
    (void)state;
    static const char *const forms[] = {"call rel32", "call r64", "call m64", "jmp r64",
                                        "jmp m64",    "ret",      "ret imm16"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        follow(forms[i], 16);
    }
}

static void test_no_mix(void **state) {
    (void)state;
    struct isa_form form = form_of("call r64");
    const struct gen_independence how = {0};
    const struct gen_part parts[2] = {{.count = 8}, {.form = &form, .count = 1}};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_throughput_program(&program, &form, &how, 4, &err), IP_UNSUPPORTED);
    assert_int_equal(gen_mix_program(&program, parts, 2, &err), IP_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways), cmocka_unit_test(test_no_mix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
