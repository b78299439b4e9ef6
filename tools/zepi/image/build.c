// SPDX-License-Identifier: MIT
#include "../commands.h"
#include "../json.h"
#include "image_file.h"
#include "show.h"
#include "spec.h"
#include "symbols.h"

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
    "  --intel-driver             run on Intel's newest driver, without a GPU\n"
    "  --json                     print what was built as JSON\n"
    "\n"
    "The build log goes to stderr. Exit code 1: the build failed.\n"
    "Examples: zepi build kernel.spv --spec 0=16:i64 --spec 1=2.5 -o kernel.bin\n"
    "          zepi build --compile a.spv -o a.o; zepi build --link a.o b.spv -o both.bin\n";

#define MAX_FILES 64

// The module that zepi build makes of its files.
enum build_mode {
    MODE_BUILD,   // one file to an executable
    MODE_COMPILE, // one file to an object
    MODE_LINK,    // objects, or SPIR-V that is compiled first, to an executable
    MODE_JOIN,    // files of one state beside each other
    MODE_SHOW,    // one file of any state as it is
};

struct build_options {
    struct spec_options spec;
    zepi_build_desc_t desc;
    enum build_mode mode;
    const char *const *inputs; // borrowed from the command line
    uint32_t input_count;
    const char *output;
    struct command_options common;
    bool is_show;
};

// The build, for both ways of printing.
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
    case 'o':
        options->output = optarg;
        return EXIT_OK;
    case 'C':
        options->mode = MODE_COMPILE;
        return EXIT_OK;
    case 'L':
        options->mode = MODE_LINK;
        return EXIT_OK;
    case 'J':
        options->mode = MODE_JOIN;
        return EXIT_OK;
    default:
        command_take(&options->common, option);
        return EXIT_OK;
    }
}

static int parse(int argc, char **argv, struct build_options *options)
{
    static const struct option list[] = {COMMAND_DRIVER_OPTIONS,
                                         COMMAND_JSON_OPTION,
                                         {"spec", required_argument, NULL, 's'},
                                         {"layout", required_argument, NULL, 'l'},
                                         {"options", required_argument, NULL, 'x'},
                                         {"debug", no_argument, NULL, 'd'},
                                         {"show", no_argument, NULL, 'w'},
                                         {"compile", no_argument, NULL, 'C'},
                                         {"link", no_argument, NULL, 'L'},
                                         {"join", no_argument, NULL, 'J'},
                                         {0}};
    int option;
    while ((option = getopt_long(argc, argv, "o:", list, NULL)) != -1) {
        const int code = parse_one(options, option);
        if (code != EXIT_OK)
            return code;
    }
    const bool takes_several = options->mode == MODE_LINK || options->mode == MODE_JOIN;
    if (argc == optind || (argc - optind != 1 && !takes_several)) {
        fprintf(stderr, "zepi build: expected one FILE (or --link, --join with several), got %d\n",
                argc - optind);
        return EXIT_USAGE;
    }
    if (options->mode == MODE_LINK &&
        (options->spec.spec_count > 0 || options->spec.layout_count > 0)) {
        fprintf(stderr, "zepi build: --link takes no --spec: values are set at --compile\n");
        return EXIT_USAGE;
    }
    options->inputs = (const char *const *)argv + optind;
    options->input_count = (uint32_t)(argc - optind);
    return EXIT_OK;
}

// ---- Building ----

static void release_all(uint32_t count, zepi_module_t *modules)
{
    for (uint32_t i = 0; i < count; i++)
        host_release(modules[i]);
}

static int join(const struct host_device *host, const struct build_options *options,
                zepi_module_t *out_module)
{
    zepi_module_t modules[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < options->input_count && code == EXIT_OK; count++)
        code = spec_create_module(&options->spec, host, options->inputs[count], &modules[count]);
    if (code == EXIT_OK && zepi.module_join(count, modules, out_module) != ZEPI_SUCCESS)
        code = host_fail("join");
    release_all(count, modules);
    return code;
}

static zepi_result_t create_native(const struct host_device *host, const struct file_bytes *file,
                                   zepi_module_state_t state, zepi_module_t *out_module)
{
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = state,
                                            .bytes = file->bytes,
                                            .size_bytes = file->size_bytes};
    return zepi.module_create(host->context, state, 1, &image, out_module);
}

// Native code does not tell whether it is an object. Code of a known object, or with imports, is
// one.
static int show(const struct host_device *host, const struct spec_options *spec, const char *path,
                zepi_module_t *out_module)
{
    struct file_bytes file;
    zepi_result_t result = ZEPI_ERROR_LINK_FAILURE;
    if (strcmp(path, "-") == 0)
        return spec_create_module(spec, host, path, out_module);
    if (!image_read(path, &file))
        return EXIT_FAILED;
    const bool is_native = !image_is_spirv(&file) && file.size_bytes > 0;
    if (is_native && !symbols_is_object(&file))
        result = create_native(host, &file, ZEPI_MODULE_EXECUTABLE, out_module);
    if (is_native && result == ZEPI_ERROR_LINK_FAILURE)
        result = create_native(host, &file, ZEPI_MODULE_OBJECT, out_module);
    free(file.bytes);
    if (!is_native)
        return spec_create_module(spec, host, path, out_module);
    return result == ZEPI_SUCCESS ? EXIT_OK : host_fail(path);
}

