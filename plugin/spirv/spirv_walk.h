// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_WALK_H
#define ZEPI_SPIRV_WALK_H

#include "spirv.h"

#include <assert.h>
#include <string.h>

// Inside of the SPIR-V walk; only the files of this folder include this.
//
// The walk goes over the module once, checks every instruction's operands and notes where the
// interesting instructions are: ids are looked up by the word at which their defining instruction
// begins, and everything else (types, literals) is read from the words again when it is needed.
// Time and memory are linear in the size of the module, sorting aside.

// The instructions that the walk and its messages call by name, by their names in the SPIR-V
// specification, section "Instructions".
#define ZEPI_SPIRV_OPCODES(X)                                                                      \
    X(OpUndef, 1)                                                                                  \
    X(OpName, 5)                                                                                   \
    X(OpMemberName, 6)                                                                             \
    X(OpLine, 8)                                                                                   \
    X(OpExtInstImport, 11)                                                                         \
    X(OpExtInst, 12)                                                                               \
    X(OpMemoryModel, 14)                                                                           \
    X(OpEntryPoint, 15)                                                                            \
    X(OpExecutionMode, 16)                                                                         \
    X(OpCapability, 17)                                                                            \
    X(OpTypeVoid, 19)                                                                              \
    X(OpTypeBool, 20)                                                                              \
    X(OpTypeInt, 21)                                                                               \
    X(OpTypeFloat, 22)                                                                             \
    X(OpTypeVector, 23)                                                                            \
    X(OpTypeImage, 25)                                                                             \
    X(OpTypeSampler, 26)                                                                           \
    X(OpTypeArray, 28)                                                                             \
    X(OpTypeStruct, 30)                                                                            \
    X(OpTypePointer, 32)                                                                           \
    X(OpTypeFunction, 33)                                                                          \
    X(OpConstantTrue, 41)                                                                          \
    X(OpConstantFalse, 42)                                                                         \
    X(OpConstant, 43)                                                                              \
    X(OpConstantComposite, 44)                                                                     \
    X(OpConstantNull, 46)                                                                          \
    X(OpSpecConstantTrue, 48)                                                                      \
    X(OpSpecConstantFalse, 49)                                                                     \
    X(OpSpecConstant, 50)                                                                          \
    X(OpSpecConstantComposite, 51)                                                                 \
    X(OpSpecConstantOp, 52)                                                                        \
    X(OpFunction, 54)                                                                              \
    X(OpFunctionParameter, 55)                                                                     \
    X(OpFunctionEnd, 56)                                                                           \
    X(OpFunctionCall, 57)                                                                          \
    X(OpVariable, 59)                                                                              \
    X(OpLoad, 61)                                                                                  \
    X(OpStore, 62)                                                                                 \
    X(OpAccessChain, 65)                                                                           \
    X(OpInBoundsPtrAccessChain, 70)                                                                \
    X(OpDecorate, 71)                                                                              \
    X(OpMemberDecorate, 72)                                                                        \
    X(OpDecorationGroup, 73)                                                                       \
    X(OpGroupDecorate, 74)                                                                         \
    X(OpGroupMemberDecorate, 75)                                                                   \
    X(OpCompositeConstruct, 80)                                                                    \
    X(OpBitcast, 124)                                                                              \
    X(OpPhi, 245)                                                                                  \
    X(OpLoopMerge, 246)                                                                            \
    X(OpSelectionMerge, 247)                                                                       \
    X(OpLabel, 248)                                                                                \
    X(OpBranch, 249)                                                                               \
    X(OpBranchConditional, 250)                                                                    \
    X(OpSwitch, 251)                                                                               \
    X(OpReturnValue, 254)                                                                          \
    X(OpNoLine, 317)                                                                               \
    X(OpExecutionModeId, 331)                                                                      \
    X(OpDecorateId, 332)                                                                           \
    X(OpTypeUntypedPointerKHR, 4417)                                                               \
    X(OpUntypedVariableKHR, 4418)                                                                  \
    X(OpTypeStructContinuedINTEL, 6090)

enum zepi_spirv_opcode {
#define ZEPI_SPIRV_ENUMERATOR(name, value) name = value,
    ZEPI_SPIRV_OPCODES(ZEPI_SPIRV_ENUMERATOR)
#undef ZEPI_SPIRV_ENUMERATOR
};

enum {
    ZEPI_SPIRV_HEADER_WORDS = 5,
    // "Universal Limits" of the specification; larger modules have more words than that.
    ZEPI_SPIRV_MAX_SPARSE_BOUND = 4194304,
};

struct zepi_spirv_instruction {
    uint32_t word; // where it begins
    uint32_t opcode;
    uint32_t length; // in words, the first included
};

