// SPDX-License-Identifier: MIT
// USM: allocated, asked about, copied, filled, used by kernels, counted in pools.
#include "test_threads.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A device that addresses 64 MiB of an allocation, unless it is asked for more.
static void set_up_limited(void)
{
    setenv("ZE_CPU_MAX_ALLOCATION", "64", 1);
    setenv("OverrideMaxMemAllocSizeMb", "64", 1); // of Intel's driver
    ur_set_up();
}

static void set_up_large(void)
{
    setenv("ZEPI_LARGE_ALLOCATIONS", "on", 1);
    set_up_limited();
}

TestSuite(usm_limited, .init = set_up_limited, .fini = ur_tear_down);
TestSuite(usm_large, .init = set_up_large, .fini = ur_tear_down);
TestSuite(usm, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(usm_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

#define INFO(memory, query, out)                                                                   \
    UR_OK(urUSMGetMemAllocInfo(gear.context, (memory), (query), sizeof(out), &(out), NULL))

static void *allocate(ur_usm_type_t kind, ur_usm_pool_handle_t pool, size_t size, uint32_t align)
{
    const ur_usm_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_DESC, .align = align};
    void *memory = NULL;
    switch ((int)kind) {
    case UR_USM_TYPE_HOST:
        UR_OK(urUSMHostAlloc(gear.context, &desc, pool, size, &memory));
        break;
    case UR_USM_TYPE_DEVICE:
        UR_OK(urUSMDeviceAlloc(gear.context, gear.device, &desc, pool, size, &memory));
        break;
    default:
        UR_OK(urUSMSharedAlloc(gear.context, gear.device, &desc, pool, size, &memory));
    }
    return memory;
}

static void copy(void *to, const void *from, size_t size)
{
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, to, from, size, 0, NULL, NULL));
}

Test(usm_of_two, of_each_kind_says_what_it_is)
{
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        char *memory = allocate(kind, NULL, 1000, 0);
        for (size_t offset = 0; offset < 1000; offset += 333) {
            ur_usm_type_t type;
            void *base;
            size_t size;
            ur_device_handle_t device;
            INFO(memory + offset, UR_USM_ALLOC_INFO_TYPE, type);
            INFO(memory + offset, UR_USM_ALLOC_INFO_BASE_PTR, base);
            INFO(memory + offset, UR_USM_ALLOC_INFO_SIZE, size);
            INFO(memory + offset, UR_USM_ALLOC_INFO_DEVICE, device);
            cr_assert_eq(type, kind);
            cr_assert_eq(base, memory);
            cr_assert(size >= 1000 && size < 1000 + 65536);
            cr_assert_eq(device, kind == UR_USM_TYPE_HOST ? NULL : gear.device);
        }
        ur_free(memory);
    }
    char on_the_stack;
    ur_usm_type_t type;
    INFO(&on_the_stack, UR_USM_ALLOC_INFO_TYPE, type);
    cr_assert_eq(type, UR_USM_TYPE_UNKNOWN);
}

Test(usm, lies_where_its_alignment_asks_for)
{
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        for (uint32_t align = 1; align <= 4096; align *= 2) {
            void *memory = allocate(kind, NULL, 24, align);
            cr_assert_eq((uintptr_t)memory % align, 0);
            ur_free(memory);
        }
    }
}

Test(usm, of_each_kind_is_what_kernels_work_on)
{
    enum { ITEMS = 1000 };
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    float *a = allocate(UR_USM_TYPE_HOST, NULL, ITEMS * sizeof(float), 0);
    float *b = allocate(UR_USM_TYPE_SHARED, NULL, ITEMS * sizeof(float), 0);
    float *sum = allocate(UR_USM_TYPE_DEVICE, NULL, ITEMS * sizeof(float), 0);
    float result[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, b),
                                                        UR_POINTER(2, sum)};
    UR_OK(ur_launch(gear.queue, add, ITEMS, 3, arguments, 0, NULL, NULL));
    copy(result, sum, sizeof(result));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(result[i], (float)(3 * i));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
    UR_OK(urKernelRelease(add));
}

