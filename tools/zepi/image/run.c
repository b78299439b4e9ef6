// SPDX-License-Identifier: MIT
#include "../commands.h"
#include "../json.h"
#include "argument.h"
#include "spec.h"

#include <cjson/cJSON.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGUMENTS 256
#define MAX_REPEAT 1000000

static const char usage[] =
    "usage: zepi run FILE --kernel NAME --global X[,Y[,Z]] [OPTION...]\n"
    "\n"
    "Builds a SPIR-V file (or takes native code of zepi build), launches a kernel on the first\n"
    "device, and prints its buffers.\n"
    "\n"
    "  --local X[,Y[,Z]]          group size; without it, what the driver suggests\n" ARGUMENT_HELP
        SPEC_HELP "  --options TEXT             options for the device compiler\n"
    "  --repeat N                 build and launch N times, and build once more from the disk; "
    "the\n"
    "                             times of each are printed; buffers are filled once\n"
    "  --cpu, --gpu               run on ze_cpu, or on installed drivers only\n"
    "  --intel-driver             run on Intel's newest driver, without a GPU\n"
    "  --json                     print results and times as JSON\n"
    "\n"
    "Example: zepi run scale.spv --kernel scale --global 8 --spec 7=3 \\\n"
    "             --arg buffer:i32:8,ramp=0:1 --arg buffer:i32:8,out\n";

struct run_options {
    struct spec_options spec;
    zepi_build_desc_t build;
    const char *input;
    const char *kernel;
    const char *arguments[MAX_ARGUMENTS];
    uint32_t argument_count;
    uint32_t work_dim;
    size_t global_size[3];
    size_t group_size[3];
    uint32_t repeat;
    struct command_options common;
};

// One round's times.
struct round {
    double build_ms;
    double launch_ms;
};

// The state of a run.
struct run {
    const struct run_options *options;
    struct host_device host;
    zepi_module_t module; // input, or an executable of native code
    struct argument arguments[MAX_ARGUMENTS];
    uint32_t argument_count;
    struct round *rounds;
    double disk_ms; // one more build after everything in memory was forgotten; of several rounds
};

// "X", "X,Y" or "X,Y,Z". Returns the number of dimensions, 0 if it is none of these.
static uint32_t parse_size(const char *text, size_t size[3])
{
    for (uint32_t count = 0; count < 3; count++) {
        const size_t length = strcspn(text, ",");
        if (!scalar_parse_part(ZEPI_SCALAR_UINT64, text, length, &size[count]))
            return 0;
        if (!text[length])
            return count + 1;
        text += length + 1;
    }
    return 0;
}

static bool parse_repeat(const char *text, uint32_t *out_repeat)
{
    return scalar_parse(ZEPI_SCALAR_UINT32, text, out_repeat) && *out_repeat >= 1 &&
           *out_repeat <= MAX_REPEAT;
}

static int refuse(const char *option, const char *text, const char *expected)
{
    fprintf(stderr, "zepi run: %s %s: expected %s\n", option, text, expected);
    return EXIT_USAGE;
}

static int parse_one(struct run_options *options, int option, uint32_t *local_dim)
{
    switch (option) {
    case 'k':
        options->kernel = optarg;
        return EXIT_OK;
    case 'G':
        options->work_dim = parse_size(optarg, options->global_size);
        return options->work_dim ? EXIT_OK : refuse("--global", optarg, "X[,Y[,Z]]");
    case 'L':
        *local_dim = parse_size(optarg, options->group_size);
        return *local_dim ? EXIT_OK : refuse("--local", optarg, "X[,Y[,Z]]");
    case 'a':
        if (options->argument_count == MAX_ARGUMENTS)
            return refuse("--arg", optarg, "at most 256 arguments");
        options->arguments[options->argument_count++] = optarg;
        return EXIT_OK;
    case 's':
        return spec_add(&options->spec, optarg) ? EXIT_OK : EXIT_USAGE;
    case 'l':
        return spec_add_layout(&options->spec, optarg) ? EXIT_OK : EXIT_USAGE;
    case 'x':
        options->build.options = optarg;
        return EXIT_OK;
    case 'r':
        return parse_repeat(optarg, &options->repeat)
                   ? EXIT_OK
                   : refuse("--repeat", optarg, "a number from 1 to 1000000");
    default:
        command_take(&options->common, option);
        return EXIT_OK;
    }
}

