// SPDX-License-Identifier: MIT
#include "cpu_driver.h"

#include "driver_hooks.h"
#include "engine/engine.h"
#include "group_part.h"
#include "log.h"
#include "options.h"
#include "products.h"
#include "public.h"
#include "tools/ze_cpu/module/sub_groups.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL_BYTES 800 // of a build log
#define SETTLE_NS INT64_C(1700000000)

static struct shim_cpu_driver driver;
static bool is_up;
static pid_t process; // that brought it up
static _Atomic bool has_ended;

#define CPU_QUEUES 8 // of ze_cpu's compute group

// Immediate lists without a launch. As many as there ever were launches at a time. Lists of one
// engine of ze_cpu take turns, so that they are spread over its engines: of every index and
// priority.
struct idle_list {
    struct idle_list *next;
    ze_command_list_handle_t list;
};
static struct {
    pthread_mutex_t mutex; // guards the members below; nothing is called under it
    struct idle_list *first;
    uint32_t made;
} idle_lists = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *open_library(void)
{
    char path[PATH_MAX] = "";
    const char *named = getenv("DRM_SHIM_ZE_CPU");
    Dl_info own;
    if (named && named[0]) {
        snprintf(path, sizeof(path), "%s", named);
    } else if (dladdr(&driver, &own) && own.dli_fname) {
        const char *slash = strrchr(own.dli_fname, '/');
        snprintf(path, sizeof(path), "%.*slibze_cpu.so.1",
                 slash ? (int)(slash + 1 - own.dli_fname) : 0, own.dli_fname);
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        shim_error("kernels are not executed: %s; DRM_SHIM_ZE_CPU says where ze_cpu is", dlerror());
    return library;
}

static ze_result_t open_device(const ze_global_dditable_t *global,
                               const ze_driver_dditable_t *drivers,
                               const ze_device_dditable_t *devices,
                               const ze_context_dditable_t *contexts)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t handle;
    uint32_t one = 1;
    ze_result_t result = global->pfnInit(0);
    if (result == ZE_RESULT_SUCCESS)
        result = drivers->pfnGet(&one, &handle);
    one = 1;
    if (result == ZE_RESULT_SUCCESS)
        result = devices->pfnGet(handle, &one, &driver.device);
    if (result == ZE_RESULT_SUCCESS)
        result = contexts->pfnCreate(handle, &desc, &driver.context);
    // Newer than the headers' tables.
    if (result == ZE_RESULT_SUCCESS)
        result = drivers->pfnGetExtensionFunctionAddress(handle, "zeCommandListHostSynchronize",
                                                         (void **)&driver.synchronize);
    return result;
}

// At exit the queues come to an end, as long as there is something that executes their kernels.
static void end_kernels(int status, void *unused)
{
    (void)status;
    (void)unused;
    if (getpid() == process && !atomic_load(&has_ended))
        shim_engines_settle(SETTLE_NS);
    atomic_store(&has_ended, true);
}

// Behind the handlers that ze_cpu, its runtime and the runtime's compiler leave when they are used,
// so that it runs before them.
static void end_kernels_at_exit(void)
{
    on_exit(end_kernels, NULL);
}

static void bring_up(void)
{
    process = getpid();
    ze_global_dditable_t global;
    ze_driver_dditable_t drivers;
    ze_device_dditable_t devices;
    ze_context_dditable_t contexts;
    void *library = open_library();
    if (!library)
        return;
    if (!shim_driver_table(library, "zeGetGlobalProcAddrTable", &global) ||
        !shim_driver_table(library, "zeGetDriverProcAddrTable", &drivers) ||
        !shim_driver_table(library, "zeGetDeviceProcAddrTable", &devices) ||
        !shim_driver_table(library, "zeGetContextProcAddrTable", &contexts) ||
        !shim_driver_table(library, "zeGetModuleProcAddrTable", &driver.module) ||
        !shim_driver_table(library, "zeGetModuleBuildLogProcAddrTable", &driver.build_log) ||
        !shim_driver_table(library, "zeGetKernelProcAddrTable", &driver.kernel) ||
        !shim_driver_table(library, "zeGetKernelExpProcAddrTable", &driver.kernel_exp) ||
        !shim_driver_table(library, "zeGetImageProcAddrTable", &driver.image) ||
        !shim_driver_table(library, "zeGetSamplerProcAddrTable", &driver.sampler) ||
        !shim_driver_table(library, "zeGetCommandListProcAddrTable", &driver.list)) {
        shim_error("kernels are not executed: ze_cpu lacks a table");
        return;
    }
    const ze_result_t result = open_device(&global, &drivers, &devices, &contexts);
    driver.has_parts = shim_products_have_tiles(shim_options()->product);
    is_up = result == ZE_RESULT_SUCCESS;
    if (!is_up)
        shim_error("kernels are not executed: ze_cpu does not come up: 0x%x", result);
    end_kernels_at_exit();
}

