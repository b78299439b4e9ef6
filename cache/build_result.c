// SPDX-License-Identifier: MIT
#include "cache/build_result.h"
#include "core/mutex.h"
#include "core/sys.h"

#include <assert.h>
#include <string.h>

bool zepi_build_output_set_log(struct zepi_build_output *output, const char *text, size_t size)
{
    zepi_sys_free(output->log);
    output->log = NULL;
    output->log_size = 0;
    if (size == 0)
        return true;
    char *log = size < SIZE_MAX ? zepi_sys_allocate(size + 1) : NULL;
    if (!log)
        return false;
    memcpy(log, text, size);
    log[size] = '\0';
    output->log = log;
    output->log_size = size;
    return true;
}

static void destroy_payload(struct zepi_build_output *output)
{
    if (output->payload && output->destroy)
        output->destroy(output->payload);
    output->payload = NULL;
    output->destroy = NULL;
    output->stored = NULL;
}

void zepi_build_output_finish(struct zepi_build_output *output)
{
    destroy_payload(output);
    zepi_sys_free(output->log);
    *output = (struct zepi_build_output){0};
}

void zepi_build_result_init(struct zepi_build_result *result)
{
    atomic_init(&result->references, 1);
    atomic_init(&result->status, ZEPI_BUILD_IN_PROGRESS);
    result->output = (struct zepi_build_output){0};
    result->builder = pthread_self();
}

void zepi_build_result_release(struct zepi_build_result *result)
{
    if (!result)
        return;
    // Release: this holder's accesses come before the destruction. Acquire: the destruction comes
    // after those of every other holder.
    unsigned before = atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before > 1)
        return;
    zepi_build_output_finish(&result->output);
    zepi_sys_free(result);
}

void zepi_build_result_publish(struct zepi_build_result *result, enum zepi_build_status status,
                               struct zepi_build_output *output)
{
    assert(status != ZEPI_BUILD_IN_PROGRESS);
    if (status == ZEPI_BUILD_SUCCEEDED)
        output->code = 0;
    else
        destroy_payload(output);
    result->output = *output;
    *output = (struct zepi_build_output){0};
    // Release: a thread that sees the status sees the output.
    atomic_store_explicit(&result->status, status, memory_order_release);
    zepi_word_wake_all(&result->status);
}

bool zepi_build_result_wait(struct zepi_build_result *result)
{
    while (zepi_build_result_status(result) == ZEPI_BUILD_IN_PROGRESS) {
        if (pthread_equal(result->builder, pthread_self()))
            return false;
        zepi_word_wait(&result->status, ZEPI_BUILD_IN_PROGRESS);
    }
    return true;
}
