// SPDX-License-Identifier: MIT
#include "engine.h"

#include "control.h"
#include "gpu_clock.h"
#include "memory/gpu_memory.h"
#include "memory/watch.h"
#include "options.h"
#include "streamer.h"
#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define STOP_SECONDS 2
#define HANG_NS 100000000
#define TIMER_SLACK_NS 1000
#define SETTLE_PAUSE_NS 500000
#define SETTLE_LOOKS 50

// Engines with jobs, and those of them that wait for memory.
static _Atomic int busy_count, waiting_count;
static _Atomic uint64_t submit_us, return_us;

struct shim_engine {
    struct shim_address_space *space; // one reference is owned
    uint32_t queue;
    _Atomic bool stops, is_lost;
    // Used by the thread that runs the engine only.
    struct shim_streamer streamer;
    struct shim_watch watch;
    int64_t hang_began_ns; // 0: no kernel hangs

    pthread_mutex_t mutex; // guards the members below; no command runs under it
    pthread_cond_t changed;
    struct shim_job *jobs; // a ring; the first one runs
    size_t first, count, capacity;
    bool is_running; // a thread is in the streamer
    bool has_begun;  // the first job has
    bool has_thread;
    bool thread_ended;
    bool is_orphan; // destroyed, but its thread had not ended: it frees the engine
};

static void drop_jobs(struct shim_engine *engine)
{
    if (engine->count > 0)
        atomic_fetch_sub(&busy_count, 1);
    engine->count = 0;
    engine->has_begun = false;
}

static void free_engine(struct shim_engine *engine)
{
    drop_jobs(engine);
    shim_watch_finish(&engine->watch);
    shim_address_space_release(engine->space);
    pthread_cond_destroy(&engine->changed);
    pthread_mutex_destroy(&engine->mutex);
    free(engine->jobs);
    free(engine);
}

void shim_engine_lose(struct shim_engine *engine, const char *reason)
{
    shim_trace("lost queue %u %s", engine->queue, reason);
    atomic_store(&engine->is_lost, true);
    shim_watches_notify_all(); // threads that wait for a fence of it
}

// A kernel that hangs is found out after a while, as by the kernel driver.
static bool has_hung(struct shim_engine *engine)
{
    if (!shim_walkers_hang(&engine->streamer.walkers)) {
        engine->hang_began_ns = 0;
        return false;
    }
    const int64_t now_ns = shim_now_ns();
    if (engine->hang_began_ns == 0)
        engine->hang_began_ns = now_ns;
    return now_ns - engine->hang_began_ns >= HANG_NS;
}

// When the engine looks again although nothing was written: a kernel may be over, or has hung.
static int64_t next_look(const struct shim_engine *engine)
{
    const int64_t now_ns = shim_now_ns();
    if (engine->hang_began_ns != 0)
        return now_ns + 1000000;
    const uint64_t due = shim_walkers_next_due(&engine->streamer.walkers), now = shim_gpu_time();
    if (due == UINT64_MAX)
        return INT64_MAX;
    return due <= now ? now_ns : now_ns + (int64_t)((due - now) * 1000000000 / SHIM_CLOCK_HZ);
}

static void wait_for_change(struct shim_engine *engine)
{
    const void *awaited = engine->streamer.awaited;
    if (awaited)
        atomic_fetch_add(&waiting_count, 1);
    shim_watch_wait(&engine->watch, awaited, next_look(engine));
    if (awaited)
        atomic_fetch_sub(&waiting_count, 1);
}

// Runs the first job, which is there. False if it waits and `may_wait` is false. Needs is_running.
static bool run_job(struct shim_engine *engine, const struct shim_job *job, bool may_wait)
{
    enum shim_progress progress = job->batch == 0 ? SHIM_ENDED : SHIM_GOES_ON;
    while (progress != SHIM_ENDED && !atomic_load(&engine->stops) &&
           !atomic_load(&engine->is_lost)) {
        const uint64_t before = engine->streamer.command_count;
        progress = shim_streamer_run(&engine->streamer);
        if (engine->streamer.command_count != before)
            shim_watch_reset(&engine->watch);
        if (progress == SHIM_FAILED || has_hung(engine)) {
            shim_engine_lose(engine, progress == SHIM_FAILED ? "failed" : "hangs");
            return true;
        }
        if (progress == SHIM_WAITS && !may_wait)
            return false;
        if (progress == SHIM_WAITS)
            wait_for_change(engine);
    }
    if (progress == SHIM_ENDED && job->fence_address != 0 &&
        !shim_gpu_memory_write(engine->space, job->fence_address, job->fence_value, 8))
        shim_engine_lose(engine, "failed");
    return true;
}

// Runs the jobs that are there; with `may_wait` until all is done, else until something waits. The
// mutex is held, and let go while commands run.
static void run_jobs_locked(struct shim_engine *engine, bool may_wait)
{
    bool is_done = true;
    engine->is_running = true;
    while (engine->count > 0 && is_done && !atomic_load(&engine->stops)) {
        const struct shim_job job = engine->jobs[engine->first];
        const bool begins = !engine->has_begun;
        engine->has_begun = true;
        pthread_mutex_unlock(&engine->mutex);
        if (begins)
            shim_streamer_begin(&engine->streamer, job.batch);
        is_done = run_job(engine, &job, may_wait);
        pthread_mutex_lock(&engine->mutex);
        if (atomic_load(&engine->is_lost)) {
            drop_jobs(engine);
        } else if (is_done) {
            engine->first = (engine->first + 1) % engine->capacity;
            if (--engine->count == 0)
                atomic_fetch_sub(&busy_count, 1);
            engine->has_begun = false;
        }
        if (job.number != 0)
            shim_watches_notify_all(); // threads that wait for the job
    }
    engine->is_running = false;
    pthread_cond_broadcast(&engine->changed);
}

