// SPDX-License-Identifier: MIT
// Graphs of the function table: commands are added or captured, then executed often.
#include "queue/queue_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static zepi_module_t module;
static zepi_kernel_t add; // sum[i] = a[i] + b[i]
static float *memory;     // four vectors

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &add));
    memory = queue_allocate(4 * ITEMS);
}

static void tear_down(void)
{
    queue_free(memory);
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

static void set_up_two(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("CreateMultipleRootDevices", "2", 1); // of Intel's driver
    set_up();
}

TestSuite(graph, .init = set_up, .fini = tear_down);
TestSuite(graph_of_two, .init = set_up_two, .fini = tear_down);

#define AFTER(...)                                                                                 \
    ((zepi_graph_wait_list_t){(const uint32_t[]){__VA_ARGS__},                                     \
                              sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})
#define AT_ONCE ((zepi_graph_wait_list_t){NULL, 0})

static zepi_graph_t make(zepi_graph_flags_t flags)
{
    zepi_graph_t graph;
    TEST_OK(zepi.graph_create(gear.context, gear.device, flags, &graph));
    return graph;
}

static float *vector(int index)
{
    return memory + (size_t)index * ITEMS;
}

static void expect(int index, float value)
{
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(vector(index)[i], value, "vector %d, item %d: %g", index, i,
                     (double)vector(index)[i]);
}

struct sum {
    zepi_argument_t arguments[3];
    zepi_launch_desc_t desc;
};

static void make_sum(struct sum *sum, int a, int b, int to)
{
    sum->arguments[0] = TEST_POINTER(vector(a));
    sum->arguments[1] = TEST_POINTER(vector(b));
    sum->arguments[2] = TEST_POINTER(vector(to));
    sum->desc = test_launch(add, 3, sum->arguments, ITEMS);
}

static uint32_t add_sum(zepi_graph_t graph, int a, int b, int to, zepi_graph_wait_list_t wait)
{
    struct sum sum;
    uint32_t number;
    make_sum(&sum, a, b, to);
    TEST_OK(zepi.graph_add_launch(graph, &sum.desc, wait, &number));
    return number;
}

static void run(zepi_graph_t graph)
{
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
}

static zepi_graph_info_t info_of(zepi_graph_t graph)
{
    zepi_graph_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.graph_get_info(graph, &info));
    return info;
}

// 0 = 1, 1 = 0, 2 = 0 + 1, 3 = 3 + 2.
Test(graph, commands_are_added_and_executed_after_what_they_wait_for)
{
    const float one = 1;
    uint32_t filled, copied;
    zepi_graph_t graph = make(0);
    TEST_OK(zepi.graph_add_fill(graph, vector(0), &one, sizeof(one), ITEMS * sizeof(float), AT_ONCE,
                                &filled));
    TEST_OK(zepi.graph_add_copy(graph, vector(1), vector(0), ITEMS * sizeof(float), AFTER(filled),
                                &copied));
    const uint32_t added = add_sum(graph, 0, 1, 2, AFTER(filled, copied));
    add_sum(graph, 3, 2, 3, AFTER(added));
    TEST_OK(zepi.graph_finalize(graph));
    expect(0, 0);
    for (int i = 1; i <= 3; i++) {
        run(graph);
        expect(2, 2);
        expect(3, 2 * (float)i);
    }
    const zepi_graph_info_t info = info_of(graph);
    cr_assert(info.is_finalized && !info.is_capturing);
    cr_assert_eq(info.command_count, 4);
    cr_assert_eq(info.context, gear.context);
    cr_assert_eq(info.device, gear.device);
    TEST_OK(zepi.release(graph));
}

