// SPDX-License-Identifier: MIT
// Copies of memory that the driver did not allocate.
#include "copy/host_copies.h"

#include "test_plugin.h"

#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static zepi_image_t image;
static zepi_queue_t queues[2]; // the second is NULL, or takes turns with the first
static zepi_queue_t queue;     // the one that is at work
static bool is_any_order;
static zepi_event_t gate;
static zepi_graph_t graph;

static zepi_wait_list_t gate_list(bool waits)
{
    return waits ? (zepi_wait_list_t){&gate, 1} : TEST_NO_WAIT;
}

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(0);
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .shape = ZEPI_IMAGE_2D,
                                    .channel_count = 1,
                                    .channel_bytes = 4,
                                    .channel_type = ZEPI_CHANNEL_UINT,
                                    .width = COPY_IMAGE_WIDTH,
                                    .height = COPY_IMAGE_HEIGHT};
    TEST_OK(zepi.image_create(gear.context, gear.device, &desc, &image));
}

static void tear_down(void)
{
    TEST_OK(zepi.release(image));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static void *allocate(unsigned kind, size_t bytes)
{
    static const zepi_usm_kind_t kinds[] = {ZEPI_USM_DEVICE, ZEPI_USM_HOST, ZEPI_USM_SHARED};
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, kind == 1 ? NULL : gear.device, kinds[kind], bytes, 0,
                              &memory));
    return memory;
}

static void free_memory(void *memory)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
}

static zepi_queue_flags_t flags_of(enum copy_queue kind)
{
    switch (kind) {
    case COPIES_ANY_ORDER:
        return 0;
    case COPIES_ANY_ORDER_TIMED:
        return ZEPI_QUEUE_PROFILING;
    case COPIES_IN_ORDER_TIMED:
        return ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING;
    default:
        return ZEPI_QUEUE_IN_ORDER;
    }
}

static void begin(enum copy_queue kind)
{
    void *native;
    is_any_order = !(flags_of(kind) & ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags_of(kind), &queues[0]));
    if (kind == COPIES_IN_TURNS)
        TEST_OK(zepi.queue_create(gear.context, gear.device, flags_of(kind), &queues[1]));
    if (kind == COPIES_EXPORTED)
        TEST_OK(zepi.queue_get_native(queues[0], &native));
    queue = queues[0];
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
}

static void end(void)
{
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.release(queues[0]));
    if (queues[1])
        TEST_OK(zepi.release(queues[1]));
    queues[1] = NULL;
}

static void close_gate(void)
{
    TEST_OK(zepi.queue_barrier(queue, gate_list(true), NULL));
}

static void open_gate(void)
{
    TEST_OK(zepi.event_signal(gate));
}

static void finish(void)
{
    TEST_OK(zepi.queue_finish(queues[0]));
    if (queues[1])
        TEST_OK(zepi.queue_finish(queues[1]));
}

static void order(void)
{
    zepi_event_t event;
    if (is_any_order)
        TEST_OK(zepi.queue_barrier(queue, TEST_NO_WAIT, NULL));
    if (!queues[1])
        return;
    TEST_OK(zepi.queue_marker(queue, TEST_NO_WAIT, &event));
    queue = queue == queues[0] ? queues[1] : queues[0];
    TEST_OK(zepi.queue_barrier(queue, (zepi_wait_list_t){&event, 1}, NULL));
    TEST_OK(zepi.release(event));
}

static void copy(void *to, const void *from, size_t bytes, bool waits)
{
    TEST_OK(zepi.queue_copy(queue, to, from, bytes, gate_list(waits), NULL));
}

static void copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, bool waits)
{
    const zepi_rect_t to_rect = {.row_pitch_bytes = to_pitch};
    const zepi_rect_t from_rect = {.row_pitch_bytes = from_pitch};
    const size_t region[3] = {width, height, 1};
    TEST_OK(zepi.queue_copy_rect(queue, to, &to_rect, from, &from_rect, region, gate_list(waits),
                                 NULL));
}

static void write_image(const void *from)
{
    TEST_OK(zepi.queue_copy_to_image(queue, image, NULL, from, 0, 0, TEST_NO_WAIT, NULL));
}

static void read_image(void *to, bool waits)
{
    TEST_OK(zepi.queue_copy_from_image(queue, to, 0, 0, image, NULL, gate_list(waits), NULL));
}

static bool has_host_functions(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_info(gear.device, &info));
    return info.has_host_functions;
}

static void call_host(void (*function)(void *), void *data)
{
    TEST_OK(zepi.queue_call_host(queue, function, data, TEST_NO_WAIT, NULL));
}

