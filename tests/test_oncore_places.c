/* SPDX-License-Identifier: Apache-2.0 */
/* Which loads take their data from which stores, by what is known of their addresses. */
#include "tests/oncore_table.h"

#define ADD_AX_CX             "\x48\x01\xc8"                     /* add rax, rcx */
#define LOAD_SUM              "\x48\x8b\x04\xcf"                 /* mov rax, [rdi+rcx*8] */
#define LOAD_SUM_BELOW        "\x48\x8b\x44\xcf\xf8"             /* mov rax, [rdi+rcx*8-8] */
#define LOAD_SUM_ABOVE        "\x48\x8b\x44\xcf\x08"             /* mov rax, [rdi+rcx*8+8] */
#define LOAD_SUM_4            "\x48\x8b\x04\x8f"                 /* mov rax, [rdi+rcx*4] */
#define LOAD_SI_SUM           "\x48\x8b\x04\xce"                 /* mov rax, [rsi+rcx*8] */
#define STORE_SUM             "\x48\x89\x04\xcf"                 /* mov [rdi+rcx*8], rax */
#define LOAD_DI_CX            "\x48\x8b\x04\x0f"                 /* mov rax, [rdi+rcx] */
#define STORE_CX_DI           "\x48\x89\x04\x39"                 /* mov [rcx+rdi], rax */
#define LOAD_SCALED           "\x48\x8b\x04\xcd\x40\x00\x00\x00" /* mov rax, [rcx*8+64] */
#define STORE_SCALED          "\x48\x89\x04\xcd\x40\x00\x00\x00" /* mov [rcx*8+64], rax */
#define LEA_DX_SUM            "\x48\x8d\x14\xcf"                 /* lea rdx, [rdi+rcx*8] */
#define LOAD_DX               "\x48\x8b\x02"                     /* mov rax, [rdx] */
#define ADD_CX_1              "\x48\x83\xc1\x01"                 /* add rcx, 1 */
#define ADD_DI_CX             "\x48\x01\xcf"                     /* add rdi, rcx */
#define LOAD_DI               "\x48\x8b\x07"                     /* mov rax, [rdi] */
#define LOAD_CX               "\x48\x8b\x0e"                     /* mov rcx, [rsi] */
#define MOV_DX_DI             "\x48\x89\xfa"                     /* mov rdx, rdi */
#define XOR_CX_CX             "\x31\xc9"                         /* xor ecx, ecx */
#define STORE_K1              "\xc4\xe1\xf8\x91\x0e"             /* kmovq [rsi], k1 */
#define MOV_K1_AX             "\xc4\xe1\xfb\x92\xc8"             /* kmovq k1, rax */
#define LOAD_SI               "\x48\x8b\x06"                     /* mov rax, [rsi] */
#define FSTP                  "\xdd\x1e"                         /* fstp qword [rsi] */
#define FILD_SI_8             "\xdf\x6e\x08"                     /* fild qword [rsi+8] */
#define STORE_SI_8            "\x48\x89\x46\x08"                 /* mov [rsi+8], rax */
#define STOSQ                 "\x48\xab"
#define LODSQ                 "\x48\xad"
#define MOVSQ                 "\x48\xa5"
#define SCASQ                 "\x48\xaf"
#define REP_STOSQ             "\xf3\x48\xab"
#define LOAD_DI_BELOW         "\x48\x8b\x47\xf8"                     /* mov rax, [rdi-8] */
#define ADD_SI_AX             "\x48\x01\x06"                         /* add [rsi], rax */
#define STORE_DI              "\x48\x89\x07"                         /* mov [rdi], rax */
#define SUB_SI_8              "\x48\x83\xee\x08"                     /* sub rsi, 8 */
#define SUB_DI_8              "\x48\x83\xef\x08"                     /* sub rdi, 8 */
#define SBB_AX_AX             "\x48\x19\xc0"                         /* sbb rax, rax */
#define STORE_RIP_7           "\x48\x89\x05\x07\x01\x00\x00"         /* mov [rip+0x107], rax; seven bytes */
#define LOAD_RIP_0            "\x48\x8b\x05\x00\x01\x00\x00"         /* mov rax, [rip+0x100] */
#define LOAD_RIP_8            "\x48\x8b\x05\x08\x01\x00\x00"         /* mov rax, [rip+0x108] */
#define LEA_RIP_E             "\x48\x8d\x3d\x0e\x01\x00\x00"         /* lea rdi, [rip+0x10e] */
#define STORE_RIP_F9          "\x48\x89\x05\xf9\x00\x00\x00"         /* mov [rip+0xf9], rax */
#define IMUL_RIP_0            "\x48\x0f\xaf\x05\x00\x01\x00\x00"     /* imul rax, [rip+0x100]; eight bytes */
#define STORE_AT_0            "\x48\x89\x04\x25\x00\x01\x00\x00"     /* mov [0x100], rax */
#define LOAD_AT_0             "\x48\x8b\x04\x25\x00\x01\x00\x00"     /* mov rax, [0x100] */
#define IMUL_AT_0             "\x48\x0f\xaf\x04\x25\x00\x01\x00\x00" /* imul rax, [0x100] */
#define ADD_AT_0_AX           "\x48\x01\x04\x25\x00\x01\x00\x00"     /* add [0x100], rax */
#define LOAD_AX_8             "\x0f\xbe\x06"                         /* movsx eax, byte [rsi] */
#define STORE_AX_8            "\x88\x06"                             /* mov [rsi], al */
#define STORE_AX_4            "\x89\x06"                             /* mov [rsi], eax */
#define STORE_SI              STORE_AX
#define STORE_SI_16           "\x48\x89\x46\x10"     /* mov [rsi+16], rax */
#define LOAD_SI_LESS_16       "\x48\x8b\x46\xf0"     /* mov rax, [rsi-16] */
#define ADD_SI_8              "\x48\x83\xc6\x08"     /* add rsi, 8 */
#define MOVZX_DX_CX           "\x0f\xb7\xd1"         /* movzx edx, cx */
#define MOVSXD_DX_CX          "\x48\x63\xd1"         /* movsxd rdx, ecx */
#define LOAD_DX_SUM           "\x48\x8b\x04\xd7"     /* mov rax, [rdi+rdx*8] */
#define LOAD_DX_BELOW         "\x48\x8b\x44\xd7\xf8" /* mov rax, [rdi+rdx*8-8] */
#define STORE_DX_SUM          "\x48\x89\x04\xd7"     /* mov [rdi+rdx*8], rax */
#define LOAD_DX_BYTES_LESS_24 "\x48\x8b\x44\x17\xe8" /* mov rax, [rdi+rdx-24] */
#define STORE_DX_BYTES        "\x48\x89\x04\x17"     /* mov [rdi+rdx], rax */
#define ADD_ECX_1             "\x83\xc1\x01"         /* add ecx, 1 */
#define LEA_EDX_CX_LESS_1     "\x8d\x51\xff"         /* lea edx, [rcx-1] */
#define AND_EDX_63            "\x83\xe2\x3f"         /* and edx, 63 */
#define AND_EDX_31            "\x83\xe2\x1f"         /* and edx, 31 */
#define MOV_EDX_ECX           "\x89\xca"             /* mov edx, ecx */
#define SHR_EDX_3             "\xc1\xea\x03"         /* shr edx, 3 */
#define SHR_EDX_35            "\xc1\xea\x23"         /* shr edx, 35: by 3 */
#define SAR_EDX_3             "\xc1\xfa\x03"         /* sar edx, 3 */
#define IMUL_DX_CX_24         "\x48\x6b\xd1\x18"     /* imul rdx, rcx, 24 */
#define NEG_SI                "\x48\xf7\xde"         /* neg rsi */
#define NEG_CX                "\x48\xf7\xd9"         /* neg rcx */
#define LOAD_R8               "\x4c\x8b\x06"         /* mov r8, [rsi] */
#define ADD_R8_CX             "\x49\x01\xc8"         /* add r8, rcx */
#define XCHG_SI_DI            "\x48\x87\xfe"         /* xchg rsi, rdi */
#define ADD_DX_CX             "\x48\x01\xca"         /* add rdx, rcx */

