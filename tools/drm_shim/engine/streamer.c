// SPDX-License-Identifier: MIT
#include "streamer.h"

#include "blitter.h"
#include "commands.h"
#include "gpu_clock.h"
#include "log.h"
#include "memory/gpu_memory.h"

#include <inttypes.h>
#include <stddef.h>

#define COMMANDS_A_RUN 4096

static enum shim_progress on_success(bool is_fine)
{
    return is_fine ? SHIM_GOES_ON : SHIM_FAILED;
}

void shim_streamer_init(struct shim_streamer *streamer, struct shim_address_space *space,
                        const struct shim_product *product, uint32_t queue)
{
    *streamer = (struct shim_streamer){.space = space, .queue = queue};
    streamer->walkers.space = space;
    streamer->walkers.product = product;
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

static enum shim_progress batch_start(struct shim_streamer *streamer, const uint32_t *words,
                                      uint32_t length)
{
    SHIM_COMMAND(shim_mi_batch_buffer_start, start);
    if (start.is_second_level) { // it returns
        if (streamer->depth == SHIM_STREAMER_DEPTH) {
            shim_error("MI_BATCH_BUFFER_START: more than %u levels", SHIM_STREAMER_DEPTH);
            return SHIM_FAILED;
        }
        streamer->returns[streamer->depth++] = streamer->pc + 12;
    }
    jump(streamer, start.is_indirect ? shim_registers_general(&streamer->registers, 0)
                                     : shim_quad(start.address));
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

static bool compare(uint32_t comparison, uint64_t memory, uint64_t data)
{
    switch (comparison) {
    case SHIM_GREATER:
        return memory > data;
    case SHIM_GREATER_OR_EQUAL:
        return memory >= data;
    case SHIM_LESS:
        return memory < data;
    case SHIM_LESS_OR_EQUAL:
        return memory <= data;
    case SHIM_EQUAL:
        return memory == data;
    default:
        return memory != data;
    }
}

static enum shim_progress semaphore_wait(struct shim_streamer *streamer, const uint32_t *words,
                                         uint32_t length)
{
    SHIM_COMMAND(shim_mi_semaphore_wait, wait);
    const uint64_t data =
        wait.is_indirect ? (uint32_t)shim_registers_general(&streamer->registers, 0) : wait.data;
    const uint64_t address = shim_quad(wait.address) & ~UINT64_C(3);
    uint64_t value = 0;
    if (wait.is_register)
        value = shim_registers_read(&streamer->registers, wait.address[0]);
    else if (!shim_gpu_memory_read(streamer->space, address, 4, &value))
        return SHIM_FAILED;
    streamer->awaited = NULL;
    if (compare(wait.comparison, value, data))
        return SHIM_GOES_ON;
    if (!wait.is_register)
        streamer->awaited = shim_gpu_memory_at(streamer->space, address, 4);
    return SHIM_WAITS;
}

static enum shim_progress conditional_end(struct shim_streamer *streamer, const uint32_t *words,
                                          uint32_t length)
{
    SHIM_COMMAND(shim_mi_conditional_batch_buffer_end, end);
    uint64_t value = 0;
    if (!shim_gpu_memory_read(streamer->space, shim_quad(end.address) & ~UINT64_C(7), 4, &value))
        return SHIM_FAILED;
    return compare(end.comparison, value, end.data) ? SHIM_GOES_ON : batch_end(streamer);
}

static bool atomic(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_atomic, command);
    const bool has_data = command.has_data && length * sizeof(*words) >= sizeof(command);
    uint64_t operands[2], old = 0;
    for (uint32_t i = 0; i < 2; i++)
        operands[i] = has_data ? command.low[i] | (uint64_t)command.high[i] << 32
                               : shim_registers_general(&streamer->registers, i);
    if (!shim_gpu_memory_atomic(streamer->space, shim_quad(command.address) & ~UINT64_C(3),
                                command.is_quad ? 8 : 4, command.operation, operands, &old))
        return false;
    if (command.returns_old)
        shim_registers_set_general(&streamer->registers, 0, old);
    return true;
}

// A value or the time, written by PIPE_CONTROL and MI_FLUSH_DW.
static bool write_result(struct shim_streamer *streamer, uint32_t operation, uint64_t address,
                         const uint32_t *value)
{
    if (operation == SHIM_RESULT_VALUE)
        return shim_gpu_memory_write(streamer->space, address, shim_quad(value), 8);
    if (operation == SHIM_RESULT_TIME)
        return shim_gpu_memory_write(streamer->space, address, shim_gpu_time(), 8);
    return true;
}

// Where a command reads or writes. A partition of a device with several tiles has memory of its own
// behind that of the one before, for commands that say so.
static uint64_t address_of(const struct shim_streamer *streamer, const uint32_t *address,
                           uint64_t alignment, bool adds_partition)
{
    const struct shim_registers *registers = &streamer->registers;
    const uint64_t distance = (uint64_t)shim_registers_read(registers, SHIM_REGISTER_PARTITION) *
                              shim_registers_read(registers, SHIM_REGISTER_PARTITION_DISTANCE);
    return (shim_quad(address) & ~(alignment - 1)) + (adds_partition ? distance : 0);
}

static bool store_immediate(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_store_data_imm, store);
    const bool is_quad = store.is_quad && length >= sizeof(store) / sizeof(*words);
    return shim_gpu_memory_write(
        streamer->space, address_of(streamer, store.address, 4, store.adds_partition),
        is_quad ? shim_quad(store.value) : store.value[0], is_quad ? 8 : 4);
}

