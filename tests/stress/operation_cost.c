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
    double newest;     // 0: not judged
    double one_by_one; // without launch-with-arguments; 0: not judged
} limits[] = {
    {TABLE, "launch-3", 150, 0},         {TABLE, "launch-12", 220, 0},
    {TABLE, "launch-event", 220, 0},     {TABLE, "launch-after", 260, 0},
    {TABLE, "launch-suggested", 170, 0}, {TABLE, "launch-value", 490, 0},
    {TABLE, "launch-values", 490, 0},    {TABLE, "copy", 110, 0},
    {TABLE, "allocate", 150, 0},         {TABLE, "kernel", 250, 0},
    {TABLE, "program", 1700, 0},         {ADAPTER, "launch-3", 200, 0},
    {ADAPTER, "launch-12", 280, 0},      {ADAPTER, "launch-event", 280, 0},
    {ADAPTER, "launch-after", 330, 0},   {ADAPTER, "launch-suggested", 230, 0},
    {ADAPTER, "copy", 140, 0},           {ADAPTER, "allocate", 200, 0},
    {ADAPTER, "kernel", 300, 0},         {ADAPTER, "program", 2000, 0},
};
#define LIMIT_COUNT (sizeof(limits) / sizeof(limits[0]))

typedef bool choose_fn(const struct limit *limit);

static bool is_judged(const struct limit *limit)
{
    return limit->newest > 0 || limit->one_by_one > 0;
}

static bool is_listed(const struct limit *limit)
{
    return limit->operation != NULL;
}

// What zepi bench says of the operations that are chosen; NULL: nothing.
static cJSON *run_bench(const char *option, choose_fn *is_chosen)
{
    static char text[1 << 20];
    char command[1024];
    size_t size = 0;
    snprintf(command, sizeof(command), "'" TEST_ZEPI "' bench --json %s", option);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        char part[64];
        snprintf(part, sizeof(part), " --case %s", limits[i].operation);
        if (is_chosen(&limits[i]) && !strstr(command, part))
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

static bool is_within(const cJSON *cell, const char *key, double limit)
{
    const cJSON *cost = cJSON_GetObjectItem(cell, key);
    if (limit == 0)
        return true;
    if (!cJSON_IsNumber(cost) || cost->valuedouble <= 0)
        return false;
    printf("%s, %s: %.0f %s, at most %.0f\n", cJSON_GetObjectItem(cell, "row")->valuestring,
           cJSON_GetObjectItem(cell, "operation")->valuestring, cost->valuedouble, key,
           limit * MARGIN);
    return cost->valuedouble <= limit * MARGIN;
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
            return is_within(cell, "instructions", limit->newest) &&
                   is_within(cell, "one_by_one_instructions", limit->one_by_one);
    }
    // Unified Runtime's headers may be missing.
    printf("%s, %s: not measured\n", limit->row, limit->operation);
    return strcmp(limit->row, ADAPTER) == 0 && !TEST_HAS_ADAPTER;
}

static bool judge_costs(void)
{
    cJSON *said = run_bench("--instructions", is_judged);
    bool is_good = said != NULL;
    for (size_t i = 0; i < LIMIT_COUNT && said; i++) {
        if (is_judged(&limits[i]))
            is_good = judge(cJSON_GetObjectItem(said, "operations"), &limits[i]) && is_good;
    }
    cJSON_Delete(said);
    return is_good;
}

static bool judge_growth(void)
{
    cJSON *said = run_bench("--growth", is_listed);
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
