// SPDX-License-Identifier: MIT
// Launches after launches that were right: their state hides no mistake and no change, with and
// without events.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 8 };

static ur_kernel_handle_t kernel;
static ur_queue_handle_t queue; // without profiling
static int64_t *out;

static struct values {
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    float e;
    int32_t f[4];
    struct {
        char first;
        int64_t second;
    } g;
} values;

// A launch of store_values, of which each case changes something.
static struct launch {
    uint32_t work_dim;
    size_t sizes[3][3]; // offset, global, local
    const size_t *offset, *global, *local;
    uint32_t count;
    ur_exp_kernel_arg_properties_t arguments[COUNT + 1];
    const ur_exp_kernel_arg_properties_t *list;
    const ur_kernel_launch_ext_properties_t *properties;
} next;

static void set_good_launch(void)
{
    const ur_exp_kernel_arg_properties_t arguments[COUNT] = {
        UR_VALUE(0, values.a), UR_VALUE(1, values.b), UR_VALUE(2, values.c), UR_VALUE(3, values.d),
        UR_VALUE(4, values.e), UR_VALUE(5, values.f), UR_VALUE(6, values.g), UR_POINTER(7, out)};
    next = (struct launch){.work_dim = 1, .count = COUNT};
    for (int i = 0; i < 3; i++)
        next.sizes[1][i] = next.sizes[2][i] = 1;
    next.global = next.sizes[1];
    memcpy(next.arguments, arguments, sizeof(arguments));
    next.list = next.arguments;
}

static ur_result_t launch(uint32_t wait_count, const ur_event_handle_t *wait_list,
                          ur_event_handle_t *out_event)
{
    return urEnqueueKernelLaunchWithArgsExp(queue, kernel, next.work_dim, next.offset, next.global,
                                            next.local, next.count, next.list, next.properties,
                                            wait_count, wait_list, out_event);
}

// The numbers of a launch, which are others each time.
static void expect_numbers(void)
{
    UR_OK(urQueueFinish(queue));
    cr_assert_eq(out[0], values.a);
    cr_assert_eq(out[2], values.c);
    cr_assert_eq(out[3], values.d);
    cr_assert_eq(out[5], values.f[0] + 10 * values.f[1] + 100 * values.f[2] + 1000 * values.f[3]);
    cr_assert_eq(out[7], values.g.second);
    memset(out, 0, COUNT * sizeof(*out));
}

static void change_numbers(void)
{
    values.a++;
    values.c += 3;
    values.d -= 5;
    values.f[2] += 1;
    values.g.second += 7;
}

static void launch_well(void)
{
    ur_event_handle_t events[2];
    set_good_launch();
    change_numbers();
    UR_OK(launch(0, NULL, NULL));
    expect_numbers();
    change_numbers();
    UR_OK(launch(0, NULL, &events[0]));
    UR_OK(launch(1, &events[0], &events[1]));
    expect_numbers();
    UR_OK(urEventRelease(events[0]));
    UR_OK(urEventRelease(events[1]));
}

// `next`, without events, with one, and after one.
static void refuses(ur_result_t expected, const char *what)
{
    ur_event_handle_t before, event = NULL;
    const struct launch wrong = next;
    for (int i = 0; i < 3; i++) {
        launch_well();
        UR_OK(launch(0, NULL, &before));
        UR_OK(urQueueFinish(queue));
        memset(out, 0, COUNT * sizeof(*out));
        struct launch good = next;
        next = wrong;
        const ur_result_t result =
            launch(i == 2 ? 1 : 0, i == 2 ? &before : NULL, i == 0 ? NULL : &event);
        next = good;
        cr_assert_eq(result, expected, "%s: 0x%x, %s", what, (unsigned)result, ur_last_error());
        cr_assert_null(event);
        UR_OK(urQueueFinish(queue));
        cr_assert_eq(out[3], 0, "%s: launched", what);
        UR_OK(urEventRelease(before));
    }
    set_good_launch();
}

static void takes(const char *what)
{
    const struct launch changed = next;
    for (int i = 0; i < 2; i++) {
        ur_event_handle_t event = NULL;
        launch_well();
        next = changed;
        change_numbers();
        const ur_result_t result = launch(0, NULL, i == 0 ? NULL : &event);
        cr_assert_eq(result, UR_RESULT_SUCCESS, "%s: %s", what, ur_last_error());
        expect_numbers();
        if (event)
            UR_OK(urEventRelease(event));
    }
    launch_well();
    set_good_launch();
}

static void set_up(void)
{
    ur_set_up();
    kernel = ur_kernel("arguments", "store_values");
    queue = ur_queue(gear.device, 0);
    out = ur_shared(COUNT * sizeof(*out));
    set_good_launch();
}

static void tear_down(void)
{
    ur_free(out);
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(kernel));
    ur_tear_down();
}

TestSuite(relaunch, .init = set_up, .fini = tear_down);

