// SPDX-License-Identifier: MIT
// Specialization constants of input modules: every type, composites, defaults, errors.
#include "modules_fixture.h"

TestSuite(spec_constants, .init = gear_set_up, .fini = gear_tear_down);

enum { FIRST_ID = 20, TYPES = 12 };

// As tests/data/spec_types.cl has them. The compiler for device code writes no signs.
static const struct {
    zepi_scalar_type_t type;
    size_t size_bytes;
    uint64_t default_bits;
    uint64_t other_bits; // another value
} types[TYPES] = {
    {ZEPI_SCALAR_BOOL, 1, 0, 1},
    {ZEPI_SCALAR_UINT8, 1, 0xff, 0x80},
    {ZEPI_SCALAR_UINT8, 1, 2, 0xff},
    {ZEPI_SCALAR_UINT16, 2, 0xfffd, 0x8000},
    {ZEPI_SCALAR_UINT16, 2, 4, 0xffff},
    {ZEPI_SCALAR_UINT32, 4, 0xfffffffb, 0x80000000},
    {ZEPI_SCALAR_UINT32, 4, 6, 0xffffffff},
    {ZEPI_SCALAR_UINT64, 8, 0xfffffffffffffff9, 0x8000000000000000},
    {ZEPI_SCALAR_UINT64, 8, 8, 0xffffffffffffffff},
    {ZEPI_SCALAR_FLOAT16, 2, 0x3800, 0xc000},
    {ZEPI_SCALAR_FLOAT32, 4, 0x3e800000, 0xff800000},
    {ZEPI_SCALAR_FLOAT64, 8, 0x3fc0000000000000, 0x0000000000000001},
};

static void show(zepi_module_t executable, const char *kernel_name, uint32_t count, uint64_t *out)
{
    zepi_kernel_t kernel;
    uint64_t *memory;
    TEST_OK(zepi.module_get_kernel(executable, kernel_name, &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, count * sizeof(*out), 0,
                              (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    memcpy(out, memory, count * sizeof(*out));
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
}

static void build_and_show(zepi_module_t input, const char *kernel_name, uint32_t count,
                           uint64_t *out)
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, NULL, &executable));
    show(executable, kernel_name, count, out);
    TEST_OK(zepi.release(executable));
}

static uint64_t bits_of(const uint8_t value[8], size_t size_bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, value, size_bytes);
    return bits;
}

Test(spec_constants, have_type_size_and_default)
{
    zepi_spec_constant_t constants[32];
    uint64_t shown[TYPES];
    uint32_t count;
    zepi_module_t input = test_input(gear.context, "spec_types");
    TEST_OK(zepi.spec_constant_list(input, NULL, 32, constants, &count));
    cr_assert_eq(count, TYPES + 3);
    for (uint32_t i = 0; i < TYPES; i++) {
        uint64_t read = 0;
        cr_assert_eq(constants[i].id, FIRST_ID + i);
        cr_assert_eq(constants[i].type, types[i].type, "type %d of constant %u",
                     (int)constants[i].type, constants[i].id);
        cr_assert_eq(constants[i].size_bytes, types[i].size_bytes);
        cr_assert_eq(bits_of(constants[i].default_value, 8), types[i].default_bits);
        cr_assert_eq(bits_of(constants[i].value, 8), types[i].default_bits);
        cr_assert(!constants[i].is_set && !constants[i].is_required && constants[i].is_native);
        TEST_OK(zepi.spec_constant_get(input, NULL, FIRST_ID + i, types[i].size_bytes, &read));
        cr_assert_eq(read, types[i].default_bits);
    }
    build_and_show(input, "show_types", TYPES, shown);
    for (uint32_t i = 0; i < TYPES; i++)
        cr_assert_eq(shown[i], types[i].default_bits, "constant %u", FIRST_ID + i);
    TEST_OK(zepi.release(input));
}

