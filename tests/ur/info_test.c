// SPDX-License-Identifier: MIT
// Every query of the header, about an object of each kind: the answer's size first, then the
// answer, of the type and size that the header says in brackets; too little room is refused.
#include "checks.h"
#include "test_env.h"
#include "ur_queries.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_up(void)
{
    setenv("ZES_ENABLE_SYSMAN", "1", 1);
    checks_set_up();
}

TestSuite(info, .init = set_up, .fini = checks_tear_down);

struct query {
    const char *name;
    uint32_t value;
    const char *type;
    size_t type_bytes;
    size_t count; // 0: any number
    bool is_optional;
};
#define QUERY(query, type, count, is_optional)                                                     \
    {#query, query, #type, sizeof(type), count, is_optional},

#define ROOM 65536
static _Alignas(16) unsigned char answer[ROOM];
static _Alignas(16) unsigned char again[ROOM];

typedef ur_result_t ask_fn(uint32_t query, size_t size, void *value, size_t *out_size);

static void check_size(const struct query *query, size_t size)
{
    if (query->count > 0)
        cr_expect_eq(size, query->count * query->type_bytes, "%s: %zu bytes, expected %zu %s",
                     query->name, size, query->count, query->type);
    else
        cr_expect_eq(size % query->type_bytes, 0, "%s: %zu bytes are no whole number of %s",
                     query->name, size, query->type);
}

static void check_text(const struct query *query, size_t size)
{
    cr_expect(size > 0 && strnlen((const char *)answer, size) == size - 1,
              "%s: the text does not end where its %zu bytes do", query->name, size);
}

// With exactly the room, with more, and with less.
static void check_answer(const struct query *query, ask_fn *ask, size_t size)
{
    size_t told = 0;
    memset(answer, 0xa5, ROOM);
    cr_expect_eq(ask(query->value, size > 0 ? size : 8, answer, &told), UR_RESULT_SUCCESS, "%s: %s",
                 query->name, ur_last_error());
    cr_expect_eq(told, size, "%s: %zu bytes, then %zu", query->name, size, told);
    for (size_t i = size; i < size + 64; i++)
        cr_expect_eq(answer[i], 0xa5, "%s writes past its answer", query->name);
    if (strcmp(query->type, "char") == 0 && strcmp(query->name, "UR_PROGRAM_INFO_IL") != 0)
        check_text(query, size);
    memset(again, 0xa5, ROOM);
    cr_expect_eq(ask(query->value, ROOM, again, NULL), UR_RESULT_SUCCESS, "%s: with more room",
                 query->name);
    for (size_t i = size; i < ROOM; i++)
        cr_assert_eq(again[i], 0xa5, "%s writes past its answer", query->name);
    if (size < 2)
        return;
    told = 77;
    memset(again, 0xa5, ROOM);
    cr_expect_eq(ask(query->value, size - 1, again, &told), UR_RESULT_ERROR_INVALID_SIZE,
                 "%s: with less room", query->name);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(again[i], 0xa5, "%s writes without room", query->name);
    cr_expect_eq(told, 77, "%s tells a size without room", query->name);
}

// Those that have tests of their own: queues on the device have a size and a default
// (checks_queue), and binaries go to addresses that the answer has beforehand (program).
static bool is_apart(const struct query *query)
{
    static const char *const names[] = {"UR_QUEUE_INFO_SIZE", "UR_QUEUE_INFO_DEVICE_DEFAULT",
                                        "UR_PROGRAM_INFO_BINARIES"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(query->name, names[i]) == 0)
            return true;
    }
    return false;
}

static void check(const struct query *queries, size_t count, ask_fn *ask)
{
    size_t answered = 0;
    for (size_t i = 0; i < count; i++) {
        const struct query *query = &queries[i];
        size_t size = 0;
        if (is_apart(query))
            continue;
        const ur_result_t result = ask(query->value, 0, NULL, &size);
        if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION) {
            cr_expect(query->is_optional, "%s is not supported", query->name);
            printf("%s is not supported\n", query->name);
            continue;
        }
        cr_expect_eq(result, UR_RESULT_SUCCESS, "%s: %d (%s)", query->name, (int)result,
                     ur_last_error());
        if (result != UR_RESULT_SUCCESS)
            continue;
        check_size(query, size);
        check_answer(query, ask, size);
        answered++;
    }
    cr_assert(answered > 0);
}

