// SPDX-License-Identifier: MIT
#include "i915.h"

#include "buffer.h"
#include "faults.h"
#include "gpu_clock.h"
#include "handles.h"
#include "i915_query.h"
#include "log.h"
#include "memory/watch.h"
#include "queue.h"
#include "trace.h"
#include "vm.h"

#include <drm/i915_drm.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER_TIMESTAMP 0x2358u

// What a context knows of a buffer.
struct use {
    uint64_t job;     // the last one that uses it
    uint64_t address; // where it is bound; 0: nowhere
};

struct context {
    struct shim_address_space *space; // owned: one reference
    uint32_t vm, queue;               // numbers; 0: none yet
    struct use *uses;                 // owned; by handle - 1
    uint32_t use_capacity;
};

static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the variables below
static struct shim_handles contexts = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static uint64_t last_job;

// ---- Buffers ----

static int create_buffer(const struct shim_node *node, struct drm_i915_gem_create_ext *create)
{
    uint32_t region = SHIM_REGION_SYSTEM;
    const struct i915_user_extension *extension = (void *)(uintptr_t)create->extensions;
    for (; extension != NULL; extension = (void *)(uintptr_t)extension->next_extension) {
        const struct drm_i915_gem_create_ext_memory_regions *regions = (const void *)extension;
        if (extension->name != I915_GEM_CREATE_EXT_MEMORY_REGIONS || regions->num_regions == 0)
            continue;
        // It lies in the first one.
        const struct drm_i915_gem_memory_class_instance *first =
            (const void *)(uintptr_t)regions->regions;
        if (first->memory_class == I915_MEMORY_CLASS_DEVICE)
            region = SHIM_REGION_VRAM + first->memory_instance;
    }
    return shim_buffer_create(node, create->size, region, &create->handle);
}

static struct use *use_of(const struct context *context, uint32_t handle)
{
    return handle > 0 && handle <= context->use_capacity ? &context->uses[handle - 1] : NULL;
}

static void unbind_locked(struct context *context, uint32_t handle,
                          const struct shim_buffer *buffer)
{
    struct use *use = use_of(context, handle);
    uint64_t left;
    // Another buffer may have taken its place.
    if (use != NULL && use->address != 0 &&
        shim_address_space_find(context->space, use->address, &left) == shim_buffer_bytes(buffer))
        shim_vm_unbind(context->space, use->address, buffer->size);
    if (use != NULL)
        *use = (struct use){0};
}

static int close_buffer(uint32_t handle)
{
    struct shim_buffer buffer;
    if (!shim_buffer_find(handle, &buffer))
        return EINVAL;
    pthread_mutex_lock(&contexts_mutex);
    for (uint32_t id = 1; id <= contexts.capacity; id++) {
        struct context *context = shim_handles_find(&contexts, id);
        if (context != NULL)
            unbind_locked(context, handle, &buffer);
    }
    pthread_mutex_unlock(&contexts_mutex);
    return shim_buffer_close(handle);
}

static int map_buffer(struct drm_i915_gem_mmap_offset *map)
{
    struct shim_buffer buffer;
    if (!shim_buffer_find(map->handle, &buffer))
        return ENOENT;
    if (buffer.user != NULL)
        return EINVAL;
    map->offset = buffer.offset;
    return 0;
}

static bool is_used(uint32_t handle)
{
    bool is_busy = false;
    pthread_mutex_lock(&contexts_mutex);
    for (uint32_t id = 1; id <= contexts.capacity && !is_busy; id++) {
        const struct context *context = shim_handles_find(&contexts, id);
        const struct use *use = context == NULL ? NULL : use_of(context, handle);
        struct shim_engine *engine = use == NULL ? NULL : shim_queue_find(context->queue);
        is_busy = engine != NULL && !shim_engine_has_ended(engine, use->job);
    }
    pthread_mutex_unlock(&contexts_mutex);
    return is_busy;
}

