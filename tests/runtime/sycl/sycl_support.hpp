// SPDX-License-Identifier: MIT
//
// Common parts of the sycl_* programs. Each is a program of SYCL that consists of stories; every
// story runs by itself and checks numbers. The program prints the stories that failed, and then
// ends with 1.
//
//     STORY(copies_have_an_offset)
//     {
//         ...
//         EXPECT_EQ(values[3], 7);
//     }
//
// Arguments choose the stories whose names contain one of them; "-NAME" leaves out the story NAME.
//
// The programs are built against the headers of several releases. TEST_SYCL_RELEASE is 20262 for
// 2026.2; a story of an interface that a release does not have stands behind a comparison with it.
#ifndef ZEPI_TESTS_RUNTIME_SYCL_SUPPORT_HPP
#define ZEPI_TESTS_RUNTIME_SYCL_SUPPORT_HPP

#include <sycl/sycl.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace syclexp = sycl::ext::oneapi::experimental;

struct story_registration {
    story_registration(const char *name, void (*function)());
};

#define STORY(name)                                                                                \
    static void name();                                                                            \
    static const story_registration name##_registration(#name, name);                              \
    static void name()

// Tells the stories; the exit code. A program has it for main(), unless it brings its own
// (OWN_MAIN).
int story_main(int argc, char **argv);

[[noreturn]] void story_fail(const char *file, int line, const std::string &text);

// Says why this story cannot be told here, and ends it.
[[noreturn]] void story_skip(const std::string &reason);

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            story_fail(__FILE__, __LINE__, #condition);                                            \
    } while (false)

#define EXPECT_EQ(actual, expected)                                                                \
    story_expect_equal(__FILE__, __LINE__, #actual, actual, expected)

// That the statement throws sycl::exception with this code, a sycl::errc.
#define EXPECT_ERROR(code_expected, ...)                                                           \
    story_expect_error(__FILE__, __LINE__, #__VA_ARGS__, sycl::errc::code_expected,                \
                       [&] { __VA_ARGS__; })

template <class Actual, class Expected>
void story_expect_equal(const char *file, int line, const char *what, const Actual &actual,
                        const Expected &expected)
{
    if (actual == static_cast<const Actual &>(expected))
        return;
    std::ostringstream text;
    text << what << " is " << actual << ", expected " << expected;
    story_fail(file, line, text.str());
}

// The message of the exception.
std::string story_expect_error(const char *file, int line, const char *what, sycl::errc code,
                               const std::function<void()> &statement);

// tests/data/NAME.cl as SPIR-V.
std::vector<std::byte> read_spirv(const std::string &name);

using executable_bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;
executable_bundle build_spirv(const sycl::context &context, const std::string &name);
sycl::kernel kernel_of(const sycl::context &context, const std::string &spirv_name,
                       const std::string &kernel_name);

// Ends the story where the runtime has no compiler for SYCL.
void need_compiler(const sycl::context &context);

// SYCL source, compiled by the runtime's own compiler. Kernels are free functions.
executable_bundle build_sycl(const sycl::context &context, const std::string &source);

// The beginning of source with small kernels. The runtime's compiler takes two seconds for all of
// SYCL's headers.
#if TEST_SYCL_RELEASE >= 20262
#define KERNEL_HEADERS "#include <sycl/ext/oneapi/free_function_kernel_properties.hpp>\n"
#else
#define KERNEL_HEADERS "#include <sycl/sycl.hpp>\n"
#endif

// A queue whose asynchronous errors fail the story.
sycl::queue make_queue(const sycl::property_list &properties = {});
sycl::queue make_in_order_queue();

// Shared memory that goes with its scope.
template <class T> class shared_array
{
  public:
    shared_array(const sycl::queue &queue, const std::vector<T> &values)
        : queue_(queue), memory_(sycl::malloc_shared<T>(values.size(), queue))
    {
        EXPECT(memory_ != nullptr);
        std::copy(values.begin(), values.end(), memory_);
    }
    // Else {5} were a count.
    shared_array(const sycl::queue &queue, std::initializer_list<T> values)
        : shared_array(queue, std::vector<T>(values))
    {
    }
    // Zeroed.
    shared_array(const sycl::queue &queue, size_t count)
        : shared_array(queue, std::vector<T>(count))
    {
    }
    ~shared_array()
    {
        sycl::free(memory_, queue_);
    }
    shared_array(const shared_array &) = delete;
    shared_array &operator=(const shared_array &) = delete;
    T *get() const
    {
        return memory_;
    }
    T &operator[](size_t i) const
    {
        return memory_[i];
    }

  private:
    sycl::queue queue_;
    T *memory_;
};

// first, first + 1, ...
inline std::vector<int> count_from(int first, size_t count)
{
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

#endif
