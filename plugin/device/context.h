// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_CONTEXT_H
#define ZEPI_DEVICE_CONTEXT_H

#include "core/object.h"
#include "ze/ze.h"

struct zepi_context;
struct zepi_device;

// The state that a layer above keeps for each context. The components come one after the other by
// their numbers, as the layers do: one may use those before it, from its `init` to its `finish`.
struct zepi_component {
    unsigned number;
    size_t size_bytes; // of its state, which begins zeroed on a cache line of its own
    // NULL: zeroed state is fine. After a failure `finish` follows.
    zepi_result_t (*init)(struct zepi_context *context);
    // No object of the context is left. May find zeroed state. NULL: there is nothing to do.
    void (*finish)(struct zepi_context *context);
    // Gives back memory that no command uses, as memory is short; waits at most `timeout_ns` for
    // each queue. False: there was nothing to give or to wait for. NULL: there never is.
    bool (*reclaim)(struct zepi_context *context, uint64_t timeout_ns);
};

enum zepi_component_number {
    ZEPI_COMPONENT_SYNC,
    ZEPI_COMPONENT_USM,
    ZEPI_COMPONENT_MAPPINGS,
    ZEPI_COMPONENT_IPC,
    ZEPI_COMPONENT_EXTERNAL,
    ZEPI_COMPONENT_HOST_MEMORY,
    ZEPI_COMPONENT_EVENT_POOLS,
    ZEPI_COMPONENT_COMMAND_LISTS,
    ZEPI_COMPONENT_COPY,
    ZEPI_COMPONENT_HANDLE_CACHES,
    ZEPI_COMPONENT_UNITS,
    ZEPI_COMPONENTS,
};

// Defines the component of a file. All lie in one section, where the context finds them: no layer
// names one above.
#define ZEPI_DEFINE_COMPONENT(component_number, ...)                                               \
    static const struct zepi_component component = {.number = component_number, __VA_ARGS__};      \
    static const struct zepi_component *const component_entry                                      \
        __attribute__((section("zepi_components"), used)) = &component

// Some devices of one platform, and the state that they share. Filled at creation, then never
// written, but for the list and the components that have locks of their own.
struct zepi_context {
    struct zepi_object object;
    struct zepi_platform *platform; // borrowed
    ze_context_handle_t ze;
    zepi_ownership_t ownership;   // of ze
    struct zepi_device **devices; // owned list of borrowed devices
    uint32_t device_count;
    void *components[ZEPI_COMPONENTS]; // by number; all in one block, which the first one begins
    struct zepi_mutex callbacks_mutex; // guards the list; nothing is called under it
    struct zepi_context_callback *callbacks; // owned; last registered first
};

extern const struct zepi_type zepi_context_type;

// How long an allocation that would fail waits for a queue whose commands may use memory that was
// freed.
#define ZEPI_RECLAIM_TIMEOUT_NS UINT64_C(500000000)

// Around every allocation of the driver's memory, and around the calls that take much of it,
// command lists and modules: memory that the host freed and no command uses does not make it fail,
// nor does memory that is kept for reuse.
//
//     unsigned attempt = 0;
//     do
//         ze = ...;
//     while (zepi_context_reclaim(context, ze, &attempt));
//
// True: the driver lacked memory, the components have given back memory that no command uses, and
// the driver is to be asked again. That happens once, and, if there was something to give or to
// wait for, once more after a wait. Not under a lock.
bool zepi_context_reclaim(struct zepi_context *context, ze_result_t ze, unsigned *attempt);

#define ZEPI_NO_DEVICE UINT32_MAX
// A device's position in the context, or ZEPI_NO_DEVICE. A part of one of the context's devices
// stands where the whole does, whose code it runs, unless it is in the context by itself.
uint32_t zepi_context_device_index(const struct zepi_context *context,
                                   const struct zepi_device *device);
// Whether a handle from outside is of a device that has one. A failure names the mistake.
zepi_result_t zepi_context_check_device(const struct zepi_context *context, zepi_device_t device);

// `ze` NULL: makes a context of Level Zero's, which goes with this one (ZEPI_OWNERSHIP_TRANSFER).
zepi_result_t zepi_context_create(ze_context_handle_t ze, uint32_t device_count,
                                  const zepi_device_t *devices, zepi_ownership_t ownership,
                                  zepi_context_t *out_context);
// Calls `function` when the context is destroyed, before anything of it goes.
zepi_result_t zepi_context_at_destroy(struct zepi_context *context, void (*function)(void *data),
                                      void *data);

#endif
