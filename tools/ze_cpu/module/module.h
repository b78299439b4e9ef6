// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MODULE_H
#define ZE_CPU_MODULE_H

#include "object.h"
#include "program.h"

#include <pthread.h>
#include <stdbool.h>

// Text that grows. Out of memory cuts it.
struct cpu_log {
    char *text; // owned, may be NULL
    size_t length;
};

__attribute__((format(printf, 2, 3))) void cpu_log_add(struct cpu_log *log, const char *format,
                                                       ...);
void cpu_log_finish(struct cpu_log *log);

// Gives the log to the application, if it asks for one; consumes it.
ze_result_t cpu_log_give(struct cpu_log *log, ze_module_build_log_handle_t *out_handle);

// Adds the log of the OpenCL program, if it says anything.
void cpu_log_add_program(struct cpu_log *log, cl_program program);

// Names that a table imports and none of the tables exports, each as a line of the log. Returns how
// many there are.
uint32_t cpu_log_add_unresolved(struct cpu_log *log, const struct zepi_spirv *tables,
                                uint32_t table_count);

struct cpu_build_log {
    struct cpu_object object;
    struct cpu_log log;
};

// One input of zeModuleCreate.
struct cpu_input {
    const uint8_t *bytes; // borrowed
    size_t size_bytes;
    const char *flags;                      // borrowed, may be NULL
    const ze_module_constants_t *constants; // borrowed, may be NULL
};

// The fields of a module do not change, but for the program, which a dynamic link replaces, once.
struct cpu_module {
    struct cpu_object object;
    ze_context_handle_t context; // borrowed
    ze_device_handle_t device;   // borrowed
    struct zepi_spirv *tables;   // owned, one for each input: kernels and symbols
    struct cpu_input *inputs;    // owned, as are the bytes: the SPIR-V that a native binary has
    uint32_t table_count;
    cl_program object_program;      // owned: compiled, for linking; NULL if nothing is to be linked
    struct zepi_digest object_code; // that it was loaded from; zeros: it was compiled
    pthread_mutex_t mutex;          // guards the members below; nothing is called under it
    struct cpu_program *program;    // owned; NULL while symbols are unresolved
    bool is_linked;                 // by zeModuleDynamicLink
};

// The program with a reference for the caller that counts as owner, or the error of the module.
ze_result_t cpu_module_take_program(struct cpu_module *module, struct cpu_program **out_program);

// Compiles from SPIR-V and from native input so far, for zeCpuGetCount.
enum cpu_compile { CPU_COMPILE_SPIRV, CPU_COMPILE_NATIVE, CPU_COMPILE_COUNT };
extern _Atomic uint64_t cpu_compiles[CPU_COMPILE_COUNT];

#endif
