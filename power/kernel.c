/* SPDX-License-Identifier: Apache-2.0 */
#include "power/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/expression.h"

enum { COUNTS = 3 };

/* Expressions wait until size and unroll are known. */
struct count {
    const char *keyword;
    unsigned line; /* 0: not given */
    char text[PW_LINE_MAX];
};

struct parse {
    struct pw_reader reader;
    struct pw_kernel kernel;
    struct count counts[COUNTS];
    bool named, titled, sized, unrolled, bodied;
};

void pw_kernel_fini(struct pw_kernel *kernel) {
    ip_text_fini(&kernel->code);
    memset(kernel, 0, sizeof *kernel);
}

enum ip_status pw_kernel_read(struct pw_kernel *kernel, const char *path, double size, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status = pw_file_read(&text, path, "a kernel description", err);
    if (status == IP_OK) {
        status = pw_kernel_parse(kernel, path, ip_text_string(&text), size, err);
    }
    ip_text_fini(&text);
    return status;
}

static enum ip_status once(struct parse *p, bool *seen, struct ip_error *err) {
    if (*seen) {
        return pw_reader_fail(&p->reader, err, "a second '%.40s' line", p->reader.words[0]);
    }
    *seen = true;
    return IP_OK;
}

static enum ip_status positive_expression(struct parse *p, const char *what, double *value,
                                          struct ip_error *err) {
    char text[PW_LINE_MAX];
    double number = 0;
    struct ip_error why = {0};
    enum ip_status status = pw_line_rest(&p->reader, what, text, sizeof text, err);
    if (status != IP_OK) {
        return status;
    }
    if (pw_expression(text, NULL, 0, &number, &why) != IP_OK) {
        return pw_reader_fail(&p->reader, err, "the %s: %s", what, why.text);
    }
    if (number <= 0) {
        return pw_reader_fail(&p->reader, err, "the %s is to be larger than 0", what);
    }
    *value = number;
    return IP_OK;
}

static enum ip_status parse_body(struct parse *p, struct ip_error *err) {
    const struct pw_reader *reader = &p->reader;
    double cycles = 0;
    if (reader->count == 2 && pw_number(reader->words[1], &cycles)) {
        return pw_reader_fail(reader, err, "the body %s has no unit: write 'cycles' behind it",
                              reader->words[1]);
    }
    if (reader->count != 3 || strcmp(reader->words[2], "cycles") != 0 ||
        !pw_number(reader->words[1], &cycles) || cycles < 0) {
        return pw_reader_fail(reader, err, "write 'body N cycles', N 0 or more");
    }
    p->kernel.body_cycles = cycles;
    return IP_OK;
}

/* Lines up to 'end' are NASM source. */
static enum ip_status parse_code(struct parse *p, struct ip_error *err) {
    unsigned first = p->reader.line;
    enum ip_status status = pw_line_end(&p->reader, 1, err);
    if (status != IP_OK) {
        return status;
    }
    if (p->kernel.code_line != 0) {
        return pw_reader_fail(&p->reader, err, "a second 'code' block");
    }
    p->kernel.code_line = first + 1;
    while (pw_reader_raw(&p->reader)) {
        size_t indent = strspn(p->reader.raw, " \t");
        size_t length = p->reader.raw_length;
        if (length >= indent + 3 && strncmp(p->reader.raw + indent, "end", 3) == 0 &&
            indent + 3 + strspn(p->reader.raw + indent + 3, " \t\r") == length) {
            return IP_OK;
        }
        ip_text_append_bytes(&p->kernel.code, p->reader.raw, length);
        ip_text_append(&p->kernel.code, "\n");
    }
    p->reader.line = first;
    return pw_reader_fail(&p->reader, err, "the code that begins here has no 'end' line");
}

