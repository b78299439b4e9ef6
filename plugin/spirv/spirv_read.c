// SPDX-License-Identifier: MIT
#include "spirv.h"

#include "spirv_decorations.h"
#include "spirv_instructions.h"
#include "spirv_kernels.h"
#include "spirv_types.h"

#include <stdio.h>
#include <stdlib.h>

// Where the parts of a result lie in its one block of storage.
struct parts {
    struct zepi_spirv_kernel *kernels;
    struct zepi_spirv_symbol *symbols;
    struct zepi_spirv_constant *constants;
    struct zepi_spirv_argument *arguments;
    char *names;
};

static uint32_t count_decorations(const struct zepi_spirv_walk *walk,
                                  enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = walk->decorations.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < walk->decorations.count; i++)
        count += items[i].kind == kind;
    return count;
}

// All parts in one block, those of the strictest alignment first. Counts are upper bounds.
static bool allocate_spirv_parts(const struct zepi_spirv_walk *walk, struct parts *out_parts,
                                 void **out_block)
{
    size_t kernels = walk->entries.count * sizeof(*out_parts->kernels);
    size_t symbols = count_decorations(walk, ZEPI_SPIRV_LINKAGE) * sizeof(*out_parts->symbols);
    size_t constants = count_decorations(walk, ZEPI_SPIRV_SPEC_ID) * sizeof(*out_parts->constants);
    size_t arguments = walk->argument_count * sizeof(*out_parts->arguments);
    size_t size_bytes = kernels + symbols + constants + arguments + walk->names.count;
    char *block = calloc(1, size_bytes + 1); // a block even if there is nothing to store
    if (!block)
        return false;
    out_parts->kernels = (void *)block;
    out_parts->symbols = (void *)(block + kernels);
    out_parts->constants = (void *)(block + kernels + symbols);
    out_parts->arguments = (void *)(block + kernels + symbols + constants);
    out_parts->names = block + kernels + symbols + constants + arguments;
    if (walk->names.count > 0)
        memcpy(out_parts->names, walk->names.items, walk->names.count);
    *out_block = block;
    return true;
}

static_assert(_Alignof(struct zepi_spirv_kernel) >= _Alignof(struct zepi_spirv_symbol) &&
                  _Alignof(struct zepi_spirv_symbol) >= _Alignof(struct zepi_spirv_constant) &&
                  _Alignof(struct zepi_spirv_constant) >= _Alignof(struct zepi_spirv_argument),
              "allocate_parts lays them out in this order without padding");

static enum zepi_spirv_status read_constant(struct zepi_spirv_walk *walk,
                                            const struct zepi_spirv_decoration *decoration,
                                            struct zepi_spirv_constant *out_constant)
{
    uint32_t id = decoration->target;
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(walk, id);
    bool is_bool =
        instruction.opcode == OpSpecConstantTrue || instruction.opcode == OpSpecConstantFalse;
    if (!is_bool && instruction.opcode != OpSpecConstant)
        return zepi_spirv_fail(walk, decoration->word,
                               "SpecId %u decorates id %u, expected a scalar specialization "
                               "constant, it is %s",
                               decoration->value, id,
                               zepi_spirv_opcode_text(instruction.opcode).text);
    uint32_t type_id = zepi_spirv_operand(walk, instruction, 1);
    struct zepi_spirv_instruction type = zepi_spirv_definition(walk, type_id);
    if (is_bool != (type.opcode == OpTypeBool))
        return zepi_spirv_fail(walk, instruction.word, "%s is of type id %u, expected %s, it is %s",
                               zepi_spirv_opcode_text(instruction.opcode).text, type_id,
                               is_bool ? "OpTypeBool" : "a number",
                               zepi_spirv_opcode_text(type.opcode).text);
    uint64_t value;
    if (!zepi_spirv_constant_value(walk, id, &value))
        return zepi_spirv_fail(walk, instruction.word,
                               "the constant of SpecId %u is of type id %u, expected a number of "
                               "8, 16, 32 or 64 bits",
                               decoration->value, type_id);
    *out_constant = (struct zepi_spirv_constant){
        .id = decoration->value,
        .kind = is_bool                      ? ZEPI_SPIRV_BOOL
                : type.opcode == OpTypeFloat ? ZEPI_SPIRV_FLOAT
                                             : ZEPI_SPIRV_INT,
        .is_signed = type.opcode == OpTypeFloat ||
                     (type.opcode == OpTypeInt && zepi_spirv_operand(walk, type, 3) == 1),
        .size_bytes = zepi_spirv_layout_of(walk, type_id).size_bytes,
    };
    for (unsigned i = 0; i < sizeof(value); i++)
        out_constant->default_value[i] = (uint8_t)(value >> (8 * i));
    return ZEPI_SPIRV_OK;
}