static int parse(int argc, char **argv, struct run_options *options)
{
    static const struct option list[] = {COMMAND_DRIVER_OPTIONS,
                                         COMMAND_JSON_OPTION,
                                         {"kernel", required_argument, NULL, 'k'},
                                         {"global", required_argument, NULL, 'G'},
                                         {"local", required_argument, NULL, 'L'},
                                         {"arg", required_argument, NULL, 'a'},
                                         {"spec", required_argument, NULL, 's'},
                                         {"layout", required_argument, NULL, 'l'},
                                         {"options", required_argument, NULL, 'x'},
                                         {"repeat", required_argument, NULL, 'r'},
                                         {0}};
    uint32_t local_dim = 0;
    int option;
    while ((option = getopt_long(argc, argv, "", list, NULL)) != -1) {
        const int code = parse_one(options, option, &local_dim);
        if (code != EXIT_OK)
            return code;
    }
    if (argc - optind != 1 || !options->kernel || options->work_dim == 0) {
        fprintf(stderr, "zepi run: expected one FILE, --kernel and --global\n");
        return EXIT_USAGE;
    }
    if (local_dim != 0 && local_dim != options->work_dim) {
        fprintf(stderr, "zepi run: --local has %u dimensions, --global %u\n", local_dim,
                options->work_dim);
        return EXIT_USAGE;
    }
    options->input = argv[optind];
    return EXIT_OK;
}

static int launch(struct run *run, zepi_module_t executable, struct round *round)
{
    const struct run_options *options = run->options;
    const zepi_wait_list_t no_wait = {0};
    zepi_argument_t arguments[MAX_ARGUMENTS];
    zepi_launch_desc_t desc = {.size = sizeof(desc),
                               .arguments = arguments,
                               .argument_count = run->argument_count,
                               .work_dim = options->work_dim};
    if (zepi.module_get_kernel(executable, options->kernel, &desc.kernel) != ZEPI_SUCCESS)
        return host_fail("--kernel");
    for (uint32_t i = 0; i < run->argument_count; i++)
        arguments[i] = argument_for_launch(&run->arguments[i]);
    memcpy(desc.global_size, options->global_size, sizeof(desc.global_size));
    memcpy(desc.group_size, options->group_size, sizeof(desc.group_size));
    const uint64_t start_ns = host_now_ns();
    int code = EXIT_OK;
    if (zepi.queue_launch(run->host.queue, &desc, no_wait, NULL) != ZEPI_SUCCESS)
        code = host_fail("launch");
    else if (zepi.queue_finish(run->host.queue) != ZEPI_SUCCESS)
        code = host_fail("waiting for the launch");
    round->launch_ms = (double)(host_now_ns() - start_ns) / 1e6;
    host_release(desc.kernel);
    return code;
}

static int run_round(struct run *run, struct round *round)
{
    zepi_module_info_t info = {.size = sizeof(info)};
    zepi_module_t executable = NULL;
    if (zepi.module_get_info(run->module, &info) != ZEPI_SUCCESS)
        return host_fail("module");
    if (info.state == ZEPI_MODULE_EXECUTABLE)
        return launch(run, run->module, round);
    const uint64_t start_ns = host_now_ns();
    const zepi_result_t result = zepi.module_build(run->module, &run->options->build, &executable);
    round->build_ms = (double)(host_now_ns() - start_ns) / 1e6;
    if (result != ZEPI_SUCCESS) {
        fputs(zepi.last_build_log(), stderr);
        return host_fail(run->options->input);
    }
    const int code = launch(run, executable, round);
    host_release(executable);
    return code;
}

// Builds once more with nothing in memory, as the next process would.
static int build_from_disk(struct run *run)
{
    zepi_module_info_t info = {.size = sizeof(info)};
    zepi_module_t executable;
    if (zepi.module_get_info(run->module, &info) != ZEPI_SUCCESS ||
        zepi.cache_clear(run->host.context) != ZEPI_SUCCESS ||
        zepi.cache_clear(NULL) != ZEPI_SUCCESS)
        return host_fail("cache");
    if (info.state != ZEPI_MODULE_INPUT)
        return EXIT_OK;
    const uint64_t start_ns = host_now_ns();
    if (zepi.module_build(run->module, &run->options->build, &executable) != ZEPI_SUCCESS)
        return host_fail(run->options->input);
    run->disk_ms = (double)(host_now_ns() - start_ns) / 1e6;
    host_release(executable);
    return EXIT_OK;
}

// ---- Results ----

