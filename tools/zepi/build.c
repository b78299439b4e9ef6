// SPDX-License-Identifier: MIT
#include "commands.h"
#include "compose.h"
#include "image_file.h"
#include "plugin/module/spirv.h"
#include "scalar.h"
#include "spec.h"

#include <cjson/cJSON.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: zepi build FILE... [OPTION...]\n"
    "\n"
    "Builds a SPIR-V file for the first device, and writes its native code. FILE - is standard\n"
    "input.\n"
    "\n"
    "  --compile                  stop at the object: what it imports may be missing\n"
    "  --link                     link several objects (files of --compile, or SPIR-V that is\n"
    "                             compiled first) to an executable\n"
    "  --join                     several files of the same kernels as one module\n" SPEC_HELP
    "  --options TEXT             options for the device compiler\n"
    "  --debug                    with debug information\n"
    "  -o FILE                    where the native code goes; without it, nowhere\n"
    "  --show                     list state, images, constants, kernels, imports and exports;\n"
    "                             without -o, --compile or --link nothing is built\n"
    "  --cpu, --gpu               run on ze_cpu, or on installed drivers only\n"
    "  --json                     print what was built as JSON\n"
    "\n"
    "The build log goes to stderr. Exit code 1: the build failed.\n"
    "Examples: zepi build kernel.spv --spec 0=16:i64 --spec 1=2.5 -o kernel.bin\n"
    "          zepi build --compile a.spv -o a.o; zepi build --link a.o b.spv -o both.bin\n";

struct build_options {
    struct spec_options spec;
    zepi_build_desc_t desc;
    enum compose_mode mode;
    const char *const *inputs; // borrowed from the command line
    uint32_t input_count;
    const char *output;
    enum host_driver driver;
    bool is_show;
    bool is_json;
};

// What was built, for both ways of printing.
struct built {
    const struct build_options *options;
    zepi_module_t input;
    zepi_module_t executable; // NULL: only shown
    size_t native_bytes;
    double build_ms;
};

// Takes one option of the command line.
static int parse_one(struct build_options *options, int option)
{
    switch (option) {
    case 's':
        return spec_add(&options->spec, optarg) ? EXIT_OK : EXIT_USAGE;
    case 'l':
        return spec_add_layout(&options->spec, optarg) ? EXIT_OK : EXIT_USAGE;
    case 'x':
        options->desc.options = optarg;
        return EXIT_OK;
    case 'd':
        options->desc.flags |= ZEPI_BUILD_DEBUG;
        return EXIT_OK;
    case 'w':
        options->is_show = true;
        return EXIT_OK;
    case 'c':
        return host_choose(&options->driver, HOST_DRIVER_CPU) ? EXIT_OK : EXIT_USAGE;
    case 'g':
        return host_choose(&options->driver, HOST_DRIVER_GPU) ? EXIT_OK : EXIT_USAGE;
    case 'j':
        options->is_json = true;
        return EXIT_OK;
    case 'o':
        options->output = optarg;
        return EXIT_OK;
    case 'C':
        options->mode = COMPOSE_COMPILE;
        return EXIT_OK;
    case 'L':
        options->mode = COMPOSE_LINK;
        return EXIT_OK;
    case 'J':
        options->mode = COMPOSE_JOIN;
        return EXIT_OK;
    case 'h':
        fputs(usage, stdout);
        exit(EXIT_OK);
    default:
        return command_refuse(usage);
    }
}

static int parse(int argc, char **argv, struct build_options *options)
{
    static const struct option list[] = {{"spec", required_argument, NULL, 's'},
                                         {"layout", required_argument, NULL, 'l'},
                                         {"options", required_argument, NULL, 'x'},
                                         {"debug", no_argument, NULL, 'd'},
                                         {"show", no_argument, NULL, 'w'},
                                         {"cpu", no_argument, NULL, 'c'},
                                         {"gpu", no_argument, NULL, 'g'},
                                         {"json", no_argument, NULL, 'j'},
                                         {"compile", no_argument, NULL, 'C'},
                                         {"link", no_argument, NULL, 'L'},
                                         {"join", no_argument, NULL, 'J'},
                                         {"help", no_argument, NULL, 'h'},
                                         {0}};
    int option;
    while ((option = getopt_long(argc, argv, "o:", list, NULL)) != -1) {
        const int code = parse_one(options, option);
        if (code != EXIT_OK)
            return code;
    }
    const bool takes_several = options->mode == COMPOSE_LINK || options->mode == COMPOSE_JOIN;
    if (argc == optind || (argc - optind != 1 && !takes_several)) {
        fprintf(stderr, "zepi build: expected one FILE (or --link, --join with several), got %d\n",
                argc - optind);
        return EXIT_USAGE;
    }
    if (options->mode == COMPOSE_LINK &&
        (options->spec.spec_count > 0 || options->spec.layout_count > 0)) {
        fprintf(stderr, "zepi build: --link takes no --spec: values are set at --compile\n");
        return EXIT_USAGE;
    }
    options->inputs = (const char *const *)argv + optind;
    options->input_count = (uint32_t)(argc - optind);
    return EXIT_OK;
}

