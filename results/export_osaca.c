/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_osaca.c - OSACA's machine file: YAML, one instruction form a line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/formats.h"
#include "results/osaca_names.h"

static const char list[] = "instruction_forms:\n", machine_key[] = "micro_architecture: ";
static const char *const core_keys[] = {
    [RES_SHEET_ROB_SLOTS] = "ROB_size",
    [RES_SHEET_RETIRE_WIDTH] = "retired_uOps_per_cycle",
    [RES_SHEET_SCHEDULER_UOPS] = "scheduler_size",
};

/* --- operands ------------------------------------------------------------------------------------------- */

/* What OSACA calls a register: all general ones are alike to it. */
static const char *register_class(const struct isa_operand *operand) {
    static const char *const classes[] = {
        [ISA_REG_GPR8] = "gpr",  [ISA_REG_GPR8H] = "gpr", [ISA_REG_GPR16] = "gpr", [ISA_REG_GPR32] = "gpr",
        [ISA_REG_GPR64] = "gpr", [ISA_REG_X87] = "st",    [ISA_REG_MMX] = "mm",    [ISA_REG_XMM] = "xmm",
        [ISA_REG_YMM] = "ymm",   [ISA_REG_ZMM] = "zmm",   [ISA_REG_MASK] = "k",    [ISA_REG_TILE] = "tmm",
    };
    size_t known = sizeof classes / sizeof classes[0];
    const char *name = (size_t)operand->reg_class < known ? classes[operand->reg_class] : NULL;
    return name;
}

/* The number of a shift or rotation by one, which has an opcode of its own: compilers write "sar %rax", to
 * OSACA a form of one operand beside that of an immediate. */
static bool is_silent_one(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_IMM && operand->bits == 0 && operand->imm == 1;
}

/* A store: OSACA has no word for its mask. */
static bool stores(const struct isa_form *form) {
    return form->operands[0].kind == ISA_OPERAND_MEM;
}

/* Appends the operands in AT&T order, without the last `silent` ones of our order, which the mnemonic says.
 * False when OSACA has no word for one. */
static bool operands_append(struct ip_text *text, const struct isa_form *form, unsigned silent) {
    bool masked = form->explicit_count > 1 && form->operands[1].mask;
    const char *comma = "";
    ip_text_append(text, "[");
    for (unsigned i = form->explicit_count - silent; i-- > 0;) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->mask || is_silent_one(operand)) {
            continue; /* a mask is said of the destination */
        }
        ip_text_printf(text, "%s{", comma);
        comma = ", ";
        const char *name;
        switch (operand->kind) {
        case ISA_OPERAND_REG:
            name = register_class(operand);
            if (name == NULL) {
                return false;
            }
            ip_text_printf(text, "class: register, name: %s%s%s", name,
                           masked && i == 0 ? ", mask: true" : "",
                           form->zeroing && i == 0 ? ", zeroing: true" : "");
            break;
        case ISA_OPERAND_MEM:
        case ISA_OPERAND_AGEN:
            ip_text_append(text, "class: memory, base: \"*\", offset: \"*\", index: \"*\", scale: \"*\"");
            break;
        case ISA_OPERAND_IMM:
            ip_text_append(text, "class: immediate, imd: int");
            break;
        case ISA_OPERAND_REL:
            ip_text_append(text, "class: identifier");
            break;
        case ISA_OPERAND_FLAGS:
            return false;
        }
        ip_text_append(text, "}");
    }
    ip_text_append(text, "]");
    return true;
}

