/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "generator/frame.h"

static struct gen_frame_code *frame_find(const struct gen_encoder *encoder,
                                         const struct gen_program *program) {
    for (size_t i = encoder->frame_count; i > 0; i--) { /* the last ones are asked for most */
        struct gen_frame_code *frame = &encoder->frames[i - 1];
        if (frame->uses == program->uses && frame->idle_masks == program->idle_masks &&
            frame->counter == program->counter && frame->gpr_fill == program->gpr_fill) {
            return frame;
        }
    }
    return NULL;
}

const struct gen_frame_code *gen_encoder_frame_find(const struct gen_encoder *encoder,
                                                    const struct gen_program *program) {
    const struct gen_frame_code *frame = frame_find(encoder, program);
    return frame != NULL && frame->encoded ? frame : NULL;
}

void gen_encoder_fini(struct gen_encoder *encoder) {
    for (size_t i = 0; i < encoder->frame_count; i++) {
        ip_text_fini(&encoder->frames[i].prologue);
        ip_text_fini(&encoder->frames[i].epilogue);
    }
    free(encoder->frames);
    for (size_t i = 0; i < encoder->count; i++) {
        free(encoder->lines[i]);
        free(encoder->complaints[i]);
    }
    free(encoder->lines);
    free(encoder->codes);
    free(encoder->complaints);
    free(encoder->index);
    memset(encoder, 0, sizeof *encoder);
}

/* The slot of the line, or the empty one where it would go. index_size is a power of two > count. */
static struct gen_line_slot *index_slot(const struct gen_encoder *encoder, const char *line, uint32_t hash) {
    size_t mask = encoder->index_size - 1;
    size_t slot = hash & mask;
    for (struct gen_line_slot *at = &encoder->index[slot]; at->number != 0; at = &encoder->index[slot]) {
        if (at->hash == hash && strcmp(encoder->lines[at->number - 1], line) == 0) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return &encoder->index[slot];
}

static bool index_grow(struct gen_encoder *encoder) {
    size_t size = encoder->index_size != 0 ? 2 * encoder->index_size : 256;
    struct gen_line_slot *index = calloc(size, sizeof *index);
    if (index == NULL) {
        return false;
    }
    struct gen_line_slot *old = encoder->index;
    size_t old_size = encoder->index_size;
    encoder->index = index;
    encoder->index_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].number != 0) {
            *index_slot(encoder, encoder->lines[old[i].number - 1], old[i].hash) = old[i];
        }
    }
    free(old);
    return true;
}

static bool arrays_grow(struct gen_encoder *encoder) {
    size_t capacity = encoder->capacity != 0 ? 2 * encoder->capacity : 128;
    char **lines = realloc(encoder->lines, capacity * sizeof *lines);
    if (lines == NULL) {
        return false;
    }
    encoder->lines = lines;
    char **complaints = realloc(encoder->complaints, capacity * sizeof *complaints);
    if (complaints == NULL) {
        return false;
    }
    encoder->complaints = complaints;
    struct isa_code *codes = realloc(encoder->codes, capacity * sizeof *codes);
    if (codes == NULL) {
        return false;
    }
    encoder->codes = codes;
    encoder->capacity = capacity;
    return true;
}

static bool line_add(struct gen_encoder *encoder, const char *line) {
    if (2 * (encoder->count + 1) > encoder->index_size && !index_grow(encoder)) {
        return false;
    }
    uint32_t hash = ip_text_hash(line);
    struct gen_line_slot *slot = index_slot(encoder, line, hash);
    if (slot->number != 0) {
        return true;
    }
    if (encoder->count == encoder->capacity && !arrays_grow(encoder)) {
        return false;
    }
    char *copy = strdup(line);
    if (copy == NULL) {
        return false;
    }
    size_t i = encoder->count++;
    encoder->lines[i] = copy;
    encoder->complaints[i] = NULL;
    memset(&encoder->codes[i], 0, sizeof encoder->codes[i]);
    *slot = (struct gen_line_slot){.hash = hash, .number = (uint32_t)i + 1};
    return true;
}

struct adder {
    struct gen_encoder *encoder;
    bool failed;
};

static void frame_line_add(void *self, const char *line, const char *comment) {
    (void)comment;
    struct adder *adder = self;
    adder->failed = adder->failed || !line_add(adder->encoder, line);
}

