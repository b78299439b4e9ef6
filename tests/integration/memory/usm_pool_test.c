// SPDX-License-Identifier: MIT
// Pools of USM: small allocations share an allocation of the driver, and queries about them call no
// driver.
#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

static void set_up_off(void)
{
    setenv("ZEPI_USM_POOL", "off", 1);
    gear_set_up();
}

TestSuite(usm_pool, .init = gear_set_up, .fini = gear_tear_down);
TestSuite(usm_pool_off, .init = set_up_off, .fini = gear_tear_down);

static char *allocate(zepi_usm_kind_t kind, size_t size_bytes, size_t alignment_bytes)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind,
                              size_bytes, alignment_bytes, &memory));
    return memory;
}

static void give(void *memory)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
}

static zepi_usm_info_t info_of(const void *address)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.usm_get_info(gear.context, address, &info));
    return info;
}

static uint64_t driver_allocations(void)
{
    return ze_cpu.get_count("zeMemAllocHost") + ze_cpu.get_count("zeMemAllocDevice") +
           ze_cpu.get_count("zeMemAllocShared");
}

static size_t resident_pages(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%*u %zu", &pages), 1);
    fclose(file);
    return pages;
}

Test(usm_pool, a_million_allocations_make_no_call_and_take_no_memory)
{
    static const size_t sizes[] = {1, 300, 4096, 5000, 65536};
    for (int i = 0; i < 5; i++) {
        give(allocate(ZEPI_USM_DEVICE, sizes[i], 0));
        give(allocate(ZEPI_USM_HOST, sizes[i], 0));
    }
    const size_t pages = resident_pages();
    ze_cpu.reset_counts();
    for (int i = 0; i < 1000000; i++)
        give(allocate(i % 2 ? ZEPI_USM_DEVICE : ZEPI_USM_HOST, sizes[i % 5], 0));
    cr_assert_eq(ze_cpu.get_count("*"), 0);
    // A sanitizer's own memory grows.
    cr_assert(is_sanitized || resident_pages() <= pages + 64);
}

Test(usm_pool, questions_about_memory_of_zepis_make_no_call)
{
    for (int kind = ZEPI_USM_HOST; kind <= ZEPI_USM_SHARED; kind++) {
        for (size_t size = 100; size < 10000000; size *= 30) {
            char *memory = allocate((zepi_usm_kind_t)kind, size, 0);
            ze_cpu.reset_counts();
            for (size_t at = 0; at < size; at += size / 7 + 1) {
                const zepi_usm_info_t info = info_of(memory + at);
                cr_assert_eq(info.kind, (zepi_usm_kind_t)kind);
                cr_assert_eq(info.base, memory);
                cr_assert_eq(info.size_bytes, size);
                cr_assert_eq(info.device, kind == ZEPI_USM_HOST ? NULL : gear.device);
            }
            cr_assert_eq(ze_cpu.get_count("*"), 0);
            cr_assert_eq(info_of(memory + size).base == memory, 0);
            give(memory);
            cr_assert_eq(info_of(memory).kind, ZEPI_USM_UNKNOWN);
        }
    }
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

Test(usm_pool, allocations_are_apart_aligned_and_have_ids_of_their_own)
{
    enum { COUNT = 3000 };
    static char *memories[COUNT];
    static uint64_t ids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const size_t size = 1 + (size_t)i * 37 % 3000;
        const size_t alignment = i % 4 ? (size_t)1 << i % 14 : 0;
        memories[i] = allocate(ZEPI_USM_HOST, size, alignment);
        cr_assert_eq((uintptr_t)memories[i] % (alignment ? alignment : 1), 0);
        memset(memories[i], i & 255, size);
        ids[i] = info_of(memories[i]).id;
    }
    for (int i = 0; i < COUNT; i++) {
        const size_t size = 1 + (size_t)i * 37 % 3000;
        for (size_t at = 0; at < size; at++)
            cr_assert_eq((unsigned char)memories[i][at], i & 255);
    }
    qsort(ids, COUNT, sizeof(ids[0]), compare_ids);
    for (int i = 1; i < COUNT; i++)
        cr_assert_neq(ids[i - 1], ids[i]);
    for (int i = 0; i < COUNT; i++)
        give(memories[i]);
    char *again = allocate(ZEPI_USM_HOST, 100, 0);
    for (int i = 0; i < COUNT; i++)
        cr_assert_neq(info_of(again).id, ids[i]);
    give(again);
}

