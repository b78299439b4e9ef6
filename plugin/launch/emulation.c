// SPDX-License-Identifier: MIT
#include "launch/emulation.h"

#include "device/context.h"
#include "memory/usm.h"
#include "program/module.h"

#include <string.h>

const struct zepi_device_image *zepi_emulation_find(const struct zepi_module_part *part,
                                                    const char *kernel_name, uint32_t *out_index)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_device_image *image = part->images[i];
        for (uint32_t at = 0; at < image->emulated_kernel_count && image->emulated_count > 0;
             at++) {
            if (strcmp(image->emulated_kernels[at], kernel_name) == 0) {
                *out_index = i;
                return image;
            }
        }
    }
    return NULL;
}

static void write_emulated_values(const struct zepi_device_image *image,
                                  const struct zepi_spec_values *values, uint8_t *memory)
{
    memset(memory, 0, image->emulation_size_bytes);
    for (uint32_t i = 0; i < image->emulated_count; i++) {
        const struct zepi_device_image_emulated *emulated = &image->emulated[i];
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(image, emulated->id);
        memcpy(memory + emulated->offset_bytes, zepi_spec_effective(declaration, values),
               emulated->size_bytes);
    }
}

static zepi_result_t check_required_values(const struct zepi_device_image *image,
                                           const struct zepi_spec_values *values)
{
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        if (declaration->is_required && !declaration->has_baked_value &&
            !zepi_spec_values_find(values, declaration->id))
            return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_REQUIRED,
                             "specialization constant %u (%s, %u bytes) must have a value for the "
                             "launch",
                             declaration->id, zepi_scalar_name(declaration->type),
                             (unsigned)declaration->size_bytes);
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_emulation_init(struct zepi_emulation *emulation, struct zepi_context *context,
                                  const struct zepi_launch *launch)
{
    const struct zepi_target *target = &launch->target;
    struct zepi_launch *own = &emulation->launch;
    zepi_result_t result = check_required_values(target->image, target->values);
    *own = *launch;
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_room_init(&emulation->room, own, launch->arg_count + 1);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, target->image->emulation_size_bytes,
                               &emulation->values);
    if (result != ZEPI_SUCCESS) {
        zepi_launch_room_finish(&emulation->room, &emulation->launch);
        return result;
    }
    write_emulated_values(target->image, target->values, emulation->values);
    memcpy(own->args, launch->args, launch->arg_count * sizeof(own->args[0]));
    zepi_arg_set_address(&own->args[launch->arg_count], emulation->values);
    own->uses = launch->uses;
    own->use_count = launch->use_count;
    emulation->context = context;
    return ZEPI_SUCCESS;
}

void zepi_emulation_finish_launch(struct zepi_emulation *emulation)
{
    zepi_launch_room_finish(&emulation->room, &emulation->launch);
}

void zepi_emulation_finish(struct zepi_emulation *emulation)
{
    zepi_usm_put(emulation->context, emulation->values);
    zepi_emulation_finish_launch(emulation);
}
