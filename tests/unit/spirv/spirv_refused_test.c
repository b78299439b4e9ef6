// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(spirv_refused, .fini = spirv_tear_down);

Test(spirv_refused, is_what_has_no_header)
{
    cr_assert_eq(spirv_walk(NULL, 0), ZEPI_SPIRV_INVALID);
    cr_assert_str_eq(message, "word 0: the module ends here, expected a header of 5 words");
    cr_assert_eq(spirv_walk("SPIR-V!", 7), ZEPI_SPIRV_INVALID);
    cr_assert_str_eq(message, "word 1: the module has 7 bytes, expected a multiple of 4");
    REFUSE("word 4: the module ends here, expected a header of 5 words", MAGIC, 0x00010000, 0, 1);
    REFUSE("word 0: the magic number is 0x12345678, expected 0x07230203", 0x12345678, 0x00010000, 0,
           1, 0);
    REFUSE("word 0: the module is byte-swapped: its magic number is 0x03022307, expected "
           "0x07230203",
           0x03022307, 0x00000100, 0, 0x01000000, 0);
    REFUSE("word 1: the version is 0x00020000, expected 0x00010n00 for SPIR-V 1.n", MAGIC,
           0x00020000, 0, 1, 0);
    REFUSE("word 1: the version is 0x00010001, expected 0x00010n00 for SPIR-V 1.n", MAGIC,
           0x00010001, 0, 1, 0);
    REFUSE("word 3: the bound of ids is 0, expected at least 1", MAGIC, 0x00010000, 0, 0, 0);
    REFUSE("word 3: the bound of ids is 4294967295, expected at most 4194304 for a module of 5 "
           "words",
           MAGIC, 0x00010000, 0, 0xffffffff, 0);
    REFUSE("word 4: the instruction schema is 1, expected 0", MAGIC, 0x00010000, 0, 1, 1);
}

Test(spirv_refused, is_a_module_without_one_memory_model)
{
    REFUSE("word 17: the module ends here, expected an OpMemoryModel in it", HEADER, CAPABILITY,
           OP(OpTypeVoid, VOID), OP(OpTypeFunction, KERNEL_TYPE, VOID), OP(OpTypeInt, INT, 32, 0),
           OP0(OpNop));
    REFUSE("word 10: a second OpMemoryModel, expected one: the first is at word 7", PROLOGUE,
           MEMORY_MODEL);
}

Test(spirv_refused, is_a_module_that_offers_nothing)
{
    REFUSE(
        "word 10: the module ends here with neither an entry point of execution model Kernel nor "
        "a symbol that it imports or exports",
        PROLOGUE);
    REFUSE(
        "word 30: the module ends here with neither an entry point of execution model Kernel nor "
        "a symbol that it imports or exports",
        PROLOGUE, OP(OpEntryPoint, GLCompute, KERNEL, 'k'), TYPES, BEGIN_KERNEL, OP(OpLabel, 4),
        OP0(OpReturn), OP0(OpFunctionEnd), OP0(OpNop), OP0(OpNop));
}

Test(spirv_refused, are_instructions_of_a_wrong_length)
{
    REFUSE("word 10: OpLabel has a length of 0, expected at least 1", PROLOGUE, OpLabel, LABEL);
    REFUSE("word 10: opcode 60000 has 3 words, but the module ends after 2 of them", PROLOGUE,
           3u << 16 | OpOfTheFuture, 0);
    REFUSE("word 10: OpTypeInt has 3 words, expected more for its operands", PROLOGUE,
           OP(OpTypeInt, INT, 32));
    REFUSE("word 10: OpEntryPoint has 3 words, expected more for its operands", PROLOGUE,
           OP(OpEntryPoint, Kernel, KERNEL));
    REFUSE("word 14: OpPhi has 4 words, expected more for its operands", PROLOGUE,
           OP(OpTypeInt, INT, 32, 0), OP(OpPhi, INT, 10, 11));
    REFUSE("word 10: OpFunctionEnd outside of a function, expected it behind OpFunction", PROLOGUE,
           OP(OpFunctionEnd, 1, 2, 3));
}

