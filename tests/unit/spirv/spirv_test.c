// SPDX-License-Identifier: MIT
#include "module/spirv.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct zepi_spirv spirv;
static char message[512];

static enum zepi_spirv_status walk(const void *bytes, size_t size_bytes)
{
    return zepi_spirv_init(&spirv, bytes, size_bytes, message, sizeof(message));
}

static void walk_file(const char *name)
{
    struct test_bytes file = test_env_read_spirv(name);
    cr_assert_eq(walk(file.data, file.size_bytes), ZEPI_SPIRV_OK, "%s: %s", name, message);
    free(file.data);
}

static void tear_down(void)
{
    zepi_spirv_finish(&spirv);
}

TestSuite(spirv, .fini = tear_down);

Test(spirv, finds_constants_by_id_with_type_and_default)
{
    walk_file("scaled_copy");
    static const struct {
        uint32_t id;
        enum zepi_spirv_scalar_kind kind;
        uint32_t size;
        uint8_t value[8];
    } expected[] = {
        {2, ZEPI_SPIRV_INT, 8, {0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {3, ZEPI_SPIRV_FLOAT, 4, {0, 0, 0x80, 0x3f}},
        {5, ZEPI_SPIRV_INT, 2, {0xfe, 0xff}},
        {7, ZEPI_SPIRV_INT, 4, {1}},
        {11, ZEPI_SPIRV_INT, 1, {0xff}},
        {13, ZEPI_SPIRV_BOOL, 1, {1}},
    };
    cr_assert_eq(spirv.constant_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct zepi_spirv_constant *constant = &spirv.constants[i];
        cr_assert_eq(constant->id, expected[i].id);
        cr_assert_eq(constant->kind, expected[i].kind);
        cr_assert_eq(constant->size_bytes, expected[i].size);
        cr_assert_eq(memcmp(constant->default_value, expected[i].value, 8), 0);
        cr_assert_eq(zepi_spirv_find_constant(&spirv, constant->id), constant);
    }
    cr_assert_null(zepi_spirv_find_constant(&spirv, 4));
}

Test(spirv, finds_kernels_and_the_kinds_and_sizes_of_their_arguments)
{
    walk_file("arguments");
    const struct zepi_spirv_kernel *values = zepi_spirv_find_kernel(&spirv, "store_values");
    const struct zepi_spirv_kernel *sums = zepi_spirv_find_kernel(&spirv, "sum_groups");
    static const uint32_t sizes[] = {1, 2, 4, 8, 4, 16, 16, 8};
    cr_assert(values && sums);
    cr_assert_eq(values->argument_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(values->arguments[i].kind,
                     i < 7 ? ZEPI_SPIRV_ARGUMENT_VALUE : ZEPI_SPIRV_ARGUMENT_GLOBAL);
        cr_assert_eq(values->arguments[i].size_bytes, sizes[i], "argument %u", i);
    }
    cr_assert_eq(sums->argument_count, 3);
    cr_assert_eq(sums->arguments[1].kind, ZEPI_SPIRV_ARGUMENT_LOCAL);
    cr_assert_null(zepi_spirv_find_kernel(&spirv, "nothing"));
}

static const struct zepi_spirv_symbol *find_symbol(const char *name)
{
    for (uint32_t i = 0; i < spirv.symbol_count; i++) {
        if (strcmp(spirv.symbols[i].name, name) == 0)
            return &spirv.symbols[i];
    }
    cr_assert_fail("no symbol %s", name);
    return NULL;
}

Test(spirv, finds_what_is_exported)
{
    walk_file("exporter");
    cr_assert_eq(spirv.symbol_count, 2);
    cr_assert_eq(find_symbol("triple")->linkage, ZEPI_SPIRV_EXPORT);
    cr_assert(find_symbol("triple")->is_function);
    cr_assert(!find_symbol("offset")->is_function);
}

Test(spirv, finds_what_is_imported_but_not_what_the_driver_supplies)
{
    walk_file("importer");
    // get_global_id is a BuiltIn variable.
    cr_assert_eq(spirv.symbol_count, 2);
    cr_assert_eq(find_symbol("triple")->linkage, ZEPI_SPIRV_IMPORT);
    cr_assert_eq(find_symbol("offset")->linkage, ZEPI_SPIRV_IMPORT);
}

// ---- Modules made by hand ----

#define HEADER 0x07230203u, 0x00010000u, 0, 20, 0
#define OP(opcode, length) ((uint32_t)(length) << 16 | (opcode))
#define KERNEL_CAPABILITY OP(17, 2), 6
#define MEMORY_MODEL OP(14, 3), 2, 2
#define ENTRY_POINT OP(15, 4), 6, 1, 'k'
#define TYPES OP(19, 2), 2, OP(33, 3), 3, 2
#define FUNCTION OP(54, 5), 2, 1, 0, 3, OP(248, 2), 4, OP(253, 1), OP(56, 1)

#define WALK(...) walk((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

Test(spirv, takes_the_smallest_kernel)
{
    cr_assert_eq(WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, ENTRY_POINT, TYPES, FUNCTION),
                 ZEPI_SPIRV_OK, "%s", message);
    cr_assert_eq(spirv.kernel_count, 1);
    cr_assert_eq(spirv.kernels[0].argument_count, 0);
}

Test(spirv, finds_constants_that_a_group_decorates)
{
    cr_assert_eq(WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, ENTRY_POINT, OP(71, 4), 5, 1, 42,
                      OP(73, 2), 5, OP(74, 3), 5, 6, TYPES, OP(21, 4), 7, 32, 1, OP(50, 4), 7, 6, 9,
                      FUNCTION),
                 ZEPI_SPIRV_OK, "%s", message);
    cr_assert_eq(spirv.constant_count, 1);
    cr_assert_eq(spirv.constants[0].id, 42);
    cr_assert_eq(spirv.constants[0].default_value[0], 9);
    cr_assert(spirv.constants[0].is_signed);
}

