// SPDX-License-Identifier: MIT
#include "ze_info.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// A document while it is read, and where its first error goes.
struct reading {
    yaml_document_t document;
    struct shim_refusal refusal;
};

bool shim_refuse(const struct shim_refusal *refusal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->message, refusal->message_size, format, arguments);
    va_end(arguments);
    return false;
}

static const char *text_of(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

// The value of a key, or NULL.
static yaml_node_t *value_of(struct reading *reading, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
         pair++) {
        const char *text = text_of(yaml_document_get_node(&reading->document, pair->key));
        if (text && strcmp(text, key) == 0)
            return yaml_document_get_node(&reading->document, pair->value);
    }
    return NULL;
}

// The items of a list; *out_items is NULL if the node is no list.
static size_t items_of(const yaml_node_t *node, const yaml_node_item_t **out_items)
{
    *out_items = NULL;
    if (!node || node->type != YAML_SEQUENCE_NODE)
        return 0;
    *out_items = node->data.sequence.items.start;
    return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

static bool read_word(struct reading *reading, const yaml_node_t *node, const char *key,
                      uint32_t *out_number)
{
    const char *text = text_of(node);
    char *end = NULL;
    errno = 0;
    const unsigned long long number = text && text[0] != '-' ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || !end || *end != '\0' || errno != 0 || number > UINT32_MAX)
        return shim_refuse(&reading->refusal, ".ze_info: %s is '%s', expected a number of 32 bits",
                           key, text ? text : "no scalar");
    *out_number = (uint32_t)number;
    return true;
}

// Leaves the number as it is where the key is missing.
static bool read_number(struct reading *reading, const yaml_node_t *map, const char *key,
                        uint32_t *number)
{
    const yaml_node_t *node = value_of(reading, map, key);
    return !node || read_word(reading, node, key, number);
}

static bool is_true(const yaml_node_t *node)
{
    const char *text = text_of(node);
    return text && strcmp(text, "true") == 0;
}

static bool read_environment(struct reading *reading, const yaml_node_t *map,
                             struct shim_kernel_info *kernel)
{
    const yaml_node_item_t *items;
    const size_t count = items_of(value_of(reading, map, "required_work_group_size"), &items);
    if (count != 0 && count != 3)
        return shim_refuse(&reading->refusal,
                           ".ze_info: %s: required_work_group_size has %zu numbers, expected 3",
                           kernel->name, count);
    for (size_t i = 0; i < count; i++) {
        if (!read_word(reading, yaml_document_get_node(&reading->document, items[i]),
                       "required_work_group_size", &kernel->required_group_size[i]))
            return false;
    }
    kernel->has_stack_calls = is_true(value_of(reading, map, "has_stack_calls"));
    kernel->has_implicit_arguments = is_true(value_of(reading, map, "require_iab"));
    return read_number(reading, map, "simd_size", &kernel->simd_size) &&
           read_number(reading, map, "inline_data_payload_size", &kernel->inline_bytes);
}

// A word of .ze_info and the number that stands for it.
struct word {
    const char *name;
    uint32_t number;
};

// Ends with a word without a name, whose number stands for all others.
static uint32_t number_of(const struct word *words, const char *name)
{
    while (words->name && (!name || strcmp(words->name, name) != 0))
        words++;
    return words->number;
}

static const struct word payload_kinds[] = {
    {"arg_byvalue", SHIM_PAYLOAD_VALUE},
    {"arg_bypointer", SHIM_PAYLOAD_POINTER},
    {"buffer_offset", SHIM_PAYLOAD_BUFFER_OFFSET},
    {"global_id_offset", SHIM_PAYLOAD_GLOBAL_OFFSET},
    {"local_size", SHIM_PAYLOAD_LOCAL_SIZE},
    {"enqueued_local_size", SHIM_PAYLOAD_LOCAL_SIZE},
    {"global_size", SHIM_PAYLOAD_GLOBAL_SIZE},
    {"implicit_arg_buffer", SHIM_PAYLOAD_IMPLICIT},
    {NULL, SHIM_PAYLOAD_OTHER},
};

