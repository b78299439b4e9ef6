// SPDX-License-Identifier: MIT
#include "xe_query.h"

#include "buffer.h"
#include "gpu_clock.h"
#include "options.h"
#include "trace.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A structure and the array that it ends with. The driver asks for the size first.
static int answer_list(struct drm_xe_device_query *query, const void *head, size_t head_size,
                       const void *items, size_t items_size)
{
    if (query->size == 0) {
        query->size = (uint32_t)(head_size + items_size);
        return 0;
    }
    if (query->size < head_size + items_size)
        return EINVAL;
    uint8_t *reply = (uint8_t *)(uintptr_t)query->data;
    memcpy(reply, head, head_size);
    if (items_size > 0)
        memcpy(reply + head_size, items, items_size);
    return 0;
}

static int answer(struct drm_xe_device_query *query, const void *bytes, size_t size)
{
    return answer_list(query, bytes, size, NULL, 0);
}

static int query_config(const struct shim_node *node, struct drm_xe_device_query *query)
{
    const struct shim_product *product = node->product;
    const uint64_t info[] = {
        [DRM_XE_QUERY_CONFIG_REV_AND_DEVICE_ID] = product->device_id | (uint64_t)product->revision
                                                                           << 16,
        [DRM_XE_QUERY_CONFIG_FLAGS] =
            (product->memory.vram_gib > 0 ? DRM_XE_QUERY_CONFIG_FLAG_HAS_VRAM : 0) |
            DRM_XE_QUERY_CONFIG_FLAG_HAS_LOW_LATENCY,
        [DRM_XE_QUERY_CONFIG_MIN_ALIGNMENT] = product->memory.vram_gib > 0 ? 65536 : 4096,
        [DRM_XE_QUERY_CONFIG_VA_BITS] = product->memory.va_bits,
        [DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY] = 1,
    };
    const struct drm_xe_query_config head = {.num_params = COUNT(info)};
    return answer_list(query, &head, sizeof(head), info, sizeof(info));
}

static int query_engines(const struct shim_node *node, struct drm_xe_device_query *query)
{
    const struct shim_product *product = node->product;
    const struct {
        uint16_t engine_class, count;
    } kinds[] = {{DRM_XE_ENGINE_CLASS_RENDER, product->engines.render},
                 {DRM_XE_ENGINE_CLASS_COPY, product->engines.copy},
                 {DRM_XE_ENGINE_CLASS_COMPUTE, product->engines.compute}};
    struct drm_xe_engine engines[64] = {0};
    size_t count = 0;
    for (uint16_t tile = 0; tile < product->tiles; tile++)
        for (size_t i = 0; i < COUNT(kinds); i++)
            for (uint16_t number = 0; number < kinds[i].count; number++)
                engines[count++].instance =
                    (struct drm_xe_engine_class_instance){.engine_class = kinds[i].engine_class,
                                                          .engine_instance = number,
                                                          .gt_id = tile};
    const struct drm_xe_query_engines head = {.num_engines = (uint32_t)count};
    return answer_list(query, &head, sizeof(head), engines, count * sizeof(engines[0]));
}

// System memory, and the memory of each tile.
static int query_memory(const struct shim_node *node, struct drm_xe_device_query *query)
{
    const struct shim_product *product = node->product;
    const uint64_t bytes = shim_node_memory(node);
    struct drm_xe_mem_region regions[1 + SHIM_TILES_MAXIMUM] = {
        {.mem_class = DRM_XE_MEM_REGION_CLASS_SYSMEM,
         .min_page_size = 4096,
         .total_size = shim_options()->system_bytes}};
    uint32_t count = 1;
    for (uint16_t tile = 0; product->memory.vram_gib > 0 && tile < product->tiles; tile++)
        regions[count++] =
            (struct drm_xe_mem_region){.mem_class = DRM_XE_MEM_REGION_CLASS_VRAM,
                                       .instance = (uint16_t)(SHIM_REGION_VRAM + tile),
                                       .min_page_size = 65536,
                                       .total_size = bytes,
                                       .used = shim_buffers_used(node, SHIM_REGION_VRAM + tile),
                                       .cpu_visible_size = bytes};
    const struct drm_xe_query_mem_regions head = {.num_mem_regions = count};
    return answer_list(query, &head, sizeof(head), regions, count * sizeof(regions[0]));
}