Test(spirv_refused, are_ids_out_of_range)
{
    REFUSE("word 10: OpTypeVoid names id 0, expected ids from 1 on", PROLOGUE, OP(OpTypeVoid, 0));
    REFUSE("word 10: OpTypeVoid names id 100, expected an id below the bound 100", PROLOGUE,
           OP(OpTypeVoid, 100));
    REFUSE("word 10: OpEntryPoint names id 4294967295, expected an id below the bound 100",
           PROLOGUE, OP(OpEntryPoint, Kernel, ~0u, 'k'));
    REFUSE("word 12: OpTypeVoid defines id 1, expected one that word 10 has not defined already",
           PROLOGUE, OP(OpTypeVoid, VOID), OP(OpTypeVoid, VOID));
}

Test(spirv_refused, are_names_of_what_nothing_defines)
{
    REFUSE("word 14: OpName names id 50, which no instruction defines", PROLOGUE, ENTRY,
           OP(OpName, 50, 'n'), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: OpDecorate names id 50, which no instruction defines", PROLOGUE, ENTRY,
           OP(OpDecorate, 50, SpecId, 1), TYPES, KERNEL_FUNCTION);
    REFUSE("word 10: OpEntryPoint names id 50, which no instruction defines", PROLOGUE,
           OP(OpEntryPoint, Kernel, 50, 'k'), TYPES, KERNEL_FUNCTION);
    REFUSE("word 10: OpEntryPoint names id 50, which no instruction defines", PROLOGUE,
           OP(OpEntryPoint, Kernel, KERNEL, 'k', 50), TYPES, KERNEL_FUNCTION);
    REFUSE("word 10: OpDecorate names id 50, which no instruction defines", PROLOGUE,
           OP(OpDecorate, 50, LinkageAttributes, 'f', Import), TYPES);
    REFUSE("word 14: OpExecutionMode names id 50, which no instruction defines", PROLOGUE, ENTRY,
           OP(OpExecutionMode, 50, LocalSize, 1, 1, 1), TYPES, KERNEL_FUNCTION);
    REFUSE("word 26: OpFunctionCall names id 50, which no instruction defines", PROLOGUE, ENTRY,
           TYPES, BEGIN_KERNEL, OP(OpLabel, LABEL), OP(OpFunctionCall, VOID, 10, 50), OP0(OpReturn),
           OP0(OpFunctionEnd));
    REFUSE("word 26: OpBranch names id 50, which no instruction defines", PROLOGUE, ENTRY, TYPES,
           BEGIN_KERNEL, OP(OpLabel, LABEL), OP(OpBranch, 50), OP0(OpFunctionEnd));
    // The one that the module names first, not the smallest.
    REFUSE("word 14: OpName names id 60, which no instruction defines", PROLOGUE, ENTRY,
           OP(OpName, 60, 'n'), OP(OpName, 50, 'm'), TYPES, KERNEL_FUNCTION);
}

Test(spirv_refused, are_types_that_are_none)
{
    REFUSE("word 10: OpUndef has id 50 as result type, expected a type that is declared before it",
           PROLOGUE, OP(OpUndef, 50, 51));
    REFUSE("word 23: OpUndef has id 10 as result type, expected a type that is declared before it",
           PROLOGUE, TYPES, OP(OpTypeInt, INT, 32, 0), OP(OpConstant, INT, 10, 5),
           OP(OpUndef, 10, 51));
    REFUSE("word 15: OpFunction has id 1 as its type, expected an OpTypeFunction before it",
           PROLOGUE, TYPES, OP(OpFunction, VOID, KERNEL, 0, VOID));
    REFUSE("word 15: OpFunction has id 50 as its type, expected an OpTypeFunction before it",
           PROLOGUE, TYPES, OP(OpFunction, VOID, KERNEL, 0, 50));
    REFUSE("word 12: OpConstant is of type id 10, expected an integer or floating-point type",
           PROLOGUE, OP(OpTypeBool, 10), OP(OpConstant, 10, 11, 1));
}