enum { FORWARD = 4, LOAD = 5 /* cycles, as small_machine_make has them */ };

/* The sum of two registers is the same place as long as both are the same, and one is as far from another as
 * numbers say that were added to either. What goes through the store buffer takes no less than a load here.
 */
static void test_sums_of_registers(void **state) {
    (void)state;
    static const struct {
        struct bytes code;
        double cycles; /* from pass to pass */
    } cases[] = {
        {BYTES(LOAD_SUM ADD_AX_BX STORE_SUM), LOAD + 1},
        {BYTES(LOAD_SUM_ABOVE ADD_AX_BX STORE_SUM), 0},
        {BYTES(LOAD_SUM_4 ADD_AX_BX STORE_SUM), 0},
        {BYTES(LOAD_SI_SUM ADD_AX_BX STORE_SUM), 0},
        {BYTES(LOAD_SUM_BELOW ADD_AX_BX STORE_SUM ADD_CX_1), LOAD + 1},
        {BYTES(LOAD_SUM_ABOVE ADD_AX_BX STORE_SUM ADD_CX_1), 1}, /* of rcx */
        {BYTES(LOAD_DI_CX ADD_AX_BX STORE_CX_DI), LOAD + 1},
        {BYTES(LOAD_SCALED ADD_AX_BX STORE_SCALED), LOAD + 1},
        {BYTES(LEA_DX_SUM LOAD_DX ADD_AX_BX STORE_SUM), LOAD + 1},
        {BYTES(MOV_DX_DI ADD_DX_CX LOAD_DX ADD_AX_BX STORE_CX_DI), LOAD + 1},
        {BYTES(LOAD_CX LOAD_SUM ADD_AX_BX STORE_SUM), 0},          /* another rcx in each pass */
        {BYTES(STORE_SUM XOR_CX_CX LOAD_SUM ADD_AX_BX), LOAD + 1}, /* rcx is 0 from the second pass on */
        {BYTES(STORE_AX XCHG_SI_DI LOAD_DI ADD_AX_BX), FORWARD + 1},
        {BYTES(STORE_AX XCHG_SI_DI LOAD_SI ADD_AX_BX XCHG_SI_DI), 0},
        {BYTES(LOAD_DI ADD_AX_BX STORE_CX_DI ADD_DI_CX), LOAD + 1}, /* what the pass before moved on to */
    };
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(LEA_DX_SUM), "1*p015", 1, 1);
    form_add(&costs, BYTES(ADD_CX_1), "1*p015", 1, 1);
    form_add(&costs, BYTES(MOV_DX_DI), "1*p015", 1, 1);
    form_add(&costs, BYTES(XCHG_SI_DI), "none", 1, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(chain(&costs, cases[i].code), cases[i].cycles);
    }
    core_costs_fini(&costs);
}

