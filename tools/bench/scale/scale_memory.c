// SPDX-License-Identifier: MIT
// USM, pools, buffers, images, samplers, virtual and physical memory, and memory of other
// processes.
#include "scale.h"

#define KIB ((size_t)1 << 10)

// ---- USM ----

static bool allocate_usm(struct scale *scale, zepi_usm_kind_t kind, size_t size_bytes,
                         void **out_memory)
{
    const zepi_device_t device = kind == ZEPI_USM_HOST ? NULL : scale->row->host.device;
    return scale_ok(
        zepi.usm_allocate(scale_context(scale), device, kind, size_bytes, 0, out_memory));
}

static bool make_usm(struct scale *scale, unsigned i)
{
    return allocate_usm(scale, scale->info->kind, scale->info->size_bytes, &scale->objects[i]);
}

static bool free_usm(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.usm_free(scale_context(scale), scale->objects[i]));
}

static bool get_usm_info(struct scale *scale, unsigned i)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    return scale_ok(
               zepi.usm_get_info(scale_context(scale), (char *)scale->objects[i] + 100, &info)) &&
           info.base == scale->objects[i];
}

static bool copy_between(struct scale *scale, unsigned i)
{
    return scale_copy(scale, (char *)scale->objects[i] + 64, scale->objects[scale->live - 1 - i]);
}

static bool get_unknown_info(struct scale *scale, unsigned i)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    return scale_ok(zepi.usm_get_info(scale_context(scale), &scale->objects[i], &info)) &&
           info.kind == ZEPI_USM_UNKNOWN;
}

static bool make_queue_memory(struct scale *scale, unsigned i)
{
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.queue_allocate(scale->row->host.queue, NULL, ZEPI_USM_DEVICE, 4 * KIB, 0,
                                        none, &scale->objects[i], NULL));
}

static bool free_in_queue(struct scale *scale, unsigned i)
{
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.queue_free(scale->row->host.queue, scale->objects[i], none, NULL));
}

// Shared memory is the driver's one by one, but for that of pools.
static bool open_pool(struct scale *scale)
{
    return scale_ok(zepi.pool_create(scale_context(scale), NULL, (zepi_pool_t *)&scale->common[0]));
}

static bool make_shared_small(struct scale *scale, unsigned i)
{
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.queue_allocate(scale->row->host.queue, scale->common[0], ZEPI_USM_SHARED,
                                        256, 0, none, &scale->objects[i], NULL));
}

static bool make_two_sizes(struct scale *scale, unsigned i)
{
    void **memory = &scale->objects[scale->live];
    (void)i;
    return allocate_usm(scale, ZEPI_USM_DEVICE, 4 * KIB, memory) && free_usm(scale, scale->live) &&
           allocate_usm(scale, ZEPI_USM_DEVICE, 256, memory) && free_usm(scale, scale->live);
}

// ---- Pools ----

static bool make_pool(struct scale *scale, unsigned i)
{
    return scale_ok(
        zepi.pool_create(scale_context(scale), NULL, (zepi_pool_t *)&scale->objects[i]));
}

static bool allocate_in_pool(struct scale *scale, unsigned i)
{
    const zepi_wait_list_t none = {0};
    const zepi_queue_t queue = scale->row->host.queue;
    void *memory;
    return scale_ok(zepi.queue_allocate(queue, scale->objects[i], ZEPI_USM_DEVICE, 4 * KIB, 0, none,
                                        &memory, NULL)) &&
           scale_ok(zepi.queue_free(queue, memory, none, NULL));
}

// ---- Buffers ----

static bool make_buffer(struct scale *scale, unsigned i)
{
    return scale_ok(
        zepi.buffer_create(scale_context(scale), 1000, NULL, (zepi_buffer_t *)&scale->objects[i]));
}

static bool launch_with_buffer(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.buffer = scale->objects[i]});
}

// ---- Images and samplers ----

static bool make_image(struct scale *scale, unsigned i)
{
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .shape = ZEPI_IMAGE_2D,
                                    .width = 4,
                                    .height = 4,
                                    .channel_count = 4,
                                    .channel_bytes = 4,
                                    .channel_type = ZEPI_CHANNEL_FLOAT};
    return scale_ok(zepi.image_create(scale_context(scale), scale->row->host.device, &desc,
                                      (zepi_image_t *)&scale->objects[i]));
}

static bool make_sampler(struct scale *scale, unsigned i)
{
    const zepi_sampler_desc_t desc = {.size = sizeof(desc),
                                      .address_mode = ZEPI_ADDRESS_CLAMP_TO_EDGE};
    return scale_ok(zepi.sampler_create(scale_context(scale), scale->row->host.device, &desc,
                                        (zepi_sampler_t *)&scale->objects[i]));
}

// ---- Virtual and physical memory ----