static void print_buffer(const struct argument *argument, uint32_t index)
{
    char text[SCALAR_TEXT_SIZE];
    const size_t size = scalar_size(argument->type);
    printf("argument %u:", index);
    for (uint64_t i = 0; i < argument->count; i++)
        printf(" %s", scalar_format(argument->type, (uint8_t *)argument->memory + i * size, text));
    putchar('\n');
}

static int print_text(const struct run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; i < run->argument_count && code == EXIT_OK; i++) {
        const struct argument *argument = &run->arguments[i];
        if (argument->is_output && argument->output)
            code = argument_write(argument);
        else if (argument->is_output)
            print_buffer(argument, i);
    }
    for (uint32_t i = 0; i < run->options->repeat && run->options->repeat > 1; i++)
        fprintf(stderr, "round %u: build %.3f ms, launch %.3f ms\n", i + 1, run->rounds[i].build_ms,
                run->rounds[i].launch_ms);
    if (run->options->repeat > 1)
        fprintf(stderr, "from the disk: build %.3f ms\n", run->disk_ms);
    return code;
}

static void add_buffer(cJSON *array, const struct argument *argument, uint32_t index)
{
    char text[SCALAR_TEXT_SIZE];
    const size_t size = scalar_size(argument->type);
    cJSON *object = json_add_object(array);
    cJSON *values = cJSON_CreateArray();
    cJSON_AddNumberToObject(object, "index", index);
    cJSON_AddStringToObject(object, "type", scalar_type_name(argument->type));
    for (uint64_t i = 0; i < argument->count; i++) {
        const void *value = (uint8_t *)argument->memory + i * size;
        cJSON_AddItemToArray(values, json_value(scalar_format(argument->type, value, text)));
    }
    cJSON_AddItemToObject(object, "values", values);
}

static int print_json(const struct run *run)
{
    int code = EXIT_OK;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "device", run->host.info.name);
    cJSON_AddStringToObject(document, "kernel", run->options->kernel);
    cJSON *rounds = cJSON_AddArrayToObject(document, "rounds");
    for (uint32_t i = 0; i < run->options->repeat; i++) {
        cJSON *round = cJSON_CreateObject();
        cJSON_AddNumberToObject(round, "build_ms", run->rounds[i].build_ms);
        cJSON_AddNumberToObject(round, "launch_ms", run->rounds[i].launch_ms);
        cJSON_AddItemToArray(rounds, round);
    }
    if (run->options->repeat > 1)
        cJSON_AddNumberToObject(document, "disk_ms", run->disk_ms);
    cJSON *buffers = cJSON_AddArrayToObject(document, "buffers");
    for (uint32_t i = 0; i < run->argument_count && code == EXIT_OK; i++) {
        const struct argument *argument = &run->arguments[i];
        if (argument->is_output && argument->output)
            code = argument_write(argument);
        else if (argument->is_output)
            add_buffer(buffers, argument, i);
    }
    json_print(document);
    return code;
}

static int run_all(struct run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; i < run->options->argument_count && code == EXIT_OK; i++) {
        run->argument_count++;
        code = argument_init(&run->arguments[i], &run->host, run->options->arguments[i]);
    }
    run->rounds = calloc(run->options->repeat, sizeof(*run->rounds));
    if (!run->rounds)
        return EXIT_FAILED;
    for (uint32_t i = 0; i < run->options->repeat && code == EXIT_OK; i++)
        code = run_round(run, &run->rounds[i]);
    if (code == EXIT_OK && run->options->repeat > 1)
        code = build_from_disk(run);
    if (code == EXIT_OK)
        code = run->options->common.is_json ? print_json(run) : print_text(run);
    return code;
}

int command_run(int argc, char **argv)
{
    struct run_options options = {
        .build = {.size = sizeof(options.build)}, .repeat = 1, .common = {.usage = usage}};
    struct run run = {.options = &options};
    int code = parse(argc, argv, &options);
    if (code == EXIT_OK)
        code = host_load(options.common.driver);
    if (code == EXIT_OK)
        code = host_open(&run.host, 0);
    if (code != EXIT_OK)
        return code;
    code = spec_create_module(&options.spec, &run.host, options.input, &run.module);
    if (code == EXIT_OK) {
        code = run_all(&run);
        host_release(run.module);
    }
    for (uint32_t i = 0; i < run.argument_count; i++)
        argument_finish(&run.arguments[i], &run.host);
    free(run.rounds);
    host_close(&run.host);
    return code;
}
