// SPDX-License-Identifier: MIT
#include "engine.h"

#include "device/device.h"
#include "device/timeout.h"
#include "entry.h"
#include "executor.h"
#include "options.h"
#include "window.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IDLE_SPINS 2000
#define IDLE_NS 200000000u // after which a thread ends
#define HOLD_NS 200000u    // for which a window waits for more commands

struct cpu_stream {
    struct cpu_event_watch watch; // first member; of the event that the parked commands wait for
    struct cpu_engine *engine;    // used
    bool is_parked;               // this and the next two: for the engine's thread only
    struct cpu_chain parked;      // owned; behind the window
    uint64_t executed;
    // The next three are for the engine's thread only, too.
    struct cpu_window *window; // owned; NULL: commands are executed in the order of submission
    struct cpu_stream *next_held;
    bool is_held;                  // among those whose windows wait for more
    struct cpu_stream *next_woken; // under the engine's mutex
    _Atomic uint64_t submitted;
    _Atomic uint64_t completed; // written under the mutex
    pthread_mutex_t mutex;      // guards the members below; nothing is called under it
    pthread_cond_t done;
    uint32_t synchronizers;
    ze_result_t failure;
};

struct cpu_engine_name {
    ze_device_handle_t device; // borrowed
    uint32_t ordinal, index;
    ze_command_queue_priority_t priority;
};

enum thread_state { THREAD_NONE, THREAD_RUNS, THREAD_HAS_ENDED };

struct cpu_engine {
    struct cpu_engine *next; // this and the next: under engines_mutex
    uint32_t users;
    struct cpu_engine_name name;
    pid_t process;                 // that has the thread
    struct cpu_executor *executor; // owned; used by the thread only
    uint64_t taken;                // see `served`; for the thread only
    struct cpu_stream *held;       // whose windows wait for more; for the thread only
    uint64_t held_until_ns;
    _Atomic uint64_t posted; // submissions and streams that were woken
    _Atomic uint64_t served; // of these, after which the thread had nothing left to execute
    _Atomic bool has_woken;
    // Where the thread ran last, and which thread waited for it last: spinning for one that this
    // core would have to run is of no use.
    _Atomic int cpu, synchronizer_cpu;
    pthread_mutex_t
        mutex; // guards the members below; nothing is called under it, but a thread made
    pthread_cond_t work;
    struct cpu_chain incoming; // owned
    struct cpu_stream *woken;
    pthread_t thread;
    enum thread_state thread_state;
    bool is_asleep;
    bool stops;
};

static pthread_mutex_t engines_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the list of engines
static struct cpu_engine *engines;
static _Atomic uint64_t pending; // commands of all engines that are not complete

// Relaxed: hints.
static bool is_elsewhere(const _Atomic int *cpu)
{
    return atomic_load_explicit(cpu, memory_order_relaxed) != sched_getcpu();
}

static void note_cpu(_Atomic int *cpu)
{
    atomic_store_explicit(cpu, sched_getcpu(), memory_order_relaxed);
}

static void spin_for_work(struct cpu_engine *engine)
{
    const uint64_t served = atomic_load_explicit(&engine->served, memory_order_relaxed);
    for (int i = 0; i < IDLE_SPINS && is_elsewhere(&engine->synchronizer_cpu); i++) {
        if (atomic_load_explicit(&engine->posted, memory_order_relaxed) != served)
            return;
        __builtin_ia32_pause();
    }
}

// What the window has is executed when it is full or its time is over.
static void hold(struct cpu_engine *engine, struct cpu_stream *stream)
{
    if (stream->is_held)
        return;
    if (engine->held == NULL)
        engine->held_until_ns = cpu_deadline(HOLD_NS);
    stream->is_held = true;
    stream->next_held = engine->held;
    engine->held = stream;
}

// The commands of streams whose wait is over come before all that was submitted later.
static void take_woken_locked(struct cpu_engine *engine, struct cpu_chain *chain)
{
    struct cpu_chain woken = {0};
    for (struct cpu_stream *stream = engine->woken; stream != NULL; stream = stream->next_woken) {
        stream->is_parked = false;
        cpu_chain_append(&woken, stream->parked);
        stream->parked = (struct cpu_chain){0};
        if (stream->window != NULL) {
            hold(engine, stream);
            engine->held_until_ns = 0;
        }
    }
    engine->woken = NULL;
    atomic_store_explicit(&engine->has_woken, false, memory_order_relaxed);
    cpu_chain_append(&woken, *chain);
    *chain = woken;
}

