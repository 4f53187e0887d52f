/* SPDX-License-Identifier: Apache-2.0 */
/* Are latency chains what they claim? Each unit is assembled, decoded and walked three times over; every
 * value is followed from the instance that wrote it to those that read it. The chain's path must be there,
 * around the end of the loop, too, and no other dependence between instances may be shorter than the
 * rotation. */
#include "common/random.h"
#include "generator/chain.h"
#include "tests/generator_testing.h"

enum {
    MEMORY_ROUNDS = 8, /* stores to one address are at least so many instances apart */
    WALKS = 3,
    LINES_MAX = 256,
    NONE = -1000000,
    PLACES = 16 + 32 + 8 + 8 + 8 + 1
};

/* The youngest instance that a value depends on, and through which operand it left that. */
struct origin {
    int round, operand;
};

/* Everything that instructions can hand on. */
struct machine {
    struct origin place[PLACES];
    struct {
        int64_t address;
        struct origin origin;
    } memory[64];
    unsigned memory_count;
};

static const struct origin nothing = {NONE, -1};

static struct origin younger(struct origin a, struct origin b) {
    return b.round > a.round ? b : a;
}

static int place_of(const struct isa_operand *operand, unsigned number) {
    static const int first[] = {0, 16, 48, 56, 64};
    if (operand->kind == ISA_OPERAND_FLAGS) {
        return PLACES - 1;
    }
    enum gen_file file = operand->kind == ISA_OPERAND_REG ? gen_file_of(operand->reg_class) : GEN_FILES;
    return file == GEN_FILES ? -1 : first[file] + (int)number;
}

static struct origin *memory_at(struct machine *machine, const struct isa_address *address) {
    int64_t key = address->base * INT64_C(0x100000000) + address->disp;
    for (unsigned i = 0; i < machine->memory_count; i++) {
        if (machine->memory[i].address == key) {
            return &machine->memory[i].origin;
        }
    }
    assert_true(machine->memory_count < 64);
    machine->memory[machine->memory_count].address = key;
    machine->memory[machine->memory_count].origin = nothing;
    return &machine->memory[machine->memory_count++].origin;
}

struct instruction {
    struct isa_form form;
    struct isa_binding binding;
    bool fresh;    /* an idiom: depends on nothing */
    bool instance; /* of the form under test */
};

static unsigned number_of(const struct instruction *instruction, unsigned o) {
    const struct isa_operand *operand = &instruction->form.operands[o];
    return operand->reg >= 0 ? (unsigned)operand->reg : instruction->binding.reg[o];
}

/* What the operand's value depends on; for memory that is its content. */
static struct origin operand_origin(struct machine *machine, const struct instruction *instruction,
                                    unsigned o) {
    const struct isa_operand *operand = &instruction->form.operands[o];
    if (operand->kind == ISA_OPERAND_MEM && !operand->implicit) {
        return *memory_at(machine, &instruction->binding.address);
    }
    int place = place_of(operand, number_of(instruction, o));
    return place >= 0 ? machine->place[place] : nothing;
}

static struct origin address_origin(const struct machine *machine, const struct instruction *instruction,
                                    bool index) {
    int number = index ? instruction->binding.address.index : instruction->binding.address.base;
    return number < 0 ? nothing : machine->place[(index ? 16 : 0) + number];
}

static void instruction_run(struct machine *machine, const struct instruction *instruction, int round) {
    struct origin from = nothing;
    const struct isa_form *form = &instruction->form;
    for (unsigned o = 0; o < form->operand_count && !instruction->fresh; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (operand->read) {
            from = younger(from, operand_origin(machine, instruction, o));
        }
        if (operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN) {
            from = younger(from, address_origin(machine, instruction, false));
            if (isa_reg_is_vector(operand->reg_class)) {
                from = younger(from, address_origin(machine, instruction, true));
            }
        }
    }
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        struct origin to = instruction->instance ? (struct origin){round, (int)o} : from;
        if (!operand->write) {
            continue;
        }
        if (operand->kind == ISA_OPERAND_MEM && !operand->implicit) {
            *memory_at(machine, &instruction->binding.address) = to;
        } else if (place_of(operand, number_of(instruction, o)) >= 0) {
            machine->place[place_of(operand, number_of(instruction, o))] = to;
        }
    }
}

