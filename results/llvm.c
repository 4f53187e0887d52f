/* SPDX-License-Identifier: Apache-2.0 */
/* results/llvm.c - what LLVM calls our forms. Its opcode names change from version to version and stand in no
 * manual, so the LLVM that is installed is asked: a sample of each form goes through llvm-mc's disassembler,
 * and so do instructions of known registers, which tell the numbers that it prints for them. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/ascii.h"
#include "isa/assemble.h"
#include "isa/child.h"
#include "results/formats.h"

extern char **environ;

enum { REGISTERS_MAX = 1024, OUTPUT_MAX = 256 << 20 };

/* --- running llvm-mc ------------------------------------------------------------------------------------ */

static enum ip_status file_in_memory(int *fd, struct ip_error *err) {
    *fd = memfd_create("isaprobe-llvm", MFD_CLOEXEC);
    return *fd >= 0 ? IP_OK : ip_fail_errno(err, IP_IO, errno, "cannot make a file in memory for llvm-mc");
}

static enum ip_status text_hand_over(int fd, const struct ip_text *text, struct ip_error *err) {
    for (size_t at = 0; at < text->length;) {
        ssize_t count = write(fd, text->data + at, text->length - at);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return ip_fail_errno(err, IP_IO, errno, "cannot hand the instructions to llvm-mc");
        }
        at += (size_t)count;
    }
    return lseek(fd, 0, SEEK_SET) == 0 ? IP_OK
                                       : ip_fail_errno(err, IP_IO, errno, "cannot rewind a file in memory");
}

static enum ip_status text_take_back(int fd, struct ip_text *text, struct ip_error *err) {
    char buffer[64 << 10];
    ssize_t count;
    if (lseek(fd, 0, SEEK_SET) != 0) {
        return ip_fail_errno(err, IP_IO, errno, "cannot rewind a file in memory");
    }
    while ((count = read(fd, buffer, sizeof buffer)) != 0) {
        if (count < 0 && errno != EINTR) {
            return ip_fail_errno(err, IP_IO, errno, "cannot read what llvm-mc said");
        }
        ip_text_append_bytes(text, buffer, count > 0 ? (size_t)count : 0);
        if (text->failed || text->length > OUTPUT_MAX) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for what llvm-mc said");
        }
    }
    return IP_OK;
}

static const char *program_name(void) {
    const char *given = getenv("ISAPROBE_LLVM_MC");
    return given != NULL && given[0] != '\0' ? given : "llvm-mc";
}

static enum ip_status child_run(int in, int out, struct ip_error *err) {
    char name[] = "llvm-mc", how[] = "-disassemble", what[] = "-show-inst", triple[] = "-triple=x86_64";
    char *const arguments[] = {name, how, what, triple, NULL};
    const char *program = program_name();
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for running llvm-mc");
    }
    pid_t child = 0;
    int failure = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    failure = failure != 0 ? failure : posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    failure = failure != 0
                  ? failure
                  : posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    failure = failure != 0 ? failure : posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        return ip_fail_errno(err, IP_CAPABILITY, failure,
                             "cannot run %.200s, which knows LLVM's opcode names: install llvm, or set "
                             "ISAPROBE_LLVM_MC to its path",
                             program);
    }
    int ended = 0;
    enum ip_status status = isa_child_wait(child, "llvm-mc", &ended, err);
    if (status != IP_OK) {
        return status;
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 127) {
        return ip_fail(err, IP_CAPABILITY,
                       "cannot run %.200s, which knows LLVM's opcode names: install llvm, or set "
                       "ISAPROBE_LLVM_MC to its path",
                       program);
    }
    /* It ends with 1 when some instruction is unknown to it; that shows in the output. */
    return WIFEXITED(ended) ? IP_OK
                            : ip_fail(err, IP_FAILED, "llvm-mc was killed by signal %d", WTERMSIG(ended));
}

