// SPDX-License-Identifier: MIT
#include "fixture.h"
#include "tools/ze_cpu/ze_newer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// Every format that an image can have, read and written by kernels; every sampler.

#define PIXELS 4
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define S_R ZE_IMAGE_FORMAT_SWIZZLE_R
#define S_G ZE_IMAGE_FORMAT_SWIZZLE_G
#define S_B ZE_IMAGE_FORMAT_SWIZZLE_B
#define S_A ZE_IMAGE_FORMAT_SWIZZLE_A
#define S_0 ZE_IMAGE_FORMAT_SWIZZLE_0
#define S_1 ZE_IMAGE_FORMAT_SWIZZLE_1
#define S_D ((ze_image_format_swizzle_t)CPU_IMAGE_FORMAT_SWIZZLE_D)
#define S_X ZE_IMAGE_FORMAT_SWIZZLE_X

static const struct layout {
    ze_image_format_layout_t layout;
    int channels, bytes;
} layouts[] = {
    {ZE_IMAGE_FORMAT_LAYOUT_8, 1, 1},           {ZE_IMAGE_FORMAT_LAYOUT_16, 1, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_32, 1, 4},          {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, 1},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16, 2, 2},       {ZE_IMAGE_FORMAT_LAYOUT_32_32, 2, 4},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, 1},     {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 4, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 4, 4}, {CPU_IMAGE_FORMAT_LAYOUT_8_8_8, 3, 1},
    {CPU_IMAGE_FORMAT_LAYOUT_16_16_16, 3, 2},   {CPU_IMAGE_FORMAT_LAYOUT_32_32_32, 3, 4},
};

// The components that kernels see: for each the channel in memory, or a constant.
enum { ZERO = -1, ONE = -2 };
static const struct order {
    ze_image_format_swizzle_t asked[4];
    int channels;
    int component[4];
} orders[] = {
    {{S_R, S_G, S_B, S_A}, 1, {0, ZERO, ZERO, ONE}},
    {{S_R, S_0, S_0, S_1}, 1, {0, ZERO, ZERO, ONE}},
    {{S_R, S_X, S_X, S_X}, 1, {0, ZERO, ZERO, ZERO}},
    {{S_0, S_0, S_0, S_R}, 1, {ZERO, ZERO, ZERO, 0}}, // A
    {{S_0, S_0, S_0, S_A}, 1, {ZERO, ZERO, ZERO, ONE}},
    {{S_D, S_0, S_0, S_0}, 1, {0, ZERO, ZERO, ZERO}}, // depth
    {{S_R, S_R, S_R, S_R}, 1, {0, 0, 0, 0}},          // intensity
    {{S_R, S_R, S_R, S_1}, 1, {0, 0, 0, ONE}},        // luminance
    {{S_R, S_G, S_B, S_A}, 2, {0, 1, ZERO, ONE}},
    {{S_R, S_0, S_0, S_G}, 2, {0, ZERO, ZERO, 1}}, // RA
    {{S_R, S_0, S_0, S_A}, 2, {0, ZERO, ZERO, ONE}},
    {{S_G, S_R, S_1, S_0}, 2, {1, 0, ONE, ZERO}},
    {{S_R, S_G, S_B, S_1}, 3, {0, 1, 2, ONE}},
    {{S_R, S_G, S_B, S_A}, 3, {0, 1, 2, ONE}},
    {{S_B, S_G, S_R, S_1}, 3, {2, 1, 0, ONE}},
    {{S_R, S_G, S_B, S_A}, 4, {0, 1, 2, 3}},
    {{S_B, S_G, S_R, S_A}, 4, {2, 1, 0, 3}},
    {{S_G, S_B, S_A, S_R}, 4, {1, 2, 3, 0}}, // ARGB
    {{S_A, S_B, S_G, S_R}, 4, {3, 2, 1, 0}}, // ABGR
    {{S_A, S_R, S_G, S_B}, 4, {3, 0, 1, 2}},
    {{S_R, S_G, S_B, S_1}, 4, {0, 1, 2, ONE}}, // RGBX
    {{S_B, S_B, S_0, S_B}, 4, {2, 2, ZERO, 2}},
};

static bool is_integer(ze_image_format_type_t type)
{
    return type == ZE_IMAGE_FORMAT_TYPE_UINT || type == ZE_IMAGE_FORMAT_TYPE_SINT;
}

