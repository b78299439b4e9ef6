// SPDX-License-Identifier: MIT
#include "spirv_kernels.h"

#include "spirv_decorations.h"
#include "spirv_types.h"

#include <stdlib.h>

// Values of the specification, sections "Storage Class" and "Execution Mode".
enum {
    STORAGE_UNIFORM_CONSTANT = 0,
    STORAGE_WORKGROUP = 4,
    STORAGE_CROSS_WORKGROUP = 5,
    STORAGE_FUNCTION = 7,
    STORAGE_GENERIC = 8,
    STORAGE_DEVICE_ONLY_INTEL = 5936,
    STORAGE_HOST_ONLY_INTEL = 5937,
    MODE_LOCAL_SIZE = 17,
    MODE_SUBGROUP_SIZE = 35,
    MODE_LOCAL_SIZE_ID = 38,
};

// The bytes that a Level Zero argument of a pointer, image or sampler takes on the host.
enum { HANDLE_BYTES = 8 };

static struct zepi_spirv_argument pointer_argument(const struct zepi_spirv_walk *walk,
                                                   struct zepi_spirv_instruction type,
                                                   uint32_t parameter)
{
    struct zepi_spirv_argument argument = {ZEPI_SPIRV_ARGUMENT_OTHER, HANDLE_BYTES};
    switch (zepi_spirv_operand(walk, type, 2)) {
    case STORAGE_CROSS_WORKGROUP:
    case STORAGE_GENERIC:
    case STORAGE_DEVICE_ONLY_INTEL:
    case STORAGE_HOST_ONLY_INTEL:
        argument.kind = ZEPI_SPIRV_ARGUMENT_GLOBAL;
        break;
    case STORAGE_UNIFORM_CONSTANT:
        argument.kind = ZEPI_SPIRV_ARGUMENT_CONSTANT;
        break;
    case STORAGE_WORKGROUP:
        argument.kind = ZEPI_SPIRV_ARGUMENT_LOCAL;
        break;
    case STORAGE_FUNCTION:
        if (!zepi_spirv_find_decoration(walk, parameter, ZEPI_SPIRV_BY_VALUE))
            break;
        argument.kind = ZEPI_SPIRV_ARGUMENT_VALUE;
        // An untyped pointer does not say what it points to.
        argument.size_bytes =
            type.opcode == OpTypePointer
                ? zepi_spirv_layout_of(walk, zepi_spirv_operand(walk, type, 3)).size_bytes
                : 0;
        break;
    default:
        break;
    }
    return argument;
}

static struct zepi_spirv_argument kernel_argument_of(const struct zepi_spirv_walk *walk,
                                                     uint32_t type_id, uint32_t parameter)
{
    struct zepi_spirv_instruction type = zepi_spirv_definition(walk, type_id);
    switch (type.opcode) {
    case OpTypePointer:
    case OpTypeUntypedPointerKHR:
        return pointer_argument(walk, type, parameter);
    case OpTypeBool:
    case OpTypeInt:
    case OpTypeFloat:
    case OpTypeVector:
    case OpTypeArray:
    case OpTypeStruct:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_VALUE,
                                            zepi_spirv_layout_of(walk, type_id).size_bytes};
    case OpTypeImage:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_IMAGE, HANDLE_BYTES};
    case OpTypeSampler:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_SAMPLER, HANDLE_BYTES};
    default:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_OTHER, HANDLE_BYTES};
    }
}

// The first instruction from `word` on that is no debug line.
static struct zepi_spirv_instruction skip_lines(const struct zepi_spirv_walk *walk, uint32_t word)
{
    struct zepi_spirv_instruction instruction = zepi_spirv_instruction_at(walk, word);
    while (instruction.opcode == OpLine || instruction.opcode == OpNoLine)
        instruction = zepi_spirv_instruction_at(walk, instruction.word + instruction.length);
    return instruction;
}

void zepi_spirv_write_arguments(const struct zepi_spirv_walk *walk,
                                const struct zepi_spirv_entry_function *function,
                                struct zepi_spirv_argument *out_arguments)
{
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(walk, function->id);
    for (uint32_t i = 0; i < function->argument_count; i++) {
        instruction = skip_lines(walk, instruction.word + instruction.length);
        while (instruction.opcode != OpFunctionParameter)
            instruction = skip_lines(walk, instruction.word + instruction.length);
        out_arguments[i] = kernel_argument_of(walk, zepi_spirv_operand(walk, instruction, 1),
                                              zepi_spirv_operand(walk, instruction, 2));
    }
}

