// SPDX-License-Identifier: MIT
#include "ze/quirks.h"

#include "core/log.h"
#include "core/options.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_AFTER_22_43 24596 // the last part of that version is 24595, of 26.27 39122

// The UUID of ze_cpu's driver (tools/ze_cpu/driver/driver.h).
static const char ze_cpu_uuid[ZE_MAX_DRIVER_UUID_SIZE] = "zepi-cpu-driver";

// The quirks with a bit. QUIRKS.md describes these, and the quirks that the plugin avoids on every
// driver. ze_cpu takes the way of a GPU's driver wherever that is right on it, so that tests on it
// are tests of that way.
static const struct quirk {
    const char *name;
    uint32_t bit;
    uint32_t first_build; // of Intel's, that has it; 0: any
    bool is_intels_alone; // else every other driver is treated as if it had it, too
} table[] = {
    {"early-copies", ZEPI_QUIRK_EARLY_COPIES, FIRST_AFTER_22_43, false},
    {"slow-timed-status", ZEPI_QUIRK_SLOW_TIMED_STATUS, FIRST_AFTER_22_43, false},
    {"times-stay-on-device", ZEPI_QUIRK_TIMES_STAY_ON_DEVICE, 0, false},
    {"untold-native-format", ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT, 0, true},
    {"untold-asserts", ZEPI_QUIRK_UNTOLD_ASSERTS, FIRST_AFTER_22_43, true},
    {"processor-copies", ZEPI_QUIRK_PROCESSOR_COPIES, FIRST_AFTER_22_43, true},
    {"kept-host-pages", ZEPI_QUIRK_KEPT_HOST_PAGES, 0, true},
    {"waits-for-engine", ZEPI_QUIRK_WAITS_FOR_ENGINE, FIRST_AFTER_22_43, true},
};
#define QUIRK_COUNT (sizeof(table) / sizeof(table[0]))

uint32_t zepi_quirks_find(bool is_intels, uint32_t build)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < QUIRK_COUNT; i++) {
        const struct quirk *quirk = &table[i];
        if (is_intels ? build >= quirk->first_build : !quirk->is_intels_alone)
            bits |= quirk->bit;
    }
    return bits;
}

// The bit of the quirk that has the name; 0: none has.
static uint32_t find_quirk_bit(const char *name, size_t length)
{
    for (size_t i = 0; i < QUIRK_COUNT; i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return table[i].bit;
    }
    return 0;
}

// The names of quirks, separated by commas.
static void write_names(uint32_t bits, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < QUIRK_COUNT; i++) {
        const size_t length = strlen(text);
        if (table[i].bit & bits)
            snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", table[i].name);
    }
}

static zepi_result_t fail_unknown(const char *name, size_t length)
{
    static bool is_told; // under the lock of the bring-up
    char names[sizeof(((struct zepi_quirks *)NULL)->names)];
    write_names(UINT32_MAX, names, sizeof(names));
    zepi_fail(
        ZEPI_ERROR_INVALID_VALUE,
        "ZEPI_QUIRKS has '%.*s': expected none, all, or names, with '-' before those that are "
        "left out, of %s",
        (int)length, name, names);
    if (!is_told)
        fprintf(stderr, "zepi: %s\n", zepi_last_error(NULL));
    is_told = true;
    return ZEPI_ERROR_INVALID_VALUE;
}

zepi_result_t zepi_quirks_force(const char *text, uint32_t *bits)
{
    uint32_t forced = *bits;
    while (*text) {
        const size_t length = strcspn(text, ",");
        const bool leaves_out = text[0] == '-';
        const uint32_t bit = find_quirk_bit(text + leaves_out, length - leaves_out);
        if (length == 4 && memcmp(text, "none", length) == 0)
            forced = 0;
        else if (length == 3 && memcmp(text, "all", length) == 0)
            forced = UINT32_MAX;
        else if (bit == 0)
            return fail_unknown(text, length);
        else
            forced = leaves_out ? forced & ~bit : forced | bit;
        text += length + (text[length] == ',');
    }
    *bits = forced;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_quirks_choose(const ze_driver_properties_t *properties,
                                 const struct zepi_ze_optional *optional,
                                 struct zepi_quirks *out_quirks)
{
    struct zepi_quirks quirks = {
        .is_on_cpu = memcmp(properties->uuid.id, ze_cpu_uuid, sizeof(ze_cpu_uuid)) == 0};
    // No query tells a driver's name. All of Intel's have this function.
    const bool is_intels = !quirks.is_on_cpu && optional->import_host_pointer;
    quirks.bits = zepi_quirks_find(is_intels, properties->driverVersion & 0xffff);
    const zepi_result_t result = zepi_quirks_force(zepi_options()->quirks, &quirks.bits);
    if (result != ZEPI_SUCCESS)
        return result;
    write_names(quirks.bits, quirks.names, sizeof(quirks.names));
    zepi_log(ZEPI_LOG_DEBUG, "quirks of the driver: %s", quirks.names);
    *out_quirks = quirks;
    return ZEPI_SUCCESS;
}

// The reason of one library, which Level Zero's loader has opened in vain, or did not find.
static const char *explain_driver(const char *path)
{
    const char *(*get_runtime)(const char **) = NULL;
    const char *reason = "it finds no device";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    void *symbol = dlsym(library, "zeCpuGetRuntime");
    memcpy(&get_runtime, &symbol, sizeof(symbol));
    if (get_runtime)
        get_runtime(&reason);
    // Stays open: the text is the library's.
    return reason;
}

void zepi_quirks_explain_no_driver(char *text, size_t size)
{
    const char *names = secure_getenv("ZE_ENABLE_ALT_DRIVERS");
    if (!names || !names[0]) {
        snprintf(text, size,
                 "install the GPU's (libze-intel-gpu1 or intel-opencl-icd), or let "
                 "ZE_ENABLE_ALT_DRIVERS name libze_cpu.so.1, which executes on the CPU");
        return;
    }
    for (size_t length = 0; *names && length < size;) {
        char path[PATH_MAX];
        const size_t name_length = strcspn(names, ",");
        snprintf(path, sizeof(path), "%.*s", (int)name_length, names);
        const char *reason = explain_driver(path);
        // The dynamic loader's begins with the path.
        const bool has_path = strncmp(reason, path, strlen(path)) == 0;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%s", length ? "; " : "",
                                   has_path ? "" : path, has_path ? "" : ": ", reason);
        names += name_length + (names[name_length] == ',');
    }
}