// The bytes in memory of the i-th value.
static uint32_t raw_value(ze_image_format_type_t type, int bytes, int i)
{
    static const uint32_t halves[] = {0x3800, 0xc080, 0x63d0, 0x0000, 0x3c00};
    static const float floats[] = {0.5f, -2.25f, 1000, 0, 1};
    static const uint32_t integers[] = {0, 1, 0x7f7f7f7f, 0x80808080, 0xffffffff};
    uint32_t raw = integers[i % 5];
    if (type == ZE_IMAGE_FORMAT_TYPE_FLOAT && bytes == 2)
        raw = halves[i % 5];
    else if (type == ZE_IMAGE_FORMAT_TYPE_FLOAT)
        memcpy(&raw, &floats[i % 5], sizeof(raw));
    return bytes == 4 ? raw : raw & ((1u << (8 * bytes)) - 1);
}

// Of the halves that these tests write.
static double half_value(uint32_t half)
{
    static const struct {
        uint32_t half;
        double value;
    } known[] = {{0x0000, 0}, {0x3400, 0.25}, {0x3800, 0.5},   {0x3a00, 0.75},
                 {0x3c00, 1}, {0xbc00, -1},   {0xc080, -2.25}, {0x63d0, 1000}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].half == half)
            return known[i].value;
    return NAN;
}

static double value_of(ze_image_format_type_t type, int bytes, uint32_t raw)
{
    const double most = bytes == 4 ? 4294967295.0 : (double)((1u << (8 * bytes)) - 1);
    const double whole = raw > most / 2 ? raw - (most + 1) : raw; // as a signed number
    float single;
    switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
        return raw;
    case ZE_IMAGE_FORMAT_TYPE_SINT:
        return whole;
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
        return raw / most;
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
        return fmax(whole / ((most - 1) / 2), -1);
    default:
        if (bytes == 4) {
            memcpy(&single, &raw, sizeof(single));
            return single;
        }
        return half_value(raw);
    }
}

static double number(const void *component, ze_image_format_type_t type)
{
    if (type == ZE_IMAGE_FORMAT_TYPE_UINT)
        return *(const uint32_t *)component;
    if (type == ZE_IMAGE_FORMAT_TYPE_SINT)
        return *(const int32_t *)component;
    return (double)*(const float *)component;
}

struct bench {
    struct fixture fixture;
    ze_module_handle_t module;
    ze_command_list_handle_t list;
    ze_kernel_handle_t read[3], write[3]; // float, int, uint
    uint32_t *components;                 // PIXELS times 4
    unsigned char *memory;                // PIXELS times 16
};

static int kernel_of(ze_image_format_type_t type)
{
    return type == ZE_IMAGE_FORMAT_TYPE_SINT ? 1 : type == ZE_IMAGE_FORMAT_TYPE_UINT ? 2 : 0;
}

static void bench_start(struct bench *bench)
{
    static const char *const reads[] = {"read_float", "read_int", "read_uint"};
    static const char *const writes[] = {"write_float", "write_int", "write_uint"};
    fixture_init(&bench->fixture);
    bench->module = fixture_module(&bench->fixture, "images", NULL);
    bench->list = fixture_immediate(&bench->fixture, FIXTURE_IN_ORDER);
    for (int i = 0; i < 3; i++) {
        bench->read[i] = fixture_kernel(bench->module, reads[i]);
        bench->write[i] = fixture_kernel(bench->module, writes[i]);
    }
    bench->components = fixture_shared(&bench->fixture, PIXELS * 16);
    bench->memory = fixture_shared(&bench->fixture, PIXELS * 16);
}

static void bench_stop(struct bench *bench)
{
    for (int i = 0; i < 3; i++) {
        MUST(zeKernelDestroy(bench->read[i]));
        MUST(zeKernelDestroy(bench->write[i]));
    }
    MUST(zeMemFree(bench->fixture.context, bench->components));
    MUST(zeMemFree(bench->fixture.context, bench->memory));
    MUST(zeCommandListDestroy(bench->list));
    MUST(zeModuleDestroy(bench->module));
    fixture_finish(&bench->fixture);
}

static void launch(struct bench *bench, ze_kernel_handle_t kernel, ze_image_handle_t image)
{
    const ze_group_count_t groups = {PIXELS, 1, 1};
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(image), &image));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(bench->components), &bench->components));
    MUST(zeCommandListAppendLaunchKernel(bench->list, kernel, &groups, NULL, 0, NULL));
}

struct format {
    const struct layout *layout;
    const struct order *order;
    ze_image_format_type_t type;
};

