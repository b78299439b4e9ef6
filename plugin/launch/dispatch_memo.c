// SPDX-License-Identifier: MIT
#include "launch/dispatch_memo.h"

#include "cache/build_budget.h"
#include "core/alloc.h"
#include "device/context.h"
#include "launch/kernel.h"
#include "launch/named_kernel.h"
#include "program/build/handle_caches.h"
#include "program/this_module.h"
#include "queue/queue.h"

// Enough for a loop over some kernels and many values. An answer lies in the set that its hash
// says.
#define SETS 32
#define WAYS 8

// Values of a request whose bits are read once.
#define INLINE_VALUES 8

// Where a kernel is looked for.
struct place {
    zepi_unit_t unit;     // NULL: a module
    uint64_t number;      // the units' generation, or the module's own number
    zepi_kernel_t kernel; // only compared, NULL: by name
    struct zepi_build_result
        *device_kernel; // of that kernel: another one at its address has another
};

// Without a gap: lists are compared byte by byte.
struct value {
    uint32_t id;
    uint32_t size_bytes; // 1, 2, 4 or 8
    uint64_t bits;
};
static_assert(sizeof(struct value) == 16, "values are compared byte by byte");

// What a launch asks. Lives in one call.
struct request {
    const zepi_launch_desc_t *desc;
    struct place place;
    uint32_t hash;
    struct value values[INLINE_VALUES]; // the first ones
};

// A request as it was asked, and its answer. Immutable.
struct answer {
    struct place place;
    struct zepi_dispatch dispatch; // `held` is a reference
    uint32_t hash;
    uint32_t value_count;
    const char *name; // lies behind the values
    struct value values[];
};

// Under the queue's memo_mutex.
struct memo {
    struct zepi_attached attached;
    uint64_t generation; // of the units, when it was begun
    struct set {
        uint32_t hashes[WAYS];
        uint32_t newest;              // which one was entered last; the one before is the oldest
        struct answer *answers[WAYS]; // owned
    } sets[SETS];
};

static void destroy_answer(struct answer *answer)
{
    if (!answer)
        return;
    zepi_held_target_release(answer->dispatch.held);
    zepi_free(answer);
}

static void memo_destroy(struct zepi_attached *attached)
{
    struct memo *memo = (struct memo *)attached;
    for (uint32_t i = 0; i < SETS * WAYS; i++)
        destroy_answer(memo->sets[i / WAYS].answers[i % WAYS]);
    zepi_free(memo);
}

static struct memo *memo_of(const struct zepi_queue *queue)
{
    return (struct memo *)queue->memo;
}

// ---- Asking ----

// No constant has another size.
static inline uint64_t bits_of(const zepi_spec_value_t *value)
{
    uint64_t bits = 0;
    if (value->size_bytes == 4)
        memcpy(&bits, value->value, 4);
    else if (value->size_bytes == 8)
        memcpy(&bits, value->value, 8);
    else if (value->size_bytes == 2)
        memcpy(&bits, value->value, 2);
    else if (value->size_bytes == 1)
        memcpy(&bits, value->value, 1);
    return bits;
}

// Sizes of 4 GiB and more are sizes that no constant has.
static inline struct value read_value(const zepi_spec_value_t *value, uint64_t bits)
{
    return (struct value){value->id,
                          value->size_bytes <= 8 ? (uint32_t)value->size_bytes : UINT32_MAX, bits};
}

static struct place place_of(const struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation)
{
    if (!module)
        return (struct place){.unit = desc->unit, .number = generation};
    return (struct place){.number = zepi_named_kernels_id(module),
                          .kernel = desc->kernel,
                          .device_kernel =
                              desc->kernel ? desc->kernel->pools[queue->device_index] : NULL};
}