Test(usm_pool, blocks_work_as_memory_of_kernels_and_copies)
{
    int32_t in[50];
    int32_t back[50] = {0};
    void *first = allocate(ZEPI_USM_DEVICE, sizeof(in), 0);
    void *second = allocate(ZEPI_USM_DEVICE, sizeof(in), 0);
    for (int i = 0; i < 50; i++)
        in[i] = i * i;
    TEST_OK(zepi.queue_copy(gear.queue, first, in, sizeof(in), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, second, first, sizeof(in), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, back, second, sizeof(in), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(memcmp(in, back, sizeof(in)), 0);
    give(first);
    give(second);
}

Test(usm_pool, what_is_no_allocation_is_not_freed)
{
    zepi_context_t other;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    static const struct {
        zepi_usm_kind_t kind;
        size_t size_bytes;
    } cases[] = {{ZEPI_USM_HOST, 300},
                 {ZEPI_USM_DEVICE, 4096},
                 {ZEPI_USM_DEVICE, 1 << 20},
                 {ZEPI_USM_SHARED, 64}};
    for (int i = 0; i < 4; i++) {
        char *memory = allocate(cases[i].kind, cases[i].size_bytes, 0);
        char *neighbour = allocate(cases[i].kind, cases[i].size_bytes, 0);
        TEST_FAILS_SAYING(zepi.usm_free(gear.context, memory + 1), ZEPI_ERROR_INVALID_VALUE,
                          "not where an allocation begins");
        TEST_FAILS_SAYING(zepi.usm_free(other, memory), ZEPI_ERROR_INVALID_VALUE,
                          "another context");
        give(memory);
        // Shared memory is the driver's again, which may take a second free of what it keeps for
        // the next allocation (quirk second-free-taken).
        if (cases[i].kind != ZEPI_USM_SHARED || !test_env_is_on_intel_driver())
            TEST_FAILS(zepi.usm_free(gear.context, memory), ZEPI_ERROR_INVALID_VALUE);
        cr_assert_eq(info_of(neighbour).size_bytes, cases[i].size_bytes);
        give(neighbour);
    }
    TEST_OK(zepi.release(other));
}

Test(usm_pool, idle_slabs_go_back_beyond_a_limit)
{
    enum { COUNT = 512 };
    static char *memories[COUNT];
    const uint64_t before = ze_cpu.get_live_objects();
    for (int i = 0; i < COUNT; i++)
        memories[i] = allocate(ZEPI_USM_DEVICE, 65536, 0);
    const uint64_t most = ze_cpu.get_live_objects();
    cr_assert_leq(most - before, COUNT / 8);
    for (int i = 0; i < COUNT; i++)
        give(memories[i]);
    // 32 MiB were in use; some are kept.
    const uint64_t kept = ze_cpu.get_live_objects() - before;
    cr_assert_gt(kept, 0);
    cr_assert_leq(kept, 3);
}

// What one thread keeps without need, of one device: README.md of plugin/memory.
#define KEPT_MOST_BYTES ((uint64_t)20 << 20)

static size_t random_size(unsigned *seed)
{
    const unsigned shift = 8 + (unsigned)rand_r(seed) % 15;
    return ((size_t)1 << shift) - (size_t)rand_r(seed) % ((size_t)1 << (shift - 1));
}

Test(usm_pool, sizes_up_to_4_mib_are_kept_within_a_bound_and_serve_again)
{
    enum { LIVE = 64 };
    static char *memories[LIVE];
    unsigned seed = 30;
    const uint64_t before = ze_cpu.get_live_bytes();
    for (int i = 0; i < 2000; i++) {
        const int at = rand_r(&seed) % LIVE;
        if (memories[at])
            give(memories[at]);
        memories[at] = allocate(ZEPI_USM_DEVICE, random_size(&seed), 0);
    }
    for (int i = 0; i < LIVE; i++) {
        if (memories[i])
            give(memories[i]);
    }
    const uint64_t kept = ze_cpu.get_live_bytes() - before;
    cr_assert_leq(kept, KEPT_MOST_BYTES, "%llu bytes are kept", (unsigned long long)kept);
    // Each size serves again without the driver.
    for (size_t bytes = 1 << 17; bytes <= 1 << 22; bytes *= 2)
        give(allocate(ZEPI_USM_DEVICE, bytes, 0));
    ze_cpu.reset_counts();
    for (int i = 0; i < 1000; i++)
        give(allocate(ZEPI_USM_DEVICE, ((size_t)1 << 20) + (size_t)i * 3000, 0));
    cr_assert_eq(ze_cpu.get_count("*"), 0);
    char *large = allocate(ZEPI_USM_DEVICE, 1 << 20, (size_t)8 << 20);
    cr_assert_eq((uintptr_t)large % ((size_t)8 << 20), 0);
    give(large);
}

// A little more than the second that memory stays unused.
static void wait_and_finish(zepi_queue_t queue)
{
    usleep(1050 * 1000);
    TEST_OK(zepi.queue_finish(queue));
}

Test(usm_pool, memory_that_is_not_used_for_a_second_is_given_back_by_a_wait)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    const uint64_t before = ze_cpu.get_live_bytes();
    for (size_t bytes = 256; bytes <= (size_t)4 << 20; bytes *= 2) {
        give(allocate(ZEPI_USM_DEVICE, bytes, 0));
        give(allocate(ZEPI_USM_HOST, bytes, 0));
    }
    TEST_OK(zepi.queue_finish(queue));
    cr_assert_gt(ze_cpu.get_live_bytes(), before + ((uint64_t)14 << 20));
    wait_and_finish(queue);
    cr_assert_eq(ze_cpu.get_live_bytes(), before);
    // Memory of a thread that allocates stays, and so does memory in use.
    char *used = allocate(ZEPI_USM_HOST, 1000, 0);
    for (int i = 0; i < 2; i++) {
        give(allocate(ZEPI_USM_DEVICE, 1 << 20, 0));
        wait_and_finish(queue);
    }
    cr_assert_gt(ze_cpu.get_live_bytes(), before + (1 << 20));
    ze_cpu.reset_counts();
    give(allocate(ZEPI_USM_DEVICE, 1 << 20, 0));
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 0);
    give(used);
    TEST_OK(zepi.release(queue));
}

