// SPDX-License-Identifier: MIT
#include "kernel/dispatch_memo.h"

#include "base/alloc.h"
#include "module/module.h"
#include "module/this_module.h"
#include "queue/queue.h"

#define MAX_NAME_BYTES 120
#define MAX_VALUES 16

// A question as it was asked, and its answer. Under the queue's memo_mutex.
struct zepi_dispatch_memo {
    struct zepi_kernel *kernel; // reference; NULL: nothing is noted
    uint64_t generation;
    zepi_unit_t unit;
    zepi_module_t module;       // not retained: the kernel's own, if it is still the one
    zepi_kernel_t asked_kernel; // the same
    uint32_t value_count;
    struct zepi_spec_entry values[MAX_VALUES];
    char name[MAX_NAME_BYTES];
};

void zepi_dispatch_memo_destroy(struct zepi_dispatch_memo *memo)
{
    if (!memo)
        return;
    zepi_release(memo->kernel);
    zepi_free(memo);
}

static bool has_same_values(const struct zepi_dispatch_memo *memo, const zepi_launch_desc_t *desc)
{
    if (desc->spec_value_count != memo->value_count ||
        (desc->spec_value_count > 0 && !desc->spec_values))
        return false;
    for (uint32_t i = 0; i < memo->value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        const struct zepi_spec_entry *known = &memo->values[i];
        if (value->id != known->id || value->size_bytes != known->size_bytes || !value->value ||
            memcmp(value->value, known->value, known->size_bytes) != 0)
            return false;
    }
    return true;
}

static bool is_same_question(const struct zepi_dispatch_memo *memo, const zepi_launch_desc_t *desc)
{
    return memo->kernel && memo->generation == zepi_unit_generation() && memo->unit == desc->unit &&
           memo->module == desc->module && memo->asked_kernel == desc->kernel &&
           (desc->kernel || (desc->kernel_name && strcmp(memo->name, desc->kernel_name) == 0)) &&
           has_same_values(memo, desc);
}

struct zepi_kernel *zepi_dispatch_memo_find(struct zepi_queue *queue,
                                            const zepi_launch_desc_t *desc)
{
    struct zepi_kernel *kernel = NULL;
    if (desc->selector)
        return NULL;
    pthread_mutex_lock(&queue->memo_mutex);
    if (queue->memo && is_same_question(queue->memo, desc))
        kernel = zepi_retain(queue->memo->kernel);
    pthread_mutex_unlock(&queue->memo_mutex);
    return kernel;
}

// A question with more than there is room for is asked again each time.
static bool fill(struct zepi_dispatch_memo *memo, const zepi_launch_desc_t *desc)
{
    const char *name = desc->kernel ? "" : desc->kernel_name;
    if (desc->spec_value_count > MAX_VALUES || strlen(name) >= MAX_NAME_BYTES)
        return false;
    strcpy(memo->name, name);
    memo->unit = desc->unit;
    memo->module = desc->module;
    memo->asked_kernel = desc->kernel;
    memo->value_count = desc->spec_value_count;
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        memo->values[i] =
            (struct zepi_spec_entry){.id = value->id, .size_bytes = (uint8_t)value->size_bytes};
        memcpy(memo->values[i].value, value->value, value->size_bytes);
    }
    return true;
}

void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             uint64_t generation, struct zepi_kernel *kernel)
{
    if (desc->selector)
        return;
    struct zepi_dispatch_memo *memo = zepi_allocate(1, sizeof(*memo));
    if (!memo || !fill(memo, desc)) {
        zepi_free(memo);
        return;
    }
    memo->generation = generation;
    memo->kernel = zepi_retain(kernel);
    pthread_mutex_lock(&queue->memo_mutex);
    struct zepi_dispatch_memo *old = queue->memo;
    queue->memo = memo;
    pthread_mutex_unlock(&queue->memo_mutex);
    zepi_dispatch_memo_destroy(old);
}