Test(usm, is_copied_from_and_to_memory_of_any_kind)
{
    enum { SIZE = 3000 };
    unsigned char bytes[SIZE];
    unsigned char back[SIZE];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7);
    for (ur_usm_type_t from = UR_USM_TYPE_HOST; from <= UR_USM_TYPE_SHARED; from++) {
        for (ur_usm_type_t to = UR_USM_TYPE_HOST; to <= UR_USM_TYPE_SHARED; to++) {
            char *source = allocate(from, NULL, SIZE, 0);
            char *destination = allocate(to, NULL, SIZE, 0);
            copy(source, bytes, SIZE);
            copy(destination, bytes + 1000, 1000);
            copy(destination + 1000, source + 1000, SIZE - 1000);
            copy(back, destination, SIZE);
            cr_assert_eq(memcmp(back, bytes + 1000, 1000), 0);
            cr_assert_eq(memcmp(back + 1000, bytes + 1000, SIZE - 1000), 0);
            ur_free(source);
            ur_free(destination);
        }
    }
    UR_OK(urUSMContextMemcpyExp(gear.context, back, bytes, SIZE));
    cr_assert_eq(memcmp(back, bytes, SIZE), 0);
}

enum { PITCH = 48, ROWS = 7, WIDTH = 20 };

Test(usm, is_copied_in_rows_of_two_pitches)
{
    unsigned char *from = ur_shared((size_t)PITCH * ROWS);
    unsigned char *to = ur_shared((size_t)2 * PITCH * ROWS);
    for (int i = 0; i < PITCH * ROWS; i++)
        from[i] = (unsigned char)(i + 1);
    UR_OK(urEnqueueUSMMemcpy2D(gear.queue, true, to, (size_t)2 * PITCH, from, PITCH, WIDTH, ROWS, 0,
                               NULL, NULL));
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < 2 * PITCH; i++)
            cr_assert_eq(to[row * 2 * PITCH + i], i < WIDTH ? from[row * PITCH + i] : 0);
    }
    ur_free(from);
    ur_free(to);
}

// More than 4 GiB altogether; untouched pages cost nothing.
Test(usm, is_copied_from_rows_of_a_large_pitch)
{
    enum { FAR_ROWS = 4097, FAR_WIDTH = 16 };
    const size_t pitch = (size_t)1 << 20;
    unsigned char *from = mmap(NULL, FAR_ROWS * pitch, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *to = ur_shared((size_t)FAR_ROWS * FAR_WIDTH);
    cr_assert_neq((void *)from, MAP_FAILED);
    for (size_t row = 0; row < FAR_ROWS; row++)
        memset(from + row * pitch, (int)(row % 251), FAR_WIDTH);
    UR_OK(urEnqueueUSMMemcpy2D(gear.queue, true, to, FAR_WIDTH, from, pitch, FAR_WIDTH, FAR_ROWS, 0,
                               NULL, NULL));
    for (size_t row = 0; row < FAR_ROWS; row++)
        cr_assert_eq(memcmp(to + row * FAR_WIDTH, from + row * pitch, FAR_WIDTH), 0, "row %zu",
                     row);
    munmap(from, FAR_ROWS * pitch);
    ur_free(to);
}

Test(usm, with_a_pitch_has_room_for_all_rows)
{
    void *memory;
    size_t pitch;
    size_t size;
    UR_OK(urUSMPitchedAllocExp(gear.context, gear.device, NULL, NULL, 100, 9, 4, &memory, &pitch));
    INFO(memory, UR_USM_ALLOC_INFO_SIZE, size);
    cr_assert(pitch >= 100);
    cr_assert_eq(pitch % 4, 0);
    cr_assert(size >= pitch * 9);
    ur_free(memory);
}

Test(usm, copies_follow_their_wait_lists_and_have_events)
{
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    int32_t *memory = ur_shared(4 * sizeof(int32_t));
    const int32_t seven = 7;
    ur_event_handle_t events[3];
    ur_command_t type;
    UR_OK(
        urEnqueueUSMFill(queue, memory, sizeof(seven), &seven, sizeof(seven), 0, NULL, &events[0]));
    UR_OK(urEnqueueUSMMemcpy(queue, false, memory + 1, memory, sizeof(seven), 1, &events[0],
                             &events[1]));
    UR_OK(urEnqueueUSMMemcpy(queue, true, memory + 2, memory + 1, sizeof(seven), 1, &events[1],
                             &events[2]));
    cr_assert_eq(memory[2], 7);
    static const ur_command_t types[] = {UR_COMMAND_USM_FILL, UR_COMMAND_USM_MEMCPY,
                                         UR_COMMAND_USM_MEMCPY};
    for (int i = 0; i < 3; i++) {
        ur_event_status_t status;
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(status),
                             &status, NULL));
        cr_assert_eq(type, types[i]);
        cr_assert_eq(status, UR_EVENT_STATUS_COMPLETE);
        UR_OK(urEventRelease(events[i]));
    }
    ur_free(memory);
    UR_OK(urQueueRelease(queue));
}

