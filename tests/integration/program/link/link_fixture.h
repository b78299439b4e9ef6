// SPDX-License-Identifier: MIT
//
// Common parts of the tests of linking, on the modules' fixture: objects of tests/data, linked in
// both ways, and their kernels run.
#ifndef ZEPI_TESTS_INTEGRATION_LINK_FIXTURE_H
#define ZEPI_TESTS_INTEGRATION_LINK_FIXTURE_H

#include "program/modules_fixture.h"

// Both ways must give the same.
#define FOR_EACH_METHOD(method)                                                                    \
    for (zepi_link_method_t method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++)

zepi_module_t compile(const char *name, const zepi_build_desc_t *desc);
zepi_module_t compile_with(const char *name, uint32_t id, int32_t value);

// Compiles and links.
zepi_result_t link_named(zepi_link_method_t method, uint32_t count, const char *const *names,
                         zepi_module_t *out_module);

// Runs a kernel of one pointer with `data` in its memory, or of one int if `data` is NULL.
void run_kernel(zepi_module_t module, const char *name, int32_t *data, size_t count, int32_t value);
int32_t run_one(zepi_module_t module, const char *name, int32_t value);

#endif
