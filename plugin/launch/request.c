// SPDX-License-Identifier: MIT
#include "launch/request.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/kernel.h"

// ---- Names ----

static zepi_result_t read_request_names(struct zepi_request *request)
{
    const zepi_launch_desc_t *desc = request->desc;
    request->name = desc->kernel ? desc->kernel->name : desc->kernel_name;
    if (request->module && request->module->state != ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "launches take executable modules; this one is %s",
                         zepi_module_state_name(request->module->state));
    if (request->module)
        return ZEPI_SUCCESS;
    if (!desc->unit)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kernel '%s' is given by name: expected a module or a translation unit to "
                         "find it in",
                         desc->kernel_name ? desc->kernel_name : "");
    return zepi_unit_acquire(desc->unit, &request->unit);
}

// ---- Values ----

static const struct zepi_spec_declaration *
find_request_declaration(const struct zepi_request *request, uint32_t id)
{
    return request->module ? zepi_spec_find_declaration(request->module->declarations,
                                                        request->module->declaration_count, id)
                           : zepi_unit_find_declaration(request->unit, id);
}

// A value for a constant that no image declares has no effect: compilers drop unused constants.
static zepi_result_t read_request_value(struct zepi_request *request, uint32_t index)
{
    const zepi_spec_value_t *value = &request->desc->spec_values[index];
    for (uint32_t i = 0; i < index; i++) {
        if (request->desc->spec_values[i].id == value->id)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "the launch has specialization constant %u twice", value->id);
    }
    if (!value->value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the value of specialization constant %u is NULL", value->id);
    const struct zepi_spec_declaration *declaration = find_request_declaration(request, value->id);
    if (!declaration)
        return ZEPI_SUCCESS;
    return zepi_spec_entry_init(&request->entries[request->value_count++], declaration,
                                value->size_bytes, value->value);
}

static zepi_result_t read_request_values(struct zepi_request *request)
{
    const uint32_t count = request->desc->spec_value_count;
    zepi_result_t result = ZEPI_SUCCESS;
    request->entries = request->inline_entries;
    if (count == 0)
        return ZEPI_SUCCESS;
    if (!request->desc->spec_values)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch's list of values is NULL");
    if (count > ZEPI_REQUEST_INLINE_VALUES)
        request->entries = zepi_allocate(count, sizeof(request->entries[0]));
    if (!request->entries)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = read_request_value(request, i);
    return result;
}

const struct zepi_spec_entry *zepi_request_find_value(const struct zepi_request *request,
                                                      uint32_t id)
{
    for (uint32_t i = 0; i < request->value_count; i++) {
        if (request->entries[i].id == id)
            return &request->entries[i];
    }
    return NULL;
}

zepi_result_t zepi_request_values_on(const struct zepi_request *request,
                                     struct zepi_spec_values *base,
                                     struct zepi_spec_values **out_values)
{
    *out_values = request->value_count == 0
                      ? zepi_spec_values_retain(base)
                      : zepi_spec_values_with(base, request->value_count, request->entries, NULL);
    return *out_values || request->value_count == 0 ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

zepi_result_t zepi_request_fail_mismatch(const struct zepi_spec_entry *asked, const uint8_t *built)
{
    uint64_t values[2] = {0};
    memcpy(&values[0], asked->value, asked->size_bytes);
    if (!built)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
                         "the launch asks for specialization constant %u = 0x%llx, the code to use "
                         "does not say what it was made with",
                         asked->id, (unsigned long long)values[0]);
    memcpy(&values[1], built, asked->size_bytes);
    return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
                     "the launch asks for specialization constant %u = 0x%llx, the code to use was "
                     "made with 0x%llx",
                     asked->id, (unsigned long long)values[0], (unsigned long long)values[1]);
}

zepi_result_t zepi_request_init(struct zepi_request *request, struct zepi_queue *queue,
                                const zepi_launch_desc_t *desc, struct zepi_module *module)
{
    request->queue = queue;
    request->desc = desc;
    request->module = module;
    request->unit = NULL;
    request->value_count = 0;
    request->entries = request->inline_entries;
    request->chosen = NULL;
    zepi_result_t result = read_request_names(request);
    if (result == ZEPI_SUCCESS)
        result = read_request_values(request);
    if (result != ZEPI_SUCCESS)
        zepi_request_finish(request);
    return result;
}

void zepi_request_finish(struct zepi_request *request)
{
    zepi_unit_release(request->unit);
    if (request->entries != request->inline_entries)
        zepi_free(request->entries);
}

// ---- The selector ----

bool zepi_request_may_use(const struct zepi_request *request, const struct zepi_device_image *image)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    bool is_for_device = image->device_count == 0;
    for (uint32_t i = 0; i < image->device_count && !is_for_device; i++)
        is_for_device = zepi_context_device_index(request->queue->context, image->devices[i]) ==
                        request->queue->device_index;
    return is_for_device && (!spirv || zepi_spirv_find_kernel(spirv, request->name));
}

bool zepi_request_is_kernel_in(const struct zepi_request *request,
                               const struct zepi_module_part *part)
{
    const struct zepi_build_result *device_module =
        part->device_module[request->queue->device_index];
    return device_module &&
           zepi_device_module_find_kernel(zepi_device_module_of(device_module), request->name);
}

static uint32_t remove_repeated_images(uint32_t count, struct zepi_device_image **images)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < kept && images[at] != images[i])
            at++;
        if (at == kept)
            images[kept++] = images[i];
    }
    return kept;
}

zepi_result_t zepi_request_select(struct zepi_request *request, uint32_t image_count,
                                  struct zepi_device_image **images)
{
    const zepi_launch_desc_t *desc = request->desc;
    const uint32_t count = remove_repeated_images(image_count, images);
    zepi_device_image_t chosen = desc->selector(desc->selector_data, images, count);
    for (uint32_t i = 0; i < count && chosen; i++) {
        if (images[i] == chosen) {
            request->chosen = chosen;
            return ZEPI_SUCCESS;
        }
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                     "the image selector returned %s, expected one of the %u images that it was "
                     "given",
                     chosen ? "another image" : "NULL", count);
}