// A SpecId decoration by its SpecId and by where the constant that it decorates is defined.
struct spec_id {
    uint32_t id;
    uint32_t defined_at;
    const struct zepi_spirv_decoration *decoration; // borrowed
};

static int compare_spec_ids(const void *left, const void *right)
{
    const struct spec_id *a = left;
    const struct spec_id *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->defined_at > b->defined_at) - (a->defined_at < b->defined_at);
}

static const char *type_text(const struct zepi_spirv_constant *constant)
{
    switch (constant->kind) {
    case ZEPI_SPIRV_BOOL:
        return "a Boolean";
    case ZEPI_SPIRV_FLOAT:
        return "a floating-point number";
    default:
        return constant->is_signed ? "a signed integer" : "an integer";
    }
}

static enum zepi_spirv_status write_constants(struct zepi_spirv_walk *walk,
                                              const struct spec_id *spec_ids, uint32_t count,
                                              struct zepi_spirv_constant *constants,
                                              uint32_t *out_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct zepi_spirv_constant constant;
        enum zepi_spirv_status status = read_constant(walk, spec_ids[i].decoration, &constant);
        if (status != ZEPI_SPIRV_OK)
            return status;
        const struct zepi_spirv_constant *last = kept == 0 ? NULL : &constants[kept - 1];
        if (!last || last->id != constant.id) {
            constants[kept++] = constant;
            continue;
        }
        if (last->kind != constant.kind || last->size_bytes != constant.size_bytes ||
            last->is_signed != constant.is_signed)
            return zepi_spirv_fail(
                walk, spec_ids[i].defined_at,
                "SpecId %u is %s of %u bytes here, expected %s of %u bytes as at "
                "word %u",
                constant.id, type_text(&constant), constant.size_bytes, type_text(last),
                last->size_bytes, spec_ids[i - 1].defined_at);
    }
    *out_count = kept;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status fill_constants(struct zepi_spirv_walk *walk,
                                             struct zepi_spirv_constant *constants,
                                             uint32_t *out_count)
{
    const struct zepi_spirv_decoration *decorations = walk->decorations.items;
    uint32_t count = count_decorations(walk, ZEPI_SPIRV_SPEC_ID);
    *out_count = 0;
    if (count == 0)
        return ZEPI_SPIRV_OK;
    struct spec_id *spec_ids = calloc(count, sizeof(*spec_ids));
    if (!spec_ids)
        return ZEPI_SPIRV_OUT_OF_MEMORY;
    uint32_t next = 0;
    for (uint32_t i = 0; i < walk->decorations.count; i++) {
        if (decorations[i].kind == ZEPI_SPIRV_SPEC_ID)
            spec_ids[next++] = (struct spec_id){
                .id = decorations[i].value,
                .defined_at = walk->ids[decorations[i].target].defined_at,
                .decoration = &decorations[i],
            };
    }
    qsort(spec_ids, count, sizeof(*spec_ids), compare_spec_ids);
    enum zepi_spirv_status status = write_constants(walk, spec_ids, count, constants, out_count);
    free(spec_ids);
    return status;
}

static int compare_kernel_names(const void *left, const void *right)
{
    const struct zepi_spirv_kernel *const *a = left;
    const struct zepi_spirv_kernel *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

// Writes the kernels in order, and pointers to them in the order of their names. Two kernels of one
// name are refused.
static enum zepi_spirv_status fill_kernels(struct zepi_spirv_walk *walk, const struct parts *parts,
                                           const struct zepi_spirv_kernel **by_name)
{
    const struct zepi_spirv_entry *entries = walk->entries.items;
    uint32_t count = walk->entries.count;
    for (uint32_t i = 0; i < walk->entry_function_count; i++) {
        const struct zepi_spirv_entry_function *function = &walk->entry_functions[i];
        zepi_spirv_write_arguments(walk, function, parts->arguments + function->first_argument);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct zepi_spirv_entry_function *function =
            zepi_spirv_find_entry_function(walk, entries[i].function);
        struct zepi_spirv_kernel *kernel = &parts->kernels[i];
        *kernel = (struct zepi_spirv_kernel){
            .name = parts->names + entries[i].name,
            .arguments = parts->arguments + function->first_argument,
            .argument_count = function->argument_count,
            .required_sub_group_size = function->required_sub_group_size,
        };
        memcpy(kernel->required_group_size, function->required_group_size,
               sizeof(kernel->required_group_size));
        by_name[i] = kernel;
    }
    if (count > 0)
        qsort(by_name, count, sizeof(*by_name), compare_kernel_names);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(by_name[i]->name, by_name[i - 1]->name) == 0)
            return zepi_spirv_fail(walk, entries[by_name[i] - parts->kernels].word,
                                   "a second kernel has the name \"%s\", expected one",
                                   by_name[i]->name);
    }
    return ZEPI_SPIRV_OK;
}