/* The chain's own path into this instance, and the youngest of all others. */
static void instance_check(struct machine *machine, const struct instruction *instruction,
                           const struct gen_chain *chain, int round, const char *title) {
    const struct gen_link_plan *plan = &chain->links[0];
    const struct isa_form *form = &instruction->form;
    struct origin own = plan->address || plan->index
                            ? address_origin(machine, instruction, plan->index)
                            : operand_origin(machine, instruction, (unsigned)plan->src);
    if (round > 0 && (own.round != round - 1 || (own.operand != plan->dst))) {
        fail_msg("%s: instance %d takes its source from instance %d, operand %d", title, round, own.round,
                 own.operand + 1);
    }
    /* A source that is written, too, comes back one instance earlier. */
    int distance =
        (int)(chain->rotation / chain->count) - (plan->src != plan->dst && form->operands[plan->src].write);
    int allowed = round - (distance > 1 ? distance : 1);
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        bool memory = operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN;
        struct origin other = nothing;
        bool chained = (int)o == plan->src && !plan->address && !plan->index;
        if (operand->read && !chained) {
            other = operand_origin(machine, instruction, o);
        }
        if (memory && !(plan->address && (int)o == plan->src)) {
            other = younger(other, address_origin(machine, instruction, false));
        }
        if (memory && isa_reg_is_vector(operand->reg_class) && !plan->index) {
            other = younger(other, address_origin(machine, instruction, true));
        }
        int needed = operand->kind == ISA_OPERAND_MEM && allowed < round - MEMORY_ROUNDS
                         ? round - MEMORY_ROUNDS
                         : allowed;
        if (other.round > needed) {
            fail_msg(
                "%s: instance %d waits for instance %d through operand %u beside the chain (rotation %u)",
                title, round, other.round, o + 1, chain->rotation);
        }
    }
}

static bool is_idiom(const struct isa_form *form, const struct isa_binding *binding) {
    unsigned last = form->explicit_count > 0 ? form->explicit_count - 1u : 0;
    bool equal = form->explicit_count >= 2 && form->operands[last].kind == ISA_OPERAND_REG &&
                 form->operands[last - 1].kind == ISA_OPERAND_REG &&
                 binding->reg[last] == binding->reg[last - 1];
    return equal && (strstr(form->mnemonic, "pxor") != NULL || strncmp(form->mnemonic, "vpcmpeq", 7) == 0);
}

static void unit_decode(struct instruction *instructions, const struct gen_program *program,
                        const struct isa_form *form) {
    static struct isa_code codes[LINES_MAX];
    struct ip_error err = {0};
    assert_true(program->unit.count <= LINES_MAX);
    assert_int_equal(
        isa_assemble_lines((const char *const *)program->unit.items, program->unit.count, codes, NULL, &err),
        IP_OK);
    for (size_t i = 0; i < program->unit.count; i++) {
        struct instruction *instruction = &instructions[i];
        size_t length = 0;
        memset(instruction, 0, sizeof *instruction);
        if (isa_decode(codes[i].bytes, codes[i].length, &instruction->form, &instruction->binding, &length,
                       &err) != IP_OK) {
            fail_msg("%s: '%s': %s", program->title, program->unit.items[i], err.text);
        }
        instruction->instance = strcmp(instruction->form.syntax, form->syntax) == 0;
        instruction->fresh = !instruction->instance && is_idiom(&instruction->form, &instruction->binding);
    }
}

