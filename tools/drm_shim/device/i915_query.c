// SPDX-License-Identifier: MIT
#include "i915_query.h"

#include "buffer.h"
#include "gpu_clock.h"
#include "options.h"
#include "trace.h"

#include <errno.h>
#include <string.h>

#define REPLY_BYTES 1024

int shim_i915_get_param(const struct shim_node *node, const drm_i915_getparam_t *get)
{
    switch (get->param) {
    case I915_PARAM_CHIPSET_ID:
        *get->value = node->product->device_id;
        return 0;
    case I915_PARAM_REVISION:
        *get->value = node->product->revision;
        return 0;
    case I915_PARAM_HAS_SCHEDULER:
        *get->value = I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY |
                      I915_SCHEDULER_CAP_PREEMPTION;
        return 0;
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
    case I915_PARAM_OA_TIMESTAMP_FREQUENCY:
        *get->value = SHIM_CLOCK_HZ;
        return 0;
    default: // the driver does without
        shim_trace("unknown parameter %d", get->param);
        return EINVAL;
    }
}

static void set_bits(uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[i / 8] |= (uint8_t)(1u << i % 8);
}

// One slice, of which all cores are.
static size_t reply_topology(const struct shim_node *node, void *reply)
{
    const struct shim_product *product = node->product;
    const uint16_t cores = product->cores.cores, engines = product->cores.vector_engines;
    struct drm_i915_query_topology_info *info = reply;
    info->max_slices = 1;
    info->max_subslices = cores;
    info->max_eus_per_subslice = engines;
    info->subslice_offset = 1;
    info->subslice_stride = (uint16_t)((cores + 7) / 8);
    info->eu_offset = (uint16_t)(info->subslice_offset + info->subslice_stride);
    info->eu_stride = (uint16_t)((engines + 7) / 8);
    set_bits(info->data, info->max_slices);
    set_bits(info->data + info->subslice_offset, cores);
    for (uint16_t i = 0; i < cores; i++)
        set_bits(info->data + info->eu_offset + i * info->eu_stride, engines);
    return sizeof(*info) + info->eu_offset + (size_t)cores * info->eu_stride;
}

static size_t reply_engines(const struct shim_node *node, void *reply)
{
    const struct shim_product *product = node->product;
    const struct {
        uint16_t engine_class, count;
    } kinds[] = {{I915_ENGINE_CLASS_RENDER, product->engines.render},
                 {I915_ENGINE_CLASS_COPY, product->engines.copy},
                 {I915_ENGINE_CLASS_COMPUTE, product->engines.compute}};
    struct drm_i915_query_engine_info *info = reply;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (uint16_t number = 0; number < kinds[i].count; number++)
            info->engines[info->num_engines++].engine =
                (struct i915_engine_class_instance){kinds[i].engine_class, number};
    return sizeof(*info) + info->num_engines * sizeof(info->engines[0]);
}

static size_t reply_memory(const struct shim_node *node, void *reply)
{
    const uint64_t system = shim_options()->system_bytes;
    const uint64_t vram = shim_node_memory(node);
    const uint64_t left = vram - shim_buffers_used(node, SHIM_REGION_VRAM);
    struct drm_i915_query_memory_regions *info = reply;
    info->regions[info->num_regions++] = (struct drm_i915_memory_region_info){
        .region = {I915_MEMORY_CLASS_SYSTEM, 0}, .probed_size = system, .unallocated_size = system};
    if (node->product->memory.vram_gib > 0)
        info->regions[info->num_regions++] =
            (struct drm_i915_memory_region_info){.region = {I915_MEMORY_CLASS_DEVICE, 0},
                                                 .probed_size = vram,
                                                 .unallocated_size = left,
                                                 .probed_cpu_visible_size = vram,
                                                 .unallocated_cpu_visible_size = left};
    return sizeof(*info) + info->num_regions * sizeof(info->regions[0]);
}

// The size of the reply; 0 if the item is not known.
static size_t reply_item(const struct shim_node *node, uint64_t id, void *reply)
{
    switch (id) {
    case DRM_I915_QUERY_TOPOLOGY_INFO:
    case DRM_I915_QUERY_GEOMETRY_SUBSLICES:
        return reply_topology(node, reply);
    case DRM_I915_QUERY_ENGINE_INFO:
        return reply_engines(node, reply);
    case DRM_I915_QUERY_MEMORY_REGIONS:
        return reply_memory(node, reply);
    case DRM_I915_QUERY_HWCONFIG_BLOB: // which Gen12LP does not have
        return node->product->family == SHIM_FAMILY_GEN12LP
                   ? 0
                   : shim_product_hardware(node->product, reply);
    default:
        shim_trace("unknown query %llu", (unsigned long long)id);
        return 0;
    }
}

// The driver asks for the size first.
int shim_i915_query(const struct shim_node *node, const struct drm_i915_query *query)
{
    struct drm_i915_query_item *items = (void *)(uintptr_t)query->items_ptr;
    for (uint32_t i = 0; i < query->num_items; i++) {
        uint64_t reply[REPLY_BYTES / sizeof(uint64_t)] = {0};
        const int32_t size = (int32_t)reply_item(node, items[i].query_id, reply),
                      room = items[i].length;
        const bool fits = size > 0 && (room == 0 || room >= size);
        items[i].length = fits ? size : -EINVAL;
        if (fits && room > 0)
            memcpy((void *)(uintptr_t)items[i].data_ptr, reply, (size_t)size);
    }
    return 0;
}
