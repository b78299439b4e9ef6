// SPDX-License-Identifier: MIT
#include "arguments.h"

#include "log.h"
#include "memory/gpu_memory.h"

#include <string.h>

#define WORDS_BYTES 12 // of three dimensions
#define SURFACE_STATE_BYTES 64
#define SAMPLER_STATE_BYTES 16
#define IMPLICIT_LOCAL_SIZE_AT 4 // in the structure of implicit arguments

// The structure of implicit arguments in front of the indirect data begins with its size and
// version; behind it the payload is aligned to 64 bytes. The walker's length leaves it out. False:
// it is not known.
static bool skip_implicit_arguments(const struct shim_walker *walker, uint32_t *out_bytes)
{
    static const struct {
        uint8_t size_bytes, reserved_bytes;
    } versions[] = {{112, 128}, {140, 192}};
    const uint8_t *header = walker->indirect;
    if (!header || walker->indirect_left < 2 || header[1] > 1 ||
        header[0] != versions[header[1]].size_bytes)
        return false;
    *out_bytes = versions[header[1]].reserved_bytes;
    return true;
}

static bool has_structure(const struct shim_kernel_info *info, const struct shim_walker *walker)
{
    return info->has_implicit_arguments && !walker->begins_at_payload;
}

bool shim_payload_copy(const struct shim_kernel_info *info, const struct shim_walker *walker,
                       uint32_t offset, uint32_t size_bytes, void *out)
{
    const uint32_t left = offset < info->inline_bytes ? info->inline_bytes - offset : 0;
    const uint32_t here = size_bytes < left ? size_bytes : left, there = size_bytes - here;
    uint64_t behind = (uint64_t)offset + here - info->inline_bytes; // unless all is inline
    uint64_t indirect_size = walker->indirect_size;
    uint32_t implicit_bytes = 0;
    if (here > 0 && offset + here > walker->inline_size)
        return false;
    if (there > 0 && has_structure(info, walker)) {
        if (!skip_implicit_arguments(walker, &implicit_bytes))
            return false;
        behind += implicit_bytes;
        indirect_size = walker->indirect_left;
    }
    if (there > 0 && (!walker->indirect || behind + there > indirect_size))
        return false;
    if (here > 0)
        memcpy(out, walker->inline_data + offset, here);
    if (there > 0)
        memcpy((uint8_t *)out + here, walker->indirect + behind, there);
    return true;
}

// Copies a number or three of the payload's first entry of that kind. An entry that comes twice is
// filled in once: the other one is 0. False: there is none.
static bool copy_first(const struct shim_kernel_info *info, const struct shim_walker *walker,
                       enum shim_payload_kind kind, void *out, uint32_t out_bytes)
{
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *payload = &info->payloads[i];
        const uint32_t size = payload->size_bytes < out_bytes ? payload->size_bytes : out_bytes;
        if (payload->kind == kind && shim_payload_copy(info, walker, payload->offset, size, out) &&
            (kind != SHIM_PAYLOAD_LOCAL_SIZE || *(const uint32_t *)out != 0))
            return true;
    }
    return false;
}

void shim_payload_global_offset(const struct shim_kernel_info *info,
                                const struct shim_walker *walker, uint32_t out_offset[3])
{
    memset(out_offset, 0, WORDS_BYTES);
    copy_first(info, walker, SHIM_PAYLOAD_GLOBAL_OFFSET, out_offset, WORDS_BYTES);
}

static bool find_implicit_size(const struct shim_kernel_info *info,
                               const struct shim_walker *walker, uint32_t size[3])
{
    uint32_t bytes;
    if (!has_structure(info, walker) || !skip_implicit_arguments(walker, &bytes))
        return false;
    memcpy(size, walker->indirect + IMPLICIT_LOCAL_SIZE_AT, WORDS_BYTES);
    return true;
}

