// SPDX-License-Identifier: MIT
// Refusals of commands with USM and with a program's variables.
#include "checks.h"

#include <criterion/criterion.h>

TestSuite(checks_usm, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG_QUEUE UR_RESULT_ERROR_INVALID_QUEUE
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER
#define SIZE UR_RESULT_ERROR_INVALID_SIZE
#define EVENT_OUT OUT(ur_event_handle_t)

static char host[2 * CHECKS_BYTES];

Test(checks_usm, copied)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueUSMMemcpy(handle, true, own.usm, host, 8, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueUSMMemcpy(own.queue, true, NULL, host, 8, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueUSMMemcpy(own.queue, true, own.usm, NULL, 8, 0, NULL, EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMMemcpy(own.queue, true, own.usm, host, 0, 0, NULL, EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMMemcpy(own.queue, true, own.usm, host, CHECKS_BYTES + 1, 0, NULL,
                                     EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMMemcpy(own.queue, true, host, own.usm, CHECKS_BYTES + 1, 0, NULL,
                                     EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMMemcpy(own.queue, true, host, (char *)own.usm + 8, CHECKS_BYTES, 0,
                                     NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(
        urEnqueueUSMMemcpy(own.queue, true, own.usm, host, 8, wait_count, wait_list, EVENT_OUT));
}

Test(checks_usm, filled)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueUSMFill(handle, own.usm, 4, host, 8, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueUSMFill(own.queue, NULL, 4, host, 8, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueUSMFill(own.queue, own.usm, 4, NULL, 8, 0, NULL, EVENT_OUT));
    static const size_t bad[][2] = {{0, 8}, {4, 0}, {16, 8}, {3, 8}, {4, CHECKS_BYTES + 4}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        REFUSES(SIZE, urEnqueueUSMFill(own.queue, own.usm, bad[i][0], host, bad[i][1], 0, NULL,
                                       EVENT_OUT));
    REFUSES_WAIT_LISTS(
        urEnqueueUSMFill(own.queue, own.usm, 4, host, 8, wait_count, wait_list, EVENT_OUT));
}

Test(checks_usm, prefetched_and_advised_about)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueUSMPrefetch(handle, own.usm, 8, 0, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueUSMPrefetch(own.queue, NULL, 8, 0, 0, NULL, EVENT_OUT));
    REFUSES_FLAGS(UR_USM_MIGRATION_FLAGS_MASK,
                  urEnqueueUSMPrefetch(own.queue, own.usm, 8, flags, 0, NULL, EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMPrefetch(own.queue, own.usm, 0, 0, 0, NULL, EVENT_OUT));
    REFUSES(SIZE,
            urEnqueueUSMPrefetch(own.queue, own.usm, CHECKS_BYTES + 1, 0, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(
        urEnqueueUSMPrefetch(own.queue, own.usm, 8, 0, wait_count, wait_list, EVENT_OUT));
    const ur_usm_advice_flags_t advice = UR_USM_ADVICE_FLAG_DEFAULT;
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueUSMAdvise(handle, own.usm, 8, advice, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueUSMAdvise(own.queue, NULL, 8, advice, EVENT_OUT));
    REFUSES_FLAGS(UR_USM_ADVICE_FLAGS_MASK,
                  urEnqueueUSMAdvise(own.queue, own.usm, 8, flags, EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMAdvise(own.queue, own.usm, 0, advice, EVENT_OUT));
    REFUSES(SIZE, urEnqueueUSMAdvise(own.queue, own.usm, CHECKS_BYTES + 1, advice, EVENT_OUT));
}

Test(checks_usm, filled_in_rows)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueUSMFill2D(handle, own.usm, 16, 4, host, 8, 4, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueUSMFill2D(own.queue, NULL, 16, 4, host, 8, 4, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueUSMFill2D(own.queue, own.usm, 16, 4, NULL, 8, 4, 0, NULL, EVENT_OUT));
    // Pitch, pattern, width, height.
    static const size_t bad[][4] = {
        {0, 4, 8, 4},  {7, 4, 8, 4},  {16, 0, 8, 4},  {16, 64, 8, 4}, {16, 3, 12, 4},
        {16, 4, 0, 4}, {16, 4, 8, 0}, {16, 16, 8, 3}, {16, 4, 8, 17}, {SIZE_MAX, 4, 8, 4}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        REFUSES(SIZE, urEnqueueUSMFill2D(own.queue, own.usm, bad[i][0], bad[i][1], host, bad[i][2],
                                         bad[i][3], 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueUSMFill2D(own.queue, own.usm, 16, 4, host, 8, 4, wait_count,
                                          wait_list, EVENT_OUT));
}

Test(checks_usm, copied_in_rows)
{
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, WRONG_QUEUE,
        urEnqueueUSMMemcpy2D(handle, true, own.usm, 16, host, 16, 8, 4, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueUSMMemcpy2D(own.queue, true, NULL, 16, host, 16, 8, 4, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueUSMMemcpy2D(own.queue, true, own.usm, 16, NULL, 16, 8, 4, 0, NULL, EVENT_OUT));
    // Pitches, width, height.
    static const size_t bad[][4] = {{0, 16, 8, 4},  {16, 0, 8, 4},  {7, 16, 8, 4}, {16, 7, 8, 4},
                                    {16, 16, 0, 4}, {16, 16, 8, 0}, {16, 8, 8, 17}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        REFUSES(SIZE, urEnqueueUSMMemcpy2D(own.queue, true, own.usm, bad[i][0], host, bad[i][1],
                                           bad[i][2], bad[i][3], 0, NULL, EVENT_OUT));
    REFUSES(SIZE,
            urEnqueueUSMMemcpy2D(own.queue, true, host, 8, own.usm, 16, 8, 17, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueUSMMemcpy2D(own.queue, true, own.usm, 16, host, 16, 8, 4,
                                            wait_count, wait_list, EVENT_OUT));
}

static ur_result_t variable(bool is_write, ur_queue_handle_t queue, ur_program_handle_t program,
                            const char *name, size_t count, size_t offset, void *memory,
                            uint32_t wait_count, const ur_event_handle_t *wait_list)
{
    return is_write ? urEnqueueDeviceGlobalVariableWrite(queue, program, name, true, count, offset,
                                                         memory, wait_count, wait_list, EVENT_OUT)
                    : urEnqueueDeviceGlobalVariableRead(queue, program, name, true, count, offset,
                                                        memory, wait_count, wait_list, EVENT_OUT);
}

Test(checks_usm, of_variables)
{
    ur_program_handle_t program = ur_executable("exporter");
    for (int is_write = 0; is_write < 2; is_write++) {
        REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                       variable(is_write, handle, program, "offset", 4, 0, host, 0, NULL));
        REFUSES_HANDLE(PROGRAM, ur_program_handle_t, UR_RESULT_ERROR_INVALID_PROGRAM,
                       variable(is_write, own.queue, handle, "offset", 4, 0, host, 0, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM,
                variable(is_write, own.queue, other.program, "offset", 4, 0, host, 0, NULL));
        REFUSES(NULL_POINTER, variable(is_write, own.queue, program, NULL, 4, 0, host, 0, NULL));
        REFUSES(NULL_POINTER,
                variable(is_write, own.queue, program, "offset", 4, 0, NULL, 0, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
                variable(is_write, own.queue, program, "nothing", 4, 0, host, 0, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
                variable(is_write, own.queue, program, "offset", 5, 0, host, 0, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
                variable(is_write, own.queue, program, "offset", 4, 1, host, 0, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
                variable(is_write, own.queue, own.input, "offset", 4, 0, host, 0, NULL));
        REFUSES_WAIT_LISTS(
            variable(is_write, own.queue, program, "offset", 4, 0, host, wait_count, wait_list));
    }
    UR_OK(urProgramRelease(program));
}
