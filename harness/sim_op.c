/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_op.h"

#include <string.h>

/* Entry of the dependence table, or -1 for registers that carry none here (MXCSR, IP ...). */
static int register_resource(enum isa_reg_class reg_class, unsigned number) {
    switch (reg_class) {
    case ISA_REG_GPR8:
    case ISA_REG_GPR16:
    case ISA_REG_GPR32:
    case ISA_REG_GPR64:
        return HX_SIM_FILE_GPR + (int)(number & 15);
    case ISA_REG_GPR8H:
        return HX_SIM_FILE_GPR + (int)(number & 3); /* ah ch dh bh: numbers 0..3 are rax rcx rdx rbx */
    case ISA_REG_XMM:
    case ISA_REG_YMM:
    case ISA_REG_ZMM:
        return HX_SIM_FILE_VECTOR + (int)(number & 31);
    case ISA_REG_MASK:
        return HX_SIM_FILE_MASK + (int)(number & 7);
    case ISA_REG_MMX:
        return HX_SIM_FILE_MMX + (int)(number & 7);
    case ISA_REG_X87:
        return HX_SIM_FILE_X87 + (int)(number & 7);
    case ISA_REG_TILE:
        return HX_SIM_FILE_TILE + (int)(number & 7);
    case ISA_REG_SEGMENT:
        return HX_SIM_FILE_SEGMENT + (int)(number & 7);
    case ISA_REG_NONE:
    case ISA_REG_OTHER:
        break;
    }
    return -1;
}

struct maker {
    struct hx_sim_op *op;
    const struct hx_sim_row *row;
    const struct isa_form *form;
    const struct isa_binding *binding;
    uint16_t load_latency;
    char source_names[HX_SIM_SOURCES_MAX][HX_SIM_NAME_MAX];
    bool source_memory[HX_SIM_SOURCES_MAX];
    char result_names[HX_SIM_RESULTS_MAX][HX_SIM_NAME_MAX];
};

static unsigned operand_register(const struct maker *m, unsigned i) {
    const struct isa_operand *operand = &m->form->operands[i];
    return operand->reg >= 0 ? (unsigned)operand->reg : m->binding->reg[i];
}

static void source_add(struct maker *m, unsigned operand, enum hx_sim_source_kind kind, int resource) {
    if (m->op->sources_count == HX_SIM_SOURCES_MAX || resource < 0) {
        return;
    }
    unsigned at = m->op->sources_count++;
    m->op->sources[at] = (struct hx_sim_source){.kind = (uint8_t)kind, .resource = (uint8_t)resource};
    m->source_memory[at] = m->form->operands[operand].kind == ISA_OPERAND_MEM;
    isa_operand_name(m->form, operand, m->source_names[at]);
}

static void result_add(struct maker *m, unsigned operand, int resource) {
    if (m->op->results_count == HX_SIM_RESULTS_MAX || resource < 0) {
        return;
    }
    unsigned at = m->op->results_count++;
    m->op->results[at] = (uint8_t)resource;
    isa_operand_name(m->form, operand, m->result_names[at]);
}

/* A partial write keeps the rest of the register, so it waits for it as well. */
static bool write_merges(const struct isa_form *form, const struct isa_operand *operand) {
    return operand->reg_class == ISA_REG_GPR8 || operand->reg_class == ISA_REG_GPR8H ||
           operand->reg_class == ISA_REG_GPR16 || (operand->cond_write && !form->zeroing);
}

static void address_add(struct maker *m, unsigned i, enum hx_sim_source_kind kind) {
    const struct isa_operand *operand = &m->form->operands[i];
    const struct isa_address *address = &m->binding->address;
    if (address->base >= 0) {
        source_add(m, i, kind, register_resource(ISA_REG_GPR64, (unsigned)address->base));
    }
    if (address->index >= 0) {
        bool vector = isa_reg_is_vector(operand->reg_class);
        source_add(m, i, kind,
                   register_resource(vector ? ISA_REG_ZMM : ISA_REG_GPR64, (unsigned)address->index));
    }
}

/* Explicit memory operands are one place per text of the address. What PUSH and POP touch is left out:
 * a chain through the stack is not modelled. */
