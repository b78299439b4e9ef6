// SPDX-License-Identifier: MIT
#include "kernels/native_code.h"
#include "native_code_fixture.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct shim_native_code code;
static char message[256];
static uint8_t *file;
static size_t file_bytes;

static void set_up(void)
{
    file = native_code_fixture(&file_bytes);
}

static void tear_down(void)
{
    shim_native_code_finish(&code);
    free(file);
}

TestSuite(native_code, .init = set_up, .fini = tear_down);

static const struct shim_native_kernel *take(void)
{
    cr_assert(shim_native_code_init(&code, file, file_bytes, message, sizeof(message)), "%s",
              message);
    cr_assert(shim_native_code_read_info(&code, message, sizeof(message)), "%s", message);
    cr_assert_eq(code.kernel_count, 1);
    return &code.kernels[0];
}

Test(native_code, has_kernels_variables_and_its_spirv)
{
    const struct shim_native_kernel *kernel = take();
    cr_assert_str_eq(kernel->name, "scale");
    cr_assert(kernel->info);
    cr_assert_eq(kernel->text_bytes, FIXTURE_CODE_BYTES);
    cr_assert_eq(code.variable_count, 1);
    cr_assert_str_eq(code.variables[0].name, "total");
    cr_assert_eq(code.variables[0].offset, 8);
    cr_assert_eq(code.variables[0].size_bytes, 4);
    cr_assert_eq(code.spirv_bytes, 6);
    cr_assert_eq(memcmp(code.spirv, "SPIR-V", 6), 0);
    cr_assert_eq(shim_native_code_length(file, file_bytes + 100), file_bytes);
}

Test(native_code, has_implicit_arguments_where_stack_calls_need_them)
{
    cr_assert(take()->info->has_implicit_arguments);
    shim_native_code_finish(&code);
    uint8_t *calls = memmem(file, file_bytes, "stack_calls: true", 17);
    cr_assert(calls);
    memcpy(calls, "stack_calls: none", 17);
    cr_assert(!take()->info->has_implicit_arguments);
    shim_native_code_finish(&code);
    memcpy(calls, "stack_calls: true", 17);
    uint8_t *name = memmem(file, file_bytes, "__INTEL_PATCH", 13);
    cr_assert(name);
    name[0] = 'x';
    cr_assert(!take()->info->has_implicit_arguments);
}

Test(native_code, a_kernel_is_recognised_when_it_was_relocated)
{
    const struct shim_native_kernel *kernel = take();
    uint8_t loaded[FIXTURE_CODE_BYTES];
    memcpy(loaded, kernel->text, sizeof(loaded));
    cr_assert(shim_native_kernel_is(kernel, loaded, sizeof(loaded)));
    memset(loaded + FIXTURE_PATCHED_AT, 0xaa, 8);
    cr_assert(shim_native_kernel_is(kernel, loaded, sizeof(loaded)));
    cr_assert(!shim_native_kernel_is(kernel, loaded, sizeof(loaded) - 1));
    loaded[FIXTURE_PATCHED_AT + 8] ^= 1;
    cr_assert(!shim_native_kernel_is(kernel, loaded, sizeof(loaded)));
}

Test(native_code, a_part_of_a_file_is_refused)
{
    for (size_t size_bytes = 0; size_bytes < file_bytes; size_bytes++) {
        // A block of just this size, so that the address sanitizer sees a step beyond it.
        uint8_t *part = malloc(size_bytes + (size_bytes == 0));
        cr_assert(part);
        memcpy(part, file, size_bytes);
        message[0] = '\0';
        cr_assert(!shim_native_code_init(&code, part, size_bytes, message, sizeof(message)));
        cr_assert(message[0] != '\0' && !code.bytes && !code.kernels);
        cr_assert_eq(shim_native_code_length(part, size_bytes), 0);
        free(part);
    }
}

Test(native_code, code_of_another_machine_is_refused)
{
    Elf64_Ehdr header;
    memcpy(&header, file, sizeof(header));
    header.e_machine = EM_X86_64;
    memcpy(file, &header, sizeof(header));
    cr_assert(!shim_native_code_init(&code, file, file_bytes, message, sizeof(message)));
    cr_assert(strstr(message, "no ELF file of an Intel GPU"));
}

// Every byte changed in turn, to its extremes: the reader may refuse, it may not go astray.
Test(native_code, damaged_files_do_no_harm)
{
    static const uint8_t values[] = {0x00, 0x7f, 0xff};
    for (size_t at = 0; at < file_bytes; at++) {
        for (size_t i = 0; i < sizeof(values); i++) {
            const uint8_t before = file[at];
            file[at] = values[i];
            if (shim_native_code_init(&code, file, file_bytes, message, sizeof(message))) {
                for (uint32_t kernel = 0; kernel < code.kernel_count; kernel++)
                    cr_assert(shim_native_kernel_is(&code.kernels[kernel],
                                                    code.kernels[kernel].text,
                                                    code.kernels[kernel].text_bytes));
                shim_native_code_read_info(&code, message, sizeof(message));
            }
            shim_native_code_finish(&code);
            file[at] = before;
        }
    }
}
