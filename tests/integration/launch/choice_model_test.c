// SPDX-License-Identifier: MIT
// Which code serves a launch, compared with a model: every pair, and many triples, of images of one
// kernel in all states, in a unit, a module and a joined module, by name, by kernel object and by
// selector, with values that are set, of the launch, both or none. Constant 7 is the factor of
// scaled_copy_int, so that the numbers tell which code ran.
#include "program/modules_fixture.h"

#include <stdio.h>

TestSuite(choice_model, .init = gear_set_up, .fini = gear_tear_down, .timeout = 120);

enum kind {
    SPIRV,    // default 1
    REQUIRED, // the same, and must have a value
    BAKED,    // native code that says that it was made with 5
    SILENT,   // native code made with 1, which it does not say
    EMULATED, // native code that takes the value from memory; default 3
    KINDS,
};
// Values differ in bytes above the lowest.
enum { OF_SPIRV = 1, OF_BAKED = 0x50001, OF_SILENT = 1, OF_EMULATED = 0x301, MAX_IMAGES = 3 };

struct image {
    enum kind kind;
    zepi_module_state_t state;
    int32_t set; // executables of SPIR-V: that they were built with; 0: none
};

struct images {
    uint32_t count;
    struct image list[MAX_IMAGES];
};

// A number is the factor, a negative number a failure.
static int32_t failure(zepi_result_t result)
{
    return -(int32_t)result;
}

// ---- The model ----
//
// The rules, once: a value is the launch's, else the one that was set, else the default of SPIR-V,
// else that of emulated code; code that states its value needs that one; code that states none was
// made with the default.
//
// Where builds, modules and units once differed, this is what was decided:
// - Code that states no value, in a module: all of the module's images that have the kernel say
//   which constants it has, not only those that were built. (A launch with another value got the
//   numbers of the default.) SPIR-V's default counts before that of native code, in any order.
// - Such code in a unit's input: all of the unit's images say which constants the kernel has, as
//   for executables and objects. (A launch with another value got the numbers of the default.)
// - A selector's choice of an object that is linked with others: their values count, too, and a
//   launch with others is a mismatch. (It was said that there is no such kernel.)
// - The value that a launch would see, of code that states none: the default, not that of other
//   code which does not serve.
// - A value of a constant that only other kernels have: next to a module it must be the module's,
//   as SYCL Modules has it; from a unit it has no effect.

static bool is_spirv(const struct image *image)
{
    return image->kind == SPIRV || image->kind == REQUIRED;
}

static bool has_kind(const struct images *images, enum kind kind)
{
    for (uint32_t i = 0; i < images->count; i++) {
        if (images->list[i].kind == kind)
            return true;
    }
    return false;
}

static bool is_declared(const struct images *images)
{
    return images->count > 0 && !(has_kind(images, SILENT) && images->count == 1) &&
           (has_kind(images, SPIRV) || has_kind(images, REQUIRED) || has_kind(images, BAKED) ||
            has_kind(images, EMULATED));
}

// 0: there is none.
static int32_t default_of(const struct images *images)
{
    return has_kind(images, SPIRV) || has_kind(images, REQUIRED) ? OF_SPIRV
           : has_kind(images, EMULATED)                          ? OF_EMULATED
                                                                 : 0;
}

static struct images in_state(const struct images *images, zepi_module_state_t state)
{
    struct images found = {0};
    for (uint32_t i = 0; i < images->count; i++) {
        if (images->list[i].state == state)
            found.list[found.count++] = images->list[i];
    }
    return found;
}

// Code that is there, and the factor that it has without a value of the launch.
struct part {
    struct image image;
    int32_t value;
};

struct parts {
    uint32_t count;
    struct part list[MAX_IMAGES];
};