Test(usm, takes_prefetches_and_advice)
{
    int32_t *memory = ur_shared(4096);
    ur_event_handle_t events[3];
    memory[5] = 99;
    UR_OK(urEnqueueUSMPrefetch(gear.queue, memory, 4096, UR_USM_MIGRATION_FLAG_HOST_TO_DEVICE, 0,
                               NULL, &events[0]));
    UR_OK(urEnqueueUSMPrefetch(gear.queue, memory, 4096, UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST, 1,
                               &events[0], &events[1]));
    for (uint32_t bit = 0; bit < 32; bit++) {
        const ur_usm_advice_flags_t advice = UINT32_C(1) << bit;
        if (!(advice & UR_USM_ADVICE_FLAGS_MASK))
            UR_OK(urEnqueueUSMAdvise(gear.queue, memory, 4096, advice, NULL));
    }
    // Hints that exclude each other are no error, and change no contents.
    UR_OK(urEnqueueUSMAdvise(gear.queue, memory, 4096, ~(uint32_t)UR_USM_ADVICE_FLAGS_MASK, NULL));
    UR_OK(urEnqueueUSMAdvise(gear.queue, memory, 4096, UR_USM_ADVICE_FLAG_DEFAULT, &events[2]));
    UR_OK(urEventWait(3, events));
    cr_assert_eq(memory[5], 99);
    for (int i = 0; i < 3; i++)
        UR_OK(urEventRelease(events[i]));
    ur_free(memory);
}

static size_t pool_size(ur_usm_pool_handle_t pool, ur_usm_pool_info_t query)
{
    size_t size;
    UR_OK(urUSMPoolGetInfo(pool, query, sizeof(size), &size, NULL));
    return size;
}

static ur_usm_pool_handle_t create_pool(size_t poolable, size_t least, ur_usm_pool_flags_t flags)
{
    ur_usm_pool_limits_desc_t limits = {.stype = UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC,
                                        .maxPoolableSize = poolable,
                                        .minDriverAllocSize = least};
    ur_usm_pool_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_USM_POOL_DESC, .pNext = &limits, .flags = flags};
    ur_usm_pool_handle_t pool;
    UR_OK(urUSMPoolCreate(gear.context, &desc, &pool));
    return pool;
}

static ur_usm_pool_handle_t pool_of(const void *memory)
{
    ur_usm_pool_handle_t of;
    INFO(memory, UR_USM_ALLOC_INFO_POOL, of);
    return of;
}

static void set_pool(ur_usm_pool_handle_t pool, ur_usm_pool_info_t property, size_t value)
{
    UR_OK(urUSMPoolSetInfoExp(pool, property, &value, sizeof(value)));
}

