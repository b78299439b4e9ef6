// SPDX-License-Identifier: MIT
#include "program.h"

#include "free_programs.h"
#include "object.h"
#include "turned.h"

#include <stdlib.h>
#include <string.h>

// Consumes `program`, also on failure. The kernels are the caller's to fill.
static struct cpu_program *allocate(cl_program program, uint32_t kernel_count)
{
    struct cpu_program *result = calloc(1, sizeof(*result));
    struct cpu_program_kernel *kernels =
        calloc(kernel_count != 0 ? kernel_count : 1, sizeof(*kernels));
    if (result == NULL || kernels == NULL) {
        free(result);
        free(kernels);
        cpu_opencl()->api->clReleaseProgram(program);
        return NULL;
    }
    atomic_init(&result->references, 1);
    atomic_init(&result->owners, 1);
    result->program = program;
    result->kernels = kernels;
    result->kernel_count = kernel_count;
    for (uint32_t i = 0; i < kernel_count; i++)
        kernels[i].program = result;
    return result;
}

static bool init_kernel(struct cpu_program_kernel *kernel, const struct zepi_spirv_kernel *from)
{
    kernel->name = strdup(from->name);
    kernel->arguments =
        calloc(from->argument_count != 0 ? from->argument_count : 1, sizeof(kernel->arguments[0]));
    if (kernel->name == NULL || kernel->arguments == NULL)
        return false;
    kernel->argument_count = from->argument_count;
    memcpy(kernel->required_group_size, from->required_group_size,
           sizeof(kernel->required_group_size));
    memcpy(kernel->hinted_group_size, from->hinted_group_size, sizeof(kernel->hinted_group_size));
    kernel->required_sub_group_size = from->required_sub_group_size;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < from->argument_count; i++) {
        struct cpu_argument *argument = &kernel->arguments[i];
        argument->kind = from->arguments[i].kind;
        argument->size_bytes = argument->kind == ZEPI_SPIRV_ARGUMENT_VALUE ||
                                       argument->kind == ZEPI_SPIRV_ARGUMENT_OTHER
                                   ? from->arguments[i].size_bytes
                                   : sizeof(void *);
        argument->slot_bytes = argument->size_bytes != 0
                                   ? argument->size_bytes
                                   : (uint32_t)sizeof(size_t) + CPU_ANY_SIZE_BYTES;
        argument->offset = offset;
        kernel->has_objects = kernel->has_objects || cpu_argument_is_object(argument);
        offset += (argument->slot_bytes + 7) / 8 * 8;
    }
    kernel->argument_bytes = offset;
    return true;
}

struct cpu_program *cpu_program_create(cl_program program, const struct zepi_spirv *tables,
                                       uint32_t table_count)
{
    uint32_t kernel_count = 0;
    for (uint32_t i = 0; i < table_count; i++)
        kernel_count += tables[i].kernel_count;
    struct cpu_program *result = allocate(program, kernel_count);
    if (result == NULL)
        return NULL;
    uint32_t index = 0;
    for (uint32_t i = 0; i < table_count; i++)
        for (uint32_t j = 0; j < tables[i].kernel_count; j++)
            if (!init_kernel(&result->kernels[index++], &tables[i].kernels[j])) {
                cpu_program_release(result);
                return NULL;
            }
    return result;
}

void cpu_program_take_source(struct cpu_program *program, struct cpu_source *source)
{
    if (source != NULL && cpu_source_can_be_turned(source))
        program->source = source;
    else
        cpu_source_destroy(source);
}

void cpu_program_retain(struct cpu_program *program)
{
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
}

void cpu_program_release(struct cpu_program *program)
{
    if (program == NULL)
        return;
    // Acquire and release: the last owner sees the writes of the others.
    if (atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        if (program->kernels[i].properties != NULL)
            cpu_opencl()->api->clReleaseKernel(program->kernels[i].properties);
        for (int j = 0; j < 2; j++)
            cpu_program_disown(program->kernels[i].turned[j]);
        free(program->kernels[i].name);
        free(program->kernels[i].arguments);
    }
    free(program->kernels);
    cpu_source_destroy(program->source);
    cpu_free_program_give(program->code, program->program);
    free(program);
}

void cpu_program_own(struct cpu_program *program)
{
    atomic_fetch_add_explicit(&program->owners, 1, memory_order_relaxed);
    cpu_program_retain(program);
}

