// SPDX-License-Identifier: MIT
#include "bench.h"
#include "bench_ur.h"
#include "commands.h"
#include "kernels.h"

#include <cjson/cJSON.h>

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 15
#define LOOP 2000
#define MAX_CASES 80
#define MAX_ADAPTERS 3

static const char usage[] =
    "usage: zepi bench [--instructions] [--adapter FILE]... [--json]\n"
    "\n"
    "What operations cost through zepi's table, through zepi as an adapter of Unified Runtime, "
    "and\n"
    "through plain Level Zero calls, on a driver that completes everything at once without "
    "executing\n"
    "it (ze_cpu with ZE_CPU_EXECUTE=0).\n"
    "\n"
    "  --instructions  count instructions with callgrind: the slope between three loop lengths,\n"
    "                  less that of the loop without the operation\n"
    "\n"
    "  --adapter FILE  the same through another adapter of Unified Runtime, up to 3 of them\n"
    "\n"
    "Times are the best of 15 rounds, in turns.\n";

struct bench_options {
    bool is_json;
    bool is_instructions;
    bool is_counted; // only run what callgrind counts
    int chosen;      // a case to run alone, -1: none
    unsigned count;
};

static const struct bench_case *cases[MAX_CASES];
static void *states[MAX_CASES]; // for each of them, what its adapter is
static int case_count;

static void gather(const struct bench_case *list, void *state)
{
    for (; list->name && case_count < MAX_CASES; list++) {
        cases[case_count] = list;
        states[case_count++] = state;
    }
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

// Adapters of Unified Runtime: zepi's own first.
static const char *adapter_paths[MAX_ADAPTERS];
static int adapter_count;
static struct bench_ur *adapters[MAX_ADAPTERS + 1];

static void open_adapter(int at, const char *path, const char *row)
{
    adapters[at] = bench_ur_open(path, row);
    if (adapters[at])
        gather(bench_ur_cases(adapters[at]), adapters[at]);
}

// One that does not come up has said so, and is left out.
static void open_adapters(void)
{
    char path[PATH_MAX];
    // zepi's is not there where Unified Runtime's headers are not.
    if (host_find_library("ZEPI_UR_ADAPTER", "libur_adapter_zepi.so", path))
        open_adapter(0, path, "zepi, Unified Runtime");
    for (int i = 0; i < adapter_count; i++) {
        const char *slash = strrchr(adapter_paths[i], '/');
        open_adapter(i + 1, adapter_paths[i], slash ? slash + 1 : adapter_paths[i]);
    }
}

// ---- Time ----

static bool measure_times(struct bench *bench, double *out_ns)
{
    for (int i = 0; i < case_count; i++)
        out_ns[i] = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < case_count; i++) {
            bench->state = states[i];
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

bool bench_empty_loop(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        bench_keep(bench);
    return true;
}

// Lengths of loops. What a case does before and after its loop falls out of the differences.
static const unsigned lengths[] = {2000, 4000, 6000};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

typedef bool bench_loop_fn(struct bench *bench, unsigned count);

// Not inlined: callgrind counts in here alone, and writes down what it counted at its end.
bool bench_run_counted(bench_loop_fn *loop, struct bench *bench, unsigned count);
__attribute__((noinline, noclone)) bool bench_run_counted(bench_loop_fn *loop, struct bench *bench,
                                                          unsigned count)
{
    const bool is_good = loop(bench, count);
    bench_keep(bench);
    return is_good;
}

// What runs under callgrind: the loops of all cases in all lengths.
static int run_counted(struct bench *bench)
{
    for (int i = 0; i < case_count; i++) {
        bench->state = states[i];
        for (size_t at = 0; at < LENGTHS; at++) {
            if (!bench_run_counted(cases[i]->run, bench, lengths[at]) ||
                !bench_run_counted(cases[i]->loop, bench, lengths[at]))
                return host_fail(cases[i]->name);
        }
    }
    return EXIT_OK;
}

// Instructions of the call number `number`, from 1 on; 0 if there is none.
static double read_counted(const char *folder, int number)
{
    char path[64];
    char line[512];
    double instructions = 0;
    snprintf(path, sizeof(path), "%s/out.%d", folder, number);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (instructions == 0 && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "summary: ", 9) == 0)
            instructions = strtod(line + 9, NULL);
    }
    fclose(file);
    return instructions;
}

// Two slopes of three lengths: if they differ, something grows with the loop.
struct slope {
    double first;
    double second;
};

// Of an operation, without the loop that it is in.
struct cost {
    struct slope newest;
    struct slope one_by_one; // without launch-with-arguments
};

static bool read_slope(const char *folder, int at, struct slope *out_slope)
{
    double own[LENGTHS];
    for (size_t i = 0; i < LENGTHS; i++) {
        const int number = 1 + 2 * (int)(LENGTHS * (size_t)at + i);
        const double all = read_counted(folder, number);
        const double loop = read_counted(folder, number + 1);
        if (all == 0 || loop == 0)
            return false;
        own[i] = all - loop;
    }
    out_slope->first = (own[1] - own[0]) / (lengths[1] - lengths[0]);
    out_slope->second = (own[2] - own[1]) / (lengths[2] - lengths[1]);
    return true;
}