Test(usm, of_a_pool_is_counted_there)
{
    ur_usm_pool_handle_t pool = create_pool(1 << 20, 0, 0);
    void *memory[3];
    for (int i = 0; i < 3; i++)
        memory[i] = allocate((ur_usm_type_t)(UR_USM_TYPE_HOST + i), pool, (size_t)1000 << i, 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 7000);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(pool_of((char *)memory[i] + 999), pool);
    ur_free(memory[2]);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 3000);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_HIGH_EXP), 7000);
    set_pool(pool, UR_USM_POOL_INFO_USED_HIGH_EXP, 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_HIGH_EXP), 3000);
    // Memory may outlive its pool.
    UR_OK(urUSMPoolRelease(pool));
    memset(memory[0], 1, 1000);
    ur_free(memory[0]);
    ur_free(memory[1]);
    UR_FAILS(urUSMPoolRetain(pool), UR_RESULT_ERROR_INVALID_VALUE);
}

Test(usm, of_a_pool_goes_back_there)
{
    enum { COUNT = 40 };
    void *memory[COUNT];
    ur_usm_pool_handle_t pool = create_pool(1 << 20, 0, 0);
    const uint64_t before = ze_cpu.get_live_objects();
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++)
        ur_free(allocate(kind, pool, 1 << 20, 0));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 0);
    const size_t reserved = pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP);
    cr_assert_geq(reserved, 3 << 20);
    ze_cpu.reset_counts();
    for (int i = 0; i < 1000; i++)
        ur_free(allocate((ur_usm_type_t)(UR_USM_TYPE_HOST + i % 3), pool, 1 << 20, 0));
    cr_assert_eq(ze_cpu.get_count("*"), 0);
    // More than is poolable is the driver's again at once.
    ur_free(allocate(UR_USM_TYPE_DEVICE, pool, (1 << 20) + 1, 0));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), reserved);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_HIGH_EXP), reserved + (1 << 20) + 1);
    // With a threshold nothing goes back by itself.
    set_pool(pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP, (size_t)1 << 30);
    for (int i = 0; i < COUNT; i++)
        memory[i] = allocate(UR_USM_TYPE_DEVICE, pool, 1 << 20, 0);
    const size_t most = pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP);
    cr_assert_geq(most, (size_t)COUNT << 20);
    for (int i = 0; i < COUNT; i++)
        ur_free(memory[i]);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), most);
    UR_OK(urUSMPoolTrimToExp(gear.context, gear.device, pool, most / 2));
    const size_t half = pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP);
    cr_assert_leq(half, most / 2);
    cr_assert_geq(half, most / 2 - (4 << 20));
    UR_OK(urUSMPoolTrimToExp(gear.context, gear.device, pool, 0));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 0);
    cr_assert_eq(ze_cpu.get_live_objects(), before);
    UR_OK(urUSMPoolRelease(pool));
}

Test(usm, of_a_pool_keeps_to_its_maximum)
{
    void *memory[3];
    void *none;
    ur_usm_pool_handle_t pool = create_pool(4096, 8 << 20, 0);
    set_pool(pool, UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP, (size_t)16 << 20);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP), 16 << 20);
    memory[0] = allocate(UR_USM_TYPE_DEVICE, pool, 100, 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 8 << 20);
    memory[1] = allocate(UR_USM_TYPE_HOST, pool, 100, 0);
    memory[2] = allocate(UR_USM_TYPE_HOST, pool, 100, 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 16 << 20);
    UR_FAILS(urUSMHostAlloc(gear.context, NULL, pool, 5000, &none),
             UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ur_free(memory[0]);
    // Idle memory is given back.
    memory[0] = allocate(UR_USM_TYPE_HOST, pool, 5000, 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 16 << 20);
    for (int i = 0; i < 3; i++)
        ur_free(memory[i]);
    UR_OK(urUSMPoolRelease(pool));
}

// Each thread has 8 MiB at most. Freed memory serves few others, since the sizes are far apart.
enum { THREADS = 2, ROUNDS = 500 };
static ur_usm_pool_handle_t shared_pool;
static atomic_uint refused;

