/* SPDX-License-Identifier: Apache-2.0 */
/* isaprobe.h - libisaprobe for programs that want costs of instructions, and not the rest: what was measured
 * of a CPU, form by form, from machine code or by name, and the exports.
 *
 *     cc user.c $(pkg-config --cflags --libs isaprobe)
 *
 * The library neither prints, nor ends the process, nor keeps state of its own: tables may be used by several
 * threads at once as long as nobody closes them. Numbers have a point in whatever locale the program runs, in
 * the thread's own too (uselocale). All cycles are core cycles; NaN stands for "not known".
 * examples/loop_costs.c is a whole program. The headers of the modules (isa/, results/ ...) are installed
 * too, and promise nothing: only the static library has what they declare. This one changes with the version
 * only.
 *
 * Errors: a function that can fail returns ISAPROBE_OK or why it failed, says so in *error, and leaves its
 * other outputs as they were; no argument may be NULL where that is not allowed below. What is "borrowed"
 * lives as long as its table; what is opened is closed by the caller. */
#ifndef ISAPROBE_H
#define ISAPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { ISAPROBE_SYNTAX_MAX = 112 }; /* bytes of a form's syntax, NUL included */

enum isaprobe_status {
    ISAPROBE_OK = 0,
    ISAPROBE_FAILED,
    ISAPROBE_NO_MEMORY,
    ISAPROBE_IO,     /* a file could not be read or is damaged */
    ISAPROBE_SYNTAX, /* a text or machine code does not parse */
    ISAPROBE_USAGE,  /* what was asked for does not exist */
    ISAPROBE_UNSUPPORTED,
    ISAPROBE_CAPABILITY, /* this host lacks a program or a permission */
    ISAPROBE_UNTRUSTED,
};

/* What went wrong, in one line: the place, the object, the next step. */
struct isaprobe_error {
    enum isaprobe_status status;
    char text[800];
};

const char *isaprobe_version(void); /* "0.1.0" */

/* --- tables --------------------------------------------------------------------------------------------- */

/* What is known of one CPU's instruction forms. */
struct isaprobe_table;

/* Reads all of a store ('isaprobe scan'), of a file that 'isaprobe export' wrote, or of a table of uops.info
 * as CSV. "-" is a file of that name: standard input is the program's own. Values that the store does not
 * trust are left out. Close *table. */
enum isaprobe_status isaprobe_table_open(struct isaprobe_table **table, const char *path,
                                         struct isaprobe_error *error);
/* The same of a file that may have several architectures, as uops.info's XML: the one of this name ("SKL", in
 * either case). ISAPROBE_USAGE when it lacks it: the text has those that there are. A file of one is read
 * whatever it is called; with NULL, one of several is ISAPROBE_SYNTAX. */
enum isaprobe_status isaprobe_table_open_architecture(struct isaprobe_table **table, const char *path,
                                                      const char *architecture, struct isaprobe_error *error);
void isaprobe_table_close(struct isaprobe_table *table); /* NULL is fine */
/* Which CPU, in one line; of a file that does not say it, its path. Borrowed. */
const char *isaprobe_table_machine(const struct isaprobe_table *table);
size_t isaprobe_table_size(const struct isaprobe_table *table); /* forms */

/* One form. Strings are borrowed from the table. */
struct isaprobe_form {
    const char *syntax;     /* "add r64, m64"; "" in a table of uops.info */
    const char *name;       /* in the notation of uops.info: "ADD (R64, M64)"; "": not known */
    const char *extension;  /* "AVX2" */
    const char *status;     /* "ok", or why its values are doubtful; "": not said */
    double throughput_slow; /* with operands that take long (division); NaN: not measured */
    double throughput;      /* reciprocal: cycles per instance when many independent ones run */
    double slots;           /* issue slots (fused-domain µops) */
    const char *ports;      /* "1*p01+2*p5"; "none": needs none; "": not known, or one of several */
    double ports_cycles;    /* the least cycles in which the ports take its µops */
    double latency_min, latency_max;
    size_t latency_count; /* of isaprobe_form_latency */
    const void *row;      /* the library's own */
};
/* The form at a position below isaprobe_table_size; false beyond it. */
bool isaprobe_table_form(const struct isaprobe_table *table, size_t position, struct isaprobe_form *form);
/* The form of this syntax, as isaprobe_code_form writes it; false when the table lacks it. */
bool isaprobe_table_find(const struct isaprobe_table *table, const char *syntax, struct isaprobe_form *form);

