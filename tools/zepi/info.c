// SPDX-License-Identifier: MIT
#include "commands.h"
#include "json.h"

#include <cjson/cJSON.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LISTED 64

static const char usage[] =
    "usage: zepi info " COMMAND_DRIVERS " [--json]\n"
    "\n"
    "Drivers, devices, optional functions found, the cache, and the options in force.\n"
    "\n" COMMAND_DRIVER_HELP "Exit code 3: there is no driver.\n";

static void add_hex(cJSON *object, const char *name, const uint8_t *bytes, size_t size_bytes)
{
    char text[65] = "";
    for (size_t i = 0; i < size_bytes && i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    cJSON_AddStringToObject(object, name, text);
}

static void add_version(cJSON *object, const char *name, uint32_t version, int shift)
{
    char text[32];
    snprintf(text, sizeof(text), "%u.%u", version >> shift & 0xffff,
             shift == 16 && (version & 0xff00) && !(version & 0xff) ? version >> 8 & 0xff
                                                                    : version & 0xffff);
    cJSON_AddStringToObject(object, name, text);
}

static void add_numbers(cJSON *object, const char *name, const uint32_t *numbers, uint32_t count)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    for (uint32_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(numbers[i]));
}

// A list of the names, which commas separate.
static void add_names(cJSON *object, const char *name, const char *names)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    while (names && *names) {
        char one[64];
        const int length = (int)strcspn(names, ",");
        snprintf(one, sizeof(one), "%.*s", length, names);
        cJSON_AddItemToArray(list, cJSON_CreateString(one));
        names += length + (names[length] == ',');
    }
}

static void add_sizes(cJSON *object, const zepi_device_info_t *info)
{
    const uint32_t sub_group_size_count =
        info->sub_group_size_count < 8 ? info->sub_group_size_count : 8;
    cJSON_AddNumberToObject(object, "compute_units", info->compute_unit_count);
    cJSON_AddNumberToObject(object, "clock_rate_mhz", info->clock_rate_mhz);
    cJSON_AddNumberToObject(object, "global_memory_bytes", (double)info->global_memory_bytes);
    cJSON_AddNumberToObject(object, "free_memory_bytes", (double)info->free_memory_bytes);
    cJSON_AddNumberToObject(object, "max_allocation_bytes", (double)info->max_allocation_bytes);
    cJSON_AddNumberToObject(object, "max_local_memory_bytes", info->max_local_memory_bytes);
    cJSON_AddNumberToObject(object, "max_group_size", info->max_group_size);
    add_numbers(object, "max_group_size_per_dimension", info->max_group_size_per_dimension, 3);
    add_numbers(object, "max_group_count", info->max_group_count, 3);
    add_numbers(object, "sub_group_sizes", info->sub_group_sizes, sub_group_size_count);
    cJSON_AddNumberToObject(object, "timer_resolution_ns", (double)info->timer_resolution_ns);
}

static void add_abilities(cJSON *object, const zepi_device_info_t *info)
{
    cJSON *abilities = cJSON_AddObjectToObject(object, "abilities");
    cJSON *functions = cJSON_AddObjectToObject(object, "optional_functions");
    cJSON_AddBoolToObject(abilities, "fp16", info->has_fp16);
    cJSON_AddBoolToObject(abilities, "fp64", info->has_fp64);
    cJSON_AddBoolToObject(abilities, "int64_atomics", info->has_int64_atomics);
    cJSON_AddBoolToObject(abilities, "shared_usm", info->has_shared_usm);
    cJSON_AddBoolToObject(abilities, "images", info->has_images);
    cJSON_AddBoolToObject(functions, "in_order_lists", info->has_in_order_lists);
    cJSON_AddBoolToObject(functions, "counter_based_events", info->has_counter_based_events);
    cJSON_AddBoolToObject(functions, "module_program", info->has_module_program);
    cJSON_AddBoolToObject(functions, "linkage_inspection", info->has_linkage_inspection);
    cJSON_AddBoolToObject(functions, "native_binaries", info->has_native_binaries);
}