static bool measure_slopes(const char *folder, const char *environment, struct slope *out_slopes)
{
    char self[4096];
    char command[8192];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    snprintf(command, sizeof(command),
             "%s valgrind --tool=callgrind --toggle-collect=bench_run_counted "
             "--dump-after=bench_run_counted --callgrind-out-file=%s/out '%s' bench --counted "
             ">%s/log 2>&1",
             environment, folder, self, folder);
    bool is_good = system(command) == 0;
    for (int i = 0; i < case_count && is_good; i++)
        is_good = read_slope(folder, i, &out_slopes[i]);
    return is_good;
}

static void remove_counted(const char *folder)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "zepi bench: %s stays\n", folder);
}

static bool measure_costs(struct cost *out_costs)
{
    static struct slope slopes[MAX_CASES];
    static const char *const environments[] = {"", "ZEPI_ONE_CALL_LAUNCH=off"};
    char folder[] = "/tmp/zepi-bench-XXXXXX";
    if (!mkdtemp(folder)) {
        perror("zepi bench: a folder in /tmp");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rcounting instructions, %d of 2 ", i + 1);
        if (!measure_slopes(folder, environments[i], slopes)) {
            fprintf(stderr,
                    "zepi bench: callgrind does not count (is valgrind installed?): see %s/log\n",
                    folder);
            return false;
        }
        for (int at = 0; at < case_count; at++)
            *(i == 0 ? &out_costs[at].newest : &out_costs[at].one_by_one) = slopes[at];
    }
    if (isatty(STDERR_FILENO))
        fputs("\r                              \r", stderr);
    remove_counted(folder);
    return true;
}

static void print_table(const double *times, const struct cost *costs)
{
    printf("%-22s %-48s %8s%s\n", "through", "operation", "ns",
           costs ? "  instructions  without launch-with-arguments" : "");
    for (int i = 0; i < case_count; i++) {
        printf("%-22s %-48s %8.0f", cases[i]->row, cases[i]->name, times[i]);
        if (costs)
            printf("  %12.0f", costs[i].newest.second);
        if (costs && cases[i]->has_launch)
            printf("  %29.0f", costs[i].one_by_one.second);
        putchar('\n');
    }
}

static void print_json(const double *times, const struct cost *costs)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < case_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "through", cases[i]->row);
        cJSON_AddStringToObject(object, "operation", cases[i]->name);
        cJSON_AddNumberToObject(object, "ns", times[i]);
        if (costs) {
            cJSON_AddNumberToObject(object, "instructions", costs[i].newest.second);
            cJSON_AddNumberToObject(object, "instructions_before", costs[i].newest.first);
        }
        if (costs && cases[i]->has_launch)
            cJSON_AddNumberToObject(object, "instructions_without_launch_with_arguments",
                                    costs[i].one_by_one.second);
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
    static struct cost costs[MAX_CASES];
    if (options->chosen >= 0) {
        if (options->chosen >= case_count) {
            fprintf(stderr, "zepi bench: there are %d cases\n", case_count);
            return EXIT_USAGE;
        }
        bench->state = states[options->chosen];
        return bench_run_counted(cases[options->chosen]->run, bench, options->count)
                   ? EXIT_OK
                   : host_fail(cases[options->chosen]->name);
    }
    if (options->is_counted)
        return run_counted(bench);
    if (!measure_times(bench, times) || (options->is_instructions && !measure_costs(costs)))
        return EXIT_FAILED;
    if (options->is_json)
        print_json(times, options->is_instructions ? costs : NULL);
    else
        print_table(times, options->is_instructions ? costs : NULL);
    return EXIT_OK;
}

int command_bench(int argc, char **argv)
{
    static const struct option list[] = {
        {"instructions", no_argument, NULL, 'i'}, {"json", no_argument, NULL, 'j'},
        {"case", required_argument, NULL, 'c'},   {"count", required_argument, NULL, 'n'},
        {"counted", no_argument, NULL, 'C'},      {"adapter", required_argument, NULL, 'a'},
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
        case 'a':
            if (adapter_count == MAX_ADAPTERS)
                return command_refuse(usage);
            adapter_paths[adapter_count++] = optarg;
            break;
        case 'c':
            options.chosen = atoi(optarg);
            break;
        case 'C':
            options.is_counted = true;
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
    gather(bench_plain_cases, NULL);
    gather(bench_zepi_cases, NULL);
    int code = bench_open(&bench);
    if (code == EXIT_OK) {
        open_adapters();
        code = measure(&bench, &options);
    }
    for (int i = 0; i <= MAX_ADAPTERS; i++)
        bench_ur_close(adapters[i]);
    bench_close(&bench);
    return code;
}