static uint32_t raw_at(const struct bench *bench, const struct format *format, int pixel,
                       int channel)
{
    uint32_t raw = 0;
    memcpy(&raw,
           bench->memory + (pixel * format->layout->channels + channel) * format->layout->bytes,
           (size_t)format->layout->bytes);
    return raw;
}

// The values that a kernel has read, compared with memory.
static void check_components(const struct bench *bench, const struct format *format)
{
    for (int i = 0; i < PIXELS * 4; i++) {
        int from = format->order->component[i % 4];
        double expected = from == ZERO  ? 0
                          : from == ONE ? 1
                                        : value_of(format->type, format->layout->bytes,
                                                   raw_at(bench, format, i / 4, from));
        double found = number(&bench->components[i], format->type);
        cr_assert(fabs(found - expected) <= 1e-6 * fabs(expected),
                  "layout %d type %d order %d: pixel %d component %d: %g for %g",
                  (int)format->layout->layout, (int)format->type, (int)(format->order - orders),
                  i / 4, i % 4, found, expected);
    }
}

static void must_read(struct bench *bench, const struct format *format, ze_image_handle_t image)
{
    const struct layout *layout = format->layout;
    for (int i = 0; i < PIXELS * layout->channels; i++) {
        uint32_t raw = raw_value(format->type, layout->bytes, i);
        memcpy(bench->memory + i * layout->bytes, &raw, (size_t)layout->bytes);
    }
    MUST(zeCommandListAppendImageCopyFromMemory(bench->list, image, bench->memory, NULL, NULL, 0,
                                                NULL));
    launch(bench, bench->read[kernel_of(format->type)], image);
    fixture_synchronize(&bench->fixture, bench->list);
    check_components(bench, format);
}

// Which component goes to a channel of memory; -1: none.
static int component_for(const struct order *order, int channel)
{
    for (int i = 0; i < 4; i++)
        if (order->component[i] == channel)
            return i;
    return -1;
}

static void must_write(struct bench *bench, const struct format *format, ze_image_handle_t image)
{
    static const float floats[] = {0.25f, 1, -1, 0.75f};
    static const int integers[] = {3, 100, -5, 1 << 20};
    const struct layout *layout = format->layout;
    for (int i = 0; i < PIXELS * 4; i++) {
        bool is_signed = format->type == ZE_IMAGE_FORMAT_TYPE_SINT;
        int whole = integers[i % 4] < 0 && !is_signed ? 7 : integers[i % 4];
        if (layout->bytes < 4 && whole > 100) // would be cut to the most there is
            whole = 9;
        float single = floats[(i + i / 4) % 4];
        if (format->type == ZE_IMAGE_FORMAT_TYPE_UNORM && single < 0)
            single = 0.5f;
        if (is_integer(format->type))
            memcpy(&bench->components[i], &whole, sizeof(whole));
        else
            memcpy(&bench->components[i], &single, sizeof(single));
    }
    launch(bench, bench->write[kernel_of(format->type)], image);
    MUST(zeCommandListAppendImageCopyToMemory(bench->list, bench->memory, image, NULL, NULL, 0,
                                              NULL));
    fixture_synchronize(&bench->fixture, bench->list);
    for (int pixel = 0; pixel < PIXELS; pixel++)
        for (int channel = 0; channel < layout->channels; channel++) {
            int component = component_for(format->order, channel);
            // A channel that no component stands for keeps what it had.
            double expected = component >= 0
                                  ? number(&bench->components[pixel * 4 + component], format->type)
                                  : value_of(format->type, layout->bytes,
                                             raw_value(format->type, layout->bytes,
                                                       pixel * layout->channels + channel));
            double found =
                value_of(format->type, layout->bytes, raw_at(bench, format, pixel, channel));
            double unit = is_integer(format->type) || format->type == ZE_IMAGE_FORMAT_TYPE_FLOAT
                              ? 0
                              : 1.01 / (layout->bytes == 1 ? 127 : 32767);
            cr_assert(fabs(found - expected) <= unit,
                      "layout %d type %d order %d: pixel %d channel %d: %g for %g",
                      (int)layout->layout, (int)format->type, (int)(format->order - orders), pixel,
                      channel, found, expected);
        }
    // A component that is a constant keeps its value after a write.
    launch(bench, bench->read[kernel_of(format->type)], image);
    fixture_synchronize(&bench->fixture, bench->list);
    check_components(bench, format);
}

