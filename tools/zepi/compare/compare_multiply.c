// SPDX-License-Identifier: MIT
// The blocked matrix multiply of zepi demo, submission to completion.
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_EDGE 16
#define BLOCK_BYTES (BLOCK_EDGE * BLOCK_EDGE * sizeof(float))

struct multiply {
    struct compare *compare;
    int edge;
    float *factors[2];
    float *product, *cl_product;
    zepi_kernel_t kernel;
    cl_kernel cl_kernel;
    cl_command_queue cl_queue;
};

static bool run_zepi(const void *self)
{
    const struct multiply *multiply = self;
    const zepi_queue_t queue = multiply->compare->host.queue;
    const size_t edge = (size_t)multiply->edge;
    const zepi_argument_t arguments[] = {
        {.kind = ZEPI_ARGUMENT_POINTER, .value = multiply->factors[0]},
        {.kind = ZEPI_ARGUMENT_POINTER, .value = multiply->factors[1]},
        {.kind = ZEPI_ARGUMENT_POINTER, .value = multiply->product},
        {.kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(int), .value = &multiply->edge},
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = BLOCK_BYTES},
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = BLOCK_BYTES}};
    const zepi_launch_desc_t desc = {.size = sizeof(desc),
                                     .kernel = multiply->kernel,
                                     .arguments = arguments,
                                     .argument_count = 6,
                                     .work_dim = 2,
                                     .global_size = {edge, edge},
                                     .group_size = {BLOCK_EDGE, BLOCK_EDGE}};
    const zepi_wait_list_t no_wait = {0};
    return zepi.queue_launch(queue, &desc, no_wait, NULL) == ZEPI_SUCCESS &&
           zepi.queue_finish(queue) == ZEPI_SUCCESS;
}

static bool run_opencl(const void *self)
{
    const struct multiply *multiply = self;
    const struct cpu_opencl *opencl = multiply->compare->opencl;
    const cl_icd_dispatch *api = opencl->api;
    cl_kernel kernel = multiply->cl_kernel;
    const size_t global[2] = {(size_t)multiply->edge, (size_t)multiply->edge};
    const size_t local[2] = {BLOCK_EDGE, BLOCK_EDGE};
    float *const memory[3] = {multiply->factors[0], multiply->factors[1], multiply->cl_product};
    bool is_good = true;
    for (cl_uint i = 0; i < 3; i++)
        is_good = is_good && opencl->set_kernel_arg_mem_pointer(kernel, i, memory[i]) == CL_SUCCESS;
    return is_good && api->clSetKernelArg(kernel, 3, sizeof(int), &multiply->edge) == CL_SUCCESS &&
           api->clSetKernelArg(kernel, 4, BLOCK_BYTES, NULL) == CL_SUCCESS &&
           api->clSetKernelArg(kernel, 5, BLOCK_BYTES, NULL) == CL_SUCCESS &&
           api->clEnqueueNDRangeKernel(multiply->cl_queue, kernel, 2, NULL, global, local, 0, NULL,
                                       NULL) == CL_SUCCESS &&
           api->clFinish(multiply->cl_queue) == CL_SUCCESS;
}

static bool measure(struct multiply *multiply)
{
    static const char *const ways[] = {"zepi", "OpenCL"};
    const size_t bytes = (size_t)multiply->edge * (size_t)multiply->edge * sizeof(float);
    char what[32];
    const struct compare_row row = {
        .what = what, .run = {run_zepi, run_opencl}, .self = {multiply, multiply}, .count = 1};
    snprintf(what, sizeof(what), "%d x %d", multiply->edge, multiply->edge);
    if (!compare_in_turns(multiply->compare, "matrix multiply, float", ways, &row, 1))
        return false;
    if (memcmp(multiply->product, multiply->cl_product, bytes) != 0) {
        fprintf(stderr, "zepi compare: the results differ at %s\n", what);
        return false;
    }
    return true;
}

static bool compare_size(struct multiply *multiply, int edge)
{
    const struct host_device *host = &multiply->compare->host;
    const size_t bytes = (size_t)edge * (size_t)edge * sizeof(float);
    void *memory[4] = {0};
    bool is_good = true;
    for (int i = 0; i < 4 && is_good; i++)
        is_good = zepi.usm_allocate(host->context, host->device, ZEPI_USM_SHARED, bytes, 0,
                                    &memory[i]) == ZEPI_SUCCESS;
    if (!is_good) {
        host_fail("memory for matrices");
    } else {
        multiply->edge = edge;
        multiply->product = memory[2];
        multiply->cl_product = memory[3];
        for (int i = 0; i < 2; i++) {
            multiply->factors[i] = memory[i];
            for (size_t at = 0; at < bytes / sizeof(float); at++)
                multiply->factors[i][at] = (float)(at * 31 % 17) / 16;
        }
        is_good = measure(multiply);
    }
    for (int i = 0; i < 4; i++) {
        if (memory[i])
            zepi.usm_free(host->context, memory[i]);
    }
    return is_good;
}

static bool make(struct multiply *multiply)
{
    static const char name[] = "matrix_multiply_float";
    const struct cpu_opencl *opencl = multiply->compare->opencl;
    const int64_t block_edge = BLOCK_EDGE;
    cl_int code = CL_SUCCESS;
    multiply->cl_queue = opencl->api->clCreateCommandQueueWithProperties(
        opencl->context, opencl->device, NULL, &code);
    if (code != CL_SUCCESS)
        fprintf(stderr, "zepi compare: OpenCL's queue: it answers %d\n", code);
    return code == CL_SUCCESS &&
           compare_zepi_kernel(multiply->compare, "matrix_multiply", name, &block_edge,
                               &multiply->kernel) &&
           compare_opencl_kernel(multiply->compare, "matrix_multiply", name, &block_edge,
                                 &multiply->cl_kernel);
}

bool compare_multiply(struct compare *compare)
{
    static const int edges[] = {256, 512, 1024};
    struct multiply multiply = {.compare = compare};
    bool is_good = make(&multiply);
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]) && is_good; i++)
        is_good = compare_size(&multiply, edges[i]);
    host_release(multiply.kernel);
    if (multiply.cl_kernel)
        compare->opencl->api->clReleaseKernel(multiply.cl_kernel);
    if (multiply.cl_queue)
        compare->opencl->api->clReleaseCommandQueue(multiply.cl_queue);
    return is_good;
}
