// SPDX-License-Identifier: MIT
#include "spirv.h"

#include "spirv_decorations.h"
#include "spirv_instructions.h"
#include "spirv_kernels.h"
#include "spirv_types.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t count_decorations(const struct zepi_spirv_parser *parser,
                                  enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = parser->decorations.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < parser->decorations.count; i++)
        count += items[i].kind == kind;
    return count;
}

static bool read_constant(struct zepi_spirv_parser *parser,
                          const struct zepi_spirv_decoration *decoration,
                          struct zepi_spirv_constant *out_constant)
{
    uint32_t id = decoration->target;
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(parser, id);
    bool is_bool =
        instruction.opcode == OpSpecConstantTrue || instruction.opcode == OpSpecConstantFalse;
    if (!is_bool && instruction.opcode != OpSpecConstant)
        return zepi_spirv_fail(parser, decoration->word,
                               "SpecId %u decorates id %u, expected a scalar specialization "
                               "constant, it is %s",
                               decoration->value, id,
                               zepi_spirv_opcode_text(instruction.opcode).text);
    uint32_t type_id = zepi_spirv_operand(parser, instruction, 1);
    struct zepi_spirv_instruction type = zepi_spirv_definition(parser, type_id);
    if (is_bool != (type.opcode == OpTypeBool))
        return zepi_spirv_refuse(parser, instruction, "is of type id %u, expected %s, it is %s",
                                 type_id, is_bool ? "OpTypeBool" : "a number",
                                 zepi_spirv_opcode_text(type.opcode).text);
    uint64_t value;
    if (!zepi_spirv_constant_value(parser, id, &value))
        return zepi_spirv_fail(parser, instruction.word,
                               "the constant of SpecId %u is of type id %u, expected a number of "
                               "8, 16, 32 or 64 bits",
                               decoration->value, type_id);
    *out_constant = (struct zepi_spirv_constant){
        .id = decoration->value,
        .kind = is_bool                      ? ZEPI_SPIRV_BOOL
                : type.opcode == OpTypeFloat ? ZEPI_SPIRV_FLOAT
                                             : ZEPI_SPIRV_INT,
        .is_signed = type.opcode == OpTypeFloat ||
                     (type.opcode == OpTypeInt && zepi_spirv_operand(parser, type, 3) == 1),
        .size_bytes = zepi_spirv_layout_of(parser, type_id).size_bytes,
    };
    for (unsigned i = 0; i < sizeof(value); i++)
        out_constant->default_value[i] = (uint8_t)(value >> (8 * i));
    return true;
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
    return constant->kind == ZEPI_SPIRV_BOOL    ? "a Boolean"
           : constant->kind == ZEPI_SPIRV_FLOAT ? "a floating-point number"
           : constant->is_signed                ? "a signed integer"
                                                : "an integer";
}

static bool write_constants(struct zepi_spirv_parser *parser, const struct spec_id *spec_ids,
                            uint32_t count, struct zepi_spirv_constant *constants,
                            struct zepi_spirv *spirv)
{
    for (uint32_t i = 0; i < count; i++) {
        struct zepi_spirv_constant constant;
        if (!read_constant(parser, spec_ids[i].decoration, &constant))
            return false;
        const struct zepi_spirv_constant *last =
            spirv->constant_count == 0 ? NULL : &constants[spirv->constant_count - 1];
        if (!last || last->id != constant.id) {
            constants[spirv->constant_count++] = constant;
            continue;
        }
        if (last->kind != constant.kind || last->size_bytes != constant.size_bytes ||
            last->is_signed != constant.is_signed)
            return zepi_spirv_fail(
                parser, spec_ids[i].defined_at,
                "SpecId %u is %s of %u bytes here, expected %s of %u bytes as at "
                "word %u",
                constant.id, type_text(&constant), constant.size_bytes, type_text(last),
                last->size_bytes, spec_ids[i - 1].defined_at);
    }
    return true;
}

static bool fill_constants(struct zepi_spirv_parser *parser, struct zepi_spirv *spirv)
{
    const struct zepi_spirv_decoration *decorations = parser->decorations.items;
    uint32_t count = count_decorations(parser, ZEPI_SPIRV_SPEC_ID);
    struct zepi_spirv_constant *constants = calloc(count + (size_t)1, sizeof(*constants));
    struct spec_id *spec_ids = calloc(count + (size_t)1, sizeof(*spec_ids));
    spirv->constants = constants;
    if (!constants || !spec_ids) {
        free(spec_ids);
        return false;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < parser->decorations.count; i++) {
        if (decorations[i].kind == ZEPI_SPIRV_SPEC_ID)
            spec_ids[next++] = (struct spec_id){
                .id = decorations[i].value,
                .defined_at = parser->ids[decorations[i].target].defined_at,
                .decoration = &decorations[i],
            };
    }
    qsort(spec_ids, count, sizeof(*spec_ids), compare_spec_ids);
    const bool is_written = write_constants(parser, spec_ids, count, constants, spirv);
    free(spec_ids);
    return is_written;
}