static bool find_size_by_global(const struct shim_kernel_info *info,
                                const struct shim_walker *walker, uint32_t size[3])
{
    if (!copy_first(info, walker, SHIM_PAYLOAD_GLOBAL_SIZE, size, WORDS_BYTES))
        return false;
    for (int i = 0; i < 3; i++)
        size[i] = walker->groups[i] > 0 ? size[i] / walker->groups[i] : 0;
    return true;
}

static uint32_t items_of_thread(const struct shim_walker *walker, uint32_t thread)
{
    return thread + 1 < walker->threads ? walker->simd : (uint32_t)__builtin_popcount(walker->mask);
}

// Local ids that the driver made lie at the end of the payload: for each thread 16-bit numbers a
// dimension, in whole registers. The highest of each dimension tells the size.
static void find_size_by_ids(const struct shim_kernel_info *info, const struct shim_walker *walker,
                             uint32_t size[3])
{
    const uint32_t numbers_bytes = walker->simd * (uint32_t)sizeof(uint16_t);
    const uint32_t step =
        numbers_bytes > walker->register_bytes ? numbers_bytes : walker->register_bytes;
    const uint32_t dimensions = info->local_id_bytes / step;
    const uint64_t bytes = (uint64_t)walker->threads * info->local_id_bytes;
    uint32_t implicit_bytes = 0;
    if (dimensions == 0 || dimensions > 3 || bytes > walker->indirect_size ||
        (has_structure(info, walker) && !skip_implicit_arguments(walker, &implicit_bytes)))
        return;
    const uint8_t *ids = walker->indirect + implicit_bytes + walker->indirect_size - bytes;
    for (uint32_t thread = 0; thread < walker->threads; thread++) {
        for (uint32_t i = 0; i < dimensions; i++, ids += step) {
            for (uint32_t item = 0; item < items_of_thread(walker, thread); item++) {
                uint16_t id;
                memcpy(&id, ids + item * sizeof(id), sizeof(id));
                if (id >= size[i])
                    size[i] = id + UINT32_C(1);
            }
        }
    }
}

// The dimensions that a kernel asks for are in its payload or walker. Of the others nothing in the
// kernel depends: the first one gets what is left of the items.
void shim_payload_group_size(const struct shim_kernel_info *info, const struct shim_walker *walker,
                             uint32_t out_size[3])
{
    uint32_t left = 0, size[3] = {0};
    for (uint32_t thread = 0; thread < walker->threads; thread++)
        left += items_of_thread(walker, thread);
    if (info->required_group_size[0] != 0)
        memcpy(size, info->required_group_size, sizeof(size));
    else if (!find_implicit_size(info, walker, size) &&
             !copy_first(info, walker, SHIM_PAYLOAD_LOCAL_SIZE, size, WORDS_BYTES) &&
             !find_size_by_global(info, walker, size)) {
        if (walker->has_local)
            memcpy(size, walker->local, sizeof(size));
        else
            find_size_by_ids(info, walker, size);
    }
    for (int i = 0; i < 3; i++)
        left /= size[i] > 0 ? size[i] : 1;
    for (int i = 0; i < 3; i++) {
        out_size[i] = size[i] > 0 ? size[i] : left > 0 ? left : 1;
        left = size[i] > 0 ? left : 1;
    }
}

static uint64_t local_offset(const struct shim_kernel_info *info, const struct shim_walker *walker,
                             const struct shim_payload *payload)
{
    uint64_t offset = 0;
    if (payload->size_bytes > sizeof(offset) ||
        !shim_payload_copy(info, walker, payload->offset, payload->size_bytes, &offset))
        return 0;
    return offset;
}

// Local memory has an offset in the payload, but no size: it ends where the next one begins, or
// with the group's memory.
static size_t local_size(const struct shim_kernel_info *info, const struct shim_walker *walker,
                         const struct shim_payload *payload)
{
    const uint64_t begin = local_offset(info, walker, payload);
    uint64_t end = walker->slm_bytes;
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *other = &info->payloads[i];
        if (other->kind != SHIM_PAYLOAD_POINTER || other->mode != SHIM_ADDRESS_LOCAL)
            continue;
        const uint64_t next = local_offset(info, walker, other);
        if (next > begin && next < end)
            end = next;
    }
    return end > begin ? end - begin : 1;
}

