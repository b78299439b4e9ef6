// SPDX-License-Identifier: MIT
#include "commands.h"
#include "host.h"
#include "kernels.h"
#include "tools/ze_cpu/opencl.h"

#include <cjson/cJSON.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 25
#define BLOCK_EDGE 16
#define KERNEL "matrix_multiply_float"

static const char usage[] =
    "usage: zepi compare [--json]\n"
    "\n"
    "The blocked matrix multiply of zepi demo on ze_cpu, through zepi and through plain OpenCL on "
    "the\n"
    "same runtime: submission to completion, in turns, best of 25 rounds.\n";

// One way to run the kernel.
struct way {
    void *self;
    bool (*run)(void *self, int edge);
    double best_ms;
};

struct zepi_way {
    struct host_device *host;
    zepi_kernel_t kernel;
    float *memory[3];
};

struct opencl_way {
    const struct cpu_opencl *opencl;
    cl_command_queue queue;
    cl_kernel kernel;
    float *memory[3];
};

static bool run_zepi(void *self, int edge)
{
    struct zepi_way *way = self;
    const size_t block_bytes = BLOCK_EDGE * BLOCK_EDGE * sizeof(float);
    const zepi_argument_t arguments[] = {
        {.kind = ZEPI_ARGUMENT_POINTER, .value = way->memory[0]},
        {.kind = ZEPI_ARGUMENT_POINTER, .value = way->memory[1]},
        {.kind = ZEPI_ARGUMENT_POINTER, .value = way->memory[2]},
        {.kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(edge), .value = &edge},
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = block_bytes},
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = block_bytes}};
    const zepi_launch_desc_t desc = {.size = sizeof(desc),
                                     .kernel = way->kernel,
                                     .arguments = arguments,
                                     .argument_count = 6,
                                     .work_dim = 2,
                                     .global_size = {(size_t)edge, (size_t)edge},
                                     .group_size = {BLOCK_EDGE, BLOCK_EDGE}};
    const zepi_wait_list_t no_wait = {0};
    return zepi.queue_launch(way->host->queue, &desc, no_wait, NULL) == ZEPI_SUCCESS &&
           zepi.queue_finish(way->host->queue) == ZEPI_SUCCESS;
}

static bool run_opencl(void *self, int edge)
{
    struct opencl_way *way = self;
    const cl_icd_dispatch *api = way->opencl->api;
    const size_t block_bytes = BLOCK_EDGE * BLOCK_EDGE * sizeof(float);
    const size_t global[2] = {(size_t)edge, (size_t)edge};
    const size_t local[2] = {BLOCK_EDGE, BLOCK_EDGE};
    bool is_good = true;
    for (cl_uint i = 0; i < 3; i++)
        is_good = is_good && way->opencl->set_kernel_arg_mem_pointer(way->kernel, i,
                                                                     way->memory[i]) == CL_SUCCESS;
    return is_good && api->clSetKernelArg(way->kernel, 3, sizeof(edge), &edge) == CL_SUCCESS &&
           api->clSetKernelArg(way->kernel, 4, block_bytes, NULL) == CL_SUCCESS &&
           api->clSetKernelArg(way->kernel, 5, block_bytes, NULL) == CL_SUCCESS &&
           api->clEnqueueNDRangeKernel(way->queue, way->kernel, 2, NULL, global, local, 0, NULL,
                                       NULL) == CL_SUCCESS &&
           api->clFinish(way->queue) == CL_SUCCESS;
}

static bool make_zepi(struct zepi_way *way, struct host_device *host)
{
    const struct kernel_image image = kernel_image("matrix_multiply");
    const int64_t block_edge = BLOCK_EDGE;
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .format = ZEPI_IMAGE_SPIRV,
                                    .state = ZEPI_MODULE_INPUT,
                                    .bytes = image.bytes,
                                    .size_bytes = image.size_bytes};
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    way->host = host;
    const bool is_made =
        zepi.module_create(host->context, ZEPI_MODULE_INPUT, 1, &desc, &input) == ZEPI_SUCCESS &&
        zepi.spec_constant_set(input, 0, sizeof(block_edge), &block_edge) == ZEPI_SUCCESS &&
        zepi.module_build(input, NULL, &executable) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(executable, KERNEL, &way->kernel) == ZEPI_SUCCESS;
    host_release(input);
    host_release(executable);
    if (!is_made)
        host_fail("zepi's kernel");
    return is_made;
}

static bool make_opencl(struct opencl_way *way)
{
    const struct kernel_image image = kernel_image("matrix_multiply");
    const int64_t block_edge = BLOCK_EDGE;
    const char *message = "";
    cl_int code = CL_SUCCESS;
    way->opencl = cpu_opencl_open(&message);
    if (!way->opencl) {
        fprintf(stderr, "zepi compare: %s\n", message);
        return false;
    }
    const cl_icd_dispatch *api = way->opencl->api;
    cl_program program =
        api->clCreateProgramWithIL(way->opencl->context, image.bytes, image.size_bytes, &code);
    if (program && code == CL_SUCCESS)
        code = api->clSetProgramSpecializationConstant(program, 0, sizeof(block_edge), &block_edge);
    if (code == CL_SUCCESS)
        code = api->clBuildProgram(program, 1, &way->opencl->device, NULL, NULL, NULL);
    if (code == CL_SUCCESS)
        way->kernel = api->clCreateKernel(program, KERNEL, &code);
    if (code == CL_SUCCESS)
        way->queue = api->clCreateCommandQueueWithProperties(way->opencl->context,
                                                             way->opencl->device, NULL, &code);
    if (program)
        api->clReleaseProgram(program);
    if (code != CL_SUCCESS)
        fprintf(stderr, "zepi compare: OpenCL answers %d\n", code);
    return code == CL_SUCCESS;
}

