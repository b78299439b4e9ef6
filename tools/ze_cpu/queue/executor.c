// SPDX-License-Identifier: MIT
#include "executor.h"

#include "command/command_list.h"
#include "device/device.h"
#include "event/fence.h"
#include "image/image.h"
#include "memory/memory.h"
#include "module/program.h"
#include "opencl.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

// Up to this time a launch costs less in the calling thread than the way to other cores and back.
#define SMALL_NS 60000
// A kernel that was never measured is tried in the calling thread up to this many work-items.
#define SMALL_WORK_ITEMS 16384
// Below this the launch itself would be measured.
#define MEASURED_WORK_ITEMS 64
#define SAMPLES 2
#define LARGE_LIMIT 16
#define LARGE_LIMIT_MAXIMUM (1u << 20)
#define CACHE_MAXIMUM 256

// OpenCL kernels carry their arguments, so every executor has its own, and sets only what differs
// from the launch before.
struct cached_kernel {
    struct cpu_program_kernel *key; // retained
    cl_kernel kernel;               // owned
    bool has_arguments;
    unsigned char *arguments; // owned
    uint64_t item_ps;     // picoseconds a work-item takes in the calling thread; 0: not measured
    uint32_t samples;     // how often that was measured
    uint32_t large_count; // launches that went to all cores since it was measured last
    uint32_t large_limit; // after so many it is measured again
    UT_hash_handle hh;
};

struct cpu_executor {
    ze_device_handle_t device;     // borrowed
    bool has_access;               // to the memory of discrete devices
    bool lacks_small;              // the OpenCL runtime has no queues in the calling thread
    cl_command_queue small, large; // owned, may be NULL
    cl_command_queue running;      // borrowed: the one with launches that were not waited for
    struct cached_kernel *kernels; // owned
    struct cached_kernel *last;    // borrowed
};

struct cpu_executor *cpu_executor_create(ze_device_handle_t device)
{
    struct cpu_executor *executor = calloc(1, sizeof(*executor));
    if (executor != NULL)
        executor->device = device;
    return executor;
}

static void drop_kernel(struct cpu_executor *executor, struct cached_kernel *cached)
{
    HASH_DEL(executor->kernels, cached);
    cpu_opencl()->api->clReleaseKernel(cached->kernel);
    cpu_program_kernel_release(cached->key);
    free(cached->arguments);
    free(cached);
}

static void drop_kernels(struct cpu_executor *executor)
{
    struct cached_kernel *cached, *next;
    HASH_ITER(hh, executor->kernels, cached, next)
    drop_kernel(executor, cached);
    executor->last = NULL;
}

void cpu_executor_destroy(struct cpu_executor *executor)
{
    if (executor == NULL)
        return;
    cpu_executor_finish(executor);
    drop_kernels(executor);
    if (executor->small != NULL)
        cpu_opencl()->api->clReleaseCommandQueue(executor->small);
    if (executor->large != NULL)
        cpu_opencl()->api->clReleaseCommandQueue(executor->large);
    free(executor);
}

static ze_result_t finish_launches(struct cpu_executor *executor)
{
    if (executor->running == NULL)
        return ZE_RESULT_SUCCESS;
    cl_int code = cpu_opencl()->api->clFinish(executor->running);
    executor->running = NULL;
    return cpu_opencl_result(code);
}

ze_result_t cpu_executor_finish(struct cpu_executor *executor)
{
    ze_result_t result = finish_launches(executor);
    if (executor->has_access)
        cpu_memory_end_access(executor->device);
    executor->has_access = false;
    return result;
}

static void begin_access(struct cpu_executor *executor, enum cpu_command_kind kind)
{
    if (cpu_options()->is_integrated || executor->has_access || kind == CPU_COMMAND_BARRIER ||
        kind == CPU_COMMAND_RESET_EVENT || kind == CPU_COMMAND_BEGIN || kind == CPU_COMMAND_END)
        return;
    cpu_memory_begin_access(executor->device);
    executor->has_access = true;
}

_Atomic bool cpu_executors_are_over;

static cl_int create_queue(cl_command_queue_properties kind, cl_command_queue *out)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, kind, 0};
    cl_int code = CL_SUCCESS;
    if (*out == NULL)
        *out = cpu_opencl()->api->clCreateCommandQueueWithProperties(
            cpu_opencl_context(), cpu_opencl()->device, properties, &code);
    return code;
}

// The property of queues whose kernels run in the calling thread, or one that no runtime has.
static cl_command_queue_properties thread_local_property(void)
{
    return cpu_options_lack("CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL")
               ? (cl_command_queue_properties)1 << 30
               : CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL;
}

