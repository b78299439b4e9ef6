// SPDX-License-Identifier: MIT
#include "command.h"

#include "module/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_BYTES 1024 // capacity of the commands that are kept for reuse
#define SPARE_MAXIMUM 1024

static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the two below
static struct cpu_command *spares;                              // owned
static uint32_t spare_count;

static struct cpu_command *take_spare(void)
{
    pthread_mutex_lock(&spare_mutex);
    struct cpu_command *command = spares;
    if (command != NULL) {
        spares = command->next;
        spare_count--;
    }
    pthread_mutex_unlock(&spare_mutex);
    return command;
}

struct cpu_command *cpu_command_create(enum cpu_command_kind kind, uint32_t wait_count,
                                       size_t extra_bytes)
{
    size_t wanted = ((size_t)wait_count * sizeof(struct cpu_wait) + 15) / 16 * 16 + extra_bytes;
    size_t capacity = wanted > SPARE_BYTES ? wanted : SPARE_BYTES;
    struct cpu_command *command = capacity == SPARE_BYTES ? take_spare() : NULL;
    if (command == NULL)
        command = malloc(sizeof(*command) + capacity);
    if (command == NULL)
        return NULL;
    memset(command, 0, sizeof(*command));
    command->kind = kind;
    command->capacity_bytes = capacity;
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
    if (command->capacity_bytes == SPARE_BYTES) {
        pthread_mutex_lock(&spare_mutex);
        if (spare_count < SPARE_MAXIMUM) {
            command->next = spares;
            spares = command;
            spare_count++;
            command = NULL;
        }
        pthread_mutex_unlock(&spare_mutex);
    }
    free(command);
}

void cpu_commands_finish(void)
{
    pthread_mutex_lock(&spare_mutex);
    while (spares != NULL) {
        struct cpu_command *next = spares->next;
        free(spares);
        spares = next;
    }
    spare_count = 0;
    pthread_mutex_unlock(&spare_mutex);
}
