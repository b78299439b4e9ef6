// SPDX-License-Identifier: MIT
#include "graph/recorded_uses.h"

#include "core/alloc.h"
#include "launch/device_kernel_create.h"
#include "launch/kernel_instance.h"
#include "memory/usm.h"

void zepi_recorded_uses_release(struct zepi_recorded_uses *uses)
{
    // Instances before the kernels that they are of.
    for (size_t i = 0; i < uses->instance_count; i++)
        zepi_kernel_instance_give(uses->instances[i].kernel, uses->instances[i].instance);
    for (size_t i = 0; i < uses->value_count; i++)
        zepi_usm_put(uses->context, uses->values[i]);
    for (size_t i = 0; i < uses->launch_count; i++)
        zepi_launch_record_release(uses->launches[i]);
    zepi_free(uses->launches);
    uses->launches = NULL;
    uses->launch_count = 0;
    uses->usm_versions = NULL;
    uses->instance_count = 0;
    uses->value_count = 0;
}

void zepi_recorded_uses_finish(struct zepi_recorded_uses *uses)
{
    zepi_recorded_uses_release(uses);
    zepi_free(uses->instances);
    zepi_free(uses->values);
}

zepi_result_t zepi_recorded_uses_hold_launches(struct zepi_recorded_uses *uses,
                                               const struct zepi_graph_commands *commands)
{
    const size_t one_bytes = sizeof(uses->launches[0]) + sizeof(uses->usm_versions[0]);
    uses->launches = zepi_allocate(commands->count, one_bytes);
    if (!uses->launches)
        return zepi_fail_no_memory();
    uses->usm_versions = (uint64_t *)(uses->launches + commands->count);
    for (size_t i = 0; i < commands->count; i++) {
        uses->launches[i] = zepi_launch_record_retain(commands->list[i]->launch);
        uses->usm_versions[i] = zepi_usm_version();
    }
    uses->launch_count = commands->count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_recorded_uses_keep(struct zepi_recorded_uses *uses, void *values)
{
    void **grown =
        zepi_grow(uses->values, uses->value_count, &uses->value_capacity, sizeof(uses->values[0]));
    if (!grown) {
        zepi_usm_put(uses->context, values);
        return zepi_fail_no_memory();
    }
    uses->values = grown;
    uses->values[uses->value_count++] = values;
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
recorded_uses_add_instance(struct zepi_recorded_uses *uses, struct zepi_device_kernel *kernel,
                           struct zepi_kernel_instance **out_instance)
{
    struct zepi_recorded_instance *grown =
        zepi_grow(uses->instances, uses->instance_count, &uses->instance_capacity,
                  sizeof(uses->instances[0]));
    if (!grown)
        return zepi_fail_no_memory();
    uses->instances = grown;
    const zepi_result_t result = zepi_kernel_instance_take(kernel, out_instance);
    if (result == ZEPI_SUCCESS)
        grown[uses->instance_count++] = (struct zepi_recorded_instance){kernel, *out_instance};
    return result;
}

// Launches of one kernel often follow each other.
zepi_result_t zepi_recorded_uses_get_instance(struct zepi_recorded_uses *uses,
                                              struct zepi_device_kernel *kernel,
                                              struct zepi_kernel_instance **out_instance)
{
    for (size_t i = uses->instance_count; i-- > 0;) {
        if (uses->instances[i].kernel == kernel) {
            *out_instance = uses->instances[i].instance;
            return ZEPI_SUCCESS;
        }
    }
    return recorded_uses_add_instance(uses, kernel, out_instance);
}
