/* SPDX-License-Identifier: Apache-2.0 */
/* What a row does not say: assemble a sample, decode it, take over what Zydis knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/assemble.h"
#include "isa/corrections.h"
#include "isa/decode.h"
#include "isa/encode.h"
#include "isa/kind.h"

/* Ways to write a sample, tried in this order. */
enum writing { WRITING_ROW, WRITING_UNSIZED, WRITING_RAW, WRITINGS };

struct job {
    struct isa_form *form;
    struct isa_form trial; /* the form with the hints of this round */
    struct isa_binding binding;
    bool done;
    char why[96];
};

/* Does the decoder see what the row says? A row may fix a value or a register that the decoder calls free
 * ("add r64, 0", "mov rax, r64"): then `decoded` becomes that narrower form. */
static bool same_form(const struct isa_form *row, struct isa_form *decoded, const struct isa_binding *bound) {
    for (unsigned i = 0; i < row->explicit_count && i < decoded->explicit_count; i++) {
        const struct isa_operand *want = &row->operands[i];
        struct isa_operand *got = &decoded->operands[i];
        if (want->kind != got->kind)
            return false;
        if (want->imm_fixed && !got->imm_fixed && bound->imm[i] == want->imm) {
            got->imm_fixed = true;
            got->imm = want->imm;
        }
        if (want->kind == ISA_OPERAND_REG && want->reg >= 0 && got->reg < 0 && bound->reg[i] == want->reg)
            got->reg = want->reg;
    }
    return isa_form_syntax_build(decoded) && strcmp(row->syntax, decoded->syntax) == 0;
}

static void overrides_apply(struct isa_form *form) {
    if (!form->override)
        return;
    int flags = isa_form_flags_operand(form);
    bool flags_used = ((form->override_reads | form->override_writes) & 0x8000) != 0;
    if (flags < 0 && flags_used && form->operand_count < ISA_OPERANDS_MAX) {
        flags = form->operand_count;
        form->operands[form->operand_count++] =
            (struct isa_operand){.kind = ISA_OPERAND_FLAGS, .reg = -1, .implicit = true};
    }
    for (int i = 0; i < form->operand_count; i++) {
        unsigned bit = i == flags ? 0x8000u : i < form->explicit_count ? 1u << i : 0;
        struct isa_operand *op = &form->operands[i];
        if (bit == 0 || op->mask)
            continue; /* implicit registers cannot be named in a row, and a {k} is part of its operand */
        op->read = (form->override_reads & bit) != 0;
        op->write = (form->override_writes & bit) != 0;
        op->cond_read = op->cond_read && op->read;
        op->cond_write = op->cond_write && op->write;
    }
    if (flags >= 0) {
        form->flags_read = form->operands[flags].read
                               ? (form->flags_read != 0 ? form->flags_read : ISA_ARITHMETIC_FLAGS)
                               : 0;
        form->flags_written = form->operands[flags].write
                                  ? (form->flags_written != 0 ? form->flags_written : ISA_ARITHMETIC_FLAGS)
                                  : 0;
        form->flags_undefined &= form->flags_written;
    }
}

/* Takes the derived fields of `decoded`; what the row itself says stays. */
static void form_merge(struct isa_form *form, const struct isa_form *trial, const struct isa_form *decoded) {
    struct isa_form out = *decoded;
    if (form->extension[0] != '\0')
        memcpy(out.extension, form->extension, sizeof out.extension);
    if (form->note[0] != '\0')
        memcpy(out.note, form->note, sizeof out.note);
    out.encode_raw = trial->encode_raw;
    out.memory_unsized = trial->memory_unsized;
    out.override = form->override;
    out.override_reads = form->override_reads;
    out.override_writes = form->override_writes;
    isa_corrections_of_zero(&out);
    overrides_apply(&out);
    *form = out;
}

/* Decodes a sample's code and takes it over if it is what the row says. */
static void job_try(struct job *job, const uint8_t *code, size_t bytes) {
    struct isa_form decoded;
    struct isa_binding bound;
    struct ip_error err;
    size_t length;
    if (isa_decode(code, bytes, &decoded, &bound, &length, &err) != IP_OK || length != bytes) {
        snprintf(job->why, sizeof job->why, "Zydis cannot decode what was assembled");
    } else if (!same_form(&job->trial, &decoded, &bound)) {
        snprintf(job->why, sizeof job->why, "assembles to '%.70s'", decoded.syntax);
    } else if (!isa_binding_equal(&decoded, &job->binding, &bound)) {
        /* NASM 2.16.01 puts the registers of some FP16 forms into the wrong places. */
        snprintf(job->why, sizeof job->why, "assembles with other operands than were written");
    } else {
        form_merge(job->form, &job->trial, &decoded);
        memcpy(job->form->sample, code, bytes);
        job->form->sample_bytes = (uint8_t)bytes;
        job->done = true;
    }
}

