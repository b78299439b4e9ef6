// SPDX-License-Identifier: MIT
// Images and samplers.
#include <level_zero/ze_api.h>

#include "sycl_support.hpp"

#include <sycl/ext/oneapi/backend/level_zero.hpp>

#include <cmath>
#include <cstring>

namespace
{

using sycl::image_channel_order;
using sycl::image_channel_type;
constexpr auto reads = sycl::access::mode::read;
constexpr auto writes = sycl::access::mode::write;

struct fixture {
    sycl::queue queue = make_queue();
    executable_bundle bundle = build_spirv(queue.get_context(), "images");
    fixture()
    {
        EXPECT(queue.get_device().has(sycl::aspect::ext_intel_legacy_image));
    }
    sycl::kernel kernel(const char *name)
    {
        return bundle.ext_oneapi_get_kernel(name);
    }

    // to = from + more
    void add(sycl::image<2> &from, sycl::image<2> &to, sycl::float4 more)
    {
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, from.get_access<sycl::float4, reads>(handler));
                handler.set_arg(1, to.get_access<sycl::float4, writes>(handler));
                handler.set_arg(2, more);
                // The last dimension of a range is the first of an image.
                handler.parallel_for(sycl::range<2>(from.get_range()[1], from.get_range()[0]),
                                     kernel("add_plane"));
            })
            .wait_and_throw();
    }

    std::vector<sycl::float4> sample(sycl::image<2> &image, sycl::sampler sampler,
                                     const std::vector<sycl::float2> &places)
    {
        auto *at = sycl::malloc_shared<sycl::float2>(places.size(), queue);
        auto *found = sycl::malloc_shared<sycl::float4>(places.size(), queue);
        std::copy(places.begin(), places.end(), at);
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, image.get_access<sycl::float4, reads>(handler));
                handler.set_arg(1, sampler);
                handler.set_arg(2, at);
                handler.set_arg(3, found);
                handler.parallel_for(sycl::range<1>(places.size()), kernel("sample_plane"));
            })
            .wait_and_throw();
        const std::vector<sycl::float4> values(found, found + places.size());
        sycl::free(at, queue);
        sycl::free(found, queue);
        return values;
    }
};

std::vector<float> pixels(size_t count)
{
    std::vector<float> values(4 * count);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = 0.25f * static_cast<float>(i);
    return values;
}

bool is_near(float found, float expected)
{
    return std::fabs(found - expected) < 1e-3f;
}

} // namespace

STORY(kernels_read_and_write_planes_that_write_back)
{
    fixture test;
    const std::vector<float> from_pixels = pixels(13 * 7);
    std::vector<float> to_pixels(4 * 13 * 7, -1.0f);
    {
        sycl::image<2> from(from_pixels.data(), image_channel_order::rgba, image_channel_type::fp32,
                            sycl::range<2>(13, 7));
        sycl::image<2> to(to_pixels.data(), image_channel_order::rgba, image_channel_type::fp32,
                          sycl::range<2>(13, 7));
        test.add(from, to, {1.0f, 2.0f, 3.0f, 4.0f});
    }
    for (size_t i = 0; i < to_pixels.size(); i++)
        EXPECT_EQ(to_pixels[i], from_pixels[i] + static_cast<float>(i % 4 + 1));
}

STORY(host_accessors_see_images)
{
    fixture test;
    std::vector<float> from_pixels = pixels(5 * 4);
    sycl::image<2> from(from_pixels.data(), image_channel_order::rgba, image_channel_type::fp32,
                        sycl::range<2>(5, 4));
    sycl::image<2> to(image_channel_order::rgba, image_channel_type::fp32, sycl::range<2>(5, 4));
    test.add(from, to, {10.0f, 0.0f, 0.0f, 0.0f});
    {
        auto found = to.get_access<sycl::float4, sycl::access::mode::read_write>();
        const sycl::float4 pixel = found.read(sycl::int2(3, 2));
        EXPECT_EQ(pixel.x(), from_pixels[4 * (2 * 5 + 3)] + 10.0f);
        EXPECT_EQ(pixel.w(), from_pixels[4 * (2 * 5 + 3) + 3]);
        found.write(sycl::int2(3, 2), sycl::float4(1.0f, 2.0f, 3.0f, 4.0f));
    }
    test.add(to, from, {1.0f, 1.0f, 1.0f, 1.0f});
    auto found = from.get_access<sycl::float4, reads>();
    EXPECT_EQ(found.read(sycl::int2(3, 2)).w(), 5.0f);
}

