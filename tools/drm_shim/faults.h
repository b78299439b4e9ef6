// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_FAULTS_H
#define DRM_SHIM_FAULTS_H

// Faults from the kernel's side (DRM_SHIM_FAULT): the n-th call of a kind fails, the n-th kernel
// never ends, or the GPU is reset. README.md has the syntax.
enum shim_fault_site {
    SHIM_FAULT_BUFFER_CREATE, // in the order of the names in faults.c
    SHIM_FAULT_BUFFER_MAP,
    SHIM_FAULT_SPACE_CREATE,
    SHIM_FAULT_BIND,
    SHIM_FAULT_QUEUE_CREATE,
    SHIM_FAULT_EXECUTE,
    SHIM_FAULT_FENCE_WAIT,
    SHIM_FAULT_QUERY,
    SHIM_FAULT_KERNEL,
    SHIM_FAULT_RESET,
    SHIM_FAULT_SITES,
};

// Counts a call; the error that it fails with, 0 for none. For SHIM_FAULT_KERNEL not 0 means that
// the kernel hangs, for SHIM_FAULT_RESET that the GPU is reset. Thread-safe.
int shim_fault_take(enum shim_fault_site site);

#endif
