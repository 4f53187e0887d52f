/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_steps.h - the steps of probe_portmap_measure, for probe/portmap*.c only. */
#ifndef ISAPROBE_PROBE_PORTMAP_STEPS_H
#define ISAPROBE_PROBE_PORTMAP_STEPS_H

#include "generator/shapes.h"
#include "probe/batch.h"
#include "probe/portmap.h"

/* Cheap looks at a mix, until three agree: where a neighbour comes and goes, they say as much as a
 * measurement in a small part of its time. */
enum { PROBE_MIX_LOOKS = 9 };

/* What the steps share. */
struct probe_mapper {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    struct probe_portmap *map;
};

/* Adds the kernel of a mix to the batch; *slot is SIZE_MAX when the forms cannot share a kernel. */
IP_CHECK enum ip_status probe_mix_add(struct probe_batch *batch, const struct gen_part *parts, unsigned count,
                                      size_t *slot, struct ip_error *err);
/* Cycles of that kernel's unit; NaN when there is none that can be trusted. */
double probe_mix_cycles(const struct probe_batch *batch, size_t slot);
/* Looks at what was added, if anything. */
IP_CHECK enum ip_status probe_mixes_measure(const struct probe_mapper *mapper, struct probe_batch *batch,
                                            struct ip_error *err);

/* The same with full measurements. */
IP_CHECK enum ip_status probe_mixes_measure_carefully(const struct probe_mapper *mapper,
                                                      struct probe_batch *batch, struct ip_error *err);

/* `count` instances of a member, for a mix. Legacy SSE that waits for its own destination has a load of it
 * before every fourth. */
struct gen_part probe_port_part(const struct probe_port_member *member, unsigned count);
/* Issue slots of each of these. */
double probe_port_slots(const struct probe_port_member *member);

/* Is it as fast as instructions are issued, so that the ports it has, if any, do not show? A port less than
 * the issue width is seen. */
bool probe_port_runs_at_the_issue(const struct probe_portmap *map, const struct probe_port_member *member);

/* probe/portmap_wide.c: sets map->halves and map->meet, and where the first is true takes the 512-bit members
 * out: they would show half as many ports as there are, which those of narrower vectors show, and these they
 * may meet. */
IP_CHECK enum ip_status probe_port_wide_measure(const struct probe_mapper *mapper, struct ip_error *err);
/* Where halves or whole ones meet narrower vectors, the blockers of these serve 512-bit forms, too, and
 * (whole ones) the other way round. */
void probe_port_wide_blockers(struct probe_portmap *map);

/* probe/portmap_classes.c: sorts members into classes of equal port sets, by measured unions. */
IP_CHECK enum ip_status probe_port_classes_form(const struct probe_mapper *mapper, struct ip_error *err);
/* Makes class `gone` a part of class `into` and closes the gap in the numbering. */
void probe_port_classes_merge(struct probe_portmap *map, unsigned into, unsigned gone);
/* Its members are in no class then. */
void probe_port_class_remove(struct probe_portmap *map, unsigned gone);
/* Its best member, a scalar one before others. NULL: it has none. */
const struct probe_port_member *probe_port_class_best(const struct probe_portmap *map, unsigned number);
/* Has it no operands but masks? */
bool probe_port_is_of_masks(const struct isa_form *form);
/* Has it an MMX register among its operands? */
bool probe_port_uses_mmx(const struct isa_form *form);
/* The member of the class for kernels of that world (its position in `blocker`): a scalar one before others,
 * but where narrow and wide vectors meet, these before one of MMX or of masks. -1: there is none. */
int probe_port_class_blocker(const struct probe_portmap *map, const struct probe_port_class *class,
                             unsigned world);
/* Members that can stand in one kernel, one of each class. False when there are none. */
bool probe_port_blockers_choose(const struct probe_portmap *map, const unsigned *classes, unsigned count,
                                int *blockers);

/* -- probe/portmap_unions.c: how many ports classes use together ------------------------------------------
 */

enum {
    PROBE_PORT_TRIPLES_FIRST = 256,    /* that the pairs leave open */
    PROBE_PORT_TRIPLES_PER_ROUND = 48, /* that decide between solutions */
    PROBE_PORT_TRIPLE_ROUNDS = 4,
    PROBE_PORT_TRIPLES = PROBE_PORT_TRIPLES_FIRST + PROBE_PORT_TRIPLES_PER_ROUND * PROBE_PORT_TRIPLE_ROUNDS,
};

/* What was read of them. */
struct probe_port_unions {
    const struct probe_mapper *mapper;
    struct probe_portset_problem pairs; /* over all classes; no triples */
    struct probe_portset_triple
        tried[PROBE_PORT_TRIPLES]; /* ports 0: measured, but it says no more than at_least */
    unsigned tried_count;
    bool again[PROBE_PORTSET_CLASSES]; /* pairs with it were measured a second time */
    /* [a][b]: beside b's blocker a takes more than one uop can. */
    bool slows[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    bool hinders[PROBE_PORTSET_CLASSES]; /* it takes more of others' ports than one uop can */
    bool clashes[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES]; /* one of the two does, whichever */
};

bool probe_port_is_memory(const struct probe_port_class *class);
/* Measures all pairs of classes, or those of class `only` when it is not negative. */
IP_CHECK enum ip_status probe_port_pairs_measure(struct probe_port_unions *unions, int only,
                                                 struct ip_error *err);
/* Appends triples of the classes: those that decide between the solutions, or (no solution given) that the
 * pairs leave open. Each is taken at most once in all. Returns where they begin. */
unsigned probe_port_triples_choose(struct probe_port_unions *unions, const unsigned *classes,
                                   const struct probe_portset_solution *solution, unsigned count);
/* Measures those from `first` on, or of them those with class `only` when it is not negative. */
IP_CHECK enum ip_status probe_port_triples_measure(struct probe_port_unions *unions, unsigned first, int only,
                                                   struct ip_error *err);
/* Removes classes that keep others from their ports, and makes one of those that turned out to be equal. */
void probe_port_unions_settle(struct probe_port_unions *unions);
/* Removes the class from the map, with a note. `why`: what its forms do. */
void probe_port_unions_drop(struct probe_port_unions *unions, unsigned gone, const char *why);
/* Nothing is known any more of what the class shares with others. */
void probe_port_unions_forget(struct probe_port_unions *unions, unsigned number);

/* probe/portmap_hidden.c: adds larger systems of sets, in which classes share less than in the smallest,
 * behind the issue width. `systems`: the smallest that solve the problem; any others than those that are then
 * kept are said to be there. */
void probe_port_hidden_add(const struct probe_portset_problem *problem, double issue_width,
                           struct probe_portset_solution *systems);

/* probe/portmap_solve.c: measures unions of classes and solves for their ports. */
IP_CHECK enum ip_status probe_port_sets_find(const struct probe_mapper *mapper, struct ip_error *err);

#endif