static void print_log(const char *log)
{
    if (log[0])
        fprintf(stderr, "%s%s", log, log[strlen(log) - 1] == '\n' ? "" : "\n");
}

static int write_native(const struct host_device *host, struct built *built)
{
    if (zepi.module_get_native_binary(built->executable, host->device, &built->native_bytes,
                                      NULL) != ZEPI_SUCCESS)
        return host_fail("native code");
    if (!built->options->output)
        return EXIT_OK;
    uint8_t *bytes = malloc(built->native_bytes ? built->native_bytes : 1);
    if (!bytes || zepi.module_get_native_binary(built->executable, host->device,
                                                &built->native_bytes, bytes) != ZEPI_SUCCESS) {
        free(bytes);
        return host_fail("native code");
    }
    const bool is_written = file_write(built->options->output, bytes, built->native_bytes);
    free(bytes);
    return is_written ? EXIT_OK : EXIT_FAILED;
}

static int build(const struct host_device *host, struct built *built)
{
    const uint64_t start_ns = host_now_ns();
    const struct build_options *options = built->options;
    const zepi_result_t result =
        compose_output(host, options->mode, built->input, options->input_count, options->inputs,
                       &options->desc, &built->executable);
    built->build_ms = (double)(host_now_ns() - start_ns) / 1e6;
    print_log(zepi.last_build_log());
    return result == ZEPI_SUCCESS ? write_native(host, built) : host_fail(options->inputs[0]);
}

// ---- Showing ----

static cJSON *describe_constant(const zepi_spec_constant_t *constant)
{
    char text[SCALAR_TEXT_SIZE];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "id", constant->id);
    cJSON_AddStringToObject(object, "type", scalar_type_name(constant->type));
    cJSON_AddNumberToObject(object, "size_bytes", (double)constant->size_bytes);
    cJSON_AddStringToObject(object, "default",
                            scalar_format(constant->type, constant->default_value, text));
    cJSON_AddStringToObject(object, "value", scalar_format(constant->type, constant->value, text));
    cJSON_AddBoolToObject(object, "is_set", constant->is_set);
    return object;
}

