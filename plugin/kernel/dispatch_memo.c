// SPDX-License-Identifier: MIT
#include "kernel/dispatch_memo.h"

#include "base/alloc.h"
#include "kernel/kernel.h"
#include "kernel/named_kernel.h"
#include "module/spec_values.h"
#include "module/this_module.h"
#include "queue/queue.h"

// Enough for the kernels of a loop, and few enough that what they keep alive does not matter.
#define ANSWERS 8

// Where a kernel is looked for.
struct place {
    zepi_unit_t unit;               // NULL: a module
    uint64_t number;                // the units' generation, or the module's own number
    zepi_kernel_t kernel;           // only compared, NULL: by name
    struct zepi_build_result *pool; // of that kernel: another one at its address has another
};

// A question as it was asked, and its answer. Immutable.
struct answer {
    struct place place;
    struct zepi_dispatch dispatch; // `held` is a reference
    const char *name;              // lies behind the values
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
    zepi_held_target_release(answer->dispatch.held);
    zepi_free(answer);
}

void zepi_dispatch_memo_destroy(struct zepi_dispatch_memo *memo)
{
    for (uint32_t i = 0; memo && i < ANSWERS; i++)
        destroy_answer(memo->answers[i]);
    zepi_free(memo);
}

// Without a call. No constant has another size.
static inline bool is_equal(const void *value, const uint8_t *known, size_t size_bytes)
{
    switch (size_bytes) {
    case 4:
        return memcmp(value, known, 4) == 0;
    case 8:
        return memcmp(value, known, 8) == 0;
    case 2:
        return memcmp(value, known, 2) == 0;
    default:
        return *(const uint8_t *)value == *known;
    }
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

static struct place place_of(const struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation)
{
    if (!module)
        return (struct place){.unit = desc->unit, .number = generation};
    return (struct place){.number = zepi_named_kernels_id(module),
                          .kernel = desc->kernel,
                          .pool = desc->kernel ? desc->kernel->pools[queue->device_index] : NULL};
}

static bool is_answer(const struct answer *answer, const struct place *place,
                      const zepi_launch_desc_t *desc)
{
    return answer && answer->place.number == place->number && answer->place.unit == place->unit &&
           answer->place.kernel == place->kernel && answer->place.pool == place->pool &&
           has_same_values(answer, desc) &&
           (place->kernel ? place->kernel->is_emulated == (answer->dispatch.target.image != NULL)
                          : strcmp(answer->name, desc->kernel_name) == 0);
}

bool zepi_dispatch_memo_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, struct zepi_dispatch *out_dispatch)
{
    const struct place place = place_of(queue, desc, module, zepi_unit_generation());
    bool is_found = false;
    pthread_mutex_lock(&queue->memo_mutex);
    struct zepi_dispatch_memo *memo = queue->memo;
    for (uint32_t i = 0; memo && i < ANSWERS && !is_found; i++) {
        const uint32_t at = (memo->newest + i) % ANSWERS;
        if (!is_answer(memo->answers[at], &place, desc))
            continue;
        *out_dispatch = memo->answers[at]->dispatch;
        if (out_dispatch->held)
            zepi_held_target_retain(out_dispatch->held);
        memo->newest = at;
        is_found = true;
    }
    pthread_mutex_unlock(&queue->memo_mutex);
    return is_found;
}

static struct answer *create_answer(const zepi_launch_desc_t *desc)
{
    const size_t values_size = desc->spec_value_count * sizeof(struct zepi_spec_entry);
    const char *name = desc->kernel ? "" : desc->kernel_name;
    const size_t name_size = strlen(name) + 1;
    struct answer *answer = zepi_allocate(1, sizeof(*answer) + values_size + name_size);
    if (!answer)
        return NULL;
    answer->value_count = desc->spec_value_count;
    answer->name = memcpy((char *)answer->values + values_size, name, name_size);
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        answer->values[i] =
            (struct zepi_spec_entry){.id = value->id, .size_bytes = (uint8_t)value->size_bytes};
        memcpy(answer->values[i].value, value->value, value->size_bytes);
    }
    return answer;
}

void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation,
                             const struct zepi_dispatch *dispatch)
{
    const struct place place = place_of(queue, desc, module, generation);
    // Nothing would tell another kernel with the same handles apart.
    if (place.kernel && dispatch->target.image && !dispatch->held)
        return;
    struct zepi_dispatch_memo *made = zepi_allocate(1, sizeof(*made));
    struct answer *answer = made && (place.unit || place.number != 0) ? create_answer(desc) : NULL;
    if (!answer) {
        zepi_free(made);
        return;
    }
    answer->place = place;
    answer->dispatch = *dispatch;
    if (dispatch->held)
        zepi_held_target_retain(dispatch->held);
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
