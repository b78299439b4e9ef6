// SPDX-License-Identifier: MIT
//
// Memory in the order of a queue, while each Level Zero call and each allocation fails in turn.
#include "walk.h"

static struct test_gear gear;
static zepi_queue_t queue;

// A block of a slab, and an allocation alone.
static const size_t sizes[] = {sizeof(int32_t), (size_t)3 << 20};

static zepi_result_t allocate_and_free(zepi_pool_t pool)
{
    zepi_event_t events[4] = {NULL};
    int32_t read[2] = {0, 0};
    void *memory = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t number = i + 5;
        STEP(zepi.queue_allocate(queue, pool, ZEPI_USM_DEVICE, sizes[i], 0, TEST_NO_WAIT, &memory,
                                 &events[0]));
        STEP(zepi.queue_fill(queue, memory, &number, sizeof(number), sizeof(number),
                             (zepi_wait_list_t){&events[0], 1}, &events[1]));
        STEP(zepi.queue_copy(queue, &read[i], memory, sizeof(number),
                             (zepi_wait_list_t){&events[1], 1}, &events[2]));
        STEP(zepi.queue_free(queue, memory, (zepi_wait_list_t){&events[2], 1}, &events[3]));
        memory = NULL;
        // The same memory, in order.
        STEP(zepi.queue_allocate(queue, pool, ZEPI_USM_DEVICE, sizes[i], 0,
                                 (zepi_wait_list_t){&events[3], 1}, &memory, NULL));
        STEP(zepi.queue_free(queue, memory, TEST_NO_WAIT, NULL));
        memory = NULL;
        for (int k = 0; k < 4; k++) {
            walk_release(events[k]);
            events[k] = NULL;
        }
    }
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(read[0] == 5 && read[1] == 6);
out:
    walk_settle(queue);
    if (memory)
        zepi.usm_free(gear.context, memory);
    for (int k = 0; k < 4; k++)
        walk_release(events[k]);
    return result;
}

static zepi_result_t use_own_pool(void)
{
    const zepi_pool_desc_t desc = {
        .size = sizeof(desc), .kept_bytes = (size_t)1 << 20, .is_zeroed = true};
    zepi_pool_t pool = NULL;
    zepi_result_t result;
    STEP(zepi.pool_create(gear.context, &desc, &pool));
    result = allocate_and_free(pool);
out:
    walk_release(pool);
    return result;
}

// In a context of its own, whose default pool is made.
static zepi_result_t use_default_pool(void)
{
    const struct test_gear before = gear;
    const zepi_queue_t queue_before = queue;
    zepi_context_t context = NULL;
    zepi_queue_t own = NULL;
    zepi_result_t result;
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &own));
    gear.context = context;
    queue = own;
    result = allocate_and_free(NULL);
out:
    gear = before;
    queue = queue_before;
    walk_release(own);
    walk_release(context);
    return result;
}

// No memory of the host is needed: regions and pools are used again.
static void walk_queue(const char *name)
{
    walk_rehearse(true);
    walk_calls(name, use_own_pool, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearse(false);
    walk_calls(name, use_own_pool, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    queue = gear.queue;
    walk_queue("memory in order");
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    walk_queue("memory out of order");
    TEST_OK(zepi.release(queue));
    walk_calls("memory of the default pool", use_default_pool,
               "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("memory of the default pool", use_default_pool);
    test_gear_destroy(&gear);
    return 0;
}
