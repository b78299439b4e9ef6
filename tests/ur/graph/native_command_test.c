// SPDX-License-Identifier: MIT
// Calls of Level Zero by the host itself, inside of queues and command buffers; and calls that need
// no adapter: peers, imported memory.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>

static __typeof__(zeCommandListAppendMemoryCopy) *append_copy;

static void *symbol(const char *name)
{
    void *found = dlsym(dlopen("libze_loader.so.1", RTLD_NOW), name);
    cr_assert_not_null(found, "%s", name);
    return found;
}

static void set_up(void)
{
    cb_set_up();
    append_copy = (__typeof__(append_copy))symbol("zeCommandListAppendMemoryCopy");
}

static void set_up_without_newer(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up();
}

TestSuite(native_command, .init = set_up, .fini = cb_tear_down);
TestSuite(native_command_old, .init = set_up_without_newer, .fini = cb_tear_down);

struct work {
    buffer_t buffer; // NULL: it is enqueued
    ur_mem_handle_t mem;
    float *to;
    const float *from;
    int calls;
    ze_command_list_handle_t list; // that it was recorded to
};

static void copy_on(ze_command_list_handle_t list, struct work *work)
{
    work->calls++;
    cr_assert_eq(append_copy(list, work->to, work->from, ITEMS * sizeof(float), NULL, 0, NULL),
                 ZE_RESULT_SUCCESS);
}

// ---- Queues ----

static void enqueue_copy(ur_queue_handle_t queue, void *data)
{
    struct work *work = data;
    ur_queue_native_desc_t desc = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC};
    ur_native_handle_t list, memory;
    int32_t is_immediate = 0;
    desc.pNativeData = &is_immediate;
    UR_OK(urQueueGetNativeHandle(queue, &desc, &list));
    cr_assert_eq(is_immediate, 1);
    if (work->mem) {
        UR_OK(urMemGetNativeHandle(work->mem, gear.device, &memory));
        work->from = (const float *)memory;
    }
    copy_on((ze_command_list_handle_t)list, work);
}

// A slow kernel, the host's copy of its output, and a sum of that.
static void check_queue(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    const uint32_t rounds = 5000000;
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t slow[] = {UR_VALUE(0, rounds), UR_POINTER(1, a)};
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, b), UR_POINTER(1, b),
                                                        UR_POINTER(2, sum)};
    struct work work = {.to = b, .from = a};
    ur_event_handle_t spun, copied;
    ur_command_t type;
    UR_OK(ur_launch(queue, spin, ITEMS, 2, slow, 0, NULL, &spun));
    UR_OK(urEnqueueNativeCommandExp(queue, enqueue_copy, &work, 0, NULL, NULL, 1, &spun, &copied));
    cr_assert_eq(work.calls, 1);
    UR_OK(ur_launch(queue, cb_add, ITEMS, 3, arguments, 1, &copied, NULL));
    UR_OK(urQueueFinish(queue));
    cr_assert_eq(memcmp(a, b, ITEMS * sizeof(float)), 0);
    for (int i = 0; i < ITEMS; i++)
        cr_assert(sum[i] == 2 * a[i] || a[i] != a[i]); // bits that may be no number
    UR_OK(urEventGetInfo(copied, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
    cr_assert_eq(type, UR_COMMAND_ENQUEUE_NATIVE_EXP);
    UR_OK(urEventRelease(spun));
    UR_OK(urEventRelease(copied));
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(spin));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
}

