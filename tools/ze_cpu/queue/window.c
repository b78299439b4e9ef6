// SPDX-License-Identifier: MIT
#include "window.h"

#include "executor.h"

#include <string.h>

void cpu_window_init(struct cpu_window *window, uint64_t seed)
{
    *window = (struct cpu_window){.random = seed * 0x9e3779b97f4a7c15u | 1};
}

void cpu_window_add(struct cpu_window *window, struct cpu_command *first, uint64_t count)
{
    window->units[window->count++] = (struct cpu_unit){.next = first, .position = window->arrived};
    window->arrived += count;
}

uint64_t cpu_window_executed(const struct cpu_window *window)
{
    return window->count > 0 ? window->units[0].position : window->arrived;
}

static uint32_t next_random(struct cpu_window *window)
{
    window->random ^= window->random << 13;
    window->random ^= window->random >> 7;
    window->random ^= window->random << 17;
    return (uint32_t)(window->random >> 32);
}

void cpu_window_choose_copy(struct cpu_command **first)
{
    const struct cpu_command *end = (*first)->end;
    struct cpu_command **chosen = first, **link = first;
    if (end == NULL || !end->u.end.is_reordered)
        return;
    for (int i = 0; i < CPU_WINDOW_COPIES && (*link)->end == end; i++, link = &(*link)->next) {
        if ((*link)->kind == CPU_COMMAND_BARRIER)
            break;
        if (cpu_command_is_ready(*link))
            chosen = link;
    }
    struct cpu_command *command = *chosen;
    *chosen = command->next;
    command->next = *first;
    *first = command;
}

static bool is_ready(struct cpu_unit *unit)
{
    cpu_window_choose_copy(&unit->next);
    return cpu_command_is_ready(unit->next);
}

// NULL where every unit waits for something.
static struct cpu_unit *choose(struct cpu_window *window)
{
    struct cpu_unit *ready[CPU_WINDOW_UNITS];
    uint32_t count = 0;
    for (size_t i = 0; i < window->count; i++) {
        struct cpu_unit *unit = &window->units[i];
        const bool is_barrier = unit->next->kind == CPU_COMMAND_BARRIER;
        const bool follows_all = is_barrier && unit->next->wait_count == 0;
        if ((i == 0 || !follows_all) && is_ready(unit))
            ready[count++] = unit;
        if (is_barrier)
            break;
    }
    if (count == 0)
        return NULL;
    // The last one most often: what came before it and should be over is not.
    const uint32_t random = next_random(window);
    return ready[random % 4 != 0 ? count - 1 : random / 4 % count];
}

static void remove_unit(struct cpu_window *window, struct cpu_unit *unit)
{
    const size_t behind = (size_t)(&window->units[window->count] - (unit + 1));
    memmove(unit, unit + 1, behind * sizeof(*unit));
    window->count--;
}

bool cpu_window_step(struct cpu_window *window, struct cpu_executor *executor,
                     ze_result_t *out_result)
{
    struct cpu_unit *unit = choose(window);
    *out_result = ZE_RESULT_SUCCESS;
    if (unit == NULL)
        return false;
    do {
        struct cpu_command *done = unit->next;
        unit->next = done->next;
        const ze_result_t own = cpu_executor_run(executor, done);
        cpu_command_destroy(done);
        *out_result = *out_result == ZE_RESULT_SUCCESS ? own : *out_result;
    } while (unit->next != NULL && is_ready(unit));
    if (unit->next == NULL)
        remove_unit(window, unit);
    return true;
}
