// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>

TestSuite(spirv_variables, .fini = spirv_tear_down);

// A module with one variable of its own, and its decorations.
#define VARIABLE(storage, ...)                                                                     \
    PROLOGUE, ENTRY, __VA_ARGS__, TYPES, NUMBERS, OP(OpTypePointer, 10, storage, INT),             \
        OP(OpConstantNull, INT, 11), OP(OpVariable, 10, 30, storage, 11), KERNEL_FUNCTION

Test(spirv_variables, in_global_memory_are_noticed)
{
    TAKE(VARIABLE(CrossWorkgroup, OP(OpName, 30, 'v')));
    cr_assert(spirv.has_variables);
    TAKE(VARIABLE(CrossWorkgroup, OP(OpDecorate, 30, LinkageAttributes, 'v', Export)));
    cr_assert(spirv.has_variables);
}

Test(spirv_variables, that_nobody_writes_do_not_count)
{
    TAKE(VARIABLE(UniformConstant, OP(OpName, 30, 'v')));
    cr_assert_not(spirv.has_variables);
    TAKE(VARIABLE(CrossWorkgroup, OP(OpDecorate, 30, Constant)));
    cr_assert_not(spirv.has_variables);
    TAKE(VARIABLE(CrossWorkgroup, OP(OpDecorate, 12, Constant), OP(OpDecorationGroup, 12),
                  OP(OpGroupDecorate, 12, 30)));
    cr_assert_not(spirv.has_variables);
}

Test(spirv_variables, of_groups_functions_and_others_do_not_count)
{
    TAKE(VARIABLE(Workgroup, OP(OpName, 30, 'v')));
    cr_assert_not(spirv.has_variables);
    TAKE(VARIABLE(CrossWorkgroup, OP(OpDecorate, 30, BuiltIn, 28)));
    cr_assert_not(spirv.has_variables);
    TAKE(PROLOGUE, ENTRY, OP(OpDecorate, 30, LinkageAttributes, 'v', Import), TYPES, NUMBERS,
         OP(OpTypePointer, 10, CrossWorkgroup, INT), OP(OpVariable, 10, 30, CrossWorkgroup),
         KERNEL_FUNCTION);
    cr_assert_not(spirv.has_variables);
    TAKE(PROLOGUE, ENTRY, TYPES, NUMBERS, OP(OpTypePointer, 10, Function, INT), BEGIN_KERNEL,
         OP(OpLabel, LABEL), OP(OpVariable, 10, 30, Function), OP0(OpReturn), OP0(OpFunctionEnd));
    cr_assert_not(spirv.has_variables);
}

Test(spirv_variables, of_compiled_modules_are_found)
{
    static const char *const with[] = {"device_global", "exporter", "link_base"};
    static const char *const without[] = {"vector_add", "importer", "launches", "scaled_copy"};
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
        spirv_take_file(with[i]);
        cr_assert(spirv.has_variables, "%s", with[i]);
    }
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        spirv_take_file(without[i]);
        cr_assert_not(spirv.has_variables, "%s", without[i]);
    }
}