static cJSON *describe_constants(zepi_module_t module)
{
    uint32_t count = 0;
    cJSON *array = cJSON_CreateArray();
    if (zepi.spec_constant_list(module, NULL, 0, NULL, &count) != ZEPI_SUCCESS || count == 0)
        return array;
    zepi_spec_constant_t *constants = calloc(count, sizeof(*constants));
    if (constants &&
        zepi.spec_constant_list(module, NULL, count, constants, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            cJSON_AddItemToArray(array, describe_constant(&constants[i]));
    }
    free(constants);
    return array;
}

static cJSON *describe_kernels(zepi_module_t module)
{
    uint32_t count = 0;
    cJSON *array = cJSON_CreateArray();
    if (zepi.module_get_kernel_names(module, 0, NULL, &count) != ZEPI_SUCCESS || count == 0)
        return array;
    const char **names = calloc(count, sizeof(*names));
    if (names && zepi.module_get_kernel_names(module, count, names, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            cJSON_AddItemToArray(array, cJSON_CreateString(names[i]));
    }
    free(names);
    return array;
}

// Imports and exports of the SPIR-V files among the inputs.
static cJSON *describe_symbols(const struct build_options *options)
{
    static const char *const linkages[] = {"import", "export", "link once"};
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < options->input_count; i++) {
        struct file_bytes file;
        struct zepi_spirv spirv;
        char message[256];
        if (strcmp(options->inputs[i], "-") == 0 || !file_read(options->inputs[i], &file))
            continue;
        if (zepi_spirv_init(&spirv, file.bytes, file.size_bytes, message, sizeof(message)) ==
            ZEPI_SPIRV_OK) {
            for (uint32_t at = 0; at < spirv.symbol_count; at++) {
                cJSON *symbol = cJSON_CreateObject();
                cJSON_AddStringToObject(symbol, "name", spirv.symbols[at].name);
                cJSON_AddStringToObject(symbol, "linkage", linkages[spirv.symbols[at].linkage]);
                cJSON_AddStringToObject(symbol, "kind",
                                        spirv.symbols[at].is_function ? "function" : "variable");
                cJSON_AddItemToArray(array, symbol);
            }
            zepi_spirv_finish(&spirv);
        }
        free(file.bytes);
    }
    return array;
}

static cJSON *describe(const struct built *built)
{
    const zepi_module_t module = built->executable ? built->executable : built->input;
    cJSON *document = cJSON_CreateObject();
    static const char *const states[] = {"unknown", "input", "object", "executable"};
    zepi_module_info_t info = {.size = sizeof(info)};
    cJSON *files = cJSON_AddArrayToObject(document, "files");
    for (uint32_t i = 0; i < built->options->input_count; i++)
        cJSON_AddItemToArray(files, cJSON_CreateString(built->options->inputs[i]));
    if (zepi.module_get_info(module, &info) == ZEPI_SUCCESS) {
        cJSON_AddStringToObject(document, "state",
                                states[(unsigned)info.state < 4 ? info.state : 0]);
        cJSON_AddNumberToObject(document, "images", info.image_count);
    }
    cJSON_AddItemToObject(document, "symbols", describe_symbols(built->options));
    cJSON_AddItemToObject(document, "kernels", describe_kernels(module));
    cJSON_AddItemToObject(document, "constants", describe_constants(module));
    if (built->executable) {
        cJSON_AddNumberToObject(document, "native_bytes", (double)built->native_bytes);
        cJSON_AddNumberToObject(document, "build_ms", built->build_ms);
    }
    return document;
}

static void print_text(const cJSON *document)
{
    const cJSON *item;
    printf("state: %s\nimages: %d\nkernels:",
           cJSON_GetStringValue(cJSON_GetObjectItem(document, "state")),
           (int)cJSON_GetNumberValue(cJSON_GetObjectItem(document, "images")));
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "kernels"))
        printf(" %s", item->valuestring);
    printf("\nconstants:\n");
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "constants")) printf(
        "  %5u  %-4s = %s (default %s)\n", (unsigned)cJSON_GetObjectItem(item, "id")->valuedouble,
        cJSON_GetObjectItem(item, "type")->valuestring,
        cJSON_GetObjectItem(item, "value")->valuestring,
        cJSON_GetObjectItem(item, "default")->valuestring);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "symbols"))
        printf("%s: %s %s\n", cJSON_GetObjectItem(item, "linkage")->valuestring,
               cJSON_GetObjectItem(item, "kind")->valuestring,
               cJSON_GetObjectItem(item, "name")->valuestring);
}

static void print(const struct built *built)
{
    // Standard output may be where the native code goes.
    if (built->options->output && strcmp(built->options->output, "-") == 0)
        return;
    cJSON *document = describe(built);
    if (built->options->is_json) {
        char *text = cJSON_Print(document);
        if (text)
            puts(text);
        cJSON_free(text);
    } else {
        if (built->options->is_show)
            print_text(document);
        if (built->executable)
            printf("built in %.2f ms, %zu bytes of native code%s%s\n", built->build_ms,
                   built->native_bytes, built->options->output ? " in " : "",
                   built->options->output ? built->options->output : "");
    }
    cJSON_Delete(document);
}

int command_build(int argc, char **argv)
{
    struct build_options options = {.desc = {.size = sizeof(options.desc)}};
    struct built built = {.options = &options};
    struct host_device host;
    int code = parse(argc, argv, &options);
    if (code == EXIT_OK)
        code = host_load(options.driver);
    if (code == EXIT_OK)
        code = host_open(&host, 0);
    if (code != EXIT_OK)
        return code;
    code = compose_input(&host, options.mode, &options.spec, options.input_count, options.inputs,
                         &built.input);
    const bool is_built = options.output || options.mode == COMPOSE_COMPILE ||
                          options.mode == COMPOSE_LINK || !options.is_show;
    if (code == EXIT_OK && is_built)
        code = build(&host, &built);
    if (code == EXIT_OK)
        print(&built);
    host_release(built.executable);
    host_release(built.input);
    host_close(&host);
    return code;
}