static int compare_entry_functions(const void *left, const void *right)
{
    const struct zepi_spirv_entry_function *a = left;
    const struct zepi_spirv_entry_function *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

struct zepi_spirv_entry_function *zepi_spirv_find_entry_function(const struct zepi_spirv_walk *walk,
                                                                 uint32_t id)
{
    if (walk->entry_function_count == 0)
        return NULL;
    struct zepi_spirv_entry_function key = {.id = id};
    return bsearch(&key, walk->entry_functions, walk->entry_function_count, sizeof(key),
                   compare_entry_functions);
}

// False for a value that is only known once the module is specialized.
static bool find_fixed_value(const struct zepi_spirv_walk *walk, uint32_t id, uint64_t *out_value)
{
    return zepi_spirv_definition(walk, id).opcode == OpConstant &&
           zepi_spirv_constant_value(walk, id, out_value);
}

static enum zepi_spirv_status read_execution_mode(struct zepi_spirv_walk *walk,
                                                  struct zepi_spirv_instruction instruction)
{
    struct zepi_spirv_entry_function *function =
        zepi_spirv_find_entry_function(walk, zepi_spirv_operand(walk, instruction, 1));
    uint32_t mode = zepi_spirv_operand(walk, instruction, 2);
    bool by_id = mode == MODE_LOCAL_SIZE_ID;
    bool is_group_size = by_id || mode == MODE_LOCAL_SIZE;
    if (!function || (!is_group_size && mode != MODE_SUBGROUP_SIZE) ||
        by_id != (instruction.opcode == OpExecutionModeId))
        return ZEPI_SPIRV_OK;
    uint32_t count = is_group_size ? 3 : 1;
    if (instruction.length < 3 + count)
        return zepi_spirv_fail(walk, instruction.word,
                               "execution mode %u has %u operands, expected %u", mode,
                               instruction.length - 3, count);
    if (mode == MODE_SUBGROUP_SIZE) {
        function->required_sub_group_size = zepi_spirv_operand(walk, instruction, 3);
        return ZEPI_SPIRV_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = zepi_spirv_operand(walk, instruction, 3 + i);
        uint64_t value = operand;
        if (by_id && !find_fixed_value(walk, operand, &value)) {
            memset(function->required_group_size, 0, sizeof(function->required_group_size));
            return ZEPI_SPIRV_OK;
        }
        if (value > UINT32_MAX)
            return zepi_spirv_fail(walk, instruction.word,
                                   "LocalSizeId names id %u of the value %llu, expected 32 bits",
                                   operand, (unsigned long long)value);
        function->required_group_size[i] = (uint32_t)value;
    }
    return ZEPI_SPIRV_OK;
}

// Fills argument_count; the function must have a body.
static enum zepi_spirv_status read_entry(struct zepi_spirv_walk *walk,
                                         const struct zepi_spirv_entry *entry,
                                         struct zepi_spirv_entry_function *function)
{
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(walk, entry->function);
    if (instruction.opcode != OpFunction)
        return zepi_spirv_fail(walk, entry->word, "OpEntryPoint names id %u, expected a function",
                               entry->function);
    struct zepi_spirv_instruction type =
        zepi_spirv_definition(walk, zepi_spirv_operand(walk, instruction, 4));
    while (instruction.opcode != OpLabel && instruction.opcode != OpFunctionEnd)
        instruction = skip_lines(walk, instruction.word + instruction.length);
    if (instruction.opcode != OpLabel)
        return zepi_spirv_fail(walk, entry->word,
                               "OpEntryPoint names id %u, expected a function with a body",
                               entry->function);
    function->argument_count = type.length - 3;
    function->is_read = true;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status read_entries(struct zepi_spirv_walk *walk)
{
    const struct zepi_spirv_entry *entries = walk->entries.items;
    uint32_t count = walk->entries.count;
    struct zepi_spirv_entry_function *functions = calloc(count, sizeof(*functions));
    if (!functions)
        return ZEPI_SPIRV_OUT_OF_MEMORY;
    walk->entry_functions = functions;
    for (uint32_t i = 0; i < count; i++)
        functions[i].id = entries[i].function;
    qsort(functions, count, sizeof(*functions), compare_entry_functions);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (functions[i].id != functions[kept - 1].id)
            functions[kept++] = functions[i];
    }
    walk->entry_function_count = kept;

    // Each function is read once, however many names it has.
    for (uint32_t i = 0; i < count; i++) {
        struct zepi_spirv_entry_function *function =
            zepi_spirv_find_entry_function(walk, entries[i].function);
        if (function->is_read)
            continue;
        enum zepi_spirv_status status = read_entry(walk, &entries[i], function);
        if (status != ZEPI_SPIRV_OK)
            return status;
        function->first_argument = walk->argument_count;
        walk->argument_count += function->argument_count;
    }
    return ZEPI_SPIRV_OK;
}

enum zepi_spirv_status zepi_spirv_find_entry_functions(struct zepi_spirv_walk *walk)
{
    if (walk->entries.count == 0)
        return ZEPI_SPIRV_OK;
    enum zepi_spirv_status status = read_entries(walk);
    const uint32_t *words = walk->execution_modes.items;
    for (uint32_t i = 0; status == ZEPI_SPIRV_OK && i < walk->execution_modes.count; i++)
        status = read_execution_mode(walk, zepi_spirv_instruction_at(walk, words[i]));
    return status;
}