static enum ip_status llvm_mc_run(const struct ip_text *source, struct ip_text *output,
                                  struct ip_error *err) {
    int in = -1, out = -1;
    enum ip_status status = file_in_memory(&in, err);
    if (status == IP_OK) {
        status = file_in_memory(&out, err);
    }
    if (status == IP_OK) {
        status = text_hand_over(in, source, err);
    }
    if (status == IP_OK) {
        status = child_run(in, out, err);
    }
    if (status == IP_OK) {
        status = text_take_back(out, output, err);
    }
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    return status;
}

/* --- what to ask ---------------------------------------------------------------------------------------- */

/* An instruction whose first operand is the register, as a format for its name. */
static const struct {
    const char *line;
    enum isa_reg_class reg_class;
    unsigned count;
} probes[] = {
    {"push %s", ISA_REG_GPR64, 16},
    {"bswap %s", ISA_REG_GPR32, 16},
    {"push %s", ISA_REG_GPR16, 16},
    {"mov %s, 1", ISA_REG_GPR8, 16},
    {"mov %s, 1", ISA_REG_GPR8H, 4},
    {"vmovaps %s, [rax]", ISA_REG_XMM, 32},
    {"vmovaps %s, [rax]", ISA_REG_YMM, 32},
    {"vmovaps %s, [rax]", ISA_REG_ZMM, 32},
    {"movd %s, [rax]", ISA_REG_MMX, 8},
    {"kmovw %s, [rax]", ISA_REG_MASK, 8},
    {"fld %s", ISA_REG_X87, 8},
    {"tilezero %s", ISA_REG_TILE, 8},
    {"mov %s, [rax]", ISA_REG_SEGMENT, 6},
};

struct question {
    struct ip_lines lines;  /* NASM source; "" where there is nothing to ask */
    struct isa_code *codes; /* owned */
    size_t rows;            /* lines from here on ask for registers */
};

static void question_fini(struct question *question) {
    ip_lines_fini(&question->lines);
    free(question->codes);
}

static enum ip_status question_make(struct question *question, const struct res_sheet *sheet,
                                    struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < sheet->count; i++) {
        const struct isa_form *form = sheet->rows[i].info;
        char line[ISA_LINE_MAX] = "";
        if (form != NULL && form->obstacle != ISA_OBSTACLE_UNENCODABLE) {
            struct isa_binding binding;
            isa_binding_init(form, &binding);
            status = isa_form_print(form, &binding, line, err);
        }
        ip_lines_add(&question->lines, line);
    }
    question->rows = sheet->count;
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        for (unsigned number = 0; number < probes[i].count; number++) {
            char line[ISA_LINE_MAX];
            const char *name = isa_reg_name(probes[i].reg_class, number);
            /* CS cannot be loaded. */
            bool loadable = strcmp(name, "cs") != 0;
            (void)snprintf(line, sizeof line, "%.*s%s%s", loadable ? (int)strcspn(probes[i].line, "%") : 0,
                           probes[i].line, loadable ? name : "",
                           loadable ? strchr(probes[i].line, '%') + 2 : "");
            ip_lines_add(&question->lines, line);
        }
    }
    if (status == IP_OK) {
        question->codes = calloc(question->lines.count + 1, sizeof *question->codes);
        status =
            question->lines.failed || question->codes == NULL
                ? ip_fail(err, IP_NO_MEMORY, "out of memory for the opcode names of %zu forms", sheet->count)
                : isa_assemble_lines((const char *const *)question->lines.items, question->lines.count,
                                     question->codes, NULL, err);
    }
    return status;
}

/* Each instruction on a line of its own in brackets, so that what llvm-mc does not know spoils no other, and
 * before it a mark that says which one follows. */
static void block_append(struct ip_text *text, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ip_text_printf(text, "%s0x%02x", i > 0 ? "," : "[", bytes[i]);
    }
    ip_text_append(text, count > 0 ? "]\n" : "");
}