static bool load_immediates(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    for (uint32_t i = 1; i + 1 < length; i += 2)
        shim_registers_write(&streamer->registers, words[i], words[i + 1]);
    return true;
}

static bool load_memory(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_register_mem, load);
    uint64_t value = 0;
    if (!shim_gpu_memory_read(
            streamer->space, address_of(streamer, load.address, 4, load.adds_partition), 4, &value))
        return false;
    shim_registers_write(&streamer->registers, load.at, (uint32_t)value);
    return true;
}

static bool store_register(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_register_mem, store);
    return shim_gpu_memory_write(streamer->space,
                                 address_of(streamer, store.address, 4, store.adds_partition),
                                 shim_registers_read(&streamer->registers, store.at), 4);
}

static bool copy_register(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_load_register_reg, copy);
    shim_registers_write(&streamer->registers, copy.to,
                         shim_registers_read(&streamer->registers, copy.from));
    return true;
}

static bool copy_memory(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_copy_mem_mem, copy);
    uint64_t value = 0;
    return shim_gpu_memory_read(streamer->space, shim_quad(copy.from) & ~UINT64_C(3), 4, &value) &&
           shim_gpu_memory_write(streamer->space, shim_quad(copy.to) & ~UINT64_C(3), value, 4);
}

static bool flush(struct shim_streamer *streamer, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_flush_dw, command);
    return write_result(streamer, command.operation, shim_quad(command.address) & ~UINT64_C(7),
                        command.value);
}

