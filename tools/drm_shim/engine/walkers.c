// SPDX-License-Identifier: MIT
#include "walkers.h"

#include "faults.h"
#include "gpu_clock.h"
#include "kernels.h"
#include "log.h"
#include "memory/gpu_memory.h"
#include "options.h"
#include "trace.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#define INLINE_BYTES 32

static _Atomic uint64_t walker_count;
static _Atomic uint64_t kernel_us = UINT64_MAX; // not set: the option's

void shim_walkers_set_time(uint64_t microseconds)
{
    atomic_store(&kernel_us, microseconds);
}

static uint64_t kernel_ticks(void)
{
    const uint64_t set = atomic_load(&kernel_us);
    return shim_ticks_of_us(set == UINT64_MAX ? shim_options()->kernel_us : set);
}

static uint64_t quad(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

static uint64_t first_instruction(const struct shim_bases *bases, const uint32_t *words)
{
    return bases->instruction + (words[19] & ~63u);
}

// False if the payload in memory is not bound.
static bool describe(const struct shim_walkers *walkers, const struct shim_started_walker *started,
                     struct shim_walker *out_walker)
{
    static const uint32_t slm_kib[16] = {0, 1, 2, 4, 8, 16, 32, 64, 24, 48, 96, 128, 192, 256, 384};
    const uint32_t *words = started->words;
    const uint32_t length = words[2] & 0x1ffff, sizes = words[6];
    const uint64_t indirect = started->bases.general + (words[3] & ~63u);
    *out_walker = (struct shim_walker){
        .start = first_instruction(&started->bases, words),
        .local = {(sizes & 0x3ff) + 1, (sizes >> 10 & 0x3ff) + 1, (sizes >> 20 & 0x3ff) + 1},
        .has_local = words[4] >> 29 & 1,
        .threads = words[24] & 0x3ff,
        .simd = 8u << (words[4] >> 30),
        .mask = words[5],
        .slm_bytes = slm_kib[words[24] >> 16 & 15] * 1024,
        .inline_data = (const uint8_t *)(words + 32),
        .inline_size = words[4] >> 25 & 1 ? INLINE_BYTES : 0,
        .indirect_size = length,
        .surface_states = started->bases.surface_states,
        .sampler_states = started->bases.sampler_states,
    };
    memcpy(out_walker->groups, started->groups, sizeof(started->groups));
    out_walker->indirect =
        shim_address_space_find(walkers->space, indirect, &out_walker->indirect_left);
    // The length leaves out implicit arguments, which may be there alone.
    return length == 0 || shim_gpu_memory_at(walkers->space, indirect, length) != NULL;
}

static void trace_start(const struct shim_walkers *walkers,
                        const struct shim_started_walker *started, const struct shim_walker *walker)
{
    const struct shim_trace_bytes payload[2] = {
        {"inline", walker->inline_data, walker->inline_size},
        {"indirect", walker->indirect, walker->indirect_size},
    };
    shim_trace_with(payload, 2,
                    "begin queue %u kernel %" PRIu64
                    " groups %u %u %u local %u %u %u simd %u slm %u at 0x%" PRIx64,
                    walkers->queue, started->number, walker->groups[0], walker->groups[1],
                    walker->groups[2], walker->local[0], walker->local[1], walker->local[2],
                    walker->simd, walker->slm_bytes, walker->start);
}

void shim_walkers_prepare(const struct shim_walkers *walkers, const struct shim_bases *bases,
                          const uint32_t *words, uint32_t length)
{
    if (length < SHIM_WALKER_WORDS || !shim_options()->executes)
        return;
    const struct shim_walker walker = {.start = first_instruction(bases, words)};
    shim_kernel_prepare(walkers->space, &walker);
}

bool shim_walkers_start(struct shim_walkers *walkers, const struct shim_registers *registers,
                        const struct shim_bases *bases, const uint32_t *words, uint32_t length)
{
    if (length < SHIM_WALKER_WORDS) {
        shim_error("COMPUTE_WALKER has %u words; expected %u", length, SHIM_WALKER_WORDS);
        return false;
    }
    struct shim_started_walker *started = &walkers->items[walkers->count];
    *started = (struct shim_started_walker){
        .number = atomic_fetch_add(&walker_count, 1) + 1,
        .bases = *bases,
    };
    memcpy(started->words, words, sizeof(started->words));
    const bool is_indirect = words[0] >> 10 & 1;
    for (uint32_t i = 0; i < 3; i++)
        started->groups[i] = is_indirect
                                 ? shim_registers_read(registers, SHIM_REGISTER_GROUPS_X + 4 * i)
                                 : words[7 + i];
    struct shim_walker walker;
    if (!describe(walkers, started, &walker))
        return false;
    if (shim_options()->executes && !shim_kernel_prepare(walkers->space, &walker))
        return false;
    started->start = shim_gpu_time();
    trace_start(walkers, started, &walker);
    started->hangs = shim_fault_take(SHIM_FAULT_KERNEL) != 0;
    started->due = started->hangs ? UINT64_MAX : started->start + kernel_ticks();
    walkers->count++;
    return true;
}

// The bytes that a walker writes at its end: nothing, a value, or timestamps (of the context and of
// all, of the start and of the end).
static bool write_result(struct shim_walkers *walkers, const struct shim_started_walker *started)
{
    const uint32_t *words = started->words + 27;
    const uint64_t address = quad(words + 1);
    const uint32_t operation = words[0] & 3;
    if (operation == 0)
        return true;
    if (operation == 1)
        return shim_gpu_memory_write(walkers->space, address, quad(words + 3), 8);
    if (operation != 3) {
        shim_error("COMPUTE_WALKER: result %u is not known", operation);
        return false;
    }
    const uint64_t end = shim_gpu_time() + 1;
    bool is_written = true;
    for (uint64_t i = 0; i < 4 && is_written; i++)
        is_written =
            shim_gpu_memory_write(walkers->space, address + 8 * i, i < 2 ? started->start : end, 8);
    return is_written;
}

static bool end(struct shim_walkers *walkers, const struct shim_started_walker *started)
{
    struct shim_walker walker;
    // The memory may have been released meanwhile: that is the commands' fault.
    if (!describe(walkers, started, &walker))
        return false;
    if (shim_options()->executes && !shim_kernel_run(walkers->space, &walker))
        return false;
    // Before the program can see that it is over.
    shim_trace("end queue %u kernel %" PRIu64, walkers->queue, started->number);
    return write_result(walkers, started);
}

bool shim_walkers_end_due(struct shim_walkers *walkers)
{
    bool is_fine = true;
    size_t kept = 0;
    const uint64_t now = walkers->count == 0 ? 0 : shim_gpu_time();
    for (size_t i = 0; i < walkers->count; i++) {
        struct shim_started_walker *started = &walkers->items[i];
        if (started->due <= now && is_fine)
            is_fine = end(walkers, started);
        else if (kept++ != i)
            walkers->items[kept - 1] = *started;
    }
    walkers->count = kept;
    return is_fine;
}

uint64_t shim_walkers_next_due(const struct shim_walkers *walkers)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < walkers->count; i++)
        if (walkers->items[i].due < next)
            next = walkers->items[i].due;
    return next;
}

bool shim_walkers_hang(const struct shim_walkers *walkers)
{
    for (size_t i = 0; i < walkers->count; i++)
        if (walkers->items[i].hangs)
            return true;
    return false;
}
