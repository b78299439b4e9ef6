// SPDX-License-Identifier: MIT
#include "walkers.h"

#include "control.h"
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

#define BINDING_TABLE_MASK 0x1fffe0u
#define SAMPLER_TABLE_MASK 0xffffffe0u

static _Atomic uint64_t walker_count;
static _Atomic uint64_t kernel_us = UINT64_MAX; // not set: the option's

void drm_shim_set_kernel_us(uint64_t microseconds)
{
    atomic_store(&kernel_us, microseconds);
}

static uint64_t kernel_ticks(void)
{
    const uint64_t set = atomic_load(&kernel_us);
    return shim_ticks_of_us(set == UINT64_MAX ? shim_options()->kernel_us : set);
}

// GPGPU_WALKER as the later walker, which has no inline data and no result then.
static bool read_gen12lp(const struct shim_walkers *walkers, const struct shim_bases *bases,
                         const uint32_t *words, uint32_t length, struct shim_started_walker *out)
{
    SHIM_COMMAND(shim_gpgpu_walker, walker);
    const uint64_t at =
        bases->descriptors + walker.descriptor * sizeof(struct shim_gen12lp_descriptor);
    const struct shim_gen12lp_descriptor *descriptor =
        length == SHIM_WALKER_WORDS_GEN12LP
            ? shim_gpu_memory_at(walkers->space, at, sizeof(*descriptor))
            : NULL;
    if (!descriptor)
        return false;
    out->head = (struct shim_walker_head){
        .is_indirect = walker.is_indirect,
        .indirect_length = walker.indirect_length,
        .indirect_start = walker.indirect_start,
        .simd = walker.simd,
        .execution_mask = walker.execution_mask,
        .groups = {walker.groups_x, walker.groups_y, walker.groups_z},
    };
    out->tail.descriptor = (struct shim_interface_descriptor){
        .kernel_start = descriptor->kernel_start,
        .sampler_table = descriptor->sampler_table,
        .binding_table = descriptor->binding_table,
        .threads = descriptor->threads,
        .slm_size = descriptor->slm_size & 15,
    };
    out->bases.general = bases->indirect;
    return true;
}

// Words 0 to 17 and the last ones; false if the command has another length.
static bool read_command(const struct shim_walkers *walkers, const struct shim_bases *bases,
                         const uint32_t *words, uint32_t length, struct shim_started_walker *out)
{
    const enum shim_family family = walkers->product->family;
    out->bases = *bases;
    if (family == SHIM_FAMILY_GEN12LP)
        return read_gen12lp(walkers, bases, words, length, out);
    const uint32_t expected =
        family == SHIM_FAMILY_XE2 ? SHIM_WALKER_WORDS_XE2 : SHIM_WALKER_WORDS_XE_HP;
    if (length != expected)
        return false;
    memcpy(&out->head, words, sizeof(out->head));
    memcpy(&out->tail, words + length - sizeof(out->tail) / 4, sizeof(out->tail));
    return true;
}

static uint64_t first_instruction(const struct shim_bases *bases,
                                  const struct shim_interface_descriptor *descriptor)
{
    return bases->instruction + (descriptor->kernel_start & ~63u);
}

// The groups that this tile executes: all, or those of its partition.
static void describe_part(const struct shim_started_walker *started, struct shim_walker *walker)
{
    const struct shim_walker_head *head = &started->head;
    const uint64_t first = (uint64_t)started->partition * head->partition_groups;
    walker->part.count = UINT32_MAX;
    if (!head->is_partitioned || head->partition_dimension == 0)
        return;
    walker->part.dimension = head->partition_dimension - 1u;
    walker->part.first = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
    walker->part.count = head->partition_groups;
}

