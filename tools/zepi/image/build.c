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

struct build {
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

    zepi_module_t input;
    zepi_module_t executable; // NULL: only shown
    size_t native_bytes;
    double build_ms;
};

static int parse(int argc, char **argv, struct build *build)
{
    const struct command_option own[] = {SPEC_OPTIONS(&build->spec),
                                         {.name = "options", .text = &build->desc.options},
                                         {.name = "debug", .flag = &build->is_debug},
                                         {.name = "show", .flag = &build->is_show},
                                         {.name = "compile", .flag = &build->is_compile},
                                         {.name = "link", .flag = &build->is_link},
                                         {.name = "join", .flag = &build->is_join},
                                         {.name = "o", .text = &build->output},
                                         {0}};
    struct command_options common = {.usage = usage, .own = own, .words = COMMAND_WORDS};
    const int code = command_parse(argc, argv, &common);
    if (code != EXIT_OK)
        return code;
    const bool takes_several = build->is_link || build->is_join;
    if (argc == optind || (argc - optind != 1 && !takes_several)) {
        fprintf(stderr, "zepi build: expected one FILE (or --link, --join with several), got %d\n",
                argc - optind);
        return EXIT_USAGE;
    }
    if (build->is_link && (build->spec.spec_count > 0 || build->spec.layout_count > 0)) {
        fprintf(stderr, "zepi build: --link takes no --spec: values are set at --compile\n");
        return EXIT_USAGE;
    }
    build->inputs = (const char *const *)argv + optind;
    build->input_count = (uint32_t)(argc - optind);
    build->desc.flags = build->is_debug ? ZEPI_BUILD_DEBUG : 0;
    build->driver = common.driver;
    return EXIT_OK;
}

// ---- Building ----

static void release_all(uint32_t count, zepi_module_t *modules)
{
    for (uint32_t i = 0; i < count; i++)
        host_release(modules[i]);
}

static int join(const struct host_device *host, const struct build *build,
                zepi_module_t *out_module)
{
    zepi_module_t modules[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < build->input_count && code == EXIT_OK; count++)
        code = spec_create_module(&build->spec, host, build->inputs[count], &modules[count]);
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
static int make_input(const struct host_device *host, const struct build *build, bool is_built,
                      zepi_module_t *out_module)
{
    if (build->input_count > MAX_FILES) {
        fprintf(stderr, "zepi build: at most %d files\n", MAX_FILES);
        return EXIT_USAGE;
    }
    if (build->is_link)
        return EXIT_OK;
    if (build->is_join)
        return join(host, build, out_module);
    return (is_built ? spec_create_module : show)(&build->spec, host, build->inputs[0], out_module);
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
static int link_files(const struct host_device *host, const struct build *build,
                      const char **out_failed, zepi_module_t *out_module)
{
    zepi_module_t objects[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < build->input_count && code == EXIT_OK; count++) {
        struct file_bytes file;
        if (!image_read(build->inputs[count], &file)) {
            code = EXIT_FAILED;
            break;
        }
        if (make_object(host, &file, &build->desc, &objects[count]) != ZEPI_SUCCESS) {
            *out_failed = build->inputs[count];
            code = EXIT_FAILED;
        }
        free(file.bytes);
    }
    if (code == EXIT_OK &&
        zepi.module_link(count, objects, &build->desc, out_module) != ZEPI_SUCCESS) {
        *out_failed = "link";
        code = EXIT_FAILED;
    }
    release_all(count, objects);
    return code;
}

static int write_native(const struct host_device *host, struct build *build)
{
    if (zepi.module_get_native_binary(build->executable, host->device, &build->native_bytes,
                                      NULL) != ZEPI_SUCCESS)
        return host_fail("native code");
    if (!build->output)
        return EXIT_OK;
    uint8_t *bytes = malloc(build->native_bytes ? build->native_bytes : 1);
    if (!bytes || zepi.module_get_native_binary(build->executable, host->device,
                                                &build->native_bytes, bytes) != ZEPI_SUCCESS) {
        free(bytes);
        return host_fail("native code");
    }
    const bool is_written = file_write(build->output, bytes, build->native_bytes);
    free(bytes);
    return is_written ? EXIT_OK : EXIT_FAILED;
}

static int run_build(const struct host_device *host, struct build *build)
{
    const uint64_t start_ns = host_now_ns();
    const char *failed = NULL;
    int code = EXIT_OK;
    if (build->is_link)
        code = link_files(host, build, &failed, &build->executable);
    else if ((build->is_compile ? zepi.module_compile : zepi.module_build)(
                 build->input, &build->desc, &build->executable) != ZEPI_SUCCESS)
        failed = build->inputs[0];
    build->build_ms = (double)(host_now_ns() - start_ns) / 1e6;
    host_print_build_log();
    if (failed)
        return host_fail(failed);
    return code == EXIT_OK ? write_native(host, build) : code;
}

static cJSON *describe(const struct build *build)
{
    cJSON *document = show_describe(build->executable ? build->executable : build->input,
                                    build->inputs, build->input_count);
    if (build->executable) {
        cJSON_AddNumberToObject(document, "native_bytes", (double)build->native_bytes);
        cJSON_AddNumberToObject(document, "build_ms", build->build_ms);
    }
    return document;
}

static void print(const struct build *build)
{
    // Standard output may be where the native code goes.
    if (build->output && strcmp(build->output, "-") == 0)
        return;
    cJSON *document = describe(build);
    if (build->is_show && !json_is_asked_for())
        show_print(document);
    if (build->executable && !json_is_asked_for())
        printf("built in %.2f ms, %zu bytes of native code%s%s\n", build->build_ms,
               build->native_bytes, build->output ? " in " : "",
               build->output ? build->output : "");
    json_print(document);
}

int command_build(int argc, char **argv)
{
    struct build build = {.desc = {.size = sizeof(build.desc)}};
    struct host_device host;
    int code = parse(argc, argv, &build);
    if (code == EXIT_OK && build.output && !file_check_output(build.output))
        code = EXIT_FAILED;
    if (code == EXIT_OK)
        code = host_open(&host, build.driver);
    if (code != EXIT_OK)
        return code;
    const bool is_built = build.output || build.is_compile || build.is_link || !build.is_show;
    code = make_input(&host, &build, is_built, &build.input);
    if (code == EXIT_OK && is_built)
        code = run_build(&host, &build);
    if (code == EXIT_OK)
        print(&build);
    host_release(build.executable);
    host_release(build.input);
    host_close(&host);
    return code;
}
