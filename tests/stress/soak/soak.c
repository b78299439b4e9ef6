// SPDX-License-Identifier: MIT
// A process of tests/stress/soak/soak.py: until its time is over it runs whole programs (platform
// to numbers, then all of it is released) with a cache folder that other such processes share. Most
// of them meet a failure. Such a program works, or fails with an error text, or with the failure's
// cause; its numbers are right in any case, nothing of it is left in the driver, and the next one
// works.
//
//   soak SECONDS SEED FILE     ZEPI_CACHE_DIR is the folder. FILE begins with COUNTERS numbers of
//                              64 bits, which are added to: they are there after SIGKILL, too.
#include "fault/build_and_run.h"
#include "test_env.h"

#include "core/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 256
#define QUEUES 6

// In the order of soak.py's list.
enum counter {
    PROGRAMS,
    BUILDS,
    LAUNCHES,
    COPIES,
    EXECUTIONS, // of graphs
    EVENTS,
    CREATED_QUEUES,
    FAILED_CALLS, // failures that were met
    FAILED_ALLOCATIONS,
    FAILED_FILES,
    FAILED_PROGRAMS,
    FIRST_KIB, // resident memory, once all kinds of programs have run
    LAST_KIB,
    FIRST_FILES, // open file descriptors
    LAST_FILES,
    COUNTERS,
};

static _Atomic uint64_t *counters; // shared with soak.py
static struct test_ze_cpu ze_cpu;
static unsigned seed;

static void count(enum counter counter, uint64_t number)
{
    atomic_fetch_add_explicit(&counters[counter], number, memory_order_relaxed);
}

static int random_below(int limit)
{
    return (int)((unsigned)rand_r(&seed) % (unsigned)limit);
}

// ---- Failures ----

enum failure { NO_FAILURE, OF_CALL, OF_ALLOCATION, OF_FILE, FAILURES };

static atomic_int left; // the call that brings it to 0 fails; 0: none does
static bool is_of_files;

static int fail_sys(enum zepi_sys_call call)
{
    if ((call != ZEPI_SYS_ALLOCATE) != is_of_files || atomic_load(&left) == 0)
        return 0;
    return atomic_fetch_sub(&left, 1) == 1 ? (is_of_files ? ENOSPC : ENOMEM) : 0;
}

static void arm(enum failure failure, int nth)
{
    static const char *const codes[] = {"ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
                                        "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
                                        "ZE_RESULT_ERROR_DEVICE_LOST", "ZE_RESULT_ERROR_UNKNOWN"};
    char text[64];
    ze_cpu.reset_counts();
    if (failure == OF_CALL) {
        snprintf(text, sizeof(text), "*:%d:%s", nth, codes[random_below(4)]);
        TEST_EXPECT(ze_cpu.set_fail(text) == 0, "ze_cpu refuses to fail");
    } else if (failure != NO_FAILURE) {
        is_of_files = failure == OF_FILE;
        atomic_store(&left, nth);
    }
}

static bool disarm(enum failure failure, int nth)
{
    static const enum counter met[FAILURES] = {
        [OF_CALL] = FAILED_CALLS, [OF_ALLOCATION] = FAILED_ALLOCATIONS, [OF_FILE] = FAILED_FILES};
    bool is_met = false;
    if (failure == OF_CALL) {
        ze_cpu.set_fail("");
        is_met = ze_cpu.get_count("*") >= (uint64_t)nth;
    } else if (failure != NO_FAILURE) {
        is_met = atomic_exchange(&left, 0) == 0;
    }
    if (is_met)
        count(met[failure], 1);
    return is_met;
}

// ---- Programs ----

struct gear {
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_context_t context;
    zepi_module_t input, executable;
    zepi_kernel_t kernel; // out[i] = constant * in[i]
    zepi_queue_t queues[QUEUES];
    int32_t *memory[3]; // ITEMS each
};

static int32_t constant;

static zepi_result_t gear_init(struct gear *gear)
{
    uint32_t number;
    zepi_result_t result;
    *gear = (struct gear){0};
    STEP(zepi.platform_get(1, &gear->platform, &number));
    STEP(zepi.device_get(gear->platform, 1, &gear->device, &number));
    STEP(zepi.context_create(1, &gear->device, &gear->context));
    STEP(zepi.module_create(gear->context, ZEPI_MODULE_INPUT, 1, &build_and_run_with.image,
                            &gear->input));
    STEP(zepi.spec_constant_set(gear->input, 7, sizeof(constant), &constant));
    STEP(zepi.module_build(gear->input, NULL, &gear->executable));
    count(BUILDS, 1);
    STEP(zepi.module_get_kernel(gear->executable, "scaled_copy_int", &gear->kernel));
    for (int i = 0; i < QUEUES; i++) {
        STEP(zepi.queue_create(gear->context, gear->device, (zepi_queue_flags_t)random_below(4),
                               &gear->queues[i]));
        count(CREATED_QUEUES, 1);
    }
    for (int i = 0; i < 3; i++)
        STEP(zepi.usm_allocate(gear->context, gear->device,
                               i == 1 ? ZEPI_USM_DEVICE : ZEPI_USM_SHARED, ITEMS * sizeof(int32_t),
                               0, (void **)&gear->memory[i]));
out:
    return result;
}

