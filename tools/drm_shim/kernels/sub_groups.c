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
    OP_DECORATE = 71,
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

struct reading {
    const uint32_t *words;
    size_t count;
    size_t entries_end; // behind the last entry point
    uint32_t kernel_count;
    bool uses_sub_groups, uses_function_pointers;
    bool has_dispatch;
};

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
        return words[1] == CAPABILITY_GROUPS || words[1] == CAPABILITY_SUBGROUP_DISPATCH ||
               (words[1] >= CAPABILITY_NON_UNIFORM && words[1] <= CAPABILITY_NON_UNIFORM_QUAD) ||
               words[1] == CAPABILITY_INTEL_SHUFFLE || words[1] == CAPABILITY_INTEL_BLOCK_IO;
    case OP_DECORATE:
        return length == 4 && words[2] == DECORATION_BUILT_IN &&
               words[3] >= BUILT_IN_SUBGROUP_SIZE &&
               words[3] <= BUILT_IN_SUBGROUP_LOCAL_INVOCATION_ID;
    default:
        return false;
    }
}

// The SPIR-V has passed zepi's walk: lengths, names and operands are right.
static void read_all(struct reading *reading)
{
    for (size_t at = HEADER_WORDS; at < reading->count; at += length_at(reading, at)) {
        const uint32_t operation = reading->words[at] & 0xffff;
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
static uint32_t size_for(const struct reading *reading, const struct shim_kernel_info *native)
{
    if (!reading->uses_sub_groups)
        return 1;
    return native && native->simd_size >= 4 ? native->simd_size : 0;
}

// Writes an execution mode for each kernel that needs one; returns how many words these are.
static size_t write_modes(const struct reading *reading, const struct shim_module_input *input,
                          const struct shim_ze_info *info, uint32_t *to)
{
    size_t written = 0;
    for (size_t at = HEADER_WORDS; at < reading->entries_end; at += length_at(reading, at)) {
        if ((reading->words[at] & 0xffff) != OP_ENTRY_POINT)
            continue;
        const char *name = (const char *)(reading->words + at + 3);
        const struct zepi_spirv_kernel *kernel = zepi_spirv_find_kernel(&input->walk, name);
        const uint32_t size = size_for(reading, shim_ze_info_find(info, name));
        if (!kernel || kernel->required_sub_group_size != 0 || size == 0)
            continue;
        const uint32_t mode[MODE_WORDS] = {MODE_WORDS << 16 | OP_EXECUTION_MODE,
                                           reading->words[at + 2], MODE_SUBGROUP_SIZE, size};
        memcpy(to + written, mode, sizeof(mode));
        written += MODE_WORDS;
    }
    return written;
}

static void fill(const struct reading *reading, uint32_t *to, const uint32_t *modes,
                 size_t mode_words, size_t *out_words)
{
    const uint32_t capability[] = {CAPABILITY_WORDS << 16 | OP_CAPABILITY,
                                   CAPABILITY_SUBGROUP_DISPATCH};
    const size_t capability_words = reading->has_dispatch ? 0 : CAPABILITY_WORDS;
    const size_t before = reading->entries_end - HEADER_WORDS;
    uint32_t *at = to;
    memcpy(at, reading->words, HEADER_WORDS * sizeof(*at));
    at += HEADER_WORDS;
    memcpy(at, capability, capability_words * sizeof(*at));
    at += capability_words;
    memcpy(at, reading->words + HEADER_WORDS, before * sizeof(*at));
    at += before;
    memcpy(at, modes, mode_words * sizeof(*at));
    at += mode_words;
    memcpy(at, reading->words + reading->entries_end,
           (reading->count - reading->entries_end) * sizeof(*at));
    *out_words = reading->count + capability_words + mode_words;
}

bool shim_sub_groups_require(const struct shim_module_input *input, const struct shim_ze_info *info,
                             uint8_t **out_spirv, size_t *out_size_bytes)
{
    struct reading reading = {.count = input->spirv_bytes / sizeof(uint32_t),
                              .words = (const uint32_t *)(const void *)input->spirv};
    *out_spirv = NULL;
    read_all(&reading);
    if (reading.kernel_count == 0 || !(reading.uses_sub_groups || reading.uses_function_pointers))
        return true;
    uint32_t *modes = malloc(reading.kernel_count * MODE_WORDS * sizeof(*modes));
    uint32_t *words =
        malloc((reading.count + CAPABILITY_WORDS + (size_t)reading.kernel_count * MODE_WORDS) *
               sizeof(*words));
    size_t mode_words = modes ? write_modes(&reading, input, info, modes) : 0;
    size_t word_count = 0;
    const bool is_fine = modes && words;
    if (is_fine && mode_words > 0) {
        fill(&reading, words, modes, mode_words, &word_count);
        *out_spirv = (uint8_t *)words;
        *out_size_bytes = word_count * sizeof(*words);
        words = NULL;
    }
    free(words);
    free(modes);
    return is_fine;
}