static void test_format(struct bench *bench, const struct format *format)
{
    const ze_image_format_swizzle_t *asked = format->order->asked;
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {.layout = format->layout->layout,
                   .type = format->type,
                   .x = asked[0],
                   .y = asked[1],
                   .z = asked[2],
                   .w = asked[3]},
        .width = PIXELS,
        .height = 1,
    };
    ze_image_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
    ze_image_handle_t image = NULL;
    ze_result_t answer = zeImageGetProperties(bench->fixture.device, &desc, &properties);
    ze_result_t result =
        zeImageCreate(bench->fixture.context, bench->fixture.device, &desc, &image);
    MUST(answer);
    MUST(result);
    cr_assert_eq((properties.samplerFilterFlags & ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR) != 0,
                 !is_integer(format->type));
    must_read(bench, format, image);
    must_write(bench, format, image);
    MUST(zeImageDestroy(image));
}

Test(ze_cpu_image_formats, reads_and_writes_every_format, .timeout = 120)
{
    struct bench bench;
    bench_start(&bench);
    // With each swizzle, 12 types: four of channels of 8 bits, five of 16, three of 32.
    int count = 0;
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (size_t j = 0; j < COUNT(orders); j++)
            for (uint32_t type = 0; type <= ZE_IMAGE_FORMAT_TYPE_FLOAT; type++) {
                const struct format format = {&layouts[i], &orders[j],
                                              (ze_image_format_type_t)type};
                const bool is_normalized =
                    type == ZE_IMAGE_FORMAT_TYPE_UNORM || type == ZE_IMAGE_FORMAT_TYPE_SNORM;
                if (layouts[i].channels != orders[j].channels ||
                    (layouts[i].bytes == 1 && type == ZE_IMAGE_FORMAT_TYPE_FLOAT) ||
                    (layouts[i].bytes == 4 && is_normalized))
                    continue;
                test_format(&bench, &format);
                count++;
            }
    cr_assert_eq(count, (int)(12 * COUNT(orders)));
    bench_stop(&bench);
}

Test(ze_cpu_image_formats, refuses_formats_that_opencl_lacks)
{
    static const ze_image_format_t formats[] = {
        {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, ZE_IMAGE_FORMAT_TYPE_UINT, S_R, S_G, S_B, S_1},
        {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, ZE_IMAGE_FORMAT_TYPE_FLOAT, S_R, S_G, S_B, S_A},
        {ZE_IMAGE_FORMAT_LAYOUT_NV12, ZE_IMAGE_FORMAT_TYPE_UNORM, S_R, S_G, S_B, S_1},
        {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_FLOAT, S_R, S_G, S_B, S_A},
        {ZE_IMAGE_FORMAT_LAYOUT_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, S_D, S_0, S_0, S_0},
        {ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UNORM, S_R, S_G, S_B, S_A},
        {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, S_R, S_G, S_B,
         (ze_image_format_swizzle_t)99},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                      .type = ZE_IMAGE_TYPE_2D,
                                      .format = formats[i],
                                      .width = 4,
                                      .height = 4};
        ze_image_handle_t image;
        cr_assert_eq(zeImageCreate(fixture.context, fixture.device, &desc, &image),
                     ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "%zu", i);
    }
    fixture_finish(&fixture);
}

static const struct packed {
    ze_image_format_layout_t layout;
    ze_image_format_type_t type;
    uint32_t bytes, element;
    double expected[4];
} packed_elements[] = {
    {ZE_IMAGE_FORMAT_LAYOUT_5_6_5,
     ZE_IMAGE_FORMAT_TYPE_UNORM,
     2,
     31u << 11 | 21 << 5 | 1,
     {1, 21 / 63.0, 1 / 31.0, 1}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1,
     ZE_IMAGE_FORMAT_TYPE_UNORM,
     2,
     1u << 15 | 31 << 10 | 7 << 5,
     {1, 7 / 31.0, 0, 1}},
    {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4,
     ZE_IMAGE_FORMAT_TYPE_UNORM,
     2,
     0x51f2,
     {1 / 15.0, 1, 2 / 15.0, 5 / 15.0}},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_UNORM,
     4,
     2u << 30 | 1023 << 10 | 5,
     {5 / 1023.0, 1, 0, 2 / 3.0}},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_UINT,
     4,
     2u << 30 | 1023 << 10 | 5,
     {5, 1023, 0, 2}},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_SINT,
     4,
     2u << 30 | 511 << 20 | 512 << 10 | 1023,
     {-1, -512, 511, -2}},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_SNORM,
     4,
     3u << 30 | 511 << 20 | 513 << 10 | 1020,
     {-4 / 511.0, -1, 1, -1}},
    {ZE_IMAGE_FORMAT_LAYOUT_11_11_10,
     ZE_IMAGE_FORMAT_TYPE_FLOAT,
     4,
     0x1e0u << 22 | 0x380 << 11 | 0x3c0,
     {1, 0.5, 1, 1}}, // exponents of 15 and 14
};

