/* SPDX-License-Identifier: Apache-2.0 */
/* XED's names of forms, against what XED itself calls them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "isa/decode.h"
#include "isa/table.h"
#include "isa/xed.h"

static const struct {
    const char *syntax, *iform, *other;
} known[] = {
    {"add r64, r64", "ADD_GPRv_GPRv_01", "ADD_GPRv_GPRv_03"},
    {"add r8, r8", "ADD_GPR8_GPR8_00", "ADD_GPR8_GPR8_02"},
    {"add r8, imm8", "ADD_GPR8_IMMb_80r0", ""},
    {"add r64, m64", "ADD_GPRv_MEMv", ""},
    {"add r64, imm32", "ADD_GPRv_IMMz", ""},
    {"lock add m64, r64", "ADD_LOCK_MEMv_GPRv", ""},
    {"mov r64, r64", "MOV_GPRv_GPRv_89", "MOV_GPRv_GPRv_8B"},
    {"mov r64, m64", "MOV_GPRv_MEMv", ""},
    {"mov m64, r64", "MOV_MEMv_GPRv", ""},
    {"movzx r32, m8", "MOVZX_GPRv_MEMb", ""},
    {"movsxd r64, r32", "MOVSXD_GPRv_GPRz", ""},
    {"lea r64, agen", "LEA_GPRv_AGEN", ""},
    {"imul r64, r64", "IMUL_GPRv_GPRv", ""},
    {"imul r64, r64, imm8", "IMUL_GPRv_GPRv_IMMb", ""},
    {"shl r64, 1", "SHL_GPRv_ONE_D1r4", ""},
    {"shr r64, cl", "SHR_GPRv_CL", ""},
    {"inc r64", "INC_GPRv_FFr0", ""},
    {"push r64", "PUSH_GPRv_50", ""},
    {"popcnt r64, r64", "POPCNT_GPRv_GPRv", ""},
    {"crc32 r64, r8", "CRC32_GPRyy_GPR8b", ""},
    {"shlx r64, r64, r64", "SHLX_VGPR64q_VGPR64q_VGPR64q", ""},
    {"andn r32, r32, m32", "ANDN_VGPR32d_VGPR32d_MEMd", ""},
    {"addpd xmm, xmm", "ADDPD_XMMpd_XMMpd", ""},
    {"addsd xmm, m64", "ADDSD_XMMsd_MEMsd", ""},
    {"andps xmm, xmm", "ANDPS_XMMxud_XMMxud", ""},
    {"paddd xmm, xmm", "PADDD_XMMdq_XMMdq", ""},
    {"paddd mm, m64", "PADDD_MMXq_MEMq", ""},
    {"punpcklbw mm, mm", "PUNPCKLBW_MMXq_MMXd", ""},
    {"pmovsxbq xmm, xmm", "PMOVSXBQ_XMMdq_XMMw", ""},
    {"unpckhpd xmm, m128", "UNPCKHPD_XMMpd_MEMdq", ""},
    {"movsd xmm, xmm", "MOVSD_XMM_XMMsd_XMMsd_0F10", "MOVSD_XMM_XMMsd_XMMsd_0F11"},
    {"movsd xmm, m64", "MOVSD_XMM_XMMdq_MEMsd", ""},
    {"movaps xmm, xmm", "MOVAPS_XMMps_XMMps_0F28", "MOVAPS_XMMps_XMMps_0F29"},
    {"cvtsd2si r64, m64", "CVTSD2SI_GPR64q_MEMsd", ""},
    {"cvtdq2pd xmm, xmm", "CVTDQ2PD_XMMpd_XMMq", ""},
    {"pextrw r32, xmm, imm8", "PEXTRW_GPR32_XMMdq_IMMb", ""},
    {"vaddpd ymm, ymm, m256", "VADDPD_YMMqq_YMMqq_MEMqq", ""},
    {"vaddsd xmm, xmm, xmm", "VADDSD_XMMdq_XMMdq_XMMq", ""},
    {"vpslld ymm, ymm, xmm", "VPSLLD_YMMqq_YMMqq_XMMq", ""},
    {"vmovdqa ymm, ymm", "VMOVDQA_YMMqq_YMMqq_6F", "VMOVDQA_YMMqq_YMMqq_7F"},
    {"vpbroadcastb ymm, xmm", "VPBROADCASTB_YMMqq_XMMb", ""},
    {"vaddpd zmm, zmm, zmm", "VADDPD_ZMMf64_MASKmskw_ZMMf64_ZMMf64_AVX512", ""},
    {"vaddpd zmm, zmm, m64{1to8}", "VADDPD_ZMMf64_MASKmskw_ZMMf64_MEMf64_AVX512", ""},
    {"vpaddd zmm{k}, zmm, zmm", "VPADDD_ZMMu32_MASKmskw_ZMMu32_ZMMu32_AVX512", ""},
    {"vpabsd zmm, zmm", "VPABSD_ZMMi32_MASKmskw_ZMMi32_AVX512", ""},
    {"vpmuldq zmm, zmm, zmm", "VPMULDQ_ZMMi64_MASKmskw_ZMMi32_ZMMi32_AVX512", ""},
    {"vpcmpgtd k, zmm, zmm", "VPCMPGTD_MASKmskw_MASKmskw_ZMMi32_ZMMi32_AVX512", ""},
    {"vpdpbusd zmm, zmm, zmm", "VPDPBUSD_ZMMi32_MASKmskw_ZMMu8_ZMMu32_AVX512", ""},
    {"vcvtpd2ps ymm, zmm", "VCVTPD2PS_YMMf32_MASKmskw_ZMMf64_AVX512_VL512", ""},
    {"vpconflictd zmm, zmm", "VPCONFLICTD_ZMMu32_MASKmskw_ZMMu32_AVX512CD", ""},
    {"kaddb k, k, k", "KADDB_MASKmskw_MASKmskw_MASKmskw_AVX512", ""},
    {"kmovb k, k", "KMOVB_MASKmskw_MASKu8_AVX512", ""},
    {"kmovw r32, k", "KMOVW_GPR32u32_MASKmskw_AVX512", ""},
    {"sha256rnds2 xmm, xmm, xmm0", "SHA256RNDS2_XMMi32_XMMi32_SHA", ""},
    {"fadd m64", "FADD_ST0_MEMm64real", ""},
    {"fst m32", "FST_MEMmem32real_ST0", ""},
    {"fild m16", "FILD_ST0_MEMmem16int", ""},
    {"fchs", "FCHS", ""},
    /* Newer than Zydis 4.0: */
    {"vpdpbsud ymm, ymm, m256", "VPDPBSUD_YMMi32_YMM4i8_MEM4u8", ""},
    {"vpdpwusds xmm, xmm, xmm", "VPDPWUSDS_XMMi32_XMM2u16_XMM2i16", ""},
    {"{vex} vpmadd52huq xmm, xmm, m128", "VPMADD52HUQ_XMMu64_XMMu64_MEMu64", ""},
    {"{vex} vcvtneps2bf16 xmm, ymm", "VCVTNEPS2BF16_XMMbf16_YMMf32", ""},
    {"{vex} vcvtneps2bf16 xmm, m256", "VCVTNEPS2BF16_XMMbf16_MEMf32_VL256", ""},
    {"vbcstnesh2ps ymm, m16", "VBCSTNESH2PS_YMMf32_MEMf16", ""},
    {"vcvtneobf162ps xmm, m128", "VCVTNEOBF162PS_XMMf32_MEM2bf16", ""},
    {"cmpnzxadd m64, r64, r64", "CMPNZXADD_MEMu64_GPR64u64_GPR64u64", ""},
    {"aand m32, r32", "AAND_MEM32_GPR32", ""},
    {"vsha512rnds2 ymm, ymm, xmm", "VSHA512RNDS2_YMMu64_YMMu64_XMMu64", ""},
    {"vsm3rnds2 xmm, xmm, m128, imm8", "VSM3RNDS2_XMMu32_XMMu32_MEMu32_IMM8", ""},
    {"tdpfp16ps tmm, tmm, tmm", "TDPFP16PS_TMMf32_TMM2f16_TMM2f16", ""},
};

