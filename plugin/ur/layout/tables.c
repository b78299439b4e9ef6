// SPDX-License-Identifier: MIT
// All tables of one layout.
#include "core/object.h"
#include "device/adapter.h"
#include "ur/adapter.h"
#include "ur/layout/layout.h"
#include "ur/ur.h"

#define SLOT(slot, function, implementation) .slot = implementation,
#define TABLE(name) .name = {ZEPI_UR_LAYOUT_SLOTS_##name(SLOT)},
const struct zepi_ur_tables zepi_ur_tables = {ZEPI_UR_LAYOUT_TABLES(TABLE)};

static void tables_begin(bool is_sycl)
{
    zepi_adapter_set_front_end((void *)&zepi_ur_tables);
    zepi_ur_set_is_sycl(is_sycl);
}

#define PLACE(name)                                                                                \
    [ZEPI_UR_TABLE_##name] = {offsetof(struct zepi_ur_tables, name), sizeof(zepi_ur_tables.name)},
__attribute__((visibility("default"))) const struct zepi_ur_layout ZEPI_UR_LAYOUT = {
    .tables = &zepi_ur_tables, .table = {ZEPI_UR_LAYOUT_TABLES(PLACE)}, .begin = tables_begin};

// Bounds of this library's types; the linker defines them.
extern const char __start_zepi_types[] __attribute__((visibility("hidden")));
extern const char __stop_zepi_types[] __attribute__((visibility("hidden")));

// The core library may stay for another host.
__attribute__((destructor)) static void unload(void)
{
    zepi_object_unload_types(__start_zepi_types, __stop_zepi_types);
}
