// SPDX-License-Identifier: MIT
#include "gpu_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

bool (*gpu_kernel)(struct shim_address_space *space, const struct shim_walker *walker);
void (*gpu_kernel_prepare)(const struct shim_walker *walker);

bool shim_kernel_prepare(struct shim_address_space *space, const struct shim_walker *walker)
{
    (void)space;
    if (gpu_kernel_prepare)
        gpu_kernel_prepare(walker);
    return true;
}

bool shim_kernel_run(struct shim_address_space *space, const struct shim_walker *walker)
{
    return gpu_kernel == NULL || gpu_kernel(space, walker);
}

struct gpu gpu_create(void)
{
    struct gpu gpu = {shim_address_space_create(), calloc(1, GPU_BYTES)};
    cr_assert(gpu.space != NULL && gpu.memory != NULL);
    cr_assert(
        shim_address_space_bind(gpu.space, GPU_BASE, GPU_BYTES, (uint8_t *)gpu.memory, false));
    return gpu;
}

void gpu_destroy(struct gpu *gpu)
{
    shim_address_space_release(gpu->space);
    free(gpu->memory);
}

uint64_t gpu_address(uint32_t byte_offset)
{
    return GPU_BASE + byte_offset;
}

uint32_t *gpu_word(struct gpu *gpu, uint32_t byte_offset)
{
    return gpu->memory + byte_offset / 4;
}

struct batch batch_at(struct gpu *gpu, uint32_t byte_offset)
{
    return (struct batch){.words = gpu_word(gpu, byte_offset), .address = gpu_address(byte_offset)};
}

void batch_add(struct batch *batch, size_t count, const uint32_t *words)
{
    memcpy(batch->words + batch->count, words, count * sizeof(*words));
    batch->count += count;
}

void batch_store(struct batch *batch, uint64_t address, uint32_t value)
{
    const struct shim_mi_store_data_imm store = {.length = 2,
                                                 .opcode = SHIM_MI_STORE_DATA_IMM,
                                                 .address = {LOW(address), HIGH(address)},
                                                 .value = {value}};
    batch_add(batch, 4, (const uint32_t *)(const void *)&store);
}

void batch_wait(struct batch *batch, uint64_t address, uint32_t value)
{
    const struct shim_mi_semaphore_wait wait = {.length = 3,
                                                .comparison = SHIM_GREATER_OR_EQUAL,
                                                .opcode = SHIM_MI_SEMAPHORE_WAIT,
                                                .data = value,
                                                .address = {LOW(address), HIGH(address)}};
    BATCH_COMMAND(batch, wait);
}

void batch_end(struct batch *batch)
{
    const struct shim_mi_head end = {.opcode = SHIM_MI_BATCH_BUFFER_END};
    BATCH_COMMAND(batch, end);
}

void batch_walker_of(struct batch *batch, enum shim_family family, struct shim_walker_head head,
                     const struct shim_walker_tail *tail)
{
    const uint32_t words =
        family == SHIM_FAMILY_XE2 ? SHIM_WALKER_WORDS_XE2 : SHIM_WALKER_WORDS_XE_HP;
    head.opcode = SHIM_COMPUTE_WALKER;
    head.length = (uint8_t)(words - 2);
    uint32_t *command = batch->words + batch->count;
    memset(command, 0, words * sizeof(*command));
    memcpy(command, &head, sizeof(head));
    memcpy(command + words - sizeof(*tail) / sizeof(*command), tail, sizeof(*tail));
    batch->count += words;
}

void batch_walker(struct batch *batch, uint64_t result, uint64_t value)
{
    const struct shim_walker_head head = {.groups = {3, 2, 1}};
    const struct shim_walker_tail tail = {.result = {.operation = SHIM_RESULT_VALUE,
                                                     .address = {LOW(result), HIGH(result)},
                                                     .value = {LOW(value), HIGH(value)}}};
    batch_walker_of(batch, SHIM_FAMILY_XE2, head, &tail);
}

void batch_barrier(struct batch *batch)
{
    const struct shim_pipe_control control = {
        .length = 4, .opcode = SHIM_PIPE_CONTROL, .stalls = 1};
    BATCH_COMMAND(batch, control);
}
