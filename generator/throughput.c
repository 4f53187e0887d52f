/* SPDX-License-Identifier: Apache-2.0 */
/* Independent instances of one form (Putigny 2014, Listing 2.4). */
#include <stdio.h>

#include "generator/instance.h"

enum { LOOP_INSTRUCTIONS = 48 }; /* in the shorter loop */

/* Loops so small that they stay in the µop cache: of one that loses a line to the other thread of its core,
 * the rest of each iteration comes from the decoders. Half of that size where the form takes many µops for
 * its bytes (what it loads, changes and stores), and for a chain through the flags, which ends where the loop
 * counts, so that several fit the reorder buffer. */
static uint32_t copies_choose(const struct gen_program *program, size_t wanted) {
    size_t lines = program->unit.count;
    return lines == 0 || lines > wanted ? 1 : (uint32_t)((wanted + lines - 1) / lines);
}

enum ip_status gen_throughput_program(struct gen_program *program, const struct isa_form *form,
                                      const struct gen_independence *how, unsigned count,
                                      struct ip_error *err) {
    if (count == 0 || count > GEN_INSTANCES_MAX) {
        return ip_fail(err, IP_USAGE, "a unit has 1 to %d instances of '%s', not %u", GEN_INSTANCES_MAX,
                       form->syntax, count);
    }
    struct gen_pool pool;
    enum ip_status status = gen_pool_init(&pool, &form, 1, err);
    if (status == IP_OK) {
        status = gen_instances_check(&form, 1, err);
    }
    if (status != IP_OK) {
        return status;
    }
    pool.slow_values = how->slow_values;
    struct gen_stream stream = {.form = form, .pool = &pool, .how = *how};
    status = gen_streams_deal(&stream, 1, err);
    if (status != IP_OK) {
        return status;
    }
    struct gen_program made;
    gen_instances_begin(&made, &pool, &form, 1);
    made.forms_per_unit = count;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        made.registers = stream.count[o] > made.registers ? stream.count[o] : made.registers;
    }
    (void)snprintf(made.title, sizeof made.title, "throughput of %s%s%s%s%s%s", form->syntax,
                   how->break_registers ? ", registers renewed" : "", how->frees_masks ? ", masks freed" : "",
                   how->break_flags ? ", flags renewed" : "", how->same_register ? ", same register" : "",
                   how->slow_values ? ", slow operands" : "");
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        status = gen_instance_emit(&made, &stream, err);
    }
    bool flags_chained = form->flags_read != 0 && !how->break_flags;
    made.keeps_carry = flags_chained && form->flags_written != 0;
    bool half = flags_chained || gen_form_modifies_memory(form);
    /* Idioms take slots alone, and what is lost where the loop ends counts for all its instances. */
    unsigned lines = how->frees_masks ? 2 * LOOP_INSTRUCTIONS : LOOP_INSTRUCTIONS;
    made.copies = copies_choose(&made, half ? lines / 2 : lines);
    return gen_instances_end(program, &made, status, err);
}
