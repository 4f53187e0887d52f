/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_lua.c - Lua for MAQAO's CQA, which looks an instruction up by its mnemonic in the table
 * __insn_ext_bypass: nb_uops (issue slots), latency and rcpt as {min, max}, uops_groups as {uops, {ports}}.
 *
 * The file lists the forms one by one, and its last lines fold them into that table: what the forms of one
 * mnemonic have in common, and the range where they differ. What a prefix or a segment register makes of a
 * mnemonic is listed without it and stays out: no ADD takes as long as LOCK ADD. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "results/formats.h"

/* Fills the list's place in __insn_ext_bypass when the file is run. */
static const char fold[] =
    "}\n\n"
    "__insn_ext_bypass = {}\n"
    "local function widen(entry, key, low, high)\n"
    "   if low == nil then return end\n"
    "   local range = entry[key] or {min = low, max = high}\n"
    "   entry[key] = {min = math.min(range.min, low), max = math.max(range.max, high)}\n"
    "end\n"
    "local function same(a, b)\n"
    "   if type(a) ~= \"table\" or type(b) ~= \"table\" then return a == b end\n"
    "   for key, value in pairs(a) do if not same(value, b[key]) then return false end end\n"
    "   return #a == #b\n"
    "end\n"
    "local function add(form)\n"
    "   if form.mnemonic == nil then return end\n"
    "   local entry = __insn_ext_bypass[form.mnemonic] or {}\n"
    "   __insn_ext_bypass[form.mnemonic] = entry\n"
    "   widen(entry, \"nb_uops\", form.nb_uops, form.nb_uops)\n"
    "   widen(entry, \"latency\", form.latency and form.latency.min, form.latency and form.latency.max)\n"
    "   widen(entry, \"rcpt\", form.rcpt, form.rcpt)\n"
    "   -- Different forms, different ports: one list for all of them would be wrong.\n"
    "   if entry.uops_groups == nil then entry.uops_groups = form.uops_groups or false\n"
    "   elseif not same(entry.uops_groups, form.uops_groups or false) then entry.uops_groups = false end\n"
    "end\n"
    "for _, form in ipairs(isaprobe_forms) do add(form) end\n"
    "for _, entry in pairs(__insn_ext_bypass) do\n"
    "   if not entry.uops_groups then entry.uops_groups = nil end\n"
    "end\n";

static const char list[] = "isaprobe_forms = {\n", machine_line[] = "-- measured on: ";

/* Does the mnemonic alone stand for the form? A decorator or a word for the encoding does not matter to it.
 */
static bool is_plain(const struct isa_form *form) {
    if (form == NULL || (form->prefix[0] != '\0' && form->prefix[0] != '{')) {
        return false;
    }
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG &&
            form->operands[i].reg_class == ISA_REG_SEGMENT) { /* MOV, else one of the quickest */
            return false;
        }
    }
    return true;
}

/* The least and the greatest, of bounds the form's own share; those of the row where it has no pairs. */
static void latency_append(struct ip_text *text, const struct res_row *row) {
    if (!row->latency.known) {
        return;
    }
    double low = row->pair_count == 0 ? row->latency.low : NAN,
           high = row->pair_count == 0 ? row->latency.high : NAN;
    for (size_t i = 0; i < row->pair_count; i++) { /* not NaN if one is not */
        const double cycles = res_pair_cycles(&row->pairs[i]);
        low = fmin(low, cycles);
        high = fmax(high, fmax(cycles, row->pairs[i].slow_cycles));
    }
    ip_text_append(text, ", latency = {min = ");
    res_number_append(text, low);
    ip_text_append(text, ", max = ");
    res_number_append(text, high);
    ip_text_append(text, "}");
}

void res_lua_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text) {
    ip_text_append(text, "-- isaprobe: instruction costs for MAQAO CQA, in core cycles\n");
    ip_text_append(text, machine_line);
    for (const char *c = sheet->machine; *c != '\0'; c++) { /* whatever its name, the comment ends here */
        ip_text_append_bytes(text, (unsigned char)*c < 0x20 ? " " : c, 1);
    }
    ip_text_append(text, "\n");
    ip_text_append(text, list);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        ip_text_append(text, "   {form = ");
        ip_text_append_json(text, row->form);
        if (is_plain(row->info)) {
            char mnemonic[ISA_MNEMONIC_MAX];
            memcpy(mnemonic, row->info->mnemonic, sizeof mnemonic);
            ip_ascii_capitals(mnemonic);
            ip_text_printf(text, ", mnemonic = \"%s\"", mnemonic);
        } else {
            export->merged++; /* listed, for our own readers only */
        }
        ip_text_printf(text, ", isa = \"%s\"", row->extension);
        if (!isnan(row->slots)) {
            ip_text_append(text, ", nb_uops = ");
            res_number_append(text, row->slots);
        }
        latency_append(text, row);
        if (!isnan(row->throughput)) {
            ip_text_append(text, ", rcpt = ");
            res_number_append(text, row->throughput);
        }
        if (row->ports[0] != '\0') {
            ip_text_append(text, ", uops_groups = ");
            res_ports_append(text, row->ports, "{", "}", "");
        }
        ip_text_append(text, "},\n");
        export->written++;
    }
    ip_text_append(text, fold);
}

static enum ip_status row_read(struct res_row *row, const struct res_node *node, const char *name,
                               unsigned line, struct ip_error *err) {
    const char *form = res_node_text(node, "form"), *extension = res_node_text(node, "isa");
    const struct res_node *latency = res_node_find(node, "latency"),
                          *ports = res_node_find(node, "uops_groups");
    if (form == NULL || strlen(form) >= sizeof row->form) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "an entry without form");
    }
    (void)snprintf(row->form, sizeof row->form, "%s", form);
    (void)snprintf(row->extension, sizeof row->extension, "%s", extension != NULL ? extension : "");
    row->slots = res_node_number(node, "nb_uops");
    row->throughput = res_node_number(node, "rcpt");
    row->latency.known = latency != NULL;
    row->latency.low = res_node_number(latency, "min");
    row->latency.high = res_node_number(latency, "max");
    if (row->latency.known && (isnan(row->latency.low) || isnan(row->latency.high))) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "a latency lacks min or max");
    }
    if (ports != NULL && !res_ports_of_node(ports, row->ports)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "uops_groups is no list such as {{1, {0, 1}}}");
    }
    return IP_OK;
}

enum ip_status res_lua_read(struct res_sheet *sheet, const char *name, const char *text,
                            struct ip_error *err) {
    const char *start = strstr(text, list);
    if (start == NULL) {
        return ip_fail_at(err, IP_SYNTAX, name, 1, 0, "no table isaprobe_forms");
    }
    const char *machine = strstr(text, machine_line);
    machine = machine != NULL && machine < start ? machine + strlen(machine_line) : NULL;
    if (machine != NULL && *machine != '\n') {
        (void)snprintf(sheet->machine, sizeof sheet->machine, "%.*s", (int)strcspn(machine, "\n"), machine);
    }
    unsigned line = ip_line_of(text, start);
    struct res_tree tree = {0};
    const char *at = start + strlen("isaprobe_forms = ");
    unsigned first = line;
    enum ip_status status = res_tree_read(&tree, name, &at, &line, err);
    for (const struct res_node *node = status == IP_OK ? tree.root->first : NULL;
         status == IP_OK && node != NULL; node = node->next) {
        struct res_row *row = res_sheet_row_add(sheet);
        first++; /* one entry a line */
        status = row == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name)
                             : row_read(row, node, name, first, err);
    }
    res_tree_fini(&tree);
    return status;
}
