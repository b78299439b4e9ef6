// SPDX-License-Identifier: MIT
//
// Launches that look like the queue's last one of the kernel, compared as Unified Runtime has them:
// without a description in the core's words in between. All others go to launch.c.
#include "kernel/relaunch.h"

#include "ur/handles.h"
#include "ur/launch.h"

// What every function here is given: their last calls leave it where it is.
#define LAUNCH_PARAMETERS                                                                          \
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,                        \
        const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize,                            \
        const size_t *pLocalWorkSize, uint32_t numArgs,                                            \
        const ur_exp_kernel_arg_properties_t *pArgs,                                               \
        const ur_kernel_launch_ext_properties_t *launchPropList, uint32_t numEventsInWaitList,     \
        const ur_event_handle_t *phEventWaitList, ur_event_handle_t *phEvent
#define LAUNCH_ARGUMENTS                                                                           \
    hQueue, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize, numArgs, pArgs,  \
        launchPropList, numEventsInWaitList, phEventWaitList, phEvent

#define ARGUMENT_OFFSET offsetof(ur_exp_kernel_arg_properties_t, type)
static_assert(offsetof(ur_exp_kernel_arg_properties_t, index) == ARGUMENT_OFFSET + 4 &&
                  offsetof(ur_exp_kernel_arg_properties_t, size) == ARGUMENT_OFFSET + 8 &&
                  offsetof(ur_exp_kernel_arg_properties_t, value) ==
                      ARGUMENT_OFFSET + offsetof(zepi_argument_t, value),
              "the words of an argument lie as in the core's, with an index");
static_assert((int)UR_EXP_KERNEL_ARG_TYPE_VALUE == ZEPI_ARGUMENT_VALUE &&
                  (int)UR_EXP_KERNEL_ARG_TYPE_POINTER == ZEPI_ARGUMENT_POINTER,
              "the kinds that a lease compares have the same numbers");

static inline zepi_lease_slot *find_leases(ur_queue_handle_t queue, ur_kernel_handle_t kernel,
                                           const void *properties)
{
    if (!zepi_object_is(queue, &zepi_queue_type) || !zepi_object_is(kernel, &zepi_kernel_type) ||
        properties)
        return NULL;
    return zepi_relaunch_leases(zepi_ur_queue(queue), zepi_ur_kernel(kernel));
}

// A local size of 0, which is an error, looks like none: dimension 0 is looked at.
static inline bool sizes_match_in(const struct zepi_launch_sizes *sizes, const size_t *offset,
                                  const size_t *global, const size_t *local, uint32_t dimension)
{
    return global[dimension] == sizes->global[dimension] &&
           (local ? local[dimension] : 0) == sizes->group[dimension] &&
           (offset ? offset[dimension] : 0) == sizes->offset[dimension];
}

static inline bool sizes_match(const struct zepi_launch_sizes *sizes, uint32_t argument_count,
                               uint32_t work_dim, const size_t *offset, const size_t *global,
                               const size_t *local)
{
    return (argument_count | (uint64_t)work_dim << 32) == sizes->counts && global &&
           sizes_match_in(sizes, offset, global, local, 0) && (!local || sizes->group[0] > 0) &&
           (!sizes->has_more ||
            (sizes_match_in(sizes, offset, global, local, 1) &&
             (work_dim < 3 || sizes_match_in(sizes, offset, global, local, 2))));
}

static inline __attribute__((always_inline)) bool matches(struct zepi_kernel_lease *lease,
                                                          LAUNCH_PARAMETERS)
{
    (void)hQueue, (void)hKernel, (void)launchPropList;
    (void)numEventsInWaitList, (void)phEventWaitList, (void)phEvent;
    const struct zepi_argument_list list = {(uintptr_t)pArgs + ARGUMENT_OFFSET, sizeof(*pArgs),
                                            true};
    return (pArgs || numArgs == 0) &&
           sizes_match(lease->last_sizes, numArgs, workDim, pGlobalWorkOffset, pGlobalWorkSize,
                       pLocalWorkSize) &&
           zepi_kernel_lease_take_values(lease, list);
}