// What a build makes of images of the input; returns a failure, or 0.
static int32_t model_build(const struct images *images, int32_t given, struct parts *parts)
{
    const int32_t without = default_of(images);
    const int32_t wanted = given ? given : without;
    bool serves[MAX_IMAGES] = {false};
    bool is_served = false;
    bool has_all_kernels = false;
    parts->count = 0;
    if (has_kind(images, REQUIRED) && !given)
        return failure(ZEPI_ERROR_SPEC_CONSTANT_REQUIRED);
    for (uint32_t i = 0; i < images->count; i++) {
        const enum kind kind = images->list[i].kind;
        serves[i] = (kind == BAKED && (!wanted || wanted == OF_BAKED)) ||
                    (kind == EMULATED && wanted == OF_EMULATED) ||
                    (kind == SILENT && (!given || !is_declared(images) || given == without));
        is_served = is_served || serves[i];
        has_all_kernels = has_all_kernels || (serves[i] && kind != EMULATED);
    }
    // SPIR-V for the kernels that are missing.
    for (uint32_t i = 0; i < images->count; i++) {
        if (is_spirv(&images->list[i]) && !has_all_kernels)
            is_served = has_all_kernels = serves[i] = true;
    }
    for (uint32_t i = 0; i < images->count && !is_served; i++)
        serves[i] = images->list[i].kind == EMULATED;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *image = &images->list[i];
        if (serves[i])
            parts->list[parts->count++] = (struct part){*image, image->kind == BAKED    ? OF_BAKED
                                                                : image->kind == SILENT ? OF_SILENT
                                                                                        : wanted};
    }
    return parts->count > 0 ? 0 : failure(ZEPI_ERROR_COMPILE_FAILURE);
}

// Whether a part of a module goes with a launch's value. `images`: all of the module.
static bool model_part_fits(const struct parts *parts, const struct images *images, uint32_t index,
                            int32_t launch)
{
    const struct part *part = &parts->list[index];
    if (!launch || part->image.kind == EMULATED)
        return true;
    if (part->image.kind != SILENT)
        return launch == part->value;
    return !is_declared(images) || launch == default_of(images);
}

static int32_t model_part_factor(const struct part *part, int32_t launch)
{
    return launch && part->image.kind == EMULATED ? launch : part->value;
}

// A launch that names a module: by name, or of one part alone (a kernel object, a selector's).
static int32_t model_module(const struct parts *parts, const struct images *images, int only,
                            int32_t launch)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        if ((only < 0 || i == (uint32_t)only) && model_part_fits(parts, images, i, launch))
            return model_part_factor(&parts->list[i], launch);
    }
    return failure(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH);
}

// A launch from a unit.
struct search {
    const struct images *images;
    struct images input;
    const struct image *chosen; // NULL: no selector
    int32_t given;              // the launch's value or the one that is set
};

// Whether code of these images has the value; those that do not state it are judged together.
static bool model_unit_fits(const struct search *search, const struct images *code)
{
    const int32_t without = default_of(&search->input);
    const int32_t wanted = search->given || search->chosen ? search->given : without;
    const bool lacks_required = has_kind(&search->input, REQUIRED) && !search->given;
    for (uint32_t i = 0; i < code->count; i++) {
        if (lacks_required && !search->chosen)
            return false;
        if (code->list[i].kind == BAKED && wanted && wanted != OF_BAKED)
            return false;
    }
    return is_declared(code) || !is_declared(search->images) || !search->given ||
           search->given == without;
}

static int32_t model_unit_factor(const struct search *search, const struct image *image)
{
    const int32_t without = default_of(&search->input);
    return image->kind == BAKED    ? OF_BAKED
           : image->kind == SILENT ? OF_SILENT
           : search->given         ? search->given
           : without               ? without
                                   : OF_EMULATED;
}

