// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(spirv_kernels, .fini = spirv_tear_down);

enum {
    VALUE = ZEPI_SPIRV_ARGUMENT_VALUE,
    GLOBAL = ZEPI_SPIRV_ARGUMENT_GLOBAL,
    CONSTANT = ZEPI_SPIRV_ARGUMENT_CONSTANT,
    LOCAL = ZEPI_SPIRV_ARGUMENT_LOCAL,
    IMAGE = ZEPI_SPIRV_ARGUMENT_IMAGE,
    SAMPLER = ZEPI_SPIRV_ARGUMENT_SAMPLER,
    OTHER = ZEPI_SPIRV_ARGUMENT_OTHER,
};

// Pairs of kind and size.
static void expect_arguments(const char *name, const uint32_t *pairs, size_t word_count)
{
    const struct zepi_spirv_kernel *kernel = zepi_spirv_find_kernel(&spirv, name);
    cr_assert(kernel, "no kernel %s", name);
    cr_assert_eq(kernel->argument_count, word_count / 2, "%s", name);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        cr_assert_eq(kernel->arguments[i].kind, pairs[(size_t)2 * i], "%s, argument %u", name, i);
        cr_assert_eq(kernel->arguments[i].size_bytes, pairs[(size_t)2 * i + 1],
                     "%s, argument %u: %u bytes", name, i, kernel->arguments[i].size_bytes);
    }
}

#define EXPECT_ARGUMENTS(name, ...) expect_arguments(name, WORDS(__VA_ARGS__), COUNT(__VA_ARGS__))

// `expected` is {x, y, z, sub-group size}.
static void expect_sizes(const char *name, const uint32_t expected[4])
{
    const struct zepi_spirv_kernel *kernel = zepi_spirv_find_kernel(&spirv, name);
    cr_assert(kernel, "no kernel %s", name);
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(kernel->required_group_size[i], expected[i], "%s", name);
    cr_assert_eq(kernel->required_sub_group_size, expected[3], "%s", name);
}

#define EXPECT_SIZES(name, ...) expect_sizes(name, WORDS(__VA_ARGS__))

Test(spirv_kernels, of_compiled_modules_are_found_with_their_arguments)
{
    spirv_take_file("argument_kinds");
    cr_assert_eq(spirv.kernel_count, 7);
    EXPECT_ARGUMENTS("scalars", VALUE, 1, VALUE, 2, VALUE, 4, VALUE, 8, VALUE, 2, VALUE, 4, VALUE,
                     8, GLOBAL, 8);
    EXPECT_ARGUMENTS("vectors", VALUE, 2, VALUE, 8, VALUE, 16, VALUE, 8, VALUE, 16, VALUE, 64,
                     VALUE, 64, GLOBAL, 8);
    EXPECT_ARGUMENTS("structures", VALUE, 13, VALUE, 64, VALUE, 8, VALUE, 32, GLOBAL, 8);
    EXPECT_ARGUMENTS("pointers", GLOBAL, 8, CONSTANT, 8, LOCAL, 8, GLOBAL, 8, GLOBAL, 8);
    EXPECT_ARGUMENTS("images", IMAGE, 8, IMAGE, 8, SAMPLER, 8, IMAGE, 8, IMAGE, 8, IMAGE, 8, GLOBAL,
                     8);
    EXPECT_ARGUMENTS("sized", GLOBAL, 8);
    EXPECT_ARGUMENTS("flow", GLOBAL, 8, LOCAL, 8, VALUE, 8);
    EXPECT_SIZES("sized", 8, 4, 2, 16);
    EXPECT_SIZES("flow", 0, 0, 0, 0);

    spirv_take_file("arguments");
    EXPECT_ARGUMENTS("store_values", VALUE, 1, VALUE, 2, VALUE, 4, VALUE, 8, VALUE, 4, VALUE, 16,
                     VALUE, 16, GLOBAL, 8);
    EXPECT_ARGUMENTS("sum_groups", GLOBAL, 8, LOCAL, 8, GLOBAL, 8);
    cr_assert_null(zepi_spirv_find_kernel(&spirv, "nothing"));
}

