// SPDX-License-Identifier: MIT
#include "report_device.h"

#include "tools/bench/measure/times.h"
#include "tools/bench/row/row_zepi.h"
#include "tools/drm_shim/products.h"

#include <stdio.h>
#include <stdlib.h>

static const enum bench_operation operations[] = {BENCH_LAUNCH_3, BENCH_LAUNCH_EVENT, BENCH_COPY,
                                                  BENCH_QUEUE, BENCH_ALLOCATE};
#define OPERATION_COUNT (sizeof(operations) / sizeof(operations[0]))

// Intel's ids of one product, and of products of one kind, have the upper byte in common.
static const struct shim_product *find_nearest(const zepi_device_info_t *info)
{
    const struct shim_product *nearest = NULL;
    uint32_t least = 0x100;
    for (size_t i = 0; shim_product_at(i) && info->vendor_id == 0x8086; i++) {
        const struct shim_product *product = shim_product_at(i);
        const uint32_t away = product->device_id > info->device_id
                                  ? product->device_id - info->device_id
                                  : info->device_id - product->device_id;
        if (info->device_id >> 8 == product->device_id >> 8 && away < least) {
            nearest = product;
            least = away;
        }
    }
    return info->type == ZEPI_DEVICE_TYPE_GPU ? nearest : NULL;
}

static void print_nearest(const zepi_device_info_t *info)
{
    const struct shim_product *nearest = find_nearest(info);
    printf("%s, device id 0x%04x: ", info->name, info->device_id);
    if (nearest)
        printf("the nearest product of the tests is %s (%s, device id 0x%04x)\n\n", nearest->name,
               nearest->title, nearest->device_id);
    else
        puts("no product of the tests is near to it\n");
}

static int print_times(struct zepi_row *row)
{
    static struct bench bench;
    struct bench_cell *cells = bench.cells[BENCH_ROW_ZEPI];
    bench.rows[BENCH_ROW_ZEPI] = zepi_row_of(row);
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        cells[operations[i]].is_chosen = true;
    if (!bench_times_measure(&bench))
        return host_fail("times");
    printf("%-40s %10s %10s\n", "nanoseconds, without a wait for the device", "best", "median");
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        const struct bench_time *time = &cells[operations[i]].time;
        printf("%-40s %10.0f %10.0f\n", bench_operations[operations[i]].title, time->best_ns,
               time->median_ns);
    }
    return EXIT_OK;
}

int report_device(enum host_driver driver)
{
    struct zepi_row row = {0};
    // Without a GPU kernels are passed over: the host's share is measured.
    setenv("ZE_CPU_EXECUTE", "0", 1);
    setenv("DRM_SHIM_INLINE", "1", 1);
    setenv("DRM_SHIM_EXEC", "0", 1);
    int code = zepi_row_open(&row, driver);
    if (code == EXIT_OK) {
        print_nearest(&row.host.info);
        code = print_times(&row);
    }
    zepi_row_close(&row);
    return code;
}
