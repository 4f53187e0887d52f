/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the built-in tables must assemble and decode back to itself, for the sample and for random
 * registers, addresses and immediates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/random.h"
#include "isa/assemble.h"
#include "isa/decode.h"
#include "isa/table.h"

enum { FORMS_EXPECTED = 15500 };

struct fixture {
    struct isa_table table;
    struct isa_form **forms;
};

static int setup(void **state) {
    static struct fixture fixture;
    struct ip_error err = {0};
    memset(&fixture, 0, sizeof fixture);
    if (isa_table_builtin_add(&fixture.table, &err) != IP_OK) {
        print_error("%s: %s\n", err.place, err.text);
        return -1;
    }
    fixture.forms = malloc(fixture.table.count * sizeof(struct isa_form *));
    if (fixture.forms == NULL)
        return -1;
    for (size_t i = 0; i < fixture.table.count; i++)
        fixture.forms[i] = &fixture.table.forms[i];
    if (isa_forms_derive(fixture.forms, fixture.table.count, &err) != IP_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    *state = &fixture;
    return 0;
}

static int teardown(void **state) {
    struct fixture *fixture = *state;
    free(fixture->forms);
    isa_table_fini(&fixture->table);
    return 0;
}

/* A row may stand for one value of an immediate ("add r64, 0"), which the decoder cannot know: then the rest
 * must agree. */
static bool same_syntax(const struct isa_form *form, const char *decoded) {
    const struct isa_operand *last =
        &form->operands[form->explicit_count == 0 ? 0 : form->explicit_count - 1];
    if (strcmp(form->syntax, decoded) == 0)
        return true;
    const char *end = strrchr(form->syntax, ' '), *decoded_end = strrchr(decoded, ' ');
    return last->imm_fixed && last->imm == 0 && end != NULL && decoded_end != NULL &&
           strncmp(decoded_end, " imm", 4) == 0 && end - form->syntax == decoded_end - decoded &&
           strncmp(form->syntax, decoded, (size_t)(end - form->syntax)) == 0;
}

static void test_every_row_is_derived(void **state) {
    const struct fixture *fixture = *state;
    size_t bad = 0;
    for (size_t i = 0; i < fixture->table.count; i++) {
        const struct isa_form *form = fixture->forms[i];
        assert_true(form->derived);
        if (form->obstacle == ISA_OBSTACLE_UNENCODABLE) {
            print_error("%s: %s\n", form->syntax, form->note);
            bad++;
        }
        if (form->obstacle != ISA_OBSTACLE_NONE)
            assert_true(form->note[0] != '\0');
        else
            assert_true(form->note[0] == '\0');
    }
    assert_int_equal(bad, 0);
    assert_true(fixture->table.count >= FORMS_EXPECTED);
}

/* The hints in the rows are right: one NASM run derives all, and no row is raw that NASM could write. Shown
 * by the syntax of the sample, which the decoder must give back. */
static void test_samples_decode_back(void **state) {
    const struct fixture *fixture = *state;
    size_t count = fixture->table.count;
    char(*texts)[ISA_LINE_MAX] = malloc(count * sizeof *texts);
    const char **lines = malloc(count * sizeof *lines);
    struct isa_code *codes = calloc(count, sizeof *codes);
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    assert_true(texts != NULL && lines != NULL && codes != NULL);
    for (size_t i = 0; i < count; i++) {
        struct isa_binding binding;
        isa_binding_init(fixture->forms[i], &binding);
        assert_int_equal(isa_form_print(fixture->forms[i], &binding, texts[i], &err), IP_OK);
        lines[i] = texts[i];
    }
    assert_int_equal(isa_assemble_lines(lines, count, codes, &complaints, &err), IP_OK);
    for (size_t i = 0; i < count; i++) {
        struct isa_form decoded;
        size_t length = 0;
        assert_string_equal(complaints.items[i], "");
        assert_int_equal(isa_decode(codes[i].bytes, codes[i].length, &decoded, NULL, &length, &err), IP_OK);
        assert_int_equal(length, codes[i].length);
        if (!same_syntax(fixture->forms[i], decoded.syntax))
            fail_msg("'%s' is '%s'", fixture->forms[i]->syntax, decoded.syntax);
    }
    ip_lines_fini(&complaints);
    free(codes);
    free(lines);
    free(texts);
}

/* Numbers that no other operand has: gathers, tiles and complex products demand distinct registers. */
static void random_binding(struct ip_random *random, const struct isa_form *form,
                           struct isa_binding *binding) {
    bool high = false, vsib = false;
    isa_binding_init(form, binding);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        high = high ||
               (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_GPR8H);
        vsib = vsib ||
               (form->operands[i].kind == ISA_OPERAND_MEM && form->operands[i].reg_class != ISA_REG_NONE);
    }
    unsigned start = (unsigned)ip_random_below(random, 32), step = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        unsigned count = isa_reg_count(op->reg_class, form->evex);
        if (op->kind == ISA_OPERAND_IMM && !op->imm_fixed)
            binding->imm[i] = (int64_t)ip_random_next(random);
        if (op->kind != ISA_OPERAND_REG || op->reg >= 0 || count == 0 || op->reg_class == ISA_REG_SEGMENT)
            continue;
        if (op->reg_class == ISA_REG_TILE)
            binding->reg[i] = (uint8_t)((start + step++) % 8);
        else if (isa_reg_is_vector(op->reg_class))
            binding->reg[i] = (uint8_t)((start + step++) % count);
        else if (isa_reg_is_gpr(op->reg_class) && high)
            binding->reg[i] = (uint8_t)(1 + ip_random_below(random, 3)); /* no REX beside ah..bh */
        else if (op->reg_class == ISA_REG_MASK && strncmp(form->mnemonic, "vp2intersect", 12) == 0)
            binding->reg[i] = (uint8_t)(2 * ip_random_below(random, 4)); /* a pair */
        else
            binding->reg[i] = (uint8_t)(1 + ip_random_below(random, count - 1)); /* not rax, k0, st0 */
    }
    struct isa_address *address = &binding->address;
    address->base = (int8_t)ip_random_below(random, high ? 8 : 16);
    address->disp = ip_random_below(random, 3) == 0 ? 0 : (int32_t)(uint32_t)ip_random_next(random) >> 8;
    address->scale = (uint8_t)(2u << ip_random_below(random, 3));
    address->index = vsib ? (int8_t)((start + step) % (form->evex ? 32 : 16))
                          : (int8_t)(high ? -1 : (int)ip_random_below(random, 17) - 1);
    if (!vsib && address->index == 4)
        address->index = -1;
}