Test(spec_constants, of_every_type_reach_the_kernel_and_are_read_back)
{
    zepi_spec_value_t values[TYPES];
    uint64_t shown[TYPES];
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "spec_types");
    for (uint32_t i = 0; i < TYPES; i++)
        values[i] = (zepi_spec_value_t){FIRST_ID + i, types[i].size_bytes, &types[i].other_bits};
    TEST_OK(zepi.spec_constant_set_many(input, TYPES, values));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    show(executable, "show_types", TYPES, shown);
    for (uint32_t i = 0; i < TYPES; i++) {
        uint64_t read[2] = {0};
        cr_assert_eq(shown[i], types[i].other_bits, "constant %u", FIRST_ID + i);
        TEST_OK(zepi.spec_constant_get(input, NULL, FIRST_ID + i, types[i].size_bytes, &read[0]));
        TEST_OK(
            zepi.spec_constant_get(executable, NULL, FIRST_ID + i, types[i].size_bytes, &read[1]));
        cr_assert(read[0] == types[i].other_bits && read[1] == types[i].other_bits);
    }
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(spec_constants, alone_leave_all_others_at_their_defaults)
{
    for (uint32_t changed = 0; changed < TYPES; changed++) {
        uint64_t shown[TYPES];
        zepi_module_t input = test_input(gear.context, "spec_types");
        TEST_OK(zepi.spec_constant_set(input, FIRST_ID + changed, types[changed].size_bytes,
                                       &types[changed].other_bits));
        build_and_show(input, "show_types", TYPES, shown);
        for (uint32_t i = 0; i < TYPES; i++)
            cr_assert_eq(shown[i], i == changed ? types[i].other_bits : types[i].default_bits);
        TEST_OK(zepi.release(input));
    }
}

Test(spec_constants, that_are_bools_take_any_byte_and_are_0_or_1)
{
    const uint8_t byte = 0x80;
    uint8_t read;
    uint64_t shown[TYPES];
    zepi_module_t input = test_input(gear.context, "spec_types");
    TEST_OK(zepi.spec_constant_set(input, 20, 1, &byte));
    TEST_OK(zepi.spec_constant_get(input, NULL, 20, 1, &read));
    cr_assert_eq(read, 1);
    build_and_show(input, "show_types", TYPES, shown);
    cr_assert_eq(shown[0], 1);
    TEST_OK(zepi.release(input));
}

Test(spec_constants, set_to_their_default_are_the_same_build)
{
    uint64_t shown[TYPES];
    zepi_module_t input = test_input(gear.context, "spec_types");
    build_and_show(input, "show_types", TYPES, shown);
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    for (uint32_t i = 0; i < TYPES; i++)
        TEST_OK(zepi.spec_constant_set(input, FIRST_ID + i, types[i].size_bytes,
                                       &types[i].default_bits));
    build_and_show(input, "show_types", TYPES, shown);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    TEST_OK(zepi.release(input));
}

// ---- Composites ----

struct structure {
    char tag;
    int32_t count;
    double scale;
    int16_t never_used;
};

static const zepi_spec_element_t elements[] = {{40, offsetof(struct structure, tag), 1},
                                               {41, offsetof(struct structure, count), 4},
                                               {42, offsetof(struct structure, scale), 8},
                                               {43, offsetof(struct structure, never_used), 2}};
static const zepi_spec_layout_t layout = {.name = "structure",
                                          .size_bytes = sizeof(struct structure),
                                          .elements = elements,
                                          .element_count = 4};

static zepi_module_t input_with_layout(const zepi_spec_layout_t *described)
{
    zepi_device_image_desc_t image = test_spirv_image("spec_types");
    zepi_module_t input;
    image.layouts = described;
    image.layout_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    return input;
}