Test(spirv_kernels, stand_in_the_order_of_the_module)
{
    TAKE(PROLOGUE, OP(OpEntryPoint, Kernel, 20, 'z'), OP(OpEntryPoint, Kernel, KERNEL, 'a'), TYPES,
         KERNEL_FUNCTION, OP(OpFunction, VOID, 20, 0, KERNEL_TYPE), OP(OpLabel, 21), OP0(OpReturn),
         OP0(OpFunctionEnd));
    cr_assert_eq(spirv.kernel_count, 2);
    cr_assert_str_eq(spirv.kernels[0].name, "z");
    cr_assert_str_eq(spirv.kernels[1].name, "a");
    cr_assert_eq(zepi_spirv_find_kernel(&spirv, "a"), &spirv.kernels[1]);
}

// One parameter of id 30 and of type `type`, which comes from the instructions before.
#define TAKE_ARGUMENT(type, ...)                                                                   \
    TAKE(PROLOGUE, ENTRY, OP(OpDecorate, 30, FuncParamAttr, ByVal), OP(OpTypeVoid, VOID), NUMBERS, \
         __VA_ARGS__, OP(OpTypeFunction, KERNEL_TYPE, VOID, type), BEGIN_KERNEL,                   \
         OP(OpFunctionParameter, type, 30), BODY)

Test(spirv_kernels, may_have_two_names_for_one_function)
{
    TAKE(PROLOGUE, ENTRY, OP(OpEntryPoint, Kernel, KERNEL, 'l'),
         OP(OpExecutionMode, KERNEL, LocalSize, 4, 5, 6), OP(OpTypeVoid, VOID), NUMBERS,
         OP(OpTypeFunction, KERNEL_TYPE, VOID, INT), BEGIN_KERNEL, OP(OpFunctionParameter, INT, 30),
         BODY);
    cr_assert_eq(spirv.kernel_count, 2);
    EXPECT_ARGUMENTS("k", VALUE, 4);
    EXPECT_ARGUMENTS("l", VALUE, 4);
    EXPECT_SIZES("k", 4, 5, 6, 0);
    EXPECT_SIZES("l", 4, 5, 6, 0);
}

Test(spirv_kernels, are_entry_points_of_the_model_kernel_alone)
{
    TAKE(PROLOGUE, ENTRY, OP(OpEntryPoint, GLCompute, KERNEL, 's'), TYPES, KERNEL_FUNCTION);
    cr_assert_eq(spirv.kernel_count, 1);
    cr_assert_str_eq(spirv.kernels[0].name, "k");
}

Test(spirv_kernels, have_parameters_between_which_lines_may_stand)
{
    TAKE(PROLOGUE, OP(OpString, 20, 'f'), ENTRY, OP(OpTypeVoid, VOID), NUMBERS,
         OP(OpTypeFunction, KERNEL_TYPE, VOID, INT, FLOAT), BEGIN_KERNEL, OP(OpLine, 20, 1, 1),
         OP(OpFunctionParameter, INT, 30), OP0(OpNoLine), OP(OpOfTheFuture, 0),
         OP(OpFunctionParameter, FLOAT, 31), OP(OpLine, 20, 2, 1), BODY);
    EXPECT_ARGUMENTS("k", VALUE, 4, VALUE, 4);
}

Test(spirv_kernels, take_values_of_scalar_and_vector_types)
{
    TAKE_ARGUMENT(10, OP(OpTypeBool, 10));
    EXPECT_ARGUMENTS("k", VALUE, 1);
    TAKE_ARGUMENT(10, OP(OpTypeVector, 10, LONG, 3));
    EXPECT_ARGUMENTS("k", VALUE, 32);
    TAKE_ARGUMENT(10, OP(OpTypeFloat, 11, 16), OP(OpTypeVector, 10, 11, 16));
    EXPECT_ARGUMENTS("k", VALUE, 32);
    TAKE_ARGUMENT(10, OP(OpConstant, INT, 11, 5), OP(OpTypeArray, 10, FLOAT, 11));
    EXPECT_ARGUMENTS("k", VALUE, 20);
}

