/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "scc_model/scc.h"

/* Putigny 2014, section 2.3.4: counts, body cycles and unroll factors. The thesis does not print the loops;
 * the code is plain x87 of that shape, for the cycles that the P54C table gives it (docs/power.md compares).
 */
static const char dot_text[] = "kernel dot\n"
                               "title Dot product of two vectors of doubles\n"
                               "size 2^21\n"
                               "unroll 4\n"
                               "body 36 cycles\n"
                               "iterations size / unroll\n"
                               "accesses 2 * size\n"
                               "flops 2 * size\n"
                               "code\n"
                               "    fld qword [esi]\n"
                               "    fmul qword [edi]\n"
                               "    faddp st1, st0\n"
                               "    fld qword [esi + 8]\n"
                               "    fmul qword [edi + 8]\n"
                               "    faddp st1, st0\n"
                               "    fld qword [esi + 16]\n"
                               "    fmul qword [edi + 16]\n"
                               "    faddp st1, st0\n"
                               "    fld qword [esi + 24]\n"
                               "    fmul qword [edi + 24]\n"
                               "    faddp st1, st0\n"
                               "    add esi, 32\n"
                               "    add edi, 32\n"
                               "    dec ecx\n"
                               "    jnz $$\n"
                               "end\n";

static const char matvec_text[] =
    "kernel matvec\n"
    "title Product of a matrix of 512 by 1024 doubles and a vector\n"
    "size 512 * 1024\n"
    "unroll 4\n"
    "body 64 cycles\n"
    "iterations size / unroll\n"
    "accesses size                     # the matrix; the vector stays in the cache\n"
    "flops 2 * size\n"
    "code\n"
    "    ; y[j] += a[i][j] * x[i], x[i] on the stack\n"
    "    fld qword [esi]\n"
    "    fmul st0, st1\n"
    "    fadd qword [edi]\n"
    "    fstp qword [edi]\n"
    "    fld qword [esi + 8]\n"
    "    fmul st0, st1\n"
    "    fadd qword [edi + 8]\n"
    "    fstp qword [edi + 8]\n"
    "    fld qword [esi + 16]\n"
    "    fmul st0, st1\n"
    "    fadd qword [edi + 16]\n"
    "    fstp qword [edi + 16]\n"
    "    fld qword [esi + 24]\n"
    "    fmul st0, st1\n"
    "    fadd qword [edi + 24]\n"
    "    fstp qword [edi + 24]\n"
    "    add esi, 32\n"
    "    add edi, 32\n"
    "    dec ecx\n"
    "    jnz $$\n"
    "end\n";

static const char matmul_text[] =
    "kernel matmul\n"
    "title Product of two matrices of 160 by 160 doubles, tiled\n"
    "size 160 * 160\n"
    "unroll 1\n"
    "body 43 cycles\n"
    "iterations size^1.5 / unroll\n"
    "accesses 3 * size                 # each matrix goes once through the memory\n"
    "flops 2 * size^1.5\n"
    "code\n"
    "    fld qword [esi]\n"
    "    fmul qword [edi]\n"
    "    faddp st1, st0\n"
    "    add esi, 8\n"
    "    add edi, 1280\n"
    "    dec ecx\n"
    "    jnz $$\n"
    "end\n";

const char *const scc_kernel_names[] = {"dot", "matvec", "matmul", NULL};

const char *scc_kernel_text(const char *name) {
    static const char *const texts[] = {dot_text, matvec_text, matmul_text};
    for (size_t i = 0; scc_kernel_names[i] != NULL; i++) {
        if (strcmp(scc_kernel_names[i], name) == 0) {
            return texts[i];
        }
    }
    return NULL;
}

enum ip_status scc_kernel(struct pw_kernel *kernel, const char *name, double size, struct ip_error *err) {
    const char *text = scc_kernel_text(name);
    if (text == NULL) {
        return ip_fail(err, IP_USAGE, "no built-in kernel '%s': there are dot, matvec and matmul", name);
    }
    return pw_kernel_parse(kernel, name, text, size, err);
}
