// SPDX-License-Identifier: MIT
// Handles of Level Zero behind SYCL's objects, and SYCL's objects around handles of Level Zero.
#include <level_zero/ze_api.h>

#include "sycl_support.hpp"

#include <sycl/ext/oneapi/backend/level_zero.hpp>

#include <cstring>

namespace
{

constexpr sycl::backend level_zero = sycl::backend::ext_oneapi_level_zero;
using sycl::ext::oneapi::level_zero::ownership;
using bundle_input = sycl::backend_input_t<level_zero, executable_bundle>;

#define EXPECT_ZE(call) EXPECT_EQ(static_cast<int>(call), static_cast<int>(ZE_RESULT_SUCCESS))

// Handles of the default device.
struct native {
    sycl::queue queue = make_queue();
    ze_device_handle_t device = sycl::get_native<level_zero>(queue.get_device());
    ze_context_handle_t context = sycl::get_native<level_zero>(queue.get_context());
    ze_driver_handle_t driver = sycl::get_native<level_zero>(queue.get_device().get_platform());

    ze_module_handle_t build(const char *spirv_name) const
    {
        const std::vector<std::byte> spirv = read_spirv(spirv_name);
        ze_module_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
        desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
        desc.inputSize = spirv.size();
        desc.pInputModule = reinterpret_cast<const uint8_t *>(spirv.data());
        ze_module_handle_t module;
        EXPECT_ZE(zeModuleCreate(context, device, &desc, &module, nullptr));
        return module;
    }

    ze_kernel_handle_t kernel(ze_module_handle_t module, const char *name) const
    {
        ze_kernel_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
        desc.pKernelName = name;
        ze_kernel_handle_t made;
        EXPECT_ZE(zeKernelCreate(module, &desc, &made));
        return made;
    }

    ze_command_list_handle_t immediate_list() const
    {
        ze_command_queue_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
        desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
        ze_command_list_handle_t list;
        EXPECT_ZE(zeCommandListCreateImmediate(context, device, &desc, &list));
        return list;
    }

    // data[i] = -data[i], the n-th time
    void negate(sycl::queue target, const sycl::kernel &kernel, int *data, size_t count) const
    {
        target
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, data);
                handler.parallel_for(sycl::range<1>(count), kernel);
            })
            .wait_and_throw();
    }
};

// A pool of one event.
struct native_event {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    explicit native_event(const native &test)
    {
        ze_event_pool_desc_t pool_desc = {};
        pool_desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        pool_desc.count = 1;
        ze_event_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
        desc.signal = desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
        ze_device_handle_t device = test.device;
        EXPECT_ZE(zeEventPoolCreate(test.context, &pool_desc, 1, &device, &pool));
        EXPECT_ZE(zeEventCreate(pool, &desc, &event));
    }
};

} // namespace

STORY(platforms_devices_and_contexts_are_the_driver_s)
{
    native test;
    ze_device_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    EXPECT_ZE(zeDeviceGetProperties(test.device, &properties));
    EXPECT_EQ(test.queue.get_device().get_info<sycl::info::device::name>(),
              std::string(properties.name));
    EXPECT(sycl::make_platform<level_zero>(test.driver) == test.queue.get_device().get_platform());
    EXPECT(sycl::make_device<level_zero>(test.device) == test.queue.get_device());
    EXPECT_ERROR(invalid,
                 sycl::make_device<level_zero>(reinterpret_cast<ze_device_handle_t>(test.context)));
}

STORY(a_context_is_made_of_a_handle)
{
    native test;
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        ze_context_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        ze_context_handle_t handle;
        EXPECT_ZE(zeContextCreate(test.driver, &desc, &handle));
        {
            sycl::context context =
                sycl::make_context<level_zero>({handle, {test.queue.get_device()}, owner});
            EXPECT(sycl::get_native<level_zero>(context) == handle);
            EXPECT(context.get_devices() == std::vector<sycl::device>{test.queue.get_device()});
            sycl::queue queue(context, test.queue.get_device());
            int *data = sycl::malloc_shared<int>(4, queue);
            data[3] = 9;
            test.negate(queue, kernel_of(context, "negate", "negate"), data, 4);
            EXPECT_EQ(data[3], -9);
            sycl::free(data, queue);
        }
        if (owner == ownership::keep)
            EXPECT_ZE(zeContextDestroy(handle));
    }
}