static cJSON *describe_device(zepi_device_t device)
{
    static const char *const types[] = {"unknown", "GPU", "CPU", "FPGA", "MCA", "NPU", "other"};
    zepi_device_info_t info = {.size = sizeof(info)};
    zepi_device_t sub_devices[MAX_LISTED];
    uint32_t count = 0;
    cJSON *object = cJSON_CreateObject();
    if (zepi.device_get_info(device, &info) != ZEPI_SUCCESS)
        return object;
    cJSON_AddStringToObject(object, "name", info.name);
    cJSON_AddStringToObject(object, "type", types[(unsigned)info.type < 7 ? info.type : 0]);
    cJSON_AddNumberToObject(object, "vendor_id", info.vendor_id);
    cJSON_AddNumberToObject(object, "device_id", info.device_id);
    add_hex(object, "uuid", info.uuid, sizeof(info.uuid));
    add_version(object, "spirv_version", info.spirv_version, 16);
    add_sizes(object, &info);
    add_abilities(object, &info);
    cJSON *list = cJSON_AddArrayToObject(object, "sub_devices");
    if (zepi.device_get_sub_devices(device, MAX_LISTED, sub_devices, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count && i < MAX_LISTED; i++) {
            cJSON_AddItemToArray(list, describe_device(sub_devices[i]));
            host_release(sub_devices[i]);
        }
    }
    return object;
}

static cJSON *describe_platform(zepi_platform_t platform)
{
    zepi_platform_info_t info = {.size = sizeof(info)};
    zepi_device_t devices[MAX_LISTED];
    uint32_t count = 0;
    cJSON *object = cJSON_CreateObject();
    if (zepi.platform_get_info(platform, &info) != ZEPI_SUCCESS)
        return object;
    cJSON_AddStringToObject(object, "name", info.name);
    cJSON_AddStringToObject(object, "driver_version", info.driver_version);
    add_version(object, "api_version", info.api_version, 16);
    add_hex(object, "driver_uuid", info.driver_uuid, sizeof(info.driver_uuid));
    cJSON_AddBoolToObject(object, "is_ze_cpu", info.is_ze_cpu);
    add_names(object, "quirks", info.quirks);
    cJSON *list = cJSON_AddArrayToObject(object, "devices");
    if (zepi.device_get(platform, MAX_LISTED, devices, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count && i < MAX_LISTED; i++) {
            cJSON_AddItemToArray(list, describe_device(devices[i]));
            host_release(devices[i]);
        }
    }
    return object;
}

static cJSON *describe_options(void)
{
    zepi_option_t options[MAX_LISTED];
    uint32_t count = 0;
    cJSON *list = cJSON_CreateArray();
    if (zepi.options_get(MAX_LISTED, options, &count) != ZEPI_SUCCESS)
        return list;
    for (uint32_t i = 0; i < count && i < MAX_LISTED; i++) {
        cJSON *object = json_add_object(list);
        cJSON_AddStringToObject(object, "name", options[i].name);
        cJSON_AddStringToObject(object, "value", options[i].value);
        cJSON_AddBoolToObject(object, "is_set", options[i].is_set);
        cJSON_AddStringToObject(object, "description", options[i].description);
    }
    return list;
}

static cJSON *describe_cache(void)
{
    zepi_cache_location_t location = {.size = sizeof(location)};
    cJSON *object = cJSON_CreateObject();
    if (zepi.cache_get_location(&location) != ZEPI_SUCCESS)
        return object;
    cJSON_AddBoolToObject(object, "is_on", location.is_on);
    cJSON_AddBoolToObject(object, "is_disk_on", location.is_disk_on);
    cJSON_AddStringToObject(object, "folder", location.folder);
    cJSON_AddStringToObject(object, "folder_state", location.folder_state);
    cJSON_AddStringToObject(object, "shared", location.shared);
    cJSON_AddStringToObject(object, "shared_state", location.shared_state);
    return object;
}