/* What OSACA tells forms apart by: the mnemonic, the width in it, and a letter or two for each operand. */
static void key_make(const struct isa_form *form, char *key, size_t size) {
    const char width[] = {res_osaca_width_letter(form), '\0'};
    size_t used = (size_t)snprintf(key, size, "%s%.1s %s", form->mnemonic, width, form->zeroing ? "0" : "");
    for (unsigned i = 0; i < form->explicit_count && used + 2 < size; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool memory = operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN;
        if (is_silent_one(operand) || (operand->mask && stores(form))) {
            continue;
        }
        key[used++] = memory                               ? '*'
                      : operand->kind == ISA_OPERAND_IMM   ? '#'
                      : operand->kind == ISA_OPERAND_REL   ? '@'
                      : operand->mask                      ? '&'
                      : operand->reg_class == ISA_REG_X87  ? 's'
                      : operand->reg_class == ISA_REG_MMX  ? 'm'
                      : operand->reg_class == ISA_REG_TILE ? 't'
                                                           : register_class(operand)[0];
    }
    key[used] = '\0';
}

/* Which form stands for those that OSACA does not tell apart: wide registers, free ones, plain encodings,
 * stores without a mask. */
static int representative(const struct isa_form *form) {
    int rank = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class)) {
            rank += operand->bits;
        }
        rank -= (operand->reg >= 0 && operand->kind == ISA_OPERAND_REG) || operand->imm_fixed ? 512 : 0;
        rank -= operand->broadcast != 0 ? 512 : 0;
        rank -= operand->mask && stores(form) ? 4096 : 0;
    }
    return rank - (form->decorator[0] != '\0' || form->prefix[0] != '\0' ? 2048 : 0);
}

/* --- the machine ---------------------------------------------------------------------------------------- */

/* The position of a unit; units->count where it is none of them. */
static size_t unit_position(const struct ip_lines *units, const char *unit) {
    size_t i = 0;
    while (i < units->count && strcmp(units->items[i], unit) != 0) {
        i++;
    }
    return i;
}

/* The units that forms wait for, each once: OSACA knows no other thing that is busy than ports, so each is
 * one more of those. */
static void units_find(struct ip_lines *units, const struct res_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) {
        const char *unit = sheet->rows[i].unit;
        if (unit[0] != '\0' && unit_position(units, unit) == units->count) {
            ip_lines_add(units, unit);
        }
    }
}

static void ports_line_append(struct ip_text *text, const struct res_sheet *sheet,
                              const struct ip_lines *units) {
    uint32_t used = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        struct probe_usage_term terms[PROBE_USAGE_TERMS];
        unsigned count;
        if (res_usage_parse(sheet->rows[i].ports, terms, &count)) {
            while (count > 0) {
                used |= terms[--count].ports;
            }
        }
    }
    const char *comma = "";
    ip_text_append(text, "ports: [");
    for (unsigned number = 0; number < 32; number++) {
        if ((used >> res_port_number(number) & 1) != 0) {
            ip_text_printf(text, "%s\"%u\"", comma, number);
            comma = ", ";
        }
    }
    for (size_t i = 0; i < units->count; i++) {
        ip_text_printf(text, "%s\"" RES_UNIT_PIPE "%zu\"", comma, i);
        comma = ", ";
    }
    ip_text_append(text, "]\n");
}

/* A plain load or store: one register, one memory operand, one of them only written, the other only read. */
static bool moves(const struct res_row *row, bool store, const char *name) {
    const struct isa_form *form = row->info;
    if (form == NULL || form->explicit_count != 2 || form->flags_written != 0 || form->prefix[0] != '\0') {
        return false;
    }
    const struct isa_operand *memory = &form->operands[store ? 0 : 1],
                             *other = &form->operands[store ? 1 : 0];
    const char *class = other->kind == ISA_OPERAND_REG ? register_class(other) : NULL;
    return memory->kind == ISA_OPERAND_MEM && memory->bits == other->bits && class != NULL &&
           other->reg < 0 && strcmp(class, name) == 0 && memory->read == !store && memory->write == store &&
           other->read == store && other->write == !store;
}

enum { LOAD_XMM = 2, LOAD_CLASSES = 5 };
static const char *const load_classes[LOAD_CLASSES] = {"gpr", "mm", "xmm", "ymm", "zmm"};

