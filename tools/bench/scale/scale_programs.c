// SPDX-License-Identifier: MIT
// Modules, device images and translation units.
#include "scale_calls.h"

#include "tools/zepi/kernels.h"

#include <stdlib.h>
#include <string.h>

// ---- Inputs ----

static bool create_input(struct scale *scale, const zepi_device_image_desc_t *image, void **out)
{
    return scale_ok(zepi.module_create(scale_context(scale), ZEPI_MODULE_INPUT, 1, image,
                                       (zepi_module_t *)out));
}

// The image of number `i`: all are of one size and differ in a word of the head.
static bool create_different(struct scale *scale, unsigned i, void **out)
{
    enum { GENERATOR = 8 };
    zepi_device_image_desc_t image = zepi_row_image("bench_small");
    const uint32_t number = i;
    memcpy((char *)scale->common[0] + GENERATOR, &number, sizeof(number));
    image.bytes = scale->common[0];
    return create_input(scale, &image, out);
}

static bool open_bytes(struct scale *scale)
{
    const zepi_device_image_desc_t image = zepi_row_image("bench_small");
    scale->common[0] = malloc(image.size_bytes);
    if (scale->common[0])
        memcpy(scale->common[0], image.bytes, image.size_bytes);
    return scale->common[0];
}

static void close_bytes(struct scale *scale)
{
    free(scale->common[0]);
}

static bool make_different(struct scale *scale, unsigned i)
{
    return create_different(scale, i, &scale->objects[i]);
}

static bool create_known(struct scale *scale, unsigned i)
{
    return create_different(scale, i, &scale->objects[scale->live]) &&
           scale_release(scale, scale->live);
}

static bool has_kernel(struct scale *scale, unsigned i)
{
    bool has;
    return scale_ok(zepi.module_has_kernel(scale->objects[i], "three", &has)) && has;
}

static bool hash_and_compare(struct scale *scale, unsigned i)
{
    uint64_t hash;
    bool is_equal;
    return scale_ok(zepi.module_get_hash(scale->objects[i], &hash)) &&
           scale_ok(zepi.module_is_equal(scale->objects[i], scale->objects[scale->live - 1 - i],
                                         &is_equal));
}

static bool join(struct scale *scale, unsigned i)
{
    const zepi_module_t two[] = {scale->objects[i], scale->objects[scale->live - 1 - i]};
    zepi_module_t joined;
    return scale_ok(zepi.module_join(2, two, &joined)) && scale_ok(zepi.release(joined));
}

// ---- Inputs and builds of one image ----

static bool make_input(struct scale *scale, unsigned i)
{
    const zepi_device_image_desc_t image = zepi_row_image("bench_small");
    return create_input(scale, &image, &scale->objects[i]);
}

static bool build_one(struct scale *scale, unsigned i)
{
    zepi_module_t built;
    return scale_ok(zepi.module_build(scale->objects[i], NULL, &built)) &&
           scale_ok(zepi.release(built));
}

static bool open_input(struct scale *scale)
{
    const zepi_device_image_desc_t image = zepi_row_image("bench_small");
    return create_input(scale, &image, &scale->common[0]);
}

static bool make_executable(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.module_build(scale->common[0], NULL, (zepi_module_t *)&scale->objects[i]));
}

static bool make_object(struct scale *scale, unsigned i)
{
    return scale_ok(
        zepi.module_compile(scale->common[0], NULL, (zepi_module_t *)&scale->objects[i]));
}

static bool link_one(struct scale *scale, unsigned i)
{
    zepi_module_t linked;
    return scale_ok(zepi.module_link(1, (zepi_module_t *)&scale->objects[i], NULL, &linked)) &&
           scale_ok(zepi.release(linked));
}

static bool get_kernel(struct scale *scale, unsigned i)
{
    zepi_kernel_t kernel;
    return scale_ok(zepi.module_get_kernel(scale->objects[i], "three", &kernel)) &&
           scale_ok(zepi.release(kernel));
}

