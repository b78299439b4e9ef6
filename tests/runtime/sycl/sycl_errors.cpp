// SPDX-License-Identifier: MIT
// Mistakes: each gets an exception with a code and words that help, and everything goes on
// afterwards.
#include "sycl_code.hpp"

namespace
{

class unresolved_kernel;

} // namespace

using sycl::detail::kernel_param_kind_t;
DESCRIBE_KERNEL(unresolved_kernel, "call_unresolved", 8, {kernel_param_kind_t::kind_pointer, 8, 0})

namespace
{

struct all_code {
    program_code unresolved{"unresolved_import", {"call_unresolved"}};
    all_code()
    {
        unresolved.embed();
    }
};
const all_code program;

struct fixture {
    sycl::queue queue = make_queue();
    int *data = sycl::malloc_shared<int>(1024, queue);
    fixture()
    {
        std::fill_n(data, 1024, 1);
    }
    ~fixture()
    {
        sycl::free(data, queue);
    }
    template <class Range, class... Arguments>
    void launch(const sycl::kernel &kernel, const Range &range, const Arguments &...arguments)
    {
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_args(arguments...);
                handler.parallel_for(range, kernel);
            })
            .wait_and_throw();
    }
    // The queue still works.
    void go_on()
    {
        const int before = data[0];
        launch(kernel_of(queue.get_context(), "negate", "negate"), sycl::range<1>(1), data);
        EXPECT_EQ(data[0], -before);
    }
};

bool says(const std::string &text, const char *words)
{
    if (text.find(words) == std::string::npos)
        story_fail(__FILE__, __LINE__, "'" + text + "' does not say '" + words + "'");
    return true;
}

void build(const sycl::context &context, const std::vector<std::byte> &bytes)
{
    auto source =
        syclexp::create_kernel_bundle_from_source(context, syclexp::source_language::spirv, bytes);
    syclexp::build(source);
}

} // namespace

STORY(bytes_that_are_no_spirv_are_no_program)
{
    fixture test;
    const std::vector<std::byte> noise(1000, std::byte{0x5a});
    EXPECT(says(EXPECT_ERROR(runtime, build(test.queue.get_context(), noise)), "INVALID_BINARY"));
    test.go_on();
}

STORY(a_module_that_ends_too_early_is_no_program)
{
    fixture test;
    const std::vector<std::byte> whole = read_spirv("negate");
    for (size_t size : {whole.size() / 4, whole.size() / 2, whole.size() - 4}) {
        const std::vector<std::byte> part(whole.begin(), whole.begin() + size / 4 * 4);
        EXPECT(
            says(EXPECT_ERROR(runtime, build(test.queue.get_context(), part)), "INVALID_BINARY"));
    }
    test.go_on();
}

STORY(a_missing_function_is_named)
{
    fixture test;
    EXPECT_ERROR(build, build(test.queue.get_context(), read_spirv("unresolved_import")));
    auto input = sycl::get_kernel_bundle<sycl::bundle_state::input>(
        test.queue.get_context(), {sycl::get_kernel_id<unresolved_kernel>()});
    EXPECT(says(EXPECT_ERROR(build, sycl::build(input)), "nobody_defines_this"));
    // Compiling alone is no mistake, linking is.
    auto object = sycl::compile(input);
    EXPECT(says(EXPECT_ERROR(build, sycl::link(object)), "nobody_defines_this"));
    int *data = test.data;
    const auto submit = [&] {
        test.queue
            .submit([&](sycl::handler &handler) {
                handler.parallel_for<unresolved_kernel>(sycl::range<1>(1),
                                                        [data](sycl::id<1> i) { data[i] = 0; });
            })
            .wait_and_throw();
    };
    for (int round = 0; round < 2; round++)
        EXPECT(says(EXPECT_ERROR(build, submit()), "nobody_defines_this"));
    test.go_on();
}

