// SPDX-License-Identifier: MIT
#include "spirv_instructions.h"

#include "spirv_decorations.h"
#include "spirv_grammar.h"
#include "spirv_operands.h"

#include <stdlib.h>

enum { MAGIC = 0x07230203, MAGIC_SWAPPED = 0x03022307 };

static bool note_word(struct zepi_spirv_list *list, uint32_t word)
{
    return zepi_spirv_append(list, &word, 1, sizeof(word));
}

static bool read_header(struct zepi_spirv_parser *parser)
{
    if (parser->word_count < ZEPI_SPIRV_HEADER_WORDS)
        return zepi_spirv_fail(parser, parser->word_count,
                               "the module ends here, expected a header of %u words",
                               ZEPI_SPIRV_HEADER_WORDS);
    uint32_t magic = zepi_spirv_word(parser, 0);
    if (magic == MAGIC_SWAPPED)
        return zepi_spirv_fail(parser, 0,
                               "the module is byte-swapped: its magic number is 0x%08x, "
                               "expected 0x%08x",
                               magic, MAGIC);
    if (magic != MAGIC)
        return zepi_spirv_fail(parser, 0, "the magic number is 0x%08x, expected 0x%08x", magic,
                               MAGIC);
    parser->version = zepi_spirv_word(parser, 1);
    if ((parser->version & 0xffff00ff) != 0x00010000)
        return zepi_spirv_fail(parser, 1,
                               "the version is 0x%08x, expected 0x00010n00 for SPIR-V 1.n",
                               parser->version);
    parser->bound = zepi_spirv_word(parser, 3);
    if (parser->bound == 0)
        return zepi_spirv_fail(parser, 3, "the bound of ids is 0, expected at least 1");
    if (parser->bound > ZEPI_SPIRV_MAX_SPARSE_BOUND && parser->bound > parser->word_count)
        return zepi_spirv_fail(parser, 3,
                               "the bound of ids is %u, expected at most %u for a module of %u "
                               "words",
                               parser->bound, ZEPI_SPIRV_MAX_SPARSE_BOUND, parser->word_count);
    if (zepi_spirv_word(parser, 4) != 0)
        return zepi_spirv_fail(parser, 4, "the instruction schema is %u, expected 0",
                               zepi_spirv_word(parser, 4));
    return true;
}

static bool note_memory_model(struct zepi_spirv_parser *parser,
                              struct zepi_spirv_instruction instruction)
{
    if (parser->memory_model_at != 0)
        return zepi_spirv_fail(parser, instruction.word,
                               "a second OpMemoryModel, expected one: the first is at word %u",
                               parser->memory_model_at);
    parser->memory_model_at = instruction.word;
    parser->addressing_model = zepi_spirv_operand(parser, instruction, 1);
    return true;
}

static bool note_entry_point(struct zepi_spirv_parser *parser,
                             struct zepi_spirv_instruction instruction)
{
    const uint32_t kernel_model = 6;
    if (zepi_spirv_operand(parser, instruction, 1) != kernel_model)
        return true;
    struct zepi_spirv_entry entry = {.function = zepi_spirv_operand(parser, instruction, 2),
                                     .word = instruction.word};
    uint32_t next;
    return zepi_spirv_note_name(parser, instruction, 3, &entry.name, &next) &&
           zepi_spirv_append(&parser->entries, &entry, 1, sizeof(entry));
}

static bool begin_function(struct zepi_spirv_parser *parser,
                           struct zepi_spirv_instruction instruction)
{
    if (parser->function_at != 0)
        return zepi_spirv_fail(parser, instruction.word,
                               "OpFunction, expected OpFunctionEnd of the function that begins at "
                               "word %u",
                               parser->function_at);
    uint32_t type_id = zepi_spirv_operand(parser, instruction, 4);
    struct zepi_spirv_instruction type = zepi_spirv_definition(parser, type_id);
    if (type.opcode != OpTypeFunction)
        return zepi_spirv_refuse(parser, instruction,
                                 "has id %u as its type, expected an OpTypeFunction before it",
                                 type_id);
    parser->function_at = instruction.word;
    parser->parameters_left = type.length - 3;
    return true;
}

static bool next_parameter(struct zepi_spirv_parser *parser,
                           struct zepi_spirv_instruction instruction)
{
    if (parser->function_at == 0)
        return zepi_spirv_refuse(parser, instruction,
                                 "outside of a function, expected it behind OpFunction");
    struct zepi_spirv_instruction function = zepi_spirv_instruction_at(parser, parser->function_at);
    struct zepi_spirv_instruction type =
        zepi_spirv_definition(parser, zepi_spirv_operand(parser, function, 4));
    if (parser->parameters_left == 0)
        return zepi_spirv_fail(parser, instruction.word,
                               "OpFunctionParameter, expected no more than the %u that the type of "
                               "the function at word %u has",
                               type.length - 3, parser->function_at);
    uint32_t expected = zepi_spirv_operand(parser, type, type.length - parser->parameters_left);
    if (zepi_spirv_operand(parser, instruction, 1) != expected)
        return zepi_spirv_refuse(parser, instruction,
                                 "has type id %u, expected %u as the type of the function at word "
                                 "%u has it",
                                 zepi_spirv_operand(parser, instruction, 1), expected,
                                 parser->function_at);
    parser->parameters_left--;
    return true;
}

