// SPDX-License-Identifier: MIT
#include "launch/arguments.h"

#include "device/device.h"
#include "memory/buffer.h"
#include "memory/image.h"
#include "ze/ze.h"

#include <string.h>

static zepi_result_t fail_argument_kind(const struct zepi_device_kernel *device_kernel,
                                        uint32_t index, const char *expected)
{
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "argument %u of kernel '%s' is %s", index,
                     device_kernel->name, expected);
}

static zepi_result_t fail_argument_size(const struct zepi_device_kernel *device_kernel,
                                        uint32_t index, const zepi_argument_t *argument)
{
    return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "argument %u of kernel '%s' has %u bytes, got %zu",
                     index, device_kernel->name, device_kernel->arguments[index].size_bytes,
                     argument->size_bytes);
}

// A handle of the driver may be a value.
static zepi_result_t check_described_object(const struct zepi_device_kernel *device_kernel,
                                            uint32_t index, const zepi_argument_t *argument,
                                            zepi_argument_kind_t kind, const char *expected)
{
    if (argument->kind == kind)
        return ZEPI_SUCCESS;
    if (argument->kind != ZEPI_ARGUMENT_VALUE)
        return fail_argument_kind(device_kernel, index, expected);
    return argument->size_bytes == sizeof(void *)
               ? ZEPI_SUCCESS
               : fail_argument_size(device_kernel, index, argument);
}

// Checks an argument against the kernel's declaration in SPIR-V.
static zepi_result_t check_described_argument(const struct zepi_device_kernel *device_kernel,
                                              uint32_t index, const zepi_argument_t *argument)
{
    const struct zepi_kernel_argument *expected = &device_kernel->arguments[index];
    switch ((enum zepi_spirv_argument_kind)expected->kind) {
    case ZEPI_SPIRV_ARGUMENT_VALUE:
        if (argument->kind != ZEPI_ARGUMENT_VALUE &&
            !(argument->kind == ZEPI_ARGUMENT_POINTER && expected->size_bytes == sizeof(void *)))
            return fail_argument_kind(device_kernel, index, "a value: expected its bytes");
        return expected->size_bytes > 0 && argument->kind == ZEPI_ARGUMENT_VALUE &&
                       argument->size_bytes != expected->size_bytes
                   ? fail_argument_size(device_kernel, index, argument)
                   : ZEPI_SUCCESS;
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        return argument->kind == ZEPI_ARGUMENT_POINTER || argument->kind == ZEPI_ARGUMENT_BUFFER ||
                       (argument->kind == ZEPI_ARGUMENT_VALUE &&
                        argument->size_bytes == sizeof(void *))
                   ? ZEPI_SUCCESS
                   : fail_argument_kind(device_kernel, index,
                                        "a pointer to global memory: expected USM");
    case ZEPI_SPIRV_ARGUMENT_LOCAL:
        return argument->kind == ZEPI_ARGUMENT_LOCAL
                   ? ZEPI_SUCCESS
                   : fail_argument_kind(device_kernel, index, "local memory: expected a size");
    case ZEPI_SPIRV_ARGUMENT_IMAGE:
        return check_described_object(device_kernel, index, argument, ZEPI_ARGUMENT_IMAGE,
                                      "an image: expected one");
    case ZEPI_SPIRV_ARGUMENT_SAMPLER:
        return check_described_object(device_kernel, index, argument, ZEPI_ARGUMENT_SAMPLER,
                                      "a sampler: expected one");
    default:
        return ZEPI_SUCCESS;
    }
}

