/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes belong to which line is read from NASM's listing: it names the line of every byte, costs 5 % of
 * the run, and needs no assumption about the code. */
#include "isa/assemble.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "isa/nasm.h"

enum { PROLOGUE_LINES = 2, ROUNDS_MAX = 16, COMPLAINT_MAX = 200, BATCHES_MAX = 4, BATCH_LINES_MIN = 2000 };
static const char prologue_plain[] = "[bits 64]\n[default abs]\n";
static const char prologue[] = "bits 64\ndefault abs\n";

/* The work of one NASM: a part of the lines. */
struct batch {
    const char *const *lines;
    size_t count;
    char **complaints; /* NULL for the good; the caller's */
    struct isa_code *codes;
    struct isa_nasm nasm;
    bool done;
};

static bool complain(char **complaints, size_t i, const char *text, size_t length) {
    if (complaints[i] != NULL)
        return true;
    if (length > COMPLAINT_MAX)
        length = COMPLAINT_MAX;
    complaints[i] = strndup(text, length);
    return complaints[i] != NULL;
}

/* What cannot be given to NASM because it would change the meaning of other lines. */
static const char *unsuitable(const char *line) {
    size_t blanks = strspn(line, " \t");
    size_t length = strlen(line);
    if (length >= ISA_LINE_MAX)
        return "the line is longer than 159 characters";
    if (strpbrk(line, "\n\r") != NULL)
        return "the line holds a line break";
    if (length > 0 && line[length - 1] == '\\')
        return "the line ends in a backslash";
    if (line[blanks] == '[' || line[blanks] == '%')
        return "directives are not instructions";
    return NULL;
}

/* NASM ends a warning with the option that would silence it, which nobody can give here. */
static size_t message_length(const char *text, size_t length) {
    static const char option[] = " [-w+";
    size_t kept = 0;
    while (kept < length && strncmp(text + kept, option, sizeof option - 1) != 0)
        kept++;
    return kept;
}

/* Reads "source:LINE: error: TEXT" lines. Returns how many lines were newly rejected, -1 on no memory. */
static long messages_read(struct batch *batch, const char *words) {
    long rejected = 0;
    while (*words != '\0') {
        size_t length = strcspn(words, "\n");
        const size_t name = sizeof ISA_NASM_SOURCE - 1;
        if (length > name && memcmp(words, ISA_NASM_SOURCE, name) == 0 && words[name] == ':') {
            char *end;
            unsigned long line = strtoul(words + name + 1, &end, 10);
            if (*end == ':' && line > PROLOGUE_LINES && line - PROLOGUE_LINES <= batch->count) {
                size_t i = line - PROLOGUE_LINES - 1;
                const char *text = end + 1;
                static const char *const levels[] = {" error: ", " warning: ", " fatal: "};
                for (unsigned k = 0; k < 3; k++) {
                    if (strncmp(text, levels[k], strlen(levels[k])) == 0)
                        text += strlen(levels[k]);
                }
                rejected += batch->complaints[i] == NULL;
                size_t kept = message_length(text, (size_t)(words + length - text));
                if (!complain(batch->complaints, i, text, kept))
                    return -1;
            }
        }
        words += length;
        words += *words == '\n';
    }
    return rejected;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* A listing line is the source line's number, the offset (8 digits) and the bytes; or blanks where there are
 * none. A long instruction goes on, with the same number, on the next line. Returns false when out of memory.
 */
static bool listing_read(struct batch *batch, const char *list) {
    while (*list != '\0') {
        const char *next = list + strcspn(list, "\n");
        char *end;
        unsigned long line = strtoul(list, &end, 10);
        const char *at = end;
        bool coded = *at == ' ';
        for (unsigned k = 0; k < 8 && coded; k++)
            coded = hex_digit(at[1 + k]) >= 0;
        if (coded && at[9] == ' ' && line > PROLOGUE_LINES && line - PROLOGUE_LINES <= batch->count) {
            size_t i = line - PROLOGUE_LINES - 1;
            struct isa_code *code = &batch->codes[i];
            for (at += 10; *at != ' ' && *at != '\t' && *at != '-' && *at != '\n' && *at != '\0';) {
                if (*at == '[' || *at == ']' || *at == '(' || *at == ')') { /* marks of addresses */
                    at++;
                    continue;
                }
                int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);
                static const char text[] = "not a single instruction of at most 15 bytes";
                if (low < 0 || code->length == ISA_CODE_MAX) {
                    if (!complain(batch->complaints, i, text, sizeof text - 1))
                        return false;
                    break;
                }
                code->bytes[code->length++] = (uint8_t)(high * 16 + low);
                at += 2;
            }
        }
        list = next;
        list += *list == '\n';
    }
    return true;
}