Test(spirv_kernels, take_structures_laid_out_as_opencl_c_does)
{
    // {char, long, int}: 24 bytes, packed 13.
    TAKE_ARGUMENT(10, OP(OpTypeInt, 11, 8, 0), OP(OpTypeStruct, 10, 11, LONG, INT));
    EXPECT_ARGUMENTS("k", VALUE, 24);
    TAKE(PROLOGUE, ENTRY, OP(OpDecorate, 10, CPacked), OP(OpTypeVoid, VOID), NUMBERS,
         OP(OpTypeInt, 11, 8, 0), OP(OpTypeStruct, 10, 11, LONG, INT),
         OP(OpTypeFunction, KERNEL_TYPE, VOID, 10), BEGIN_KERNEL, OP(OpFunctionParameter, 10, 30),
         BODY);
    EXPECT_ARGUMENTS("k", VALUE, 13);
    // The same through a pointer, and inside of an array in a structure.
    TAKE_ARGUMENT(12, OP(OpTypeInt, 11, 8, 0), OP(OpTypeStruct, 10, 11, LONG, INT),
                  OP(OpTypePointer, 12, Function, 10));
    EXPECT_ARGUMENTS("k", VALUE, 24);
    TAKE_ARGUMENT(14, OP(OpTypeInt, 11, 8, 0), OP(OpTypeStruct, 10, 11, LONG, INT),
                  OP(OpConstant, INT, 12, 3), OP(OpTypeArray, 13, 10, 12),
                  OP(OpTypeStruct, 14, 11, 13, 11));
    EXPECT_ARGUMENTS("k", VALUE, 88);
    // A structure with a pointer, whose size is the addressing model's.
    TAKE_ARGUMENT(11, OP(OpTypePointer, 10, CrossWorkgroup, INT), OP(OpTypeStruct, 11, INT, 10));
    EXPECT_ARGUMENTS("k", VALUE, 16);
    TAKE(HEADER, CAPABILITY, OP(OpMemoryModel, Physical32, OpenCL), ENTRY, OP(OpTypeVoid, VOID),
         NUMBERS, OP(OpTypePointer, 10, CrossWorkgroup, INT), OP(OpTypeStruct, 11, INT, 10),
         OP(OpTypeFunction, KERNEL_TYPE, VOID, 11), BEGIN_KERNEL, OP(OpFunctionParameter, 11, 30),
         BODY);
    EXPECT_ARGUMENTS("k", VALUE, 8);
}

Test(spirv_kernels, take_pointers_by_their_storage_class)
{
    static const struct {
        uint32_t storage;
        uint32_t kind;
    } cases[] = {
        {CrossWorkgroup, GLOBAL}, {Generic, GLOBAL},           {5936, GLOBAL},
        {5937, GLOBAL},           {UniformConstant, CONSTANT}, {Workgroup, LOCAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TAKE_ARGUMENT(10, OP(OpTypePointer, 10, cases[i].storage, INT));
        EXPECT_ARGUMENTS("k", cases[i].kind, 8);
        TAKE_ARGUMENT(10, OP(OpTypeUntypedPointerKHR, 10, cases[i].storage));
        EXPECT_ARGUMENTS("k", cases[i].kind, 8);
    }
}

Test(spirv_kernels, take_images_samplers_and_what_has_no_kind)
{
    TAKE_ARGUMENT(10, OP(OpTypeImage, 10, VOID, 1, 0, 0, 0, 0, 0, 0));
    EXPECT_ARGUMENTS("k", IMAGE, 8);
    TAKE_ARGUMENT(10, OP(OpTypeSampler, 10));
    EXPECT_ARGUMENTS("k", SAMPLER, 8);
    TAKE_ARGUMENT(10, OP(OpTypeEvent, 10));
    EXPECT_ARGUMENTS("k", OTHER, 8);
    // A pointer to Function storage that is not passed by value.
    TAKE(PROLOGUE, ENTRY, OP(OpTypeVoid, VOID), NUMBERS, OP(OpTypePointer, 10, Function, INT),
         OP(OpTypeFunction, KERNEL_TYPE, VOID, 10), BEGIN_KERNEL, OP(OpFunctionParameter, 10, 30),
         BODY);
    EXPECT_ARGUMENTS("k", OTHER, 8);
}

Test(spirv_kernels, have_values_of_size_0_where_it_is_unknown)
{
    // An integer of 24 bits, a vector of five, an untyped pointer by value.
    TAKE_ARGUMENT(10, OP(OpTypeInt, 10, 24, 0));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    TAKE_ARGUMENT(10, OP(OpTypeVector, 10, INT, 5));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    TAKE_ARGUMENT(10, OP(OpTypeUntypedPointerKHR, 10, Function));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    // A structure with more members than one instruction holds.
    TAKE_ARGUMENT(10, OP(OpTypeStruct, 10, INT), OP(OpTypeStructContinuedINTEL, INT));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    // A type of 16 GiB, and one whose length says nothing.
    TAKE_ARGUMENT(10, OP(OpConstant, INT, 11, 0xffffffff), OP(OpTypeArray, 10, INT, 11));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    TAKE_ARGUMENT(10, OP(OpConstant, LONG, 11, 0, 1), OP(OpTypeArray, 10, INT, 11));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    TAKE_ARGUMENT(10, OP(OpConstantNull, INT, 11), OP(OpTypeArray, 10, INT, 11));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    // Members that add up beyond 32 bits, and a vector of something large.
    TAKE_ARGUMENT(13, OP(OpConstant, INT, 11, 0x3fffffff), OP(OpTypeArray, 12, INT, 11),
                  OP(OpTypeStruct, 13, 12, 12));
    EXPECT_ARGUMENTS("k", VALUE, 0);
    TAKE_ARGUMENT(13, OP(OpConstant, INT, 11, 0x10000000), OP(OpTypeArray, 12, INT, 11),
                  OP(OpTypeVector, 13, 12, 4));
    EXPECT_ARGUMENTS("k", VALUE, 0);
}

Test(spirv_kernels, have_the_sizes_that_their_execution_modes_require)
{
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionMode, KERNEL, LocalSize, 4, 5, 6),
         OP(OpExecutionMode, KERNEL, LocalSizeHint, 2, 1, 3),
         OP(OpExecutionMode, KERNEL, SubgroupSize, 16), OP(OpExecutionMode, KERNEL, 30, 0), TYPES,
         KERNEL_FUNCTION);
    EXPECT_SIZES("k", 4, 5, 6, 16);
    const uint32_t hint[3] = {2, 1, 3};
    cr_assert_eq(memcmp(spirv.kernels[0].hinted_group_size, hint, sizeof(hint)), 0);
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionModeId, KERNEL, LocalSizeId, 10, 11, 12), TYPES, NUMBERS,
         OP(OpConstant, INT, 10, 7), OP(OpConstant, LONG, 11, 8, 0), OP(OpConstant, INT, 12, 9),
         KERNEL_FUNCTION);
    EXPECT_SIZES("k", 7, 8, 9, 0);
    // Each mode in the other one's instruction.
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionMode, KERNEL, LocalSizeId, 10, 11, 12),
         OP(OpExecutionModeId, KERNEL, LocalSize, 10, 11, 12), TYPES, NUMBERS,
         OP(OpConstant, INT, 10, 7), OP(OpConstant, LONG, 11, 8, 0), OP(OpConstant, INT, 12, 9),
         KERNEL_FUNCTION);
    EXPECT_SIZES("k", 0, 0, 0, 0);
    // Sizes for a function that is no entry point.
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionMode, 20, LocalSize, 4, 5, 6), TYPES, KERNEL_FUNCTION,
         OP(OpFunction, VOID, 20, 0, KERNEL_TYPE), OP0(OpFunctionEnd));
    EXPECT_SIZES("k", 0, 0, 0, 0);
}