static ze_result_t use_queue(struct cpu_executor *executor, bool for_small, cl_command_queue *out)
{
    cl_int code = CL_SUCCESS;
    if (for_small && executor->small == NULL)
        executor->lacks_small =
            create_queue(thread_local_property(), &executor->small) != CL_SUCCESS;
    for_small = for_small && !executor->lacks_small;
    cl_command_queue *queue = for_small ? &executor->small : &executor->large;
    if (*queue == NULL)
        code = create_queue(0, queue);
    if (code != CL_SUCCESS)
        return cpu_opencl_result(code);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (executor->running != NULL && executor->running != *queue)
        result = finish_launches(executor);
    *out = *queue;
    return result;
}

// Kernels whose module and handles are gone are only held by executors.
static void drop_unused_kernels(struct cpu_executor *executor)
{
    struct cached_kernel *cached, *next;
    HASH_ITER(hh, executor->kernels, cached, next)
    if (cpu_program_is_abandoned(cached->key))
        drop_kernel(executor, cached);
    if (HASH_COUNT(executor->kernels) >= CACHE_MAXIMUM)
        drop_kernels(executor);
}

static struct cached_kernel *find_or_create_kernel(struct cpu_executor *executor,
                                                   struct cpu_program_kernel *kernel)
{
    struct cached_kernel *cached = executor->last;
    if (cached != NULL && cached->key == kernel)
        return cached;
    HASH_FIND_PTR(executor->kernels, &kernel, cached);
    if (cached != NULL) {
        executor->last = cached;
        return cached;
    }
    finish_launches(executor);
    executor->last = NULL;
    drop_unused_kernels(executor);
    cached = calloc(1, sizeof(*cached));
    if (cached == NULL)
        return NULL;
    cached->arguments = malloc(kernel->argument_bytes != 0 ? kernel->argument_bytes : 1);
    cached->kernel = cpu_program_kernel_make(kernel);
    if (cached->arguments == NULL || cached->kernel == NULL) {
        if (cached->kernel != NULL)
            cpu_opencl()->api->clReleaseKernel(cached->kernel);
        free(cached->arguments);
        free(cached);
        return NULL;
    }
    cpu_program_kernel_retain(kernel);
    cached->key = kernel;
    cached->large_limit = LARGE_LIMIT;
    HASH_ADD_PTR(executor->kernels, key, cached);
    executor->last = cached;
    return cached;
}

static cl_int set_argument(const struct cached_kernel *cached, uint32_t index,
                           const struct cpu_argument *argument, const unsigned char *value)
{
    const struct cpu_opencl *cl = cpu_opencl();
    size_t size_bytes = argument->size_bytes;
    void *pointer;
    switch (argument->kind) {
    case ZEPI_SPIRV_ARGUMENT_LOCAL:
        memcpy(&size_bytes, value, sizeof(size_bytes));
        return cl->api->clSetKernelArg(cached->kernel, index, size_bytes, NULL);
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        memcpy(&pointer, value, sizeof(pointer));
        return cl->set_kernel_arg_mem_pointer(cached->kernel, index, pointer);
    case ZEPI_SPIRV_ARGUMENT_IMAGE:
        memcpy(&pointer, value, sizeof(pointer));
        return cl->api->clSetKernelArg(cached->kernel, index, sizeof(cl_mem),
                                       &((const struct cpu_image *)pointer)->memory);
    default:
        if (size_bytes == 0) {
            memcpy(&size_bytes, value, sizeof(size_bytes));
            value += sizeof(size_bytes);
        }
        return cl->api->clSetKernelArg(cached->kernel, index, size_bytes, value);
    }
}

static ze_result_t set_arguments(struct cached_kernel *cached, const struct cpu_launch *launch)
{
    const struct cpu_program_kernel *kernel = launch->kernel;
    if (cached->has_arguments && !kernel->has_objects &&
        memcmp(cached->arguments, launch->arguments, launch->argument_bytes) == 0)
        return ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct cpu_argument *argument = &kernel->arguments[i];
        const unsigned char *value = launch->arguments + argument->offset;
        // An object at the same address may be another one.
        if (cached->has_arguments && !cpu_argument_is_object(argument) &&
            memcmp(cached->arguments + argument->offset, value, argument->slot_bytes) == 0)
            continue;
        cl_int code = set_argument(cached, i, argument, value);
        if (code != CL_SUCCESS) {
            cached->has_arguments = false;
            return cpu_opencl_result(code);
        }
    }
    memcpy(cached->arguments, launch->arguments, launch->argument_bytes);
    cached->has_arguments = true;
    return ZE_RESULT_SUCCESS;
}

