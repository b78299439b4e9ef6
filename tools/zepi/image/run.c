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
    "  --json                     print results and times as JSON\n" COMMAND_DRIVER_HELP "\n"
    "Example: zepi run scale.spv --kernel scale --global 8 --spec 7=3 \\\n"
    "             --arg buffer:i32:8,ramp=0:1 --arg buffer:i32:8,out\n";

struct run {
    // Of the command line.
    struct spec_options spec;
    zepi_build_desc_t build;
    const char *input;
    const char *kernel;
    const char *texts[MAX_ARGUMENTS]; // of the arguments
    uint32_t argument_count;
    uint32_t work_dim;
    uint32_t local_dim; // 0: no group size is given
    size_t global_size[3];
    size_t group_size[3];
    uint32_t repeat;
    enum host_driver driver;

    struct host_device host;
    zepi_module_t module; // input, or an executable of native code
    zepi_module_state_t state;
    struct argument arguments[MAX_ARGUMENTS];
    uint32_t made_count; // of these
    cJSON *document;
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

static int refuse(const char *option, const char *text, const char *expected)
{
    fprintf(stderr, "zepi run: %s %s: expected %s\n", option, text, expected);
    return EXIT_USAGE;
}

static int take_global(void *user, const char *text)
{
    struct run *run = user;
    run->work_dim = parse_size(text, run->global_size);
    return run->work_dim ? EXIT_OK : refuse("--global", text, "X[,Y[,Z]]");
}

static int take_local(void *user, const char *text)
{
    struct run *run = user;
    run->local_dim = parse_size(text, run->group_size);
    return run->local_dim ? EXIT_OK : refuse("--local", text, "X[,Y[,Z]]");
}

static int take_argument(void *user, const char *text)
{
    struct run *run = user;
    if (run->argument_count == MAX_ARGUMENTS)
        return refuse("--arg", text, "at most 256 arguments");
    run->texts[run->argument_count++] = text;
    return EXIT_OK;
}

static int parse(int argc, char **argv, struct run *run)
{
    const struct command_option own[] = {
        {.name = "kernel", .text = &run->kernel},
        {.name = "global", .take = take_global, .user = run},
        {.name = "local", .take = take_local, .user = run},
        {.name = "arg", .take = take_argument, .user = run},
        SPEC_OPTIONS(&run->spec),
        {.name = "options", .text = &run->build.options},
        {.name = "repeat", .number = &run->repeat, .most = MAX_REPEAT},
        {0}};
    struct command_options common = {.usage = usage, .own = own, .words = COMMAND_WORDS};
    const int code = command_parse(argc, argv, &common);
    if (code != EXIT_OK)
        return code;
    run->driver = common.driver;
    if (argc - optind != 1 || !run->kernel || run->work_dim == 0) {
        fprintf(stderr, "zepi run: expected one FILE, --kernel and --global\n");
        return EXIT_USAGE;
    }
    if (run->local_dim != 0 && run->local_dim != run->work_dim) {
        fprintf(stderr, "zepi run: --local has %u dimensions, --global %u\n", run->local_dim,
                run->work_dim);
        return EXIT_USAGE;
    }
    run->input = argv[optind];
    return EXIT_OK;
}

static int launch(struct run *run, zepi_module_t executable, double *out_ms)
{
    const zepi_wait_list_t no_wait = {0};
    zepi_argument_t arguments[MAX_ARGUMENTS];
    zepi_launch_desc_t desc = {.size = sizeof(desc),
                               .arguments = arguments,
                               .argument_count = run->argument_count,
                               .work_dim = run->work_dim};
    if (zepi.module_get_kernel(executable, run->kernel, &desc.kernel) != ZEPI_SUCCESS)
        return host_fail("--kernel");
    for (uint32_t i = 0; i < run->argument_count; i++)
        arguments[i] = argument_for_launch(&run->arguments[i]);
    memcpy(desc.global_size, run->global_size, sizeof(desc.global_size));
    memcpy(desc.group_size, run->group_size, sizeof(desc.group_size));
    const uint64_t start_ns = host_now_ns();
    int code = EXIT_OK;
    if (zepi.queue_launch(run->host.queue, &desc, no_wait, NULL) != ZEPI_SUCCESS)
        code = host_fail("launch");
    else if (zepi.queue_finish(run->host.queue) != ZEPI_SUCCESS)
        code = host_fail("waiting for the launch");
    *out_ms = (double)(host_now_ns() - start_ns) / 1e6;
    host_release(desc.kernel);
    return code;
}

static int run_round(struct run *run, uint32_t number, cJSON *round)
{
    zepi_module_t executable = NULL;
    double build_ms = 0;
    double launch_ms = 0;
    int code = EXIT_OK;
    if (run->state == ZEPI_MODULE_INPUT)
        code = host_build(run->module, &run->build, run->input, &executable, &build_ms);
    if (code == EXIT_OK)
        code = launch(run, executable ? executable : run->module, &launch_ms);
    host_release(executable);
    cJSON_AddNumberToObject(round, "build_ms", build_ms);
    cJSON_AddNumberToObject(round, "launch_ms", launch_ms);
    if (code == EXIT_OK && run->repeat > 1 && !json_is_asked_for())
        fprintf(stderr, "round %u: build %.3f ms, launch %.3f ms\n", number, build_ms, launch_ms);
    return code;
}

// Builds once more with nothing in memory, as the next process would.
static int build_from_disk(struct run *run)
{
    zepi_module_t executable = NULL;
    double ms = 0;
    int code = host_forget_builds(&run->host);
    if (code == EXIT_OK && run->state == ZEPI_MODULE_INPUT)
        code = host_build(run->module, &run->build, run->input, &executable, &ms);
    host_release(executable);
    cJSON_AddNumberToObject(run->document, "disk_ms", ms);
    if (code == EXIT_OK && !json_is_asked_for())
        fprintf(stderr, "from the disk: build %.3f ms\n", ms);
    return code;
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

// Writes or prints each buffer that is asked for, or adds it to the document.
static int report_buffers(struct run *run)
{
    int code = EXIT_OK;
    cJSON *buffers = cJSON_AddArrayToObject(run->document, "buffers");
    for (uint32_t i = 0; i < run->argument_count && code == EXIT_OK; i++) {
        const struct argument *argument = &run->arguments[i];
        if (argument->is_output && argument->output)
            code = argument_write(argument);
        else if (argument->is_output && json_is_asked_for())
            add_buffer(buffers, argument, i);
        else if (argument->is_output)
            print_buffer(argument, i);
    }
    return code;
}

static int run_all(struct run *run)
{
    zepi_module_info_t info = {.size = sizeof(info)};
    int code = spec_create_module(&run->spec, &run->host, run->input, &run->module);
    if (code == EXIT_OK && zepi.module_get_info(run->module, &info) != ZEPI_SUCCESS)
        code = host_fail("module");
    run->state = info.state;
    while (run->made_count < run->argument_count && code == EXIT_OK) {
        const uint32_t i = run->made_count++;
        code = argument_init(&run->arguments[i], &run->host, run->texts[i]);
    }
    cJSON_AddStringToObject(run->document, "device", run->host.info.name);
    cJSON_AddStringToObject(run->document, "kernel", run->kernel);
    cJSON *rounds = cJSON_AddArrayToObject(run->document, "rounds");
    for (uint32_t i = 0; i < run->repeat && code == EXIT_OK; i++)
        code = run_round(run, i + 1, json_is_asked_for() ? json_add_object(rounds) : NULL);
    if (code == EXIT_OK && run->repeat > 1)
        code = build_from_disk(run);
    return code == EXIT_OK ? report_buffers(run) : code;
}

int command_run(int argc, char **argv)
{
    struct run run = {.build = {.size = sizeof(run.build)}, .repeat = 1};
    int code = parse(argc, argv, &run);
    if (code == EXIT_OK)
        code = host_open(&run.host, run.driver);
    if (code != EXIT_OK)
        return code;
    run.document = cJSON_CreateObject();
    code = run_all(&run);
    if (code == EXIT_OK)
        json_print(run.document);
    else
        cJSON_Delete(run.document);
    host_release(run.module);
    for (uint32_t i = 0; i < run.made_count; i++)
        argument_finish(&run.arguments[i], &run.host);
    host_close(&run.host);
    return code;
}
