/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/obstacle.h"

#include <stdio.h>
#include <string.h>

static const struct rule {
    const char *mnemonic; /* a trailing * stands for any ending */
    enum isa_obstacle obstacle;
    const char *note;
} rules[] = {
    /* What neither the category nor an attribute of the instruction tells. */
    {"xrstor*", ISA_OBSTACLE_STATE, "restores processor state from memory"},
    {"wrfsbase", ISA_OBSTACLE_STATE, "moves the thread's local storage"},
    {"lss", ISA_OBSTACLE_STATE, "loads the segment of the stack, which may not be null"},
    {"lfs", ISA_OBSTACLE_STATE, "moves the thread's local storage"},
    {"xbegin", ISA_OBSTACLE_CONTROL_FLOW, "starts a transaction, which ends at an abort handler"},
    {"xabort", ISA_OBSTACLE_CONTROL_FLOW, "aborts a transaction"},
    {"xend", ISA_OBSTACLE_PRIVILEGED, "faults outside a transaction"},
    {"ud0", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"ud1", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"ud2", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"enclu", ISA_OBSTACLE_PRIVILEGED, "needs an enclave"},
    {"enclv", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"stgi", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"clgi", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"vmrun", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"vmload", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"vmsave", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"skinit", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
    {"vmfunc", ISA_OBSTACLE_PRIVILEGED, "needs a virtual machine that offers it"},
    {"vmcall", ISA_OBSTACLE_CONTROL_FLOW, "leaves the virtual machine"},
    {"vmmcall", ISA_OBSTACLE_CONTROL_FLOW, "leaves the virtual machine"},
    {"getsec", ISA_OBSTACLE_PRIVILEGED, "needs safer mode extensions"},
    {"umwait", ISA_OBSTACLE_OPERANDS, "waits for a time, not for its operands"},
    {"tpause", ISA_OBSTACLE_OPERANDS, "waits for a time, not for its operands"},
    {"mwaitx", ISA_OBSTACLE_OPERANDS, "waits for a time, not for its operands"},
    {"aesenc*kl", ISA_OBSTACLE_OPERANDS, "needs a key handle"},
    {"aesdec*kl", ISA_OBSTACLE_OPERANDS, "needs a key handle"},
    {"incssp*", ISA_OBSTACLE_STATE, "moves the shadow stack"},
    {"rstorssp", ISA_OBSTACLE_STATE, "switches the shadow stack"},
    {"saveprevssp", ISA_OBSTACLE_STATE, "switches the shadow stack"},
    {"wrss*", ISA_OBSTACLE_STATE, "writes the shadow stack"},
    {"uiret", ISA_OBSTACLE_CONTROL_FLOW, "returns from a user interrupt"},
    {"clui", ISA_OBSTACLE_STATE, "masks user interrupts"},
    {"stui", ISA_OBSTACLE_STATE, "unmasks user interrupts"},
    {"senduipi", ISA_OBSTACLE_PRIVILEGED, "needs user interrupts set up by the system"},
    {"enqcmd*", ISA_OBSTACLE_PRIVILEGED, "needs a device to send the command to"},
    {"lgdt", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"}, /* Zydis says so of LIDT only */
    {"rdpmc", ISA_OBSTACLE_PRIVILEGED, "needs counters that the system opens to programs (CR4.PCE)"},
};

static bool matches(const char *pattern, const char *name) {
    if (pattern[0] != name[0]) /* most: each form is compared with each rule */
        return false;
    const char *star = strchr(pattern, '*');
    if (star == NULL)
        return strcmp(pattern, name) == 0;
    size_t head = (size_t)(star - pattern), tail = strlen(star + 1), length = strlen(name);
    return length >= head + tail && strncmp(pattern, name, head) == 0 &&
           strcmp(name + length - tail, star + 1) == 0;
}

static void set(struct isa_form *form, enum isa_obstacle obstacle, const char *note) {
    form->obstacle = obstacle;
    if (form->note[0] == '\0')
        snprintf(form->note, sizeof form->note, "%s", note);
}

/* Through memory that holds more than an offset, or back by more than one. Near ones are measured. */
static bool is_far(const ZydisDecodedInstruction *instruction, const struct isa_form *form) {
    bool pointer =
        form->explicit_count > 0 && form->operands[0].kind == ISA_OPERAND_MEM && form->operands[0].bits != 64;
    return pointer || instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
           strncmp(form->mnemonic, "iret", 4) == 0;
}

/* POP FS; a written operand of any segment is bound to one that takes a null selector. */
static bool moves_local_storage(const struct isa_form *form) {
    enum { FS = 4 };
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_REG && op->reg_class == ISA_REG_SEGMENT && op->write && op->reg == FS)
            return true;
    }
    return false;
}

static bool by_category(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (!is_far(instruction, form))
            return false;
        set(form, ISA_OBSTACLE_CONTROL_FLOW,
            "goes to another code segment, whose selector only the system knows");
        return true;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "enters or leaves the system");
        return true;
    case ZYDIS_CATEGORY_INTERRUPT:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "raises an interrupt");
        return true;
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
        set(form, ISA_OBSTACLE_PRIVILEGED, "needs access to I/O ports");
        return true;
    case ZYDIS_CATEGORY_VTX:
        set(form, ISA_OBSTACLE_PRIVILEGED, "needs VMX operation");
        return true;
    default:
        return false;
    }
}

/* CLI and STI; all else that changes the interrupt flag is privileged or leaves the kernel, but for POPF,
 * which leaves it alone where it may not change it. */
static bool changes_interrupts(const ZydisDecodedInstruction *instruction, const struct isa_form *form) {
    const ZydisAccessedFlags *flags = instruction->cpu_flags;
    return strncmp(form->mnemonic, "popf", 4) != 0 && flags != NULL &&
           ((flags->modified | flags->set_0 | flags->set_1) & ZYDIS_CPUFLAG_IF) != 0;
}

void isa_obstacle_find(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    form->obstacle = ISA_OBSTACLE_NONE;
    for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (matches(rules[i].mnemonic, form->mnemonic)) {
            set(form, rules[i].obstacle, rules[i].note);
            return;
        }
    }
    if (by_category(instruction, form))
        return;
    if ((instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0)
        set(form, ISA_OBSTACLE_PRIVILEGED, "needs CPL 0");
    else if (changes_interrupts(instruction, form))
        set(form, ISA_OBSTACLE_PRIVILEGED, "needs an I/O privilege level (IOPL) of 3");
    else if (moves_local_storage(form))
        set(form, ISA_OBSTACLE_STATE, "moves the thread's local storage");
}