static enum shim_progress mi_command(struct shim_streamer *streamer, const uint32_t *words,
                                     uint32_t length)
{
    SHIM_COMMAND(shim_mi_head, head);
    switch (head.opcode) {
    case SHIM_MI_NOOP:
    case SHIM_MI_USER_INTERRUPT:
    case SHIM_MI_ARB_CHECK:
    case SHIM_MI_ARB_ON_OFF:
    case SHIM_MI_MEM_FENCE:
    case SHIM_MI_REPORT_PERF_COUNT:
        return SHIM_GOES_ON;
    case SHIM_MI_SET_PREDICATE: {
        SHIM_COMMAND(shim_mi_set_predicate, predicate);
        streamer->predicate = predicate.mode;
        return SHIM_GOES_ON;
    }
    case SHIM_MI_BATCH_BUFFER_END:
        return batch_end(streamer);
    case SHIM_MI_MATH:
        return on_success(
            shim_registers_compute(&streamer->registers, streamer->space, words + 1, length - 1));
    case SHIM_MI_SEMAPHORE_WAIT:
        return semaphore_wait(streamer, words, length);
    case SHIM_MI_STORE_DATA_IMM:
        return on_success(store_immediate(streamer, words, length));
    case SHIM_MI_LOAD_REGISTER_IMM:
        return on_success(load_immediates(streamer, words, length));
    case SHIM_MI_STORE_REGISTER_MEM:
        return on_success(store_register(streamer, words, length));
    case SHIM_MI_FLUSH_DW:
        return on_success(flush(streamer, words, length));
    case SHIM_MI_LOAD_REGISTER_MEM:
        return on_success(load_memory(streamer, words, length));
    case SHIM_MI_LOAD_REGISTER_REG:
        return on_success(copy_register(streamer, words, length));
    case SHIM_MI_COPY_MEM_MEM:
        return on_success(copy_memory(streamer, words, length));
    case SHIM_MI_ATOMIC:
        return on_success(atomic(streamer, words, length));
    case SHIM_MI_BATCH_BUFFER_START:
        return batch_start(streamer, words, length);
    case SHIM_MI_CONDITIONAL_BATCH_BUFFER_END:
        return conditional_end(streamer, words, length);
    default:
        shim_error("MI command 0x%x (0x%08x at 0x%" PRIx64 ") is not known", head.opcode, words[0],
                   streamer->pc);
        return SHIM_FAILED;
    }
}

static enum shim_progress pipe_control(struct shim_streamer *streamer, const uint32_t *words,
                                       uint32_t length)
{
    SHIM_COMMAND(shim_pipe_control, control);
    if ((control.stalls || control.operation != SHIM_RESULT_NONE) && streamer->walkers.count > 0)
        return SHIM_WAITS;
    return on_success(write_result(streamer, control.operation,
                                   address_of(streamer, control.address, 8, control.adds_partition),
                                   control.value));
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

static void set_base(uint64_t *base, struct shim_base_address address)
{
    if (address.is_set)
        *base = (uint64_t)address.low_page << 12 | (uint64_t)address.high << 32;
}

static void state_base_address(struct shim_bases *bases, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_state_base_address, state);
    set_base(&bases->general, state.general);
    set_base(&bases->surface, state.surface);
    set_base(&bases->dynamic, state.dynamic);
    set_base(&bases->indirect, state.indirect);
    set_base(&bases->instruction, state.instruction);
    set_base(&bases->surface_states, state.surface_states);
    set_base(&bases->sampler_states, state.sampler_states);
}

static bool is_walker(uint32_t opcode)
{
    return (opcode & SHIM_WALKER_OPCODE_MASK) == SHIM_COMPUTE_WALKER || opcode == SHIM_GPGPU_WALKER;
}

// Where the descriptors of kernels lie (Gen12LP).
static void load_descriptors(struct shim_bases *bases, const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_media_interface_descriptor_load, load);
    bases->descriptors = bases->dynamic + load.start;
}

static enum shim_progress render_command(struct shim_streamer *streamer, const uint32_t *words,
                                         uint32_t length)
{
    SHIM_COMMAND(shim_render_head, head);
    if (is_walker(head.opcode))
        return compute_walker(streamer, words, length);
    switch (head.opcode) {
    case SHIM_PIPE_CONTROL:
        return pipe_control(streamer, words, length);
    case SHIM_STATE_BASE_ADDRESS:
        state_base_address(&streamer->bases, words, length);
        return SHIM_GOES_ON;
    case SHIM_MEDIA_INTERFACE_DESCRIPTOR_LOAD:
        load_descriptors(&streamer->bases, words, length);
        return SHIM_GOES_ON;
    case SHIM_MEDIA_VFE_STATE:
    case SHIM_MEDIA_STATE_FLUSH:
    case SHIM_STATE_SIP:
    case SHIM_STATE_PREFETCH:
    case SHIM_STATE_COMPUTE_MODE:
    case SHIM_3DSTATE_BTD:
    case SHIM_STATE_SYSTEM_MEM_FENCE_ADDRESS:
    case SHIM_STATE_CONTEXT_DATA_BASE_ADDRESS:
    case SHIM_PIPELINE_SELECT:
    case SHIM_CFE_STATE:
    case SHIM_3DSTATE_BINDING_TABLE_POOL_ALLOC:
        return SHIM_GOES_ON; // nothing that memory shows
    default:
        shim_error("render command 0x%04x (0x%08x at 0x%" PRIx64 ") is not known", head.opcode,
                   words[0], streamer->pc);
        return SHIM_FAILED;
    }
}