// Lists of graphs of both kinds, which do not serve each other.
Test(graph, lists_of_released_graphs_serve_the_next_ones)
{
    enum { ROUNDS = 5, MOST = 40 };
    static const zepi_graph_flags_t kinds[] = {0, ZEPI_GRAPH_UPDATABLE};
    zepi_graph_t graphs[MOST];
    uint64_t made = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < 2; kind++) {
            zepi_graph_t graph = make(kinds[kind]);
            add_sum(graph, 0, 1, 2, AT_ONCE);
            TEST_OK(zepi.graph_finalize(graph));
            run(graph);
            TEST_OK(zepi.release(graph));
        }
        if (round == 0)
            made = ze_cpu.get_count("zeCommandListCreate");
    }
    cr_assert_eq(ze_cpu.get_count("zeCommandListCreate"), made);
    // A bounded number of them: the rest is destroyed.
    for (int i = 0; i < MOST; i++) {
        graphs[i] = make(0);
        add_sum(graphs[i], 0, 1, 2, AT_ONCE);
        TEST_OK(zepi.graph_finalize(graphs[i]));
        run(graphs[i]);
    }
    for (int i = 0; i < MOST; i++)
        TEST_OK(zepi.release(graphs[i]));
    cr_assert_geq(ze_cpu.get_count("zeCommandListDestroy"), MOST - 32);
}

Test(graph, commands_of_queues_are_captured)
{
    const float one = 1;
    struct sum sum;
    zepi_event_t filled, added;
    zepi_queue_t other;
    zepi_graph_t graph = make(0);
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    cr_assert(info_of(graph).is_capturing);
    TEST_OK(zepi.queue_fill(gear.queue, vector(0), &one, sizeof(one), ITEMS * sizeof(float),
                            TEST_NO_WAIT, &filled));
    make_sum(&sum, 0, 0, 1);
    TEST_OK(zepi.queue_launch(other, &sum.desc, WAIT_FOR(filled), &added));
    make_sum(&sum, 1, 2, 2);
    TEST_FAILS(zepi.queue_finish(gear.queue), ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_OK(zepi.queue_launch(gear.queue, &sum.desc, WAIT_FOR(added), NULL));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    expect(0, 0);
    TEST_OK(zepi.graph_finalize(graph));
    for (int i = 1; i <= 3; i++) {
        run(graph);
        expect(2, 2 * (float)i);
    }
    TEST_OK(zepi.release(filled));
    TEST_OK(zepi.release(added));
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(other));
}

// Of graphs with added and with captured commands.
static void check_updates(bool is_captured)
{
    struct sum sum;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    zepi_graph_update_t update = {.number = 0, .launch = &sum.desc};
    make_sum(&sum, 0, 0, 3);
    if (is_captured) {
        TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
        TEST_OK(zepi.queue_launch(gear.queue, &sum.desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_end_capture(gear.queue));
    } else {
        TEST_OK(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL));
    }
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 1;
    TEST_FAILS(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_WRONG_STATE);
    TEST_OK(zepi.graph_finalize(graph));
    run(graph);
    expect(3, 2);
    make_sum(&sum, 3, 3, 2);
    TEST_OK(zepi.graph_update(graph, 1, &update));
    run(graph);
    expect(2, 4);
    expect(3, 2);
    make_sum(&sum, 2, 3, 1);
    TEST_OK(zepi.graph_update(graph, 1, &update));
    run(graph);
    expect(1, 6);
    // A wrong one changes nothing.
    update.number = 1;
    TEST_FAILS(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_INVALID_VALUE);
    update.number = 0;
    sum.desc.argument_count = 2;
    TEST_FAILS(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_INVALID_SIZE);
    memset(vector(1), 0, ITEMS * sizeof(float));
    run(graph);
    expect(1, 6);
    TEST_OK(zepi.release(graph));
}

