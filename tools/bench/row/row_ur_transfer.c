// SPDX-License-Identifier: MIT
#include "row_ur_state.h"

enum memory { DEVICE, HOST };
enum command { COPY, FILL };
enum ending { PLAIN, EVENT, WAIT };

struct transfer {
    enum ur_row_queue queue;
    enum memory memory; // of the destination
    enum command command;
    enum ending ending;
};

static bool run(void *state, unsigned count, const struct transfer *transfer)
{
    static const uint32_t pattern = 0x5a5a5a5a;
    struct ur_row *ur = state;
    const ur_queue_handle_t queue = ur->queues[transfer->queue];
    void *destination = transfer->memory == HOST ? ur->host : ur->memory[BENCH_COPY_TO];
    ur_event_handle_t event = NULL;
    ur_event_handle_t *out_event = transfer->ending == EVENT ? &event : NULL;
    for (unsigned i = 0; i < count; i++) {
        const ur_result_t result =
            transfer->command == FILL
                ? ur->table.Enqueue.pfnUSMFill(queue, destination, sizeof(pattern), &pattern, 64, 0,
                                               NULL, out_event)
                : ur->table.Enqueue.pfnUSMMemcpy(queue, transfer->ending == WAIT, destination,
                                                 ur->memory[BENCH_COPY_FROM], 64, 0, NULL,
                                                 out_event);
        if (result != UR_RESULT_SUCCESS ||
            (event && ur->table.Event.pfnRelease(event) != UR_RESULT_SUCCESS))
            return false;
    }
    return true;
}

#define TRANSFER(constant, name, title, queue, memory, command, ending)                            \
    bool ur_row_transfer_##constant(void *state, unsigned count)                                   \
    {                                                                                              \
        static const struct transfer transfer = {queue, memory, command, ending};                  \
        return run(state, count, &transfer);                                                       \
    }
BENCH_TRANSFERS(TRANSFER)
