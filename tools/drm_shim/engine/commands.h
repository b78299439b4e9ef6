// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_COMMANDS_H
#define DRM_SHIM_COMMANDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Layouts of commands, after Intel's public documentation of the hardware ("Command Reference:
// Instructions"). Bit fields begin at bit 0 of their word; an address or a value of 64 bits is two
// words, the lower one first. `length` is that of the command in words, less two.

enum shim_command_type {
    SHIM_TYPE_MI = 0,
    SHIM_TYPE_BLITTER = 2,
    SHIM_TYPE_RENDER = 3,
    SHIM_TYPE_BARRIER = 5,
};

struct shim_command_head {
    uint32_t length : 8, : 21, type : 3;
};

// Copies the words of a command into its structure; words that it does not have are 0.
static inline void shim_command_read(void *command, size_t size, const uint32_t *words,
                                     uint32_t length)
{
    const size_t there = length * sizeof(*words) < size ? length * sizeof(*words) : size;
    memset(command, 0, size);
    memcpy(command, words, there);
}

// Declares `name`, the command at `words` with `length` words.
#define SHIM_COMMAND(layout, name)                                                                 \
    struct layout name;                                                                            \
    shim_command_read(&name, sizeof(name), words, length)

static inline uint64_t shim_quad(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

// ---- MI ----

enum shim_mi_opcode {
    SHIM_MI_NOOP = 0x00,
    SHIM_MI_SET_PREDICATE = 0x01,
    SHIM_MI_USER_INTERRUPT = 0x02,
    SHIM_MI_ARB_CHECK = 0x05,
    SHIM_MI_ARB_ON_OFF = 0x08,
    SHIM_MI_MEM_FENCE = 0x09,
    SHIM_MI_BATCH_BUFFER_END = 0x0a,
    SHIM_MI_FIRST_WITH_LENGTH = 0x10, // those before are one word
    SHIM_MI_MATH = 0x1a,
    SHIM_MI_SEMAPHORE_WAIT = 0x1c,
    SHIM_MI_STORE_DATA_IMM = 0x20,
    SHIM_MI_LOAD_REGISTER_IMM = 0x22,
    SHIM_MI_STORE_REGISTER_MEM = 0x24,
    SHIM_MI_FLUSH_DW = 0x26,
    SHIM_MI_REPORT_PERF_COUNT = 0x28,
    SHIM_MI_LOAD_REGISTER_MEM = 0x29,
    SHIM_MI_LOAD_REGISTER_REG = 0x2a,
    SHIM_MI_COPY_MEM_MEM = 0x2e,
    SHIM_MI_ATOMIC = 0x2f,
    SHIM_MI_BATCH_BUFFER_START = 0x31,
    SHIM_MI_CONDITIONAL_BATCH_BUFFER_END = 0x36,
};

struct shim_mi_head {
    uint32_t length : 8, : 15, opcode : 6, type : 3;
};

struct shim_mi_set_predicate {
    uint32_t mode : 4, : 19, opcode : 6, type : 3;
};

enum shim_alu_operation {
    SHIM_ALU_NOOP = 0x000,
    SHIM_ALU_FENCE_READS = 0x001,
    SHIM_ALU_FENCE_WRITES = 0x002,
    SHIM_ALU_LOAD = 0x080,
    SHIM_ALU_LOAD_INVERTED = 0x480,
    SHIM_ALU_LOAD_0 = 0x081,
    SHIM_ALU_LOAD_1 = 0x481,
    SHIM_ALU_LOAD_MEMORY = 0x082, // LOADIND: memory at the second operand to the first
    SHIM_ALU_ADD = 0x100,
    SHIM_ALU_SUBTRACT = 0x101,
    SHIM_ALU_AND = 0x102,
    SHIM_ALU_OR = 0x103,
    SHIM_ALU_XOR = 0x104,
    SHIM_ALU_SHIFT_LEFT = 0x105,
    SHIM_ALU_SHIFT_RIGHT = 0x106,
    SHIM_ALU_STORE = 0x180,
    SHIM_ALU_STORE_INVERTED = 0x580,
    SHIM_ALU_STORE_MEMORY = 0x181, // STOREIND: the second operand to memory at the first
};

// Operands that are not general registers.
enum shim_alu_operand {
    SHIM_ALU_SOURCE_A = 0x20,
    SHIM_ALU_SOURCE_B = 0x21,
    SHIM_ALU_ACCUMULATOR = 0x31,
    SHIM_ALU_ZERO_FLAG = 0x32,
    SHIM_ALU_CARRY_FLAG = 0x33,
};

// MI_MATH is followed by these.
struct shim_alu_instruction {
    uint32_t second : 10, first : 10, operation : 12;
};

// Memory compared with the data.
enum shim_comparison {
    SHIM_GREATER,
    SHIM_GREATER_OR_EQUAL,
    SHIM_LESS,
    SHIM_LESS_OR_EQUAL,
    SHIM_EQUAL,
    SHIM_NOT_EQUAL,
};

struct shim_mi_semaphore_wait {
    uint32_t length : 8, : 4, comparison : 3, : 1, is_register : 1, is_indirect : 1, : 5,
        opcode : 6, type : 3;
    uint32_t data;
    uint32_t address[2]; // or a register
    uint32_t token;
};

struct shim_mi_store_data_imm {
    uint32_t length : 10, : 1, adds_partition : 1, : 9, is_quad : 1, : 1, opcode : 6, type : 3;
    uint32_t address[2], value[2];
};

// Further pairs may follow.
struct shim_mi_load_register_imm {
    uint32_t length : 8, : 15, opcode : 6, type : 3;
    uint32_t at, value;
};

// MI_STORE_REGISTER_MEM and MI_LOAD_REGISTER_MEM
struct shim_mi_register_mem {
    uint32_t length : 8, : 8, adds_partition : 1, : 6, opcode : 6, type : 3;
    uint32_t at;
    uint32_t address[2];
};

struct shim_mi_load_register_reg {
    uint32_t length : 8, : 15, opcode : 6, type : 3;
    uint32_t from, to;
};

// What commands write when they are done.
enum shim_result_operation { SHIM_RESULT_NONE, SHIM_RESULT_VALUE, SHIM_RESULT_TIME = 3 };

struct shim_mi_flush_dw {
    uint32_t length : 6, : 8, operation : 2, : 7, opcode : 6, type : 3;
    uint32_t address[2], value[2];
};

struct shim_mi_copy_mem_mem {
    uint32_t length : 8, : 15, opcode : 6, type : 3;
    uint32_t to[2], from[2];
};

struct shim_mi_atomic {
    uint32_t length : 8, operation : 5, is_quad : 1, : 2, returns_old : 1, : 1, has_data : 1, : 4,
        opcode : 6, type : 3;
    uint32_t address[2];
    uint32_t low[2], high[2]; // of two operands
};

#define SHIM_ATOMIC_INCREMENT 5u

struct shim_mi_batch_buffer_start {
    uint32_t length : 8, : 10, is_indirect : 1, : 3, is_second_level : 1, opcode : 6, type : 3;
    uint32_t address[2];
};

struct shim_mi_conditional_batch_buffer_end {
    uint32_t length : 8, : 4, comparison : 3, : 8, opcode : 6, type : 3;
    uint32_t data;
    uint32_t address[2];
};

// ---- Render and compute engine ----

enum shim_render_opcode {
    SHIM_STATE_BASE_ADDRESS = 0x6101,
    SHIM_STATE_SIP = 0x6102,
    SHIM_STATE_PREFETCH = 0x6103,
    SHIM_STATE_COMPUTE_MODE = 0x6105,
    SHIM_3DSTATE_BTD = 0x6106,
    SHIM_STATE_SYSTEM_MEM_FENCE_ADDRESS = 0x6109,
    SHIM_STATE_CONTEXT_DATA_BASE_ADDRESS = 0x610b,
    SHIM_PIPELINE_SELECT = 0x6904,
    SHIM_MEDIA_VFE_STATE = 0x7000,
    SHIM_MEDIA_INTERFACE_DESCRIPTOR_LOAD = 0x7002,
    SHIM_MEDIA_STATE_FLUSH = 0x7004,
    SHIM_GPGPU_WALKER = 0x7105,
    SHIM_CFE_STATE = 0x7200,
    SHIM_COMPUTE_WALKER = 0x7208,
    SHIM_3DSTATE_BINDING_TABLE_POOL_ALLOC = 0x7919,
    SHIM_PIPE_CONTROL = 0x7a00,
};

// The opcode has the type in its upper bits.
struct shim_render_head {
    uint32_t length : 8, : 8, opcode : 16;
};

#define SHIM_WALKER_OPCODE_MASK 0xfffcu // the lower two bits are flags

struct shim_pipe_control {
    uint32_t length : 8, : 6, adds_partition : 1, : 1, opcode : 16;
    uint32_t : 14, operation : 2, : 4, stalls : 1, : 11;
    uint32_t address[2], value[2];
};

struct shim_base_address {
    uint32_t is_set : 1, : 11, low_page : 20;
    uint32_t high;
};

// Each address is one of pages of 4 KiB.
struct shim_state_base_address {
    uint32_t length : 8, : 8, opcode : 16;
    struct shim_base_address general;
    uint32_t stateless;
    struct shim_base_address surface, dynamic, indirect, instruction;
    uint32_t sizes[4];
    struct shim_base_address surface_states;
    uint32_t surface_states_size;
    struct shim_base_address sampler_states;
};

// COMPUTE_WALKER begins with these words in all families that have it, and ends with the tail. Xe2
// has one word more between the two.
struct shim_walker_head {
    uint32_t length : 8, is_predicated : 1, is_partitioned : 1, is_indirect : 1, : 5, opcode : 16;
    uint32_t : 32;
    uint32_t indirect_length : 17, : 13, partition_dimension : 2;           // 1: X
    uint32_t indirect_start;                                                // from the general base
    uint32_t : 25, has_inline_data : 1, : 3, makes_local_ids : 1, simd : 2; // 8 << simd
    uint32_t execution_mask;
    uint32_t local_x : 10, local_y : 10, local_z : 10, : 2; // less one
    uint32_t groups[3];
    uint32_t first_group[3];
    uint32_t : 32;
    uint32_t partition_groups; // of one partition, in its dimension
    uint32_t unused[3];
};

struct shim_interface_descriptor {
    uint32_t kernel_start, kernel_start_high; // from the base of instructions; 64-byte aligned
    uint32_t unused;
    uint32_t sampler_table; // from the dynamic base; 32-byte aligned
    uint32_t binding_table; // from the base of surface states; 32-byte aligned
    uint32_t threads : 10, : 6, slm_size : 4, : 12;
    uint32_t unused_too[2];
};

struct shim_walker_result {
    uint32_t operation : 2, : 30;
    uint32_t address[2], value[2];
};

struct shim_walker_tail {
    struct shim_interface_descriptor descriptor;
    struct shim_walker_result result;
    uint32_t inline_data[8];
};

#define SHIM_WALKER_WORDS_XE_HP 39
#define SHIM_WALKER_WORDS_XE2 40

_Static_assert(sizeof(struct shim_walker_head) == 18 * 4, "words 0 to 17");
_Static_assert(sizeof(struct shim_walker_head) + sizeof(struct shim_walker_tail) ==
                   SHIM_WALKER_WORDS_XE_HP * 4,
               "head and tail");

// Gen12LP: kernels are started by a descriptor in memory.
struct shim_media_interface_descriptor_load {
    uint32_t length : 8, : 8, opcode : 16;
    uint32_t : 32;
    uint32_t size;
    uint32_t start; // from the dynamic base
};

struct shim_gpgpu_walker {
    uint32_t length : 8, : 2, is_indirect : 1, : 5, opcode : 16;
    uint32_t descriptor : 6, : 26; // its number
    uint32_t indirect_length : 17, : 15;
    uint32_t indirect_start; // from the base of indirect objects
    uint32_t : 30, simd : 2; // 8 << simd
    uint32_t unused[2];
    uint32_t groups_x;
    uint32_t unused_too[2];
    uint32_t groups_y;
    uint32_t first_group_z;
    uint32_t groups_z;
    uint32_t execution_mask, bottom_mask;
};

struct shim_gen12lp_descriptor {
    uint32_t kernel_start, kernel_start_high; // as shim_interface_descriptor
    uint32_t unused;
    uint32_t sampler_table;
    uint32_t binding_table;
    uint32_t : 32;
    uint32_t threads : 10, : 6, slm_size : 5, : 11;
    uint32_t : 32;
};

#define SHIM_WALKER_WORDS_GEN12LP 15

_Static_assert(sizeof(struct shim_gpgpu_walker) == SHIM_WALKER_WORDS_GEN12LP * 4, "GPGPU_WALKER");
_Static_assert(sizeof(struct shim_gen12lp_descriptor) == 32, "descriptor");

// ---- Copy engine ----

enum shim_blitter_opcode {
    SHIM_XY_BLOCK_COPY_BLT = 0x41,
    SHIM_XY_FAST_COLOR_BLT = 0x44,
    SHIM_MEM_COPY = 0x5a,
    SHIM_MEM_SET = 0x5b,
};

struct shim_blitter_head {
    uint32_t length : 8, : 11, pixel_size : 3, opcode : 7, type : 3;
};

// Widths, heights and pitches are less one.
struct shim_mem_copy {
    uint32_t length : 8, : 9, is_matrix : 2, is_pages : 1, : 2, opcode : 7, type : 3;
    uint32_t width : 24, : 8;
    uint32_t height : 18, : 14;
    uint32_t from_pitch : 18, : 14;
    uint32_t to_pitch : 18, : 14;
    uint32_t from[2], to[2];
    uint32_t caching;
};

struct shim_mem_set {
    uint32_t length : 8, : 9, is_matrix : 1, : 4, opcode : 7, type : 3;
    uint32_t width : 24, : 8;
    uint32_t height : 18, : 14;
    uint32_t pitch : 18, : 14;
    uint32_t to[2];
    uint32_t : 24, byte : 8;
};

struct shim_blt_pitch {
    uint32_t pitch : 18, : 12, tiling : 2; // the pitch of a tiled surface counts words
};

struct shim_blt_point {
    uint32_t x : 16, y : 16;
};

struct shim_blt_offsets {
    uint32_t x : 14, : 2, y : 14, : 2;
};

struct shim_blt_surface {
    uint32_t height : 14, width : 14, : 1, kind : 3; // less one
    uint32_t level : 4, slice_distance : 15, : 13;   // in four rows
    uint32_t : 21, slice : 11;
};

struct shim_xy_block_copy_blt {
    uint32_t length : 8, : 11, pixel_size : 3, opcode : 7, type : 3;
    struct shim_blt_pitch to_pitch;
    struct shim_blt_point begin, end;
    uint32_t to[2];
    struct shim_blt_offsets to_offsets;
    struct shim_blt_point from_begin;
    struct shim_blt_pitch from_pitch;
    uint32_t from[2];
    struct shim_blt_offsets from_offsets;
    uint32_t unused[4];
    struct shim_blt_surface to_surface, from_surface;
};

struct shim_xy_fast_color_blt {
    uint32_t length : 8, : 11, pixel_size : 3, opcode : 7, type : 3;
    struct shim_blt_pitch pitch;
    struct shim_blt_point begin, end;
    uint32_t to[2];
    struct shim_blt_offsets offsets;
    uint32_t color[4];
    uint32_t unused[5];
};

_Static_assert(sizeof(struct shim_xy_block_copy_blt) == 22 * 4, "XY_BLOCK_COPY_BLT");
_Static_assert(sizeof(struct shim_xy_fast_color_blt) == 16 * 4, "XY_FAST_COLOR_BLT");

#endif
