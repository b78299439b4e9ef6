// SPDX-License-Identifier: MIT
// The cost of a launch of a kernel that does nothing.
#include "compare.h"

#include <stdio.h>

#define LAUNCHES 1000

struct launches {
    struct compare *compare;
    zepi_kernel_t kernel;
    cl_kernel cl_kernel;
    cl_command_queue cl_queue;
    size_t groups, group_size;
    unsigned launches_a_finish;
};

static zepi_launch_desc_t describe(const struct launches *launches)
{
    return (zepi_launch_desc_t){.size = sizeof(zepi_launch_desc_t),
                                .kernel = launches->kernel,
                                .work_dim = 1,
                                .global_size = {launches->groups * launches->group_size},
                                .group_size = {launches->group_size}};
}

static bool run_zepi(const void *self)
{
    const struct launches *launches = self;
    const zepi_queue_t queue = launches->compare->host.queue;
    const zepi_wait_list_t no_wait = {0};
    const zepi_launch_desc_t desc = describe(launches);
    bool is_good = true;
    for (unsigned i = 1; i <= LAUNCHES && is_good; i++) {
        is_good = zepi.queue_launch(queue, &desc, no_wait, NULL) == ZEPI_SUCCESS;
        if (i % launches->launches_a_finish == 0)
            is_good = is_good && zepi.queue_finish(queue) == ZEPI_SUCCESS;
    }
    return is_good;
}

static bool run_opencl(const void *self)
{
    const struct launches *launches = self;
    const cl_icd_dispatch *api = launches->compare->opencl->api;
    const size_t global = launches->groups * launches->group_size;
    bool is_good = true;
    for (unsigned i = 1; i <= LAUNCHES && is_good; i++) {
        is_good =
            api->clEnqueueNDRangeKernel(launches->cl_queue, launches->cl_kernel, 1, NULL, &global,
                                        &launches->group_size, 0, NULL, NULL) == CL_SUCCESS;
        if (i % launches->launches_a_finish == 0)
            is_good = is_good && api->clFinish(launches->cl_queue) == CL_SUCCESS;
    }
    return is_good;
}

static bool run_zepi_with_event(const void *self)
{
    const struct launches *launches = self;
    const zepi_wait_list_t no_wait = {0};
    const zepi_launch_desc_t desc = describe(launches);
    bool is_good = true;
    for (unsigned i = 0; i < LAUNCHES && is_good; i++) {
        zepi_event_t event = NULL;
        is_good = zepi.queue_launch(launches->compare->host.queue, &desc, no_wait, &event) ==
                      ZEPI_SUCCESS &&
                  zepi.event_wait(1, &event, UINT64_MAX) == ZEPI_SUCCESS;
        host_release(event);
    }
    return is_good;
}

static bool run_opencl_with_event(const void *self)
{
    const struct launches *launches = self;
    const cl_icd_dispatch *api = launches->compare->opencl->api;
    const size_t global = launches->groups * launches->group_size;
    bool is_good = true;
    for (unsigned i = 0; i < LAUNCHES && is_good; i++) {
        cl_event event = NULL;
        is_good =
            api->clEnqueueNDRangeKernel(launches->cl_queue, launches->cl_kernel, 1, NULL, &global,
                                        &launches->group_size, 0, NULL, &event) == CL_SUCCESS &&
            api->clWaitForEvents(1, &event) == CL_SUCCESS;
        if (event)
            api->clReleaseEvent(event);
    }
    return is_good;
}

static bool compare_with(const struct launches *base, const char *group,
                         cl_command_queue_properties flags)
{
    static const char *const ways[] = {"zepi", "OpenCL"};
    static const struct {
        const char *what;
        size_t groups, group_size;
        unsigned launches_a_finish; // 0: each has an event, which is waited for
    } shapes[] = {{"1 item; 1,000 launches, one finish", 1, 1, LAUNCHES},
                  {"1 item; each with a finish", 1, 1, 1},
                  {"1 item; each with a wait for its event", 1, 1, 0},
                  {"16 groups of 64; 1,000 launches, one finish", 16, 64, LAUNCHES},
                  {"16 groups of 64; each with a finish", 16, 64, 1},
                  {"16 groups of 64; each with a wait for its event", 16, 64, 0}};
    enum { COUNT = sizeof(shapes) / sizeof(shapes[0]) };
    const struct cpu_opencl *opencl = base->compare->opencl;
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
    struct launches launches[COUNT];
    struct compare_row rows[COUNT];
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = opencl->api->clCreateCommandQueueWithProperties(
        opencl->context, opencl->device, properties, &code);
    if (code != CL_SUCCESS) {
        fprintf(stderr, "zepi compare: OpenCL's queue: it answers %d\n", code);
        return false;
    }
    for (size_t i = 0; i < COUNT; i++) {
        launches[i] = *base;
        launches[i].cl_queue = queue;
        launches[i].groups = shapes[i].groups;
        launches[i].group_size = shapes[i].group_size;
        launches[i].launches_a_finish = shapes[i].launches_a_finish;
        rows[i] = (struct compare_row){.what = shapes[i].what,
                                       .run = {run_zepi, run_opencl},
                                       .self = {&launches[i], &launches[i]},
                                       .count = LAUNCHES};
        if (shapes[i].launches_a_finish == 0) {
            rows[i].run[0] = run_zepi_with_event;
            rows[i].run[1] = run_opencl_with_event;
        }
    }
    const bool is_good = compare_in_turns(base->compare, group, ways, rows, COUNT);
    opencl->api->clReleaseCommandQueue(queue);
    return is_good;
}

bool compare_launch(struct compare *compare)
{
    struct launches launches = {.compare = compare};
    const bool is_good =
        compare_zepi_kernel(compare, "compare", "empty", NULL, &launches.kernel) &&
        compare_opencl_kernel(compare, "compare", "empty", NULL, &launches.cl_kernel) &&
        compare_with(&launches, "empty kernel, OpenCL's queue", 0) &&
        compare_with(&launches, "empty kernel, OpenCL in the calling thread",
                     CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL);
    host_release(launches.kernel);
    if (launches.cl_kernel)
        compare->opencl->api->clReleaseKernel(launches.cl_kernel);
    return is_good;
}
