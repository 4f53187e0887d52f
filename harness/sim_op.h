/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_op.h - one machine instruction as the core model sees it: what it waits for, what it makes
 * ready and when, which ports it takes. Made from the decoded form and its row. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_OP_H
#define ISAPROBE_HARNESS_SIM_OP_H

#include "harness/sim_description.h"
#include "isa/form.h"

enum {
    HX_SIM_SOURCES_MAX = 18,
    HX_SIM_RESULTS_MAX = 16,
    /* Architectural state that carries dependences; the classes of one register file share an entry. */
    HX_SIM_FILE_GPR = 0,
    HX_SIM_FILE_VECTOR = 16,
    HX_SIM_FILE_MASK = 48,
    HX_SIM_FILE_MMX = 56,
    HX_SIM_FILE_X87 = 64,
    HX_SIM_FILE_TILE = 72,
    HX_SIM_FILE_SEGMENT = 80,
    HX_SIM_FILE_CARRY = 88,
    HX_SIM_FILE_FLAGS = 89, /* the other arithmetic flags */
    HX_SIM_FILE_COUNT = 90,
    HX_SIM_FILE_MEMORY = 255, /* as a result: what is stored */
};

enum hx_sim_uop_kind { HX_SIM_UOP_COMPUTE, HX_SIM_UOP_LOAD, HX_SIM_UOP_ADDRESS, HX_SIM_UOP_DATA };

struct hx_sim_uop {
    uint32_t ports;
    uint8_t kind;
    uint16_t offset; /* COMPUTE: cycles behind the first when the form is alone on the core */
};

enum hx_sim_source_kind {
    HX_SIM_SOURCE_VALUE,
    HX_SIM_SOURCE_LOAD_ADDRESS, /* through the load: latency from its dispatch */
    HX_SIM_SOURCE_ADDRESS,      /* of a store only: no way into the result */
    HX_SIM_SOURCE_CONTENT,      /* what was stored at the address before */
};

struct hx_sim_source {
    uint8_t kind, resource;
};

enum hx_sim_flow { HX_SIM_FLOW_NEXT, HX_SIM_FLOW_CONDITIONAL, HX_SIM_FLOW_JUMP, HX_SIM_FLOW_RETURN };

struct hx_sim_op {
    char syntax[ISA_SYNTAX_MAX];
    struct hx_sim_source sources[HX_SIM_SOURCES_MAX];
    uint8_t results[HX_SIM_RESULTS_MAX];
    uint16_t latency[HX_SIM_SOURCES_MAX][HX_SIM_RESULTS_MAX];
    bool alike;             /* no result has latencies of its own */
    uint16_t plain_latency; /* of a result without sources */
    struct hx_sim_uop uops[HX_SIM_UOPS_MAX];
    uint8_t sources_count, results_count, uops_count;
    uint16_t slots, blocking, microcode;
    uint8_t unit;
    bool eliminated, together, loads, stores;
    bool wide;        /* a 512-bit register is among its operands */
    bool vector;      /* a narrower vector is, and none of 512 bits */
    bool general;     /* its registers are general ones, if it has any */
    bool listed;      /* false: no row; a plain one-cycle instruction stands in for it */
    uint64_t address; /* key of the memory operand's text */
    uint8_t flow;
    int64_t displacement; /* of a relative branch, from its end */
    uint8_t length;
    enum hx_outcome fault;
};

/* `row` NULL: not listed. Pure; cannot fail. */
void hx_sim_op_make(struct hx_sim_op *op, const struct hx_sim_description *description,
                    const struct hx_sim_row *row, const struct isa_form *form,
                    const struct isa_binding *binding, const uint8_t *code, size_t length);

#endif