Test(usm_pool, idle_slabs_are_given_up_when_the_driver_has_no_memory)
{
    give(allocate(ZEPI_USM_HOST, 1000, 0));
    give(allocate(ZEPI_USM_DEVICE, 1000, 0));
    const uint64_t with_slabs = ze_cpu.get_live_objects();
    ze_cpu.reset_counts();
    ze_cpu.set_fail("zeMemAllocShared:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    char *memory = allocate(ZEPI_USM_SHARED, 1 << 20, 0);
    cr_assert_eq(ze_cpu.get_count("zeMemAllocShared"), 2);
    cr_assert_eq(ze_cpu.get_count("zeMemFree"), 2);
    cr_assert_eq(ze_cpu.get_live_objects(), with_slabs - 1);
    give(memory);
    // The driver is asked once more, then the error comes through.
    ze_cpu.reset_counts();
    ze_cpu.set_fail("zeMemAllocShared:*:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    void *none = &none;
    TEST_FAILS(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, &none),
               ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    cr_assert_eq(none, &none);
    cr_assert_eq(ze_cpu.get_count("zeMemAllocShared"), 2);
    ze_cpu.set_fail("");
}

Test(usm_pool, what_the_host_forgot_goes_with_the_context)
{
    zepi_context_t context;
    void *memory;
    const uint64_t before = ze_cpu.get_live_objects();
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    TEST_OK(zepi.usm_allocate(context, gear.device, ZEPI_USM_DEVICE, 4096, 0, &memory));
    TEST_OK(zepi.usm_allocate(context, gear.device, ZEPI_USM_SHARED, 1 << 20, 0, &memory));
    TEST_OK(zepi.release(context));
    cr_assert_eq(ze_cpu.get_live_objects(), before);
}

Test(usm_pool_off, every_allocation_is_the_drivers)
{
    void *memories[10];
    ze_cpu.reset_counts();
    for (int i = 0; i < 10; i++) {
        memories[i] = allocate(i % 2 ? ZEPI_USM_DEVICE : ZEPI_USM_HOST, 64, 0);
        cr_assert_eq(driver_allocations(), (uint64_t)i + 1);
    }
    ze_cpu.reset_counts();
    cr_assert_eq(info_of(memories[3]).size_bytes, 64);
    cr_assert_eq(ze_cpu.get_count("*"), 0);
    for (int i = 0; i < 10; i++)
        give(memories[i]);
    cr_assert_eq(ze_cpu.get_count("zeMemFree"), 10);
}

Test(usm_pool_off, a_leak_is_seen_in_the_driver)
{
    zepi_context_t context;
    void *memory;
    const uint64_t before = ze_cpu.get_live_objects();
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    TEST_OK(zepi.usm_allocate(context, gear.device, ZEPI_USM_DEVICE, 4096, 0, &memory));
    TEST_OK(zepi.release(context));
    cr_assert_eq(ze_cpu.get_live_objects(), before + 1);
    // Any context of the driver frees it, now that the table does not know it.
    give(memory);
}

// ---- In the order of a queue ----

static zepi_pool_info_t pool_info_of(zepi_pool_t pool)
{
    zepi_pool_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.pool_get_info(pool, &info));
    return info;
}

Test(usm_pool, memory_that_a_queue_freed_serves_its_later_commands)
{
    static const size_t sizes[] = {100, 300000, (size_t)4 << 20};
    const zepi_pool_desc_t desc = {
        .size = sizeof(desc), .maximum_bytes = (size_t)64 << 20, .kept_bytes = 1000};
    zepi_pool_t pool;
    zepi_event_t event;
    TEST_OK(zepi.pool_create(gear.context, &desc, &pool));
    cr_assert_eq(pool_info_of(pool).context, gear.context);
    cr_assert_eq(pool_info_of(pool).maximum_bytes, (size_t)64 << 20);
    cr_assert_eq(pool_info_of(pool).kept_bytes, 1000);
    TEST_OK(zepi.event_create(gear.context, &event));
    TEST_OK(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){&event, 1}, NULL));
    // Intel's driver waits for the commands before a copy to memory that is no USM.
    int32_t *read;
    TEST_OK(
        zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, 6 * sizeof(*read), 0, (void **)&read));
    size_t used = 0;
    for (int32_t i = 0; i < 6; i++) {
        const size_t size_bytes = sizes[i / 2];
        static void *before;
        void *memory;
        TEST_OK(zepi.queue_allocate(gear.queue, pool, ZEPI_USM_DEVICE, size_bytes, 64, TEST_NO_WAIT,
                                    &memory, NULL));
        cr_assert_eq(pool_info_of(pool).used_bytes, size_bytes);
        used = size_bytes > used ? size_bytes : used;
        if (i % 2)
            cr_assert_eq(memory, before);
        before = memory;
        TEST_OK(zepi.queue_fill(gear.queue, memory, &i, sizeof(i), sizeof(i), TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_copy(gear.queue, &read[i], memory, sizeof(i), TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_free(gear.queue, memory, TEST_NO_WAIT, NULL));
        TEST_FAILS(zepi.queue_free(gear.queue, memory, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
    }
    TEST_OK(zepi.event_signal(event));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int32_t i = 0; i < 6; i++)
        cr_assert_eq(read[i], i);
    cr_assert_eq(pool_info_of(pool).used_bytes, 0);
    cr_assert_eq(pool_info_of(pool).used_high_bytes, used);
    TEST_OK(zepi.pool_trim(pool, 0));
    cr_assert_eq(pool_info_of(pool).reserved_bytes, 0);
    cr_assert_geq(pool_info_of(pool).reserved_high_bytes, used);
    TEST_OK(zepi.usm_free(gear.context, read));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(pool));
}

Test(usm_pool, bad_pools_sizes_and_kinds_are_refused)
{
    const zepi_pool_desc_t small = {.size = 2};
    zepi_pool_info_t info = {.size = sizeof(info)};
    zepi_context_t context;
    zepi_queue_t queue;
    zepi_pool_t pool, none;
    void *memory = NULL;
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    TEST_OK(zepi.queue_create(context, gear.device, 0, &queue));
    TEST_OK(zepi.pool_create(gear.context, NULL, &pool));
    TEST_FAILS(zepi.pool_create(NULL, NULL, &none), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.pool_create(gear.context, NULL, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.pool_create(gear.context, &small, &none), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.pool_get_info((zepi_pool_t)gear.context, &info), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.pool_get_info(pool, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.pool_set_limits(NULL, 0, 0), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.pool_trim(NULL, 0), ZEPI_ERROR_INVALID_OBJECT);
#define ALLOCATE(queue, pool, kind, size, alignment, out)                                          \
    zepi.queue_allocate((queue), (pool), (kind), (size), (alignment), TEST_NO_WAIT, (out), NULL)
    TEST_FAILS(ALLOCATE(NULL, pool, ZEPI_USM_DEVICE, 8, 0, &memory), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(ALLOCATE(queue, pool, ZEPI_USM_DEVICE, 8, 0, &memory), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(ALLOCATE(gear.queue, (zepi_pool_t)queue, ZEPI_USM_DEVICE, 8, 0, &memory),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(ALLOCATE(gear.queue, pool, ZEPI_USM_UNKNOWN, 8, 0, &memory),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(ALLOCATE(gear.queue, pool, ZEPI_USM_DEVICE, 0, 0, &memory), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(ALLOCATE(gear.queue, pool, ZEPI_USM_DEVICE, 8, 24, &memory),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(ALLOCATE(gear.queue, pool, ZEPI_USM_DEVICE, 8, 0, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.pool_set_limits(pool, 1 << 20, 0));
    TEST_FAILS(ALLOCATE(gear.queue, pool, ZEPI_USM_DEVICE, 4 << 20, 0, &memory),
               ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    cr_assert_null(memory);
    TEST_FAILS(zepi.queue_free(gear.queue, NULL, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(
        zepi.queue_free(gear.queue, (zepi_queue_t)gear.queue, (zepi_wait_list_t){NULL, 1}, NULL),
        ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(ALLOCATE(gear.queue, NULL, ZEPI_USM_HOST, 8, 0, &memory));
    TEST_FAILS(zepi.queue_free(queue, memory, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.queue_free(gear.queue, memory, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.release(context));
    TEST_OK(zepi.release(pool));
}
