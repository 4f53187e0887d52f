/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_readings.h - what the times of a few kernels say together. Pure. */
#ifndef ISAPROBE_PROBE_CORE_READINGS_H
#define ISAPROBE_PROBE_CORE_READINGS_H

#include <stdbool.h>

/* How stores enter the cache. Kernels: stores to two places so many bytes apart, the first at a multiple of
 * 64, the last two in lines of their own; three stores to a block of 32 bytes and one to the next; two stores
 * to one such block and a load of the first. */
enum probe_commit_kernel {
    PROBE_COMMIT_8,
    PROBE_COMMIT_16,
    PROBE_COMMIT_32,
    PROBE_COMMIT_64,
    PROBE_COMMIT_ROW,
    PROBE_COMMIT_READ,
    PROBE_COMMITS
};

/* NaN: cannot be told. */
struct probe_commit {
    double pair_bytes; /* two stores share a cycle if both lie in one aligned block of so many bytes; 0: any
                        * two do, wherever they go */
    double row;        /* 1: so do all that follow each other into it; 0: not more than two */
    double read;       /* 1: not where a load takes its data from one of them; 0: there, too */
};

/* `cycles` of each kernel; NaN: not measured. */
struct probe_commit probe_commit_read(const double cycles[PROBE_COMMITS]);

/* Store and load of one place that different registers name. Kernels: loops of so many such pairs, each with
 * an addition of one cycle. */
enum { PROBE_FORWARDS = 10 };
extern const unsigned probe_forward_pairs[PROBE_FORWARDS];

/* NaN: cannot be told. */
struct probe_forward {
    double other;     /* cycles of a pair in the smallest loop */
    double long_code; /* and in the largest */
    bool learns;      /* the largest is clearly slower than the smallest */
    double pairs;     /* the most that are as fast as in the smallest, then */
};

/* `cycles` of each kernel for a pair and its addition; NaN: not measured. */
struct probe_forward probe_forward_read(const double cycles[PROBE_FORWARDS]);

/* Are ports given to µops in turn, or by what waits for each? Kernels: four independent LEA; a chain of one
 * cycle a link, and two operations one behind the other that each link feeds; three operations, two of them
 * behind the first. On four ports that are given in turn the second of two has the port of the chain in the
 * cycle in which both could begin, and is older; the third moves them apart, though there is more to do then.
 */
enum probe_turns_kernel { PROBE_TURNS_RATE, PROBE_TURNS_TWO, PROBE_TURNS_THREE, PROBE_TURNS };
enum probe_turns { PROBE_TURNS_UNKNOWN, PROBE_TURNS_NOT_ASKED, PROBE_TURNS_NO, PROBE_TURNS_YES };

/* `cycles` of each kernel; NaN: not measured. NOT_ASKED: not four ports. */
enum probe_turns probe_turns_read(const double cycles[PROBE_TURNS]);

/* Cycles of an instance of an idiom, one that does not wait for its one register. */
struct probe_idiom {
    double same, different; /* with one register, and with several */
    double nops;            /* a NOP of its length; NaN: not known */
    double executed;        /* of one that waits for nothing, on all ports that it may use; NaN: not known */
    double slot;            /* 1 / issue width */
};
/* Does it take no port? It is as fast as NOPs of its length, which the front end may hold up as much (but not
 * faster than a slot: they may share those), or clearly faster than its ports are: a Zen 5 has six vectors'
 * idioms in a cycle, of eight slots, and four ports. */
bool probe_idiom_is_free(const struct probe_idiom *idiom);

#endif
