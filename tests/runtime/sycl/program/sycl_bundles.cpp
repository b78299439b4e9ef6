// SPDX-License-Identifier: MIT
// Kernel bundles in all their states, and specialization constants.
#include "sycl_code.hpp"

namespace
{

// As tests/data/scaled_copy.cl has them, one by one.
struct constants {
    char c;
    short s;
    int i;
    long l;
    bool b;
    float f;
};

constexpr sycl::specialization_id<constants> all_constants(constants{-1, -2, 1, -4, true, 1.0f});
constexpr sycl::specialization_id<int> absent_constant(3);

class negate_kernel;
class copy_kernel;
class show_kernel;
class import_kernel;

using input_bundle = sycl::kernel_bundle<sycl::bundle_state::input>;
using object_bundle = sycl::kernel_bundle<sycl::bundle_state::object>;

} // namespace

using sycl::detail::kernel_param_kind_t;
DESCRIBE_KERNEL(negate_kernel, "negate", 8, {kernel_param_kind_t::kind_pointer, 8, 0})
DESCRIBE_KERNEL(copy_kernel, "scaled_copy_int", 16, {kernel_param_kind_t::kind_pointer, 8, 0},
                {kernel_param_kind_t::kind_pointer, 8, 8})
DESCRIBE_KERNEL(show_kernel, "show_constants", 8, {kernel_param_kind_t::kind_pointer, 8, 0})
DESCRIBE_KERNEL(import_kernel, "triple_and_offset", 8, {kernel_param_kind_t::kind_pointer, 8, 0})
DESCRIBE_CONSTANT(all_constants, "all_constants")
DESCRIBE_CONSTANT(absent_constant, "absent_constant")

namespace
{

std::vector<uint8_t> bytes_of(const constants &value)
{
    std::vector<uint8_t> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

// The code of this program.
struct all_code {
    program_code negate{"negate", {"negate"}};
    program_code scaled{"scaled_copy", {"scaled_copy_int", "scaled_copy_float", "show_constants"}};
    program_code exporter{"exporter", {"set_offset"}};
    program_code importer{"importer", {"triple_and_offset"}};
    all_code()
    {
        negate.embed();
        const char *name = "all_constants";
        scaled
            .constants({{name, 11, offsetof(constants, c), 1},
                        {name, 5, offsetof(constants, s), 2},
                        {name, 7, offsetof(constants, i), 4},
                        {name, 2, offsetof(constants, l), 8},
                        {name, 13, offsetof(constants, b), 1},
                        {name, 3, offsetof(constants, f), 4}},
                       bytes_of(constants{-1, -2, 1, -4, true, 1.0f}))
            .embed();
        exporter.symbols("SYCL/exported symbols", {"triple", "offset"}).embed();
        importer.symbols("SYCL/imported symbols", {"triple", "offset"}).embed();
    }
};
const all_code program;

template <class Name> input_bundle input_of(const sycl::queue &queue)
{
    return sycl::get_kernel_bundle<sycl::bundle_state::input>(queue.get_context(),
                                                              {sycl::get_kernel_id<Name>()});
}

// The program's own kernels, of a bundle or of the runtime's choice.
void negate(sycl::queue &queue, int *data, size_t count, const executable_bundle *bundle = nullptr)
{
    queue
        .submit([&](sycl::handler &handler) {
            if (bundle)
                handler.use_kernel_bundle(*bundle);
            handler.parallel_for<negate_kernel>(sycl::range<1>(count),
                                                [data](sycl::id<1> i) { data[i] = -data[i]; });
        })
        .wait_and_throw();
}

// The values that show_constants reads.
std::vector<long> shown(sycl::queue &queue, const executable_bundle &bundle)
{
    shared_array<long> out(queue, 6);
    long *data = out.get();
    queue
        .submit([&](sycl::handler &handler) {
            handler.use_kernel_bundle(bundle);
            handler.single_task<show_kernel>([data] { data[0] = 0; });
        })
        .wait_and_throw();
    return {data, data + 6};
}

const std::vector<long> default_constants = {-1, -2, 1, -4, 1, 0x3f800000};
const constants other_values = {5, 600, 70000, 1L << 40, false, 2.0f};
const std::vector<long> other_constants = {5, 600, 70000, 1L << 40, 0, 0x40000000};

} // namespace

STORY(the_program_s_kernels_are_known_by_name)
{
    sycl::queue queue = make_queue();
    std::vector<std::string> names;
    for (const sycl::kernel_id &id : sycl::get_kernel_ids())
        names.push_back(id.get_name());
    for (const char *name : {"negate", "scaled_copy_int", "show_constants", "triple_and_offset"})
        EXPECT(std::find(names.begin(), names.end(), name) != names.end());
    EXPECT_EQ(std::string(sycl::get_kernel_id<negate_kernel>().get_name()), "negate");
    EXPECT(sycl::is_compatible<negate_kernel>(queue.get_device()));
    using state = sycl::bundle_state;
    EXPECT(sycl::has_kernel_bundle<state::input>(queue.get_context()));
    EXPECT(sycl::has_kernel_bundle<state::object>(queue.get_context()));
    EXPECT(sycl::has_kernel_bundle<state::executable>(queue.get_context()));
}

STORY(input_becomes_object_becomes_executable)
{
    sycl::queue queue = make_queue();
    const sycl::kernel_id id = sycl::get_kernel_id<negate_kernel>();
    input_bundle input = input_of<negate_kernel>(queue);
    EXPECT(input.has_kernel(id));
    EXPECT(!input.has_kernel(sycl::get_kernel_id<copy_kernel>()));
    EXPECT(input.get_context() == queue.get_context());
    EXPECT(!input.contains_specialization_constants());
    object_bundle object = sycl::compile(input);
    EXPECT(object.has_kernel(id, queue.get_device()));
    executable_bundle executable = sycl::link(object);
    EXPECT(executable.has_kernel(id));
    EXPECT_EQ(executable.get_kernel_ids().size(), 1u);
    shared_array<int> data(queue, {1, 2, 3});
    negate(queue, data.get(), 3, &executable);
    EXPECT_EQ(data[2], -3);
    // And its kernel as an object, with arguments that are set one by one.
    sycl::kernel kernel = executable.get_kernel(id);
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, data.get());
            handler.parallel_for(sycl::range<1>(3), kernel);
        })
        .wait();
    EXPECT_EQ(data[2], 3);
}

