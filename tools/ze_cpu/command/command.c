// SPDX-License-Identifier: MIT
#include "command.h"

#include "module/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_MAXIMUM 1024 // of each class

// The capacities of commands that are kept for reuse: of barriers and copies, of most launches.
static const size_t spare_bytes[] = {64, 1024};
#define SPARE_CLASSES (sizeof(spare_bytes) / sizeof(spare_bytes[0]))

static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the spares
static struct {
    struct cpu_command *first; // owned
    uint32_t count;
} spares[SPARE_CLASSES];

// The class of the least capacity that is enough, or SPARE_CLASSES.
static size_t class_for(size_t bytes)
{
    size_t size_class = 0;
    while (size_class < SPARE_CLASSES && spare_bytes[size_class] < bytes)
        size_class++;
    return size_class;
}

static struct cpu_command *take_spare(size_t size_class)
{
    pthread_mutex_lock(&spare_mutex);
    struct cpu_command *command = spares[size_class].first;
    if (command != NULL) {
        spares[size_class].first = command->next;
        spares[size_class].count--;
    }
    pthread_mutex_unlock(&spare_mutex);
    return command;
}

struct cpu_command *cpu_command_create(enum cpu_command_kind kind, uint32_t wait_count,
                                       size_t extra_bytes)
{
    size_t wanted = ((size_t)wait_count * sizeof(struct cpu_wait) + 15) / 16 * 16 + extra_bytes;
    size_t size_class = class_for(wanted);
    size_t capacity = size_class < SPARE_CLASSES ? spare_bytes[size_class] : wanted;
    struct cpu_command *command = size_class < SPARE_CLASSES ? take_spare(size_class) : NULL;
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
    size_t size_class = class_for(command->capacity_bytes);
    if (size_class < SPARE_CLASSES) {
        pthread_mutex_lock(&spare_mutex);
        if (spares[size_class].count < SPARE_MAXIMUM) {
            command->next = spares[size_class].first;
            spares[size_class].first = command;
            spares[size_class].count++;
            command = NULL;
        }
        pthread_mutex_unlock(&spare_mutex);
    }
    free(command);
}

void cpu_commands_finish(void)
{
    for (size_t size_class = 0; size_class < SPARE_CLASSES; size_class++) {
        for (struct cpu_command *spare = take_spare(size_class); spare != NULL;
             spare = take_spare(size_class))
            free(spare);
    }
}