static void described(struct isa_table *table, const char *syntax, struct isa_form **form,
                      struct isa_xed *xed) {
    struct ip_error err = {0};
    *form = isa_table_find(table, syntax);
    if (*form == NULL) {
        fail_msg("no form '%s'", syntax);
    }
    assert_int_equal(isa_forms_derive(form, 1, &err), IP_OK);
    assert_int_equal(isa_xed_describe(*form, xed, &err), IP_OK);
}

static void test_iforms(void **state) {
    struct isa_table table = {0};
    struct isa_form *forms[sizeof known / sizeof known[0]];
    struct ip_error err = {0};
    struct isa_xed xed;
    (void)state;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        forms[i] = isa_table_find(&table, known[i].syntax);
        if (forms[i] == NULL) {
            fail_msg("no form '%s'", known[i].syntax);
        }
    }
    assert_int_equal(isa_forms_derive(forms, sizeof known / sizeof known[0], &err), IP_OK);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(isa_xed_describe(forms[i], &xed, &err), IP_OK);
        assert_string_equal(xed.iform, known[i].iform);
        assert_string_equal(xed.other, known[i].other);
    }
    isa_table_fini(&table);
}

static void test_distinctions(void **state) {
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct isa_form *form;
    struct isa_xed xed;
    (void)state;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    described(&table, "add r16, imm8", &form, &xed);
    assert_int_equal(xed.eosz, 1);
    assert_int_equal(xed.immzero, 0);
    assert_string_equal(xed.category, "BINARY");
    described(&table, "shl r64, imm8", &form, &xed);
    assert_string_equal(xed.category, "SHIFT");
    described(&table, "add r64, 0", &form, &xed);
    assert_int_equal(xed.immzero, 1);
    described(&table, "add r8h, r8", &form, &xed);
    assert_string_equal(xed.high8, "REG0");
    /* K0 counts, where there is no mask, and the flags are the last register. */
    described(&table, "vaddpd zmm, zmm, m64{1to8}", &form, &xed);
    assert_string_equal(xed.names[0], "REG0");
    assert_string_equal(xed.names[1], "REG2");
    assert_string_equal(xed.names[2], "MEM0");
    assert_int_equal(xed.bcast, 5);
    described(&table, "add r64, m64", &form, &xed);
    assert_string_equal(xed.names[isa_form_flags_operand(form)], "REG1");
    described(&table, "lea r64, agen", &form, &xed);
    assert_string_equal(xed.names[1], "AGEN");
    assert_true(xed.agen);
    described(&table, "rep movsb", &form, &xed);
    assert_string_equal(xed.iform, "REP_MOVSB");
    assert_int_equal(xed.rep, 3);
    described(&table, "vpbroadcastd zmm, m32", &form, &xed);
    assert_int_equal(xed.bcast, -1);
    isa_table_fini(&table);
}