static bool has_sized_memory(const struct isa_form *form) {
    int i = isa_form_memory_operand(form);
    return i >= 0 && !form->operands[i].implicit && form->operands[i].bits != 0;
}

/* Sets up this round's trial. False when there is nothing to try. */
static bool job_prepare(struct job *job, enum writing writing) {
    const struct isa_form *form = job->form;
    if (job->done)
        return false;
    job->trial = *form;
    switch (writing) {
    case WRITING_UNSIZED:
        job->trial.memory_unsized = true;
        return !form->encode_raw && !form->memory_unsized && has_sized_memory(form);
    case WRITING_RAW:
        job->trial.encode_raw = true;
        job->trial.memory_unsized = form->memory_unsized;
        return !form->encode_raw;
    default:
        return true;
    }
}

/* One round: all trials that NASM can write go through one process. */
static enum ip_status round_run(struct job *jobs, size_t count, enum writing writing, struct ip_error *err) {
    char(*texts)[ISA_LINE_MAX] = malloc(count * sizeof *texts);
    const char **lines = calloc(count, sizeof *lines);
    size_t *owners = malloc(count * sizeof *owners);
    struct isa_code *codes = malloc(count * sizeof *codes);
    struct ip_lines complaints = {0};
    size_t used = 0;
    enum ip_status status = IP_OK;
    if (texts == NULL || lines == NULL || owners == NULL || codes == NULL)
        status = ip_fail(err, IP_NO_MEMORY, "no memory to derive %zu forms", count);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct job *job = &jobs[i];
        struct ip_error inner;
        if (!job_prepare(job, writing))
            continue;
        isa_binding_init(&job->trial, &job->binding);
        if (job->trial.encode_raw) {
            uint8_t code[ISA_CODE_MAX];
            size_t length;
            if (isa_encode(&job->trial, &job->binding, code, &length, &inner) == IP_OK)
                job_try(job, code, length);
            else if (job->why[0] == '\0')
                snprintf(job->why, sizeof job->why, "Zydis's encoder cannot write it");
        } else if (isa_form_print(&job->trial, &job->binding, texts[used], &inner) == IP_OK) {
            lines[used] = texts[used];
            owners[used++] = i;
        } else {
            snprintf(job->why, sizeof job->why, "%.95s", inner.text);
        }
    }
    if (status == IP_OK)
        status = isa_assemble_lines(lines, used, codes, &complaints, err);
    for (size_t k = 0; k < used && status == IP_OK; k++) {
        struct job *job = &jobs[owners[k]];
        if (codes[k].length > 0)
            job_try(job, codes[k].bytes, codes[k].length);
        else
            snprintf(job->why, sizeof job->why, "NASM: %.80s", complaints.items[k]);
    }
    ip_lines_fini(&complaints);
    free(codes);
    free(owners);
    free(lines);
    free(texts);
    return status;
}

enum ip_status isa_forms_derive(struct isa_form *const *forms, size_t count, struct ip_error *err) {
    size_t open = 0;
    for (size_t i = 0; i < count; i++)
        open += !forms[i]->derived;
    if (open == 0)
        return IP_OK;
    struct job *jobs = calloc(open, sizeof *jobs);
    if (jobs == NULL)
        return ip_fail(err, IP_NO_MEMORY, "no memory to derive %zu forms", count);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!forms[i]->derived)
            jobs[used++].form = forms[i];
    }
    enum ip_status status = IP_OK;
    for (int writing = WRITING_ROW; writing < WRITINGS && status == IP_OK; writing++) {
        size_t left = 0;
        for (size_t i = 0; i < used; i++) {
            if (!jobs[i].done)
                jobs[left++] = jobs[i];
        }
        used = left;
        if (used > 0)
            status = round_run(jobs, used, (enum writing)writing, err);
    }
    for (size_t i = 0; i < used && status == IP_OK; i++) {
        struct isa_form *form = jobs[i].form;
        if (jobs[i].done)
            continue;
        form->derived = true;
        form->obstacle = ISA_OBSTACLE_UNENCODABLE;
        snprintf(form->note, sizeof form->note, "%.95s", jobs[i].why);
    }
    free(jobs);
    return status;
}
