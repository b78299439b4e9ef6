// SPDX-License-Identifier: MIT
#include "query.h"

#include "buffer.h"
#include "gpu_clock.h"
#include "log.h"
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define DEVICE_ID 0xe20bu // Arc B580
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

static int query_config(struct drm_xe_device_query *query)
{
    static const uint64_t info[] = {
        [DRM_XE_QUERY_CONFIG_REV_AND_DEVICE_ID] = DEVICE_ID,
        [DRM_XE_QUERY_CONFIG_FLAGS] =
            DRM_XE_QUERY_CONFIG_FLAG_HAS_VRAM | DRM_XE_QUERY_CONFIG_FLAG_HAS_LOW_LATENCY,
        [DRM_XE_QUERY_CONFIG_MIN_ALIGNMENT] = 65536,
        [DRM_XE_QUERY_CONFIG_VA_BITS] = 48,
        [DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY] = 1,
    };
    const struct drm_xe_query_config head = {.num_params = COUNT(info)};
    return answer_list(query, &head, sizeof(head), info, sizeof(info));
}

static int query_engines(struct drm_xe_device_query *query)
{
    static const struct drm_xe_engine engines[] = {
        {.instance.engine_class = DRM_XE_ENGINE_CLASS_RENDER},
        {.instance.engine_class = DRM_XE_ENGINE_CLASS_COPY},
        {.instance.engine_class = DRM_XE_ENGINE_CLASS_COMPUTE},
    };
    const struct drm_xe_query_engines head = {.num_engines = COUNT(engines)};
    return answer_list(query, &head, sizeof(head), engines, sizeof(engines));
}

static int query_memory(struct drm_xe_device_query *query)
{
    const struct shim_options *options = shim_options();
    const struct drm_xe_mem_region regions[] = {
        {.mem_class = DRM_XE_MEM_REGION_CLASS_SYSMEM,
         .min_page_size = 4096,
         .total_size = options->system_bytes},
        {.mem_class = DRM_XE_MEM_REGION_CLASS_VRAM,
         .instance = SHIM_MEMORY_VRAM,
         .min_page_size = 65536,
         .total_size = options->vram_bytes,
         .used = shim_buffers_vram_used(),
         .cpu_visible_size = options->vram_bytes},
    };
    const struct drm_xe_query_mem_regions head = {.num_mem_regions = COUNT(regions)};
    return answer_list(query, &head, sizeof(head), regions, sizeof(regions));
}

static int query_tiles(struct drm_xe_device_query *query)
{
    static const struct drm_xe_gt tiles[] = {
        {.type = DRM_XE_QUERY_GT_TYPE_MAIN,
         .reference_clock = SHIM_CLOCK_HZ,
         .near_mem_regions = 1 << SHIM_MEMORY_VRAM,
         .far_mem_regions = 1,
         .ip_ver_major = 20,
         .ip_ver_minor = 1,
         .ip_ver_rev = 4},
    };
    const struct drm_xe_query_gt_list head = {.num_gt = COUNT(tiles)};
    return answer_list(query, &head, sizeof(head), tiles, sizeof(tiles));
}

static int query_hardware(struct drm_xe_device_query *query)
{
    // Attribute, number of words, value. 5 slices of 4 Xe cores of 8 vector engines of 8 threads.
    static const uint32_t table[] = {
        1,  1, 5,   // slices
        2,  1, 20,  // dual subslices
        3,  1, 8,   // vector engines of a dual subslice
        10, 1, 12,  // memory channels
        11, 1, 4,   // kind of memory: GDDR6
        15, 1, 8,   // threads of a vector engine
        23, 1, 1,   // render engines
        24, 1, 1,   // compute engines
        62, 1, 8,   // MiB where a context is saved; the driver fails without
        64, 1, 512, // KiB of a bank of the L3 cache
        70, 1, 20,  // subslices
        71, 1, 8,   // vector engines of a subslice
        73, 1, 128, // KiB of local memory of a subslice
        83, 1, 1,   // regions
        84, 1, 6,   // L3 banks of a group
        85, 1, 6,   // groups of L3 banks
    };
    return answer(query, table, sizeof(table));
}

static int query_topology(struct drm_xe_device_query *query)
{
    static const struct {
        uint16_t type, bytes;
        uint64_t mask;
    } masks[] = {{DRM_XE_TOPO_DSS_GEOMETRY, 8, 0xfffff},
                 {DRM_XE_TOPO_DSS_COMPUTE, 8, 0xfffff},
                 {DRM_XE_TOPO_L3_BANK, 8, 0xfffffffff},
                 {DRM_XE_TOPO_SIMD16_EU_PER_DSS, 4, 0xff}};
    uint8_t reply[128];
    size_t size = 0;
    for (size_t i = 0; i < COUNT(masks); i++) {
        const struct drm_xe_query_topology_mask head = {.type = masks[i].type,
                                                        .num_bytes = masks[i].bytes};
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

int shim_query(struct drm_xe_device_query *query)
{
    switch (query->query) {
    case DRM_XE_DEVICE_QUERY_ENGINES:
        return query_engines(query);
    case DRM_XE_DEVICE_QUERY_MEM_REGIONS:
        return query_memory(query);
    case DRM_XE_DEVICE_QUERY_CONFIG:
        return query_config(query);
    case DRM_XE_DEVICE_QUERY_GT_LIST:
        return query_tiles(query);
    case DRM_XE_DEVICE_QUERY_HWCONFIG:
        return query_hardware(query);
    case DRM_XE_DEVICE_QUERY_GT_TOPOLOGY:
        return query_topology(query);
    case DRM_XE_DEVICE_QUERY_ENGINE_CYCLES:
        return query_cycles(query);
    case DRM_XE_DEVICE_QUERY_UC_FW_VERSION:
        return query_firmware(query);
    default:
        // The driver does without queries that an older kernel does not know.
        shim_log(SHIM_LOG_IOCTL, "query %u is not known", query->query);
        return EINVAL;
    }
}