Test(spec_constants, that_are_composites_are_set_by_name_and_keep_every_byte)
{
    struct structure value;
    struct structure read;
    uint64_t shown[3];
    const char *name;
    uint32_t count;
    zepi_module_t executable;
    zepi_module_t input = input_with_layout(&layout);
    memset(&value, 0x5a, sizeof(value));
    value.tag = -2;
    value.count = -70000;
    value.scale = 1e300;
    value.never_used = 99;
    TEST_OK(zepi.spec_constant_set_by_name(input, "structure", sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    for (int i = 0; i < 2; i++) {
        memset(&read, 0, sizeof(read));
        TEST_OK(zepi.spec_constant_get_by_name(i == 0 ? input : executable, NULL, "structure",
                                               sizeof(read), &read));
        cr_assert_eq(memcmp(&read, &value, sizeof(read)), 0);
    }
    show(executable, "show_structure", 3, shown);
    cr_assert_eq(shown[0], 0xfe);
    cr_assert_eq(shown[1], (uint32_t)-70000);
    cr_assert_eq(memcmp(&shown[2], &value.scale, 8), 0);
    TEST_OK(zepi.spec_constant_list_names(input, 1, &name, &count));
    cr_assert_eq(count, 1);
    cr_assert_str_eq(name, "structure");
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(spec_constants, that_are_elements_show_in_their_composite)
{
    struct structure read;
    const int32_t number = 17;
    zepi_module_t input = input_with_layout(&layout);
    TEST_OK(zepi.spec_constant_set(input, 41, 4, &number));
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "structure", sizeof(read), &read));
    cr_assert(read.tag == 1 && read.count == 17 && read.scale == 3.0);
    TEST_OK(zepi.release(input));
}

Test(spec_constants, that_are_composites_start_with_the_bytes_of_their_description)
{
    struct structure first;
    struct structure read;
    uint64_t shown[3];
    memset(&first, 0, sizeof(first));
    first.tag = 9;
    first.count = 8;
    first.scale = 7;
    first.never_used = 6;
    zepi_spec_layout_t described = layout;
    described.default_bytes = &first;
    zepi_module_t input = input_with_layout(&described);
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "structure", sizeof(read), &read));
    cr_assert_eq(memcmp(&read, &first, sizeof(read)), 0);
    build_and_show(input, "show_structure", 3, shown);
    cr_assert(shown[0] == 9 && shown[1] == 8);
    TEST_OK(zepi.release(input));
}

// ---- Errors ----

Test(spec_constants, that_are_wrong_are_refused_with_id_and_size)
{
    const uint64_t bits = 1;
    uint64_t read;
    zepi_module_t input = input_with_layout(&layout);
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 1234, 4, &bits),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 43, 2, &bits), ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                      "43");
    for (uint32_t i = 0; i < TYPES; i++) {
        for (size_t size = 0; size <= 16; size++) {
            if (size != types[i].size_bytes)
                TEST_FAILS(zepi.spec_constant_set(input, FIRST_ID + i, size, &bits),
                           ZEPI_ERROR_SPEC_CONSTANT_SIZE);
        }
    }
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 27, 4, &bits), ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                      "constant 27 is uint64: expected a value of 8 bytes, got 4");
    TEST_FAILS_SAYING(zepi.spec_constant_get(input, NULL, 27, 4, &read),
                      ZEPI_ERROR_SPEC_CONSTANT_SIZE, "8 bytes, got 4");
    TEST_FAILS_SAYING(zepi.spec_constant_get(input, NULL, 1234, 4, &read),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    TEST_FAILS(zepi.spec_constant_set(input, 27, 8, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.spec_constant_get(input, NULL, 27, 8, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS_SAYING(zepi.spec_constant_set_by_name(input, "nobody", 4, &bits),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "'structure'");
    TEST_FAILS_SAYING(zepi.spec_constant_set_by_name(input, "structure", 4, &bits),
                      ZEPI_ERROR_SPEC_CONSTANT_SIZE, "24 bytes, got 4");
    TEST_FAILS(zepi.spec_constant_set_by_name(input, NULL, 4, &bits), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(input));
}

Test(spec_constants, set_together_are_all_set_or_none)
{
    const uint32_t good = 11;
    uint32_t read;
    const zepi_spec_value_t values[] = {{25, 4, &good}, {26, 4, &good}, {27, 4, &good}};
    zepi_module_t input = test_input(gear.context, "spec_types");
    TEST_FAILS(zepi.spec_constant_set_many(input, 3, values), ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    TEST_OK(zepi.spec_constant_get(input, NULL, 26, 4, &read));
    cr_assert_eq(read, 6);
    TEST_OK(zepi.spec_constant_set_many(input, 2, values));
    TEST_OK(zepi.spec_constant_get(input, NULL, 26, 4, &read));
    cr_assert_eq(read, 11);
    TEST_OK(zepi.spec_constant_set_many(input, 0, NULL));
    TEST_FAILS(zepi.spec_constant_set_many(input, 1, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(input));
}

// Two halves of one composite: the compiler dropped the other in each image.
Test(spec_constants, of_a_composite_reach_every_image_that_has_a_part_of_it)
{
    static const zepi_spec_element_t parts[] = {{7, 0, 4}, {2, 8, 8}, {1, 16, 4}};
    const zepi_spec_layout_t halves = {
        .name = "halves", .size_bytes = 24, .elements = parts, .element_count = 3};
    zepi_device_image_desc_t images[2] = {test_spirv_image("scaled_copy"),
                                          test_spirv_image("link_base")};
    for (int i = 0; i < 2; i++) {
        images[i].layouts = &halves;
        images[i].layout_count = 1;
    }
    const struct {
        int32_t seven, padding;
        int64_t two;
        int32_t one, end;
    } set = {70, 71, 20, 10, 72};
    unsigned char read[24];
    int32_t one = 0;
    zepi_module_t input;
    zepi_module_t object;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.spec_constant_set_by_name(input, "halves", sizeof(set), &set));
    TEST_OK(zepi.spec_constant_get(input, NULL, 1, 4, &one));
    cr_assert_eq(one, 10);
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "halves", sizeof(read), read));
    cr_assert_eq(memcmp(read, &set, sizeof(set)), 0);
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.spec_constant_get(object, NULL, 1, 4, &one));
    cr_assert_eq(one, 10);
    TEST_OK(zepi.spec_constant_get_by_name(object, NULL, "halves", sizeof(read), read));
    cr_assert_eq(memcmp(read, &set, sizeof(set)), 0);
    TEST_OK(zepi.release(object));
    // An element that the second image alone has.
    TEST_OK(zepi.spec_constant_set(input, 1, 4, &(int32_t){11}));
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "halves", sizeof(read), read));
    memcpy(&one, read + 16, sizeof(one));
    cr_assert_eq(one, 11);
    TEST_OK(zepi.release(input));
}

