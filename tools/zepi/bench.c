// SPDX-License-Identifier: MIT
#include "bench.h"
#include "commands.h"
#include "kernels.h"

#include <cjson/cJSON.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 15
#define LOOP 2000
#define MAX_CASES 64

static const char usage[] =
    "usage: zepi bench [--instructions] [--json]\n"
    "\n"
    "What operations cost through zepi and through plain Level Zero calls, on a driver that "
    "completes\n"
    "everything at once without executing it (ze_cpu with ZE_CPU_EXECUTE=0).\n"
    "\n"
    "  --instructions  count instructions with callgrind: the slope between three loop lengths.\n"
    "                  With it, a case is started by: zepi bench --case NUMBER --count COUNT\n"
    "\n"
    "Times are the best of 15 rounds, in turns.\n";

struct bench_options {
    bool is_json;
    bool is_instructions;
    int chosen; // a case to run alone, -1: none
    unsigned count;
};

static const struct bench_case *cases[MAX_CASES];
static int case_count;

static void gather(const struct bench_case *list)
{
    for (; list->name && case_count < MAX_CASES; list++)
        cases[case_count++] = list;
}

static int bench_open(struct bench *bench)
{
    const struct kernel_image image = kernel_image("bench");
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .format = ZEPI_IMAGE_SPIRV,
                                    .state = ZEPI_MODULE_INPUT,
                                    .bytes = image.bytes,
                                    .size_bytes = image.size_bytes};
    setenv("ZE_CPU_EXECUTE", "0", 1);
    int code = host_load(HOST_DRIVER_CPU);
    if (code == EXIT_OK)
        code = host_open(&bench->host, 0);
    if (code != EXIT_OK)
        return code;
    bool is_good =
        zepi.queue_create(bench->host.context, bench->host.device, 0, &bench->out_of_order) ==
            ZEPI_SUCCESS &&
        zepi.module_create(bench->host.context, ZEPI_MODULE_INPUT, 1, &desc, &bench->input) ==
            ZEPI_SUCCESS &&
        zepi.module_build(bench->input, NULL, &bench->executable) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(bench->executable, "three", &bench->three) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(bench->executable, "twelve", &bench->twelve) == ZEPI_SUCCESS;
    for (int i = 0; i < 4 && is_good; i++)
        is_good = zepi.usm_allocate(bench->host.context, bench->host.device, ZEPI_USM_DEVICE, 8192,
                                    0, &bench->memory[i]) == ZEPI_SUCCESS;
    return is_good ? EXIT_OK : host_fail("bench");
}

static void bench_close(struct bench *bench)
{
    bench_plain_finish(bench);
    for (int i = 0; i < 4; i++) {
        if (bench->memory[i])
            zepi.usm_free(bench->host.context, bench->memory[i]);
    }
    host_release(bench->twelve);
    host_release(bench->three);
    host_release(bench->executable);
    host_release(bench->input);
    host_release(bench->out_of_order);
    host_close(&bench->host);
}

// ---- Time ----

static bool measure_times(struct bench *bench, double *out_ns)
{
    for (int i = 0; i < case_count; i++)
        out_ns[i] = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < case_count; i++) {
            const uint64_t start_ns = host_now_ns();
            if (!cases[i]->run(bench, LOOP)) {
                host_fail(cases[i]->name);
                return false;
            }
            const double each_ns = (double)(host_now_ns() - start_ns) / LOOP;
            if (each_ns < out_ns[i])
                out_ns[i] = each_ns;
        }
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rround %d of %d ", round + 1, ROUNDS);
    }
    if (isatty(STDERR_FILENO))
        fputs("\r                   \r", stderr);
    return true;
}

// ---- Instructions ----

// Of this program running one case, 0 if callgrind does not say.
static double count_instructions(int chosen, unsigned count)
{
    char self[4096];
    char command[8192];
    char line[512];
    double instructions = 0;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return 0;
    self[length] = '\0';
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' bench --case %d "
             "--count %u 2>&1",
             self, chosen, count);
    FILE *output = popen(command, "r");
    if (!output)
        return 0;
    while (fgets(line, sizeof(line), output)) {
        const char *found = strstr(line, "Collected : ");
        if (found)
            instructions = strtod(found + strlen("Collected : "), NULL);
    }
    return pclose(output) == 0 ? instructions : 0;
}

