// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_OBJECT_H
#define ZE_CPU_OBJECT_H

#include <level_zero/ze_api.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Every handle points to a struct whose first member is a struct cpu_object. Memory of destroyed
// objects is kept for later objects of the same kind and never given back before the library goes,
// so that a destroyed handle can be recognised as such without touching freed memory. Reuse is
// first in, first out, which keeps a destroyed handle recognisable for long.

enum cpu_kind {
    CPU_NONE,
    CPU_DRIVER,
    CPU_DEVICE,
    CPU_CONTEXT,
    CPU_QUEUE,
    CPU_LIST,
    CPU_FENCE,
    CPU_EVENT_POOL,
    CPU_EVENT,
    CPU_IMAGE,
    CPU_MODULE,
    CPU_BUILD_LOG,
    CPU_KERNEL,
    CPU_SAMPLER,
    CPU_PHYSICAL_MEMORY,
    CPU_RESERVATION, // without a handle, as the next
    CPU_IMPORT,
    CPU_KIND_COUNT
};

struct cpu_object {
    _Atomic uint32_t magic; // of the kind while alive, CPU_MAGIC_DEAD afterwards
    struct cpu_object *next_free;
};

#define CPU_MAGIC(kind) (0x7a650000u | (uint32_t)(kind))
#define CPU_MAGIC_DEAD 0x7a65deadu

// Zeroed but for the head; NULL without memory. `size_bytes` is the same for all of a kind.
void *cpu_object_create(enum cpu_kind kind, size_t size_bytes);

// NULL is fine.
void cpu_object_destroy(void *object);

// For the objects that live in static storage.
void cpu_object_init(struct cpu_object *object, enum cpu_kind kind);

// SUCCESS if `handle` is a living object of that kind; else a line on stderr and the code. NULL is
// INVALID_NULL_HANDLE without a line.
ze_result_t cpu_object_check(const void *handle, enum cpu_kind kind, const char *function);

// The first error of so many handles, for arrays, which the layer of checks does not see.
ze_result_t cpu_objects_check(uint32_t count, const void *handles, enum cpu_kind kind,
                              const char *function);

const char *cpu_kind_name(enum cpu_kind kind);
uint64_t cpu_object_live(enum cpu_kind kind);

// One line on stderr, with the function's name in front. For misuse by the application.
__attribute__((format(printf, 2, 3))) void cpu_report(const char *function, const char *format,
                                                      ...);

#endif