static void record(void *to, const void *from, size_t bytes)
{
    TEST_OK(zepi.graph_add_copy(graph, to, from, bytes, (zepi_graph_wait_list_t){0}, NULL));
    TEST_OK(zepi.graph_finalize(graph));
}

static void execute(void)
{
    TEST_OK(zepi.queue_execute(queue, graph, TEST_NO_WAIT, NULL));
}

static const struct copy_door table = {.set_up = set_up,
                                       .tear_down = tear_down,
                                       .allocate = allocate,
                                       .free = free_memory,
                                       .begin = begin,
                                       .end = end,
                                       .close_gate = close_gate,
                                       .open_gate = open_gate,
                                       .finish = finish,
                                       .order = order,
                                       .copy = copy,
                                       .copy_rows = copy_rows,
                                       .write_image = write_image,
                                       .read_image = read_image,
                                       .has_host_functions = has_host_functions,
                                       .call_host = call_host,
                                       .record = record,
                                       .execute = execute};

static void copies_read_plain_memory_when_it_is_their_turn(void)
{
    host_copies_run(&table);
}

// ---- Commands that zepi did not enqueue in this queue ----

#define BYTES 4096

// The host writes the source of the last copy before it signals the event.
static void write_and_compare(zepi_event_t event, unsigned char *plain, unsigned char *memory)
{
    memset(plain, 2, BYTES);
    TEST_OK(zepi.event_signal(event));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (size_t i = 0; i < BYTES; i++)
        INTEL_EXPECT(memory[i] == 2, "byte %zu is %u", i, memory[i]);
}

static void a_copy_waits_for_an_event_of_another_context(void)
{
    static const zepi_queue_flags_t kinds[] = {ZEPI_QUEUE_IN_ORDER, 0};
    test_plugin_load();
    for (int i = 0; i < 2; i++) {
        zepi_context_t other;
        zepi_event_t event;
        gear = test_gear_create(kinds[i]);
        unsigned char *plain = calloc(1, BYTES);
        unsigned char *memory = allocate(1, BYTES);
        TEST_OK(zepi.context_create(1, &gear.device, &other));
        TEST_OK(zepi.event_create(other, &event));
        TEST_OK(
            zepi.queue_copy(gear.queue, memory, plain, BYTES, (zepi_wait_list_t){&event, 1}, NULL));
        write_and_compare(event, plain, memory);
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(other));
        free_memory(memory);
        free(plain);
        test_gear_destroy(&gear);
    }
    test_plugin_unload();
}

static void a_copy_waits_for_commands_that_the_host_appended_itself(void)
{
    typedef ze_result_t append_barrier(ze_command_list_handle_t, ze_event_handle_t, uint32_t,
                                       ze_event_handle_t *);
    append_barrier *append;
    void *list;
    void *waited;
    zepi_event_t event;
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    void *symbol = dlsym(dlopen("libze_loader.so.1", RTLD_NOW), "zeCommandListAppendBarrier");
    memcpy(&append, &symbol, sizeof(append));
    unsigned char *plain = calloc(1, BYTES);
    unsigned char *memory = allocate(1, BYTES);
    TEST_OK(zepi.event_create(gear.context, &event));
    TEST_OK(zepi.event_get_native(event, &waited));
    TEST_OK(zepi.queue_get_native(gear.queue, &list));
    ze_event_handle_t waits[] = {waited};
    INTEL_EXPECT(append(list, NULL, 1, waits) == ZE_RESULT_SUCCESS, "no barrier");
    TEST_OK(zepi.queue_copy(gear.queue, memory, plain, BYTES, TEST_NO_WAIT, NULL));
    write_and_compare(event, plain, memory);
    TEST_OK(zepi.release(event));
    free_memory(memory);
    free(plain);
    test_gear_destroy(&gear);
    test_plugin_unload();
}

// ---- The driver's mappings of plain memory ----

static zepi_kernel_t kernel; // empty

static void launch(zepi_queue_t to, zepi_event_t *out_event)
{
    const zepi_launch_desc_t launch = test_launch(kernel, 0, NULL, 1);
    TEST_OK(zepi.queue_launch(to, &launch, TEST_NO_WAIT, out_event));
}

static void wait_and_release(zepi_event_t event)
{
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
}

