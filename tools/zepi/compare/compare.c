// SPDX-License-Identifier: MIT
#include "compare.h"

#include "../commands.h"
#include "../kernels.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 25
#define WARM_UP_ROUNDS 2
#define MAX_ROWS 16

static const char usage[] =
    "usage: zepi compare [--json] [launch] [copy] [queues] [multiply]\n"
    "\n"
    "The same work on ze_cpu through zepi and in another way; without a word, all of:\n"
    "  launch    an empty kernel, against OpenCL on the same runtime: 1,000 launches with one\n"
    "            finish, each with its own, each with an event to wait for\n"
    "  copy      between host and device, against memcpy\n"
    "  queues    work in one queue against the same work in two: 2 where both cores are used;\n"
    "            beside it, threads that spin\n"
    "  multiply  the blocked matrix multiply of zepi demo, against OpenCL on the same runtime\n"
    "Times are the best of 25 rounds in turns.\n";

static const struct part {
    const char *name;
    bool (*run)(struct compare *compare);
} parts[] = {{"launch", compare_launch},
             {"copy", compare_copy},
             {"queues", compare_queues},
             {"multiply", compare_multiply}};
#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

bool compare_zepi_kernel(const struct compare *compare, const char *image, const char *name,
                         const int64_t *value, zepi_kernel_t *out_kernel)
{
    const struct kernel_image spirv = kernel_image(image);
    const zepi_device_image_desc_t desc = {.size = sizeof(desc),
                                           .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                           .state = ZEPI_MODULE_INPUT,
                                           .bytes = spirv.bytes,
                                           .size_bytes = spirv.size_bytes};
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    const bool is_made =
        zepi.module_create(compare->host.context, ZEPI_MODULE_INPUT, 1, &desc, &input) ==
            ZEPI_SUCCESS &&
        (!value || zepi.spec_constant_set(input, 0, sizeof(*value), value) == ZEPI_SUCCESS) &&
        zepi.module_build(input, NULL, &executable) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(executable, name, out_kernel) == ZEPI_SUCCESS;
    host_release(input);
    host_release(executable);
    if (!is_made)
        host_fail("zepi's kernel");
    return is_made;
}

bool compare_opencl_kernel(const struct compare *compare, const char *image, const char *name,
                           const int64_t *value, cl_kernel *out_kernel)
{
    const struct kernel_image spirv = kernel_image(image);
    const struct cpu_opencl *opencl = compare->opencl;
    const cl_icd_dispatch *api = opencl->api;
    cl_int code = CL_SUCCESS;
    cl_program program =
        api->clCreateProgramWithIL(opencl->context, spirv.bytes, spirv.size_bytes, &code);
    if (code == CL_SUCCESS && value)
        code = api->clSetProgramSpecializationConstant(program, 0, sizeof(*value), value);
    if (code == CL_SUCCESS)
        code = api->clBuildProgram(program, 1, &opencl->device, NULL, NULL, NULL);
    if (code == CL_SUCCESS)
        *out_kernel = api->clCreateKernel(program, name, &code);
    if (program)
        api->clReleaseProgram(program);
    if (code != CL_SUCCESS)
        fprintf(stderr, "zepi compare: OpenCL's kernel: it answers %d\n", code);
    return code == CL_SUCCESS;
}

static void add_row(struct compare *compare, const char *group, const char *const ways[2],
                    const struct compare_row *row, const double best_us[2])
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "group", group);
    cJSON_AddStringToObject(object, "what", row->what);
    cJSON *times = cJSON_AddObjectToObject(object, "us");
    for (int i = 0; i < 2; i++)
        cJSON_AddNumberToObject(times, ways[i], best_us[i]);
    cJSON_AddNumberToObject(object, "ratio", best_us[0] / best_us[1]);
    if (row->size_bytes != 0) {
        cJSON *speeds = cJSON_AddObjectToObject(object, "GB/s");
        for (int i = 0; i < 2; i++)
            cJSON_AddNumberToObject(speeds, ways[i], (double)row->size_bytes / best_us[i] / 1e3);
    }
    cJSON_AddItemToArray(compare->rows, object);
}

// One run of each way, and its time if it is the best so far.
static bool run_round(const struct compare_row *row, double best_us[2], bool is_warm)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t start_ns = host_now_ns();
        if (!row->run[i](row->self[i]))
            return false;
        const double us = (double)(host_now_ns() - start_ns) / 1e3 / row->count;
        if (is_warm && us < best_us[i])
            best_us[i] = us;
    }
    return true;
}

