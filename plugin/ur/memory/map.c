// SPDX-License-Identifier: MIT
// Buffers in the host's memory: mapped and unmapped.
#include "copy/copy.h"
#include "core/alloc.h"
#include "memory/usm.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "ur/command.h"
#include "ur/memory/mem.h"

static zepi_result_t make_map(struct zepi_ur_mem *mem, size_t offset, size_t size,
                              ur_map_flags_t flags, struct zepi_ur_map **out_map)
{
    struct zepi_ur_map *map = zepi_object_create(&zepi_ur_map_type);
    if (!map)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    map->context = zepi_retain(mem->context);
    map->offset_bytes = offset;
    map->size_bytes = size;
    map->is_written = flags & (UR_MAP_FLAG_WRITE | UR_MAP_FLAG_WRITE_INVALIDATE_REGION);
    if (mem->host) {
        map->address = mem->host + offset;
    } else if (mem->buffer->fixed && mem->buffer->kind != ZEPI_USM_DEVICE) {
        map->address = (char *)mem->buffer->fixed + mem->offset_bytes + offset;
    } else {
        void *staging;
        const zepi_result_t result =
            zepi_usm_allocate(mem->context, NULL, ZEPI_USM_HOST, size, &staging);
        if (result != ZEPI_SUCCESS) {
            zepi_release(map);
            return result;
        }
        map->address = staging;
        map->is_staging = true;
    }
    *out_map = map;
    return ZEPI_SUCCESS;
}

static void put_map(struct zepi_ur_mem *mem, struct zepi_ur_map *map)
{
    zepi_mutex_lock(&mem->mutex);
    map->next = mem->maps;
    mem->maps = map;
    zepi_mutex_unlock(&mem->mutex);
}

// A captured command copies to or from the map with each execution of its graph, which keeps the
// map. A buffer whose storage is the host's memory moves, and only commands that are executed tell
// where its contents are.
static zepi_result_t capture_map(const struct zepi_buffer_uses *uses, const struct zepi_ur_mem *mem,
                                 struct zepi_ur_map *map)
{
    if (!uses->capture)
        return ZEPI_SUCCESS;
    return mem->host ? zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                                 "a map of a buffer whose storage is the host's memory cannot be "
                                 "captured: the buffer moves")
                     : uses->capture->functions->keep(uses->capture, map, NULL);
}

// Enqueues the command that makes the map's bytes the buffer's: nothing for its own memory, a copy
// to the host's memory if that is its storage and lacks them, else one to the staging memory.
static zepi_result_t enqueue_map(struct zepi_ur_command *command, const struct zepi_ur_mem *mem,
                                 struct zepi_ur_map *map, bool is_read)
{
    struct zepi_buffer_uses uses;
    void *address;
    const struct zepi_buffer_part part =
        zepi_ur_buffer_part(mem, map->offset_bytes, map->size_bytes);
    const bool is_copied = is_read && map->is_staging;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t result = capture_map(&uses, mem, map);
    if (result == ZEPI_SUCCESS && is_read)
        result = zepi_buffer_use(&uses, &part, ZEPI_BUFFER_READ,
                                 mem->host ? ZEPI_BUFFER_ON_HOST : ZEPI_BUFFER_ON_DEVICE, &address);
    if (result == ZEPI_SUCCESS)
        result = is_copied
                     ? zepi_queue_copy(command->queue, map->address, address, map->size_bytes,
                                       uses.wait, zepi_ur_command_event(command))
                     : zepi_queue_marker(command->queue, uses.wait, zepi_ur_command_event(command));
    zepi_buffer_uses_finish(&uses);
    return result;
}

ur_result_t zepi_urEnqueueMemBufferMap(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                       bool blockingMap, ur_map_flags_t mapFlags, size_t offset,
                                       size_t size, ZEPI_UR_ENQUEUE_PARAMETERS, void **ppRetMap)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingMap);
    struct zepi_ur_map *map = NULL;
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_buffer(hBuffer, command.queue->context)) ||
        (result = zepi_ur_check_flags(mapFlags, UR_MAP_FLAGS_MASK)) ||
        (result = zepi_ur_check_pointer(ppRetMap, "ppRetMap")) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(hBuffer), offset, size)) ||
        (size == 0 && (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a map of 0 bytes"))))
        return result;
    struct zepi_ur_mem *mem = zepi_ur_mem(hBuffer);
    result = zepi_ur_result(make_map(mem, offset, size, mapFlags, &map));
    if (result != UR_RESULT_SUCCESS)
        return result;
    const zepi_result_t done =
        enqueue_map(&command, mem, map, !(mapFlags & UR_MAP_FLAG_WRITE_INVALIDATE_REGION));
    result = zepi_ur_command_end(&command, done, UR_COMMAND_MEM_BUFFER_MAP);
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(map);
        return result;
    }
    *ppRetMap = map->address;
    zepi_ur_hold_foreign(command.queue, mem);
    put_map(mem, map);
    return UR_RESULT_SUCCESS;
}

// Takes the map at `address` out of the list; NULL: there is none.
static struct zepi_ur_map *take_map(struct zepi_ur_mem *mem, const void *address)
{
    zepi_mutex_lock(&mem->mutex);
    struct zepi_ur_map **link = &mem->maps;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    struct zepi_ur_map *map = *link;
    if (map)
        *link = map->next;
    zepi_mutex_unlock(&mem->mutex);
    return map;
}

// Enqueues the command that makes the buffer's bytes the map's, if the host may have changed them.
static zepi_result_t enqueue_unmap(struct zepi_ur_command *command, const struct zepi_ur_mem *mem,
                                   struct zepi_ur_map *map)
{
    struct zepi_buffer_uses uses;
    void *address;
    zepi_event_t *event = zepi_ur_command_event(command);
    const struct zepi_buffer_part part =
        zepi_ur_buffer_part(mem, map->offset_bytes, map->size_bytes);
    const bool is_copied = map->is_written && map->is_staging;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t result = capture_map(&uses, mem, map);
    if (result == ZEPI_SUCCESS && map->is_written && mem->host)
        result = zepi_buffer_note_host_write(&part);
    if (result == ZEPI_SUCCESS && is_copied)
        result = zepi_buffer_use(&uses, &part, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE, &address);
    if (result == ZEPI_SUCCESS)
        result = is_copied ? zepi_queue_copy(command->queue, address, map->address, map->size_bytes,
                                             uses.wait, event)
                           : zepi_queue_marker(command->queue, uses.wait, event);
    zepi_buffer_uses_finish(&uses);
    return result;
}

ur_result_t zepi_urEnqueueMemUnmap(ur_queue_handle_t hQueue, ur_mem_handle_t hMem, void *pMappedPtr,
                                   ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_buffer(hMem, command.queue->context)) ||
        (result = zepi_ur_check_pointer(pMappedPtr, "pMappedPtr")))
        return result;
    struct zepi_ur_mem *mem = zepi_ur_mem(hMem);
    struct zepi_ur_map *map = take_map(mem, pMappedPtr);
    if (!map)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "%p is not mapped", pMappedPtr);
    const zepi_result_t done = enqueue_unmap(&command, mem, map);
    if (done == ZEPI_SUCCESS) {
        zepi_ur_hold_foreign(command.queue, mem);
        if (mem->context != command.queue->context)
            zepi_queue_release_later(command.queue, map);
        zepi_release(map);
    } else {
        put_map(mem, map); // it stays
    }
    return zepi_ur_command_end(&command, done, UR_COMMAND_MEM_UNMAP);
}
