// SPDX-License-Identifier: MIT
#include "cache/build_result.h"
#include "cache/seam.h"

#include <assert.h>
#include <string.h>

// Who waits for whom. A thread that is about to wait walks from the result to its builder, to what
// that one waits for, and so on; if the walk ends at the thread itself, waiting would never end.
struct zepi_build_waiter {
    const struct zepi_build_result *waits_for; // borrowed; guarded by graph_mutex
};

static _Thread_local struct zepi_build_waiter this_thread;

// Guards every waiter's `waits_for` and every result's `builder`. Taken twice by each wait and once
// by each build that ends, never by a hit on a finished result. Nothing is called under it.
static pthread_mutex_t graph_mutex = PTHREAD_MUTEX_INITIALIZER;

bool zepi_build_outcome_set_log(struct zepi_build_outcome *outcome, const char *text, size_t size)
{
    zepi_seam_free(outcome->log);
    outcome->log = NULL;
    outcome->log_size = 0;
    if (size == 0)
        return true;
    char *log = size < SIZE_MAX ? zepi_seam_allocate(size + 1) : NULL;
    if (!log)
        return false;
    memcpy(log, text, size);
    log[size] = '\0';
    outcome->log = log;
    outcome->log_size = size;
    return true;
}

static void destroy_payload(struct zepi_build_outcome *outcome)
{
    if (outcome->payload && outcome->destroy)
        outcome->destroy(outcome->payload);
    outcome->payload = NULL;
    outcome->destroy = NULL;
}

void zepi_build_outcome_finish(struct zepi_build_outcome *outcome)
{
    destroy_payload(outcome);
    zepi_seam_free(outcome->log);
    *outcome = (struct zepi_build_outcome){0};
}

bool zepi_build_result_init(struct zepi_build_result *result)
{
    if (pthread_mutex_init(&result->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&result->is_over, NULL) != 0) {
        pthread_mutex_destroy(&result->mutex);
        return false;
    }
    atomic_init(&result->references, 1);
    atomic_init(&result->status, ZEPI_BUILD_IN_PROGRESS);
    result->verdict = ZEPI_BUILD_OK;
    result->outcome = (struct zepi_build_outcome){0};
    result->builder = &this_thread;
    return true;
}

void zepi_build_result_release(struct zepi_build_result *result)
{
    if (!result)
        return;
    // Release: what this holder did happens before the destruction. Acquire: the destruction sees
    // what every other holder did.
    unsigned before = atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before > 1)
        return;
    zepi_build_outcome_finish(&result->outcome);
    pthread_cond_destroy(&result->is_over);
    pthread_mutex_destroy(&result->mutex);
    zepi_seam_free(result);
}

void zepi_build_result_publish(struct zepi_build_result *result, enum zepi_build_verdict verdict,
                               struct zepi_build_outcome *outcome)
{
    enum zepi_build_status status = ZEPI_BUILD_SUCCEEDED;
    if (verdict == ZEPI_BUILD_OK) {
        outcome->code = 0;
    } else {
        status = ZEPI_BUILD_FAILED;
        destroy_payload(outcome);
    }

    pthread_mutex_lock(&graph_mutex);
    assert(result->builder == &this_thread);
    result->builder = NULL;
    pthread_mutex_unlock(&graph_mutex);

    pthread_mutex_lock(&result->mutex);
    result->verdict = verdict;
    result->outcome = *outcome;
    // Release, for those who see the new status without taking the mutex.
    atomic_store_explicit(&result->status, status, memory_order_release);
    pthread_cond_broadcast(&result->is_over);
    pthread_mutex_unlock(&result->mutex);
    *outcome = (struct zepi_build_outcome){0};
}

static bool begin_wait(const struct zepi_build_result *result)
{
    bool ends = true;
    pthread_mutex_lock(&graph_mutex);
    // A builder stays in its result until it has ended, and a waiter holds what it waits for, so
    // all that the walk visits is alive while the mutex is held.
    for (const struct zepi_build_result *at = result; at && at->builder;
         at = at->builder->waits_for) {
        if (at->builder == &this_thread) {
            ends = false;
            break;
        }
    }
    if (ends)
        this_thread.waits_for = result;
    pthread_mutex_unlock(&graph_mutex);
    return ends;
}

static void end_wait(void)
{
    pthread_mutex_lock(&graph_mutex);
    this_thread.waits_for = NULL;
    pthread_mutex_unlock(&graph_mutex);
}

bool zepi_build_result_wait(struct zepi_build_result *result)
{
    if (!begin_wait(result))
        return false;
    pthread_mutex_lock(&result->mutex);
    // Relaxed: the mutex orders.
    while (atomic_load_explicit(&result->status, memory_order_relaxed) == ZEPI_BUILD_IN_PROGRESS)
        pthread_cond_wait(&result->is_over, &result->mutex);
    pthread_mutex_unlock(&result->mutex);
    end_wait();
    return true;
}
