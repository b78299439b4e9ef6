// SPDX-License-Identifier: MIT
#include "spirv_instructions.h"

#include "spirv_decorations.h"
#include "spirv_operands.h"

#include <stdlib.h>

enum { MAGIC = 0x07230203, MAGIC_SWAPPED = 0x03022307 };

static enum zepi_spirv_status note_word(struct zepi_spirv_list *list, uint32_t word)
{
    return zepi_spirv_append(list, &word, sizeof(word)) ? ZEPI_SPIRV_OK : ZEPI_SPIRV_OUT_OF_MEMORY;
}

static enum zepi_spirv_status read_header(struct zepi_spirv_walk *walk)
{
    if (walk->word_count < ZEPI_SPIRV_HEADER_WORDS)
        return zepi_spirv_fail(walk, walk->word_count,
                               "the module ends here, expected a header of %u words",
                               ZEPI_SPIRV_HEADER_WORDS);
    uint32_t magic = zepi_spirv_word(walk, 0);
    if (magic == MAGIC_SWAPPED)
        return zepi_spirv_fail(walk, 0,
                               "the module is byte-swapped: its magic number is 0x%08x, "
                               "expected 0x%08x",
                               magic, MAGIC);
    if (magic != MAGIC)
        return zepi_spirv_fail(walk, 0, "the magic number is 0x%08x, expected 0x%08x", magic,
                               MAGIC);
    walk->version = zepi_spirv_word(walk, 1);
    if ((walk->version & 0xffff00ff) != 0x00010000)
        return zepi_spirv_fail(walk, 1, "the version is 0x%08x, expected 0x00010n00 for SPIR-V 1.n",
                               walk->version);
    walk->bound = zepi_spirv_word(walk, 3);
    if (walk->bound == 0)
        return zepi_spirv_fail(walk, 3, "the bound of ids is 0, expected at least 1");
    if (walk->bound > ZEPI_SPIRV_MAX_SPARSE_BOUND && walk->bound > walk->word_count)
        return zepi_spirv_fail(walk, 3,
                               "the bound of ids is %u, expected at most %u for a module of %u "
                               "words",
                               walk->bound, ZEPI_SPIRV_MAX_SPARSE_BOUND, walk->word_count);
    if (zepi_spirv_word(walk, 4) != 0)
        return zepi_spirv_fail(walk, 4, "the instruction schema is %u, expected 0",
                               zepi_spirv_word(walk, 4));
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status note_memory_model(struct zepi_spirv_walk *walk,
                                                struct zepi_spirv_instruction instruction)
{
    if (walk->memory_model_at != 0)
        return zepi_spirv_fail(walk, instruction.word,
                               "a second OpMemoryModel, expected one: the first is at word %u",
                               walk->memory_model_at);
    walk->memory_model_at = instruction.word;
    walk->addressing_model = zepi_spirv_operand(walk, instruction, 1);
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status note_entry_point(struct zepi_spirv_walk *walk,
                                               struct zepi_spirv_instruction instruction)
{
    const uint32_t kernel_model = 6;
    if (zepi_spirv_operand(walk, instruction, 1) != kernel_model)
        return ZEPI_SPIRV_OK;
    struct zepi_spirv_entry entry = {.function = zepi_spirv_operand(walk, instruction, 2),
                                     .word = instruction.word};
    uint32_t next;
    enum zepi_spirv_status status = zepi_spirv_note_name(walk, instruction, 3, &entry.name, &next);
    if (status != ZEPI_SPIRV_OK)
        return status;
    return zepi_spirv_append(&walk->entries, &entry, sizeof(entry)) ? ZEPI_SPIRV_OK
                                                                    : ZEPI_SPIRV_OUT_OF_MEMORY;
}

static enum zepi_spirv_status begin_function(struct zepi_spirv_walk *walk,
                                             struct zepi_spirv_instruction instruction)
{
    if (walk->function_at != 0)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpFunction, expected OpFunctionEnd of the function that begins at "
                               "word %u",
                               walk->function_at);
    uint32_t type_id = zepi_spirv_operand(walk, instruction, 4);
    struct zepi_spirv_instruction type = zepi_spirv_definition(walk, type_id);
    if (type.opcode != OpTypeFunction)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpFunction has id %u as its type, expected an OpTypeFunction "
                               "before it",
                               type_id);
    walk->function_at = instruction.word;
    walk->parameters_left = type.length - 3;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status next_parameter(struct zepi_spirv_walk *walk,
                                             struct zepi_spirv_instruction instruction)
{
    if (walk->function_at == 0)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpFunctionParameter outside of a function, expected it behind "
                               "OpFunction");
    struct zepi_spirv_instruction function = zepi_spirv_instruction_at(walk, walk->function_at);
    struct zepi_spirv_instruction type =
        zepi_spirv_definition(walk, zepi_spirv_operand(walk, function, 4));
    if (walk->parameters_left == 0)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpFunctionParameter, expected no more than the %u that the type of "
                               "the function at word %u has",
                               type.length - 3, walk->function_at);
    uint32_t expected = zepi_spirv_operand(walk, type, type.length - walk->parameters_left);
    if (zepi_spirv_operand(walk, instruction, 1) != expected)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpFunctionParameter has type id %u, expected %u as the type of the "
                               "function at word %u has it",
                               zepi_spirv_operand(walk, instruction, 1), expected,
                               walk->function_at);
    walk->parameters_left--;
    return ZEPI_SPIRV_OK;
}