// The kinds of native code's arguments are not known, and the driver tells the sizes that machine
// code reads (quirk native-sizes-in-words). A pointer is always read as 8 bytes.
static zepi_result_t check_native_argument(const struct zepi_device_kernel *device_kernel,
                                           uint32_t index, const zepi_argument_t *argument)
{
    const uint32_t least = device_kernel->arguments[index].size_bytes;
    if (argument->kind == ZEPI_ARGUMENT_VALUE && (argument->size_bytes + 3) / 4 * 4 < least)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "argument %u of kernel '%s' has at least %u bytes, got %zu", index,
                         device_kernel->name, least, argument->size_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_argument_check_declared(const struct zepi_device_kernel *device_kernel,
                                           uint32_t index, const zepi_argument_t *argument)
{
    return device_kernel->is_described ? check_described_argument(device_kernel, index, argument)
                                       : check_native_argument(device_kernel, index, argument);
}

// Checks that the argument is an image or a sampler of the kernel's context and root device. Code
// of a root device runs on its sub-devices, too, so that these are not told apart here.
static zepi_result_t check_pixel_object(const struct zepi_device_kernel *device_kernel,
                                        uint32_t index, const zepi_argument_t *argument)
{
    const bool is_image = argument->kind == ZEPI_ARGUMENT_IMAGE;
    const struct zepi_device_module *module = zepi_device_module_of(device_kernel->device_module);
    const zepi_result_t result =
        zepi_check_object(argument->value, is_image ? &zepi_image_type : &zepi_sampler_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_image *image = argument->value;
    const struct zepi_sampler *sampler = argument->value;
    if ((is_image ? image->context : sampler->context) != module->context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "argument %u of kernel '%s' is %s of another context", index,
                         device_kernel->name, is_image ? "an image" : "a sampler");
    const struct zepi_device *device = is_image ? image->device : sampler->device;
    if (zepi_device_root(device) != zepi_device_root(module->device))
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "argument %u of kernel '%s' is %s of another device", index,
                         device_kernel->name, is_image ? "an image" : "a sampler");
    return ZEPI_SUCCESS;
}

void zepi_argument_read_handle(const zepi_argument_t *argument, zepi_argument_t *out_value)
{
    if (argument->kind == ZEPI_ARGUMENT_IMAGE) {
        const struct zepi_image *image = argument->value;
        *out_value = (zepi_argument_t){.size_bytes = sizeof(image->ze), .value = &image->ze};
    } else {
        const struct zepi_sampler *sampler = argument->value;
        *out_value = (zepi_argument_t){.size_bytes = sizeof(sampler->ze), .value = &sampler->ze};
    }
}

static __attribute__((noinline)) zepi_result_t
check_argument(const struct zepi_device_kernel *device_kernel, uint32_t index,
               const zepi_argument_t *argument)
{
    if (argument->reserved != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "argument %u of kernel '%s' has %u in its reserved member, expected 0",
                         index, device_kernel->name, argument->reserved);
    switch (argument->kind) {
    case ZEPI_ARGUMENT_VALUE:
        if (argument->size_bytes == 0 || !argument->value)
            return zepi_fail(argument->value ? ZEPI_ERROR_INVALID_SIZE : ZEPI_ERROR_INVALID_VALUE,
                             "argument %u of kernel '%s' is a value of %zu bytes at %p", index,
                             device_kernel->name, argument->size_bytes, argument->value);
        break;
    case ZEPI_ARGUMENT_POINTER:
        if (argument->size_bytes != 0 && argument->size_bytes != sizeof(void *))
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                             "argument %u of kernel '%s' is a pointer of %zu bytes, expected %zu",
                             index, device_kernel->name, argument->size_bytes, sizeof(void *));
        break;
    case ZEPI_ARGUMENT_LOCAL:
        if (argument->size_bytes == 0 || argument->value)
            return zepi_fail(argument->value ? ZEPI_ERROR_INVALID_VALUE : ZEPI_ERROR_INVALID_SIZE,
                             "argument %u of kernel '%s' is local memory of %zu bytes%s", index,
                             device_kernel->name, argument->size_bytes,
                             argument->value ? ", with a value: expected NULL" : "");
        break;
    case ZEPI_ARGUMENT_BUFFER: {
        const struct zepi_buffer *buffer = argument->value;
        const zepi_result_t result = zepi_check_object(buffer, &zepi_buffer_type);
        if (result != ZEPI_SUCCESS)
            return result;
        if (buffer->context != zepi_device_module_of(device_kernel->device_module)->context)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "argument %u of kernel '%s' is a buffer of another context", index,
                             device_kernel->name);
        break;
    }
    case ZEPI_ARGUMENT_IMAGE:
    case ZEPI_ARGUMENT_SAMPLER: {
        const zepi_result_t result = check_pixel_object(device_kernel, index, argument);
        if (result != ZEPI_SUCCESS)
            return result;
        break;
    }
    default:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "argument %u of kernel '%s' has unknown kind %d",
                         index, device_kernel->name, (int)argument->kind);
    }
    return zepi_argument_check_declared(device_kernel, index, argument);
}

