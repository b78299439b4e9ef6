// SPDX-License-Identifier: MIT
#include "command.h"

#include "module/program.h"

#include <stdlib.h>
#include <string.h>

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

void cpu_command_destroy(struct cpu_command *command)
{
    if (command == NULL)
        return;
    if (command->kind == CPU_COMMAND_LAUNCH || command->kind == CPU_COMMAND_LAUNCH_INDIRECT)
        cpu_program_kernel_release(command->u.launch.kernel);
    free(command);
}
