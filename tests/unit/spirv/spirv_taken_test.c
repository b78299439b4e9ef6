// SPDX-License-Identifier: MIT
//
// Modules that must not be refused: output of today's and later compilers.
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(spirv_taken, .fini = spirv_tear_down);

Test(spirv_taken, is_the_smallest_kernel)
{
    TAKE(PROLOGUE, ENTRY, TYPES, KERNEL_FUNCTION);
    cr_assert_eq(spirv.kernel_count, 1);
    cr_assert_str_eq(spirv.kernels[0].name, "k");
    cr_assert_eq(spirv.kernels[0].argument_count, 0);
    cr_assert_eq(spirv.symbol_count, 0);
    cr_assert_eq(spirv.constant_count, 0);
}

Test(spirv_taken, is_every_version_that_there_is)
{
    for (uint32_t minor = 0; minor <= 6; minor++) {
        TAKE(MAGIC, 0x00010000 | minor << 8, 0xdecaf000, 100, 0, CAPABILITY, MEMORY_MODEL, ENTRY,
             TYPES, KERNEL_FUNCTION);
        cr_assert_eq(spirv.version, 0x00010000 | minor << 8);
    }
}

static void take_file(const char *name, struct test_bytes file)
{
    cr_assert_eq(spirv_walk(file.data, file.size_bytes), ZEPI_SPIRV_OK, "%s: %s", name, message);
}

Test(spirv_taken, is_every_compiled_module)
{
    spirv_each_file(take_file);
}

static void take_from_odd_addresses(const char *name, struct test_bytes file)
{
    struct zepi_spirv odd;
    for (size_t offset = 1; offset < 4; offset++) {
        uint8_t *bytes = malloc(file.size_bytes + offset);
        memcpy(bytes + offset, file.data, file.size_bytes);
        cr_assert_eq(zepi_spirv_init(&odd, bytes + offset, file.size_bytes, message, 512),
                     ZEPI_SPIRV_OK, "%s: %s", name, message);
        free(bytes);
        // Nothing points into the bytes.
        for (uint32_t i = 0; i < odd.kernel_count; i++)
            cr_assert(strlen(odd.kernels[i].name) > 0);
        for (uint32_t i = 0; i < odd.symbol_count; i++)
            cr_assert(strlen(odd.symbols[i].name) > 0);
        zepi_spirv_finish(&odd);
        zepi_spirv_finish(&odd);
    }
}

Test(spirv_taken, are_bytes_of_any_alignment_which_need_not_outlive_the_walk)
{
    spirv_each_file(take_from_odd_addresses);
    zepi_spirv_finish(NULL);
}

Test(spirv_taken, are_instructions_that_the_walk_does_not_know)
{
    // Anywhere, with operands that look like ids out of range.
    TAKE(PROLOGUE, OP0(OpOfTheFuture), ENTRY, OP(OpOfTheFuture, 0, ~0u), TYPES,
         OP(OpOfTheFuture, 1, 2), BEGIN_KERNEL, OP(OpLabel, LABEL), OP(OpOfTheFuture, 9),
         OP0(OpReturn), OP0(OpFunctionEnd), OP(OpOfTheFuture, 5, 6, 7));
    cr_assert_eq(spirv.kernel_count, 1);
    // They may declare a type, and define a value of it.
    TAKE(PROLOGUE, ENTRY, OP(OpName, 10, 't'), TYPES, OP(OpOfTheFuture, 10, 8),
         OP(OpOfTheFuture, 10, 11), OP(OpUndef, 10, 12), OP(OpConstant, 10, 13, 1, 2, 3),
         BEGIN_KERNEL, OP(OpLabel, LABEL), OP(OpFunctionCall, VOID, 14, KERNEL, 11), OP0(OpReturn),
         OP0(OpFunctionEnd));
    // An argument of such a type has no kind.
    TAKE(PROLOGUE, ENTRY, OP(OpTypeVoid, VOID), OP(OpOfTheFuture, 10, 8),
         OP(OpTypeFunction, KERNEL_TYPE, VOID, 10), BEGIN_KERNEL, OP(OpFunctionParameter, 10, 30),
         BODY);
    cr_assert_eq(spirv.kernels[0].arguments[0].kind, ZEPI_SPIRV_ARGUMENT_OTHER);
}

Test(spirv_taken, are_operands_that_the_walk_does_not_know)
{
    // Decorations and execution modes, more operands than there were, bits of memory operands
    // (the first of which has an operand that is no id).
    TAKE(PROLOGUE, ENTRY, OP(OpExecutionMode, KERNEL, 60000, 1, 2),
         OP(OpDecorate, KERNEL, 60000, 0), OP(OpTypeVoid, VOID, 7),
         OP(OpTypeFunction, KERNEL_TYPE, VOID), NUMBERS, OP(OpTypePointer, 10, CrossWorkgroup, INT),
         OP(OpVariable, 10, 11, CrossWorkgroup), BEGIN_KERNEL, OP(OpLabel, LABEL),
         OP(OpLoad, INT, 20, 11, 0x10040, 0, 60000), OP(OpLoad, INT, 21, 11, 2, 4),
         OP(OpReturn, 1, 2), OP0(OpFunctionEnd));
}

Test(spirv_taken, are_ids_named_before_they_are_defined)
{
    // A call of a later function, a phi of a later value, a switch over 64 bits to later labels.
    TAKE(PROLOGUE, ENTRY, TYPES, NUMBERS, OP(OpUndef, LONG, 10), OP(OpUndef, INT, 11), BEGIN_KERNEL,
         OP(OpLabel, LABEL), OP(OpFunctionCall, VOID, 12, 30), OP(OpBranch, 20), OP(OpLabel, 20),
         OP(OpPhi, INT, 13, 11, LABEL, 14, 20), OP(OpIAdd, INT, 14, 13, 11),
         OP(OpSwitch, 10, 21, 1, 0, 20, 2, 1, 21), OP(OpLabel, 21), OP0(OpReturn),
         OP0(OpFunctionEnd), OP(OpFunction, VOID, 30, 0, KERNEL_TYPE), OP(OpLabel, 31),
         OP0(OpReturn), OP0(OpFunctionEnd));
}

Test(spirv_taken, is_a_bound_far_above_the_ids)
{
    TAKE(MAGIC, 0x00010000, 0, 4194304, 0, CAPABILITY, MEMORY_MODEL,
         OP(OpEntryPoint, Kernel, 4194303, 'k'), TYPES,
         OP(OpFunction, VOID, 4194303, 0, KERNEL_TYPE), BODY);
}

Test(spirv_taken, are_extended_instructions_of_sets_that_the_walk_does_not_know)
{
    TAKE(PROLOGUE, OP(OpExtInstImport, 20, TEXT("Non")), ENTRY, TYPES,
         OP(OpExtInst, VOID, 10, 20, 77, ~0u, 0), KERNEL_FUNCTION);
}
