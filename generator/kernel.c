/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "generator/abi.h"
#include "generator/encoder.h"
#include "generator/frame.h"
#include "generator/shapes.h"

enum {
    SHORT_INSTRUCTIONS = 128, /* in the short loop, where the unit allows it */
    LONG_BYTES = 2600, /* the long loop stays below, where 4 copies allow it: it must fit the µop cache */
    COPIES_MIN = 2,
    COPIES_MAX = 1 << 20,
    CODE_MAX = 1 << 26
};

struct gatherer {
    const struct gen_encoder *encoder;
    struct ip_text bytes;
    enum ip_status status;
    struct ip_error *err;
};

static void gather(void *self, const char *line, const char *comment) {
    (void)comment;
    struct gatherer *gatherer = self;
    const struct isa_code *code = NULL;
    if (gatherer->status == IP_OK) {
        gatherer->status = gen_encoder_line_find(gatherer->encoder, line, &code, gatherer->err);
    }
    if (gatherer->status == IP_OK) {
        ip_text_append_bytes(&gatherer->bytes, code->bytes, code->length);
    }
}

static void gather_lines(struct gatherer *gatherer, const struct ip_lines *lines) {
    struct gen_recent recent = {0};
    const struct isa_code *codes[GEN_RECENT]; /* of the recent lines */
    for (size_t i = 0; i < lines->count && gatherer->status == IP_OK; i++) {
        const char *line = lines->items[i];
        const struct isa_code **code = &codes[gen_recent_place(line)];
        if (!gen_recent_has(&recent, line)) {
            gatherer->status = gen_encoder_line_find(gatherer->encoder, line, code, gatherer->err);
        }
        if (gatherer->status == IP_OK) {
            ip_text_append_bytes(&gatherer->bytes, (*code)->bytes, (*code)->length);
        }
    }
}

/* The parts of a kernel in the order of their bytes; the loop is unit, counting and a jump. */
struct parts {
    struct gatherer head, unit, count, epilogue;
};

static void parts_fini(struct parts *parts) {
    ip_text_fini(&parts->head.bytes);
    ip_text_fini(&parts->unit.bytes);
    ip_text_fini(&parts->count.bytes);
    ip_text_fini(&parts->epilogue.bytes);
}

static enum ip_status parts_gather(struct parts *parts, const struct gen_program *program,
                                   const struct gen_encoder *encoder, struct ip_error *err) {
    const struct gatherer empty = {.encoder = encoder, .status = IP_OK, .err = err};
    *parts = (struct parts){empty, empty, empty, empty};
    const struct gen_frame_code *frame = gen_encoder_frame_find(encoder, program);
    if (frame != NULL) {
        ip_text_append_bytes(&parts->head.bytes, frame->prologue.data, frame->prologue.length);
    } else {
        gen_frame_prologue(program, gather, &parts->head);
    }
    gather_lines(&parts->head, &program->init);
    parts->unit.status = parts->head.status;
    gather_lines(&parts->unit, &program->unit);
    parts->count.status = parts->unit.status;
    char count[GEN_FRAME_LINE_MAX];
    gen_frame_count(program, count);
    gather(&parts->count, count, NULL);
    parts->epilogue.status = parts->count.status;
    if (frame != NULL) {
        ip_text_append_bytes(&parts->epilogue.bytes, frame->epilogue.data, frame->epilogue.length);
    } else {
        gen_frame_epilogue(program, gather, &parts->epilogue);
    }
    if (parts->epilogue.status != IP_OK) {
        return parts->epilogue.status;
    }
    if (parts->head.bytes.failed || parts->unit.bytes.failed || parts->count.bytes.failed ||
        parts->epilogue.bytes.failed) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory while building kernel '%s'", program->title);
    }
    return IP_OK;
}

static enum ip_status code_build(struct gen_code *code, const struct gen_program *program,
                                 const struct parts *parts, uint32_t copies, uint32_t passes,
                                 struct ip_error *err) {
    enum { JNZ_BYTES = 6, ONE_BYTE_NOP = 0x90 };
    const struct ip_text *head = &parts->head.bytes, *unit = &parts->unit.bytes;
    const struct ip_text *count = &parts->count.bytes, *epilogue = &parts->epilogue.bytes;
    size_t loop = (head->length + GEN_LOOP_ALIGN - 1) / GEN_LOOP_ALIGN * GEN_LOOP_ALIGN + program->loop_shift;
    size_t length = loop + copies * unit->length + count->length + JNZ_BYTES + epilogue->length;
    if (length > CODE_MAX) {
        return ip_fail(err, IP_UNSUPPORTED,
                       "kernel '%s' would take %zu bytes: use fewer copies than %u of its %zu bytes",
                       program->title, length, copies, unit->length);
    }
    uint8_t *bytes = malloc(length);
    if (bytes == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory while building kernel '%s'", program->title);
    }
    uint8_t *next = bytes;
    memcpy(next, head->data, head->length);
    memset(next + head->length, ONE_BYTE_NOP, loop - head->length);
    next += loop;
    for (uint32_t i = 0; i < copies; i++) {
        memcpy(next, unit->data, unit->length);
        next += unit->length;
    }
    memcpy(next, count->data, count->length);
    next += count->length;
    /* jnz near kernel_loop: the displacement counts from the end of the jump. */
    uint32_t distance = (uint32_t)(loop - ((size_t)(next - bytes) + JNZ_BYTES));
    *next++ = 0x0f;
    *next++ = 0x85;
    for (unsigned i = 0; i < 4; i++) {
        *next++ = (uint8_t)(distance >> (8 * i));
    }
    memcpy(next, epilogue->data, epilogue->length);
    *code = (struct gen_code){
        .bytes = bytes, .length = length, .loop_offset = loop, .copies = passes * copies, .passes = passes};
    return IP_OK;
}