#define CHECK(type, function)                                                                      \
    do {                                                                                           \
        static const struct query queries[] = {UR_QUERIES_##type(QUERY)};                          \
        check(queries, sizeof(queries) / sizeof(queries[0]), function);                            \
    } while (false)

// `call` uses `query`, `size`, `value` and `out_size`.
#define ASK(name, type, call)                                                                      \
    static ur_result_t name(uint32_t value_of, size_t size, void *value, size_t *out_size)         \
    {                                                                                              \
        const type query = (type)value_of;                                                         \
        return call;                                                                               \
    }

ASK(ask_adapter, ur_adapter_info_t, urAdapterGetInfo(gear.adapter, query, size, value, out_size))
ASK(ask_platform, ur_platform_info_t,
    urPlatformGetInfo(gear.platform, query, size, value, out_size))
ASK(ask_device, ur_device_info_t, urDeviceGetInfo(gear.device, query, size, value, out_size))
ASK(ask_context, ur_context_info_t, urContextGetInfo(gear.context, query, size, value, out_size))
ASK(ask_queue, ur_queue_info_t, urQueueGetInfo(own.queue, query, size, value, out_size))
ASK(ask_event, ur_event_info_t, urEventGetInfo(own.event, query, size, value, out_size))
ASK(ask_mem, ur_mem_info_t, urMemGetInfo(own.buffer, query, size, value, out_size))
ASK(ask_image, ur_image_info_t, urMemImageGetInfo(own.image, query, size, value, out_size))
ASK(ask_sampler, ur_sampler_info_t, urSamplerGetInfo(own.sampler, query, size, value, out_size))
ASK(ask_pool, ur_usm_pool_info_t, urUSMPoolGetInfo(own.pool, query, size, value, out_size))
ASK(ask_program, ur_program_info_t, urProgramGetInfo(own.program, query, size, value, out_size))
ASK(ask_build, ur_program_build_info_t,
    urProgramGetBuildInfo(own.program, gear.device, query, size, value, out_size))
ASK(ask_kernel, ur_kernel_info_t, urKernelGetInfo(own.kernel, query, size, value, out_size))
ASK(ask_group, ur_kernel_group_info_t,
    urKernelGetGroupInfo(own.kernel, gear.device, query, size, value, out_size))
ASK(ask_sub_group, ur_kernel_sub_group_info_t,
    urKernelGetSubGroupInfo(own.kernel, gear.device, query, size, value, out_size))

static ur_event_handle_t timed;
ASK(ask_profiling, ur_profiling_info_t,
    urEventGetProfilingInfo(timed, query, size, value, out_size))
static void *pooled;
ASK(ask_usm, ur_usm_alloc_info_t,
    urUSMGetMemAllocInfo(gear.context, pooled, query, size, value, out_size))

static void *reserved;
static size_t reserved_bytes;
static ur_physical_mem_handle_t physical;
ASK(ask_granularity, ur_virtual_mem_granularity_info_t,
    urVirtualMemGranularityGetInfo(gear.context, gear.device, 4096, query, size, value, out_size))
ASK(ask_virtual, ur_virtual_mem_info_t,
    urVirtualMemGetInfo(gear.context, reserved, reserved_bytes, query, size, value, out_size))
ASK(ask_physical, ur_physical_mem_info_t,
    urPhysicalMemGetInfo(physical, query, size, value, out_size))
ASK(ask_peer, ur_exp_peer_info_t,
    urUsmP2PPeerAccessGetInfoExp(gear.devices[0], gear.devices[1], query, size, value, out_size))
static ur_exp_command_buffer_handle_t commands;
ASK(ask_commands, ur_exp_command_buffer_info_t,
    urCommandBufferGetInfoExp(commands, query, size, value, out_size))

Test(info, of_adapter_and_platform)
{
    CHECK(ur_adapter_info_t, ask_adapter);
    CHECK(ur_platform_info_t, ask_platform);
}

Test(info, of_a_device)
{
    CHECK(ur_device_info_t, ask_device);
}

Test(info, of_a_context)
{
    CHECK(ur_context_info_t, ask_context);
}

Test(info, of_queues_and_events)
{
    UR_OK(urEnqueueEventsWait(gear.queue, 0, NULL, &timed));
    UR_OK(urEventWait(1, &timed));
    CHECK(ur_queue_info_t, ask_queue);
    CHECK(ur_event_info_t, ask_event);
    CHECK(ur_profiling_info_t, ask_profiling);
    UR_OK(urEventRelease(timed));
}

Test(info, of_memory)
{
    UR_OK(urUSMSharedAlloc(gear.context, gear.device, NULL, own.pool, 64, &pooled));
    CHECK(ur_mem_info_t, ask_mem);
    CHECK(ur_image_info_t, ask_image);
    CHECK(ur_sampler_info_t, ask_sampler);
    CHECK(ur_usm_alloc_info_t, ask_usm);
    CHECK(ur_usm_pool_info_t, ask_pool);
    ur_free(pooled);
}

Test(info, of_virtual_memory)
{
    UR_OK(urVirtualMemGranularityGetInfo(gear.context, gear.device, 1,
                                         UR_VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED,
                                         sizeof(reserved_bytes), &reserved_bytes, NULL));
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, reserved_bytes, NULL, &physical));
    UR_OK(urVirtualMemReserve(gear.context, NULL, reserved_bytes, &reserved));
    UR_OK(urVirtualMemMap(gear.context, reserved, reserved_bytes, physical, 0,
                          UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE));
    CHECK(ur_virtual_mem_granularity_info_t, ask_granularity);
    CHECK(ur_virtual_mem_info_t, ask_virtual);
    CHECK(ur_physical_mem_info_t, ask_physical);
    UR_OK(urVirtualMemUnmap(gear.context, reserved, reserved_bytes));
    UR_OK(urVirtualMemFree(gear.context, reserved, reserved_bytes));
    UR_OK(urPhysicalMemRelease(physical));
}

