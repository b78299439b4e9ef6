// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_CHECK_H
#define ZEPI_API_CHECK_H

#include "checks/check.h"

#include <assert.h>

// Checks of arguments as zepi.h documents them. Any thread.
//
// Checks stand in one condition: `if ((result = check) || (result = next)) return result;`. The
// first failure ends it, since ZEPI_SUCCESS is 0.
static_assert(ZEPI_SUCCESS == 0, "a failure is true");

// A pointer called `name` that must not be NULL.
zepi_result_t zepi_api_check_output(const void *pointer, const char *name);
// A handle of Level Zero's, and who destroys it.
zepi_result_t zepi_api_check_native(const void *native_handle, zepi_ownership_t ownership);
// An object, and a pointer called `name` that must not be NULL.
zepi_result_t zepi_api_check_pointer(const void *object, const struct zepi_type *type,
                                     const void *pointer, const char *name);
static inline zepi_result_t zepi_api_check_context_pointer(zepi_context_t context,
                                                           const void *pointer, const char *name)
{
    return zepi_api_check_pointer(context, &zepi_context_type, pointer, name);
}
// An object, and the outputs of one of its lists.
zepi_result_t zepi_api_check_list(const void *object, const struct zepi_type *type,
                                  uint32_t capacity, const void *out_elements,
                                  const void *out_count);
// The number of dimensions of work.
zepi_result_t zepi_api_check_work_dim(uint32_t work_dim);
// One of the three states that a module may be in.
zepi_result_t zepi_api_check_state(zepi_module_state_t state);
// A context and a device of it.
zepi_result_t zepi_api_check_context_device(zepi_context_t context, zepi_device_t device);

// Kind, device, size and alignment of an allocation in the context.
zepi_result_t zepi_api_check_usm_desc(const struct zepi_context *context,
                                      const struct zepi_usm_alloc_desc *desc);

// The queue and the wait list of a command.
static inline zepi_result_t zepi_api_check_command(zepi_queue_t queue, zepi_wait_list_t wait)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    return result == ZEPI_SUCCESS ? zepi_check_wait_list(queue->context, wait) : result;
}

#endif