static void gear_finish(struct gear *gear)
{
    for (int i = 0; i < QUEUES; i++)
        walk_settle(gear->queues[i]);
    for (int i = 0; i < 3; i++) {
        if (gear->memory[i])
            zepi.usm_free(gear->context, gear->memory[i]);
    }
    for (int i = 0; i < QUEUES; i++)
        walk_release(gear->queues[i]);
    walk_release(gear->kernel);
    walk_release(gear->executable);
    walk_release(gear->input);
    walk_release(gear->context);
    walk_release(gear->device);
    walk_release(gear->platform);
}

static void expect_numbers(const int32_t *numbers, int32_t expected)
{
    for (int i = 0; i < ITEMS; i++)
        WALK_EXPECT(numbers[i] == expected);
}

// Commands over all queues, each waiting for the one before: fill, launch, copy, in turns.
static zepi_result_t many_queues(void)
{
    enum { ROUNDS = 20 };
    struct gear gear;
    zepi_event_t events[3 * ROUNDS] = {NULL};
    zepi_event_t *next = events;
    int32_t value = 0;
    zepi_result_t result = gear_init(&gear);
    if (result != ZEPI_SUCCESS)
        goto out;
    const zepi_argument_t arguments[] = {TEST_POINTER(gear.memory[0]),
                                         TEST_POINTER(gear.memory[1])};
    const zepi_launch_desc_t launch = test_launch(gear.kernel, 2, arguments, ITEMS);
    for (int i = 0; i < ROUNDS; i++) {
        value = i;
#define AFTER_LAST (next == events ? TEST_NO_WAIT : (zepi_wait_list_t){next - 1, 1}), next
        STEP(zepi.queue_fill(gear.queues[i % QUEUES], gear.memory[0], &value, sizeof(value),
                             ITEMS * sizeof(value), AFTER_LAST));
        next++;
        STEP(zepi.queue_launch(gear.queues[(i + 1) % QUEUES], &launch, AFTER_LAST));
        next++;
        STEP(zepi.queue_copy(gear.queues[(i + 2) % QUEUES], gear.memory[2], gear.memory[1],
                             ITEMS * sizeof(value), AFTER_LAST));
        next++;
        count(LAUNCHES, 1);
        count(COPIES, 1);
    }
    count(EVENTS, (uint64_t)(next - events));
    STEP(zepi.event_wait(1, next - 1, UINT64_MAX));
    expect_numbers(gear.memory[2], value * constant);
out:
    for (int i = 0; i < QUEUES; i++)
        walk_settle(gear.queues[i]);
    for (zepi_event_t *event = events; event < next; event++)
        walk_release(*event);
    gear_finish(&gear);
    return result;
}

// A graph that is executed, updated and executed again.
static zepi_result_t graphs(void)
{
    struct gear gear;
    zepi_graph_t graph = NULL;
    uint32_t numbers[3];
    const int32_t three = 3;
    zepi_result_t result = gear_init(&gear);
    if (result != ZEPI_SUCCESS)
        goto out;
    zepi_argument_t arguments[] = {TEST_POINTER(gear.memory[0]), TEST_POINTER(gear.memory[1])};
    const zepi_launch_desc_t launch = test_launch(gear.kernel, 2, arguments, ITEMS);
    STEP(zepi.graph_create(gear.context, gear.device, ZEPI_GRAPH_UPDATABLE, &graph));
    STEP(zepi.graph_add_fill(graph, gear.memory[0], &three, sizeof(three), ITEMS * sizeof(three),
                             (zepi_graph_wait_list_t){0}, &numbers[0]));
    STEP(zepi.graph_add_launch(graph, &launch, (zepi_graph_wait_list_t){numbers, 1}, &numbers[1]));
    STEP(zepi.graph_add_copy(graph, gear.memory[2], gear.memory[1], ITEMS * sizeof(three),
                             (zepi_graph_wait_list_t){&numbers[1], 1}, &numbers[2]));
    STEP(zepi.graph_finalize(graph));
    for (int i = 0; i < 2 * QUEUES; i++) {
        STEP(zepi.queue_execute(gear.queues[i % QUEUES], graph, TEST_NO_WAIT, NULL));
        count(EXECUTIONS, 1);
    }
    for (int i = 0; i < QUEUES; i++)
        STEP(zepi.queue_finish(gear.queues[i]));
    expect_numbers(gear.memory[2], 3 * constant);
    // In place, and what the last command copies away is now from before.
    arguments[1] = arguments[0];
    const zepi_graph_update_t update = {.number = numbers[1], .launch = &launch};
    memset(gear.memory[2], 0, ITEMS * sizeof(three));
    STEP(zepi.graph_update(graph, 1, &update));
    STEP(zepi.queue_execute(gear.queues[0], graph, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queues[0]));
    count(EXECUTIONS, 1);
    expect_numbers(gear.memory[0], 3 * constant);
    expect_numbers(gear.memory[2], 3 * constant);
out:
    for (int i = 0; i < QUEUES; i++)
        walk_settle(gear.queues[i]);
    walk_release(graph);
    gear_finish(&gear);
    return result;
}