static void source_make(const struct question *question, struct ip_text *source) {
    for (size_t i = 0; i < question->lines.count; i++) {
        uint8_t mark[5] = {0xb8, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16),
                           0x40}; /* mov eax, imm32 */
        if (question->codes[i].length > 0) {
            block_append(source, mark, sizeof mark);
            block_append(source, question->codes[i].bytes, question->codes[i].length);
        }
    }
}

/* --- what it answers ------------------------------------------------------------------------------------ */

/* One "<MCInst #397 ADD64rr" and the "<MCOperand Reg:51>" behind it. */
struct instruction {
    char opcode[48];
    struct {
        enum { OPERAND_REGISTER, OPERAND_IMMEDIATE, OPERAND_OTHER } kind;
        long long value;
        char name[16]; /* a later LLVM prints the register's name */
    } operands[16];
    unsigned count;
};

/* Where `tag`, "<...", stands next; NULL: nowhere. (Under a sanitizer strstr looks at all that follows.) */
static const char *tag_find(const char *at, const char *tag) {
    for (at = strchr(at, '<'); at != NULL && strncmp(at, tag, strlen(tag)) != 0;) {
        at = strchr(at + 1, '<');
    }
    return at;
}

/* Reads the next instruction; false at the end. */
static bool instruction_next(const char **at, struct instruction *instruction) {
    static const char begin[] = "<MCInst #", operand[] = "<MCOperand ";
    const char *start = tag_find(*at, begin);
    memset(instruction, 0, sizeof *instruction);
    if (start == NULL) {
        return false;
    }
    start += sizeof begin - 1;
    start += strspn(start, "0123456789 ");
    (void)snprintf(instruction->opcode, sizeof instruction->opcode, "%.*s", (int)strcspn(start, ">\n "),
                   start);
    const char *next = tag_find(start, begin), *found = start;
    while ((found = tag_find(found, operand)) != NULL && (next == NULL || found < next) &&
           instruction->count < 16) {
        found += sizeof operand - 1;
        bool is_register = strncmp(found, "Reg:", 4) == 0;
        instruction->operands[instruction->count].kind = is_register                      ? OPERAND_REGISTER
                                                         : strncmp(found, "Imm:", 4) == 0 ? OPERAND_IMMEDIATE
                                                                                          : OPERAND_OTHER;
        found += 4;
        if (is_register && ip_ascii_is_letter(found[0])) {
            (void)snprintf(instruction->operands[instruction->count].name,
                           sizeof instruction->operands[0].name, "%.*s", (int)strcspn(found, ">\n "), found);
        } else {
            instruction->operands[instruction->count].value = strtoll(found, NULL, 10);
        }
        instruction->count++;
    }
    *at = next != NULL ? next : start;
    return true;
}

static bool mark_read(const struct instruction *instruction, size_t *which) {
    if (strcmp(instruction->opcode, "MOV32ri") != 0 || instruction->count != 2 ||
        (instruction->operands[1].value >> 24) != 0x40) {
        return false;
    }
    *which = (size_t)(instruction->operands[1].value & 0xffffff);
    return true;
}

/* The register that line `number` of the question asks for. */
static const char *register_asked(size_t number) {
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        if (number < probes[i].count) {
            return isa_reg_name(probes[i].reg_class, (unsigned)number);
        }
        number -= probes[i].count;
    }
    return NULL;
}

/* Names by LLVM's numbers; found in a first walk through the answer. */
struct registers {
    char names[REGISTERS_MAX][8];
};

