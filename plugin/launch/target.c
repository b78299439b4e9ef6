// SPDX-License-Identifier: MIT
#include "launch/target.h"

#include "core/alloc.h"
#include "program/device_image/device_image.h"

struct zepi_held_target *zepi_held_target_create(const struct zepi_target *target)
{
    struct zepi_held_target *held = zepi_allocate(1, sizeof(*held));
    if (!held) {
        zepi_fail_no_memory();
        return NULL;
    }
    atomic_init(&held->references, 1);
    held->target = *target;
    zepi_build_result_retain(target->device_kernel);
    if (target->image)
        zepi_retain((struct zepi_device_image *)target->image);
    zepi_spec_values_retain((struct zepi_spec_values *)target->values);
    return held;
}

void zepi_held_target_release(struct zepi_held_target *held)
{
    // Acquire and release: the last use of others is over before the references go.
    if (!held || atomic_fetch_sub_explicit(&held->references, 1, memory_order_acq_rel) > 1)
        return;
    zepi_build_result_release(held->target.device_kernel);
    zepi_release((struct zepi_device_image *)held->target.image);
    zepi_spec_values_release((struct zepi_spec_values *)held->target.values);
    zepi_free(held);
}
