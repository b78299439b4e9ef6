// SPDX-License-Identifier: MIT
#include "kernel/emulation.h"

#include "device/context.h"
#include "module/module.h"

#include <string.h>

// The image of the part that has emulated constants for the kernel, or NULL.
static const struct zepi_image *find_image(const struct zepi_module_part *part,
                                           const char *kernel_name)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_image *image = part->images[i];
        for (uint32_t at = 0; at < image->emulated_kernel_count; at++) {
            if (strcmp(image->emulated_kernels[at], kernel_name) == 0)
                return image;
        }
    }
    return NULL;
}

bool zepi_emulation_is_used(const struct zepi_module_part *part, const char *kernel_name)
{
    return find_image(part, kernel_name) != NULL;
}

bool zepi_emulation_covers(const struct zepi_image *image, const struct zepi_spec_values *values)
{
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        const uint8_t *value = zepi_spec_effective(declaration, values);
        if (memcmp(value, declaration->default_value, declaration->size_bytes) != 0 &&
            !zepi_image_is_emulated(image, declaration->id))
            return false;
    }
    return true;
}

static const struct zepi_module_part *part_of(const struct zepi_kernel *kernel,
                                              uint32_t device_index)
{
    const struct zepi_module *module = kernel->module;
    const struct zepi_build_result *code = zepi_kernel_pool_of(kernel->pools[device_index])->code;
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (module->parts[i].code[device_index] == code)
            return &module->parts[i];
    }
    return NULL;
}

static void write_values(const struct zepi_image *image, const struct zepi_spec_values *values,
                         uint8_t *memory)
{
    memset(memory, 0, image->emulation_size_bytes);
    for (uint32_t i = 0; i < image->emulated_count; i++) {
        const struct zepi_image_emulated *emulated = &image->emulated[i];
        const struct zepi_spec_declaration *declaration =
            zepi_image_find_constant(image, emulated->id);
        memcpy(memory + emulated->offset_bytes, zepi_spec_effective(declaration, values),
               emulated->size_bytes);
    }
}

zepi_result_t zepi_emulation_init(struct zepi_emulation *emulation,
                                  const struct zepi_kernel *kernel, uint32_t device_index,
                                  const zepi_launch_desc_t *desc)
{
    emulation->buffer = NULL;
    emulation->desc = *desc;
    const struct zepi_module_part *part =
        kernel->pools[device_index] ? part_of(kernel, device_index) : NULL;
    const struct zepi_image *image = part ? find_image(part, kernel->name) : NULL;
    if (!image)
        return ZEPI_SUCCESS;
    const uint32_t count = desc->argument_count;
    if (count > ZEPI_EMULATION_MAX_ARGUMENTS || (count > 0 && !desc->arguments))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kernel '%s' gets %u arguments, expected at most %d, in a list",
                         kernel->name, count, ZEPI_EMULATION_MAX_ARGUMENTS);
    const zepi_result_t result = zepi_value_buffer_take(
        kernel->module->context, image->emulation_size_bytes, &emulation->buffer);
    if (result != ZEPI_SUCCESS)
        return result;
    write_values(image, kernel->values ? kernel->values : part->values[0],
                 emulation->buffer->memory);
    if (count > 0)
        memcpy(emulation->arguments, desc->arguments, count * sizeof(desc->arguments[0]));
    emulation->arguments[count] =
        (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = emulation->buffer->memory};
    emulation->desc.arguments = emulation->arguments;
    emulation->desc.argument_count = count + 1;
    return ZEPI_SUCCESS;
}

void zepi_emulation_finish(struct zepi_emulation *emulation)
{
    if (emulation->buffer)
        zepi_value_buffer_retire(emulation->buffer);
}