// ---- Kernels ----

// The bytes that a Level Zero argument of a pointer, image or sampler takes on the host.
enum { HANDLE_BYTES = 8 };

static struct zepi_spirv_argument pointer_argument(const struct zepi_spirv_parser *parser,
                                                   struct zepi_spirv_instruction type,
                                                   uint32_t parameter)
{
    struct zepi_spirv_argument argument = {ZEPI_SPIRV_ARGUMENT_OTHER, HANDLE_BYTES};
    switch (zepi_spirv_operand(parser, type, 2)) {
    case ZEPI_SPIRV_STORAGE_CROSS_WORKGROUP:
    case ZEPI_SPIRV_STORAGE_GENERIC:
    case ZEPI_SPIRV_STORAGE_DEVICE_ONLY_INTEL:
    case ZEPI_SPIRV_STORAGE_HOST_ONLY_INTEL:
        argument.kind = ZEPI_SPIRV_ARGUMENT_GLOBAL;
        break;
    case ZEPI_SPIRV_STORAGE_UNIFORM_CONSTANT:
        argument.kind = ZEPI_SPIRV_ARGUMENT_CONSTANT;
        break;
    case ZEPI_SPIRV_STORAGE_WORKGROUP:
        argument.kind = ZEPI_SPIRV_ARGUMENT_LOCAL;
        break;
    case ZEPI_SPIRV_STORAGE_FUNCTION:
        if (!zepi_spirv_find_decoration(parser, parameter, ZEPI_SPIRV_BY_VALUE))
            break;
        argument.kind = ZEPI_SPIRV_ARGUMENT_VALUE;
        // An untyped pointer does not say what it points to.
        argument.size_bytes =
            type.opcode == OpTypePointer
                ? zepi_spirv_layout_of(parser, zepi_spirv_operand(parser, type, 3)).size_bytes
                : 0;
        break;
    default:
        break;
    }
    return argument;
}

static struct zepi_spirv_argument kernel_argument_of(const struct zepi_spirv_parser *parser,
                                                     uint32_t type_id, uint32_t parameter)
{
    struct zepi_spirv_instruction type = zepi_spirv_definition(parser, type_id);
    switch (type.opcode) {
    case OpTypePointer:
    case OpTypeUntypedPointerKHR:
        return pointer_argument(parser, type, parameter);
    case OpTypeBool:
    case OpTypeInt:
    case OpTypeFloat:
    case OpTypeVector:
    case OpTypeArray:
    case OpTypeStruct:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_VALUE,
                                            zepi_spirv_layout_of(parser, type_id).size_bytes};
    case OpTypeImage:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_IMAGE, HANDLE_BYTES};
    case OpTypeSampler:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_SAMPLER, HANDLE_BYTES};
    default:
        return (struct zepi_spirv_argument){ZEPI_SPIRV_ARGUMENT_OTHER, HANDLE_BYTES};
    }
}

static void write_arguments(const struct zepi_spirv_parser *parser,
                            const struct zepi_spirv_entry_function *function,
                            struct zepi_spirv_argument *out_arguments)
{
    struct zepi_spirv_instruction instruction = zepi_spirv_definition(parser, function->id);
    for (uint32_t i = 0; i < function->argument_count; i++) {
        instruction = zepi_spirv_skip_lines(parser, instruction.word + instruction.length);
        while (instruction.opcode != OpFunctionParameter)
            instruction = zepi_spirv_skip_lines(parser, instruction.word + instruction.length);
        out_arguments[i] = kernel_argument_of(parser, zepi_spirv_operand(parser, instruction, 1),
                                              zepi_spirv_operand(parser, instruction, 2));
    }
}

