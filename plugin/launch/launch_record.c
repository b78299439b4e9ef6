// SPDX-License-Identifier: MIT
#include "launch/launch_record.h"

#include "core/alloc.h"
#include "core/object.h"
#include "device/device.h"

zepi_result_t zepi_launch_check_slm(const struct zepi_launch *launch,
                                    const struct zepi_device *device)
{
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    const uint32_t most = device->compute.maxSharedLocalMemory;
    uint64_t total = device_kernel->properties.localMemSize;
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        const struct zepi_arg *arg = &launch->args[i];
        if (arg->kind == ZEPI_ARG_SLM && __builtin_add_overflow(total, arg->size_bytes, &total))
            total = UINT64_MAX;
    }
    // Quirk no-limits: 0 limits nothing.
    if (total > most && most > 0)
        return zepi_fail_about(ZEPI_SUBJECT_ARG, ZEPI_ERROR_INVALID_SIZE,
                               "kernel '%s' and its arguments need %llu bytes of local memory, the "
                               "device has %u",
                               device_kernel->name, (unsigned long long)total, most);
    return ZEPI_SUCCESS;
}

// ---- Filling in ----

zepi_result_t zepi_launch_room_grow(struct zepi_launch *launch, uint32_t count)
{
    // An argument has the number of its object in 16 bits.
    if (count >= UINT16_MAX)
        return zepi_fail_about(ZEPI_SUBJECT_ARG_COUNT, ZEPI_ERROR_INVALID_SIZE,
                               "%u arguments, expected fewer than %u", count, UINT16_MAX);
    struct zepi_arg *args = zepi_allocate(count, sizeof(launch->args[0]) + sizeof(launch->uses[0]));
    if (!args)
        return zepi_fail_no_memory();
    launch->args = args;
    launch->uses = (struct zepi_arg_use *)(launch->args + count);
    return ZEPI_SUCCESS;
}

// Room for an argument's bytes, such that the next ones are aligned, too.
static size_t large_room(const struct zepi_arg *arg)
{
    return ((size_t)arg->size_bytes + 7) & ~(size_t)7;
}

void zepi_launch_set_bytes(struct zepi_launch *launch, uint32_t index, const void *value,
                           size_t size_bytes)
{
    struct zepi_arg *arg = &launch->args[index];
    zepi_arg_set_bytes(arg, value, size_bytes);
    if (zepi_arg_is_large(arg))
        launch->large_bytes += large_room(arg);
}

// The last one takes its place.
void zepi_launch_drop_use(struct zepi_launch *launch, uint32_t use)
{
    const uint32_t last = launch->use_count--;
    launch->uses[use - 1] = launch->uses[last - 1];
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        if (launch->args[i].use == last)
            launch->args[i].use = (uint16_t)use;
    }
}

// ---- Records ----

static void record_hold_bytes(struct zepi_launch_record *record, char *bytes)
{
    struct zepi_launch *own = &record->launch;
    const char *first = bytes;
    for (uint32_t i = 0; i < own->arg_count; i++) {
        struct zepi_arg *arg = &own->args[i];
        if (!zepi_arg_is_large(arg))
            continue;
        arg->payload = (uintptr_t)memcpy(bytes, zepi_arg_value(arg), arg->size_bytes);
        bytes += large_room(arg);
    }
    own->large_bytes = (size_t)(bytes - first);
}

// References to all of a target.
static void target_retain(const struct zepi_target *target)
{
    zepi_build_result_retain(target->device_kernel);
    if (target->image)
        zepi_retain((struct zepi_device_image *)target->image);
    zepi_spec_values_retain((struct zepi_spec_values *)target->values);
}

static void target_release(const struct zepi_target *target)
{
    zepi_build_result_release(target->device_kernel);
    if (target->image)
        zepi_release((struct zepi_device_image *)target->image);
    zepi_spec_values_release((struct zepi_spec_values *)target->values);
}

struct zepi_launch_record *zepi_launch_record_create(const struct zepi_launch *launch)
{
    const size_t args_bytes = launch->arg_count * sizeof(launch->args[0]);
    const size_t uses_bytes = launch->use_count * sizeof(launch->uses[0]);
    struct zepi_launch_record *record =
        zepi_sys_allocate(sizeof(*record) + args_bytes + uses_bytes + launch->large_bytes);
    if (!record) {
        zepi_fail_no_memory();
        return NULL;
    }
    struct zepi_launch *own = &record->launch;
    *own = *launch;
    own->args = (struct zepi_arg *)(record + 1);
    own->uses = (struct zepi_arg_use *)((char *)own->args + args_bytes);
    zepi_launch_copy_args(own, launch);
    atomic_init(&record->references, 1);
    record->is_plain = zepi_launch_is_plain(launch);
    zepi_launch_record_copy_sizes(record, launch);
    zepi_launch_set_sizes(own, launch->work_dim, record->sizes[0], record->sizes[1],
                          record->sizes[2]);
    if (launch->large_bytes > 0)
        record_hold_bytes(record, (char *)own->uses + uses_bytes);
    for (uint32_t i = 0; i < own->use_count; i++)
        zepi_retain(own->uses[i].object);
    if (own->module)
        zepi_retain(own->module);
    target_retain(&own->target);
    return record;
}

void zepi_launch_record_destroy(struct zepi_launch_record *record)
{
    for (uint32_t i = 0; i < record->launch.use_count; i++)
        zepi_release(record->launch.uses[i].object);
    target_release(&record->launch.target);
    zepi_release(record->launch.module);
    zepi_free(record);
}
