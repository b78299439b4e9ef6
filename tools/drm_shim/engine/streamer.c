// SPDX-License-Identifier: MIT
#include "streamer.h"

#include "blitter.h"
#include "gpu_clock.h"
#include "log.h"
#include "memory/gpu_memory.h"

#include <inttypes.h>
#include <stddef.h>

#define COMMANDS_A_RUN 4096

// Bits 31 to 29 of a command.
enum command_type {
    TYPE_MI = 0,
    TYPE_BLITTER = 2,
    TYPE_RENDER = 3,
    TYPE_BARRIER = 5,
};

static enum shim_progress on_success(bool is_fine)
{
    return is_fine ? SHIM_GOES_ON : SHIM_FAILED;
}

void shim_streamer_init(struct shim_streamer *streamer, struct shim_address_space *space,
                        enum shim_family family, uint32_t queue)
{
    *streamer = (struct shim_streamer){.space = space, .queue = queue};
    streamer->walkers.space = space;
    streamer->walkers.family = family;
    streamer->walkers.queue = queue;
}

void shim_streamer_begin(struct shim_streamer *streamer, uint64_t batch)
{
    streamer->pc = batch & SHIM_ADDRESS_MASK;
    streamer->depth = 0;
    streamer->predicate = 0;
    streamer->code = NULL;
    streamer->awaited = NULL;
}

static void jump(struct shim_streamer *streamer, uint64_t address)
{
    streamer->pc = address & SHIM_ADDRESS_MASK & ~UINT64_C(3);
    streamer->code = NULL;
}

static enum shim_progress batch_start(struct shim_streamer *streamer, const uint32_t *words)
{
    if (words[0] >> 22 & 1) { // a second level: it returns
        if (streamer->depth == SHIM_STREAMER_DEPTH) {
            shim_error("MI_BATCH_BUFFER_START: more than %u levels", SHIM_STREAMER_DEPTH);
            return SHIM_FAILED;
        }
        streamer->returns[streamer->depth++] = streamer->pc + 12;
    }
    const bool is_indirect = words[0] >> 18 & 1;
    jump(streamer,
         is_indirect ? shim_registers_general(&streamer->registers, 0) : shim_quad(words + 1));
    return SHIM_GOES_ON;
}

static enum shim_progress batch_end(struct shim_streamer *streamer)
{
    if (streamer->depth > 0) {
        jump(streamer, streamer->returns[--streamer->depth]);
        return SHIM_GOES_ON;
    }
    // Everything that a batch started ends before its fence is written.
    return streamer->walkers.count == 0 ? SHIM_ENDED : SHIM_WAITS;
}

static bool compare(uint32_t operation, uint64_t memory, uint64_t data)
{
    switch (operation) {
    case 0:
        return memory > data;
    case 1:
        return memory >= data;
    case 2:
        return memory < data;
    case 3:
        return memory <= data;
    case 4:
        return memory == data;
    default:
        return memory != data;
    }
}

static enum shim_progress semaphore_wait(struct shim_streamer *streamer, const uint32_t *words)
{
    const bool is_indirect = words[0] >> 17 & 1, is_register = words[0] >> 16 & 1;
    const uint64_t data =
        is_indirect ? (uint32_t)shim_registers_general(&streamer->registers, 0) : words[1];
    const uint64_t address = shim_quad(words + 2) & ~UINT64_C(3);
    uint64_t value = 0;
    if (is_register)
        value = shim_registers_read(&streamer->registers, words[2]);
    else if (!shim_gpu_memory_read(streamer->space, address, 4, &value))
        return SHIM_FAILED;
    streamer->awaited = NULL;
    if (compare(words[0] >> 12 & 7, value, data))
        return SHIM_GOES_ON;
    if (!is_register)
        streamer->awaited = shim_gpu_memory_at(streamer->space, address, 4);
    return SHIM_WAITS;
}

static enum shim_progress conditional_end(struct shim_streamer *streamer, const uint32_t *words)
{
    uint64_t value = 0;
    if (!shim_gpu_memory_read(streamer->space, shim_quad(words + 2) & ~UINT64_C(7), 4, &value))
        return SHIM_FAILED;
    return compare(words[0] >> 12 & 7, value, words[1]) ? SHIM_GOES_ON : batch_end(streamer);
}

static bool atomic(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    const uint32_t operation = words[0] >> 8 & 0xff;
    const bool has_data = words[0] >> 18 & 1 && length >= 7;
    uint64_t operands[2] = {shim_registers_general(&streamer->registers, 0),
                            shim_registers_general(&streamer->registers, 1)};
    for (uint32_t i = 0; i < 2 && has_data; i++)
        operands[i] = words[3 + i] | (uint64_t)words[5 + i] << 32;
    uint64_t old = 0;
    if (!shim_gpu_memory_atomic(streamer->space, shim_quad(words + 1) & ~UINT64_C(3),
                                operation & 0x20 ? 8 : 4, operation & 0x1f, operands, &old))
        return false;
    if (words[0] >> 16 & 1)
        shim_registers_set_general(&streamer->registers, 0, old);
    return true;
}

