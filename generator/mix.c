/* SPDX-License-Identifier: Apache-2.0 */
/* Several forms interleaved, and fillers among them (Putigny 2014, Listing 2.6; 2.2.3). */
#include <stdio.h>
#include <string.h>

#include "generator/control.h"
#include "generator/instance.h"

/* Evenly: the next instance is of the part that is furthest behind its share (Bresenham); -1 when all are
 * done. */
static int part_next(const struct gen_stream *streams, const struct gen_part *parts, unsigned count) {
    int next = -1;
    for (unsigned i = 0; i < count; i++) {
        bool open = streams[i].emitted < parts[i].count;
        if (open && (next < 0 || (uint64_t)streams[i].emitted * parts[next].count <
                                     (uint64_t)streams[next].emitted * parts[i].count)) {
            next = (int)i;
        }
    }
    return next;
}

void gen_mix_draw(const struct gen_part *parts, unsigned count, char *buffer, size_t size) {
    struct gen_stream streams[GEN_PARTS_MAX];
    memset(streams, 0, sizeof streams);
    size_t used = 0;
    for (int next; (next = part_next(streams, parts, count)) >= 0; streams[next].emitted++) {
        if (used + 1 == size) {
            memcpy(buffer + size - 4, "...", 4);
            return;
        }
        buffer[used++] = (char)('a' + next);
    }
    buffer[used] = '\0';
}

static enum ip_status parts_check(const struct gen_part *parts, unsigned count, struct ip_error *err) {
    unsigned instances = 0;
    for (unsigned i = 0; i < count && instances <= GEN_INSTANCES_MAX; i++) {
        instances += parts[i].count <= GEN_INSTANCES_MAX ? parts[i].count : GEN_INSTANCES_MAX + 1;
    }
    if (count == 0 || count > GEN_PARTS_MAX || instances == 0 || instances > GEN_INSTANCES_MAX) {
        return ip_fail(err, IP_USAGE, "a unit has 1 to %d instances of 1 to %d forms", GEN_INSTANCES_MAX,
                       GEN_PARTS_MAX);
    }
    return IP_OK;
}

/* Where the accesses of a part begin. What modifies its memory also loads, and at the page offsets of stores
 * that others do this is taken for a load of what they store: it goes to those of loads, if nobody else does.
 * (On a Zen 4 a `sub` of 32 bits took up to 26 cycles more in such a mix, by a displacement that is the same
 * modulo 1 KiB, and one of 16 bits none.) */
static int32_t window_of(const struct gen_part *parts, unsigned count, unsigned of) {
    bool loads_too = false, stores_too = false;
    for (unsigned i = 0; i < count; i++) {
        int o = i != of && parts[i].form != NULL ? isa_form_memory_operand(parts[i].form) : -1;
        bool reads = o >= 0 && parts[i].form->operands[o].read;
        bool writes = o >= 0 && parts[i].form->operands[o].write;
        loads_too = loads_too || (reads && !writes);
        stores_too = stores_too || (writes && (!reads || i < of));
    }
    int own = parts[of].form != NULL ? isa_form_memory_operand(parts[of].form) : -1;
    if (own >= 0 && !parts[of].form->operands[own].write) {
        return 0; /* who only loads is in nobody's way */
    }
    bool modifies = parts[of].form != NULL && gen_form_modifies_memory(parts[of].form);
    return (int32_t)of * 2 * GEN_WINDOW_BYTES + (modifies && stores_too && !loads_too ? GEN_WINDOW_HALF : 0);
}

static const char *filler_of(const struct gen_part *part) {
    return part->filler != NULL ? part->filler : GEN_FILLER_NOP;
}

static const char *filler_in(const struct gen_part *parts, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].form == NULL) {
            return filler_of(&parts[i]);
        }
    }
    return GEN_FILLER_NOP;
}

/* "4 x addpd xmm, xmm beside 4 x imul r64, r64" */
static void title_write(struct gen_program *program, const struct gen_part *parts, unsigned count) {
    size_t used = 0;
    for (unsigned i = 0; i < count && used < sizeof program->title; i++) {
        used += (size_t)snprintf(program->title + used, sizeof program->title - used, "%s%u x %s",
                                 i > 0 ? " beside " : "", parts[i].count,
                                 parts[i].form != NULL ? parts[i].form->syntax : filler_of(&parts[i]));
    }
}