// Returns false for a list of values that is no good: nothing is found for it, nor kept. The hash
// is of values alone: names and ids cost more than they tell apart, and with the units' generation
// answers would stay in sets where nothing replaces them.
static inline bool ask(struct request *request, const struct zepi_queue *queue,
                       const zepi_launch_desc_t *desc, struct zepi_module *module,
                       uint64_t generation)
{
    request->desc = desc;
    request->place = place_of(queue, desc, module, generation);
    uint64_t hash = module ? request->place.number : (uintptr_t)desc->unit;
    if (desc->spec_value_count > 0 && !desc->spec_values)
        return false;
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        if (!value->value)
            return false;
        const uint64_t bits = bits_of(value);
        if (i < INLINE_VALUES)
            request->values[i] = read_value(value, bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    }
    request->hash = (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    return true;
}

static inline struct set *set_of(struct memo *memo, uint32_t hash)
{
    return &memo->sets[hash / (UINT32_MAX / SETS + 1)]; // the highest bits are mixed best
}

// ---- Finding ----

static inline bool has_same_values(const struct answer *answer, const struct request *request)
{
    const uint32_t count = answer->value_count;
    const uint32_t inline_count = count < INLINE_VALUES ? count : INLINE_VALUES;
    if (request->desc->spec_value_count != count ||
        (count > 0 &&
         memcmp(answer->values, request->values, inline_count * sizeof(answer->values[0])) != 0))
        return false;
    for (uint32_t i = INLINE_VALUES; i < count; i++) {
        const zepi_spec_value_t *value = &request->desc->spec_values[i];
        const struct value read = read_value(value, bits_of(value));
        if (memcmp(&answer->values[i], &read, sizeof(read)) != 0)
            return false;
    }
    return true;
}

static inline bool is_answer(const struct answer *answer, const struct request *request)
{
    const struct place *place = &request->place;
    return answer->place.number == place->number && answer->place.unit == place->unit &&
           answer->place.kernel == place->kernel &&
           answer->place.device_kernel == place->device_kernel &&
           has_same_values(answer, request) &&
           (place->kernel ? place->kernel->is_emulated == (answer->dispatch.target.image != NULL)
                          : strcmp(answer->name, request->desc->kernel_name) == 0);
}

static inline const struct answer *find_locked(struct memo *memo, const struct request *request)
{
    const struct set *set = set_of(memo, request->hash);
    for (uint32_t i = 0; i < WAYS; i++) {
        const uint32_t at = (set->newest + i) % WAYS;
        if (set->hashes[at] == request->hash && set->answers[at] &&
            is_answer(set->answers[at], request))
            return set->answers[at];
    }
    return NULL;
}

bool zepi_dispatch_memo_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, struct zepi_dispatch *out_dispatch)
{
    struct request request;
    if (!ask(&request, queue, desc, module, module ? 0 : zepi_request_generation()))
        return false;
    zepi_mutex_lock(&queue->memo_mutex);
    const struct answer *found = queue->memo ? find_locked(memo_of(queue), &request) : NULL;
    if (found) {
        *out_dispatch = found->dispatch;
        if (out_dispatch->held)
            zepi_held_target_retain(out_dispatch->held);
    }
    zepi_mutex_unlock(&queue->memo_mutex);
    return found != NULL;
}

// ---- Noting ----

static struct answer *create_answer(const struct request *request,
                                    const struct zepi_dispatch *dispatch)
{
    const zepi_launch_desc_t *desc = request->desc;
    const size_t values_size = desc->spec_value_count * sizeof(struct value);
    const char *name = desc->kernel ? "" : desc->kernel_name;
    const size_t name_size = strlen(name) + 1;
    struct answer *answer = zepi_allocate(1, sizeof(*answer) + values_size + name_size);
    if (!answer)
        return NULL;
    answer->place = request->place;
    answer->hash = request->hash;
    answer->value_count = desc->spec_value_count;
    answer->name = memcpy((char *)answer->values + values_size, name, name_size);
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        answer->values[i] = read_value(value, bits_of(value));
    }
    answer->dispatch = *dispatch;
    if (dispatch->held)
        zepi_held_target_retain(dispatch->held);
    return answer;
}

// Whether what the context keeps has reached a limit. What a queue remembers is in use and cannot
// go: it begins anew then.
static bool is_cache_full(const struct zepi_context *context)
{
    struct zepi_build_budget *budget = zepi_handle_caches_of(context)->budget;
    const struct zepi_build_limits limits = zepi_build_budget_limits(budget);
    const struct zepi_build_limits kept = zepi_build_budget_kept(budget);
    return kept.entries >= limits.entries || kept.bytes >= limits.bytes;
}

// A memo that begins now, if the queue needs one: it has none, or what it has is out of date.
static struct memo *begin(struct zepi_queue *queue, uint64_t generation)
{
    const bool is_full = is_cache_full(queue->context);
    zepi_mutex_lock(&queue->memo_mutex);
    const bool is_needed = is_full || !queue->memo || memo_of(queue)->generation != generation;
    zepi_mutex_unlock(&queue->memo_mutex);
    struct memo *memo = is_needed ? zepi_allocate(1, sizeof(struct memo)) : NULL;
    if (memo) {
        memo->attached.destroy = memo_destroy;
        memo->generation = generation;
    }
    return memo;
}

// Returns the oldest of its set, which the answer replaces.
static struct answer *enter_locked(struct memo *memo, struct answer *answer)
{
    struct set *set = set_of(memo, answer->hash);
    set->newest = (set->newest + WAYS - 1) % WAYS;
    struct answer *old = set->answers[set->newest];
    set->hashes[set->newest] = answer->hash;
    set->answers[set->newest] = answer;
    return old;
}

void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation,
                             const struct zepi_dispatch *dispatch)
{
    struct request request;
    if (!ask(&request, queue, desc, module, generation))
        return;
    // Nothing would tell another kernel with the same handles apart, or a module without a number.
    if ((desc->kernel && dispatch->target.image && !dispatch->held) ||
        (module && request.place.number == 0))
        return;
    struct answer *answer = create_answer(&request, dispatch);
    if (!answer)
        return;
    struct memo *memo = begin(queue, generation);
    struct answer *old = answer;
    zepi_mutex_lock(&queue->memo_mutex);
    if (memo) {
        struct memo *before = memo_of(queue);
        queue->memo = &memo->attached;
        memo = before;
    }
    if (queue->memo)
        old = enter_locked(memo_of(queue), answer);
    zepi_mutex_unlock(&queue->memo_mutex);
    destroy_answer(old);
    if (memo)
        memo_destroy(&memo->attached);
}