// A value or the time, written by PIPE_CONTROL and MI_FLUSH_DW.
static bool write_result(struct shim_streamer *streamer, uint32_t operation, uint64_t address,
                         const uint32_t *data)
{
    if (operation == 1)
        return shim_gpu_memory_write(streamer->space, address, shim_quad(data), 8);
    if (operation == 3)
        return shim_gpu_memory_write(streamer->space, address, shim_gpu_time(), 8);
    return true;
}

static bool store_immediate(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    const uint64_t address = shim_quad(words + 1) & ~UINT64_C(3);
    const bool is_quad = words[0] >> 21 & 1 && length >= 5;
    return shim_gpu_memory_write(streamer->space, address,
                                 is_quad ? shim_quad(words + 3) : words[3], is_quad ? 8 : 4);
}

static bool load_immediates(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    for (uint32_t i = 1; i + 1 < length; i += 2)
        shim_registers_write(&streamer->registers, words[i], words[i + 1]);
    return true;
}

static bool load_memory(struct shim_streamer *streamer, const uint32_t *words)
{
    uint64_t value = 0;
    if (!shim_gpu_memory_read(streamer->space, shim_quad(words + 2) & ~UINT64_C(3), 4, &value))
        return false;
    shim_registers_write(&streamer->registers, words[1], (uint32_t)value);
    return true;
}

static bool copy_memory(struct shim_streamer *streamer, const uint32_t *words)
{
    uint64_t value = 0;
    return shim_gpu_memory_read(streamer->space, shim_quad(words + 3) & ~UINT64_C(3), 4, &value) &&
           shim_gpu_memory_write(streamer->space, shim_quad(words + 1) & ~UINT64_C(3), value, 4);
}

static enum shim_progress mi_command(struct shim_streamer *streamer, const uint32_t *words,
                                     uint32_t length)
{
    struct shim_registers *registers = &streamer->registers;
    switch (words[0] >> 23 & 0x3f) {
    case 0x00: // MI_NOOP
    case 0x02: // MI_USER_INTERRUPT
    case 0x05: // MI_ARB_CHECK
    case 0x08: // MI_ARB_ON_OFF
    case 0x09: // MI_MEM_FENCE
    case 0x28: // MI_REPORT_PERF_COUNT
        return SHIM_GOES_ON;
    case 0x01: // MI_SET_PREDICATE
        streamer->predicate = words[0] & 0xf;
        return SHIM_GOES_ON;
    case 0x0a: // MI_BATCH_BUFFER_END
        return batch_end(streamer);
    case 0x1a: // MI_MATH
        return on_success(shim_registers_compute(registers, words + 1, length - 1));
    case 0x1c:
        return semaphore_wait(streamer, words);
    case 0x20: // MI_STORE_DATA_IMM
        return on_success(store_immediate(streamer, words, length));
    case 0x22: // MI_LOAD_REGISTER_IMM
        return on_success(load_immediates(streamer, words, length));
    case 0x24: // MI_STORE_REGISTER_MEM
        return on_success(shim_gpu_memory_write(streamer->space,
                                                shim_quad(words + 2) & ~UINT64_C(3),
                                                shim_registers_read(registers, words[1]), 4));
    case 0x26: // MI_FLUSH_DW
        return on_success(write_result(streamer, words[0] >> 14 & 3,
                                       shim_quad(words + 1) & ~UINT64_C(7), words + 3));
    case 0x29: // MI_LOAD_REGISTER_MEM
        return on_success(load_memory(streamer, words));
    case 0x2a: // MI_LOAD_REGISTER_REG
        shim_registers_write(registers, words[2], shim_registers_read(registers, words[1]));
        return SHIM_GOES_ON;
    case 0x2e: // MI_COPY_MEM_MEM
        return on_success(copy_memory(streamer, words));
    case 0x2f: // MI_ATOMIC
        return on_success(atomic(streamer, words, length));
    case 0x31:
        return batch_start(streamer, words);
    case 0x36: // MI_CONDITIONAL_BATCH_BUFFER_END
        return conditional_end(streamer, words);
    default:
        shim_error("MI command 0x%x (0x%08x at 0x%" PRIx64 ") is not known", words[0] >> 23 & 0x3f,
                   words[0], streamer->pc);
        return SHIM_FAILED;
    }
}

