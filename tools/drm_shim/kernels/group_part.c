// SPDX-License-Identifier: MIT
#include "group_part.h"

#include "tools/ze_cpu/module/spirv_copy.h"

#include <stdlib.h>
#include <string.h>

enum {
    STORAGE_INPUT = 1,
    BUILT_IN_WORKGROUP_ID = 26,
};

// New ids, behind those that are there: of the module, then of each kernel.
enum { ID_LONG, ID_BOOL, ID_VECTOR, ID_POINTER, ID_GROUP, ID_ZERO, ID_ALL, IDS_OF_MODULE };
enum {
    ID_TYPE,
    ID_DIMENSION,
    ID_FIRST,
    ID_COUNT,
    ID_BEGIN,
    ID_END,
    ID_GROUPS,
    ID_AT,
    ID_DISTANCE,
    ID_IS_IN,
    IDS_OF_KERNEL
};

struct copy {
    const uint32_t *words; // of the module
    size_t count;
    uint32_t bound;
    uint32_t *kernels; // by function: its number and 1, or 0
    size_t *types;     // of functions and pointers: where they are declared, or 0
    uint32_t kernel_count;
    uint32_t group, vector;        // the group's number and its type: the module's, or new ones
    size_t decorations, functions; // where the first ones may be
    struct spirv_copy to;
};

static uint32_t operation_at(const struct copy *copy, size_t at)
{
    return spirv_operation(copy->words + at);
}

static size_t length_at(const struct copy *copy, size_t at)
{
    return spirv_length(copy->words + at);
}

static uint32_t id_of_module(const struct copy *copy, uint32_t id)
{
    return copy->bound + id;
}

static uint32_t id_of_kernel(const struct copy *copy, uint32_t kernel, uint32_t id)
{
    return copy->bound + IDS_OF_MODULE + (kernel - 1) * IDS_OF_KERNEL + id;
}

// An instruction of the module, with another word in the place of the second, and three operands
// more.
static void write_longer(struct copy *copy, const uint32_t *words, uint32_t second,
                         const uint32_t operands[3])
{
    const uint32_t head[2] = {words[0] + (UINT32_C(3) << 16), second};
    spirv_write(&copy->to, head, 2);
    spirv_write(&copy->to, words + 2, spirv_length(words) - 2);
    spirv_write(&copy->to, operands, 3);
}

static void read_module(struct copy *copy)
{
    SPIRV_EACH(at, copy->words, copy->count)
    {
        const uint32_t operation = operation_at(copy, at), *words = copy->words + at;
        if (operation == OP_ENTRY_POINT && copy->kernels[words[2]] == 0)
            copy->kernels[words[2]] = ++copy->kernel_count;
        if (operation == OP_TYPE_FUNCTION || operation == OP_TYPE_POINTER)
            copy->types[words[1]] = at;
        if (operation == OP_DECORATE && words[2] == DECORATION_BUILT_IN &&
            words[3] == BUILT_IN_WORKGROUP_ID)
            copy->group = words[1];
        if (operation == OP_VARIABLE && words[2] == copy->group)
            copy->vector = copy->words[copy->types[words[1]] + 3];
        if (copy->decorations == 0 &&
            ((operation >= OP_DECORATE && operation <= OP_GROUP_MEMBER_DECORATE) ||
             (operation >= OP_TYPE_VOID && operation <= OP_TYPE_FORWARD_POINTER)))
            copy->decorations = at;
        if (copy->functions == 0 && operation == OP_FUNCTION)
            copy->functions = at;
    }
    if (copy->vector == 0) {
        copy->group = id_of_module(copy, ID_GROUP);
        copy->vector = id_of_module(copy, ID_VECTOR);
    }
}

// Types that the module has may come twice: the reader of the OpenCL runtime takes that, but not a
// second variable for the group's number.
static void write_declarations(struct copy *copy)
{
    const uint32_t number = id_of_module(copy, ID_LONG);
    const uint32_t pointer = id_of_module(copy, ID_POINTER);
    SPIRV_WRITE(&copy->to, OP_TYPE_INT, number, 64, 0);
    SPIRV_WRITE(&copy->to, OP_TYPE_BOOL, id_of_module(copy, ID_BOOL));
    if (copy->vector == id_of_module(copy, ID_VECTOR)) {
        SPIRV_WRITE(&copy->to, OP_TYPE_VECTOR, copy->vector, number, 3);
        SPIRV_WRITE(&copy->to, OP_TYPE_POINTER, pointer, STORAGE_INPUT, copy->vector);
        SPIRV_WRITE(&copy->to, OP_VARIABLE, pointer, copy->group, STORAGE_INPUT);
    }
    SPIRV_WRITE(&copy->to, OP_CONSTANT, number, id_of_module(copy, ID_ZERO), 0, 0);
    SPIRV_WRITE(&copy->to, OP_CONSTANT, number, id_of_module(copy, ID_ALL), UINT32_MAX, UINT32_MAX);
    for (size_t at = copy->functions; at < copy->count; at += length_at(copy, at)) {
        const uint32_t *words = copy->words + at;
        if (operation_at(copy, at) != OP_FUNCTION || copy->kernels[words[2]] == 0)
            continue;
        write_longer(copy, copy->words + copy->types[words[4]],
                     id_of_kernel(copy, copy->kernels[words[2]], ID_TYPE),
                     (const uint32_t[]){number, number, number});
    }
}

static void write_function(struct copy *copy, size_t at, uint32_t kernel)
{
    const uint32_t *words = copy->words + at;
    SPIRV_WRITE(&copy->to, OP_FUNCTION, words[1], words[2], words[3],
                id_of_kernel(copy, kernel, ID_TYPE));
}

