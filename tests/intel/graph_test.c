// SPDX-License-Identifier: MIT
// Kernels and copies begin when the commands that they wait for have ended, in any queue. The order
// in which engines began and ended them decides, never a clock.
#include "intel.h"

#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS 400
#define QUEUES 6
#define WAITS 3
#define COPY_BYTES 64
#define KERNEL_US "DRM_SHIM_KERNEL_US=300"
// In an argument of each kernel: the command's number below it.
#define MARK 0x7e5a0000u

struct command {
    bool is_copy;
    unsigned queue;
    unsigned wait_count;
    int waits[WAITS];    // earlier commands
    uint64_t begin, end; // in the trace, 0: not seen
    unsigned engine;     // the kernel driver's queue
    zepi_event_t event;
};

static struct test_gear gear;
static zepi_kernel_t kernel;
static zepi_queue_t queues[QUEUES];
static char *memory; // COMMANDS destinations, then one source
static struct command commands[COMMANDS];

static bool is_in_order(unsigned queue)
{
    return queue % 2 == 0;
}

static void set_up(void)
{
    void *allocated;
    test_plugin_load();
    gear = test_gear_create(0);
    kernel = test_kernel(gear.context, "spin", "spin");
    for (unsigned i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_create(gear.context, gear.device,
                                  (is_in_order(i) ? ZEPI_QUEUE_IN_ORDER : 0) |
                                      (i >= 4 ? ZEPI_QUEUE_PROFILING : 0),
                                  &queues[i]));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE,
                              (COMMANDS + 1) * COPY_BYTES, 0, &allocated));
    memory = allocated;
}

static void tear_down(void)
{
    for (int i = 0; i < COMMANDS; i++) {
        if (commands[i].event)
            TEST_OK(zepi.release(commands[i].event));
    }
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.release(queues[i]));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static void launch(zepi_queue_t queue, uint32_t number, zepi_wait_list_t wait, zepi_event_t *event)
{
    const uint32_t mark = MARK + number;
    const zepi_argument_t arguments[] = {TEST_VALUE(mark), TEST_POINTER(memory)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 64);
    TEST_OK(zepi.queue_launch(queue, &desc, wait, event));
}

static void copy(zepi_queue_t queue, uint32_t number, zepi_wait_list_t wait, zepi_event_t *event)
{
    TEST_OK(zepi.queue_copy(queue, memory + (size_t)number * COPY_BYTES,
                            memory + (size_t)COMMANDS * COPY_BYTES, COPY_BYTES, wait, event));
}

static void enqueue(int number)
{
    struct command *command = &commands[number];
    zepi_event_t events[WAITS];
    *command = (struct command){.is_copy = intel_random() % 4 == 0,
                                .queue = (unsigned)(intel_random() % QUEUES)};
    for (unsigned i = 0; number > 0 && i < intel_random() % (WAITS + 1); i++) {
        // Mostly one of the last ones, which is not over yet.
        const int back = 1 + (int)(intel_random() % (intel_random() % 4 ? 8 : 200));
        command->waits[command->wait_count] = number > back ? number - back : 0;
        events[command->wait_count] = commands[command->waits[command->wait_count]].event;
        command->wait_count++;
    }
    const zepi_wait_list_t wait = {events, command->wait_count};
    (command->is_copy ? copy : launch)(queues[command->queue], (uint32_t)number, wait,
                                       &command->event);
}

// ---- Which command a line of the trace is ----

// The copy whose destination this is, or -1.
static int find_copy(uint64_t to)
{
    const uint64_t start = (uint64_t)(uintptr_t)memory;
    const uint64_t number = (to - start) / COPY_BYTES;
    return to >= start && number < COMMANDS && commands[number].is_copy &&
                   (to - start) % COPY_BYTES == 0
               ? (int)number
               : -1;
}