STORY(a_queue_s_handle_is_its_immediate_list)
{
    native test;
    sycl::queue queue = make_in_order_queue();
    auto handle = sycl::get_native<level_zero>(queue);
    EXPECT(std::holds_alternative<ze_command_list_handle_t>(handle));
    int *data = sycl::malloc_device<int>(4, queue);
    int found[4] = {};
    queue.memset(data, 0x11, 16);
    const int pattern = 5;
    EXPECT_ZE(zeCommandListAppendMemoryFill(std::get<ze_command_list_handle_t>(handle), data,
                                            &pattern, sizeof(pattern), 8, nullptr, 0, nullptr));
    queue.memcpy(found, data, 16).wait();
    EXPECT_EQ(found[1], 5);
    EXPECT_EQ(found[2], 0x11111111);
    sycl::free(data, queue);
}

STORY(a_queue_is_made_of_an_immediate_list)
{
    native test;
    const sycl::kernel negate = kernel_of(test.queue.get_context(), "negate", "negate");
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        for (bool is_in_order : {false, true}) {
            ze_command_list_handle_t list = test.immediate_list();
            sycl::property_list properties =
                is_in_order ? sycl::property_list{sycl::property::queue::in_order()}
                            : sycl::property_list{};
            {
                sycl::queue queue = sycl::make_queue<level_zero>(
                    {list, test.queue.get_device(), owner, properties}, test.queue.get_context());
                EXPECT_EQ(queue.is_in_order(), is_in_order);
                EXPECT(std::get<ze_command_list_handle_t>(sycl::get_native<level_zero>(queue)) ==
                       list);
                int *data = sycl::malloc_shared<int>(4, queue);
                data[3] = 9;
                for (int round = 0; round < 3; round++)
                    test.negate(queue, negate, data, 4);
                EXPECT_EQ(data[3], -9);
                sycl::free(data, queue);
            }
            if (owner == ownership::keep)
                EXPECT_ZE(zeCommandListDestroy(list));
        }
    }
}

STORY(a_command_queue_is_no_queue)
{
    native test;
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    ze_command_queue_handle_t handle;
    EXPECT_ZE(zeCommandQueueCreate(test.context, test.device, &desc, &handle));
    const std::string text = EXPECT_ERROR(
        runtime, sycl::make_queue<level_zero>({handle, test.queue.get_device(), ownership::keep},
                                              test.queue.get_context()));
    EXPECT(text.find("UR_RESULT_ERROR_UNSUPPORTED_FEATURE") != std::string::npos);
    EXPECT_ZE(zeCommandQueueDestroy(handle));
}

STORY(an_event_s_handle_can_be_waited_for)
{
    native test;
    int *data = sycl::malloc_shared<int>(1000, test.queue);
    sycl::event done = test.queue.memset(data, 0x22, 4000);
    ze_event_handle_t handle = sycl::get_native<level_zero>(done);
    EXPECT_ZE(zeEventHostSynchronize(handle, UINT64_MAX));
    EXPECT_EQ(data[999], 0x22222222);
    EXPECT(done.get_info<sycl::info::event::command_execution_status>() ==
           sycl::info::event_command_status::complete);
    sycl::free(data, test.queue);
}

STORY(an_event_is_made_of_a_handle_and_waited_for)
{
    native test;
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        native_event made(test);
        int *data = sycl::malloc_shared<int>(4, test.queue);
        data[0] = 1;
        {
            sycl::event event =
                sycl::make_event<level_zero>({made.event, owner}, test.queue.get_context());
            EXPECT(sycl::get_native<level_zero>(event) == made.event);
            EXPECT(event.get_info<sycl::info::event::command_execution_status>() !=
                   sycl::info::event_command_status::complete);
            sycl::event filled = test.queue.submit([&](sycl::handler &handler) {
                handler.depends_on(event);
                handler.memset(data, 0x33, 16);
            });
            EXPECT_EQ(data[0], 1);
            EXPECT_ZE(zeEventHostSignal(made.event));
            event.wait();
            filled.wait();
            EXPECT_EQ(data[0], 0x33333333);
        }
        if (owner == ownership::keep)
            EXPECT_ZE(zeEventDestroy(made.event));
        EXPECT_ZE(zeEventPoolDestroy(made.pool));
        sycl::free(data, test.queue);
    }
}

