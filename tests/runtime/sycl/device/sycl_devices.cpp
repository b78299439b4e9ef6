// SPDX-License-Identifier: MIT
// Devices: their properties, several in one context, and their sub-devices. Runs with one device,
// with two, and with devices that have sub-devices.
#include "sycl_support.hpp"

#include <unordered_set>

namespace
{

namespace info = sycl::info::device;

std::vector<sycl::device> all_devices()
{
    return make_queue().get_device().get_platform().get_devices();
}

// Stories of two devices begin with this.
std::vector<sycl::device> two_devices()
{
    std::vector<sycl::device> devices = all_devices();
    if (devices.size() < 2)
        story_skip("there is one device; see the variant of this program with two");
    return {devices[0], devices[1]};
}

std::vector<sycl::device> parts_of(const sycl::device &device)
{
    if (device.get_info<info::partition_max_sub_devices>() == 0)
        story_skip("the device has no parts; see the variant of this program with sub-devices");
    return device.create_sub_devices<sycl::info::partition_property::partition_by_affinity_domain>(
        sycl::info::partition_affinity_domain::next_partitionable);
}

sycl::event negate(sycl::queue queue, const sycl::kernel &kernel, int *data, size_t count,
                   const std::vector<sycl::event> &after = {})
{
    return queue.submit([&](sycl::handler &handler) {
        handler.depends_on(after);
        handler.set_arg(0, data);
        handler.parallel_for(sycl::range<1>(count), kernel);
    });
}

// Every queue makes one round on the same memory, then the buffer is looked at.
void queues_share(const sycl::context &context, std::vector<sycl::queue> queues)
{
    const size_t count = 1000;
    const sycl::kernel kernel = kernel_of(context, "negate", "negate");
    int *host = sycl::malloc_host<int>(count, context);
    std::vector<int *> device;
    for (const sycl::queue &queue : queues) {
        device.push_back(sycl::malloc_device<int>(count, queue));
        EXPECT(sycl::get_pointer_device(device.back(), context) == queue.get_device());
    }
    for (size_t i = 0; i < count; i++)
        host[i] = static_cast<int>(i);
    sycl::event last;
    for (size_t i = 0; i < queues.size(); i++) {
        const int *from = i == 0 ? host : device[i - 1];
        last = queues[i].memcpy(device[i], from, count * sizeof(int), last);
        last = negate(queues[i], kernel, device[i], count, {last});
    }
    queues[0].memcpy(host, device.back(), count * sizeof(int), last).wait();
    EXPECT_EQ(host[count - 1], queues.size() % 2 == 0 ? 999 : -999);

    std::vector<int> numbers = count_from(0, count);
    {
        sycl::buffer<int> buffer(numbers.data(), count);
        for (int round = 0; round < 6; round++)
            for (sycl::queue &queue : queues)
                queue.submit([&](sycl::handler &handler) {
                    sycl::accessor access(buffer, handler, sycl::read_write);
                    handler.set_arg(0, access);
                    handler.parallel_for(sycl::range<1>(count), kernel);
                });
    }
    EXPECT_EQ(numbers[count - 1], 999);
    for (int *memory : device)
        sycl::free(memory, context);
    sycl::free(host, context);
}

} // namespace

STORY(devices_say_what_they_are)
{
    for (const sycl::device &device : all_devices()) {
        EXPECT(!device.get_info<info::name>().empty());
        EXPECT(!device.get_info<info::vendor>().empty());
        EXPECT(!device.get_info<info::driver_version>().empty());
        EXPECT(!device.get_info<info::version>().empty());
        EXPECT(device.get_info<info::is_available>());
        EXPECT(device.get_info<info::max_compute_units>() > 0);
        EXPECT(device.get_info<info::max_work_group_size>() > 0);
        EXPECT(device.get_info<info::max_work_item_sizes<3>>()[2] > 0);
        EXPECT_EQ(device.get_info<info::address_bits>(), 64u);
        EXPECT(device.get_info<info::max_mem_alloc_size>() <=
               device.get_info<info::global_mem_size>());
        EXPECT(device.get_info<info::local_mem_size>() >= 16384);
        EXPECT(device.get_info<info::local_mem_type>() != sycl::info::local_mem_type::none);
        EXPECT(device.get_info<info::mem_base_addr_align>() % 8 == 0);
        EXPECT(device.get_info<info::max_parameter_size>() >= 1024);
        EXPECT(!device.get_info<info::single_fp_config>().empty());
        EXPECT(!device.get_info<info::sub_group_sizes>().empty());
        EXPECT(device.get_info<info::platform>() == device.get_platform());
        EXPECT_EQ(device.has(sycl::aspect::fp64),
                  !device.get_info<info::double_fp_config>().empty());
        EXPECT_EQ(device.is_cpu() + device.is_gpu() + device.is_accelerator(), 1);
        EXPECT(device.has(sycl::aspect::usm_device_allocations));
        EXPECT(device.has(sycl::aspect::usm_host_allocations));
        EXPECT(device.has(sycl::aspect::usm_shared_allocations));
        EXPECT(device.get_backend() == sycl::backend::ext_oneapi_level_zero);
    }
}