// The executables, or the objects, which are linked together: code of the same kernel is a clash.
static int32_t model_unit_native(const struct search *search, zepi_module_state_t state)
{
    const struct images images = in_state(search->images, state);
    if (search->chosen && search->chosen->state != state)
        return 0;
    if (state == ZEPI_MODULE_OBJECT)
        return images.count == 1 && model_unit_fits(search, &images)
                   ? model_unit_factor(search, &images.list[0])
                   : 0;
    for (uint32_t i = 0; i < images.count; i++) {
        const struct images code = {1, {images.list[i]}};
        if ((!search->chosen || search->chosen->kind == images.list[i].kind) &&
            model_unit_fits(search, &code))
            return model_unit_factor(search, &images.list[i]);
    }
    return 0;
}

static int32_t model_unit_input(const struct search *search)
{
    struct images images = search->input;
    struct parts parts;
    if (search->chosen && search->chosen->state != ZEPI_MODULE_INPUT)
        return 0;
    if (search->chosen)
        images = (struct images){1, {*search->chosen}};
    if (images.count == 0)
        return 0;
    const int32_t failed = model_build(&images, search->given, &parts);
    if (failed)
        return failed;
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct image *image = &parts.list[i].image;
        const struct images code = {1, {*image}};
        if (image->kind == EMULATED)
            return model_unit_factor(search, image);
        // The build knows the input alone, the unit more that the kernel may declare.
        if (image->kind != SILENT || model_unit_fits(search, &code))
            return parts.list[i].value;
    }
    return 0;
}

// The selector's choice beats defaults, but no value that is given.
static bool model_unit_may_choose(const struct search *search)
{
    const struct images alone = {1, {*search->chosen}};
    const struct images objects = in_state(search->images, ZEPI_MODULE_OBJECT);
    return is_spirv(search->chosen) || !search->given ||
           model_unit_fits(search, search->chosen->state == ZEPI_MODULE_OBJECT ? &objects : &alone);
}

static int32_t model_unit(const struct images *images, const struct image *chosen, int32_t set,
                          int32_t launch)
{
    const struct search search = {images, in_state(images, ZEPI_MODULE_INPUT), chosen,
                                  launch ? launch : set};
    int32_t found = 0;
    if (chosen && !model_unit_may_choose(&search))
        return failure(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH);
    found = model_unit_native(&search, ZEPI_MODULE_EXECUTABLE);
    if (!found)
        found = model_unit_native(&search, ZEPI_MODULE_OBJECT);
    if (!found)
        found = model_unit_input(&search);
    return found ? found : failure(ZEPI_ERROR_KERNEL_NOT_FOUND);
}

// ---- The images ----

static const int32_t made_with = OF_BAKED;
static const int32_t emulated_default = OF_EMULATED;
static const uint32_t required_id = 7;
static const zepi_spec_value_t baked_value = {7, 4, &made_with};
static const zepi_emulated_constant_t emulated_constant = {7, ZEPI_SCALAR_INT32, &emulated_default};
static const char *const emulated_kernel = "scaled_copy_int";

static zepi_device_image_desc_t descs[KINDS][ZEPI_MODULE_EXECUTABLE + 1];

static void make_native(enum kind kind, zepi_module_state_t state)
{
    zepi_device_image_desc_t *desc = &descs[kind][state];
    zepi_module_t input =
        test_input(gear.context, kind == EMULATED ? "emulated_copy" : "scaled_copy");
    zepi_module_t module;
    if (kind == BAKED)
        TEST_OK(zepi.spec_constant_set(input, 7, 4, &made_with));
    TEST_OK(state == ZEPI_MODULE_OBJECT ? zepi.module_compile(input, NULL, &module)
                                        : zepi.module_build(input, NULL, &module));
    *desc = native_image(module, state, kind == BAKED ? &baked_value : NULL);
    if (kind == EMULATED) {
        desc->emulated_constants = &emulated_constant;
        desc->emulated_constant_count = 1;
        desc->emulated_kernels = &emulated_kernel;
        desc->emulated_kernel_count = 1;
    }
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(input));
}