/* What the head of the file says, and the forms refer to. */
struct machine {
    struct ip_lines units;             /* owned */
    double load_latency[LOAD_CLASSES]; /* NaN: not known */
};

/* The load latency into a class of registers: of its plain loads the quickest. */
static double load_latency(const struct res_sheet *sheet, const char *class) {
    double best = NAN;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        for (size_t p = 0; moves(row, false, class) && p < row->pair_count; p++) {
            const double cycles = res_pair_cycles(&row->pairs[p]);
            if (strcmp(row->pairs[p].path, "address") == 0 && cycles > 1) {
                best = fmin(best, cycles);
            }
        }
    }
    return best;
}

/* The ports of a plain load into, or store from, a class of registers: those of the fewest µops. */
static const char *move_ports(const struct res_sheet *sheet, bool store, const char *class) {
    const char *ports = "";
    double best = NAN;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        double uops = res_row_uops(row);
        if (moves(row, store, class) && !isnan(uops) && uops > 0 && !(best <= uops)) {
            best = uops;
            ports = row->ports;
        }
    }
    return ports;
}

/* The same; of vectors, where they are not known, those of the next narrower class that has some. OSACA would
 * take those of general registers. */
static const char *class_ports(const struct res_sheet *sheet, bool store, size_t class) {
    const char *ports = move_ports(sheet, store, load_classes[class]);
    while (ports[0] == '\0' && class > LOAD_XMM) {
        ports = move_ports(sheet, store, load_classes[--class]);
    }
    return ports;
}

/* What a load or store takes of the ports, for each class of registers, and for all others as for general
 * ones. */
static void moves_append(struct ip_text *text, const struct res_sheet *sheet, bool store) {
    const char *kind = store ? "store" : "load";
    bool some = false;
    ip_text_printf(text, "%s_throughput:", kind);
    for (size_t i = LOAD_CLASSES; i-- > 0;) {
        const char *ports = class_ports(sheet, store, i);
        if (ports[0] != '\0') {
            ip_text_printf(
                text, "\n- {%s: %s, base: \"*\", index: \"*\", offset: \"*\", scale: \"*\", port_pressure: ",
                store ? "src" : "dst", load_classes[i]);
            res_ports_append(text, ports, "[", "]", "\"");
            ip_text_append(text, "}");
            some = true;
        }
    }
    ip_text_printf(text, "%s\n%s_throughput_default: ", some ? "" : " []", kind);
    res_ports_append(text, move_ports(sheet, store, "gpr"), "[", "]", "\"");
    ip_text_append(text, "\n");
}

static void machine_find(struct machine *machine, const struct res_sheet *sheet) {
    units_find(&machine->units, sheet);
    for (size_t i = 0; i < LOAD_CLASSES; i++) {
        machine->load_latency[i] = load_latency(sheet, load_classes[i]);
    }
}

static void machine_append(struct ip_text *text, const struct res_sheet *sheet, const struct machine *machine,
                           const char *arch) {
    ip_text_printf(text, "osaca_version: 0.5.0\n%s", machine_key);
    ip_text_append_json(text, sheet->machine);
    ip_text_append(text, "\narch_code: ");
    ip_text_append_json(text, arch);
    ip_text_append(text, "\nisa: x86");
    for (size_t i = 0; i < RES_SHEET_CORE; i++) {
        ip_text_printf(text, "\n%s: ", core_keys[i]);
        res_number_or(text, sheet->core[i] > 0 ? sheet->core[i] : NAN, "~");
    }
    ip_text_append(text, "\nhidden_loads: false\nload_latency: {");
    for (size_t i = 0; i < LOAD_CLASSES; i++) {
        ip_text_printf(text, "%s%s: ", i > 0 ? ", " : "", load_classes[i]);
        res_number_or(text, machine->load_latency[i], "~");
    }
    /* The way through memory is in the latency of each store; some versions cannot do without the key. */
    ip_text_append(text, "}\nstore_to_load_forward_latency: 0\n");
    moves_append(text, sheet, false);
    moves_append(text, sheet, true);
    ports_line_append(text, sheet, &machine->units);
    ip_text_append(text, "port_model_scheme: ~\n");
}