STORY(input_is_built_in_one_step)
{
    sycl::queue queue = make_queue();
    executable_bundle executable = sycl::build(input_of<negate_kernel>(queue));
    shared_array<int> data(queue, {1, 2, 3});
    negate(queue, data.get(), 3, &executable);
    EXPECT_EQ(data[2], -3);
}

STORY(a_kernel_that_the_bundle_has_not_is_an_error)
{
    sycl::queue queue = make_queue();
    executable_bundle executable = sycl::build(input_of<copy_kernel>(queue));
    EXPECT(!executable.has_kernel(sycl::get_kernel_id<negate_kernel>()));
    EXPECT_ERROR(invalid, executable.get_kernel(sycl::get_kernel_id<negate_kernel>()));
    shared_array<int> data(queue, {1, 2, 3});
    EXPECT_ERROR(kernel_not_supported, negate(queue, data.get(), 3, &executable));
    EXPECT_EQ(data[2], 3);
}

STORY(bundles_are_joined)
{
    sycl::queue queue = make_queue();
    executable_bundle joined = sycl::join<sycl::bundle_state::executable>(
        {sycl::build(input_of<negate_kernel>(queue)), sycl::build(input_of<show_kernel>(queue))});
    EXPECT(joined.has_kernel(sycl::get_kernel_id<negate_kernel>()));
    EXPECT(joined.has_kernel(sycl::get_kernel_id<show_kernel>()));
    shared_array<int> data(queue, {1, 2, 3});
    negate(queue, data.get(), 3, &joined);
    EXPECT_EQ(data[0], -1);
    EXPECT(shown(queue, joined) == default_constants);
}

STORY(constants_have_their_defaults)
{
    sycl::queue queue = make_queue();
    input_bundle input = input_of<show_kernel>(queue);
    EXPECT(input.contains_specialization_constants());
    EXPECT(input.native_specialization_constant());
    EXPECT(input.has_specialization_constant<all_constants>());
    EXPECT(!input.has_specialization_constant<absent_constant>());
    EXPECT_EQ(input.get_specialization_constant<all_constants>().l, -4);
    EXPECT(shown(queue, sycl::build(input)) == default_constants);
}

