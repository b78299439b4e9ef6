// SPDX-License-Identifier: MIT
#include "ur/layout/layout.h"

#include "core/object.h"
#include "device/adapter.h"
#include "ur/adapter.h"
#include "ur/layout/older.h"
#include "ur/layout/set_arguments.h"

#define SLOT(function, implementation) (zepi_ur_function *)(implementation),
#define SLOTS(word, release)                                                                       \
    static zepi_ur_function *const slots_##word[] = {ZEPI_UR_SLOTS_##word(SLOT)};
ZEPI_UR_RELEASES(SLOTS)

#define PLACE(name, first_slot, slot_count) [ZEPI_UR_TABLE_##name] = {first_slot, slot_count},
#define LAYOUT(word, release) {release, slots_##word, {ZEPI_UR_PLACES_##word(PLACE)}},
const struct zepi_ur_layout zepi_ur_layouts[] = {ZEPI_UR_RELEASES(LAYOUT)};

void zepi_ur_layout_use(const struct zepi_ur_layout *layout)
{
    zepi_ur_adapter.front_end = (void *)layout->slots;
    zepi_adapter_set_front_end((void *)layout->slots);
    zepi_ur_set_has_capture_results(layout == &zepi_ur_layouts[ZEPI_UR_RELEASE_COUNT - 1]);
}

// Bounds of this library's types; the linker defines them.
extern const char __start_zepi_types[] __attribute__((visibility("hidden")));
extern const char __stop_zepi_types[] __attribute__((visibility("hidden")));

// The core library may stay for another host.
__attribute__((destructor)) static void unload(void)
{
    zepi_object_unload_types(__start_zepi_types, __stop_zepi_types);
}