/* --- writing -------------------------------------------------------------------------------------------- */

/* A form that writes memory, and nothing else that OSACA sees. */
static bool only_stores(const struct isa_form *form) {
    bool only =
        form->explicit_count > 0 && stores(form) && form->operands[0].write && !form->operands[0].read;
    for (unsigned i = 1; i < form->explicit_count; i++) {
        only = only && !form->operands[i].write;
    }
    return only;
}

/* Of the load that takes from memory what the form stored: into a register of its kind, as wide as the
 * memory. NaN: not known. */
static double load_back_latency(const struct isa_form *form, const struct machine *machine) {
    double load = NAN;
    for (unsigned i = 1; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        const unsigned bits = form->operands[0].bits;
        const char *class = operand->kind == ISA_OPERAND_REG ? register_class(operand) : NULL;
        if (isa_reg_is_vector(operand->reg_class)) {
            class = bits > 256 ? "zmm" : bits > 128 ? "ymm" : "xmm";
        }
        for (size_t c = 0; class != NULL && c < LOAD_CLASSES; c++) {
            load = strcmp(class, load_classes[c]) == 0 ? machine->load_latency[c] : load;
        }
    }
    return load;
}

/* OSACA adds the latency of a store to that of the load that meets it: it is what both take together, from
 * the data, less what the load has. Both are one cycle more than the store's bound (docs/latency.md,
 * "Memory"). */
static double store_latency(const struct res_row *row, const struct machine *machine) {
    double both = NAN;
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        if (strcmp(pair->path, "content") == 0 && strcmp(pair->dst, "op1") == 0) {
            both = fmax(both, pair->cycles + 1.0);
        }
    }
    return fmax(0.0, both - load_back_latency(row->info, machine)); /* 0 where one is not known */
}

/* OSACA waits for the latency where a register comes from the form and goes to another: what a load with an
 * operation has from its address counts only where there is nothing else (a plain load). */
static double form_latency(const struct res_row *row, const struct machine *machine) {
    double exact = NAN, bound = NAN;
    if (row->pair_count > 0 && only_stores(row->info)) {
        return store_latency(row, machine);
    }
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        double *kind = pair->upper_bound ? &bound : &exact;
        if (strcmp(pair->path, "register") == 0) {
            *kind = fmax(*kind, res_pair_cycles(pair));
        }
    }
    return !isnan(exact)   ? fmax(exact, res_row_latency_shared(row))
           : !isnan(bound) ? bound
                           : res_row_latency(row);
}

/* The ports and, behind them, the unit; a key of our own says whose it is. OSACA wants a list: of ports that
 * are not known it lacks them, and another key says so. */
static void pressure_append(struct ip_text *text, const struct res_row *row, const struct ip_lines *units) {
    struct ip_text ports = {0};
    res_ports_append(&ports, row->ports, "[", "]", "\"");
    if (row->unit[0] != '\0') {
        ip_text_printf(text, "%.*s%s[", (int)ports.length - 1, ip_text_string(&ports),
                       ports.length > strlen("[]") ? ", " : "");
        res_number_append(text, row->unit_cycles);
        ip_text_printf(text,
                       ", [\"" RES_UNIT_PIPE "%zu\"]]], isaprobe_unit: ", unit_position(units, row->unit));
        ip_text_append_json(text, row->unit);
    } else {
        ip_text_append(text, ip_text_string(&ports));
    }
    ip_text_append(text, row->ports[0] == '\0' ? ", isaprobe_ports: unknown" : "");
    text->failed = text->failed || ports.failed;
    ip_text_fini(&ports);
}

