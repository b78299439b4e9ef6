// SPDX-License-Identifier: MIT
// Device memory of one process in another one: both are real, and talk through pipes.
#include "ipc_fixture.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static void *get_handle(int32_t *memory, struct message *out_message)
{
    void *handle;
    *out_message = (struct message){0};
    UR_OK(urIPCGetMemHandleExp(gear.context, memory, &handle, &out_message->size));
    cr_assert_leq(out_message->size, HANDLE_BYTES);
    memcpy(out_message->handle, handle, out_message->size);
    return handle;
}

static ur_result_t open_handle(struct message *message, int32_t **out_memory)
{
    return urIPCOpenMemHandleExp(gear.context, gear.device, message->handle, message->size,
                                 (void **)out_memory);
}

// Reads the memory of each handle that it gets, and writes there.
static void read_and_write(void)
{
    struct message message;
    while (ipc_receive(&message)) {
        int32_t *memory;
        const ur_result_t result = open_handle(&message, &memory);
        if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE)
            _exit(IPC_FORBIDDEN);
        UR_OK(result);
        if (!ipc_has_numbers(memory, message.first))
            _exit(1);
        ipc_fill(memory, -message.first);
        UR_OK(urIPCCloseMemHandleExp(gear.context, memory));
        ipc_send(&message);
    }
    ur_tear_down();
}

Test(ipc, memory_of_any_size_is_read_and_written_by_another_process)
{
    // Blocks of one slab, which differ in their offset, and memory of its own.
    static const size_t sizes[] = {sizeof(int32_t[ITEMS]), sizeof(int32_t[ITEMS]), 1 << 20, 5000};
    int32_t *memory[4];
    struct message message;
    ipc_set_up_with(read_and_write);
    for (int i = 0; i < 4; i++) {
        memory[i] = ur_device_memory(sizes[i]);
        ipc_fill(memory[i], 1000 * (i + 1));
    }
    for (int i = 0; i < 4; i++) {
        void *handle = get_handle(memory[i], &message);
        message.first = 1000 * (i + 1);
        ipc_send(&message);
        if (!ipc_receive(&message))
            ipc_join();
        cr_assert(ipc_has_numbers(memory[i], -message.first), "allocation %d", i);
        UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    }
    for (int i = 0; i < 4; i++)
        ur_free(memory[i]);
    ipc_join();
    ur_tear_down();
}

// Each opens it twice, and finds what the one before has written.
Test(ipc, memory_is_shared_by_three_processes)
{
    struct message message;
    ipc_set_up_with_all(read_and_write);
    int32_t *memory = ur_device_memory(5000);
    ipc_fill(memory, 300);
    void *handle = get_handle(memory, &message);
    for (int round = 0; round < 2 * IPC_OTHERS; round++) {
        ipc_choose(round % IPC_OTHERS);
        message.first = round % 2 == 0 ? 300 : -300;
        ipc_send(&message);
        if (!ipc_receive(&message))
            ipc_join();
    }
    cr_assert(ipc_has_numbers(memory, 300));
    UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    ur_free(memory);
    for (int i = 0; i < IPC_OTHERS; i++) {
        ipc_choose(i);
        ipc_join();
    }
    ur_tear_down();
}

// Kernels work on it, and closing waits for them.
Test(ipc, kernels_work_on_memory_of_another_process)
{
    int32_t *memory, *opened;
    struct message message;
    ipc_set_up();
    memory = ur_device_memory(sizeof(int32_t[ITEMS]));
    int32_t *result = ur_shared(sizeof(int32_t[ITEMS]));
    ipc_fill(memory, 5);
    void *handle = get_handle(memory, &message);
    UR_OK(open_handle(&message, &opened));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, false, result, opened, sizeof(int32_t[ITEMS]), 0, NULL,
                             NULL));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(result[0] == 5 && result[ITEMS - 1] == 5 + ITEMS - 1);
    UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    ur_free(memory);
    ur_free(result);
    ur_tear_down();
}

