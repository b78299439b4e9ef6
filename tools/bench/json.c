// SPDX-License-Identifier: MIT
#include "tools/zepi/json.h"
#include "measure/times.h"
#include "measures.h"
#include "tools/zepi/kernels.h"

#include <cjson/cJSON.h>

static void add_measures(cJSON *object, const struct bench_cell *cell)
{
    if (cell->has_time) {
        cJSON_AddNumberToObject(object, "best_ns", cell->time.best_ns);
        cJSON_AddNumberToObject(object, "median_ns", cell->time.median_ns);
    }
    if (cell->has_count) {
        cJSON_AddNumberToObject(object, "instructions", cell->count.whole);
        cJSON_AddNumberToObject(object, "instructions_first", cell->count.first);
        cJSON_AddNumberToObject(object, "instructions_second", cell->count.second);
        cJSON_AddBoolToObject(object, "is_straight", bench_slope_is_straight(&cell->count));
    }
}

static void add_cell(cJSON *list, const struct bench *bench, int place, int operation)
{
    const struct bench_operation_info *info = &bench_operations[operation];
    cJSON *object = json_add_object(list);
    cJSON_AddStringToObject(object, "row", bench->rows[place].name);
    cJSON_AddStringToObject(object, "operation", info->name);
    cJSON_AddStringToObject(object, "title", info->title);
    if (info->image)
        cJSON_AddNumberToObject(object, "image_bytes",
                                (double)kernel_image(info->image).size_bytes);
    add_measures(object, &bench->cells[place][operation]);
    if (bench->cells[place][operation].has_growth)
        cJSON_AddNumberToObject(object, "growth_kib",
                                (double)bench->cells[place][operation].growth_kib);
}

static void add_pair(cJSON *list, const struct bench *bench, int place, int crew)
{
    const struct bench_pair *pair = &bench->pairs[place][crew];
    cJSON *object = json_add_object(list);
    cJSON_AddStringToObject(object, "row", bench->rows[place].name);
    cJSON_AddStringToObject(object, "operation", bench_crews[crew].name);
    cJSON_AddStringToObject(object, "title", bench_crews[crew].title);
    cJSON_AddNumberToObject(object, "one_thread_ns", pair->one_ns);
    cJSON_AddNumberToObject(object, "two_threads_ns", pair->two_ns);
    cJSON_AddNumberToObject(object, "throughput", pair->one_ns / pair->two_ns);
}

void bench_report_json(const struct bench *bench)
{
    cJSON *whole = cJSON_CreateObject();
    cJSON_AddNumberToObject(whole, "rounds", BENCH_ROUNDS);
    cJSON *operations = cJSON_AddArrayToObject(whole, "operations");
    for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            if (bench->cells[place][operation].is_chosen)
                add_cell(operations, bench, place, operation);
        }
    }
    if (bench->spin.two_ns > 0) {
        cJSON *threads = cJSON_AddArrayToObject(whole, "threads");
        for (int i = 0; i < BENCH_ROW_COUNT * BENCH_CREW_COUNT; i++) {
            if (bench->pairs[i / BENCH_CREW_COUNT][i % BENCH_CREW_COUNT].two_ns > 0)
                add_pair(threads, bench, i / BENCH_CREW_COUNT, i % BENCH_CREW_COUNT);
        }
        cJSON_AddNumberToObject(whole, "spin_throughput", bench->spin.one_ns / bench->spin.two_ns);
    }
    json_print(whole);
}
