// SPDX-License-Identifier: MIT
//
// Device code inside of a program, as a compiler for SYCL puts it there: the runtime gets it with
// its kernels' names before main() begins, and offers it as kernel bundles in the state input. Here
// it is SPIR-V of tests/data, described by hand.
#ifndef ZEPI_TESTS_RUNTIME_SYCL_CODE_HPP
#define ZEPI_TESTS_RUNTIME_SYCL_CODE_HPP

#include "sycl_support.hpp"

#include <sycl/detail/device_global_map.hpp>
#include <sycl/detail/spec_const_integration.hpp>

#include <cstring>
#include <deque>

// The layout that DPC++ 2026 gives its descriptions, version 3, and 2025.3, version 2, which has
// two more pointers.
struct code_property {
    char *name;
    void *value;
    uint32_t type; // 1: a number, 2: bytes after their count of bits
    uint64_t size;
};

struct code_property_set {
    char *name;
    code_property *begin, *end;
};

struct code_entry {
    void *address;
    char *name;
    size_t size;
    int32_t flags, reserved;
};

struct code_image {
    uint16_t version;
    uint8_t kind;   // 4: SYCL
    uint8_t format; // 0: as the bytes say
    const char *target, *compile_options, *link_options;
#if TEST_SYCL_RELEASE < 20260
    const char *manifest_begin, *manifest_end;
#endif
    const std::byte *begin, *end;
    code_entry *entries_begin, *entries_end;
    code_property_set *sets_begin, *sets_end;
};

struct code_images {
    uint16_t version, count;
    code_image *images;
    void *host_begin, *host_end;
};

extern "C" void __sycl_register_lib(code_images *images);
extern "C" void __sycl_unregister_lib(code_images *images);

// A specialization constant: an element of the composite that has its name.
struct code_constant {
    const char *name;
    uint32_t id, offset, size;
};

// Is registered from its construction on until its end; a static variable, as the compiler has it.
class program_code
{
  public:
    program_code(const char *spirv_name, std::vector<const char *> kernels)
        : bytes_(read_spirv(spirv_name))
    {
        for (const char *kernel : kernels)
            entries_.push_back({nullptr, const_cast<char *>(kernel), 0, 0, 0});
    }
    ~program_code()
    {
        if (images_.images)
            __sycl_unregister_lib(&images_);
    }
    program_code(const program_code &) = delete;

    // Constants of one name follow each other.
    program_code &constants(const std::vector<code_constant> &constants,
                            const std::vector<uint8_t> &defaults)
    {
        std::vector<code_property> &all = add_set("SYCL/specialization constants");
        for (size_t i = 0; i < constants.size();) {
            std::vector<uint8_t> elements;
            size_t next = i;
            for (; next < constants.size() &&
                   std::strcmp(constants[next].name, constants[i].name) == 0;
                 next++)
                for (uint32_t number :
                     {constants[next].id, constants[next].offset, constants[next].size})
                    append(elements, &number, sizeof(number));
            all.push_back(bytes_property(constants[i].name, elements));
            i = next;
        }
        add_set("SYCL/specialization constants default values")
            .push_back(bytes_property("all", defaults));
        return *this;
    }

    // A variable that the program's own code names `object`.
    program_code &image_global(const char *name, uint32_t size, const void *object)
    {
        std::vector<uint8_t> value;
        const uint32_t is_in_image = 1;
        append(value, &size, sizeof(size));
        append(value, &is_in_image, sizeof(is_in_image));
        add_set("SYCL/device globals").push_back(bytes_property(name, value));
        sycl::detail::device_global_map::add(object, name);
        return *this;
    }

    program_code &symbols(const char *set, const std::vector<const char *> &names)
    {
        std::vector<code_property> &all = add_set(set);
        for (const char *name : names)
            all.push_back({const_cast<char *>(name), nullptr, 1, 1});
        return *this;
    }