STORY(lines_and_spaces_of_integers)
{
    fixture test;
    std::vector<int> from_line(4 * 9), to_line(4 * 9);
    for (int i = 0; i < 36; i++)
        from_line[i] = i - 18;
    {
        sycl::image<1> from(from_line.data(), image_channel_order::rgba,
                            image_channel_type::signed_int32, sycl::range<1>(9));
        sycl::image<1> to(to_line.data(), image_channel_order::rgba,
                          image_channel_type::signed_int32, sycl::range<1>(9));
        test.queue.submit([&](sycl::handler &handler) {
            handler.set_arg(0, from.get_access<sycl::int4, reads>(handler));
            handler.set_arg(1, to.get_access<sycl::int4, writes>(handler));
            handler.set_arg(2, sycl::int4(100, 200, 300, 400));
            handler.parallel_for(sycl::range<1>(9), test.kernel("add_line"));
        });
    }
    for (int i = 0; i < 36; i++)
        EXPECT_EQ(to_line[i], i - 18 + 100 * (i % 4 + 1));

    std::vector<uint8_t> bytes(4 * 3 * 4 * 5);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = static_cast<uint8_t>(i);
    sycl::image<3> space(bytes.data(), image_channel_order::rgba, image_channel_type::unsigned_int8,
                         sycl::range<3>(3, 4, 5));
    auto *found = sycl::malloc_shared<sycl::uint4>(60, test.queue);
    test.queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, space.get_access<sycl::uint4, reads>(handler));
            handler.set_arg(1, found);
            handler.set_arg(2, sycl::uint4(1000, 0, 0, 0));
            handler.parallel_for(sycl::range<3>(5, 4, 3), test.kernel("add_space"));
        })
        .wait();
    for (uint32_t i = 0; i < 60; i++) {
        EXPECT_EQ(found[i].x(), 4 * i + 1000);
        EXPECT_EQ(found[i].w(), 4 * i + 3);
    }
    sycl::free(found, test.queue);
}

STORY(pixels_of_small_numbers_are_normalized)
{
    fixture test;
    std::vector<uint8_t> from_bytes = {0, 51, 102, 255, 255, 0, 0, 0}, to_bytes(8);
    {
        sycl::image<2> from(from_bytes.data(), image_channel_order::rgba,
                            image_channel_type::unorm_int8, sycl::range<2>(2, 1));
        sycl::image<2> to(to_bytes.data(), image_channel_order::rgba,
                          image_channel_type::unorm_int8, sycl::range<2>(2, 1));
        test.add(from, to, {0.2f, 0.2f, 0.2f, 0.2f});
    }
    const std::vector<uint8_t> expected = {51, 102, 153, 255, 255, 51, 51, 51};
    EXPECT(to_bytes == expected);
}

