// SPDX-License-Identifier: MIT
#include "program/native_binary.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/native_symbols.h"
#include "program/build/ze_module.h"
#include "program/native/container.h"

struct pieces {
    uint32_t count;
    struct zepi_container_member *members; // owned
    void **bytes;                          // owned, and each that is not NULL
};

static void pieces_finish(struct pieces *pieces)
{
    for (uint32_t i = 0; pieces->bytes && i < pieces->count; i++)
        zepi_free(pieces->bytes[i]);
    zepi_free(pieces->bytes);
    zepi_free(pieces->members);
}

static zepi_result_t pieces_add_unit(struct pieces *pieces,
                                     const struct zepi_device_module_unit *unit, uint32_t group)
{
    struct zepi_container_member *member = &pieces->members[pieces->count];
    member->group = group;
    if (unit->native) {
        member->bytes = unit->native->bytes;
        member->size_bytes = unit->native->size_bytes;
        pieces->count++;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result =
        zepi_ze_module_get_native(unit->ze, &pieces->bytes[pieces->count], &member->size_bytes);
    if (result == ZEPI_SUCCESS) {
        member->bytes = pieces->bytes[pieces->count];
        pieces->count++;
    }
    return result;
}

// A link of an object's native code needs its imports and exports.
static void pieces_keep_symbols(const struct zepi_container_member *member,
                                const struct zepi_device_module *device_module)
{
    if (device_module->unit_count == 1 && device_module->source_count == 1 &&
        member->size_bytes > 0)
        zepi_native_symbols_keep(member->bytes, member->size_bytes,
                                 &device_module->sources[0]->spirv);
}

static zepi_result_t pieces_init(struct pieces *pieces, uint32_t room)
{
    *pieces = (struct pieces){.members = zepi_allocate(room, sizeof(pieces->members[0])),
                              .bytes = zepi_allocate(room, sizeof(pieces->bytes[0]))};
    return pieces->members && pieces->bytes ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// Units that were not linked with each other have different groups.
static zepi_result_t pieces_add_device_module(struct pieces *pieces,
                                              const struct zepi_device_module *device_module,
                                              zepi_module_state_t state)
{
    zepi_result_t result = ZEPI_SUCCESS;
    const uint32_t first_group =
        pieces->count > 0 ? pieces->members[pieces->count - 1].group + 1 : 0;
    for (uint32_t i = 0; i < device_module->unit_count && result == ZEPI_SUCCESS; i++)
        result = pieces_add_unit(pieces, &device_module->units[i],
                                 first_group + device_module->units[i].group);
    if (result == ZEPI_SUCCESS && state == ZEPI_MODULE_OBJECT)
        pieces_keep_symbols(&pieces->members[pieces->count - device_module->unit_count],
                            device_module);
    return result;
}

static zepi_result_t pieces_gather(struct pieces *pieces, const struct zepi_module *module,
                                   uint32_t device_index)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_build_result *device_module =
            module->parts[i].device_module[device_index];
        room += device_module ? zepi_device_module_of(device_module)->unit_count : 0;
    }
    zepi_result_t result = pieces_init(pieces, room);
    for (uint32_t i = 0; i < module->part_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_build_result *device_module =
            module->parts[i].device_module[device_index];
        if (device_module)
            result = pieces_add_device_module(pieces, zepi_device_module_of(device_module),
                                              module->state);
    }
    return result;
}

static zepi_result_t pieces_check(const struct pieces *pieces, const struct zepi_device *device)
{
    if (pieces->count == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the module has no code for device '%s'",
                         device->properties.name);
    if (pieces->count > ZEPI_CONTAINER_MAX)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the module has %u pieces of native code, a "
                         "container has room for %u",
                         pieces->count, ZEPI_CONTAINER_MAX);
    for (uint32_t i = 0; i < pieces->count && pieces->count > 1; i++) {
        if (pieces->members[i].size_bytes == 0)
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                             "the driver returns no native code for a piece of the module");
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t pieces_write_out(const struct pieces *pieces, size_t *inout_size_bytes,
                                      void *out_bytes)
{
    const size_t size_bytes = pieces->count == 1
                                  ? pieces->members[0].size_bytes
                                  : zepi_container_size(pieces->count, pieces->members);
    if (out_bytes && *inout_size_bytes < size_bytes)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the native code has %zu bytes, there is room for %zu", size_bytes,
                         *inout_size_bytes);
    if (out_bytes && pieces->count > 1)
        zepi_container_pack(pieces->count, pieces->members, out_bytes);
    else if (out_bytes && size_bytes > 0)
        memcpy(out_bytes, pieces->members[0].bytes, size_bytes);
    *inout_size_bytes = size_bytes;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_get_native_binary(const struct zepi_module *module, uint32_t device_index,
                                            size_t *inout_size_bytes, void *out_bytes)
{
    struct pieces pieces;
    zepi_result_t result = pieces_gather(&pieces, module, device_index);
    if (result == ZEPI_SUCCESS)
        result = pieces_check(&pieces, module->context->devices[device_index]);
    if (result == ZEPI_SUCCESS)
        result = pieces_write_out(&pieces, inout_size_bytes, out_bytes);
    pieces_finish(&pieces);
    return result;
}

zepi_result_t zepi_device_module_get_native(const struct zepi_device_module *device_module,
                                            zepi_module_state_t state, void **out_bytes,
                                            size_t *out_size_bytes)
{
    struct pieces pieces;
    void *bytes = NULL;
    size_t size_bytes = 0;
    zepi_result_t result = pieces_init(&pieces, device_module->unit_count);
    if (result == ZEPI_SUCCESS)
        result = pieces_add_device_module(&pieces, device_module, state);
    if (result == ZEPI_SUCCESS)
        result = pieces_check(&pieces, device_module->device);
    if (result == ZEPI_SUCCESS)
        result = pieces_write_out(&pieces, &size_bytes, NULL);
    if (result == ZEPI_SUCCESS) {
        bytes = zepi_allocate(size_bytes, 1);
        result = bytes ? pieces_write_out(&pieces, &size_bytes, bytes) : zepi_fail_no_memory();
    }
    pieces_finish(&pieces);
    if (result != ZEPI_SUCCESS) {
        zepi_free(bytes);
        return result;
    }
    *out_bytes = bytes;
    *out_size_bytes = size_bytes;
    return ZEPI_SUCCESS;
}