static void registers_learn(struct registers *registers, const char *answer, size_t first) {
    struct instruction instruction;
    size_t which = 0;
    bool marked = false;
    for (const char *at = answer; instruction_next(&at, &instruction);) {
        if (mark_read(&instruction, &which)) {
            marked = true;
            continue;
        }
        const char *name = marked && which >= first ? register_asked(which - first) : NULL;
        long long number = instruction.operands[0].value;
        if (name != NULL && instruction.count > 0 && instruction.operands[0].kind == OPERAND_REGISTER &&
            number > 0 && number < REGISTERS_MAX) {
            char *to = registers->names[number];
            (void)snprintf(to, sizeof registers->names[0], "%s", name);
            ip_ascii_capitals(to);
        }
        marked = false;
    }
}

/* "RBX RBX RDI", "RBX i_0x100 %noreg": false when a register has no known name. */
static bool operands_print(const struct registers *registers, const struct instruction *instruction,
                           char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < instruction->count && used < size; i++) {
        const char *blank = i > 0 ? " " : "";
        long long value = instruction->operands[i].value;
        if (instruction->operands[i].kind == OPERAND_IMMEDIATE) {
            used +=
                (size_t)snprintf(text + used, size - used, "%si_0x%llx", blank, (unsigned long long)value);
            continue;
        }
        const char *name = instruction->operands[i].name;
        if (name[0] == '\0') {
            name = value == 0 ? "%noreg" : value > 0 && value < REGISTERS_MAX ? registers->names[value] : "";
        }
        if (instruction->operands[i].kind != OPERAND_REGISTER || name[0] == '\0') {
            return false;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", blank, name);
    }
    return used < size;
}

static void answer_read(const char *answer, const struct question *question,
                        const struct registers *registers, struct res_llvm_name *names) {
    struct instruction instruction;
    size_t which = question->rows;
    for (const char *at = answer; instruction_next(&at, &instruction);) {
        if (mark_read(&instruction, &which) || which >= question->rows) {
            continue;
        }
        struct res_llvm_name *name = &names[which];
        if (strstr(instruction.opcode, "_PREFIX") != NULL && name->opcode[0] == '\0') {
            (void)snprintf(name->prefix, sizeof name->prefix, "%.*s", (int)sizeof name->prefix - 1,
                           instruction.opcode);
        } else if (name->opcode[0] != '\0' ||
                   !operands_print(registers, &instruction, name->operands, sizeof name->operands)) {
            name->opcode[0] = '\0'; /* not one instruction for LLVM, or with a register that has no name */
            which = question->rows;
        } else {
            memcpy(name->opcode, instruction.opcode, sizeof name->opcode);
        }
    }
}

enum ip_status res_llvm_names(const struct res_sheet *sheet, struct res_llvm_name **names,
                              struct ip_error *err) {
    struct question question = {0};
    struct ip_text source = {0}, answer = {0};
    struct registers *registers = calloc(1, sizeof *registers);
    struct res_llvm_name *made = calloc(sheet->count + 1, sizeof *made);
    enum ip_status status =
        registers == NULL || made == NULL
            ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu opcode names", sheet->count)
            : question_make(&question, sheet, err);
    if (status == IP_OK) {
        source_make(&question, &source);
        status = source.failed
                     ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu opcode names", sheet->count)
                     : llvm_mc_run(&source, &answer, err);
    }
    if (status == IP_OK) {
        registers_learn(registers, ip_text_string(&answer), question.rows);
        if (strstr(ip_text_string(&answer), "<MCInst #") == NULL) {
            status = ip_fail(
                err, IP_CAPABILITY,
                "%.200s does not disassemble as llvm-mc does: set ISAPROBE_LLVM_MC to the path of one",
                program_name());
        }
    }
    if (status == IP_OK) {
        answer_read(ip_text_string(&answer), &question, registers, made);
        for (size_t i = 0; i < sheet->count; i++) {
            memcpy(made[i].code, question.codes[i].bytes, question.codes[i].length);
            made[i].code_bytes = question.codes[i].length;
        }
    }
    question_fini(&question);
    ip_text_fini(&source);
    ip_text_fini(&answer);
    free(registers);
    if (status != IP_OK) {
        free(made);
        return status;
    }
    *names = made;
    return IP_OK;
}