// The message names the kind of a command, or the number of commands.
Test(graph, other_commands_are_not_updated)
{
    const float one = 1;
    struct sum sum;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    zepi_graph_update_t update = {.number = 0, .launch = &sum.desc};
    make_sum(&sum, 0, 0, 1);
    TEST_OK(zepi.graph_add_fill(graph, vector(0), &one, sizeof(one), sizeof(one), AT_ONCE, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_FAILS_SAYING(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_INVALID_VALUE,
                      "command 0 of the graph is a fill, expected a launch");
    update.number = 1;
    TEST_FAILS_SAYING(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_INVALID_VALUE,
                      "command 1, the graph has 1 commands");
    TEST_OK(zepi.release(graph));
}

Test(graph, launches_are_updated)
{
    check_updates(false);
    check_updates(true);
}

// Copies of one launch: the graph captured the execution of another one twice.
Test(graph, copies_of_a_captured_launch_are_updated_in_one_call)
{
    struct sum sum, first, second;
    zepi_graph_t inner = make(0), outer = make(ZEPI_GRAPH_UPDATABLE);
    // Before, between and behind them, commands without effect.
    const zepi_graph_update_t updates[] = {{.number = 1, .launch = &first.desc},
                                           {.number = 4, .launch = &second.desc},
                                           {.number = 1, .launch = &second.desc}};
    add_sum(inner, 0, 0, 1, AT_ONCE);
    TEST_OK(zepi.graph_finalize(inner));
    TEST_OK(zepi.queue_begin_capture(gear.queue, outer));
    TEST_OK(zepi.queue_execute(gear.queue, inner, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_execute(gear.queue, inner, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.graph_finalize(outer));
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 1;
    make_sum(&first, 0, 0, 2);
    make_sum(&second, 0, 2, 3);
    TEST_OK(zepi.graph_update(outer, 2, updates));
    run(outer);
    expect(1, 0);
    expect(2, 2);
    expect(3, 3);
    // The last one of a launch counts, and a wrong one takes all back.
    memset(vector(2), 0, ITEMS * sizeof(float));
    TEST_OK(zepi.graph_update(outer, 3, updates));
    run(outer);
    expect(2, 0);
    expect(3, 1);
    make_sum(&sum, 0, 0, 2);
    first.desc.argument_count = 2;
    const zepi_graph_update_t wrong[] = {{.number = 4, .launch = &sum.desc},
                                         {.number = 4, .launch = &sum.desc},
                                         {.number = 1, .launch = &first.desc}};
    TEST_FAILS(zepi.graph_update(outer, 3, wrong), ZEPI_ERROR_INVALID_SIZE);
    run(outer);
    expect(2, 0);
    expect(3, 1);
    TEST_OK(zepi.release(outer));
    TEST_OK(zepi.release(inner));
}

static uint64_t changes_of_lists(void)
{
    return ze_cpu.get_count("zeCommandListUpdateMutableCommandsExp");
}

// Memory that was freed may have left its address to other memory, in arguments of all launches.
Test(graph, an_update_after_a_free_sets_the_addresses_of_its_launch_again)
{
    test_ze_cpu_require();
    struct sum sum;
    void *other;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    zepi_graph_update_t update = {.number = 0, .launch = &sum.desc};
    add_sum(graph, 0, 0, 1, AT_ONCE);
    add_sum(graph, 0, 0, 2, AT_ONCE);
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 8 << 20, 0, &other));
    TEST_OK(zepi.usm_free(gear.context, other));
    uint64_t before = changes_of_lists();
    make_sum(&sum, 0, 0, 3);
    TEST_OK(zepi.graph_update(graph, 1, &update));
    if (changes_of_lists() == before)
        cr_skip_test("lists cannot be changed");
    // The other launch, as it was.
    before = changes_of_lists();
    update.number = 1;
    make_sum(&sum, 0, 0, 2);
    TEST_OK(zepi.graph_update(graph, 1, &update));
    cr_assert_eq(changes_of_lists(), before + 1);
    TEST_OK(zepi.graph_update(graph, 1, &update));
    cr_assert_eq(changes_of_lists(), before + 1);
    TEST_OK(zepi.release(graph));
}

static int64_t live_kernels(void)
{
    return (int64_t)ze_cpu.get_count("zeKernelCreate") -
           (int64_t)ze_cpu.get_count("zeKernelDestroy");
}

// Of a kernel that nothing else has, which an update replaces while an execution is under way.
Test(graph, gives_up_a_kernel_once_its_lists_are_recorded_anew)
{
    test_ze_cpu_require();
    const int64_t kernels = live_kernels();
    struct sum sum;
    zepi_kernel_t own;
    zepi_event_t begun;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    TEST_OK(zepi.cache_clear(gear.context));
    zepi_module_t made = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(made, "vector_add", &own));
    TEST_OK(zepi.cache_clear(gear.context));
    make_sum(&sum, 0, 0, 1);
    sum.desc.kernel = own;
    TEST_OK(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL));
    TEST_OK(zepi.release(own));
    TEST_OK(zepi.release(made));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.event_create(gear.context, &begun));
    TEST_OK(zepi.queue_execute(gear.queue, graph, WAIT_FOR(begun), NULL));
    sum.desc.kernel = add;
    const zepi_graph_update_t update = {.number = 0, .launch = &sum.desc};
    TEST_OK(zepi.graph_update(graph, 1, &update));
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 1;
    TEST_OK(zepi.event_signal(begun));
    TEST_OK(zepi.queue_finish(gear.queue));
    expect(1, 2);
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 2;
    run(graph);
    expect(1, 4);
    TEST_OK(zepi.release(begun));
    TEST_OK(zepi.release(graph));
    cr_assert_eq(live_kernels(), kernels);
}

