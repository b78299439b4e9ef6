// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_QUEUE_H
#define DRM_SHIM_QUEUE_H

#include <drm/xe_drm.h>

// Execution queues by their numbers, and waiting for their fences. All functions return 0 or an
// error number.
int shim_queue_create(struct drm_xe_exec_queue_create *create);
int shim_queue_destroy(const struct drm_xe_exec_queue_destroy *destroy);
int shim_queue_execute(const struct drm_xe_exec *execute);
int shim_queue_get_property(struct drm_xe_exec_queue_get_property *property);

// Waits until a value in the process is as wanted: ETIME when it takes too long, EIO when the queue
// that it is to come from is lost.
int shim_fence_wait(const struct drm_xe_wait_user_fence *wait);

#endif
