// SPDX-License-Identifier: MIT
#include "launch/kernel_lookup.h"

#include "core/alloc.h"
#include "device/context.h"
#include "launch/kernel.h"
#include "program/build/device_build.h"
#include "program/build/handle_caches.h"
#include "program/module.h"
#include "queue/queue.h"

// The only field of a key: where the kernel is looked for, the values, and then the name.
enum place_kind { IN_UNIT, IN_MODULE, OF_KERNEL_OBJECT };
struct place {
    uint64_t number; // the module's own, or the units' version
    // The unit's token; of a launch with a kernel object, its device kernel. The object's own
    // address may be another object's later.
    uint64_t origin;
    uint16_t kind;
    uint16_t device_index;
    uint32_t value_count;
};
struct value {
    uint32_t id;
    uint32_t size_bytes;
    uint64_t bits;
};
static_assert(sizeof(struct place) == 24 && sizeof(struct value) == 16, "no padding in keys");

static struct place lookup_place(const struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 const struct zepi_module *module, uint64_t version)
{
    struct place place = {.device_index = (uint16_t)queue->device_index,
                          .value_count = desc->spec_value_count};
    if (!module) {
        place.number = version;
        place.origin = (uintptr_t)desc->unit;
        return place;
    }
    place.number = module->number;
    place.kind = desc->kernel ? OF_KERNEL_OBJECT : IN_MODULE;
    if (desc->kernel)
        place.origin = (uintptr_t)desc->kernel->device_kernels[queue->device_index];
    return place;
}

// No constant has another size.
static inline uint64_t value_bits(const zepi_spec_value_t *value)
{
    uint64_t bits = 0;
    if (value->size_bytes == 4)
        memcpy(&bits, value->value, 4);
    else if (value->size_bytes == 8)
        memcpy(&bits, value->value, 8);
    else if (value->size_bytes == 2)
        memcpy(&bits, value->value, 2);
    else if (value->size_bytes == 1)
        memcpy(&bits, value->value, 1);
    return bits;
}

// Returns false for a list that the search finds to be wrong.
static inline bool write_values(uint8_t *at, const zepi_launch_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *from = &desc->spec_values[i];
        if (!from->value || from->size_bytes > sizeof(uint64_t))
            return false;
        const struct value value = {from->id, (uint32_t)from->size_bytes, value_bits(from)};
        memcpy(at + i * sizeof(value), &value, sizeof(value));
    }
    return true;
}

// Returns false if the launch is not looked up: a selector chooses anew each time.
static inline bool lookup_key_init(struct zepi_key *key, const struct zepi_queue *queue,
                                   const zepi_launch_desc_t *desc, const struct zepi_module *module,
                                   uint64_t version)
{
    const struct place place = lookup_place(queue, desc, module, version);
    const char *name = desc->kernel ? desc->kernel->name : desc->kernel_name;
    const size_t values_size = desc->spec_value_count * sizeof(struct value);
    const size_t name_size = strlen(name);
    if (desc->selector || (desc->spec_value_count > 0 && !desc->spec_values))
        return false;
    zepi_key_init(key, ZEPI_KEY_VERSION);
    uint8_t *at =
        zepi_key_begin_field(key, ZEPI_KEY_LOOKUP, sizeof(place) + values_size + name_size);
    bool is_good = at != NULL;
    if (is_good) {
        memcpy(at, &place, sizeof(place));
        memcpy(at + sizeof(place) + values_size, name, name_size);
        is_good = write_values(at + sizeof(place), desc) && zepi_key_seal(key);
    }
    if (!is_good)
        zepi_key_finish(key);
    return is_good;
}

struct zepi_build_result *zepi_kernel_lookup_find(const struct zepi_queue *queue,
                                                  const zepi_launch_desc_t *desc,
                                                  const struct zepi_module *module,
                                                  uint64_t version)
{
    struct zepi_key key;
    if (!lookup_key_init(&key, queue, desc, module, version))
        return NULL;
    struct zepi_build_result *found =
        zepi_build_cache_find(zepi_handle_caches_of(queue->context)->lookups, &key);
    zepi_key_finish(&key);
    return found;
}

// ---- Keeping ----

static void found_kernel_destroy(void *payload)
{
    struct zepi_found_kernel *kernel = payload;
    if (kernel->holds_kernel)
        zepi_build_result_release(kernel->target.device_kernel);
    zepi_release((struct zepi_device_image *)kernel->target.image);
    zepi_spec_values_release((struct zepi_spec_values *)kernel->target.values);
    zepi_free(kernel);
}

static enum zepi_build_status hand_over(void *user, struct zepi_build_output *output)
{
    const struct zepi_found_kernel *kernel = user;
    struct zepi_found_kernel *kept = zepi_duplicate(kernel, sizeof(*kernel));
    if (!kept)
        return ZEPI_BUILD_OUT_OF_MEMORY;
    if (kept->holds_kernel)
        zepi_build_result_retain(kept->target.device_kernel);
    if (kept->target.image)
        zepi_retain((struct zepi_device_image *)kept->target.image);
    zepi_spec_values_retain((struct zepi_spec_values *)kept->target.values);
    output->payload = kept;
    output->destroy = found_kernel_destroy;
    output->cost_bytes = sizeof(*kept);
    return ZEPI_BUILD_SUCCEEDED;
}

zepi_result_t zepi_kernel_lookup_keep(const struct zepi_queue *queue,
                                      const zepi_launch_desc_t *desc,
                                      const struct zepi_module *module, uint64_t version,
                                      const struct zepi_found_kernel *kernel,
                                      struct zepi_build_result **out_found)
{
    struct zepi_key key;
    struct zepi_build_result *found = NULL;
    const struct zepi_build_request build = {hand_over, (void *)kernel};
    const bool has_key = lookup_key_init(&key, queue, desc, module, version);
    zepi_build_cache_find_or_build(zepi_handle_caches_of(queue->context)->lookups,
                                   has_key ? &key : NULL, &build, &found);
    if (has_key)
        zepi_key_finish(&key);
    if (found && zepi_build_result_has_succeeded(found)) {
        *out_found = found;
        return ZEPI_SUCCESS;
    }
    zepi_build_result_release(found);
    return zepi_fail_no_memory();
}
