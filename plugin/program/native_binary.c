// SPDX-License-Identifier: MIT
#include "program/native_binary.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/native_symbols.h"
#include "program/native/container.h"

struct pieces {
    uint32_t count;
    struct zepi_container_member *members; // owned
    struct zepi_blob **blobs;              // owned list of references; NULL: no code
};

static void pieces_finish(struct pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->count; i++)
        zepi_blob_release(pieces->blobs[i]);
    zepi_free(pieces->blobs);
    zepi_free(pieces->members);
}

// Units that were not linked with each other have different groups.
static zepi_result_t pieces_add(struct pieces *pieces,
                                const struct zepi_device_module *device_module,
                                zepi_module_state_t state)
{
    zepi_result_t result = ZEPI_SUCCESS;
    const uint32_t first_group =
        pieces->count > 0 ? pieces->members[pieces->count - 1].group + 1 : 0;
    for (uint32_t i = 0; i < device_module->ze_module_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_blob *native = NULL;
        result = zepi_ze_module_native_blob(&device_module->ze_modules[i], &native);
        pieces->blobs[pieces->count] = native;
        pieces->members[pieces->count++] = (struct zepi_container_member){
            native ? native->bytes : NULL, native ? native->size_bytes : 0,
            first_group + device_module->ze_modules[i].group};
        // A link of an object's native code needs its imports and exports.
        if (native && state == ZEPI_MODULE_OBJECT && device_module->ze_module_count == 1 &&
            device_module->source_count == 1)
            zepi_native_symbols_keep(native->digest, &device_module->sources[0]->spirv);
    }
    return result;
}

static zepi_result_t pieces_check(const struct pieces *pieces)
{
    if (pieces->count > ZEPI_CONTAINER_MAX)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the module has %u pieces of native code, a "
                         "container has room for %u",
                         pieces->count, ZEPI_CONTAINER_MAX);
    for (uint32_t i = 0; i < pieces->count && pieces->count > 1; i++) {
        if (!pieces->blobs[i])
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                             "the driver returns no native code for a piece of the module");
    }
    return ZEPI_SUCCESS;
}

// A reference to the code of the only piece, or to a container of all.
static zepi_result_t pieces_pack(const struct pieces *pieces, struct zepi_blob **out_native)
{
    if (pieces->count == 1) {
        *out_native = pieces->blobs[0] ? zepi_blob_retain(pieces->blobs[0]) : NULL;
        return ZEPI_SUCCESS;
    }
    const size_t size_bytes = zepi_container_size(pieces->count, pieces->members);
    void *bytes = zepi_allocate(size_bytes, 1);
    if (!bytes)
        return zepi_fail_no_memory();
    zepi_container_pack(pieces->count, pieces->members, bytes);
    const zepi_result_t result = zepi_blob_get(bytes, size_bytes, false, out_native);
    zepi_free(bytes);
    return result;
}

zepi_result_t zepi_device_modules_get_native(uint32_t count,
                                             const struct zepi_device_module *const *modules,
                                             zepi_module_state_t state,
                                             struct zepi_blob **out_native)
{
    struct pieces pieces = {0};
    uint32_t room = 0;
    for (uint32_t i = 0; i < count; i++)
        room += modules[i]->ze_module_count;
    pieces.members = zepi_allocate(room, sizeof(pieces.members[0]));
    pieces.blobs = zepi_allocate(room, sizeof(struct zepi_blob *));
    zepi_result_t result = pieces.members && pieces.blobs ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = pieces_add(&pieces, modules[i], state);
    if (result == ZEPI_SUCCESS)
        result = pieces_check(&pieces);
    if (result == ZEPI_SUCCESS)
        result = pieces_pack(&pieces, out_native);
    pieces_finish(&pieces);
    return result;
}

static zepi_result_t copy_native(const struct zepi_blob *native, size_t *inout_size_bytes,
                                 void *out_bytes)
{
    const size_t size_bytes = native ? native->size_bytes : 0;
    if (out_bytes && *inout_size_bytes < size_bytes)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the native code has %zu bytes, there is room for %zu", size_bytes,
                         *inout_size_bytes);
    if (out_bytes && native)
        memcpy(out_bytes, native->bytes, size_bytes);
    *inout_size_bytes = size_bytes;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_get_native_binary(const struct zepi_module *module, uint32_t device_index,
                                            size_t *inout_size_bytes, void *out_bytes)
{
    struct zepi_blob *native = NULL;
    uint32_t count = 0;
    const struct zepi_device_module **modules = zepi_allocate(module->part_count, sizeof(*modules));
    if (!modules)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (module->parts[i].device_module[device_index])
            modules[count++] = zepi_device_module_of(module->parts[i].device_module[device_index]);
    }
    zepi_result_t result =
        count > 0 ? zepi_device_modules_get_native(count, modules, module->state, &native)
                  : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the module has no code for device '%s'",
                              module->context->devices[device_index]->properties.name);
    if (result == ZEPI_SUCCESS)
        result = copy_native(native, inout_size_bytes, out_bytes);
    zepi_blob_release(native);
    zepi_free(modules);
    return result;
}
