// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_SPIRV_COPY_H
#define ZE_CPU_SPIRV_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Changed copies of SPIR-V that has passed zepi's walk: lengths, ids and operands are right. Its
// words are aligned.

#define SPIRV_BOUND 3 // the word of the header that all ids are below
#define SPIRV_HEADER_WORDS 5

// Instructions, as in the specification.
enum spirv_operation {
    OP_NAME = 5,
    OP_EXTENSION = 10,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_TYPE_VOID = 19, // the first of types
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_POINTER = 32,
    OP_TYPE_FUNCTION = 33,
    OP_TYPE_FORWARD_POINTER = 39, // the last of types
    OP_CONSTANT = 43,
    OP_CONSTANT_NULL = 46,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_COPY_MEMORY = 63,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
    OP_DECORATE = 71,
    OP_GROUP_MEMBER_DECORATE = 75, // the last of decorations
    OP_VECTOR_EXTRACT_DYNAMIC = 77,
    OP_VECTOR_SHUFFLE = 79,
    OP_COPY_OBJECT = 83,
    OP_CONVERT_PTR_TO_U = 117,
    OP_BITCAST = 124,
    OP_SUBTRACT = 130,
    OP_SELECT = 169,
    OP_LESS_THAN = 176, // unsigned
    OP_CONTROL_BARRIER = 224,
    OP_PHI = 245,
    OP_LABEL = 248,
    OP_BRANCH_CONDITIONAL = 250,
    OP_RETURN = 253,
    OP_GROUP_ALL = 261, // the first that has a scope
    OP_GROUP_S_MAX = 271,
    OP_EXECUTION_MODE_ID = 331,
    OP_GROUP_NON_UNIFORM_ELECT = 333,
    OP_GROUP_NON_UNIFORM_SHUFFLE = 345,
    OP_GROUP_NON_UNIFORM_SHUFFLE_DOWN = 348,
    OP_GROUP_NON_UNIFORM_QUAD_SWAP = 366,
    OP_FIRST_OF_EXTENSIONS = 4096,
    OP_SUBGROUP_SHUFFLE_INTEL = 5571,
    OP_SUBGROUP_SHUFFLE_DOWN_INTEL = 5572,
    OP_SUBGROUP_SHUFFLE_XOR_INTEL = 5574,
    OP_ATOMIC_F_MIN = 5614,
    OP_ATOMIC_F_MAX = 5615,
    OP_ASSUME_TRUE = 5630,
    OP_EXPECT = 5631,
    OP_ATOMIC_F_ADD = 6035,
};

enum {
    DECORATION_BUILT_IN = 11,
    DECORATION_LINKAGE = 41,
    CAPABILITY_SUBGROUP_DISPATCH = 58,
    CAPABILITY_INTEL_SHUFFLE = 5568,
};

static inline uint32_t spirv_operation(const uint32_t *words)
{
    return words[0] & 0xffff;
}

static inline size_t spirv_length(const uint32_t *words)
{
    return words[0] >> 16;
}

// `at` goes over the instructions of a module of `count` words.
#define SPIRV_EACH(at, words, count)                                                               \
    for (size_t at = SPIRV_HEADER_WORDS; at < (count); at += spirv_length((words) + at))

// The copy. Without memory nothing is written any more.
struct spirv_copy {
    uint32_t *words; // owned
    size_t count, capacity;
    bool has_failed;
};

void spirv_write(struct spirv_copy *copy, const uint32_t *words, size_t count);

// An instruction and its operands.
#define SPIRV_WRITE(copy, operation, ...)                                                          \
    spirv_write_instruction(copy, operation, (const uint32_t[]){__VA_ARGS__},                      \
                            sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void spirv_write_instruction(struct spirv_copy *copy, uint32_t operation, const uint32_t *operands,
                             size_t count);

// An instruction with another word in the place of one.
void spirv_write_with(struct spirv_copy *copy, const uint32_t *words, size_t at, uint32_t word);

// All is written, with ids below `bound`: gives the words to the caller. False without memory.
bool spirv_finish(struct spirv_copy *copy, uint32_t bound, uint8_t **out_spirv,
                  size_t *out_size_bytes);

#endif