void cpu_program_disown(struct cpu_program *program)
{
    if (program == NULL)
        return;
    atomic_fetch_sub_explicit(&program->owners, 1, memory_order_relaxed);
    cpu_program_release(program);
}

void cpu_program_kernel_retain(struct cpu_program_kernel *kernel)
{
    cpu_program_retain(kernel->program);
}

void cpu_program_kernel_release(struct cpu_program_kernel *kernel)
{
    if (kernel != NULL)
        cpu_program_release(kernel->program);
}

bool cpu_program_is_abandoned(const struct cpu_program_kernel *kernel)
{
    return atomic_load_explicit(&kernel->program->owners, memory_order_relaxed) == 0;
}

struct cpu_program_kernel *cpu_program_find(const struct cpu_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, name) == 0)
            return &program->kernels[i];
    return NULL;
}

bool cpu_program_kernel_prepare(struct cpu_program_kernel *kernel)
{
    // Acquire and release: a thread that finds it uses it.
    if (atomic_load_explicit(&kernel->properties, memory_order_acquire) != NULL)
        return true;
    cl_kernel none = NULL;
    cl_kernel made = cpu_program_kernel_make(kernel);
    if (made == NULL)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&kernel->properties, &none, made,
                                                 memory_order_acq_rel, memory_order_acquire))
        cpu_opencl()->api->clReleaseKernel(made);
    return true;
}

// The same kernel of a program of its own; NULL if that cannot be built.
static struct cpu_program *build_turned(const struct cpu_program_kernel *kernel, unsigned dimension)
{
    const struct cpu_opencl *cl = cpu_opencl();
    const struct cpu_source *source = kernel->program->source;
    size_t bytes = 0;
    cl_int code;
    uint8_t *spirv = cpu_source_turn(source, kernel->name, dimension, &bytes);
    cl_program program =
        spirv != NULL ? cl->api->clCreateProgramWithIL(cpu_opencl_context(), spirv, bytes, &code)
                      : NULL;
    free(spirv);
    if (program != NULL && cl->api->clBuildProgram(program, 1, &cl->device, source->options, NULL,
                                                   NULL) != CL_SUCCESS) {
        cl->api->clReleaseProgram(program);
        program = NULL;
    }
    struct cpu_program *result = program != NULL ? allocate(program, 1) : NULL;
    if (result == NULL)
        return NULL;
    struct cpu_program_kernel *own = &result->kernels[0];
    const size_t table_bytes = kernel->argument_count * sizeof(own->arguments[0]);
    own->name = strdup(kernel->name);
    own->arguments = malloc(table_bytes != 0 ? table_bytes : 1);
    if (own->name == NULL || own->arguments == NULL) {
        cpu_program_release(result);
        return NULL;
    }
    memcpy(own->arguments, kernel->arguments, table_bytes);
    own->argument_count = kernel->argument_count;
    own->argument_bytes = kernel->argument_bytes;
    own->has_objects = kernel->has_objects;
    return result;
}

struct cpu_program_kernel *cpu_program_kernel_turn(struct cpu_program_kernel *kernel,
                                                   const size_t group_size[3],
                                                   unsigned *out_dimension)
{
    const unsigned dimension = group_size[1] > 1 ? 1 : 2;
    *out_dimension = 0;
    if (kernel->program->source == NULL || group_size[0] != 1 || group_size[dimension] <= 1)
        return kernel;
    // Acquire and release: a thread that finds it uses it.
    _Atomic(struct cpu_program *) *place = &kernel->turned[dimension - 1];
    struct cpu_program *turned = atomic_load_explicit(place, memory_order_acquire);
    if (turned == NULL) {
        struct cpu_program *made = build_turned(kernel, dimension);
        if (made == NULL) {
            cpu_report("engine", "%s has sub-groups of one item each: it cannot be built for them",
                       kernel->name);
            return kernel;
        }
        if (atomic_compare_exchange_strong_explicit(place, &turned, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            turned = made;
        else
            cpu_program_release(made);
    }
    *out_dimension = dimension;
    return &turned->kernels[0];
}

cl_kernel cpu_program_kernel_make(const struct cpu_program_kernel *kernel)
{
    cl_int code;
    return cpu_opencl()->api->clCreateKernel(kernel->program->program, kernel->name, &code);
}
