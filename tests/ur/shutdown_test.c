// SPDX-License-Identifier: MIT
// How it ends: objects released in any order, or not at all.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(shutdown);

enum noun { CONTEXT, QUEUE, EVENT, PROGRAM, KERNEL, MEM, SAMPLER, POOL };

#define MAX_OBJECTS 32
static struct object {
    enum noun noun;
    void *handle;
} objects[MAX_OBJECTS];
static int object_count;

static void note(enum noun noun, void *handle)
{
    objects[object_count++] = (struct object){noun, handle};
}

static void release(const struct object *object)
{
    switch (object->noun) {
    case CONTEXT:
        UR_OK(urContextRelease(object->handle));
        break;
    case QUEUE:
        UR_OK(urQueueRelease(object->handle));
        break;
    case EVENT:
        UR_OK(urEventRelease(object->handle));
        break;
    case PROGRAM:
        UR_OK(urProgramRelease(object->handle));
        break;
    case KERNEL:
        UR_OK(urKernelRelease(object->handle));
        break;
    case MEM:
        UR_OK(urMemRelease(object->handle));
        break;
    case SAMPLER:
        UR_OK(urSamplerRelease(object->handle));
        break;
    case POOL:
        UR_OK(urUSMPoolRelease(object->handle));
        break;
    }
}

// One of everything in a context of its own, with commands under way.
static void make_all(void)
{
    ur_context_handle_t before = gear.context;
    const ur_sampler_desc_t sampler_desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    const ur_buffer_region_t region = {.stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .size = 64};
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_R, UR_IMAGE_CHANNEL_TYPE_FLOAT};
    const ur_image_desc_t image_desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                        .type = UR_MEM_TYPE_IMAGE2D,
                                        .width = 4,
                                        .height = 4};
    ur_usm_pool_desc_t pool_desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    const uint32_t rounds = 1000000;
    ur_mem_handle_t buffer, part, image;
    ur_sampler_handle_t sampler;
    ur_usm_pool_handle_t pool;
    ur_event_handle_t events[2];
    ur_kernel_handle_t kernel;
    void *map;
    object_count = 0;
    UR_OK(urContextCreate(gear.device_count, gear.devices, NULL, &gear.context));
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_queue_handle_t second = ur_queue(gear.devices[gear.device_count - 1], 0);
    ur_program_handle_t program = ur_executable("spin");
    UR_OK(urKernelCreate(program, "spin", &kernel));
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 4096, NULL, &buffer));
    UR_OK(urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                               &region, &part));
    UR_OK(
        urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &image_desc, NULL, &image));
    UR_OK(urSamplerCreate(gear.context, &sampler_desc, &sampler));
    UR_OK(urUSMPoolCreate(gear.context, &pool_desc, &pool));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_MEM(1, part)};
    UR_OK(ur_launch(queue, kernel, 16, 2, arguments, 0, NULL, &events[0]));
    UR_OK(ur_launch(second, kernel, 16, 2, arguments, 1, events, &events[1]));
    UR_OK(
        urEnqueueMemBufferMap(second, buffer, false, UR_MAP_FLAG_READ, 0, 64, 0, NULL, NULL, &map));
    note(CONTEXT, gear.context);
    note(QUEUE, queue);
    note(QUEUE, second);
    note(EVENT, events[0]);
    note(EVENT, events[1]);
    note(PROGRAM, program);
    note(PROGRAM, ur_input("vector_add"));
    note(KERNEL, kernel);
    note(MEM, buffer);
    note(MEM, part);
    note(MEM, image);
    note(SAMPLER, sampler);
    note(POOL, pool);
    gear.context = before;
}

static void release_all(void)
{
    while (object_count > 0)
        release(&objects[--object_count]);
}

// For the leak checker, where there is one: memory that is left on purpose is no leak.
void __lsan_disable(void) __attribute__((weak));

// Runs in a process of its own, which must end well.
static void run_in_a_process(void (*function)(void))
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(50);
        if (__lsan_disable)
            __lsan_disable();
        function();
        exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(WIFEXITED(status), "the process ends with signal %d", WTERMSIG(status));
    cr_assert_eq(WEXITSTATUS(status), 0, "the process answers %d", WEXITSTATUS(status));
}