// Whether the argument is just what the kernel declares: a value of that size, or an address in
// global memory. Of any other it is not known.
static inline bool is_declared_argument(const struct zepi_device_kernel *device_kernel,
                                        uint32_t index, const zepi_argument_t *argument)
{
    const struct zepi_kernel_argument *declared = &device_kernel->arguments[index];
    if (!device_kernel->is_described || argument->reserved != 0)
        return false;
    if (argument->kind == ZEPI_ARGUMENT_VALUE)
        return declared->kind == ZEPI_SPIRV_ARGUMENT_VALUE && argument->value &&
               argument->size_bytes > 0 && argument->size_bytes == declared->size_bytes;
    return argument->kind == ZEPI_ARGUMENT_POINTER && argument->size_bytes == 0 &&
           declared->kind == ZEPI_SPIRV_ARGUMENT_GLOBAL;
}

zepi_result_t zepi_argument_check(const struct zepi_device_kernel *device_kernel, uint32_t index,
                                  const zepi_argument_t *argument)
{
    return is_declared_argument(device_kernel, index, argument)
               ? ZEPI_SUCCESS
               : check_argument(device_kernel, index, argument);
}

// The sum includes the local memory that the kernel declares. An excess may be
// noticed late, or never (quirk local-excess-unnoticed).
zepi_result_t zepi_arguments_check_local_memory(const struct zepi_device_kernel *device_kernel,
                                                const struct zepi_device *device,
                                                const struct zepi_argument_list *list)
{
    const uint32_t most = device->compute.maxSharedLocalMemory;
    uint64_t total = device_kernel->properties.localMemSize;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct zepi_argument_record *record = zepi_argument_at(list, i);
        if ((uint32_t)record->head == ZEPI_ARGUMENT_LOCAL &&
            __builtin_add_overflow(total, record->size_bytes, &total))
            total = UINT64_MAX;
    }
    // Quirk no-limits: 0 limits nothing.
    if (total > most && most > 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "kernel '%s' and its arguments need %llu bytes of local memory, the "
                         "device has %u",
                         device_kernel->name, (unsigned long long)total, most);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_arguments_check_count(const struct zepi_device_kernel *device_kernel,
                                         const struct zepi_argument_list *list)
{
    if (list->count != device_kernel->argument_count)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "kernel '%s' has %u arguments, got %u",
                         device_kernel->name, device_kernel->argument_count, list->count);
    if (list->count > 0 && !list->first)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the list of arguments is NULL");
    return ZEPI_SUCCESS;
}

static inline zepi_result_t check_each(const struct zepi_device_kernel *device_kernel,
                                       const struct zepi_device *device,
                                       const struct zepi_argument_list *list, bool pixels_alone,
                                       zepi_argument_t *out_arguments)
{
    zepi_argument_t read;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < list->count && result == ZEPI_SUCCESS; i++) {
        zepi_argument_t *argument = out_arguments ? &out_arguments[i] : &read;
        result = zepi_argument_read(list, i, argument);
        if (result == ZEPI_SUCCESS && !pixels_alone)
            result = zepi_argument_check(device_kernel, i, argument);
        else if (result == ZEPI_SUCCESS && zepi_argument_has_pixels(argument))
            result = check_pixel_object(device_kernel, i, argument);
        if (result == ZEPI_SUCCESS && !pixels_alone && argument->kind == ZEPI_ARGUMENT_LOCAL)
            result = zepi_arguments_check_local_memory(device_kernel, device, list);
    }
    return result;
}

zepi_result_t zepi_arguments_check(const struct zepi_device_kernel *device_kernel,
                                   const struct zepi_device *device,
                                   const struct zepi_argument_list *list,
                                   zepi_argument_t *out_arguments)
{
    return check_each(device_kernel, device, list, false, out_arguments);
}

zepi_result_t zepi_arguments_check_pixels(const struct zepi_device_kernel *device_kernel,
                                          const struct zepi_argument_list *list,
                                          zepi_argument_t *out_arguments)
{
    return check_each(device_kernel, NULL, list, true, out_arguments);
}