// More to execute.
static void take_locked(struct cpu_engine *engine, struct cpu_chain *chain)
{
    cpu_chain_append(chain, engine->incoming);
    engine->incoming = (struct cpu_chain){0};
    take_woken_locked(engine, chain);
    engine->taken = atomic_load_explicit(&engine->posted, memory_order_relaxed);
}

// Sleeps until there is work, or windows have waited for long enough. False if the thread shall
// end.
static bool sleep_locked(struct cpu_engine *engine)
{
    const bool holds = engine->held != NULL;
    const uint64_t deadline_ns = holds ? engine->held_until_ns : cpu_deadline(IDLE_NS);
    bool is_in_time = true;
    engine->is_asleep = true;
    while (engine->incoming.head == NULL && engine->woken == NULL && !engine->stops && is_in_time)
        // The runtime's part in the end of a thread may be gone when the process ends.
        is_in_time = cpu_condition_wait(
            &engine->work, &engine->mutex,
            atomic_load(&cpu_executors_are_over) && !holds ? UINT64_MAX : deadline_ns);
    engine->is_asleep = false;
    return holds || engine->incoming.head != NULL || engine->woken != NULL;
}

// All that can be executed. False if the thread shall end.
static bool take_work(struct cpu_engine *engine, struct cpu_chain *chain)
{
    spin_for_work(engine);
    pthread_mutex_lock(&engine->mutex);
    const bool has_work = sleep_locked(engine);
    if (has_work)
        take_locked(engine, chain);
    else
        engine->thread_state = THREAD_HAS_ENDED;
    pthread_mutex_unlock(&engine->mutex);
    return has_work;
}

// Waits for the launches that are under way, and tells of all that the stream has done. The stream
// may be gone on return.
static void publish(struct cpu_engine *engine, struct cpu_stream *stream, ze_result_t result)
{
    const ze_result_t finished = cpu_executor_finish(engine->executor);
    const uint64_t before = atomic_load_explicit(&stream->completed, memory_order_relaxed);
    atomic_fetch_sub(&pending, stream->executed - before);
    pthread_mutex_lock(&stream->mutex);
    if (stream->failure == ZE_RESULT_SUCCESS)
        stream->failure = result != ZE_RESULT_SUCCESS ? result : finished;
    atomic_store(&stream->completed, stream->executed);
    if (stream->synchronizers > 0)
        pthread_cond_broadcast(&stream->done);
    pthread_mutex_unlock(&stream->mutex);
}

static void *run(void *argument);

// Without room for a thread the next submission or synchronization tries again.
static void start_thread_locked(struct cpu_engine *engine)
{
    if (engine->thread_state == THREAD_RUNS)
        return;
    if (engine->thread_state == THREAD_HAS_ENDED)
        pthread_join(engine->thread, NULL);
    // Signals are the application's: its threads should get them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&engine->thread, NULL, run, engine);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    engine->thread_state = error == 0 ? THREAD_RUNS : THREAD_NONE;
}

// Called by the thread that signals the event.
static void wake(struct cpu_event_watch *watch)
{
    struct cpu_stream *stream = (struct cpu_stream *)watch;
    struct cpu_engine *engine = stream->engine;
    pthread_mutex_lock(&engine->mutex);
    struct cpu_stream **link = &engine->woken;
    while (*link != NULL)
        link = &(*link)->next_woken;
    stream->next_woken = NULL;
    *link = stream;
    atomic_store_explicit(&engine->has_woken, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&engine->posted, 1, memory_order_relaxed);
    start_thread_locked(engine);
    // Not later: as soon as its commands are done the stream may be destroyed, and the engine.
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->mutex);
}