static void *allocate_and_free(void *user)
{
    const unsigned *thread = user;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t size = ((size_t)8 << 20) * 7 / (7 + (round + *thread) % 5 * 3);
        void *memory;
        if (urUSMDeviceAlloc(gear.context, gear.device, NULL, shared_pool, size, &memory))
            atomic_fetch_add(&refused, 1);
        else
            ur_free(memory);
    }
    return NULL;
}

Test(usm, of_a_full_pool_makes_room_for_all_threads)
{
    unsigned threads[THREADS] = {0, 2};
    shared_pool = create_pool(4096, 0, 0);
    set_pool(shared_pool, UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP, (size_t)THREADS * 8 << 20);
    set_pool(shared_pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP, (size_t)THREADS * 8 << 20);
    test_threads_run(THREADS, allocate_and_free, threads, sizeof(threads[0]));
    cr_assert_eq(refused, 0, "%u of %u allocations", refused, THREADS * ROUNDS);
    UR_OK(urUSMPoolRelease(shared_pool));
}

Test(usm, of_a_zeroed_pool_comes_from_the_driver_as_zeros)
{
    enum { SIZE = 100000 };
    static unsigned char back[SIZE];
    ur_usm_pool_handle_t pool = create_pool(4096, 0, UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK);
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        for (size_t size = 1000; size <= SIZE; size *= 100) {
            void *memory = allocate(kind, pool, size, 0);
            memset(back, 0xff, sizeof(back));
            copy(back, memory, size);
            for (size_t i = 0; i < size; i++)
                cr_assert_eq(back[i], 0);
            ur_free(memory);
        }
    }
    UR_OK(urUSMPoolRelease(pool));
}

Test(usm, pools_come_and_go_without_a_trace)
{
    ur_usm_pool_handle_t pool = create_pool(65536, 0, 0);
    const uint64_t before = ze_cpu.get_live_objects();
    UR_OK(urUSMPoolRelease(pool));
    for (int i = 0; i < 2000; i++) {
        pool = create_pool(65536, 0, 0);
        void *memory = allocate(UR_USM_TYPE_DEVICE, pool, 4096, 0);
        cr_assert_eq(pool_of(memory), pool);
        cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 4096);
        if (i % 2) {
            UR_OK(urUSMPoolRelease(pool));
            ur_free(memory);
        } else {
            ur_free(memory);
            UR_OK(urUSMPoolRelease(pool));
        }
        cr_assert_eq(ze_cpu.get_live_objects(), before);
    }
}

Test(usm, small_copies_between_memory_of_the_adapter_ask_the_driver_nothing)
{
    for (size_t size = 64; size < 10000000; size *= 1000) {
        for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
            char *from = allocate(kind, NULL, size, 0);
            char *to = allocate(kind, NULL, size, 0);
            copy(to, from, 64);
            ze_cpu.reset_counts();
            copy(to, from, 64);
            cr_assert_eq(ze_cpu.get_count("zeMemGetAddressRange"), 0);
            cr_assert_eq(ze_cpu.get_count("zeMemGetAllocProperties"), 0);
            UR_FAILS(urEnqueueUSMMemcpy(gear.queue, true, to + size - 63, from, 64, 0, NULL, NULL),
                     UR_RESULT_ERROR_INVALID_SIZE);
            ur_free(from);
            ur_free(to);
        }
    }
}

