// SPDX-License-Identifier: MIT
#include "sycl_support.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

namespace
{

struct story {
    const char *name;
    void (*function)();
};

struct story_failure {
    std::string text;
};

struct story_skipped {
    std::string reason;
};

std::vector<story> &stories()
{
    static std::vector<story> list;
    return list;
}

void rethrow_first(sycl::exception_list errors)
{
    for (const std::exception_ptr &error : errors)
        std::rethrow_exception(error);
}

// Whether the story was told to its end, or could not be told.
bool run(const story &told)
{
    std::string failure;
    try {
        told.function();
        std::cout << "passed  " << told.name << std::endl;
        return true;
    } catch (const story_skipped &skipped) {
        std::cout << "skipped " << told.name << ": " << skipped.reason << std::endl;
        return true;
    } catch (const story_failure &failed) {
        failure = failed.text;
    } catch (const sycl::exception &error) {
        failure = "sycl::exception " + std::to_string(error.code().value()) + " (" +
                  error.code().message() + "): " + error.what();
    } catch (const std::exception &error) {
        failure = std::string("std::exception: ") + error.what();
    }
    std::cout << "FAILED  " << told.name << ": " << failure << std::endl;
    return false;
}

} // namespace

story_registration::story_registration(const char *name, void (*function)())
{
    stories().push_back({name, function});
}

void story_fail(const char *file, int line, const std::string &text)
{
    const char *name = std::strrchr(file, '/');
    throw story_failure{std::string(name ? name + 1 : file) + ":" + std::to_string(line) + ": " +
                        text};
}

void story_skip(const std::string &reason)
{
    throw story_skipped{reason};
}

std::string story_expect_error(const char *file, int line, const char *what, sycl::errc code,
                               const std::function<void()> &statement)
{
    try {
        statement();
    } catch (const sycl::exception &error) {
        if (error.code() != code)
            story_fail(file, line,
                       std::string(what) + ": error " + std::to_string(error.code().value()) +
                           " (" + error.what() + "), expected " +
                           std::to_string(static_cast<int>(code)));
        return error.what();
    }
    story_fail(file, line, std::string(what) + ": no error");
}

std::vector<std::byte> read_spirv(const std::string &name)
{
    const std::string path = std::string(TEST_DATA_DIR) + "/" + name + ".spv";
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    std::vector<std::byte> bytes(static_cast<size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

executable_bundle build_spirv(const sycl::context &context, const std::string &name)
{
    auto source = syclexp::create_kernel_bundle_from_source(
        context, syclexp::source_language::spirv, read_spirv(name));
    return syclexp::build(source);
}

sycl::kernel kernel_of(const sycl::context &context, const std::string &spirv_name,
                       const std::string &kernel_name)
{
    return build_spirv(context, spirv_name).ext_oneapi_get_kernel(kernel_name);
}

void need_compiler(const sycl::context &context)
{
    if (!context.get_devices()[0].ext_oneapi_can_build(syclexp::source_language::sycl))
        story_skip("the runtime has no compiler for SYCL (libsycl-jit.so)");
    // The compiler of 2025.3 says that it can, and then misses its libraries, which no wheel
    // brings.
    if (TEST_SYCL_RELEASE < 20260)
        story_skip("the wheels of 2025.3 have no libraries for device code (libsycl-crt.bc)");
}

executable_bundle build_sycl(const sycl::context &context, const std::string &source)
{
    need_compiler(context);
    auto bundle =
        syclexp::create_kernel_bundle_from_source(context, syclexp::source_language::sycl, source);
    return syclexp::build(bundle);
}

sycl::queue make_queue(const sycl::property_list &properties)
{
    return sycl::queue(sycl::default_selector_v, rethrow_first, properties);
}

sycl::queue make_in_order_queue()
{
    return make_queue({sycl::property::queue::in_order()});
}

static bool is_chosen(const story &told, int argc, char **argv)
{
    bool are_any_chosen = false, is_among_them = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && std::strcmp(told.name, argv[i] + 1) == 0)
            return false;
        are_any_chosen |= argv[i][0] != '-';
        is_among_them |= argv[i][0] != '-' && std::strstr(told.name, argv[i]);
    }
    return is_among_them || !are_any_chosen;
}

int story_main(int argc, char **argv)
{
    int told_count = 0, failed = 0;
    for (const story &told : stories()) {
        if (!is_chosen(told, argc, argv))
            continue;
        told_count++;
        failed += run(told) ? 0 : 1;
    }
    if (failed > 0)
        std::cout << failed << " of " << stories().size() << " stories failed" << std::endl;
    // A release may have none of them; a name that none has is an error.
    if (told_count == 0 && !stories().empty()) {
        std::cout << "no story has this name" << std::endl;
        return 1;
    }
    return failed > 0 ? 1 : 0;
}