/* Does anything but `form` write flags? It would fuse with the branch, or have it taken. */
static enum ip_status flags_check(const struct gen_part *parts, unsigned count, const struct isa_form *form,
                                  struct ip_error *err) {
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].form != NULL && parts[i].form != form && parts[i].form->flags_written != 0) {
            return ip_fail(err, IP_UNSUPPORTED, "'%s' would not keep the flags that '%s' asks",
                           parts[i].form->syntax, form->syntax);
        }
    }
    return IP_OK;
}

/* What the parts need once, in front of all instances: flags by which branches are not taken. */
static enum ip_status branches_prepare(struct gen_program *program, const struct gen_part *parts,
                                       unsigned count, struct ip_error *err) {
    const struct isa_form *jumps[GEN_PARTS_MAX];
    unsigned jump_count = 0;
    bool any = false;
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        const struct isa_form *form = parts[i].form;
        bool asks = form != NULL && gen_form_branches_on_flags(form);
        bool prepared = asks || (form != NULL && parts[i].not_taken);
        any = any || prepared;
        status = asks ? flags_check(parts, count, form, err) : IP_OK;
        if (prepared && gen_form_jumps_on_flags(form)) {
            jumps[jump_count++] = form;
        } else if (prepared && status == IP_OK) {
            status = gen_branch_prepare(program, form, false, err);
        }
    }
    if (status == IP_OK && jump_count > 0) {
        status = gen_jumps_prepare(program, jumps, jump_count, err);
    }
    if (status == IP_OK && any && program->unit.count > 0) {
        ip_lines_add(&program->unit, filler_in(parts, count)); /* or it fuses with the first branch */
    }
    return status;
}

/* All instances, evenly. */
static enum ip_status instances_emit(struct gen_program *program, struct gen_stream *streams,
                                     const struct gen_part *parts, unsigned count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (int next; status == IP_OK && (next = part_next(streams, parts, count)) >= 0;) {
        if (parts[next].form == NULL) {
            ip_lines_add(&program->unit, filler_of(&parts[next]));
            streams[next].emitted++;
        } else {
            status = gen_instance_emit(program, &streams[next], err);
        }
    }
    return status;
}

enum ip_status gen_mix_program(struct gen_program *program, const struct gen_part *parts, unsigned count,
                               struct ip_error *err) {
    enum ip_status status = parts_check(parts, count, err);
    if (status != IP_OK) {
        return status;
    }
    const struct isa_form *forms[GEN_PARTS_MAX];
    unsigned form_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].form != NULL) {
            forms[form_count++] = parts[i].form;
        }
    }
    struct gen_pool pool;
    status = gen_pool_init(&pool, forms, form_count, err);
    if (status == IP_OK) {
        status = gen_instances_check(forms, form_count, err);
    }
    if (status != IP_OK) {
        return status;
    }
    const struct gen_pool with_rex = gen_pool_with_rex(&pool);
    struct gen_stream streams[GEN_PARTS_MAX];
    memset(streams, 0, sizeof streams);
    for (unsigned i = 0; i < count; i++) {
        bool rex = parts[i].form != NULL && pool.high_bytes && !gen_form_has_high_byte(parts[i].form);
        streams[i] = (struct gen_stream){.form = parts[i].form,
                                         .pool = rex ? &with_rex : &pool,
                                         .how = parts[i].how,
                                         .weight = parts[i].weight,
                                         .window_disp = window_of(parts, count, i)};
    }
    status = gen_streams_deal(streams, count, err);
    if (status != IP_OK) {
        return status;
    }
    struct gen_program made;
    gen_instances_begin(&made, &pool, forms, form_count);
    if (pool.division && pool.high_bytes) { /* the divisor of forms that have a REX prefix */
        gen_renew(&made.init, &with_rex, GEN_FILE_GPR, with_rex.constant[GEN_FILE_GPR][0],
                  gen_divisor(&with_rex), false);
    }
    made.forms_per_unit = 1;
    made.fills_issue = form_count < count;
    title_write(&made, parts, count);
    status = branches_prepare(&made, parts, count, err);
    if (status == IP_OK) {
        status = instances_emit(&made, streams, parts, count, err);
    }
    return gen_instances_end(program, &made, status, err);
}

enum ip_status gen_pair_program(struct gen_program *program, const struct isa_form *form_a, unsigned count_a,
                                const struct isa_form *form_b, unsigned count_b, struct ip_error *err) {
    const struct gen_part parts[2] = {{.form = form_a, .count = count_a}, {.form = form_b, .count = count_b}};
    return gen_mix_program(program, parts, 2, err);
}
