// SPDX-License-Identifier: MIT
//
// Instructions of operations, as zepi bench counts them, against what they may cost; and how much a
// million of each leaves behind.
#include "test_cost.h"
#include "test_env.h"

#include <cjson/cJSON.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Another compiler makes other code of the same.
static const double MARGIN = 1.15;
// Less than a byte and a half each.
enum { LIMIT_GROWTH_KIB = 1024 };

#define TABLE "zepi"
#define ADAPTER "zepi, Unified Runtime"

static const struct limit {
    const char *row;
    const char *operation;
    double instructions;
} limits[] = {
    {TABLE, "launch-3", 390},
    {TABLE, "launch-12", 680},
    {TABLE, "launch-event", 460},
    {TABLE, "launch-after", 560},
    {TABLE, "launch-suggested", 390},
    {TABLE, "launch-value", 650},
    {TABLE, "launch-values", 600},
    {TABLE, "copy", 140},
    {TABLE, "allocate", 180},
    // With the copy that makes the queue busy.
    {TABLE, "busy-allocate", 450},
    {TABLE, "kernel", 800},
    {TABLE, "program", 4800},
    {TABLE, "program-large", 10000},
    {ADAPTER, "launch-3", 390},
    {ADAPTER, "launch-12", 680},
    {ADAPTER, "launch-event", 460},
    {ADAPTER, "launch-after", 560},
    {ADAPTER, "launch-suggested", 390},
    {ADAPTER, "copy", 150},
    {ADAPTER, "allocate", 215},
    {ADAPTER, "busy-allocate", 570},
    {ADAPTER, "kernel", 900},
    {ADAPTER, "program", 5200},
    {ADAPTER, "program-large", 10400},
};
#define LIMIT_COUNT (sizeof(limits) / sizeof(limits[0]))

// What zepi bench says of the operations that have a limit; NULL: nothing.
static cJSON *run_bench(const char *option)
{
    static char text[1 << 20];
    char command[1024];
    size_t size = 0;
    snprintf(command, sizeof(command), "'" TEST_ZEPI "' bench --json %s", option);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        char part[64];
        snprintf(part, sizeof(part), " --case %s", limits[i].operation);
        if (!strstr(command, part))
            strncat(command, part, sizeof(command) - strlen(command) - 1);
    }
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): the command is ours
    if (!output)
        return NULL;
    size = fread(text, 1, sizeof(text) - 1, output);
    text[size] = '\0';
    cJSON *said = pclose(output) == 0 ? cJSON_Parse(text) : NULL;
    if (!said)
        puts("zepi bench says nothing that is JSON");
    return said;
}

static bool is_within(const cJSON *cell, const struct limit *limit)
{
    const cJSON *cost = cJSON_GetObjectItem(cell, "instructions");
    const double most = limit->instructions * MARGIN;
    if (!cJSON_IsNumber(cost) || cost->valuedouble <= 0) {
        printf("%s, %s: not counted\n", limit->row, limit->operation);
        return false;
    }
    printf("%s, %s: %.0f instructions, at most %.0f\n", limit->row, limit->operation,
           cost->valuedouble, most);
    return cost->valuedouble <= most;
}

static bool judge(const cJSON *cells, const struct limit *limit)
{
    const cJSON *cell;
    cJSON_ArrayForEach(cell, cells)
    {
        const char *row = cJSON_GetStringValue(cJSON_GetObjectItem(cell, "row"));
        const char *operation = cJSON_GetStringValue(cJSON_GetObjectItem(cell, "operation"));
        if (row && operation && strcmp(row, limit->row) == 0 &&
            strcmp(operation, limit->operation) == 0)
            return is_within(cell, limit);
    }
    // Unified Runtime's headers may be missing.
    printf("%s, %s: not measured\n", limit->row, limit->operation);
    return strcmp(limit->row, ADAPTER) == 0 && !TEST_HAS_ADAPTER;
}

static bool judge_costs(void)
{
    cJSON *said = run_bench("--instructions");
    bool is_good = said != NULL;
    for (size_t i = 0; i < LIMIT_COUNT && said; i++)
        is_good = judge(cJSON_GetObjectItem(said, "operations"), &limits[i]) && is_good;
    cJSON_Delete(said);
    return is_good;
}

static bool judge_growth(void)
{
    cJSON *said = run_bench("--growth");
    const cJSON *cell;
    int count = 0;
    bool is_good = said != NULL;
    cJSON_ArrayForEach(cell, cJSON_GetObjectItem(said, "operations"))
    {
        const cJSON *growth = cJSON_GetObjectItem(cell, "growth_kib");
        if (!cJSON_IsNumber(growth))
            continue;
        count++;
        if (growth->valuedouble <= LIMIT_GROWTH_KIB)
            continue;
        is_good = false;
        printf("%s, %s: a million leave %.0f KiB\n", cJSON_GetObjectItem(cell, "row")->valuestring,
               cJSON_GetObjectItem(cell, "operation")->valuestring, growth->valuedouble);
    }
    printf("%d operations were done a million times\n", count);
    cJSON_Delete(said);
    return is_good && count >= (TEST_HAS_ADAPTER ? 2 : 1) * 9;
}

int main(void)
{
    if (!test_cost_is_measurable())
        return TEST_SKIPPED;
    const bool is_small = judge_growth();
    if (!test_cost_has_valgrind())
        return is_small ? TEST_SKIPPED : 1;
    return judge_costs() && is_small ? 0 : 1;
}
