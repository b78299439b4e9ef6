// SPDX-License-Identifier: MIT
#include "report_device.h"

#include "kernels.h"
#include "tools/drm_shim/products.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 15
#define LOOP 500
#define MEMORY_BYTES 8192
#define ITEMS 1024

struct objects {
    struct host_device host;
    zepi_kernel_t kernel;
    void *memory[2]; // USM of the device
};

static bool launch(const struct objects *objects, zepi_event_t *out_event)
{
    const int32_t number = 3;
    const zepi_argument_t arguments[] = {
        {.kind = ZEPI_ARGUMENT_POINTER, .value = objects->memory[0]},
        {.kind = ZEPI_ARGUMENT_POINTER, .value = objects->memory[1]},
        {.kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(number), .value = &number},
    };
    const zepi_launch_desc_t desc = {.size = sizeof(desc),
                                     .kernel = objects->kernel,
                                     .arguments = arguments,
                                     .argument_count = 3,
                                     .work_dim = 1,
                                     .global_size = {ITEMS},
                                     .group_size = {64}};
    return zepi.queue_launch(objects->host.queue, &desc, (zepi_wait_list_t){0}, out_event) ==
           ZEPI_SUCCESS;
}

static bool launch_alone(const struct objects *objects)
{
    return launch(objects, NULL);
}

static bool launch_with_event(const struct objects *objects)
{
    zepi_event_t event = NULL;
    return launch(objects, &event) && zepi.release(event) == ZEPI_SUCCESS;
}

static bool copy(const struct objects *objects)
{
    return zepi.queue_copy(objects->host.queue, objects->memory[0], objects->memory[1], 64,
                           (zepi_wait_list_t){0}, NULL) == ZEPI_SUCCESS;
}

static bool create_queue(const struct objects *objects)
{
    zepi_queue_t queue = NULL;
    return zepi.queue_create(objects->host.context, objects->host.device, ZEPI_QUEUE_IN_ORDER,
                             &queue) == ZEPI_SUCCESS &&
           zepi.release(queue) == ZEPI_SUCCESS;
}

static bool allocate(const struct objects *objects)
{
    void *memory = NULL;
    return zepi.usm_allocate(objects->host.context, objects->host.device, ZEPI_USM_DEVICE, 4096, 0,
                             &memory) == ZEPI_SUCCESS &&
           zepi.usm_free(objects->host.context, memory) == ZEPI_SUCCESS;
}

static const struct {
    const char *title;
    bool (*run)(const struct objects *objects);
} operations[] = {
    {"launch, 3 arguments", launch_alone},
    {"launch with an event", launch_with_event},
    {"copy of 64 bytes", copy},
    {"queue: create, release", create_queue},
    {"device memory of 4 KiB: allocate, free", allocate},
};
#define OPERATION_COUNT (sizeof(operations) / sizeof(operations[0]))

static bool make_objects(struct objects *objects)
{
    const struct kernel_image bench = kernel_image("bench");
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = bench.bytes,
                                            .size_bytes = bench.size_bytes};
    zepi_module_t input = NULL, executable = NULL;
    bool is_good = zepi.module_create(objects->host.context, ZEPI_MODULE_INPUT, 1, &image,
                                      &input) == ZEPI_SUCCESS &&
                   zepi.module_build(input, NULL, &executable) == ZEPI_SUCCESS &&
                   zepi.module_get_kernel(executable, "three", &objects->kernel) == ZEPI_SUCCESS;
    host_release(executable);
    host_release(input);
    for (int i = 0; i < 2 && is_good; i++)
        is_good = zepi.usm_allocate(objects->host.context, objects->host.device, ZEPI_USM_DEVICE,
                                    MEMORY_BYTES, 0, &objects->memory[i]) == ZEPI_SUCCESS;
    return is_good;
}

static void release_objects(struct objects *objects)
{
    for (int i = 0; i < 2 && objects->host.context; i++) {
        if (objects->memory[i])
            zepi.usm_free(objects->host.context, objects->memory[i]);
    }
    host_release(objects->kernel);
    host_close(&objects->host);
}

// Intel's ids of one product, and of products of one kind, have the upper byte in common.
static const struct shim_product *find_nearest(const zepi_device_info_t *info)
{
    const struct shim_product *nearest = NULL;
    uint32_t least = 0x100;
    for (size_t i = 0; shim_product_at(i) && info->vendor_id == 0x8086; i++) {
        const struct shim_product *product = shim_product_at(i);
        const uint32_t away = product->device_id > info->device_id
                                  ? product->device_id - info->device_id
                                  : info->device_id - product->device_id;
        if (info->device_id >> 8 == product->device_id >> 8 && away < least) {
            nearest = product;
            least = away;
        }
    }
    return info->type == ZEPI_DEVICE_TYPE_GPU ? nearest : NULL;
}

static void print_nearest(const zepi_device_info_t *info)
{
    const struct shim_product *nearest = find_nearest(info);
    printf("%s, device id 0x%04x: ", info->name, info->device_id);
    if (nearest)
        printf("the nearest product of the tests is %s (%s, device id 0x%04x)\n\n", nearest->name,
               nearest->title, nearest->device_id);
    else
        puts("no product of the tests is near to it\n");
}

static int compare(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

// A line of the table; false: an operation failed.
static bool measure(const struct objects *objects, size_t operation)
{
    double times_ns[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        if (zepi.queue_finish(objects->host.queue) != ZEPI_SUCCESS)
            return false;
        const uint64_t start_ns = host_now_ns();
        for (int i = 0; i < LOOP; i++) {
            if (!operations[operation].run(objects))
                return false;
        }
        times_ns[round] = (double)(host_now_ns() - start_ns) / LOOP;
    }
    qsort(times_ns, ROUNDS, sizeof(times_ns[0]), compare);
    printf("%-40s %10.0f %10.0f\n", operations[operation].title, times_ns[0], times_ns[ROUNDS / 2]);
    return true;
}

int report_device(enum host_driver driver)
{
    struct objects objects = {0};
    // Without a GPU kernels are passed over: the host's share is measured.
    setenv("ZE_CPU_EXECUTE", "0", 1);
    setenv("DRM_SHIM_INLINE", "1", 1);
    setenv("DRM_SHIM_EXEC", "0", 1);
    int code = host_load(driver);
    if (code == EXIT_OK)
        code = host_open(&objects.host, 0);
    if (code == EXIT_OK && !make_objects(&objects))
        code = host_fail("times");
    if (code == EXIT_OK)
        print_nearest(&objects.host.info);
    if (code == EXIT_OK)
        printf("%-40s %10s %10s\n", "nanoseconds, without a wait for the device", "best", "median");
    for (size_t i = 0; i < OPERATION_COUNT && code == EXIT_OK; i++) {
        if (!measure(&objects, i))
            code = host_fail(operations[i].title);
    }
    release_objects(&objects);
    return code;
}
