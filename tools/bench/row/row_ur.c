// SPDX-License-Identifier: MIT
#include "row_ur.h"

#include "tools/zepi/paths.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// ---- Bringing it up ----

// The getter of each table, by its name.
#define GETTERS(X)                                                                                 \
    X(Adapter)                                                                                     \
    X(Platform)                                                                                    \
    X(Context)                                                                                     \
    X(Event)                                                                                       \
    X(EventExp)                                                                                    \
    X(CommandBufferExp)                                                                            \
    X(Program)                                                                                     \
    X(ProgramExp)                                                                                  \
    X(Kernel) X(Queue) X(Enqueue) X(EnqueueExp) X(USM) X(Mem) X(Device) X(BindlessImagesExp)

static bool fill_tables(void *library, ur_dditable_t *table)
{
    static const struct {
        const char *name;
        size_t offset;
    } getters[] = {
#define GETTER(noun) {"urGet" #noun "ProcAddrTable", offsetof(ur_dditable_t, noun)},
        GETTERS(GETTER)
#undef GETTER
    };
    for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++) {
        ur_result_t (*get)(ur_api_version_t, void *);
        void *symbol = dlsym(library, getters[i].name);
        memcpy(&get, &symbol, sizeof(symbol));
        if (!get ||
            get(UR_API_VERSION_CURRENT, (char *)table + getters[i].offset) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

// Unified Runtime's loader looks for adapters in urLoaderInit. An adapter itself has no such
// function.
static bool start_loader(void *library)
{
    ur_result_t (*initialize)(ur_device_init_flags_t, ur_loader_config_handle_t);
    void *symbol = dlsym(library, "urLoaderInit");
    memcpy(&initialize, &symbol, sizeof(symbol));
    return !symbol || initialize(0, NULL) == UR_RESULT_SUCCESS;
}

static bool find_device(struct ur_row *ur)
{
    ur_platform_handle_t platform = NULL;
    uint32_t count = 0;
    return ur->table.Adapter.pfnGet(1, &ur->adapter, &count) == UR_RESULT_SUCCESS && count > 0 &&
           ur->table.Platform.pfnGet(ur->adapter, 1, &platform, &count) == UR_RESULT_SUCCESS &&
           count > 0 &&
           ur->table.Device.pfnGet(platform, UR_DEVICE_TYPE_ALL, 1, &ur->device, &count) ==
               UR_RESULT_SUCCESS &&
           count > 0;
}

static const ur_queue_flags_t queue_flags[QUEUE_COUNT] = {
    [ANY_ORDER] = UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    [PROFILING] = UR_QUEUE_FLAG_PROFILING_ENABLE,
    [PROFILING_ANY_ORDER] =
        UR_QUEUE_FLAG_PROFILING_ENABLE | UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE,
};

static bool make_objects(struct ur_row *ur)
{
    const ur_dditable_t *table = &ur->table;
    const zepi_device_image_desc_t image = kernel_image("bench");
    bool is_good =
        table->Context.pfnCreate(1, &ur->device, NULL, &ur->context) == UR_RESULT_SUCCESS;
    for (int i = 0; i < QUEUE_COUNT && is_good; i++) {
        const ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                                  .flags = queue_flags[i]};
        is_good = table->Queue.pfnCreate(ur->context, ur->device, &properties, &ur->queues[i]) ==
                  UR_RESULT_SUCCESS;
    }
    is_good = is_good &&
              table->Program.pfnCreateWithIL(ur->context, image.bytes, image.size_bytes, NULL,
                                             &ur->program) == UR_RESULT_SUCCESS &&
              table->Program.pfnBuild(ur->context, ur->program, "") == UR_RESULT_SUCCESS &&
              table->Mem.pfnBufferCreate(ur->context, UR_MEM_FLAG_READ_WRITE, 8192, NULL,
                                         &ur->buffer) == UR_RESULT_SUCCESS;
    for (int i = 0; i < BENCH_KERNEL_COUNT && is_good; i++)
        is_good = table->Kernel.pfnCreate(ur->program, bench_kernels[i].name, &ur->kernels[i]) ==
                  UR_RESULT_SUCCESS;
    for (int i = 0; i < BENCH_MEMORIES && is_good; i++)
        is_good = table->USM.pfnDeviceAlloc(ur->context, ur->device, NULL, NULL, 8192,
                                            &ur->memory[i]) == UR_RESULT_SUCCESS;
    return is_good;
}

struct ur_row *ur_row_open(const char *path, const char **out_message)
{
    path_ask_for_adapter(path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct ur_row *ur = library ? calloc(1, sizeof(*ur)) : NULL;
    if (!ur) {
        *out_message = library ? "out of memory" : dlerror();
        return NULL;
    }
    if (!start_loader(library) || !fill_tables(library, &ur->table)) {
        *out_message = "it is no adapter of this version of Unified Runtime";
        free(ur);
        return NULL;
    }
    if (!find_device(ur))
        *out_message = "it finds no device";
    else if (!make_objects(ur))
        *out_message = "it does not make what the operations need";
    else
        return ur;
    ur_row_close(ur);
    return NULL;
}

void ur_row_close(struct ur_row *ur)
{
    if (!ur)
        return;
    const ur_dditable_t *table = &ur->table;
    if (ur->last)
        table->Event.pfnRelease(ur->last);
    for (int i = 0; i < BENCH_UR_GRAPHS; i++)
        ur_row_graph_release(ur, &ur->graphs[i]);
    for (int i = 0; i < QUEUE_COUNT; i++)
        ur_row_graph_release(ur, &ur->finished_graphs[i]);
    for (int i = 0; i < BENCH_MEMORIES; i++) {
        if (ur->memory[i])
            table->USM.pfnFree(ur->context, ur->memory[i]);
    }
    for (int i = 0; i < BENCH_KERNEL_COUNT; i++) {
        if (ur->kernels[i])
            table->Kernel.pfnRelease(ur->kernels[i]);
    }
    if (ur->buffer)
        table->Mem.pfnRelease(ur->buffer);
    if (ur->program)
        table->Program.pfnRelease(ur->program);
    for (int i = QUEUE_COUNT - 1; i >= 0; i--) {
        if (ur->queues[i])
            table->Queue.pfnRelease(ur->queues[i]);
    }
    if (ur->context)
        table->Context.pfnRelease(ur->context);
    if (ur->adapter)
        table->Adapter.pfnRelease(ur->adapter);
    // The library stays: drivers keep threads of it.
    free(ur);
}

bool ur_row_settle(void *state)
{
    const struct ur_row *ur = state;
    bool is_good = true;
    for (int i = 0; i < QUEUE_COUNT && is_good; i++)
        is_good = ur->table.Queue.pfnFinish(ur->queues[i]) == UR_RESULT_SUCCESS;
    return is_good;
}

// ---- Memory and objects ----

static bool copy_from_memory(const struct ur_row *ur, ur_queue_handle_t queue, void *to)
{
    return ur->table.Enqueue.pfnUSMMemcpy(queue, false, to, ur->memory[BENCH_COPY_FROM], 64, 0,
                                          NULL, NULL) == UR_RESULT_SUCCESS;
}

static bool copy_small(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    (void)operation, (void)i;
    return copy_from_memory(ur, ur->queues[IN_ORDER], ur->memory[BENCH_COPY_TO]);
}

static bool allocate(const struct ur_row *ur, void **out_memory)
{
    return ur->table.USM.pfnDeviceAlloc(ur->context, ur->device, NULL, NULL, 4096, out_memory) ==
           UR_RESULT_SUCCESS;
}

static bool allocate_and_free(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    (void)operation, (void)i;
    void *memory;
    return allocate(ur, &memory) && ur->table.USM.pfnFree(ur->context, memory) == UR_RESULT_SUCCESS;
}

// The host waits for nothing, so that every free meets a busy queue.
static bool allocate_and_free_busy(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    (void)operation, (void)i;
    void *memory;
    return allocate(ur, &memory) && copy_from_memory(ur, ur->queues[ANY_ORDER], memory) &&
           ur->table.USM.pfnFree(ur->context, memory) == UR_RESULT_SUCCESS;
}

static bool create_queue(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    (void)operation, (void)i;
    ur_queue_handle_t queue;
    return ur->table.Queue.pfnCreate(ur->context, ur->device, NULL, &queue) == UR_RESULT_SUCCESS &&
           ur->table.Queue.pfnRelease(queue) == UR_RESULT_SUCCESS;
}

static bool create_and_release_kernel(const struct ur_row *ur, ur_program_handle_t program)
{
    ur_kernel_handle_t kernel;
    return ur->table.Kernel.pfnCreate(program, "three", &kernel) == UR_RESULT_SUCCESS &&
           ur->table.Kernel.pfnRelease(kernel) == UR_RESULT_SUCCESS;
}

static bool create_kernel(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    (void)operation, (void)i;
    return create_and_release_kernel(ur, ur->program);
}

// A program of the image: create, specialize, build, get a kernel, release.
static bool build(void *state, enum bench_operation operation, unsigned i)
{
    const struct ur_row *ur = state;
    const ur_dditable_t *table = &ur->table;
    const zepi_device_image_desc_t image = kernel_image(bench_operations[operation].image);
    const int value = 5;
    const ur_specialization_constant_info_t constant = {0, sizeof(value), &value};
    ur_program_handle_t program;
    (void)i;
    if (table->Program.pfnCreateWithIL(ur->context, image.bytes, image.size_bytes, NULL,
                                       &program) != UR_RESULT_SUCCESS)
        return false;
    const bool is_good =
        table->Program.pfnSetSpecializationConstants(program, 1, &constant) == UR_RESULT_SUCCESS &&
        table->Program.pfnBuild(ur->context, program, "") == UR_RESULT_SUCCESS &&
        create_and_release_kernel(ur, program);
    return table->Program.pfnRelease(program) == UR_RESULT_SUCCESS && is_good;
}

static bool launch(void *state, enum bench_operation operation, unsigned i)
{
    return ur_row_launch(state, &bench_operations[operation].launch, i);
}

bench_step *const ur_row_steps[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3... BENCH_LAUNCH_BUFFER] = launch,
    [BENCH_COPY] = copy_small,
    [BENCH_QUEUE] = create_queue,
    [BENCH_ALLOCATE] = allocate_and_free,
    [BENCH_ALLOCATE_BUSY] = allocate_and_free_busy,
    [BENCH_KERNEL] = create_kernel,
    [BENCH_PROGRAM... BENCH_PROGRAM_LARGE] = build,
    [BENCH_FIRST_TRANSFER... BENCH_FIRST_GRAPH - 1] = ur_row_transfer,
    [BENCH_FIRST_GRAPH... BENCH_FIRST_CYCLE - 1] = ur_row_run_graph,
    [BENCH_FIRST_CYCLE... BENCH_OPERATION_COUNT - 1] = ur_row_cycle,
};