// One measurement may be wrong (memory touched for the first time, a thread that was interrupted),
// and launches on all cores are not measured. So a kernel counts as large after several
// measurements, and is measured again later, less and less often.
static bool is_small(struct cached_kernel *cached, size_t work_items)
{
    if (cached->samples < SAMPLES)
        return work_items <= SMALL_WORK_ITEMS;
    if (work_items <= SMALL_NS * UINT64_C(1000) / cached->item_ps)
        return true;
    if (work_items > SMALL_WORK_ITEMS || ++cached->large_count < cached->large_limit)
        return false;
    cached->large_count = 0;
    if (cached->large_limit < LARGE_LIMIT_MAXIMUM)
        cached->large_limit *= 2;
    return true;
}

// The small queue runs a kernel while it is enqueued, so that the time of that is the kernel's.
static void measure(struct cached_kernel *cached, size_t work_items, uint64_t elapsed_ns)
{
    uint64_t item_ps = elapsed_ns * 1000 / work_items + 1;
    cached->samples += cached->samples < SAMPLES;
    // Down at once, up slowly: a thread that was interrupted says nothing about the kernel.
    if (cached->item_ps == 0 || item_ps < cached->item_ps)
        cached->item_ps = item_ps;
    else
        cached->item_ps += (item_ps - cached->item_ps) / 8;
}

static ze_result_t settle_images(struct cpu_executor *executor, cl_command_queue queue,
                                 const struct cpu_launch *launch)
{
    const struct cpu_program_kernel *kernel = launch->kernel;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < kernel->argument_count && result == ZE_RESULT_SUCCESS; i++) {
        const struct cpu_image *image;
        if (kernel->arguments[i].kind != ZEPI_SPIRV_ARGUMENT_IMAGE)
            continue;
        memcpy(&image, launch->arguments + kernel->arguments[i].offset, sizeof(image));
        if (!image->is_settled_after_launch)
            continue;
        result = cpu_executor_finish(executor);
        if (result == ZE_RESULT_SUCCESS)
            result = cpu_image_settle(queue, image);
    }
    return result;
}

static void exchange_dimensions(unsigned dimension, size_t *local, size_t *global, size_t *offset)
{
    size_t *sizes[] = {local, global, offset};
    for (int i = 0; i < 3; i++) {
        size_t first = sizes[i][0];
        sizes[i][0] = sizes[i][dimension];
        sizes[i][dimension] = first;
    }
}