/* The entry but for its name. */
static void values_append(struct ip_text *text, const struct res_row *row, const char *operands,
                          const struct machine *machine) {
    ip_text_printf(text, ", operands: %s, latency: ", operands);
    res_number_or(text, form_latency(row, machine), "~");
    ip_text_append(text, ", throughput: ");
    res_number_or(text, row->throughput, "~");
    ip_text_append(text, ", uops: ");
    res_number_or(text, row->slots, "~");
    ip_text_append(text, ", port_pressure: ");
    pressure_append(text, row, &machine->units);
    ip_text_append(text, ", isaprobe: ");
    ip_text_append_json(text, row->form);
}

static void form_append(struct ip_text *text, const struct res_row *row, const char *operands,
                        const struct machine *machine) {
    ip_text_append(text, "- {name: ");
    res_osaca_names_append(text, row->info);
    values_append(text, row, operands, machine);
    ip_text_append(text, "}\n");
    struct ip_text names = {0}, fewer = {0};
    if (res_osaca_predicates_append(&names, row->info)) { /* the same, which our reader passes over */
        (void)operands_append(&fewer, row->info, 1);
        ip_text_printf(text, "- {name: %s", ip_text_string(&names));
        values_append(text, row, ip_text_string(&fewer), machine);
        ip_text_append(text, ", isaprobe_also: true}\n");
    }
    text->failed = text->failed || names.failed || fewer.failed;
    ip_text_fini(&names);
    ip_text_fini(&fewer);
}

static bool has_ports(const struct res_sheet *sheet) {
    bool has = false;
    for (size_t i = 0; i < sheet->count && !has; i++) {
        has = sheet->rows[i].ports[0] != '\0';
    }
    return has;
}

enum ip_status res_osaca_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text,
                               struct ip_error *err) {
    if (sheet->count > 0 && !has_ports(sheet)) {
        return ip_fail(
            err, IP_FAILED,
            "none of the %zu forms has ports, from which OSACA adds up the throughput; measure them "
            "first, with 'isaprobe scan --parts ports'",
            sheet->count);
    }
    struct res_choice *choices = calloc(sheet->count + 1, sizeof *choices);
    struct ip_lines operands = {0};
    struct machine machine = {0};
    size_t count = 0;
    if (choices == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count);
    }
    for (size_t i = 0; i < sheet->count; i++) {
        struct ip_text made = {0};
        const struct isa_form *form = sheet->rows[i].info;
        const struct res_row *row = &sheet->rows[i];
        bool known = form != NULL && (row->ports[0] != '\0' || !isnan(row->throughput)) &&
                     operands_append(&made, form, 0);
        ip_lines_add(&operands, known ? ip_text_string(&made) : "");
        export->unnamed += !known;
        if (known) {
            struct res_choice *choice = &choices[count++];
            key_make(form, choice->key, sizeof choice->key);
            choice->row = i;
            choice->rank = representative(form);
        }
        ip_text_fini(&made);
    }
    machine_find(&machine, sheet);
    enum ip_status status = operands.failed || machine.units.failed
                                ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count)
                                : IP_OK;
    res_choices_make(choices, count, &export->merged);
    machine_append(text, sheet, &machine, export->arch != NULL ? export->arch : "isaprobe");
    ip_text_append(text, list);
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        if (choices[i].chosen) {
            form_append(text, &sheet->rows[choices[i].row], operands.items[choices[i].row], &machine);
            export->written++;
        }
    }
    ip_lines_fini(&operands);
    ip_lines_fini(&machine.units);
    free(choices);
    return status;
}

/* --- reading -------------------------------------------------------------------------------------------- */

/* How long the form keeps its unit busy, as the list of ports says behind those; NaN: it has no unit. */
static double unit_cycles_read(const struct res_node *ports) {
    double cycles = NAN;
    for (const struct res_node *term = ports != NULL ? ports->first : NULL; term != NULL; term = term->next) {
        if (res_is_unit_term(term)) {
            cycles = res_number_read(term->first->text);
        }
    }
    return cycles;
}

