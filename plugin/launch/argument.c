// SPDX-License-Identifier: MIT
#include "launch/argument.h"

void zepi_arg_set_bytes(struct zepi_arg *arg, const void *value, size_t size_bytes)
{
    uint64_t payload = 0;
    const bool is_large = size_bytes > ZEPI_ARG_INLINE_BYTES;
    if (is_large)
        payload = (uintptr_t)value;
    else
        memcpy(&payload, value, size_bytes);
    zepi_arg_set(arg, ZEPI_ARG_BYTES, size_bytes, payload);
}

static __attribute__((cold)) zepi_result_t fail_kind(const struct zepi_device_kernel *device_kernel,
                                                     uint32_t index, const char *expected)
{
    return zepi_fail_about(ZEPI_SUBJECT_ARG, ZEPI_ERROR_INVALID_VALUE,
                           "argument %u of kernel '%s' is %s", index, device_kernel->name,
                           expected);
}

static __attribute__((cold)) zepi_result_t fail_size(const struct zepi_device_kernel *device_kernel,
                                                     uint32_t index, const char *least,
                                                     uint32_t expected, const struct zepi_arg *arg)
{
    return zepi_fail_about(ZEPI_SUBJECT_ARG, ZEPI_ERROR_INVALID_SIZE,
                           "argument %u of kernel '%s' has %s%u bytes, got %u", index,
                           device_kernel->name, least, expected, arg->size_bytes);
}

// An image or a sampler. A handle of the driver may be a value.
static zepi_result_t check_handle(const struct zepi_device_kernel *device_kernel, uint32_t index,
                                  const struct zepi_arg *arg, enum zepi_arg_kind kind,
                                  const char *expected)
{
    if (arg->kind != kind && arg->kind != ZEPI_ARG_BYTES)
        return fail_kind(device_kernel, index, expected);
    return arg->size_bytes == sizeof(void *)
               ? ZEPI_SUCCESS
               : fail_size(device_kernel, index, "", sizeof(void *), arg);
}

static zepi_result_t check_described(const struct zepi_device_kernel *device_kernel, uint32_t index,
                                     const struct zepi_arg *arg)
{
    const struct zepi_kernel_argument *declared = &device_kernel->arguments[index];
    const bool is_word = arg->size_bytes == sizeof(void *);
    switch ((enum zepi_spirv_argument_kind)declared->kind) {
    case ZEPI_SPIRV_ARGUMENT_VALUE:
        if (arg->kind != ZEPI_ARG_BYTES && !(arg->kind == ZEPI_ARG_ADDRESS && arg->use == 0 &&
                                             declared->size_bytes == sizeof(void *)))
            return fail_kind(device_kernel, index, "a value: expected its bytes");
        return declared->size_bytes == 0 || declared->size_bytes == arg->size_bytes
                   ? ZEPI_SUCCESS
                   : fail_size(device_kernel, index, "", declared->size_bytes, arg);
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        return arg->kind == ZEPI_ARG_ADDRESS || (arg->kind == ZEPI_ARG_BYTES && is_word)
                   ? ZEPI_SUCCESS
                   : fail_kind(device_kernel, index, "a pointer to global memory: expected USM");
    case ZEPI_SPIRV_ARGUMENT_LOCAL:
        return arg->kind == ZEPI_ARG_SLM
                   ? ZEPI_SUCCESS
                   : fail_kind(device_kernel, index, "local memory: expected a size");
    case ZEPI_SPIRV_ARGUMENT_IMAGE:
        return check_handle(device_kernel, index, arg, ZEPI_ARG_IMAGE, "an image: expected one");
    case ZEPI_SPIRV_ARGUMENT_SAMPLER:
        return check_handle(device_kernel, index, arg, ZEPI_ARG_SAMPLER, "a sampler: expected one");
    default:
        return ZEPI_SUCCESS;
    }
}

// The kinds of native code's arguments are not known, and the driver tells the sizes that machine
// code reads (quirk native-sizes-in-words). A pointer is always read as 8 bytes.
static zepi_result_t check_native(const struct zepi_device_kernel *device_kernel, uint32_t index,
                                  const struct zepi_arg *arg)
{
    const uint32_t least = device_kernel->arguments[index].size_bytes;
    return arg->kind == ZEPI_ARG_BYTES && ((size_t)arg->size_bytes + 3) / 4 * 4 < least
               ? fail_size(device_kernel, index, "at least ", least, arg)
               : ZEPI_SUCCESS;
}

zepi_result_t zepi_arg_check(const struct zepi_device_kernel *device_kernel, uint32_t index,
                             const struct zepi_arg *arg)
{
    if (arg->size_bytes == 0)
        return zepi_fail_about(ZEPI_SUBJECT_ARG,
                               arg->kind == ZEPI_ARG_SLM ? ZEPI_ERROR_INVALID_SIZE
                                                         : ZEPI_ERROR_INVALID_VALUE,
                               "argument %u of kernel '%s' is %s", index, device_kernel->name,
                               arg->kind == ZEPI_ARG_SLM ? "local memory of 0 bytes" : "not set");
    return device_kernel->is_described ? check_described(device_kernel, index, arg)
                                       : check_native(device_kernel, index, arg);
}