static void make_descs(void)
{
    descs[SPIRV][ZEPI_MODULE_INPUT] = test_spirv_image("scaled_copy");
    descs[REQUIRED][ZEPI_MODULE_INPUT] = descs[SPIRV][ZEPI_MODULE_INPUT];
    descs[REQUIRED][ZEPI_MODULE_INPUT].required_ids = &required_id;
    descs[REQUIRED][ZEPI_MODULE_INPUT].required_id_count = 1;
    for (enum kind kind = BAKED; kind < KINDS; kind++) {
        for (zepi_module_state_t state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE;
             state++)
            make_native(kind, state);
    }
}

static void finish_descs(void)
{
    for (enum kind kind = BAKED; kind < KINDS; kind++) {
        for (zepi_module_state_t state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE;
             state++)
            test_native_image_finish(&descs[kind][state]);
    }
}

static void list_descs(const struct images *images, zepi_device_image_desc_t *out)
{
    for (uint32_t i = 0; i < images->count; i++)
        out[i] = descs[images->list[i].kind][images->list[i].state];
}

// ---- Launches that are compared ----

// 0: none. With UNKNOWN the launch has a value for a constant that nothing declares.
enum { UNKNOWN = 1234 };
static const int32_t launch_values[] = {0, OF_SPIRV, OF_EMULATED, OF_BAKED, 6, UNKNOWN};
static const int32_t set_values[] = {0, OF_SPIRV, OF_EMULATED, OF_BAKED, 6};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static unsigned launch_count;
static unsigned difference_count;

static const char *describe(const struct images *images)
{
    static const char *const kinds[] = {"spirv", "required", "baked", "silent", "emulated"};
    static const char *const states[] = {"", "input", "object", "executable"};
    static char text[256];
    int length = 0;
    for (uint32_t i = 0; i < images->count; i++)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s:%s/%d",
                           kinds[images->list[i].kind], states[images->list[i].state],
                           images->list[i].set);
    return text;
}

static void compare(const char *route, const struct images *images, int choice, int32_t set,
                    int32_t value, int32_t expected, int32_t seen)
{
    launch_count++;
    if (seen == expected)
        return;
    difference_count++;
    fprintf(stderr, "%s of%s, image %d, %d set, launch %d: expected %d, got %d\n", route,
            describe(images), choice, set, value, expected, seen);
}

// Launches that were enqueued and not compared yet: a wait for each one alone takes long where the
// processors are busy.
enum { MAX_PENDING = 64 };
struct pending {
    const char *route;
    struct images images;
    int choice;
    int32_t set, value, expected;
};
static struct pending pending[MAX_PENDING];
static int32_t *results; // four numbers each
static uint32_t pending_count;

static void compare_pending(const struct launch *launch)
{
    TEST_OK(zepi.queue_finish(gear.queue));
    for (uint32_t i = 0; i < pending_count; i++) {
        const struct pending *at = &pending[i];
        const int32_t *out = results + (size_t)i * 4;
        for (int n = 0; n < 4; n++)
            cr_assert_eq(out[n], launch->in[n] * out[0]);
        compare(at->route, &at->images, at->choice, at->set, at->value, at->expected, out[0]);
    }
    pending_count = 0;
}

// Launches with a value, twice: what was found is known the second time.
static void compare_launch(struct launch *launch, const char *route, const struct images *images,
                           int choice, int32_t set, int32_t value, int32_t expected)
{
    launch->number = value;
    launch->value.id = value == UNKNOWN ? UNKNOWN : 7;
    launch->desc.spec_values = value ? &launch->value : NULL;
    launch->desc.spec_value_count = value != 0;
    for (int i = 0; i < 2; i++) {
        if (pending_count == MAX_PENDING)
            compare_pending(launch);
        launch->arguments[1] = TEST_POINTER(results + (size_t)pending_count * 4);
        const zepi_result_t result =
            zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL);
        if (result == ZEPI_SUCCESS)
            pending[pending_count++] =
                (struct pending){route, *images, choice, set, value, expected};
        else
            compare(route, images, choice, set, value, expected, failure(result));
    }
}

