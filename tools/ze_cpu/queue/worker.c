// SPDX-License-Identifier: MIT
#include "worker.h"

#include "device/device.h"
#include "device/timeout.h"
#include "entry.h"
#include "executor.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define IDLE_SPINS 2000

struct cpu_worker {
    struct cpu_worker *next, *previous; // guarded by workers_mutex
    pthread_t thread;
    pid_t process;                 // that has the thread
    struct cpu_executor *executor; // owned; used by the thread only
    _Atomic uint64_t submitted;    // written under the mutex
    _Atomic uint64_t completed;    // written by the thread
    _Atomic uint32_t synchronizers;
    // Where the thread ran last, and which thread waited for it last: spinning for one that this
    // core would have to run is of no use.
    _Atomic int cpu, synchronizer_cpu;
    pthread_mutex_t mutex; // guards the members below; nothing is called under it
    pthread_cond_t work;
    pthread_cond_t done;
    struct cpu_command *head, *tail; // owned
    bool is_asleep;
    bool stops;
    ze_result_t failure;
};

static pthread_mutex_t workers_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the list of workers
static struct cpu_worker *workers;

// Relaxed: hints.
static bool is_elsewhere(const _Atomic int *cpu)
{
    return atomic_load_explicit(cpu, memory_order_relaxed) != sched_getcpu();
}

static void note_cpu(_Atomic int *cpu)
{
    atomic_store_explicit(cpu, sched_getcpu(), memory_order_relaxed);
}

static void spin_for_work(struct cpu_worker *worker, uint64_t completed)
{
    for (int i = 0; i < IDLE_SPINS && is_elsewhere(&worker->synchronizer_cpu); i++) {
        if (atomic_load_explicit(&worker->submitted, memory_order_relaxed) != completed)
            return;
        __builtin_ia32_pause();
    }
}

// All commands that are there, or NULL when the worker shall end.
static struct cpu_command *take_work(struct cpu_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    while (worker->head == NULL && !worker->stops) {
        worker->is_asleep = true;
        pthread_cond_wait(&worker->work, &worker->mutex);
        worker->is_asleep = false;
    }
    struct cpu_command *commands = worker->head;
    worker->head = NULL;
    worker->tail = NULL;
    pthread_mutex_unlock(&worker->mutex);
    return commands;
}

static void note_completion(struct cpu_worker *worker, uint64_t completed, ze_result_t failure)
{
    if (failure != ZE_RESULT_SUCCESS) {
        pthread_mutex_lock(&worker->mutex);
        if (worker->failure == ZE_RESULT_SUCCESS)
            worker->failure = failure;
        pthread_mutex_unlock(&worker->mutex);
    }
    // Sequentially consistent with the synchronizers' count: one of the two sees the other.
    atomic_store(&worker->completed, completed);
    if (atomic_load(&worker->synchronizers) == 0)
        return;
    pthread_mutex_lock(&worker->mutex);
    pthread_cond_broadcast(&worker->done);
    pthread_mutex_unlock(&worker->mutex);
}

static void *run(void *argument)
{
    struct cpu_worker *worker = argument;
    uint64_t completed = 0;
    for (;;) {
        spin_for_work(worker, completed);
        struct cpu_command *command = take_work(worker);
        if (command == NULL)
            return NULL;
        note_cpu(&worker->cpu);
        while (command != NULL) {
            struct cpu_command *next = command->next;
            ze_result_t result = cpu_executor_run(worker->executor, command);
            completed++;
            // Without a successor the launches that are under way are waited for; with one, the
            // count may lag behind.
            if (next == NULL || result != ZE_RESULT_SUCCESS) {
                ze_result_t finished = cpu_executor_finish(worker->executor);
                note_completion(worker, completed, result != ZE_RESULT_SUCCESS ? result : finished);
            }
            cpu_command_destroy(command);
            command = next;
        }
    }
}

struct cpu_worker *cpu_worker_create(ze_device_handle_t device)
{
    struct cpu_worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL)
        return NULL;
    worker->executor = cpu_executor_create(device);
    if (worker->executor == NULL) {
        free(worker);
        return NULL;
    }
    worker->process = getpid();
    pthread_mutex_init(&worker->mutex, NULL);
    cpu_condition_init(&worker->work);
    cpu_condition_init(&worker->done);
    // Signals are the application's: its threads should get them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, run, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        cpu_executor_destroy(worker->executor);
        free(worker);
        return NULL;
    }
    pthread_mutex_lock(&workers_mutex);
    worker->next = workers;
    if (workers != NULL)
        workers->previous = worker;
    workers = worker;
    pthread_mutex_unlock(&workers_mutex);
    return worker;
}

