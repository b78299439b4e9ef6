// SPDX-License-Identifier: MIT
#include "turned.h"

#include "sub_groups.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define SHUFFLE_WORDS 8

enum {
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_COPY_MEMORY = 63,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
    OP_DECORATE = 71,
    OP_VECTOR_SHUFFLE = 79,
    OP_COPY_OBJECT = 83,
    OP_CONVERT_PTR_TO_U = 117,
    OP_BITCAST = 124,
    OP_SELECT = 169,
    OP_PHI = 245,
    OP_EXECUTION_MODE_ID = 331,
    DECORATION_BUILT_IN = 11,
    BUILT_IN_NUM_WORKGROUPS = 24, // the first of those with three components
    BUILT_IN_GLOBAL_INVOCATION_ID = 28,
    BUILT_IN_GLOBAL_SIZE = 31,
    BUILT_IN_GLOBAL_OFFSET = 33,
    BUILT_IN_GLOBAL_LINEAR_ID = 34,
    MODE_LOCAL_SIZE = 17,
    MODE_LOCAL_SIZE_HINT = 18,
    CLASS_CROSS_WORKGROUP = 5,
};

static bool has_dimensions(uint32_t built_in)
{
    return (built_in >= BUILT_IN_NUM_WORKGROUPS && built_in <= BUILT_IN_GLOBAL_INVOCATION_ID) ||
           (built_in >= BUILT_IN_GLOBAL_SIZE && built_in <= BUILT_IN_GLOBAL_OFFSET);
}

// Which ids are built-in variables with dimensions. NULL without memory.
static bool *find_variables(const uint32_t *words, size_t count)
{
    bool *found = calloc((size_t)words[3] + 1, sizeof(*found));
    for (size_t at = HEADER_WORDS; found != NULL && at < count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == OP_DECORATE && words[at] >> 16 == 4 &&
            words[at + 2] == DECORATION_BUILT_IN && has_dimensions(words[at + 3]) &&
            words[at + 1] < words[3])
            found[words[at + 1]] = true;
    return found;
}

// Operands of these are ids, which may be pointers.
static bool takes_pointers(uint32_t operation)
{
    return operation == OP_FUNCTION_CALL || operation == OP_COPY_MEMORY ||
           (operation >= OP_ACCESS_CHAIN && operation <= OP_IN_BOUNDS_PTR_ACCESS_CHAIN) ||
           operation == OP_COPY_OBJECT || operation == OP_SELECT || operation == OP_PHI ||
           (operation >= OP_CONVERT_PTR_TO_U && operation <= OP_BITCAST);
}

// Whether the instruction keeps the module from being turned. Variables of the program would be
// there twice.
static bool is_obstacle(const uint32_t *words, const bool *variables)
{
    const uint32_t operation = words[0] & 0xffff;
    const size_t length = words[0] >> 16;
    if (operation == OP_EXECUTION_MODE_ID)
        return true;
    if (operation == OP_VARIABLE)
        return length > 3 && words[3] == CLASS_CROSS_WORKGROUP;
    if (operation == OP_DECORATE)
        return length == 4 && words[2] == DECORATION_BUILT_IN &&
               words[3] == BUILT_IN_GLOBAL_LINEAR_ID;
    for (size_t i = 1; takes_pointers(operation) && i < length; i++)
        if (variables[words[i]])
            return true;
    return false;
}

bool cpu_source_can_be_turned(const struct cpu_source *source)
{
    const uint32_t *words = (const uint32_t *)(const void *)source->spirv;
    const size_t count = source->spirv_bytes / sizeof(uint32_t);
    bool uses_sub_groups = false, has_obstacle = false;
    bool *variables = find_variables(words, count);
    for (size_t at = HEADER_WORDS; variables != NULL && at < count; at += words[at] >> 16) {
        if ((words[at] & 0xffff) == OP_CAPABILITY)
            uses_sub_groups = uses_sub_groups || cpu_sub_groups_need(words[at + 1]);
        has_obstacle = has_obstacle || is_obstacle(words + at, variables);
    }
    const bool result = variables != NULL && uses_sub_groups && !has_obstacle;
    free(variables);
    return result;
}

// Copies one instruction, turned. Returns how many words that makes; *bound is the next free id.
static size_t turn(const uint32_t *from, const bool *variables, uint32_t entry, unsigned dimension,
                   uint32_t *bound, uint32_t *to)
{
    const uint32_t operation = from[0] & 0xffff;
    const size_t length = from[0] >> 16;
    // Of the other kernels nothing but functions are left, which nothing calls.
    if ((operation == OP_ENTRY_POINT && from[2] != entry) ||
        (operation == OP_EXECUTION_MODE && from[1] != entry))
        return 0;
    memcpy(to, from, length * sizeof(*to));
    if (operation == OP_EXECUTION_MODE && length == 6 &&
        (from[2] == MODE_LOCAL_SIZE || from[2] == MODE_LOCAL_SIZE_HINT)) {
        to[3] = from[3 + dimension];
        to[3 + dimension] = from[3];
    }
    if (operation != OP_LOAD || !variables[from[3]])
        return length;
    to[2] = (*bound)++;
    const uint32_t shuffle[SHUFFLE_WORDS] = {SHUFFLE_WORDS << 16 | OP_VECTOR_SHUFFLE,
                                             from[1],
                                             from[2],
                                             to[2],
                                             to[2],
                                             dimension,
                                             dimension == 1 ? 0 : 1,
                                             dimension == 2 ? 0 : 2};
    memcpy(to + length, shuffle, sizeof(shuffle));
    return length + SHUFFLE_WORDS;
}

uint8_t *cpu_source_turn(const struct cpu_source *source, const char *kernel, unsigned dimension,
                         size_t *out_bytes)
{
    const uint32_t *words = (const uint32_t *)(const void *)source->spirv;
    const size_t count = source->spirv_bytes / sizeof(uint32_t);
    bool *variables = find_variables(words, count);
    size_t load_count = 0, written = HEADER_WORDS;
    uint32_t entry = 0, bound = words[3];
    for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16) {
        load_count += (words[at] & 0xffff) == OP_LOAD;
        if ((words[at] & 0xffff) == OP_ENTRY_POINT &&
            strcmp((const char *)(words + at + 3), kernel) == 0)
            entry = words[at + 2];
    }
    uint32_t *result = malloc((count + load_count * SHUFFLE_WORDS) * sizeof(*result));
    if (variables != NULL && result != NULL) {
        memcpy(result, words, HEADER_WORDS * sizeof(*result));
        for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16)
            written += turn(words + at, variables, entry, dimension, &bound, result + written);
        result[3] = bound;
    } else {
        free(result);
        result = NULL;
    }
    free(variables);
    *out_bytes = written * sizeof(*result);
    return (uint8_t *)result;
}
