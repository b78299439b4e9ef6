// SPDX-License-Identifier: MIT
#include "launch/named_kernel.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/emulation.h"
#include "program/module.h"

#define BUCKETS 32

// Chains that only grow.
struct table {
    struct zepi_attached attached;
    uint64_t id;
    _Atomic(struct zepi_named_kernel *) buckets[BUCKETS];
};

static void table_destroy(struct zepi_attached *attached)
{
    struct table *kernels = (struct table *)attached;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        struct zepi_named_kernel *kernel =
            atomic_load_explicit(&kernels->buckets[i], memory_order_acquire);
        while (kernel) {
            struct zepi_named_kernel *next = kernel->next;
            for (uint32_t at = 0; at < kernel->part_count; at++)
                zepi_build_result_release(
                    atomic_load_explicit(&kernel->parts[at].device_kernel, memory_order_acquire));
            zepi_free(kernel);
            kernel = next;
        }
    }
    zepi_free(kernels);
}

static struct zepi_named_kernel *named_kernel_find(struct zepi_named_kernel *first,
                                                   uint32_t device_index, const char *name)
{
    while (first && (first->device_index != device_index || strcmp(first->name, name) != 0))
        first = first->next;
    return first;
}

// The module's table.
static zepi_result_t named_kernel_find_or_create_table(struct zepi_module *module,
                                                       struct table **out_kernels)
{
    struct zepi_attached *kernels =
        atomic_load_explicit(&module->named_kernels, memory_order_acquire);
    if (!kernels) {
        static atomic_uint_fast64_t last_id;
        struct table *made = zepi_allocate(1, sizeof(*made));
        if (!made)
            return zepi_fail_no_memory();
        made->attached.destroy = table_destroy;
        made->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
        // Release: a thread that finds the table sees it empty, not unwritten.
        if (atomic_compare_exchange_strong_explicit(&module->named_kernels, &kernels,
                                                    &made->attached, memory_order_acq_rel,
                                                    memory_order_acquire))
            kernels = &made->attached;
        else
            zepi_free(made);
    }
    *out_kernels = (struct table *)kernels;
    return ZEPI_SUCCESS;
}

uint64_t zepi_named_kernels_id(struct zepi_module *module)
{
    struct table *kernels = NULL;
    return named_kernel_find_or_create_table(module, &kernels) == ZEPI_SUCCESS ? kernels->id : 0;
}

static bool module_has_kernel(const struct zepi_module *module, uint32_t part_index,
                              uint32_t device_index, const char *name)
{
    const struct zepi_build_result *device_module =
        module->parts[part_index].device_module[device_index];
    return device_module &&
           zepi_device_module_find_kernel(zepi_device_module_of(device_module), name);
}

// An entry with the parts that have the kernel.
static zepi_result_t named_kernel_create(const struct zepi_module *module, uint32_t device_index,
                                         const char *name, struct zepi_named_kernel **out_kernel)
{
    const size_t name_size = strlen(name) + 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->part_count; i++)
        count += module_has_kernel(module, i, device_index, name);
    if (count == 0) {
        zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND, "the module has no kernel '%s' for device '%s'",
                  name, module->context->devices[device_index]->properties.name);
        zepi_module_append_kernel_names(module);
        return ZEPI_ERROR_KERNEL_NOT_FOUND;
    }
    struct zepi_named_kernel *kernel =
        zepi_allocate(1, sizeof(*kernel) + count * sizeof(kernel->parts[0]) + name_size);
    if (!kernel)
        return zepi_fail_no_memory();
    kernel->device_index = device_index;
    kernel->name = memcpy(&kernel->parts[count], name, name_size);
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (!module_has_kernel(module, i, device_index, name))
            continue;
        struct zepi_named_part *part = &kernel->parts[kernel->part_count++];
        part->part_index = i;
        part->image = zepi_emulation_find(&module->parts[i], name, &part->image_index);
    }
    *out_kernel = kernel;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_named_kernel_get(struct zepi_module *module, uint32_t device_index,
                                    const char *name, struct zepi_named_kernel **out_kernel)
{
    struct table *kernels = NULL;
    struct zepi_named_kernel *made = NULL;
    zepi_result_t result = named_kernel_find_or_create_table(module, &kernels);
    if (result != ZEPI_SUCCESS)
        return result;
    _Atomic(struct zepi_named_kernel *) *bucket =
        &kernels->buckets[zepi_digest_hash(name, strlen(name)) % BUCKETS];
    // Acquire, here and below: entries are seen whole.
    struct zepi_named_kernel *first = atomic_load_explicit(bucket, memory_order_acquire);
    struct zepi_named_kernel *found = named_kernel_find(first, device_index, name);
    if (found) {
        *out_kernel = found;
        return ZEPI_SUCCESS;
    }
    result = named_kernel_create(module, device_index, name, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    do {
        found = named_kernel_find(first, device_index, name);
        made->next = first;
    } while (!found && !atomic_compare_exchange_weak_explicit(
                           bucket, &first, made, memory_order_acq_rel, memory_order_acquire));
    if (found)
        zepi_free(made);
    *out_kernel = found ? found : made;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_named_kernel_target(struct zepi_module *module, struct zepi_named_kernel *kernel,
                                       uint32_t index, struct zepi_target *out_target)
{
    struct zepi_named_part *named = &kernel->parts[index];
    const struct zepi_module_part *part = &module->parts[named->part_index];
    struct zepi_build_result *device_kernel =
        atomic_load_explicit(&named->device_kernel, memory_order_acquire);
    if (!device_kernel) {
        struct zepi_build_result *made;
        const zepi_result_t result =
            zepi_device_kernel_get(part->device_module[kernel->device_index], kernel->name, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        if (atomic_compare_exchange_strong_explicit(&named->device_kernel, &device_kernel, made,
                                                    memory_order_acq_rel, memory_order_acquire))
            device_kernel = made;
        else
            zepi_build_result_release(made);
    }
    *out_target = (struct zepi_target){device_kernel, named->image,
                                       named->image ? part->values[named->image_index] : NULL};
    return ZEPI_SUCCESS;
}
