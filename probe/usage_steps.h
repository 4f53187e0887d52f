/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_steps.h - the steps of probe_usage_measure, for probe/usage*.c only. */
#ifndef ISAPROBE_PROBE_USAGE_STEPS_H
#define ISAPROBE_PROBE_USAGE_STEPS_H

#include <math.h>

#include "generator/shapes.h"
#include "probe/batch.h"
#include "probe/usage.h"

enum {
    PROBE_USAGE_EXPERIMENTS = 32, /* of a form: one for each set */
    PROBE_USAGE_PARTS = GEN_PARTS_MAX - 1,
    PROBE_USAGE_CHECKS = 2,
    PROBE_USAGE_BLOCKERS = 900,    /* instances in a kernel, at most */
    PROBE_USAGE_STORE_STRIDE = 64, /* a line for each: some CPUs write two to one line at once, not to two */
    PROBE_USAGE_READINGS =
        15, /* cheap looks at an experiment, at most; of one for which these are too vague */
    PROBE_USAGE_MEASUREMENTS = 7,   /* so many measurements */
    PROBE_USAGE_BOUND_READINGS = 5, /* at least, of what may read as more than it is */
    PROBE_USAGE_MANY_PORTS = 5, /* their blockers leave few slots, and what a loop's end costs more or less by
                                   chance, half a cycle, is some uops: readings are upper bounds */
    PROBE_USAGE_MICROCODE = 4,  /* slots, and more: what it does is not in its operands */
    PROBE_USAGE_EARLY_UOPS = 6, /* of more, a core that binds them early shows no count twice */
    PROBE_USAGE_EARLY_SLOTS = 18, /* nor, of more slots, of vectors alone: microcode fills whole cycles */
    PROBE_USAGE_DELAYED_UOPS = 8, /* nor, of more, one where some wait for blocked ports */
};

/* uops: of a form that writes memory a store that is seen at all is one. */
#define PROBE_USAGE_STORE_SEEN 0.25
/* A form that takes so many cycles has few copies and a narrow choice of sizes: loops of 900 NOPs have slow
 * modes (vdivpd zmm: 3 issue slots, or 28). */
#define PROBE_USAGE_SLOW_CYCLES 7.0
/* What a form's own throughput may be wrong by, as a factor, where it bounds uops. */
#define PROBE_USAGE_CYCLES_MORE 1.05

#define PROBE_USAGE_EARLY_WHY                                                                                \
    "of more than 6 uops no count is certain: this core binds them to ports before it knows which are free"

#define PROBE_USAGE_LOCKED_WHY                                                                               \
    "it locks what it changes, and this core binds uops to ports early: no two looks at what waits say the " \
    "same"
#define PROBE_USAGE_SLOW_WHY "too slow for its issue slots to be read, which would bound its uops"

#define PROBE_USAGE_DELAYED_WHY                                                                              \
    "of more than 8 uops no count is certain: on this core some that could go elsewhere wait for blocked "   \
    "ports"

/* How a reading is taken. Their low quantiles are not equally low, nor are they equally good. */
enum probe_usage_kind {
    PROBE_USAGE_GLANCED,  /* one cheap look: good enough where all that is known of a form fits together */
    PROBE_USAGE_LOOKED,   /* looks until three agree */
    PROBE_USAGE_MEASURED, /* where looks are too vague */
    PROBE_USAGE_KINDS,
};

