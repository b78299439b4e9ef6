// SPDX-License-Identifier: MIT
// Buffers that the host sees.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIZE 1024

TestSuite(map, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(map_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

static ur_mem_handle_t create(void *host)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    const ur_mem_flags_t flags = UR_MEM_FLAG_READ_WRITE | (host ? UR_MEM_FLAG_USE_HOST_POINTER : 0);
    const unsigned char five = 5;
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context, flags, SIZE, host ? &properties : NULL, &buffer));
    UR_OK(urEnqueueMemBufferFill(gear.queue, buffer, &five, 1, 0, SIZE, 0, NULL, NULL));
    return buffer;
}

static unsigned char *map(ur_mem_handle_t buffer, ur_map_flags_t flags, size_t offset, size_t size)
{
    void *address;
    UR_OK(urEnqueueMemBufferMap(gear.queue, buffer, true, flags, offset, size, 0, NULL, NULL,
                                &address));
    return address;
}

static void unmap(ur_mem_handle_t buffer, void *address)
{
    UR_OK(urEnqueueMemUnmap(gear.queue, buffer, address, 0, NULL, NULL));
}

static void expect(ur_mem_handle_t buffer, size_t from, size_t to, unsigned char inside)
{
    unsigned char back[SIZE];
    UR_OK(urEnqueueMemBufferRead(gear.queue, buffer, true, 0, SIZE, back, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(back[i], i >= from && i < to ? inside : 5, "byte %zu is %d", i, back[i]);
}

static void check_maps(void *host)
{
    ur_mem_handle_t buffer = create(host);
    unsigned char *seen = map(buffer, UR_MAP_FLAG_READ, 100, 200);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(seen[i], 5);
    unmap(buffer, seen);
    seen = map(buffer, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 100, 200);
    cr_assert_eq(seen[0], 5);
    memset(seen, 6, 200);
    unmap(buffer, seen);
    expect(buffer, 100, 300, 6);
    memset(map(buffer, UR_MAP_FLAG_WRITE_INVALIDATE_REGION, 300, 100), 6, 100);
    // A map is known by its address.
    if (host)
        cr_assert_eq(map(buffer, UR_MAP_FLAG_READ, 0, 1), host);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urMemRelease(buffer)); // with maps that were not ended
}

Test(map, shows_and_takes_what_the_host_writes)
{
    check_maps(NULL);
}

Test(map, of_a_host_pointer_is_there)
{
    static unsigned char host[SIZE];
    check_maps(host);
}

Test(map_of_two, shows_and_takes_what_the_host_writes)
{
    check_maps(NULL);
}

Test(map_of_two, of_a_host_pointer_is_there)
{
    static unsigned char host[SIZE];
    check_maps(host);
}

Test(map, of_a_part_is_a_part_of_the_host_pointer)
{
    static unsigned char host[SIZE];
    const ur_buffer_region_t region = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 256, .size = 128};
    ur_mem_handle_t buffer = create(host);
    ur_mem_handle_t part;
    UR_OK(urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                               &region, &part));
    unsigned char *seen = map(part, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 8, 16);
    cr_assert_eq(seen, host + 264);
    memset(seen, 9, 16);
    unmap(part, seen);
    expect(buffer, 264, 280, 9);
    UR_OK(urMemRelease(part));
    UR_OK(urMemRelease(buffer));
}

// Several parts at once, ended in another order.
Test(map, is_one_of_many)
{
    enum { MAPS = 8, EACH = SIZE / MAPS };
    ur_mem_handle_t buffer = create(NULL);
    unsigned char *seen[MAPS];
    for (size_t i = 0; i < MAPS; i++)
        seen[i] = map(buffer, UR_MAP_FLAG_WRITE, i * EACH, EACH);
    for (size_t i = 0; i < MAPS; i++)
        memset(seen[(i * 5) % MAPS], (int)((i * 5) % MAPS), EACH);
    for (size_t i = 0; i < MAPS; i++)
        unmap(buffer, seen[(i * 3) % MAPS]);
    unsigned char back[SIZE];
    UR_OK(urEnqueueMemBufferRead(gear.queue, buffer, true, 0, SIZE, back, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(back[i], i / EACH);
    UR_OK(urMemRelease(buffer));
}

Test(map, that_does_not_block_is_there_when_its_event_is_complete)
{
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    ur_mem_handle_t buffer = create(NULL);
    const uint32_t rounds = 3000000;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_MEM(1, buffer)};
    ur_event_handle_t events[3];
    void *address;
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(ur_launch(queue, spin, 16, 2, arguments, 0, NULL, &events[0]));
    UR_OK(urEnqueueMemBufferMap(queue, buffer, false, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0, 64,
                                1, &events[0], &events[1], &address));
    UR_OK(urEventWait(1, &events[1]));
    uint32_t *numbers = address;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t expected = i + 1;
        for (uint32_t k = 0; k < rounds; k++)
            expected = expected * 1664525u + 1013904223u;
        cr_assert_eq(numbers[i], expected);
        numbers[i] = i;
    }
    UR_OK(urEnqueueMemUnmap(queue, buffer, address, 0, NULL, &events[2]));
    uint32_t back[16];
    UR_OK(urEnqueueMemBufferRead(queue, buffer, true, 0, sizeof(back), back, 1, &events[2], NULL));
    for (uint32_t i = 0; i < 16; i++)
        cr_assert_eq(back[i], i);
    static const ur_command_t types[] = {UR_COMMAND_KERNEL_LAUNCH, UR_COMMAND_MEM_BUFFER_MAP,
                                         UR_COMMAND_MEM_UNMAP};
    for (int i = 0; i < 3; i++) {
        ur_command_t type;
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        cr_assert_eq(type, types[i]);
        UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urMemRelease(buffer));
    UR_OK(urKernelRelease(spin));
    UR_OK(urQueueRelease(queue));
}