Test(spirv_refused, are_literals_of_another_width_than_their_type)
{
    REFUSE("word 14: OpConstant has 2 words of value, expected 1 for its type", PROLOGUE,
           OP(OpTypeInt, INT, 32, 0), OP(OpConstant, INT, 10, 1, 2));
    REFUSE("word 14: OpSpecConstant has 1 words of value, expected 2 for its type", PROLOGUE,
           OP(OpTypeInt, LONG, 64, 0), OP(OpSpecConstant, LONG, 10, 1));
    REFUSE("word 14: OpConstant has 0 words of value, expected 1 for its type", PROLOGUE,
           OP(OpTypeInt, INT, 32, 0), OP(OpConstant, INT, 10));
    // A selector of 64 bits, a target behind 32 bits, and a target that is missing.
    REFUSE("word 40: OpSwitch has 5 words, expected more for its operands", PROLOGUE, ENTRY, TYPES,
           NUMBERS, OP(OpUndef, LONG, 10), BEGIN_KERNEL, OP(OpLabel, LABEL),
           OP(OpSwitch, 10, LABEL, 5, LABEL));
    REFUSE("word 40: OpSwitch has 4 words, expected more for its operands", PROLOGUE, ENTRY, TYPES,
           NUMBERS, OP(OpUndef, INT, 10), BEGIN_KERNEL, OP(OpLabel, LABEL),
           OP(OpSwitch, 10, LABEL, 5));
}

Test(spirv_refused, are_strings_that_do_not_end)
{
    REFUSE("word 10: OpName holds a string that does not end, expected a byte 0 in it", PROLOGUE,
           OP(OpName, 50, 0x64636261));
    REFUSE("word 10: OpEntryPoint holds a string that does not end, expected a byte 0 in it",
           PROLOGUE, OP(OpEntryPoint, Kernel, KERNEL, 0x64636261));
    REFUSE("word 10: OpDecorate holds a name that does not end, expected a byte 0 in it", PROLOGUE,
           OP(OpDecorate, 50, LinkageAttributes, 0x64636261));
    REFUSE("word 10: OpDecorate holds a name that does not end, expected a byte 0 in it", PROLOGUE,
           OP(OpDecorate, 50, LinkageAttributes));
}

Test(spirv_refused, are_functions_of_a_wrong_form)
{
    REFUSE("word 19: the module ends inside of the function that begins here, expected its "
           "OpFunctionEnd",
           PROLOGUE, ENTRY, TYPES, BEGIN_KERNEL, OP(OpLabel, LABEL), OP0(OpReturn));
    REFUSE("word 24: OpFunction, expected OpFunctionEnd of the function that begins at word 19",
           PROLOGUE, ENTRY, TYPES, BEGIN_KERNEL, OP(OpFunction, VOID, 20, 0, KERNEL_TYPE));
    REFUSE("word 10: OpLabel outside of a function, expected it behind OpFunction", PROLOGUE,
           OP(OpLabel, LABEL));
    REFUSE("word 14: OpFunctionParameter outside of a function, expected it behind OpFunction",
           PROLOGUE, OP(OpTypeInt, INT, 32, 0), OP(OpFunctionParameter, INT, 30));
    REFUSE(
        "word 24: OpFunctionParameter, expected no more than the 0 that the type of the function "
        "at word 19 has",
        PROLOGUE, ENTRY, TYPES, BEGIN_KERNEL, OP(OpFunctionParameter, VOID, 30));
    REFUSE("word 25: OpLabel, expected 1 more OpFunctionParameter of the function at word 20",
           PROLOGUE, OP(OpTypeVoid, VOID), OP(OpTypeInt, INT, 32, 0),
           OP(OpTypeFunction, KERNEL_TYPE, VOID, INT), BEGIN_KERNEL, BODY);
    REFUSE("word 25: OpFunctionParameter has type id 1, expected 5 as the type of the function at "
           "word 20 has it",
           PROLOGUE, OP(OpTypeVoid, VOID), OP(OpTypeInt, INT, 32, 0),
           OP(OpTypeFunction, KERNEL_TYPE, VOID, INT), BEGIN_KERNEL,
           OP(OpFunctionParameter, VOID, 30), BODY);
}

