// SPDX-License-Identifier: MIT
// Launches with every kind of argument; with newer functions of Level Zero and without.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static zepi_module_t module;

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "arguments");
}

static void set_up_without_newer_functions(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up();
}

static void tear_down(void)
{
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

TestSuite(launch, .init = set_up, .fini = tear_down);
TestSuite(launch_without_newer_functions, .init = set_up_without_newer_functions,
          .fini = tear_down);

// One story, both ways.
#define BOTH(name, story)                                                                          \
    Test(launch, name)                                                                             \
    {                                                                                              \
        story();                                                                                   \
    }                                                                                              \
    Test(launch_without_newer_functions, name)                                                     \
    {                                                                                              \
        story();                                                                                   \
    }

static zepi_kernel_t kernel_of(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

struct pair {
    char first;
    int64_t second;
};

static void check_values_of(zepi_kernel_t kernel)
{
    int64_t *out = gear_allocate(8 * sizeof(*out));
    for (int round = 1; round <= 3; round++) {
        const int8_t a = (int8_t)(-1 * round);
        const int16_t b = (int16_t)(200 * round);
        const int32_t c = -300000 * round;
        const int64_t d = INT64_C(40000000000) * round;
        const float e = 1.5f;
        const int32_t f[4] = {1 * round, 2, 3, 4};
        const struct pair g = {(char)round, -7};
        int32_t e_bits;
        memcpy(&e_bits, &e, sizeof(e));
        const zepi_argument_t arguments[] = {TEST_VALUE(a), TEST_VALUE(b),    TEST_VALUE(c),
                                             TEST_VALUE(d), TEST_VALUE(e),    TEST_VALUE(f),
                                             TEST_VALUE(g), TEST_POINTER(out)};
        const zepi_launch_desc_t launch = test_launch(kernel, 8, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        const int64_t expected[8] = {a, b, c, d, e_bits, round + 4320, round, -7};
        for (int i = 0; i < 8; i++)
            cr_assert_eq(out[i], expected[i], "round %d, value %d is %lld", round, i,
                         (long long)out[i]);
    }
    TEST_OK(zepi.usm_free(gear.context, out));
}

static void check_values(void)
{
    zepi_kernel_t kernel = kernel_of("store_values");
    check_values_of(kernel);
    TEST_OK(zepi.release(kernel));
}

BOTH(passes_values_of_every_size, check_values)

// Machine code takes values of one and two bytes as four.
static void check_native_values(void)
{
    zepi_device_image_desc_t image = test_native_image(module, gear.device, ZEPI_MODULE_EXECUTABLE);
    zepi_module_t native;
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &native));
    TEST_OK(zepi.module_get_kernel(native, "store_values", &kernel));
    check_values_of(kernel);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(native));
    test_native_image_finish(&image);
}

BOTH(passes_values_of_every_size_to_native_code, check_native_values)

static void check_local_memory(void)
{
    enum { ITEMS = 1024, GROUP = 64 };
    zepi_kernel_t kernel = kernel_of("sum_groups");
    int32_t *in = gear_allocate(ITEMS * sizeof(*in));
    int32_t *sums = gear_allocate(ITEMS * sizeof(*sums));
    for (int i = 0; i < ITEMS; i++)
        in[i] = i;
    for (size_t group = GROUP; group >= 16; group /= 2) {
        const zepi_argument_t arguments[] = {
            TEST_POINTER(in),
            {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = group * sizeof(int32_t)},
            TEST_POINTER(sums)};
        zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, ITEMS);
        launch.group_size[0] = group;
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (size_t i = 0; i < ITEMS / group; i++) {
            const int32_t first = (int32_t)(i * group);
            const int32_t count = (int32_t)group;
            cr_assert_eq(sums[i], count * first + count * (count - 1) / 2);
        }
    }
    TEST_OK(zepi.usm_free(gear.context, in));
    TEST_OK(zepi.usm_free(gear.context, sums));
    TEST_OK(zepi.release(kernel));
}