Test(relaunch, sees_wrong_arguments)
{
    static const size_t values_size = sizeof(values.c);
    next.arguments[2].value.value = NULL;
    refuses(UR_RESULT_ERROR_INVALID_VALUE, "a value at NULL");
    next.arguments[2].size = values_size + 4;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "a value of another size");
    next.arguments[7] = UR_LOCAL(7, 64);
    refuses(UR_RESULT_ERROR_INVALID_VALUE, "local memory for a pointer");
    next.arguments[2].type = UR_EXP_KERNEL_ARG_TYPE_POINTER;
    refuses(UR_RESULT_ERROR_INVALID_VALUE, "a pointer for a value");
    next.arguments[2].type = (ur_exp_kernel_arg_type_t)77;
    refuses(UR_RESULT_ERROR_INVALID_ENUMERATION, "an unknown type");
    next.arguments[2].index = COUNT;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "an index too large");
    next.arguments[2].index = 1;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "an index twice");
    next.count = COUNT - 1;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "one argument less");
    next.arguments[COUNT] = UR_POINTER(COUNT, out);
    next.count = COUNT + 1;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "one argument more");
    next.list = NULL;
    refuses(UR_RESULT_ERROR_INVALID_NULL_POINTER, "no list");
    next.list = NULL;
    next.count = 0;
    refuses(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "no argument");
}

Test(relaunch, sees_wrong_sizes)
{
    const ur_kernel_launch_ext_properties_t unknown = {
        .stype = UR_STRUCTURE_TYPE_KERNEL_LAUNCH_WORKGROUP_PROPERTY};
    next.global = NULL;
    refuses(UR_RESULT_ERROR_INVALID_NULL_POINTER, "no global size");
    next.work_dim = 0;
    refuses(UR_RESULT_ERROR_INVALID_WORK_DIMENSION, "no dimension");
    next.work_dim = 4;
    refuses(UR_RESULT_ERROR_INVALID_WORK_DIMENSION, "four dimensions");
    next.count = next.work_dim = UINT32_MAX;
    memset(next.sizes, 0, sizeof(next.sizes));
    next.global = next.sizes[1];
    refuses(UR_RESULT_ERROR_INVALID_WORK_DIMENSION, "as many dimensions as can be said");
    next.local = next.sizes[0];
    refuses(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE, "a local size of 0, where none was given");
    next.sizes[2][0] = 3;
    next.local = next.sizes[2];
    refuses(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE, "a local size that does not divide");
    next.properties = &unknown;
    refuses(UR_RESULT_ERROR_INVALID_OPERATION, "an unknown property");
}

// DPC++ tells its user of the group size where the code names it, so it must not, and the text must
// have the driver's reason.
Test(relaunch, does_not_blame_the_group_size_for_what_the_driver_alone_refuses)
{
    static const struct {
        const char *failure, *function;
        ur_result_t expected;
    } cases[] = {
        {"zeKernelSetArgumentValue:1:0x78000016",
         "zeKernelSetArgumentValue returned ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE",
         UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE},
        {"zeKernelSetGroupSize:1:0x78000013",
         "zeKernelSetGroupSize returned ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION",
         UR_RESULT_ERROR_INVALID_SIZE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        launch_well();
        change_numbers();
        next.sizes[1][0] = next.sizes[2][0] = 2 + i;
        next.local = next.sizes[2];
        cr_assert_eq(ze_cpu.set_fail(cases[i].failure), 0);
        UR_FAILS_SAYING(launch(0, NULL, NULL), cases[i].expected, cases[i].function);
        ze_cpu.set_fail("");
    }
    launch_well();
}

Test(relaunch, sees_wrong_wait_lists)
{
    ur_event_handle_t event = NULL;
    launch_well();
    UR_FAILS(launch(1, NULL, NULL), UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(launch(0, &event, NULL), UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(launch(1, &event, NULL), UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(launch(1, &event, &event), UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    event = (ur_event_handle_t)kernel;
    UR_FAILS(launch(1, &event, &event), UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    cr_assert_eq((void *)event, (void *)kernel);
    launch_well();
}

Test(relaunch, takes_changes)
{
    const ur_kernel_launch_ext_properties_t none = {
        .stype = UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES};
    takes("nothing");
    next.local = next.sizes[2];
    takes("a local size, where none was given");
    next.offset = next.sizes[0];
    takes("an offset of 0");
    next.sizes[0][0] = 5;
    next.offset = next.sizes[0];
    takes("an offset");
    next.work_dim = 3;
    takes("more dimensions");
    next.properties = &none;
    takes("properties that say nothing");
    next.arguments[7] = UR_VALUE(7, out);
    takes("a pointer as a value");
    next.arguments[7].size = 0;
    takes("a pointer without a size");
    for (uint32_t i = 0; i < COUNT / 2; i++) {
        const ur_exp_kernel_arg_properties_t other = next.arguments[COUNT - 1 - i];
        next.arguments[COUNT - 1 - i] = next.arguments[i];
        next.arguments[i] = other;
    }
    takes("arguments in another order");
}

// A local size was given, then none, and 0.
Test(relaunch, tells_a_local_size_from_none)
{
    set_good_launch();
    next.local = next.sizes[2];
    for (int i = 0; i < 2; i++) {
        change_numbers();
        UR_OK(launch(0, NULL, NULL));
        expect_numbers();
    }
    next.local = next.sizes[0];
    UR_FAILS(launch(0, NULL, NULL), UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE);
    next.local = NULL;
    change_numbers();
    UR_OK(launch(0, NULL, NULL));
    expect_numbers();
    next.local = next.sizes[0];
    UR_FAILS(launch(0, NULL, NULL), UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE);
}
