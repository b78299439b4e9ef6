// SPDX-License-Identifier: MIT
#ifndef GPU_FIXTURE_H
#define GPU_FIXTURE_H

#include "engine/commands.h"
#include "engine/kernels.h"
#include "memory/address_space.h"
#include "products.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_BASE UINT64_C(0x100000000)
#define GPU_BYTES 65536

// A GPU address space with 64 KiB of memory at GPU_BASE.
struct gpu {
    struct shim_address_space *space;
    uint32_t *memory;
};

struct gpu gpu_create(void);
void gpu_destroy(struct gpu *gpu);

// The GPU address of a word of the memory, and the word.
uint64_t gpu_address(uint32_t byte_offset);
uint32_t *gpu_word(struct gpu *gpu, uint32_t byte_offset);

// A batch buffer that is being written at an offset of the memory.
struct batch {
    uint32_t *words;
    size_t count;
    uint64_t address;
};
struct batch batch_at(struct gpu *gpu, uint32_t byte_offset);
void batch_add(struct batch *batch, size_t count, const uint32_t *words);
#define BATCH(batch, ...)                                                                          \
    batch_add(batch, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
              (const uint32_t[]){__VA_ARGS__})

#define BATCH_COMMAND(batch, command)                                                              \
    batch_add(batch, sizeof(command) / sizeof(uint32_t), (const uint32_t *)(const void *)&(command))

#define LOW(address) (uint32_t)(address)
#define HIGH(address) (uint32_t)((address) >> 32)

// MI_STORE_DATA_IMM of four bytes, MI_SEMAPHORE_WAIT for a value that is at least this one,
// MI_BATCH_BUFFER_END.
void batch_store(struct batch *batch, uint64_t address, uint32_t value);
void batch_wait(struct batch *batch, uint64_t address, uint32_t value);
void batch_end(struct batch *batch);
// COMPUTE_WALKER as a family encodes it; its length and type are filled in.
void batch_walker_of(struct batch *batch, enum shim_family family, struct shim_walker_head head,
                     const struct shim_walker_tail *tail);
// One of Xe2 of 3 x 2 x 1 groups; when it is over, `value` is written to `result`.
void batch_walker(struct batch *batch, uint64_t result, uint64_t value);
// PIPE_CONTROL that waits for all kernels.
void batch_barrier(struct batch *batch);

// The work of a test's kernels; NULL: none.
extern bool (*gpu_kernel)(struct shim_address_space *space, const struct shim_walker *walker);
// Called where a kernel is built, each time.
extern void (*gpu_kernel_prepare)(const struct shim_walker *walker);

#endif