// For OpLabel and OpFunctionEnd.
static bool check_inside_function(struct zepi_spirv_parser *parser,
                                  struct zepi_spirv_instruction instruction)
{
    if (parser->function_at == 0)
        return zepi_spirv_refuse(parser, instruction,
                                 "outside of a function, expected it behind OpFunction");
    if (parser->parameters_left != 0)
        return zepi_spirv_fail(
            parser, instruction.word,
            "%s, expected %u more OpFunctionParameter of the function at word %u",
            zepi_spirv_opcode_text(instruction.opcode).text, parser->parameters_left,
            parser->function_at);
    return true;
}

static bool end_function(struct zepi_spirv_parser *parser,
                         struct zepi_spirv_instruction instruction)
{
    if (!check_inside_function(parser, instruction))
        return false;
    parser->function_at = 0;
    return true;
}

// The variable is the module's, in memory that outlives a launch.
static bool note_variable(struct zepi_spirv_parser *parser,
                          struct zepi_spirv_instruction instruction)
{
    const uint32_t storage = zepi_spirv_operand(parser, instruction, 3);
    return parser->function_at != 0 ||
           (storage != ZEPI_SPIRV_STORAGE_CROSS_WORKGROUP &&
            storage != ZEPI_SPIRV_STORAGE_DEVICE_ONLY_INTEL) ||
           note_word(&parser->variables, instruction.word);
}

static bool note_instruction(struct zepi_spirv_parser *parser,
                             struct zepi_spirv_instruction instruction)
{
    switch (instruction.opcode) {
    case OpMemoryModel:
        return note_memory_model(parser, instruction);
    case OpEntryPoint:
        return note_entry_point(parser, instruction);
    case OpExecutionMode:
    case OpExecutionModeId:
        return note_word(&parser->execution_modes, instruction.word);
    case OpDecorate:
        return zepi_spirv_note_decoration(parser, instruction);
    case OpGroupDecorate:
        return note_word(&parser->group_decorates, instruction.word);
    case OpVariable:
    case OpUntypedVariableKHR:
        return note_variable(parser, instruction);
    case OpFunction:
        return begin_function(parser, instruction);
    case OpFunctionParameter:
        return next_parameter(parser, instruction);
    case OpLabel:
        return check_inside_function(parser, instruction);
    case OpFunctionEnd:
        return end_function(parser, instruction);
    default:
        if (zepi_spirv_is_type(instruction.opcode))
            return note_word(&parser->types, instruction.word);
        return true;
    }
}

static bool check_instructions(struct zepi_spirv_parser *parser)
{
    struct zepi_spirv_instruction instruction;
    for (uint32_t word = ZEPI_SPIRV_HEADER_WORDS; word < parser->word_count;
         word += instruction.length) {
        const uint32_t left = parser->word_count - word;
        instruction = zepi_spirv_instruction_at(parser, word);
        if (instruction.length == 0)
            return zepi_spirv_refuse(parser, instruction, "has a length of 0, expected at least 1");
        if (instruction.length > left)
            return zepi_spirv_refuse(parser, instruction,
                                     "has %u words, but the module ends after %u of them",
                                     instruction.length, left);
        if (!zepi_spirv_check_operands(parser, instruction) ||
            !note_instruction(parser, instruction))
            return false;
    }
    return true;
}

static bool check_all_defined(struct zepi_spirv_parser *parser)
{
    if (parser->undefined_count == 0)
        return true;

    uint32_t first = 0;
    for (uint32_t id = 1; id < parser->bound; id++) {
        const struct zepi_spirv_id *entry = &parser->ids[id];
        if (entry->used_at != 0 && entry->defined_at == 0 && entry->guess == ZEPI_SPIRV_NO_GUESS &&
            (first == 0 || entry->used_at < parser->ids[first].used_at))
            first = id;
    }
    return first == 0 ||
           zepi_spirv_refuse(parser, zepi_spirv_instruction_at(parser, parser->ids[first].used_at),
                             "names id %u, which no instruction defines", first);
}

bool zepi_spirv_parse_instructions(struct zepi_spirv_parser *parser)
{
    if (!read_header(parser))
        return false;
    // Zeroed pages of a large, sparse bound stay untouched.
    parser->ids = calloc(parser->bound, sizeof(*parser->ids));
    if (!parser->ids || !check_instructions(parser))
        return false;
    if (parser->function_at != 0)
        return zepi_spirv_fail(parser, parser->function_at,
                               "the module ends inside of the function that begins here, expected "
                               "its OpFunctionEnd");
    if (parser->memory_model_at == 0)
        return zepi_spirv_fail(parser, parser->word_count,
                               "the module ends here, expected an OpMemoryModel in it");
    return check_all_defined(parser);
}