static void leave_everything(void)
{
    ur_set_up_two();
    make_all();
}

Test(shutdown, may_come_with_everything_alive)
{
    run_in_a_process(leave_everything);
}

static void leave_everything_and_unload(void)
{
    ur_set_up();
    make_all();
    ur_unload();
}

Test(shutdown, may_unload_the_adapter_with_everything_alive)
{
    run_in_a_process(leave_everything_and_unload);
}

// As a host does it that has its objects in static storage.
static void release_at_exit(void)
{
    release_all();
    ur_tear_down();
}

static void release_in_an_exit_handler(void)
{
    atexit(release_at_exit); // the last to run: later registrations run first
    ur_set_up();
    make_all();
}

Test(shutdown, may_release_everything_in_an_exit_handler)
{
    run_in_a_process(release_in_an_exit_handler);
}

static bool is_left_to_the_destructor;

__attribute__((destructor)) static void release_in_the_end(void)
{
    if (is_left_to_the_destructor)
        release_at_exit();
}

static void release_in_a_destructor(void)
{
    is_left_to_the_destructor = true;
    ur_set_up();
    make_all();
}

Test(shutdown, may_release_everything_in_a_destructor)
{
    run_in_a_process(release_in_a_destructor);
}

Test(shutdown, releases_in_any_order)
{
    ur_set_up_two();
    const uint64_t before = ze_cpu.get_live_objects();
    uint32_t number = 1; // of a plain generator: the same orders in each run
    for (int round = 0; round < 40; round++) {
        make_all();
        for (int i = object_count - 1; i > 0; i--) {
            number = number * 1664525u + 1013904223u;
            const uint32_t other = (number >> 8) % ((uint32_t)i + 1);
            const struct object swapped = objects[i];
            objects[i] = objects[other];
            objects[other] = swapped;
        }
        release_all();
        cr_assert_eq(ze_cpu.get_live_objects(), before, "round %d leaves %llu objects", round,
                     (unsigned long long)(ze_cpu.get_live_objects() - before));
    }
    ur_tear_down();
}

static int count_threads(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    cr_assert_not_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static bool is_mapped(const char *library)
{
    char line[4096];
    bool is_found = false;
    FILE *file = fopen("/proc/self/maps", "r");
    cr_assert_not_null(file);
    while (!is_found && fgets(line, sizeof(line), file))
        is_found = strstr(line, library) != NULL;
    fclose(file);
    return is_found;
}

// The driver stays; its own threads and memory were there after the first time.
Test(shutdown, leaves_nothing_when_the_adapter_is_unloaded)
{
    int threads = 0;
    for (int round = 0; round < 4; round++) {
        ur_set_up();
        cr_assert(is_mapped("libur_adapter_zepi.so"));
        make_all();
        release_all();
        ur_tear_down();
        cr_assert(!is_mapped("libur_adapter_zepi.so"));
        if (round == 0)
            threads = count_threads();
        cr_assert(count_threads() <= threads);
    }
}

Test(shutdown, of_an_adapter_that_was_asked_nothing_is_nothing)
{
    uint32_t count;
    test_env_use_ze_cpu();
    ur_load();
    UR_OK(urAdapterGet(0, NULL, &count));
    UR_OK(urAdapterGet(1, &gear.adapter, NULL));
    // The stand-in for Intel's kernel driver keeps ze_cpu in the process.
    const char *driver = test_env_is_on_intel_driver() ? "libze_intel_gpu.so" : "libze_cpu.so";
    cr_assert(!is_mapped(driver));
    UR_OK(urPlatformGet(gear.adapter, 0, NULL, &count));
    cr_assert(is_mapped(driver));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
    cr_assert(!is_mapped("libur_adapter_zepi.so"));
}

Test(shutdown, without_a_driver_is_one_as_well)
{
    uint32_t count = 99;
    test_env_use_no_driver();
    ur_load();
    UR_OK(urAdapterGet(1, &gear.adapter, NULL));
    UR_OK(urPlatformGet(gear.adapter, 0, NULL, &count));
    cr_assert_eq(count, 0);
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}