static void begin(struct launch *launch)
{
    make_descs();
    launch_init(launch);
    results = gear_allocate((size_t)MAX_PENDING * 4 * sizeof(int32_t));
}

static void end(struct launch *launch, unsigned least)
{
    compare_pending(launch);
    TEST_OK(zepi.usm_free(gear.context, results));
    launch_finish(launch);
    finish_descs();
    cr_assert_eq(difference_count, 0, "%u of %u launches differ", difference_count, launch_count);
    cr_assert_geq(launch_count, least);
}

static zepi_device_image_t choose(void *data, const zepi_device_image_t *images, uint32_t count)
{
    const int *index = data;
    return *index < (int)count ? images[*index] : NULL;
}

// ---- Units ----

static void compare_unit(struct launch *launch, const struct images *images, int32_t set)
{
    for (int choice = -1; choice < (int)images->count; choice++) {
        launch->desc.selector = choice < 0 ? NULL : choose;
        launch->desc.selector_data = &choice;
        for (size_t i = 0; i < COUNT(launch_values); i++) {
            const int32_t value = launch_values[i];
            // An unknown constant counts as none.
            const int32_t expected = model_unit(images, choice < 0 ? NULL : &images->list[choice],
                                                set, value == UNKNOWN ? 0 : value);
            compare_launch(launch, "unit", images, choice, set, value, expected);
        }
    }
    launch->desc.selector = NULL;
    launch->desc.selector_data = NULL;
}

// A value of a constant that nothing in the unit declares has no effect.
static void run_unit(struct launch *launch, const struct images *images)
{
    const struct images input = in_state(images, ZEPI_MODULE_INPUT);
    zepi_device_image_desc_t list[MAX_IMAGES];
    zepi_module_t module = NULL;
    list_descs(images, list);
    TEST_OK(zepi.unit_register(UNIT, images->count, list));
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &module));
    launch->desc.unit = UNIT;
    // A value that is set stays: none comes first.
    for (size_t i = 0; i < (is_declared(&input) ? COUNT(set_values) : 1); i++) {
        if (set_values[i])
            TEST_OK(zepi.spec_constant_set(module, 7, 4, &set_values[i]));
        compare_unit(launch, images, set_values[i]);
    }
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.unit_unregister(UNIT));
    launch->desc.unit = NULL;
}

// Images of all states: one, all pairs, and the triples without regard to their order.
static uint32_t list_all(struct image *all)
{
    uint32_t count = 0;
    for (enum kind kind = SPIRV; kind < KINDS; kind++) {
        for (zepi_module_state_t state = ZEPI_MODULE_INPUT;
             state <= (kind < BAKED ? ZEPI_MODULE_INPUT : ZEPI_MODULE_EXECUTABLE); state++)
            all[count++] = (struct image){kind, state, 0};
    }
    return count;
}

// Calls `run` with each list of one to three of them; triples begin at each place of a circle.
static void for_all_lists(const struct image *all, uint32_t count,
                          void (*run)(struct launch *, const struct images *),
                          struct launch *launch)
{
    for (uint32_t a = 0; a < count; a++) {
        const struct images one = {1, {all[a]}};
        run(launch, &one);
        for (uint32_t b = 0; b < count; b++) {
            const struct images two = {2, {all[a], all[b]}};
            if (b == a)
                continue;
            run(launch, &two);
            for (uint32_t c = b + 1; b > a && c < count; c++) {
                const struct image sorted[] = {all[a], all[b], all[c]};
                const uint32_t first = (a + b + c) % 3;
                const bool is_turned = (a + 2 * b + c) % 2;
                const struct images three = {3,
                                             {sorted[first], sorted[(first + 1 + is_turned) % 3],
                                              sorted[(first + 2 - is_turned) % 3]}};
                run(launch, &three);
            }
        }
    }
}

Test(choice_model, of_a_unit)
{
    struct image all[KINDS * 3];
    struct launch launch;
    begin(&launch);
    for_all_lists(all, list_all(all), run_unit, &launch);
    end(&launch, 30000);
}

