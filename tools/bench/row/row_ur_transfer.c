// SPDX-License-Identifier: MIT
#include "row_ur.h"

enum memory { DEVICE, HOST };
enum command { COPY, FILL };
enum ending { PLAIN, EVENT, WAIT };

bool ur_row_transfer(void *state, enum bench_operation operation, unsigned i)
{
    static const struct {
        enum ur_row_queue queue;
        enum memory memory; // of the destination
        enum command command;
        enum ending ending;
    } transfers[] = {
#define TRANSFER(constant, name, title, ...)                                                       \
    [BENCH_##constant - BENCH_FIRST_TRANSFER] = {__VA_ARGS__},
        BENCH_TRANSFERS(TRANSFER)
#undef TRANSFER
    };
    static const uint32_t pattern = 0x5a5a5a5a;
    struct ur_row *ur = state;
    const size_t at = operation - BENCH_FIRST_TRANSFER;
    const ur_queue_handle_t queue = ur->queues[transfers[at].queue];
    const enum ending ending = transfers[at].ending;
    void *destination = transfers[at].memory == HOST ? ur->host : ur->memory[BENCH_COPY_TO];
    ur_event_handle_t event = NULL;
    ur_event_handle_t *out_event = ending == EVENT ? &event : NULL;
    (void)i;
    const ur_result_t result =
        transfers[at].command == FILL
            ? ur->table.Enqueue.pfnUSMFill(queue, destination, sizeof(pattern), &pattern, 64, 0,
                                           NULL, out_event)
            : ur->table.Enqueue.pfnUSMMemcpy(queue, ending == WAIT, destination,
                                             ur->memory[BENCH_COPY_FROM], 64, 0, NULL, out_event);
    return result == UR_RESULT_SUCCESS &&
           (!event || ur->table.Event.pfnRelease(event) == UR_RESULT_SUCCESS);
}
