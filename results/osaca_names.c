/* SPDX-License-Identifier: Apache-2.0 */
#include "results/osaca_names.h"

#include <stdio.h>
#include <string.h>

#include "isa/kind.h"

/* Is it one of the words of a list, which blanks keep apart? */
static bool is_word_of(const char *word, const char *list) {
    size_t length = strlen(word);
    for (const char *at = list; length > 0 && *at != '\0';) {
        size_t span = strcspn(at, " ");
        if (span == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += span + (at[span] == ' ');
    }
    return false;
}

char res_osaca_width_letter(const struct isa_form *form) {
    static const char narrowing[] =
        "vcvtpd2ps vcvtpd2dq vcvttpd2dq vcvtpd2udq vcvttpd2udq vcvtqq2ps vcvtuqq2ps vcvtneps2bf16 vcvtpd2ph "
        "vcvtqq2ph vcvtuqq2ph vcvtdq2ph vcvtudq2ph vcvtps2phx vfpclasspd vfpclassps vfpclassph";
    const struct isa_operand *to = &form->operands[0];
    const bool narrow =
        to->kind == ISA_OPERAND_REG && (to->reg_class == ISA_REG_XMM || to->reg_class == ISA_REG_MASK);
    if (!narrow || !is_word_of(form->mnemonic, narrowing)) {
        return '\0';
    }
    unsigned from = 1;
    while (from + 1 < form->explicit_count && form->operands[from].mask) {
        from++;
    }
    const struct isa_operand *source = &form->operands[from];
    const unsigned bits = source->bits * (source->broadcast != 0 ? source->broadcast : 1);
    return bits > 256 ? 'z' : bits > 128 ? 'y' : 'x';
}

bool res_osaca_predicates_append(struct ip_text *text, const struct isa_form *form) {
    static const struct {
        const char *before, *types, *predicates;
    } comparisons[] = {
        {"cmp", "ps pd ss sd", "eq lt le unord neq nlt nle ord"},
        {"vcmp", "ps pd ss sd ph sh",
         "eq lt le unord neq nlt nle ord eq_uq nge ngt false neq_oq ge gt true eq_os lt_oq le_oq unord_s "
         "neq_us nlt_uq nle_uq ord_s eq_us nge_uq ngt_uq false_os neq_os ge_oq gt_oq true_us"},
        {"vpcmp", "b w d q ub uw ud uq", "lt le neq nlt nle"}, /* VPCMPEQ is another instruction */
        {"vpcom", "b w d q ub uw ud uq", "lt le gt ge eq neq false true"},
    };
    const bool immediate =
        form->explicit_count > 0 && form->operands[form->explicit_count - 1].kind == ISA_OPERAND_IMM;
    for (size_t i = 0; immediate && i < sizeof comparisons / sizeof comparisons[0]; i++) {
        const size_t stem = strlen(comparisons[i].before);
        const char *type = form->mnemonic + stem;
        if (strncmp(form->mnemonic, comparisons[i].before, stem) != 0 ||
            !is_word_of(type, comparisons[i].types)) {
            continue;
        }
        const char *comma = "[";
        for (const char *at = comparisons[i].predicates; *at != '\0';) {
            size_t span = strcspn(at, " ");
            ip_text_printf(text, "%s%s%.*s%s", comma, comparisons[i].before, (int)span, at, type);
            comma = ", ";
            at += span + (at[span] == ' ');
        }
        ip_text_append(text, "]");
        return true;
    }
    return false;
}

void res_osaca_names_append(struct ip_text *text, const struct isa_form *form) {
    static const struct {
        char name[8], gnu[2][8];
    } gnu_names[] = {
        {"cbw", {"cbtw"}},
        {"cwd", {"cwtd"}},
        {"cwde", {"cwtl"}},
        {"cdq", {"cltd"}},
        {"cdqe", {"cltq"}},
        {"cqo", {"cqto"}},
        {"movsxd", {"movsl"}},
        {"movabs", {"movabs"}},
        {"fild", {"fildl"}},
        {"movzx", {"movzb", "movzw"}},
        {"movsx", {"movsb", "movsw"}},
    };
    const bool wide = strcmp(form->mnemonic, "mov") == 0 && form->explicit_count == 2 &&
                      form->operands[0].kind == ISA_OPERAND_REG && form->operands[1].kind == ISA_OPERAND_IMM;
    const char *mnemonic = wide ? "movabs" : form->mnemonic;
    char others[ISA_OTHER_NAMES_MAX][ISA_MNEMONIC_MAX];
    const unsigned count = isa_mnemonic_others(form->mnemonic, others);
    struct ip_text more = {0};
    for (unsigned i = 0; i < count; i++) {
        ip_text_printf(&more, ", %s", others[i]);
    }
    for (size_t i = 0; i < sizeof gnu_names / sizeof gnu_names[0]; i++) {
        for (unsigned k = 0; k < 2 && strcmp(gnu_names[i].name, mnemonic) == 0; k++) {
            if (gnu_names[i].gnu[k][0] != '\0') {
                ip_text_printf(&more, ", %s", gnu_names[i].gnu[k]);
            }
        }
    }
    const char width = res_osaca_width_letter(form);
    bool plain = true;
    if (width != '\0') {
        /* Without the letter memory is the narrowest. */
        plain = width == 'x' || isa_form_memory_operand(form) < 0;
        ip_text_printf(&more, "%s%s%c", plain ? ", " : "", form->mnemonic, width);
    }
    if (more.length > 0) {
        ip_text_printf(text, "[%s%s]", plain ? form->mnemonic : "", ip_text_string(&more));
    } else {
        ip_text_append(text, form->mnemonic);
    }
    text->failed = text->failed || more.failed;
    ip_text_fini(&more);
}