Test(native_command, comes_in_the_order_of_its_queue)
{
    check_queue(0);
    check_queue(UR_QUEUE_FLAG_PROFILING_ENABLE);
    check_queue(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

Test(native_command_old, comes_in_the_order_of_its_queue)
{
    check_queue(0);
    check_queue(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

// Nothing else was enqueued: still there is something to wait for.
Test(native_command, is_waited_for_with_its_queue)
{
    ur_mem_handle_t mem = cb_make_mem(ITEMS * sizeof(float));
    const float three = 3;
    float *out = cb_floats(ITEMS);
    UR_OK(urEnqueueMemBufferFill(gear.queue, mem, &three, sizeof(three), 0, ITEMS * sizeof(float),
                                 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    struct work work = {.mem = mem, .to = out};
    UR_OK(urEnqueueNativeCommandExp(gear.queue, enqueue_copy, &work, 1, &mem, NULL, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(out, 3);
    UR_OK(urMemRelease(mem));
    ur_free(out);
}

Test(native_command, is_refused_without_a_function_or_with_wrong_lists)
{
    const ur_exp_enqueue_native_command_properties_t unknown = {
        .stype = UR_STRUCTURE_TYPE_EXP_ENQUEUE_NATIVE_COMMAND_PROPERTIES, .flags = 0x10};
    struct work work = {0};
    ur_bool_t has_it;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP,
                          sizeof(has_it), &has_it, NULL));
    cr_assert(has_it);
    UR_FAILS(urEnqueueNativeCommandExp(NULL, enqueue_copy, &work, 0, NULL, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urEnqueueNativeCommandExp(gear.queue, NULL, &work, 0, NULL, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urEnqueueNativeCommandExp(gear.queue, enqueue_copy, &work, 0, NULL, &unknown, 0, NULL,
                                       NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(
        urEnqueueNativeCommandExp(gear.queue, enqueue_copy, &work, 1, NULL, NULL, 0, NULL, NULL),
        UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(
        urEnqueueNativeCommandExp(gear.queue, enqueue_copy, &work, 0, NULL, NULL, 1, NULL, NULL),
        UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    cr_assert_eq(work.calls, 0);
}

// ---- Command buffers ----

static void record_copy(void *data)
{
    struct work *work = data;
    ur_native_handle_t list;
    UR_OK(urCommandBufferGetNativeHandleExp(work->buffer, &list));
    work->list = (ze_command_list_handle_t)list;
    copy_on(work->list, work);
}

// b = a + a, c = b by the host's command, a = c + c.
static void check_recorded(ur_queue_flags_t flags, enum kind kind)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *c = cb_floats(ITEMS);
    buffer_t buffer = cb_make(kind);
    {
        struct work work = {.buffer = buffer, .to = c, .from = b};
        const sync_point_t added = cb_append_add(buffer, b, a, a, AT_ONCE);
        sync_point_t copied;
        UR_OK(urCommandBufferAppendNativeCommandExp(buffer, record_copy, &work, NULL, 1, &added,
                                                    &copied));
        cr_assert_eq(work.calls, 1);
        cb_append_add(buffer, a, c, c, AFTER(copied));
    } // the data of the function is gone before the first replay
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_expect_unwritten(c);
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1;
    for (int i = 0; i < 4; i++) {
        ur_event_handle_t event;
        UR_OK(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, &event));
        UR_OK(urEventWait(1, &event));
        UR_OK(urEventRelease(event));
    }
    cb_expect(a, 256);
    cb_expect(c, 128);
    // In order, several may be under way.
    if (!(flags & UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        for (int i = 0; i < 4; i++)
            cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        cb_expect(a, 65536);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(a);
    ur_free(b);
    ur_free(c);
}

Test(native_command, is_replayed_with_its_command_buffer)
{
    check_recorded(0, FREE);
    check_recorded(0, IN_ORDER);
    check_recorded(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, FREE);
    check_recorded(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, IN_ORDER);
}

Test(native_command_old, is_replayed_with_its_command_buffer)
{
    check_recorded(0, FREE);
    check_recorded(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, FREE);
}

// b = a + a, c = b by the host's command, d = c + a; then the same of another a on both sides.
Test(native_command, stays_between_launches_that_are_updated)
{
    float *a = cb_floats(ITEMS), *other = cb_floats(ITEMS), *b = cb_floats(ITEMS),
          *c = cb_floats(ITEMS), *d = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t before[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                     UR_POINTER(2, b)};
    const ur_exp_kernel_arg_properties_t after[] = {UR_POINTER(0, c), UR_POINTER(1, a),
                                                    UR_POINTER(2, d)};
    buffer_t buffer = cb_make(UPDATABLE);
    struct work work = {.buffer = buffer, .to = c, .from = b};
    command_t commands[2];
    sync_point_t copied;
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1, other[i] = 10;
    const sync_point_t added =
        cb_append_launch(buffer, cb_add, ITEMS, 3, before, AT_ONCE, &commands[0]);
    UR_OK(urCommandBufferAppendNativeCommandExp(buffer, record_copy, &work, NULL, 1, &added,
                                                &copied));
    cb_append_launch(buffer, cb_add, ITEMS, 3, after, AFTER(copied), &commands[1]);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(d, 3);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointers[] = {cb_new_pointer(0, &other),
                                                                        cb_new_pointer(1, &other)};
    ur_exp_command_buffer_update_kernel_launch_desc_t updates[] = {cb_update(commands[0]),
                                                                   cb_update(commands[1])};
    updates[0].numNewPointerArgs = 2;
    updates[0].pNewPointerArgList = pointers;
    updates[1].numNewPointerArgs = 1;
    updates[1].pNewPointerArgList = &pointers[1];
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 2, updates));
    for (int i = 0; i < 3; i++)
        cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(b, 20);
    cb_expect(d, 30);
    UR_OK(urCommandBufferReleaseExp(buffer));
    float *const all[] = {a, other, b, c, d};
    for (int i = 0; i < 5; i++)
        ur_free(all[i]);
}

// First on its queue, so that the wait list reaches the host's commands.
Test(native_command, waits_for_the_events_of_its_command_buffer)
{
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    ur_queue_handle_t slow = ur_queue(gear.device, 0);
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const uint32_t rounds = 5000000;
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, a)};
    buffer_t buffer = cb_make(FREE);
    struct work work = {.buffer = buffer, .to = b, .from = a};
    ur_event_handle_t event;
    UR_OK(urCommandBufferAppendNativeCommandExp(buffer, record_copy, &work, NULL, 0, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(ur_launch(slow, spin, ITEMS, 2, arguments, 0, NULL, &event));
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 1, &event, NULL));
    UR_OK(urCommandBufferReleaseExp(buffer)); // waits
    cr_assert_eq(memcmp(a, b, ITEMS * sizeof(float)), 0);
    cr_assert_neq(b[0], 0);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(slow));
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(spin));
    ur_free(a);
    ur_free(b);
}

static void record_another(void *data)
{
    struct work *work = data;
    UR_FAILS(
        urCommandBufferAppendNativeCommandExp(work->buffer, record_copy, work, NULL, 0, NULL, NULL),
        UR_RESULT_ERROR_INVALID_OPERATION);
    record_copy(data);
}

Test(native_command, has_a_command_list_while_it_is_appended_alone)
{
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS);
    buffer_t buffer = cb_make(FREE);
    struct work work = {.buffer = buffer, .to = b, .from = a};
    ur_native_handle_t list;
    UR_FAILS(urCommandBufferGetNativeHandleExp(buffer, &list), UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    UR_OK(
        urCommandBufferAppendNativeCommandExp(buffer, record_another, &work, NULL, 0, NULL, NULL));
    cr_assert_eq(work.calls, 1);
    UR_FAILS(urCommandBufferGetNativeHandleExp(buffer, &list), UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    UR_FAILS(urCommandBufferAppendNativeCommandExp(buffer, NULL, NULL, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    const sync_point_t unknown = 9;
    UR_FAILS(
        urCommandBufferAppendNativeCommandExp(buffer, record_copy, &work, NULL, 1, &unknown, NULL),
        UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS(urCommandBufferAppendNativeCommandExp(buffer, record_copy, &work, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_OPERATION);
    cr_assert_eq(work.calls, 1);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(b);
}

// ---- Peers and imported memory ----

Test(peer, can_be_used_where_there_is_a_link, .fini = ur_tear_down)
{
    ur_set_up_devices(2);
    const ur_device_handle_t first = gear.devices[0], second = gear.devices[1];
    ur_bool_t has_it;
    int answer = -1;
    UR_OK(
        urDeviceGetInfo(first, UR_DEVICE_INFO_USM_P2P_SUPPORT_EXP, sizeof(has_it), &has_it, NULL));
    cr_assert(has_it);
    UR_OK(urUsmP2PPeerAccessGetInfoExp(first, second, UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT,
                                       sizeof(answer), &answer, NULL));
    cr_assert_eq(answer, 1);
    UR_OK(urUsmP2PPeerAccessGetInfoExp(first, second, UR_EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT,
                                       sizeof(answer), &answer, NULL));
    cr_assert(answer == 0 || answer == 1); // not between Intel's cards
    UR_OK(urUsmP2PEnablePeerAccessExp(first, second));
    // Memory of one device, changed by the other.
    ur_queue_handle_t queue = ur_queue(second, 0);
    int *memory = ur_device_memory(sizeof(int)), value = 7, out = 0;
    UR_OK(urEnqueueUSMFill(queue, memory, sizeof(value), &value, sizeof(value), 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, &out, memory, sizeof(out), 0, NULL, NULL));
    cr_assert_eq(out, 7);
    ur_free(memory);
    UR_OK(urQueueRelease(queue));
    UR_OK(urUsmP2PDisablePeerAccessExp(first, second));

    // A device reaches its own memory.
    UR_OK(urUsmP2PEnablePeerAccessExp(first, first));
    UR_OK(urUsmP2PPeerAccessGetInfoExp(first, first, UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT,
                                       sizeof(answer), &answer, NULL));
    cr_assert_eq(answer, 1);
    UR_OK(urUsmP2PDisablePeerAccessExp(first, first));

    UR_FAILS(urUsmP2PEnablePeerAccessExp(NULL, second), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urUsmP2PDisablePeerAccessExp(first, NULL), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urUsmP2PPeerAccessGetInfoExp(first, second, (ur_exp_peer_info_t)9, sizeof(answer),
                                          &answer, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urUsmP2PPeerAccessGetInfoExp(first, second, UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT, 1,
                                          &answer, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
}

// Residency takes memory of the host's for each device that has it: the driver makes it where
// commands use the memory.
Test(peer, have_no_memory_made_resident_that_they_do_not_use, .fini = ur_tear_down)
{
    int value = 7;
    ur_set_up_devices(2);
    test_ze_cpu_require();
    ze_cpu.reset_counts();
    UR_OK(urUsmP2PEnablePeerAccessExp(gear.devices[0], gear.devices[1]));
    UR_OK(urUsmP2PEnablePeerAccessExp(gear.devices[1], gear.devices[0]));
    ur_queue_handle_t queue = ur_queue(gear.devices[1], 0);
    int *memory = ur_device_memory(1 << 20);
    int *shared = ur_shared(1 << 20);
    UR_OK(urEnqueueUSMFill(queue, memory, sizeof(value), &value, 1 << 20, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(queue, true, shared, memory, 1 << 20, 0, NULL, NULL));
    cr_assert_eq(shared[1000], 7);
    ur_free(memory);
    ur_free(shared);
    UR_OK(urQueueRelease(queue));
    UR_OK(urUsmP2PDisablePeerAccessExp(gear.devices[1], gear.devices[0]));
    UR_OK(urUsmP2PDisablePeerAccessExp(gear.devices[0], gear.devices[1]));
    cr_assert_eq(ze_cpu.get_count("zeContextMakeMemoryResident"), 0);
    cr_assert_eq(ze_cpu.get_count("zeContextMakeImageResident"), 0);
    // One piece of memory for each that was asked for.
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 1);
    cr_assert_eq(ze_cpu.get_count("zeMemAllocShared"), 1);
    cr_assert_eq(ze_cpu.get_count("zeMemAllocHost"), 0);
}

Test(imported_memory, is_copied_like_any_other, .init = ur_set_up, .fini = ur_tear_down)
{
    static int host[ITEMS];
    int *memory = ur_device_memory(sizeof(host)), out[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        host[i] = i;
    UR_OK(urUSMImportExp(gear.context, host, sizeof(host)));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, host, sizeof(host), 0, NULL, NULL));
    UR_OK(urUSMReleaseExp(gear.context, host));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, out, memory, sizeof(out), 0, NULL, NULL));
    cr_assert_eq(memcmp(host, out, sizeof(out)), 0);
    UR_FAILS(urUSMImportExp(gear.context, NULL, 4), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urUSMImportExp(gear.context, host, 0), UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urUSMImportExp(NULL, host, 4), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urUSMReleaseExp(gear.context, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    ur_free(memory);
}