STORY(source_that_does_not_compile_has_a_log)
{
    fixture test;
    need_compiler(test.queue.get_context());
    auto source = syclexp::create_kernel_bundle_from_source(
        test.queue.get_context(), syclexp::source_language::sycl,
        std::string("int broken( { return 1; }"));
    EXPECT(says(EXPECT_ERROR(build, syclexp::build(source)), "error"));
    test.go_on();
}

STORY(options_that_nobody_knows_are_errors_or_ignored)
{
    fixture test;
    auto source = syclexp::create_kernel_bundle_from_source(
        test.queue.get_context(), syclexp::source_language::spirv, read_spirv("negate"));
    try {
        syclexp::build(source,
                       syclexp::properties{syclexp::build_options{"-no-compiler-has-this-option"}});
    } catch (const sycl::exception &error) {
        EXPECT(error.code() == sycl::errc::build);
    }
    test.go_on();
}

STORY(group_sizes_are_explained)
{
    fixture test;
    const sycl::context context = test.queue.get_context();
    const sycl::kernel count = kernel_of(context, "launches", "count_items");
    const sycl::kernel needs = kernel_of(context, "launches", "needs_8_by_4");
    const size_t limit =
        test.queue.get_device().get_info<sycl::info::device::max_work_group_size>();
    EXPECT(says(EXPECT_ERROR(nd_range, test.launch(count, sycl::nd_range<1>(4 * limit, 4 * limit),
                                                   test.data)),
                std::to_string(limit).c_str()));
    EXPECT(says(EXPECT_ERROR(nd_range, test.launch(count, sycl::nd_range<1>(64, 24), test.data)),
                "work-group"));
    EXPECT(says(
        EXPECT_ERROR(nd_range, test.launch(needs, sycl::nd_range<2>({16, 32}, {1, 8}), test.data)),
        "required work-group size"));
    test.go_on();
}

STORY(arguments_must_be_there_and_of_the_right_size)
{
    fixture test;
    const sycl::context context = test.queue.get_context();
    const sycl::kernel store = kernel_of(context, "arguments", "store_values");
    const sycl::kernel negate = kernel_of(context, "negate", "negate");
    EXPECT_ERROR(runtime, test.launch(store, sycl::range<1>(1), 'a'));
    EXPECT_ERROR(runtime, test.launch(negate, sycl::range<1>(1)));
    EXPECT_ERROR(runtime, test.launch(negate, sycl::range<1>(1), test.data, 5));
    EXPECT_ERROR(runtime, test.launch(store, sycl::range<1>(1), 'a', 'b', 'c', 'd', 'e', 'f', 'g',
                                      test.data));
    test.go_on();
}

STORY(a_kernel_of_another_context_is_refused)
{
    fixture test;
    const sycl::context other(test.queue.get_device());
    const sycl::kernel negate = kernel_of(other, "negate", "negate");
    EXPECT(says(EXPECT_ERROR(runtime, test.launch(negate, sycl::range<1>(1), test.data)),
                "INVALID_KERNEL"));
    test.go_on();
}

STORY(a_buffer_that_is_too_large_is_an_error_of_its_command)
{
    fixture test;
    sycl::buffer<char> buffer{sycl::range<1>(static_cast<size_t>(1) << 60)};
    const auto submit = [&] {
        test.queue
            .submit([&](sycl::handler &handler) {
                sycl::accessor access(buffer, handler, sycl::write_only, sycl::no_init);
                handler.fill(access, 'a');
            })
            .wait_and_throw();
    };
    try {
        submit();
        EXPECT(false);
    } catch (const sycl::exception &error) {
        EXPECT(error.code() == sycl::errc::memory_allocation ||
               error.code() == sycl::errc::runtime);
    }
    test.go_on();
}

STORY(memory_of_nobody_is_not_freed)
{
    fixture test;
    int on_stack = 0;
    try {
        sycl::free(&on_stack, test.queue);
    } catch (const sycl::exception &) {
    }
    test.go_on();
}
