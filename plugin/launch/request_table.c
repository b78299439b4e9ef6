// SPDX-License-Identifier: MIT
#include "launch/request_table.h"

#include "cache/build_budget.h"
#include "core/alloc.h"
#include "device/context.h"
#include "launch/kernel.h"
#include "program/build/handle_caches.h"
#include "program/device_image/device_image.h"
#include "program/module.h"
#include "queue/queue.h"

// Enough for a loop over some kernels and many values. An entry lies in the set that its hash says.
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

// A request as the table finds it. Lives in one call.
struct key {
    const zepi_launch_desc_t *desc;
    struct place place;
    uint32_t hash;
    struct value values[INLINE_VALUES]; // the first ones
};

// A request and its target. Immutable.
struct entry {
    struct place place;
    struct zepi_dispatch dispatch; // `held` is a reference
    uint32_t hash;
    uint32_t value_count;
    const char *name; // lies behind the values
    struct value values[];
};

// Under the queue's requests_mutex.
struct table {
    struct zepi_attached attached;
    uint64_t generation; // of the units, when it was begun
    struct set {
        uint32_t hashes[WAYS];
        uint32_t newest;             // which one was entered last; the one before is the oldest
        struct entry *entries[WAYS]; // owned
    } sets[SETS];
};

// ---- Targets ----

struct zepi_held_target *zepi_held_target_create(const struct zepi_target *target)
{
    struct zepi_held_target *held = zepi_allocate(1, sizeof(*held));
    if (!held) {
        zepi_fail_no_memory();
        return NULL;
    }
    atomic_init(&held->references, 1);
    held->target = *target;
    zepi_build_result_retain(target->device_kernel);
    if (target->image)
        zepi_retain((struct zepi_device_image *)target->image);
    zepi_spec_values_retain((struct zepi_spec_values *)target->values);
    return held;
}

void zepi_held_target_release(struct zepi_held_target *held)
{
    // Acquire and release: the last use of others is over before the references go.
    if (!held || atomic_fetch_sub_explicit(&held->references, 1, memory_order_acq_rel) > 1)
        return;
    zepi_build_result_release(held->target.device_kernel);
    zepi_release((struct zepi_device_image *)held->target.image);
    zepi_spec_values_release((struct zepi_spec_values *)held->target.values);
    zepi_free(held);
}

// ---- Entries ----

static void entry_destroy(struct entry *entry)
{
    if (!entry)
        return;
    zepi_held_target_release(entry->dispatch.held);
    zepi_free(entry);
}

static void request_table_destroy(struct zepi_attached *attached)
{
    struct table *table = (struct table *)attached;
    for (uint32_t i = 0; i < SETS * WAYS; i++)
        entry_destroy(table->sets[i / WAYS].entries[i % WAYS]);
    zepi_free(table);
}

static struct table *request_table_of(const struct zepi_queue *queue)
{
    return (struct table *)queue->requests;
}

// ---- Keys ----

// No constant has another size.
static inline uint64_t value_bits(const zepi_spec_value_t *value)
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
static inline struct value value_of(const zepi_spec_value_t *value, uint64_t bits)
{
    return (struct value){value->id,
                          value->size_bytes <= 8 ? (uint32_t)value->size_bytes : UINT32_MAX, bits};
}

static struct place request_place(const struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                  struct zepi_module *module, uint64_t generation)
{
    if (!module)
        return (struct place){.unit = desc->unit, .number = generation};
    return (struct place){
        .number = module->number,
        .kernel = desc->kernel,
        .device_kernel = desc->kernel ? desc->kernel->device_kernels[queue->device_index] : NULL};
}