static zepi_result_t single_queue(void)
{
    build_and_run_with.constant = constant;
    build_and_run_with.queue_flags = (zepi_queue_flags_t)random_below(4);
    const zepi_result_t result = build_and_run();
    if (result == ZEPI_SUCCESS) {
        count(BUILDS, 1);
        count(LAUNCHES, 1);
        count(COPIES, 1);
        count(EVENTS, 2);
        count(CREATED_QUEUES, 1);
    }
    return result;
}

static void run_program(bool is_calm)
{
    static story_fn *const programs[] = {many_queues, graphs, single_queue};
    story_fn *program = programs[random_below(3)];
    const enum failure failure = is_calm ? NO_FAILURE : (enum failure)random_below(FAILURES);
    const int nth = 1 + random_below(failure == OF_FILE ? 20 : 200);
    constant = 1 + random_below(20);
    arm(failure, nth);
    const zepi_result_t result = program();
    const bool is_met = disarm(failure, nth);
    if (result != ZEPI_SUCCESS && (!is_met || failure == OF_FILE)) {
        fprintf(stderr, "a program fails without a reason: %s, '%s' (failure %d, %d)\n",
                zepi.result_name(result), zepi.last_error(NULL), (int)failure, nth);
        exit(1);
    }
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    TEST_EXPECT(ze_cpu.get_live_bytes() == 0, "memory is left in the driver");
    count(FAILED_PROGRAMS, result != ZEPI_SUCCESS);
    count(PROGRAMS, 1);
}

// ---- The process ----

static void note_size(enum counter kib, enum counter files)
{
    unsigned long pages = 0;
    unsigned open_files = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    TEST_EXPECT(statm && fscanf(statm, "%*u %lu", &pages) == 1, "/proc/self/statm does not read");
    fclose(statm);
    DIR *folder = opendir("/proc/self/fd");
    TEST_EXPECT(folder != NULL, "/proc/self/fd does not open");
    while (readdir(folder))
        open_files++;
    closedir(folder);
    atomic_store(&counters[kib], pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024);
    atomic_store(&counters[files], open_files);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static char folder[4096];
    const char *asked = getenv("ZEPI_CACHE_DIR");
    if (argc != 4 || !asked) {
        fprintf(stderr, "usage: ZEPI_CACHE_DIR=FOLDER soak SECONDS SEED FILE\n");
        return 2;
    }
    snprintf(folder, sizeof(folder), "%s", asked);
    const double begin = now();
    const double end = begin + strtod(argv[1], NULL);
    seed = (unsigned)strtoul(argv[2], NULL, 10);
    const int file = open(argv[3], O_RDWR | O_CLOEXEC);
    counters =
        mmap(NULL, COUNTERS * sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    TEST_EXPECT(file >= 0 && counters != MAP_FAILED, "the file of counters does not open");
    ze_cpu = test_ze_cpu_use();
    // Choosing the driver gives this process a folder of its own: here it is the shared one.
    setenv("ZEPI_CACHE_DIR", folder, 1);
    test_plugin_load();
    zepi_sys_set_hook(fail_sys);
    build_and_run_with.image = test_spirv_image("scaled_copy");
    build_and_run_with.is_constant_kept = true;
    // A loader whose first zeInit fails stays without drivers.
    run_program(true);
    while (now() < end) {
        // A tenth of the time is enough for what is made once.
        if (atomic_load(&counters[FIRST_KIB]) == 0 && now() > begin + (end - begin) / 10)
            note_size(FIRST_KIB, FIRST_FILES);
        run_program(false);
    }
    for (int i = 0; i < 10; i++)
        run_program(true);
    note_size(LAST_KIB, LAST_FILES);
    return 0;
}