BOTH(passes_local_memory_of_the_launch_s_size, check_local_memory)

static void check_ids(void)
{
    enum { X = 12, Y = 6, Z = 4 };
    zepi_kernel_t kernel = kernel_of("store_ids");
    int32_t *out = gear_allocate(3 * X * Y * Z * sizeof(*out));
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, X);
    launch.work_dim = 3;
    launch.global_size[1] = Y;
    launch.global_size[2] = Z;
    memcpy(launch.group_size, (size_t[]){4, 3, 2}, sizeof(launch.group_size));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int z = 0; z < Z; z++) {
        for (int y = 0; y < Y; y++) {
            for (int x = 0; x < X; x++) {
                const int32_t *ids = &out[3 * (x + X * (y + Y * z))];
                cr_assert_eq(ids[0], x + 100 * y + 10000 * z);
                cr_assert_eq(ids[1], x % 4 + 100 * (y % 3) + 10000 * (z % 2));
                cr_assert_eq(ids[2], x / 4 + 100 * (y / 3) + 10000 * (z / 2));
            }
        }
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

BOTH(covers_three_dimensions, check_ids)

Test(launch, kernel_tells_about_itself)
{
    zepi_kernel_t kernel = kernel_of("sum_groups");
    zepi_kernel_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    cr_assert_str_eq(info.name, "sum_groups");
    cr_assert_eq(info.module, module);
    cr_assert_eq(info.argument_count, 3);
    cr_assert_gt(info.max_group_size, 0);
    TEST_OK(zepi.release(kernel));
}

// ---- One kernel object in many threads ----

#define THREADS 8
#define LAUNCHES 300

static zepi_kernel_t shared_kernel;

static void *launch_often(void *user)
{
    const int32_t number = *(int *)user;
    zepi_queue_t queue;
    int32_t *in = gear_allocate(64 * sizeof(*in));
    int32_t *sums = gear_allocate(64 * sizeof(*sums));
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    const zepi_argument_t arguments[] = {
        TEST_POINTER(in),
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 64 * sizeof(int32_t)},
        TEST_POINTER(sums)};
    zepi_launch_desc_t launch = test_launch(shared_kernel, 3, arguments, 64);
    launch.group_size[0] = 64;
    for (int i = 0; i < 64; i++)
        in[i] = number;
    for (int i = 0; i < LAUNCHES; i++) {
        TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
        if (i % 50 == 49) {
            TEST_OK(zepi.queue_finish(queue));
            cr_assert_eq(sums[0], 64 * number);
            sums[0] = 0;
        }
    }
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.usm_free(gear.context, in));
    TEST_OK(zepi.usm_free(gear.context, sums));
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    shared_kernel = kernel_of("sum_groups");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_often, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    TEST_OK(zepi.release(shared_kernel));
}

BOTH(of_one_kernel_object_from_eight_threads_mixes_nothing_up, check_threads)

// ---- Pointers ----

static zepi_kernel_t kernel_of_launches(const char *name, zepi_module_t *out_module)
{
    zepi_kernel_t kernel;
    *out_module = test_executable(gear.context, "launches");
    TEST_OK(zepi.module_get_kernel(*out_module, name, &kernel));
    return kernel;
}

static void check_null(void)
{
    zepi_module_t launches;
    zepi_kernel_t kernel = kernel_of_launches("find_null", &launches);
    int32_t *out = gear_allocate(2 * sizeof(*out));
    int32_t *memory[2] = {out, NULL};
    for (int round = 0; round < 8; round++) {
        int32_t *a = memory[round % 2];
        int32_t *b = memory[round / 2 % 2];
        // As a pointer, or as a value that is one.
        const zepi_argument_t arguments[] = {
            TEST_POINTER(a), round < 4 ? TEST_POINTER(b) : TEST_VALUE(b), TEST_POINTER(out)};
        const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 1);
        out[0] = out[1] = -1;
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(out[0], a == NULL);
        cr_assert_eq(out[1], b == NULL);
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(launches));
}

BOTH(passes_null_as_null, check_null)

