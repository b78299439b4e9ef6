// SPDX-License-Identifier: MIT
#include "ur/graph/recorded_launch.h"

#include "core/alloc.h"
#include "launch/launch.h"
#include "ur/queue/launch.h"

#define VALUE_ALIGNMENT 16

void zepi_ur_recorded_launch_release(struct zepi_ur_recorded_launch *launch)
{
    // Acquire and release: what others read is over before the memory goes.
    if (!launch || atomic_fetch_sub_explicit(&launch->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < launch->desc.argument_count; i++)
        zepi_release(launch->held[i]);
    zepi_release(launch->kernel);
    zepi_free(launch);
}

// Room for a value's bytes, such that the next one is aligned, too.
static size_t room_for(const zepi_argument_t *argument)
{
    return argument->kind == ZEPI_ARGUMENT_VALUE
               ? (argument->size_bytes + VALUE_ALIGNMENT - 1) / VALUE_ALIGNMENT * VALUE_ALIGNMENT
               : 0;
}

static struct zepi_ur_recorded_launch *copy(const zepi_launch_desc_t *desc, void *const *held)
{
    const uint32_t count = desc->argument_count;
    const size_t fixed_bytes =
        sizeof(struct zepi_ur_recorded_launch) + count * (sizeof(zepi_argument_t) + sizeof(void *));
    size_t value_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        value_bytes += room_for(&desc->arguments[i]);
    struct zepi_ur_recorded_launch *launch =
        zepi_allocate(1, fixed_bytes + VALUE_ALIGNMENT + value_bytes);
    if (!launch)
        return NULL;
    char *values = (char *)launch + fixed_bytes;
    values += VALUE_ALIGNMENT - (uintptr_t)values % VALUE_ALIGNMENT;
    atomic_init(&launch->references, 1);
    launch->held = (void **)&launch->arguments[count];
    for (uint32_t i = 0; i < count; i++) {
        launch->arguments[i] = desc->arguments[i];
        launch->held[i] = held[i] ? zepi_retain(held[i]) : NULL;
        if (desc->arguments[i].kind != ZEPI_ARGUMENT_VALUE || !desc->arguments[i].value)
            continue;
        launch->arguments[i].value =
            memcpy(values, desc->arguments[i].value, desc->arguments[i].size_bytes);
        values += room_for(&desc->arguments[i]);
    }
    launch->desc = *desc;
    launch->desc.arguments = launch->arguments;
    return launch;
}

ur_result_t zepi_ur_recorded_launch_create(struct zepi_kernel *kernel,
                                           const struct zepi_context *context,
                                           struct zepi_device *device,
                                           const zepi_launch_desc_t *desc, void *const *held,
                                           struct zepi_ur_recorded_launch **out_launch)
{
    const struct zepi_launch asked = zepi_launch_of(desc, (zepi_wait_list_t){NULL, 0}, NULL);
    const zepi_result_t checked = zepi_launch_check(context, device, kernel, &asked);
    if (checked != ZEPI_SUCCESS) {
        const ur_result_t result = zepi_ur_fail_launch(checked, kernel, context, device, &asked);
        // There is no wait list here.
        return checked == ZEPI_ERROR_INVALID_OBJECT ? UR_RESULT_ERROR_INVALID_KERNEL : result;
    }
    struct zepi_ur_recorded_launch *launch = copy(desc, held);
    if (!launch)
        return zepi_ur_result(zepi_fail_no_memory());
    launch->kernel = zepi_retain(kernel);
    *out_launch = launch;
    return UR_RESULT_SUCCESS;
}