static ze_result_t launch_groups(struct cpu_executor *executor, const struct cpu_launch *launch,
                                 const uint32_t group_count[3])
{
    size_t global[3], local[3], offset[3];
    size_t work_items = 1;
    if (atomic_load(&cpu_executors_are_over))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    bool has_offset = false;
    for (int i = 0; i < 3; i++) {
        local[i] = launch->group_size[i];
        global[i] = (size_t)group_count[i] * local[i];
        offset[i] = launch->offset[i];
        has_offset = has_offset || offset[i] != 0;
        work_items *= global[i];
    }
    if (work_items == 0)
        return ZE_RESULT_SUCCESS;
    unsigned turned = 0;
    struct cpu_program_kernel *kernel = launch->kernel;
    if (local[0] == 1)
        kernel = cpu_program_kernel_turn(kernel, local, &turned);
    if (turned != 0)
        exchange_dimensions(turned, local, global, offset);
    struct cached_kernel *cached = find_or_create_kernel(executor, kernel);
    if (cached == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t result = set_arguments(cached, launch);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cl_command_queue queue = NULL;
    result = use_queue(executor, !executor->lacks_small && is_small(cached, work_items), &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    // Fewer dimensions are cheaper for the runtime.
    cl_uint dimensions = global[2] != 1 ? 3 : global[1] != 1 ? 2 : 1;
    if (has_offset)
        dimensions = 3;
    bool is_measured = queue == executor->small && work_items >= MEASURED_WORK_ITEMS;
    uint64_t start = is_measured ? cpu_device_clock() : 0;
    cl_int code = cpu_opencl()->api->clEnqueueNDRangeKernel(queue, cached->kernel, dimensions,
                                                            has_offset ? offset : NULL, global,
                                                            local, 0, NULL, NULL);
    if (is_measured)
        measure(cached, work_items, cpu_device_clock() - start);
    executor->running = queue;
    if (code == CL_SUCCESS && launch->kernel->has_objects)
        return settle_images(executor, queue, launch);
    return cpu_opencl_result(code);
}

static ze_result_t launch(struct cpu_executor *executor, const struct cpu_launch *launch)
{
    if (launch->counts == NULL)
        return launch_groups(executor, launch, launch->group_count);
    // Earlier launches may write the counts.
    ze_result_t result = finish_launches(executor);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (launch->limit != NULL && launch->position >= *launch->limit)
        return ZE_RESULT_SUCCESS;
    const uint32_t counts[3] = {launch->counts->groupCountX, launch->counts->groupCountY,
                                launch->counts->groupCountZ};
    return launch_groups(executor, launch, counts);
}

static ze_result_t copy_image(struct cpu_executor *executor, const struct cpu_image_copy *copy)
{
    cl_command_queue queue = NULL;
    if (atomic_load(&cpu_executors_are_over))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    ze_result_t result = use_queue(executor, false, &queue);
    return result == ZE_RESULT_SUCCESS ? cpu_image_copy(queue, copy) : result;
}

static void query_timestamps(const struct cpu_command *command)
{
    for (uint32_t i = 0; i < command->u.timestamps.count; i++) {
        const size_t *offsets = command->u.timestamps.offsets;
        size_t offset = offsets != NULL ? offsets[i] : i * sizeof(ze_kernel_timestamp_result_t);
        ze_kernel_timestamp_result_t result;
        cpu_event_timestamps(command->u.timestamps.events[i], &result);
        memcpy((unsigned char *)command->u.timestamps.target + offset, &result, sizeof(result));
    }
}

static ze_result_t perform_on_host(const struct cpu_command *command)
{
    uint64_t now;
    switch (command->kind) {
    case CPU_COMMAND_COPY:
        cpu_copy_region(command->u.copy.target, command->u.copy.source, &command->u.copy.region);
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_FILL:
        cpu_fill(command->u.copy.target, command->u.copy.size_bytes, command->u.copy.source,
                 command->u.copy.pattern_bytes);
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_RESET_EVENT:
        cpu_event_reset(command->u.reset.event);
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_WRITE_TIMESTAMP:
        now = cpu_device_clock();
        memcpy(command->u.copy.target, &now, sizeof(now));
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_QUERY_TIMESTAMPS:
        query_timestamps(command);
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_HOST_FUNCTION:
        command->u.host.function(command->u.host.user);
        return ZE_RESULT_SUCCESS;
    case CPU_COMMAND_END:
        if (command->u.end.fence != NULL)
            cpu_fence_complete(command->u.end.fence);
        return ZE_RESULT_SUCCESS;
    default:
        return ZE_RESULT_SUCCESS;
    }
}

ze_result_t cpu_executor_run(struct cpu_executor *executor, const struct cpu_command *command)
{
    const bool is_launch = command->kind == CPU_COMMAND_LAUNCH;
    const bool is_last_copy = command->end != NULL && --command->end->u.end.left == 0;
    struct cpu_event *signal = command->signal;
    ze_result_t result = ZE_RESULT_SUCCESS;
    // An event's times are those of its command alone.
    if (!is_launch || signal != NULL)
        result = finish_launches(executor);
    begin_access(executor, command->kind);
    uint64_t start = signal != NULL ? cpu_device_clock() : 0;
    if (command->kind == CPU_COMMAND_BEGIN)
        command->u.begin.end->u.end.start = cpu_device_clock();
    else if (command->kind == CPU_COMMAND_END)
        start = command->u.end.start;
    ze_result_t own;
    if (is_launch)
        own = launch(executor, &command->u.launch);
    else if (command->kind == CPU_COMMAND_IMAGE_COPY)
        own = copy_image(executor, &command->u.image);
    else
        own = perform_on_host(command);
    if (signal != NULL || is_last_copy) {
        ze_result_t finished = cpu_executor_finish(executor);
        if (own == ZE_RESULT_SUCCESS)
            own = finished;
    }
    if (own != ZE_RESULT_SUCCESS)
        cpu_report("engine", "a command failed with 0x%x", (unsigned)own);
    // Release: a thread that sees the list unused may reset it, and then the command is gone.
    if (is_last_copy)
        atomic_fetch_sub_explicit(&command->end->u.end.list->uses, 1, memory_order_release);
    // A failed command signals too: better a wrong number than a program that hangs.
    if (signal != NULL)
        cpu_event_complete(signal, start, cpu_device_clock());
    return own != ZE_RESULT_SUCCESS ? own : result;
}