static int wait_for_buffer(const struct drm_i915_gem_wait *wait)
{
    const int64_t deadline_ns = shim_deadline_ns(wait->timeout_ns);
    struct shim_buffer buffer;
    if (!shim_buffer_find(wait->bo_handle, &buffer))
        return ENOENT;
    struct shim_watch watch;
    shim_watch_init(&watch);
    shim_watches_notify_all();
    bool is_busy;
    while ((is_busy = is_used(wait->bo_handle)) && shim_now_ns() < deadline_ns)
        shim_watch_wait(&watch, NULL, deadline_ns);
    shim_watch_finish(&watch);
    return is_busy ? ETIME : 0;
}

// ---- Contexts ----

static int set_engines(const struct shim_node *node, struct context *context,
                       const struct drm_i915_gem_context_param *param)
{
    const struct i915_context_param_engines *engines = (const void *)(uintptr_t)param->value;
    if (param->size != sizeof(*engines) + sizeof(engines->engines[0]) || context->queue != 0 ||
        context->space == NULL) {
        shim_error("a context has one engine and an address space: %u bytes of engines, engine %u",
                   param->size, context->queue);
        return EINVAL;
    }
    return shim_queue_create(node, context->space, engines->engines[0].engine_class,
                             &context->queue);
}

static int set_vm(struct context *context, uint64_t vm)
{
    struct shim_address_space *space = shim_vm_find((uint32_t)vm);
    if (space == NULL || context->space != NULL)
        return space == NULL ? ENOENT : EINVAL;
    shim_address_space_retain(space);
    context->space = space;
    context->vm = (uint32_t)vm;
    return 0;
}

static int set_param(const struct shim_node *node, struct context *context,
                     const struct drm_i915_gem_context_param *param)
{
    switch (param->param) {
    case I915_CONTEXT_PARAM_VM:
        return set_vm(context, param->value);
    case I915_CONTEXT_PARAM_ENGINES:
        return set_engines(node, context, param);
    case I915_CONTEXT_PARAM_RECOVERABLE:
    case I915_CONTEXT_PARAM_PERSISTENCE:
    case I915_CONTEXT_PARAM_PRIORITY:
        return 0;
    default:
        shim_trace("unknown context parameter %" PRIu64, (uint64_t)param->param);
        return EINVAL;
    }
}

static int set_context_param(const struct shim_node *node,
                             const struct drm_i915_gem_context_param *param)
{
    struct context *context = shim_handles_find(&contexts, param->ctx_id);
    if (context == NULL)
        return param->ctx_id == 0 ? EINVAL : ENOENT;
    pthread_mutex_lock(&contexts_mutex);
    const int error = set_param(node, context, param);
    pthread_mutex_unlock(&contexts_mutex);
    return error;
}

// The driver asks without a context (0), too.
static int get_context_param(struct drm_i915_gem_context_param *param)
{
    const struct context *context = shim_handles_find(&contexts, param->ctx_id);
    switch (param->param) {
    case I915_CONTEXT_PARAM_GTT_SIZE:
        param->value = SHIM_ADDRESS_MASK + 1;
        return 0;
    case I915_CONTEXT_PARAM_PERSISTENCE:
        param->value = 1;
        return 0;
    case I915_CONTEXT_PARAM_VM:
        param->value = context == NULL ? 0 : context->vm;
        return context == NULL ? ENOENT : 0;
    default:
        return EINVAL;
    }
}

static void free_context(struct context *context)
{
    if (context->queue != 0)
        shim_queue_destroy(context->queue);
    shim_address_space_release(context->space);
    free(context->uses);
    free(context);
}

