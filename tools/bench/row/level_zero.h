// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_LEVEL_ZERO_H
#define ZEPI_TOOL_BENCH_LEVEL_ZERO_H

#include <level_zero/ze_api.h>

#include <stdbool.h>

// The Level Zero loader, opened at run time, so that the command starts where there is none and
// names the package to install. A call through the table costs what a call of a linked library
// costs.
#define LEVEL_ZERO_FUNCTIONS(X)                                                                    \
    X(zeCommandListAppendLaunchKernel)                                                             \
    X(zeCommandListAppendMemoryCopy)                                                               \
    X(zeCommandListCreateImmediate)                                                                \
    X(zeCommandListDestroy)                                                                        \
    X(zeDriverGetExtensionFunctionAddress)                                                         \
    X(zeEventCreate)                                                                               \
    X(zeEventDestroy)                                                                              \
    X(zeEventHostReset)                                                                            \
    X(zeEventPoolCreate)                                                                           \
    X(zeEventPoolDestroy)                                                                          \
    X(zeKernelCreate)                                                                              \
    X(zeKernelDestroy)                                                                             \
    X(zeKernelSetArgumentValue)                                                                    \
    X(zeKernelSetGroupSize)                                                                        \
    X(zeKernelSetIndirectAccess)                                                                   \
    X(zeMemAllocDevice)                                                                            \
    X(zeMemFree)                                                                                   \
    X(zeModuleCreate)                                                                              \
    X(zeModuleDestroy)

struct level_zero {
#define MEMBER(function) __typeof__(function) *function;
    LEVEL_ZERO_FUNCTIONS(MEMBER)
#undef MEMBER
};
extern struct level_zero level_zero; // after level_zero_open

// False: there is no loader, or it lacks one of these functions.
bool level_zero_open(void);
// A function of newer loaders, or NULL. After level_zero_open.
void *level_zero_find(const char *name);

#endif
