/* SPDX-License-Identifier: Apache-2.0 */
/* results/import_xml.c - reads what export_xml.c writes, and as much of uops.info's own file, of one of its
 * architectures: elements and attributes; no entities but the five, no DTD. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "results/formats.h"

enum { ATTRIBUTES_MAX = 64, ATTRIBUTE_BYTES = 8 << 10, OPERANDS_MAX = 32, OPERAND_BYTES = 16 };

/* One start tag: its name and attributes, entities resolved. */
struct tag {
    char name[24];
    const char *keys[ATTRIBUTES_MAX], *values[ATTRIBUTES_MAX];
    size_t count;
    char memory[ATTRIBUTE_BYTES];
    size_t used;
};

struct reader {
    const char *name, *at;
    unsigned line;
    struct ip_error *err;
    const char *wanted; /* architecture; NULL: the file has one, or none is named */
    /* Of the instruction's operands: what isaprobe calls those that it does not number; else "". */
    char operands[OPERANDS_MAX][OPERAND_BYTES];
    bool memory_written; /* the first one that is memory */
    struct tag tag;
    const char *bad; /* of the tag: a value that should be a number, and is none; else NULL */
};

static enum ip_status wrong(struct reader *reader, const char *what) {
    return ip_fail_at(reader->err, IP_SYNTAX, reader->name, reader->line, 0, "%s", what);
}

static void skip(struct reader *reader, size_t count) {
    for (; count > 0 && *reader->at != '\0'; count--, reader->at++) {
        reader->line += *reader->at == '\n';
    }
}

static void blanks_skip(struct reader *reader) {
    while (ip_ascii_is_space(*reader->at)) {
        skip(reader, 1);
    }
}

/* A copy of `length` bytes at the reader, entities resolved; NULL: no room. */
static const char *copy(struct reader *reader, size_t length) {
    static const struct {
        const char *entity;
        char is;
    } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    struct tag *tag = &reader->tag;
    if (tag->used + length + 1 > sizeof tag->memory) {
        return NULL;
    }
    char *start = tag->memory + tag->used, *out = start;
    for (const char *in = reader->at, *end = in + length; in < end;) {
        size_t step = 1;
        char c = *in;
        for (size_t i = 0; c == '&' && i < sizeof entities / sizeof entities[0]; i++) {
            size_t size = strlen(entities[i].entity);
            if (strncmp(in, entities[i].entity, size) == 0) {
                c = entities[i].is;
                step = size;
                break;
            }
        }
        *out++ = c;
        in += step;
    }
    *out++ = '\0';
    tag->used = (size_t)(out - tag->memory);
    return start;
}

static size_t name_length(const char *at) {
    size_t length = 0;
    while (ip_ascii_is_alnum(at[length]) || (at[length] != '\0' && strchr("_-:.", at[length]) != NULL)) {
        length++;
    }
    return length;
}

static enum ip_status attribute_read(struct reader *reader) {
    struct tag *tag = &reader->tag;
    size_t length = name_length(reader->at);
    if (length == 0 || tag->count == ATTRIBUTES_MAX) {
        return wrong(reader, "expected an attribute or the end of a tag");
    }
    tag->keys[tag->count] = copy(reader, length);
    skip(reader, length);
    if (*reader->at != '=' || (reader->at[1] != '"' && reader->at[1] != '\'')) {
        return wrong(reader, "expected =\"value\" behind an attribute's name");
    }
    const char quote[] = {reader->at[1], '\0'};
    skip(reader, 2);
    length = strcspn(reader->at, quote);
    if (reader->at[length] == '\0') {
        return wrong(reader, "an attribute's value has no end");
    }
    tag->values[tag->count] = copy(reader, length);
    skip(reader, length + 1);
    if (tag->keys[tag->count] == NULL || tag->values[tag->count] == NULL) {
        return wrong(reader, "the attributes of a tag are longer than 8 kB");
    }
    tag->count++;
    return IP_OK;
}