Test(launch, may_follow_pointers_that_lie_in_memory_or_come_as_numbers)
{
    zepi_module_t launches;
    zepi_kernel_t kernel = kernel_of_launches("follow_pointers", &launches);
    int32_t *target = gear_allocate(2 * sizeof(*target));
    uint64_t *addresses = gear_allocate(sizeof(*addresses));
    const uint64_t address = (uintptr_t)target;
    addresses[0] = address;
    for (int round = 1; round <= 2; round++) {
        const zepi_argument_t arguments[] = {
            TEST_POINTER(addresses), round == 1 ? TEST_VALUE(address) : TEST_POINTER(target)};
        const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert(target[0] == round && target[1] == round);
    }
    TEST_OK(zepi.usm_free(gear.context, target));
    TEST_OK(zepi.usm_free(gear.context, addresses));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(launches));
}

// ---- What a launch keeps ----

static void check_copies(void)
{
    zepi_kernel_t kernel = kernel_of("store_values");
    int64_t *out = gear_allocate(8 * sizeof(*out));
    int8_t a = 1;
    int16_t b = 2;
    int32_t c = 3;
    int64_t d = 4;
    float e = 5;
    int32_t f[4] = {6};
    struct pair g = {7, 8};
    zepi_argument_t arguments[] = {TEST_VALUE(a), TEST_VALUE(b), TEST_VALUE(c), TEST_VALUE(d),
                                   TEST_VALUE(e), TEST_VALUE(f), TEST_VALUE(g), TEST_POINTER(out)};
    zepi_launch_desc_t launch = test_launch(kernel, 8, arguments, 1);
    zepi_event_t gate;
    zepi_event_t event;
    TEST_OK(zepi.event_create(gear.context, &gate));
    zepi_event_t waits[1] = {gate};
    TEST_OK(zepi.queue_launch(gear.queue, &launch, (zepi_wait_list_t){waits, 1}, &event));
    a = 0;
    b = 0;
    c = 0;
    d = 0;
    e = 0;
    memset(f, 0, sizeof(f));
    g = (struct pair){0, 0};
    memset(arguments, 0x5a, sizeof(arguments));
    memset(&launch, 0x5a, sizeof(launch));
    waits[0] = NULL;
    TEST_FAILS(zepi.event_wait(1, &event, 20000000), ZEPI_ERROR_NOT_READY);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    const float five = 5;
    int32_t e_bits;
    memcpy(&e_bits, &five, sizeof(five));
    const int64_t expected[8] = {1, 2, 3, 4, e_bits, 6, 7, 8};
    for (int i = 0; i < 8; i++)
        cr_assert_eq(out[i], expected[i]);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

BOTH(copies_all_that_its_description_points_to, check_copies)

// The driver checks them, or tells how much it reads.
static void check_native(void)
{
    zepi_device_image_desc_t image = test_native_image(module, gear.device, ZEPI_MODULE_EXECUTABLE);
    zepi_module_t native;
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &native));
    TEST_OK(zepi.module_get_kernel(native, "sum_groups", &kernel));
    int32_t *memory = gear_allocate(4 * sizeof(*memory));
    const int32_t narrow = 1;
    memory[0] = 40;
    memory[1] = 2;
    zepi_argument_t arguments[] = {TEST_POINTER(memory),
                                   {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 8},
                                   TEST_POINTER(memory + 2)};
    zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 2);
    launch.group_size[0] = 2;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(memory[2], 42);
    arguments[2] = TEST_VALUE(narrow);
    TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_SIZE);
    launch.argument_count = 2;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "has 3 arguments, got 2");
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(native));
    test_native_image_finish(&image);
}

BOTH(of_native_code_has_its_sizes_checked_by_the_driver, check_native)