// The stream waits for the command's next event, with all that follows in it. False if it need not
// wait any more.
static bool park(struct cpu_engine *engine, struct cpu_stream *stream, struct cpu_command *command)
{
    publish(engine, stream, ZE_RESULT_SUCCESS);
    const struct cpu_wait *wait = &command->waits[command->waited];
    stream->watch =
        (struct cpu_event_watch){.event = wait->event, .goal = wait->goal, .wake = wake};
    // This wait is over when the stream wakes, if not now: the event may be reset by then.
    command->waited++;
    stream->is_parked = cpu_event_watch(&stream->watch);
    return stream->is_parked;
}

// Until the window has no more than `count` units, or all wait: then the stream waits with the
// oldest. It may be gone on return if that is none.
static void execute_window(struct cpu_engine *engine, struct cpu_stream *stream, size_t count)
{
    struct cpu_window *window = stream->window;
    size_t left = window->count;
    while (left > count) {
        ze_result_t result;
        if (cpu_window_step(window, engine->executor, &result)) {
            left = window->count;
            stream->executed = cpu_window_executed(window);
            publish(engine, stream, result);
        } else if (park(engine, stream, window->units[0].next)) {
            return;
        }
    }
}

static void execute_held(struct cpu_engine *engine)
{
    while (engine->held != NULL) {
        struct cpu_stream *stream = engine->held;
        engine->held = stream->next_held;
        stream->is_held = false;
        if (!stream->is_parked)
            execute_window(engine, stream, 0);
    }
}

static void execute_held_if_over(struct cpu_engine *engine)
{
    if (engine->held != NULL && cpu_device_clock() >= engine->held_until_ns)
        execute_held(engine);
}

// The next command, with those that belong to it, comes to its stream's window.
static void add_to_window(struct cpu_engine *engine, struct cpu_chain *chain)
{
    struct cpu_command *first = chain->head, *last = first;
    struct cpu_stream *stream = first->stream;
    uint64_t count = 1;
    for (; first->kind == CPU_COMMAND_BEGIN && last != first->u.begin.end; count++)
        last = last->next;
    chain->head = last->next;
    last->next = NULL;
    if (!stream->is_parked && stream->window->count == CPU_WINDOW_UNITS)
        execute_window(engine, stream, CPU_WINDOW_UNITS - 1);
    if (stream->is_parked) {
        cpu_chain_append(&stream->parked, (struct cpu_chain){first, last});
        return;
    }
    cpu_window_add(stream->window, first, count);
    hold(engine, stream);
}

// False: the command waits, and what follows it in its stream.
static bool wait_is_over(struct cpu_engine *engine, struct cpu_command *command)
{
    while (!cpu_command_is_ready(command))
        if (park(engine, command->stream, command))
            return false;
    return true;
}

static void execute_next(struct cpu_engine *engine, struct cpu_chain *chain)
{
    struct cpu_stream *stream = chain->head->stream;
    if (!stream->is_parked)
        cpu_window_choose_copy(&chain->head);
    struct cpu_command *command = chain->head;
    chain->head = command->next;
    if (stream->is_parked || !wait_is_over(engine, command)) {
        command->next = NULL;
        cpu_chain_append(&stream->parked, (struct cpu_chain){command, command});
        return;
    }
    const ze_result_t result = cpu_executor_run(engine->executor, command);
    stream->executed++;
    // Before another command of the stream the launches that are under way are not waited for: the
    // count may lag behind.
    if (chain->head == NULL || chain->head->stream != stream || result != ZE_RESULT_SUCCESS)
        publish(engine, stream, result);
    cpu_command_destroy(command);
}

static void *run(void *argument)
{
    struct cpu_engine *engine = argument;
    struct cpu_chain chain = {0};
    while (take_work(engine, &chain)) {
        note_cpu(&engine->cpu);
        while (chain.head != NULL) {
            if (chain.head->stream->window != NULL)
                add_to_window(engine, &chain);
            else
                execute_next(engine, &chain);
            if (atomic_load_explicit(&engine->has_woken, memory_order_relaxed)) {
                pthread_mutex_lock(&engine->mutex);
                take_locked(engine, &chain);
                pthread_mutex_unlock(&engine->mutex);
            }
            execute_held_if_over(engine);
        }
        execute_held_if_over(engine);
        if (engine->held == NULL)
            atomic_store(&engine->served, engine->taken);
    }
    return NULL;
}