static void memory_add(struct maker *m, unsigned i) {
    const struct isa_operand *operand = &m->form->operands[i];
    struct hx_sim_op *op = m->op;
    if (operand->implicit) {
        return;
    }
    const struct isa_address *a = &m->binding->address;
    op->address = (uint64_t)(uint32_t)a->disp | (uint64_t)(uint8_t)a->base << 32 |
                  (uint64_t)(uint8_t)a->index << 40 | (uint64_t)a->scale << 48 | UINT64_C(1) << 63;
    op->loads = operand->read;
    op->stores = operand->write;
    address_add(m, i, operand->read ? HX_SIM_SOURCE_LOAD_ADDRESS : HX_SIM_SOURCE_ADDRESS);
    if (operand->read) {
        source_add(m, i, HX_SIM_SOURCE_CONTENT, 0);
    }
    if (operand->write) {
        result_add(m, i, HX_SIM_FILE_MEMORY);
    }
}

static void flags_add(struct maker *m, unsigned i, bool conditional) {
    const struct isa_form *form = m->form;
    uint32_t others = UINT32_C(0x8d4); /* PF AF ZF SF OF */
    uint32_t read = form->flags_read | (conditional ? form->flags_written : 0);
    if ((read & 1) != 0) {
        source_add(m, i, HX_SIM_SOURCE_VALUE, HX_SIM_FILE_CARRY);
    }
    if ((read & others) != 0) {
        source_add(m, i, HX_SIM_SOURCE_VALUE, HX_SIM_FILE_FLAGS);
    }
    if ((form->flags_written & 1) != 0) {
        result_add(m, i, HX_SIM_FILE_CARRY);
    }
    if ((form->flags_written & others) != 0) {
        result_add(m, i, HX_SIM_FILE_FLAGS);
    }
}

static void operands_add(struct maker *m, bool ignore_registers) {
    for (unsigned i = 0; i < m->form->operand_count; i++) {
        const struct isa_operand *operand = &m->form->operands[i];
        bool forced = m->row != NULL && i < 16 && (m->row->reads >> i & 1) != 0;
        switch (operand->kind) {
        case ISA_OPERAND_REG: {
            int resource = register_resource(operand->reg_class, operand_register(m, i));
            bool read = operand->read || forced || (operand->write && write_merges(m->form, operand));
            if (read && !(ignore_registers && !operand->implicit && !operand->mask)) {
                source_add(m, i, HX_SIM_SOURCE_VALUE, resource);
            }
            if (operand->write) {
                result_add(m, i, resource);
            }
            break;
        }
        case ISA_OPERAND_MEM:
            memory_add(m, i);
            break;
        case ISA_OPERAND_AGEN:
            address_add(m, i, HX_SIM_SOURCE_VALUE);
            break;
        case ISA_OPERAND_FLAGS:
            flags_add(m, i, operand->cond_write);
            break;
        case ISA_OPERAND_IMM:
        case ISA_OPERAND_REL:
            break;
        }
    }
}

/* What is no operand of the form. */
static void others_add(struct hx_sim_op *op, const struct isa_form *form) {
    const unsigned cleared = isa_form_clears_vectors(form) ? ISA_CLEARED_VECTORS : 0;
    for (unsigned v = 0; v < cleared && op->results_count < HX_SIM_RESULTS_MAX; v++) {
        op->results[op->results_count++] = (uint8_t)(HX_SIM_FILE_VECTOR + v);
    }
}

/* True when all explicit register operands that are read, two at least, are the same register. */
static bool registers_are_the_same(const struct maker *m) {
    int first = -1;
    unsigned count = 0;
    for (unsigned i = 0; i < m->form->explicit_count; i++) {
        const struct isa_operand *operand = &m->form->operands[i];
        if (operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN) {
            return false;
        }
        if (operand->kind != ISA_OPERAND_REG || operand->mask || !operand->read) {
            continue;
        }
        int resource = register_resource(operand->reg_class, operand_register(m, i));
        if (count++ > 0 && resource != first) {
            return false;
        }
        first = resource;
    }
    return count >= 2;
}

