// SPDX-License-Identifier: MIT
#include "kernels/surface.h"

#include <criterion/criterion.h>
#include <string.h>

static struct shim_surface surface;
static ze_sampler_desc_t sampler;
static char message[128];
static const struct shim_refusal refusal = {message, sizeof(message)};

#define RGBA (4u << 25 | 5u << 22 | 6u << 19 | 7u << 16)

struct state {
    uint32_t words[SHIM_SURFACE_STATE_WORDS];
};

// A surface of one of the types 1D, 2D, 3D, of R32G32B32A32_FLOAT pixels.
static struct state state_of(uint32_t type, uint32_t width, uint32_t height, uint32_t depth,
                             uint32_t pitch)
{
    return (struct state){{[0] = type << 29,
                           [2] = (height - 1) << 16 | (width - 1),
                           [3] = (depth - 1) << 21 | (pitch - 1),
                           [7] = RGBA,
                           [8] = 0x1000,
                           [9] = 0x7f}};
}

static void expect_image(const struct state *state, ze_image_type_t type, uint32_t rows,
                         uint32_t slices)
{
    cr_assert(shim_surface_read(state->words, &surface, &refusal), "%s", message);
    cr_assert_eq(surface.desc.type, type);
    cr_assert_eq(surface.rows, rows);
    cr_assert_eq(surface.slices, slices);
}

static void expect_refused(const struct state *state, const char *words)
{
    cr_assert(!shim_surface_read(state->words, &surface, &refusal));
    cr_assert(strstr(message, words), "'%s' does not say '%s'", message, words);
}

Test(surface, of_a_plane_has_its_size_pitch_and_address)
{
    struct state state = state_of(1, 13, 7, 1, 512);
    state.words[0] |= 1u << 12; // tiled
    expect_image(&state, ZE_IMAGE_TYPE_2D, 7, 1);
    cr_assert_eq(surface.width, 13);
    cr_assert_eq(surface.desc.width, 13);
    cr_assert_eq(surface.desc.height, 7);
    cr_assert_eq(surface.pixel_bytes, 16);
    cr_assert_eq(surface.row_bytes, 512);
    cr_assert_eq(surface.address, 0x7f00001000);
    cr_assert_eq(surface.desc.format.layout, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32);
    cr_assert_eq(surface.desc.format.type, ZE_IMAGE_FORMAT_TYPE_FLOAT);
    cr_assert_eq(surface.desc.format.x, ZE_IMAGE_FORMAT_SWIZZLE_R);
    cr_assert_eq(surface.desc.format.w, ZE_IMAGE_FORMAT_SWIZZLE_A);
}

Test(surface, slices_lie_as_far_apart_as_the_state_says)
{
    struct state state = state_of(2, 5, 4, 3, 128);
    state.words[1] = 32 >> 2;
    expect_image(&state, ZE_IMAGE_TYPE_3D, 4, 3);
    cr_assert_eq(surface.slice_bytes, 32 * 128);
    cr_assert_eq(surface.desc.depth, 3);
    state = state_of(1, 5, 4, 3, 128);
    state.words[0] |= 1u << 28;
    expect_image(&state, ZE_IMAGE_TYPE_2DARRAY, 4, 3);
    cr_assert_eq(surface.slice_bytes, 4 * 128);
    cr_assert_eq(surface.desc.arraylevels, 3);
}

Test(surface, lines_of_an_array_are_rows_and_their_distance_is_in_pixels)
{
    struct state state = state_of(0, 7, 1, 4, 128);
    state.words[0] |= 1u << 28 | 0xd7u << 18; // R32_UINT
    state.words[1] = 32 >> 2;
    expect_image(&state, ZE_IMAGE_TYPE_1DARRAY, 4, 1);
    cr_assert_eq(surface.row_bytes, 32 * 4);
    cr_assert_eq(surface.desc.arraylevels, 4);
    state = state_of(0, 9, 1, 1, 256);
    expect_image(&state, ZE_IMAGE_TYPE_1D, 1, 1);
    cr_assert_eq(surface.row_bytes, 256);
}