static int query_tiles(const struct shim_node *node, struct drm_xe_device_query *query)
{
    const struct shim_product *product = node->product;
    const uint64_t system = 1,
                   all = product->memory.vram_gib > 0 ? (2u << product->tiles) - 1 : system;
    struct drm_xe_gt tiles[SHIM_TILES_MAXIMUM] = {0};
    for (uint16_t tile = 0; tile < product->tiles; tile++) {
        const uint64_t near =
            product->memory.vram_gib > 0 ? UINT64_C(1) << (SHIM_REGION_VRAM + tile) : system;
        tiles[tile] = (struct drm_xe_gt){.type = DRM_XE_QUERY_GT_TYPE_MAIN,
                                         .tile_id = tile,
                                         .gt_id = tile,
                                         .reference_clock = SHIM_CLOCK_HZ,
                                         .near_mem_regions = near,
                                         .far_mem_regions = all & ~near,
                                         .ip_ver_major = product->ip.major,
                                         .ip_ver_minor = product->ip.minor,
                                         .ip_ver_rev = product->ip.revision};
    }
    const struct drm_xe_query_gt_list head = {.num_gt = product->tiles};
    return answer_list(query, &head, sizeof(head), tiles, product->tiles * sizeof(tiles[0]));
}

static int query_hardware(const struct shim_node *node, struct drm_xe_device_query *query)
{
    uint32_t table[SHIM_HARDWARE_WORDS];
    return answer(query, table, shim_product_hardware(node->product, table));
}

static uint64_t ones(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static int query_topology(const struct shim_node *node, struct drm_xe_device_query *query)
{
    const struct shim_product *product = node->product;
    const uint16_t engines =
        product->family == SHIM_FAMILY_XE2 ? DRM_XE_TOPO_SIMD16_EU_PER_DSS : DRM_XE_TOPO_EU_PER_DSS;
    const struct {
        uint16_t type, bytes;
        uint64_t mask;
    } masks[] = {
        {DRM_XE_TOPO_DSS_GEOMETRY, 8, product->engines.render > 0 ? ones(product->cores.cores) : 0},
        {DRM_XE_TOPO_DSS_COMPUTE, 8, ones(product->cores.cores)},
        {DRM_XE_TOPO_L3_BANK, 8, ones(product->memory.l3_groups * product->memory.l3_banks)},
        {engines, 4, ones(product->cores.vector_engines)}};
    uint8_t reply[128 * SHIM_TILES_MAXIMUM];
    size_t size = 0;
    for (uint16_t tile = 0; tile < product->tiles; tile++)
        for (size_t i = 0; i < COUNT(masks); i++) {
            const struct drm_xe_query_topology_mask head = {
                .gt_id = tile, .type = masks[i].type, .num_bytes = masks[i].bytes};
            memcpy(reply + size, &head, sizeof(head));
            memcpy(reply + size + sizeof(head), &masks[i].mask, masks[i].bytes);
            size += sizeof(head) + masks[i].bytes;
        }
    return answer(query, reply, size);
}

static int query_cycles(struct drm_xe_device_query *query)
{
    struct drm_xe_query_engine_cycles reply = {0};
    if (query->size >= sizeof(reply))
        memcpy(&reply, (const void *)(uintptr_t)query->data, sizeof(reply));
    struct timespec now;
    if (clock_gettime(reply.clockid, &now) != 0)
        return EINVAL;
    reply.width = 64;
    reply.engine_cycles = shim_gpu_time();
    reply.cpu_timestamp = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    reply.cpu_delta = 1;
    return answer(query, &reply, sizeof(reply));
}

static int query_firmware(struct drm_xe_device_query *query)
{
    const struct drm_xe_query_uc_fw_version reply = {
        .major_ver = 70, .minor_ver = 44, .patch_ver = 1};
    return answer(query, &reply, sizeof(reply));
}

int shim_xe_query(const struct shim_node *node, struct drm_xe_device_query *query)
{
    switch (query->query) {
    case DRM_XE_DEVICE_QUERY_ENGINES:
        return query_engines(node, query);
    case DRM_XE_DEVICE_QUERY_MEM_REGIONS:
        return query_memory(node, query);
    case DRM_XE_DEVICE_QUERY_CONFIG:
        return query_config(node, query);
    case DRM_XE_DEVICE_QUERY_GT_LIST:
        return query_tiles(node, query);
    case DRM_XE_DEVICE_QUERY_HWCONFIG:
        return query_hardware(node, query);
    case DRM_XE_DEVICE_QUERY_GT_TOPOLOGY:
        return query_topology(node, query);
    case DRM_XE_DEVICE_QUERY_ENGINE_CYCLES:
        return query_cycles(query);
    case DRM_XE_DEVICE_QUERY_UC_FW_VERSION:
        return query_firmware(query);
    default:
        // The driver does without queries that an older kernel does not know.
        shim_trace("unknown query %u", query->query);
        return EINVAL;
    }
}