static void latencies_fill(struct maker *m, uint16_t plain) {
    struct hx_sim_op *op = m->op;
    op->plain_latency = plain;
    for (unsigned s = 0; s < op->sources_count; s++) {
        for (unsigned r = 0; r < op->results_count; r++) {
            bool through_load = op->sources[s].kind == HX_SIM_SOURCE_LOAD_ADDRESS ||
                                op->sources[s].kind == HX_SIM_SOURCE_CONTENT;
            uint16_t total = plain;
            if (through_load) {
                bool given = m->row != NULL && m->row->memory_latency > 0;
                total = given ? m->row->memory_latency : (uint16_t)(m->load_latency + plain);
            }
            for (unsigned p = 0; m->row != NULL && p < m->row->pairs_count; p++) {
                const struct hx_sim_pair *pair = &m->row->pairs[p];
                bool src = strcmp(pair->src, m->source_names[s]) == 0 ||
                           (m->source_memory[s] && strcmp(pair->src, "mem") == 0);
                bool dst = strcmp(pair->dst, m->result_names[r]) == 0 ||
                           (op->results[r] == HX_SIM_FILE_MEMORY && strcmp(pair->dst, "mem") == 0);
                if (src && dst) {
                    total = pair->cycles;
                }
            }
            if (op->sources[s].kind == HX_SIM_SOURCE_CONTENT && total != HX_SIM_INDEPENDENT) {
                /* Without the load itself. */
                total = total > m->load_latency ? (uint16_t)(total - m->load_latency) : 0;
            }
            op->latency[s][r] = total;
        }
    }
}

/* Which of the row's µops are the load, the store's address and its data: told by their port sets. */
static void uops_fill(struct hx_sim_op *op, const struct hx_sim_description *d, const struct hx_sim_row *row,
                      bool reads_memory, bool writes_memory) {
    for (unsigned g = 0; g < row->uops_count; g++) {
        uint32_t ports = row->uops[g].ports;
        uint8_t kind = HX_SIM_UOP_COMPUTE;
        if (reads_memory && ports == d->load_ports) {
            kind = HX_SIM_UOP_LOAD;
        } else if (writes_memory && (ports == d->store_address_ports || ports == d->load_ports)) {
            kind = HX_SIM_UOP_ADDRESS;
        } else if (writes_memory && ports == d->store_data_ports) {
            kind = HX_SIM_UOP_DATA;
        }
        for (unsigned n = 0; n < row->uops[g].count && op->uops_count < HX_SIM_UOPS_MAX; n++) {
            op->uops[op->uops_count++] = (struct hx_sim_uop){.ports = ports, .kind = kind};
        }
    }
}

/* The schedule of the form alone: its µops then compete only among themselves, and what they wait there is
 * part of the form's latency already. */
static void offsets_fill(struct hx_sim_op *op) {
    uint16_t free_at[HX_SIM_PORTS_MAX] = {0};
    for (unsigned u = 0; u < op->uops_count; u++) {
        unsigned best = HX_SIM_PORTS_MAX;
        if (op->uops[u].kind != HX_SIM_UOP_COMPUTE) {
            continue;
        }
        for (unsigned port = 0; port < HX_SIM_PORTS_MAX; port++) {
            if ((op->uops[u].ports >> port & 1) != 0 &&
                (best == HX_SIM_PORTS_MAX || free_at[port] < free_at[best])) {
                best = port;
            }
        }
        if (best < HX_SIM_PORTS_MAX) {
            op->uops[u].offset = free_at[best]++;
        }
    }
}

/* Fused-domain µops where the row does not say: a load travels with its consumer, a store's address with its
 * data. */
static uint16_t slots_count(const struct hx_sim_op *op) {
    unsigned compute = 0, data = 0, address = 0;
    for (unsigned u = 0; u < op->uops_count; u++) {
        compute += op->uops[u].kind == HX_SIM_UOP_COMPUTE;
        data += op->uops[u].kind == HX_SIM_UOP_DATA;
        address += op->uops[u].kind == HX_SIM_UOP_ADDRESS;
    }
    unsigned slots = compute + (data > address ? data : address);
    return (uint16_t)(slots > 0 ? slots : 1);
}

