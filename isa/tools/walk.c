/* SPDX-License-Identifier: Apache-2.0 */
/* walk DIRECTORY - makes the instruction tables (isa/x86-64/ *.isa) from an exhaustive walk through the
 * opcode space with Zydis's decoder. Every form that is written was assembled (by NASM, or by Zydis's encoder
 * where NASM cannot) and decoded back to itself; the others are counted, with the reason, on stderr. Run by
 * `make isa`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/assemble.h"
#include "isa/decode.h"
#include "isa/table.h"
#include "isa/tools/rows.h"
#include "isa/tools/space.h"

/* Extensions by file; the first pattern that matches counts, a trailing * stands for any ending. */
static const char *const files[][2] = {
    {"BASE", "base"},         {"X87*", "x87"},        {"FCMOV", "x87"},       {"PPRO", "x87"},
    {"MMX*", "mmx"},          {"PENTIUMMMX", "mmx"},  {"SSE4A", "amd"},       {"AMD*", "amd"},
    {"3DNOW*", "amd"},        {"XOP", "amd"},         {"FMA4", "amd"},        {"TBM", "amd"},
    {"SSE*", "sse"},          {"SSSE3*", "sse"},      {"AVX512*", "avx512"},  {"AVX2*", "avx2"},
    {"AVX_*", "avx2"},        {"AVXAES", "crypto"},   {"AVX", "avx"},         {"F16C", "avx"},
    {"FMA", "fma"},           {"AMX*", "amx"},        {"BMI*", "bmi"},        {"LZCNT", "bmi"},
    {"POPCNT", "bmi"},        {"ADOX*", "bmi"},       {"MOVBE", "bmi"},       {"AES", "crypto"},
    {"VAES", "crypto"},       {"PCLMUL*", "crypto"},  {"VPCLMUL*", "crypto"}, {"SHA", "crypto"},
    {"SHA512", "crypto"},     {"SM3", "crypto"},      {"SM4", "crypto"},      {"GFNI", "crypto"},
    {"KEYLOCKER*", "crypto"}, {"PADLOCK*", "crypto"}, {"*", "system"},
};

struct collection {
    struct isa_table table; /* each syntax once, not derived */
    bool failed;
};

static void collect(void *context, const uint8_t *code, size_t bytes) {
    struct collection *collection = context;
    struct isa_form form;
    struct ip_error err;
    size_t length;
    if (isa_decode(code, bytes, &form, NULL, &length, &err) != IP_OK)
        return;
    /* The other roundings time alike. */
    if (form.decorator[0] != '\0' && strcmp(form.decorator, "{sae}") != 0 &&
        strcmp(form.decorator, "{rn-sae}") != 0)
        return;
    /* Knights Corner never met 64-bit hosts of our kind, and its VEX forms collide with AVX-512's names. */
    if (strncmp(form.extension, "KNC", 3) == 0)
        return;
    /* A 16-bit branch target cuts the instruction pointer to 16 bits: nothing that can be run. */
    for (unsigned i = 0; i < form.explicit_count; i++) {
        if (form.operands[i].kind == ISA_OPERAND_REL && form.operands[i].bits == 16)
            return;
    }
    if (isa_table_find(&collection->table, form.syntax) != NULL)
        return;
    char text[ISA_SYNTAX_MAX + 64];
    int count = snprintf(text, sizeof text, "extension %s\n%s\n", form.extension, form.syntax);
    if (isa_table_text_add(&collection->table, "walk", text, (size_t)count, &err) != IP_OK) {
        fprintf(stderr, "walk: %s: %s\n", form.syntax, err.text);
        collection->failed = true;
    }
}

/* NASM 3.01 takes scalars beside a general register with SAE or a rounding mode ("vcvtsd2si r32, xmm,
 * {rn-sae}") for vectors of 128 bits, which have neither. */
static bool is_left_to_zydis(const struct isa_form *form) {
    bool general = false;
    for (unsigned i = 0; i < form->explicit_count; i++)
        general = general || isa_reg_is_gpr(form->operands[i].reg_class);
    return general && form->decorator[0] != '\0';
}

static bool matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static const char *file_of(const struct isa_form *form) {
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (matches(files[i][0], form->extension))
            return files[i][1];
    }
    return "system";
}

static int by_place(const void *left, const void *right) {
    const struct isa_form *a = *(struct isa_form *const *)left, *b = *(struct isa_form *const *)right;
    int order = strcmp(file_of(a), file_of(b));
    if (order == 0)
        order = strcmp(a->extension, b->extension);
    if (order == 0)
        order = strcmp(a->mnemonic, b->mnemonic);
    if (order == 0)
        order = strcmp(a->prefix, b->prefix);
    if (order == 0)
        order = strcmp(a->decorator, b->decorator);
    return order != 0 ? order : strcmp(a->syntax, b->syntax);
}

static bool same_group(const struct isa_form *a, const struct isa_form *b) {
    return strcmp(a->extension, b->extension) == 0 && strcmp(a->mnemonic, b->mnemonic) == 0 &&
           strcmp(a->prefix, b->prefix) == 0 && strcmp(a->decorator, b->decorator) == 0;
}