/* Blockers of a set, and what they took with and without the form. */
struct probe_usage_experiment {
    uint32_t target; /* the set that is saturated; 0: the issue, by NOPs */
    bool store, load;
    bool one_place;   /* its stores are to one place, and not to a line for each */
    bool by_operands; /* these say how many stores there are: readings, that there are any */
    bool widest;      /* its glances are too long as a rule: the least that two of them agree on counts */
    bool based; /* its blockers do not always reach the rate of their ports: what they take is measured */
    struct probe_usage_term blocked[PROBE_USAGE_PARTS]; /* instances by set */
    int members[PROBE_USAGE_PARTS];                     /* positions in the map */
    unsigned parts; /* 0: the set cannot be saturated in the form's world */
    unsigned copies;
    unsigned base_copies; /* instances in the mix that it is compared with: none, but what renews the form's
                             operands, or, when it is `based`, fewer */
    double cycles;        /* of the mix, as the readings have it; NaN: not measured */
    double confined;      /* the form's µops that can go nowhere else, by all readings */
    double readings[PROBE_USAGE_READINGS]; /* of `confined`, each with other numbers of instances, in order */
    unsigned reading_count;
    double renewals[PROBE_USAGE_READINGS]; /* of what renews an instance's operands, in order */
    unsigned renewal_count;
    double renewed;             /* what they say together, which readings leave out; 0: there is none */
    unsigned tries;             /* with and without a reading, of this kind */
    unsigned least;             /* readings wanted in any case */
    enum probe_usage_kind kind; /* of the readings */
    bool implied; /* by other readings: nothing is confined to the set beyond what they explain; not read. Or
                     (no parts) by the operands: nothing at all */
    unsigned wanted; /* so many readings more, together */
    bool rhythms;    /* the form has a load, beside which kernels run in slower rhythms, too */
    bool waits;      /* beside few blockers what could go elsewhere waits less */
    bool delays;     /* beside its blockers what could go elsewhere waits now and then, and */
    bool bounds;     /* each of its readings is an upper bound: the least that two of them agree on counts */
};

struct probe_usage_subject {
    struct isa_form *form;
    struct probe_usage *result;                /* borrowed */
    const struct probe_throughput *throughput; /* borrowed */
    unsigned world;
    bool legacy; /* legacy SSE: beside it only VEX instructions on xmm, which leave the upper halves clean */
    struct gen_independence how; /* of its instances in mixes */
    bool renews;                 /* something stands before each instance, to renew what it uses up */
    double alone;                /* cycles of an instance in a kernel of its own */
    double slots;     /* issue slots of an instance, for the sizes of mixes: as measured, or assumed; NaN */
    double uops;      /* of an instance, as far as they were found; 0: none yet */
    bool binds_early; /* of the session */
    uint64_t delays;  /* of the session */
    uint32_t vector_ports; /* of all that works with vectors alone, as this form does; 0: it does not */
    bool many;             /* uops: its mixes are as long as what was `found` asks for */
    bool holds_unit; /* of its own for most of its time. Its uops come in bursts beside blockers, and what
                        these lose to a burst looks like a part of a uop more, the more blockers the more */
    struct probe_usage_term found[PROBE_USAGE_TERMS];
    unsigned found_count; /* 0: nothing yet */
    double chain; /* cycles of as many instances as stand beside blockers, which the next of them wait for:
                     through the memory or register that a form reads and writes */
    size_t slot, chain_slot;
    const struct probe_slots *known_slots; /* borrowed: measured before; NULL */
    struct probe_usage_experiment issue;   /* beside NOPs: how many issue slots */
    struct probe_usage_experiment experiments[PROBE_USAGE_EXPERIMENTS]; /* narrow sets first */
    unsigned count;
    struct probe_usage_experiment checks[PROBE_USAGE_CHECKS]; /* not used to infer */
    unsigned check_count;
    struct probe_usage before; /* what an earlier look at it found, from readings of its own, or glances */
    unsigned times;            /* that glances found the same contradiction, one after the other */
    bool settled;              /* its result stands */
    bool asks_issue;           /* it would, if the issue slots were known */
    bool renamed;              /* done at rename, though it makes flags (probe/usage_rename.c) */
    bool too_many;             /* uops, by two glances at its issue slots: no others are of use */
    bool one_place;            /* its stores are counted at one place (probe_usage_stores_gather) */
};

/* What the steps share. */
struct probe_usage_session {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct probe_portmap *map;
    double bias[PROBE_USAGE_KINDS]; /* cycles that are read for one that is taken, by blockers alone; 0: not
                                       known yet */
    struct probe_usage_core core;
    bool all_issue; /* the issue slots are a result that is wanted, too */
    struct probe_usage_subject *subjects;
    size_t count;
};