// Rows, behind a kernel and an event of the host's. Meanwhile a thread sees another queue complete,
// and has the driver release what it takes for unused.
static void copy_rows_behind_gate(unsigned char *to, const unsigned char *from, zepi_queue_t other)
{
    const zepi_rect_t rect = {.row_pitch_bytes = BYTES / 8};
    const size_t region[3] = {BYTES / 16, 8, 1};
    zepi_event_t event;
    TEST_OK(zepi.event_create(gear.context, &gate));
    launch(gear.queue, &event);
    TEST_OK(
        zepi.queue_copy_rect(gear.queue, to, &rect, from, &rect, region, gate_list(true), NULL));
    for (int i = 0; i < 5; i++) {
        launch(other, NULL);
        TEST_OK(zepi.queue_finish(other));
    }
    open_gate();
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(gate));
}

static void set_up_with_kernel(zepi_queue_flags_t flags)
{
    gear = test_gear_create(flags);
    kernel = test_kernel(gear.context, "empty", "empty");
}

static void tear_down_with_kernel(void)
{
    TEST_OK(zepi.release(kernel));
    test_gear_destroy(&gear);
}

static void plain_memory_stays_mapped_until_its_rectangle_is_copied(void)
{
    static const zepi_queue_flags_t kinds[] = {ZEPI_QUEUE_IN_ORDER,
                                               ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, 0};
    test_plugin_load();
    for (int i = 0; i < 3; i++) {
        zepi_queue_t other;
        set_up_with_kernel(kinds[i]);
        TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
        unsigned char *plain = malloc(BYTES);
        unsigned char *memory = allocate(0, BYTES);
        memset(plain, 7, BYTES);
        copy_rows_behind_gate(memory, plain, other);
        memset(plain, 0, BYTES);
        copy_rows_behind_gate(plain, memory, other);
        for (size_t at = 0; at < BYTES; at++) {
            const int expected = at % (BYTES / 8) < BYTES / 16 ? 7 : 0;
            INTEL_EXPECT(plain[at] == expected, "byte %zu is %d", at, plain[at]);
        }
        free_memory(memory);
        free(plain);
        TEST_OK(zepi.release(other));
        tear_down_with_kernel();
    }
    test_plugin_unload();
}

static atomic_bool is_over;

static void *see_completions(void *unused)
{
    (void)unused;
    zepi_queue_t other;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &other));
    while (!atomic_load(&is_over)) {
        zepi_event_t event;
        launch(other, &event);
        wait_and_release(event);
    }
    TEST_OK(zepi.release(other));
    return NULL;
}

// A copy is over while it is still being appended: what a thread releases then has other contents.
static void plain_memory_is_not_released_while_a_copy_is_appended(void)
{
    pthread_t thread;
    const zepi_rect_t rect = {.row_pitch_bytes = BYTES / 8};
    const size_t region[3] = {BYTES / 16, 8, 1};
    unsigned char *plain = malloc(BYTES);
    test_plugin_load();
    set_up_with_kernel(ZEPI_QUEUE_IN_ORDER);
    void *memory = allocate(0, BYTES);
    INTEL_EXPECT(pthread_create(&thread, NULL, see_completions, NULL) == 0, "no thread");
    intel_set_return_time(2000);
    for (int i = 0; i < 100; i++) {
        if (i % 2 == 0)
            TEST_OK(zepi.queue_copy(gear.queue, plain, memory, BYTES, TEST_NO_WAIT, NULL));
        else
            TEST_OK(zepi.queue_copy_rect(gear.queue, memory, &rect, plain, &rect, region,
                                         TEST_NO_WAIT, NULL));
    }
    intel_set_return_time(0);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    free_memory(memory);
    free(plain);
    tear_down_with_kernel();
    test_plugin_unload();
}

#define EXECUTE "DRM_SHIM_EXEC=1"

static const struct intel_story stories[] = {
    {"copies_read_plain_memory_when_it_is_their_turn",
     copies_read_plain_memory_when_it_is_their_turn,
     {EXECUTE}},
    {"and_without_the_newer_functions",
     copies_read_plain_memory_when_it_is_their_turn,
     {EXECUTE, "ZEPI_NEWER_FUNCTIONS=off"}},
    {"a_copy_waits_for_an_event_of_another_context",
     a_copy_waits_for_an_event_of_another_context,
     {EXECUTE}},
    {"a_copy_waits_for_commands_that_the_host_appended_itself",
     a_copy_waits_for_commands_that_the_host_appended_itself,
     {EXECUTE}},
    {"plain_memory_stays_mapped_until_its_rectangle_is_copied",
     plain_memory_stays_mapped_until_its_rectangle_is_copied,
     {EXECUTE}},
    {"plain_memory_is_not_released_while_a_copy_is_appended",
     plain_memory_is_not_released_while_a_copy_is_appended,
     {EXECUTE, "GLIBC_TUNABLES=glibc.rtld.execstack=2:glibc.malloc.perturb=165"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
