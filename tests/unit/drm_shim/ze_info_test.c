// SPDX-License-Identifier: MIT
#include "kernels/ze_info.h"

#include <criterion/criterion.h>
#include <string.h>

static struct shim_ze_info info;
static char message[256];

static void tear_down(void)
{
    shim_ze_info_finish(&info);
}

TestSuite(ze_info, .fini = tear_down);

static bool read_text(const char *text)
{
    shim_ze_info_finish(&info);
    message[0] = '\0';
    // Not terminated, so that the address sanitizer sees a step beyond the end.
    const size_t size_bytes = strlen(text);
    char *copy = malloc(size_bytes + 1);
    cr_assert(copy);
    memcpy(copy, text, size_bytes);
    const bool is_read = shim_ze_info_init(&info, copy, size_bytes, message, sizeof(message));
    free(copy);
    cr_assert_eq(is_read, message[0] == '\0', "%s", message);
    if (!is_read)
        cr_assert(!info.kernels && info.kernel_count == 0);
    return is_read;
}

static void expect_refused(const char *text, const char *expected)
{
    cr_assert(!read_text(text), "%s", text);
    cr_assert(strstr(message, expected), "'%s' does not say '%s'", message, expected);
}

#define HEAD "---\nversion: '1.73'\nkernels:\n  - name: scale\n"

Test(ze_info, tells_where_each_argument_lies)
{
    cr_assert(read_text(HEAD "    execution_env:\n"
                             "      inline_data_payload_size: 32\n"
                             "      offset_to_skip_per_thread_data_load: 128\n"
                             "      required_work_group_size: [ 8, 4, 2 ]\n"
                             "      simd_size: 16\n"
                             "      slm_size: 256\n"
                             "    payload_arguments:\n"
                             "      - arg_type: arg_bypointer\n"
                             "        offset: 24\n"
                             "        size: 8\n"
                             "        arg_index: 0\n"
                             "        addrmode: stateless\n"
                             "      - arg_type: arg_byvalue\n"
                             "        offset: 40\n"
                             "        size: 4\n"
                             "        arg_index: 1\n"
                             "        source_offset: 12\n"
                             "      - arg_type: arg_bypointer\n"
                             "        offset: 48\n"
                             "        size: 4\n"
                             "        arg_index: 2\n"
                             "        addrmode: slm\n"
                             "      - arg_type: enqueued_local_size\n"
                             "        offset: 0\n"
                             "        size: 12\n"
                             "      - arg_type: global_size\n"
                             "        offset: 12\n"
                             "        size: 12\n"
                             "    per_thread_payload_arguments:\n"
                             "      - arg_type: local_id\n"
                             "        offset: 0\n"
                             "        size: 192\n"));
    const struct shim_kernel_info *kernel = shim_ze_info_find(&info, "scale");
    cr_assert(kernel);
    cr_assert_eq(kernel->inline_bytes, 32);
    cr_assert_eq(kernel->required_group_size[1], 4);
    cr_assert_eq(kernel->simd_size, 16);
    cr_assert_eq(kernel->local_id_bytes, 192);
    cr_assert_eq(kernel->payload_count, 5);
    cr_assert_eq(kernel->payloads[0].kind, SHIM_PAYLOAD_POINTER);
    cr_assert_eq(kernel->payloads[0].mode, SHIM_ADDRESS_STATELESS);
    cr_assert_eq(kernel->payloads[0].offset, 24);
    cr_assert_eq(kernel->payloads[1].kind, SHIM_PAYLOAD_VALUE);
    cr_assert_eq(kernel->payloads[1].argument, 1);
    cr_assert_eq(kernel->payloads[1].source_offset, 12);
    cr_assert_eq(kernel->payloads[2].mode, SHIM_ADDRESS_LOCAL);
    cr_assert_eq(kernel->payloads[3].kind, SHIM_PAYLOAD_LOCAL_SIZE);
    cr_assert_eq(kernel->payloads[3].argument, UINT32_MAX);
    cr_assert_eq(kernel->payloads[4].kind, SHIM_PAYLOAD_GLOBAL_SIZE);
    cr_assert_eq(kernel->payloads[4].offset, 12);
}

Test(ze_info, passes_over_what_newer_compilers_add)
{
    cr_assert(read_text(HEAD "    of_the_future: { a: [ 1, 2 ] }\n"
                             "    payload_arguments:\n"
                             "      - arg_type: of_the_future\n"
                             "        offset: elsewhere\n"
                             "kernels_misc_info:\n"
                             "  - name: scale\n"));
    cr_assert_eq(info.kernels[0].payloads[0].kind, SHIM_PAYLOAD_OTHER);
    cr_assert(!shim_ze_info_find(&info, "of_the_future"));
}