Test(spec_constants, of_a_composite_are_ambiguous_where_joined_builds_differ)
{
    static const zepi_spec_element_t element = {7, 0, 4};
    const zepi_spec_layout_t number = {
        .name = "number", .size_bytes = 4, .elements = &element, .element_count = 1};
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input;
    zepi_module_t modules[2];
    zepi_module_t joined;
    zepi_device_image_t images[2];
    uint32_t count;
    int32_t read = 77;
    image.layouts = &number;
    image.layout_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    for (int i = 0; i < 2; i++)
        modules[i] = build_with(input, 2 + i);
    TEST_OK(zepi.module_join(2, modules, &joined));
    TEST_FAILS_SAYING(zepi.spec_constant_get_by_name(joined, NULL, "number", 4, &read),
                      ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS, "'number'; name the image");
    cr_assert_eq(read, 77);
    TEST_OK(zepi.module_get_device_images(joined, 2, images, &count));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.spec_constant_get_by_name(joined, images[i], "number", 4, &read));
        cr_assert_eq(read, 2 + i);
        TEST_OK(zepi.release(images[i]));
        TEST_OK(zepi.release(modules[i]));
    }
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(input));
}

Test(spec_constants, of_objects_and_executables_are_not_settable)
{
    const uint32_t value = 3;
    const struct structure structure = {0};
    zepi_module_t input = input_with_layout(&layout);
    zepi_module_t built[2];
    TEST_OK(zepi.module_compile(input, NULL, &built[0]));
    TEST_OK(zepi.module_build(input, NULL, &built[1]));
    for (int i = 0; i < 2; i++) {
        const zepi_spec_value_t values[] = {{25, 4, &value}};
        const char *state = i == 0 ? "object" : "executable";
        TEST_FAILS_SAYING(zepi.spec_constant_set(built[i], 25, 4, &value),
                          ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE, state);
        TEST_FAILS_SAYING(zepi.spec_constant_set_many(built[i], 1, values),
                          ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE, state);
        TEST_FAILS_SAYING(
            zepi.spec_constant_set_by_name(built[i], "structure", sizeof(structure), &structure),
            ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE, state);
        TEST_OK(zepi.release(built[i]));
    }
    TEST_OK(zepi.release(input));
}