Test(info, of_peers_and_command_buffers)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &commands));
    CHECK(ur_exp_peer_info_t, ask_peer);
    CHECK(ur_exp_command_buffer_info_t, ask_commands);
    UR_OK(urCommandBufferReleaseExp(commands));
}

Test(info, of_programs_and_kernels)
{
    CHECK(ur_program_info_t, ask_program);
    CHECK(ur_program_build_info_t, ask_build);
    CHECK(ur_kernel_info_t, ask_kernel);
    CHECK(ur_kernel_group_info_t, ask_group);
    CHECK(ur_kernel_sub_group_info_t, ask_sub_group);
}

// The row of the query in QUERIES.md, and whether it is one without an answer.
static const char *find_row(const char *page, const char *name, bool *out_has_answer)
{
    char quoted[128];
    const char *prefix = "UR_DEVICE_INFO_";
    const bool is_of_device = strncmp(name, prefix, strlen(prefix)) == 0;
    snprintf(quoted, sizeof(quoted), "`%s`", is_of_device ? name + strlen(prefix) : name);
    const char *found = strstr(page, quoted);
    cr_assert_not_null(found, "%s is not in QUERIES.md", name);
    cr_expect_null(strstr(found + 1, quoted), "%s is in QUERIES.md twice", name);
    *out_has_answer = found < strstr(page, "\n## No answer\n");
    return found;
}

static void compare_with_page(const char *page, const struct query *queries, size_t count,
                              ask_fn *ask)
{
    for (size_t i = 0; i < count; i++) {
        bool has_answer;
        size_t size = 0;
        const char *row = find_row(page, queries[i].name, &has_answer);
        const size_t length = strcspn(row, "\n");
        const ur_result_t result = ask(queries[i].value, 0, NULL, &size);
        const char *none = strstr(row, "; no");
        if (!has_answer)
            cr_expect_eq(result, UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "%s has an answer",
                         queries[i].name);
        else if (result != UR_RESULT_SUCCESS)
            cr_expect(none && none < row + length, "%s is not supported", queries[i].name);
    }
}

#define COMPARE(type, function)                                                                    \
    do {                                                                                           \
        static const struct query queries[] = {UR_QUERIES_##type(QUERY)};                          \
        compare_with_page(page, queries, sizeof(queries) / sizeof(queries[0]), function);          \
    } while (false)

Test(info, comes_from_where_the_page_of_queries_says)
{
    const struct test_bytes bytes = test_env_read_file(TEST_UR_QUERIES);
    char *page = realloc(bytes.data, bytes.size_bytes + 1);
    cr_assert_not_null(page);
    page[bytes.size_bytes] = '\0';
    COMPARE(ur_device_info_t, ask_device);
    COMPARE(ur_kernel_info_t, ask_kernel);
    COMPARE(ur_kernel_group_info_t, ask_group);
    COMPARE(ur_kernel_sub_group_info_t, ask_sub_group);
    free(page);
}