/* A place that is named by the instruction pointer is as far from the block's start as its instruction's end
 * and the number say. */
static void test_places_of_code(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    assert_near(chain(&costs, BYTES(STORE_RIP_7 LOAD_RIP_0 ADD_AX_BX)), FORWARD + 1);
    assert_near(chain(&costs, BYTES(STORE_RIP_7 LOAD_RIP_8 ADD_AX_BX)), 0);
    assert_near(chain(&costs, BYTES(LEA_RIP_E STORE_RIP_7 LOAD_DI ADD_AX_BX)), FORWARD + 1);
    assert_near(chain(&costs, BYTES(STORE_RIP_7 LEA_RIP_E LOAD_DI ADD_AX_BX)), 0);
    core_costs_fini(&costs);
}

/* A way through memory that was measured with a plain address is that of one with an index, too, if it is as
 * long as a load: what is shorter knew the place by its name. */
static void test_way_with_an_index(void **state) {
    (void)state;
    struct bytes plain = BYTES(LOAD_AX ADD_AX_BX STORE_AX), indexed = BYTES(LOAD_SUM ADD_AX_BX STORE_SUM);
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward_far", LOAD + 4);
    cost_of(&costs, BYTES(LOAD_AX))->forwarded = LOAD + 2;
    assert_near(chain(&costs, plain), LOAD + 2 + 1);
    assert_near(chain(&costs, indexed), LOAD + 2 + 1);
    cost_of(&costs, BYTES(LOAD_AX))->forwarded = 0;
    assert_near(chain(&costs, plain), 1);
    assert_near(chain(&costs, indexed), LOAD + 4 + 1);
    core_costs_fini(&costs);
}