// Returns false for an invalid list of values: no entry is found or made for it. The hash is
// of values alone: names and ids cost more than they tell apart, and with the units' generation
// outdated entries would stay in sets where no other replaces them.
static inline bool request_key_init(struct key *key, const struct zepi_queue *queue,
                                    const zepi_launch_desc_t *desc, struct zepi_module *module,
                                    uint64_t generation)
{
    key->desc = desc;
    key->place = request_place(queue, desc, module, generation);
    uint64_t hash = module ? key->place.number : (uintptr_t)desc->unit;
    if (desc->spec_value_count > 0 && !desc->spec_values)
        return false;
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        if (!value->value)
            return false;
        const uint64_t bits = value_bits(value);
        if (i < INLINE_VALUES)
            key->values[i] = value_of(value, bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    }
    key->hash = (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    return true;
}

static inline struct set *request_set(struct table *table, uint32_t hash)
{
    return &table->sets[hash / (UINT32_MAX / SETS + 1)]; // the highest bits are mixed best
}

// ---- Finding ----

static inline bool entry_has_values(const struct entry *entry, const struct key *key)
{
    const uint32_t count = entry->value_count;
    const uint32_t inline_count = count < INLINE_VALUES ? count : INLINE_VALUES;
    if (key->desc->spec_value_count != count ||
        (count > 0 &&
         memcmp(entry->values, key->values, inline_count * sizeof(entry->values[0])) != 0))
        return false;
    for (uint32_t i = INLINE_VALUES; i < count; i++) {
        const zepi_spec_value_t *value = &key->desc->spec_values[i];
        const struct value read = value_of(value, value_bits(value));
        if (memcmp(&entry->values[i], &read, sizeof(read)) != 0)
            return false;
    }
    return true;
}

static inline bool entry_has_key(const struct entry *entry, const struct key *key)
{
    const struct place *place = &key->place;
    return entry->place.number == place->number && entry->place.unit == place->unit &&
           entry->place.kernel == place->kernel &&
           entry->place.device_kernel == place->device_kernel && entry_has_values(entry, key) &&
           (place->kernel ? place->kernel->is_emulated == (entry->dispatch.target.image != NULL)
                          : strcmp(entry->name, key->desc->kernel_name) == 0);
}

static inline const struct entry *find_request_locked(struct table *table, const struct key *key)
{
    const struct set *set = request_set(table, key->hash);
    for (uint32_t i = 0; i < WAYS; i++) {
        const uint32_t at = (set->newest + i) % WAYS;
        if (set->hashes[at] == key->hash && set->entries[at] &&
            entry_has_key(set->entries[at], key))
            return set->entries[at];
    }
    return NULL;
}

bool zepi_request_table_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, struct zepi_dispatch *out_dispatch)
{
    struct key key;
    if (!request_key_init(&key, queue, desc, module, module ? 0 : zepi_request_generation()))
        return false;
    zepi_mutex_lock(&queue->requests_mutex);
    const struct entry *found =
        queue->requests ? find_request_locked(request_table_of(queue), &key) : NULL;
    if (found) {
        *out_dispatch = found->dispatch;
        if (out_dispatch->held)
            zepi_held_target_retain(out_dispatch->held);
    }
    zepi_mutex_unlock(&queue->requests_mutex);
    return found != NULL;
}

// ---- Noting ----

static struct entry *entry_create(const struct key *key, const struct zepi_dispatch *dispatch)
{
    const zepi_launch_desc_t *desc = key->desc;
    const size_t values_size = desc->spec_value_count * sizeof(struct value);
    const char *name = desc->kernel ? "" : desc->kernel_name;
    const size_t name_size = strlen(name) + 1;
    struct entry *entry = zepi_allocate(1, sizeof(*entry) + values_size + name_size);
    if (!entry)
        return NULL;
    entry->place = key->place;
    entry->hash = key->hash;
    entry->value_count = desc->spec_value_count;
    entry->name = memcpy((char *)entry->values + values_size, name, name_size);
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        entry->values[i] = value_of(value, value_bits(value));
    }
    entry->dispatch = *dispatch;
    if (dispatch->held)
        zepi_held_target_retain(dispatch->held);
    return entry;
}

// Whether the context's caches have reached a limit. A result that a queue's table holds is in use
// and cannot go, so the table begins anew then.
static bool is_cache_full(const struct zepi_context *context)
{
    struct zepi_build_budget *budget = zepi_handle_caches_of(context)->budget;
    const struct zepi_build_limits limits = zepi_build_budget_limits(budget);
    const struct zepi_build_limits kept = zepi_build_budget_kept(budget);
    return kept.entries >= limits.entries || kept.bytes >= limits.bytes;
}

// A new table, if the queue needs one: it has none, or an outdated one.
static struct table *begin_request_table(struct zepi_queue *queue, uint64_t generation)
{
    const bool is_full = is_cache_full(queue->context);
    zepi_mutex_lock(&queue->requests_mutex);
    const bool is_needed =
        is_full || !queue->requests || request_table_of(queue)->generation != generation;
    zepi_mutex_unlock(&queue->requests_mutex);
    struct table *table = is_needed ? zepi_allocate(1, sizeof(struct table)) : NULL;
    if (table) {
        table->attached.destroy = request_table_destroy;
        table->generation = generation;
    }
    return table;
}

// Returns the oldest of its set, which the entry replaces.
static struct entry *enter_request_locked(struct table *table, struct entry *entry)
{
    struct set *set = request_set(table, entry->hash);
    set->newest = (set->newest + WAYS - 1) % WAYS;
    struct entry *old = set->entries[set->newest];
    set->hashes[set->newest] = entry->hash;
    set->entries[set->newest] = entry;
    return old;
}

void zepi_request_table_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation,
                             const struct zepi_dispatch *dispatch)
{
    struct key key;
    if (!request_key_init(&key, queue, desc, module, generation))
        return;
    // Another kernel object with the same handles could not be told from this one.
    if (desc->kernel && dispatch->target.image && !dispatch->held)
        return;
    struct entry *entry = entry_create(&key, dispatch);
    if (!entry)
        return;
    struct table *table = begin_request_table(queue, generation);
    struct entry *old = entry;
    zepi_mutex_lock(&queue->requests_mutex);
    if (table) {
        struct table *before = request_table_of(queue);
        queue->requests = &table->attached;
        table = before;
    }
    if (queue->requests)
        old = enter_request_locked(request_table_of(queue), entry);
    zepi_mutex_unlock(&queue->requests_mutex);
    entry_destroy(old);
    if (table)
        request_table_destroy(&table->attached);
}