// The argument's pointer; of several the one that says most. NULL: none.
static const struct shim_payload *find_pointer(const struct shim_kernel_info *info,
                                               uint32_t argument)
{
    const struct shim_payload *found = NULL;
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *payload = &info->payloads[i];
        if (payload->kind == SHIM_PAYLOAD_POINTER && payload->argument == argument &&
            (!found || payload->mode > found->mode))
            found = payload;
    }
    return found;
}

static ze_result_t set_value(const struct shim_known_kernel *kernel,
                             const struct shim_walker *walker, uint32_t argument,
                             uint32_t size_bytes)
{
    const struct shim_kernel_info *info = kernel->native->info;
    uint8_t value[SHIM_PAYLOAD_MAX_BYTES];
    uint32_t used_bytes = size_bytes;
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *payload = &info->payloads[i];
        if (payload->kind == SHIM_PAYLOAD_VALUE && payload->argument == argument &&
            payload->source_offset + payload->size_bytes > used_bytes)
            used_bytes = payload->source_offset + payload->size_bytes;
    }
    if (used_bytes > sizeof(value))
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    memset(value, 0, used_bytes);
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *payload = &info->payloads[i];
        if (payload->kind != SHIM_PAYLOAD_VALUE || payload->argument != argument)
            continue;
        if (!shim_payload_copy(info, walker, payload->offset, payload->size_bytes,
                               value + payload->source_offset))
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    }
    // The walk knows no size of some structures: the payload's then counts.
    return shim_cpu_driver()->kernel.pfnSetArgumentValue(
        kernel->cpu, argument, size_bytes != 0 ? size_bytes : used_bytes, value);
}

// Where the state of an image, a sampler or a pointer in the binding table lies.
static bool find_state(const struct shim_kernel_info *info, struct shim_address_space *space,
                       const struct shim_walker *walker, const struct shim_payload *payload,
                       bool is_surface, uint64_t *out_address)
{
    uint64_t offset = 0;
    if (payload->mode == SHIM_ADDRESS_TABLE && !is_surface) {
        *out_address = walker->sampler_table + SAMPLER_STATE_BYTES * payload->table_index;
        return true;
    }
    if (payload->mode == SHIM_ADDRESS_TABLE) {
        if (!shim_gpu_memory_read(space, walker->binding_table + 4 * payload->table_index, 4,
                                  &offset))
            return false;
        *out_address = walker->surface + (offset & ~UINT64_C(63));
        return true;
    }
    if (payload->mode != SHIM_ADDRESS_STATE || payload->size_bytes > sizeof(offset) ||
        !shim_payload_copy(info, walker, payload->offset, payload->size_bytes, &offset))
        return false;
    *out_address = (is_surface ? walker->surface_states : walker->sampler_states) + offset;
    return true;
}

// The address of a pointer argument, which may be in a surface state; NULL is 0.
static bool find_address(const struct shim_kernel_info *info, struct shim_address_space *space,
                         const struct shim_walker *walker, const struct shim_payload *payload,
                         uint64_t *out_address)
{
    if (payload->mode == SHIM_ADDRESS_STATELESS)
        return shim_payload_copy(info, walker, payload->offset, sizeof(*out_address), out_address);
    uint64_t state;
    const uint32_t *words = NULL;
    if (payload->mode == SHIM_ADDRESS_TABLE &&
        find_state(info, space, walker, payload, true, &state))
        words = shim_gpu_memory_at(space, state, SURFACE_STATE_BYTES);
    if (!words)
        return false;
    *out_address = words[8] | (uint64_t)words[9] << 32;
    for (uint32_t i = 0; i < info->payload_count; i++) {
        const struct shim_payload *other = &info->payloads[i];
        uint32_t offset = 0;
        if (other->kind == SHIM_PAYLOAD_BUFFER_OFFSET && other->argument == payload->argument &&
            shim_payload_copy(info, walker, other->offset, sizeof(offset), &offset))
            *out_address += offset;
    }
    return true;
}

