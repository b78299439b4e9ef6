// SPDX-License-Identifier: MIT
#include "../commands.h"
#include "../json.h"
#include "compose.h"
#include "image_file.h"
#include "show.h"
#include "spec.h"

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

struct build_options {
    struct spec_options spec;
    zepi_build_desc_t desc;
    enum compose_mode mode;
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
        options->mode = COMPOSE_COMPILE;
        return EXIT_OK;
    case 'L':
        options->mode = COMPOSE_LINK;
        return EXIT_OK;
    case 'J':
        options->mode = COMPOSE_JOIN;
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
    const char *failed = NULL;
    const int code = compose_output(host, options->mode, built->input, options->input_count,
                                    options->inputs, &options->desc, &failed, &built->executable);
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
    const bool is_built = options.output || options.mode == COMPOSE_COMPILE ||
                          options.mode == COMPOSE_LINK || !options.is_show;
    if (options.mode == COMPOSE_BUILD && !is_built)
        options.mode = COMPOSE_SHOW;
    code = compose_input(&host, options.mode, &options.spec, options.input_count, options.inputs,
                         &built.input);
    if (code == EXIT_OK && is_built)
        code = build(&host, &built);
    if (code == EXIT_OK)
        print(&built);
    host_release(built.executable);
    host_release(built.input);
    host_close(&host);
    return code;
}
