// SPDX-License-Identifier: MIT
#include "program/build/device_module_batch.h"

#include "core/alloc.h"
#include "device/context.h"
#include "program/compiler/compiler.h"

#include <pthread.h>
#include <signal.h>

// One of the builds, which one thread takes.
struct task {
    struct zepi_build_result *result; // owned; NULL: not begun, or failed without one
    struct zepi_error error;          // then, if it was begun
};

struct run {
    const struct zepi_device_module_batch *batch;
    const struct zepi_device_module_wanted *wanted;
    uint32_t count;
    struct task *tasks;
    atomic_uint next;
    atomic_bool has_failed; // none is begun any more
};

static void *run_tasks(void *user)
{
    struct run *run = user;
    const struct zepi_device_module_batch *batch = run->batch;
    // Relaxed: tasks are constant while threads run, and joining a thread orders its results.
    while (!atomic_load_explicit(&run->has_failed, memory_order_relaxed)) {
        const uint32_t at = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (at >= run->count)
            break;
        struct task *task = &run->tasks[at];
        const zepi_result_t result =
            zepi_device_module_look_up(batch->context, batch->device_index, run->wanted[at].image,
                                       batch->values, batch->options, batch->kind, &task->result);
        if (result != ZEPI_SUCCESS)
            zepi_error_save(&task->error);
        if (result != ZEPI_SUCCESS || !zepi_build_result_has_succeeded(task->result))
            atomic_store_explicit(&run->has_failed, true, memory_order_relaxed);
    }
    return NULL;
}

// In this thread and others, which take no signals of the host. It does without those that cannot
// be made.
static void run_in_threads(struct run *run, unsigned thread_count)
{
    pthread_t threads[ZEPI_COMPILER_PROCESSES_MAX];
    unsigned made = 0;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (made + 1 < thread_count && pthread_create(&threads[made], NULL, run_tasks, run) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    run_tasks(run);
    while (made > 0)
        pthread_join(threads[--made], NULL);
}

// Up to the first failure, whose number no build has that was not begun.
static zepi_result_t hand_out_tasks(struct run *run)
{
    const struct zepi_device_module_batch *batch = run->batch;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < run->count; i++) {
        struct task *task = &run->tasks[i];
        if (result != ZEPI_SUCCESS) {
            zepi_build_result_release(task->result);
        } else if (task->result) {
            result = zepi_device_module_hand_out(batch->options,
                                                 batch->context->devices[batch->device_index],
                                                 task->result, run->wanted[i].out_result);
        } else {
            zepi_error_restore(&task->error);
            result = task->error.result;
        }
    }
    return result;
}

static zepi_result_t get_at_one_time(const struct zepi_device_module_batch *batch, uint32_t count,
                                     const struct zepi_device_module_wanted *wanted,
                                     unsigned thread_count)
{
    struct run run = {.batch = batch,
                      .wanted = wanted,
                      .count = count,
                      .tasks = zepi_allocate(count, sizeof(struct task))};
    if (!run.tasks)
        return zepi_fail_no_memory();
    run_in_threads(&run, thread_count);
    const zepi_result_t result = hand_out_tasks(&run);
    zepi_free(run.tasks);
    return result;
}

zepi_result_t zepi_device_module_get_all(const struct zepi_device_module_batch *batch,
                                         uint32_t count,
                                         const struct zepi_device_module_wanted *wanted)
{
    const unsigned limit = zepi_compiler_limit();
    if (limit > 1 && count > 1)
        return get_at_one_time(batch, count, wanted, count < limit ? count : limit);
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = zepi_device_module_get(batch->context, batch->device_index, wanted[i].image,
                                        batch->values, batch->options, batch->kind,
                                        wanted[i].out_result);
    return result;
}
