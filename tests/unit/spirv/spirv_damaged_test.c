// SPDX-License-Identifier: MIT
//
// Modules that were cut off or changed on their way: refused or taken, and never a step out of
// bounds.
#include "spirv_fixture.h"
#include "test_damage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(spirv_damaged, .fini = spirv_tear_down);

static void refuse_prefixes(const char *name, struct test_bytes file)
{
    cr_assert_eq(spirv_walk(file.data, file.size_bytes), ZEPI_SPIRV_OK, "%s: %s", name, message);
    for (size_t size = 0; size < file.size_bytes; size++)
        cr_assert_eq(spirv_walk(file.data, size), ZEPI_SPIRV_INVALID, "%s: %zu bytes taken", name,
                     size);
}

Test(spirv_damaged, is_refused_when_it_is_any_proper_prefix_of_a_module)
{
    spirv_each_file(refuse_prefixes);
}

// Everything that notes something for later: groups, linkage, execution modes, calls of later
// functions.
static const uint32_t rich[] = {
    PROLOGUE,
    ENTRY,
    OP(OpExecutionModeId, KERNEL, LocalSizeId, 10, 10, 10),
    OP(OpExecutionMode, KERNEL, SubgroupSize, 8),
    OP(OpDecorate, 11, SpecId, 3),
    OP(OpDecorate, 12, SpecId, 4),
    OP(OpDecorationGroup, 12),
    OP(OpGroupDecorate, 12, 13),
    OP(OpDecorate, 20, LinkageAttributes, 'f', Export),
    OP(OpDecorate, 14, LinkageAttributes, 'v', Import),
    OP(OpDecorate, 17, CPacked),
    OP(OpTypeVoid, VOID),
    NUMBERS,
    OP(OpTypeStruct, 17, INT, LONG),
    OP(OpTypePointer, 15, CrossWorkgroup, INT),
    OP(OpTypePointer, 18, Function, 17),
    OP(OpTypeFunction, KERNEL_TYPE, VOID, 15, 18),
    OP(OpTypeFunction, 16, VOID),
    OP(OpConstant, INT, 10, 8),
    OP(OpSpecConstant, INT, 11, 5),
    OP(OpSpecConstant, LONG, 13, 6, 0),
    OP(OpVariable, 15, 14, CrossWorkgroup),
    BEGIN_KERNEL,
    OP(OpFunctionParameter, 15, 30),
    OP(OpFunctionParameter, 18, 31),
    OP(OpLabel, LABEL),
    OP(OpFunctionCall, VOID, 32, 20),
    OP0(OpReturn),
    OP0(OpFunctionEnd),
    OP(OpFunction, VOID, 20, 0, 16),
    OP(OpLabel, 21),
    OP0(OpReturn),
    OP0(OpFunctionEnd),
};

Test(spirv_damaged, is_refused_when_it_is_any_proper_prefix_of_one_with_groups_and_linkage)
{
    refuse_prefixes("rich", (struct test_bytes){(uint8_t *)rich, sizeof(rich)});
}

enum { ROUNDS = 3000 };
static unsigned taken, refused;

static void survive_changes(const char *name, struct test_bytes file)
{
    (void)name;
    size_t count = file.size_bytes / sizeof(uint32_t);
    uint32_t *words = malloc(file.size_bytes);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memcpy(words, file.data, file.size_bytes);
        for (unsigned i = 0; i <= round % 4; i++)
            test_damage_word(words, count, TEST_DAMAGE_ANY);
        size_t from = test_random_below(count);
        size_t length = test_random_below(count - from);
        if (round % 8 == 0) // a piece is lost, a piece is there twice
            memmove(words + from, words + from + length,
                    (count - from - length) * sizeof(uint32_t));
        else if (round % 8 == 1)
            memmove(words + from, words + test_random_below(count - length),
                    length * sizeof(uint32_t));
        if (spirv_walk(words, file.size_bytes) == ZEPI_SPIRV_OK)
            taken++;
        else
            refused++;
    }
    free(words);
}

Test(spirv_damaged, never_leads_the_walk_astray)
{
    spirv_each_file(survive_changes);
    for (unsigned i = 0; i < 10; i++)
        survive_changes("rich", (struct test_bytes){(uint8_t *)rich, sizeof(rich)});
    // Else the changes would be too harsh to get far, or too soft to be any.
    cr_assert(taken > 1000 && refused > 10000, "%u taken, %u refused", taken, refused);
}