/* Goes to the next start or end tag: name "" at the end of the text, "/name" for an end tag. */
static enum ip_status tag_next(struct reader *reader) {
    struct tag *tag = &reader->tag;
    tag->count = tag->used = 0;
    reader->bad = NULL;
    for (;;) {
        skip(reader, strcspn(reader->at, "<"));
        if (*reader->at == '\0') {
            tag->name[0] = '\0';
            return IP_OK;
        }
        bool comment = strncmp(reader->at, "<!--", 4) == 0;
        if (!comment && reader->at[1] != '?' && reader->at[1] != '!') {
            break;
        }
        const char *end = strstr(reader->at, comment ? "-->" : ">");
        if (end == NULL) {
            return wrong(reader, "a comment or declaration has no end");
        }
        skip(reader, (size_t)(end - reader->at) + (comment ? 3 : 1));
    }
    skip(reader, 1);
    size_t slash = *reader->at == '/', length = slash + name_length(reader->at + slash);
    if (length == slash || length >= sizeof tag->name) {
        return wrong(reader, "expected the name of a tag behind '<'");
    }
    (void)snprintf(tag->name, sizeof tag->name, "%.*s", (int)length, reader->at);
    skip(reader, length);
    for (;;) {
        blanks_skip(reader);
        if (*reader->at == '>' || strncmp(reader->at, "/>", 2) == 0) {
            skip(reader, *reader->at == '/' ? 2 : 1);
            return IP_OK;
        }
        if (*reader->at == '\0') {
            return wrong(reader, "the file ends in the middle of a tag");
        }
        enum ip_status status = attribute_read(reader);
        if (status != IP_OK) {
            return status;
        }
    }
}

static const char *value(const struct tag *tag, const char *key) {
    for (size_t i = 0; i < tag->count; i++) {
        if (strcmp(tag->keys[i], key) == 0) {
            return tag->values[i];
        }
    }
    return NULL;
}

/* NaN: not known. What is no number is noted for numbers_check. */
static double number(struct reader *reader, const char *key) {
    const char *text = value(&reader->tag, key);
    double it;
    if (!res_number_known(text, &it)) {
        reader->bad = text;
    }
    return it;
}

static enum ip_status numbers_check(const struct reader *reader) {
    return reader->bad == NULL ? IP_OK
                               : ip_fail_at(reader->err, IP_SYNTAX, reader->name, reader->line, 0,
                                            "'%.40s' is no number", reader->bad);
}

static void text_copy(char *to, size_t size, const char *from) {
    (void)snprintf(to, size, "%s", from != NULL ? from : "");
}

/* As isa_operand_name has a register of this name: partial ones go by the name of the whole. */
static const char *register_name(const char *text) {
    const char *name;
    for (int c = ISA_REG_GPR8; c < ISA_REG_OTHER; c++) {
        enum isa_reg_class reg_class = (enum isa_reg_class)c;
        for (unsigned number = 0; (name = isa_reg_name(reg_class, number)) != NULL; number++) {
            if (ip_ascii_same(name, text)) {
                return isa_reg_is_gpr(reg_class) ? isa_reg_name(ISA_REG_GPR64, number) : name;
            }
        }
    }
    return "other";
}

/* The position in reader->operands of the operand with this idx; OPERANDS_MAX: it has none. */
static size_t operand_position(const char *idx) {
    double number = res_number_read(idx);
    return number >= 1 && number <= OPERANDS_MAX ? (size_t)number - 1 : OPERANDS_MAX;
}

/* As isa_operand_name has it: of two, what is written is at RDI, and what is read second. */
static void memory_name(struct reader *reader, size_t position) {
    for (size_t i = 0; i < OPERANDS_MAX; i++) {
        if (strcmp(reader->operands[i], "mem") == 0) {
            text_copy(reader->operands[i], OPERAND_BYTES, reader->memory_written ? "mem_rdi" : "mem_rsi");
            text_copy(reader->operands[position], OPERAND_BYTES,
                      reader->memory_written ? "mem_rsi" : "mem_rdi");
            return;
        }
    }
    reader->memory_written = value(&reader->tag, "w") != NULL;
    text_copy(reader->operands[position], OPERAND_BYTES, "mem");
}

