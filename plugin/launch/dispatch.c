// SPDX-License-Identifier: MIT
#include "launch/dispatch.h"

#include "core/list.h"
#include "device/context.h"
#include "launch/dispatch_module.h"
#include "launch/dispatch_unit.h"
#include "launch/kernel.h"
#include "program/build/handle_caches.h"

// The launch's handles are live ones of this queue's context. *out_module: the one that it names,
// borrowed; NULL: its unit is searched.
static zepi_result_t check_dispatch_handles(const struct zepi_queue *queue,
                                            const zepi_launch_desc_t *desc,
                                            struct zepi_module **out_module)
{
    zepi_result_t result =
        desc->kernel ? zepi_check_object(desc->kernel, &zepi_kernel_type) : ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS && desc->module)
        result = zepi_check_object(desc->module, &zepi_module_type);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_module *module = desc->kernel ? desc->kernel->module : desc->module;
    if (module && module->context != queue->context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the %s is of another context than the queue",
                         desc->kernel ? "kernel" : "module");
    if (desc->kernel && desc->module && module != desc->module)
        return zepi_fail(ZEPI_ERROR_INVALID_KERNEL,
                         "kernel '%s' is of another module than the one that the launch names",
                         desc->kernel->name);
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t dispatch_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                   struct zepi_module *module, struct zepi_dispatch *out_dispatch)
{
    struct zepi_request request;
    zepi_result_t result = zepi_request_init(&request, queue, desc, module);
    if (result != ZEPI_SUCCESS)
        return result;
    out_dispatch->held = NULL;
    result = module ? zepi_dispatch_in_module(&request, out_dispatch)
                    : zepi_dispatch_in_unit(&request, out_dispatch);
    zepi_request_finish(&request);
    return result;
}

zepi_result_t zepi_dispatch_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 struct zepi_dispatch *out_dispatch)
{
    struct zepi_module *module = NULL;
    zepi_result_t result = check_dispatch_handles(queue, desc, &module);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc->kernel && !desc->kernel_name)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch has neither a kernel nor a name");
    if (desc->selector)
        return dispatch_find(queue, desc, module, out_dispatch);
    if (zepi_request_table_find(queue, desc, module, out_dispatch))
        return ZEPI_SUCCESS;
    // Before the search: a change from now on makes the target out of date.
    const uint64_t generation = zepi_request_generation();
    result = dispatch_find(queue, desc, module, out_dispatch);
    if (result == ZEPI_SUCCESS)
        zepi_request_table_note(queue, desc, module, generation, out_dispatch);
    return result;
}

// ---- Values that a launch would see ----

// The value set on the unit's input, else the default. Copies it: the input may go.
static zepi_result_t read_unit_value(const struct zepi_request *request, uint32_t id,
                                     uint8_t out_value[8], size_t *out_size_bytes)
{
    struct zepi_module *input = NULL;
    const struct zepi_spec_declaration *declaration = zepi_unit_find_declaration(request->unit, id);
    if (!declaration)
        return ZEPI_SUCCESS;
    if (request->unit->counts[ZEPI_MODULE_INPUT] > 0) {
        const zepi_result_t result = zepi_unit_find_or_create_module(
            request->unit, request->queue->context, ZEPI_MODULE_INPUT, &input);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    struct zepi_spec_values *bound = input ? zepi_module_snapshot(input) : NULL;
    memcpy(out_value, zepi_spec_effective(declaration, bound), declaration->size_bytes);
    *out_size_bytes = declaration->size_bytes;
    zepi_spec_values_release(bound);
    zepi_release(input);
    return ZEPI_SUCCESS;
}

// The launch's own value of a constant that no image declares: it has no effect, and is read back
// as the launch has it. Sizes that no constant has are none.
static void read_unused_value(const struct zepi_request *request, uint32_t id, uint8_t out_value[8],
                              size_t *out_size_bytes)
{
    for (uint32_t i = 0; i < request->desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &request->desc->spec_values[i];
        if (value->id != id || value->size_bytes > sizeof(uint64_t))
            continue;
        memcpy(out_value, value->value, value->size_bytes);
        *out_size_bytes = value->size_bytes;
    }
}

// *out_size_bytes stays 0 if nothing has the constant.
static zepi_result_t read_given_value(const struct zepi_request *request, uint32_t id,
                                      uint8_t out_value[8], size_t *out_size_bytes)
{
    const struct zepi_spec_entry *entry = zepi_request_find_value(request, id);
    if (entry) {
        memcpy(out_value, entry->value, sizeof(entry->value));
        *out_size_bytes = entry->size_bytes;
        return ZEPI_SUCCESS;
    }
    read_unused_value(request, id, out_value, out_size_bytes);
    if (*out_size_bytes > 0)
        return ZEPI_SUCCESS;
    if (!request->module)
        return read_unit_value(request, id, out_value, out_size_bytes);
    const uint8_t *value = zepi_dispatch_module_value(request, id, out_size_bytes);
    if (value)
        memcpy(out_value, value, *out_size_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value)
{
    struct zepi_request request;
    struct zepi_module *module = NULL;
    zepi_launch_desc_t own;
    uint8_t value[8] = {0};
    size_t size = 0;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "launch description");
    if (result == ZEPI_SUCCESS && !out_value)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the value is NULL");
    if (result == ZEPI_SUCCESS)
        result = check_dispatch_handles(queue, &own, &module);
    if (result == ZEPI_SUCCESS)
        result = zepi_request_init(&request, queue, &own, module);
    if (result != ZEPI_SUCCESS)
        return result;
    result = read_given_value(&request, id, value, &size);
    zepi_request_finish(&request);
    if (result != ZEPI_SUCCESS)
        return result;
    if (size == 0)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                         "nothing that the launch may use has a specialization constant %u", id);
    if (size != size_bytes)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                         "specialization constant %u has %zu bytes, there is room for %zu", id,
                         size, size_bytes);
    memcpy(out_value, value, size);
    return ZEPI_SUCCESS;
}
