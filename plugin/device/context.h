// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_CONTEXT_H
#define ZEPI_DEVICE_CONTEXT_H

#include "core/object.h"
#include "memory/usm_pool.h"
#include "memory/virtual_memory.h"
#include "queue/command_list.h"
#include "queue/event_pool.h"
#include "queue/queue_number.h"
#include "queue/retire.h"

struct zepi_device;
struct zepi_handle_caches;
struct zepi_module;

// Some devices of one platform, and what they share. Filled at creation, then never written, but
// for the members that have locks of their own.
struct zepi_context {
    struct zepi_object object;
    struct zepi_platform *platform; // borrowed
    ze_context_handle_t ze;
    zepi_ownership_t ownership;   // of ze
    struct zepi_device **devices; // owned list of borrowed devices
    uint32_t device_count;
    struct zepi_queue_numbers queue_numbers;
    struct zepi_event_pools event_pools;
    struct zepi_command_lists command_lists; // of released queues
    struct zepi_retire retire;               // queues, and handles that they may still use
    struct zepi_usm_pools usm;
    struct zepi_mappings mappings;
    struct zepi_handle_caches *caches;                 // owned; of modules and kernels
    _Atomic(struct zepi_context_farewell *) farewells; // owned; last registered first
};

extern const struct zepi_type zepi_context_type;

#define ZEPI_NO_DEVICE UINT32_MAX
// A device's position in the context, or ZEPI_NO_DEVICE. A part of one of the context's devices
// stands where the whole does, whose code it runs, unless it is in the context by itself.
uint32_t zepi_context_device_index(const struct zepi_context *context,
                                   const struct zepi_device *device);
// The same for a handle from outside: an error names what is wrong.
zepi_result_t zepi_context_check_device(const struct zepi_context *context, zepi_device_t device,
                                        uint32_t *out_index);

zepi_result_t zepi_context_create(uint32_t device_count, const zepi_device_t *devices,
                                  zepi_context_t *out_context);
zepi_result_t zepi_context_create_from_native(void *native_handle, uint32_t device_count,
                                              const zepi_device_t *devices,
                                              zepi_ownership_t ownership,
                                              zepi_context_t *out_context);
// Calls `function` when the context is destroyed, before anything of it goes.
zepi_result_t zepi_context_at_destroy(struct zepi_context *context, void (*function)(void *data),
                                      void *data);
zepi_result_t zepi_context_get_devices(zepi_context_t context, uint32_t capacity,
                                       zepi_device_t *out_devices, uint32_t *out_count);
zepi_result_t zepi_context_get_native(zepi_context_t context, void **out_native_handle);

#endif