static bool launch_from_module(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->row->host.queue,
                                        .module = scale->objects[i]};
    return scale_launch(scale, &launch);
}

// ---- Device images ----

static bool make_image(struct scale *scale, unsigned i)
{
    void *module;
    uint32_t count;
    bool is_good = create_different(scale, i, &module);
    if (is_good) {
        is_good = scale_ok(zepi.module_get_device_images(
            module, 1, (zepi_device_image_t *)&scale->objects[i], &count));
        host_release(module);
    }
    return is_good;
}

// ---- Translation units ----

// The token of number `i`.
static zepi_unit_t unit_of(const struct scale *scale, unsigned i)
{
    return &scale->objects[i];
}

static bool make_unit(struct scale *scale, unsigned i)
{
    const zepi_device_image_desc_t image = zepi_row_image("bench_small");
    return scale_ok(zepi.unit_register(unit_of(scale, i), 1, &image));
}

static bool drop_unit(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.unit_unregister(unit_of(scale, i)));
}

static bool unit_has_module(struct scale *scale, unsigned i)
{
    bool has_any, has;
    return scale_ok(zepi.unit_has_any_module(unit_of(scale, i), scale_context(scale), &has_any)) &&
           scale_ok(zepi.unit_has_module(unit_of(scale, i), scale_context(scale), ZEPI_MODULE_INPUT,
                                         &has)) &&
           has_any && has;
}

static bool unit_get_module(struct scale *scale, unsigned i)
{
    zepi_module_t module;
    return scale_ok(zepi.unit_get_module(unit_of(scale, i), scale_context(scale), ZEPI_MODULE_INPUT,
                                         &module)) &&
           scale_ok(zepi.release(module));
}

static bool launch_from_unit(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->row->host.queue, .unit = unit_of(scale, i)};
    return scale_launch(scale, &launch);
}

static bool launch_from_new_unit(struct scale *scale, unsigned i)
{
    (void)i;
    return make_unit(scale, scale->live) && launch_from_unit(scale, scale->live) &&
           drop_unit(scale, scale->live);
}

const struct scale_case scale_programs[] = {
    {.name = "module-input",
     .title = "inputs, all different",
     .types = "module module_images device_image",
     .open = open_bytes,
     .close = close_bytes,
     .make = make_different,
     .drop = scale_release,
     .operations = {{"create from known bytes, release", create_known},
                    {"has a kernel", has_kernel},
                    {"hash, comparison of two", hash_and_compare},
                    {"join two", join}}},
    {.name = "module-same",
     .title = "inputs of one image",
     .types = "module",
     .make = make_input,
     .drop = scale_release,
     .operations = {{"build one of them, known", build_one},
                    {"hash, comparison of two", hash_and_compare},
                    {"join two", join}}},
    {.name = "module-executable",
     .title = "executables of one build",
     .types = "module",
     .open = open_input,
     .close = scale_close_common,
     .make = make_executable,
     .drop = scale_release,
     .operations = {{"get a kernel, release", get_kernel},
                    {"launch by name", launch_from_module},
                    {"join two", join}}},
    {.name = "module-object",
     .title = "objects of one compile",
     .types = "module",
     .open = open_input,
     .close = scale_close_common,
     .make = make_object,
     .drop = scale_release,
     .operations = {{"link one, known", link_one}, {"has a kernel", has_kernel}}},
    {.name = "device-image",
     .title = "device images",
     .types = "device_image",
     .open = open_bytes,
     .close = close_bytes,
     .make = make_image,
     .drop = scale_release,
     .operations = {{"create from known bytes, release", create_known}}},
    {.name = "unit",
     .title = "translation units",
     .types = "",
     .make = make_unit,
     .drop = drop_unit,
     .operations = {{"has modules", unit_has_module},
                    {"get its module, release", unit_get_module},
                    {"launch by name", launch_from_unit},
                    {"one more: register, launch, unregister", launch_from_new_unit}}},
    {0}};
