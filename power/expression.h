/* SPDX-License-Identifier: Apache-2.0 */
/* power/expression.h - small arithmetic for kernel descriptions: numbers, names, + - * / ^ and parentheses.
 */
#ifndef ISAPROBE_POWER_EXPRESSION_H
#define ISAPROBE_POWER_EXPRESSION_H

#include <stddef.h>

#include "common/error.h"

struct pw_variable {
    const char *name;
    double value;
};

/* The value of `text`; `^` binds strongest and to the right. IP_SYNTAX says what is wrong and where in the
 * text, without a place: also when the value is no finite number. */
IP_CHECK enum ip_status pw_expression(const char *text, const struct pw_variable *variables, size_t count,
                                      double *value, struct ip_error *err);

#endif
