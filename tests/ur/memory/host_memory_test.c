// SPDX-License-Identifier: MIT
// The host's own memory: registered as USM, and imported for copies.
#include "test_threads.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4

static size_t page;
static char *memory; // PAGES of them, and one more

static bool can_register(void)
{
    ur_bool_t can = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
                          sizeof(can), &can, NULL));
    return can;
}

static void set_up(void)
{
    ur_set_up();
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory =
        mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
}

static void set_up_registered(void)
{
    set_up();
    if (!can_register()) {
        munmap(memory, (PAGES + 1) * page);
        ur_tear_down();
        cr_skip_test("the driver does not undo a registration");
    }
    UR_OK(urUSMHostAllocRegisterExp(gear.context, memory, PAGES * page, NULL));
}

static void tear_down(void)
{
    munmap(memory, (PAGES + 1) * page);
    ur_tear_down();
}

static ur_usm_type_t kind_of(const void *address)
{
    ur_usm_type_t kind;
    UR_OK(urUSMGetMemAllocInfo(gear.context, address, UR_USM_ALLOC_INFO_TYPE, sizeof(kind), &kind,
                               NULL));
    return kind;
}

Test(host_memory, is_usm_while_it_is_registered)
{
    void *base;
    size_t size;
    set_up_registered();
    for (size_t i = 0; i < PAGES; i++)
        cr_assert_eq(kind_of(memory + i * page + 7), UR_USM_TYPE_HOST);
    cr_assert_eq(kind_of(memory + PAGES * page), UR_USM_TYPE_UNKNOWN);
    UR_OK(urUSMGetMemAllocInfo(gear.context, memory + page, UR_USM_ALLOC_INFO_BASE_PTR,
                               sizeof(base), &base, NULL));
    UR_OK(urUSMGetMemAllocInfo(gear.context, memory + page, UR_USM_ALLOC_INFO_SIZE, sizeof(size),
                               &size, NULL));
    cr_assert(base == memory && size == PAGES * page);
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    cr_assert_eq(kind_of(memory), UR_USM_TYPE_UNKNOWN);
    tear_down();
}

Test(host_memory, a_kernel_works_on_what_was_registered)
{
    set_up_registered();
    int32_t *numbers = (int32_t *)(void *)(memory + page);
    ur_kernel_handle_t kernel = ur_kernel("negate", "negate");
    for (int i = 0; i < 256; i++)
        numbers[i] = i + 1;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, numbers)};
    UR_OK(ur_launch(gear.queue, kernel, 256, 1, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < 256; i++)
        cr_assert_eq(numbers[i], -(i + 1));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    tear_down();
}

// As of USM that is a buffer's storage: it is known to be there.
Test(host_memory, that_is_the_storage_of_a_buffer_has_its_contents_after_the_release)
{
    ur_mem_handle_t buffer;
    set_up_registered();
    int32_t *numbers = (int32_t *)(void *)(memory + page);
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = numbers};
    ur_kernel_handle_t kernel = ur_kernel("negate", "negate");
    for (int i = 0; i < 256; i++)
        numbers[i] = i + 1;
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER,
                            256 * sizeof(*numbers), &properties, &buffer));
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
    UR_OK(ur_launch(gear.queue, kernel, 256, 1, &argument, 0, NULL, NULL));
    UR_OK(urMemRelease(buffer));
    for (int i = 0; i < 256; i++)
        cr_assert_eq(numbers[i], -(i + 1), "number %d is %d", i, numbers[i]);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    tear_down();
}

Test(host_memory, is_registered_again_and_in_pieces)
{
    const ur_exp_usm_host_alloc_register_properties_t read_only = {
        .stype = UR_STRUCTURE_TYPE_EXP_USM_HOST_ALLOC_REGISTER_PROPERTIES,
        .flags = UR_EXP_USM_HOST_ALLOC_REGISTER_FLAG_READ_ONLY};
    set_up_registered();
    for (int round = 0; round < 3; round++) {
        UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
        UR_FAILS(urUSMHostAllocUnregisterExp(gear.context, memory), UR_RESULT_ERROR_INVALID_VALUE);
        UR_OK(urUSMHostAllocRegisterExp(gear.context, memory + page, page, &read_only));
        UR_OK(urUSMHostAllocRegisterExp(gear.context, memory, page, NULL));
        UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory + page));
    }
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    tear_down();
}