Test(surface, components_come_from_where_the_state_says)
{
    struct state state = state_of(1, 1, 1, 1, 16);
    state.words[7] = 6u << 25 | 0u << 22 | 4u << 19 | 1u << 16;
    expect_image(&state, ZE_IMAGE_TYPE_2D, 1, 1);
    cr_assert_eq(surface.desc.format.x, ZE_IMAGE_FORMAT_SWIZZLE_B);
    cr_assert_eq(surface.desc.format.y, ZE_IMAGE_FORMAT_SWIZZLE_0);
    cr_assert_eq(surface.desc.format.z, ZE_IMAGE_FORMAT_SWIZZLE_R);
    cr_assert_eq(surface.desc.format.w, ZE_IMAGE_FORMAT_SWIZZLE_1);
}

Test(surface, of_packed_pixels_has_a_packed_layout)
{
    static const struct {
        uint32_t format, pixel_bytes;
        ze_image_format_layout_t layout;
    } formats[] = {{0xc2, 4, ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2},
                   {0x100, 2, ZE_IMAGE_FORMAT_LAYOUT_5_6_5},
                   {0x102, 2, ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct state state = state_of(1, 4, 4, 1, 512);
        state.words[0] |= formats[i].format << 18;
        expect_image(&state, ZE_IMAGE_TYPE_2D, 4, 1);
        cr_assert_eq(surface.pixel_bytes, formats[i].pixel_bytes);
        cr_assert_eq(surface.desc.format.layout, formats[i].layout);
        cr_assert_eq(surface.desc.format.type, ZE_IMAGE_FORMAT_TYPE_UNORM);
    }
}

Test(surface, that_is_no_plain_image_is_refused)
{
    struct state state = state_of(4, 1, 1, 1, 16); // of a buffer
    expect_refused(&state, "a surface of type 4");
    state = state_of(1, 1, 1, 1, 16);
    state.words[0] |= 0xc8u << 18; // R8G8B8A8_UNORM_SRGB
    expect_refused(&state, "the surface format 0xc8");
    static const struct {
        int word;
        uint32_t bits;
    } parts[] = {{4, 2u << 3}, {4, 1u << 18}, {5, 1}, {5, 1u << 4}, {5, 1u << 21}, {5, 1u << 25}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        state = state_of(1, 1, 1, 1, 16);
        state.words[parts[i].word] |= parts[i].bits;
        expect_refused(&state, "samples, levels");
    }
}

static bool read_sampler(uint32_t filters, uint32_t modes, bool is_normalized)
{
    const uint32_t words[SHIM_SAMPLER_STATE_WORDS] = {filters << 14, 0, 0,
                                                      modes | (is_normalized ? 0 : 1u << 10)};
    return shim_sampler_read(words, &sampler, &refusal);
}

Test(sampler, has_one_mode_one_filter_and_a_kind_of_coordinates)
{
    static const ze_sampler_address_mode_t modes[8] = {
        [0] = ZE_SAMPLER_ADDRESS_MODE_REPEAT,
        [1] = ZE_SAMPLER_ADDRESS_MODE_MIRROR,
        [2] = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
        [4] = ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
    };
    for (uint32_t mode = 0; mode < 8; mode++) {
        const bool is_known = mode < 3 || mode == 4;
        cr_assert_eq(read_sampler(0, mode | mode << 3 | mode << 6, true), is_known);
        if (is_known)
            cr_assert_eq(sampler.addressMode, modes[mode]);
    }
    cr_assert(read_sampler(1 | 1 << 3, 2 | 2 << 3 | 2 << 6, false));
    cr_assert_eq(sampler.filterMode, ZE_SAMPLER_FILTER_MODE_LINEAR);
    cr_assert(!sampler.isNormalized);
    cr_assert(read_sampler(0, 2 | 2 << 3 | 2 << 6, true));
    cr_assert_eq(sampler.filterMode, ZE_SAMPLER_FILTER_MODE_NEAREST);
    cr_assert(sampler.isNormalized);
}

Test(sampler, that_ze_cpu_has_not_is_refused)
{
    cr_assert(!read_sampler(0, 2 | 2 << 3, true));
    cr_assert(strstr(message, "the address modes 0, 2, 2"), "%s", message);
    cr_assert(!read_sampler(1, 0, true));
    cr_assert(!read_sampler(2 | 2 << 3, 0, true));
    cr_assert(strstr(message, "the filters 2 and 2"), "%s", message);
}