Test(spirv_refused, are_entry_points_that_are_no_functions_with_a_body)
{
    REFUSE("word 10: OpEntryPoint names id 1, expected a function", PROLOGUE,
           OP(OpEntryPoint, Kernel, VOID, 'k'), TYPES, KERNEL_FUNCTION);
    REFUSE("word 10: OpEntryPoint names id 3, expected a function with a body", PROLOGUE, ENTRY,
           TYPES, BEGIN_KERNEL, OP0(OpFunctionEnd));
    REFUSE("word 14: a second kernel has the name \"k\", expected one", PROLOGUE, ENTRY, ENTRY,
           TYPES, KERNEL_FUNCTION);
}

Test(spirv_refused, are_execution_modes_without_their_operands)
{
    REFUSE("word 14: execution mode 17 has 2 operands, expected 3", PROLOGUE, ENTRY,
           OP(OpExecutionMode, KERNEL, LocalSize, 1, 1), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: execution mode 35 has 0 operands, expected 1", PROLOGUE, ENTRY,
           OP(OpExecutionMode, KERNEL, SubgroupSize), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: LocalSizeId names id 10 of the value 4294967296, expected 32 bits", PROLOGUE,
           ENTRY, OP(OpExecutionModeId, KERNEL, LocalSizeId, 10, 10, 10), TYPES, NUMBERS,
           OP(OpConstant, LONG, 10, 0, 1), KERNEL_FUNCTION);
}

Test(spirv_refused, are_specialization_ids_of_what_is_no_scalar)
{
    REFUSE("word 14: OpDecorate SpecId has no operand, expected one", PROLOGUE, ENTRY,
           OP(OpDecorate, 10, SpecId), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: OpDecorate FuncParamAttr has no operand, expected one", PROLOGUE, ENTRY,
           OP(OpDecorate, 10, FuncParamAttr), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: SpecId 7 decorates id 10, expected a scalar specialization constant, it is "
           "OpConstant",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, NUMBERS,
           OP(OpConstant, INT, 10, 1), KERNEL_FUNCTION);
    REFUSE("word 14: SpecId 7 decorates id 10, expected a scalar specialization constant, it is "
           "OpSpecConstantComposite",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, NUMBERS,
           OP(OpTypeVector, 11, INT, 2), OP(OpConstant, INT, 12, 1),
           OP(OpSpecConstantComposite, 11, 10, 12, 12), KERNEL_FUNCTION);
    REFUSE("word 34: OpSpecConstantTrue is of type id 5, expected OpTypeBool, it is OpTypeInt",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, NUMBERS,
           OP(OpSpecConstantTrue, INT, 10), KERNEL_FUNCTION);
    REFUSE("word 27: the constant of SpecId 7 is of type id 11, expected a number of 8, 16, 32 or "
           "64 bits",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, OP(OpTypeInt, 11, 24, 0),
           OP(OpSpecConstant, 11, 10, 1), KERNEL_FUNCTION);
}