// Around one that is there, so that neither end of it is registered.
Test(host_memory, that_encloses_what_is_registered_is_refused)
{
    set_up_registered();
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    UR_OK(urUSMHostAllocRegisterExp(gear.context, memory + page, page, NULL));
    UR_FAILS_SAYING(urUSMHostAllocRegisterExp(gear.context, memory, 3 * page, NULL),
                    UR_RESULT_ERROR_INVALID_VALUE, "registered already");
    // It left the one that is there alone, and nothing behind.
    cr_assert_eq(kind_of(memory), UR_USM_TYPE_UNKNOWN);
    cr_assert_eq(kind_of(memory + page), UR_USM_TYPE_HOST);
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory + page));
    UR_OK(urUSMHostAllocRegisterExp(gear.context, memory, 3 * page, NULL));
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    tear_down();
}

Test(host_memory, that_is_usm_or_no_whole_pages_is_refused)
{
    set_up_registered();
    char *usm;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, 16 * page, (void **)&usm));
    const struct {
        char *start;
        size_t size;
    } wrong[] = {{memory, PAGES * page},
                 {memory + page, page},
                 {memory + (PAGES - 1) * page, 2 * page},
                 {memory + PAGES * page, 0},
                 {memory + PAGES * page, page - 1},
                 {memory + PAGES * page, page + 1},
                 {memory + PAGES * page + 1, page},
                 {memory + PAGES * page, SIZE_MAX - page + 1},
                 {usm, 16 * page}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        UR_FAILS(urUSMHostAllocRegisterExp(gear.context, wrong[i].start, wrong[i].size, NULL),
                 UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urUSMHostAllocUnregisterExp(gear.context, memory + page),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urUSMHostAllocUnregisterExp(gear.context, usm), UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    ur_free(usm);
    tear_down();
}

static sem_t unregistered;

static void *unregister(void *nothing)
{
    (void)nothing;
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory));
    sem_post(&unregistered);
    return NULL;
}

// The host may free it at once.
Test(host_memory, is_unregistered_when_no_command_uses_it)
{
    const uint8_t byte = 5;
    test_ze_cpu_require();
    set_up_registered();
    struct host_event gate = host_event_make();
    sem_init(&unregistered, 0, 0);
    UR_OK(urEnqueueUSMFill(gear.queue, memory, 1, &byte, PAGES * page, 1, &gate.event, NULL));
    pthread_t thread = test_thread_start(unregister, NULL);
    usleep(20000);
    cr_assert_eq(sem_trywait(&unregistered), -1, "it did not wait");
    host_event_signal(&gate);
    pthread_join(thread, NULL);
    cr_assert(memory[0] == byte && memory[PAGES * page - 1] == byte);
    UR_OK(urQueueFinish(gear.queue));
    host_event_release(&gate);
    tear_down();
}

static sem_t is_looking; // at the first queue
static sem_t may_look_on;
static atomic_bool has_looked;
static bool has_returned_early;

// Stops the thread that unregisters before it looks at the second queue, which another thread finds
// empty meanwhile. When it returns, the memory was given back to the driver.
static void meet(const char *function, int is_over)
{
    if (strcmp(function, "zeEventHostSynchronize") == 0 && is_over &&
        !atomic_exchange(&has_looked, true)) {
        sem_post(&is_looking);
        sem_wait(&may_look_on);
    }
    if (strcmp(function, "zeMemFree") == 0 && !is_over) {
        for (int i = 0; i < 50 && !has_returned_early; i++) {
            usleep(1000);
            has_returned_early = sem_trywait(&unregistered) == 0;
        }
    }
}

Test(host_memory, is_unregistered_on_return_if_another_thread_finds_the_last_command_complete)
{
    test_ze_cpu_require();
    set_up_registered();
    ur_queue_handle_t second = ur_queue(gear.device, 0);
    ur_event_handle_t event;
    sem_init(&unregistered, 0, 0);
    sem_init(&is_looking, 0, 0);
    sem_init(&may_look_on, 0, 0);
    UR_OK(urEnqueueUSMFill(gear.queue, memory, 1, "", page, 0, NULL, &event));
    UR_OK(urEnqueueUSMFill(second, memory + page, 1, "", page, 0, NULL, NULL));
    ze_cpu.set_hook(meet);
    pthread_t thread = test_thread_start(unregister, NULL);
    sem_wait(&is_looking);
    UR_OK(urEventWait(1, &event));
    UR_OK(urQueueFinish(second));
    sem_post(&may_look_on);
    pthread_join(thread, NULL);
    ze_cpu.set_hook(NULL);
    cr_assert_not(has_returned_early);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(second));
    tear_down();
}

Test(host_memory, that_stays_registered_goes_with_the_context)
{
    set_up_registered();
    UR_OK(urUSMHostAllocRegisterExp(gear.context, memory + PAGES * page, page, NULL));
    UR_OK(urUSMHostAllocUnregisterExp(gear.context, memory + PAGES * page));
    tear_down();
}