// False if the payload in memory is not bound.
static bool describe(const struct shim_walkers *walkers, const struct shim_started_walker *started,
                     struct shim_walker *out_walker)
{
    static const uint32_t slm_kib[16] = {0, 1, 2, 4, 8, 16, 32, 64, 24, 48, 96, 128, 192, 256, 384};
    const struct shim_walker_head *head = &started->head;
    const struct shim_interface_descriptor *descriptor = &started->tail.descriptor;
    const uint32_t length = head->indirect_length;
    const bool is_gen12lp = walkers->product->family == SHIM_FAMILY_GEN12LP;
    const uint64_t indirect = started->bases.general + (head->indirect_start & ~63u);
    *out_walker = (struct shim_walker){
        .start = first_instruction(&started->bases, descriptor),
        .local = {head->local_x + 1, head->local_y + 1, head->local_z + 1},
        .has_local = head->makes_local_ids,
        .threads = descriptor->threads,
        .simd = 8u << head->simd,
        .register_bytes = is_gen12lp ? 32 : 64,
        .begins_at_payload = is_gen12lp,
        .mask = head->execution_mask,
        .slm_bytes = slm_kib[descriptor->slm_size] * 1024,
        .inline_data = (const uint8_t *)started->tail.inline_data,
        .inline_size = head->has_inline_data ? sizeof(started->tail.inline_data) : 0,
        .indirect_size = length,
        .binding_table = started->bases.surface + (descriptor->binding_table & BINDING_TABLE_MASK),
        .sampler_table = started->bases.dynamic + (descriptor->sampler_table & SAMPLER_TABLE_MASK),
        .surface = started->bases.surface,
        .surface_states = started->bases.surface_states,
        .sampler_states = started->bases.sampler_states,
    };
    memcpy(out_walker->groups, started->groups, sizeof(started->groups));
    describe_part(started, out_walker);
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
    struct shim_started_walker read = {0};
    if (!shim_options()->executes || !read_command(walkers, bases, words, length, &read))
        return;
    const struct shim_walker walker = {.start = first_instruction(bases, &read.tail.descriptor)};
    shim_kernel_prepare(walkers->space, &walker);
}

bool shim_walkers_start(struct shim_walkers *walkers, const struct shim_registers *registers,
                        const struct shim_bases *bases, const uint32_t *words, uint32_t length)
{
    struct shim_started_walker *started = &walkers->items[walkers->count];
    *started = (struct shim_started_walker){
        .number = atomic_fetch_add(&walker_count, 1) + 1,
    };
    if (!read_command(walkers, bases, words, length, started)) {
        shim_error("a walker of %u words is none that its family has", length);
        return false;
    }
    for (uint32_t i = 0; i < 3; i++)
        started->groups[i] = started->head.is_indirect
                                 ? shim_registers_read(registers, SHIM_REGISTER_GROUPS_X + 4 * i)
                                 : started->head.groups[i];
    if (started->head.is_partitioned)
        started->partition = shim_registers_read(registers, SHIM_REGISTER_PARTITION);
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

static uint32_t bytes_of_time(const struct shim_walkers *walkers)
{
    return walkers->product->family == SHIM_FAMILY_XE2 ? 8 : 4;
}

// The bytes that a walker writes at its end: nothing, a value, or timestamps (of the context and of
// all, of the start and of the end).
static bool write_result(struct shim_walkers *walkers, const struct shim_started_walker *started)
{
    const struct shim_walker_result *result = &started->tail.result;
    // Partitions write one behind the other: values of 8 bytes, or four times.
    const uint32_t distance =
        result->operation == SHIM_RESULT_TIME ? 4 * bytes_of_time(walkers) : 8;
    const uint64_t address = shim_quad(result->address) + started->partition * (uint64_t)distance;
    if (result->operation == SHIM_RESULT_NONE)
        return true;
    if (result->operation == SHIM_RESULT_VALUE)
        return shim_gpu_memory_write(walkers->space, address, shim_quad(result->value), 8);
    if (result->operation != SHIM_RESULT_TIME) {
        shim_error("COMPUTE_WALKER: result %u is not known", result->operation);
        return false;
    }
    const uint32_t size = bytes_of_time(walkers);
    const uint64_t end = shim_gpu_time() + 1;
    bool is_written = true;
    for (uint64_t i = 0; i < 4 && is_written; i++)
        is_written = shim_gpu_memory_write(walkers->space, address + size * i,
                                           i < 2 ? started->start : end, size);
    return is_written;
}

static bool execute(const struct shim_walkers *walkers, const struct shim_started_walker *started)
{
    struct shim_walker walker;
    // The memory may have been released meanwhile: that is the commands' fault.
    if (!describe(walkers, started, &walker))
        return false;
    return !shim_options()->executes || walker.part.first >= walker.groups[walker.part.dimension] ||
           shim_kernel_run(walkers->space, &walker);
}

// A kernel whose time is over.
static bool end(struct shim_walkers *walkers, const struct shim_started_walker *started)
{
    if (!execute(walkers, started))
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
        const struct shim_started_walker *started = &walkers->items[i];
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