// A kernel has its mark, or, if the driver copies with a kernel, the destination in its arguments.
static int find_kernel(const struct intel_command *line)
{
    int found = -1;
    for (size_t at = 0; at + 4 <= line->payload_bytes && found < 0; at += 4) {
        uint32_t value;
        uint64_t address;
        memcpy(&value, line->payload + at, sizeof(value));
        if ((value & 0xffff0000u) == MARK && (value & 0xffffu) < COMMANDS)
            found = (int)(value & 0xffffu);
        if (found < 0 && at + 8 <= line->payload_bytes) {
            memcpy(&address, line->payload + at, sizeof(address));
            found = find_copy(address);
        }
    }
    return found;
}

static void read_trace(int count)
{
    struct intel_trace trace = intel_trace_read();
    static int of_kernel[8 * COMMANDS]; // the command of a kernel's number in the trace, + 1
    memset(of_kernel, 0, sizeof(of_kernel));
    for (size_t i = 0; i < trace.count; i++) {
        const struct intel_command *line = &trace.commands[i];
        int number = -1;
        INTEL_EXPECT(!strstr(line->text, " error "), "the GPU saw: %s", line->text);
        if (line->kind == INTEL_BEGIN) {
            number = find_kernel(line);
            INTEL_EXPECT(number >= 0 && line->kernel < 8 * COMMANDS, "an unknown kernel: %s",
                         line->text);
            of_kernel[line->kernel] = number + 1;
        } else if (line->kind == INTEL_END && line->kernel < 8 * COMMANDS) {
            number = of_kernel[line->kernel] - 1;
        } else if (line->kind == INTEL_COPY) {
            number = find_copy(line->to);
        }
        if (number < 0)
            continue;
        struct command *command = &commands[number];
        if (line->kind != INTEL_END)
            command->begin = command->begin ? command->begin : line->sequence;
        if (line->kind != INTEL_BEGIN)
            command->end = line->sequence;
        command->engine = line->queue;
    }
    for (int i = 0; i < count; i++)
        INTEL_EXPECT(commands[i].begin && commands[i].end, "command %d %s", i,
                     commands[i].begin ? "did not end" : "did not reach the GPU");
    intel_trace_finish(&trace);
}

static void expect_order(int before, int after, const char *why)
{
    INTEL_EXPECT(commands[before].end < commands[after].begin ||
                     (commands[before].is_copy && commands[before].end == commands[after].begin),
                 "command %d (queue %u) began at %llu, before command %d (queue %u) ended at %llu: "
                 "%s",
                 after, commands[after].queue, (unsigned long long)commands[after].begin, before,
                 commands[before].queue, (unsigned long long)commands[before].end, why);
}

static int finish_and_read(int count)
{
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_finish(queues[i]));
    read_trace(count);
    return count;
}

// ---- Stories ----

static void random_graph(void)
{
    int last[QUEUES];
    memset(last, -1, sizeof(last));
    set_up();
    for (int i = 0; i < COMMANDS; i++)
        enqueue(i);
    finish_and_read(COMMANDS);
    for (int i = 0; i < COMMANDS; i++) {
        const struct command *command = &commands[i];
        for (unsigned at = 0; at < command->wait_count; at++)
            expect_order(command->waits[at], i, "it waits for it");
        if (is_in_order(command->queue) && last[command->queue] >= 0)
            expect_order(last[command->queue], i, "their queue is in order");
        last[command->queue] = i;
    }
    tear_down();
}

static void barriers(void)
{
    set_up();
    enum { PARTS = 8, PART = 10 };
    for (int i = 0; i < PARTS * PART; i++) {
        commands[i].queue = 1;
        if (i > 0 && i % PART == 0)
            TEST_OK(zepi.queue_barrier(queues[1], TEST_NO_WAIT, NULL));
        launch(queues[1], (uint32_t)i, TEST_NO_WAIT, NULL);
    }
    finish_and_read(PARTS * PART);
    for (int i = 0; i < PARTS * PART; i++) {
        for (int before = 0; before < i / PART * PART; before++)
            expect_order(before, i, "a barrier stands between them");
    }
    tear_down();
}

