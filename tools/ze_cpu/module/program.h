// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_PROGRAM_H
#define ZE_CPU_PROGRAM_H

#include "cache/digest.h"
#include "opencl.h"
#include "plugin/spirv/spirv.h"
#include "source.h"

#include <stdatomic.h>
#include <stdbool.h>

// Room for an argument of unknown size, behind the size that was given.
#define CPU_ANY_SIZE_BYTES 256

// Where an argument lies in a launch's block of arguments.
struct cpu_argument {
    enum zepi_spirv_argument_kind kind;
    uint32_t size_bytes; // 0: unknown, the slot begins with the size that was set
    uint32_t slot_bytes; // room in the block; local memory keeps its size there
    uint32_t offset;
};

// An image, which the slot holds, or a sampler: there the slot holds the OpenCL object.
static inline bool cpu_argument_is_object(const struct cpu_argument *argument)
{
    return argument->kind == ZEPI_SPIRV_ARGUMENT_IMAGE ||
           argument->kind == ZEPI_SPIRV_ARGUMENT_SAMPLER;
}

struct cpu_program_kernel {
    struct cpu_program *program;    // borrowed: it owns its kernels
    char *name;                     // owned
    struct cpu_argument *arguments; // owned
    uint32_t argument_count;
    uint32_t argument_bytes;
    bool has_objects;                // images or samplers among the arguments
    uint32_t required_group_size[3]; // zeros: none
    uint32_t hinted_group_size[3];   // zeros: none
    uint32_t required_sub_group_size;
    _Atomic(cl_kernel) properties; // owned; answers queries only; NULL before the first ze_kernel
    // Owned: the kernel with dimension 0 and 1, or 2, exchanged; NULL before the first such launch.
    _Atomic(struct cpu_program *) turned[2];
};

// A linked OpenCL program and the table of its kernels. Shared by the modules that were linked into
// it, their kernels, recorded launches and executors. Immutable but for the counts and the data for
// queries and turned kernels.
struct cpu_program {
    _Atomic uint32_t references;
    _Atomic uint32_t owners;            // modules and ze_kernels; 0: nothing new can be launched
    cl_program program;                 // owned
    struct zepi_digest code;            // that it was loaded from; zeros: it was built
    struct cpu_program_kernel *kernels; // owned
    uint32_t kernel_count;
    struct cpu_source *source; // owned; NULL: no kernel is turned
};

// A program with the kernels of all tables, with one reference and one owner. Consumes `program`,
// also on failure. NULL without memory.
struct cpu_program *cpu_program_create(cl_program program, const struct zepi_spirv *tables,
                                       uint32_t table_count);

// Consumes the source, which may be NULL: kernels are turned by it, if they can be.
void cpu_program_take_source(struct cpu_program *program, struct cpu_source *source);

void cpu_program_retain(struct cpu_program *program);
void cpu_program_release(struct cpu_program *program);

// A reference that counts as owner too.
void cpu_program_own(struct cpu_program *program);
void cpu_program_disown(struct cpu_program *program);

void cpu_program_kernel_retain(struct cpu_program_kernel *kernel);
void cpu_program_kernel_release(struct cpu_program_kernel *kernel);
bool cpu_program_is_abandoned(const struct cpu_program_kernel *kernel);

struct cpu_program_kernel *cpu_program_find(const struct cpu_program *program, const char *name);

// Whether queries can be answered: see properties.
bool cpu_program_kernel_prepare(struct cpu_program_kernel *kernel);

// The kernel that is launched for groups of this size: the kernel itself, or where they are one
// item wide and it uses sub-groups, the turned one, with the dimension that changes places with
// dimension 0 in *out_dimension, else 0.
struct cpu_program_kernel *cpu_program_kernel_turn(struct cpu_program_kernel *kernel,
                                                   const size_t group_size[3],
                                                   unsigned *out_dimension);

// A new OpenCL kernel that takes plain pointers and may reach any memory; NULL on failure.
cl_kernel cpu_program_kernel_make(const struct cpu_program_kernel *kernel);

#endif
