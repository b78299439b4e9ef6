// SPDX-License-Identifier: MIT
//
// The walk without memory. It takes its memory from the C library itself (tools/ze_cpu shares it),
// so the linker puts the functions below in between (--wrap).
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);

static unsigned call_count;
static unsigned failing_call; // 0: none
static int live_count;

static bool next_fails(void)
{
    return ++call_count == failing_call;
}

static void *counted(void *memory)
{
    live_count += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return next_fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return next_fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (next_fails())
        return NULL;
    void *memory = __real_realloc(old, size);
    live_count += memory && !old;
    return memory;
}

void __wrap_free(void *memory)
{
    live_count -= memory != NULL;
    __real_free(memory);
}

// The n-th allocation fails, n = 1, 2, 3 ... until the walk makes fewer.
static void walk_all_failures(const char *name, struct test_bytes file)
{
    int live_before = live_count;
    enum zepi_spirv_status status;
    unsigned n = 0;
    do {
        call_count = 0;
        failing_call = ++n;
        memset(message, '#', sizeof(message));
        status = zepi_spirv_init(&spirv, file.data, file.size_bytes, message, sizeof(message));
        failing_call = 0;
        if (status != ZEPI_SPIRV_OK) {
            cr_assert_eq(status, ZEPI_SPIRV_OUT_OF_MEMORY, "%s, allocation %u", name, n);
            cr_assert_str_eq(message, "out of memory");
            cr_assert(spirv_is_empty());
        }
        zepi_spirv_finish(&spirv);
        cr_assert_eq(live_count, live_before, "%s, allocation %u: %d left", name, n,
                     live_count - live_before);
    } while (status != ZEPI_SPIRV_OK);
    cr_assert_eq(call_count, n - 1, "%s: a failed allocation went unnoticed", name);
    cr_assert(n > 6, "%s: only %u allocations", name, n - 1);
}

Test(spirv_memory, may_fail_at_any_allocation)
{
    spirv_each_file(walk_all_failures);
}

#define FOUR(id) id, id, id, id

Test(spirv_memory, may_fail_while_groups_are_resolved)
{
    // So many targets that the list of decorations grows.
    static const uint32_t words[] = {
        PROLOGUE,
        ENTRY,
        OP(OpExecutionMode, KERNEL, LocalSize, 1, 2, 3),
        OP(OpDecorate, 10, SpecId, 3),
        OP(OpDecorationGroup, 10),
        OP(OpGroupDecorate, 10, FOUR(20), FOUR(20), FOUR(20), FOUR(20), FOUR(20)),
        OP(OpDecorate, KERNEL, LinkageAttributes, 'k', Export),
        TYPES,
        NUMBERS,
        OP(OpSpecConstant, INT, 20, 1),
        KERNEL_FUNCTION,
    };
    walk_all_failures("groups", (struct test_bytes){(uint8_t *)words, sizeof(words)});
}

Test(spirv_memory, is_all_given_back_by_refused_modules)
{
    int live_before = live_count;
    struct test_bytes file = test_env_read_spirv("argument_kinds");
    for (size_t size = 0; size < file.size_bytes; size += 4)
        cr_assert_eq(spirv_walk(file.data, size), ZEPI_SPIRV_INVALID);
    free(file.data);
    cr_assert_eq(live_count, live_before);
}
