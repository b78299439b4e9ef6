// SPDX-License-Identifier: MIT
#include "spirv_kernels.h"

#include "spirv_decorations.h"
#include "spirv_types.h"

#include <stdlib.h>

// Values of the specification, section "Execution Mode".
enum {
    MODE_LOCAL_SIZE = 17,
    MODE_LOCAL_SIZE_HINT = 18,
    MODE_SUBGROUP_SIZE = 35,
    MODE_LOCAL_SIZE_ID = 38,
};

struct zepi_spirv_instruction zepi_spirv_skip_lines(const struct zepi_spirv_parser *parser,
                                                    uint32_t word)
{
    struct zepi_spirv_instruction instruction = zepi_spirv_instruction_at(parser, word);
    while (instruction.opcode == OpLine || instruction.opcode == OpNoLine)
        instruction = zepi_spirv_instruction_at(parser, instruction.word + instruction.length);
    return instruction;
}

struct zepi_spirv_entry_function *
zepi_spirv_find_entry_function(const struct zepi_spirv_parser *parser, uint32_t id)
{
    uint32_t index = parser->ids[id].function;
    return index == 0 ? NULL : &parser->entry_functions[index - 1];
}

// False for a value that is only known once the module is specialized.
static bool find_fixed_value(const struct zepi_spirv_parser *parser, uint32_t id,
                             uint64_t *out_value)
{
    return zepi_spirv_definition(parser, id).opcode == OpConstant &&
           zepi_spirv_constant_value(parser, id, out_value);
}

static bool read_execution_mode(struct zepi_spirv_parser *parser,
                                struct zepi_spirv_instruction instruction)
{
    struct zepi_spirv_entry_function *function =
        zepi_spirv_find_entry_function(parser, zepi_spirv_operand(parser, instruction, 1));
    uint32_t mode = zepi_spirv_operand(parser, instruction, 2);
    bool by_id = mode == MODE_LOCAL_SIZE_ID;
    bool is_group_size = by_id || mode == MODE_LOCAL_SIZE || mode == MODE_LOCAL_SIZE_HINT;
    if (!function || (!is_group_size && mode != MODE_SUBGROUP_SIZE) ||
        by_id != (instruction.opcode == OpExecutionModeId))
        return true;
    uint32_t count = is_group_size ? 3 : 1;
    if (instruction.length < 3 + count)
        return zepi_spirv_fail(parser, instruction.word,
                               "execution mode %u has %u operands, expected %u", mode,
                               instruction.length - 3, count);
    if (mode == MODE_SUBGROUP_SIZE) {
        function->required_sub_group_size = zepi_spirv_operand(parser, instruction, 3);
        return true;
    }
    uint32_t *size =
        mode == MODE_LOCAL_SIZE_HINT ? function->hinted_group_size : function->required_group_size;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = zepi_spirv_operand(parser, instruction, 3 + i);
        uint64_t value = operand;
        if (by_id && !find_fixed_value(parser, operand, &value)) {
            memset(function->required_group_size, 0, sizeof(function->required_group_size));
            return true;
        }
        if (value > UINT32_MAX)
            return zepi_spirv_fail(parser, instruction.word,
                                   "LocalSizeId names id %u of the value %llu, expected 32 bits",
                                   operand, (unsigned long long)value);
        size[i] = (uint32_t)value;
    }
    return true;
}

// Notes the function of an entry point, which must have a body; each one once, however many names
// it has.
static bool note_entry_function(struct zepi_spirv_parser *parser,
                                const struct zepi_spirv_entry *entry)
{
    if (zepi_spirv_find_entry_function(parser, entry->function))
        return true;
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(parser, entry->function);
    if (instruction.opcode != OpFunction)
        return zepi_spirv_fail(parser, entry->word, "OpEntryPoint names id %u, expected a function",
                               entry->function);
    struct zepi_spirv_instruction type =
        zepi_spirv_definition(parser, zepi_spirv_operand(parser, instruction, 4));
    while (instruction.opcode != OpLabel && instruction.opcode != OpFunctionEnd)
        instruction = zepi_spirv_skip_lines(parser, instruction.word + instruction.length);
    if (instruction.opcode != OpLabel)
        return zepi_spirv_fail(parser, entry->word,
                               "OpEntryPoint names id %u, expected a function with a body",
                               entry->function);
    parser->entry_functions[parser->entry_function_count++] =
        (struct zepi_spirv_entry_function){.id = entry->function,
                                           .first_argument = parser->argument_count,
                                           .argument_count = type.length - 3};
    parser->ids[entry->function].function = parser->entry_function_count;
    parser->argument_count += type.length - 3;
    return true;
}

bool zepi_spirv_find_entry_functions(struct zepi_spirv_parser *parser)
{
    const struct zepi_spirv_entry *entries = parser->entries.items;
    const uint32_t *words = parser->execution_modes.items;
    bool is_read = true;
    if (parser->entries.count == 0)
        return true;
    parser->entry_functions = calloc(parser->entries.count, sizeof(*parser->entry_functions));
    if (!parser->entry_functions)
        return false;
    for (uint32_t i = 0; i < parser->entries.count && is_read; i++)
        is_read = note_entry_function(parser, &entries[i]);
    for (uint32_t i = 0; i < parser->execution_modes.count && is_read; i++)
        is_read = read_execution_mode(parser, zepi_spirv_instruction_at(parser, words[i]));
    return is_read;
}