// In words; 0 if the kind of command is not known.
static uint32_t length_of(const uint32_t *words)
{
    const uint32_t length = 1;
    SHIM_COMMAND(shim_mi_head, mi);
    SHIM_COMMAND(shim_mi_store_data_imm, store);
    SHIM_COMMAND(shim_mi_flush_dw, flush);
    switch (mi.type) {
    case SHIM_TYPE_MI:
        if (mi.opcode < SHIM_MI_FIRST_WITH_LENGTH)
            return 1;
        return 2 + (mi.opcode == SHIM_MI_STORE_DATA_IMM ? store.length
                    : mi.opcode == SHIM_MI_FLUSH_DW     ? flush.length
                                                        : mi.length);
    case SHIM_TYPE_RENDER:
        // Of single words, such as PIPELINE_SELECT.
        return (words[0] >> 27 & 3) == 1 ? 1 : mi.length + 2;
    case SHIM_TYPE_BLITTER:
    case SHIM_TYPE_BARRIER:
        return mi.length + 2;
    default:
        return 0;
    }
}

static bool is_predicated_away(const struct shim_streamer *streamer, const uint32_t *words,
                               uint32_t length)
{
    SHIM_COMMAND(shim_mi_head, head);
    if (head.type == SHIM_TYPE_MI && head.opcode == SHIM_MI_SET_PREDICATE)
        return false;
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
static bool takes_time(const uint32_t *words, uint32_t length)
{
    SHIM_COMMAND(shim_mi_head, head);
    return head.type == SHIM_TYPE_MI &&
           (head.opcode == SHIM_MI_STORE_REGISTER_MEM ||
            head.opcode == SHIM_MI_LOAD_REGISTER_REG) &&
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
        const uint32_t first = __atomic_load_n(words, __ATOMIC_ACQUIRE);
        const uint32_t length = length_of(&first);
        SHIM_COMMAND(shim_mi_head, mi);
        SHIM_COMMAND(shim_render_head, render);
        if (length == 0 || length * UINT64_C(4) > left ||
            (mi.type == SHIM_TYPE_MI &&
             (mi.opcode == SHIM_MI_BATCH_BUFFER_END || mi.opcode == SHIM_MI_BATCH_BUFFER_START)))
            return;
        if (is_walker(render.opcode))
            shim_walkers_prepare(&streamer->walkers, &bases, words, length);
        else if (render.opcode == SHIM_STATE_BASE_ADDRESS)
            state_base_address(&bases, words, length);
        else if (render.opcode == SHIM_MEDIA_INTERFACE_DESCRIPTOR_LOAD)
            load_descriptors(&bases, words, length);
        code += length * UINT64_C(4);
        left -= length * UINT64_C(4);
    }
}

static enum shim_progress run_command(struct shim_streamer *streamer, const uint32_t *words,
                                      uint32_t length)
{
    SHIM_COMMAND(shim_command_head, head);
    switch (head.type) {
    case SHIM_TYPE_MI:
        if (takes_time(words, length))
            prepare_ahead(streamer);
        return mi_command(streamer, words, length);
    case SHIM_TYPE_RENDER:
        return render_command(streamer, words, length);
    case SHIM_TYPE_BLITTER:
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
    const uint32_t first = __atomic_load_n(words, __ATOMIC_ACQUIRE), length = length_of(&first);
    if (length == 0 || (uint64_t)length * 4 > streamer->left) {
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
    const uint64_t pc = streamer->pc;
    enum shim_progress progress = SHIM_GOES_ON;
    if (!is_predicated_away(streamer, words, length))
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