Test(spirv_kernels, require_no_size_that_only_specialization_gives)
{
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionModeId, KERNEL, LocalSizeId, 11, 10, 11),
         OP(OpDecorate, 10, SpecId, 1), TYPES, NUMBERS, OP(OpSpecConstant, INT, 10, 7),
         OP(OpConstant, INT, 11, 8), KERNEL_FUNCTION);
    EXPECT_SIZES("k", 0, 0, 0, 0);
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionModeId, KERNEL, LocalSizeId, 12, 11, 11),
         OP(OpDecorate, 10, SpecId, 1), TYPES, NUMBERS, OP(OpSpecConstant, INT, 10, 7),
         OP(OpConstant, INT, 11, 8), OP(OpSpecConstantOp, INT, 12, OpIAdd, 10, 11),
         KERNEL_FUNCTION);
    EXPECT_SIZES("k", 0, 0, 0, 0);
}

Test(spirv_kernels, of_two_functions_keep_their_own_arguments)
{
    TAKE(PROLOGUE, OP(OpEntryPoint, Kernel, 20, 'b'), ENTRY, OP(OpTypeVoid, VOID), NUMBERS,
         OP(OpTypeFunction, KERNEL_TYPE, VOID, INT), OP(OpTypeFunction, 10, VOID, FLOAT, LONG),
         BEGIN_KERNEL, OP(OpFunctionParameter, INT, 30), BODY, OP(OpFunction, VOID, 20, 0, 10),
         OP(OpFunctionParameter, FLOAT, 31), OP(OpFunctionParameter, LONG, 32), OP(OpLabel, 21),
         OP0(OpReturn), OP0(OpFunctionEnd));
    EXPECT_ARGUMENTS("k", VALUE, 4);
    EXPECT_ARGUMENTS("b", VALUE, 4, VALUE, 8);
}
