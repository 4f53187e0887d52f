/* SPDX-License-Identifier: Apache-2.0 */
/* How good predictions are: blocks of forms drawn at random from a store, predicted from it and measured
 * here. Nobody has chosen a rule by them. */
#include <math.h>

#include "common/random.h"
#include "isa/assemble.h"
#include "results/store.h"
#include "tests/bench/bench.h"

enum {
    LENGTH_MIN = 3, /* instructions of a block */
    LENGTH_MAX = 8,
    BASE = 10,        /* R10, to which no block writes, is the base of all loads */
    LOAD_PLACES = 16, /* that each load may take */
    VECTORS = 10,     /* registers, as many as there may be */
    NUMBER = 3        /* immediate */
};
static const double THROUGHPUT_MAX = 3.0; /* cycles: no divisions, no microcode */
static const uint8_t generals[] = {0, 1, 2, 3, 6, 7, 8, 9};
enum { GENERALS = sizeof generals };

/* Blocks are of one kind: old and new encodings of vectors beside each other merge upper halves. */
static const struct kind {
    const char *name;
    bool vectors, vex;
} kinds[] = {{"general registers", false, false},
             {"vectors, legacy encodings", true, false},
             {"vectors, VEX", true, true}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Registers of general purpose and of vectors, numbers, and loads. CL and zero are left out: a Zen 4 takes 32
 * cycles from a shift by zero, as by CL in a block that begins, to what reads its flags. */
static bool operand_fits(const struct isa_operand *operand) {
    if (operand->implicit) {
        return operand->kind == ISA_OPERAND_FLAGS;
    }
    switch (operand->kind) {
    case ISA_OPERAND_REG:
        return operand->reg < 0 && !operand->mask &&
               (operand->reg_class == ISA_REG_GPR32 || operand->reg_class == ISA_REG_GPR64 ||
                operand->reg_class == ISA_REG_XMM || operand->reg_class == ISA_REG_YMM);
    case ISA_OPERAND_MEM:
        return operand->read && !operand->write && operand->bits >= 32 && operand->bits <= 256;
    case ISA_OPERAND_IMM:
        return operand->imm_fixed ? operand->imm != 0 : operand->bits == 8;
    default:
        return false;
    }
}

static bool form_fits(const struct isa_form *form, const struct kind *kind) {
    bool fits = !form->evex && form->obstacle == ISA_OBSTACLE_NONE && form->prefix[0] == '\0' &&
                form->explicit_count > 0 && (isa_form_vector_bits(form) != 0) == kind->vectors &&
                (!kind->vectors || form->vex == kind->vex);
    for (unsigned i = 0; i < form->operand_count && fits; i++) {
        fits = operand_fits(&form->operands[i]);
    }
    return fits;
}

/* Does the store know it well, and is it fast? */
static bool form_is_known(const struct tool *tool, struct res_store *store, const struct isa_form *form) {
    struct ip_error err = {0};
    struct res_form known = {0};
    bool there = false;
    tool_must(tool, res_form_find(store, form->syntax, &known, &there, &err), &err);
    bool fits = there && known.ports.known && strcmp(known.ports.verdict, "ok") == 0 &&
                known.throughput.known && known.throughput.cycles <= THROUGHPUT_MAX;
    res_form_fini(&known);
    return fits;
}

static size_t forms_choose(struct tool *tool, struct res_store *store, const struct kind *kind,
                           const struct isa_form **chosen) {
    size_t count = 0;
    for (size_t i = 0; i < tool->table.count; i++) {
        const struct isa_form *form = &tool->table.forms[i];
        if (form_fits(form, kind) && form_is_known(tool, store, form)) {
            chosen[count++] = form;
        }
    }
    return count;
}

static void binding_draw(const struct isa_form *form, struct ip_random *random, struct isa_binding *binding) {
    isa_binding_init(form, binding);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG) {
            binding->reg[i] = isa_reg_is_gpr(operand->reg_class) ? generals[ip_random_below(random, GENERALS)]
                                                                 : (uint8_t)ip_random_below(random, VECTORS);
        } else if (operand->kind == ISA_OPERAND_IMM) {
            binding->imm[i] = NUMBER;
        } else {
            int32_t place = (int32_t)ip_random_below(random, LOAD_PLACES);
            binding->address = (struct isa_address){
                .base = BASE, .index = -1, .scale = 1, .disp = place * operand->bits / 8};
        }
    }
}