// Two slopes of three lengths: if they differ, something grows with the loop.
struct slope {
    double first;
    double second;
};

static bool measure_slopes(struct slope *out_slopes)
{
    static const unsigned counts[3] = {20000, 40000, 60000};
    for (int i = 0; i < case_count; i++) {
        double totals[3];
        for (int at = 0; at < 3; at++) {
            totals[at] = count_instructions(i, counts[at]);
            if (totals[at] == 0) {
                fprintf(stderr,
                        "zepi bench: callgrind does not run case %d; is valgrind "
                        "installed?\n",
                        i);
                return false;
            }
        }
        out_slopes[i].first = (totals[1] - totals[0]) / (counts[1] - counts[0]);
        out_slopes[i].second = (totals[2] - totals[1]) / (counts[2] - counts[1]);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rcase %d of %d ", i + 1, case_count);
    }
    if (isatty(STDERR_FILENO))
        fputs("\r                   \r", stderr);
    return true;
}

static void print_table(const double *times, const struct slope *slopes)
{
    printf("%-22s %-48s %8s%s\n", "through", "operation", "ns", slopes ? "  instructions" : "");
    for (int i = 0; i < case_count; i++) {
        printf("%-22s %-48s %8.0f", cases[i]->row, cases[i]->name, times[i]);
        if (slopes)
            printf("  %.0f", slopes[i].second);
        putchar('\n');
    }
}

static void print_json(const double *times, const struct slope *slopes)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < case_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "through", cases[i]->row);
        cJSON_AddStringToObject(object, "operation", cases[i]->name);
        cJSON_AddNumberToObject(object, "ns", times[i]);
        if (slopes) {
            cJSON_AddNumberToObject(object, "instructions", slopes[i].second);
            cJSON_AddNumberToObject(object, "instructions_before", slopes[i].first);
        }
        cJSON_AddItemToArray(list, object);
    }
    char *text = cJSON_Print(list);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(list);
}

static int measure(struct bench *bench, const struct bench_options *options)
{
    static double times[MAX_CASES];
    static struct slope slopes[MAX_CASES];
    if (options->chosen >= 0) {
        if (options->chosen >= case_count) {
            fprintf(stderr, "zepi bench: there are %d cases\n", case_count);
            return EXIT_USAGE;
        }
        return cases[options->chosen]->run(bench, options->count)
                   ? EXIT_OK
                   : host_fail(cases[options->chosen]->name);
    }
    if (!measure_times(bench, times) || (options->is_instructions && !measure_slopes(slopes)))
        return EXIT_FAILED;
    if (options->is_json)
        print_json(times, options->is_instructions ? slopes : NULL);
    else
        print_table(times, options->is_instructions ? slopes : NULL);
    return EXIT_OK;
}

int command_bench(int argc, char **argv)
{
    static const struct option list[] = {
        {"instructions", no_argument, NULL, 'i'}, {"json", no_argument, NULL, 'j'},
        {"case", required_argument, NULL, 'c'},   {"count", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct bench_options options = {.chosen = -1, .count = LOOP};
    struct bench bench = {0};
    int option;
    while ((option = getopt_long(argc, argv, "", list, NULL)) != -1) {
        switch (option) {
        case 'i':
            options.is_instructions = true;
            break;
        case 'j':
            options.is_json = true;
            break;
        case 'c':
            options.chosen = atoi(optarg);
            break;
        case 'n':
            options.count = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            if (option != 'h')
                return command_refuse(usage);
            fputs(usage, stdout);
            return EXIT_OK;
        }
    }
    gather(bench_plain_cases);
    gather(bench_zepi_cases);
    int code = bench_open(&bench);
    if (code == EXIT_OK)
        code = measure(&bench, &options);
    bench_close(&bench);
    return code;
}