const struct shim_cpu_driver *shim_cpu_driver(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, bring_up);
    return is_up ? &driver : NULL;
}

bool shim_cpu_driver_has_ended(void)
{
    return atomic_load(&has_ended);
}

// ---- Builds ----

static void log_failure(const struct shim_cpu_driver *cpu, ze_result_t result,
                        ze_module_build_log_handle_t log)
{
    size_t size = 0;
    char *text = NULL;
    if (log && cpu->build_log.pfnGetString(log, &size, NULL) == ZE_RESULT_SUCCESS && size > 0)
        text = calloc(1, size + 1);
    if (text)
        cpu->build_log.pfnGetString(log, &size, text);
    // Its first lines say least.
    const char *tail = text && size > TAIL_BYTES ? text + size - TAIL_BYTES : text;
    for (char *line = text ? strchr(text, '\n') : NULL; line; line = strchr(line, '\n'))
        *line = ';';
    shim_error("ze_cpu does not build a module: 0x%x %s", result, tail ? tail : "");
    free(text);
}

// The memory that ze_module_program_exp_desc_t points to.
struct program_list {
    size_t *sizes;
    const uint8_t **modules;
    uint8_t **copies; // owned, of those in `modules` that are not the inputs' own
    const char **options;
    const ze_module_constants_t **constants;
};

// That of the machine code.
static uint32_t choose_sub_group_size(const void *context, const char *kernel)
{
    const struct shim_kernel_info *native = shim_ze_info_find(context, kernel);
    return native && native->simd_size >= 4 ? native->simd_size : 0;
}

// Adds the arguments of parts to the kernels of the list's last module.
static bool add_parts(struct program_list *list, uint32_t at)
{
    uint8_t *spirv = NULL;
    if (!shim_group_part_add(list->modules[at], list->sizes[at], &spirv, &list->sizes[at]))
        return false;
    if (!spirv)
        return true;
    free(list->copies[at]);
    list->modules[at] = list->copies[at] = spirv;
    return true;
}

static bool fill_spirv(const struct shim_module_input *input, const struct shim_ze_info *info,
                       struct program_list *list, uint32_t at)
{
    list->modules[at] = input->spirv;
    list->sizes[at] = input->spirv_bytes;
    if (!cpu_sub_groups_require(input->spirv, input->spirv_bytes, &input->walk,
                                choose_sub_group_size, info, &list->copies[at], &list->sizes[at]))
        return false;
    if (list->copies[at])
        list->modules[at] = list->copies[at];
    return !driver.has_parts || add_parts(list, at);
}

static bool fill_list(const struct shim_module_inputs *inputs, const struct shim_ze_info *info,
                      struct program_list *list)
{
    const size_t count = (size_t)inputs->count + 1;
    list->sizes = calloc(count, sizeof(*list->sizes));
    list->modules = calloc(count, sizeof(*list->modules));
    list->copies = calloc(count, sizeof(*list->copies));
    list->options = calloc(count, sizeof(*list->options));
    list->constants = calloc(count, sizeof(*list->constants));
    if (!list->sizes || !list->modules || !list->copies || !list->options || !list->constants)
        return false;
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct shim_module_input *input = &inputs->inputs[i];
        list->options[i] = input->options;
        list->constants[i] = input->constant_count > 0 ? &input->list : NULL;
        if (!fill_spirv(input, info, list, i))
            return false;
    }
    return true;
}

static void free_list(struct program_list *list, uint32_t count)
{
    for (uint32_t i = 0; list->copies && i < count; i++)
        free(list->copies[i]);
    free(list->sizes);
    free(list->modules);
    free(list->copies);
    free(list->options);
    free(list->constants);
}

// The log is the caller's, of a failure too, or NULL.
static ze_result_t build_list(const struct shim_cpu_driver *cpu, const struct program_list *list,
                              uint32_t count, ze_module_handle_t *out_module,
                              ze_module_build_log_handle_t *out_log)
{
    ze_module_program_exp_desc_t several = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                            .count = count,
                                            .inputSizes = list->sizes,
                                            .pInputModules = list->modules,
                                            .pBuildFlags = list->options,
                                            .pConstants = list->constants};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .pNext = &several,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV};
    return cpu->module.pfnCreate(cpu->context, cpu->device, &desc, out_module, out_log);
}

