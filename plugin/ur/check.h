// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_CHECK_H
#define ZEPI_UR_CHECK_H

#include "checks/check.h"
#include "core/object.h"
#include "ur/ur.h"

#include <assert.h>

// Checks of arguments that come in through Unified Runtime's tables, as the header documents them
// for each function, and results that go out. They hold with and without the loader's validation
// layer. Any thread.
//
// Checks stand in one condition: `if ((result = check) || (result = next)) return result;`. The
// first failure ends it, since UR_RESULT_SUCCESS is 0.
static_assert(UR_RESULT_SUCCESS == 0, "a failure is true");

// The result that a failure of the core stands for. The sentence stays the thread's last error,
// and is written to the log.
ur_result_t zepi_ur_fail(zepi_result_t result) __attribute__((cold, noinline));
static inline ur_result_t zepi_ur_result(zepi_result_t result)
{
    return __builtin_expect(result == ZEPI_SUCCESS, 1) ? UR_RESULT_SUCCESS : zepi_ur_fail(result);
}

// Whether the host's release has codes of its own for captures that fail. Up to 2026.1 each is
// UR_RESULT_ERROR_INVALID_OPERATION. Set with its tables.
void zepi_ur_set_has_capture_results(bool has);

// The code of a result whose failure `special` has a code of its own.
static inline ur_result_t zepi_ur_result_with(zepi_result_t result, zepi_result_t special,
                                              ur_result_t code)
{
    const ur_result_t common = zepi_ur_result(result);
    return __builtin_expect(result == special, 0) ? code : common;
}

// Notes the mistake, and returns `result`.
ur_result_t zepi_ur_refuse(ur_result_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold, noinline));

// The code of a check of memory: a pointer that is NULL has its own.
static inline ur_result_t zepi_ur_result_of_range(zepi_result_t result)
{
    return zepi_ur_result_with(result, ZEPI_ERROR_INVALID_VALUE,
                               UR_RESULT_ERROR_INVALID_NULL_POINTER);
}

// The code of a wait list that is wrong.
ur_result_t zepi_ur_fail_wait_list(zepi_result_t result) __attribute__((cold, noinline));

ur_result_t zepi_ur_refuse_handle(const void *handle, const struct zepi_type *type,
                                  ur_result_t wrong) __attribute__((cold, noinline));

// A handle of `type`; NULL is UR_RESULT_ERROR_INVALID_NULL_HANDLE, anything else `wrong`.
static inline ur_result_t zepi_ur_check(const void *handle, const struct zepi_type *type,
                                        ur_result_t wrong)
{
    return __builtin_expect(zepi_object_is(handle, type), 1)
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse_handle(handle, type, wrong);
}

// Defines zepi_ur_NAME(), the object behind a handle, and zepi_ur_check_NAME().
#define ZEPI_UR_DEFINE_HANDLE(name, handle_type, object, wrong)                                    \
    static inline struct object *zepi_ur_##name(handle_type handle)                                \
    {                                                                                              \
        return (struct object *)handle;                                                            \
    }                                                                                              \
    static inline ur_result_t zepi_ur_check_##name(handle_type handle)                             \
    {                                                                                              \
        return zepi_ur_check(handle, &object##_type, wrong);                                       \
    }

// Pointers that must not be NULL: `name` is the first one that is.
ur_result_t zepi_ur_refuse_null(const char *name) __attribute__((cold, noinline));
static inline ur_result_t zepi_ur_check_pointer(const void *pointer, const char *name)
{
    return __builtin_expect(pointer != NULL, 1) ? UR_RESULT_SUCCESS : zepi_ur_refuse_null(name);
}

// Bits of `flags` outside of those that the header defines: its masks have the others.
static inline ur_result_t zepi_ur_check_flags(uint32_t flags, uint32_t unknown_mask)
{
    return __builtin_expect((flags & unknown_mask) == 0, 1)
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION, "flags 0x%x are not known",
                                (unsigned)(flags & unknown_mask));
}

// A list that the caller may have room for: no room at an address is an error.
ur_result_t zepi_ur_check_list(uint32_t capacity, const void *list);

// The structure of a type behind another one, whose `pNext` is `next`; NULL: there is none.
const void *zepi_ur_find_in_chain(const void *next, ur_structure_type_t type);

#endif