STORY(a_bundle_is_made_of_a_module)
{
    native test;
    int *data = sycl::malloc_shared<int>(4, test.queue);
    data[3] = 9;
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        ze_module_handle_t module = test.build("negate");
        {
            executable_bundle bundle =
                sycl::make_kernel_bundle<level_zero, sycl::bundle_state::executable>(
                    bundle_input{module, owner}, test.queue.get_context());
            EXPECT(sycl::get_native<level_zero>(bundle) == std::vector<ze_module_handle_t>{module});
            ze_kernel_handle_t handle = test.kernel(module, "negate");
            sycl::kernel kernel = sycl::make_kernel<level_zero>(
                {bundle, handle, ownership::transfer}, test.queue.get_context());
            EXPECT_EQ(kernel.get_info<sycl::info::kernel::num_args>(), 1u);
            EXPECT_EQ(kernel.get_info<sycl::info::kernel::function_name>(), "negate");
            test.negate(test.queue, kernel, data, 4);
        }
        if (owner == ownership::keep)
            EXPECT_ZE(zeModuleDestroy(module));
    }
    EXPECT_EQ(data[3], 9);
    sycl::free(data, test.queue);
}

STORY(a_kernel_that_is_kept_is_still_there)
{
    native test;
    ze_module_handle_t module = test.build("negate");
    ze_kernel_handle_t handle = test.kernel(module, "negate");
    int *data = sycl::malloc_shared<int>(4, test.queue);
    data[3] = 9;
    {
        executable_bundle bundle =
            sycl::make_kernel_bundle<level_zero, sycl::bundle_state::executable>(
                bundle_input{module, ownership::keep}, test.queue.get_context());
        test.negate(test.queue,
                    sycl::make_kernel<level_zero>({bundle, handle, ownership::keep},
                                                  test.queue.get_context()),
                    data, 4);
    }
    EXPECT_EQ(data[3], -9);
    EXPECT_ZE(zeKernelSetGroupSize(handle, 1, 1, 1));
    EXPECT_ZE(zeKernelDestroy(handle));
    EXPECT_ZE(zeModuleDestroy(module));
    sycl::free(data, test.queue);
}

STORY(kernels_and_bundles_have_handles_that_work)
{
    native test;
    executable_bundle bundle = build_spirv(test.queue.get_context(), "negate");
    std::vector<ze_module_handle_t> modules = sycl::get_native<level_zero>(bundle);
    EXPECT_EQ(modules.size(), 1u);
    ze_kernel_handle_t own = test.kernel(modules[0], "negate");
    sycl::kernel kernel = bundle.ext_oneapi_get_kernel("negate");
    int *data = sycl::malloc_shared<int>(8, test.queue);
    for (int i = 0; i < 8; i++)
        data[i] = i;
    ze_command_list_handle_t list = test.immediate_list();
    for (ze_kernel_handle_t handle : {own, sycl::get_native<level_zero>(kernel)}) {
        EXPECT_ZE(zeKernelSetGroupSize(handle, 8, 1, 1));
        EXPECT_ZE(zeKernelSetArgumentValue(handle, 0, sizeof(data), &data));
        const ze_group_count_t groups = {1, 1, 1};
        native_event done(test);
        EXPECT_ZE(zeCommandListAppendLaunchKernel(list, handle, &groups, done.event, 0, nullptr));
        EXPECT_ZE(zeEventHostSynchronize(done.event, UINT64_MAX));
        EXPECT_ZE(zeEventDestroy(done.event));
        EXPECT_ZE(zeEventPoolDestroy(done.pool));
    }
    EXPECT_EQ(data[7], 7);
    // SYCL's own launches do not mind.
    test.negate(test.queue, kernel, data, 8);
    EXPECT_EQ(data[7], -7);
    EXPECT_ZE(zeKernelDestroy(own));
    EXPECT_ZE(zeCommandListDestroy(list));
    sycl::free(data, test.queue);
}