// A command that waits for the host does not reach the GPU before the host says so.
static void host_gate(void)
{
    set_up();
    for (unsigned i = 0; i < QUEUES; i++) {
        zepi_event_t gate;
        zepi_event_status_t status;
        TEST_OK(zepi.event_create(gear.context, &gate));
        launch(queues[i], i, (zepi_wait_list_t){&gate, 1}, &commands[i].event);
        TEST_FAILS(zepi.event_wait(1, &commands[i].event, 20000000), ZEPI_ERROR_NOT_READY);
        TEST_OK(zepi.event_get_status(commands[i].event, &status));
        INTEL_EXPECT(status != ZEPI_EVENT_COMPLETE, "queue %u: complete before the host's event",
                     i);
        struct intel_trace trace = intel_trace_read();
        INTEL_EXPECT(intel_trace_count(&trace, INTEL_BEGIN) == 0,
                     "queue %u: the kernel began before the host's event", i);
        intel_trace_finish(&trace);
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.event_wait(1, &commands[i].event, UINT64_MAX));
        TEST_OK(zepi.event_get_status(commands[i].event, &status));
        INTEL_EXPECT(status == ZEPI_EVENT_COMPLETE, "queue %u: waited for, but not complete", i);
        trace = intel_trace_read();
        INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 1, "queue %u: no kernel ended", i);
        intel_trace_finish(&trace);
        TEST_OK(zepi.release(gate));
    }
    tear_down();
}

// Small and large copies in queues of each kind: no kernel does them.
static void copies(void)
{
    enum { LARGE = 4 << 20 };
    void *from;
    void *to;
    set_up();
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, LARGE, 0, &from));
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, LARGE, 0, &to));
    struct intel_trace begin = intel_trace_read(); // the driver's own copies
    intel_trace_finish(&begin);
    for (int i = 0; i < QUEUES; i++) {
        TEST_OK(zepi.queue_copy(queues[i], to, from, COPY_BYTES, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_copy(queues[i], to, from, LARGE, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(queues[i]));
        uint64_t copied = 0;
        struct intel_trace trace = intel_trace_read();
        for (size_t at = 0; at < trace.count; at++) {
            const struct intel_command *line = &trace.commands[at];
            INTEL_EXPECT(line->kind != INTEL_BEGIN, "queue %d copies by a kernel: %s", i,
                         line->text);
            copied += line->kind == INTEL_COPY ? line->width * line->height : 0;
        }
        INTEL_EXPECT(copied == COPY_BYTES + LARGE, "queue %d: %llu bytes were copied", i,
                     (unsigned long long)copied);
        intel_trace_finish(&trace);
    }
    TEST_OK(zepi.usm_free(gear.context, from));
    TEST_OK(zepi.usm_free(gear.context, to));
    tear_down();
}

#define DIRECT "EnableDirectSubmission=1"
#define OLD "ZEPI_NEWER_FUNCTIONS=off"
static const struct intel_story stories[] = {
    {"commands_begin_when_all_that_they_wait_for_has_ended", random_graph, {KERNEL_US}},
    {"and_without_the_newer_functions", random_graph, {KERNEL_US, OLD}},
    {"and_with_direct_submission", random_graph, {KERNEL_US, DIRECT}},
    {"a_barrier_stands_between_what_is_before_and_behind_it", barriers, {KERNEL_US}},
    {"and_without_the_newer_functions_a_barrier_does", barriers, {KERNEL_US, OLD}},
    {"nothing_begins_before_the_host_signals", host_gate, {KERNEL_US}},
    {"copies_are_done_by_the_copy_engine", copies, {NULL}},
    {"and_with_direct_submission_they_are", copies, {DIRECT}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
