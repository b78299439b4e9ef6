// SPDX-License-Identifier: MIT
#include "sub_groups.h"

#include "spirv_copy.h"

#include <stdlib.h>

enum {
    SCOPE_WORKGROUP = 2,
    MODE_SUBGROUP_SIZE = 35,
    BUILT_IN_SUBGROUP_SIZE = 36,
    BUILT_IN_SUBGROUP_LOCAL_INVOCATION_ID = 41,
    CAPABILITY_GROUPS = 18,
    CAPABILITY_NON_UNIFORM = 61,
    CAPABILITY_NON_UNIFORM_QUAD = 68,
    CAPABILITY_INTEL_BLOCK_IO = 5569,
    CAPABILITY_FUNCTION_POINTERS = 5603,
};

// Properties of an id.
enum {
    MARK_SUB_GROUP_VALUE = 1, // a built-in variable
    MARK_WORKGROUP = 2,       // a constant: as a scope, the group
    MARK_USES = 4,            // a function that depends on the size of sub-groups, or may
};

struct reading {
    const uint32_t *words;
    size_t count;
    const struct zepi_spirv *walk;
    cpu_sub_group_choice choose;
    const void *context;
    uint8_t *marks;     // of each id
    uint32_t bound;     // of ids
    size_t entries_end; // behind the last entry point
    bool uses_sub_groups, uses_function_pointers;
    bool has_dispatch;
};

bool cpu_sub_groups_need(uint32_t capability)
{
    return capability == CAPABILITY_GROUPS || capability == CAPABILITY_SUBGROUP_DISPATCH ||
           (capability >= CAPABILITY_NON_UNIFORM && capability <= CAPABILITY_NON_UNIFORM_QUAD) ||
           capability == CAPABILITY_INTEL_SHUFFLE || capability == CAPABILITY_INTEL_BLOCK_IO;
}

static bool is_of_sub_groups(const struct reading *reading, size_t at)
{
    const uint32_t *words = reading->words + at;
    const size_t length = spirv_length(reading->words + at);
    switch (spirv_operation(words)) {
    case OP_CAPABILITY:
        return cpu_sub_groups_need(words[1]);
    case OP_DECORATE:
        return length == 4 && words[2] == DECORATION_BUILT_IN &&
               words[3] >= BUILT_IN_SUBGROUP_SIZE &&
               words[3] <= BUILT_IN_SUBGROUP_LOCAL_INVOCATION_ID;
    default:
        return false;
    }
}

static bool has_mark(const struct reading *reading, uint32_t id, uint8_t mark)
{
    return id < reading->bound && reading->marks[id] & mark;
}

static void set_mark(struct reading *reading, uint32_t id, uint8_t mark)
{
    if (id < reading->bound)
        reading->marks[id] |= mark;
}

static void mark_values(struct reading *reading, size_t at)
{
    const uint32_t *words = reading->words + at;
    const size_t length = spirv_length(reading->words + at);
    if (spirv_operation(words) == OP_DECORATE && is_of_sub_groups(reading, at))
        set_mark(reading, words[1], MARK_SUB_GROUP_VALUE);
    if (spirv_operation(words) == OP_CONSTANT && length == 4 && words[3] == SCOPE_WORKGROUP)
        set_mark(reading, words[2], MARK_WORKGROUP);
}

// Whether an instruction of a function depends on the size of sub-groups, or may. Group operations
// of a whole work-group do not.
static bool depends_on_size(const struct reading *reading, size_t at)
{
    const uint32_t *words = reading->words + at;
    const uint32_t operation = spirv_operation(words);
    const size_t length = spirv_length(reading->words + at);
    if (operation == OP_CONTROL_BARRIER)
        return length < 2 || !has_mark(reading, words[1], MARK_WORKGROUP);
    if ((operation >= OP_GROUP_ALL && operation <= OP_GROUP_S_MAX) ||
        (operation >= OP_GROUP_NON_UNIFORM_ELECT && operation <= OP_GROUP_NON_UNIFORM_QUAD_SWAP))
        return length < 4 || !has_mark(reading, words[3], MARK_WORKGROUP);
    if (operation == OP_FUNCTION_CALL && length >= 4 && has_mark(reading, words[3], MARK_USES))
        return true;
    for (size_t i = 1; i < length; i++) {
        if (has_mark(reading, words[i], MARK_SUB_GROUP_VALUE))
            return true;
    }
    switch (operation) {
    case OP_ATOMIC_F_MIN:
    case OP_ATOMIC_F_MAX:
    case OP_ATOMIC_F_ADD:
    case OP_ASSUME_TRUE:
    case OP_EXPECT:
        return false;
    default:
        return operation >= OP_FIRST_OF_EXTENSIONS;
    }
}

