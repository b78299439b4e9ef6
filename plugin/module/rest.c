// SPDX-License-Identifier: MIT
#include "module/rest.h"

#include "device/context.h"
#include "module/build_memo.h"
#include "module/module.h"

typedef _Atomic(struct zepi_module *) zepi_rest_place;

// Where what is made of `origin` rests; not the same for all, so that a few do not meet.
static zepi_rest_place *place_of(zepi_rest_place *places, const void *origin)
{
    const uint64_t hash = (uintptr_t)origin * UINT64_C(0x9e3779b97f4a7c15);
    return &places[hash >> 32 & (ZEPI_REST_PLACES - 1)];
}

static zepi_rest_place *input_place(struct zepi_context *context, const struct zepi_interned *code)
{
    return place_of(context->rest.shares[zepi_thread_shard()].inputs, code);
}

static zepi_rest_place *executable_place(struct zepi_context *context,
                                         const struct zepi_build_memo *memo)
{
    return place_of(context->rest.shares[zepi_thread_shard()].executables, memo);
}

// What a host has a native handle of, or a unit knows, goes for good.
static bool may_rest(const struct zepi_module *module)
{
    // Relaxed: a limit that changes meanwhile came before or after.
    if (module->unit || !atomic_load_explicit(&module->context->rest.is_on, memory_order_relaxed))
        return false;
    return module->state == ZEPI_MODULE_INPUT
               ? module->image_count == 1 && module->images[0]->is_plain
               : module->memo && !atomic_load_explicit(&module->exports, memory_order_relaxed);
}

bool zepi_module_rest(struct zepi_module *module)
{
    zepi_rest_place *place;
    struct zepi_context *context = module->context;
    if (!may_rest(module))
        return false;
    if (module->state == ZEPI_MODULE_INPUT) {
        // Relaxed: nobody else has the module.
        zepi_spec_values_release(atomic_load_explicit(&module->values, memory_order_relaxed));
        atomic_store_explicit(&module->values, NULL, memory_order_relaxed);
        module->last_built = NULL;
        place = input_place(context, module->images[0]->code);
    } else {
        place = executable_place(context, module->memo);
    }
    zepi_object_rest(module);
    // Release: who takes it sees it whole. Acquire: what was there, too.
    module = atomic_exchange_explicit(place, module, memory_order_acq_rel);
    if (module)
        zepi_module_destroy_resting(module);
    zepi_release(context);
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

static struct zepi_module *wake(struct zepi_module *module)
{
    zepi_retain(module->context);
    zepi_object_revive(module, &zepi_module_type);
    return module;
}

// It is another one that rests there: back, unless the place is taken.
static struct zepi_module *put_back(zepi_rest_place *place, struct zepi_module *module)
{
    struct zepi_module *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(place, &none, module, memory_order_release,
                                                 memory_order_relaxed))
        zepi_module_destroy_resting(module);
    return NULL;
}

struct zepi_module *zepi_module_wake_input(struct zepi_context *context,
                                           const struct zepi_interned *code)
{
    zepi_rest_place *place = input_place(context, code);
    struct zepi_module *module = take(place);
    if (!module)
        return NULL;
    return module->images[0]->code == code ? wake(module) : put_back(place, module);
}

struct zepi_module *zepi_module_wake_executable(const struct zepi_module *input,
                                                const struct zepi_build_memo *memo)
{
    zepi_rest_place *place = executable_place(input->context, memo);
    struct zepi_module *module = take(place);
    if (!module)
        return NULL;
    return module->memo == memo && module->shared == input->shared ? wake(module)
                                                                   : put_back(place, module);
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