static void release_opencl(struct opencl_way *way)
{
    if (way->kernel)
        way->opencl->api->clReleaseKernel(way->kernel);
    if (way->queue)
        way->opencl->api->clReleaseCommandQueue(way->queue);
}

static bool measure(struct way ways[2], int edge)
{
    const bool shows_progress = isatty(STDERR_FILENO);
    bool is_good = true;
    ways[0].best_ms = ways[1].best_ms = 1e30;
    for (int round = 0; is_good && round < ROUNDS + 2; round++) {
        if (shows_progress)
            fprintf(stderr, "\r%d x %d: round %d of %d ", edge, edge, round + 1, ROUNDS + 2);
        for (int i = 0; i < 2; i++) {
            const uint64_t start_ns = host_now_ns();
            is_good = is_good && ways[i].run(ways[i].self, edge);
            const double ms = (double)(host_now_ns() - start_ns) / 1e6;
            // Two rounds warm up.
            if (round >= 2 && ms < ways[i].best_ms)
                ways[i].best_ms = ms;
        }
    }
    // The line's end, cleared.
    if (shows_progress)
        fputs("\r\033[K", stderr);
    return is_good;
}

// Three matrices for both ways, of which the second result must equal the first.
static int compare_size(struct way ways[2], int edge, cJSON *list)
{
    struct zepi_way *through_zepi = ways[0].self;
    struct opencl_way *through_opencl = ways[1].self;
    const size_t bytes = (size_t)edge * (size_t)edge * sizeof(float);
    const zepi_context_t context = through_zepi->host->context;
    bool is_good = true;
    for (int i = 0; i < 3; i++) {
        void *memory = NULL;
        is_good = is_good && zepi.usm_allocate(context, through_zepi->host->device, ZEPI_USM_SHARED,
                                               bytes, 0, &memory) == ZEPI_SUCCESS;
        through_zepi->memory[i] = through_opencl->memory[i] = memory;
        for (size_t at = 0; memory && i < 2 && at < bytes / sizeof(float); at++)
            ((float *)memory)[at] = (float)(at * 31 % 17) / 16;
    }
    float *other = is_good ? malloc(bytes) : NULL;
    through_opencl->memory[2] = other;
    is_good = other && measure(ways, edge);
    if (is_good && memcmp(other, through_zepi->memory[2], bytes) != 0) {
        fprintf(stderr, "zepi compare: the results differ at %d\n", edge);
        is_good = false;
    } else if (is_good) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddNumberToObject(object, "edge", edge);
        cJSON_AddNumberToObject(object, "zepi_ms", ways[0].best_ms);
        cJSON_AddNumberToObject(object, "opencl_ms", ways[1].best_ms);
        cJSON_AddNumberToObject(object, "ratio", ways[0].best_ms / ways[1].best_ms);
        cJSON_AddItemToArray(list, object);
    } else {
        host_fail("zepi compare");
    }
    free(other);
    for (int i = 0; i < 3; i++) {
        if (through_zepi->memory[i])
            zepi.usm_free(context, through_zepi->memory[i]);
    }
    return is_good ? EXIT_OK : EXIT_FAILED;
}

static void print(const cJSON *list, bool is_json)
{
    const cJSON *row;
    if (is_json) {
        char *text = cJSON_Print(list);
        if (text)
            puts(text);
        cJSON_free(text);
        return;
    }
    printf("%-24s %10s %10s %8s\n", "matrix multiply, float", "zepi ms", "OpenCL ms", "ratio");
    cJSON_ArrayForEach(row, list)
    {
        const int edge = cJSON_GetObjectItem(row, "edge")->valueint;
        printf("%4d x %-17d %10.3f %10.3f %8.3f\n", edge, edge,
               cJSON_GetObjectItem(row, "zepi_ms")->valuedouble,
               cJSON_GetObjectItem(row, "opencl_ms")->valuedouble,
               cJSON_GetObjectItem(row, "ratio")->valuedouble);
    }
}

int command_compare(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    static const int edges[] = {256, 512, 1024};
    bool is_json = false;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option != 'j') {
            if (option != 'h')
                return command_refuse(usage);
            fputs(usage, stdout);
            return EXIT_OK;
        }
        is_json = true;
    }
    struct host_device host;
    struct zepi_way through_zepi = {0};
    struct opencl_way through_opencl = {0};
    struct way ways[2] = {{&through_zepi, run_zepi, 0}, {&through_opencl, run_opencl, 0}};
    int code = host_load(HOST_DRIVER_CPU);
    if (code == EXIT_OK)
        code = host_open(&host, 0);
    if (code != EXIT_OK)
        return code;
    cJSON *list = cJSON_CreateArray();
    code = make_zepi(&through_zepi, &host) && make_opencl(&through_opencl) ? EXIT_OK : EXIT_FAILED;
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]) && code == EXIT_OK; i++)
        code = compare_size(ways, edges[i], list);
    if (code == EXIT_OK)
        print(list, is_json);
    cJSON_Delete(list);
    release_opencl(&through_opencl);
    host_release(through_zepi.kernel);
    host_close(&host);
    return code;
}