bool compare_in_turns(struct compare *compare, const char *group, const char *const ways[2],
                      const struct compare_row *rows, size_t count)
{
    const bool shows_progress = isatty(STDERR_FILENO);
    double best_us[MAX_ROWS][2];
    bool is_good = count <= MAX_ROWS;
    for (size_t i = 0; i < count && is_good; i++)
        best_us[i][0] = best_us[i][1] = 1e30;
    for (int round = 0; is_good && round < WARM_UP_ROUNDS + ROUNDS; round++) {
        if (shows_progress)
            fprintf(stderr, "\r%s: round %d of %d ", group, round + 1, WARM_UP_ROUNDS + ROUNDS);
        for (size_t i = 0; is_good && i < count; i++)
            is_good = run_round(&rows[i], best_us[i], round >= WARM_UP_ROUNDS);
    }
    if (shows_progress)
        fputs("\r\033[K", stderr); // clears the line
    for (size_t i = 0; i < count && is_good; i++)
        add_row(compare, group, ways, &rows[i], best_us[i]);
    if (!is_good)
        host_fail(group);
    return is_good;
}

static void print_heading(const cJSON *row)
{
    const cJSON *time;
    printf("%-50s", cJSON_GetObjectItem(row, "group")->valuestring);
    cJSON_ArrayForEach(time, cJSON_GetObjectItem(row, "us"))
    {
        printf(" %9s us", time->string);
    }
    printf("    ratio%s\n", cJSON_HasObjectItem(row, "GB/s") ? "       GB/s" : "");
}

static void print_row(const cJSON *row)
{
    const cJSON *value;
    printf("  %-48s", cJSON_GetObjectItem(row, "what")->valuestring);
    cJSON_ArrayForEach(value, cJSON_GetObjectItem(row, "us"))
    {
        printf(" %12.3f", value->valuedouble);
    }
    printf(" %8.3f", cJSON_GetObjectItem(row, "ratio")->valuedouble);
    cJSON_ArrayForEach(value, cJSON_GetObjectItem(row, "GB/s"))
    {
        printf(" %9.2f", value->valuedouble);
    }
    putchar('\n');
}

static void print(const cJSON *rows, bool is_json)
{
    const cJSON *row;
    const char *group = "";
    if (is_json) {
        char *text = cJSON_Print(rows);
        if (text)
            puts(text);
        cJSON_free(text);
        return;
    }
    cJSON_ArrayForEach(row, rows)
    {
        const char *its_group = cJSON_GetObjectItem(row, "group")->valuestring;
        if (strcmp(its_group, group) != 0)
            print_heading(row);
        group = its_group;
        print_row(row);
    }
}

// Sets a bit for each part that is named, or all of them.
static bool choose_parts(int count, char **names, unsigned *out_chosen)
{
    unsigned chosen = 0;
    for (int i = 0; i < count; i++) {
        size_t part = 0;
        while (part < PART_COUNT && strcmp(parts[part].name, names[i]) != 0)
            part++;
        if (part == PART_COUNT) {
            fprintf(stderr, "zepi compare: there is no part '%s'\n", names[i]);
            return false;
        }
        chosen |= 1u << part;
    }
    *out_chosen = chosen ? chosen : (1u << PART_COUNT) - 1;
    return true;
}

static int run_parts(unsigned chosen, bool is_json)
{
    struct compare compare = {0};
    const char *message = "";
    int code = host_load(HOST_DRIVER_CPU);
    if (code == EXIT_OK)
        code = host_open(&compare.host, 0);
    if (code != EXIT_OK)
        return code;
    compare.opencl = cpu_opencl_open(&message);
    compare.rows = cJSON_CreateArray();
    if (!compare.opencl) {
        fprintf(stderr, "zepi compare: %s\n", message);
        code = EXIT_FAILED;
    }
    for (size_t i = 0; i < PART_COUNT && code == EXIT_OK; i++) {
        if ((chosen & 1u << i) && !parts[i].run(&compare))
            code = EXIT_FAILED;
    }
    if (code == EXIT_OK)
        print(compare.rows, is_json);
    cJSON_Delete(compare.rows);
    host_close(&compare.host);
    return code;
}

int command_compare(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool is_json = false;
    unsigned chosen = 0;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option != 'j') {
            if (option != 'h')
                return command_refuse(usage);
            fputs(usage, stdout);
            return EXIT_OK;
        }
        is_json = true;
    }
    if (!choose_parts(argc - optind, argv + optind, &chosen))
        return command_refuse(usage);
    return run_parts(chosen, is_json);
}
