// SPDX-License-Identifier: MIT
// Whether two queues that one thread fills run at the same time: the same work in one and in two.
#include "compare.h"

#include <pthread.h>

#define LAUNCHES 40 // in all
#define GROUP_SIZE 64

struct work {
    zepi_queue_t queues[2];
    unsigned queue_count;
    zepi_kernel_t kernel;
    void *memory[2]; // one a queue
    size_t items;
    uint32_t rounds;
};

static bool run_queues(const void *self)
{
    const struct work *work = self;
    const zepi_wait_list_t no_wait = {0};
    bool is_good = true;
    for (unsigned i = 0; i < LAUNCHES && is_good; i++) {
        const unsigned at = i % work->queue_count;
        const zepi_argument_t arguments[] = {
            {.kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(uint32_t), .value = &work->rounds},
            {.kind = ZEPI_ARGUMENT_POINTER, .value = work->memory[at]}};
        const zepi_launch_desc_t desc = {.size = sizeof(desc),
                                         .kernel = work->kernel,
                                         .arguments = arguments,
                                         .argument_count = 2,
                                         .work_dim = 1,
                                         .global_size = {work->items},
                                         .group_size = {work->items == 1 ? 1 : GROUP_SIZE}};
        is_good = zepi.queue_launch(work->queues[at], &desc, no_wait, NULL) == ZEPI_SUCCESS;
    }
    for (unsigned i = 0; i < work->queue_count; i++)
        is_good = zepi.queue_finish(work->queues[i]) == ZEPI_SUCCESS && is_good;
    return is_good;
}

static void *spin(void *rounds)
{
    uint32_t value = 1;
    for (uint32_t i = *(const uint32_t *)rounds; i > 0; i--) {
        value = value * 1664525u + 1013904223u;
        __asm__ volatile("" : : "r"(value));
    }
    return NULL;
}

// As many threads as the work has queues.
static bool run_threads(const void *self)
{
    const struct work *work = self;
    uint32_t rounds = work->rounds * (LAUNCHES / work->queue_count);
    pthread_t threads[2];
    unsigned started = 0;
    while (started < work->queue_count &&
           pthread_create(&threads[started], NULL, spin, &rounds) == 0)
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == work->queue_count;
}

static bool compare_work(struct compare *compare, const struct work *base)
{
    static const char *const ways[] = {"one", "two"};
    struct work item[2], groups[2];
    for (unsigned i = 0; i < 2; i++) {
        item[i] = groups[i] = *base;
        item[i].queue_count = groups[i].queue_count = i + 1;
        groups[i].items = 16 * GROUP_SIZE;
        groups[i].rounds = 1000;
    }
    const struct compare_row rows[] = {{.what = "queues: 40 launches of 1 item",
                                        .run = {run_queues, run_queues},
                                        .self = {&item[0], &item[1]},
                                        .count = 1},
                                       {.what = "queues: 40 launches of 16 groups of 64",
                                        .run = {run_queues, run_queues},
                                        .self = {&groups[0], &groups[1]},
                                        .count = 1},
                                       {.what = "threads that spin",
                                        .run = {run_threads, run_threads},
                                        .self = {&item[0], &item[1]},
                                        .count = 1}};
    return compare_in_turns(compare, "one or two at once", ways, rows,
                            sizeof(rows) / sizeof(rows[0]));
}

bool compare_queues(struct compare *compare)
{
    const struct host_device *host = &compare->host;
    struct work work = {.queues = {host->queue}, .items = 1, .rounds = 500000};
    bool is_good = zepi.queue_create(host->context, host->device, ZEPI_QUEUE_IN_ORDER,
                                     &work.queues[1]) == ZEPI_SUCCESS;
    for (int i = 0; i < 2 && is_good; i++)
        is_good = zepi.usm_allocate(host->context, host->device, ZEPI_USM_DEVICE,
                                    16 * GROUP_SIZE * sizeof(uint32_t), 0,
                                    &work.memory[i]) == ZEPI_SUCCESS;
    if (!is_good)
        host_fail("a second queue and its memory");
    is_good = is_good && compare_zepi_kernel(compare, "compare", "busy", NULL, &work.kernel) &&
              compare_work(compare, &work);
    host_release(work.kernel);
    for (int i = 0; i < 2; i++) {
        if (work.memory[i])
            zepi.usm_free(host->context, work.memory[i]);
    }
    host_release(work.queues[1]);
    return is_good;
}
