// SPDX-License-Identifier: MIT
#include "command.h"

#include "module/program.h"

#include <stdlib.h>
#include <string.h>

// From here on a fill is copied from its own beginning, which stays in the cache.
#define FILL_PIECE_BYTES ((size_t)16 << 10)

struct cpu_command *cpu_command_create(enum cpu_command_kind kind, uint32_t wait_count,
                                       size_t extra_bytes)
{
    const size_t own_bytes =
        ((size_t)wait_count * sizeof(struct cpu_wait) + 15) / 16 * 16 + extra_bytes;
    struct cpu_command *command = malloc(sizeof(*command) + own_bytes);
    if (command == NULL)
        return NULL;
    memset(command, 0, sizeof(*command));
    command->kind = kind;
    command->wait_count = wait_count;
    command->waits = cpu_command_take(command, wait_count * sizeof(struct cpu_wait));
    return command;
}

void *cpu_command_take(struct cpu_command *command, size_t size_bytes)
{
    void *piece = command->memory + command->used_bytes;
    command->used_bytes += (size_bytes + 15) / 16 * 16;
    return piece;
}

struct cpu_command *cpu_command_copy(const struct cpu_command *recorded, struct cpu_command *end)
{
    struct cpu_command *copy = cpu_command_create(recorded->kind, recorded->wait_count, 0);
    if (copy == NULL)
        return NULL;
    copy->end = end;
    copy->signal = recorded->signal;
    copy->u = recorded->u;
    copy->wait_count = 0;
    for (uint32_t i = 0; i < recorded->wait_count; i++)
        if (recorded->waits[i].event != NULL)
            copy->waits[copy->wait_count++] = recorded->waits[i];
    return copy;
}

void cpu_command_destroy(struct cpu_command *command)
{
    if (command == NULL)
        return;
    if (command->kind == CPU_COMMAND_LAUNCH && command->end == NULL)
        cpu_program_kernel_release(command->u.launch.kernel);
    free(command);
}

bool cpu_command_is_ready(struct cpu_command *command)
{
    for (; command->waited < command->wait_count; command->waited++) {
        const struct cpu_wait *wait = &command->waits[command->waited];
        if (!cpu_event_has_reached(wait->event, wait->goal))
            return false;
    }
    return true;
}

void cpu_chain_append(struct cpu_chain *chain, struct cpu_chain more)
{
    if (more.head == NULL)
        return;
    if (chain->head != NULL)
        chain->tail->next = more.head;
    else
        chain->head = more.head;
    chain->tail = more.tail;
}

void cpu_chain_destroy(struct cpu_chain *chain)
{
    while (chain->head != NULL) {
        struct cpu_command *next = chain->head->next;
        cpu_command_destroy(chain->head);
        chain->head = next;
    }
}

static bool is_one_byte(const unsigned char *pattern, size_t pattern_bytes)
{
    return memcmp(pattern, pattern + 1, pattern_bytes - 1) == 0;
}

void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes)
{
    unsigned char *bytes = target;
    if (is_one_byte(pattern, pattern_bytes)) {
        memset(target, *(const unsigned char *)pattern, size_bytes);
        return;
    }
    size_t filled = pattern_bytes < size_bytes ? pattern_bytes : size_bytes;
    memcpy(bytes, pattern, filled);
    // Doubles what is there; stays in step with the pattern because every piece but the last is a
    // multiple of it: both are powers of two.
    while (filled < size_bytes) {
        size_t piece = filled < FILL_PIECE_BYTES || pattern_bytes > FILL_PIECE_BYTES
                           ? filled
                           : FILL_PIECE_BYTES;
        if (piece > size_bytes - filled)
            piece = size_bytes - filled;
        memcpy(bytes + filled, bytes, piece);
        filled += piece;
    }
}

void cpu_copy_region(void *target, const void *source, const struct cpu_copy_region *region)
{
    for (size_t z = 0; z < region->depth; z++)
        for (size_t y = 0; y < region->height; y++)
            memmove((unsigned char *)target + z * region->target_slice_bytes +
                        y * region->target_row_bytes,
                    (const unsigned char *)source + z * region->source_slice_bytes +
                        y * region->source_row_bytes,
                    region->width_bytes);
}
