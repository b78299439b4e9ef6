// SPDX-License-Identifier: MIT
#include "variables.h"

#include "kernels/cpu_driver.h"
#include "kernels/driver_hooks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct variable {
    char *name; // owned
    uint64_t gpu_address;
    uint64_t size_bytes;
    void *cpu_bytes; // NULL: not looked up yet, or ze_cpu has none of that name
};

struct shim_variables {
    atomic_uint reference_count;
    pthread_mutex_t mutex; // guards the members below
    uint32_t running;      // launches
    uint32_t count;
    struct variable items[];
};

static struct shim_variables *allocate(size_t capacity)
{
    struct shim_variables *variables =
        calloc(1, sizeof(*variables) + capacity * sizeof(variables->items[0]));
    if (variables) {
        atomic_init(&variables->reference_count, 1);
        pthread_mutex_init(&variables->mutex, NULL);
    }
    return variables;
}

static bool add(struct shim_variables *variables, const char *name, uint64_t gpu_address,
                uint64_t size_bytes)
{
    struct variable *variable = &variables->items[variables->count];
    variable->name = strdup(name);
    variable->gpu_address = gpu_address;
    variable->size_bytes = size_bytes;
    if (!variable->name)
        return false;
    variables->count++;
    return true;
}

static bool is_constant(const struct shim_module_inputs *inputs, const char *name)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct zepi_spirv *walk = &inputs->inputs[i].walk;
        for (uint32_t at = 0; at < walk->symbol_count; at++) {
            const struct zepi_spirv_symbol *symbol = &walk->symbols[at];
            if (symbol->is_constant && symbol->linkage != ZEPI_SPIRV_IMPORT &&
                strcmp(symbol->name, name) == 0)
                return true;
        }
    }
    return false;
}

struct shim_variables *shim_variables_create(ze_module_handle_t module,
                                             const struct shim_native_code *code,
                                             const struct shim_module_inputs *inputs)
{
    struct shim_variables *variables = allocate(code->variable_count);
    for (uint32_t i = 0; variables && i < code->variable_count; i++) {
        const struct shim_native_variable *native = &code->variables[i];
        void *address = NULL;
        size_t size_bytes;
        if (is_constant(inputs, native->name) ||
            shim_driver_module.pfnGetGlobalPointer(module, native->name, &size_bytes, &address) !=
                ZE_RESULT_SUCCESS)
            continue;
        if (!add(variables, native->name, (uint64_t)(uintptr_t)address, native->size_bytes)) {
            shim_variables_release(variables);
            return NULL;
        }
    }
    return variables;
}

struct shim_variables *shim_variables_join(uint32_t count, struct shim_variables *const *parts)
{
    size_t capacity = 0;
    for (uint32_t i = 0; i < count; i++)
        capacity += parts[i]->count;
    struct shim_variables *variables = allocate(capacity);
    for (uint32_t i = 0; variables && i < count; i++) {
        for (uint32_t at = 0; at < parts[i]->count; at++) {
            const struct variable *variable = &parts[i]->items[at];
            if (!add(variables, variable->name, variable->gpu_address, variable->size_bytes)) {
                shim_variables_release(variables);
                return NULL;
            }
        }
    }
    return variables;
}

struct shim_variables *shim_variables_retain(struct shim_variables *variables)
{
    atomic_fetch_add_explicit(&variables->reference_count, 1, memory_order_relaxed);
    return variables;
}

void shim_variables_release(struct shim_variables *variables)
{
    if (!variables ||
        atomic_fetch_sub_explicit(&variables->reference_count, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < variables->count; i++)
        free(variables->items[i].name);
    pthread_mutex_destroy(&variables->mutex);
    free(variables);
}

static void find_in_cpu_module(struct variable *variable, ze_module_handle_t cpu_module)
{
    size_t size_bytes = 0;
    if (!variable->cpu_bytes &&
        (shim_cpu_driver()->module.pfnGetGlobalPointer(cpu_module, variable->name, &size_bytes,
                                                       &variable->cpu_bytes) != ZE_RESULT_SUCCESS ||
         size_bytes < variable->size_bytes))
        variable->cpu_bytes = NULL;
}

// NULL: there is no such memory any more.
static uint8_t *gpu_bytes_of(const struct variable *variable, struct shim_address_space *space)
{
    uint64_t left = 0;
    uint8_t *bytes = shim_address_space_find(space, variable->gpu_address, &left);
    return left >= variable->size_bytes ? bytes : NULL;
}

void shim_variables_enter(struct shim_variables *variables, ze_module_handle_t cpu_module,
                          struct shim_address_space *space)
{
    if (variables->count == 0)
        return;
    pthread_mutex_lock(&variables->mutex);
    const bool is_alone = variables->running++ == 0;
    for (uint32_t i = 0; i < variables->count; i++) {
        struct variable *variable = &variables->items[i];
        const uint8_t *gpu_bytes = gpu_bytes_of(variable, space);
        find_in_cpu_module(variable, cpu_module);
        if (is_alone && gpu_bytes && variable->cpu_bytes)
            memcpy(variable->cpu_bytes, gpu_bytes, variable->size_bytes);
    }
    pthread_mutex_unlock(&variables->mutex);
}

void shim_variables_leave(struct shim_variables *variables, struct shim_address_space *space)
{
    if (variables->count == 0)
        return;
    pthread_mutex_lock(&variables->mutex);
    variables->running--;
    for (uint32_t i = 0; i < variables->count; i++) {
        const struct variable *variable = &variables->items[i];
        uint8_t *gpu_bytes = gpu_bytes_of(variable, space);
        if (gpu_bytes && variable->cpu_bytes)
            memcpy(gpu_bytes, variable->cpu_bytes, variable->size_bytes);
    }
    pthread_mutex_unlock(&variables->mutex);
}