static enum shim_progress pipe_control(struct shim_streamer *streamer, const uint32_t *words)
{
    const uint32_t operation = words[1] >> 14 & 3;
    const bool stalls = words[1] >> 20 & 1;
    if ((stalls || operation != 0) && streamer->walkers.count > 0)
        return SHIM_WAITS;
    return on_success(
        write_result(streamer, operation, shim_quad(words + 2) & ~UINT64_C(7), words + 4));
}

static bool is_walker(uint32_t word)
{
    return (word & 0xfffc0000) == 0x72080000;
}

static enum shim_progress compute_walker(struct shim_streamer *streamer, const uint32_t *words,
                                         uint32_t length)
{
    struct shim_walkers *walkers = &streamer->walkers;
    if (walkers->count == SHIM_WALKERS_MAXIMUM)
        return SHIM_WAITS;
    return on_success(
        shim_walkers_start(walkers, &streamer->registers, &streamer->bases, words, length) &&
        shim_walkers_end_due(walkers));
}

// An address comes with a bit that says whether it counts.
static void set_base(uint64_t *base, const uint32_t *words)
{
    if (words[0] & 1)
        *base = shim_quad(words) & ~UINT64_C(0xfff);
}

static void state_base_address(struct shim_bases *bases, const uint32_t *words, uint32_t length)
{
    set_base(&bases->general, words + 1);
    set_base(&bases->instruction, words + 10);
    if (length > 20) {
        set_base(&bases->surface_states, words + 16);
        set_base(&bases->sampler_states, words + 19);
    }
}

static enum shim_progress render_command(struct shim_streamer *streamer, const uint32_t *words,
                                         uint32_t length)
{
    if (is_walker(words[0]))
        return compute_walker(streamer, words, length);
    switch (words[0] >> 16) {
    case 0x7a00: // PIPE_CONTROL
        return pipe_control(streamer, words);
    case 0x6101:
        state_base_address(&streamer->bases, words, length);
        return SHIM_GOES_ON;
    case 0x6102:             // STATE_SIP
    case 0x6103:             // STATE_PREFETCH
    case 0x6105:             // STATE_COMPUTE_MODE
    case 0x6106:             // 3DSTATE_BTD
    case 0x6109:             // STATE_SYSTEM_MEM_FENCE_ADDRESS
    case 0x610b:             // STATE_CONTEXT_DATA_BASE_ADDRESS
    case 0x6904:             // PIPELINE_SELECT
    case 0x7200:             // CFE_STATE
    case 0x7919:             // 3DSTATE_BINDING_TABLE_POOL_ALLOC
        return SHIM_GOES_ON; // nothing that memory shows
    default:
        shim_error("render command 0x%04x (0x%08x at 0x%" PRIx64 ") is not known", words[0] >> 16,
                   words[0], streamer->pc);
        return SHIM_FAILED;
    }
}

// In words; 0 if the kind of command is not known.
static uint32_t length_of(uint32_t word)
{
    switch (word >> 29) {
    case TYPE_MI: {
        const uint32_t operation = word >> 23 & 0x3f;
        if (operation < 0x10)
            return 1;
        if (operation == 0x20)
            return (word & 0x3ff) + 2;
        if (operation == 0x26)
            return (word & 0x3f) + 2;
        return (word & 0xff) + 2;
    }
    case TYPE_RENDER:
        return (word >> 27 & 3) == 1 ? 1 : (word & 0xff) + 2;
    case TYPE_BLITTER:
    case TYPE_BARRIER:
        return (word & 0xff) + 2;
    default:
        return 0;
    }
}

// The fewest words that a command's code reads.
static uint32_t length_needed(uint32_t word)
{
    if (word >> 29 == TYPE_RENDER && word >> 16 == 0x7a00)
        return 6;
    if (word >> 29 == TYPE_RENDER && word >> 16 == 0x6101)
        return 12;
    if (word >> 29 != TYPE_MI)
        return 1;
    switch (word >> 23 & 0x3f) {
    case 0x1c:
    case 0x20:
    case 0x24:
    case 0x29:
    case 0x36:
        return 4;
    case 0x26:
    case 0x2e:
        return 5;
    case 0x2a:
    case 0x2f:
    case 0x31:
        return 3;
    default:
        return 1;
    }
}

static bool is_predicated_away(const struct shim_streamer *streamer, uint32_t word)
{
    if (word >> 29 == TYPE_MI && (word >> 23 & 0x3f) == 0x01)
        return false; // MI_SET_PREDICATE itself
    const uint32_t first = SHIM_REGISTER_PREDICATE_1, second = SHIM_REGISTER_PREDICATE_2;
    switch (streamer->predicate) {
    case 1:
        return (shim_registers_read(&streamer->registers, second) & 1) == 0;
    case 2:
        return (shim_registers_read(&streamer->registers, second) & 1) != 0;
    case 3:
        return (shim_registers_read(&streamer->registers, first) & 1) == 0;
    case 4:
        return (shim_registers_read(&streamer->registers, first) & 1) != 0;
    case 15:
        return true;
    default:
        return false;
    }
}

