// SPDX-License-Identifier: MIT
// Every number of the report that ZEPI_STATS asks for, as JSON, of a process that does a known
// amount of each.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE_BYTES ((size_t)64 << 20) // more than pools hold
#define VALUES 6

static struct test_ze_cpu ze_cpu;
static struct test_gear gear;

static void build(zepi_context_t context, const char *name, int32_t value)
{
    zepi_module_t input = test_input(context, name);
    zepi_module_t executable;
    if (value > 0)
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

static void build_programs(void)
{
    zepi_context_t other;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    build(gear.context, "vector_add", 0); // compiled
    build(gear.context, "vector_add", 0); // known
    build(other, "vector_add", 0);        // in memory
    TEST_OK(zepi.release(other));
    for (int32_t value = 1; value <= VALUES; value++) // compiled, and more than the limit
        build(gear.context, "scaled_copy", value);
}

static void fail(void)
{
    zepi_module_t input = test_input(gear.context, "negate");
    zepi_module_t executable;
    TEST_EXPECT(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_MODULE_BUILD_FAILURE") == 0,
                "zeCpuSetFail");
    TEST_FAILS(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_COMPILE_FAILURE);
    TEST_EXPECT(ze_cpu.set_fail("") == 0, "zeCpuSetFail");
    TEST_OK(zepi.release(input));
}

// 5 launches, one of them in a graph that is executed 4 times; 2 copies; 3 fills.
static void run_commands(void)
{
    static const float one = 1;
    zepi_module_t executable = test_executable(gear.context, "vector_add"); // evicted: in memory
    zepi_kernel_t kernel;
    zepi_graph_t graph;
    float *memory;
    void *large;
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4096, 0, (void **)&memory));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, LARGE_BYTES, 0, &large));
    TEST_OK(zepi.module_get_kernel(executable, "vector_add", &kernel));
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory),
                                         TEST_POINTER(memory)};
    const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 16);
    for (int i = 0; i < 4; i++)
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_OK(zepi.graph_add_launch(graph, &launch, (zepi_graph_wait_list_t){0}, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    for (int i = 0; i < 4;
         i++) { // an execution beside another one would have a recording of its own
        TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
    }
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_copy(gear.queue, memory + 512, memory, 100, TEST_NO_WAIT, NULL));
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.queue_fill(gear.queue, memory, &one, sizeof(one), 64, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.usm_free(gear.context, large));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

static _Noreturn void work(const char *path)
{
    setenv("ZEPI_STATS", path, 1);
    setenv("ZEPI_CACHE_MEMORY_ENTRIES", "2", 1);
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    build_programs();
    run_commands();
    fail();
    test_gear_destroy(&gear);
    exit(0);
}

int main(void)
{
    static char path[4096];
    int status;
    snprintf(path, sizeof(path), "%s", test_env_scratch_path("stats.jsonl"));
    const pid_t child = fork();
    if (child == 0)
        work(path);
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 0,
                "the process does not end well");
    const struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    TEST_EXPECT(text != NULL, "no memory");
    printf("%s", text);
    test_env_number_behind(
        text, "\"asked\": 11, \"known\": 1, \"memory\": 2, \"disk\": 0, \"shared\": 0, "
              "\"compiled\": 7}");
    test_env_number_behind(text, "\"builds\": 8, \"failures\": 1, \"slowest\": [{\"seconds\": ");
    test_env_number_behind(text, "\"launches\": 5, \"graph_executions\": 4, ");
    test_env_number_behind(text, "\"copies\": {\"count\": 2, \"bytes\": 200}, ");
    test_env_number_behind(text, "\"fills\": {\"count\": 3, \"bytes\": 192}, ");
    test_env_number_behind(text, "\"failed_calls\": {\"count\": 1, \"last\": \"zeModuleCreate\", ");
    TEST_EXPECT(test_env_number_behind(text, "\"evictions\": ") >= VALUES - 2,
                "evictions are missing");
    const uint64_t peak_bytes = test_env_number_behind(text, "\"device_memory_peak_bytes\": ");
    TEST_EXPECT(peak_bytes >= LARGE_BYTES && peak_bytes < 2 * LARGE_BYTES, "memory is miscounted");
    free(text);
    free(bytes.data);
    return 0;
}
