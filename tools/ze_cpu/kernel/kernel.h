// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_KERNEL_H
#define ZE_CPU_KERNEL_H

#include "module/program.h"
#include "object.h"

#include <stdbool.h>

// Argument state as the application set it. A launch copies it, so that it may be changed while the
// launch is pending. Not to be used by two threads at once: `busy` finds that out.
struct cpu_kernel {
    struct cpu_object object;
    struct cpu_program_kernel *code; // its program is retained and owned
    ze_device_handle_t device;       // borrowed; its module's
    _Atomic uint32_t busy;
    uint32_t group_size[3];
    uint32_t offset[3];
    ze_kernel_indirect_access_flags_t indirect_access;
    unsigned char *arguments; // owned, code->argument_bytes
    bool *is_set;             // for each argument, behind the arguments
    uint32_t unset_count;
};

// SUCCESS if no other thread is in the kernel; then cpu_kernel_leave must follow.
ze_result_t cpu_kernel_enter(struct cpu_kernel *kernel, const char *function);
void cpu_kernel_leave(struct cpu_kernel *kernel);

// Checks and sets the group size or an argument of a kernel with that code, in its handle or in a
// recorded launch: `arguments` is a block of code->argument_bytes.
ze_result_t cpu_kernel_check_group_size(const struct cpu_program_kernel *code, uint32_t x,
                                        uint32_t y, uint32_t z);
ze_result_t cpu_kernel_write_argument(const struct cpu_program_kernel *code,
                                      unsigned char *arguments, uint32_t index, size_t size_bytes,
                                      const void *value);

ze_result_t cpu_kernel_set_group_size(struct cpu_kernel *kernel, uint32_t x, uint32_t y,
                                      uint32_t z);
ze_result_t cpu_kernel_set_argument(struct cpu_kernel *kernel, uint32_t index, size_t size_bytes,
                                    const void *value);

#endif