Test(ze_info, a_library_has_no_kernels)
{
    cr_assert(read_text("kernels: []\n"));
    cr_assert_eq(info.kernel_count, 0);
}

Test(ze_info, what_cannot_be_meant_is_refused)
{
    expect_refused("", "no list 'kernels'");
    expect_refused("kernels: [", "line");
    expect_refused("version: 1\n", "no list 'kernels'");
    expect_refused("kernels:\n  - simd_size: 8\n", "no name");
    expect_refused(HEAD "    execution_env:\n      simd_size: -8\n", "simd_size is '-8'");
    expect_refused(HEAD "    execution_env:\n      simd_size: 4294967296\n", "32 bits");
    expect_refused(HEAD "    execution_env:\n      simd_size: [ 8 ]\n", "no scalar");
    expect_refused(HEAD "    execution_env:\n      required_work_group_size: [ 1, 2 ]\n",
                   "expected 3");
    expect_refused(HEAD "    payload_arguments:\n      - arg_type: arg_byvalue\n"
                        "        size: 4\n",
                   "arg_byvalue has offset");
    expect_refused(HEAD "    payload_arguments:\n      - arg_type: arg_byvalue\n"
                        "        offset: 65533\n        size: 4\n",
                   "at most 65536");
}

Test(ze_info, tells_where_states_lie_and_as_what_images_are_seen)
{
#define STATE(space, more)                                                                         \
    "      - arg_type: arg_bypointer\n        offset: 48\n        size: 8\n"                       \
    "        arg_index: 0\n        addrmode: bindless\n        addrspace: " space "\n" more
    cr_assert(read_text(HEAD "    payload_arguments:\n" STATE(
        "image", "        image_type: image_2d_array\n") STATE("sampler", "")));
    const struct shim_payload *payloads = info.kernels[0].payloads;
    cr_assert_eq(payloads[0].mode, SHIM_ADDRESS_STATE);
    cr_assert_eq(payloads[0].offset, 48);
    cr_assert_eq(payloads[0].image_type, ZE_IMAGE_TYPE_2DARRAY);
    cr_assert_eq(payloads[1].mode, SHIM_ADDRESS_STATE);
    cr_assert_eq(payloads[1].image_type, ZE_IMAGE_TYPE_FORCE_UINT32);
}

Test(ze_info, tells_which_states_tables_have)
{
    cr_assert(read_text(HEAD "    payload_arguments:\n"
                             "      - arg_type: arg_bypointer\n"
                             "        offset: 8\n"
                             "        size: 8\n"
                             "        arg_index: 0\n"
                             "        addrmode: stateless\n"
                             "      - arg_type: arg_bypointer\n"
                             "        offset: 0\n"
                             "        size: 0\n"
                             "        arg_index: 1\n"
                             "        addrmode: stateful\n"
                             "      - arg_type: arg_bypointer\n"
                             "        offset: 0\n"
                             "        size: 0\n"
                             "        arg_index: 2\n"
                             "        addrmode: stateful\n"
                             "        addrspace: sampler\n"
                             "        sampler_index: 5\n"
                             "    binding_table_indices:\n"
                             "      - bti_value: 3\n"
                             "        arg_index: 1\n"
                             "      - bti_value: 4\n"
                             "        arg_index: 0\n"));
    const struct shim_payload *payloads = info.kernels[0].payloads;
    cr_assert_eq(payloads[0].mode, SHIM_ADDRESS_STATELESS);
    cr_assert_eq(payloads[1].mode, SHIM_ADDRESS_TABLE);
    cr_assert_eq(payloads[1].table_index, 3);
    cr_assert_eq(payloads[2].mode, SHIM_ADDRESS_TABLE);
    cr_assert_eq(payloads[2].table_index, 5);
}

Test(ze_info, tells_which_kernels_need_implicit_arguments)
{
    cr_assert(read_text(HEAD "    execution_env:\n      has_stack_calls: true\n"));
    cr_assert(info.kernels[0].has_stack_calls && !info.kernels[0].has_implicit_arguments);
    cr_assert(read_text(HEAD "    execution_env:\n      require_iab: true\n"));
    cr_assert(!info.kernels[0].has_stack_calls && info.kernels[0].has_implicit_arguments);
    cr_assert(read_text(HEAD "    payload_arguments:\n      - arg_type: implicit_arg_buffer\n"
                             "        offset: 0\n        size: 8\n"));
    cr_assert(info.kernels[0].has_implicit_arguments);
}
