/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "generator/frame.h"

/* FNV-1a (Fowler, Noll, Vo 1991). */
static uint32_t line_hash(const char *line) {
    uint32_t hash = 2166136261u;
    for (const unsigned char *c = (const unsigned char *)line; *c != '\0'; c++) {
        hash = (hash ^ *c) * 16777619u;
    }
    return hash;
}

void gen_encoder_fini(struct gen_encoder *encoder) {
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

/* Slot of the line: holds its position + 1, or 0 where it would go. index_size is a power of two > count. */
static size_t index_slot(const struct gen_encoder *encoder, const char *line) {
    size_t mask = encoder->index_size - 1;
    size_t slot = line_hash(line) & mask;
    while (encoder->index[slot] != 0 && strcmp(encoder->lines[encoder->index[slot] - 1], line) != 0) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool index_grow(struct gen_encoder *encoder) {
    size_t size = encoder->index_size != 0 ? 2 * encoder->index_size : 256;
    uint32_t *index = calloc(size, sizeof *index);
    if (index == NULL) {
        return false;
    }
    free(encoder->index);
    encoder->index = index;
    encoder->index_size = size;
    for (size_t i = 0; i < encoder->count; i++) {
        encoder->index[index_slot(encoder, encoder->lines[i])] = (uint32_t)i + 1;
    }
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
    size_t slot = index_slot(encoder, line);
    if (encoder->index[slot] != 0) {
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
    encoder->index[slot] = (uint32_t)i + 1;
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

enum ip_status gen_encoder_program_add(struct gen_encoder *encoder, const struct gen_program *program,
                                       struct ip_error *err) {
    struct adder adder = {encoder, false};
    gen_frame_prologue(program, frame_line_add, &adder);
    for (size_t i = 0; i < program->init.count; i++) {
        frame_line_add(&adder, program->init.items[i], NULL);
    }
    for (size_t i = 0; i < program->unit.count; i++) {
        frame_line_add(&adder, program->unit.items[i], NULL);
    }
    char count[GEN_FRAME_LINE_MAX];
    gen_frame_count(program, count);
    frame_line_add(&adder, count, NULL);
    if (program->one_loop) {
        char twice[GEN_FRAME_LINE_MAX];
        gen_frame_double(program, twice);
        frame_line_add(&adder, twice, NULL);
    }
    gen_frame_epilogue(program, frame_line_add, &adder);
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
            encoder->complaints[first + i] = complaints.items[i]; /* taken over */
            complaints.items[i] = NULL;
        }
    }
    ip_lines_fini(&complaints);
    encoder->flushed = encoder->count;
    return IP_OK;
}

enum ip_status gen_encoder_line_find(const struct gen_encoder *encoder, const char *line,
                                     const struct isa_code **code, struct ip_error *err) {
    size_t slot = encoder->index_size != 0 ? index_slot(encoder, line) : 0;
    size_t position = encoder->index_size != 0 ? encoder->index[slot] : 0;
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
