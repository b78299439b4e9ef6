// SPDX-License-Identifier: MIT
// What runs at the same time as a kernel that takes time, once a family: a copy of another queue by
// the copy engine, and another kernel of the same graph.
#include "intel.h"

#include "test_plugin.h"

#include <sched.h>

#define KERNEL_US 1000000
#define BYTES (1u << 20)

static struct test_gear gear;
static zepi_kernel_t empty;

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    empty = test_kernel(gear.context, "empty", "empty");
}

static void tear_down(void)
{
    TEST_OK(zepi.release(empty));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static void forget_trace(void)
{
    struct intel_trace trace = intel_trace_read();
    intel_trace_finish(&trace);
}

// ---- A copy ----

static void *memory[2];

static void launch(void)
{
    const zepi_launch_desc_t desc = test_launch(empty, 0, NULL, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
}

// Asks for the event's status. A wait is for all that the compute engine was given, in some drivers
// (quirk waits-for-engine).
static void copy(zepi_queue_t copies)
{
    zepi_event_t event;
    zepi_event_status_t status;
    TEST_OK(zepi.queue_copy(copies, memory[1], memory[0], BYTES, TEST_NO_WAIT, &event));
    do {
        sched_yield();
        TEST_OK(zepi.event_get_status(event, &status));
    } while (status != ZEPI_EVENT_COMPLETE);
    TEST_OK(zepi.release(event));
}

// The trace has the kernel's begin, which is not read again.
static void wait_until_a_kernel_runs(void)
{
    for (size_t begun = 0; begun == 0;) {
        struct intel_trace trace = intel_trace_read();
        begun = intel_trace_count(&trace, INTEL_BEGIN);
        INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 0, "the kernel took no time");
        intel_trace_finish(&trace);
    }
}

static void expect_copy_beside_kernel(zepi_queue_t copies)
{
    intel_set_kernel_time(KERNEL_US);
    launch();
    wait_until_a_kernel_runs();
    copy(copies);
    struct intel_trace trace = intel_trace_read();
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_COPY) > 0, "the copy engine copied nothing");
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 0, "the copy waited for the kernel");
    intel_trace_finish(&trace);
    TEST_OK(zepi.queue_finish(gear.queue));
    trace = intel_trace_read();
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 1, "the kernel did not end");
    intel_trace_finish(&trace);
}

static void copies_of(zepi_queue_flags_t flags)
{
    zepi_queue_t copies;
    set_up();
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &copies));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, BYTES, 0, &memory[0]));
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, BYTES, 0, &memory[1]));
    // First uses make things.
    launch();
    copy(copies);
    TEST_OK(zepi.queue_finish(gear.queue));
    forget_trace();
    expect_copy_beside_kernel(copies);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.usm_free(gear.context, memory[i]));
    TEST_OK(zepi.release(copies));
    tear_down();
}

static void a_copy_is_complete_while_a_kernel_runs(void)
{
    copies_of(ZEPI_QUEUE_IN_ORDER);
}

static void a_copy_in_any_order_is_complete_while_a_kernel_runs(void)
{
    copies_of(0);
}

// ---- A graph ----

static zepi_graph_t graph_of_two(bool is_chain)
{
    static const uint32_t first = 0;
    const zepi_launch_desc_t desc = test_launch(empty, 0, NULL, 1);
    const zepi_graph_wait_list_t wait = {.numbers = &first, .count = is_chain ? 1 : 0};
    zepi_graph_t graph;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_OK(zepi.graph_add_launch(graph, &desc, (zepi_graph_wait_list_t){0}, NULL));
    TEST_OK(zepi.graph_add_launch(graph, &desc, wait, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    return graph;
}

// How many kernels ran at once, at most.
static size_t kernels_at_once(zepi_graph_t graph)
{
    size_t running = 0, at_once = 0;
    forget_trace();
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    struct intel_trace trace = intel_trace_read();
    for (size_t i = 0; i < trace.count; i++) {
        running += trace.commands[i].kind == INTEL_BEGIN;
        running -= trace.commands[i].kind == INTEL_END;
        at_once = running > at_once ? running : at_once;
    }
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 2, "%zu kernels ended",
                 intel_trace_count(&trace, INTEL_END));
    intel_trace_finish(&trace);
    return at_once;
}

static void kernels_of_a_graph_overlap_unless_one_waits_for_the_other(void)
{
    set_up();
    zepi_graph_t free_ones = graph_of_two(false), chain = graph_of_two(true);
    intel_set_kernel_time(KERNEL_US / 20);
    const size_t of_free_ones = kernels_at_once(free_ones), of_chain = kernels_at_once(chain);
    INTEL_EXPECT(of_free_ones == 2, "%zu kernels ran at once", of_free_ones);
    INTEL_EXPECT(of_chain == 1, "%zu kernels of a chain ran at once", of_chain);
    TEST_OK(zepi.release(free_ones));
    TEST_OK(zepi.release(chain));
    tear_down();
}

#define STORY(function, product, ...)                                                              \
    {                                                                                              \
#function "@" product, function,                                                           \
        {                                                                                          \
            "DRM_SHIM_PRODUCT=" product, __VA_ARGS__                                               \
        }                                                                                          \
    }
#define COPY(product, ...) STORY(a_copy_is_complete_while_a_kernel_runs, product, __VA_ARGS__)
#define COPY_IN_ANY_ORDER(product, ...)                                                            \
    STORY(a_copy_in_any_order_is_complete_while_a_kernel_runs, product, __VA_ARGS__)
#define GRAPH(product, ...)                                                                        \
    STORY(kernels_of_a_graph_overlap_unless_one_waits_for_the_other, product, __VA_ARGS__)
// The copy engine is the driver's choice for copies of queues in order, which it makes for bmg and
// pvc alone. Of integrated GPUs it shows no copy engine otherwise, and none of Gen12LP at all.
#define BLITTER "EnableBlitterForEnqueueOperations=1"
// One tile: each kernel begins once.
#define ONE_TILE "ZE_FLAT_DEVICE_HIERARCHY=FLAT"

static const struct intel_story stories[] = {COPY("bmg", NULL),
                                             COPY("pvc", NULL),
                                             COPY_IN_ANY_ORDER("bmg", NULL),
                                             COPY_IN_ANY_ORDER("pvc", NULL),
                                             COPY_IN_ANY_ORDER("dg2", NULL),
                                             COPY_IN_ANY_ORDER("dg2-i915", NULL),
                                             COPY_IN_ANY_ORDER("lnl", BLITTER),
                                             COPY_IN_ANY_ORDER("mtl", BLITTER),
                                             GRAPH("bmg", NULL),
                                             GRAPH("pvc", ONE_TILE),
                                             GRAPH("dg2", NULL),
                                             GRAPH("dg2-i915", NULL),
                                             GRAPH("lnl", NULL),
                                             GRAPH("mtl", NULL),
                                             GRAPH("tgl", NULL),
                                             {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
