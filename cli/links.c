/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/links.h"

#include <stdio.h>
#include <string.h>

/* What a value lives in between two links. */
enum place { PLACE_NONE, PLACE_GPR, PLACE_VECTOR, PLACE_MEMORY, PLACE_FLAGS, PLACE_OTHER = 16 };

static int operand_place(const struct isa_operand *operand) {
    switch (operand->kind) {
    case ISA_OPERAND_FLAGS:
        return PLACE_FLAGS;
    case ISA_OPERAND_MEM:
        return PLACE_MEMORY;
    case ISA_OPERAND_AGEN:
        return PLACE_GPR;
    case ISA_OPERAND_REG:
        if (isa_reg_is_gpr(operand->reg_class)) {
            return PLACE_GPR;
        }
        return isa_reg_is_vector(operand->reg_class) ? PLACE_VECTOR : PLACE_OTHER + (int)operand->reg_class;
    case ISA_OPERAND_IMM:
    case ISA_OPERAND_REL:
        break;
    }
    return PLACE_NONE;
}

/* Where the value enters through operand `src`: a memory operand's address is a general-purpose register. */
static int entry_place(const struct isa_operand *operand, bool address) {
    int place = operand_place(operand);
    return place == PLACE_MEMORY && address ? PLACE_GPR : place;
}

static bool enters(const struct isa_operand *operand, bool address) {
    return operand->kind == ISA_OPERAND_AGEN || (operand->kind == ISA_OPERAND_MEM && address) ||
           operand->read;
}

/* Of two operands that are one register (AL and AX of MUL r8) the one that is a source, or a destination. */
static int operand_by_name(const struct isa_form *form, const char *name, bool source) {
    char buffer[16];
    int named = -1;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (strcmp(isa_operand_name(form, i, buffer), name) != 0) {
            continue;
        }
        if (source ? enters(operand, true) : operand->write) {
            return (int)i;
        }
        named = (int)i;
    }
    return named;
}

/* The first operands of `form` that take a value from `from` (PLACE_NONE: any) and leave it in `to`
 * (PLACE_NONE: where it came from). */
static bool link_find(struct gen_link *link, int from, int to, bool address) {
    const struct isa_form *form = link->form;
    for (unsigned src = 0; src < form->operand_count; src++) {
        const struct isa_operand *in = &form->operands[src];
        int place = entry_place(in, address);
        if (!enters(in, address) || place == PLACE_NONE || (from != PLACE_NONE && place != from) ||
            (link->src >= 0 && link->src != (int)src)) {
            continue;
        }
        for (unsigned dst = 0; dst < form->operand_count; dst++) {
            const struct isa_operand *out = &form->operands[dst];
            if (out->write && operand_place(out) == (to != PLACE_NONE ? to : place) &&
                (link->dst < 0 || link->dst == (int)dst)) {
                link->src = (int)src;
                link->dst = (int)dst;
                link->src_address = address && operand_place(in) == PLACE_MEMORY;
                return true;
            }
        }
    }
    return false;
}

unsigned cli_links_direct(const struct isa_form *form, struct gen_link *links, unsigned limit) {
    unsigned count = 0;
    for (int src = 0; src < form->operand_count; src++) {
        for (int dst = 0; dst < form->operand_count; dst++) {
            struct gen_link link = {.form = form, .src = src, .dst = dst};
            if (count < limit && link_find(&link, PLACE_NONE, PLACE_NONE, true)) {
                links[count++] = link;
            }
        }
    }
    return count;
}

bool cli_links_any(const struct isa_form *form) {
    bool reads = false, writes = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        reads = reads || (enters(operand, true) && operand_place(operand) != PLACE_NONE);
        writes = writes || operand->write;
    }
    return reads && writes;
}