// One file as an input, or native code as an executable, with values set; several joined.
static int make_input(const struct host_device *host, const struct build_options *options,
                      zepi_module_t *out_module)
{
    if (options->input_count > MAX_FILES) {
        fprintf(stderr, "zepi build: at most %d files\n", MAX_FILES);
        return EXIT_USAGE;
    }
    switch (options->mode) {
    case MODE_LINK:
        return EXIT_OK;
    case MODE_JOIN:
        return join(host, options, out_module);
    case MODE_SHOW:
        return show(host, &options->spec, options->inputs[0], out_module);
    default:
        return spec_create_module(&options->spec, host, options->inputs[0], out_module);
    }
}

// An object of a file: SPIR-V is compiled, native code is taken as an object.
static zepi_result_t make_object(const struct host_device *host, const struct file_bytes *file,
                                 const zepi_build_desc_t *desc, zepi_module_t *out_object)
{
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = file->bytes,
                                            .size_bytes = file->size_bytes};
    zepi_module_t input = NULL;
    if (!image_is_spirv(file))
        return create_native(host, file, ZEPI_MODULE_OBJECT, out_object);
    zepi_result_t result = zepi.module_create(host->context, ZEPI_MODULE_INPUT, 1, &image, &input);
    if (result == ZEPI_SUCCESS)
        result = zepi.module_compile(input, desc, out_object);
    host_release(input);
    return result;
}

// *out_failed names what the plugin refused.
static int link_files(const struct host_device *host, const struct build_options *options,
                      const char **out_failed, zepi_module_t *out_module)
{
    zepi_module_t objects[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < options->input_count && code == EXIT_OK; count++) {
        struct file_bytes file;
        if (!image_read(options->inputs[count], &file)) {
            code = EXIT_FAILED;
            break;
        }
        if (make_object(host, &file, &options->desc, &objects[count]) != ZEPI_SUCCESS) {
            *out_failed = options->inputs[count];
            code = EXIT_FAILED;
        }
        free(file.bytes);
    }
    if (code == EXIT_OK &&
        zepi.module_link(count, objects, &options->desc, out_module) != ZEPI_SUCCESS) {
        *out_failed = "link";
        code = EXIT_FAILED;
    }
    release_all(count, objects);
    return code;
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
    const char *failed = NULL;
    int code = EXIT_OK;
    if (options->mode == MODE_LINK)
        code = link_files(host, options, &failed, &built->executable);
    else if ((options->mode == MODE_COMPILE ? zepi.module_compile : zepi.module_build)(
                 built->input, &options->desc, &built->executable) != ZEPI_SUCCESS)
        failed = options->inputs[0];
    built->build_ms = (double)(host_now_ns() - start_ns) / 1e6;
    print_log(zepi.last_build_log());
    if (failed)
        return host_fail(failed);
    return code == EXIT_OK ? write_native(host, built) : code;
}

static cJSON *describe(const struct built *built)
{
    const struct build_options *options = built->options;
    cJSON *document = show_describe(&(struct shown){
        .module = built->executable ? built->executable : built->input,
        .input = built->input,
        .files = options->inputs,
        .file_count = options->input_count,
    });
    if (built->executable) {
        cJSON_AddNumberToObject(document, "native_bytes", (double)built->native_bytes);
        cJSON_AddNumberToObject(document, "build_ms", built->build_ms);
    }
    return document;
}

static void print(const struct built *built)
{
    // Standard output may be where the native code goes.
    if (built->options->output && strcmp(built->options->output, "-") == 0)
        return;
    cJSON *document = describe(built);
    if (built->options->common.is_json) {
        json_print(document);
    } else {
        if (built->options->is_show)
            show_print(document);
        if (built->executable)
            printf("built in %.2f ms, %zu bytes of native code%s%s\n", built->build_ms,
                   built->native_bytes, built->options->output ? " in " : "",
                   built->options->output ? built->options->output : "");
        cJSON_Delete(document);
    }
}

int command_build(int argc, char **argv)
{
    struct build_options options = {.desc = {.size = sizeof(options.desc)},
                                    .common = {.usage = usage}};
    struct built built = {.options = &options};
    struct host_device host;
    int code = parse(argc, argv, &options);
    if (code == EXIT_OK && options.output && !file_check_output(options.output))
        code = EXIT_FAILED;
    if (code == EXIT_OK)
        code = host_load(options.common.driver);
    if (code == EXIT_OK)
        code = host_open(&host, 0);
    if (code != EXIT_OK)
        return code;
    const bool is_built = options.output || options.mode == MODE_COMPILE ||
                          options.mode == MODE_LINK || !options.is_show;
    if (options.mode == MODE_BUILD && !is_built)
        options.mode = MODE_SHOW;
    code = make_input(&host, &options, &built.input);
    if (code == EXIT_OK && is_built)
        code = build(&host, &built);
    if (code == EXIT_OK)
        print(&built);
    host_release(built.executable);
    host_release(built.input);
    host_close(&host);
    return code;
}
