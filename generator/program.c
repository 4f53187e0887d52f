/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/program.h"

#include <string.h>

#include "common/ascii.h"
#include "generator/abi.h"
#include "generator/frame.h"

void gen_program_init(struct gen_program *program) {
    memset(program, 0, sizeof *program);
    program->forms_per_unit = 1;
    program->counter = (int)GEN_REG_COUNTER;
    program->gpr_fill = 0x101;
}

void gen_program_fini(struct gen_program *program) {
    ip_lines_fini(&program->init);
    ip_lines_fini(&program->unit);
    memset(program, 0, sizeof *program);
}

static void print_line(void *self, const char *line, const char *comment) {
    struct ip_text *text = self;
    if (comment != NULL) {
        ip_text_printf(text, "\n        ; %s\n", comment);
    }
    ip_text_printf(text, "        %s\n", line);
}

static void print_lines(struct ip_text *text, const struct ip_lines *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        ip_text_printf(text, "        %s\n", lines->items[i]);
    }
}

static void print_fill(struct ip_text *text, const char *what, const uint8_t fill[64]) {
    ip_text_printf(text, ";   %s:", what);
    /* Most fills repeat a quadword: say it once. */
    size_t shown = 64;
    while (shown > 8 && memcmp(fill, fill + shown / 2, shown / 2) == 0) {
        shown /= 2;
    }
    for (size_t i = 0; i < shown; i++) {
        ip_text_printf(text, " %02x", fill[i]);
    }
    ip_text_append(text, "\n");
}

/* The mask registers that the line names: k0 to k7 as words of their own. */
static unsigned line_masks(const char *line) {
    unsigned named = 0;
    for (const char *k = strchr(line, 'k'); k != NULL; k = strchr(k + 1, 'k')) {
        bool begins = k == line || !ip_ascii_is_alnum(k[-1]);
        if (begins && k[1] >= '0' && k[1] <= '7' && !ip_ascii_is_alnum(k[2])) {
            named |= 1u << (k[1] - '0');
        }
    }
    return named;
}

uint8_t gen_program_idle_masks(const struct gen_program *program) {
    const struct ip_lines *const parts[] = {&program->init, &program->unit};
    unsigned named = 0;
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        for (size_t i = 0; i < parts[p]->count; i++) {
            named |= line_masks(parts[p]->items[i]);
        }
    }
    return (uint8_t)~named;
}

enum ip_status gen_program_print(const struct gen_program *program, uint32_t copies, struct ip_text *source,
                                 struct ip_error *err) {
    if (copies == 0 || program->unit.count == 0) {
        return ip_fail(err, IP_USAGE, "kernel '%s' has an empty loop", program->title);
    }
    struct ip_text text = {0};
    char count[GEN_FRAME_LINE_MAX];
    gen_frame_count(program, count);
    ip_text_printf(&text, "; isaprobe kernel: %s\n", program->title);
    ip_text_printf(
        &text, "; void kernel(uint64_t iterations); %u x %zu instructions in the loop, %u of them count.\n",
        copies, program->unit.count, program->forms_per_unit * copies);
    ip_text_printf(&text, "; Assemble: nasm -f bin -o kernel.bin kernel.asm\n");
    ip_text_printf(&text, "; Needs read-write memory at 0x%x..0x%x, in repeated bytes:\n", GEN_ARENA_ADDRESS,
                   GEN_ARENA_ADDRESS + GEN_ARENA_BYTES - 1);
    print_fill(&text, "data", program->memory_fill);
    print_fill(&text, "vectors", program->vector_fill);
    ip_text_append(&text, "bits 64\ndefault abs\n");
    gen_frame_prologue(program, print_line, &text);
    if (program->init.count > 0) {
        ip_text_append(&text, "\n        ; operands of this kernel\n");
        print_lines(&text, &program->init);
    }
    ip_text_printf(&text, "\nalign %d\n", GEN_LOOP_ALIGN);
    if (program->loop_shift > 0) {
        ip_text_printf(&text, "times %u nop\n", program->loop_shift);
    }
    ip_text_printf(&text, "kernel_loop:\n%%rep %u\n", copies);
    print_lines(&text, &program->unit);
    ip_text_printf(&text, "%%endrep\n        %s\n        jnz strict near kernel_loop\n", count);
    gen_frame_epilogue(program, print_line, &text);
    if (text.failed) {
        ip_text_fini(&text);
        return ip_fail(err, IP_NO_MEMORY, "out of memory while printing kernel '%s'", program->title);
    }
    ip_text_fini(source);
    *source = text;
    return IP_OK;
}