STORY(constants_are_set_on_input_and_stay)
{
    sycl::queue queue = make_queue();
    input_bundle input = input_of<show_kernel>(queue);
    input.set_specialization_constant<all_constants>(other_values);
    EXPECT_EQ(input.get_specialization_constant<all_constants>().l, 1L << 40);
    executable_bundle first = sycl::build(input);
    EXPECT_EQ(first.get_specialization_constant<all_constants>().s, 600);
    EXPECT(shown(queue, first) == other_constants);
    // Values that are set later are for later builds.
    constants changed = other_values;
    changed.i = -7;
    input.set_specialization_constant<all_constants>(changed);
    executable_bundle second = sycl::link(sycl::compile(input));
    std::vector<long> expected = other_constants;
    expected[2] = -7;
    EXPECT(shown(queue, second) == expected);
    EXPECT(shown(queue, first) == other_constants);
}

STORY(constants_are_set_for_one_launch)
{
    sycl::queue queue = make_queue();
    shared_array<int> from(queue, count_from(0, 10)), to(queue, 10);
    int *in = from.get(), *out = to.get();
    for (int factor : {1, 3, -8, 3}) {
        queue
            .submit([&](sycl::handler &handler) {
                constants values = other_values;
                values.i = factor;
                handler.set_specialization_constant<all_constants>(values);
                EXPECT_EQ(handler.get_specialization_constant<all_constants>().i, factor);
                handler.parallel_for<copy_kernel>(
                    sycl::range<1>(10),
                    [in, out](sycl::id<1> i, sycl::kernel_handler) { out[i] = in[i]; });
            })
            .wait_and_throw();
        EXPECT_EQ(to[9], 9 * factor);
    }
    queue
        .submit([&](sycl::handler &handler) {
            handler.parallel_for<copy_kernel>(
                sycl::range<1>(10),
                [in, out](sycl::id<1> i, sycl::kernel_handler) { out[i] = in[i]; });
        })
        .wait_and_throw();
    EXPECT_EQ(to[9], 9);
}

STORY(launches_with_other_constants_do_not_disturb_each_other)
{
    sycl::queue queue = make_queue();
    const int count = 30;
    shared_array<int> from(queue, {1}), to(queue, count);
    for (int i = 0; i < count; i++) {
        int *in = from.get(), *out = to.get() + i;
        queue.submit([&](sycl::handler &handler) {
            constants values = other_values;
            values.i = i % 5;
            handler.set_specialization_constant<all_constants>(values);
            handler.parallel_for<copy_kernel>(
                sycl::range<1>(1),
                [in, out](sycl::id<1> item, sycl::kernel_handler) { out[item] = in[item]; });
        });
    }
    queue.wait_and_throw();
    for (int i = 0; i < count; i++)
        EXPECT_EQ(to[i], i % 5);
}

// The runtime finds what exports the symbols, compiles both, and links.
STORY(symbols_of_other_images_are_linked_in)
{
    sycl::queue queue = make_queue();
    shared_array<int> data(queue, {1, 2, 3});
    int *values = data.get();
    queue
        .submit([&](sycl::handler &handler) {
            handler.parallel_for<import_kernel>(
                sycl::range<1>(3), [values](sycl::id<1> i) { values[i] = 3 * values[i] + 100; });
        })
        .wait_and_throw();
    EXPECT_EQ(data[0], 103);
    EXPECT_EQ(data[2], 109);
}

#if TEST_SYCL_RELEASE >= 20262 // earlier runtimes link each object alone, on OpenCL as well
STORY(objects_of_source_are_linked)
{
    sycl::queue queue = make_queue();
    need_compiler(queue.get_context());
    auto definition = syclexp::create_kernel_bundle_from_source(
        queue.get_context(), syclexp::source_language::sycl, std::string(KERNEL_HEADERS R"(
SYCL_EXTERNAL int twice(int value) { return 2 * value; }
)"));
    auto user = syclexp::create_kernel_bundle_from_source(
        queue.get_context(), syclexp::source_language::sycl, std::string(KERNEL_HEADERS R"(
namespace syclexp = sycl::ext::oneapi::experimental;
SYCL_EXTERNAL int twice(int value);
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::single_task_kernel))
void apply(int *value) { *value = twice(*value) + 1; }
)"));
    object_bundle definition_object = syclexp::compile(definition);
    object_bundle user_object = syclexp::compile(user);
    executable_bundle executable = sycl::link({definition_object, user_object});
    shared_array<int> value(queue, {20});
    syclexp::single_task(queue, executable.ext_oneapi_get_kernel("apply"), value.get());
    queue.wait_and_throw();
    EXPECT_EQ(value[0], 41);
    EXPECT_ERROR(invalid, sycl::link(user_object));
}