static FILE *file_open(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.isa", directory, name);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        perror(path);
    else
        fputs("# SPDX-License-Identifier: Apache-2.0\n"
              "# Made by `make isa` from Zydis's decoder; every row was assembled and decoded back.\n",
              out);
    return out;
}

static bool file_close(FILE *out) {
    if (out == NULL)
        return true;
    bool good = !ferror(out);
    if (fclose(out) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "walk: a table could not be written\n");
    return good;
}

static bool tables_write(const char *directory, struct isa_form **forms, size_t count) {
    FILE *out = NULL;
    bool good = true;
    for (size_t i = 0; i < count && good;) {
        if (i == 0 || strcmp(file_of(forms[i - 1]), file_of(forms[i])) != 0) {
            good = file_close(out);
            out = good ? file_open(directory, file_of(forms[i])) : NULL;
            if (out == NULL)
                return false;
        }
        if (i == 0 || strcmp(forms[i - 1]->extension, forms[i]->extension) != 0)
            fprintf(out, "\nextension %s\n", forms[i]->extension);
        size_t end = i + 1;
        while (end < count && same_group(forms[i], forms[end]))
            end++;
        good = walk_rows_print(out, (const struct isa_form *const *)(forms + i), end - i);
        i = end;
    }
    return file_close(out) && good;
}

/* The upper 16 vector registers and r8..r15. */
static void high_binding(const struct isa_form *form, struct isa_binding *binding) {
    isa_binding_init(form, binding);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (isa_reg_is_vector(form->operands[i].reg_class) && form->operands[i].kind == ISA_OPERAND_REG)
            binding->reg[i] = (uint8_t)(binding->reg[i] + 16);
        else if (isa_reg_is_gpr(form->operands[i].reg_class))
            binding->reg[i] |= 8;
    }
}

/* NASM 2.16.01 takes some EVEX forms with xmm0..15 only. Those are written through Zydis's encoder. */
static bool high_registers_check(struct isa_form **forms, size_t count, struct ip_error *err) {
    char(*texts)[ISA_LINE_MAX] = malloc(count * sizeof *texts);
    const char **lines = calloc(count, sizeof *lines);
    struct isa_code *codes = calloc(count, sizeof *codes);
    struct isa_binding *bindings = calloc(count, sizeof *bindings);
    bool good = texts != NULL && lines != NULL && codes != NULL && bindings != NULL;
    for (size_t i = 0; i < count && good; i++) {
        high_binding(forms[i], &bindings[i]);
        if (!forms[i]->evex || forms[i]->encode_raw ||
            isa_form_print(forms[i], &bindings[i], texts[i], err) != IP_OK)
            strcpy(texts[i], "nop");
        lines[i] = texts[i];
    }
    good = good && isa_assemble_lines(lines, count, codes, NULL, err) == IP_OK;
    for (size_t i = 0; i < count && good; i++) {
        struct isa_form decoded;
        struct isa_binding bound;
        size_t length;
        if (strcmp(texts[i], "nop") != 0 &&
            (isa_decode(codes[i].bytes, codes[i].length, &decoded, &bound, &length, err) != IP_OK ||
             strcmp(decoded.syntax, forms[i]->syntax) != 0 ||
             !isa_binding_equal(&decoded, &bindings[i], &bound)))
            forms[i]->encode_raw = true;
    }
    free(bindings);
    free(codes);
    free(lines);
    free(texts);
    return good;
}

int main(int argc, char **argv) {
    struct collection collection = {0};
    struct ip_error err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: walk DIRECTORY\n");
        return 2;
    }
    if (!walk_space(collect, &collection) || collection.failed)
        return 1;
    struct isa_table *table = &collection.table;
    struct isa_form **forms = malloc(table->count * sizeof(struct isa_form *));
    if (forms == NULL)
        return 1;
    for (size_t i = 0; i < table->count; i++) {
        forms[i] = &table->forms[i];
        forms[i]->encode_raw = is_left_to_zydis(forms[i]);
    }
    if (isa_forms_derive(forms, table->count, &err) != IP_OK ||
        !high_registers_check(forms, table->count, &err)) {
        fprintf(stderr, "walk: %s\n", err.text);
        free(forms);
        isa_table_fini(table);
        return 1;
    }
    size_t kept = 0, raw = 0, obstacles = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (forms[i]->obstacle == ISA_OBSTACLE_UNENCODABLE) {
            fprintf(stderr, "left out: %s: %s\n", forms[i]->syntax, forms[i]->note);
            continue;
        }
        raw += forms[i]->encode_raw;
        obstacles += forms[i]->obstacle != ISA_OBSTACLE_NONE;
        forms[kept++] = forms[i];
    }
    qsort(forms, kept, sizeof *forms, by_place);
    bool good = tables_write(argv[1], forms, kept);
    fprintf(stderr, "walk: %zu forms (%zu through Zydis's encoder, %zu with an obstacle), %zu left out\n",
            kept, raw, obstacles, table->count - kept);
    free(forms);
    isa_table_fini(table);
    return good ? 0 : 1;
}
