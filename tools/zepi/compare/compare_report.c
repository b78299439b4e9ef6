// SPDX-License-Identifier: MIT
#include "../json.h"
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>

const char *const compare_start_names[COMPARE_START_COUNT] = {"first", "warm"};

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

// The median and the spread of one value, "-" if there is none.
static void format(struct compare_way *way, int start, int value, char text[64])
{
    struct summary it;
    const double unit = values[value].unit;
    const int decimals = values[value].decimals;
    const bool is_there = !way->reason[0] && summarize(way, start, value, &it);
    if (!is_there)
        snprintf(text, 64, "-");
    else if (it.low < it.high)
        snprintf(text, 64, "%.*f (%.*f to %.*f)", decimals, it.median / unit, decimals,
                 it.low / unit, decimals, it.high / unit);
    else
        snprintf(text, 64, "%.*f", decimals, it.median / unit);
}

static void print_value(struct compare *compare, int start, int value)
{
    struct compare_way *ours = &compare->ways[0], *other = &compare->ways[1];
    struct summary our_sum, other_sum;
    char ratio[32] = "", our_text[64], other_text[64];
    format(ours, start, value, our_text);
    format(other, start, value, other_text);
    if (value < COMPARE_COMPILED && !other->reason[0] && summarize(ours, start, value, &our_sum) &&
        summarize(other, start, value, &other_sum) && other_sum.median > 0)
        snprintf(ratio, sizeof(ratio), " %.2f", our_sum.median / other_sum.median);
    printf("  %-13s %-26s %-*s%s\n", values[value].heading, our_text, ratio[0] ? 34 : 0, other_text,
           ratio);
}

static void print_table(struct compare *compare)
{
    printf("driver: %s\n", host_driver_description());
    printf("median (lowest to highest) of %u round%s in turns\n", compare->rounds,
           compare->rounds == 1 ? "" : "s");
    for (int way = 0; way < 2; way++)
        if (compare->ways[way].reason[0])
            printf("%s is left out: %s\n", compare->ways[way].name, compare->ways[way].reason);
    for (int start = 0; start < COMPARE_START_COUNT; start++) {
        printf("%s start%*s %-26s %-34s zepi / the other\n", compare_start_names[start],
               start == COMPARE_FIRST ? 4 : 5, "", compare->ways[0].name, compare->ways[1].name);
        for (int value = 0; value < COMPARE_VALUE_COUNT; value++)
            print_value(compare, start, value);
    }
}

static cJSON *make_row(struct compare_way *way, int start)
{
    struct summary it;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "adapter", way->name);
    cJSON_AddStringToObject(row, "start", compare_start_names[start]);
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

void compare_report(struct compare *compare)
{
    if (json_is_asked_for())
        print_json(compare);
    else
        print_table(compare);
}