STORY(bundles_are_saved_and_loaded_in_every_state)
{
    sycl::queue queue = make_queue();
    need_compiler(queue.get_context());
    auto source = syclexp::create_kernel_bundle_from_source(
        queue.get_context(), syclexp::source_language::sycl, std::string(KERNEL_HEADERS R"(
namespace syclexp = sycl::ext::oneapi::experimental;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::single_task_kernel))
void increment(int *value) { *value += 1; }
)"));
    shared_array<int> value(queue, {0});
    executable_bundle built = syclexp::build(source);
    std::vector<char> bytes = built.ext_oneapi_get_content();
    executable_bundle loaded = syclexp::get_kernel_bundle<sycl::bundle_state::executable>(
        queue.get_context(), {queue.get_device()}, sycl::span<char>(bytes.data(), bytes.size()));
    syclexp::single_task(queue, loaded.ext_oneapi_get_kernel("increment"), value.get());
    queue.wait_and_throw();
    EXPECT_EQ(value[0], 1);

    object_bundle compiled = syclexp::compile(source);
    bytes = compiled.ext_oneapi_get_content();
    object_bundle object = syclexp::get_kernel_bundle<sycl::bundle_state::object>(
        queue.get_context(), {queue.get_device()}, sycl::span<char>(bytes.data(), bytes.size()));
    executable_bundle linked = sycl::link(object);
    syclexp::single_task(queue, linked.ext_oneapi_get_kernel("increment"), value.get());
    queue.wait_and_throw();
    EXPECT_EQ(value[0], 2);
}
#endif

STORY(kernels_of_spirv_are_found_by_name)
{
    sycl::queue queue = make_queue();
    executable_bundle bundle = build_spirv(queue.get_context(), "twenty_kernels");
    shared_array<int> value(queue, {0});
    for (int i = 1; i <= 20; i++) {
        const std::string name = "add_" + std::to_string(i);
        EXPECT(bundle.ext_oneapi_has_kernel(name));
        syclexp::single_task(queue, bundle.ext_oneapi_get_kernel(name), value.get());
        queue.wait_and_throw();
        EXPECT_EQ(value[0], i * (i + 1) / 2);
    }
    EXPECT(!bundle.ext_oneapi_has_kernel("add_21"));
    EXPECT_ERROR(runtime, bundle.ext_oneapi_get_kernel("add_21"));
}

STORY(bundles_serve_every_device_that_they_were_built_for)
{
    const std::vector<sycl::device> devices =
        make_queue().get_device().get_platform().get_devices();
    if (devices.size() < 2)
        story_skip("there is one device; see the variant of this program with two");
    const sycl::context context(devices);
    auto input = sycl::get_kernel_bundle<sycl::bundle_state::input>(
        context, {sycl::get_kernel_id<negate_kernel>()});
    EXPECT_EQ(input.get_devices().size(), devices.size());
    executable_bundle both = sycl::build(input);
    executable_bundle one = sycl::build(input, {devices[1]});
    EXPECT_EQ(one.get_devices().size(), 1u);
    for (const sycl::device &device : devices) {
        sycl::queue queue(context, device);
        shared_array<int> data(queue, {1, 2, 3});
        negate(queue, data.get(), 3, &both);
        EXPECT_EQ(data[2], -3);
        EXPECT(both.has_kernel(sycl::get_kernel_id<negate_kernel>(), device));
    }
    sycl::queue second(context, devices[1]);
    shared_array<int> data(second, {1, 2, 3});
    negate(second, data.get(), 3, &one);
    EXPECT_EQ(data[2], -3);
    EXPECT(!one.has_kernel(sycl::get_kernel_id<negate_kernel>(), devices[0]));
}
