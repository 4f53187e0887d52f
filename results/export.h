/* SPDX-License-Identifier: Apache-2.0 */
/* results/export.h - sheets as files that other analysers read, and back. docs/exports.md says what each
 * format holds, and what it cannot. */
#ifndef ISAPROBE_RESULTS_EXPORT_H
#define ISAPROBE_RESULTS_EXPORT_H

#include "common/text.h"
#include "results/sheet.h"

enum res_format {
    RES_FORMAT_UOPSINFO_XML,
    RES_FORMAT_OSACA,
    RES_FORMAT_LLVM_EXEGESIS,
    RES_FORMAT_LLVM_SCHED_JSON,
    RES_FORMAT_MAQAO_LUA,
    RES_FORMAT_CSV,
    RES_FORMAT_JSON,
    RES_FORMATS,
};
/* The words of --format, in the order of the enum, separated by blanks. */
extern const char res_format_words[];

/* What an llvm-exegesis file says of each form: one thing, or its analysis refuses the file. */
enum res_exegesis { RES_EXEGESIS_LATENCY, RES_EXEGESIS_THROUGHPUT, RES_EXEGESIS_UOPS };

struct res_export {
    enum res_format format;
    enum res_exegesis exegesis;
    const char *arch; /* what the CPU is called in the file (res_arch_is_word); NULL: "isaprobe", for LLVM
                         "x86-64" */
    /* Afterwards: */
    size_t written; /* forms */
    size_t merged;  /* forms that the format does not tell from one that was written */
    size_t unnamed; /* forms that the format or its tool has no name for, or without the value wanted */
};

/* Letters, digits and + - . _ : what may stand in names, and unquoted in files. */
bool res_arch_is_word(const char *arch);

/* Writes the sheet, deriving it first where that is needed. Asks llvm-mc for opcode names (the two formats of
 * LLVM): IP_CAPABILITY when there is none. IP_FAILED when no form can be written, IP_USAGE when `arch` is no
 * such word. */
IP_CHECK enum ip_status res_export_write(struct res_sheet *sheet, struct res_export *export,
                                         struct ip_text *text, struct ip_error *err);

/* Reads what res_export_write made: all that the format holds. `name` stands in messages. IP_SYNTAX with
 * "name:line", also where the file has several architectures and sheet->architecture names none; IP_USAGE
 * where it names one that the file lacks. */
IP_CHECK enum ip_status res_export_read(struct res_sheet *sheet, enum res_format format, const char *name,
                                        const char *text, struct ip_error *err);

/* Reads a sheet from a file: a store, an export (its format is found out), or a CSV table as uops.info's are
 * re-published (its first columns called instruction and extension). With a store, `doubtful` is as for
 * res_sheet_of_store; sheet->architecture is as above. IP_SYNTAX when it is none of these, or larger than
 * RES_SHEET_BYTES_MAX. */
IP_CHECK enum ip_status res_sheet_read(struct res_sheet *sheet, const char *path, bool doubtful,
                                       struct ip_error *err);

#endif
