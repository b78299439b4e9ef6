// SPDX-License-Identifier: MIT
#include "module/module_images.h"

#include "base/alloc.h"
#include "device/context.h"

#include <stdlib.h>

static int compare_declarations(const void *left, const void *right)
{
    const struct zepi_spec_declaration *a = left;
    const struct zepi_spec_declaration *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

// Unites what several images declare.
static zepi_result_t unite_declarations(struct zepi_module_images *images,
                                        zepi_module_state_t state)
{
    size_t room = 0;
    for (uint32_t i = 0; i < images->count; i++)
        room += images->images[i]->declaration_count;
    struct zepi_spec_declaration *all = zepi_allocate(room, sizeof(*all));
    if (!all)
        return zepi_fail_no_memory();
    images->own_declarations = all;
    uint32_t count = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct zepi_image *image = images->images[i];
        for (uint32_t at = 0; at < image->declaration_count; at++)
            all[count++] = image->declarations[at];
    }
    qsort(all, count, sizeof(*all), compare_declarations);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || all[kept - 1].id != all[i].id) {
            all[kept++] = all[i];
            continue;
        }
        struct zepi_spec_declaration *known = &all[kept - 1];
        // Linked objects keep constants of their own; alternatives of the same code agree.
        if (known->size_bytes != all[i].size_bytes && state == ZEPI_MODULE_INPUT)
            return zepi_fail(
                ZEPI_ERROR_INVALID_OBJECT,
                "the images disagree about specialization constant %u: %u and %u bytes", known->id,
                (unsigned)known->size_bytes, (unsigned)all[i].size_bytes);
        known->is_native = known->is_native && all[i].is_native;
        known->is_required = known->is_required || all[i].is_required;
    }
    images->declarations = all;
    images->declaration_count = kept;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_images_create(struct zepi_context *context, zepi_module_state_t state,
                                        uint32_t count, struct zepi_image *const *list,
                                        struct zepi_module_images **out_images)
{
    // On cache lines of its own: threads that build from different inputs share none.
    const size_t size = sizeof(struct zepi_module_images) + count * sizeof(struct zepi_image *);
    struct zepi_module_images *images = zepi_seam_allocate_lines(size);
    if (!images)
        return zepi_fail_no_memory();
    memset(images, 0, size);
    atomic_init(&images->references, 1);
    images->context = zepi_retain(context);
    images->count = count;
    for (uint32_t i = 0; i < count; i++)
        images->images[i] = zepi_retain(list[i]);
    zepi_result_t result = ZEPI_SUCCESS;
    if (count == 1) {
        images->declarations = list[0]->declarations;
        images->declaration_count = list[0]->declaration_count;
    } else if (count > 1) {
        result = unite_declarations(images, state);
    }
    if (result != ZEPI_SUCCESS) {
        zepi_module_images_release(images);
        return result;
    }
    for (uint32_t i = 0; i < images->declaration_count; i++)
        images->has_required = images->has_required || images->declarations[i].is_required;
    *out_images = images;
    return ZEPI_SUCCESS;
}

void zepi_module_images_release(struct zepi_module_images *images)
{
    // Acquire and release: what others read is over before the memory goes.
    if (!images || atomic_fetch_sub_explicit(&images->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < images->count; i++)
        zepi_release(images->images[i]);
    zepi_release(images->context);
    zepi_free(images->own_declarations);
    zepi_free(images);
}