/* Returns false where the generator knows no such chain. */
static bool chain_check(const struct gen_link *links, unsigned count, unsigned registers) {
    static struct instruction instructions[LINES_MAX];
    struct gen_program program;
    struct gen_chain chain;
    struct ip_error err = {0};
    enum ip_status status = gen_chain_plan(&chain, links, count, registers, &err);
    if (status == IP_OK) {
        status = gen_latency_program(&program, links, count, registers, 0, &err);
    }
    if (status != IP_OK) {
        assert_int_equal(status, IP_UNSUPPORTED);
        assert_true(err.text[0] != '\0');
        return false;
    }
    unit_decode(instructions, &program, links[0].form);
    struct machine machine = {.memory_count = 0};
    for (unsigned i = 0; i < PLACES; i++) {
        machine.place[i] = nothing;
    }
    int round = 0;
    for (unsigned walk = 0; walk < WALKS; walk++) {
        for (size_t i = 0; i < program.unit.count; i++) {
            /* r15 counts, r14 points to the data: no unit writes them; RSP neither. */
            for (unsigned o = 0; o < instructions[i].form.operand_count; o++) {
                const struct isa_operand *operand = &instructions[i].form.operands[o];
                unsigned number = number_of(&instructions[i], o);
                bool gpr = operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) &&
                           operand->reg_class != ISA_REG_GPR8H;
                assert_false(gpr && operand->write &&
                             (number == 15 || number == 14 || number == 13 || number == 4));
            }
            if (instructions[i].instance) {
                instance_check(&machine, &instructions[i], &chain, round, program.title);
            }
            instruction_run(&machine, &instructions[i], round);
            round += instructions[i].instance ? 1 : 0;
        }
    }
    if ((unsigned)round != WALKS * program.forms_per_unit) {
        fail_msg("%s: %d instances in %d walks of %u", program.title, round, WALKS, program.forms_per_unit);
    }
    gen_program_fini(&program);
    return true;
}

/* Every pair of operands of the form that chains by itself. */
static unsigned form_check(const struct isa_form *form, unsigned registers) {
    unsigned chains = 0;
    for (int src = 0; src < form->operand_count; src++) {
        for (int dst = 0; dst < form->operand_count; dst++) {
            bool memory = form->operands[src].kind == ISA_OPERAND_MEM && !form->operands[src].implicit;
            struct gen_link link = {.form = form, .src = src, .dst = dst};
            chains += chain_check(&link, 1, registers);
            link.src_address = memory;
            chains += memory && chain_check(&link, 1, registers);
            link.src_address = false;
            link.src_index = memory && isa_reg_is_vector(form->operands[src].reg_class);
            chains += link.src_index && chain_check(&link, 1, registers);
        }
    }
    return chains;
}

static void chosen_forms(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        unsigned chains; /* pairs that chain to themselves */
    } cases[] = {
        {"add r64, r64", 2},
        {"adc r64, r64", 3},
        {"xadd r64, r64", 4},
        {"add r16, r16", 2},
        {"add r8, r8", 2},
        {"mul r64", 2},
        {"mulx r64, r64, r64", 4},
        {"div r64", 4},
        {"shld r64, r64, cl", 3},
        {"add m64, r64", 1},
        {"add r64, m64", 2},
        {"mov r64, m64", 1},
        {"mov r32, m32", 1},
        {"movzx r32, r8h", 1},
        {"lea r64, agen", 1},
        {"cmovb r64, r64", 2},
        {"addsd xmm, xmm", 2},
        {"vaddsd xmm, xmm, xmm", 2},
        {"vfmadd231pd zmm, zmm, zmm", 3},
        {"blendvps xmm, xmm, xmm0", 2},
        {"vaddps zmm{k}, zmm, zmm", 3},
        {"kaddw k, k, k", 2},
        {"paddb mm, mm", 2},
        {"lodsq", 2},
        {"stosq", 1},
        {"scasq", 1},
        {"cmpsb", 2},
        {"vgatherdps xmm{k}, vm32x", 2},
        {"vgatherdps xmm, vm32x, xmm", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].syntax);
        assert_int_equal(form.obstacle, ISA_OBSTACLE_NONE);
        unsigned chains = form_check(&form, 4);
        if (chains != cases[i].chains) {
            fail_msg("%s: %u chains, not %u", cases[i].syntax, chains, cases[i].chains);
        }
    }
}