// For OpLabel and OpFunctionEnd.
static enum zepi_spirv_status check_inside_function(struct zepi_spirv_walk *walk,
                                                    struct zepi_spirv_instruction instruction)
{
    if (walk->function_at == 0)
        return zepi_spirv_fail(walk, instruction.word,
                               "%s outside of a function, expected it behind OpFunction",
                               zepi_spirv_opcode_text(instruction.opcode).text);
    if (walk->parameters_left != 0)
        return zepi_spirv_fail(
            walk, instruction.word,
            "%s, expected %u more OpFunctionParameter of the function at word %u",
            zepi_spirv_opcode_text(instruction.opcode).text, walk->parameters_left,
            walk->function_at);
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status end_function(struct zepi_spirv_walk *walk,
                                           struct zepi_spirv_instruction instruction)
{
    enum zepi_spirv_status status = check_inside_function(walk, instruction);
    walk->function_at = 0;
    return status;
}

// The variable is the module's, in memory that outlives a launch.
static enum zepi_spirv_status note_variable(struct zepi_spirv_walk *walk,
                                            struct zepi_spirv_instruction instruction)
{
    enum { CROSS_WORKGROUP = 5, DEVICE_ONLY_INTEL = 5936 };
    const uint32_t storage = zepi_spirv_operand(walk, instruction, 3);
    return walk->function_at == 0 && (storage == CROSS_WORKGROUP || storage == DEVICE_ONLY_INTEL)
               ? note_word(&walk->variables, instruction.word)
               : ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status note_instruction(struct zepi_spirv_walk *walk,
                                               struct zepi_spirv_instruction instruction)
{
    switch (instruction.opcode) {
    case OpMemoryModel:
        return note_memory_model(walk, instruction);
    case OpEntryPoint:
        return note_entry_point(walk, instruction);
    case OpExecutionMode:
    case OpExecutionModeId:
        return note_word(&walk->execution_modes, instruction.word);
    case OpDecorate:
        return zepi_spirv_note_decoration(walk, instruction);
    case OpGroupDecorate:
        return note_word(&walk->group_decorates, instruction.word);
    case OpVariable:
    case OpUntypedVariableKHR:
        return note_variable(walk, instruction);
    case OpFunction:
        return begin_function(walk, instruction);
    case OpFunctionParameter:
        return next_parameter(walk, instruction);
    case OpLabel:
        return check_inside_function(walk, instruction);
    case OpFunctionEnd:
        return end_function(walk, instruction);
    default:
        if (zepi_spirv_is_type(instruction.opcode))
            return note_word(&walk->types, instruction.word);
        return ZEPI_SPIRV_OK;
    }
}

static enum zepi_spirv_status walk_instructions(struct zepi_spirv_walk *walk)
{
    struct zepi_spirv_instruction instruction;
    for (uint32_t word = ZEPI_SPIRV_HEADER_WORDS; word < walk->word_count;
         word += instruction.length) {
        instruction = zepi_spirv_instruction_at(walk, word);
        if (instruction.length == 0)
            return zepi_spirv_fail(walk, word, "%s has a length of 0, expected at least 1",
                                   zepi_spirv_opcode_text(instruction.opcode).text);
        if (instruction.length > walk->word_count - word)
            return zepi_spirv_fail(walk, word,
                                   "%s has %u words, but the module ends after %u of them",
                                   zepi_spirv_opcode_text(instruction.opcode).text,
                                   instruction.length, walk->word_count - word);
        enum zepi_spirv_status status = zepi_spirv_check_operands(walk, instruction);
        if (status == ZEPI_SPIRV_OK)
            status = note_instruction(walk, instruction);
        if (status != ZEPI_SPIRV_OK)
            return status;
    }
    return ZEPI_SPIRV_OK;
}

// The result of an instruction is its first operand, or its second behind a type. For instructions
// that the operand table does not know, both count as defined if they are used.
static void define_by_unknown_instructions(struct zepi_spirv_walk *walk)
{
    struct zepi_spirv_instruction instruction;
    for (uint32_t word = ZEPI_SPIRV_HEADER_WORDS; word < walk->word_count;
         word += instruction.length) {
        instruction = zepi_spirv_instruction_at(walk, word);
        if (zepi_spirv_is_known(instruction.opcode))
            continue;
        for (uint32_t i = 1; i < 3 && i < instruction.length; i++) {
            uint32_t id = zepi_spirv_operand(walk, instruction, i);
            if (id >= walk->bound || walk->ids[id].defined_at != 0 || walk->ids[id].used_at == 0)
                continue;
            walk->ids[id].defined_at = word;
            walk->undefined_count--;
        }
    }
}

static enum zepi_spirv_status check_all_defined(struct zepi_spirv_walk *walk)
{
    if (walk->undefined_count > 0 && walk->unknown_count > 0)
        define_by_unknown_instructions(walk);
    if (walk->undefined_count == 0)
        return ZEPI_SPIRV_OK;

