// SPDX-License-Identifier: MIT
#include "scale.h"
#include "tools/zepi/json.h"

#include "../measure/grid.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static double ratio_of(const struct scale_cell *cell)
{
    return cell->own[0] > 0 ? cell->own[1] / cell->own[0] : 1;
}

bool scale_is_within_limit(const struct scale_cell *cell)
{
    return cell->own[1] <= SCALE_LIMIT * cell->own[0] || cell->own[1] <= cell->own[0] + SCALE_ROOM;
}

// ---- Markdown ----

static void put_cell(struct grid *grid, const struct scale_cell *cell)
{
    const int line = grid->lines++;
    grid_put(grid, line, 0, "- %s", cell->title);
    grid_put(grid, line, 1, "%.0f", cell->own[0]);
    grid_put(grid, line, 2, "%.0f", cell->own[1]);
    grid_put(grid, line, 3, "%.2f", ratio_of(cell));
}

void scale_report_table(const struct scale_result *results)
{
    static struct grid grid;
    static const char *const head[] = {"alive", "own, 200", "20,000", "ratio"};
    grid.columns = sizeof(head) / sizeof(head[0]);
    grid.lines = 1;
    for (int i = 0; i < grid.columns; i++)
        grid_put(&grid, 0, i, "%s", head[i]);
    for (; results->info; results++) {
        grid_put(&grid, grid.lines++, 0, "%s", results->info->name);
        for (int i = 0; i < SCALE_MAX_OPERATIONS; i++) {
            if (results->cells[i].title)
                put_cell(&grid, &results->cells[i]);
        }
    }
    grid_print(&grid);
    printf(
        "own: zepi's instructions an operation, without the driver's and the loader's.\nThe limit "
        "of the ratio is %.0f, if there are more than %d instructions more.\nNot measured:\n",
        SCALE_LIMIT, SCALE_ROOM);
    for (int i = 0; scale_left_out[i].type; i++)
        printf("- %s:\n  %s\n", scale_left_out[i].type, scale_left_out[i].reason);
}

// ---- JSON ----

static void add_cell(cJSON *list, const struct scale_result *result, const struct scale_cell *cell)
{
    cJSON *object = json_add_object(list);
    cJSON_AddStringToObject(object, "case", result->info->name);
    if (result->info->types)
        cJSON_AddStringToObject(object, "types", result->info->types);
    cJSON_AddStringToObject(object, "operation", cell->title);
    cJSON_AddNumberToObject(object, "instructions_few", cell->own[0]);
    cJSON_AddNumberToObject(object, "instructions_many", cell->own[1]);
    cJSON_AddNumberToObject(object, "ratio", ratio_of(cell));
    cJSON_AddBoolToObject(object, "is_within_limit", scale_is_within_limit(cell));
}

void scale_report_json(const struct scale_result *results)
{
    cJSON *whole = cJSON_CreateObject();
    cJSON_AddNumberToObject(whole, "few", SCALE_FEW);
    cJSON_AddNumberToObject(whole, "many", SCALE_MANY);
    cJSON_AddNumberToObject(whole, "limit", SCALE_LIMIT);
    cJSON_AddNumberToObject(whole, "room", SCALE_ROOM);
    cJSON *list = cJSON_AddArrayToObject(whole, "operations");
    for (; results->info; results++) {
        for (int i = 0; i < SCALE_MAX_OPERATIONS; i++) {
            if (results->cells[i].title)
                add_cell(list, results, &results->cells[i]);
        }
    }
    cJSON *left_out = cJSON_AddArrayToObject(whole, "left_out");
    for (int i = 0; scale_left_out[i].type; i++) {
        cJSON *object = json_add_object(left_out);
        cJSON_AddStringToObject(object, "type", scale_left_out[i].type);
        cJSON_AddStringToObject(object, "reason", scale_left_out[i].reason);
    }
    json_print(whole);
}
