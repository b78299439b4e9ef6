// SPDX-License-Identifier: MIT
#include "engine/kernels.h"

#include "kernels/arguments.h"
#include "kernels/cpu_driver.h"
#include "kernels/group_part.h"
#include "kernels/known_modules.h"
#include "log.h"

bool shim_kernel_prepare(struct shim_address_space *space, const struct shim_walker *walker)
{
    if (shim_cpu_driver_has_ended()) {
        shim_error("the kernel at 0x%llx is refused: the process ends",
                   (unsigned long long)walker->start);
        return false;
    }
    struct shim_known_kernel *kernel = shim_known_kernel_find(space, walker);
    if (!kernel) {
        shim_error("the kernel at 0x%llx is refused: no module has its machine code",
                   (unsigned long long)walker->start);
        return false;
    }
    const bool is_built = shim_known_kernel_build(kernel);
    shim_known_module_release(kernel->module);
    return is_built;
}

static ze_result_t set_sizes(const struct shim_known_kernel *kernel,
                             const struct shim_walker *walker)
{
    const struct shim_cpu_driver *cpu = shim_cpu_driver();
    uint32_t size[3], offset[3];
    shim_payload_group_size(kernel->native->info, walker, size);
    shim_payload_global_offset(kernel->native->info, walker, offset);
    const ze_result_t result = cpu->kernel.pfnSetGroupSize(kernel->cpu, size[0], size[1], size[2]);
    if (result == ZE_RESULT_SUCCESS)
        return cpu->kernel_exp.pfnSetGlobalOffsetExp(kernel->cpu, offset[0], offset[1], offset[2]);
    shim_error("%s is refused: a group of %u x %u x %u: 0x%x", kernel->native->name, size[0],
               size[1], size[2], result);
    return result;
}

// The groups that are executed, of those that are launched.
static bool set_part(const struct shim_known_kernel *kernel, const struct shim_walker *walker)
{
    const struct shim_cpu_driver *cpu = shim_cpu_driver();
    const uint64_t part[SHIM_GROUP_PART_ARGUMENTS] = {walker->part.dimension, walker->part.first,
                                                      walker->part.count};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0;
         cpu->has_parts && i < SHIM_GROUP_PART_ARGUMENTS && result == ZE_RESULT_SUCCESS; i++)
        result = cpu->kernel.pfnSetArgumentValue(kernel->cpu, kernel->arguments->argument_count + i,
                                                 sizeof(part[i]), &part[i]);
    if (result != ZE_RESULT_SUCCESS)
        shim_error("%s is refused: its part of the groups: 0x%x", kernel->native->name, result);
    return result == ZE_RESULT_SUCCESS;
}

static bool launch(struct shim_known_kernel *kernel, struct shim_address_space *space,
                   const struct shim_walker *walker, struct shim_images *images)
{
    pthread_mutex_lock(&kernel->mutex);
    if (set_sizes(kernel, walker) != ZE_RESULT_SUCCESS ||
        !shim_arguments_set(kernel, space, walker, images) || !set_part(kernel, walker)) {
        pthread_mutex_unlock(&kernel->mutex);
        return false;
    }
    const ze_result_t result =
        shim_cpu_launch(shim_cpu_driver(), kernel->cpu, walker->groups, &kernel->mutex);
    if (result != ZE_RESULT_SUCCESS)
        shim_error("%s: ze_cpu does not launch it: 0x%x", kernel->native->name, result);
    return result == ZE_RESULT_SUCCESS && shim_images_write_back(images, space);
}

bool shim_kernel_run(struct shim_address_space *space, const struct shim_walker *walker)
{
    struct shim_known_kernel *kernel = shim_known_kernel_find(space, walker);
    if (!kernel || !kernel->cpu)
        return false;
    struct shim_images images = {0};
    struct shim_variables *variables = shim_known_module_variables(kernel->module);
    if (variables)
        shim_variables_enter(variables, kernel->module->cpu, space);
    const bool is_done = launch(kernel, space, walker, &images);
    shim_images_finish(&images);
    if (variables)
        shim_variables_leave(variables, space);
    shim_variables_release(variables);
    shim_known_module_release(kernel->module);
    return is_done;
}