struct zepi_spirv_id {
    uint32_t defined_at; // word of the defining instruction; 0: none so far
    uint32_t used_at;    // word of the first instruction that names it; 0: none so far
    uint32_t layout;     // of a type: index into `layouts` plus one; 0: none
};

// The decorations that matter here. Sorted by target and kind once the walk is over.
enum zepi_spirv_decoration_kind {
    ZEPI_SPIRV_SPEC_ID, // value: the SpecId
    ZEPI_SPIRV_LINKAGE, // value: offset of the name in `names`; detail: the linkage type
    ZEPI_SPIRV_PACKED,
    ZEPI_SPIRV_BUILT_IN,
    ZEPI_SPIRV_CONSTANT,
    ZEPI_SPIRV_BY_VALUE,
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
    bool is_read;
    uint32_t first_argument;
    uint32_t argument_count;
    uint32_t required_group_size[3];
    uint32_t required_sub_group_size;
};

struct zepi_spirv_layout {
    uint32_t size_bytes;
    uint32_t alignment; // 0: size and alignment are unknown
};

// A growing array. `items` is owned.
struct zepi_spirv_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
};

struct zepi_spirv_walk {
    const unsigned char *bytes; // borrowed
    uint32_t word_count;
    uint32_t version;
    uint32_t bound;
    uint32_t addressing_model;
    uint32_t memory_model_at;  // word; 0: none so far
    uint32_t function_at;      // word of the OpFunction that is open; 0: none
    uint32_t parameters_left;  // of that function
    uint32_t unknown_count;    // instructions that the operand table does not know
    uint32_t undefined_count;  // ids used and not defined so far
    struct zepi_spirv_id *ids; // owned, `bound` of them

    struct zepi_spirv_list decorations;     // of struct zepi_spirv_decoration
    struct zepi_spirv_list group_decorates; // of uint32_t: words of OpGroupDecorate
    struct zepi_spirv_list execution_modes; // of uint32_t: words
    struct zepi_spirv_list types;           // of uint32_t: words of types, in order
    struct zepi_spirv_list variables;       // of uint32_t: words of those in global memory
    struct zepi_spirv_list entries;         // of struct zepi_spirv_entry
    struct zepi_spirv_list names;           // of char: terminated names, each instruction's once

    // Filled after the walk, see spirv_types.h and spirv_kernels.h; owned.
    struct zepi_spirv_layout *layouts;                 // one for each of `types`
    struct zepi_spirv_entry_function *entry_functions; // ascending by id, each id once
    uint32_t entry_function_count;
    uint32_t argument_count; // over all entry functions

    char *message; // borrowed
    size_t message_size;
};

static inline uint32_t zepi_spirv_word(const struct zepi_spirv_walk *walk, uint32_t index)
{
    assert(index < walk->word_count);
    uint32_t word;
    memcpy(&word, walk->bytes + (size_t)index * sizeof(word), sizeof(word));
    return word;
}

// The instruction that begins at `word`, which the walk has been over.
static inline struct zepi_spirv_instruction
zepi_spirv_instruction_at(const struct zepi_spirv_walk *walk, uint32_t word)
{
    uint32_t first = zepi_spirv_word(walk, word);
    return (struct zepi_spirv_instruction){word, first & 0xffff, first >> 16};
}

// The instruction that defines `id`, which must be below the bound; opcode 0 if none does.
static inline struct zepi_spirv_instruction
zepi_spirv_definition(const struct zepi_spirv_walk *walk, uint32_t id)
{
    assert(id < walk->bound);
    uint32_t word = walk->ids[id].defined_at;
    if (word == 0)
        return (struct zepi_spirv_instruction){0};
    return zepi_spirv_instruction_at(walk, word);
}

static inline uint32_t zepi_spirv_operand(const struct zepi_spirv_walk *walk,
                                          struct zepi_spirv_instruction instruction, uint32_t index)
{
    assert(index < instruction.length);
    return zepi_spirv_word(walk, instruction.word + index);
}

// Writes "word <word>: ..." to the caller's message and returns ZEPI_SPIRV_INVALID.
__attribute__((format(printf, 3, 4))) enum zepi_spirv_status
zepi_spirv_fail(struct zepi_spirv_walk *walk, uint32_t word, const char *format, ...);

// "OpDecorate", or "opcode 4711" for instructions that ZEPI_SPIRV_OPCODES lacks, written to `text`.
struct zepi_spirv_opcode_text {
    char text[32];
};
struct zepi_spirv_opcode_text zepi_spirv_opcode_text(uint32_t opcode);

// Appends one item; false when out of memory.
bool zepi_spirv_append(struct zepi_spirv_list *list, const void *item, size_t item_size);

// Frees the lists; after a failure, too.
void zepi_spirv_walk_finish(struct zepi_spirv_walk *walk);

#endif
