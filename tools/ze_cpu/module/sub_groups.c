// SPDX-License-Identifier: MIT
#include "sub_groups.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define MODE_WORDS 4
#define CAPABILITY_WORDS 2

enum {
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_CONSTANT = 43,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_DECORATE = 71,
    OP_CONTROL_BARRIER = 224,
    OP_LABEL = 248,
    OP_GROUP_ALL = 261, // the first that has a scope
    OP_GROUP_S_MAX = 271,
    OP_GROUP_NON_UNIFORM_ELECT = 333,
    OP_GROUP_NON_UNIFORM_QUAD_SWAP = 366,
    FIRST_OP_OF_EXTENSIONS = 4096,
    OP_ATOMIC_F_MIN = 5614,
    OP_ATOMIC_F_MAX = 5615,
    OP_ASSUME_TRUE = 5630,
    OP_EXPECT = 5631,
    OP_ATOMIC_F_ADD = 6035,
    SCOPE_WORKGROUP = 2,
    MODE_SUBGROUP_SIZE = 35,
    DECORATION_BUILT_IN = 11,
    BUILT_IN_SUBGROUP_SIZE = 36,
    BUILT_IN_SUBGROUP_LOCAL_INVOCATION_ID = 41,
    CAPABILITY_GROUPS = 18,
    CAPABILITY_SUBGROUP_DISPATCH = 58,
    CAPABILITY_NON_UNIFORM = 61,
    CAPABILITY_NON_UNIFORM_QUAD = 68,
    CAPABILITY_INTEL_SHUFFLE = 5568,
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
    uint32_t kernel_count;
    bool uses_sub_groups, uses_function_pointers;
    bool has_dispatch;
};

bool cpu_sub_groups_need(uint32_t capability)
{
    return capability == CAPABILITY_GROUPS || capability == CAPABILITY_SUBGROUP_DISPATCH ||
           (capability >= CAPABILITY_NON_UNIFORM && capability <= CAPABILITY_NON_UNIFORM_QUAD) ||
           capability == CAPABILITY_INTEL_SHUFFLE || capability == CAPABILITY_INTEL_BLOCK_IO;
}

static size_t length_at(const struct reading *reading, size_t at)
{
    return reading->words[at] >> 16;
}

static bool is_of_sub_groups(const struct reading *reading, size_t at)
{
    const uint32_t *words = reading->words + at;
    const size_t length = length_at(reading, at);
    switch (words[0] & 0xffff) {
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
    const size_t length = length_at(reading, at);
    if ((words[0] & 0xffff) == OP_DECORATE && is_of_sub_groups(reading, at))
        set_mark(reading, words[1], MARK_SUB_GROUP_VALUE);
    if ((words[0] & 0xffff) == OP_CONSTANT && length == 4 && words[3] == SCOPE_WORKGROUP)
        set_mark(reading, words[2], MARK_WORKGROUP);
}

// Whether an instruction of a function depends on the size of sub-groups, or may. Group operations
// of a whole work-group do not.
static bool depends_on_size(const struct reading *reading, size_t at)
{
    const uint32_t *words = reading->words + at;
    const uint32_t operation = words[0] & 0xffff;
    const size_t length = length_at(reading, at);
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
        return operation >= FIRST_OP_OF_EXTENSIONS;
    }
}

// Marks functions that depend on the size themselves, or by those that are known to. Returns
// whether one is new.
static bool mark_functions(struct reading *reading)
{
    uint32_t function = 0;
    bool is_in_function = false, has_body = false, is_any_new = false;
    for (size_t at = HEADER_WORDS; at < reading->count; at += length_at(reading, at)) {
        const uint32_t operation = reading->words[at] & 0xffff;
        bool uses = false;
        if (operation == OP_FUNCTION) {
            function = length_at(reading, at) > 2 ? reading->words[at + 2] : 0;
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
    for (size_t at = HEADER_WORDS; at < reading->count; at += length_at(reading, at)) {
        const uint32_t operation = reading->words[at] & 0xffff;
        mark_values(reading, at);
        reading->uses_sub_groups = reading->uses_sub_groups || is_of_sub_groups(reading, at);
        if (operation == OP_CAPABILITY && reading->words[at + 1] == CAPABILITY_SUBGROUP_DISPATCH)
            reading->has_dispatch = true;
        if (operation == OP_CAPABILITY && reading->words[at + 1] == CAPABILITY_FUNCTION_POINTERS)
            reading->uses_function_pointers = true;
        if (operation == OP_ENTRY_POINT) {
            reading->entries_end = at + length_at(reading, at);
            reading->kernel_count++;
        }
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

// Writes an execution mode for each kernel that needs one; returns how many words these are.
static size_t write_modes(const struct reading *reading, uint32_t *to)
{
    size_t written = 0;
    for (size_t at = HEADER_WORDS; at < reading->entries_end; at += length_at(reading, at)) {
        if ((reading->words[at] & 0xffff) != OP_ENTRY_POINT)
            continue;
        const char *name = (const char *)(reading->words + at + 3);
        const struct zepi_spirv_kernel *kernel = zepi_spirv_find_kernel(reading->walk, name);
        const uint32_t size = size_for(reading, reading->words[at + 2], name);
        if (!kernel || kernel->required_sub_group_size != 0 || size == 0)
            continue;
        const uint32_t mode[MODE_WORDS] = {MODE_WORDS << 16 | OP_EXECUTION_MODE,
                                           reading->words[at + 2], MODE_SUBGROUP_SIZE, size};
        memcpy(to + written, mode, sizeof(mode));
        written += MODE_WORDS;
    }
    return written;
}

static bool write_copy(struct reading *reading, uint8_t **out_spirv, size_t *out_size_bytes)
{
    const uint32_t capability[] = {CAPABILITY_WORDS << 16 | OP_CAPABILITY,
                                   CAPABILITY_SUBGROUP_DISPATCH};
    const uint32_t *entries_end = reading->words + reading->entries_end;
    const size_t rest = reading->count - reading->entries_end;
    while (reading->uses_sub_groups && mark_functions(reading))
        ;
    uint32_t *words =
        malloc((reading->count + CAPABILITY_WORDS + (size_t)reading->kernel_count * MODE_WORDS) *
               sizeof(*words));
    if (!words)
        return false;
    uint32_t *to = mempcpy(words, reading->words, HEADER_WORDS * sizeof(*to));
    if (!reading->has_dispatch)
        to = mempcpy(to, capability, sizeof(capability));
    to = mempcpy(to, reading->words + HEADER_WORDS,
                 (reading->entries_end - HEADER_WORDS) * sizeof(*to));
    const size_t mode_words = write_modes(reading, to);
    to = mempcpy(to + mode_words, entries_end, rest * sizeof(*to));
    if (mode_words == 0) {
        free(words);
        return true;
    }
    *out_spirv = (uint8_t *)words;
    *out_size_bytes = (size_t)(to - words) * sizeof(*words);
    return true;
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
    reading.bound = reading.words[3];
    reading.marks = calloc((size_t)reading.bound + 1, 1);
    if (!reading.marks)
        return false;
    read_all(&reading);
    const bool is_fine = reading.kernel_count == 0 ||
                         !(reading.uses_sub_groups || reading.uses_function_pointers) ||
                         write_copy(&reading, out_spirv, out_size_bytes);
    free(reading.marks);
    return is_fine;
}
