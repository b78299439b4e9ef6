// SPDX-License-Identifier: MIT
// The types that Unified Runtime's front end has of its own. Its other handles are objects of the
// core.
#include "../row/row_ur.h"
#include "scale.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)64 << 10)

static bool ok(ur_result_t result)
{
    return result == UR_RESULT_SUCCESS;
}

static const ur_dditable_t *table_of(const struct scale *scale)
{
    return &scale->ur->table;
}

static bool launch(const struct scale *scale, ur_kernel_handle_t kernel, ur_mem_handle_t buffer)
{
    return ur_row_launch_three(scale->ur, scale->ur->queues[IN_ORDER], kernel, buffer, NULL);
}

// ---- Programs ----

static bool make_program(struct scale *scale, unsigned i)
{
    const zepi_device_image_desc_t image = kernel_image("bench_small");
    ur_program_handle_t *program = (ur_program_handle_t *)&scale->objects[i];
    return ok(table_of(scale)->Program.pfnCreateWithIL(scale->ur->context, image.bytes,
                                                       image.size_bytes, NULL, program)) &&
           ok(table_of(scale)->Program.pfnBuild(scale->ur->context, *program, ""));
}

static bool drop_program(struct scale *scale, unsigned i)
{
    return ok(table_of(scale)->Program.pfnRelease(scale->objects[i]));
}

static bool create_kernel(struct scale *scale, unsigned i)
{
    ur_kernel_handle_t kernel;
    return ok(table_of(scale)->Kernel.pfnCreate(scale->objects[i], "three", &kernel)) &&
           launch(scale, kernel, NULL) && ok(table_of(scale)->Kernel.pfnRelease(kernel));
}

// ---- Buffers ----

static bool make_buffer(struct scale *scale, unsigned i)
{
    return ok(table_of(scale)->Mem.pfnBufferCreate(scale->ur->context, UR_MEM_FLAG_READ_WRITE, 1000,
                                                   NULL, (ur_mem_handle_t *)&scale->objects[i]));
}

static bool drop_memory(struct scale *scale, unsigned i)
{
    return ok(table_of(scale)->Mem.pfnRelease(scale->objects[i]));
}

static bool launch_with_buffer(struct scale *scale, unsigned i)
{
    return launch(scale, scale->ur->kernels[BENCH_THREE], scale->objects[i]);
}

static bool map_part(struct scale *scale, ur_mem_handle_t buffer, size_t offset, void **out)
{
    return ok(table_of(scale)->Enqueue.pfnMemBufferMap(scale->ur->queues[IN_ORDER], buffer, true,
                                                       UR_MAP_FLAG_READ, offset, 4, 0, NULL, NULL,
                                                       out));
}

static bool unmap_part(struct scale *scale, ur_mem_handle_t buffer, void *address)
{
    return ok(table_of(scale)->Enqueue.pfnMemUnmap(scale->ur->queues[IN_ORDER], buffer, address, 0,
                                                   NULL, NULL));
}

static bool map_and_unmap(struct scale *scale, unsigned i)
{
    void *address;
    return map_part(scale, scale->objects[i], 0, &address) &&
           unmap_part(scale, scale->objects[i], address);
}

// ---- Parts of one buffer that are mapped ----

static bool open_buffer(struct scale *scale)
{
    return ok(table_of(scale)->Mem.pfnBufferCreate(scale->ur->context, UR_MEM_FLAG_READ_WRITE,
                                                   4 * (size_t)(SCALE_MANY + 1), NULL,
                                                   (ur_mem_handle_t *)&scale->common[0]));
}

static void close_buffer(struct scale *scale)
{
    if (scale->common[0])
        table_of(scale)->Mem.pfnRelease(scale->common[0]);
}

static bool make_map(struct scale *scale, unsigned i)
{
    return map_part(scale, scale->common[0], 4 * (size_t)i, &scale->objects[i]);
}

static bool drop_map(struct scale *scale, unsigned i)
{
    return unmap_part(scale, scale->common[0], scale->objects[i]);
}

// ---- External memory ----

static bool open_file(struct scale *scale)
{
    scale->file = memfd_create("scale", MFD_CLOEXEC);
    return scale->file >= 0 && ftruncate(scale->file, (off_t)PAGE_BYTES) == 0;
}

static void close_file(struct scale *scale)
{
    close(scale->file);
}

static bool make_external(struct scale *scale, unsigned i)
{
    ur_exp_file_descriptor_t file = {.stype = UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR,
                                     .fd = dup(scale->file)};
    ur_exp_external_mem_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC,
                                       .pNext = &file};
    ur_exp_external_mem_handle_t *memory = (ur_exp_external_mem_handle_t *)&scale->objects[i];
    return ok(table_of(scale)->BindlessImagesExp.pfnImportExternalMemoryExp(
               scale->ur->context, scale->ur->device, PAGE_BYTES,
               UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, &desc, memory)) &&
           ok(table_of(scale)->BindlessImagesExp.pfnMapExternalLinearMemoryExp(
               scale->ur->context, scale->ur->device, 0, PAGE_BYTES, *memory, &scale->beside[i]));
}

static bool drop_external(struct scale *scale, unsigned i)
{
    return ok(table_of(scale)->BindlessImagesExp.pfnFreeMappedLinearMemoryExp(
               scale->ur->context, scale->ur->device, scale->beside[i])) &&
           ok(table_of(scale)->BindlessImagesExp.pfnReleaseExternalMemoryExp(
               scale->ur->context, scale->ur->device, scale->objects[i]));
}

static bool copy_to_external(struct scale *scale, unsigned i)
{
    return ok(table_of(scale)->Enqueue.pfnUSMMemcpy(scale->ur->queues[IN_ORDER], false,
                                                    scale->beside[i], scale->ur->memory[0], 64, 0,
                                                    NULL, NULL));
}

const struct scale_case scale_ur[] = {
    {.name = "ur-program",
     .types = "ur_program module",
     .make = make_program,
     .drop = drop_program,
     .operations = {{"create a kernel, launch, release", create_kernel}}},
    {.name = "ur-buffer",
     .types = "ur_mem buffer",
     .make = make_buffer,
     .drop = drop_memory,
     .operations = {{"launch with one", launch_with_buffer}, {"map and unmap one", map_and_unmap}}},
    {.name = "ur-map",
     .types = "ur_map",
     .open = open_buffer,
     .close = close_buffer,
     .make = make_map,
     .drop = drop_map},
    {.name = "external-memory",
     .types = "external_memory",
     .open = open_file,
     .close = close_file,
     .make = make_external,
     .drop = drop_external,
     .operations = {{"copy to one", copy_to_external}}},
    {0}};