/* Adds the lines of the program's frame, unless one like it was added before. */
static void frame_add(struct adder *adder, const struct gen_program *program) {
    struct gen_encoder *encoder = adder->encoder;
    if (frame_find(encoder, program) != NULL) {
        return;
    }
    struct gen_frame_code *frames =
        realloc(encoder->frames, (encoder->frame_count + 1) * sizeof *encoder->frames);
    if (frames == NULL) {
        adder->failed = true;
        return;
    }
    encoder->frames = frames;
    frames[encoder->frame_count++] = (struct gen_frame_code){.uses = program->uses,
                                                             .idle_masks = program->idle_masks,
                                                             .counter = program->counter,
                                                             .gpr_fill = program->gpr_fill};
    gen_frame_prologue(program, frame_line_add, adder);
    gen_frame_epilogue(program, frame_line_add, adder);
}

struct frame_gatherer {
    const struct gen_encoder *encoder;
    struct ip_text *bytes;
    bool failed;
};

static void frame_line_gather(void *self, const char *line, const char *comment) {
    (void)comment;
    struct frame_gatherer *gatherer = self;
    const struct isa_code *code = NULL;
    struct ip_error ignored; /* who builds a kernel of it looks the line up again */
    if (gen_encoder_line_find(gatherer->encoder, line, &code, &ignored) != IP_OK) {
        gatherer->failed = true;
    } else {
        ip_text_append_bytes(gatherer->bytes, code->bytes, code->length);
    }
}

static void frames_encode(struct gen_encoder *encoder) {
    for (size_t i = encoder->frames_flushed; i < encoder->frame_count; i++) {
        struct gen_frame_code *frame = &encoder->frames[i];
        const struct gen_program program = {.uses = frame->uses,
                                            .idle_masks = frame->idle_masks,
                                            .counter = frame->counter,
                                            .gpr_fill = frame->gpr_fill};
        struct frame_gatherer prologue = {encoder, &frame->prologue, false};
        struct frame_gatherer epilogue = {encoder, &frame->epilogue, false};
        gen_frame_prologue(&program, frame_line_gather, &prologue);
        gen_frame_epilogue(&program, frame_line_gather, &epilogue);
        frame->encoded =
            !prologue.failed && !epilogue.failed && !frame->prologue.failed && !frame->epilogue.failed;
    }
    encoder->frames_flushed = encoder->frame_count;
}

enum ip_status gen_encoder_program_add(struct gen_encoder *encoder, const struct gen_program *program,
                                       struct ip_error *err) {
    struct adder adder = {encoder, false};
    frame_add(&adder, program);
    for (size_t i = 0; i < program->init.count; i++) {
        frame_line_add(&adder, program->init.items[i], NULL);
    }
    struct gen_recent recent = {0};
    for (size_t i = 0; i < program->unit.count; i++) {
        if (!gen_recent_has(&recent, program->unit.items[i])) {
            frame_line_add(&adder, program->unit.items[i], NULL);
        }
    }
    char count[GEN_FRAME_LINE_MAX];
    gen_frame_count(program, count);
    frame_line_add(&adder, count, NULL);
    if (adder.failed) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory while noting the lines of kernel '%s'",
                       program->title);
    }
    return IP_OK;
}

enum ip_status gen_encoder_flush(struct gen_encoder *encoder, struct ip_error *err) {
    size_t first = encoder->flushed;
    size_t count = encoder->count - first;
    if (count == 0) {
        frames_encode(encoder); /* of lines that were there */
        return IP_OK;
    }
    struct ip_lines complaints = {0};
    enum ip_status status = isa_assemble_lines((const char *const *)&encoder->lines[first], count,
                                               &encoder->codes[first], &complaints, err);
    if (status != IP_OK) {
        ip_lines_fini(&complaints);
        return status;
    }
    for (size_t i = 0; i < count && i < complaints.count; i++) {
        if (complaints.items[i][0] != '\0') {
            encoder->complaints[first + i] = strdup(complaints.items[i]); /* NULL: no words for it */
        }
    }
    ip_lines_fini(&complaints);
    encoder->flushed = encoder->count;
    frames_encode(encoder);
    return IP_OK;
}

enum ip_status gen_encoder_line_find(const struct gen_encoder *encoder, const char *line,
                                     const struct isa_code **code, struct ip_error *err) {
    size_t position = encoder->index_size != 0 ? index_slot(encoder, line, ip_text_hash(line))->number : 0;
    if (position == 0 || position > encoder->flushed) {
        return ip_fail(err, IP_FAILED, "line '%s' was not encoded: add its program and flush before building",
                       line);
    }
    const struct isa_code *found = &encoder->codes[position - 1];
    if (found->length == 0) {
        const char *complaint = encoder->complaints[position - 1];
        return ip_fail(err, IP_UNSUPPORTED, "NASM rejects '%s': %s", line,
                       complaint != NULL ? complaint : "no code");
    }
    *code = found;
    return IP_OK;
}
