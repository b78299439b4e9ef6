// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_ARGUMENTS_H
#define ZEPI_LAUNCH_ARGUMENTS_H

#include "launch/device_kernel.h"

// The arguments of a launch as the host has them: zepi_argument_t, or the part of another
// interface's structure that has the same members. Borrowed for one call.
struct zepi_argument_list {
    const void *first;   // the first one's kind
    size_t stride_bytes; // from one to the next
    uint32_t count;
    // The index takes the place of `reserved`; a pointer has any size, local memory any value.
    bool is_indexed;
};

// A launch of a kernel as both front doors have it. Borrowed for one call.
struct zepi_launch {
    struct zepi_argument_list arguments;
    uint32_t work_dim; // 1 to 3: checked by the front door
    zepi_launch_flags_t flags;
    const size_t *global_size;
    const size_t *group_size;    // NULL or zeros: suggested by the driver
    const size_t *global_offset; // NULL: zeros
    zepi_wait_list_t wait;
    zepi_event_t *out_event; // or NULL
};

struct zepi_device;

// An argument in memory. `head` is the kind, and `reserved` or the index in the upper half.
struct __attribute__((may_alias)) zepi_argument_record {
    uint64_t head;
    size_t size_bytes;
    const void *value;
};
static_assert(sizeof(struct zepi_argument_record) == sizeof(zepi_argument_t) &&
                  offsetof(zepi_argument_t, reserved) == sizeof(uint32_t) &&
                  offsetof(zepi_argument_t, size_bytes) ==
                      offsetof(struct zepi_argument_record, size_bytes) &&
                  offsetof(zepi_argument_t, value) == offsetof(struct zepi_argument_record, value),
              "an argument is read as three words");

static inline struct zepi_argument_list zepi_argument_list_of(uint32_t count,
                                                              const zepi_argument_t *arguments)
{
    return (struct zepi_argument_list){arguments, sizeof(*arguments), count, false};
}

static inline const struct zepi_argument_record *
zepi_argument_at(const struct zepi_argument_list *list, uint32_t index)
{
    return (const void *)((const char *)list->first + index * list->stride_bytes);
}

// For a list that the core cannot read: its arguments are in another order, or objects of the
// interface are among them. The front door makes a list of zepi_argument_t of it and asks again.
// No error text; no host sees this.
#define ZEPI_ARGUMENTS_UNREAD ((zepi_result_t)0x7fff)

// Reads one argument. ZEPI_ARGUMENTS_UNREAD is the only failure.
static inline zepi_result_t zepi_argument_read(const struct zepi_argument_list *list,
                                               uint32_t index, zepi_argument_t *out_argument)
{
    const struct zepi_argument_record *record = zepi_argument_at(list, index);
    const zepi_argument_kind_t kind = (zepi_argument_kind_t)(uint32_t)record->head;
    const uint32_t reserved = (uint32_t)(record->head >> 32);
    *out_argument = (zepi_argument_t){kind, reserved, record->size_bytes, record->value};
    if (!list->is_indexed)
        return ZEPI_SUCCESS;
    if (reserved != index || (kind != ZEPI_ARGUMENT_VALUE && kind != ZEPI_ARGUMENT_POINTER &&
                              kind != ZEPI_ARGUMENT_LOCAL))
        return ZEPI_ARGUMENTS_UNREAD;
    out_argument->reserved = 0;
    if (kind == ZEPI_ARGUMENT_POINTER)
        out_argument->size_bytes = 0;
    else if (kind == ZEPI_ARGUMENT_LOCAL)
        out_argument->value = NULL;
    return ZEPI_SUCCESS;
}

// Whether the argument is an image or a sampler, and, of one that was checked, the driver's handle
// as a value; it is borrowed from the object.
static inline bool zepi_argument_has_pixels(const zepi_argument_t *argument)
{
    return argument->kind == ZEPI_ARGUMENT_IMAGE || argument->kind == ZEPI_ARGUMENT_SAMPLER;
}
void zepi_argument_read_handle(const zepi_argument_t *argument, zepi_argument_t *out_value);

// Checks the number of arguments, and that there is a list.
zepi_result_t zepi_arguments_check_count(const struct zepi_device_kernel *device_kernel,
                                         const struct zepi_argument_list *list);

// Checks kind and size of one argument against the kernel's declaration, as far as that is known;
// objects are not looked at.
zepi_result_t zepi_argument_check_declared(const struct zepi_device_kernel *device_kernel,
                                           uint32_t index, const zepi_argument_t *argument);
// Checks one argument against the kernel's declaration; the second, if it is local memory, with all
// others of the list against the memory of the device.
zepi_result_t zepi_argument_check(const struct zepi_device_kernel *device_kernel, uint32_t index,
                                  const zepi_argument_t *argument);
zepi_result_t zepi_arguments_check_local_memory(const struct zepi_device_kernel *device_kernel,
                                                const struct zepi_device *device,
                                                const struct zepi_argument_list *list);

// Checks each argument of a launch, the number of which is right. `out_arguments`, one for each, or
// NULL: the arguments as they were read.
zepi_result_t zepi_arguments_check(const struct zepi_device_kernel *device_kernel,
                                   const struct zepi_device *device,
                                   const struct zepi_argument_list *list,
                                   zepi_argument_t *out_arguments);
// The same, but checks the images and samplers among them alone.
zepi_result_t zepi_arguments_check_pixels(const struct zepi_device_kernel *device_kernel,
                                          const struct zepi_argument_list *list,
                                          zepi_argument_t *out_arguments);

#endif
