// SPDX-License-Identifier: MIT
#include "bench_ur.h"

#include "kernels.h"

// ur_api.h uses bool without including it.
#include <stdbool.h>

#include <unified-runtime/ur_api.h>
#include <unified-runtime/ur_ddi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_ur {
    struct bench_case cases[BENCH_UR_CASES];
    ur_dditable_t table;
    ur_context_handle_t context;
    ur_device_handle_t device;
    ur_queue_handle_t queue; // in order
    ur_queue_handle_t out_of_order;
    ur_program_handle_t program;
    ur_kernel_handle_t three;
    ur_kernel_handle_t twelve;
    void *memory[4];
    struct kernel_image image;
};

// ---- Bringing it up ----

// The getter of each table, by its name.
#define GETTERS(X)                                                                                 \
    X(Adapter)                                                                                     \
    X(Platform)                                                                                    \
    X(Context)                                                                                     \
    X(Event)                                                                                       \
    X(EventExp) X(Program) X(ProgramExp) X(Kernel) X(Queue) X(Enqueue) X(EnqueueExp) X(USM)        \
        X(Device)

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
            get(UR_API_VERSION_CURRENT, (char *)table + getters[i].offset) != UR_RESULT_SUCCESS) {
            fprintf(stderr, "zepi bench: no answer from %s\n", getters[i].name);
            return false;
        }
    }
    return true;
}

static bool find_device(struct bench_ur *ur)
{
    ur_adapter_handle_t adapter = NULL;
    ur_platform_handle_t platform = NULL;
    uint32_t count = 0;
    return ur->table.Adapter.pfnGet(1, &adapter, &count) == UR_RESULT_SUCCESS && count > 0 &&
           ur->table.Platform.pfnGet(adapter, 1, &platform, &count) == UR_RESULT_SUCCESS &&
           count > 0 &&
           ur->table.Device.pfnGet(platform, UR_DEVICE_TYPE_ALL, 1, &ur->device, &count) ==
               UR_RESULT_SUCCESS &&
           count > 0;
}

static bool make_program(struct bench_ur *ur, ur_program_handle_t *out_program)
{
    return ur->table.Program.pfnCreateWithIL(ur->context, ur->image.bytes, ur->image.size_bytes,
                                             NULL, out_program) == UR_RESULT_SUCCESS;
}

static bool make_objects(struct bench_ur *ur)
{
    const ur_dditable_t *table = &ur->table;
    const ur_queue_properties_t any_order = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                             .flags = UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    ur->image = kernel_image("bench");
    bool is_good =
        table->Context.pfnCreate(1, &ur->device, NULL, &ur->context) == UR_RESULT_SUCCESS &&
        table->Queue.pfnCreate(ur->context, ur->device, NULL, &ur->queue) == UR_RESULT_SUCCESS &&
        table->Queue.pfnCreate(ur->context, ur->device, &any_order, &ur->out_of_order) ==
            UR_RESULT_SUCCESS &&
        make_program(ur, &ur->program) &&
        table->Program.pfnBuild(ur->context, ur->program, "") == UR_RESULT_SUCCESS &&
        table->Kernel.pfnCreate(ur->program, "three", &ur->three) == UR_RESULT_SUCCESS &&
        table->Kernel.pfnCreate(ur->program, "twelve", &ur->twelve) == UR_RESULT_SUCCESS;
    for (int i = 0; i < 4 && is_good; i++)
        is_good = table->USM.pfnDeviceAlloc(ur->context, ur->device, NULL, NULL, 8192,
                                            &ur->memory[i]) == UR_RESULT_SUCCESS;
    return is_good;
}

// ---- Launches ----

static ur_exp_kernel_arg_properties_t pointer_of(uint32_t index, void *memory)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
                                            .index = index,
                                            .size = sizeof(memory),
                                            .value.pointer = memory};
}

static ur_exp_kernel_arg_properties_t value_of(uint32_t index, const void *value, size_t size)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_VALUE,
                                            .index = index,
                                            .size = size,
                                            .value.value = value};
}