/* What a mask or the x87 stack stored is none of the general registers, whose names rename compares. */
static void test_stores_of_masks(void **state) {
    (void)state;
    enum { VECTOR = 9 };
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward_vector", VECTOR);
    form_add(&costs, BYTES(STORE_K1), "1*p4+1*p7", 1, NAN);
    form_add(&costs, BYTES(MOV_K1_AX), "1*p015", 1, 1);
    form_add(&costs, BYTES(FSTP), "1*p4+1*p7", 1, NAN);
    form_add(&costs, BYTES(FILD_SI_8), "1*p23", 1, 0);
    assert_near(chain(&costs, BYTES(STORE_K1 LOAD_SI MOV_K1_AX)), VECTOR + 1);
    assert_near(chain(&costs, BYTES(FILD_SI_8 FSTP LOAD_SI STORE_SI_8)), 2 * VECTOR);
    core_costs_fini(&costs);
}

/* String instructions load and store where their pointers are, which they move on; no name of such a place is
 * compared at rename. */
static void test_places_of_strings(void **state) {
    (void)state;
    enum { BUFFERED = 7 };
    static const struct {
        struct bytes code;
        double cycles; /* from pass to pass */
    } cases[] = {
        {BYTES(STOSQ LOAD_DI_BELOW ADD_AX_BX SUB_DI_8), BUFFERED + 1},
        {BYTES(STOSQ LOAD_DI ADD_AX_BX SUB_DI_8), 1 + 1}, /* of rdi */
        {BYTES(STOSQ LOAD_DI_BELOW ADD_AX_BX), BUFFERED + 1},
        {BYTES(STORE_AX LODSQ ADD_AX_BX SUB_SI_8), BUFFERED + 1},
        {BYTES(STORE_AX MOVSQ LOAD_DI_BELOW ADD_AX_BX SUB_SI_8 SUB_DI_8), BUFFERED + BUFFERED + 1},
        {BYTES(STORE_DI SCASQ SBB_AX_AX SUB_DI_8), BUFFERED + 1},
        {BYTES(ADD_SI_AX MOVSQ), 1},                            /* of either pointer, whatever is moved */
        {BYTES(REP_STOSQ LOAD_DI_BELOW ADD_AX_BX SUB_DI_8), 4}, /* rax, rcx, rdi: 8 in two passes */
    };
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward_long", BUFFERED);
    form_add(&costs, BYTES(SUB_DI_8), "1*p015", 1, 1);
    form_add(&costs, BYTES(SBB_AX_AX), "1*p015", 1, 1);
    form_add(&costs, BYTES(STOSQ), "1*p4+1*p7", 1, 1);
    form_add(&costs, BYTES(ADD_SI_AX), "1*p4+1*p7+1*p23+1*p015", 2, 1);
    form_add(&costs, BYTES(REP_STOSQ), "1*p4+1*p7", 1, 1);
    form_add(&costs, BYTES(LODSQ), "1*p23", 1, 0);
    form_add(&costs, BYTES(SCASQ), "1*p23", 1, 0);
    form_add(&costs, BYTES(MOVSQ), "1*p23+1*p4+1*p7", 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(chain(&costs, cases[i].code), cases[i].cycles);
    }
    assert_about(simulated(&costs, BYTES(ADD_SI_AX MOVSQ)), 2.0); /* two stores */
    core_costs_fini(&costs);
}

/* What is done to data comes behind the load of it, whatever makes the address: no register need. */
static void test_operations_without_registers(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(IMUL_RIP_0), "1*p23+1*p1", 1, 3);
    assert_near(chain(&costs, BYTES(IMUL_RIP_0 STORE_RIP_F9)), FORWARD + 3);
    assert_near(chain(&costs, BYTES(IMUL_AT_0 STORE_AT_0)), FORWARD + 3);
    assert_about(simulated(&costs, BYTES(IMUL_AT_0 STORE_AT_0)), FORWARD + 3);
    core_costs_fini(&costs);
}