/* Every form that can be written has names, and no two operands of it the same one. */
static void test_whole_table(void **state) {
    struct isa_table table = {0};
    struct ip_error err = {0};
    (void)state;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    struct isa_form **forms = test_malloc(table.count * sizeof(struct isa_form *));
    for (size_t i = 0; i < table.count; i++) {
        forms[i] = &table.forms[i];
    }
    assert_int_equal(isa_forms_derive(forms, table.count, &err), IP_OK);
    for (size_t i = 0; i < table.count; i++) {
        struct isa_xed xed;
        if (forms[i]->obstacle == ISA_OBSTACLE_UNENCODABLE) {
            continue;
        }
        assert_int_equal(isa_xed_describe(forms[i], &xed, &err), IP_OK);
        assert_true(xed.iform[0] != '\0' && xed.category[0] != '\0' &&
                    strlen(xed.iform) + 1 < sizeof xed.iform);
        for (unsigned k = 0; k < forms[i]->operand_count; k++) {
            for (unsigned j = 0; j < k; j++) {
                if (xed.names[k][0] == '\0' || strcmp(xed.names[k], xed.names[j]) == 0) {
                    fail_msg("%s: operands %u and %u are called %s", forms[i]->syntax, j, k, xed.names[k]);
                }
            }
        }
    }
    test_free(forms);
    isa_table_fini(&table);
}

static void test_without_sample(void **state) {
    struct isa_form form = {.syntax = "frob"};
    struct isa_xed xed;
    struct ip_error err = {0};
    (void)state;
    assert_int_equal(isa_xed_describe(&form, &xed, &err), IP_UNSUPPORTED);
    assert_non_null(strstr(err.text, "frob"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iforms),
        cmocka_unit_test(test_distinctions),
        cmocka_unit_test(test_whole_table),
        cmocka_unit_test(test_without_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