static const struct word address_modes[] = {
    {"bindless", SHIM_ADDRESS_STATE},
    {"stateless", SHIM_ADDRESS_STATELESS},
    {"slm", SHIM_ADDRESS_LOCAL},
    {NULL, SHIM_ADDRESS_OTHER},
};

static const struct word image_types[] = {
    {"image_1d", ZE_IMAGE_TYPE_1D}, {"image_1d_array", ZE_IMAGE_TYPE_1DARRAY},
    {"image_2d", ZE_IMAGE_TYPE_2D}, {"image_2d_array", ZE_IMAGE_TYPE_2DARRAY},
    {"image_3d", ZE_IMAGE_TYPE_3D}, {NULL, ZE_IMAGE_TYPE_FORCE_UINT32},
};

static bool read_payload(struct reading *reading, const yaml_node_t *map, const char *kernel,
                         struct shim_payload *payload)
{
    const char *type = text_of(value_of(reading, map, "arg_type"));
    *payload = (struct shim_payload){.offset = UINT32_MAX, .argument = UINT32_MAX};
    payload->kind = number_of(payload_kinds, type);
    payload->mode = number_of(address_modes, text_of(value_of(reading, map, "addrmode")));
    payload->image_type = number_of(image_types, text_of(value_of(reading, map, "image_type")));
    if (payload->kind == SHIM_PAYLOAD_OTHER)
        return true;
    if (!read_number(reading, map, "offset", &payload->offset) ||
        !read_number(reading, map, "size", &payload->size_bytes) ||
        !read_number(reading, map, "arg_index", &payload->argument) ||
        !read_number(reading, map, "source_offset", &payload->source_offset))
        return false;
    const yaml_node_t *sampler = value_of(reading, map, "sampler_index");
    if (sampler && payload->mode == SHIM_ADDRESS_OTHER) {
        payload->mode = SHIM_ADDRESS_TABLE;
        if (!read_word(reading, sampler, "sampler_index", &payload->table_index))
            return false;
    }
    // A state that lies in a table has no place in the payload.
    if (payload->offset == UINT32_MAX &&
        (payload->mode == SHIM_ADDRESS_OTHER || payload->mode == SHIM_ADDRESS_TABLE) &&
        payload->kind == SHIM_PAYLOAD_POINTER)
        payload->offset = 0;
    if ((uint64_t)payload->offset + payload->size_bytes > SHIM_PAYLOAD_MAX_BYTES ||
        (uint64_t)payload->source_offset + payload->size_bytes > SHIM_PAYLOAD_MAX_BYTES)
        return shim_refuse(
            &reading->refusal, ".ze_info: %s: %s has offset %u and size %u, expected at most %u",
            kernel, type, payload->offset, payload->size_bytes, (unsigned)SHIM_PAYLOAD_MAX_BYTES);
    return true;
}

static bool read_local_ids(struct reading *reading, const yaml_node_t *map,
                           struct shim_kernel_info *kernel)
{
    const yaml_node_item_t *items;
    const size_t count = items_of(value_of(reading, map, "per_thread_payload_arguments"), &items);
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = yaml_document_get_node(&reading->document, items[i]);
        const char *type = text_of(value_of(reading, node, "arg_type"));
        if (type && strcmp(type, "local_id") == 0 &&
            !read_number(reading, node, "size", &kernel->local_id_bytes))
            return false;
    }
    return true;
}

// Surface states that have their places in the binding table.
static bool read_binding_table(struct reading *reading, const yaml_node_t *map,
                               struct shim_kernel_info *kernel)
{
    const yaml_node_item_t *items;
    const size_t count = items_of(value_of(reading, map, "binding_table_indices"), &items);
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = yaml_document_get_node(&reading->document, items[i]);
        uint32_t index = 0, argument = UINT32_MAX;
        if (!read_number(reading, node, "bti_value", &index) ||
            !read_number(reading, node, "arg_index", &argument))
            return false;
        for (uint32_t at = 0; at < kernel->payload_count; at++) {
            struct shim_payload *payload = &kernel->payloads[at];
            if (payload->kind != SHIM_PAYLOAD_POINTER || payload->argument != argument ||
                payload->mode != SHIM_ADDRESS_OTHER)
                continue;
            payload->mode = SHIM_ADDRESS_TABLE;
            payload->table_index = index;
        }
    }
    return true;
}