Test(ze_cpu_image_formats, with_parts_of_bytes_are_read_and_written)
{
    struct bench bench;
    bench_start(&bench);
    for (size_t i = 0; i < COUNT(packed_elements); i++) {
        const struct packed *packed = &packed_elements[i];
        const ze_image_desc_t desc = {
            .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
            .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
            .type = ZE_IMAGE_TYPE_2D,
            .format = {packed->layout, packed->type, S_R, S_G, S_B, S_A},
            .width = PIXELS,
            .height = 1,
        };
        ze_image_handle_t image;
        MUST(zeImageCreate(bench.fixture.context, bench.fixture.device, &desc, &image));
        for (uint32_t pixel = 0; pixel < PIXELS; pixel++)
            memcpy(bench.memory + pixel * packed->bytes, &packed->element, packed->bytes);
        MUST(zeCommandListAppendImageCopyFromMemory(bench.list, image, bench.memory, NULL, NULL, 0,
                                                    NULL));
        launch(&bench, bench.read[kernel_of(packed->type)], image);
        fixture_synchronize(&bench.fixture, bench.list);
        for (int j = 0; j < PIXELS * 4; j++) {
            const double found = number(&bench.components[j], packed->type);
            cr_assert(fabs(found - packed->expected[j % 4]) < 1e-4, "%zu, %d: %g", i, j, found);
        }
        memset(bench.memory, 0, PIXELS * packed->bytes);
        launch(&bench, bench.write[kernel_of(packed->type)], image);
        MUST(zeCommandListAppendImageCopyToMemory(bench.list, bench.memory, image, NULL, NULL, 0,
                                                  NULL));
        fixture_synchronize(&bench.fixture, bench.list);
        for (uint32_t pixel = 0; pixel < PIXELS; pixel++)
            cr_assert_eq(
                memcmp(bench.memory + pixel * packed->bytes, &packed->element, packed->bytes), 0,
                "%zu, pixel %u", i, pixel);
        MUST(zeImageDestroy(image));
    }
    bench_stop(&bench);
}

Test(ze_cpu_image_formats, reads_srgb_as_linear_light)
{
    struct bench bench;
    bench_start(&bench);
    const ze_srgb_ext_desc_t srgb = {.stype = ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, .sRGB = 1};
    ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .pNext = &srgb,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, S_R, S_G, S_B, S_A},
        .width = PIXELS,
        .height = 1};
    ze_image_handle_t image;
    MUST(zeImageCreate(bench.fixture.context, bench.fixture.device, &desc, &image));
    for (int i = 0; i < PIXELS * 4; i++)
        bench.memory[i] = (unsigned char)(i * 17);
    MUST(zeCommandListAppendImageCopyFromMemory(bench.list, image, bench.memory, NULL, NULL, 0,
                                                NULL));
    launch(&bench, bench.read[0], image);
    fixture_synchronize(&bench.fixture, bench.list);
    for (int i = 0; i < PIXELS * 4; i++) {
        double c = bench.memory[i] / 255.0;
        double linear = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        double expected = i % 4 == 3 ? c : linear;
        double found = number(&bench.components[i], ZE_IMAGE_FORMAT_TYPE_FLOAT);
        cr_assert(fabs(found - expected) < 3e-3, "%d: %g for %g", i, found, expected);
    }
    MUST(zeImageDestroy(image));
    desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE; // no kernel can write these
    cr_assert_eq(zeImageCreate(bench.fixture.context, bench.fixture.device, &desc, &image),
                 ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    bench_stop(&bench);
}

static const float pixels[PIXELS] = {10, 20, 30, 40};

// The pixel there as OpenCL's specification has it for each address mode; 0 on the border.
static double pixel_at(double at, ze_sampler_address_mode_t mode)
{
    if (mode == ZE_SAMPLER_ADDRESS_MODE_REPEAT)
        at = at < 0 ? at + PIXELS : at > PIXELS - 1 ? at - PIXELS : at;
    else if (mode != ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER)
        at = fmin(fmax(at, 0), PIXELS - 1);
    return at >= 0 && at <= PIXELS - 1 ? (double)pixels[(int)at] : 0;
}