/* Latencies name operands by their idx, isaprobe the suppressed ones by what they are. */
static void operand_read(struct reader *reader) {
    const struct tag *tag = &reader->tag;
    const char *type = value(tag, "type");
    size_t position = operand_position(value(tag, "idx"));
    if (value(tag, "suppressed") == NULL || type == NULL || position == OPERANDS_MAX) {
        return;
    }
    char *name = reader->operands[position], text[OPERAND_BYTES];
    if (strcmp(type, "flags") == 0) {
        text_copy(name, OPERAND_BYTES, "flags");
    } else if (strcmp(type, "mem") == 0 || strcmp(type, "agen") == 0) {
        memory_name(reader, position);
    } else if (strcmp(type, "reg") == 0) {
        blanks_skip(reader);
        size_t length = strcspn(reader->at, "< \r\n\t");
        /* One of several has no name of its own. */
        if (length > 0 && length < sizeof text && memchr(reader->at, ',', length) == NULL) {
            (void)snprintf(text, sizeof text, "%.*s", (int)length, reader->at);
            text_copy(name, OPERAND_BYTES, register_name(text));
        }
    }
}

/* What isaprobe calls an end of a latency: `own` attribute, or by uops.info's idx. */
static void end_read(const struct reader *reader, const char *own, const char *idx, char *name, size_t size) {
    size_t position = operand_position(idx);
    if (own != NULL) {
        text_copy(name, size, own);
    } else if (position < OPERANDS_MAX && reader->operands[position][0] != '\0') {
        text_copy(name, size, reader->operands[position]);
    } else {
        (void)snprintf(name, size, "op%.10s", idx);
    }
}

static enum ip_status instruction_read(struct reader *reader, struct res_row *row) {
    const struct tag *tag = &reader->tag;
    memset(reader->operands, 0, sizeof reader->operands);
    const char *form = value(tag, "isaprobe"), *name = value(tag, "string");
    if (name == NULL || strlen(name) >= sizeof row->name ||
        (form != NULL && strlen(form) >= sizeof row->form)) {
        return wrong(reader, "an instruction without string=\"NAME (OPERANDS)\"");
    }
    text_copy(row->form, sizeof row->form, form);
    text_copy(row->name, sizeof row->name, name);
    text_copy(row->extension, sizeof row->extension, value(tag, "extension"));
    res_uops_name_plain(row->name);
    return IP_OK;
}

static enum ip_status measurement_read(struct reader *reader, struct res_row *row) {
    const struct tag *tag = &reader->tag;
    double loop = number(reader, "TP_loop"), unrolled = number(reader, "TP_unrolled");
    row->throughput = fmin(loop, unrolled);
    if (isnan(row->throughput)) {
        row->throughput = number(reader, "TP");
    }
    row->throughput_slow = number(reader, "TP_slow");
    row->slots = number(reader, "slots");
    if (isnan(row->slots)) {
        row->slots = number(reader, "uops_retire_slots");
    }
    row->unit_cycles = number(reader, "unit_cycles");
    text_copy(row->unit, sizeof row->unit, isnan(row->unit_cycles) ? NULL : value(tag, "unit"));
    struct res_sheet_range *range = &row->latency;
    range->low = res_number_read(value(tag, "latency_min"));
    range->high = res_number_read(value(tag, "latency_max"));
    range->low_bound = value(tag, "latency_min_is_upper_bound") != NULL;
    range->high_bound = value(tag, "latency_max_is_upper_bound") != NULL;
    range->known = !isnan(range->low) && !isnan(range->high);
    const char *ports = value(tag, "ports"), *uops = value(tag, "uops");
    ports = ports != NULL ? ports : value(tag, "usage");
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (ports != NULL && (strlen(ports) >= sizeof row->ports || !res_usage_parse(ports, terms, &count))) {
        return wrong(reader, "ports are not such as 1*p01+2*p5");
    }
    text_copy(row->ports, sizeof row->ports,
              ports != NULL                            ? ports
              : uops != NULL && strcmp(uops, "0") == 0 ? "none"
                                                       : "");
    return numbers_check(reader);
}