void cpu_worker_destroy(struct cpu_worker *worker)
{
    // A child of fork lacks the thread: the condition has it as a waiter for ever, a lock may, too.
    if (worker == NULL || worker->process != getpid())
        return;
    pthread_mutex_lock(&workers_mutex);
    if (worker->previous != NULL)
        worker->previous->next = worker->next;
    else
        workers = worker->next;
    if (worker->next != NULL)
        worker->next->previous = worker->previous;
    pthread_mutex_unlock(&workers_mutex);

    pthread_mutex_lock(&worker->mutex);
    worker->stops = true;
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    cpu_executor_destroy(worker->executor);
    pthread_cond_destroy(&worker->done);
    pthread_cond_destroy(&worker->work);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

void cpu_worker_submit(struct cpu_worker *worker, struct cpu_command *first,
                       struct cpu_command *last)
{
    uint64_t count = 1;
    for (struct cpu_command *command = first; command != last; command = command->next)
        count++;
    last->next = NULL;
    pthread_mutex_lock(&worker->mutex);
    if (worker->tail != NULL)
        worker->tail->next = first;
    else
        worker->head = first;
    worker->tail = last;
    atomic_fetch_add_explicit(&worker->submitted, count, memory_order_relaxed);
    bool wakes = worker->is_asleep;
    pthread_mutex_unlock(&worker->mutex);
    if (wakes)
        pthread_cond_signal(&worker->work);
}

static ze_result_t take_failure(struct cpu_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    ze_result_t failure = worker->failure;
    worker->failure = ZE_RESULT_SUCCESS;
    pthread_mutex_unlock(&worker->mutex);
    return failure;
}

ze_result_t cpu_worker_synchronize(struct cpu_worker *worker, uint64_t timeout_ns)
{
    uint64_t goal = atomic_load(&worker->submitted);
    const uint64_t deadline_ns = timeout_ns != 0 ? cpu_deadline(timeout_ns) : 0;
    note_cpu(&worker->synchronizer_cpu);
    for (int i = 0; i < IDLE_SPINS; i++) {
        if (atomic_load_explicit(&worker->completed, memory_order_acquire) >= goal)
            return take_failure(worker);
        if (!is_elsewhere(&worker->cpu) || timeout_ns < CPU_TIMEOUT_SPIN_NS)
            break;
        __builtin_ia32_pause();
    }
    if (timeout_ns == 0)
        return ZE_RESULT_NOT_READY;
    bool is_in_time = true;
    pthread_mutex_lock(&worker->mutex);
    atomic_fetch_add(&worker->synchronizers, 1);
    while (atomic_load(&worker->completed) < goal && is_in_time)
        is_in_time = cpu_condition_wait(&worker->done, &worker->mutex, deadline_ns);
    atomic_fetch_sub(&worker->synchronizers, 1);
    pthread_mutex_unlock(&worker->mutex);
    if (atomic_load(&worker->completed) < goal)
        return ZE_RESULT_NOT_READY;
    return take_failure(worker);
}

bool cpu_workers_are_idle(void)
{
    bool are_idle = true;
    pthread_mutex_lock(&workers_mutex);
    for (struct cpu_worker *worker = workers; worker != NULL; worker = worker->next)
        if (atomic_load(&worker->completed) < atomic_load(&worker->submitted))
            are_idle = false;
    pthread_mutex_unlock(&workers_mutex);
    return are_idle;
}

static bool are_settled(void)
{
    bool are = true;
    pthread_mutex_lock(&workers_mutex);
    for (struct cpu_worker *worker = workers; worker != NULL; worker = worker->next)
        if (atomic_load(&worker->completed) < atomic_load(&worker->submitted) &&
            !cpu_executor_is_waiting(worker->executor))
            are = false;
    pthread_mutex_unlock(&workers_mutex);
    return are;
}

// Until no worker executes anything, for that many milliseconds. False if it takes too long.
static bool wait_until_settled(int milliseconds, uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int settled = 0;
    while (settled < milliseconds && cpu_device_clock() < deadline_ns) {
        settled = are_settled() ? settled + 1 : 0;
        nanosleep(&pause, NULL);
    }
    return settled == milliseconds;
}

bool cpu_workers_settle(uint64_t timeout_ns)
{
    const uint64_t deadline_ns = cpu_deadline(timeout_ns);
    // A worker whose event was just signalled may be about to begin.
    wait_until_settled(3, deadline_ns);
    atomic_store(&cpu_executors_are_over, true);
    return wait_until_settled(1, deadline_ns);
}

bool cpu_workers_were_settled(void)
{
    if (pthread_mutex_trylock(&workers_mutex) != 0)
        return false;
    pthread_mutex_unlock(&workers_mutex);
    return are_settled();
}

void cpu_workers_drain(void)
{
    // Polled: no worker may be destroyed under a lock that its own work needs.
    const struct timespec pause = {.tv_nsec = 50000};
    while (!cpu_workers_are_idle())
        nanosleep(&pause, NULL);
}

ze_result_t ZE_APICALL cpu_zeDeviceSynchronize(ze_device_handle_t hDevice)
{
    (void)hDevice;
    cpu_workers_drain();
    return ZE_RESULT_SUCCESS;
}