static void flow_fill(struct hx_sim_op *op, const struct isa_form *form, const uint8_t *code, size_t length) {
    op->flow = HX_SIM_FLOW_NEXT;
    if (strncmp(form->mnemonic, "ret", 3) == 0) {
        op->flow = HX_SIM_FLOW_RETURN;
    }
    for (unsigned i = 0; i < form->operand_count; i++) {
        if (form->operands[i].kind != ISA_OPERAND_REL) {
            continue;
        }
        op->flow = strcmp(form->mnemonic, "jmp") == 0 ? HX_SIM_FLOW_JUMP : HX_SIM_FLOW_CONDITIONAL;
        /* The displacement is the last field of the instruction; its width is the only one that is legal
         * with this first byte (EB, E2.., 70.. are short). */
        if (form->operands[i].bits == 8 || length == 2) {
            op->displacement = (int8_t)code[length - 1];
        } else if (length >= 4) {
            uint32_t value = (uint32_t)code[length - 4] | (uint32_t)code[length - 3] << 8 |
                             (uint32_t)code[length - 2] << 16 | (uint32_t)code[length - 1] << 24;
            op->displacement = (int32_t)value;
        }
    }
}

static bool latencies_alike(const struct hx_sim_op *op) {
    for (unsigned s = 0; s < op->sources_count; s++) {
        for (unsigned r = 1; r < op->results_count; r++) {
            if (op->latency[s][r] != op->latency[s][0]) {
                return false;
            }
        }
    }
    return true;
}

void hx_sim_op_make(struct hx_sim_op *op, const struct hx_sim_description *description,
                    const struct hx_sim_row *row, const struct isa_form *form,
                    const struct isa_binding *binding, const uint8_t *code, size_t length) {
    struct maker m = {.op = op,
                      .row = row,
                      .form = form,
                      .binding = binding,
                      .load_latency = (uint16_t)description->load_latency};
    bool reads_memory = false, writes_memory = false;
    memset(op, 0, sizeof *op);
    memcpy(op->syntax, form->syntax, sizeof op->syntax);
    op->length = (uint8_t)length;
    op->listed = row != NULL;
    op->fault = row != NULL ? row->fault : HX_OUTCOME_OK;
    op->general = true;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        reads_memory |= operand->kind == ISA_OPERAND_MEM && operand->read;
        writes_memory |= operand->kind == ISA_OPERAND_MEM && operand->write;
        bool reg = operand->kind == ISA_OPERAND_REG;
        op->general &= !reg || isa_reg_is_gpr(operand->reg_class);
        op->wide |= reg && operand->reg_class == ISA_REG_ZMM;
        op->vector |= reg && (operand->reg_class == ISA_REG_XMM || operand->reg_class == ISA_REG_YMM);
    }
    op->vector = op->vector && !op->wide;
    bool same = row != NULL && row->same_register != HX_SIM_SAME_NOTHING && registers_are_the_same(&m);
    operands_add(&m, same);
    others_add(op, form);
    flow_fill(op, form, code, length);
    bool computes = row == NULL;
    if (row != NULL) {
        op->eliminated = row->eliminated || (same && row->same_register == HX_SIM_SAME_ELIMINATED);
        if (!op->eliminated) {
            uops_fill(op, description, row, reads_memory, writes_memory);
            op->blocking = row->blocking;
            op->unit = row->unit;
        }
        for (unsigned u = 0; u < op->uops_count; u++) {
            computes |= op->uops[u].kind == HX_SIM_UOP_COMPUTE;
        }
    }
    offsets_fill(op);
    op->together = row != NULL && row->together;
    op->slots = row != NULL && row->slots_given ? row->slots : slots_count(op);
    op->microcode = row != NULL ? row->microcode : 0;
    if (row != NULL && op->microcode == 0 && op->slots > description->microcode_slots) {
        op->microcode = (uint16_t)description->microcode_cycles;
    }
    uint16_t plain = row != NULL && row->latency_given ? row->latency : computes ? 1 : 0;
    latencies_fill(&m, op->eliminated ? 0 : plain);
    if (op->eliminated) {
        memset(op->latency, 0, sizeof op->latency);
    }
    op->alike = latencies_alike(op);
}