static void set_three(const struct bench_ur *ur, ur_exp_kernel_arg_properties_t arguments[3],
                      const int *value, unsigned i)
{
    arguments[0] = pointer_of(0, ur->memory[BENCH_CHANGING(i)]);
    arguments[1] = pointer_of(1, ur->memory[2]);
    arguments[2] = value_of(2, value, sizeof(*value));
}

static bool prepare_three(struct bench *bench, unsigned count)
{
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(bench->state, arguments, &value, i);
        bench_keep(arguments);
    }
    return true;
}

// One launch of 1,024 work-items in groups of 64, or as the adapter suggests.
static bool launch(const struct bench_ur *ur, ur_queue_handle_t queue, ur_kernel_handle_t kernel,
                   uint32_t count, const ur_exp_kernel_arg_properties_t *arguments,
                   const size_t *group, ur_event_handle_t last, ur_event_handle_t *out_event)
{
    static const size_t global = 1024;
    return ur->table.EnqueueExp.pfnKernelLaunchWithArgsExp(
               queue, kernel, 1, NULL, &global, group, count, arguments, NULL, last != NULL,
               last ? &last : NULL, out_event) == UR_RESULT_SUCCESS;
}

static const size_t group_of_64 = 64;

static bool launch_three(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, &group_of_64, NULL, NULL))
            return false;
    }
    return true;
}

struct twelve {
    int number;
    int64_t wide;
    float real;
    int same;
};

static void set_twelve(const struct bench_ur *ur, ur_exp_kernel_arg_properties_t arguments[12],
                       struct twelve *values, unsigned i)
{
    values->number = (int)(i & 1);
    values->wide = i & 1;
    values->real = (float)(i & 1);
    set_three(ur, arguments, &values->number, i);
    arguments[3] = value_of(3, &values->same, 4);
    arguments[4] = value_of(4, &values->number, 4);
    arguments[5] = value_of(5, &values->same, 4);
    arguments[6] = value_of(6, &values->wide, 8);
    arguments[7] = value_of(7, &ur->memory[0], 8);
    arguments[8] = value_of(8, &values->real, 4);
    arguments[9] = value_of(9, &values->same, 4);
    arguments[10] = pointer_of(10, ur->memory[BENCH_CHANGING(i)]);
    arguments[11] = pointer_of(11, ur->memory[3]);
}

static bool prepare_twelve(struct bench *bench, unsigned count)
{
    ur_exp_kernel_arg_properties_t arguments[12];
    struct twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(bench->state, arguments, &values, i);
        bench_keep(arguments);
    }
    return true;
}

static bool launch_twelve(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    ur_exp_kernel_arg_properties_t arguments[12];
    struct twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(ur, arguments, &values, i);
        if (!launch(ur, ur->queue, ur->twelve, 12, arguments, &group_of_64, NULL, NULL))
            return false;
    }
    return true;
}

static bool launch_with_event(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        ur_event_handle_t event;
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, &group_of_64, NULL, &event) ||
            ur->table.Event.pfnRelease(event) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

static bool launch_depending(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    ur_exp_kernel_arg_properties_t arguments[3];
    ur_event_handle_t last = NULL;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        ur_event_handle_t event;
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->out_of_order, ur->three, 3, arguments, &group_of_64, last, &event))
            return false;
        if (last)
            ur->table.Event.pfnRelease(last);
        last = event;
    }
    return ur->table.Event.pfnRelease(last) == UR_RESULT_SUCCESS;
}

static bool launch_suggested(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, NULL, NULL, NULL))
            return false;
    }
    return true;
}

// ---- The rest ----

