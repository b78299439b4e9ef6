// SPDX-License-Identifier: MIT
#include "kernel.h"

#include "entry.h"
#include "image/image.h"
#include "module/module.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

ze_result_t cpu_kernel_enter(struct cpu_kernel *kernel, const char *function)
{
    // Relaxed: this orders nothing, it only finds out that the application failed to.
    if (atomic_exchange_explicit(&kernel->busy, 1, memory_order_relaxed) == 0)
        return ZE_RESULT_SUCCESS;
    cpu_report(function, "kernel %p is used by two threads at once", (void *)kernel);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

void cpu_kernel_leave(struct cpu_kernel *kernel)
{
    atomic_store_explicit(&kernel->busy, 0, memory_order_relaxed);
}

static void finish(struct cpu_kernel *kernel)
{
    free(kernel->arguments);
    cpu_program_disown(kernel->code != NULL ? kernel->code->program : NULL);
    cpu_object_destroy(kernel);
}

ze_result_t ZE_APICALL cpu_zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                                          ze_kernel_handle_t *phKernel)
{
    struct cpu_module *module = (struct cpu_module *)hModule;
    if (desc->pKernelName == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct cpu_program *program;
    ze_result_t result = cpu_module_take_program(module, &program);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_program_kernel *code = cpu_program_find(program, desc->pKernelName);
    struct cpu_kernel *kernel = NULL;
    if (code == NULL) {
        cpu_program_disown(program);
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    }
    kernel = cpu_object_create(CPU_KERNEL, sizeof(*kernel));
    if (kernel == NULL) {
        cpu_program_disown(program);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    kernel->code = code;
    kernel->device = module->device;
    kernel->unset_count = code->argument_count;
    kernel->arguments = calloc(1, code->argument_bytes + code->argument_count * sizeof(bool) + 1);
    if (kernel->arguments == NULL || !cpu_program_kernel_prepare(code)) {
        finish(kernel);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    kernel->is_set = (bool *)(kernel->arguments + code->argument_bytes);
    for (int i = 0; i < 3; i++)
        kernel->group_size[i] =
            code->required_group_size[i] != 0 ? code->required_group_size[i] : 1;
    *phKernel = (ze_kernel_handle_t)kernel;
    return ZE_RESULT_SUCCESS;
}

// The OpenCL runtime takes no hints.
ze_result_t ZE_APICALL cpu_zeKernelSchedulingHintExp(ze_kernel_handle_t hKernel,
                                                     ze_scheduling_hint_exp_desc_t *pHint)
{
    const uint32_t known = ZE_SCHEDULING_HINT_EXP_FLAG_OLDEST_FIRST |
                           ZE_SCHEDULING_HINT_EXP_FLAG_ROUND_ROBIN |
                           ZE_SCHEDULING_HINT_EXP_FLAG_STALL_BASED_ROUND_ROBIN;
    return (pHint->flags & ~known) == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ENUMERATION;
}

ze_result_t ZE_APICALL cpu_zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    finish(kernel);
    return ZE_RESULT_SUCCESS;
}

// Stores the image, or the OpenCL sampler, behind the handle at `value`.
static bool take_object(const struct cpu_argument *argument, const void *value, unsigned char *slot)
{
    bool is_image = argument->kind == ZEPI_SPIRV_ARGUMENT_IMAGE;
    const void *handle = NULL;
    if (value != NULL)
        memcpy(&handle, value, sizeof(handle));
    if (cpu_object_check(handle, is_image ? CPU_IMAGE : CPU_SAMPLER, "zeKernelSetArgumentValue") !=
        ZE_RESULT_SUCCESS)
        return false;
    if (is_image)
        memcpy(slot, &handle, sizeof(handle));
    else
        memcpy(slot, &((const struct cpu_sampler *)handle)->sampler, sizeof(cl_sampler));
    return true;
}

// No value is one of zeros, as on Intel's driver.
static void write_value(unsigned char *slot, const void *value, size_t size_bytes)
{
    if (value != NULL)
        memcpy(slot, value, size_bytes);
    else
        memset(slot, 0, size_bytes);
}

// Whether the size is one to take for an argument of so many bytes. Intel's driver does not look at
// the size of pointers and handles, and takes as much of a number as there is.
static bool is_taken(size_t size_bytes, size_t expected_bytes, bool is_number)
{
    return size_bytes == expected_bytes ||
           (!cpu_options()->is_strict && (size_bytes > 0 || !is_number));
}

ze_result_t cpu_kernel_write_argument(const struct cpu_program_kernel *code,
                                      unsigned char *arguments, uint32_t index, size_t size_bytes,
                                      const void *value)
{
    if (index >= code->argument_count)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    const struct cpu_argument *argument = &code->arguments[index];
    unsigned char *slot = arguments + argument->offset;
    switch (argument->kind) {
    case ZEPI_SPIRV_ARGUMENT_LOCAL:
        if (value != NULL || size_bytes == 0)
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        memcpy(slot, &size_bytes, sizeof(size_bytes));
        break;
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        if (!is_taken(size_bytes, sizeof(void *), false))
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        write_value(slot, value, sizeof(void *));
        break;
    case ZEPI_SPIRV_ARGUMENT_IMAGE:
    case ZEPI_SPIRV_ARGUMENT_SAMPLER:
        if (!is_taken(size_bytes, sizeof(void *), false))
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        if (!take_object(argument, value, slot))
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        break;
    default:
        if (argument->size_bytes != 0) {
            if (!is_taken(size_bytes, argument->size_bytes, true))
                return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
            write_value(slot, value,
                        size_bytes < argument->size_bytes ? size_bytes : argument->size_bytes);
            break;
        }
        if (size_bytes == 0 || size_bytes > CPU_ANY_SIZE_BYTES)
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        memcpy(slot, &size_bytes, sizeof(size_bytes));
        write_value(slot + sizeof(size_bytes), value, size_bytes);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_kernel_set_argument(struct cpu_kernel *kernel, uint32_t index, size_t size_bytes,
                                    const void *value)
{
    ze_result_t result =
        cpu_kernel_write_argument(kernel->code, kernel->arguments, index, size_bytes, value);
    if (result == ZE_RESULT_SUCCESS && !kernel->is_set[index]) {
        kernel->is_set[index] = true;
        kernel->unset_count--;
    }
    return result;
}

ze_result_t ZE_APICALL cpu_zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                    size_t argSize, const void *pArgValue)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = cpu_kernel_set_argument(kernel, argIndex, argSize, pArgValue);
    cpu_kernel_leave(kernel);
    return result;
}

ze_result_t ZE_APICALL cpu_zexKernelGetArgumentSize(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                    uint32_t *pArgSize)
{
    const struct cpu_program_kernel *code = ((const struct cpu_kernel *)hKernel)->code;
    if (argIndex >= code->argument_count)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (pArgSize == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    // As machine code of Intel's GPUs takes them.
    *pArgSize = (code->arguments[argIndex].size_bytes + 3) / 4 * 4;
    return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_kernel_check_group_size(const struct cpu_program_kernel *code, uint32_t x,
                                        uint32_t y, uint32_t z)
{
    const uint32_t *required = code->required_group_size;
    if (x == 0 || y == 0 || z == 0)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    uint64_t limit = cpu_opencl()->maximum_group_size;
    if (x > limit || y > limit || z > limit || (uint64_t)x * y > limit ||
        (uint64_t)x * y * z > limit)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    if (required[0] != 0 && (x != required[0] || y != required[1] || z != required[2]))
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_kernel_set_group_size(struct cpu_kernel *kernel, uint32_t x, uint32_t y, uint32_t z)
{
    ze_result_t result = cpu_kernel_check_group_size(kernel->code, x, y, z);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    kernel->group_size[0] = x;
    kernel->group_size[1] = y;
    kernel->group_size[2] = z;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                                uint32_t groupSizeY, uint32_t groupSizeZ)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = cpu_kernel_set_group_size(kernel, groupSizeX, groupSizeY, groupSizeZ);
    cpu_kernel_leave(kernel);
    return result;
}

ze_result_t ZE_APICALL cpu_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                                      uint32_t offsetY, uint32_t offsetZ)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    kernel->offset[0] = offsetX;
    kernel->offset[1] = offsetY;
    kernel->offset[2] = offsetZ;
    cpu_kernel_leave(kernel);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelSetCacheConfig(ze_kernel_handle_t hKernel,
                                                  ze_cache_config_flags_t flags)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    if ((flags & ~(uint32_t)(ZE_CACHE_CONFIG_FLAG_LARGE_SLM | ZE_CACHE_CONFIG_FLAG_LARGE_DATA)) !=
        0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result == ZE_RESULT_SUCCESS)
        cpu_kernel_leave(kernel);
    return result;
}

ze_result_t ZE_APICALL cpu_zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                                     ze_kernel_indirect_access_flags_t flags)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    if ((flags & ~0x7u) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    kernel->indirect_access = flags; // all memory can be reached anyway
    cpu_kernel_leave(kernel);
    return ZE_RESULT_SUCCESS;
}