/* Experiments of a form that are read together; flags. */
enum probe_usage_stage { PROBE_USAGE_ISSUE = 1, PROBE_USAGE_SETS = 2, PROBE_USAGE_CHECKING = 4 };

/* How instances of a form stand in a mix: as they are, but for what moves the x87 stack or changes its top,
 * which is loaded before each. (probe/usage_mixes.c) */
struct gen_independence probe_usage_independence(const struct isa_form *form);
/* How many instructions stand before an instance in a mix, to renew what it uses up, when it is made
 * independent so? (probe/usage_mixes.c) */
unsigned probe_usage_renewals(const struct isa_form *form, const struct gen_independence *how);

/* To lines of their own stores may wait for more than ports. Of a Zen 5 a line that is stored whole lets
 * those beside it go two in a cycle, which take one each without it: `vmovaps m512, zmm` reads as 2 stores
 * fewer than none. And what goes past the caches waits for its line (`movntdq`: 2.4 in place of 1). At one
 * place both take what their ports say. There Intel's cores join two stores of a cycle, but not those between
 * which another goes elsewhere: so lines come first, and where their readings say nothing of the form's
 * stores these are dropped, to be taken at one place. Returns whether they were. (probe/usage_plan.c) */
bool probe_usage_stores_gather(struct probe_usage_subject *subject);