static bool open_virtual(struct scale *scale)
{
    return scale_ok(zepi.virtual_memory_get_page_size(scale_context(scale), scale->row->host.device,
                                                      1, &scale->page_bytes));
}

static bool map(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.virtual_memory_map(scale_context(scale), scale->objects[i],
                                            scale->page_bytes, scale->beside[i], 0,
                                            ZEPI_ACCESS_READ_WRITE));
}

static bool unmap(struct scale *scale, unsigned i)
{
    return scale_ok(
        zepi.virtual_memory_unmap(scale_context(scale), scale->objects[i], scale->page_bytes));
}

static bool make_mapping(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.physical_memory_create(scale_context(scale), scale->row->host.device,
                                                scale->page_bytes,
                                                (zepi_physical_memory_t *)&scale->beside[i])) &&
           scale_ok(zepi.virtual_memory_reserve(scale_context(scale), NULL, scale->page_bytes,
                                                &scale->objects[i])) &&
           map(scale, i);
}

static bool drop_mapping(struct scale *scale, unsigned i)
{
    return unmap(scale, i) &&
           scale_ok(zepi.virtual_memory_free(scale_context(scale), scale->objects[i],
                                             scale->page_bytes)) &&
           scale_ok(zepi.release(scale->beside[i]));
}

static bool unmap_and_map(struct scale *scale, unsigned i)
{
    return unmap(scale, i) && map(scale, i);
}

// From memory of the process that the table of allocations does not know.
static bool copy_from_process(struct scale *scale, unsigned i)
{
    (void)i;
    return scale_copy(scale, scale->row->memory[0], scale->common);
}

// ---- Memory of other processes ----

static bool make_handle(struct scale *scale, unsigned i)
{
    size_t size_bytes;
    return allocate_usm(scale, ZEPI_USM_DEVICE, 4 * KIB, &scale->beside[i]) &&
           scale_ok(zepi.ipc_get_handle(scale_context(scale), scale->beside[i],
                                        (const void **)&scale->objects[i], &size_bytes));
}

static bool drop_handle(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.ipc_put_handle(scale_context(scale), scale->objects[i])) &&
           scale_ok(zepi.usm_free(scale_context(scale), scale->beside[i]));
}

#define USM_CASE(case_name, usm_kind, bytes)                                                       \
    {                                                                                              \
        .name = case_name, .kind = usm_kind, .size_bytes = bytes, .make = make_usm,                \
        .drop = free_usm,                                                                          \
        .operations = {{"information, by an address inside", get_usm_info},                        \
                       {"copy between two", copy_between},                                         \
                       {"information on an unknown address", get_unknown_info},                    \
                       {"device memory of two sizes, allocated and freed", make_two_sizes}},       \
    }

const struct scale_case scale_memory[] = {
    USM_CASE("usm-device-256", ZEPI_USM_DEVICE, 256),
    USM_CASE("usm-device-4k", ZEPI_USM_DEVICE, 4 * KIB),
    USM_CASE("usm-device-128k", ZEPI_USM_DEVICE, 128 * KIB),
    USM_CASE("usm-host-256", ZEPI_USM_HOST, 256),
    USM_CASE("usm-host-4k", ZEPI_USM_HOST, 4 * KIB),
    USM_CASE("usm-host-128k", ZEPI_USM_HOST, 128 * KIB),
    USM_CASE("usm-shared-128k", ZEPI_USM_SHARED, 128 * KIB),
    {.name = "usm-queue",
     .make = make_queue_memory,
     .drop = free_in_queue,
     .operations = {{"information, by an address inside", get_usm_info},
                    {"copy between two", copy_between}}},
    {.name = "usm-shared-256",
     .open = open_pool,
     .close = scale_close_common,
     .make = make_shared_small,
     .drop = free_usm,
     .operations = {{"information, by an address inside", get_usm_info},
                    {"copy between two", copy_between}}},
    {.name = "pool",
     .types = "pool",
     .make = make_pool,
     .drop = scale_release,
     .operations = {{"allocate and free 4 KiB in one of them", allocate_in_pool},
                    {"one more: make, allocate, free, release", allocate_in_pool, .is_new = true},
                    {"allocate and free 4 KiB of the context's pool", scale_allocate}}},
    {.name = "buffer",
     .types = "buffer",
     .make = make_buffer,
     .drop = scale_release,
     .operations = {{"launch with one", launch_with_buffer}}},
    {.name = "image", .types = "image", .make = make_image, .drop = scale_release},
    {.name = "sampler", .types = "sampler", .make = make_sampler, .drop = scale_release},
    {.name = "virtual-mapping",
     .types = "physical_memory",
     .open = open_virtual,
     .make = make_mapping,
     .drop = drop_mapping,
     .operations = {{"unmap, map", unmap_and_map},
                    {"copy between two", copy_between},
                    {"copy from memory of the process", copy_from_process}}},
    {.name = "ipc-handle", .make = make_handle, .drop = drop_handle},
    {0}};