// ---- Modules ----

// The value that a launch without one would see: of the code that it takes, else of other code.
static int32_t model_seen(const struct parts *parts, const struct images *images)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        if (parts->list[i].image.kind != SILENT)
            return parts->list[i].value;
    }
    return is_declared(images) ? default_of(images) : 0;
}

static void compare_seen(const struct launch *launch, const struct images *images, int32_t set,
                         int32_t expected)
{
    int32_t seen = 0;
    zepi_launch_desc_t desc = launch->desc;
    desc.spec_value_count = 0;
    const zepi_result_t result =
        zepi.spec_constant_get_for_launch(gear.queue, &desc, 7, sizeof(seen), &seen);
    compare("the value seen", images, -1, set, 0,
            expected ? expected : failure(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN),
            result == ZEPI_SUCCESS ? seen : failure(result));
}

// By name, of the kernel object, and with each of the images that serve.
static void compare_module(struct launch *launch, zepi_module_t module, const struct images *images,
                           const struct parts *parts, int32_t set)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, "scaled_copy_int", &kernel));
    launch->desc.module = module;
    compare_seen(launch, images, set, model_seen(parts, images));
    for (size_t i = 0; i < COUNT(launch_values); i++) {
        const int32_t value = launch_values[i];
        const int32_t known = value == UNKNOWN ? 0 : value;
        compare_launch(launch, "module", images, -1, set, value,
                       model_module(parts, images, -1, known));
        launch->desc.kernel = kernel;
        compare_launch(launch, "kernel", images, -1, set, value,
                       model_module(parts, images, 0, known));
        launch->desc.kernel = NULL;
        launch->desc.selector = choose;
        for (int choice = 0; choice < (int)parts->count; choice++) {
            launch->desc.selector_data = &choice;
            compare_launch(launch, "selector", images, choice, set, value,
                           model_module(parts, images, choice, known));
        }
        launch->desc.selector = NULL;
    }
    launch->desc.module = NULL;
    TEST_OK(zepi.release(kernel));
}

static void run_built_module(struct launch *launch, const struct images *images)
{
    zepi_device_image_desc_t list[MAX_IMAGES];
    zepi_module_t input;
    list_descs(images, list);
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, images->count, list, &input));
    for (size_t i = 0; i < (is_declared(images) ? COUNT(set_values) : 1); i++) {
        struct parts parts;
        zepi_module_t module = NULL;
        const int32_t set = set_values[i];
        if (set)
            TEST_OK(zepi.spec_constant_set(input, 7, 4, &set));
        const int32_t expected = model_build(images, set, &parts);
        const zepi_result_t result = zepi.module_build(input, NULL, &module);
        compare("build", images, -1, set, 0, expected, failure(result));
        if (expected == 0 && result == ZEPI_SUCCESS)
            compare_module(launch, module, images, &parts, set);
        if (module)
            TEST_OK(zepi.release(module));
    }
    TEST_OK(zepi.release(input));
}

Test(choice_model, of_a_module_that_was_built)
{
    struct image all[KINDS];
    struct launch launch;
    begin(&launch);
    for (enum kind kind = SPIRV; kind < KINDS; kind++)
        all[kind] = (struct image){kind, ZEPI_MODULE_INPUT, 0};
    for_all_lists(all, KINDS, run_built_module, &launch);
    end(&launch, 5000);
}

// Executables of one image each, joined; an object is linked first.
static zepi_module_t make_executable(const struct image *image)
{
    zepi_device_image_desc_t desc;
    zepi_module_t made;
    zepi_module_t module;
    const struct images one = {1, {*image}};
    list_descs(&one, &desc);
    TEST_OK(zepi.module_create(gear.context, image->state, 1, &desc, &made));
    if (image->state == ZEPI_MODULE_EXECUTABLE)
        return made;
    if (image->set)
        TEST_OK(zepi.spec_constant_set(made, 7, 4, &image->set));
    TEST_OK(image->state == ZEPI_MODULE_OBJECT ? zepi.module_link(1, &made, NULL, &module)
                                               : zepi.module_build(made, NULL, &module));
    TEST_OK(zepi.release(made));
    return module;
}

