// SPDX-License-Identifier: MIT
// The getters that a loader finds by name in libur_adapter_zepi.so. The first call of a loader
// decides which layout's tables it gets.
#include "ur/layout/getter.h"
#include "core/log.h"
#include "core/options.h"
#include "ur/layout/layout.h"
#include "ur/layout/loader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static _Atomic(const struct zepi_ur_layout *) chosen;
static atomic_uint first_name; // of enum zepi_ur_name
static atomic_bool has_refused_version;

// The host only sees that an adapter is missing: stderr has the reason.
static const struct zepi_ur_layout *refuse_layout(const char *subject, const char *reason,
                                                  const char *name)
{
    fprintf(stderr, "zepi: error: %s %s%s; this adapter serves Unified Runtime 0.12 of DPC++",
            subject, reason, name);
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++)
        fprintf(stderr, "%s%s", i == 0 ? " " : ", ", zepi_ur_layouts[i].release);
    fprintf(stderr,
            "; it stays out (a caller that is no loader sets ZEPI_UR_LAYOUT to one of them)\n");
    return NULL;
}

static const struct zepi_ur_layout *find_layout_by_name(const char *release)
{
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++) {
        if (strcmp(release, zepi_ur_layouts[i].release) == 0)
            return &zepi_ur_layouts[i];
    }
    return refuse_layout("ZEPI_UR_LAYOUT",
                         "names a release that this build has no layout of: ", release);
}

static const struct zepi_ur_layout *find_layout_by_loader(const void *caller)
{
    struct zepi_ur_loader loader;
    zepi_ur_loader_inspect(caller, &loader);
    if (loader.unknown_function[0])
        return refuse_layout(loader.path, "has tables of another layout: it knows ",
                             loader.unknown_function);
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++) {
        if (loader.releases & UINT32_C(1) << i)
            return &zepi_ur_layouts[i];
    }
    return refuse_layout(loader.path, "has tables of another layout", "");
}

// NULL: refused, with a message. Handles of one layout begin with its tables, so that a process has
// one.
static const struct zepi_ur_layout *choose_layout(const void *caller)
{
    const char *release = zepi_options()->ur_layout;
    const struct zepi_ur_layout *before = atomic_load(&chosen);
    const struct zepi_ur_layout *layout =
        release[0] ? find_layout_by_name(release) : find_layout_by_loader(caller);
    if (layout && before && layout != before)
        return refuse_layout("a second loader", "asks for another layout than the first", "");
    if (layout && !before) {
        zepi_ur_layout_use(layout);
        atomic_store(&chosen, layout);
    }
    return layout;
}

// A loader asks for every table, and hears of it once.
static void refuse_version(ur_api_version_t version, const void *caller)
{
    struct zepi_ur_loader loader;
    char asked[64];
    zepi_ur_loader_inspect(caller, &loader);
    snprintf(asked, sizeof(asked), "%u.%u", UR_MAJOR_VERSION(version), UR_MINOR_VERSION(version));
    refuse_layout(loader.path, "asks for tables of Unified Runtime ", asked);
}

static bool is_first_name(enum zepi_ur_name name)
{
    unsigned first = ZEPI_UR_NAME_NONE;
    return atomic_compare_exchange_strong(&first_name, &first, name) || first == name;
}

ur_result_t zepi_ur_get_table(enum zepi_ur_table table, ur_api_version_t version, void *out_table,
                              enum zepi_ur_name name, const void *caller)
{
    // The first getter that a loader calls: a second loader begins there, too.
    const bool is_begin = table == ZEPI_UR_TABLE_Adapter;
    if (!out_table)
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    if (version != UR_API_VERSION_0_12) {
        if (!atomic_exchange(&has_refused_version, true))
            refuse_version(version, caller);
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    // A loader asks a library for no other table if it has none of adapters.
    if (is_begin && !is_first_name(name)) {
        zepi_log(ZEPI_LOG_INFO, "the loader has zepi under another name already");
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    const struct zepi_ur_layout *layout = is_begin ? NULL : atomic_load(&chosen);
    if (!layout)
        layout = choose_layout(caller);
    if (!layout)
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    if (layout->table[table].count == 0)
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    memcpy(out_table, &layout->slots[layout->table[table].first],
           layout->table[table].count * sizeof(layout->slots[0]));
    return UR_RESULT_SUCCESS;
}

#define GETTER(name)                                                                               \
    UR_DLLEXPORT ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version,       \
                                                                   void *pDdiTable);               \
    ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version, void *pDdiTable)   \
    {                                                                                              \
        const void *caller = __builtin_extract_return_addr(__builtin_return_address(0));           \
        return zepi_ur_get_table(ZEPI_UR_TABLE_##name, version, pDdiTable, ZEPI_UR_NAME_ZEPI,      \
                                 caller);                                                          \
    }
ZEPI_UR_TABLES(GETTER)