/* "cycles_addr" and the like. */
static double cycles_read(struct reader *reader, const char *prefix, const char *suffix, const char *kind) {
    char key[48];
    (void)snprintf(key, sizeof key, "%scycles%s%s", prefix, suffix, kind);
    return number(reader, key);
}

static bool is_upper_bound(const struct tag *tag, const char *prefix, const char *suffix) {
    char key[48];
    (void)snprintf(key, sizeof key, "%scycles%s_is_upper_bound", prefix, suffix);
    return value(tag, key) != NULL;
}

static enum ip_status latency_add(struct reader *reader, struct res_row *row, const char *suffix,
                                  const char *path) {
    const struct tag *tag = &reader->tag;
    double cycles = cycles_read(reader, "", suffix, ""), measured = number(reader, "measured");
    /* uops.info has a least and a greatest value where its ways to measure do not agree. */
    const char *least = isnan(cycles) ? "min_" : "";
    cycles = cycles_read(reader, least, suffix, "");
    if (isnan(cycles)) {
        return IP_OK;
    }
    struct res_sheet_pair *pair = res_row_pair_add(row);
    if (pair == NULL) {
        return ip_fail(reader->err, IP_NO_MEMORY, "out of memory for %s", reader->name);
    }
    const char *start = value(tag, "start_op"), *target = value(tag, "target_op");
    if (start == NULL || target == NULL) {
        return wrong(reader, "a latency without start_op and target_op");
    }
    end_read(reader, value(tag, "src"), start, pair->src, sizeof pair->src);
    end_read(reader, value(tag, "dst"), target, pair->dst, sizeof pair->dst);
    text_copy(pair->path, sizeof pair->path, path);
    pair->upper_bound = is_upper_bound(tag, least, suffix);
    if (!isnan(measured)) {
        pair->cycles = measured;
        pair->same_register_cycles = number(reader, "measured_same_reg");
        pair->slow_cycles = number(reader, "measured_slow");
        return IP_OK;
    }
    pair->cycles = cycles;
    pair->same_register_cycles = cycles_read(reader, "", suffix, "_same_reg");
    if (isnan(pair->same_register_cycles)) {
        pair->same_register_cycles = cycles_read(reader, "min_", suffix, "_same_reg");
    }
    pair->slow_cycles = cycles_read(reader, "max_", suffix, "");
    pair->slow_upper_bound = is_upper_bound(tag, "max_", suffix);
    return IP_OK;
}

static enum ip_status latency_read(struct reader *reader, struct res_row *row) {
    /* A gather's index has a name of its own in older files. */
    static const char *const paths[][2] = {{"", "register"},
                                           {"_addr", "address"},
                                           {"_addr_index", "index"},
                                           {"_addr_VSIB", "index"},
                                           {"_mem", "content"}};
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < sizeof paths / sizeof paths[0]; i++) {
        status = latency_add(reader, row, paths[i][0], paths[i][1]);
    }
    return status != IP_OK ? status : numbers_check(reader);
}

static void reader_start(struct reader *reader, const char *text) {
    reader->at = text;
    reader->line = 1;
}

