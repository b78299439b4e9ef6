// SPDX-License-Identifier: MIT
// The getters of the tables, which a loader calls first.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef ur_result_t(UR_APICALL getter_fn)(ur_api_version_t, void *);

static void *library;

static void set_up(void)
{
    test_env_use_ze_cpu();
    setenv("ZEPI_UR_LAYOUT", TEST_UR_RELEASE, 1);
    library = dlopen(TEST_UR_ADAPTER, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library);
}

static void tear_down(void)
{
    dlclose(library);
}

TestSuite(tables, .init = set_up, .fini = tear_down);

static getter_fn *find_getter(const char *name)
{
    getter_fn *getter;
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s is not there", name);
    memcpy(&getter, &symbol, sizeof(symbol));
    return getter;
}

#define FOR_EACH_GETTER(check) UR_TABLES(check)

Test(tables, no_getter_takes_null)
{
#define CHECK(member)                                                                              \
    cr_expect_eq(find_getter("urGet" #member "ProcAddrTable")(UR_API_VERSION_CURRENT, NULL),       \
                 UR_RESULT_ERROR_INVALID_NULL_POINTER, #member);
    FOR_EACH_GETTER(CHECK)
#undef CHECK
}

Test(tables, layouts_of_other_versions_are_refused_and_nothing_is_written)
{
    static const ur_api_version_t others[] = {
        (ur_api_version_t)UR_MAKE_VERSION(0, 11), (ur_api_version_t)UR_MAKE_VERSION(0, 13),
        (ur_api_version_t)UR_MAKE_VERSION(1, 0), (ur_api_version_t)0};
    static const ur_dditable_t zero;
    ur_dditable_t tables = zero;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
#define CHECK(member)                                                                              \
    cr_expect_eq(find_getter("urGet" #member "ProcAddrTable")(others[i], &tables.member),          \
                 UR_RESULT_ERROR_UNSUPPORTED_VERSION, #member " of %x", (unsigned)others[i]);
        FOR_EACH_GETTER(CHECK)
#undef CHECK
    }
    cr_expect_eq(memcmp(&tables, &zero, sizeof(tables)), 0);
}

// The getters of an older loader, in their order, and what the user reads.
Test(tables, of_an_older_version_are_refused_with_one_line)
{
    char line[1024];
    ur_dditable_t tables;
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    for (int i = 0; i < 2; i++)
        find_getter("urGetAdapterProcAddrTable")((ur_api_version_t)UR_MAKE_VERSION(0, 11),
                                                 &tables.Adapter);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    cr_assert_not_null(fgets(line, sizeof(line), file));
    cr_expect(strstr(line, "asks for tables of Unified Runtime 0.11; this adapter serves"), "%s",
              line);
    cr_expect_null(fgets(line, sizeof(line), file), "%s", line);
    fclose(file);
}

Test(tables, nothing_else_is_exported)
{
    static const char *const hidden[] = {"zepiPluginInit", "zepi_urAdapterGet", "urAdapterGet",
                                         "zepi_object_create"};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        Dl_info info;
        void *symbol = dlsym(library, hidden[i]);
        cr_expect(!symbol || !dladdr(symbol, &info) || strcmp(info.dli_fname, TEST_UR_ADAPTER) != 0,
                  "%s is exported", hidden[i]);
    }
}

TestSuite(tables_loaded, .init = ur_set_up, .fini = ur_tear_down);

// Their address: the loader's intercept layer reads it there.
Test(tables_loaded, every_handle_begins_with_the_tables)
{
    const ur_sampler_desc_t desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    ur_usm_pool_desc_t pool_desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    ur_program_handle_t program = ur_input("vector_add");
    ur_event_handle_t event;
    ur_mem_handle_t buffer;
    ur_sampler_handle_t sampler;
    ur_usm_pool_handle_t pool;
    UR_OK(urEnqueueEventsWait(gear.queue, 0, NULL, &event));
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 64, NULL, &buffer));
    UR_OK(urSamplerCreate(gear.context, &desc, &sampler));
    UR_OK(urUSMPoolCreate(gear.context, &pool_desc, &pool));
    const void *const handles[] = {gear.adapter, gear.platform, gear.device, gear.context,
                                   gear.queue,   kernel,        program,     event,
                                   buffer,       sampler,       pool};
    const ur_dditable_t *tables = *(const ur_dditable_t *const *)gear.adapter;
    cr_assert_not_null(tables);
#define CHECK(member) cr_expect_eq(memcmp(&tables->member, &ur.member, sizeof(ur.member)), 0);
    UR_TABLES(CHECK)
#undef CHECK
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        cr_expect_eq(*(const ur_dditable_t *const *)handles[i], tables, "handle %zu", i);
    UR_OK(urUSMPoolRelease(pool));
    UR_OK(urSamplerRelease(sampler));
    UR_OK(urMemRelease(buffer));
    UR_OK(urEventRelease(event));
    UR_OK(urProgramRelease(program));
    UR_OK(urKernelRelease(kernel));
}