static enum ip_status line_parse(struct parse *p, struct ip_error *err) {
    const char *word = p->reader.words[0];
    enum ip_status status = IP_OK;
    if (strcmp(word, "kernel") == 0) {
        status = once(p, &p->named, err);
        if (status == IP_OK) {
            status = pw_line_end(&p->reader, p->reader.count < 2 ? p->reader.count : 2, err);
        }
        return status != IP_OK ? status
                               : pw_line_rest(&p->reader, "name", p->kernel.name, sizeof p->kernel.name, err);
    }
    if (strcmp(word, "title") == 0) {
        status = once(p, &p->titled, err);
        return status != IP_OK
                   ? status
                   : pw_line_rest(&p->reader, "title", p->kernel.title, sizeof p->kernel.title, err);
    }
    if (strcmp(word, "size") == 0) {
        status = once(p, &p->sized, err);
        return status != IP_OK ? status : positive_expression(p, "size", &p->kernel.size, err);
    }
    if (strcmp(word, "unroll") == 0) {
        status = once(p, &p->unrolled, err);
        return status != IP_OK ? status : positive_expression(p, "unroll factor", &p->kernel.unroll, err);
    }
    if (strcmp(word, "body") == 0) {
        status = once(p, &p->bodied, err);
        return status != IP_OK ? status : parse_body(p, err);
    }
    if (strcmp(word, "code") == 0) {
        return parse_code(p, err);
    }
    for (size_t i = 0; i < COUNTS; i++) {
        struct count *count = &p->counts[i];
        if (strcmp(word, count->keyword) == 0) {
            bool before = count->line != 0;
            status = once(p, &before, err);
            count->line = p->reader.line;
            return status != IP_OK
                       ? status
                       : pw_line_rest(&p->reader, count->keyword, count->text, sizeof count->text, err);
        }
    }
    return pw_reader_fail(
        &p->reader, err,
        "unknown keyword '%.40s': a line begins with kernel, title, size, unroll, body, code, "
        "iterations, accesses or flops",
        word);
}

static enum ip_status counts_evaluate(struct parse *p, struct ip_error *err) {
    struct pw_kernel *kernel = &p->kernel;
    double *const values[COUNTS] = {&kernel->iterations, &kernel->accesses, &kernel->flops};
    const struct pw_variable variables[] = {{"size", kernel->size}, {"unroll", kernel->unroll}};
    for (size_t i = 0; i < COUNTS; i++) {
        const struct count *count = &p->counts[i];
        struct ip_error why = {0};
        double value = 0;
        if (count->line == 0) {
            continue;
        }
        p->reader.line = count->line;
        if (pw_expression(count->text, variables, 2, &value, &why) != IP_OK) {
            return pw_reader_fail(&p->reader, err, "%s: %s", count->keyword, why.text);
        }
        if (value < 0) {
            return pw_reader_fail(&p->reader, err, "the number of %s is %g: it cannot be negative",
                                  count->keyword, value);
        }
        *values[i] = value;
    }
    return IP_OK;
}

static enum ip_status whole_check(const struct parse *p, struct ip_error *err) {
    const struct pw_kernel *kernel = &p->kernel;
    const char *what = NULL;
    if (!p->named) {
        what = "the line 'kernel NAME' is missing";
    } else if (!(kernel->size > 0)) {
        what = "the size is missing: a line such as 'size 2^21', or --elements";
    } else if (p->counts[0].line == 0) {
        what = "the line 'iterations ...' is missing, as in 'iterations size / unroll'";
    } else if (!p->bodied && kernel->code_line == 0) {
        what = "neither 'body N cycles' nor a block 'code ... end'";
    } else if (!p->bodied && strspn(ip_text_string(&kernel->code), " \t\r\n") == kernel->code.length) {
        what = "the code block is empty";
    } else if (!(kernel->iterations > 0)) {
        what = "this kernel does nothing: it has no iterations";
    }
    if (what != NULL) {
        return ip_fail_at(err, IP_SYNTAX, p->reader.file, 0, 0, "%s", what);
    }
    return kernel->code.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the code of a kernel") : IP_OK;
}

enum ip_status pw_kernel_parse(struct pw_kernel *kernel, const char *file, const char *text, double size,
                               struct ip_error *err) {
    struct parse parse = {
        .kernel = {.unroll = 1, .body_cycles = NAN},
        .counts = {{.keyword = "iterations"}, {.keyword = "accesses"}, {.keyword = "flops"}},
    };
    pw_reader_init(&parse.reader, file, text);
    enum ip_status status = IP_OK;
    for (bool more = true; status == IP_OK;) {
        status = pw_reader_next(&parse.reader, &more, err);
        if (status != IP_OK || !more) {
            break;
        }
        status = line_parse(&parse, err);
    }
    if (status == IP_OK) {
        parse.kernel.size = size > 0 ? size : parse.kernel.size;
        status = counts_evaluate(&parse, err);
    }
    if (status == IP_OK) {
        status = whole_check(&parse, err);
    }
    if (status != IP_OK) {
        pw_kernel_fini(&parse.kernel);
        return status;
    }
    if (!parse.titled) {
        (void)snprintf(parse.kernel.title, sizeof parse.kernel.title, "%s", parse.kernel.name);
    }
    pw_kernel_fini(kernel);
    *kernel = parse.kernel;
    return IP_OK;
}