/* An address that is a number has no register by whose name rename would know the place. */
static void test_places_of_numbers(void **state) {
    (void)state;
    enum { BUFFERED = 7 };
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward", 0);
    parameter(&costs, "store_forward_long", BUFFERED);
    parameter(&costs, "store_forward_changed", BUFFERED);
    form_add(&costs, BYTES(ADD_AT_0_AX), "1*p4+1*p7+1*p23+1*p015", 2, 1);
    cost_of(&costs, BYTES(ADD_AT_0_AX))->modifies = 1;
    assert_near(bound_in(&costs, BYTES(STORE_AT_0 LOAD_AT_0 ADD_AX_BX), true, CORE_BOUND_CHAIN),
                BUFFERED + 1);
    assert_near(bound_in(&costs, BYTES(ADD_AT_0_AX), true, CORE_BOUND_CHAIN), BUFFERED);
    assert_near(bound_in(&costs, BYTES(STORE_AX LOAD_SI ADD_AX_BX), true, CORE_BOUND_CHAIN), 1);
    core_costs_fini(&costs);
}

/* A store that takes a cycle of its own, since it is narrow, passes its data on so late, but a wide one to a
 * narrow load. */
static void test_narrow_stores(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(LOAD_AX_8), "1*p23+1*p015", 1, 1);
    cost_of(&costs, BYTES(LOAD_AX_8))->forwarded = 0;
    cost_of(&costs, BYTES(LOAD_AX_8))->put_late = true;
    assert_near(chain(&costs, BYTES(LOAD_AX_8 ADD_AX_BX STORE_AX_8)), 1 + 1 + 1);
    assert_near(chain(&costs, BYTES(LOAD_AX_8 ADD_AX_BX STORE_AX_4)), 1 + 1);
    core_costs_fini(&costs);
}

/* Which store a load meets is learned of instructions, and is the youngest: what was stored two passes ago
 * comes through the store buffer, and no chain from a pass to the next goes through it. */
static void test_older_stores(void **state) {
    (void)state;
    enum { BUFFERED = 7 };
    static const struct bytes next = BYTES(LOAD_SI ADD_AX_BX STORE_SI_8 ADD_SI_8),
                              second = BYTES(LOAD_SI ADD_AX_BX STORE_SI_16 ADD_SI_8),
                              behind = BYTES(STORE_SI ADD_SI_8 LOAD_SI_LESS_16 ADD_AX_BX);
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward", 0);
    parameter(&costs, "store_forward_other", 0);
    parameter(&costs, "store_forward_long", BUFFERED);
    form_add(&costs, BYTES(ADD_SI_8), "1*p015", 1, 1);
    assert_near(bound_in(&costs, next, true, CORE_BOUND_CHAIN), 1);
    assert_true(bound_in(&costs, next, true, CORE_BOUND_SIMULATION) < 1.5);
    assert_about(bound_in(&costs, second, true, CORE_BOUND_SIMULATION), (BUFFERED + 1) / 2.0);
    assert_near(bound_in(&costs, behind, true, CORE_BOUND_CHAIN), 1);
    assert_about(bound_in(&costs, behind, true, CORE_BOUND_SIMULATION), (BUFFERED + 1) / 2.0);
    core_costs_fini(&costs);
}

/* A store enters the cache when all before it has retired: a load of more than was stored waits for that, and
 * the next pass's store for the load. */
static void test_stores_retire(void **state) {
    (void)state;
    enum { BLOCKED = 12 };
    struct core_costs costs;
    small_machine_make(&costs);
    parameter(&costs, "store_forward_blocked", BLOCKED);
    assert_near(chain(&costs, BYTES(STORE_AX_4 LOAD_CX)), 0);
    const double cycles = simulated(&costs, BYTES(STORE_AX_4 LOAD_CX));
    assert_true(cycles >= BLOCKED && cycles <= BLOCKED + 1);
    core_costs_fini(&costs);
}

/* What is made of registers is the same for the same, also in 32 bits and fewer, and as far from another as
 * was added before. */
