// SPDX-License-Identifier: MIT
// Device memory of one process in another one: both are real, and talk through pipes.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITEMS 64
#define HANDLE_BYTES 256
#define FORBIDDEN 9 // exit status: the system lets no process take descriptors of another

struct message {
    size_t size;
    uint8_t handle[HANDLE_BYTES];
    int32_t first; // of the numbers in the memory
};

static struct {
    pid_t process;
    int in, out;
} other;

static void send_message(const struct message *message)
{
    if (write(other.out, message, sizeof(*message)) != sizeof(*message))
        exit(1);
}

// False: the other process sends no more.
static bool receive_message(struct message *out_message)
{
    return read(other.in, out_message, sizeof(*out_message)) == sizeof(*out_message);
}

static void set_up(void)
{
    // Where Yama lets only some processes look at others.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    setenv("ZE_CPU_IPC", "1", 1);
    ur_set_up();
}

// Begins a second process, which has its own driver, and sets up this one.
static void set_up_with(void (*role)(void))
{
    int there[2], back[2];
    cr_assert(pipe(there) == 0 && pipe(back) == 0);
    fflush(NULL);
    other.process = fork();
    cr_assert(other.process >= 0);
    const bool is_other = other.process == 0;
    other.in = is_other ? there[0] : back[0];
    other.out = is_other ? back[1] : there[1];
    close(is_other ? there[1] : there[0]);
    close(is_other ? back[0] : back[1]);
    if (is_other) {
        set_up();
        role();
        fflush(NULL);
        _exit(0);
    }
    set_up();
}

// The other process comes to its end.
static void join(void)
{
    int status;
    close(other.out);
    cr_assert_eq(waitpid(other.process, &status, 0), other.process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FORBIDDEN)
        cr_skip_test("the system lets no process take file descriptors of another one");
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process fails");
}

static void fill(int32_t *memory, int32_t first)
{
    int32_t numbers[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        numbers[i] = first + i;
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, numbers, sizeof(numbers), 0, NULL, NULL));
}

static bool has_numbers(const int32_t *memory, int32_t first)
{
    int32_t numbers[ITEMS] = {0};
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, numbers, memory, sizeof(numbers), 0, NULL, NULL));
    for (int i = 0; i < ITEMS; i++) {
        if (numbers[i] != first + i)
            return false;
    }
    return true;
}

static void *get_handle(int32_t *memory, struct message *out_message)
{
    void *handle;
    *out_message = (struct message){0};
    UR_OK(urIPCGetMemHandleExp(gear.context, memory, &handle, &out_message->size));
    if (out_message->size > HANDLE_BYTES)
        exit(1);
    memcpy(out_message->handle, handle, out_message->size);
    return handle;
}

static ur_result_t open_handle(struct message *message, int32_t **out_memory)
{
    return urIPCOpenMemHandleExp(gear.context, gear.device, message->handle, message->size,
                                 (void **)out_memory);
}

// Reads what each handle that it gets leads to, and writes there.
static void read_and_write(void)
{
    struct message message;
    while (receive_message(&message)) {
        int32_t *memory;
        const ur_result_t result = open_handle(&message, &memory);
        if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE)
            _exit(FORBIDDEN);
        UR_OK(result);
        if (!has_numbers(memory, message.first))
            _exit(1);
        fill(memory, -message.first);
        UR_OK(urIPCCloseMemHandleExp(gear.context, memory));
        send_message(&message);
    }
    ur_tear_down();
}

Test(ipc, memory_of_any_size_is_read_and_written_by_another_process)
{
    // Blocks of one slab, which differ in their offset, and memory of its own.
    static const size_t sizes[] = {sizeof(int32_t[ITEMS]), sizeof(int32_t[ITEMS]), 1 << 20, 5000};
    int32_t *memory[4];
    struct message message;
    set_up_with(read_and_write);
    for (int i = 0; i < 4; i++) {
        memory[i] = ur_device_memory(sizes[i]);
        fill(memory[i], 1000 * (i + 1));
    }
    for (int i = 0; i < 4; i++) {
        void *handle = get_handle(memory[i], &message);
        message.first = 1000 * (i + 1);
        send_message(&message);
        if (!receive_message(&message))
            join();
        cr_assert(has_numbers(memory[i], -message.first), "allocation %d", i);
        UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    }
    for (int i = 0; i < 4; i++)
        ur_free(memory[i]);
    join();
    ur_tear_down();
}

// Kernels work on it, and closing waits for them.
Test(ipc, kernels_work_on_memory_of_another_process)
{
    int32_t *memory, *opened;
    struct message message;
    set_up();
    memory = ur_device_memory(sizeof(int32_t[ITEMS]));
    int32_t *result = ur_shared(sizeof(int32_t[ITEMS]));
    fill(memory, 5);
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
    set_up();
    int32_t *memory = ur_device_memory(sizeof(int32_t[ITEMS]));
    fill(memory, 7);
    void *handle = get_handle(memory, &message);
    UR_OK(open_handle(&message, &opened[0]));
    UR_OK(open_handle(&message, &opened[1]));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened[0]));
    cr_assert(has_numbers(opened[1], 7));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened[1]));
    UR_FAILS(urIPCCloseMemHandleExp(gear.context, opened[1]), UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urIPCPutMemHandleExp(gear.context, handle));
    UR_FAILS(urIPCPutMemHandleExp(gear.context, handle), UR_RESULT_ERROR_INVALID_VALUE);
    ur_free(memory);
    ur_tear_down();
}

// What the host left open and did not put back goes with its context.
Test(ipc, what_was_forgotten_goes_with_the_context)
{
    int32_t *opened;
    struct message message;
    set_up();
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
    fill(memory, 11);
    get_handle(memory, &message);
    send_message(&message);
    receive_message(&message);
}

Test(ipc, memory_that_is_open_outlives_its_process_and_then_opens_no_more)
{
    int32_t *opened, *again;
    struct message message;
    set_up_with(share_and_end);
    cr_assert(receive_message(&message));
    const ur_result_t result = open_handle(&message, &opened);
    join();
    if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE)
        cr_skip_test("%s", ur_last_error());
    UR_OK(result);
    cr_assert(has_numbers(opened, 11));
    UR_OK(urIPCCloseMemHandleExp(gear.context, opened));
    UR_FAILS(open_handle(&message, &again), UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_not_null(strstr(ur_last_error(), "gone"));
    ur_tear_down();
}

Test(ipc, handles_of_garbage_and_of_other_lengths_are_refused)
{
    struct message message;
    int32_t *opened = NULL;
    set_up();
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
    set_up();
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