static void run_joined_module(struct launch *launch, const struct images *images)
{
    zepi_module_t modules[MAX_IMAGES];
    zepi_module_t joined;
    struct parts parts = {.count = images->count};
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *image = &images->list[i];
        modules[i] = make_executable(image);
        parts.list[i] = (struct part){*image, image->kind == BAKED      ? OF_BAKED
                                              : image->kind == SILENT   ? OF_SILENT
                                              : image->kind == EMULATED ? OF_EMULATED
                                              : image->set              ? image->set
                                                                        : OF_SPIRV};
    }
    // The emulated code has but one of the kernels.
    const bool is_mixed =
        has_kind(images, EMULATED) &&
        (has_kind(images, SPIRV) || has_kind(images, BAKED) || has_kind(images, SILENT));
    const zepi_result_t result = zepi.module_join(images->count, modules, &joined);
    compare("join", images, -1, 0, 0, failure(is_mixed ? ZEPI_ERROR_INVALID_OBJECT : ZEPI_SUCCESS),
            failure(result));
    if (result == ZEPI_SUCCESS) {
        compare_module(launch, joined, images, &parts, 0);
        TEST_OK(zepi.release(joined));
    }
    for (uint32_t i = 0; i < images->count; i++)
        TEST_OK(zepi.release(modules[i]));
}

Test(choice_model, of_a_module_that_was_joined)
{
    static const struct image all[] = {
        {SPIRV, ZEPI_MODULE_INPUT, 0},         {SPIRV, ZEPI_MODULE_INPUT, 6},
        {BAKED, ZEPI_MODULE_EXECUTABLE, 0},    {BAKED, ZEPI_MODULE_OBJECT, 0},
        {SILENT, ZEPI_MODULE_EXECUTABLE, 0},   {SILENT, ZEPI_MODULE_OBJECT, 0},
        {EMULATED, ZEPI_MODULE_EXECUTABLE, 0}, {EMULATED, ZEPI_MODULE_OBJECT, 0},
    };
    struct launch launch;
    begin(&launch);
    for_all_lists(all, COUNT(all), run_joined_module, &launch);
    end(&launch, 2000);
}

// ---- Constants of other kernels ----

static zepi_result_t negate_with(struct launch *launch, int32_t value)
{
    launch->desc.kernel_name = "negate";
    launch->desc.argument_count = 1;
    launch->in[3] = 4;
    launch->number = value;
    launch->desc.spec_values = &launch->value;
    launch->desc.spec_value_count = value != 0;
    const zepi_result_t result = zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(launch->in[3], result == ZEPI_SUCCESS ? -4 : 4);
    return result;
}

// A launch's values are those of the module that it names, whichever kernel uses them. From a unit
// the others do not matter.
Test(choice_model, of_a_kernel_beside_others)
{
    const zepi_device_image_desc_t images[] = {test_spirv_image("negate"),
                                               test_spirv_image("scaled_copy")};
    zepi_module_t input;
    struct launch launch;
    launch_init(&launch);
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    launch.desc.unit = NULL;
    launch.desc.module = build_with(input, 5);
    TEST_OK(negate_with(&launch, 0));
    TEST_OK(negate_with(&launch, 5));
    TEST_FAILS_SAYING(negate_with(&launch, 6), ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
                      "the launch asks for specialization constant 7 = 0x6, the code to use was "
                      "made with 0x5");
    TEST_OK(zepi.release(launch.desc.module));
    launch.desc.module = NULL;
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch.desc.unit = UNIT;
    for (int32_t value = 0; value < 8; value++)
        TEST_OK(negate_with(&launch, value));
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.release(input));
    launch_finish(&launch);
}