// ---- An execution that waits for an earlier one, and other threads ----

struct executor {
    zepi_graph_t graph;
    zepi_event_t begun; // that the first execution waits for
};

static void *execute_often(void *user)
{
    const struct executor *executor = user;
    for (int i = 0; i < 20; i++)
        TEST_OK(zepi.queue_execute(gear.queue, executor->graph,
                                   i == 0 ? WAIT_FOR(executor->begun) : TEST_NO_WAIT, NULL));
    return NULL;
}

struct writer {
    zepi_graph_t graph;
    struct sum sum; // of the update
    const char *path;
    atomic_bool is_done;
};

static void *update_and_dump(void *user)
{
    struct writer *writer = user;
    const zepi_graph_update_t update = {.number = 0, .launch = &writer->sum.desc};
    TEST_OK(zepi.graph_update(writer->graph, 1, &update));
    TEST_OK(zepi.graph_dump(writer->graph, writer->path));
    atomic_store(&writer->is_done, true);
    return NULL;
}

// Fails after some seconds, rather than to wait for what this thread is to signal.
static bool comes_to_its_end(const struct writer *writer)
{
    for (int i = 0; i < 5000 && !atomic_load(&writer->is_done); i++)
        usleep(2000);
    return atomic_load(&writer->is_done);
}

// The call for an execution waits until the host completes an event of the context.
static void update_while_an_execution_waits(zepi_context_t context)
{
    struct sum sum;
    pthread_t executing, writing;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    struct executor executor = {.graph = graph};
    struct writer writer = {.graph = graph, .path = test_env_scratch_path("running.dot")};
    make_sum(&sum, 0, 0, 3);
    make_sum(&writer.sum, 0, 0, 2);
    TEST_OK(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.event_create(context, &executor.begun));
    const uint64_t waits = ze_cpu.get_count("zeEventHostSynchronize");
    pthread_create(&executing, NULL, execute_often, &executor);
    while (ze_cpu.get_count("zeEventHostSynchronize") == waits)
        sched_yield();
    pthread_create(&writing, NULL, update_and_dump, &writer);
    const bool is_done = comes_to_its_end(&writer);
    expect(3, 0);
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 1;
    TEST_OK(zepi.event_signal(executor.begun));
    pthread_join(writing, NULL);
    pthread_join(executing, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    expect(2, 2);
    TEST_OK(zepi.release(executor.begun));
    TEST_OK(zepi.release(graph));
    cr_assert(is_done, "the update waited for an execution");
}

// The ninth execution waits for the first one.
Test(graph, is_updated_while_an_execution_waits_for_one_that_waits_for_the_host)
{
    test_ze_cpu_require();
    update_while_an_execution_waits(gear.context);
    expect(3, 2);
}

// Of the queue the graph has the last reference, and a command behind the execution waits.
Test(graph, waits_for_no_later_command_of_a_queue_that_it_was_executed_on)
{
    struct sum sum;
    zepi_queue_t queue;
    zepi_event_t event, begun;
    pthread_t writing;
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    struct writer writer = {.graph = graph, .path = test_env_scratch_path("released.dot")};
    make_sum(&sum, 0, 0, 3);
    make_sum(&writer.sum, 0, 0, 2);
    TEST_OK(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    TEST_OK(zepi.event_create(gear.context, &begun));
    TEST_OK(zepi.queue_execute(queue, graph, TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.queue_barrier(queue, WAIT_FOR(begun), NULL));
    TEST_OK(zepi.release(queue));
    pthread_create(&writing, NULL, update_and_dump, &writer);
    const bool is_done = comes_to_its_end(&writer);
    if (is_done)
        TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.event_signal(begun));
    pthread_join(writing, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(begun));
    TEST_OK(zepi.release(graph));
    cr_assert(is_done, "the update waited for a command of a released queue");
}

// The driver's lists do not reach the event: the call waits.
Test(graph_of_two, is_updated_while_an_execution_waits_for_another_device)
{
    test_ze_cpu_require();
    zepi_device_t devices[2];
    zepi_context_t other;
    uint32_t count;
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    TEST_OK(zepi.context_create(1, &devices[1], &other));
    update_while_an_execution_waits(other);
    TEST_OK(zepi.release(other));
}

Test(graph, an_execution_has_a_wait_list_and_an_event)
{
    zepi_event_t begun, done;
    zepi_event_status_t status;
    zepi_graph_t graph = make(0);
    add_sum(graph, 0, 0, 1, AT_ONCE);
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.event_create(gear.context, &begun));
    TEST_OK(zepi.queue_execute(gear.queue, graph, WAIT_FOR(begun), &done));
    TEST_FAILS(zepi.event_wait(1, &done, 20000000), ZEPI_ERROR_NOT_READY);
    TEST_OK(zepi.event_get_status(done, &status));
    cr_assert_eq(status, ZEPI_EVENT_SUBMITTED);
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 4;
    TEST_OK(zepi.event_signal(begun));
    TEST_OK(zepi.event_wait(1, &done, UINT64_MAX));
    expect(1, 8);
    TEST_OK(zepi.release(begun));
    TEST_OK(zepi.release(done));
    TEST_OK(zepi.release(graph));
}

// The graph is released while it runs, the kernel and a buffer before it does.
Test(graph, keeps_what_its_commands_use)
{
    const size_t bytes = ITEMS * sizeof(float);
    zepi_buffer_t buffer;
    zepi_kernel_t kernel;
    zepi_graph_t graph = make(0);
    float twos[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        twos[i] = 2;
    TEST_OK(zepi.buffer_create(gear.context, bytes, twos, &buffer));
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &kernel));
    const zepi_argument_t arguments[] = {{.kind = ZEPI_ARGUMENT_BUFFER, .value = buffer},
                                         {.kind = ZEPI_ARGUMENT_BUFFER, .value = buffer},
                                         TEST_POINTER(vector(1))};
    const zepi_launch_desc_t desc = test_launch(kernel, 3, arguments, ITEMS);
    TEST_OK(zepi.graph_add_launch(graph, &desc, AT_ONCE, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(buffer));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.queue_finish(gear.queue));
    expect(1, 4);
}