static uint32_t copies_choose(size_t instructions, size_t bytes) {
    size_t copies = (SHORT_INSTRUCTIONS + instructions - 1) / instructions;
    size_t fitting = LONG_BYTES / (2 * bytes);
    if (copies > fitting) {
        copies = fitting;
    }
    return copies < COPIES_MIN ? COPIES_MIN : (uint32_t)copies;
}

/* An address in brackets is read or written, but for these. */
static bool lines_touch_memory(const struct ip_lines *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        const char *line = lines->items[i];
        if (strchr(line, '[') != NULL && strncmp(line, "lea ", 4) != 0 && strncmp(line, "nop ", 4) != 0) {
            return true;
        }
    }
    return false;
}

/* What finds the data without naming memory (string instructions) has its address from a line before it: a
 * number, or the base register. */
static bool lines_reach_data(const struct ip_lines *lines) {
    static const char address[] = "0x2001"; /* as the lines print any of the data's */
    _Static_assert(GEN_DATA_ADDRESS == 0x20010000 && GEN_DATA_BYTES == 0x10000,
                   "the digits of all addresses");
    for (size_t i = 0; i < lines->count; i++) {
        const char *line = lines->items[i];
        bool base = strstr(line, "r14") != NULL && strcmp(line, GEN_FILLER_MOVE) != 0;
        if (base || strchr(line, '[') != NULL || strstr(line, address) != NULL) {
            return true;
        }
    }
    return false;
}

enum ip_status gen_kernel_build(struct gen_kernel *kernel, const struct gen_program *program,
                                const struct gen_encoder *encoder, uint32_t copies, struct ip_error *err) {
    if (program->unit.count == 0 || program->forms_per_unit == 0 || copies > COPIES_MAX) {
        return ip_fail(err, IP_USAGE, "kernel '%s' needs 1 to %d copies of a unit that is not empty",
                       program->title, COPIES_MAX);
    }
    struct gen_kernel built = {.forms_per_unit = program->forms_per_unit,
                               .unit_instructions = (uint32_t)program->unit.count,
                               .map_on_demand = program->map_on_demand,
                               .fine = program->fine,
                               .once = program->once,
                               .chain = program->chain,
                               .forwards = program->forwards,
                               .tiles = (program->uses & GEN_USES_TILES) != 0};
    built.touches_memory =
        !program->map_on_demand && (program->implicit_memory || lines_touch_memory(&program->unit));
    built.reaches_data = lines_reach_data(&program->init) || lines_reach_data(&program->unit);
    built.fills_issue = program->fills_issue;
    built.wakes_vectors = (program->uses & (GEN_USES_XMM | GEN_USES_YMM | GEN_USES_EVEX | GEN_USES_VEX_128 |
                                            GEN_USES_MMX | GEN_USES_X87)) != 0;
    built.fills_x87 = (program->uses & (GEN_USES_MMX | GEN_USES_X87)) != 0;
    built.extended_state = built.wakes_vectors || (program->uses & (GEN_USES_MASK | GEN_USES_TILES)) != 0;
    memcpy(built.memory_fill, program->memory_fill, sizeof built.memory_fill);
    memcpy(built.vector_fill, program->vector_fill, sizeof built.vector_fill);
    struct parts parts;
    enum ip_status status = parts_gather(&parts, program, encoder, err);
    if (status == IP_OK) {
        built.unit_bytes = parts.unit.bytes.length;
        copies = copies != 0 ? copies : program->copies;
        copies = copies != 0 ? copies : copies_choose(program->unit.count, parts.unit.bytes.length);
        status = code_build(&built.shorter, program, &parts, copies, 1, err);
    }
    if (status == IP_OK) {
        uint32_t passes = program->one_loop ? 2 : 1, longer = 2 * copies / passes;
        status = code_build(&built.longer, program, &parts, longer, passes, err);
    }
    parts_fini(&parts);
    if (status != IP_OK) {
        gen_kernel_fini(&built);
        return status;
    }
    *kernel = built;
    return IP_OK;
}

void gen_kernel_fini(struct gen_kernel *kernel) {
    free(kernel->shorter.bytes);
    free(kernel->longer.bytes);
    memset(kernel, 0, sizeof *kernel);
}

enum ip_status gen_kernel_make(struct gen_kernel *kernel, const struct gen_program *program,
                               struct gen_encoder *encoder, uint32_t copies, struct ip_error *err) {
    enum ip_status status = gen_encoder_program_add(encoder, program, err);
    if (status == IP_OK) {
        status = gen_encoder_flush(encoder, err);
    }
    if (status == IP_OK) {
        status = gen_kernel_build(kernel, program, encoder, copies, err);
    }
    return status;
}