// Whether it reads a register that shows the time: a command of several kernels notes so when it
// begins.
static bool takes_time(const uint32_t *words)
{
    const uint32_t operation = words[0] >> 23 & 0x3f;
    return words[0] >> 29 == TYPE_MI &&
           (operation == 0x24 || operation == 0x2a) && // MI_STORE_REGISTER_MEM, _LOAD_REGISTER_REG
           shim_registers_is_time(words[1]);
}

// Builds the kernels between here and the next jump, so that no time has their builds in it.
static void prepare_ahead(const struct shim_streamer *streamer)
{
    struct shim_bases bases = streamer->bases;
    const uint8_t *code = streamer->code;
    uint64_t left = streamer->left;
    while (left >= 4) {
        const uint32_t *words = (const uint32_t *)(const void *)code;
        const uint32_t first = __atomic_load_n(words, __ATOMIC_ACQUIRE), length = length_of(first);
        const uint32_t operation = first >> 29 == TYPE_MI ? first >> 23 & 0x3f : 0;
        if (length < length_needed(first) || length == 0 || length * UINT64_C(4) > left ||
            operation == 0x0a || operation == 0x31) // MI_BATCH_BUFFER_END, _START
            return;
        if (is_walker(first))
            shim_walkers_prepare(&streamer->walkers, &bases, words, length);
        else if (first >> 16 == 0x6101)
            state_base_address(&bases, words, length);
        code += length * UINT64_C(4);
        left -= length * UINT64_C(4);
    }
}

static enum shim_progress run_command(struct shim_streamer *streamer, const uint32_t *words,
                                      uint32_t length)
{
    switch (words[0] >> 29) {
    case TYPE_MI:
        if (takes_time(words))
            prepare_ahead(streamer);
        return mi_command(streamer, words, length);
    case TYPE_RENDER:
        return render_command(streamer, words, length);
    case TYPE_BLITTER:
        return on_success(shim_blitter_run(streamer->space, streamer->queue, words, length));
    default: // RESOURCE_BARRIER
        return streamer->walkers.count == 0 ? SHIM_GOES_ON : SHIM_WAITS;
    }
}

// NULL if the next command is not there as a whole.
static const uint32_t *fetch(struct shim_streamer *streamer, uint32_t *out_length)
{
    if (streamer->code == NULL || streamer->left < 4) {
        streamer->code = shim_address_space_find(streamer->space, streamer->pc, &streamer->left);
        if (streamer->code == NULL || streamer->left < 4) {
            shim_error("page fault of the GPU: no commands at 0x%" PRIx64, streamer->pc);
            return NULL;
        }
    }
    const uint32_t *words = (const uint32_t *)(const void *)streamer->code;
    // Acquire: the program may write behind a semaphore while the streamer waits in front of it.
    const uint32_t first = __atomic_load_n(words, __ATOMIC_ACQUIRE), length = length_of(first);
    if (length < length_needed(first) || length == 0 || (uint64_t)length * 4 > streamer->left) {
        shim_error("command 0x%08x at 0x%" PRIx64 " is not known", first, streamer->pc);
        return NULL;
    }
    *out_length = length;
    return words;
}

static enum shim_progress step(struct shim_streamer *streamer)
{
    uint32_t length = 0;
    const uint32_t *words = fetch(streamer, &length);
    if (words == NULL)
        return SHIM_FAILED;
    if (shim_log_has(SHIM_LOG_COMMAND))
        shim_log(SHIM_LOG_COMMAND, "queue %u 0x%" PRIx64 ": 0x%08x (%u words)", streamer->queue,
                 streamer->pc, words[0], length);
    const uint64_t pc = streamer->pc;
    enum shim_progress progress = SHIM_GOES_ON;
    if (!is_predicated_away(streamer, words[0]))
        progress = run_command(streamer, words, length);
    streamer->command_count += progress == SHIM_GOES_ON;
    const bool has_jumped = streamer->code == NULL || streamer->pc != pc;
    if (progress != SHIM_GOES_ON || has_jumped)
        return progress;
    streamer->pc += length * UINT64_C(4);
    streamer->code += length * UINT64_C(4);
    streamer->left -= length * UINT64_C(4);
    return SHIM_GOES_ON;
}

enum shim_progress shim_streamer_run(struct shim_streamer *streamer)
{
    streamer->code = NULL; // bindings may have changed
    for (uint32_t i = 0; i < COMMANDS_A_RUN; i++) {
        if (streamer->walkers.count > 0 && !shim_walkers_end_due(&streamer->walkers))
            return SHIM_FAILED;
        const enum shim_progress progress = step(streamer);
        if (progress != SHIM_GOES_ON)
            return progress;
    }
    return SHIM_GOES_ON;
}