static int create_context(const struct shim_node *node,
                          struct drm_i915_gem_context_create_ext *create)
{
    struct context *context = calloc(1, sizeof(*context));
    int error = context == NULL ? ENOMEM : 0;
    const struct i915_user_extension *extension = NULL;
    if (create->flags & I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS)
        extension = (void *)(uintptr_t)create->extensions;
    for (; error == 0 && extension != NULL;
         extension = (void *)(uintptr_t)extension->next_extension) {
        const struct drm_i915_gem_context_create_ext_setparam *set = (const void *)extension;
        error = extension->name == I915_CONTEXT_CREATE_EXT_SETPARAM
                    ? set_param(node, context, &set->param)
                    : EINVAL;
    }
    if (error == 0) {
        pthread_mutex_lock(&contexts_mutex);
        create->ctx_id = shim_handles_add(&contexts, context);
        pthread_mutex_unlock(&contexts_mutex);
        error = create->ctx_id == 0 ? ENOMEM : 0;
    }
    if (error != 0 && context != NULL)
        free_context(context);
    return error;
}

static int destroy_context(uint32_t id)
{
    pthread_mutex_lock(&contexts_mutex);
    struct context *context = shim_handles_remove(&contexts, id);
    pthread_mutex_unlock(&contexts_mutex);
    if (context == NULL)
        return ENOENT;
    free_context(context);
    return 0;
}

static int get_reset_stats(struct drm_i915_reset_stats *stats)
{
    const struct context *context = shim_handles_find(&contexts, stats->ctx_id);
    struct shim_engine *engine = context == NULL ? NULL : shim_queue_find(context->queue);
    stats->reset_count = stats->batch_pending = 0;
    stats->batch_active = engine != NULL && shim_engine_is_lost(engine);
    return context == NULL ? ENOENT : 0;
}

// ---- Submissions ----

static struct use *add_use_locked(struct context *context, uint32_t handle)
{
    if (handle > context->use_capacity) {
        const uint32_t capacity = handle + 64;
        struct use *uses = realloc(context->uses, capacity * sizeof(*uses));
        if (uses == NULL)
            return NULL;
        memset(uses + context->use_capacity, 0, (capacity - context->use_capacity) * sizeof(*uses));
        context->uses = uses;
        context->use_capacity = capacity;
    }
    return use_of(context, handle);
}

// Binds a buffer where the submission wants it.
static int pin_locked(struct context *context, const struct drm_i915_gem_exec_object2 *object)
{
    struct shim_buffer buffer;
    if (!shim_buffer_find(object->handle, &buffer))
        return ENOENT;
    if ((object->flags & EXEC_OBJECT_PINNED) == 0 || object->relocation_count != 0) {
        shim_error("EXECBUFFER2: buffer %u has no address of its own", object->handle);
        return EINVAL;
    }
    struct use *use = add_use_locked(context, object->handle);
    if (use == NULL)
        return ENOMEM;
    use->job = last_job;
    if (use->address == object->offset)
        return 0;
    unbind_locked(context, object->handle, &buffer);
    *use = (struct use){.job = last_job, .address = object->offset};
    return shim_vm_bind(context->space, object->offset, buffer.size, &buffer, 0);
}

static int prepare_locked(const struct drm_i915_gem_execbuffer2 *execute, struct shim_job *job,
                          struct shim_engine **out_engine)
{
    const struct drm_i915_gem_exec_object2 *objects = (const void *)(uintptr_t)execute->buffers_ptr;
    struct context *context = shim_handles_find(&contexts, (uint32_t)execute->rsvd1);
    *out_engine = context == NULL ? NULL : shim_queue_find(context->queue);
    if (*out_engine == NULL)
        return ENOENT;
    if ((execute->flags & ~(uint64_t)I915_EXEC_NO_RELOC) != 0 || execute->buffer_count == 0) {
        shim_error("EXECBUFFER2: flags 0x%" PRIx64 " are not known", (uint64_t)execute->flags);
        return EINVAL;
    }
    job->number = ++last_job;
    int error = 0;
    for (uint32_t i = 0; i < execute->buffer_count && error == 0; i++)
        error = pin_locked(context, &objects[i]);
    job->batch = objects[execute->buffer_count - 1].offset + execute->batch_start_offset;
    return error;
}