Test(spirv_refused, are_specialization_ids_that_contradict_each_other)
{
    REFUSE("word 18: id 10 gets SpecId 8, expected SpecId 7 as word 14 has it", PROLOGUE, ENTRY,
           OP(OpDecorate, 10, SpecId, 7), OP(OpDecorate, 10, SpecId, 8), TYPES, NUMBERS,
           OP(OpSpecConstant, INT, 10, 1), KERNEL_FUNCTION);
    REFUSE("word 18: id 10 gets SpecId 8, expected SpecId 7 as word 14 has it", PROLOGUE, ENTRY,
           OP(OpDecorate, 10, SpecId, 7), OP(OpDecorate, 11, SpecId, 8), OP(OpDecorationGroup, 11),
           OP(OpGroupDecorate, 11, 10), TYPES, NUMBERS, OP(OpSpecConstant, INT, 10, 1),
           KERNEL_FUNCTION);
    REFUSE("word 42: SpecId 7 is a floating-point number of 4 bytes here, expected an integer of 4 "
           "bytes as at word 38",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), OP(OpDecorate, 11, SpecId, 7), TYPES,
           NUMBERS, OP(OpSpecConstant, INT, 10, 1), OP(OpSpecConstant, FLOAT, 11, 1),
           KERNEL_FUNCTION);
    REFUSE("word 43: SpecId 7 is an integer of 8 bytes here, expected a Boolean of 1 bytes as at "
           "word 40",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), OP(OpDecorate, 11, SpecId, 7), TYPES,
           NUMBERS, OP(OpTypeBool, 12), OP(OpSpecConstantTrue, 12, 10),
           OP(OpSpecConstant, LONG, 11, 1, 0), KERNEL_FUNCTION);
}

// An instruction that the walk does not know may have declared them, and then they have no words
// that the walk could compare with the type.
Test(spirv_refused, are_constants_whose_type_is_declared_behind_them)
{
    REFUSE("word 25: OpSpecConstant has id 12 as result type, expected a type that is declared "
           "before it",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, OP(OpOfTheFuture, 11),
           OP(OpSpecConstant, 12, 10), OP(OpTypeInt, 12, 64, 0), KERNEL_FUNCTION);
    REFUSE("word 25: OpSpecConstant has id 12 as result type, expected a type that is declared "
           "before it",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, OP(OpOfTheFuture, 11),
           OP(OpSpecConstant, 12, 10, 1), OP(OpTypeInt, INT, 32, 0), OP(OpTypeStruct, 12, INT, INT),
           KERNEL_FUNCTION);
    REFUSE(
        "word 21: OpConstant has id 12 as result type, expected a type that is declared before it",
        PROLOGUE, ENTRY, TYPES, OP(OpOfTheFuture, 11), OP(OpConstant, 12, 10),
        OP(OpTypeInt, 12, 32, 0), KERNEL_FUNCTION);
}

Test(spirv_refused, are_instruction_sets_that_are_imported_behind_their_use)
{
    REFUSE("word 28: OpExtInst names id 12 as its instruction set, expected an OpExtInstImport "
           "before it",
           PROLOGUE, ENTRY, TYPES, OP(OpOfTheFuture, 11), BEGIN_KERNEL, OP(OpLabel, LABEL),
           OP(OpExtInst, VOID, 10, 12, 23, VOID, 99), OP0(OpReturn), OP0(OpFunctionEnd),
           OP(OpExtInstImport, 12, TEXT("set")));
}

// An instruction that the walk does not know may name them, and so define them.
Test(spirv_refused, are_types_and_sets_that_are_defined_behind_their_use)
{
    REFUSE("word 28: OpTypeInt defines id 12, which is used as a type or an instruction set before "
           "it",
           PROLOGUE, ENTRY, OP(OpDecorate, 10, SpecId, 7), TYPES, OP(OpOfTheFuture, 12),
           OP(OpSpecConstant, 12, 10), OP(OpTypeInt, 12, 64, 0), KERNEL_FUNCTION);
    REFUSE("word 37: OpExtInstImport defines id 12, which is used as a type or an instruction set "
           "before it",
           PROLOGUE, ENTRY, TYPES, OP(OpOfTheFuture, 12), BEGIN_KERNEL, OP(OpLabel, LABEL),
           OP(OpExtInst, VOID, 10, 12, 23, VOID, 99), OP0(OpReturn), OP0(OpFunctionEnd),
           OP(OpExtInstImport, 12, TEXT("set")));
}