static int compare_kernel_names(const void *left, const void *right)
{
    const struct zepi_spirv_kernel *const *a = left;
    const struct zepi_spirv_kernel *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

// Writes the kernels in order, and pointers to them in the order of their names. Two kernels of one
// name are refused.
static bool fill_kernels(struct zepi_spirv_parser *parser, struct zepi_spirv *spirv,
                         const struct zepi_spirv_kernel **by_name)
{
    const struct zepi_spirv_entry *entries = parser->entries.items;
    uint32_t count = parser->entries.count;
    struct zepi_spirv_kernel *kernels = calloc(count + (size_t)1, sizeof(*kernels));
    struct zepi_spirv_argument *arguments =
        calloc(parser->argument_count + (size_t)1, sizeof(*arguments));
    spirv->kernels = kernels;
    spirv->kernel_count = count;
    spirv->arguments = arguments;
    if (!kernels || !arguments)
        return false;
    for (uint32_t i = 0; i < parser->entry_function_count; i++) {
        const struct zepi_spirv_entry_function *function = &parser->entry_functions[i];
        write_arguments(parser, function, arguments + function->first_argument);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct zepi_spirv_entry_function *function =
            zepi_spirv_find_entry_function(parser, entries[i].function);
        struct zepi_spirv_kernel *kernel = &kernels[i];
        *kernel = (struct zepi_spirv_kernel){
            .name = spirv->names + entries[i].name,
            .arguments = arguments + function->first_argument,
            .argument_count = function->argument_count,
            .required_sub_group_size = function->required_sub_group_size,
        };
        memcpy(kernel->required_group_size, function->required_group_size,
               sizeof(kernel->required_group_size));
        memcpy(kernel->hinted_group_size, function->hinted_group_size,
               sizeof(kernel->hinted_group_size));
        by_name[i] = kernel;
    }
    if (count > 0)
        qsort(by_name, count, sizeof(*by_name), compare_kernel_names);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(by_name[i]->name, by_name[i - 1]->name) == 0)
            return zepi_spirv_fail(parser, entries[by_name[i] - kernels].word,
                                   "a second kernel has the name \"%s\", expected one",
                                   by_name[i]->name);
    }
    return true;
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

static bool write_symbols(struct zepi_spirv_parser *parser, const struct kernel_names *kernels,
                          struct zepi_spirv_symbol *symbols, struct zepi_spirv *spirv)
{
    static const enum zepi_spirv_linkage linkages[] = {ZEPI_SPIRV_EXPORT, ZEPI_SPIRV_IMPORT,
                                                       ZEPI_SPIRV_LINK_ONCE_ODR};
    const struct zepi_spirv_decoration *decorations = parser->decorations.items;
    for (uint32_t i = 0; i < parser->decorations.count; i++) {
        const struct zepi_spirv_decoration *decoration = &decorations[i];
        if (decoration->kind != ZEPI_SPIRV_LINKAGE)
            continue;
        uint32_t opcode = zepi_spirv_definition(parser, decoration->target).opcode;
        if (opcode != OpFunction && opcode != OpVariable && opcode != OpUntypedVariableKHR)
            return zepi_spirv_fail(parser, decoration->word,
                                   "LinkageAttributes decorate id %u, expected a function or "
                                   "variable, it is %s",
                                   decoration->target, zepi_spirv_opcode_text(opcode).text);
        struct zepi_spirv_symbol symbol = {
            .name = spirv->names + decoration->value,
            .linkage = linkages[decoration->detail],
            .is_function = opcode == OpFunction,
            .is_constant = zepi_spirv_find_decoration(parser, decoration->target,
                                                      ZEPI_SPIRV_CONSTANT) != NULL};
        if (zepi_spirv_find_decoration(parser, decoration->target, ZEPI_SPIRV_BUILT_IN))
            continue;
        if (symbol.is_function && symbol.linkage != ZEPI_SPIRV_IMPORT &&
            is_kernel_name(kernels, symbol.name, decoration->value))
            continue;
        symbols[spirv->symbol_count++] = symbol;
        spirv->has_imports = spirv->has_imports || symbol.linkage == ZEPI_SPIRV_IMPORT;
        spirv->has_exports = spirv->has_exports || symbol.linkage != ZEPI_SPIRV_IMPORT;
    }
    return true;
}

static bool fill_symbols(struct zepi_spirv_parser *parser, struct zepi_spirv *spirv,
                         const struct zepi_spirv_kernel *const *by_name)
{
    uint32_t count = count_decorations(parser, ZEPI_SPIRV_LINKAGE); // at the most
    struct zepi_spirv_symbol *symbols = calloc(count + (size_t)1, sizeof(*symbols));
    spirv->symbols = symbols;
    struct kernel_names kernels = {
        .by_name = by_name,
        .count = parser->entries.count,
        .looked_up = calloc(parser->names.count + (size_t)1, sizeof(*kernels.looked_up)),
    };
    const bool is_written =
        symbols && kernels.looked_up && write_symbols(parser, &kernels, symbols, spirv);
    free(kernels.looked_up);
    return is_written;
}

