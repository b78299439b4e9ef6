// SPDX-License-Identifier: MIT
#include "graph/recording.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "launch/device_kernel_create.h"
#include "memory/usm.h"
#include "queue/command_list.h"
#include "queue/event.h"
#include "queue/progress.h"
#include "ze/ze.h"

// ---- Lists and events ----

const void *zepi_recording_extension(const struct zepi_recording *recording)
{
    static const struct zepi_ze_number desc = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_LIST_DESC};
    return recording->is_mutable ? &desc : NULL;
}

// Nothing of it runs: gives its lists to the next recording.
static void recording_give_lists(struct zepi_recording *recording)
{
    for (uint32_t i = 0; i < recording->own_count; i++)
        zepi_command_list_give(recording->own[i], true);
    recording->own_count = 0;
}

void zepi_recording_destroy_lists(struct zepi_recording *recording)
{
    for (uint32_t i = 0; i < recording->own_count; i++)
        zepi_release(recording->own[i]);
    recording->own_count = 0;
}

static void recording_destroy_events(struct zepi_recording *recording)
{
    for (size_t i = 0; i < recording->command_count; i++) {
        if (recording->commands[i].event)
            zepi_ze.zeEventDestroy(recording->commands[i].event);
    }
    if (recording->pool)
        zepi_ze.zeEventPoolDestroy(recording->pool);
}

static void recording_destroy_deferred(struct zepi_deferred *deferred)
{
    struct zepi_recording *recording = (struct zepi_recording *)deferred;
    zepi_list_run_destroy(recording->run); // waits
    zepi_recording_destroy_lists(recording);
    recording_destroy_events(recording);
    zepi_free(recording->own);
    zepi_free(recording);
}

static void release_kept_queues(struct zepi_recording *recording)
{
    struct zepi_queue *next;
    for (struct zepi_queue *queue = recording->kept_queues; queue; queue = next) {
        next = queue->next_kept;
        zepi_release(queue);
    }
}

// Gives up all objects that the lists use.
static void recording_release_uses(struct zepi_recording *recording)
{
    // Instances before the kernels that they are of.
    for (size_t i = 0; i < recording->instance_count; i++)
        zepi_kernel_instance_give(recording->instances[i].kernel, recording->instances[i].instance);
    for (size_t i = 0; i < recording->value_count; i++)
        zepi_usm_put(recording->context, recording->values[i]);
    for (size_t i = 0; i < recording->command_count; i++) {
        zepi_launch_record_release(recording->commands[i].launch);
        recording->commands[i].launch = NULL;
    }
    recording->instance_count = 0;
    recording->value_count = 0;
    recording->move_count = 0;
}

void zepi_recording_destroy(struct zepi_recording *recording)
{
    const bool is_over = zepi_recording_wait_for_run(recording) == ZEPI_SUCCESS;
    if (is_over && zepi_recording_ask_idle(recording) == ZEPI_SUCCESS)
        recording_give_lists(recording);
    zepi_release(recording->last);
    release_kept_queues(recording);
    recording_release_uses(recording);
    zepi_free(recording->instances);
    zepi_free(recording->values);
    zepi_free(recording->moves);
    recording->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    recording->deferred.run = recording_destroy_deferred;
    zepi_defer(recording->context, &recording->deferred);
}

// Releases the event of an execution that is over. A queue that nothing else has is kept until it
// is idle: its end would wait for later commands, and these may wait for a call that needs the
// submit_mutex.
static void release_event(struct zepi_recording *recording, zepi_event_t event)
{
    struct zepi_queue *queue = zepi_retain(event->queue);
    zepi_release(event);
    if (zepi_release_unless_last(queue))
        return;
    queue->next_kept = recording->kept_queues;
    recording->kept_queues = queue;
}

// Nothing submits to a kept queue any more: an idle one stays idle.
static void release_idle_queues(struct zepi_recording *recording)
{
    struct zepi_queue **at = &recording->kept_queues;
    while (*at) {
        struct zepi_queue *queue = *at;
        if (zepi_queue_poll(queue)) {
            *at = queue->next_kept;
            zepi_release(queue);
        } else {
            at = &queue->next_kept;
        }
    }
}

zepi_result_t zepi_recording_ask_last(struct zepi_recording *recording)
{
    zepi_event_status_t status;
    const zepi_result_t result = zepi_event_ask_status(recording->last, &status);
    if (result != ZEPI_SUCCESS)
        return result;
    if (status != ZEPI_EVENT_COMPLETE)
        return ZEPI_ERROR_NOT_READY;
    release_event(recording, recording->last);
    recording->last = NULL;
    if (recording->kept_queues)
        release_idle_queues(recording);
    return ZEPI_SUCCESS;
}

void zepi_recording_clear(struct zepi_recording *recording)
{
    bool is_reset = zepi_recording_wait_for_run(recording) == ZEPI_SUCCESS;
    recording->version = 0;
    for (uint32_t i = 0; i < recording->own_count && is_reset; i++)
        is_reset = zepi_ze.zeCommandListReset(recording->own[i]->ze) == ZE_RESULT_SUCCESS;
    if (!is_reset)
        zepi_recording_destroy_lists(recording);
    recording_release_uses(recording);
}

