// SPDX-License-Identifier: MIT
#include "source.h"

#include "mended.h"
#include "opencl.h"
#include "options.h"
#include "sub_groups.h"

#include <stdlib.h>
#include <string.h>

// Kernels for GPUs exchange values in sub-groups as large as the device has them.
static uint32_t largest_sub_group_size(const void *context, const char *kernel)
{
    const struct cpu_opencl *cl = cpu_opencl();
    return cl->sub_group_size_count > 0 ? cl->sub_group_sizes[cl->sub_group_size_count - 1] : 0;
}

static void replace(struct cpu_source *source, uint8_t *by)
{
    if (by == NULL)
        return;
    free(source->spirv);
    source->spirv = by;
}

static bool fill(struct cpu_source *source, const uint8_t *spirv, const struct zepi_spirv *table)
{
    uint8_t *sized = NULL, *mended = NULL;
    source->spirv = malloc(source->spirv_bytes);
    if (source->spirv == NULL)
        return false;
    memcpy(source->spirv, spirv, source->spirv_bytes);
    if (cpu_options()->reports_gpu &&
        !cpu_sub_groups_require(source->spirv, source->spirv_bytes, table, largest_sub_group_size,
                                NULL, &sized, &source->spirv_bytes))
        return false;
    replace(source, sized);
    if (!cpu_mended_create(source->spirv, source->spirv_bytes, &mended, &source->spirv_bytes))
        return false;
    replace(source, mended);
    return true;
}

struct cpu_source *cpu_source_create(const uint8_t *spirv, size_t spirv_bytes,
                                     const struct zepi_spirv *table, char *options)
{
    struct cpu_source *source = calloc(1, sizeof(*source));
    if (source == NULL) {
        free(options);
        return NULL;
    }
    *source = (struct cpu_source){.spirv_bytes = spirv_bytes, .options = options};
    if (options != NULL && fill(source, spirv, table))
        return source;
    cpu_source_destroy(source);
    return NULL;
}

void cpu_source_destroy(struct cpu_source *source)
{
    if (source == NULL)
        return;
    free(source->spirv);
    free(source->options);
    free(source);
}