static double sampled(double at, const ze_sampler_desc_t *desc)
{
    double u = at;
    if (desc->addressMode == ZE_SAMPLER_ADDRESS_MODE_REPEAT)
        u = (at - floor(at)) * PIXELS;
    else if (desc->addressMode == ZE_SAMPLER_ADDRESS_MODE_MIRROR)
        u = fabs(at - 2 * rint(0.5 * at)) * PIXELS;
    else if (desc->isNormalized)
        u = at * PIXELS;
    if (desc->filterMode == ZE_SAMPLER_FILTER_MODE_NEAREST)
        return pixel_at(floor(u), desc->addressMode);
    double first = floor(u - 0.5);
    double part = u - 0.5 - first;
    return (1 - part) * pixel_at(first, desc->addressMode) +
           part * pixel_at(first + 1, desc->addressMode);
}

static void must_sample(struct bench *bench, ze_kernel_handle_t kernel,
                        const ze_sampler_desc_t *desc)
{
    ze_sampler_handle_t sampler;
    MUST(zeSamplerCreate(bench->fixture.context, bench->fixture.device, desc, &sampler));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(sampler), &sampler));
    float *at = (float *)(void *)bench->memory;
    float *out = (float *)(void *)bench->components;
    // Without an address mode only coordinates inside are defined.
    bool stays_inside = desc->addressMode == ZE_SAMPLER_ADDRESS_MODE_NONE;
    for (int i = 0; i < 16; i++) {
        float u = stays_inside ? 0.55f + 0.18f * (float)i : -1.9f + 0.52f * (float)i;
        at[i] = desc->isNormalized ? u / PIXELS : u;
    }
    const ze_group_count_t groups = {16, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(bench->list, kernel, &groups, NULL, 0, NULL));
    fixture_synchronize(&bench->fixture, bench->list);
    for (int i = 0; i < 16; i++) {
        double expected = sampled((double)at[i], desc);
        cr_assert(fabs((double)out[i] - expected) < 0.2,
                  "address %d filter %d normalized %d: at %g: "
                  "%g for %g",
                  (int)desc->addressMode, (int)desc->filterMode, (int)desc->isNormalized,
                  (double)at[i], (double)out[i], expected);
    }
    MUST(zeSamplerDestroy(sampler));
}

Test(ze_cpu_image_formats, samples_with_every_address_and_filter_mode)
{
    struct bench bench;
    bench_start(&bench);
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, S_R, S_0, S_0, S_1},
        .width = PIXELS,
        .height = 1};
    ze_image_handle_t image;
    MUST(zeImageCreate(bench.fixture.context, bench.fixture.device, &desc, &image));
    MUST(zeCommandListAppendImageCopyFromMemory(bench.list, image, pixels, NULL, NULL, 0, NULL));
    ze_kernel_handle_t kernel = fixture_kernel(bench.module, "sample");
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(image), &image));
    MUST(zeKernelSetArgumentValue(kernel, 2, sizeof(bench.memory), &bench.memory));
    MUST(zeKernelSetArgumentValue(kernel, 3, sizeof(bench.components), &bench.components));
    for (uint32_t mode = 0; mode <= ZE_SAMPLER_ADDRESS_MODE_MIRROR; mode++)
        for (uint32_t filter = 0; filter <= ZE_SAMPLER_FILTER_MODE_LINEAR; filter++)
            for (int normalized = 0; normalized <= 1; normalized++) {
                // Repeating needs normalized coordinates.
                if (!normalized && (mode == ZE_SAMPLER_ADDRESS_MODE_REPEAT ||
                                    mode == ZE_SAMPLER_ADDRESS_MODE_MIRROR))
                    continue;
                const ze_sampler_desc_t sampler = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                                   .addressMode = (ze_sampler_address_mode_t)mode,
                                                   .filterMode = (ze_sampler_filter_mode_t)filter,
                                                   .isNormalized = (ze_bool_t)normalized};
                must_sample(&bench, kernel, &sampler);
            }
    const ze_sampler_desc_t wrong = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                     .addressMode = (ze_sampler_address_mode_t)5};
    ze_sampler_handle_t sampler;
    cr_assert_eq(zeSamplerCreate(bench.fixture.context, bench.fixture.device, &wrong, &sampler),
                 ZE_RESULT_ERROR_INVALID_ENUMERATION);
    MUST(zeKernelDestroy(kernel));
    MUST(zeImageDestroy(image));
    bench_stop(&bench);
}