Test(spirv, takes_instructions_that_it_does_not_know)
{
    cr_assert_eq(WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, ENTRY_POINT, TYPES, OP(60000, 3), 1,
                      2, FUNCTION),
                 ZEPI_SPIRV_OK, "%s", message);
}

#define REFUSED(words, ...)                                                                        \
    do {                                                                                           \
        cr_assert_eq(WALK(__VA_ARGS__), ZEPI_SPIRV_INVALID, "expected: %s", words);                \
        cr_assert(strstr(message, words), "'%s', expected in it: %s", message, words);             \
        cr_assert_eq(spirv.storage, NULL);                                                         \
    } while (0)

Test(spirv, says_where_and_why_a_module_is_refused)
{
    REFUSED("magic", 0x12345678, 0x10000, 0, 20, 0);
    REFUSED("byte", 0x03022307u, 0x00000100u, 0, 20, 0);
    REFUSED("OpMemoryModel", HEADER, KERNEL_CAPABILITY, ENTRY_POINT, TYPES, FUNCTION);
    REFUSED("word 7", HEADER, KERNEL_CAPABILITY, 14, 2, 2);
    REFUSED("the module ends", HEADER, KERNEL_CAPABILITY, OP(14, 3), 2);
    REFUSED("OpFunctionEnd", HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, ENTRY_POINT, TYPES, OP(54, 5),
            2, 1, 0, 3, OP(248, 2), 4, OP(253, 1));
    REFUSED("entry point", HEADER, KERNEL_CAPABILITY, MEMORY_MODEL);
    cr_assert_eq(WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, ENTRY_POINT, TYPES),
                 ZEPI_SPIRV_INVALID);
    cr_assert_eq(
        WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, OP(15, 4), 6, 99, 'k', TYPES, FUNCTION),
        ZEPI_SPIRV_INVALID);
    cr_assert_eq(
        WALK(HEADER, KERNEL_CAPABILITY, MEMORY_MODEL, OP(15, 4), 6, 0, 'k', TYPES, FUNCTION),
        ZEPI_SPIRV_INVALID);
    cr_assert_eq(walk(NULL, 0), ZEPI_SPIRV_INVALID);
    cr_assert_eq(walk("abc", 3), ZEPI_SPIRV_INVALID);
}

static const char *const files[] = {
    "arguments",          "exporter",          "importer",   "negate", "scaled_copy",
    "scaled_copy_double", "unresolved_import", "vector_add", "spin"};
#define FILES (sizeof(files) / sizeof(files[0]))

Test(spirv, refuses_every_proper_prefix_of_a_module)
{
    for (size_t i = 0; i < FILES; i++) {
        struct test_bytes file = test_env_read_spirv(files[i]);
        for (size_t size = 0; size < file.size_bytes; size++) {
            // A block of just that size: reading past it is seen by the address sanitizer.
            uint8_t *prefix = malloc(size ? size : 1);
            memcpy(prefix, file.data, size);
            cr_assert_eq(walk(prefix, size), ZEPI_SPIRV_INVALID, "%s: %zu bytes", files[i], size);
            free(prefix);
        }
        free(file.data);
    }
}

Test(spirv, survives_any_change_of_a_module)
{
    srand(1);
    for (size_t i = 0; i < FILES; i++) {
        struct test_bytes file = test_env_read_spirv(files[i]);
        uint8_t *changed = malloc(file.size_bytes);
        for (int round = 0; round < 4000; round++) {
            memcpy(changed, file.data, file.size_bytes);
            for (int at = 0; at <= round % 4; at++)
                changed[(size_t)rand() % file.size_bytes] = (uint8_t)rand();
            if (walk(changed, file.size_bytes) == ZEPI_SPIRV_OK)
                zepi_spirv_finish(&spirv);
            else
                cr_assert(message[0] != '\0');
        }
        free(changed);
        free(file.data);
    }
}