// ---- What the lists use ----

zepi_result_t zepi_recording_keep(struct zepi_recording *recording, void *values)
{
    void **grown = zepi_grow(recording->values, recording->value_count, &recording->value_capacity,
                             sizeof(recording->values[0]));
    if (!grown) {
        zepi_usm_put(recording->context, values);
        return zepi_fail_no_memory();
    }
    recording->values = grown;
    recording->values[recording->value_count++] = values;
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
recording_add_instance(struct zepi_recording *recording, struct zepi_device_kernel *kernel,
                       struct zepi_kernel_instance **out_instance)
{
    struct zepi_recorded_instance *grown =
        zepi_grow(recording->instances, recording->instance_count, &recording->instance_capacity,
                  sizeof(recording->instances[0]));
    if (!grown)
        return zepi_fail_no_memory();
    recording->instances = grown;
    const zepi_result_t result = zepi_kernel_instance_take(kernel, out_instance);
    if (result == ZEPI_SUCCESS)
        grown[recording->instance_count++] = (struct zepi_recorded_instance){kernel, *out_instance};
    return result;
}

// Launches of one kernel often follow each other.
zepi_result_t zepi_recording_get_instance(struct zepi_recording *recording,
                                          struct zepi_device_kernel *kernel,
                                          struct zepi_kernel_instance **out_instance)
{
    for (size_t i = recording->instance_count; i-- > 0;) {
        if (recording->instances[i].kernel == kernel) {
            *out_instance = recording->instances[i].instance;
            return ZEPI_SUCCESS;
        }
    }
    return recording_add_instance(recording, kernel, out_instance);
}

// ---- A new recording ----

// In a graph that is not in order.
static bool needs_event(const struct zepi_graph_command *command)
{
    return command->is_awaited && command->kind != ZEPI_COMMAND_NATIVE;
}

static zepi_result_t recording_create_event(const struct zepi_recording *recording, uint32_t index,
                                            ze_event_handle_t *out_event)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_DEVICE,
                                  .wait = ZE_EVENT_SCOPE_FLAG_DEVICE};
    ze_event_handle_t event;
    const zepi_result_t result = ZEPI_ZE(zeEventCreate, recording->pool, &desc, &event);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    return result;
}

static zepi_result_t recording_create_events(struct zepi_recording *recording)
{
    const struct zepi_graph_commands *commands = recording->graph_commands;
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
    ze_device_handle_t device = recording->device->ze;
    ze_event_pool_handle_t pool;
    for (size_t i = 0; i < recording->command_count; i++)
        desc.count += needs_event(commands->list[i]) ? 1 : 0;
    if (desc.count == 0)
        return ZEPI_SUCCESS;
    zepi_result_t result =
        ZEPI_ZE(zeEventPoolCreate, recording->context->ze, &desc, 1, &device, &pool);
    if (result == ZEPI_SUCCESS)
        recording->pool = pool;
    uint32_t index = 0;
    for (size_t i = 0; i < recording->command_count && result == ZEPI_SUCCESS; i++) {
        if (needs_event(commands->list[i]))
            result = recording_create_event(recording, index++, &recording->commands[i].event);
    }
    return result;
}

// What stays from one time that the commands are recorded to the next.
static zepi_result_t recording_make_parts(struct zepi_recording *recording)
{
    const struct zepi_graph_commands *commands = recording->graph_commands;
    const size_t most = commands->native_count + 1;
    recording->own = zepi_allocate(1, 3 * most * sizeof(recording->own[0]) +
                                          commands->most_waits * sizeof(recording->waits[0]));
    if (!recording->own)
        return zepi_fail_no_memory();
    recording->lists = (ze_command_list_handle_t *)(recording->own + most);
    recording->waits = (ze_event_handle_t *)(recording->lists + 2 * most);
    const zepi_result_t result =
        commands->is_in_order ? ZEPI_SUCCESS : recording_create_events(recording);
    return result == ZEPI_SUCCESS && !zepi_ze_appends_lists(&recording->device->platform->optional)
               ? zepi_list_run_create(recording->context, recording->device, &recording->run)
               : result;
}

zepi_result_t zepi_recording_create(struct zepi_context *context, struct zepi_device *device,
                                    const struct zepi_graph_commands *commands, bool is_mutable,
                                    struct zepi_recording **out_recording)
{
    struct zepi_recording *recording =
        zepi_allocate(1, sizeof(*recording) + commands->count * sizeof(recording->commands[0]));
    if (!recording)
        return zepi_fail_no_memory();
    recording->context = context;
    recording->device = device;
    recording->graph_commands = commands;
    recording->command_count = commands->count;
    // With native commands there are several lists.
    recording->is_mutable =
        is_mutable && commands->native_count == 0 &&
        (device->mutable_flags & ZEPI_ZE_MUTABLE_NEEDED) == ZEPI_ZE_MUTABLE_NEEDED;
    const zepi_result_t result = recording_make_parts(recording);
    if (result != ZEPI_SUCCESS) {
        zepi_recording_destroy(recording);
        return result;
    }
    *out_recording = recording;
    return ZEPI_SUCCESS;
}