/* Writes the block in hex; false where an instruction is not assembled. */
static bool block_write(const struct tool *tool, const struct isa_form *const *forms, size_t count,
                        struct ip_random *random, struct ip_text *hex) {
    char text[LENGTH_MAX][ISA_LINE_MAX];
    const char *lines[LENGTH_MAX];
    struct isa_code codes[LENGTH_MAX];
    size_t length = LENGTH_MIN + ip_random_below(random, LENGTH_MAX - LENGTH_MIN + 1);
    struct ip_error err = {0};
    for (size_t i = 0; i < length; i++) {
        struct isa_binding binding;
        const struct isa_form *form = forms[ip_random_below(random, count)];
        binding_draw(form, random, &binding);
        tool_must(tool, isa_form_print(form, &binding, text[i], &err), &err);
        lines[i] = text[i];
    }
    tool_must(tool, isa_assemble_lines(lines, length, codes, NULL, &err), &err);
    for (size_t i = 0; i < length; i++) {
        if (codes[i].length == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < length; i++) {
        for (size_t b = 0; b < codes[i].length; b++) {
            ip_text_printf(hex, "%02x", codes[i].bytes[b]);
        }
    }
    ip_text_append(hex, "\n");
    return true;
}

/* What validate's summary says of all of them: its lines with predictors. */
static void blocks_validate(const struct tool *tool, const struct bench_options *options, const char *file) {
    struct ip_text command = {0};
    ip_text_printf(&command, "'%s' validate --quiet --notion unrolled --store '%s' '%s'", options->isaprobe,
                   options->store, file);
    FILE *summary =
        command.failed ? NULL : popen(command.data, "r"); /* NOLINT(cert-env33-c): our own words */
    ip_text_fini(&command);
    if (summary == NULL) {
        struct ip_error err = {0};
        tool_must(tool, ip_fail_errno(&err, IP_IO, errno, "cannot run %s", options->isaprobe), &err);
        return;
    }
    char line[512];
    while (fgets(line, sizeof line, summary) != NULL) {
        if (strstr(line, "predictor") != NULL || strncmp(line, "  isaprobe  ", 12) == 0 ||
            strncmp(line, "  llvm-mca", 10) == 0) {
            (void)fputs(line, stdout);
        }
    }
    (void)pclose(summary);
}

void bench_blocks(struct tool *tool, const struct bench_options *options) {
    (void)printf("\n## Predictions of random blocks\n");
    if (options->store == NULL) {
        (void)printf("skipped: give a store of this CPU with --store FILE (isaprobe scan --parts "
                     "latency,throughput,slots,ports; isaprobe core)\n");
        return;
    }
    struct ip_error err = {0};
    struct res_store *store = NULL;
    struct isa_form **all = tool_alloc(tool, tool->table.count, sizeof(struct isa_form *));
    const struct isa_form **chosen = tool_alloc(tool, tool->table.count, sizeof(struct isa_form *));
    for (size_t i = 0; i < tool->table.count; i++) {
        all[i] = &tool->table.forms[i];
    }
    tool_must(tool, isa_forms_derive(all, tool->table.count, &err), &err);
    tool_must(tool, res_store_open_readonly(&store, options->store, &err), &err);
    for (unsigned k = 0; k < KINDS; k++) {
        size_t count = forms_choose(tool, store, &kinds[k], chosen), written = 0;
        (void)printf("%s: %zu blocks of %d to %d instructions, of %zu forms, seed %llu\n", kinds[k].name,
                     options->blocks, LENGTH_MIN, LENGTH_MAX, count, (unsigned long long)options->seed);
        if (count == 0) {
            continue;
        }
        struct ip_text hex = {0};
        struct ip_random random = {options->seed};
        while (written < options->blocks) {
            written += block_write(tool, chosen, count, &random, &hex);
        }
        char name[64];
        tool_file_write(tool, &hex, name);
        ip_text_fini(&hex);
        blocks_validate(tool, options, name);
        (void)unlink(name);
    }
    res_store_close(store);
    free(chosen);
    free(all);
}