static enum ip_status batch_start(struct batch *batch, struct ip_error *err) {
    struct ip_text source = {0};
    ip_text_append(&source, prologue_plain);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->complaints[i] == NULL)
            ip_text_append(&source, batch->lines[i]);
        ip_text_append_bytes(&source, "\n", 1);
    }
    enum ip_status status = isa_nasm_start(&source, false, true, &batch->nasm, err);
    ip_text_fini(&source);
    return status;
}

/* `what` it did instead of its work. */
static enum ip_status another_program(const char *what, struct ip_error *err) {
    return ip_fail(err, IP_CAPABILITY, "NASM %s: is ISAPROBE_NASM, or 'nasm' on PATH, another program?",
                   what);
}

/* Takes the codes; or, where NASM rejected lines, notes them, and the batch is not done. */
static enum ip_status batch_finish(struct batch *batch, struct ip_error *err) {
    struct isa_nasm_result result = {0};
    enum ip_status status = isa_nasm_finish(&batch->nasm, &result, err);
    if (status == IP_OK && result.stopped.text[0] != '\0') {
        status = ip_fail(err, IP_FAILED, "NASM would take more than %s for %zu lines", result.stopped.text,
                         batch->count);
    } else if (status == IP_OK && result.success && result.list.length == 0) {
        status = another_program("wrote no listing", err); /* the prologue alone has lines */
    } else if (status == IP_OK && result.success) {
        batch->done = true;
        if (!listing_read(batch, ip_text_string(&result.list)))
            status = ip_fail(err, IP_NO_MEMORY, "no memory for NASM's listing");
    } else if (status == IP_OK) {
        const char *words = ip_text_string(&result.words);
        long rejected = messages_read(batch, words);
        if (rejected < 0)
            status = ip_fail(err, IP_NO_MEMORY, "no memory for NASM's messages");
        else if (words[0] == '\0')
            status = another_program("failed, and said nothing", err);
        else if (rejected == 0)
            status = ip_fail(err, IP_FAILED, "NASM failed and said: %.*s",
                             (int)strcspn(words, "\n") > 300 ? 300 : (int)strcspn(words, "\n"), words);
    }
    isa_nasm_result_fini(&result);
    return status;
}

/* Runs NASM on each part, all at a time, until it accepts what is left. */
static enum ip_status batches_run(struct batch *batches, size_t count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    bool done = false;
    for (unsigned round = 0; round < ROUNDS_MAX && !done && status == IP_OK; round++) {
        for (size_t i = 0; i < count && status == IP_OK; i++) {
            if (!batches[i].done)
                status = batch_start(&batches[i], err);
        }
        done = true;
        for (size_t i = 0; i < count; i++) { /* those that were started end, whatever failed */
            if (batches[i].nasm.child == 0)
                continue;
            struct ip_error later;
            enum ip_status finished = batch_finish(&batches[i], status == IP_OK ? err : &later);
            status = status == IP_OK ? finished : status;
            done = done && batches[i].done;
        }
    }
    if (status == IP_OK && !done)
        status = ip_fail(err, IP_FAILED, "NASM still rejects lines after %d runs", ROUNDS_MAX);
    return status;
}

/* How many NASMs are worth starting: one takes some 4 ms before its first line, and 5 us for each. */
static size_t batches_for(size_t lines) {
    struct ip_cpus allowed;
    int cpus = ip_cpus_allowed(&allowed) == 0 ? ip_cpus_count(&allowed) : 1;
    size_t most = cpus < BATCHES_MAX ? (size_t)cpus : BATCHES_MAX;
    size_t worth = (lines + BATCH_LINES_MIN - 1) / BATCH_LINES_MIN;
    return worth < most ? worth : most;
}