static struct cpu_engine *create_engine(const struct cpu_engine_name *name)
{
    struct cpu_engine *engine = calloc(1, sizeof(*engine));
    if (engine == NULL)
        return NULL;
    engine->executor = cpu_executor_create(name->device);
    if (engine->executor == NULL) {
        free(engine);
        return NULL;
    }
    engine->name = *name;
    engine->process = getpid();
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_cond_init(&engine->work, NULL);
    return engine;
}

static bool is_named(const struct cpu_engine *engine, const struct cpu_engine_name *name,
                     pid_t process)
{
    return engine->name.device == name->device && engine->name.ordinal == name->ordinal &&
           engine->name.index == name->index && engine->name.priority == name->priority &&
           engine->process == process;
}

static struct cpu_engine *use_engine(const struct cpu_engine_name *name)
{
    const pid_t process = getpid();
    pthread_mutex_lock(&engines_mutex);
    struct cpu_engine *engine = engines;
    while (engine != NULL && !is_named(engine, name, process))
        engine = engine->next;
    if (engine == NULL) {
        engine = create_engine(name);
        if (engine != NULL) {
            engine->next = engines;
            engines = engine;
        }
    }
    if (engine != NULL)
        engine->users++;
    pthread_mutex_unlock(&engines_mutex);
    return engine;
}

static void leave_engine(struct cpu_engine *engine)
{
    pthread_mutex_lock(&engines_mutex);
    const bool is_unused = --engine->users == 0;
    struct cpu_engine **link = &engines;
    while (*link != engine)
        link = &(*link)->next;
    if (is_unused)
        *link = engine->next;
    pthread_mutex_unlock(&engines_mutex);
    if (!is_unused)
        return;
    pthread_mutex_lock(&engine->mutex);
    engine->stops = true;
    const bool has_thread = engine->thread_state != THREAD_NONE;
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->mutex);
    if (has_thread)
        pthread_join(engine->thread, NULL);
    cpu_executor_destroy(engine->executor);
    pthread_cond_destroy(&engine->work);
    pthread_mutex_destroy(&engine->mutex);
    free(engine);
}

