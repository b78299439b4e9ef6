// SPDX-License-Identifier: MIT
#include "../json.h"
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const start_names[COMPARE_START_COUNT] = {"first", "warm"};

// How values are told: their names in JSON and in the table, and what the table divides them by.
static const struct {
    const char *name;
    const char *heading;
    double unit;
    int decimals;
} values[COMPARE_VALUE_COUNT] = {{"wall_s", "wall s", 1, 3},
                                 {"processor_s", "processor s", 1, 3},
                                 {"peak_bytes", "peak MiB", 1048576, 1},
                                 {"compiled", "compiled", 1, 0},
                                 {"from_cache", "from cache", 1, 0}};

struct summary {
    double median;
    double low;
    double high;
};

static int compare_numbers(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// False: there are no values.
static bool summarize(struct compare_way *way, int start, int value, struct summary *out_summary)
{
    double *list = way->values[start][value];
    const unsigned count = way->counts[start][value];
    if (count == 0)
        return false;
    qsort(list, count, sizeof(*list), compare_numbers);
    *out_summary =
        (struct summary){(list[(count - 1) / 2] + list[count / 2]) / 2, list[0], list[count - 1]};
    return true;
}

// Of a column in the table; the last one is not padded.
static int width_of(int value)
{
    return value < COMPARE_COMPILED ? 24 : value == COMPARE_COMPILED ? 9 : 0;
}

static void print_row(struct compare_way *way, int start)
{
    struct summary it;
    printf("  %-34s", way->name);
    if (way->reason[0]) {
        printf(" left out: %s\n", way->reason);
        return;
    }
    for (int i = 0; i < COMPARE_VALUE_COUNT; i++) {
        char text[64] = "-", spread[48];
        const double unit = values[i].unit;
        const int decimals = values[i].decimals;
        if (summarize(way, start, i, &it)) {
            snprintf(spread, sizeof(spread), " (%.*f to %.*f)", decimals, it.low / unit, decimals,
                     it.high / unit);
            snprintf(text, sizeof(text), "%.*f%s", decimals, it.median / unit,
                     it.low < it.high ? spread : "");
        }
        printf(" %-*s", width_of(i), text);
    }
    putchar('\n');
}

static void print_ratio(struct compare *compare, int start)
{
    struct summary ours, theirs;
    if (compare->ways[1].reason[0])
        return;
    printf("  %-34s", "zepi / the other");
    for (int i = 0; i < COMPARE_COMPILED; i++) {
        if (summarize(&compare->ways[0], start, i, &ours) &&
            summarize(&compare->ways[1], start, i, &theirs) && theirs.median > 0)
            printf(" %-24.2f", ours.median / theirs.median);
    }
    putchar('\n');
}

static void print_table(struct compare *compare)
{
    printf("driver: %s\n", host_driver_description());
    printf("median (lowest to highest) of %u round%s in turns\n", compare->rounds,
           compare->rounds == 1 ? "" : "s");
    for (int start = 0; start < COMPARE_START_COUNT; start++) {
        printf("%s start%*s", start_names[start], start == COMPARE_FIRST ? 25 : 26, "");
        for (int i = 0; i < COMPARE_VALUE_COUNT; i++)
            printf(" %-*s", width_of(i), values[i].heading);
        putchar('\n');
        for (int way = 0; way < 2; way++)
            print_row(&compare->ways[way], start);
        print_ratio(compare, start);
    }
}

static cJSON *make_row(struct compare_way *way, int start)
{
    struct summary it;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "adapter", way->name);
    cJSON_AddStringToObject(row, "start", start_names[start]);
    if (way->reason[0])
        cJSON_AddStringToObject(row, "left_out", way->reason);
    for (int i = 0; i < COMPARE_VALUE_COUNT && !way->reason[0]; i++) {
        if (!summarize(way, start, i, &it))
            continue;
        cJSON *value = cJSON_AddObjectToObject(row, values[i].name);
        cJSON_AddNumberToObject(value, "median", it.median);
        cJSON_AddNumberToObject(value, "low", it.low);
        cJSON_AddNumberToObject(value, "high", it.high);
    }
    return row;
}

static void print_json(struct compare *compare)
{
    cJSON *whole = cJSON_CreateObject();
    cJSON *command = cJSON_AddArrayToObject(whole, "command");
    for (char *const *word = compare->program; *word; word++)
        cJSON_AddItemToArray(command, cJSON_CreateString(*word));
    cJSON_AddStringToObject(whole, "driver", host_driver_description());
    cJSON_AddNumberToObject(whole, "rounds", compare->rounds);
    cJSON *rows = cJSON_AddArrayToObject(whole, "rows");
    for (int start = 0; start < COMPARE_START_COUNT; start++) {
        for (int way = 0; way < 2; way++)
            cJSON_AddItemToArray(rows, make_row(&compare->ways[way], start));
    }
    json_print(whole);
}

void compare_report(struct compare *compare, bool is_json)
{
    if (is_json)
        print_json(compare);
    else
        print_table(compare);
}
