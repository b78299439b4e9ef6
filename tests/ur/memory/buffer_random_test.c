// SPDX-License-Identifier: MIT
// Random commands on the parts of a buffer, on three devices between which it moves. A writer waits
// for the commands on its part before it, a reader for the last writer alone: readers on several
// devices, in queues of any order, bring the same bytes at the same time or after a pause. Each
// reader finds the bytes of a model that takes one command after the other.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEVICES = 3,
    QUEUES = 6, // two of each device, the second one of any order
    PARTS = 3,
    COUNT = 1024, // numbers of a part
    STEPS = 24,
    ROUNDS = 12,
    BYTES = COUNT * sizeof(int),
};

// A part of the buffer, and what it holds.
struct part {
    ur_mem_handle_t mem;
    int model[COUNT];
    ur_event_handle_t writer; // NULL: none yet
    ur_event_handle_t readers[STEPS];
    uint32_t reader_count;
};

struct reader {
    int expected[COUNT];
    int *found; // USM: a copy to other memory may wait in its call
    uint32_t part, queue;
};

static uint32_t state;
static ur_queue_handle_t queues[QUEUES];
static ur_kernel_handle_t negate;
static ur_mem_handle_t buffer;
static struct part parts[PARTS];
static struct reader readers[STEPS];

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static void set_up(const char *integrated, const char *peers)
{
    setenv("ZE_CPU_INTEGRATED", integrated, 1);
    setenv("ZE_CPU_PEERS", peers, 1);
    ur_set_up_devices(DEVICES);
}

static void set_up_discrete(void)
{
    set_up("0", "1");
}

static void set_up_strangers(void)
{
    set_up("0", "0");
}

TestSuite(discrete, .init = set_up_discrete, .fini = ur_tear_down);
TestSuite(strangers, .init = set_up_strangers, .fini = ur_tear_down);

static void *host_memory(size_t size_bytes)
{
    void *memory;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, size_bytes, &memory));
    return memory;
}

// `around`: the buffer's storage, or NULL.
static void begin(int *around)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = around};
    UR_OK(urMemBufferCreate(gear.context,
                            UR_MEM_FLAG_READ_WRITE | (around ? UR_MEM_FLAG_USE_HOST_POINTER : 0),
                            PARTS * BYTES, around ? &properties : NULL, &buffer));
    negate = ur_kernel("negate", "negate");
    for (int i = 0; i < QUEUES; i++)
        queues[i] = ur_queue(gear.devices[i % DEVICES],
                             i < DEVICES ? 0 : UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (int i = 0; i < PARTS; i++) {
        const ur_buffer_region_t region = {
            .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = (size_t)i * BYTES, .size = BYTES};
        parts[i] = (struct part){0};
        UR_OK(urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                                   &region, &parts[i].mem));
        for (int at = 0; at < COUNT; at++)
            parts[i].model[at] = (int)draw(1000) + 1;
        UR_OK(urEnqueueMemBufferWrite(queues[i], parts[i].mem, true, 0, BYTES, parts[i].model, 0,
                                      NULL, NULL));
    }
}

static void end(void)
{
    for (int i = 0; i < PARTS; i++)
        UR_OK(urMemRelease(parts[i].mem));
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urQueueRelease(queues[i]));
    UR_OK(urMemRelease(buffer));
    UR_OK(urKernelRelease(negate));
}

static void forget_commands(struct part *part)
{
    for (uint32_t i = 0; i < part->reader_count; i++)
        UR_OK(urEventRelease(part->readers[i]));
    if (part->writer)
        UR_OK(urEventRelease(part->writer));
    part->reader_count = 0;
    part->writer = NULL;
}

// The part's numbers change their signs after all commands before, and after `gate`.
static void write_part(struct part *part, ur_queue_handle_t queue, ur_event_handle_t gate)
{
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, part->mem);
    ur_event_handle_t waits[STEPS + 2], event;
    uint32_t count = 0;
    if (gate)
        waits[count++] = gate;
    if (part->writer)
        waits[count++] = part->writer;
    for (uint32_t i = 0; i < part->reader_count; i++)
        waits[count++] = part->readers[i];
    UR_OK(ur_launch(queue, negate, COUNT, 1, &argument, count, count > 0 ? waits : NULL, &event));
    forget_commands(part);
    part->writer = event;
    for (int i = 0; i < COUNT; i++)
        part->model[i] = -part->model[i];
}

static void read_part(struct part *part, uint32_t queue, struct reader *reader)
{
    reader->part = (uint32_t)(part - parts);
    reader->queue = queue;
    memcpy(reader->expected, part->model, BYTES);
    UR_OK(urEnqueueMemBufferRead(queues[queue], part->mem, false, 0, BYTES, reader->found,
                                 part->writer ? 1 : 0, part->writer ? &part->writer : NULL,
                                 &part->readers[part->reader_count++]));
}

static void pause_for(const struct part *part)
{
    const struct timespec a_while = {.tv_nsec = 200000};
    if (part->reader_count > 0 && draw(2))
        UR_OK(urEventWait(1, &part->readers[draw(part->reader_count)]));
    else
        nanosleep(&a_while, NULL);
}

static void check_readers(uint32_t seed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct reader *reader = &readers[i];
        for (int at = 0; at < COUNT; at++)
            cr_assert_eq(reader->found[at], reader->expected[at],
                         "seed %u: reader %u, of part %u in queue %u, finds %d for number %d, "
                         "expected %d",
                         seed, i, reader->part, reader->queue, reader->found[at], at,
                         reader->expected[at]);
    }
}

// Commands are held up by an event of the host's, unless their calls may wait for it.
static void run_round(uint32_t seed, bool is_gated)
{
    const struct host_event gate = host_event_make();
    uint32_t reader_count = 0;
    for (int i = 0; is_gated && i < PARTS; i++)
        write_part(&parts[i], queues[draw(QUEUES)], draw(2) ? gate.event : NULL);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t queue = draw(QUEUES);
        struct part *part = &parts[draw(PARTS)];
        if (draw(3) == 0)
            write_part(part, queues[queue], NULL);
        else
            read_part(part, queue, &readers[reader_count++]);
        if (!is_gated && draw(4) == 0)
            pause_for(part);
    }
    host_event_signal(&gate);
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urQueueFinish(queues[i]));
    check_readers(seed, reader_count);
    for (int i = 0; i < PARTS; i++)
        forget_commands(&parts[i]);
    host_event_release(&gate);
}

static void run(bool may_be_gated)
{
    int *around = host_memory(PARTS * BYTES);
    for (int i = 0; i < STEPS; i++)
        readers[i].found = host_memory(BYTES);
    for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
        state = seed * 2654435761u;
        begin(seed % 3 == 0 ? around : NULL);
        for (int round = 0; round < 3; round++)
            run_round(seed, may_be_gated && draw(2));
        end();
    }
    for (int i = 0; i < STEPS; i++)
        ur_free(readers[i].found);
    ur_free(around);
}

Test(discrete, readers_on_three_devices_find_what_was_written)
{
    run(true);
}

Test(strangers, readers_on_three_devices_find_what_was_written)
{
    run(false);
}