// Whether kernels have the names that symbols have, each name looked up once: a group may give one
// long name to any number of targets.
struct kernel_names {
    const struct zepi_spirv_kernel *const *by_name; // borrowed
    uint32_t count;
    unsigned char *looked_up; // owned; for each offset in `names`: 0 not looked up, 1 no, 2 yes
};

static bool is_kernel_name(const struct kernel_names *kernels, const char *name, uint32_t offset)
{
    if (kernels->count == 0)
        return false;
    if (kernels->looked_up[offset] == 0) {
        struct zepi_spirv_kernel key = {.name = name};
        const struct zepi_spirv_kernel *key_pointer = &key;
        bool found = bsearch(&key_pointer, kernels->by_name, kernels->count,
                             sizeof(*kernels->by_name), compare_kernel_names);
        kernels->looked_up[offset] = found ? 2 : 1;
    }
    return kernels->looked_up[offset] == 2;
}

static enum zepi_spirv_status write_symbols(struct zepi_spirv_walk *walk, const struct parts *parts,
                                            const struct kernel_names *kernels, uint32_t *out_count)
{
    static const enum zepi_spirv_linkage linkages[] = {ZEPI_SPIRV_EXPORT, ZEPI_SPIRV_IMPORT,
                                                       ZEPI_SPIRV_LINK_ONCE_ODR};
    const struct zepi_spirv_decoration *decorations = walk->decorations.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < walk->decorations.count; i++) {
        const struct zepi_spirv_decoration *decoration = &decorations[i];
        if (decoration->kind != ZEPI_SPIRV_LINKAGE)
            continue;
        uint32_t opcode = zepi_spirv_definition(walk, decoration->target).opcode;
        if (opcode != OpFunction && opcode != OpVariable && opcode != OpUntypedVariableKHR)
            return zepi_spirv_fail(walk, decoration->word,
                                   "LinkageAttributes decorate id %u, expected a function or "
                                   "variable, it is %s",
                                   decoration->target, zepi_spirv_opcode_text(opcode).text);
        struct zepi_spirv_symbol symbol = {
            .name = parts->names + decoration->value,
            .linkage = linkages[decoration->detail],
            .is_function = opcode == OpFunction,
            .is_constant =
                zepi_spirv_find_decoration(walk, decoration->target, ZEPI_SPIRV_CONSTANT) != NULL};
        if (zepi_spirv_find_decoration(walk, decoration->target, ZEPI_SPIRV_BUILT_IN))
            continue;
        if (symbol.is_function && symbol.linkage != ZEPI_SPIRV_IMPORT &&
            is_kernel_name(kernels, symbol.name, decoration->value))
            continue;
        parts->symbols[count++] = symbol;
    }
    *out_count = count;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status fill_symbols(struct zepi_spirv_walk *walk, const struct parts *parts,
                                           const struct zepi_spirv_kernel *const *by_name,
                                           uint32_t *out_count)
{
    struct kernel_names kernels = {
        .by_name = by_name,
        .count = walk->entries.count,
        .looked_up = calloc(walk->names.count + (size_t)1, sizeof(*kernels.looked_up)),
    };
    if (!kernels.looked_up)
        return ZEPI_SPIRV_OUT_OF_MEMORY;
    enum zepi_spirv_status status = write_symbols(walk, parts, &kernels, out_count);
    free(kernels.looked_up);
    return status;
}

// Constants and imported variables are none of the module's own.
static bool has_variables(const struct zepi_spirv_walk *walk)
{
    const uint32_t import = 1;
    const uint32_t *words = walk->variables.items;
    for (uint32_t i = 0; i < walk->variables.count; i++) {
        const uint32_t id = zepi_spirv_operand(walk, zepi_spirv_instruction_at(walk, words[i]), 2);
        const struct zepi_spirv_decoration *linkage =
            zepi_spirv_find_decoration(walk, id, ZEPI_SPIRV_LINKAGE);
        if ((!linkage || linkage->detail != import) &&
            !zepi_spirv_find_decoration(walk, id, ZEPI_SPIRV_CONSTANT) &&
            !zepi_spirv_find_decoration(walk, id, ZEPI_SPIRV_BUILT_IN))
            return true;
    }
    return false;
}

