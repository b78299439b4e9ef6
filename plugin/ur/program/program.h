// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_PROGRAM_PROGRAM_H
#define ZEPI_UR_PROGRAM_PROGRAM_H

#include "core/alloc.h"
#include "program/module.h"
#include "ur/handles.h"

// Unified Runtime's program changes its state in place. It holds modules, which do not change: its
// input, and the object or executable of the last operation. Any thread: the mutex guards the
// state.
struct zepi_ur_program {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_module *input;    // retained; NULL: made by a link or around a native handle
    bool is_il;                   // the input is SPIR-V; else native code
    struct zepi_mutex mutex;      // guards the members below; no build under it
    struct zepi_module *built;    // retained; NULL: nothing was built, or that failed
    // Retained; native code as it was loaded when the program was made, for the first build, which
    // takes or releases it. NULL: there is none.
    struct zepi_module *loaded;
    char *options;   // owned; of the last operation; NULL: none
    bool has_failed; // the last operation
    // The logs of a failure: an owned list of owned texts, one a device of the context. NULL: none;
    // a success has its logs in the module.
    char **failure_logs;
};

extern const struct zepi_type zepi_ur_program_type;

ZEPI_UR_DEFINE_HANDLE(program, ur_program_handle_t, zepi_ur_program,
                      UR_RESULT_ERROR_INVALID_PROGRAM)

// A program of a context. `wrong` is the code for one of another context.
static inline ur_result_t zepi_ur_check_program_in(const struct zepi_context *context,
                                                   ur_program_handle_t handle, ur_result_t wrong)
{
    const ur_result_t result = zepi_ur_check_program(handle);
    return result ? result
                  : zepi_ur_check_same_context(context, zepi_ur_program(handle)->context, wrong,
                                               "the program");
}

// A program without modules. One reference, or NULL (noted).
struct zepi_ur_program *zepi_ur_program_make(struct zepi_context *context);

// Frees a list of logs; NULL is fine.
static inline void zepi_ur_program_free_logs(const struct zepi_context *context, char **logs)
{
    if (!logs)
        return;
    for (uint32_t i = 0; i < context->device_count; i++)
        zepi_free(logs[i]);
    zepi_free(logs);
}

// The program's module at this moment: the built one, else its input. New reference, never NULL but
// for a program whose link failed.
struct zepi_module *zepi_ur_program_module(struct zepi_ur_program *program);

// A new reference to the program's executable. Until it is built, the program has no `what`.
ur_result_t zepi_ur_program_executable(struct zepi_ur_program *program, const char *what,
                                       struct zepi_module **out_module);

#endif