/* Cycles from a source operand to a destination: "op1", "op2" ..., "flags", "rax". */
struct isaprobe_latency {
    const char *src, *dst;
    const char *path; /* "register"; of a memory operand: from its "address", its "index", its "content" */
    double cycles;
    double slow_cycles; /* with operands that take long (division), or merged into an old value; the greater
                           of uops.info's two; NaN: no more, or not measured */
    bool upper_bound;   /* only a sum was measurable: the latency (`cycles`) is no higher */
};
/* False when `position` is not below form->latency_count. */
bool isaprobe_form_latency(const struct isaprobe_form *form, size_t position,
                           struct isaprobe_latency *latency);

/* --- machine code --------------------------------------------------------------------------------------- */

/* The syntax of the form that the first instruction of `code` has, and its bytes. ISAPROBE_SYNTAX when the
 * bytes are no instruction or end in the middle of one. */
enum isaprobe_status isaprobe_code_form(const uint8_t *code, size_t code_bytes,
                                        char syntax[ISAPROBE_SYNTAX_MAX], size_t *length,
                                        struct isaprobe_error *error);

/* The least cycles in which the ports take all µops of several usages at once ("1*p01+2*p5", one for each
 * instance). NaN when one is not known or does not parse. */
double isaprobe_ports_cycles(const char *const *usages, size_t count);

/* --- the on-core model ---------------------------------------------------------------------------------- */

/* Cycles of a block from a store (docs/oncore.md). A model keeps what it has looked up: one thread at a time.
 */
struct isaprobe_model;

/* `path` is a store; exports lack what the model needs. Close *model. */
enum isaprobe_status isaprobe_model_open(struct isaprobe_model **model, const char *path,
                                         struct isaprobe_error *error);
void isaprobe_model_close(struct isaprobe_model *model); /* NULL is fine */

enum { ISAPROBE_PORTS_MAX = 33 };

struct isaprobe_prediction {
    double cycles;                       /* of one pass through the block; NaN: not one bound is known */
    const char *bound;                   /* what binds: "issue", "ports", "chain" ... Static storage */
    double slots;                        /* issue slots of one pass */
    double issue, ports;                 /* the bounds of the issue width and of the ports; NaN: not known */
    double chain;                        /* the longest cycle of dependences; NaN: not known */
    char bottleneck[ISAPROBE_PORTS_MAX]; /* the set of ports that is fullest: "01" */
    size_t instructions, missing;        /* missing: instructions that the store lacks, left out */
    char missing_form[ISAPROBE_SYNTAX_MAX]; /* the first of them; "" */
};

/* Predicts `code`: with `loop` the body of a loop, else one of many copies in a row. Data are taken to be in
 * the first-level cache, branches to be predicted. ISAPROBE_SYNTAX when the bytes are no code. */
enum isaprobe_status isaprobe_model_predict(struct isaprobe_model *model, const uint8_t *code,
                                            size_t code_bytes, bool loop,
                                            struct isaprobe_prediction *prediction,
                                            struct isaprobe_error *error);

/* --- exports -------------------------------------------------------------------------------------------- */

/* The table in one of the formats of 'isaprobe export': "uopsinfo-xml", "osaca", "llvm-exegesis",
 * "llvm-sched-json", "maqao-lua", "csv", "json". `arch` is what the file calls the CPU, in letters, digits
 * and + - . _ (else ISAPROBE_USAGE; NULL: the default). *text is NUL-terminated; free() it. Runs NASM, the
 * formats of LLVM also llvm-mc: ISAPROBE_CAPABILITY without them, and where it cannot be known how they
 * ended: SIGCHLD must not be ignored meanwhile (nor have SA_NOCLDWAIT), and no other thread may wait for any
 * child at all. The table must know its forms' syntaxes (ISAPROBE_USAGE). */
enum isaprobe_status isaprobe_table_export(const struct isaprobe_table *table, const char *format,
                                           const char *arch, char **text, size_t *length,
                                           struct isaprobe_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