static bool copy_small(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    for (unsigned i = 0; i < count; i++) {
        if (ur->table.Enqueue.pfnUSMMemcpy(ur->queue, false, ur->memory[0], ur->memory[1], 64, 0,
                                           NULL, NULL) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

static bool allocate_and_free(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    for (unsigned i = 0; i < count; i++) {
        void *memory;
        if (ur->table.USM.pfnDeviceAlloc(ur->context, ur->device, NULL, NULL, 4096, &memory) !=
                UR_RESULT_SUCCESS ||
            ur->table.USM.pfnFree(ur->context, memory) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

static bool create_kernel(struct bench *bench, unsigned count)
{
    const struct bench_ur *ur = bench->state;
    for (unsigned i = 0; i < count; i++) {
        ur_kernel_handle_t kernel;
        if (ur->table.Kernel.pfnCreate(ur->program, "three", &kernel) != UR_RESULT_SUCCESS ||
            ur->table.Kernel.pfnRelease(kernel) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

static bool build_whole(struct bench *bench, unsigned count)
{
    struct bench_ur *ur = bench->state;
    const int specialized = 3;
    const ur_specialization_constant_info_t constant = {0, sizeof(specialized), &specialized};
    for (unsigned i = 0; i < count; i++) {
        ur_program_handle_t program;
        ur_kernel_handle_t kernel;
        if (!make_program(ur, &program))
            return false;
        if (ur->table.Program.pfnSetSpecializationConstants(program, 1, &constant) !=
                UR_RESULT_SUCCESS ||
            ur->table.Program.pfnBuild(ur->context, program, "") != UR_RESULT_SUCCESS ||
            ur->table.Kernel.pfnCreate(program, "three", &kernel) != UR_RESULT_SUCCESS) {
            ur->table.Program.pfnRelease(program);
            return false;
        }
        ur->table.Kernel.pfnRelease(kernel);
        ur->table.Program.pfnRelease(program);
    }
    return true;
}

static const struct bench_case case_list[] = {
    {NULL, "in-order launch, 3 arguments", launch_three, prepare_three, true},
    {NULL, "in-order launch, 12 arguments", launch_twelve, prepare_twelve, true},
    {NULL, "in-order launch with event, released", launch_with_event, prepare_three, true},
    {NULL, "out-of-order launch after the one before", launch_depending, prepare_three, true},
    {NULL, "in-order launch, suggested group size", launch_suggested, prepare_three, true},
    {NULL, "copy of 64 bytes", copy_small, bench_empty_loop, false},
    {NULL, "allocate and free 4 KiB", allocate_and_free, bench_empty_loop, false},
    {NULL, "create and release a kernel object", create_kernel, bench_empty_loop, false},
    {NULL, "create, specialize, build, get kernel, release", build_whole, bench_empty_loop, false},
};
#define CASE_COUNT (sizeof(case_list) / sizeof(case_list[0]))
_Static_assert(CASE_COUNT < BENCH_UR_CASES, "the last one has no name");

struct bench_ur *bench_ur_open(const char *path, const char *row)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "zepi bench: %s\n", dlerror());
        return NULL;
    }
    struct bench_ur *ur = calloc(1, sizeof(*ur));
    if (!ur || !fill_tables(library, &ur->table)) {
        free(ur);
        return NULL;
    }
    if (!find_device(ur) || !make_objects(ur)) {
        fprintf(stderr, "zepi bench: %s does not come up here\n", path);
        bench_ur_close(ur);
        return NULL;
    }
    for (size_t i = 0; i < CASE_COUNT; i++) {
        ur->cases[i] = case_list[i];
        ur->cases[i].row = row;
    }
    return ur;
}

void bench_ur_close(struct bench_ur *ur)
{
    if (!ur)
        return;
    const ur_dditable_t *table = &ur->table;
    for (int i = 0; i < 4; i++) {
        if (ur->memory[i])
            table->USM.pfnFree(ur->context, ur->memory[i]);
    }
    if (ur->twelve)
        table->Kernel.pfnRelease(ur->twelve);
    if (ur->three)
        table->Kernel.pfnRelease(ur->three);
    if (ur->program)
        table->Program.pfnRelease(ur->program);
    if (ur->out_of_order)
        table->Queue.pfnRelease(ur->out_of_order);
    if (ur->queue)
        table->Queue.pfnRelease(ur->queue);
    if (ur->context)
        table->Context.pfnRelease(ur->context);
    // The library stays: drivers keep threads of it.
    free(ur);
}

const struct bench_case *bench_ur_cases(const struct bench_ur *ur)
{
    return ur->cases;
}
