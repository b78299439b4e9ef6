// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_PARSER_H
#define ZEPI_SPIRV_PARSER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Inside of the SPIR-V parser; only the files of this folder include this.
//
// The parser goes over the module once, checks every instruction's operands and notes where the
// interesting instructions are: ids are looked up by the word at which their defining instruction
// begins, and everything else (types, literals) is read from the words again when it is needed.
// Time and memory are linear in the size of the module, sorting aside.

// The instructions that the parser knows by name, as in the specification, section "Instructions".
enum zepi_spirv_opcode {
    OpLine = 8,
    OpExtInstImport = 11,
    OpExtInst = 12,
    OpMemoryModel = 14,
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpTypeBool = 20,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeImage = 25,
    OpTypeSampler = 26,
    OpTypeArray = 28,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpTypeFunction = 33,
    OpConstant = 43,
    OpSpecConstantTrue = 48,
    OpSpecConstantFalse = 49,
    OpSpecConstant = 50,
    OpFunction = 54,
    OpFunctionParameter = 55,
    OpFunctionEnd = 56,
    OpVariable = 59,
    OpDecorate = 71,
    OpDecorationGroup = 73,
    OpGroupDecorate = 74,
    OpLabel = 248,
    OpNoLine = 317,
    OpExecutionModeId = 331,
    OpTypeUntypedPointerKHR = 4417,
    OpUntypedVariableKHR = 4418,
    OpTypeStructContinuedINTEL = 6090,
};

enum {
    ZEPI_SPIRV_HEADER_WORDS = 5,
    // "Universal Limits" of the specification; larger modules have more words than that.
    ZEPI_SPIRV_MAX_SPARSE_BOUND = 4194304,
};

// Values of the specification, section "Storage Class".
enum {
    ZEPI_SPIRV_STORAGE_UNIFORM_CONSTANT = 0,
    ZEPI_SPIRV_STORAGE_WORKGROUP = 4,
    ZEPI_SPIRV_STORAGE_CROSS_WORKGROUP = 5,
    ZEPI_SPIRV_STORAGE_FUNCTION = 7,
    ZEPI_SPIRV_STORAGE_GENERIC = 8,
    ZEPI_SPIRV_STORAGE_DEVICE_ONLY_INTEL = 5936,
    ZEPI_SPIRV_STORAGE_HOST_ONLY_INTEL = 5937,
};

struct zepi_spirv_instruction {
    uint32_t word; // where it begins
    uint32_t opcode;
    uint32_t length; // in words, the first included
};

// Whether an instruction that the table does not know may have defined an id.
enum zepi_spirv_guess {
    ZEPI_SPIRV_NO_GUESS,
    ZEPI_SPIRV_MAY_BE_DEFINED,
    ZEPI_SPIRV_IS_RELIED_ON, // as a type or a set: operands that depend on it were not checked
};

struct zepi_spirv_layout {
    uint32_t size_bytes;
    uint32_t alignment; // 0: size and alignment are unknown
};

struct zepi_spirv_id {
    uint32_t defined_at; // word of the defining instruction; 0: none so far
    uint32_t used_at;    // word of the first instruction that names it; 0: none so far
    uint32_t function;   // of an entry point: index into `entry_functions` plus one; 0: none
    enum zepi_spirv_guess guess;
    struct zepi_spirv_layout layout; // of a type
};

// The decorations that matter here. Sorted by target and kind once all instructions are read.
// Values of the specification, section "Decoration".
enum zepi_spirv_decoration_kind {
    ZEPI_SPIRV_SPEC_ID = 1, // value: the SpecId
    ZEPI_SPIRV_PACKED = 10,
    ZEPI_SPIRV_BUILT_IN = 11,
    ZEPI_SPIRV_CONSTANT = 22,
    ZEPI_SPIRV_BY_VALUE = 38, // FuncParamAttr ByVal
    ZEPI_SPIRV_LINKAGE = 41,  // value: offset of the name in `names`; detail: the linkage type
};

struct zepi_spirv_decoration {
    uint32_t target;
    enum zepi_spirv_decoration_kind kind;
    uint32_t value;
    uint32_t detail;
    uint32_t word; // of the decorating instruction
};