static void *engine_thread(void *argument)
{
    struct shim_engine *engine = argument;
    prctl(PR_SET_NAME, "drm_shim engine");
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    pthread_mutex_lock(&engine->mutex);
    while (!atomic_load(&engine->stops)) {
        if (engine->count > 0 && !engine->is_running)
            run_jobs_locked(engine, true);
        else
            pthread_cond_wait(&engine->changed, &engine->mutex);
    }
    engine->thread_ended = true;
    const bool is_orphan = engine->is_orphan;
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->mutex);
    if (is_orphan)
        free_engine(engine);
    return NULL;
}

// All signals but those of faults are the program's threads'.
static int start_thread(struct shim_engine *engine)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&blocked, faults[i]);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int error = pthread_create(&thread, &attributes, engine_thread, engine);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

struct shim_engine *shim_engine_create(struct shim_address_space *space,
                                       const struct shim_product *product, uint32_t queue)
{
    struct shim_engine *engine = calloc(1, sizeof(*engine));
    if (engine == NULL)
        return NULL;
    shim_address_space_retain(space);
    engine->space = space;
    engine->queue = queue;
    shim_streamer_init(&engine->streamer, space, product, queue);
    shim_watch_init(&engine->watch);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_cond_init(&engine->changed, NULL);
    return engine;
}

void shim_engine_destroy(struct shim_engine *engine)
{
    if (engine == NULL)
        return;
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    atomic_store(&engine->stops, true);
    shim_watch_notify(&engine->watch);
    pthread_mutex_lock(&engine->mutex);
    pthread_cond_broadcast(&engine->changed);
    int error = 0;
    while (engine->has_thread && !engine->thread_ended && error == 0)
        error =
            pthread_cond_clockwait(&engine->changed, &engine->mutex, CLOCK_MONOTONIC, &deadline);
    const bool is_over = !engine->has_thread || engine->thread_ended;
    engine->is_orphan = !is_over;
    pthread_mutex_unlock(&engine->mutex);
    if (is_over)
        free_engine(engine);
    else
        shim_trace("destroyed queue %u while a kernel runs", engine->queue);
}

static bool reserve_job_locked(struct shim_engine *engine)
{
    if (engine->count < engine->capacity)
        return true;
    const size_t capacity = engine->capacity == 0 ? 16 : engine->capacity * 2;
    struct shim_job *jobs = malloc(capacity * sizeof(*jobs));
    if (jobs == NULL)
        return false;
    for (size_t i = 0; i < engine->count; i++)
        jobs[i] = engine->jobs[(engine->first + i) % engine->capacity];
    free(engine->jobs);
    engine->jobs = jobs;
    engine->capacity = capacity;
    engine->first = 0;
    return true;
}

void drm_shim_set_submit_us(uint64_t microseconds)
{
    atomic_store(&submit_us, microseconds);
}

void drm_shim_set_return_us(uint64_t microseconds)
{
    atomic_store(&return_us, microseconds);
}

static void take_time(uint64_t microseconds)
{
    const struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                                  .tv_nsec = (long)(microseconds % 1000000) * 1000};
    if (microseconds > 0)
        nanosleep(&time, NULL);
}

int shim_engine_submit(struct shim_engine *engine, const struct shim_job *job)
{
    if (atomic_load(&engine->is_lost))
        return ECANCELED;
    take_time(atomic_load(&submit_us));
    pthread_mutex_lock(&engine->mutex);
    if (!reserve_job_locked(engine)) {
        pthread_mutex_unlock(&engine->mutex);
        return ENOMEM;
    }
    if (engine->count == 0)
        atomic_fetch_add(&busy_count, 1);
    engine->jobs[(engine->first + engine->count++) % engine->capacity] = *job;
    if (shim_options()->runs_inline && !engine->is_running)
        run_jobs_locked(engine, false);
    // Commands that wait go on in the thread.
    if (engine->count > 0 && !engine->has_thread)
        engine->has_thread = start_thread(engine) == 0;
    const bool is_served = engine->count == 0 || engine->has_thread;
    if (!is_served)
        drop_jobs(engine);
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->mutex);
    take_time(atomic_load(&return_us));
    return is_served ? 0 : ENOMEM;
}

bool shim_engine_has_ended(struct shim_engine *engine, uint64_t number)
{
    pthread_mutex_lock(&engine->mutex);
    const bool has_ended = engine->count == 0 || engine->jobs[engine->first].number > number;
    pthread_mutex_unlock(&engine->mutex);
    return has_ended;
}

// An engine that waits may not have seen yet that its memory was written: it gets time to look.
void shim_engines_settle(int64_t timeout_ns)
{
    const struct timespec pause = {.tv_nsec = SETTLE_PAUSE_NS};
    const int64_t deadline_ns = shim_now_ns() + timeout_ns;
    for (int looks = 0; looks < SETTLE_LOOKS && shim_now_ns() < deadline_ns; looks++) {
        const int busy = atomic_load(&busy_count);
        if (busy == 0)
            return;
        if (busy != atomic_load(&waiting_count))
            looks = 0;
        nanosleep(&pause, NULL);
    }
}

bool shim_engine_is_lost(struct shim_engine *engine)
{
    return atomic_load(&engine->is_lost);
}