static __attribute__((noinline)) ur_result_t unlock_and_launch(LAUNCH_PARAMETERS)
{
    zepi_mutex_unlock(&zepi_ur_queue(hQueue)->mutex);
    return zepi_ur_launch_any(LAUNCH_ARGUMENTS);
}

static __attribute__((cold, noinline)) ur_result_t finish(struct zepi_queue *queue,
                                                          bool somebody_sleeps, ze_result_t ze,
                                                          struct zepi_event *event,
                                                          ur_event_handle_t *out_event)
{
    return zepi_ur_result(
        zepi_relaunch_finish(queue, somebody_sleeps, ze, event, (zepi_event_t *)out_event));
}

static __attribute__((noinline)) ur_result_t launch_without_events(LAUNCH_PARAMETERS)
{
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    zepi_lease_slot *leases = find_leases(hQueue, hKernel, launchPropList);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return zepi_ur_launch_any(LAUNCH_ARGUMENTS);
    struct zepi_kernel_lease *lease = zepi_relaunch_lease(leases, queue->launch_number);
    if (__builtin_expect(!matches(lease, LAUNCH_ARGUMENTS), 0))
        return unlock_and_launch(LAUNCH_ARGUMENTS);
    const struct zepi_relaunched done = zepi_relaunch(queue, lease);
    if (done.somebody_sleeps)
        return finish(queue, true, done.ze, NULL, NULL);
    if (__builtin_expect(done.ze != ZE_RESULT_SUCCESS, 0))
        return finish(queue, false, done.ze, NULL, NULL);
    return UR_RESULT_SUCCESS;
}

static inline __attribute__((always_inline)) ur_result_t launch_for_event(uint32_t wait_count,
                                                                          LAUNCH_PARAMETERS)
{
    struct zepi_relaunched done;
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    zepi_lease_slot *leases = find_leases(hQueue, hKernel, launchPropList);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return zepi_ur_launch_any(LAUNCH_ARGUMENTS);
    struct zepi_kernel_lease *lease = zepi_relaunch_lease(leases, queue->launch_event_number);
    const zepi_wait_list_t wait = {(const zepi_event_t *)phEventWaitList, wait_count};
    if (__builtin_expect(!matches(lease, LAUNCH_ARGUMENTS) ||
                             !zepi_relaunch_for_event(queue, lease, wait, &done),
                         0))
        return unlock_and_launch(LAUNCH_ARGUMENTS);
    done.event->command = UR_COMMAND_KERNEL_LAUNCH;
    if (done.somebody_sleeps)
        return finish(queue, true, done.ze, done.event, phEvent);
    if (__builtin_expect(done.ze != ZE_RESULT_SUCCESS, 0))
        return finish(queue, false, done.ze, done.event, phEvent);
    *phEvent = (ur_event_handle_t)done.event;
    return UR_RESULT_SUCCESS;
}

static __attribute__((noinline)) ur_result_t launch_before_event(LAUNCH_PARAMETERS)
{
    return launch_for_event(0, LAUNCH_ARGUMENTS);
}

static __attribute__((noinline)) ur_result_t launch_after_one(LAUNCH_PARAMETERS)
{
    return launch_for_event(1, LAUNCH_ARGUMENTS);
}

ur_result_t zepi_urEnqueueKernelLaunchWithArgsExp(LAUNCH_PARAMETERS)
{
    if (numEventsInWaitList == 0 && !phEventWaitList)
        return phEvent ? launch_before_event(LAUNCH_ARGUMENTS)
                       : launch_without_events(LAUNCH_ARGUMENTS);
    return numEventsInWaitList == 1 && phEvent ? launch_after_one(LAUNCH_ARGUMENTS)
                                               : zepi_ur_launch_any(LAUNCH_ARGUMENTS);
}