static void through_transfers(void **state) {
    (void)state;
    static const struct {
        const char *syntax[3];
        struct gen_link links[3];
    } cases[] = {
        {{"cmp r64, r64", "setb r8"}, {{.src = 1, .dst = 2}, {.src = 1, .dst = 0}}},
        {{"mul r64", "mov r64, r64"}, {{.src = 0, .dst = 2}, {.src = 1, .dst = 0}}},
        {{"shl r64, cl", "mov r64, r64"}, {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"vaddpd ymm, ymm, m256", "vmovq r64, xmm"},
         {{.src = 2, .dst = 0, .src_address = true}, {.src = 1, .dst = 0}}},
        {{"vpcmpeqb k, zmm, zmm", "kmovq r64, k", "vmovq xmm, r64"},
         {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"vp2intersectd k, zmm, zmm", "vpmovm2d zmm, k"}, {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"vp2intersectd k, zmm, zmm", "vpmovm2d zmm, k"}, {{.src = 1, .dst = 3}, {.src = 1, .dst = 0}}},
        {{"vp2intersectd k, zmm, zmm", "kshiftlw k, k, imm8", "vpmovm2d zmm, k"},
         {{.src = 2, .dst = 3}, {.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"vp2intersectq k, xmm, xmm", "kmovq r64, k", "vmovq xmm, r64"},
         {{.src = 1, .dst = 3}, {.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"adc r64, r64", "cmp r64, imm8"}, {{.src = 2, .dst = 0}, {.src = 0, .dst = 2}}},
        {{"movd r32, mm", "movd mm, r32"}, {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"mov m64, r64", "mov r64, m64"}, {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"add m64, r64", "mov r64, m64"}, {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}}},
        {{"add m64, r64", "mov r64, m64"}, {{.src = 0, .dst = 0, .src_address = true}, {.src = 1, .dst = 0}}},
        {{"neg m16", "movzx r32, m16"}, {{.src = 0, .dst = 0, .src_address = true}, {.src = 1, .dst = 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form forms[3];
        struct gen_link links[3];
        unsigned count = 0;
        for (; count < 3 && cases[i].syntax[count] != NULL; count++) {
            forms[count] = form_of(cases[i].syntax[count]);
            links[count] = cases[i].links[count];
            links[count].form = &forms[count];
        }
        if (!chain_check(links, count, 8)) {
            fail_msg("no chain of '%s'", cases[i].syntax[0]);
        }
    }
}

/* The checker itself must object to a chain that is none, and to one that is carried twice. */
static void checker_objects(void **state) {
    (void)state;
    static struct instruction instructions[LINES_MAX];
    struct isa_form form = form_of("add r64, r64");
    static const char *const broken[] = {"add rcx, rax\nadd rdx, rbx\n", "add rcx, rax\nadd rcx, rcx\n"};
    for (size_t i = 0; i < 2; i++) {
        struct gen_program program;
        gen_program_init(&program);
        ip_lines_printf(&program.unit, "%.12s", broken[i]);
        ip_lines_printf(&program.unit, "%.12s", broken[i] + 13);
        unit_decode(instructions, &program, &form);
        struct machine machine = {.memory_count = 0};
        for (unsigned p = 0; p < PLACES; p++) {
            machine.place[p] = nothing;
        }
        instruction_run(&machine, &instructions[0], 0);
        struct origin src = operand_origin(&machine, &instructions[1], 1);
        struct origin merged = operand_origin(&machine, &instructions[1], 0);
        assert_int_equal(src.round, i == 0 ? NONE : 0);
        assert_int_equal(merged.round, i == 0 ? NONE : 0);
        gen_program_fini(&program);
    }
}

/* Decoded, its syntax has the immediate's width in the place of its value. */
static bool has_fixed_immediate(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].imm_fixed) {
            return true;
        }
    }
    return false;
}

static void builtin_sample(void **state) {
    (void)state;
    enum { SAMPLE = 150, SEED = 20141 };
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct ip_random random = {SEED};
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    if (table.count == 0) {
        print_message("skip: no builtin tables\n");
        skip();
    }
    print_message("seed %d\n", SEED);
    struct isa_form *sample[SAMPLE];
    unsigned chains = 0;
    for (unsigned i = 0; i < SAMPLE; i++) {
        do {
            sample[i] = &table.forms[ip_random_below(&random, table.count)];
        } while (has_fixed_immediate(sample[i]));
    }
    assert_int_equal(isa_forms_derive(sample, SAMPLE, &err), IP_OK);
    for (unsigned i = 0; i < SAMPLE; i++) {
        chains += form_check(sample[i], (unsigned)ip_random_below(&random, 6) * 2 + 2);
    }
    print_message("%u chains\n", chains);
    assert_true(chains > SAMPLE / 2);
    isa_table_fini(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checker_objects),
        cmocka_unit_test(chosen_forms),
        cmocka_unit_test(through_transfers),
        cmocka_unit_test(builtin_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