static enum ip_status row_read(struct res_row *row, const struct res_node *node, const char *name,
                               unsigned line, struct ip_error *err) {
    const char *form = res_node_text(node, "isaprobe");
    const struct res_node *ports = res_node_find(node, "port_pressure");
    if (form == NULL || strlen(form) >= sizeof row->form) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "expected {name: ..., isaprobe: \"FORM\"}");
    }
    (void)snprintf(row->form, sizeof row->form, "%s", form);
    double latency = res_node_number(node, "latency");
    row->latency = (struct res_sheet_range){.known = !isnan(latency), .low = latency, .high = latency};
    row->throughput = res_node_number(node, "throughput");
    row->slots = res_node_number(node, "uops");
    const char *unit = res_node_text(node, "isaprobe_unit");
    row->unit_cycles = unit != NULL ? unit_cycles_read(ports) : NAN;
    if (!isnan(row->unit_cycles)) {
        (void)snprintf(row->unit, sizeof row->unit, "%s", unit);
    }
    bool unknown = ports == NULL || ports->text != NULL || res_node_text(node, "isaprobe_ports") != NULL;
    if (!unknown && !res_ports_of_node(ports, row->ports)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                          "port_pressure is no list such as [[1, [\"0\", \"1\"]]]");
    }
    return IP_OK;
}

/* Which CPU it is, and what the head says of its core. What it does not say stays as it is. */
static enum ip_status head_read(struct res_sheet *sheet, const char *name, const char *text,
                                struct ip_error *err) {
    struct res_tree tree = {0};
    enum ip_status status = IP_OK;
    unsigned line = 1;
    const char *at = strstr(text, machine_key);
    if (at != NULL) {
        line = ip_line_of(text, at);
        at += strlen(machine_key);
        status = res_tree_read(&tree, name, &at, &line, err);
    }
    if (tree.root != NULL && tree.root->text != NULL && tree.root->text[0] != '\0') {
        (void)snprintf(sheet->machine, sizeof sheet->machine, "%s", tree.root->text);
    }
    res_tree_fini(&tree);
    for (size_t i = 0; i < RES_SHEET_CORE; i++) {
        char line_begin[40], number[24];
        (void)snprintf(line_begin, sizeof line_begin, "\n%s: ", core_keys[i]);
        const char *value = strstr(text, line_begin);
        if (value != NULL) {
            value += strlen(line_begin);
            (void)snprintf(number, sizeof number, "%.*s", (int)strcspn(value, "\r\n"), value);
            sheet->core[i] = fmax(0.0, res_number_read(number)); /* 0: "~" */
        }
    }
    return status;
}

enum ip_status res_osaca_read(struct res_sheet *sheet, const char *name, const char *text,
                              struct ip_error *err) {
    const char *at = strstr(text, list);
    if (at == NULL) {
        return ip_fail_at(err, IP_SYNTAX, name, 1, 0, "no instruction_forms");
    }
    enum ip_status head = head_read(sheet, name, text, err);
    if (head != IP_OK) {
        return head;
    }
    unsigned line = ip_line_of(text, at) + 1;
    at += strlen(list);
    while (*at != '\0') {
        struct res_tree tree = {0};
        unsigned first = line;
        if (strncmp(at, "- {", 3) != 0) {
            return ip_fail_at(err, IP_SYNTAX, name, line, 0, "expected '- {name: ...}', one form a line");
        }
        at += 2;
        enum ip_status status = res_tree_read(&tree, name, &at, &line, err);
        const bool also = status == IP_OK && res_node_text(tree.root, "isaprobe_also") != NULL;
        struct res_row *row = status == IP_OK && !also ? res_sheet_row_add(sheet) : NULL;
        if (status == IP_OK && !also) {
            status = row == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name)
                                 : row_read(row, tree.root, name, first, err);
        }
        res_tree_fini(&tree);
        if (status != IP_OK) {
            return status;
        }
        for (; *at == '\n' || *at == '\r' || *at == ' '; at++) {
            line += *at == '\n';
        }
    }
    return IP_OK;
}