// Variables have to be in the first block, which begins at `at`.
static void write_variables(struct copy *copy, size_t at)
{
    for (; operation_at(copy, at) != OP_FUNCTION_END; at += length_at(copy, at))
        if (operation_at(copy, at) == OP_VARIABLE)
            spirv_write(&copy->to, copy->words + at, length_at(copy, at));
}

// The parameters and the test in front of a kernel's first block, whose label is at `at`.
static void write_begin(struct copy *copy, size_t at, uint32_t kernel)
{
    const uint32_t number = id_of_module(copy, ID_LONG), end = id_of_kernel(copy, kernel, ID_END);
    const uint32_t groups = id_of_kernel(copy, kernel, ID_GROUPS);
    const uint32_t here = id_of_kernel(copy, kernel, ID_AT);
    const uint32_t distance = id_of_kernel(copy, kernel, ID_DISTANCE);
    const uint32_t is_in = id_of_kernel(copy, kernel, ID_IS_IN);
    for (uint32_t id = ID_DIMENSION; id <= ID_COUNT; id++)
        SPIRV_WRITE(&copy->to, OP_FUNCTION_PARAMETER, number, id_of_kernel(copy, kernel, id));
    SPIRV_WRITE(&copy->to, OP_LABEL, id_of_kernel(copy, kernel, ID_BEGIN));
    write_variables(copy, at);
    SPIRV_WRITE(&copy->to, OP_LOAD, copy->vector, groups, copy->group);
    SPIRV_WRITE(&copy->to, OP_VECTOR_EXTRACT_DYNAMIC, number, here, groups,
                id_of_kernel(copy, kernel, ID_DIMENSION));
    SPIRV_WRITE(&copy->to, OP_SUBTRACT, number, distance, here,
                id_of_kernel(copy, kernel, ID_FIRST));
    SPIRV_WRITE(&copy->to, OP_LESS_THAN, id_of_module(copy, ID_BOOL), is_in, distance,
                id_of_kernel(copy, kernel, ID_COUNT));
    SPIRV_WRITE(&copy->to, OP_BRANCH_CONDITIONAL, is_in, copy->words[at + 1], end);
    SPIRV_WRITE(&copy->to, OP_LABEL, end);
    spirv_write(&copy->to, (const uint32_t[]){1 << 16 | OP_RETURN}, 1);
}

// Whether the instruction gives a kernel's name to another function, which has the kernel's code.
// The OpenCL runtime would take the function for the kernel.
static bool is_second_name(const struct copy *copy, size_t at)
{
    const uint32_t *words = copy->words + at, operation = operation_at(copy, at);
    const bool is_linkage =
        operation == OP_DECORATE && words[2] == DECORATION_LINKAGE && length_at(copy, at) > 4;
    if ((operation != OP_NAME && !is_linkage) || copy->kernels[words[1]] != 0)
        return false;
    const char *name = (const char *)(words + (is_linkage ? 3 : 2));
    SPIRV_EACH(entry, copy->words, copy->decorations)
    if (operation_at(copy, entry) == OP_ENTRY_POINT &&
        strcmp((const char *)(copy->words + entry + 3), name) == 0)
        return true;
    return false;
}

static void write_module(struct copy *copy)
{
    const uint32_t all[3] = {id_of_module(copy, ID_ZERO), id_of_module(copy, ID_ZERO),
                             id_of_module(copy, ID_ALL)};
    uint32_t kernel = 0; // the kernel of the instruction, or 0
    bool is_in_body = false;
    spirv_write(&copy->to, copy->words, SPIRV_HEADER_WORDS);
    SPIRV_EACH(at, copy->words, copy->count)
    {
        const uint32_t operation = operation_at(copy, at), *words = copy->words + at;
        if (at == copy->decorations && copy->vector == id_of_module(copy, ID_VECTOR))
            SPIRV_WRITE(&copy->to, OP_DECORATE, copy->group, DECORATION_BUILT_IN,
                        BUILT_IN_WORKGROUP_ID);
        if (at == copy->functions)
            write_declarations(copy);
        if (operation == OP_FUNCTION) {
            kernel = copy->kernels[words[2]];
            is_in_body = false;
        }
        if (operation == OP_LABEL && kernel != 0 && !is_in_body) {
            write_begin(copy, at, kernel);
            is_in_body = true;
        }
        if (operation == OP_FUNCTION && kernel != 0)
            write_function(copy, at, kernel);
        else if (operation == OP_FUNCTION_CALL && copy->kernels[words[3]] != 0)
            write_longer(copy, words, words[1], all);
        else if ((operation != OP_VARIABLE || !is_in_body) && !is_second_name(copy, at))
            spirv_write(&copy->to, words, length_at(copy, at));
        if (operation == OP_FUNCTION_END)
            kernel = is_in_body = 0;
    }
}

bool shim_group_part_add(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                         size_t *out_size_bytes)
{
    struct copy copy = {.words = spirv, .count = spirv_bytes / sizeof(uint32_t)};
    *out_spirv = NULL;
    copy.bound = copy.words[SPIRV_BOUND];
    copy.kernels = calloc(copy.bound, sizeof(*copy.kernels));
    copy.types = calloc(copy.bound, sizeof(*copy.types));
    bool is_fine = copy.kernels && copy.types;
    if (is_fine)
        read_module(&copy);
    if (copy.kernel_count > 0) {
        write_module(&copy);
        is_fine =
            spirv_finish(&copy.to, copy.bound + IDS_OF_MODULE + copy.kernel_count * IDS_OF_KERNEL,
                         out_spirv, out_size_bytes);
    }
    free(copy.kernels);
    free(copy.types);
    return is_fine;
}