// Local memory that the device does not have is refused at the launch, not found out later.
static void check_too_much_local(void)
{
    zepi_module_t launches;
    zepi_kernel_t kernel = kernel_of_launches("use_local", &launches);
    zepi_device_info_t device = {.size = sizeof(device)};
    int32_t *sums = gear_allocate(64 * sizeof(*sums));
    int32_t length = 100;
    TEST_OK(zepi.device_get_info(gear.device, &device));
    zepi_argument_t arguments[] = {
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 400}, TEST_VALUE(length), TEST_POINTER(sums)};
    zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 64);
    launch.group_size[0] = 16;
    for (int round = 0; round < 3; round++) {
        launch.group_size[0] = 16;
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (int i = 0; i < 4; i++)
            cr_assert_eq(sums[i], 15000 + length * (length - 1) / 2);
        const size_t good = arguments[0].size_bytes;
        arguments[0].size_bytes = round == 0   ? device.max_local_memory_bytes
                                  : round == 1 ? (size_t)UINT32_MAX + 1
                                               : SIZE_MAX;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_SIZE, "bytes of local memory");
        length += 100;
        arguments[0].size_bytes = good + 400;
    }
    TEST_OK(zepi.usm_free(gear.context, sums));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(launches));
}

BOTH(with_more_local_memory_than_there_is_is_refused, check_too_much_local)

// A host of a later version may ask for unknown flags.
Test(launch, of_a_newer_host_is_taken_if_it_asks_for_nothing_new)
{
    zepi_kernel_t kernel = kernel_of("store_ids");
    int32_t *out = gear_allocate(3 * sizeof(*out));
    const zepi_argument_t argument = TEST_POINTER(out);
    struct {
        zepi_launch_desc_t known;
        uint64_t newer[2];
    } launch = {.known = test_launch(kernel, 1, &argument, 1)};
    launch.known.size = sizeof(launch);
    out[0] = -1;
    TEST_OK(zepi.queue_launch(gear.queue, &launch.known, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(out[0], 0);
    launch.newer[1] = 1;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.known, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_UNSUPPORTED, "newer than this version");
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

Test(launch, outlives_kernel_and_module)
{
    zepi_event_t gate;
    int32_t *out = gear_allocate(3 * sizeof(*out));
    TEST_OK(zepi.event_create(gear.context, &gate));
    zepi_module_t own = test_executable(gear.context, "arguments");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(own, "store_ids", &kernel));
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    out[0] = -1;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, (zepi_wait_list_t){&gate, 1}, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(own));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(out[0], 0);
    module = test_executable(gear.context, "arguments");
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.usm_free(gear.context, out));
}

// Sums buffers; the sum of the first round is a term of the second one.
static void check_buffers(void)
{
    float terms[2][16];
    float sum[16];
    zepi_buffer_t buffers[3];
    void *address;
    size_t size_bytes;
    zepi_kernel_t kernel;
    const zepi_module_t adder = test_executable(gear.context, "vector_add");
    for (int i = 0; i < 16; i++) {
        terms[0][i] = (float)i;
        terms[1][i] = 100;
    }
    TEST_OK(zepi.module_get_kernel(adder, "vector_add", &kernel));
    for (int i = 0; i < 3; i++)
        TEST_OK(
            zepi.buffer_create(gear.context, sizeof(sum), i < 2 ? terms[i] : NULL, &buffers[i]));
    for (int round = 0; round < 2; round++) {
        const zepi_argument_t arguments[] = {
            {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[round == 0 ? 0 : 2]},
            {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[1]},
            {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[2]}};
        const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 16);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    }
    TEST_OK(zepi.buffer_get_address(buffers[2], gear.device, &address, &size_bytes));
    cr_assert_eq(size_bytes, sizeof(sum));
    TEST_OK(zepi.queue_copy(gear.queue, sum, address, sizeof(sum), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 16; i++)
        cr_assert_eq(sum[i], (float)i + 200, "%g at %d", (double)sum[i], i);

    // A released one is refused, though the launch before had it.
    const zepi_argument_t arguments[] = {{.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[2]},
                                         {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[1]},
                                         {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffers[2]}};
    const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 16);
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(buffers[i]));
    cr_assert_eq(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                 ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(adder));
}
BOTH(takes_buffers_as_arguments, check_buffers)
