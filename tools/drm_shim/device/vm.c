// SPDX-License-Identifier: MIT
#include "vm.h"

#include "handles.h"
#include "memory/mirror.h"

#include <errno.h>

static struct shim_handles spaces = {.mutex = PTHREAD_MUTEX_INITIALIZER};

int shim_vm_create(uint32_t *out_id)
{
    struct shim_address_space *space = shim_address_space_create();
    if (space == NULL)
        return ENOMEM;
    *out_id = shim_handles_add(&spaces, space);
    if (*out_id != 0)
        return 0;
    shim_address_space_release(space);
    return ENOMEM;
}

int shim_vm_destroy(uint32_t id)
{
    struct shim_address_space *space = shim_handles_remove(&spaces, id);
    shim_address_space_release(space);
    return space == NULL ? ENOENT : 0;
}

struct shim_address_space *shim_vm_find(uint32_t id)
{
    return shim_handles_find(&spaces, id);
}

int shim_vm_bind(struct shim_address_space *space, uint64_t address, uint64_t size,
                 const struct shim_buffer *buffer, uint64_t offset)
{
    if (offset > buffer->size || size > buffer->size - offset)
        return EINVAL;
    const uint64_t at = address & SHIM_ADDRESS_MASK;
    uint8_t *bytes = shim_buffer_bytes(buffer) + offset;
    const bool is_same = buffer->user != NULL ? at == (uintptr_t)bytes
                                              : shim_mirror_bind(at, size, buffer->offset + offset);
    return shim_address_space_bind(space, at, size, bytes, is_same) ? 0 : ENOMEM;
}

int shim_vm_unbind(struct shim_address_space *space, uint64_t address, uint64_t size)
{
    shim_mirror_unbind(address & SHIM_ADDRESS_MASK, size);
    return shim_address_space_unbind(space, address, size) ? 0 : ENOMEM;
}