ze_result_t cpu_stream_create(ze_device_handle_t device, const ze_command_queue_desc_t *desc,
                              struct cpu_stream **out_stream)
{
    if (desc->ordinal >= CPU_GROUP_COUNT || desc->index >= CPU_GROUP_QUEUES)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if ((desc->flags & ~0x7u) != 0 || (uint32_t)desc->mode > 2 || (uint32_t)desc->priority > 2)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    *out_stream = NULL;
    if (!cpu_options()->executes)
        return ZE_RESULT_SUCCESS;
    struct cpu_stream *stream = calloc(1, sizeof(*stream));
    if (stream == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    stream->engine =
        use_engine(&(struct cpu_engine_name){device, desc->ordinal, desc->index, desc->priority});
    if (stream->engine == NULL) {
        free(stream);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->done, NULL);
    *out_stream = stream;
    return ZE_RESULT_SUCCESS;
}

bool cpu_stream_reorder(struct cpu_stream *stream, uint64_t seed)
{
    stream->window = malloc(sizeof(*stream->window));
    if (stream->window == NULL)
        return false;
    cpu_window_init(stream->window, seed);
    return true;
}

void cpu_stream_destroy(struct cpu_stream *stream)
{
    // A child of fork lacks the thread: a condition may have it as a waiter, a lock as its owner.
    if (stream == NULL || stream->engine->process != getpid())
        return;
    while (atomic_load(&stream->completed) < atomic_load(&stream->submitted))
        cpu_stream_synchronize(stream, UINT64_MAX);
    // The thread that published is past its last use of the stream.
    pthread_mutex_lock(&stream->mutex);
    pthread_mutex_unlock(&stream->mutex);
    pthread_cond_destroy(&stream->done);
    pthread_mutex_destroy(&stream->mutex);
    leave_engine(stream->engine);
    free(stream->window);
    free(stream);
}

void cpu_stream_submit(struct cpu_stream *stream, struct cpu_chain chain)
{
    struct cpu_engine *engine = stream->engine;
    uint64_t count = 0;
    for (struct cpu_command *command = chain.head; command != NULL; command = command->next) {
        command->stream = stream;
        count++;
    }
    pthread_mutex_lock(&engine->mutex);
    cpu_chain_append(&engine->incoming, chain);
    atomic_fetch_add_explicit(&stream->submitted, count, memory_order_relaxed);
    atomic_fetch_add(&pending, count);
    atomic_fetch_add_explicit(&engine->posted, 1, memory_order_relaxed);
    start_thread_locked(engine);
    const bool wakes = engine->is_asleep;
    pthread_mutex_unlock(&engine->mutex);
    if (wakes)
        pthread_cond_signal(&engine->work);
}

// False if there is work and no room for a thread.
static bool has_thread_for_work(struct cpu_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    const bool has_work = engine->incoming.head != NULL || engine->woken != NULL;
    if (has_work)
        start_thread_locked(engine);
    const bool has_thread = !has_work || engine->thread_state == THREAD_RUNS;
    pthread_mutex_unlock(&engine->mutex);
    return has_thread;
}

static ze_result_t take_failure(struct cpu_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    ze_result_t failure = stream->failure;
    stream->failure = ZE_RESULT_SUCCESS;
    pthread_mutex_unlock(&stream->mutex);
    return failure;
}

ze_result_t cpu_stream_synchronize(struct cpu_stream *stream, uint64_t timeout_ns)
{
    struct cpu_engine *engine = stream->engine;
    uint64_t goal = atomic_load(&stream->submitted);
    const uint64_t deadline_ns = timeout_ns != 0 ? cpu_deadline(timeout_ns) : 0;
    note_cpu(&engine->synchronizer_cpu);
    for (int i = 0; i < IDLE_SPINS; i++) {
        if (atomic_load_explicit(&stream->completed, memory_order_acquire) >= goal)
            return take_failure(stream);
        if (!is_elsewhere(&engine->cpu) || timeout_ns < CPU_TIMEOUT_SPIN_NS)
            break;
        __builtin_ia32_pause();
    }
    if (timeout_ns == 0)
        return ZE_RESULT_NOT_READY;
    if (!has_thread_for_work(engine))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    bool is_in_time = true;
    pthread_mutex_lock(&stream->mutex);
    stream->synchronizers++;
    while (atomic_load(&stream->completed) < goal && is_in_time)
        is_in_time = cpu_condition_wait(&stream->done, &stream->mutex, deadline_ns);
    stream->synchronizers--;
    pthread_mutex_unlock(&stream->mutex);
    if (atomic_load(&stream->completed) < goal)
        return ZE_RESULT_NOT_READY;
    return take_failure(stream);
}

bool cpu_engines_are_idle(void)
{
    return atomic_load(&pending) == 0;
}

static bool are_settled(void)
{
    bool are = true;
    pthread_mutex_lock(&engines_mutex);
    for (struct cpu_engine *engine = engines; engine != NULL; engine = engine->next)
        if (atomic_load(&engine->served) < atomic_load(&engine->posted))
            are = false;
    pthread_mutex_unlock(&engines_mutex);
    return are;
}

// Until no engine executes anything, for that many milliseconds. False if it takes too long.
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

bool cpu_engines_settle(uint64_t timeout_ns)
{
    const uint64_t deadline_ns = cpu_deadline(timeout_ns);
    // An engine whose event was just signalled may be about to begin.
    wait_until_settled(3, deadline_ns);
    atomic_store(&cpu_executors_are_over, true);
    return wait_until_settled(1, deadline_ns);
}

bool cpu_engines_were_settled(void)
{
    if (pthread_mutex_trylock(&engines_mutex) != 0)
        return false;
    pthread_mutex_unlock(&engines_mutex);
    return are_settled();
}

void cpu_engines_drain(void)
{
    // Polled: no engine may be destroyed under a lock that its own work needs.
    const struct timespec pause = {.tv_nsec = 50000};
    while (!cpu_engines_are_idle())
        nanosleep(&pause, NULL);
}

ze_result_t ZE_APICALL cpu_zeDeviceSynchronize(ze_device_handle_t hDevice)
{
    cpu_engines_drain();
    return ZE_RESULT_SUCCESS;
}