static bool read_kernel(struct reading *reading, const yaml_node_t *map,
                        struct shim_kernel_info *kernel)
{
    const char *name = text_of(value_of(reading, map, "name"));
    const yaml_node_item_t *items;
    const size_t count = items_of(value_of(reading, map, "payload_arguments"), &items);
    if (!name || !name[0])
        return shim_refuse(&reading->refusal, ".ze_info: a kernel has no name");
    kernel->name = strdup(name);
    kernel->payloads = calloc(count + 1, sizeof(*kernel->payloads));
    if (!kernel->name || !kernel->payloads)
        return shim_refuse(&reading->refusal, ".ze_info: out of memory");
    if (!read_environment(reading, value_of(reading, map, "execution_env"), kernel) ||
        !read_local_ids(reading, map, kernel))
        return false;
    for (; kernel->payload_count < count; kernel->payload_count++) {
        if (!read_payload(reading,
                          yaml_document_get_node(&reading->document, items[kernel->payload_count]),
                          name, &kernel->payloads[kernel->payload_count]))
            return false;
        if (kernel->payloads[kernel->payload_count].kind == SHIM_PAYLOAD_IMPLICIT)
            kernel->has_implicit_arguments = true;
    }
    return read_binding_table(reading, map, kernel);
}

static bool read_kernels(struct reading *reading, struct shim_ze_info *info)
{
    const yaml_node_item_t *items;
    yaml_node_t *kernels =
        value_of(reading, yaml_document_get_root_node(&reading->document), "kernels");
    const size_t count = items_of(kernels, &items);
    // A module of functions alone has an empty list.
    if (!kernels)
        return shim_refuse(&reading->refusal, ".ze_info: there is no list 'kernels'");
    info->kernels = calloc(count + 1, sizeof(*info->kernels));
    if (!info->kernels)
        return shim_refuse(&reading->refusal, ".ze_info: out of memory");
    for (size_t i = 0; i < count; i++) {
        info->kernel_count++;
        if (!read_kernel(reading, yaml_document_get_node(&reading->document, items[i]),
                         &info->kernels[i]))
            return false;
    }
    return true;
}

bool shim_ze_info_init(struct shim_ze_info *out_info, const char *text, size_t size_bytes,
                       char *message, size_t message_size)
{
    struct reading reading = {.refusal = {message, message_size}};
    yaml_parser_t parser;
    *out_info = (struct shim_ze_info){0};
    if (!yaml_parser_initialize(&parser))
        return shim_refuse(&reading.refusal, ".ze_info: out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size_bytes);
    bool is_read = yaml_parser_load(&parser, &reading.document) != 0;
    if (!is_read) {
        shim_refuse(&reading.refusal, ".ze_info: line %zu: %s", parser.problem_mark.line + 1,
                    parser.problem ? parser.problem : "no YAML");
    } else {
        is_read = read_kernels(&reading, out_info);
        yaml_document_delete(&reading.document);
    }
    yaml_parser_delete(&parser);
    if (!is_read)
        shim_ze_info_finish(out_info);
    return is_read;
}

void shim_ze_info_finish(struct shim_ze_info *info)
{
    for (uint32_t i = 0; i < info->kernel_count; i++) {
        free(info->kernels[i].name);
        free(info->kernels[i].payloads);
    }
    free(info->kernels);
    *info = (struct shim_ze_info){0};
}

const struct shim_kernel_info *shim_ze_info_find(const struct shim_ze_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->kernel_count; i++) {
        if (strcmp(info->kernels[i].name, name) == 0)
            return &info->kernels[i];
    }
    return NULL;
}
