// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_KERNEL_POOL_H
#define ZEPI_KERNEL_KERNEL_POOL_H

#include "cache/build_result.h"
#include "module/code.h"
#include "queue/retire.h"

// A kernel on one device: the payload of the context's cache of kernels. A ze_kernel carries the
// state of its arguments and may be in one thread only, so a launch takes a handle from the pool
// and gives it back: two threads that launch one kernel never wait for each other.

#define ZEPI_KERNEL_POOL_SLOTS 16
#define ZEPI_KERNEL_POOL_COST 4096 // bytes, as the cache counts a kernel

// What is known about an argument before a launch.
struct zepi_kernel_argument {
    uint8_t kind;        // enum zepi_spirv_argument_kind
    uint32_t size_bytes; // of a value; 0: unknown
};

// An argument as a handle last had it. Values above 8 bytes are always set again.
struct zepi_argument_state {
    uint32_t size_bytes; // 0: not set
    bool is_local;
    uint64_t value;
};

// One ze_kernel, with what was last set on it.
struct zepi_kernel_lease {
    struct zepi_retired retired; // while its last command may still run
    ze_kernel_handle_t ze;
    ze_kernel_handle_t driver_ze; // for a launch function that may have come from the driver itself
    bool is_state_unknown;        // a launch with arguments went by: forget what is below
    uint32_t group_size[3];       // zeros: not set
    uint32_t offset[3];
    struct zepi_argument_state arguments[];
};

struct zepi_kernel_pool {
    struct zepi_retired retired;
    struct zepi_build_result *code; // reference: the kernel's module is in use as long
    ze_module_handle_t module;      // borrowed from `code`
    const char *name;               // borrowed from `code`
    ze_kernel_properties_t properties;
    bool is_described;    // `arguments` says what there is; else only how many
    bool has_known_sizes; // of all arguments: checked, before a driver reads as much as it wants
    uint32_t argument_count;
    struct zepi_kernel_argument *arguments; // owned
    // Handles that nobody has. A slot changes by exchange and compare-exchange alone.
    _Atomic(struct zepi_kernel_lease *) slots[ZEPI_KERNEL_POOL_SLOTS];
};

static inline struct zepi_kernel_pool *zepi_kernel_pool_of(const struct zepi_build_result *result)
{
    return zepi_build_result_payload(result);
}

// The pool of a kernel that `code` has, from the cache or made. *out_result is a new reference.
zepi_result_t zepi_kernel_pool_get(struct zepi_build_result *code, const char *name,
                                   struct zepi_build_result **out_result);

// Makes a handle, which is in no pool yet.
zepi_result_t zepi_kernel_lease_create(const struct zepi_kernel_pool *pool,
                                       struct zepi_kernel_lease **out_lease);
// Takes a handle out of the pool, or makes one.
zepi_result_t zepi_kernel_lease_take(struct zepi_kernel_pool *pool,
                                     struct zepi_kernel_lease **out_lease);
// Gives it back. One that an error left in an unknown state is destroyed.
void zepi_kernel_lease_give(struct zepi_kernel_pool *pool, struct zepi_kernel_lease *lease);
void zepi_kernel_lease_destroy(struct zepi_kernel_pool *pool, struct zepi_kernel_lease *lease);

#endif