STORY(aspects_are_those_of_the_list)
{
    const sycl::device device = make_queue().get_device();
    const std::vector<sycl::aspect> aspects = device.get_info<info::aspects>();
    for (sycl::aspect aspect : aspects)
        EXPECT(device.has(aspect));
    for (sycl::aspect aspect :
         {sycl::aspect::fp16, sycl::aspect::fp64, sycl::aspect::atomic64, sycl::aspect::image,
          sycl::aspect::usm_system_allocations, sycl::aspect::ext_oneapi_bindless_images,
          sycl::aspect::ext_oneapi_limited_graph, sycl::aspect::ext_oneapi_graph,
          sycl::aspect::ext_oneapi_virtual_mem, sycl::aspect::ext_oneapi_async_memory_alloc,
          sycl::aspect::ext_intel_device_id, sycl::aspect::ext_intel_device_info_uuid})
        EXPECT_EQ(device.has(aspect),
                  std::find(aspects.begin(), aspects.end(), aspect) != aspects.end());
    // The device does not report features that are refused.
    EXPECT(!device.has(sycl::aspect::ext_oneapi_bindless_images));
}

STORY(intel_s_questions_have_answers_or_are_refused)
{
    namespace intel = sycl::ext::intel::info::device;
    const sycl::device device = make_queue().get_device();
    const auto ask = [&](sycl::aspect aspect, const std::function<void()> &question) {
        if (device.has(aspect))
            question();
        else
            EXPECT_ERROR(feature_not_supported, question());
    };
    ask(sycl::aspect::ext_intel_device_id,
        [&] { EXPECT(device.get_info<intel::device_id>() > 0); });
    ask(sycl::aspect::ext_intel_device_info_uuid,
        [&] { EXPECT(device.get_info<intel::uuid>() != (std::array<unsigned char, 16>{})); });
    ask(sycl::aspect::ext_intel_pci_address, [&] { device.get_info<intel::pci_address>(); });
    ask(sycl::aspect::ext_intel_gpu_eu_count, [&] { device.get_info<intel::gpu_eu_count>(); });
    ask(sycl::aspect::ext_intel_gpu_eu_simd_width,
        [&] { device.get_info<intel::gpu_eu_simd_width>(); });
    ask(sycl::aspect::ext_intel_gpu_slices, [&] { device.get_info<intel::gpu_slices>(); });
    ask(sycl::aspect::ext_intel_gpu_hw_threads_per_eu,
        [&] { device.get_info<intel::gpu_hw_threads_per_eu>(); });
    ask(sycl::aspect::ext_intel_free_memory, [&] {
        EXPECT(device.get_info<intel::free_memory>() <= device.get_info<info::global_mem_size>());
        EXPECT(device.get_info<intel::free_memory>() > 0);
    });
    EXPECT(device.has(sycl::aspect::ext_intel_free_memory)); // programs size their caches by it
    ask(sycl::aspect::ext_intel_memory_clock_rate,
        [&] { device.get_info<intel::memory_clock_rate>(); });
    ask(sycl::aspect::ext_intel_memory_bus_width,
        [&] { device.get_info<intel::memory_bus_width>(); });
}

STORY(devices_and_contexts_are_equal_and_hash_alike)
{
    const std::vector<sycl::device> devices = all_devices();
    EXPECT(devices == all_devices());
    std::unordered_set<sycl::device> set(devices.begin(), devices.end());
    EXPECT_EQ(set.size(), devices.size());
    const sycl::context context(devices[0]);
    const sycl::context copy = context;
    EXPECT(copy == context);
    EXPECT(sycl::context(devices[0]) != context);
    EXPECT(context.get_platform() == devices[0].get_platform());
}

STORY(two_devices_share_a_context)
{
    const std::vector<sycl::device> devices = two_devices();
    const sycl::context context(devices);
    EXPECT(context.get_devices() == devices);
    queues_share(context, {sycl::queue(context, devices[0]), sycl::queue(context, devices[1])});
    queues_share(context, {sycl::queue(context, devices[1], sycl::property::queue::in_order()),
                           sycl::queue(context, devices[0])});
}