STORY(rows_may_have_a_pitch)
{
    fixture test;
    // There the runtime writes the host's rows as if they had no pitch.
    if (!test.queue.get_device().get_info<sycl::info::device::host_unified_memory>())
        story_skip("the runtime drops the pitch for devices with memory of their own");
    std::vector<float> from_pixels(4 * 8 * 3, 7.0f), to_pixels(4 * 5 * 3);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 5; x++)
            from_pixels[4 * (8 * y + x)] = static_cast<float>(10 * y + x);
    {
        sycl::image<2> from(from_pixels.data(), image_channel_order::rgba, image_channel_type::fp32,
                            sycl::range<2>(5, 3), sycl::range<1>(8 * 16));
        sycl::image<2> to(to_pixels.data(), image_channel_order::rgba, image_channel_type::fp32,
                          sycl::range<2>(5, 3));
        from.set_write_back(false);
        test.add(from, to, {0.0f, 0.0f, 0.0f, 0.0f});
    }
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 5; x++)
            EXPECT_EQ(to_pixels[4 * (5 * y + x)], static_cast<float>(10 * y + x));
}

STORY(samplers_find_the_nearest_pixel_or_mix)
{
    fixture test;
    std::vector<float> values = {0.0f, 0.0f, 0.0f, 1.0f, 4.0f,  0.0f, 0.0f, 1.0f,
                                 8.0f, 0.0f, 0.0f, 1.0f, 12.0f, 0.0f, 0.0f, 1.0f};
    sycl::image<2> image(values.data(), image_channel_order::rgba, image_channel_type::fp32,
                         sycl::range<2>(4, 1));
    using normalization = sycl::coordinate_normalization_mode;
    using addressing = sycl::addressing_mode;
    using filtering = sycl::filtering_mode;
    const sycl::sampler nearest(normalization::unnormalized, addressing::clamp_to_edge,
                                filtering::nearest);
    auto found = test.sample(image, nearest, {{0.4f, 0.5f}, {1.9f, 0.5f}, {9.0f, 0.5f}});
    EXPECT_EQ(found[0].x(), 0.0f);
    EXPECT_EQ(found[1].x(), 4.0f);
    EXPECT_EQ(found[2].x(), 12.0f);
    const sycl::sampler mixing(normalization::unnormalized, addressing::clamp_to_edge,
                               filtering::linear);
    found = test.sample(image, mixing, {{1.0f, 0.5f}, {1.5f, 0.5f}, {2.25f, 0.5f}});
    EXPECT(is_near(found[0].x(), 2.0f));
    EXPECT(is_near(found[1].x(), 4.0f));
    EXPECT(is_near(found[2].x(), 7.0f));
    const sycl::sampler outside(normalization::unnormalized, addressing::clamp, filtering::nearest);
    found = test.sample(image, outside, {{-2.0f, 0.5f}, {2.5f, 0.5f}});
    EXPECT_EQ(found[0].w(), 0.0f);
    EXPECT_EQ(found[1].x(), 8.0f);
    const sycl::sampler repeating(normalization::normalized, addressing::repeat,
                                  filtering::nearest);
    found = test.sample(image, repeating, {{0.3f, 0.5f}, {1.3f, 0.5f}, {-0.1f, 0.5f}});
    EXPECT_EQ(found[0].x(), 4.0f);
    EXPECT_EQ(found[1].x(), 4.0f);
    EXPECT_EQ(found[2].x(), 12.0f);
}

STORY(a_sampler_says_what_it_is)
{
    const sycl::sampler sampler(sycl::coordinate_normalization_mode::normalized,
                                sycl::addressing_mode::mirrored_repeat,
                                sycl::filtering_mode::linear);
    EXPECT(sampler.get_addressing_mode() == sycl::addressing_mode::mirrored_repeat);
    EXPECT(sampler.get_filtering_mode() == sycl::filtering_mode::linear);
}

