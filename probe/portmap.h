/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap.h - the execution ports of this CPU from time alone: which sets of ports its one-µop forms
 * use. docs/ports.md.
 *
 * Nothing here knows a CPU: widths, unions and the smallest system of sets decide. Only the names of the
 * ports are a convention (probe_portmap_label). Method: Putigny 2014, 2.2.3 (interleaving), taken to unions
 * and a search. */
#ifndef ISAPROBE_PROBE_PORTMAP_H
#define ISAPROBE_PROBE_PORTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"
#include "isa/table.h"
#include "probe/portset.h"

/* Forms that may stand in one kernel without changing what the others cost. 512-bit instructions in flight
 * can close ports for narrower vectors, so the two vector worlds never meet; scalar forms go with both. */
enum probe_world_of_ports { PROBE_PORTS_SCALAR = 1, PROBE_PORTS_VECTOR = 2, PROBE_PORTS_WIDE = 4 };

/* A candidate: a form that was tried as a member of a class. */
struct probe_port_member {
    struct isa_form *form; /* borrowed from the table */
    unsigned world;        /* one of enum probe_world_of_ports */
    double cycles;         /* reciprocal throughput */
    double slots;          /* issue slots, measured */
    unsigned width;        /* 1/cycles where that is an integer and slots is 1; else 0 */
    int class;             /* position in `classes`; -1: none */
    bool load, store;
    bool runs;   /* its instances do, whatever they take */
    bool scaled; /* its address has a scaled index: base + 4 * index (LEA) */
};

struct probe_port_class {
    unsigned width;
    unsigned worlds; /* of its members */
    uint32_t ports;  /* solved; bit p = port p */
    int blocker[3];  /* best member for scalar, vector, wide kernels (positions in `members`); -1: none */
    double residual; /* largest distance of its measured unions from an integer */
    unsigned members;
    bool contradicted; /* its unions did not fit those of the other classes and were left out */
    bool load, store;  /* store: a joint resource, one µop for the address and one for the data */
};

struct probe_portmap {
    struct probe_port_member *members; /* owned */
    size_t member_count;
    struct probe_port_class classes[PROBE_PORTSET_CLASSES];
    unsigned class_count;
    unsigned port_count;
    unsigned solutions; /* so many set systems explain the measurements (the first is taken). Where the issue
                           width hides how many ports classes have together, larger ones are among them */
    enum probe_portset_more more_solutions;     /* and others, or the search was broken off */
    struct probe_portset_solution alternatives; /* the first `solutions`; ports that the first one lacks are
                                                   behind its own */
    double issue_width;
    bool halves; /* 512-bit instructions take each port for two cycles, and close none for narrower vectors */
    bool meet;   /* they take it for one, and close none: both may stand in one kernel */
    bool confirmed; /* two attempts found the same sets: without it nothing should be told that stands on them
                     */
    char names[PROBE_PORTSET_PORTS + 1]; /* one character per port */
    char store_address[4]; /* what the vendor calls the ports that a store's address takes; "" unknown. Never
                              measured: the data binds first, or both together */
    struct ip_lines notes; /* owned: what could not be confirmed */
    size_t kernels;
};

void probe_portmap_fini(struct probe_portmap *map); /* an all-zero map is fine */

/* Measures the map, again and again until it is confirmed or too much time has passed: then the likeliest of
 * those that were found. Forms of `table` that serve as candidates are derived by the way. IP_UNTRUSTED when
 * the unions contradict each other. */
IP_CHECK enum ip_status probe_portmap_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                              const struct isa_table *table, const char *vendor,
                                              struct probe_portmap *map, struct ip_error *err);

/* May the sets be others than those that are told? */
bool probe_portmap_is_ambiguous(const struct probe_portmap *map);

/* May this class's, whatever the ports are called? Classes of which it says no have their sets together: any
 * mix of them takes the same time in each system. With PROBE_PORTSET_MORE no set is certain, but that those
 * of loads and stores are found apart from all others. */
bool probe_port_class_is_ambiguous(const struct probe_portmap *map, unsigned number);

/* Names the ports of all systems (`alternatives`) so that classes with as many members as possible have the
 * same set in all of them; the first system stays. probe_portmap_measure has done so. */
void probe_portmap_align(struct probe_portmap *map);

/* "015" for a set of ports, names in their own order, and "?" for each port that the map has not (those of a
 * larger system). `buffer` holds PROBE_PORTSET_PORTS + 1 bytes; returns it. */
const char *probe_ports_print(const struct probe_portmap *map, uint32_t ports, char *buffer);

/* The same for a class; a store's as "49+78". `buffer` holds PROBE_PORTSET_PORTS + 6 bytes; returns it. */
const char *probe_port_class_print(const struct probe_portmap *map, const struct probe_port_class *class,
                                   char *buffer);

/* Do conditional jumps, none of which is taken, block for it, and nothing else? They do so for jumps alone:
 * what writes flags has no place beside them, and on cores where it has no other members it has a port that
 * nothing else may use. Where vectors have the same ports these block. */
bool probe_port_class_jumps(const struct probe_portmap *map, const struct probe_port_class *class);

/* Is it none of loads, stores or jumps? */
bool probe_port_class_computes(const struct probe_portmap *map, const struct probe_port_class *class);

/* Names the ports: for Intel so that integer multiply is on 1, the lane-crossing shuffle on 5, and so on, for
 * AMD the vector pipes as its guides do; else 0, 1, 2 ... (probe/portlabel.c). */
void probe_portmap_label(struct probe_portmap *map, const char *vendor);

#endif
