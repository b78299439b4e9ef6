// SPDX-License-Identifier: MIT
#include "registers.h"

#include "commands.h"
#include "gpu_clock.h"
#include "log.h"
#include "memory/gpu_memory.h"

#define GENERAL_REGISTERS 16
#define GENERAL_BASE 0x2600u

// Where engines have their registers: render, copy, compute.
static bool is_streamer_register(uint32_t offset)
{
    switch (offset & ~0xfffu) {
    case 0x2000:
    case 0x22000:
    case 0x1a000:
    case 0x1c000:
    case 0x1e000:
    case 0x26000:
        return true;
    default:
        return false;
    }
}

bool shim_registers_is_time(uint32_t offset)
{
    // The timestamp, the context's and the queue's, and their upper halves.
    const uint32_t at = offset & 0xff8;
    return is_streamer_register(offset) && (at == 0x358 || at == 0x3a8 || at == 0x4c0);
}

uint32_t shim_registers_read(const struct shim_registers *registers, uint32_t offset)
{
    if (!is_streamer_register(offset))
        return 0;
    if (shim_registers_is_time(offset))
        return (uint32_t)(shim_gpu_time() >> (offset & 4 ? 32 : 0));
    return registers->words[(offset & 0xfff) / 4];
}

void shim_registers_write(struct shim_registers *registers, uint32_t offset, uint32_t value)
{
    if (is_streamer_register(offset))
        registers->words[(offset & 0xfff) / 4] = value;
}

uint64_t shim_registers_general(const struct shim_registers *registers, uint32_t index)
{
    const uint32_t offset = GENERAL_BASE + 8 * (index % GENERAL_REGISTERS);
    return shim_registers_read(registers, offset) |
           (uint64_t)shim_registers_read(registers, offset + 4) << 32;
}

void shim_registers_set_general(struct shim_registers *registers, uint32_t index, uint64_t value)
{
    const uint32_t offset = GENERAL_BASE + 8 * (index % GENERAL_REGISTERS);
    shim_registers_write(registers, offset, (uint32_t)value);
    shim_registers_write(registers, offset + 4, (uint32_t)(value >> 32));
}

struct alu {
    uint64_t a, b, accumulator;
    bool carry;
};

static uint64_t alu_source(const struct shim_registers *registers, const struct alu *alu,
                           uint32_t operand)
{
    switch (operand) {
    case SHIM_ALU_ACCUMULATOR:
        return alu->accumulator;
    case SHIM_ALU_ZERO_FLAG:
        return alu->accumulator == 0 ? UINT64_MAX : 0;
    case SHIM_ALU_CARRY_FLAG:
        return alu->carry ? UINT64_MAX : 0;
    default:
        return shim_registers_general(registers, operand);
    }
}

// Loads and stores; false if the instruction is neither.
static bool alu_move(struct shim_registers *registers, struct alu *alu, uint32_t operation,
                     uint32_t first, uint32_t second)
{
    uint64_t *source = first == SHIM_ALU_SOURCE_A ? &alu->a : &alu->b;
    switch (operation) {
    case SHIM_ALU_NOOP:
    case SHIM_ALU_FENCE_READS:
    case SHIM_ALU_FENCE_WRITES:
        return true;
    case SHIM_ALU_LOAD:
        *source = alu_source(registers, alu, second);
        return true;
    case SHIM_ALU_LOAD_INVERTED:
        *source = ~alu_source(registers, alu, second);
        return true;
    case SHIM_ALU_LOAD_0:
        *source = 0;
        return true;
    case SHIM_ALU_LOAD_1:
        *source = UINT64_MAX;
        return true;
    case SHIM_ALU_STORE:
        shim_registers_set_general(registers, first, alu_source(registers, alu, second));
        return true;
    case SHIM_ALU_STORE_INVERTED:
        shim_registers_set_general(registers, first, ~alu_source(registers, alu, second));
        return true;
    default:
        return false;
    }
}

static bool alu_calculate(struct alu *alu, uint32_t operation)
{
    switch (operation) {
    case SHIM_ALU_ADD:
        alu->carry = __builtin_add_overflow(alu->a, alu->b, &alu->accumulator);
        return true;
    case SHIM_ALU_SUBTRACT:
        alu->carry = __builtin_sub_overflow(alu->a, alu->b, &alu->accumulator);
        return true;
    case SHIM_ALU_AND:
        alu->accumulator = alu->a & alu->b;
        return true;
    case SHIM_ALU_OR:
        alu->accumulator = alu->a | alu->b;
        return true;
    case SHIM_ALU_XOR:
        alu->accumulator = alu->a ^ alu->b;
        return true;
    case SHIM_ALU_SHIFT_LEFT:
        alu->accumulator = alu->a << (alu->b & 63);
        return true;
    case SHIM_ALU_SHIFT_RIGHT:
        alu->accumulator = alu->a >> (alu->b & 63);
        return true;
    default:
        return false;
    }
}

// Loads of memory, and stores to it.
static bool alu_access(struct shim_registers *registers, struct shim_address_space *space,
                       const struct alu *alu, struct shim_alu_instruction instruction)
{
    const bool loads = instruction.operation == SHIM_ALU_LOAD_MEMORY;
    const uint32_t address = loads ? instruction.second : instruction.first;
    const uint64_t at = alu_source(registers, alu, address) & SHIM_ADDRESS_MASK;
    uint64_t value = loads ? 0 : alu_source(registers, alu, instruction.second);
    if (!loads)
        return shim_gpu_memory_write(space, at, value, 8);
    if (!shim_gpu_memory_read(space, at, 8, &value))
        return false;
    shim_registers_set_general(registers, instruction.first, value);
    return true;
}

bool shim_registers_compute(struct shim_registers *registers, struct shim_address_space *space,
                            const uint32_t *instructions, uint32_t count)
{
    struct alu alu = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = count - i, *words = instructions + i;
        SHIM_COMMAND(shim_alu_instruction, instruction);
        const uint32_t operation = instruction.operation;
        if (operation == SHIM_ALU_LOAD_MEMORY || operation == SHIM_ALU_STORE_MEMORY) {
            if (!alu_access(registers, space, &alu, instruction))
                return false;
            continue;
        }
        if (!alu_move(registers, &alu, operation, instruction.first, instruction.second) &&
            !alu_calculate(&alu, operation)) {
            shim_error("MI_MATH: operation 0x%x is not known", operation);
            return false;
        }
    }
    return true;
}