/* v4fmaddps and its kin read four registers that start at a multiple of four. */
static bool is_four_source(const struct isa_form *form) {
    return strncmp(form->extension, "AVX512_4", 8) == 0;
}

static bool random_fits(const struct isa_form *form) {
    if (is_four_source(form) || strncmp(form->mnemonic, "bnd", 3) == 0)
        return false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_OTHER)
            return false;
    }
    return true;
}

static int64_t low_bits(int64_t value, unsigned bits) {
    return bits >= 64 ? value : (int64_t)((uint64_t)value & ((UINT64_C(1) << bits) - 1));
}

/* Does the decoder see the same operands? */
static bool same_bindings(const struct isa_form *form, const struct isa_binding *want,
                          const struct isa_binding *got) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_REG && op->reg < 0 && got->reg[i] != want->reg[i])
            return false;
        if (op->kind == ISA_OPERAND_IMM && !op->imm_fixed &&
            low_bits(got->imm[i], op->bits) != low_bits(want->imm[i], op->bits))
            return false;
        const struct isa_address *g = &got->address, *w = &want->address;
        if (op->kind == ISA_OPERAND_MEM && !op->absolute &&
            (g->base != w->base || g->index != w->index || g->disp != w->disp ||
             (w->index >= 0 && g->scale != w->scale)))
            return false;
    }
    return true;
}