    uint32_t first = 0;
    for (uint32_t id = 1; id < walk->bound; id++) {
        const struct zepi_spirv_id *entry = &walk->ids[id];
        if (entry->used_at != 0 && entry->defined_at == 0 &&
            (first == 0 || entry->used_at < walk->ids[first].used_at))
            first = id;
    }
    assert(first != 0);
    uint32_t word = walk->ids[first].used_at;
    return zepi_spirv_fail(
        walk, word, "%s names id %u, which no instruction defines",
        zepi_spirv_opcode_text(zepi_spirv_instruction_at(walk, word).opcode).text, first);
}

// The check of an instruction's operands depends on its result's type, and that of OpExtInst on the
// instruction set. Where an instruction that the operand table does not know may have declared one,
// the check passed over a missing one: here it must not be declared later.
static enum zepi_spirv_status check_declared_before(struct zepi_spirv_walk *walk,
                                                    struct zepi_spirv_instruction instruction,
                                                    uint32_t index, const char *use)
{
    uint32_t id = zepi_spirv_operand(walk, instruction, index);
    uint32_t defined_at = walk->ids[id].defined_at;
    if (defined_at < instruction.word)
        return ZEPI_SPIRV_OK;
    return zepi_spirv_fail(walk, instruction.word,
                           "%s has id %u as %s, expected one that is declared before it, not at "
                           "word %u",
                           zepi_spirv_opcode_text(instruction.opcode).text, id, use, defined_at);
}

static enum zepi_spirv_status check_declarations(struct zepi_spirv_walk *walk)
{
    struct zepi_spirv_instruction instruction;
    enum zepi_spirv_status status = ZEPI_SPIRV_OK;
    for (uint32_t word = ZEPI_SPIRV_HEADER_WORDS;
         status == ZEPI_SPIRV_OK && word < walk->word_count; word += instruction.length) {
        instruction = zepi_spirv_instruction_at(walk, word);
        if (zepi_spirv_has_result_type(instruction.opcode))
            status = check_declared_before(walk, instruction, 1, "result type");
        if (status == ZEPI_SPIRV_OK && instruction.opcode == OpExtInst)
            status = check_declared_before(walk, instruction, 3, "instruction set");
    }
    return status;
}

enum zepi_spirv_status zepi_spirv_walk_run(struct zepi_spirv_walk *walk)
{
    enum zepi_spirv_status status = read_header(walk);
    if (status != ZEPI_SPIRV_OK)
        return status;
    // Zeroed pages of a large, sparse bound stay untouched.
    walk->ids = calloc(walk->bound, sizeof(*walk->ids));
    if (!walk->ids)
        return ZEPI_SPIRV_OUT_OF_MEMORY;
    status = walk_instructions(walk);
    if (status != ZEPI_SPIRV_OK)
        return status;
    if (walk->function_at != 0)
        return zepi_spirv_fail(walk, walk->function_at,
                               "the module ends inside of the function that begins here, expected "
                               "its OpFunctionEnd");
    if (walk->memory_model_at == 0)
        return zepi_spirv_fail(walk, walk->word_count,
                               "the module ends here, expected an OpMemoryModel in it");
    status = check_all_defined(walk);
    if (status == ZEPI_SPIRV_OK && walk->unknown_count > 0)
        status = check_declarations(walk);
    return status;
}