STORY(sycl_2020_s_images_are_there_on_the_host)
{
    fixture test;
    std::vector<float> values = pixels(6);
    sycl::unsampled_image<2> image(values.data(), sycl::image_format::r32g32b32a32_sfloat,
                                   sycl::range<2>(3, 2));
    {
        sycl::host_unsampled_image_accessor<sycl::float4, 2> access(image);
        EXPECT_EQ(access.read(sycl::int2(2, 1)).x(), values[4 * 5]);
        access.write(sycl::int2(0, 0), sycl::float4(9.0f, 9.0f, 9.0f, 9.0f));
        EXPECT_EQ(access.read(sycl::int2(0, 0)).w(), 9.0f);
    }
    const sycl::image_sampler how{sycl::addressing_mode::clamp_to_edge,
                                  sycl::coordinate_normalization_mode::unnormalized,
                                  sycl::filtering_mode::nearest};
    sycl::sampled_image<2> sampled(values.data(), sycl::image_format::r32g32b32a32_sfloat, how,
                                   sycl::range<2>(3, 2));
    sycl::host_sampled_image_accessor<sycl::float4, 2> access(sampled);
    EXPECT_EQ(access.read(sycl::float2(2.4f, 1.5f)).x(), values[4 * 5]);
}

STORY(an_image_is_made_of_a_handle)
{
    fixture test;
    constexpr auto level_zero = sycl::backend::ext_oneapi_level_zero;
    using sycl::ext::oneapi::level_zero::ownership;
    const auto context = sycl::get_native<level_zero>(test.queue.get_context());
    const auto device = sycl::get_native<level_zero>(test.queue.get_device());
    for (ownership owner : {ownership::keep, ownership::transfer}) {
        ze_image_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
        desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
        desc.type = ZE_IMAGE_TYPE_2D;
        desc.format = {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, ZE_IMAGE_FORMAT_TYPE_FLOAT,
                       ZE_IMAGE_FORMAT_SWIZZLE_R,          ZE_IMAGE_FORMAT_SWIZZLE_G,
                       ZE_IMAGE_FORMAT_SWIZZLE_B,          ZE_IMAGE_FORMAT_SWIZZLE_A};
        desc.width = 5;
        desc.height = 4;
        desc.depth = 1;
        ze_image_handle_t handle;
        EXPECT_EQ(static_cast<int>(zeImageCreate(context, device, &desc, &handle)), 0);
        {
            sycl::image<2> made = sycl::make_image<level_zero, 2>(
                {handle, image_channel_order::rgba, image_channel_type::fp32, sycl::range<2>(5, 4),
                 owner},
                test.queue.get_context(), sycl::event());
            std::vector<float> values = pixels(20);
            sycl::image<2> from(values.data(), image_channel_order::rgba, image_channel_type::fp32,
                                sycl::range<2>(5, 4));
            sycl::image<2> to(image_channel_order::rgba, image_channel_type::fp32,
                              sycl::range<2>(5, 4));
            test.add(from, made, {1.0f, 0.0f, 0.0f, 0.0f});
            test.add(made, to, {1.0f, 0.0f, 0.0f, 0.0f});
            auto found = to.get_access<sycl::float4, reads>();
            EXPECT_EQ(found.read(sycl::int2(4, 3)).x(), values[4 * 19] + 2.0f);
            int *size = sycl::malloc_shared<int>(2, test.queue);
            test.queue
                .submit([&](sycl::handler &handler) {
                    handler.set_arg(0, made.get_access<sycl::float4, reads>(handler));
                    handler.set_arg(1, size);
                    handler.single_task(test.kernel("tell_size"));
                })
                .wait();
            EXPECT_EQ(size[0], 5);
            EXPECT_EQ(size[1], 4);
            sycl::free(size, test.queue);
        }
        if (owner == ownership::keep)
            EXPECT_EQ(static_cast<int>(zeImageDestroy(handle)), 0);
    }
}

STORY(bindless_images_are_refused)
{
    sycl::queue queue = make_queue();
    EXPECT(!queue.get_device().has(sycl::aspect::ext_oneapi_bindless_images));
    const syclexp::image_descriptor desc({4, 4}, 4, image_channel_type::fp32);
    const std::string text = EXPECT_ERROR(
        memory_allocation, syclexp::alloc_image_mem(desc, queue.get_device(), queue.get_context()));
    EXPECT(text.find("UNSUPPORTED_FEATURE") != std::string::npos);
}