ze_module_handle_t shim_cpu_build(const struct shim_cpu_driver *cpu,
                                  const struct shim_module_inputs *inputs,
                                  const struct shim_ze_info *info)
{
    struct program_list list = {0};
    ze_module_handle_t module = NULL;
    if (inputs->count == 0 || !fill_list(inputs, info, &list)) {
        free_list(&list, inputs->count);
        return NULL;
    }
    // Intel's compiler passes over options that it does not know; ze_cpu refuses them.
    for (int round = 0; round < 2 && !module; round++) {
        ze_module_build_log_handle_t log = NULL;
        const ze_result_t result = build_list(cpu, &list, inputs->count, &module, &log);
        if (result != ZE_RESULT_SUCCESS) {
            module = NULL;
            if (round == 1)
                log_failure(cpu, result, log);
        }
        if (log)
            cpu->build_log.pfnDestroy(log);
        for (uint32_t i = 0; i < inputs->count; i++)
            list.options[i] = "";
    }
    end_kernels_at_exit();
    free_list(&list, inputs->count);
    return module;
}

// ---- Launches ----

static struct idle_list *take_list(const struct shim_cpu_driver *cpu)
{
    pthread_mutex_lock(&idle_lists.mutex);
    struct idle_list *idle = idle_lists.first;
    const uint32_t engine = idle ? 0 : idle_lists.made++;
    if (idle)
        idle_lists.first = idle->next;
    pthread_mutex_unlock(&idle_lists.mutex);
    if (idle)
        return idle;
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .index = engine % CPU_QUEUES,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                          .priority = engine / CPU_QUEUES % 3};
    idle = calloc(1, sizeof(*idle));
    if (idle && cpu->list.pfnCreateImmediate(cpu->context, cpu->device, &desc, &idle->list) !=
                    ZE_RESULT_SUCCESS) {
        free(idle);
        idle = NULL;
    }
    return idle;
}

static void give_list(struct idle_list *idle)
{
    pthread_mutex_lock(&idle_lists.mutex);
    idle->next = idle_lists.first;
    idle_lists.first = idle;
    pthread_mutex_unlock(&idle_lists.mutex);
}

// Waits for the launch, unless it could not be appended; gives the list back.
static ze_result_t complete(const struct shim_cpu_driver *cpu, struct idle_list *idle,
                            ze_result_t result)
{
    if (result == ZE_RESULT_SUCCESS)
        result = cpu->synchronize(idle->list, UINT64_MAX);
    give_list(idle);
    return result;
}

ze_result_t shim_cpu_launch(const struct shim_cpu_driver *cpu, ze_kernel_handle_t kernel,
                            const uint32_t groups[3], pthread_mutex_t *kernel_mutex)
{
    const ze_group_count_t counts = {groups[0], groups[1], groups[2]};
    struct idle_list *idle = take_list(cpu);
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (idle)
        result = cpu->list.pfnAppendLaunchKernel(idle->list, kernel, &counts, NULL, 0, NULL);
    pthread_mutex_unlock(kernel_mutex);
    return idle ? complete(cpu, idle, result) : result;
}

ze_result_t shim_cpu_write_image(const struct shim_cpu_driver *cpu, ze_image_handle_t image,
                                 const void *pixels)
{
    struct idle_list *idle = take_list(cpu);
    if (!idle)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return complete(
        cpu, idle,
        cpu->list.pfnAppendImageCopyFromMemory(idle->list, image, pixels, NULL, NULL, 0, NULL));
}

ze_result_t shim_cpu_read_image(const struct shim_cpu_driver *cpu, ze_image_handle_t image,
                                void *pixels)
{
    struct idle_list *idle = take_list(cpu);
    if (!idle)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return complete(
        cpu, idle,
        cpu->list.pfnAppendImageCopyToMemory(idle->list, pixels, image, NULL, NULL, 0, NULL));
}

// ---- Signals ----

// The OpenCL runtime's compiler installs handlers of crashes, in place of those by which Intel's
// driver moves pages of shared memory. They stay what the driver and the program made them.
SHIM_PUBLIC int sigaction(int signal_number, const struct sigaction *restrict action,
                          struct sigaction *restrict out_before)
{
    static const char runtime[] = "/libintelocl.so";
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    Dl_info caller;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "sigaction");
        memcpy(&real, &symbol, sizeof(symbol));
    }
    if (action && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        strstr(caller.dli_fname, runtime))
        action = NULL;
    return real(signal_number, action, out_before);
}