// Constants and imported variables are none of the module's own.
static bool has_variables(const struct zepi_spirv_parser *parser)
{
    const uint32_t import = 1;
    const uint32_t *words = parser->variables.items;
    for (uint32_t i = 0; i < parser->variables.count; i++) {
        const uint32_t id =
            zepi_spirv_operand(parser, zepi_spirv_instruction_at(parser, words[i]), 2);
        const struct zepi_spirv_decoration *linkage =
            zepi_spirv_find_decoration(parser, id, ZEPI_SPIRV_LINKAGE);
        if ((!linkage || linkage->detail != import) &&
            !zepi_spirv_find_decoration(parser, id, ZEPI_SPIRV_CONSTANT) &&
            !zepi_spirv_find_decoration(parser, id, ZEPI_SPIRV_BUILT_IN))
            return true;
    }
    return false;
}

// *out_spirv is zeroed, and stays so on failure. The names become its own.
static bool make_spirv(struct zepi_spirv_parser *parser, struct zepi_spirv *out_spirv)
{
    const struct zepi_spirv_kernel **by_name =
        malloc((parser->entries.count + (size_t)1) * sizeof(*by_name));
    struct zepi_spirv spirv = {.version = parser->version,
                               .has_variables = has_variables(parser),
                               .names = parser->names.items};
    parser->names.items = NULL;
    bool is_made = by_name && fill_constants(parser, &spirv) &&
                   fill_kernels(parser, &spirv, by_name) && fill_symbols(parser, &spirv, by_name);
    // It could not be used, and a module that was cut off after its memory model looks like that.
    if (is_made && spirv.kernel_count == 0 && spirv.symbol_count == 0)
        is_made = zepi_spirv_fail(parser, parser->word_count,
                                  "the module ends here with neither an entry point of execution "
                                  "model Kernel nor a symbol that it imports or exports");
    free(by_name);
    if (is_made)
        *out_spirv = spirv;
    else
        zepi_spirv_finish(&spirv);
    return is_made;
}

static bool check_size(struct zepi_spirv_parser *parser, size_t size_bytes)
{
    if (size_bytes / sizeof(uint32_t) > UINT32_MAX)
        return zepi_spirv_fail(parser, 0, "the module has %zu bytes, expected at most 2^32 words",
                               size_bytes);
    parser->word_count = (uint32_t)(size_bytes / sizeof(uint32_t));
    return size_bytes % sizeof(uint32_t) == 0 ||
           zepi_spirv_fail(parser, parser->word_count,
                           "the module has %zu bytes, expected a multiple of 4", size_bytes);
}

enum zepi_spirv_status zepi_spirv_init(struct zepi_spirv *out_spirv, const void *bytes,
                                       size_t size_bytes, char *message, size_t message_size)
{
    *out_spirv = (struct zepi_spirv){0};
    if (message_size > 0)
        message[0] = '\0';
    struct zepi_spirv_parser parser = {
        .bytes = bytes, .message = message, .message_size = message_size};
    bool is_read = check_size(&parser, size_bytes) && zepi_spirv_parse_instructions(&parser) &&
                   zepi_spirv_resolve_decorations(&parser);
    if (is_read) {
        zepi_spirv_find_layouts(&parser);
        is_read = zepi_spirv_find_entry_functions(&parser) && make_spirv(&parser, out_spirv);
    }
    zepi_spirv_parser_finish(&parser);
    if (is_read)
        return ZEPI_SPIRV_OK;
    if (parser.is_refused)
        return ZEPI_SPIRV_INVALID;
    if (message_size > 0)
        snprintf(message, message_size, "out of memory");
    return ZEPI_SPIRV_OUT_OF_MEMORY;
}

void zepi_spirv_finish(struct zepi_spirv *spirv)
{
    if (!spirv)
        return;
    free((void *)spirv->constants);
    free((void *)spirv->kernels);
    free((void *)spirv->symbols);
    free(spirv->arguments);
    free(spirv->names);
    *spirv = (struct zepi_spirv){0};
}

const struct zepi_spirv_constant *zepi_spirv_find_constant(const struct zepi_spirv *spirv,
                                                           uint32_t id)
{
    for (uint32_t i = 0; i < spirv->constant_count; i++) {
        if (spirv->constants[i].id == id)
            return &spirv->constants[i];
    }
    return NULL;
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