static cJSON *describe(uint32_t *out_platform_count)
{
    zepi_platform_t platforms[MAX_LISTED];
    uint32_t count = 0;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "plugin", zepi.version_string);
    cJSON_AddStringToObject(document, "driver", host_driver_description());
    cJSON *list = cJSON_AddArrayToObject(document, "platforms");
    if (zepi.platform_get(MAX_LISTED, platforms, &count) != ZEPI_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && i < MAX_LISTED; i++) {
        cJSON_AddItemToArray(list, describe_platform(platforms[i]));
        host_release(platforms[i]);
    }
    if (host_cpu_runtime())
        cJSON_AddStringToObject(document, "opencl_runtime", host_cpu_runtime());
    cJSON_AddItemToObject(document, "cache", describe_cache());
    cJSON_AddItemToObject(document, "options", describe_options());
    *out_platform_count = count;
    return document;
}

// A member that stands on one line, as a person reads it.
static void print_value(const cJSON *value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    const char *name = value->string ? value->string : "";
    const char *suffix = strstr(name, "_bytes");
    if (cJSON_IsString(value)) {
        fputs(value->valuestring, stdout);
    } else if (cJSON_IsBool(value)) {
        fputs(cJSON_IsTrue(value) ? "yes" : "no", stdout);
    } else if (strcmp(name, "vendor_id") == 0 || strcmp(name, "device_id") == 0) {
        printf("0x%04x", (unsigned)value->valuedouble);
    } else if (suffix && suffix[strlen("_bytes")] == '\0' && value->valuedouble >= 1024) {
        double number = value->valuedouble;
        size_t unit = 0;
        for (; number >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
            number /= 1024;
        printf("%.0f (%.4g %s)", value->valuedouble, number, units[unit]);
    } else {
        printf("%.0f", value->valuedouble);
    }
}

static bool is_list_of_numbers(const cJSON *item)
{
    return cJSON_IsArray(item) && cJSON_IsNumber(item->child);
}

// Prints any of the documents above, a line a member.
static void print_item(const cJSON *item, int depth)
{
    const cJSON *child;
    char label[64];
    cJSON_ArrayForEach(child, item)
    {
        printf("%*s%s%s", depth * 2, "", child->string ? json_label(child->string, label) : "-",
               child->string ? ":" : "");
        if (is_list_of_numbers(child)) {
            const cJSON *number;
            cJSON_ArrayForEach(number, child) printf(" %.0f", number->valuedouble);
        } else if (!cJSON_IsArray(child) && !cJSON_IsObject(child)) {
            putchar(' ');
            print_value(child);
        } else if (cJSON_GetArraySize(child) == 0) {
            fputs(" none", stdout);
        }
        putchar('\n');
        if ((cJSON_IsArray(child) && !is_list_of_numbers(child)) || cJSON_IsObject(child))
            print_item(child, depth + 1);
    }
}

// In lines of at most 100 columns.
static void print_description(const char *text)
{
    while (*text) {
        size_t length = strlen(text);
        if (length > 94)
            for (length = 94; length > 1 && text[length] != ' '; length--)
                ;
        printf("      %.*s\n", (int)length, text);
        text += length + (text[length] == ' ');
    }
}

static void print_text(cJSON *document)
{
    cJSON *options = cJSON_DetachItemFromObject(document, "options");
    const cJSON *option;
    print_item(document, 0);
    printf("options:\n");
    cJSON_ArrayForEach(option, options)
    {
        printf("  %s=%s%s\n", json_text(option, "name"), json_text(option, "value"),
               cJSON_IsTrue(cJSON_GetObjectItem(option, "is_set")) ? "  (set)" : "");
        print_description(json_text(option, "description"));
    }
    cJSON_AddItemToObject(document, "options", options);
}

int command_info(int argc, char **argv)
{
    struct command_options options = {.usage = usage};
    uint32_t platform_count;
    int code = command_parse(argc, argv, &options);
    if (code == EXIT_OK)
        code = host_load(options.driver);
    if (code != EXIT_OK)
        return code;
    cJSON *document = describe(&platform_count);
    if (!json_is_asked_for())
        print_text(document);
    json_print(document);
    return platform_count > 0 ? EXIT_OK : host_fail_without_device();
}
