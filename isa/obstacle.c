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
    {"ldmxcsr", ISA_OBSTACLE_STATE, "loads MXCSR from memory, which may unmask exceptions"},
    {"vldmxcsr", ISA_OBSTACLE_STATE, "loads MXCSR from memory, which may unmask exceptions"},
    {"fldcw", ISA_OBSTACLE_STATE, "loads the x87 control word from memory, which may unmask exceptions"},
    {"fldenv", ISA_OBSTACLE_STATE, "loads the x87 environment from memory"},
    {"frstor", ISA_OBSTACLE_STATE, "restores the x87 state from memory"},
    {"fxrstor*", ISA_OBSTACLE_STATE, "restores the x87 and SSE state from memory"},
    {"xrstor*", ISA_OBSTACLE_STATE, "restores processor state from memory"},
    {"popf*", ISA_OBSTACLE_STATE, "loads RFLAGS, with the trap flag, from the stack"},
    {"wrfsbase", ISA_OBSTACLE_STATE, "moves the thread's local storage"},
    {"wrgsbase", ISA_OBSTACLE_STATE, "changes the base of GS"},
    {"wrpkru", ISA_OBSTACLE_STATE, "changes the protection keys"},
    {"enter", ISA_OBSTACLE_STATE, "moves RSP and RBP"},
    {"leave", ISA_OBSTACLE_STATE, "moves RSP to where RBP points"},
    {"lss", ISA_OBSTACLE_STATE, "loads a segment register"},
    {"lfs", ISA_OBSTACLE_STATE, "loads a segment register"},
    {"lgs", ISA_OBSTACLE_STATE, "loads a segment register"},
    {"xbegin", ISA_OBSTACLE_CONTROL_FLOW, "starts a transaction, which ends at an abort handler"},
    {"xabort", ISA_OBSTACLE_CONTROL_FLOW, "aborts a transaction"},
    {"xend", ISA_OBSTACLE_PRIVILEGED, "faults outside a transaction"},
    {"ud0", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"ud1", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"ud2", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
    {"enclu", ISA_OBSTACLE_PRIVILEGED, "needs an enclave"},
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

static bool writes_segment(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_REG && op->reg_class == ISA_REG_SEGMENT && op->write)
            return true;
    }
    return false;
}

static bool by_category(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "calls, and needs a return");
        return true;
    case ZYDIS_CATEGORY_RET:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "returns to its caller");
        return true;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "enters or leaves the system");
        return true;
    case ZYDIS_CATEGORY_INTERRUPT:
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "raises an interrupt");
        return true;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (form->explicit_count > 0 && form->operands[0].kind == ISA_OPERAND_REL)
            return false;
        set(form, ISA_OBSTACLE_CONTROL_FLOW, "jumps to an address that its operand holds");
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

/* CLI and STI; all else that changes the interrupt flag is privileged or leaves the kernel. */
static bool changes_interrupts(const ZydisDecodedInstruction *instruction) {
    const ZydisAccessedFlags *flags = instruction->cpu_flags;
    return flags != NULL && ((flags->modified | flags->set_0 | flags->set_1) & ZYDIS_CPUFLAG_IF) != 0;
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
    else if (changes_interrupts(instruction))
        set(form, ISA_OBSTACLE_PRIVILEGED, "needs an I/O privilege level (IOPL) of 3");
    else if (writes_segment(form))
        set(form, ISA_OBSTACLE_STATE, "loads a segment register");
}