static int submit(const struct shim_node *node, const struct drm_i915_gem_execbuffer2 *execute)
{
    struct shim_job job = {0};
    struct shim_engine *engine = NULL;
    pthread_mutex_lock(&contexts_mutex);
    int error = prepare_locked(execute, &job, &engine);
    pthread_mutex_unlock(&contexts_mutex);
    if (error == 0)
        error = shim_queue_submit(node, engine, &job);
    return error == ECANCELED ? EIO : error; // of a context that is banned
}

// ---- All calls ----

static int read_register(struct drm_i915_reg_read *read)
{
    if ((read->offset & ~UINT64_C(1)) != REGISTER_TIMESTAMP)
        return EINVAL;
    read->val = shim_gpu_time();
    return 0;
}

const struct shim_fault_call shim_i915_fault_calls[] = {
    {DRM_IOCTL_I915_GEM_CREATE, SHIM_FAULT_BUFFER_CREATE},
    {DRM_IOCTL_I915_GEM_CREATE_EXT, SHIM_FAULT_BUFFER_CREATE},
    {DRM_IOCTL_I915_GEM_USERPTR, SHIM_FAULT_BUFFER_CREATE},
    {DRM_IOCTL_I915_GEM_MMAP_OFFSET, SHIM_FAULT_BUFFER_MAP},
    {DRM_IOCTL_I915_GEM_VM_CREATE, SHIM_FAULT_SPACE_CREATE},
    {DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, SHIM_FAULT_QUEUE_CREATE},
    {DRM_IOCTL_I915_GEM_WAIT, SHIM_FAULT_FENCE_WAIT},
    {DRM_IOCTL_I915_QUERY, SHIM_FAULT_QUERY},
    {0, SHIM_FAULT_SITES},
};

int shim_i915_answer(const struct shim_node *node, unsigned long request, void *argument)
{
    switch (request) {
    case DRM_IOCTL_I915_GETPARAM:
        return shim_i915_get_param(node, argument);
    case DRM_IOCTL_I915_QUERY:
        return shim_i915_query(node, argument);
    case DRM_IOCTL_I915_REG_READ:
        return read_register(argument);
    case DRM_IOCTL_I915_GEM_CREATE: {
        struct drm_i915_gem_create *create = argument;
        return shim_buffer_create(node, create->size, SHIM_REGION_SYSTEM, &create->handle);
    }
    case DRM_IOCTL_I915_GEM_CREATE_EXT:
        return create_buffer(node, argument);
    case DRM_IOCTL_I915_GEM_USERPTR: {
        struct drm_i915_gem_userptr *user = argument;
        return shim_buffer_create_user(node, (void *)(uintptr_t)user->user_ptr, user->user_size,
                                       &user->handle);
    }
    case DRM_IOCTL_GEM_CLOSE:
        return close_buffer(((const struct drm_gem_close *)argument)->handle);
    case DRM_IOCTL_I915_GEM_MMAP_OFFSET:
        return map_buffer(argument);
    case DRM_IOCTL_I915_GEM_WAIT:
        return wait_for_buffer(argument);
    case DRM_IOCTL_I915_GEM_VM_CREATE:
        return shim_vm_create(&((struct drm_i915_gem_vm_control *)argument)->vm_id);
    case DRM_IOCTL_I915_GEM_VM_DESTROY:
        return shim_vm_destroy(((const struct drm_i915_gem_vm_control *)argument)->vm_id);
    case DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT:
        return create_context(node, argument);
    case DRM_IOCTL_I915_GEM_CONTEXT_DESTROY:
        return destroy_context(((const struct drm_i915_gem_context_destroy *)argument)->ctx_id);
    case DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM:
        return get_context_param(argument);
    case DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM:
        return set_context_param(node, argument);
    case DRM_IOCTL_I915_GET_RESET_STATS:
        return get_reset_stats(argument);
    case DRM_IOCTL_I915_GEM_EXECBUFFER2:
        return submit(node, argument);
    default:
        return ENOTTY;
    }
}