enum ip_status isa_assemble_lines(const char *const *lines, size_t count, struct isa_code *codes,
                                  struct ip_lines *complaints, struct ip_error *err) {
    if (count == 0)
        return IP_OK;
    char **complained = calloc(count, sizeof(char *));
    struct isa_code *found = calloc(count, sizeof *found);
    struct ip_lines said = {0};
    enum ip_status status = IP_OK;
    bool memory = complained != NULL && found != NULL;
    for (size_t i = 0; i < count && memory; i++) {
        const char *why = unsuitable(lines[i]);
        if (why != NULL)
            memory = complain(complained, i, why, strlen(why));
    }
    struct batch batches[BATCHES_MAX] = {{0}};
    size_t parts = batches_for(count);
    for (size_t i = 0; i < parts && memory; i++) {
        size_t first = count * i / parts, end = count * (i + 1) / parts;
        batches[i] = (struct batch){.lines = lines + first,
                                    .count = end - first,
                                    .complaints = complained + first,
                                    .codes = found + first};
    }
    if (memory)
        status = batches_run(batches, parts, err);
    for (size_t i = 0; i < count && memory && status == IP_OK; i++) {
        if (complained[i] != NULL)
            found[i].length = 0;
        if (complaints != NULL)
            ip_lines_add(&said, complained[i] != NULL  ? complained[i]
                                : found[i].length == 0 ? "the line gives no code"
                                                       : "");
    }
    if (status == IP_OK && (!memory || said.failed))
        status = ip_fail(err, IP_NO_MEMORY, "no memory to assemble %zu lines", count);
    if (status == IP_OK) {
        memcpy(codes, found, count * sizeof *codes);
        if (complaints != NULL) {
            *complaints = said;
            said = (struct ip_lines){0};
        }
    }
    ip_lines_fini(&said);
    for (size_t i = 0; i < count && complained != NULL; i++)
        free(complained[i]);
    free(complained);
    free(found);
    return status;
}

/* What NASM finds in a source stands in a file, and but for a few at a line of it. */
static bool names_place(const char *words, size_t length) {
    if (strncmp(words, ISA_NASM_SOURCE, sizeof ISA_NASM_SOURCE - 1) == 0)
        return true;
    for (size_t i = 0; i < length; i++) {
        size_t digits = words[i] == ':' ? strspn(words + i + 1, "0123456789") : 0;
        if (digits > 0 && words[i + 1 + digits] == ':')
            return true;
    }
    return false;
}

/* The first message of NASM as IP_SYNTAX at "name:line". */
static enum ip_status first_message(const char *name, const char *words, struct ip_error *err) {
    const size_t source = sizeof ISA_NASM_SOURCE - 1;
    size_t length = strcspn(words, "\n");
    if (length > 300)
        length = 300;
    if (strncmp(words, ISA_NASM_SOURCE ":", source + 1) == 0) {
        char *end;
        unsigned long line = strtoul(words + source + 1, &end, 10);
        if (*end == ':' && line > PROLOGUE_LINES) {
            const char *text = end + 1;
            text += strspn(text, " ");
            if (strncmp(text, "error: ", 7) == 0)
                text += 7;
            if (text < words + length)
                return ip_fail_at(err, IP_SYNTAX, name, (unsigned)line - PROLOGUE_LINES, 0, "%.*s",
                                  (int)message_length(text, (size_t)(words + length - text)), text);
        }
    }
    if (length == 0)
        return another_program("failed, and said nothing", err);
    if (!names_place(words, length))
        return ip_fail(err, IP_CAPABILITY,
                       "NASM said '%.*s': is ISAPROBE_NASM, or 'nasm' on PATH, another program?", (int)length,
                       words);
    return ip_fail_at(err, IP_SYNTAX, name, 0, 0, "%.*s", (int)length, words);
}

enum ip_status isa_assemble_source(const char *name, const char *source, struct ip_text *code,
                                   struct ip_error *err) {
    struct ip_text text = {0};
    struct isa_nasm_result result = {0};
    ip_text_append(&text, prologue);
    ip_text_append(&text, source);
    ip_text_append(&text, "\n");
    struct isa_nasm nasm = {0};
    enum ip_status status = isa_nasm_start(&text, true, false, &nasm, err);
    ip_text_fini(&text);
    if (status == IP_OK)
        status = isa_nasm_finish(&nasm, &result, err);
    if (status == IP_OK && result.stopped.text[0] != '\0')
        status = ip_fail_at(err, IP_SYNTAX, name, 0, 0,
                            "NASM would take more than %s: give a block whose 'times' and %%rep repeat less",
                            result.stopped.text);
    else if (status == IP_OK && !result.success)
        status = first_message(name, ip_text_string(&result.words), err);
    if (status == IP_OK && result.code.length == 0) { /* the source has none, or this is not NASM */
        const char *nop = "nop";
        struct isa_code assembled;
        status = isa_assemble_lines(&nop, 1, &assembled, NULL, err);
    }
    if (status == IP_OK) {
        ip_text_fini(code);
        *code = result.code;
        result.code = (struct ip_text){0};
    }
    isa_nasm_result_fini(&result);
    return status;
}