Test(ipc, memory_is_opened_twice_and_closed_twice)
{
    int32_t *opened[2];
    struct message message;
    ipc_set_up();
    int32_t *memory = ur_device_memory(sizeof(int32_t[ITEMS]));
    ipc_fill(memory, 7);
    void *handle = get_handle(memory, &message);
    UR_OK(open_handle(&message, &opened[0]));
    UR_OK(open_handle(&message, &opened[1]));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened[0]));
    cr_assert(ipc_has_numbers(opened[1], 7));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened[1]));
    UR_FAILS(urIPCCloseMemHandleExp(gear.context, opened[1]), UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    UR_FAILS(urIPCPutMemHandleExp(gear.context, handle), UR_RESULT_ERROR_INVALID_VALUE);
    ur_free(memory);
    ur_tear_down();
}

// Memory that the host left open and handles that it did not put back go with its context.
Test(ipc, what_was_forgotten_goes_with_the_context)
{
    int32_t *opened;
    struct message message;
    ipc_set_up();
    int32_t *memory = ur_device_memory(sizeof(int32_t[ITEMS]));
    get_handle(memory, &message);
    UR_OK(open_handle(&message, &opened));
    ur_free(memory);
    ur_tear_down();
}

static void share_and_end(void)
{
    struct message message;
    int32_t *memory = ur_device_memory(1 << 20);
    ipc_fill(memory, 11);
    get_handle(memory, &message);
    ipc_send(&message);
    ipc_receive(&message);
}

Test(ipc, memory_that_is_open_outlives_its_process_and_then_opens_no_more)
{
    int32_t *opened, *again;
    struct message message;
    ipc_set_up_with(share_and_end);
    cr_assert(ipc_receive(&message));
    const ur_result_t result = open_handle(&message, &opened);
    ipc_join();
    if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE)
        cr_skip_test("%s", ur_last_error());
    UR_OK(result);
    cr_assert(ipc_has_numbers(opened, 11));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened));
    UR_FAILS(open_handle(&message, &again), UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_not_null(strstr(ur_last_error(), "gone"));
    ur_tear_down();
}

Test(ipc, handles_of_garbage_and_of_other_lengths_are_refused)
{
    struct message message;
    int32_t *opened = NULL;
    ipc_set_up();
    int32_t *memory = ur_device_memory(64);
    void *handle = get_handle(memory, &message);
    for (size_t i = 0; i < message.size; i++) {
        message.handle[i] ^= 0x10;
        UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
        message.handle[i] ^= 0x10;
    }
    message.size--;
    UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
    message.size += 2;
    UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_null(opened);
    UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    ur_free(memory);
    ur_tear_down();
}

Test(ipc, bad_arguments_get_the_header_s_errors)
{
    struct message message;
    void *handle, *opened;
    size_t size;
    ipc_set_up();
    const ur_context_handle_t context = gear.context;
    const ur_device_handle_t device = gear.device;
    int32_t *memory = ur_device_memory(64);
    void *host = ur_shared(64);
    get_handle(memory, &message);
    UR_FAILS(urIPCGetMemHandleExp(NULL, memory, &handle, &size),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urIPCGetMemHandleExp(context, NULL, &handle, &size),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCGetMemHandleExp(context, memory, NULL, &size),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCGetMemHandleExp(context, memory, &handle, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCGetMemHandleExp(context, host, &handle, &size), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urIPCGetMemHandleExp(context, &size, &handle, &size), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urIPCPutMemHandleExp(NULL, message.handle), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urIPCPutMemHandleExp(context, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCPutMemHandleExp(context, message.handle), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urIPCOpenMemHandleExp(NULL, device, message.handle, message.size, &opened),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urIPCOpenMemHandleExp(context, NULL, message.handle, message.size, &opened),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urIPCOpenMemHandleExp(context, device, NULL, message.size, &opened),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCOpenMemHandleExp(context, device, message.handle, message.size, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCCloseMemHandleExp(NULL, memory), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urIPCCloseMemHandleExp(context, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urIPCCloseMemHandleExp(context, memory), UR_RESULT_ERROR_INVALID_VALUE);
    ur_free(host);
    ur_free(memory);
    ur_tear_down();
}

Test(ipc, is_unsupported_on_a_driver_that_shares_nothing)
{
    ur_bool_t is_supported;
    void *handle;
    size_t size;
    test_ze_cpu_require();
    ur_set_up();
    int32_t *memory = ur_device_memory(64);
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_IPC_MEMORY_SUPPORT_EXP, sizeof(is_supported),
                          &is_supported, NULL));
    cr_assert(!is_supported);
    UR_FAILS(urIPCGetMemHandleExp(gear.context, memory, &handle, &size),
             UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    ur_free(memory);
    ur_tear_down();
}