static inline unsigned ports_in(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

/* Are they all among these? */
static inline bool ports_within(uint32_t set, uint32_t of) {
    return (set & ~of) == 0;
}

/* As many as instructions are issued in a cycle, or more: who may go to any of them costs what its issue slot
 * does. */
static inline bool ports_fill_issue(uint32_t set, const struct probe_portmap *map) {
    return ports_in(set) >= round(map->issue_width);
}

void probe_usage_give_up(struct probe_usage *result, enum probe_usage_verdict verdict, const char *why);

/* -- probe/usage_plan.c: which sets are asked of a form, and with which blockers ------------------------ */

void probe_usage_subject_init(struct probe_usage_subject *subject, struct isa_form *form);
/* A member of class `number` of the map that may stand beside the form (position in the map); -1: none. */
int probe_usage_blocker(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                        unsigned number);
/* The experiment that finds the issue slots. */
void probe_usage_issue_plan(struct probe_usage_subject *subject);
/* Takes the slots that are known, if any and to be trusted, for readings that say so. */
void probe_usage_issue_know(struct probe_usage_subject *subject, const struct probe_portmap *map);
/* One experiment for each set that may have µops of the form. */
void probe_usage_experiments_plan(struct probe_usage_subject *subject, const struct probe_portmap *map);

/* -- probe/usage_size.c: how many blockers stand beside how many copies of a form ----------------------- */

/* Instances that stand beside blockers, of a form that takes so many cycles. */
unsigned probe_usage_copies(double cycles);
/* Does a form that takes so many cycles alone, and so many issue slots (NaN: not known), hold a unit all the
 * time, as a division does? */
bool probe_usage_holds_unit(double cycles, double slots);
/* µops of all terms together. */
double probe_usage_terms_uops(const struct probe_usage_term *terms, unsigned count);
/* From here on mixes are as long as these terms ask for, if all sets were read. */
void probe_usage_found_use(struct probe_usage_subject *subject, const struct probe_usage *result);
/* Sets the numbers of instances for try `number`, from 0; each has a rhythm of its own. A glance goes without
 * a base, but for what renews operands. */
void probe_usage_experiment_size(struct probe_usage_experiment *experiment,
                                 const struct probe_usage_subject *subject, const struct probe_portmap *map,
                                 enum probe_usage_kind kind, unsigned number);

/* -- probe/usage_scale.c: what blockers alone take ------------------------------------------------------ */

/* The bias of a kind of readings. */
IP_CHECK enum ip_status probe_usage_bias_measure(struct probe_usage_session *session,
                                                 enum probe_usage_kind kind, struct ip_error *err);
IP_CHECK enum ip_status probe_usage_stores_measure(struct probe_usage_session *session, struct ip_error *err);
IP_CHECK enum ip_status probe_usage_one_place_measure(struct probe_usage_session *session,
                                                      struct ip_error *err);

/* -- probe/usage_early.c: where uops are bound to ports early ------------------------------------------- */

/* Sets session->core.binds_early: beside blockers of a class, does what could go to one port more add to the
 * time? And core.delays, of each class: does what could go to another port? */
IP_CHECK enum ip_status probe_usage_binding_measure(struct probe_usage_session *session,
                                                    struct ip_error *err);
/* Are readings beside blockers of class `number` upper bounds, for what could go elsewhere waits now and
 * then? On a core that binds uops early it does where another class has one port left, and not with two left;
 * on others where it was seen. */
bool probe_usage_delays(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                        unsigned number);
/* Has it so many uops, by its issue slots, that no two looks would count the same? Of more than six where
 * they are bound early; of more than eight where some wait, but for vectors', which wait for their like
 * alone. At a glance two must say so. `clear`: by so many slots. Why, or NULL. */
const char *probe_usage_too_many(const struct probe_usage_subject *subject, double clear);
/* Does the middle reading show a uop more than the least does? Half of five may be long by chance. */
bool probe_usage_is_undecided(const struct probe_usage_experiment *experiment);
/* Where uops are bound to ports early one that could go elsewhere adds a part of itself, another one in each
 * mix; one that cannot adds itself in all. `found`: uops of sets within this one. */
double probe_usage_early_count(const struct probe_usage_subject *subject,
                               const struct probe_usage_experiment *experiment,
                               const struct probe_usage *result, const struct probe_portmap *map,
                               double found);

/* -- probe/usage_halves.c: where 512 bits are executed in halves ---------------------------------------- */

/* Where 512 bits meet narrower vectors they may be executed in halves: what takes a port for two cycles shows
 * as two uops in one slot. So may operations on masks, and what holds a unit. */
double probe_usage_slot_uops_most(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                  const struct probe_portmap *map);
/* Are there two cycles for each uop, where there are not slots enough for as many uops? */
bool probe_usage_halves_fit(const struct probe_usage_subject *subject, const struct probe_usage *result,
                            const struct probe_portmap *map);
/* One uop that holds its port for two cycles holds one of the same set in both: what seems to be two sets, of
 * which one holds the other, is the wider. */
void probe_usage_halves_join(const struct probe_usage_subject *subject, struct probe_usage *result,
                             const struct probe_portmap *map);

/* One uop that reads three sources of 512 bits, a merged one among them: where halves are executed the third
 * comes by a way that others need as well, so that a set of other ports shows up to one uop, and one that
 * holds its own a uop more. `result` then has that uop alone, beside what goes to memory. False: it is no
 * such form, or its readings are not of this kind. */
bool probe_usage_halves_of_three(const struct probe_usage_subject *subject, struct probe_usage *result,
                                 const struct probe_portmap *map);

/* -- probe/usage_mixes.c: kernels of forms and blockers, and what is read from them --------------------- */

/* Measures the batch, if anything is in it, as this kind of reading wants it. */
IP_CHECK enum ip_status probe_usage_batch_run(const struct probe_usage_session *session,
                                              struct probe_batch *batch, enum probe_usage_kind kind,
                                              struct ip_error *err);
/* How long each form takes alone, for the sizes of what follows. Gives up forms of which nothing was seen. */
IP_CHECK enum ip_status probe_usage_alone_read(struct probe_usage_session *session,
                                               enum probe_usage_kind kind, struct ip_error *err);
/* The readings of this kind that experiments of the stages (enum probe_usage_stage) want. *taken counts them.
 */
IP_CHECK enum ip_status probe_usage_readings_take(struct probe_usage_session *session, unsigned stages,
                                                  enum probe_usage_kind kind, size_t *taken,
                                                  struct ip_error *err);

/* -- probe/usage_readings.c: what several readings of one experiment say, and whether there should be more */

/* Once the first sizes are set: an experiment for which looks are too vague is measured. */
void probe_usage_experiment_begin(struct probe_usage_experiment *experiment);
/* Forgets what was read. */
void probe_usage_readings_drop(struct probe_usage_experiment *experiment, enum probe_usage_kind kind);
/* What renews the operands of an instance, by the mix without the instances. Readings are without it, those
 * that were taken before, too: one mix without instances that was slow makes none of them too small. */
void probe_usage_renewal_add(struct probe_usage_experiment *experiment, double uops);
/* `confined` with what renews the operands; `rate`: µops (or slots) a cycle of the target. A NaN is a try
 * without a reading. */
void probe_usage_reading_add(struct probe_usage_experiment *experiment, double confined, double rate);
/* By so many µops the readings may be wrong. */
double probe_usage_error(const struct probe_usage_experiment *experiment);
/* The least that two readings agree on: what stands in the way only adds to one. NaN: none do. */
double probe_usage_agreed(const struct probe_usage_experiment *experiment);
/* More than so many uops, by most readings? */
bool probe_usage_most_show(const struct probe_usage_experiment *experiment, double uops);
/* Did most tries give a reading? A reading that survived where most were spoilt is spoilt itself. */
bool probe_usage_believed(const struct probe_usage_experiment *experiment);
/* Do the readings tell different things? A neighbour who comes and goes makes them so. */
bool probe_usage_disagrees(const struct probe_usage_experiment *experiment);
/* Sets `wanted`. */
void probe_usage_reading_judge(struct probe_usage_experiment *experiment);
/* More readings of all experiments. Returns false where there were enough. */
bool probe_usage_look_again(struct probe_usage_subject *subject);

/* -- probe/usage_settle.c: what no further reading would tell ------------------------------------------- */

/* Glances that find the same contradiction once more: then it stays. */
enum { PROBE_USAGE_GLANCES_SAME = 3 };
/* Is something known of it, and may it still be another? */
bool probe_usage_is_open(const struct probe_usage_subject *subject);
bool probe_usage_same_terms(const struct probe_usage *one, const struct probe_usage *other);
bool probe_usage_same_contradiction(const struct probe_usage *one, const struct probe_usage *other);
/* Nothing more is wanted of it. */
void probe_usage_leave(struct probe_usage_subject *subject);
/* Does what could go elsewhere wait now and then for a blocked port? */
bool probe_usage_core_waits(const struct probe_usage_session *session);
/* Each settles those subjects of the session that it says: see there. */
void probe_usage_slow_settle(struct probe_usage_session *session);
void probe_usage_hopeless_settle(struct probe_usage_session *session);
void probe_usage_locked_settle(struct probe_usage_session *session);
void probe_usage_microcode_settle(struct probe_usage_session *session);
void probe_usage_contradictions_settle(struct probe_usage_session *session);
void probe_usage_excesses_settle(struct probe_usage_session *session);

/* -- probe/usage_glance.c: which glances to take, and whether they fit together ------------------------- */

/* NOPs say less at a glance than ports do, so that the issue slots are read only where the ports hide behind
 * them. */
bool probe_usage_glance_needs_issue(const struct probe_portmap *map);
/* Wants a glance at those sets that others, as wide or wider, do not hold. */
void probe_usage_glance_tops(struct probe_usage_subject *subject, const struct probe_portmap *map);
/* And at those within these of which one has uops; the others are implied. */
void probe_usage_glance_inner(struct probe_usage_subject *subject, const struct probe_portmap *map);
/* And at the widest, which all uops but those of memory show in. */
void probe_usage_glance_widest(struct probe_usage_subject *subject, const struct probe_portmap *map);
/* After probe_usage_verify: does all that is known of the form fit together, and closely? */
bool probe_usage_glance_fits(const struct probe_usage_subject *subject, const struct probe_portmap *map);
/* Or would it, if the issue slots were known? */
bool probe_usage_glance_asks_issue(const struct probe_usage_subject *subject,
                                   const struct probe_portmap *map);
/* Where it does not: wants another glance at what is doubtful, or at all. Returns false where there is no use
 * in it. */
bool probe_usage_glance_again(struct probe_usage_subject *subject, const struct probe_portmap *map);

/* -- probe/usage_look.c: one look at all forms of a session ---------------------------------------------- */

/* So many glances at each: what settles a form is known then, and of the others which sets may be theirs. */
IP_CHECK enum ip_status probe_usage_glances_take(struct probe_usage_session *session, unsigned glances,
                                                 struct ip_error *err);
/* As many readings as each experiment needs; what does not fit together once more, if `careful` or of many
 * uops. */
IP_CHECK enum ip_status probe_usage_look_closely(struct probe_usage_session *session, bool careful,
                                                 struct ip_error *err);

/* -- probe/usage_infer.c, probe/usage_check.c, probe/usage_hidden.c, probe/usage_verify.c --------------- */

/* Fills the terms from the experiments. */
void probe_usage_infer(const struct probe_usage_subject *subject, struct probe_usage *result,
                       const struct probe_portmap *map);
/* Chooses mixes of the form with blockers of two sets at once; their sizes are still to be set. */
void probe_usage_checks_choose(struct probe_usage_subject *subject, const struct probe_usage *result,
                               const struct probe_portmap *map);
/* The class that has these ports (position in the map); -1: none has. */
int probe_usage_class_of(const struct probe_portmap *map, uint32_t ports);
/* Have these sets of two classes together as many ports in every system of sets that explains the map? */
bool probe_usage_union_is_known(const struct probe_portmap *map, uint32_t one, uint32_t other);
/* Do the blockers of the experiment's (first) set wait for flags? */
bool probe_usage_reads_flags(const struct probe_portmap *map,
                             const struct probe_usage_experiment *experiment);
/* Stores that the operands in memory need of a form that is no microcode, each of general registers' size;
 * `slots` that it takes (NaN: not known). NaN where that is not known. */
double probe_usage_operands_stores(const struct probe_usage_subject *subject, double slots);
bool probe_usage_is_of_vectors(const struct probe_usage_subject *subject);
/* Has it operands in registers that are no general ones? */
bool probe_usage_names_others(const struct isa_form *form);
/* Has it operands in registers of x87? */
bool probe_usage_is_x87(const struct isa_form *form);
/* And one in memory, whose address goes to the x87's data pointer (Intel SDM vol. 1, 8.1.8)? */
bool probe_usage_notes_address(const struct isa_form *form);
/* Has it operands in registers of vectors, or of x87 and none in memory, and names it neither general
 * registers nor flags, addresses by vectors or memory that it writes? Then it computes where vectors do, and
 * so does its microcode. */
bool probe_usage_is_vectors_alone(const struct isa_form *form);
/* Does its microcode load what its operands say, and nothing else? That of vectors alone, where uops are
 * bound to ports early. */
bool probe_usage_loads_as_it_says(const struct probe_usage_subject *subject);
/* Does it write a register, memory or flags? A NOP needs no port. */
bool probe_usage_has_a_result(const struct isa_form *form);
/* Is something made of what is loaded, or merged with it? A load alone cannot do it. */
bool probe_usage_computes(const struct isa_form *form);
/* A blocker that takes a value from one register file to another keeps more busy than its ports: on a Zen 5
 * the way by which a form of three sources reads the third. A form that does not cross, and waits for it
 * where a wider set shows none of its uops, takes that and no port. */
bool probe_usage_shares_the_way(const struct probe_usage_subject *subject,
                                const struct probe_usage_experiment *experiment,
                                const struct probe_portmap *map);
/* Does the reading say how many uops go to computing ports, and no wider set's alone? (probe/usage_infer.c)
 */
bool probe_usage_is_of_ports(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment,
                             const struct probe_portmap *map);
/* probe/usage_reconcile.c: the fewest uops on computing ports, but for those of the widest set, that give
 * back all readings together. Fills `terms`, narrow sets first, and returns how many; 0: none do, or in
 * several ways.
 */
unsigned probe_usage_reconcile(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                               struct probe_usage_term terms[PROBE_USAGE_TERMS]);
/* uops that those of the terms which could go elsewhere may add to a reading, waiting for blocked ports. */
double probe_usage_waits(const struct probe_usage_term *terms, unsigned count, uint32_t target);
/* Would a set of all ports but those of memory be as fast as instructions are issued? Then no blockers of it
 * would show. */
bool probe_usage_issue_is_narrow(const struct probe_portmap *map);
/* The ports of all classes with a member of these worlds, but for those of memory. */
uint32_t probe_usage_computing_ports(const struct probe_portmap *map, unsigned worlds);
/* Is it one that makes flags of operands, or something of flags? */
bool probe_usage_works_with_flags(const struct isa_form *form);
/* May all that computes with general registers be hidden by the issue width? */
bool probe_usage_scalars_are_hidden(const struct probe_portmap *map);
/* probe/usage_rename.c: which of the subjects are done at rename, though they make flags, as additions of a
 * number may be? */
IP_CHECK enum ip_status probe_usage_renamed_ask(struct probe_usage_session *session, struct ip_error *err);
/* Are candidates of that kind as fast as instructions are issued, so that their set is none of the map's? */
bool probe_usage_flags_are_hidden(const struct probe_portmap *map);
/* Are candidates that work on two vectors, and with nothing else? */
bool probe_usage_vectors_are_hidden(const struct probe_portmap *map);
/* After a usage was found to fit: uops in issue slots that no other term needs, none, or as many as there are
 * such slots. A load may share the slot of what it feeds, a store's data that of its address. */
void probe_usage_hidden_infer(const struct isa_form *form, struct probe_usage *result,
                              const struct probe_portmap *map);
/* These ports, of the kinds of registers that this form works with, if forms of the kind are known that may
 * have such a set; else 0. */
uint32_t probe_usage_hidden_ports(const struct probe_portmap *map, const struct isa_form *form);
/* probe/usage_systems.c: sets `ambiguous` of a usage that is told. */
void probe_usage_systems_ask(const struct isa_form *form, struct probe_usage *result,
                             const struct probe_portmap *map);
/* µops that issue slots and the throughput leave for the widest set, or one of several, whose own reading
 * counts only within that. Infinite where neither is known. */
double probe_usage_widest_most(const struct probe_usage *result, const struct probe_portmap *map,
                               uint32_t ports);
/* So much a form may be confined to the ports of an experiment. To those of loads: its loads, by its
 * operands, or by its throughput where that leaves one or none, and what was found on some of these ports.
 * Beside other loads a kernel may run in a slower rhythm, which looks as if it had another. To ports beside
 * which others wait: what its throughput leaves time for. (PDEP and CRC32 of a Zen 5, three of which run in a
 * cycle on three ports, take the time of two of the shifts beside them.) Infinite where nothing says it, and
 * of other ports. */
double probe_usage_confined_most(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                 const struct probe_portmap *map,
                                 const struct probe_usage_experiment *experiment);
/* Does a value go from one register file to another? It may keep ports busy for which there is no issue slot:
 * a `movq r64, xmm` of Zen 4 all four that compute on general registers. */
bool probe_usage_crosses(const struct isa_form *form);
/* uops of a form for which there is no issue slot, at most: any number of what crosses, and one of what notes
 * an address, which takes a third of a cycle on the three shifters of a Zen 5. */
double probe_usage_slotless(const struct isa_form *form);
bool probe_usage_is_widest(const struct probe_portmap *map, const struct probe_usage_experiment *experiment);
bool probe_usage_is_load(const struct probe_portmap *map, uint32_t ports);
/* Is one port, and no class's (so that two sets told it), all that the form computes on (but for the address
 * that x87 notes), and the form slower than that? It keeps the port busy for more than a cycle: one uop
 * counts as several. */
bool probe_usage_holds_a_port(const struct isa_form *form, const struct probe_usage *result,
                              const struct probe_portmap *map);
/* Than the ports allow that were found? After probe_usage_verify. */
bool probe_usage_runs_faster(const struct probe_usage *result);
/* Do the terms give back every experiment, the checks, the throughput and the slots? */
void probe_usage_verify(const struct probe_usage_subject *subject, struct probe_usage *result,
                        const struct probe_portmap *map);

#endif