static void test_random_instances(void **state) {
    const struct fixture *fixture = *state;
    const uint64_t seed = 20240229;
    struct ip_random random = {seed};
    size_t count = fixture->table.count, used = 0;
    char(*texts)[ISA_LINE_MAX] = malloc(count * sizeof *texts);
    const char **lines = malloc(count * sizeof *lines);
    size_t *owners = malloc(count * sizeof *owners);
    struct isa_code *codes = calloc(count, sizeof *codes);
    struct isa_binding *bindings = malloc(count * sizeof *bindings);
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    assert_true(texts != NULL && lines != NULL && codes != NULL && bindings != NULL && owners != NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < count; i++) {
        if (!random_fits(fixture->forms[i]))
            continue;
        random_binding(&random, fixture->forms[i], &bindings[used]);
        if (isa_form_print(fixture->forms[i], &bindings[used], texts[used], &err) != IP_OK)
            fail_msg("%s: %s", fixture->forms[i]->syntax, err.text);
        lines[used] = texts[used];
        owners[used++] = i;
    }
    assert_int_equal(isa_assemble_lines(lines, used, codes, &complaints, &err), IP_OK);
    size_t bad = 0;
    for (size_t k = 0; k < used; k++) {
        const struct isa_form *form = fixture->forms[owners[k]];
        struct isa_form decoded;
        struct isa_binding bound;
        size_t length = 0;
        if (isa_decode(codes[k].bytes, codes[k].length, &decoded, &bound, &length, &err) != IP_OK ||
            !same_syntax(form, decoded.syntax) || !same_bindings(form, &bindings[k], &bound)) {
            print_error("%s: '%s' %s\n", form->syntax, texts[k], complaints.items[k]);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
    ip_lines_fini(&complaints);
    free(bindings);
    free(codes);
    free(owners);
    free(lines);
    free(texts);
}

/* A NOP with operands is the one that assemblers pad with, 0F 1F. That with register 0 is of one operand;
 * where two are asked for another one stands for it. */
static void test_nops_are_common(void **state) {
    const struct fixture *fixture = *state;
    static const struct {
        const char *syntax, *line;
        uint8_t other;
    } cases[] = {{"nop m32", "nop dword [r14]", 0},
                 {"nop r32", "nop eax", 0},
                 {"nop m16, r16", "db 0x66,0x41,0x0f,0x1f,0x0e ", 1},
                 {"nop m32, r32", "db 0x45,0x0f,0x1f,0x06 ", 8},
                 {"nop r32, r32", "db 0x0f,0x1f,0xc8 ", 1},
                 {"nop r64, r64", "db 0x4c,0x0f,0x1f,0xc0 ", 8},
                 {"nop r64, r64", "db 0x48,0x0f,0x19,0xc0 ", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct isa_form *form = isa_table_find(&fixture->table, cases[i].syntax);
        struct isa_binding binding;
        struct ip_error err = {0};
        char line[ISA_LINE_MAX];
        assert_non_null(form);
        isa_binding_init(form, &binding);
        binding.reg[0] = 0;
        binding.reg[1] = cases[i].other;
        binding.address = (struct isa_address){.base = 14, .index = -1};
        assert_int_equal(isa_form_print(form, &binding, line, &err), IP_OK);
        assert_memory_equal(line, cases[i].line, strlen(cases[i].line));
    }
    static const struct {
        const char *bytes, *syntax;
    } decoded[] = {{"\x0f\x1f\x00", "nop m32"},
                   {"\x0f\x1f\x08", "nop m32, r32"},
                   {"\x44\x0f\x1f\xc0", "nop r32, r32"},
                   {"\x0f\x1f\xc0", "nop r32"}};
    for (size_t i = 0; i < sizeof decoded / sizeof decoded[0]; i++) {
        struct isa_form form;
        struct ip_error err = {0};
        size_t length = 0;
        const uint8_t *code = (const uint8_t *)decoded[i].bytes;
        assert_int_equal(isa_decode(code, strlen(decoded[i].bytes) + (i == 0), &form, NULL, &length, &err),
                         IP_OK);
        assert_string_equal(form.syntax, decoded[i].syntax);
    }
}

/* Where an instruction had EVEX first, the plain name means that, whatever this Zydis and this NASM know in
 * VEX; and {vex} means VEX. */
static void test_encoding_by_name(void **state) {
    const struct fixture *fixture = *state;
    size_t avx512 = 0, vex = 0;
    for (size_t i = 0; i < fixture->table.count; i++) {
        const struct isa_form *form = fixture->forms[i];
        bool wide = strncmp(form->extension, "AVX512", 6) == 0 && form->mnemonic[0] == 'v';
        bool marked = strcmp(form->prefix, "{vex}") == 0;
        if ((wide && (!form->evex || form->sample[0] != 0x62)) ||
            (marked && (!form->vex || (form->sample[0] & 0xfe) != 0xc4)))
            fail_msg("'%s' of %s begins with 0x%02x", form->syntax, form->extension, form->sample[0]);
        avx512 += wide;
        vex += marked;
    }
    assert_true(avx512 > 10000);
    assert_int_equal(vex, 28);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_derived), cmocka_unit_test(test_samples_decode_back),
        cmocka_unit_test(test_random_instances),     cmocka_unit_test(test_nops_are_common),
        cmocka_unit_test(test_encoding_by_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
