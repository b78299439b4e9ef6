// SPDX-License-Identifier: MIT
#include "kernel/dispatch_memo.h"

#include "base/alloc.h"
#include "module/spec_values.h"
#include "module/this_module.h"
#include "queue/queue.h"

// Enough for the kernels of a loop, and few enough that what they keep alive does not matter.
#define ANSWERS 8

// A question as it was asked, and its answer. Immutable.
struct answer {
    struct zepi_held_target *target; // reference
    uint64_t generation;
    zepi_unit_t unit;
    const char *name; // lies behind the values
    uint32_t value_count;
    struct zepi_spec_entry values[];
};

// Under the queue's memo_mutex.
struct zepi_dispatch_memo {
    uint32_t newest;                 // which one answered last
    uint32_t next;                   // which one is replaced next
    struct answer *answers[ANSWERS]; // owned
};

static void destroy_answer(struct answer *answer)
{
    if (!answer)
        return;
    zepi_held_target_release(answer->target);
    zepi_free(answer);
}

void zepi_dispatch_memo_destroy(struct zepi_dispatch_memo *memo)
{
    for (uint32_t i = 0; memo && i < ANSWERS; i++)
        destroy_answer(memo->answers[i]);
    zepi_free(memo);
}

// The usual sizes without a call.
static bool is_equal(const void *value, const uint8_t *known, size_t size_bytes)
{
    return size_bytes == 4   ? memcmp(value, known, 4) == 0
           : size_bytes == 8 ? memcmp(value, known, 8) == 0
                             : memcmp(value, known, size_bytes) == 0;
}

static bool has_same_values(const struct answer *answer, const zepi_launch_desc_t *desc)
{
    if (desc->spec_value_count != answer->value_count ||
        (desc->spec_value_count > 0 && !desc->spec_values))
        return false;
    for (uint32_t i = 0; i < answer->value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        const struct zepi_spec_entry *known = &answer->values[i];
        if (value->id != known->id || value->size_bytes != known->size_bytes || !value->value ||
            !is_equal(value->value, known->value, known->size_bytes))
            return false;
    }
    return true;
}

static bool is_answer(const struct answer *answer, uint64_t generation,
                      const zepi_launch_desc_t *desc)
{
    return answer && answer->generation == generation && answer->unit == desc->unit &&
           has_same_values(answer, desc) && strcmp(answer->name, desc->kernel_name) == 0;
}

struct zepi_held_target *zepi_dispatch_memo_find(struct zepi_queue *queue,
                                                 const zepi_launch_desc_t *desc)
{
    struct zepi_held_target *target = NULL;
    const uint64_t generation = zepi_unit_generation();
    if (!desc->kernel_name)
        return NULL;
    pthread_mutex_lock(&queue->memo_mutex);
    struct zepi_dispatch_memo *memo = queue->memo;
    for (uint32_t i = 0; memo && i < ANSWERS; i++) {
        const uint32_t at = (memo->newest + i) % ANSWERS;
        if (!is_answer(memo->answers[at], generation, desc))
            continue;
        target = zepi_held_target_retain(memo->answers[at]->target);
        memo->newest = at;
        break;
    }
    pthread_mutex_unlock(&queue->memo_mutex);
    return target;
}

static struct answer *create_answer(const zepi_launch_desc_t *desc)
{
    const size_t values_size = desc->spec_value_count * sizeof(struct zepi_spec_entry);
    const size_t name_size = strlen(desc->kernel_name) + 1;
    struct answer *answer = zepi_allocate(1, sizeof(*answer) + values_size + name_size);
    if (!answer)
        return NULL;
    answer->unit = desc->unit;
    answer->value_count = desc->spec_value_count;
    answer->name = memcpy((char *)answer->values + values_size, desc->kernel_name, name_size);
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        answer->values[i] =
            (struct zepi_spec_entry){.id = value->id, .size_bytes = (uint8_t)value->size_bytes};
        memcpy(answer->values[i].value, value->value, value->size_bytes);
    }
    return answer;
}

void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             uint64_t generation, struct zepi_held_target *target)
{
    struct zepi_dispatch_memo *made = zepi_allocate(1, sizeof(*made));
    struct answer *answer = made ? create_answer(desc) : NULL;
    if (!answer) {
        zepi_free(made);
        return;
    }
    answer->generation = generation;
    answer->target = zepi_held_target_retain(target);
    pthread_mutex_lock(&queue->memo_mutex);
    if (!queue->memo) {
        queue->memo = made;
        made = NULL;
    }
    struct zepi_dispatch_memo *memo = queue->memo;
    memo->newest = memo->next;
    memo->next = (memo->next + 1) % ANSWERS;
    struct answer *old = memo->answers[memo->newest];
    memo->answers[memo->newest] = answer;
    pthread_mutex_unlock(&queue->memo_mutex);
    destroy_answer(old);
    zepi_free(made);
}