static void test_made_of_registers(void **state) {
    (void)state;
    static const struct {
        struct bytes code;
        double cycles; /* from pass to pass */
    } cases[] = {
        {BYTES(MOVZX_DX_CX LOAD_DX_BELOW ADD_AX_BX STORE_DX_SUM ADD_ECX_1), LOAD + 1},
        {BYTES(MOVSXD_DX_CX LOAD_DX_BELOW ADD_AX_BX STORE_DX_SUM ADD_ECX_1), LOAD + 1},
        {BYTES(MOVSXD_DX_CX LOAD_DX_SUM ADD_AX_BX STORE_DX_SUM ADD_ECX_1), 1}, /* of ecx */
        {BYTES(LEA_EDX_CX_LESS_1 AND_EDX_63 LOAD_DX_SUM ADD_AX_BX MOV_EDX_ECX AND_EDX_63 STORE_DX_SUM
                   ADD_ECX_1),
         LOAD + 1},
        {BYTES(LEA_EDX_CX_LESS_1 AND_EDX_63 LOAD_DX_SUM ADD_AX_BX MOV_EDX_ECX AND_EDX_31 STORE_DX_SUM
                   ADD_ECX_1),
         1},
        {BYTES(MOV_EDX_ECX SHR_EDX_3 LOAD_DX_SUM ADD_AX_BX STORE_DX_SUM), LOAD + 1},
        {BYTES(MOV_EDX_ECX SHR_EDX_3 LOAD_DX_SUM ADD_AX_BX MOV_EDX_ECX SHR_EDX_35 STORE_DX_SUM), LOAD + 1},
        {BYTES(MOV_EDX_ECX SHR_EDX_3 LOAD_DX_SUM ADD_AX_BX MOV_EDX_ECX SAR_EDX_3 STORE_DX_SUM), 0},
        {BYTES(IMUL_DX_CX_24 LOAD_DX_BYTES_LESS_24 ADD_AX_BX STORE_DX_BYTES ADD_CX_1), LOAD + 1},
        {BYTES(STORE_AX NEG_SI NEG_SI LOAD_SI ADD_AX_BX), FORWARD + 1},
        {BYTES(STORE_AX NEG_SI LOAD_SI NEG_SI ADD_AX_BX), 2}, /* of rsi */
        {BYTES(NEG_CX LOAD_DI_CX ADD_AX_BX STORE_CX_DI NEG_CX), LOAD + 1},
    };
    struct core_costs costs;
    small_machine_make(&costs);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double cycles = chain(&costs, cases[i].code);
        if (fabs(cycles - cases[i].cycles) > 1e-6) {
            fail_msg("case %zu: %.3f cycles, not %.3f", i, cycles, cases[i].cycles);
        }
    }
    core_costs_fini(&costs);
}

/* What each pass uses is not forgotten for what is new in each, nor for what nobody asked for. */
static void test_made_long_ago(void **state) {
    (void)state;
    static const struct bytes narrow =
        BYTES(MOVSXD_DX_CX LOAD_DX_BELOW ADD_AX_BX STORE_DX_SUM ADD_ECX_1 LOAD_R8 ADD_R8_CX);
    static const struct bytes sum = BYTES(LOAD_SUM_BELOW ADD_AX_BX STORE_SUM ADD_CX_1 LOAD_R8 ADD_R8_CX);
    struct core_costs costs;
    small_machine_make(&costs);
    assert_about(simulated(&costs, narrow), LOAD + 1);
    assert_about(simulated(&costs, sum), LOAD + 1);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_registers), cmocka_unit_test(test_places_of_code),
        cmocka_unit_test(test_way_with_an_index), cmocka_unit_test(test_stores_of_masks),
        cmocka_unit_test(test_places_of_strings), cmocka_unit_test(test_operations_without_registers),
        cmocka_unit_test(test_places_of_numbers), cmocka_unit_test(test_narrow_stores),
        cmocka_unit_test(test_older_stores),      cmocka_unit_test(test_stores_retire),
        cmocka_unit_test(test_made_of_registers), cmocka_unit_test(test_made_long_ago),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
