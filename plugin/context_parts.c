// SPDX-License-Identifier: MIT
// The state that the layers keep for each context, lowest first.
#include "copy/fill.h"
#include "device/context.h"
#include "memory/interop/external_memory.h"
#include "memory/interop/host_memory.h"
#include "memory/interop/ipc.h"
#include "memory/pool.h"
#include "memory/usm_driver.h"
#include "memory/virtual_memory.h"
#include "program/build/handle_caches.h"
#include "program/this_module.h"
#include "queue/command_list.h"
#include "queue/event_pool.h"
#include "sync/deferred.h"

const struct zepi_context_part *const zepi_context_parts[ZEPI_CONTEXT_PARTS] = {
    [ZEPI_PART_SYNC] = &zepi_sync_part,
    [ZEPI_PART_USM_DRIVER] = &zepi_usm_driver_part,
    [ZEPI_PART_USM] = &zepi_usm_part,
    [ZEPI_PART_MAPPINGS] = &zepi_mappings_part,
    [ZEPI_PART_IPC] = &zepi_ipc_part,
    [ZEPI_PART_EXTERNAL] = &zepi_external_part,
    [ZEPI_PART_HOST_MEMORY] = &zepi_host_memory_part,
    [ZEPI_PART_EVENT_POOLS] = &zepi_event_pools_part,
    [ZEPI_PART_COMMAND_LISTS] = &zepi_command_lists_part,
    [ZEPI_PART_COPY] = &zepi_copy_part,
    [ZEPI_PART_HANDLE_CACHES] = &zepi_handle_caches_part,
    [ZEPI_PART_UNITS] = &zepi_units_part,
};