static void is_not_registered_with(const char *name, const char *value)
{
    test_ze_cpu_require();
    setenv(name, value, 1);
    set_up();
    cr_assert(!can_register());
    UR_FAILS(urUSMHostAllocRegisterExp(gear.context, memory, page, NULL),
             UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    UR_FAILS(urUSMHostAllocUnregisterExp(gear.context, memory), UR_RESULT_ERROR_INVALID_VALUE);
    tear_down();
}

Test(host_memory, is_not_registered_where_the_driver_lacks_the_extension)
{
    is_not_registered_with("ZE_CPU_WITHOUT", "ZE_extension_external_memmap_sysmem");
}

Test(host_memory, is_not_registered_where_the_driver_keeps_the_pages)
{
    is_not_registered_with("ZEPI_QUIRKS", "kept-host-pages");
}

// ---- Hints ----

Test(host_memory, hints_are_given_to_the_driver)
{
    set_up();
    char *usm = ur_shared(page);
    test_ze_cpu_require();
    UR_OK(urUSMImportExp(gear.context, memory + 3, PAGES * page - 5));
    UR_OK(urUSMImportExp(gear.context, memory + 3, PAGES * page - 5));
    cr_assert_eq(ze_cpu.get_count("zexDriverImportExternalPointer"), 2);
    UR_OK(urUSMImportExp(gear.context, usm, page)); // USM needs none
    cr_assert_eq(ze_cpu.get_count("zexDriverImportExternalPointer"), 2);
    UR_OK(urUSMReleaseExp(gear.context, memory + 3));
    cr_assert_eq(ze_cpu.get_count("zexDriverReleaseImportedPointer"), 1);
    ur_free(usm);
    tear_down();
}

// Intel's driver tells which memory it has imported.
typedef ze_result_t base_address_fn(ze_driver_handle_t driver, void *memory, void **out_base);

static base_address_fn *find_base_address(ze_driver_handle_t *out_driver)
{
    base_address_fn *get_base = NULL;
    ur_native_handle_t native;
    UR_OK(urPlatformGetNativeHandle(gear.platform, &native));
    *out_driver = (ze_driver_handle_t)native;
    __typeof__(zeDriverGetExtensionFunctionAddress) *find;
    void *symbol = dlsym(dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD),
                         "zeDriverGetExtensionFunctionAddress");
    cr_assert_not_null(symbol);
    memcpy(&find, &symbol, sizeof(find));
    find(*out_driver, "zexDriverGetHostPointerBaseAddress", (void **)&get_base);
    return get_base;
}

Test(host_memory, hints_reach_intel_s_driver)
{
    ze_driver_handle_t driver;
    void *base = NULL;
    set_up();
    base_address_fn *const get_base = find_base_address(&driver);
    if (!get_base) {
        tear_down();
        cr_skip_test("the driver does not tell what it has imported");
    }
    cr_assert_neq(get_base(driver, memory, &base), ZE_RESULT_SUCCESS);
    UR_OK(urUSMImportExp(gear.context, memory, PAGES * page));
    cr_assert_eq(get_base(driver, memory + page, &base), ZE_RESULT_SUCCESS);
    cr_assert_eq(base, memory);
    UR_OK(urUSMReleaseExp(gear.context, memory));
    cr_assert_neq(get_base(driver, memory, &base), ZE_RESULT_SUCCESS);
    tear_down();
}

// Memory that the driver refuses is no failure, and copies are as right with hints as without.
Test(host_memory, hints_change_no_result)
{
    set_up();
    char *device = ur_device_memory(PAGES * page);
    for (int is_hinted = 0; is_hinted < 2; is_hinted++) {
        if (is_hinted)
            UR_OK(urUSMImportExp(gear.context, memory, PAGES * page));
        memset(memory, 40 + is_hinted, PAGES * page);
        UR_OK(urEnqueueUSMMemcpy(gear.queue, true, device, memory, PAGES * page, 0, NULL, NULL));
        memset(memory, 0, PAGES * page);
        UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, device, PAGES * page, 0, NULL, NULL));
        for (size_t i = 0; i < PAGES * page; i++)
            cr_assert_eq(memory[i], 40 + is_hinted);
        cr_assert_eq(kind_of(memory), UR_USM_TYPE_UNKNOWN);
    }
    UR_OK(urUSMImportExp(gear.context, memory + page, PAGES * page)); // overlaps
    UR_OK(urUSMReleaseExp(gear.context, memory));
    UR_OK(urUSMReleaseExp(gear.context, memory));
    ur_free(device);
    tear_down();
}