// *out_spirv is zeroed, and stays so on failure.
static enum zepi_spirv_status fill_spirv(struct zepi_spirv_walk *walk, struct zepi_spirv *out_spirv)
{
    struct parts parts;
    void *block;
    if (!allocate_spirv_parts(walk, &parts, &block))
        return ZEPI_SPIRV_OUT_OF_MEMORY;
    enum zepi_spirv_status status = ZEPI_SPIRV_OUT_OF_MEMORY;
    const struct zepi_spirv_kernel **by_name =
        malloc((walk->entries.count + (size_t)1) * sizeof(*by_name));
    if (!by_name)
        goto free_block;
    uint32_t constant_count = 0;
    uint32_t symbol_count = 0;
    status = fill_constants(walk, parts.constants, &constant_count);
    if (status == ZEPI_SPIRV_OK)
        status = fill_kernels(walk, &parts, by_name);
    if (status == ZEPI_SPIRV_OK)
        status = fill_symbols(walk, &parts, by_name, &symbol_count);
    free(by_name);
    if (status != ZEPI_SPIRV_OK)
        goto free_block;
    if (walk->entries.count == 0 && symbol_count == 0) {
        // It could not be used, and a module that was cut off after its memory model looks like
        // that.
        status = zepi_spirv_fail(walk, walk->word_count,
                                 "the module ends here with neither an entry point of execution "
                                 "model Kernel nor a symbol that it imports or exports");
        goto free_block;
    }
    *out_spirv = (struct zepi_spirv){
        .version = walk->version,
        .constants = parts.constants,
        .constant_count = constant_count,
        .kernels = parts.kernels,
        .kernel_count = walk->entries.count,
        .symbols = parts.symbols,
        .symbol_count = symbol_count,
        .has_variables = has_variables(walk),
        .storage = block,
    };
    return ZEPI_SPIRV_OK;

free_block:
    free(block);
    return status;
}

enum zepi_spirv_status zepi_spirv_init(struct zepi_spirv *out_spirv, const void *bytes,
                                       size_t size_bytes, char *message, size_t message_size)
{
    *out_spirv = (struct zepi_spirv){0};
    if (message_size > 0)
        message[0] = '\0';
    struct zepi_spirv_walk walk = {
        .bytes = bytes, .message = message, .message_size = message_size};
    if (size_bytes / sizeof(uint32_t) > UINT32_MAX)
        return zepi_spirv_fail(&walk, 0, "the module has %zu bytes, expected at most 2^32 words",
                               size_bytes);
    if (size_bytes % sizeof(uint32_t) != 0)
        return zepi_spirv_fail(&walk, (uint32_t)(size_bytes / sizeof(uint32_t)),
                               "the module has %zu bytes, expected a multiple of 4", size_bytes);
    walk.word_count = (uint32_t)(size_bytes / sizeof(uint32_t));

    enum zepi_spirv_status status = zepi_spirv_walk_run(&walk);
    if (status == ZEPI_SPIRV_OK)
        status = zepi_spirv_resolve_decorations(&walk);
    if (status == ZEPI_SPIRV_OK)
        status = zepi_spirv_find_layouts(&walk);
    if (status == ZEPI_SPIRV_OK)
        status = zepi_spirv_find_entry_functions(&walk);
    if (status == ZEPI_SPIRV_OK)
        status = fill_spirv(&walk, out_spirv);
    zepi_spirv_walk_finish(&walk);
    if (status == ZEPI_SPIRV_OUT_OF_MEMORY && message_size > 0)
        snprintf(message, message_size, "out of memory");
    return status;
}

void zepi_spirv_finish(struct zepi_spirv *spirv)
{
    if (!spirv)
        return;
    free(spirv->storage);
    *spirv = (struct zepi_spirv){0};
}

const struct zepi_spirv_constant *zepi_spirv_find_constant(const struct zepi_spirv *spirv,
                                                           uint32_t id)
{
    uint32_t low = 0;
    uint32_t high = spirv->constant_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spirv->constants[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == spirv->constant_count || spirv->constants[low].id != id)
        return NULL;
    return &spirv->constants[low];
}

const struct zepi_spirv_kernel *zepi_spirv_find_kernel(const struct zepi_spirv *spirv,
                                                       const char *name)
{
    for (uint32_t i = 0; i < spirv->kernel_count; i++) {
        if (strcmp(spirv->kernels[i].name, name) == 0)
            return &spirv->kernels[i];
    }
    return NULL;
}