    program_code &embed()
    {
        for (size_t i = 0; i < set_names_.size(); i++)
            sets_.push_back({const_cast<char *>(set_names_[i]), properties_[i].data(),
                             properties_[i].data() + properties_[i].size()});
        image_ = {};
        image_.version = TEST_SYCL_RELEASE < 20260 ? 2 : 3;
        image_.kind = 4;
        image_.target = "spir64";
        image_.compile_options = image_.link_options = "";
        image_.begin = bytes_.data();
        image_.end = image_.begin + bytes_.size();
        image_.entries_begin = entries_.data();
        image_.entries_end = image_.entries_begin + entries_.size();
        image_.sets_begin = sets_.data();
        image_.sets_end = image_.sets_begin + sets_.size();
        images_ = {1, 1, &image_, nullptr, nullptr};
        __sycl_register_lib(&images_);
        return *this;
    }

  private:
    static void append(std::vector<uint8_t> &bytes, const void *more, size_t size)
    {
        const auto *from = static_cast<const uint8_t *>(more);
        bytes.insert(bytes.end(), from, from + size);
    }

    code_property bytes_property(const char *name, const std::vector<uint8_t> &bytes)
    {
        const uint64_t bit_count = 8 * bytes.size();
        std::vector<uint8_t> value;
        append(value, &bit_count, sizeof(bit_count));
        append(value, bytes.data(), bytes.size());
        values_.push_back(value);
        return {const_cast<char *>(name), values_.back().data(), 2, value.size()};
    }

    std::vector<code_property> &add_set(const char *name)
    {
        set_names_.push_back(name);
        properties_.emplace_back();
        return properties_.back();
    }

    std::vector<std::byte> bytes_;
    std::vector<code_entry> entries_;
    std::vector<const char *> set_names_;
    std::deque<std::vector<code_property>> properties_;
    std::deque<std::vector<uint8_t>> values_;
    std::vector<code_property_set> sets_;
    code_image image_ = {};
    code_images images_ = {};
};

// The compiler's description of a kernel that is a lambda: its name, its size, and the places of
// its arguments in the lambda's captures. To be used outside of all namespaces, with the arguments
// as sycl::detail::kernel_param_desc_t in braces.
#define DESCRIBE_KERNEL(type, kernel_name, lambda_size, ...)                                       \
    template <> struct sycl::detail::KernelInfo<type> {                                            \
        static constexpr kernel_param_desc_t arguments[] = {__VA_ARGS__};                          \
        static constexpr unsigned getNumParams()                                                   \
        {                                                                                          \
            return sizeof(arguments) / sizeof(arguments[0]);                                       \
        }                                                                                          \
        static constexpr const kernel_param_desc_t &getParamDesc(int i)                            \
        {                                                                                          \
            return arguments[i];                                                                   \
        }                                                                                          \
        static constexpr const char *getName()                                                     \
        {                                                                                          \
            return kernel_name;                                                                    \
        }                                                                                          \
        static constexpr bool isESIMD()                                                            \
        {                                                                                          \
            return false;                                                                          \
        }                                                                                          \
        static constexpr const char *getFileName()                                                 \
        {                                                                                          \
            return __FILE__;                                                                       \
        }                                                                                          \
        static constexpr const char *getFunctionName()                                             \
        {                                                                                          \
            return kernel_name;                                                                    \
        }                                                                                          \
        static constexpr unsigned getLineNumber()                                                  \
        {                                                                                          \
            return __LINE__;                                                                       \
        }                                                                                          \
        static constexpr unsigned getColumnNumber()                                                \
        {                                                                                          \
            return 0;                                                                              \
        }                                                                                          \
        static constexpr int64_t getKernelSize()                                                   \
        {                                                                                          \
            return lambda_size;                                                                    \
        }                                                                                          \
    };

// The compiler's description of a specialization_id.
#define DESCRIBE_CONSTANT(constant, constant_name)                                                 \
    template <> inline const char *sycl::detail::get_spec_constant_symbolic_ID_impl<constant>()    \
    {                                                                                              \
        return constant_name;                                                                      \
    }

#endif