/* Decides which architecture is read: in a file of several the one that was asked for. */
static enum ip_status architecture_choose(struct reader *reader, const char *asked, const char *text) {
    enum { NAMES_MAX = 64 };
    struct ip_lines names = {0};
    enum ip_status status = IP_OK;
    unsigned second = 0; /* the line of the second one */
    while ((status = tag_next(reader)) == IP_OK && reader->tag.name[0] != '\0') {
        const char *name = strcmp(reader->tag.name, "architecture") == 0 ? value(&reader->tag, "name") : NULL;
        bool known = name == NULL || names.count == NAMES_MAX;
        for (size_t i = 0; !known && i < names.count; i++) {
            known = strcmp(names.items[i], name) == 0;
        }
        if (!known) {
            ip_lines_add(&names, name);
            second = names.count == 2 ? reader->line : second;
        }
    }
    if (status == IP_OK && names.failed) {
        status = ip_fail(reader->err, IP_NO_MEMORY, "out of memory for %s", reader->name);
    }
    if (status == IP_OK && names.count > 1) {
        struct ip_text list = {0};
        for (size_t i = 0; i < names.count; i++) {
            reader->wanted = asked != NULL && ip_ascii_same(names.items[i], asked) ? asked : reader->wanted;
            ip_text_printf(&list, "%s%s", i == 0 ? "" : ", ", names.items[i]);
        }
        if (asked == NULL) {
            status = ip_fail_at(reader->err, IP_SYNTAX, reader->name, second, 0,
                                "the file has several architectures: name one with 'isaprobe compare --arch "
                                "NAME': %.300s",
                                ip_text_string(&list));
        } else if (reader->wanted == NULL) {
            status = ip_fail_at(reader->err, IP_USAGE, reader->name, 0, 0,
                                "the file has no architecture '%.32s': --arch takes one of %.300s", asked,
                                ip_text_string(&list));
        }
        ip_text_fini(&list);
    }
    ip_lines_fini(&names);
    reader_start(reader, text);
    return status;
}

enum ip_status res_xml_read(struct res_sheet *sheet, const char *name, const char *text,
                            struct ip_error *err) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name);
    }
    reader->name = name;
    reader->err = err;
    reader_start(reader, text);
    bool closed = false, also = false; /* inside an instruction's other encoding, which says the same again */
    enum ip_status status = architecture_choose(reader, sheet->architecture, text);
    const bool any = reader->wanted == NULL;
    bool inside = any, has_it = true; /* the architecture that is wanted; the last row has it */
    while (status == IP_OK && (status = tag_next(reader)) == IP_OK && reader->tag.name[0] != '\0') {
        const char *tag = reader->tag.name;
        struct res_row *row = sheet->count > 0 ? &sheet->rows[sheet->count - 1] : NULL;
        if (strcmp(tag, "root") == 0) {
            const char *machine = value(&reader->tag, "machine");
            text_copy(sheet->machine, sizeof sheet->machine, machine != NULL ? machine : name);
        } else if (strcmp(tag, "instruction") == 0 && value(&reader->tag, "also") != NULL) {
            also = true;
        } else if (strcmp(tag, "instruction") == 0) {
            also = false;
            sheet->count -= !has_it; /* the row owns nothing yet */
            inside = has_it = any;
            row = res_sheet_row_add(sheet);
            status = row != NULL ? instruction_read(reader, row)
                                 : ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name);
        } else if (strcmp(tag, "operand") == 0) {
            operand_read(reader);
        } else if (strcmp(tag, "architecture") == 0 && !any) {
            const char *its_name = value(&reader->tag, "name");
            inside = its_name != NULL && ip_ascii_same(its_name, reader->wanted);
            has_it = has_it || inside;
        } else if (strcmp(tag, "measurement") == 0 && row != NULL && inside && !also) {
            status = measurement_read(reader, row);
        } else if (strcmp(tag, "latency") == 0 && row != NULL && inside && !also) {
            status = latency_read(reader, row);
        }
        closed = strcmp(tag, "/root") == 0;
    }
    sheet->count -= !has_it;
    if (status == IP_OK && !closed) {
        status = wrong(reader, "the file ends without </root>");
    }
    free(reader);
    return status;
}