// An OpEntryPoint of execution model Kernel.
struct zepi_spirv_entry {
    uint32_t function;
    uint32_t name; // offset in `names`
    uint32_t word;
};

// A function that is an entry point, under one name or several.
struct zepi_spirv_entry_function {
    uint32_t id;
    uint32_t first_argument;
    uint32_t argument_count;
    uint32_t required_group_size[3];
    uint32_t hinted_group_size[3];
    uint32_t required_sub_group_size;
};

// A growing array. `items` is owned.
struct zepi_spirv_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
};

struct zepi_spirv_parser {
    const unsigned char *bytes; // borrowed
    uint32_t word_count;
    uint32_t version;
    uint32_t bound;
    uint32_t addressing_model;
    uint32_t memory_model_at;  // word; 0: none so far
    uint32_t function_at;      // word of the OpFunction that is open; 0: none
    uint32_t parameters_left;  // of that function
    uint32_t undefined_count;  // ids used and not defined so far
    struct zepi_spirv_id *ids; // owned, `bound` of them

    struct zepi_spirv_list decorations;     // of struct zepi_spirv_decoration
    struct zepi_spirv_list group_decorates; // of uint32_t: words of OpGroupDecorate
    struct zepi_spirv_list execution_modes; // of uint32_t: words
    struct zepi_spirv_list types;           // of uint32_t: words of types, in order
    struct zepi_spirv_list variables;       // of uint32_t: words of those in global memory
    struct zepi_spirv_list entries;         // of struct zepi_spirv_entry
    struct zepi_spirv_list names;           // of char: terminated names, each instruction's once

    // Filled after the parser, see spirv_kernels.h; owned.
    struct zepi_spirv_entry_function *entry_functions; // each once, in the order of the module
    uint32_t entry_function_count;
    uint32_t argument_count; // over all entry functions

    char *message; // borrowed
    size_t message_size;
    bool is_refused; // with the message
};

static inline uint32_t zepi_spirv_word(const struct zepi_spirv_parser *parser, uint32_t index)
{
    assert(index < parser->word_count);
    uint32_t word;
    memcpy(&word, parser->bytes + (size_t)index * sizeof(word), sizeof(word));
    return word;
}

// The instruction that begins at `word`, which was checked.
static inline struct zepi_spirv_instruction
zepi_spirv_instruction_at(const struct zepi_spirv_parser *parser, uint32_t word)
{
    uint32_t first = zepi_spirv_word(parser, word);
    return (struct zepi_spirv_instruction){word, first & 0xffff, first >> 16};
}

// The instruction that defines `id`, which must be below the bound; opcode 0 if none does.
static inline struct zepi_spirv_instruction
zepi_spirv_definition(const struct zepi_spirv_parser *parser, uint32_t id)
{
    assert(id < parser->bound);
    uint32_t word = parser->ids[id].defined_at;
    if (word == 0)
        return (struct zepi_spirv_instruction){0};
    return zepi_spirv_instruction_at(parser, word);
}

static inline uint32_t zepi_spirv_operand(const struct zepi_spirv_parser *parser,
                                          struct zepi_spirv_instruction instruction, uint32_t index)
{
    assert(index < instruction.length);
    return zepi_spirv_word(parser, instruction.word + index);
}

// The functions of these files return false if the module is refused, with a sentence in the
// caller's message, or if memory is short.

// Refuses the module: "word <word>: ...", or "word <word>: OpLoad ...".
__attribute__((format(printf, 3, 4))) bool zepi_spirv_fail(struct zepi_spirv_parser *parser,
                                                           uint32_t word, const char *format, ...);
__attribute__((format(printf, 3, 4))) bool
zepi_spirv_refuse(struct zepi_spirv_parser *parser, struct zepi_spirv_instruction instruction,
                  const char *format, ...);

// "OpDecorate", or "opcode 4711", of an instruction that has no row of its own in the table.
struct zepi_spirv_opcode_text {
    char text[48];
};
struct zepi_spirv_opcode_text zepi_spirv_opcode_text(uint32_t opcode);

// Appends items; false when out of memory.
bool zepi_spirv_append(struct zepi_spirv_list *list, const void *items, uint32_t count,
                       size_t item_size);

// Frees the lists; after a failure, too.
void zepi_spirv_parser_finish(struct zepi_spirv_parser *parser);

#endif
