/* SPDX-License-Identifier: Apache-2.0 */
/* generator/instance.h - instances of a form that wait for nothing of one another: the registers and the
 * places in memory of each, and what a unit of them begins and ends with. What independent instances
 * (throughput.c) and mixes (mix.c) are made of. Internal to generator/. */
#ifndef ISAPROBE_GENERATOR_INSTANCE_H
#define ISAPROBE_GENERATOR_INSTANCE_H

#include "generator/operands.h"
#include "generator/shapes.h"
#include "isa/encode.h"

enum {
    GEN_INSTANCES_MAX = 2000, /* in a unit: so many pushes stay within the stack pages */
    GEN_WRITTEN_MAX = 16,     /* instances that are remembered: of most forms all that differ */
    GEN_WINDOW_BYTES = 0x800, /* stores walk through so many bytes, every other ... */
    GEN_WINDOW_HALF = 0x200,  /* ... half of 1 KiB: no page offset of a load, where they would alias, nor its
                                 displacement modulo 1 KiB, by which a Zen 4 takes what is stored for what is
                                 loaded (12 cycles a load, each time that it is wrong) */
};

/* An instance that is in the unit. */
struct gen_written {
    struct isa_binding binding;
    unsigned renewals;   /* what of those that come and go stood before it */
    size_t first, count; /* its lines */
};

/* One form of a unit, and where its operands find their registers. */
struct gen_stream {
    const struct isa_form *form;
    const struct gen_pool *pool;
    struct gen_independence how;
    unsigned weight;
    uint8_t first[ISA_OPERANDS_MAX], count[ISA_OPERANDS_MAX]; /* slice of the rotating registers */
    unsigned emitted;                                         /* instances so far */
    int32_t window_disp;                                      /* where this form's accesses begin */
    struct gen_written written[GEN_WRITTEN_MAX];
    unsigned written_count;
};

/* Deals the rotating registers of each pool to the written operands of its streams: `form` and `pool`, `how`
 * and `weight` are set; a stream without a form is a filler's. IP_UNSUPPORTED: there are too few. */
IP_CHECK enum ip_status gen_streams_deal(struct gen_stream *streams, unsigned count, struct ip_error *err);

/* Appends the next instance of a stream, with what it needs to wait for nothing, to the unit. */
IP_CHECK enum ip_status gen_instance_emit(struct gen_program *program, struct gen_stream *stream,
                                          struct ip_error *err);

/* IP_UNSUPPORTED: one of the forms goes where other instructions say. */
IP_CHECK enum ip_status gen_instances_check(const struct isa_form *const *forms, unsigned count,
                                            struct ip_error *err);

/* Makes a program without instances of these forms: what memory, vectors and registers begin with. */
void gen_instances_begin(struct gen_program *program, const struct gen_pool *pool,
                         const struct isa_form *const *forms, unsigned count);

/* Ends the unit of `made`, whose writing ended with `status`, and gives it to *program; or frees it. */
IP_CHECK enum ip_status gen_instances_end(struct gen_program *program, struct gen_program *made,
                                          enum ip_status status, struct ip_error *err);

#endif
