/* SPDX-License-Identifier: Apache-2.0 */
#include "power/expression.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/text.h"

enum { DEPTH_MAX = 32 };

struct parser {
    const char *text, *at;
    const struct pw_variable *variables;
    size_t count;
    int depth;
    bool failed;
    struct ip_error *err;
};

static double parse_fail(struct parser *p, const char *what) {
    if (!p->failed) {
        p->failed = true;
        (void)ip_fail(p->err, IP_SYNTAX, "%s at character %zu of '%.80s'", what,
                      (size_t)(p->at - p->text) + 1, p->text);
    }
    return 0;
}

static void blanks_skip(struct parser *p) {
    p->at += strspn(p->at, " \t");
}

static double parse_sum(struct parser *p);

static double name_fail(struct parser *p) {
    struct ip_text what = {0};
    ip_text_append(&what, "an unknown name (known: ");
    for (size_t i = 0; i < p->count; i++) {
        ip_text_printf(&what, "%s%s", i > 0 ? ", " : "", p->variables[i].name);
    }
    ip_text_append(&what, p->count > 0 ? ")" : "none here)");
    (void)parse_fail(p, ip_text_string(&what));
    ip_text_fini(&what);
    return 0;
}

static double parse_name(struct parser *p) {
    size_t length = 0;
    while (ip_ascii_is_alnum(p->at[length]) || p->at[length] == '_') {
        length++;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (strlen(p->variables[i].name) == length && strncmp(p->variables[i].name, p->at, length) == 0) {
            p->at += length;
            return p->variables[i].value;
        }
    }
    return name_fail(p);
}

static double parse_atom(struct parser *p) {
    blanks_skip(p);
    if (*p->at == '(') {
        if (++p->depth > DEPTH_MAX) {
            return parse_fail(p, "too many parentheses");
        }
        p->at++;
        double value = parse_sum(p);
        blanks_skip(p);
        if (*p->at != ')') {
            return parse_fail(p, "a missing ')'");
        }
        p->at++;
        p->depth--;
        return value;
    }
    if (ip_ascii_is_digit(*p->at) || *p->at == '.') {
        char *end = NULL;
        /* No hexadecimal: "0x10" would be taken whole by strtod. */
        if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) {
            return parse_fail(p, "a hexadecimal number");
        }
        double value = strtod(p->at, &end);
        if (end == p->at) {
            return parse_fail(p, "a number expected");
        }
        p->at = end;
        return value;
    }
    if (ip_ascii_is_letter(*p->at) || *p->at == '_') {
        return parse_name(p);
    }
    return parse_fail(p, "a number or a name expected");
}

static double parse_power(struct parser *p) {
    double value = parse_atom(p);
    blanks_skip(p);
    if (!p->failed && *p->at == '^') {
        if (++p->depth > DEPTH_MAX) {
            return parse_fail(p, "too many powers");
        }
        p->at++;
        value = pow(value, parse_power(p));
        p->depth--;
    }
    return value;
}

static double parse_product(struct parser *p) {
    double value = parse_power(p);
    for (;;) {
        blanks_skip(p);
        if (p->failed || (*p->at != '*' && *p->at != '/')) {
            return value;
        }
        char operation = *p->at++;
        double right = parse_power(p);
        if (operation == '/' && right == 0 && !p->failed) {
            return parse_fail(p, "a division by zero");
        }
        value = operation == '*' ? value * right : value / right;
    }
}

static double parse_sum(struct parser *p) {
    double value = parse_product(p);
    for (;;) {
        blanks_skip(p);
        if (p->failed || (*p->at != '+' && *p->at != '-')) {
            return value;
        }
        char operation = *p->at++;
        double right = parse_product(p);
        value = operation == '+' ? value + right : value - right;
    }
}

enum ip_status pw_expression(const char *text, const struct pw_variable *variables, size_t count,
                             double *value, struct ip_error *err) {
    struct parser parser = {.text = text, .at = text, .variables = variables, .count = count, .err = err};
    double result = parse_sum(&parser);
    blanks_skip(&parser);
    if (!parser.failed && *parser.at != '\0') {
        (void)parse_fail(&parser, "an operator (+ - * / ^) expected");
    }
    if (!parser.failed && !isfinite(result)) {
        (void)parse_fail(&parser, "no finite value");
    }
    if (parser.failed) {
        return IP_SYNTAX;
    }
    *value = result;
    return IP_OK;
}