static enum ip_status named_operands(struct gen_link *link, const struct cli_settings *settings,
                                     struct ip_error *err) {
    const char *const names[] = {settings->src, settings->dst};
    int *const operands[] = {&link->src, &link->dst};
    for (int i = 0; i < 2; i++) {
        if (names[i] == NULL) {
            continue;
        }
        *operands[i] = operand_by_name(link->form, names[i], i == 0);
        if (*operands[i] < 0) {
            return ip_fail(err, IP_USAGE, "'%s' has no operand '%s': see 'isaprobe list --verbose'",
                           link->form->syntax, names[i]);
        }
    }
    return IP_OK;
}

/* With transfers between them, source and destination need not be of one kind. */
static enum ip_status head_with_transfers(struct gen_link *head, bool address, struct ip_error *err) {
    if (head->src < 0 || head->dst < 0) {
        return ip_fail(err, IP_USAGE, "--via needs --src and --dst");
    }
    const struct isa_operand *in = &head->form->operands[head->src];
    if (!enters(in, address) || !head->form->operands[head->dst].write) {
        return ip_fail(err, IP_USAGE, "'%s' does not read --src or does not write --dst", head->form->syntax);
    }
    if (!address && in->kind != ISA_OPERAND_MEM && head->form->operands[head->dst].kind != ISA_OPERAND_MEM) {
        return ip_fail(err, IP_USAGE, "--path content: neither --src nor --dst of '%s' is memory",
                       head->form->syntax);
    }
    head->src_address = address && in->kind == ISA_OPERAND_MEM;
    return IP_OK;
}

enum ip_status cli_links_make(struct cli_forms *forms, const struct isa_form *form,
                              const struct cli_settings *settings, struct gen_link links[CLI_LINKS_MAX],
                              unsigned *count, struct ip_error *err) {
    size_t transfers = settings->via.count;
    bool address = settings->path == 0;
    if (form->obstacle != ISA_OBSTACLE_NONE) { /* no operands would help */
        return ip_fail(err, IP_UNSUPPORTED, "'%s' cannot run in a kernel: %s", form->syntax, form->note);
    }
    if (transfers >= CLI_LINKS_MAX) {
        return ip_fail(err, IP_USAGE, "at most %d --via", CLI_LINKS_MAX - 1);
    }
    struct gen_link head = {.form = form, .src = -1, .dst = -1};
    enum ip_status status = named_operands(&head, settings, err);
    if (status != IP_OK) {
        return status;
    }
    if (transfers > 0) {
        status = head_with_transfers(&head, address, err);
    } else if (!address && isa_form_memory_operand(form) < 0) {
        status = ip_fail(err, IP_USAGE, "--path content: '%s' has no memory operand", form->syntax);
    } else if (!link_find(&head, address ? PLACE_NONE : PLACE_MEMORY, PLACE_NONE, address)) {
        status = ip_fail(err, IP_USAGE,
                         "'%s' does not chain to itself that way: choose --src and --dst, and transfers with "
                         "--via",
                         form->syntax);
    }
    if (status != IP_OK) {
        return status;
    }
    struct gen_link made[CLI_LINKS_MAX] = {head};
    int place = operand_place(&form->operands[head.dst]);
    int home = entry_place(&form->operands[head.src], address);
    for (size_t i = 0; i < transfers; i++) {
        struct isa_form *via = NULL;
        status = cli_forms_single(forms, settings->via.items[i], &via, err);
        if (status != IP_OK) {
            return status;
        }
        struct gen_link *link = &made[i + 1];
        *link = (struct gen_link){.form = via, .src = -1, .dst = -1};
        bool last = i + 1 == transfers, found = false;
        /* A transfer in the middle may leave the value anywhere. */
        for (int to = last ? home : PLACE_GPR; !found && to <= PLACE_OTHER + ISA_REG_OTHER; to++) {
            found = link_find(link, place, to, address);
            if (last) {
                break;
            }
        }
        if (!found) {
            return ip_fail(err, IP_USAGE,
                           "'%s' does not carry on from the destination of the link before it%s", via->syntax,
                           last ? " to the source of the first" : "");
        }
        place = operand_place(&via->operands[link->dst]);
    }
    memcpy(links, made, sizeof made);
    *count = (unsigned)transfers + 1;
    return IP_OK;
}