// The queue is waited for, with any memory: its list is over, or tells how far it has to come, with
// the same events each time.
Test(usm, a_copy_that_blocks_makes_no_event)
{
    enum { COPIES = 20, EVENTS_AT_ONCE = 8 };
    int32_t *device = allocate(UR_USM_TYPE_DEVICE, NULL, sizeof(int32_t), 0);
    int32_t back = 0;
    for (ur_queue_flags_t flags = 0; flags <= UR_QUEUE_FLAG_PROFILING_ENABLE;
         flags += UR_QUEUE_FLAG_PROFILING_ENABLE) {
        ur_queue_handle_t queue = ur_queue(gear.device, flags);
        const int32_t value = 12 + (int32_t)flags;
        UR_OK(urEnqueueUSMMemcpy(queue, true, device, &value, sizeof(value), 0, NULL, NULL));
        ze_cpu.reset_counts();
        for (int i = 0; i < COPIES; i += 2) {
            UR_OK(urEnqueueUSMMemcpy(queue, true, device, &value, sizeof(value), 0, NULL, NULL));
            UR_OK(urEnqueueUSMMemcpy(queue, true, &back, device, sizeof(value), 0, NULL, NULL));
            cr_assert_eq(back, value);
        }
        cr_assert_leq(ze_cpu.get_count("zeEventHostSynchronize"), COPIES);
        cr_assert_leq(ze_cpu.get_count("zeEventCreate"), EVENTS_AT_ONCE);
        cr_assert_eq(ze_cpu.get_count("zeDeviceGetGlobalTimestamps"), 0);
        UR_OK(urQueueRelease(queue));
    }
    ur_free(device);
}

Test(usm, copies_past_the_end_of_the_address_space_are_refused)
{
    char value = 0;
    UR_FAILS(
        urEnqueueUSMMemcpy(gear.queue, false, &value, (char *)UINTPTR_MAX - 31, 64, 0, NULL, NULL),
        UR_RESULT_ERROR_INVALID_SIZE);
}

// Memory of one device is reached through a queue of the other.
Test(usm_of_two, of_one_device_is_copied_by_another)
{
    ur_queue_handle_t second = ur_queue(gear.devices[1], 0);
    int32_t value = 12;
    int32_t back = 0;
    void *first_memory;
    void *second_memory;
    UR_OK(urUSMDeviceAlloc(gear.context, gear.devices[0], NULL, NULL, 4, &first_memory));
    UR_OK(urUSMDeviceAlloc(gear.context, gear.devices[1], NULL, NULL, 4, &second_memory));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, first_memory, &value, 4, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(second, true, second_memory, first_memory, 4, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, &back, second_memory, 4, 0, NULL, NULL));
    cr_assert_eq(back, 12);
    ur_free(first_memory);
    ur_free(second_memory);
    UR_OK(urQueueRelease(second));
}

#define MIB (UINT64_C(1) << 20)

static uint64_t ask_u64(ur_device_info_t query)
{
    uint64_t answer;
    UR_OK(urDeviceGetInfo(gear.device, query, sizeof(answer), &answer, NULL));
    return answer;
}

Test(usm_limited, is_refused_beyond_the_limit_that_the_device_tells)
{
    void *memory;
    ur_mem_handle_t buffer;
    cr_assert_eq(ask_u64(UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE), 64 * MIB);
    UR_OK(urUSMFree(gear.context, allocate(UR_USM_TYPE_DEVICE, NULL, 64 * MIB, 0)));
    cr_assert_eq(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, 65 * MIB, &memory),
                 UR_RESULT_ERROR_INVALID_USM_SIZE);
    cr_assert_neq(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 65 * MIB, NULL, &buffer),
                  UR_RESULT_SUCCESS);
}

Test(usm_large, goes_beyond_the_limit_and_is_copied_and_filled)
{
    int32_t last = 0;
    cr_assert_eq(ask_u64(UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE),
                 ask_u64(UR_DEVICE_INFO_GLOBAL_MEM_SIZE));
    char *memory = allocate(UR_USM_TYPE_DEVICE, NULL, 65 * MIB, 0);
    const int32_t pattern = 77;
    UR_OK(urEnqueueUSMFill(gear.queue, memory, sizeof(pattern), &pattern, 65 * MIB, 0, NULL, NULL));
    copy(&last, memory + 65 * MIB - sizeof(last), sizeof(last));
    cr_assert_eq(last, 77);
    UR_OK(urUSMFree(gear.context, memory));
}