STORY(two_devices_work_on_one_buffer_in_contexts_of_their_own)
{
    const std::vector<sycl::device> devices = two_devices();
    sycl::queue first{sycl::context(devices[0]), devices[0]};
    sycl::queue second{sycl::context(devices[1]), devices[1]};
    const sycl::kernel kernels[] = {kernel_of(first.get_context(), "negate", "negate"),
                                    kernel_of(second.get_context(), "negate", "negate")};
    std::vector<int> numbers = count_from(0, 1000);
    {
        sycl::buffer<int> buffer(numbers.data(), numbers.size());
        for (int round = 0; round < 7; round++) {
            sycl::queue &queue = round % 2 == 0 ? first : second;
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor access(buffer, handler, sycl::read_write);
                handler.set_arg(0, access);
                handler.parallel_for(sycl::range<1>(1000), kernels[round % 2]);
            });
        }
    }
    EXPECT_EQ(numbers[999], -999);
}

STORY(a_device_of_another_context_is_refused)
{
    const std::vector<sycl::device> devices = two_devices();
    const sycl::context context(devices[0]);
    EXPECT_ERROR(invalid, sycl::queue(context, devices[1]));
    EXPECT(sycl::malloc_device<int>(4, devices[1], context) == nullptr);
}

STORY(peers_reach_each_other_s_memory)
{
    std::vector<sycl::device> devices = two_devices();
    if (!devices[0].ext_oneapi_can_access_peer(devices[1]))
        story_skip("the devices have no link");
    const sycl::context context(devices);
    sycl::queue first(context, devices[0]), second(context, devices[1]);
    devices[0].ext_oneapi_enable_peer_access(devices[1]);
    int *there = sycl::malloc_device<int>(100, second);
    second.memset(there, 0x01, 400).wait();
    negate(first, kernel_of(context, "negate", "negate"), there, 100).wait();
    int found = 0;
    second.memcpy(&found, there + 99, 4).wait();
    EXPECT_EQ(found, -0x01010101);
    sycl::free(there, context);
    devices[0].ext_oneapi_disable_peer_access(devices[1]);
}

STORY(a_device_is_divided_into_the_drivers_parts)
{
    const sycl::device device = make_queue().get_device();
    using property = sycl::info::partition_property;
    const std::vector<sycl::device> parts = parts_of(device);
    const std::size_t units = parts[0].get_info<info::max_compute_units>();
    EXPECT_ERROR(feature_not_supported,
                 device.create_sub_devices<property::partition_equally>(units));
    const std::vector<std::size_t> counts(parts.size(), units);
    EXPECT_ERROR(feature_not_supported,
                 device.create_sub_devices<property::partition_by_counts>(counts));
    EXPECT_EQ(parts.size(), device.get_info<info::partition_max_sub_devices>());
    for (const sycl::device &part : parts) {
        EXPECT(part.get_info<info::parent_device>() == device);
        EXPECT(part.get_info<info::partition_type_property>() ==
               property::partition_by_affinity_domain);
        EXPECT_EQ(part.get_info<info::partition_max_sub_devices>(), 0u);
        EXPECT(part.get_info<info::max_compute_units>() <=
               device.get_info<info::max_compute_units>());
    }
    EXPECT(parts[0] != parts[1]);
    EXPECT(parts == parts_of(device));
    EXPECT_ERROR(invalid, device.get_info<info::parent_device>());
    const auto by_numa = device.create_sub_devices<property::partition_by_affinity_domain>(
        sycl::info::partition_affinity_domain::numa);
    EXPECT_EQ(by_numa.size(), parts.size());
}

STORY(parts_share_a_context)
{
    const std::vector<sycl::device> parts = parts_of(make_queue().get_device());
    const sycl::context context(parts);
    std::vector<sycl::queue> queues;
    for (const sycl::device &part : parts)
        queues.emplace_back(context, part);
    queues_share(context, queues);
}

STORY(a_part_works_in_a_context_of_its_own_and_of_the_whole)
{
    const sycl::device device = make_queue().get_device();
    const std::vector<sycl::device> parts = parts_of(device);
    const sycl::context own(parts[1]);
    queues_share(own, {sycl::queue(own, parts[1])});
    std::vector<sycl::device> all = parts;
    all.push_back(device);
    const sycl::context mixed(all);
    queues_share(mixed, {sycl::queue(mixed, device), sycl::queue(mixed, parts[0])});
}

// The parts of a context's device belong to the context.
STORY(a_part_works_in_a_context_that_has_the_whole)
{
    const sycl::device device = make_queue().get_device();
    const std::vector<sycl::device> parts = parts_of(device);
    const sycl::context context(device);
    queues_share(context, {sycl::queue(context, device), sycl::queue(context, parts[1])});
}