// Marks functions that depend on the size themselves, or by those that are known to. Returns
// whether one is new.
static bool mark_functions(struct reading *reading)
{
    uint32_t function = 0;
    bool is_in_function = false, has_body = false, is_any_new = false;
    SPIRV_EACH(at, reading->words, reading->count)
    {
        const uint32_t operation = spirv_operation(reading->words + at);
        bool uses = false;
        if (operation == OP_FUNCTION) {
            function = spirv_length(reading->words + at) > 2 ? reading->words[at + 2] : 0;
            is_in_function = true;
            has_body = false;
        } else if (operation == OP_FUNCTION_END) {
            uses = !has_body; // another module has it
            is_in_function = false;
        } else if (is_in_function) {
            has_body = has_body || operation == OP_LABEL;
            uses = depends_on_size(reading, at);
        }
        if (uses && !has_mark(reading, function, MARK_USES)) {
            set_mark(reading, function, MARK_USES);
            is_any_new = is_any_new || function < reading->bound;
        }
    }
    return is_any_new;
}

// The SPIR-V has passed zepi's walk: lengths, names and operands are right.
static void read_all(struct reading *reading)
{
    SPIRV_EACH(at, reading->words, reading->count)
    {
        const uint32_t operation = spirv_operation(reading->words + at);
        mark_values(reading, at);
        reading->uses_sub_groups = reading->uses_sub_groups || is_of_sub_groups(reading, at);
        if (operation == OP_CAPABILITY && reading->words[at + 1] == CAPABILITY_SUBGROUP_DISPATCH)
            reading->has_dispatch = true;
        if (operation == OP_CAPABILITY && reading->words[at + 1] == CAPABILITY_FUNCTION_POINTERS)
            reading->uses_function_pointers = true;
        if (operation == OP_ENTRY_POINT)
            reading->entries_end = at + spirv_length(reading->words + at);
    }
}

// 0: none is required. Where items call functions of their own choice, the compiler of the OpenCL
// runtime crashes unless each item is alone.
static uint32_t size_for(const struct reading *reading, uint32_t function, const char *name)
{
    if (!reading->uses_sub_groups)
        return 1;
    // With a required size that runtime broadcasts from the wrong item of a work-group.
    if (!reading->uses_function_pointers && !has_mark(reading, function, MARK_USES))
        return 0;
    return reading->choose(reading->context, name);
}

// Writes an execution mode for each kernel that needs one. False: none does.
static bool write_modes(const struct reading *reading, struct spirv_copy *copy)
{
    bool is_any = false;
    SPIRV_EACH(at, reading->words, reading->entries_end)
    {
        const uint32_t *words = reading->words + at;
        if (spirv_operation(words) != OP_ENTRY_POINT)
            continue;
        const char *name = (const char *)(words + 3);
        const struct zepi_spirv_kernel *kernel = zepi_spirv_find_kernel(reading->walk, name);
        const uint32_t size = size_for(reading, words[2], name);
        if (!kernel || kernel->required_sub_group_size != 0 || size == 0)
            continue;
        SPIRV_WRITE(copy, OP_EXECUTION_MODE, words[2], MODE_SUBGROUP_SIZE, size);
        is_any = true;
    }
    return is_any;
}

static bool write_copy(struct reading *reading, uint8_t **out_spirv, size_t *out_size_bytes)
{
    struct spirv_copy copy = {0};
    const size_t head = SPIRV_HEADER_WORDS, end = reading->entries_end;
    while (reading->uses_sub_groups && mark_functions(reading))
        ;
    spirv_write(&copy, reading->words, head);
    if (!reading->has_dispatch)
        SPIRV_WRITE(&copy, OP_CAPABILITY, CAPABILITY_SUBGROUP_DISPATCH);
    spirv_write(&copy, reading->words + head, end - head);
    if (!write_modes(reading, &copy)) {
        free(copy.words);
        return true;
    }
    spirv_write(&copy, reading->words + end, reading->count - end);
    return spirv_finish(&copy, reading->bound, out_spirv, out_size_bytes);
}

bool cpu_sub_groups_require(const void *spirv, size_t spirv_bytes, const struct zepi_spirv *walk,
                            cpu_sub_group_choice choose, const void *context, uint8_t **out_spirv,
                            size_t *out_size_bytes)
{
    struct reading reading = {.count = spirv_bytes / sizeof(uint32_t),
                              .words = spirv,
                              .walk = walk,
                              .choose = choose,
                              .context = context};
    *out_spirv = NULL;
    reading.bound = reading.words[SPIRV_BOUND];
    reading.marks = calloc((size_t)reading.bound + 1, 1);
    if (!reading.marks)
        return false;
    read_all(&reading);
    const bool is_fine = reading.entries_end == 0 ||
                         !(reading.uses_sub_groups || reading.uses_function_pointers) ||
                         write_copy(&reading, out_spirv, out_size_bytes);
    free(reading.marks);
    return is_fine;
}
