// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DEVICE_KERNEL_H
#define ZEPI_LAUNCH_DEVICE_KERNEL_H

#include "cache/build_result.h"
#include "core/mutex.h"
#include "program/build/device_module.h"
#include "queue/queue.h"
#include "sync/deferred.h"

// A kernel on one device: the payload of the context's cache of kernels. A ze_kernel carries the
// state of its arguments and may be in one thread only, so every queue has an instance of its own,
// by its number, and launches with it under its mutex: two threads with queues of their own that
// launch one kernel never wait for each other, and write to nothing in common. Queues without a
// number, and calls that are no launches, take an instance and give it back.

#define ZEPI_DEVICE_KERNEL_COST 4096 // bytes, as the cache counts a kernel

struct zepi_device_image;
struct zepi_kernel_instance;
struct zepi_spec_values;

// How a kernel declares an argument.
struct zepi_kernel_argument {
    uint8_t kind;        // enum zepi_spirv_argument_kind
    uint32_t size_bytes; // of a value; 0: unknown. Of native code: the least that the driver reads
};

struct zepi_device_kernel {
    struct zepi_deferred deferred;
    struct zepi_build_result *device_module; // reference: the kernel's module is in use as long
    ze_module_handle_t module;               // borrowed from the device module
    const char *name;                        // borrowed from the device module
    ze_kernel_properties_t properties;
    uint32_t preferred_multiple; // of group sizes
    uint32_t register_count;     // 0: unknown
    bool is_described;           // `arguments` has kinds and sizes; else only the number is known
    uint32_t argument_count;
    struct zepi_kernel_argument *arguments; // owned
    // By queue number: owned instances, made by the first launch and kept for the next queue that
    // gets the number. A pointer is written once; the instance is used under the mutex of a queue
    // with the number. The last entry, of queues without a number, is always NULL.
    _Atomic(struct zepi_kernel_instance *) of_queue[ZEPI_QUEUE_NUMBERS + 1];
    struct zepi_mutex mutex;           // guards the members below; nothing is called under it
    struct zepi_kernel_instance *free; // owned; last given back first
    uint32_t free_count;
};

static inline struct zepi_device_kernel *
zepi_device_kernel_of(const struct zepi_build_result *result)
{
    return zepi_build_result_payload(result);
}

// The kernel of a launch on a device. Borrowed; constant, for any thread.
struct zepi_target {
    struct zepi_build_result *device_kernel; // payload: struct zepi_device_kernel
    // The native image whose emulated constants the kernel takes through memory, and their values;
    // NULL: it takes none. NULL values are defaults.
    const struct zepi_device_image *image;
    const struct zepi_spec_values *values;
};

#endif