Test(spirv_refused, is_linkage_of_a_wrong_form)
{
    REFUSE("word 14: OpDecorate LinkageAttributes ends with the name, expected the linkage type "
           "behind it",
           PROLOGUE, ENTRY, OP(OpDecorate, KERNEL, LinkageAttributes, 'f'), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: linkage type 3, expected 0 (Export), 1 (Import) or 2 (LinkOnceODR)", PROLOGUE,
           ENTRY, OP(OpDecorate, KERNEL, LinkageAttributes, 'f', 3), TYPES, KERNEL_FUNCTION);
    REFUSE("word 14: LinkageAttributes decorate id 1, expected a function or variable, it is "
           "OpTypeVoid",
           PROLOGUE, ENTRY, OP(OpDecorate, VOID, LinkageAttributes, 'f', Export), TYPES,
           KERNEL_FUNCTION);
    REFUSE("word 19: id 3 gets LinkageAttributes, expected only those of word 14", PROLOGUE, ENTRY,
           OP(OpDecorate, KERNEL, LinkageAttributes, 'f', Export),
           OP(OpDecorate, KERNEL, LinkageAttributes, 'g', Export), TYPES, KERNEL_FUNCTION);
}

Test(spirv_refused, are_groups_of_decorations_that_are_none)
{
    REFUSE("word 14: OpGroupDecorate names id 1 as its group, expected one that OpDecorationGroup "
           "defines",
           PROLOGUE, ENTRY, OP(OpGroupDecorate, VOID, KERNEL), TYPES, KERNEL_FUNCTION);
    REFUSE("word 18: OpGroupDecorate names id 11 as a target, expected no group", PROLOGUE, ENTRY,
           OP(OpDecorationGroup, 10), OP(OpDecorationGroup, 11), OP(OpGroupDecorate, 10, 11), TYPES,
           KERNEL_FUNCTION);
}

Test(spirv_refused, are_extended_instructions_of_no_set)
{
    REFUSE("word 24: OpExtInst names id 6 as its instruction set, expected an OpExtInstImport "
           "before it",
           PROLOGUE, OP(OpTypeInt, INT, 32, 0), OP(OpConstant, INT, FLOAT, 1), OP(OpTypeVoid, VOID),
           OP(OpTypeFunction, KERNEL_TYPE, VOID), OP0(OpNop), OP(OpExtInst, INT, 10, FLOAT, 1));
    // An operand of OpenCL.std that nothing defines.
    REFUSE("word 28: OpExtInst names id 50, which no instruction defines", PROLOGUE, ENTRY,
           OP(OpExtInstImport, 20, 0x6e65704f, 0x732e4c43, 'd' << 8 | 't'), OP(OpTypeVoid, VOID),
           OP(OpTypeFunction, KERNEL_TYPE, VOID), OP(OpTypeFloat, FLOAT, 32), OP0(OpNop),
           OP(OpExtInst, FLOAT, 10, 20, 1, 50), KERNEL_FUNCTION);
}

Test(spirv_refused, leaves_a_terminated_message_in_a_buffer_of_any_size)
{
    const char *whole = "word 0: the module ends here, expected a header of 5 words";
    for (size_t size = 0; size < 80; size++) {
        char text[80];
        memset(text, '#', sizeof(text));
        cr_assert_eq(zepi_spirv_init(&spirv, NULL, 0, text, size), ZEPI_SPIRV_INVALID);
        for (size_t i = size; i < sizeof(text); i++)
            cr_assert_eq(text[i], '#');
        if (size > 0) {
            cr_assert_lt(strnlen(text, size), size);
            cr_assert_eq(strncmp(text, whole, strlen(text)), 0);
        }
    }
    cr_assert_eq(zepi_spirv_init(&spirv, NULL, 0, NULL, 0), ZEPI_SPIRV_INVALID);
}
