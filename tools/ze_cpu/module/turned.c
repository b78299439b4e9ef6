// SPDX-License-Identifier: MIT
#include "turned.h"

#include "spirv_copy.h"
#include "sub_groups.h"

#include <stdlib.h>
#include <string.h>

enum {
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
    bool *found = calloc((size_t)words[SPIRV_BOUND] + 1, sizeof(*found));
    SPIRV_EACH(at, words, found != NULL ? count : 0)
    {
        if (spirv_operation(words + at) == OP_DECORATE && spirv_length(words + at) == 4 &&
            words[at + 2] == DECORATION_BUILT_IN && has_dimensions(words[at + 3]) &&
            words[at + 1] < words[SPIRV_BOUND])
            found[words[at + 1]] = true;
    }
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
    const uint32_t operation = spirv_operation(words);
    const size_t length = spirv_length(words);
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
    SPIRV_EACH(at, words, variables != NULL ? count : 0)
    {
        if (spirv_operation(words + at) == OP_CAPABILITY)
            uses_sub_groups = uses_sub_groups || cpu_sub_groups_need(words[at + 1]);
        has_obstacle = has_obstacle || is_obstacle(words + at, variables);
    }
    const bool result = variables != NULL && uses_sub_groups && !has_obstacle;
    free(variables);
    return result;
}

// Copies one instruction, turned. *bound is the next free id.
static void turn(const uint32_t *from, const bool *variables, uint32_t entry, unsigned dimension,
                 uint32_t *bound, struct spirv_copy *copy)
{
    const uint32_t operation = spirv_operation(from);
    const size_t length = spirv_length(from);
    // Of the other kernels nothing but functions are left, which nothing calls.
    if ((operation == OP_ENTRY_POINT && from[2] != entry) ||
        (operation == OP_EXECUTION_MODE && from[1] != entry))
        return;
    if (operation == OP_EXECUTION_MODE && length == 6 &&
        (from[2] == MODE_LOCAL_SIZE || from[2] == MODE_LOCAL_SIZE_HINT)) {
        SPIRV_WRITE(copy, operation, from[1], from[2], from[3 + dimension],
                    from[dimension == 1 ? 3 : 4], from[dimension == 2 ? 3 : 5]);
    } else if (operation == OP_LOAD && variables[from[3]]) {
        const uint32_t loaded = (*bound)++;
        spirv_write_with(copy, from, 2, loaded);
        SPIRV_WRITE(copy, OP_VECTOR_SHUFFLE, from[1], from[2], loaded, loaded, dimension,
                    dimension == 1 ? 0 : 1, dimension == 2 ? 0 : 2);
    } else {
        spirv_write(copy, from, length);
    }
}

uint8_t *cpu_source_turn(const struct cpu_source *source, const char *kernel, unsigned dimension,
                         size_t *out_bytes)
{
    const uint32_t *words = (const uint32_t *)(const void *)source->spirv;
    const size_t count = source->spirv_bytes / sizeof(uint32_t);
    bool *variables = find_variables(words, count);
    uint32_t entry = 0, bound = words[SPIRV_BOUND];
    struct spirv_copy copy = {.has_failed = variables == NULL};
    uint8_t *turned = NULL;
    spirv_write(&copy, words, SPIRV_HEADER_WORDS);
    SPIRV_EACH(at, words, count)
    {
        if (spirv_operation(words + at) == OP_ENTRY_POINT &&
            strcmp((const char *)(words + at + 3), kernel) == 0)
            entry = words[at + 2];
    }
    SPIRV_EACH(at, words, count)
    turn(words + at, variables, entry, dimension, &bound, &copy);
    free(variables);
    return spirv_finish(&copy, bound, &turned, out_bytes) ? turned : NULL;
}