Test(spec_constants, that_are_required_must_be_set_before_compile_build_and_launch)
{
    static const uint32_t required[] = {25, 26};
    const uint32_t value = 3;
    uint64_t shown[TYPES];
    zepi_device_image_desc_t image = test_spirv_image("spec_types");
    zepi_module_t input;
    zepi_module_t built;
    image.required_ids = required;
    image.required_id_count = 2;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    const uint64_t before = ze_cpu.get_count("zeModuleCreate");
    for (int i = 0; i < 2; i++) {
        TEST_FAILS_SAYING(zepi.module_compile(input, NULL, &built),
                          ZEPI_ERROR_SPEC_CONSTANT_REQUIRED, i == 0 ? "25 (uint32, 4" : "26");
        TEST_FAILS(zepi.module_build(input, NULL, &built), ZEPI_ERROR_SPEC_CONSTANT_REQUIRED);
        cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), before);
        TEST_OK(zepi.spec_constant_set(input, required[i], 4, &value));
    }
    build_and_show(input, "show_types", TYPES, shown);
    cr_assert(shown[5] == 3 && shown[6] == 3);
    TEST_OK(zepi.release(input));

    // The same for a launch.
    uint64_t *memory;
    zepi_spec_value_t values[] = {{25, 4, &value}, {26, 4, &value}};
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, TYPES * 8, 0,
                              (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    zepi_launch_desc_t desc = test_launch(NULL, 1, &argument, 1);
    desc.unit = UNIT;
    desc.kernel_name = "show_types";
    desc.spec_values = values;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    for (uint32_t count = 0; count < 2; count++) {
        desc.spec_value_count = count;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_SPEC_CONSTANT_REQUIRED, count == 0 ? "25" : "26");
    }
    desc.spec_value_count = 2;
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert(memory[5] == 3 && memory[6] == 3);
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(spec_constants, errors_of_theirs_are_failures_to_compile)
{
    for (int code = 0x200; code < 0x207; code++)
        cr_assert(ZEPI_IS_COMPILE_FAILURE(code));
    cr_assert(!ZEPI_IS_COMPILE_FAILURE(ZEPI_ERROR_LINK_FAILURE));
    cr_assert(!ZEPI_IS_COMPILE_FAILURE(ZEPI_ERROR_KERNEL_NOT_FOUND));
}

// ---- Images ----

Test(spec_constants, are_asked_for_each_image_and_for_the_module)
{
    const int32_t baked = 5;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t built = scaled_copy_with(baked);
    zepi_device_image_desc_t images[2] = {native_image(built, ZEPI_MODULE_INPUT, &value),
                                          test_spirv_image("scaled_copy")};
    zepi_module_t input;
    zepi_device_image_t listed[2];
    zepi_device_image_t foreign;
    uint32_t count;
    int32_t read;
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_get_info(input, &info));
    cr_assert(info.has_spec_constants && !info.has_native_spec_constants);
    cr_assert_eq(info.spec_constant_count, 6);
    TEST_OK(zepi.module_get_device_images(input, 2, listed, &count));
    for (uint32_t i = 0; i < 2; i++) {
        zepi_spec_constant_t constants[8];
        zepi_device_image_info_t image = {.size = sizeof(image)};
        TEST_OK(zepi.device_image_get_info(listed[i], &image));
        const bool is_native = image.format == ZEPI_DEVICE_IMAGE_NATIVE;
        cr_assert(image.has_spec_constants && image.has_native_spec_constants != is_native);
        TEST_OK(zepi.spec_constant_list(input, listed[i], 8, constants, &count));
        cr_assert_eq(count, is_native ? 1 : 6);
        TEST_OK(zepi.spec_constant_get(input, listed[i], 7, 4, &read));
        cr_assert_eq(read, is_native ? 5 : 1);
    }
    // As a whole: the literal of the SPIR-V; the build is the same.
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, 4, &read));
    cr_assert_eq(read, 1);
    TEST_OK(zepi.module_get_device_images(built, 1, &foreign, &count));
    TEST_FAILS(zepi.spec_constant_get(input, foreign, 7, 4, &read), ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.release(foreign));
    TEST_OK(zepi.release(listed[0]));
    TEST_OK(zepi.release(listed[1]));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(built));
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch_init(&launch);
    expect(&launch, 0, 1);
    expect(&launch, 5, 5);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    test_native_image_finish(&images[0]);
}