static ze_result_t set_pointer(const struct shim_known_kernel *kernel,
                               struct shim_address_space *space, const struct shim_walker *walker,
                               uint32_t argument, const struct shim_payload *payload)
{
    const struct shim_kernel_info *info = kernel->native->info;
    uint64_t address = 0;
    if (payload && !find_address(info, space, walker, payload, &address))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    void *pointer = address ? shim_address_space_cpu_pointer(space, address) : NULL;
    return shim_cpu_driver()->kernel.pfnSetArgumentValue(kernel->cpu, argument, sizeof(pointer),
                                                         &pointer);
}

// One of the objects that stand for the state of an image or sampler.
static ze_result_t set_state(const struct shim_known_kernel *kernel,
                             struct shim_address_space *space, const struct shim_walker *walker,
                             uint32_t argument, struct shim_images *images)
{
    const struct shim_kernel_info *info = kernel->native->info;
    const struct shim_payload *payload = find_pointer(info, argument);
    const bool is_image = kernel->arguments->arguments[argument].kind == ZEPI_SPIRV_ARGUMENT_IMAGE;
    ze_sampler_handle_t sampler = NULL;
    ze_image_handle_t image = NULL;
    uint64_t state;
    if (!payload || !find_state(info, space, walker, payload, is_image, &state))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (is_image ? !shim_images_add(images, space, info->name, state, payload->image_type, &image)
                 : !shim_images_add_sampler(images, space, info->name, state, &sampler))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return shim_cpu_driver()->kernel.pfnSetArgumentValue(
        kernel->cpu, argument, sizeof(void *), is_image ? (void *)&image : (void *)&sampler);
}

static ze_result_t set_argument(const struct shim_known_kernel *kernel,
                                struct shim_address_space *space, const struct shim_walker *walker,
                                uint32_t argument, struct shim_images *images)
{
    const struct zepi_spirv_argument *declared = &kernel->arguments->arguments[argument];
    const struct shim_payload *pointer = find_pointer(kernel->native->info, argument);
    switch (declared->kind) {
    case ZEPI_SPIRV_ARGUMENT_VALUE:
        return set_value(kernel, walker, argument, declared->size_bytes);
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        return set_pointer(kernel, space, walker, argument, pointer);
    case ZEPI_SPIRV_ARGUMENT_LOCAL:
        return shim_cpu_driver()->kernel.pfnSetArgumentValue(
            kernel->cpu, argument, pointer ? local_size(kernel->native->info, walker, pointer) : 1,
            NULL);
    case ZEPI_SPIRV_ARGUMENT_IMAGE:
    case ZEPI_SPIRV_ARGUMENT_SAMPLER:
        return set_state(kernel, space, walker, argument, images);
    default:
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
}

bool shim_arguments_set(struct shim_known_kernel *kernel, struct shim_address_space *space,
                        const struct shim_walker *walker, struct shim_images *images)
{
    static const char *const kinds[] = {
        [ZEPI_SPIRV_ARGUMENT_VALUE] = "a value",
        [ZEPI_SPIRV_ARGUMENT_GLOBAL] = "a pointer",
        [ZEPI_SPIRV_ARGUMENT_CONSTANT] = "a pointer",
        [ZEPI_SPIRV_ARGUMENT_LOCAL] = "local memory",
        [ZEPI_SPIRV_ARGUMENT_IMAGE] = "an image",
        [ZEPI_SPIRV_ARGUMENT_SAMPLER] = "a sampler",
        [ZEPI_SPIRV_ARGUMENT_OTHER] = "of another kind",
    };
    for (uint32_t i = 0; i < kernel->arguments->argument_count; i++) {
        const ze_result_t result = set_argument(kernel, space, walker, i, images);
        if (result == ZE_RESULT_SUCCESS)
            continue;
        shim_error("%s is refused: argument %u is %s: 0x%x", kernel->native->name, i,
                   kinds[kernel->arguments->arguments[i].kind], result);
        return false;
    }
    return true;
}
