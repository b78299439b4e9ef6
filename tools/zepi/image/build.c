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
    "  --json                     print what was built as JSON\n" COMMAND_DRIVER_HELP "\n"
    "The build log goes to stderr. Exit code 1: the build failed.\n"
    "Examples: zepi build kernel.spv --spec 0=16:i64 --spec 1=2.5 -o kernel.bin\n"
    "          zepi build --compile a.spv -o a.o; zepi build --link a.o b.spv -o both.bin\n";

#define MAX_FILES 64

struct build_options {
    struct spec_options spec;
    zepi_build_desc_t desc;
    bool is_compile; // one file to an object
    bool is_link;    // objects, or SPIR-V that is compiled first, to an executable
    bool is_join;    // files of one state beside each other
    bool is_debug;
    bool is_show;
    const char *const *inputs; // borrowed from the command line
    uint32_t input_count;
    const char *output;
    enum host_driver driver;
};

// The build, for both ways of printing.
struct built {
    const struct build_options *options;
    zepi_module_t input;
    zepi_module_t executable; // NULL: only shown
    size_t native_bytes;
    double build_ms;
};

static int parse(int argc, char **argv, struct build_options *options)
{
    const struct command_option own[] = {SPEC_OPTIONS(&options->spec),
                                         {.name = "options", .text = &options->desc.options},
                                         {.name = "debug", .flag = &options->is_debug},
                                         {.name = "show", .flag = &options->is_show},
                                         {.name = "compile", .flag = &options->is_compile},
                                         {.name = "link", .flag = &options->is_link},
                                         {.name = "join", .flag = &options->is_join},
                                         {.name = "o", .text = &options->output},
                                         {0}};
    struct command_options common = {.usage = usage, .own = own, .words = COMMAND_WORDS};
    const int code = command_parse(argc, argv, &common);
    if (code != EXIT_OK)
        return code;
    const bool takes_several = options->is_link || options->is_join;
    if (argc == optind || (argc - optind != 1 && !takes_several)) {
        fprintf(stderr, "zepi build: expected one FILE (or --link, --join with several), got %d\n",
                argc - optind);
        return EXIT_USAGE;
    }
    if (options->is_link && (options->spec.spec_count > 0 || options->spec.layout_count > 0)) {
        fprintf(stderr, "zepi build: --link takes no --spec: values are set at --compile\n");
        return EXIT_USAGE;
    }
    options->inputs = (const char *const *)argv + optind;
    options->input_count = (uint32_t)(argc - optind);
    options->desc.flags = options->is_debug ? ZEPI_BUILD_DEBUG : 0;
    options->driver = common.driver;
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

// Native code does not tell whether it is an object. Code of a known object, or with imports, is
// one.
static int show(const struct spec_options *spec, const struct host_device *host, const char *path,
                zepi_module_t *out_module)
{
    struct file_bytes file;
    zepi_result_t result = ZEPI_ERROR_LINK_FAILURE;
    if (strcmp(path, "-") == 0)
        return spec_create_module(spec, host, path, out_module);
    if (!image_read(path, &file))
        return EXIT_FAILED;
    const bool is_native = !image_is_spirv(&file);
    if (is_native && !symbols_is_object(&file))
        result = image_create_module(host, &file, ZEPI_MODULE_EXECUTABLE, 0, NULL, out_module);
    if (is_native && result == ZEPI_ERROR_LINK_FAILURE)
        result = image_create_module(host, &file, ZEPI_MODULE_OBJECT, 0, NULL, out_module);
    free(file.bytes);
    if (!is_native)
        return spec_create_module(spec, host, path, out_module);
    return result == ZEPI_SUCCESS ? EXIT_OK : host_fail(path);
}

// One file as an input, or native code as an executable, with values set; several joined. A file
// that is only shown may be of any state.
static int make_input(const struct host_device *host, const struct build_options *options,
                      bool is_built, zepi_module_t *out_module)
{
    if (options->input_count > MAX_FILES) {
        fprintf(stderr, "zepi build: at most %d files\n", MAX_FILES);
        return EXIT_USAGE;
    }
    if (options->is_link)
        return EXIT_OK;
    if (options->is_join)
        return join(host, options, out_module);
    return (is_built ? spec_create_module : show)(&options->spec, host, options->inputs[0],
                                                  out_module);
}

// An object of a file: SPIR-V is compiled, native code is taken as an object.
static zepi_result_t make_object(const struct host_device *host, const struct file_bytes *file,
                                 const zepi_build_desc_t *desc, zepi_module_t *out_object)
{
    zepi_module_t module = NULL;
    zepi_result_t result = image_create_module(host, file, ZEPI_MODULE_OBJECT, 0, NULL, &module);
    if (result != ZEPI_SUCCESS || !image_is_spirv(file)) {
        *out_object = module;
        return result;
    }
    result = zepi.module_compile(module, desc, out_object);
    host_release(module);
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
    if (options->is_link)
        code = link_files(host, options, &failed, &built->executable);
    else if ((options->is_compile ? zepi.module_compile : zepi.module_build)(
                 built->input, &options->desc, &built->executable) != ZEPI_SUCCESS)
        failed = options->inputs[0];
    built->build_ms = (double)(host_now_ns() - start_ns) / 1e6;
    host_print_build_log();
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
    if (built->options->is_show && !json_is_asked_for())
        show_print(document);
    if (built->executable && !json_is_asked_for())
        printf("built in %.2f ms, %zu bytes of native code%s%s\n", built->build_ms,
               built->native_bytes, built->options->output ? " in " : "",
               built->options->output ? built->options->output : "");
    json_print(document);
}

int command_build(int argc, char **argv)
{
    struct build_options options = {.desc = {.size = sizeof(options.desc)}};
    struct built built = {.options = &options};
    struct host_device host;
    int code = parse(argc, argv, &options);
    if (code == EXIT_OK && options.output && !file_check_output(options.output))
        code = EXIT_FAILED;
    if (code == EXIT_OK)
        code = host_open(&host, options.driver);
    if (code != EXIT_OK)
        return code;
    const bool is_built =
        options.output || options.is_compile || options.is_link || !options.is_show;
    code = make_input(&host, &options, is_built, &built.input);
    if (code == EXIT_OK && is_built)
        code = build(&host, &built);
    if (code == EXIT_OK)
        print(&built);
    host_release(built.executable);
    host_release(built.input);
    host_close(&host);
    return code;
}
