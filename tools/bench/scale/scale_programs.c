// SPDX-License-Identifier: MIT
// Modules, device images and translation units.
#include "scale.h"

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
    zepi_device_image_desc_t image = kernel_image("bench_small");
    const uint32_t number = i;
    memcpy((char *)scale->common[0] + GENERATOR, &number, sizeof(number));
    image.bytes = scale->common[0];
    return create_input(scale, &image, out);
}

static bool open_bytes(struct scale *scale)
{
    const zepi_device_image_desc_t image = kernel_image("bench_small");
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

// ---- Inputs and builds of one image ----

static bool make_input(struct scale *scale, unsigned i)
{
    const zepi_device_image_desc_t image = kernel_image("bench_small");
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
    const zepi_device_image_desc_t image = kernel_image("bench_small");
    return create_input(scale, &image, &scale->common[0]);
}

static bool make_executable(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.module_build(scale->common[0], NULL, (zepi_module_t *)&scale->objects[i]));
}

static bool get_kernel(struct scale *scale, unsigned i)
{
    zepi_kernel_t kernel;
    return scale_ok(zepi.module_get_kernel(scale->objects[i], "three", &kernel)) &&
           scale_ok(zepi.release(kernel));
}

static bool launch_from_module(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.module = scale->objects[i]});
}

// ---- Translation units ----

// The token of number `i`.
static zepi_unit_t unit_of(const struct scale *scale, unsigned i)
{
    return &scale->objects[i];
}

static bool make_unit(struct scale *scale, unsigned i)
{
    const zepi_device_image_desc_t image = kernel_image("bench_small");
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

static bool launch_from_unit(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.unit = unit_of(scale, i)});
}

const struct scale_case scale_programs[] = {
    {.name = "module-input",
     .types = "module module_images device_image",
     .open = open_bytes,
     .close = close_bytes,
     .make = make_different,
     .drop = scale_release,
     .operations = {{"create from known bytes, release", create_known}}},
    {.name = "module-same",
     .types = "module",
     .make = make_input,
     .drop = scale_release,
     .operations = {{"build one of them, known", build_one}}},
    {.name = "module-executable",
     .types = "module",
     .open = open_input,
     .close = scale_close_common,
     .make = make_executable,
     .drop = scale_release,
     .operations = {{"get a kernel, release", get_kernel}, {"launch by name", launch_from_module}}},
    {.name = "unit",
     .make = make_unit,
     .drop = drop_unit,
     .operations = {{"has modules", unit_has_module},
                    {"launch by name", launch_from_unit},
                    {"one more: register, launch, unregister", launch_from_unit, .is_new = true}}},
    {0}};
