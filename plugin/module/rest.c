// SPDX-License-Identifier: MIT
#include "module/rest.h"

#include "cache/build_cache.h"
#include "device/context.h"
#include "module/build_memo.h"
#include "module/module.h"

typedef _Atomic(struct zepi_module *) zepi_rest_place;

// By the hash of its bytes.
static zepi_rest_place *input_place(struct zepi_context *context, uint64_t hash)
{
    return &context->rest.shares[zepi_thread_shard()].inputs[hash % ZEPI_REST_PLACES];
}

static zepi_rest_place *executable_place(struct zepi_context *context,
                                         const struct zepi_build_memo *memo)
{
    // Memory comes in cache lines: the bits above.
    const uintptr_t line = (uintptr_t)memo / 64;
    return &context->rest.shares[zepi_thread_shard()]
                .executables[(line ^ line / 8) % ZEPI_REST_PLACES];
}

static bool is_code_kept(const struct zepi_module *module)
{
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (!zepi_build_cache_keeps(module->parts[0].code[i]))
            return false;
    }
    return true;
}

// What a host has a native handle of, or images (which hold the context), a unit knows, or no host
// ever had, goes for good.
static bool may_rest(const struct zepi_module *module)
{
    // Relaxed: a limit that changes meanwhile came before or after, and nobody else has the module.
    if (!module->memo || module->unit ||
        !atomic_load_explicit(&module->context->rest.is_on, memory_order_relaxed) ||
        !atomic_load_explicit(&module->is_published, memory_order_relaxed))
        return false;
    return module->state == ZEPI_MODULE_INPUT
               ? module->images[0]->is_plain
               : !atomic_load_explicit(&module->exports, memory_order_relaxed) &&
                     !atomic_load_explicit(&module->built, memory_order_relaxed) &&
                     is_code_kept(module);
}

// They are no more the input's, but often set again.
static void rest_values(struct zepi_module *module)
{
    // Relaxed: nobody else has the module.
    struct zepi_spec_values *values = atomic_load_explicit(&module->values, memory_order_relaxed);
    if (!values)
        return;
    zepi_spec_values_release(module->resting_values);
    module->resting_values = values;
    atomic_store_explicit(&module->values, NULL, memory_order_relaxed);
}

bool zepi_module_rest(struct zepi_module *module)
{
    zepi_rest_place *place;
    struct zepi_context *context = module->context;
    if (!may_rest(module))
        return false;
    // The module may be gone when the context is left.
    struct zepi_module_images *shared = zepi_retain(module->shared);
    if (module->state == ZEPI_MODULE_INPUT) {
        rest_values(module);
        module->last_built = NULL;
        place = input_place(context, module->images[0]->code->sample_hash);
    } else {
        place = executable_place(context, module->memo);
    }
    atomic_store_explicit(&module->is_published, false, memory_order_relaxed);
    zepi_object_rest(module);
    // Release: who takes it sees it whole. Acquire: what was there, too.
    module = atomic_exchange_explicit(place, module, memory_order_acq_rel);
    if (module)
        zepi_module_destroy_resting(module);
    zepi_module_images_leave(shared);
    return true;
}

// Takes what rests in a place. Acquire: it is seen whole. NULL: nothing does.
static struct zepi_module *take(zepi_rest_place *place)
{
    // Relaxed: only a hint.
    return atomic_load_explicit(place, memory_order_relaxed)
               ? atomic_exchange_explicit(place, NULL, memory_order_acquire)
               : NULL;
}

static struct zepi_module *revive(struct zepi_module *module)
{
    zepi_module_images_enter(module->shared);
    zepi_object_revive(module, &zepi_module_type);
    // After it is a handle.
    zepi_module_publish(module);
    return module;
}

// It is another one that rests there: back, unless the place is taken.
static __attribute__((noinline)) struct zepi_module *put_back(zepi_rest_place *place,
                                                              struct zepi_module *module)
{
    struct zepi_module *none = NULL;
    if ((module->state == ZEPI_MODULE_EXECUTABLE && !is_code_kept(module)) ||
        !atomic_compare_exchange_strong_explicit(place, &none, module, memory_order_release,
                                                 memory_order_relaxed))
        zepi_module_destroy_resting(module);
    return NULL;
}

struct zepi_module *zepi_module_wake_input(struct zepi_context *context, const void *bytes,
                                           size_t size_bytes, uint64_t hash)
{
    zepi_rest_place *place = input_place(context, hash);
    struct zepi_module *module = take(place);
    if (!module)
        return NULL;
    return zepi_intern_is(module->images[0]->code, bytes, size_bytes, hash, true)
               ? revive(module)
               : put_back(place, module);
}

struct zepi_module *zepi_module_wake_executable(struct zepi_module *input,
                                                const zepi_build_desc_t *desc)
{
    zepi_rest_place *place = NULL;
    struct zepi_module *module = NULL;
    bool is_it = false;
    zepi_mutex_lock(&input->values_mutex);
    // Relaxed: the mutex orders.
    const struct zepi_spec_values *values =
        atomic_load_explicit(&input->values, memory_order_relaxed);
    const struct zepi_build_memo *memo = input->memo;
    // Under the lock neither goes, and needs no reference.
    if (zepi_build_memo_fits(memo, values, desc)) {
        place = executable_place(input->context, memo);
        module = take(place);
        is_it = module && module->memo == memo && module->shared == input->shared &&
                is_code_kept(module);
    }
    zepi_mutex_unlock(&input->values_mutex);
    if (__builtin_expect(is_it, 1))
        return revive(module);
    return module ? put_back(place, module) : NULL;
}

static void destroy_all(zepi_rest_place *places)
{
    for (unsigned i = 0; i < ZEPI_REST_PLACES; i++) {
        struct zepi_module *module = take(&places[i]);
        if (module)
            zepi_module_destroy_resting(module);
    }
}

void zepi_modules_destroy_resting(struct zepi_context *context)
{
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        destroy_all(context->rest.shares[i].executables);
        destroy_all(context->rest.shares[i].inputs);
    }
}