Test(graph, what_is_wrong_leaves_the_graph_as_it_was)
{
    const float one = 1;
    const size_t bytes = ITEMS * sizeof(float);
    zepi_graph_t graph = make(0), other;
    zepi_launch_desc_t named = {.size = sizeof(named), .kernel_name = "vector_add", .work_dim = 1};
    struct sum sum;
    zepi_graph_update_t update = {.number = 0, .launch = &sum.desc};
    make_sum(&sum, 0, 0, 1);
    TEST_FAILS(zepi.graph_create(NULL, gear.device, 0, &other), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.graph_create(gear.context, gear.device, 2, &other), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_create(gear.context, gear.device, 0, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_finalize((zepi_graph_t)gear.queue), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.graph_add_fill(graph, vector(0), &one, 3, bytes, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.graph_add_fill(graph, vector(0), NULL, 4, bytes, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_add_copy(graph, vector(0), vector(1), 1 << 20, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.graph_add_copy(graph, vector(0), NULL, bytes, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_add_copy(graph, vector(0), vector(1), bytes, AFTER(0), NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_add_launch(graph, NULL, AT_ONCE, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_add_launch(graph, &named, AT_ONCE, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.queue_end_capture(gear.queue), ZEPI_ERROR_NOT_CAPTURING);
    cr_assert_eq(info_of(graph).command_count, 0);
    TEST_OK(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL));
    TEST_FAILS(zepi.queue_begin_capture(gear.queue, graph), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.graph_finalize(graph));
    TEST_FAILS(zepi.graph_finalize(graph), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.graph_update(graph, 1, &update), ZEPI_ERROR_WRONG_STATE);
    run(graph);
    TEST_OK(zepi.release(graph));
}

// Waits by the host, memory in the order of the queue, native handles.
static void refuse_in_capture(zepi_event_t captured)
{
    zepi_event_status_t status;
    zepi_event_times_t times = {.size = sizeof(times)};
    void *memory_or_handle;
    TEST_FAILS(zepi.queue_finish(gear.queue), ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_FAILS(zepi.event_wait(1, &captured, 0), ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_OK(zepi.event_get_status(captured, &status));
    cr_assert_eq(status, ZEPI_EVENT_SUBMITTED);
    TEST_FAILS(zepi.event_get_times(captured, &times), ZEPI_ERROR_UNSUPPORTED);
    TEST_FAILS(zepi.event_get_native(captured, &memory_or_handle), ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_FAILS(zepi.event_signal(captured), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.queue_get_native(gear.queue, &memory_or_handle),
               ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_FAILS(zepi.queue_allocate(gear.queue, NULL, ZEPI_USM_SHARED, 64, 0, TEST_NO_WAIT,
                                   &memory_or_handle, NULL),
               ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_FAILS(zepi.queue_free(gear.queue, memory, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_CAPTURE_UNSUPPORTED);
}

Test(graph, what_a_capture_does_not_take_leaves_it_as_it_was)
{
    struct sum sum;
    zepi_event_t captured, foreign;
    zepi_queue_t other;
    zepi_graph_t graph = make(0), second = make(0);
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    TEST_FAILS(zepi.queue_begin_capture(gear.queue, second), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.queue_begin_capture(other, graph), ZEPI_ERROR_WRONG_STATE);
    TEST_OK(zepi.queue_begin_capture(other, second));
    TEST_OK(zepi.queue_marker(other, TEST_NO_WAIT, &foreign));
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &captured));
    refuse_in_capture(captured);
    TEST_FAILS(zepi.queue_marker(gear.queue, WAIT_FOR(foreign), NULL), ZEPI_ERROR_CAPTURE_MERGE);
    TEST_FAILS(zepi.queue_execute(gear.queue, second, TEST_NO_WAIT, NULL), ZEPI_ERROR_WRONG_STATE);
    cr_assert_eq(info_of(graph).command_count, 1);
    make_sum(&sum, 0, 0, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &sum.desc, TEST_NO_WAIT, NULL));
    // The capture has a reference.
    TEST_OK(zepi.release(second));
    TEST_OK(zepi.queue_end_capture(other));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_FAILS(zepi.event_wait(1, &captured, 0), ZEPI_ERROR_CAPTURED_EVENT);
    TEST_FAILS(zepi.graph_add_launch(graph, &sum.desc, AT_ONCE, NULL), ZEPI_ERROR_WRONG_STATE);
    TEST_OK(zepi.graph_finalize(graph));
    for (int i = 0; i < ITEMS; i++)
        vector(0)[i] = 2;
    run(graph);
    expect(1, 4);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(foreign));
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(other));
}

Test(graph, a_capture_that_fails_cannot_be_executed)
{
    zepi_event_t marked;
    zepi_queue_t other;
    zepi_graph_t graph = make(0);
    uint32_t number;
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    TEST_FAILS(zepi.graph_finalize(graph), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(
        zepi.graph_add_copy(graph, vector(0), vector(1), ITEMS * sizeof(float), AT_ONCE, &number),
        ZEPI_ERROR_WRONG_STATE);
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &marked));
    TEST_OK(zepi.queue_marker(other, WAIT_FOR(marked), NULL));
    TEST_FAILS(zepi.queue_end_capture(other), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.queue_end_capture(gear.queue), ZEPI_ERROR_CAPTURE_UNJOINED);
    TEST_FAILS(zepi.graph_finalize(graph), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.queue_marker(other, WAIT_FOR(marked), NULL), ZEPI_ERROR_CAPTURED_EVENT);
    TEST_OK(zepi.release(marked));
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(other));
}

Test(graph, is_written_for_graphviz)
{
    zepi_graph_t graph = make(0);
    add_sum(graph, 0, 1, 2, AT_ONCE);
    add_sum(graph, 2, 1, 3, AFTER(0));
    const char *path = test_env_scratch_path("graph.dot");
    TEST_OK(zepi.graph_dump(graph, path));
    struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    cr_assert(strstr(text, "launch vector_add") && strstr(text, "c0 -> c1"));
    free(text);
    free(bytes.data);
    TEST_FAILS(zepi.graph_dump(graph, "/no/such/folder/graph.dot"), ZEPI_ERROR_UNKNOWN);
    TEST_FAILS(zepi.graph_dump(graph, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(graph));
}
