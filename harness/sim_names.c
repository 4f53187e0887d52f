/* SPDX-License-Identifier: Apache-2.0 */
/* Names of forms in published tables of port usage. Two manners are read, and both become one name:
 *   uops.info      "ADD_03 (R64, R64)", "VADDPD_EVEX_ER (XMM, XMM, XMM)", "LEA_B_IS_D8 (R64)"
 *   pmtestbench    "add RW:GPR:64, qword ptr R:MEM(64)"
 * Which opcode of several encodes a form ("_03", "_R4", "_IMMB") is left out: a kernel has whichever the
 * assembler chose. */
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "harness/sim_description.h"

/* Parts of a uops.info name behind the mnemonic that tell forms apart. */
static bool tag_counts(const char *tag, size_t length) {
    static const char *const tags[] = {"LOCK", "EVEX", "Z", "ER", "SAE", "REPE", "REPNE", "REX64"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (strlen(tags[i]) == length && memcmp(tags[i], tag, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Appends; false: too long. */
static bool name_add(char *name, const char *text, size_t length) {
    size_t used = strlen(name);
    if (used + length >= ISA_SYNTAX_MAX) {
        return false;
    }
    memcpy(name + used, text, length);
    name[used + length] = '\0';
    return true;
}

static bool uops_info_name(const char *text, size_t length, char *name) {
    size_t head = 0;
    while (head < length && text[head] != ' ') {
        head++;
    }
    bool address_modes = length > 4 && memcmp(text, "LEA_", 4) == 0; /* there they are what differs */
    bool good = true;
    for (size_t at = 0, end; at < head; at = end + 1) {
        for (end = at; end < head && text[end] != '_'; end++) {
        }
        if (at == 0) {
            good = name_add(name, text, end);
        } else if (address_modes || tag_counts(text + at, end - at)) {
            good = good && name_add(name, "_", 1) && name_add(name, text + at, end - at);
        }
    }
    return good && name_add(name, text + head, length - head);
}

/* "RW:GPR:64", "qword ptr R:MEM(64)", "IMM(8)", "0x0", "R:al,bl,cl" -> "R64" "M64" "I8" "0" "R8l". */
static bool scheme_operand(const char *text, size_t length, char *name) {
    char operand[96], word[24];
    if (length >= sizeof operand) {
        return false;
    }
    memcpy(operand, text, length);
    operand[length] = '\0';
    const char *what = strstr(operand, " ptr ");
    what = what != NULL ? what + 5 : operand;
    unsigned bits;
    what += strncmp(what, "RW:", 3) == 0                                 ? 3
            : strncmp(what, "R:", 2) == 0 || strncmp(what, "W:", 2) == 0 ? 2
                                                                         : 0;
    if (sscanf(what, "GPR:%u", &bits) == 1) { /* NOLINT(cert-err34-c): a value too large matches no form */
        (void)snprintf(word, sizeof word, "R%u", bits);
    } else if (strcmp(what, "MEM(0)") == 0) {
        (void)snprintf(word, sizeof word, "?");
    } else if (sscanf(what, "MEM(%u)", &bits) == 1) { /* NOLINT(cert-err34-c) */
        (void)snprintf(word, sizeof word, "M%u", bits);
    } else if (sscanf(what, "IMM(%u)", &bits) == 1) { /* NOLINT(cert-err34-c) */
        (void)snprintf(word, sizeof word, "I%u", bits);
    } else if (strcmp(what, "0x0") == 0) {
        (void)snprintf(word, sizeof word, "0");
    } else if (what[0] != '\0' && strncmp(what + 1, "MM0..", 5) == 0) {
        (void)snprintf(word, sizeof word, "%.3s", what);
    } else if (strchr(what, ',') != NULL) { /* lists of 8-bit registers are the only ones */
        (void)snprintf(word, sizeof word, "R8l");
    } else {
        (void)snprintf(word, sizeof word, "%.8s", what);
        ip_ascii_capitals(word);
    }
    return name_add(name, word, strlen(word));
}

static bool scheme_name(const char *text, size_t length, char *name) {
    size_t head = 0;
    while (head < length && text[head] != ' ') {
        head++;
    }
    for (size_t i = 0; i < head; i++) {
        char upper = ip_ascii_upper(text[i]);
        if (!name_add(name, &upper, 1)) {
            return false;
        }
    }
    bool good = true;
    for (size_t at = head + 1, end; at < length && good; at = end + 2) {
        for (end = at; end < length && !(text[end] == ',' && end + 1 < length && text[end + 1] == ' ');
             end++) {
        }
        good = name_add(name, at == head + 1 ? " (" : ", ", 2) && scheme_operand(text + at, end - at, name);
    }
    return good && (head >= length || name_add(name, ")", 1));
}

bool hx_sim_published_name(const char *text, size_t length, char *name) {
    name[0] = '\0';
    bool scheme = length > 0 && ip_ascii_is_lower(text[0]);
    return scheme ? scheme_name(text, length, name) : uops_info_name(text, length, name);
}

static const char *register_name(const struct isa_operand *operand) {
    switch (operand->reg_class) {
    case ISA_REG_GPR8:
        return "R8l";
    case ISA_REG_GPR8H:
        return "R8h";
    case ISA_REG_GPR16:
        return "R16";
    case ISA_REG_GPR32:
        return "R32";
    case ISA_REG_GPR64:
        return "R64";
    case ISA_REG_MMX:
        return "MM";
    case ISA_REG_XMM:
        return "XMM";
    case ISA_REG_YMM:
        return "YMM";
    case ISA_REG_ZMM:
        return "ZMM";
    case ISA_REG_MASK:
        return "K";
    case ISA_REG_SEGMENT:
        return "SEG";
    default:
        return "?";
    }
}

static void operand_name(const struct isa_operand *operand, char *buffer, size_t size) {
    const char *fixed = operand->reg >= 0 ? isa_reg_name(operand->reg_class, (unsigned)operand->reg) : NULL;
    switch (operand->kind) {
    case ISA_OPERAND_REG:
        snprintf(buffer, size, "%s", fixed != NULL ? fixed : register_name(operand));
        if (fixed != NULL) {
            ip_ascii_capitals(buffer);
        }
        break;
    case ISA_OPERAND_MEM:
        if (operand->absolute) {
            snprintf(buffer, size, "Moffs%u", operand->bits);
        } else if (isa_reg_is_vector(operand->reg_class)) {
            snprintf(buffer, size, "VSIB_%s", register_name(operand));
        } else if (operand->broadcast != 0) {
            snprintf(buffer, size, "M%u_1to%u", operand->bits, operand->broadcast);
        } else {
            snprintf(buffer, size, "M%u", operand->bits);
        }
        break;
    case ISA_OPERAND_IMM:
        if (operand->imm_fixed) {
            snprintf(buffer, size, "%lld", (long long)operand->imm);
        } else {
            snprintf(buffer, size, "I%u", operand->bits);
        }
        break;
    case ISA_OPERAND_REL:
        snprintf(buffer, size, "Rel%u", operand->bits);
        break;
    case ISA_OPERAND_AGEN:
    case ISA_OPERAND_FLAGS:
        snprintf(buffer, size, "?");
        break;
    }
}

static void form_name(const struct isa_form *form, bool evex, char *buffer) {
    size_t used = 0;
    for (const char *c = form->mnemonic; *c != '\0' && used + 1 < ISA_SYNTAX_MAX; c++) {
        buffer[used++] = ip_ascii_upper(*c);
    }
    buffer[used] = '\0';
    bool rounds = strcmp(form->decorator, "{rn-sae}") == 0, quiet = strcmp(form->decorator, "{sae}") == 0;
    used += (size_t)snprintf(
        buffer + used, ISA_SYNTAX_MAX - used, "%s%s%s%s%s%s%s",
        strcmp(form->prefix, "lock") == 0 ? "_LOCK" : "", strcmp(form->prefix, "repne") == 0 ? "_REPNE" : "",
        strncmp(form->prefix, "rep", 3) == 0 && form->prefix[3] != 'n' ? "_REPE" : "", evex ? "_EVEX" : "",
        rounds ? "_ER" : "", quiet ? "_SAE" : "", form->zeroing ? "_Z" : "");
    for (unsigned i = 0; i < form->explicit_count; i++) {
        char name[24];
        operand_name(&form->operands[i], name, sizeof name);
        if (used + strlen(name) + 4 >= ISA_SYNTAX_MAX) {
            break; /* longer than any name in such a table: it will not be found */
        }
        used += (size_t)snprintf(buffer + used, ISA_SYNTAX_MAX - used, "%s%s", i == 0 ? " (" : ", ", name);
    }
    if (form->explicit_count > 0 && used + 2 <= ISA_SYNTAX_MAX) {
        memcpy(buffer + used, ")", 2);
    }
}

/* LEA goes by the parts of its address: "LEA_B_IS_D8 (R64)". */
static void address_name(const struct isa_form *form, const struct isa_address *address, char *buffer) {
    char register_operand[24];
    operand_name(&form->operands[0], register_operand, sizeof register_operand);
    bool far = address->disp != (int8_t)address->disp;
    const char *index = address->index < 0 ? "" : address->scale > 1 ? "_IS" : "_I";
    (void)snprintf(buffer, ISA_SYNTAX_MAX, "LEA%s%s%s (%s)", address->base >= 0 ? "_B" : "", index,
                   address->disp == 0         ? ""
                   : far || address->base < 0 ? "_D32"
                                              : "_D8",
                   register_operand);
}

void hx_sim_import_name(const struct isa_form *form, char *buffer) {
    form_name(form, false, buffer);
}

const struct hx_sim_row *hx_sim_import_find(const struct hx_sim_rows *imported, const struct isa_form *form,
                                            const struct isa_binding *binding) {
    char name[ISA_SYNTAX_MAX];
    const struct hx_sim_row *row = NULL;
    if (binding != NULL && strcmp(form->mnemonic, "lea") == 0) {
        address_name(form, &binding->address, name);
        row = hx_sim_rows_find(imported, name);
    }
    if (row == NULL && form->evex) { /* where a VEX form has the same operands */
        form_name(form, true, name);
        row = hx_sim_rows_find(imported, name);
    }
    if (row == NULL) {
        form_name(form, false, name);
        row = hx_sim_rows_find(imported, name);
    }
    return row;
}