STORY(a_buffer_is_made_of_memory)
{
    native test;
    const sycl::kernel negate = kernel_of(test.queue.get_context(), "negate", "negate");
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        ze_device_mem_alloc_desc_t device_desc = {};
        device_desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
        ze_host_mem_alloc_desc_t host_desc = {};
        host_desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
        void *memory;
        EXPECT_ZE(
            zeMemAllocShared(test.context, &device_desc, &host_desc, 64, 64, test.device, &memory));
        int *data = static_cast<int *>(memory);
        std::iota(data, data + 16, 0);
        {
            sycl::buffer<int> buffer =
                sycl::make_buffer<level_zero, int>({memory, owner}, test.queue.get_context());
            EXPECT_EQ(buffer.size(), 16u);
            test.queue
                .submit([&](sycl::handler &handler) {
                    sycl::accessor access(buffer, handler, sycl::read_write);
                    handler.set_arg(0, access);
                    handler.parallel_for(sycl::range<1>(16), negate);
                })
                .wait();
            sycl::host_accessor found(buffer);
            EXPECT_EQ(found[15], -15);
            found[15] = 100;
        }
        if (owner == ownership::keep)
            EXPECT_ZE(zeMemFree(test.context, memory));
    }
}

STORY(host_tasks_get_handles)
{
    native test;
    sycl::buffer<int> buffer{sycl::range<1>(16)};
    test.queue.submit([&](sycl::handler &handler) {
        handler.fill(sycl::accessor(buffer, handler, sycl::write_only, sycl::no_init), 7);
    });
    bool is_of_same_objects = false, is_filled = false;
    test.queue.submit([&](sycl::handler &handler) {
        sycl::accessor access(buffer, handler, sycl::read_write);
        handler.host_task([=, &is_of_same_objects, &is_filled](sycl::interop_handle handles) {
            auto *memory = static_cast<int *>(handles.get_native_mem<level_zero>(access));
            // get_native_queue of this backend does not compile.
            ze_command_list_handle_t list = test.immediate_list();
            const int pattern = 8;
            native_event done(test);
            is_of_same_objects = handles.get_backend() == level_zero &&
                                 handles.get_native_context<level_zero>() == test.context &&
                                 handles.get_native_device<level_zero>() == test.device;
            is_filled = zeCommandListAppendMemoryFill(list, memory, &pattern, 4, 8, done.event, 0,
                                                      nullptr) == ZE_RESULT_SUCCESS &&
                        zeEventHostSynchronize(done.event, UINT64_MAX) == ZE_RESULT_SUCCESS;
            zeEventDestroy(done.event);
            zeEventPoolDestroy(done.pool);
            zeCommandListDestroy(list);
        });
    });
    sycl::host_accessor found(buffer);
    EXPECT(is_of_same_objects);
    EXPECT(is_filled);
    EXPECT_EQ(found[1], 8);
    EXPECT_EQ(found[2], 7);
}

STORY(native_commands_join_the_order_of_the_queue)
{
    native test;
    sycl::queue queue = make_in_order_queue();
    auto list = std::get<ze_command_list_handle_t>(sycl::get_native<level_zero>(queue));
    int *data = sycl::malloc_device<int>(1000, queue);
    int found[1000];
    ze_result_t appended = ZE_RESULT_ERROR_UNKNOWN;
    queue.memset(data, 0x11, 4000);
    queue.submit([&](sycl::handler &handler) {
        handler.ext_codeplay_enqueue_native_command([=, &appended](sycl::interop_handle) {
            const int pattern = 6;
            appended = zeCommandListAppendMemoryFill(list, data, &pattern, sizeof(pattern), 2000,
                                                     nullptr, 0, nullptr);
        });
    });
    queue.memcpy(found, data, 4000).wait_and_throw();
    EXPECT_ZE(appended);
    EXPECT_EQ(found[499], 6);
    EXPECT_EQ(found[500], 0x11111111);
    sycl::free(data, queue);
}
