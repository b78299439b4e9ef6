// SPDX-License-Identifier: MIT
#include "../kernels.h"
#include "demo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define IMAGE_EDGE 1024
#define MATRIX_EDGE 256
#define LAUNCHES 5
#define LAUNCHES_MS 200

// An input module of one of our kernels, with an optional composite layout.
static int create_module(struct demo *demo, const char *kernel_file,
                         const zepi_spec_layout_t *layout, zepi_module_t *out_module)
{
    zepi_device_image_desc_t image = kernel_image(kernel_file);
    image.layouts = layout;
    image.layout_count = layout ? 1 : 0;
    return zepi.module_create(demo->host->context, ZEPI_MODULE_INPUT, 1, &image, out_module) ==
                   ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail("module_create");
}

// Builds three times and fills in the times. On success *out_executable is to be released.
static int build(struct demo *demo, zepi_module_t input, struct demo_row *row,
                 zepi_module_t *out_executable)
{
    zepi_module_t again = NULL;
    zepi_module_t from_disk = NULL;
    int code = host_build(input, NULL, "module_build", out_executable, &row->build_ms);
    if (code != EXIT_OK)
        return code;
    code = host_build(input, NULL, "module_build, again", &again, &row->again_ms);
    host_release(again);
    // No handle and no native code is left in memory.
    if (code == EXIT_OK)
        code = host_forget_builds(demo->host);
    if (code == EXIT_OK)
        code = host_build(input, NULL, "module_build, from the disk", &from_disk, &row->disk_ms);
    host_release(from_disk);
    if (code != EXIT_OK)
        host_release(*out_executable);
    row->is_built = true;
    return code;
}

// Launches some times and fills in the best time.
static int launch(struct demo *demo, const zepi_launch_desc_t *desc, struct demo_row *row)
{
    const zepi_wait_list_t no_wait = {0};
    double sum_ms = 0;
    row->launch_ms = INFINITY;
    for (int i = 0; i < LAUNCHES && sum_ms < LAUNCHES_MS; i++) {
        const uint64_t start_ns = host_now_ns();
        if (zepi.queue_launch(demo->host->queue, desc, no_wait, NULL) != ZEPI_SUCCESS)
            return host_fail("queue_launch");
        if (zepi.queue_finish(demo->host->queue) != ZEPI_SUCCESS)
            return host_fail("queue_finish");
        const double ms = (double)(host_now_ns() - start_ns) / 1e6;
        row->launch_ms = fmin(row->launch_ms, ms);
        sum_ms += ms;
    }
    return EXIT_OK;
}

// Fills in the largest error and reports the row.
static void compare(struct demo *demo, const double *expected, const double *found,
                    struct demo_row *row)
{
    double largest = 0;
    row->max_error = 0;
    for (uint64_t i = 0; i < row->elements; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (uint64_t i = 0; i < row->elements; i++) {
        const double error = fabs(expected[i] - found[i]) / (largest > 0 ? largest : 1);
        // NaN counts as the largest error.
        row->max_error = isnan(error) ? INFINITY : fmax(row->max_error, error);
    }
    if (!(row->max_error <= row->tolerance))
        demo->has_wrong_number = true;
    demo_report(demo, row);
}

// Memory that host and device share, and host memory for the comparison.
struct buffers {
    zepi_context_t context;
    void *shared[3];
    double *expected;
    double *found;
};

static void buffers_finish(struct buffers *buffers)
{
    for (int i = 0; i < 3; i++) {
        if (buffers->shared[i])
            zepi.usm_free(buffers->context, buffers->shared[i]);
    }
    free(buffers->expected);
    free(buffers->found);
}

// All of `elements` elements of 4 bytes.
static int buffers_init(struct buffers *buffers, const struct demo *demo, size_t elements)
{
    *buffers = (struct buffers){.context = demo->host->context};
    buffers->expected = calloc(elements, sizeof(double));
    buffers->found = calloc(elements, sizeof(double));
    if (!buffers->expected || !buffers->found) {
        buffers_finish(buffers);
        fprintf(stderr, "zepi: out of memory\n");
        return EXIT_FAILED;
    }
    for (int i = 0; i < 3; i++) {
        if (zepi.usm_allocate(demo->host->context, demo->host->device, ZEPI_USM_SHARED,
                              elements * 4, 0, &buffers->shared[i]) != ZEPI_SUCCESS) {
            buffers_finish(buffers);
            return host_fail("usm_allocate");
        }
    }
    return EXIT_OK;
}

static zepi_argument_t pointer_argument(void *memory)
{
    return (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = memory};
}

static zepi_argument_t int_argument(const int *value)
{
    return (zepi_argument_t){
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(*value), .value = value};
}

static zepi_argument_t local_argument(size_t size_bytes)
{
    return (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = size_bytes};
}

// Launches a kernel of a built module.
static int run_kernel(struct demo *demo, zepi_module_t executable, const char *kernel_name,
                      zepi_launch_desc_t *desc, struct demo_row *row)
{
    desc->size = sizeof(*desc);
    if (zepi.module_get_kernel(executable, kernel_name, &desc->kernel) != ZEPI_SUCCESS)
        return host_fail("module_get_kernel");
    const int code = launch(demo, desc, row);
    host_release(desc->kernel);
    return code;
}

// Builds a module and launches one kernel of it.
static int run(struct demo *demo, zepi_module_t input, const char *kernel_name,
               zepi_launch_desc_t *desc, struct demo_row *row)
{
    zepi_module_t executable;
    int code = build(demo, input, row, &executable);
    if (code != EXIT_OK)
        return code;
    code = run_kernel(demo, executable, kernel_name, desc, row);
    host_release(executable);
    return code;
}

// ---- Convolution ----

static void convolve(const float *in, const float coefficients[9], double *out)
{
    for (int y = 0; y < IMAGE_EDGE; y++) {
        for (int x = 0; x < IMAGE_EDGE; x++) {
            double sum = 0;
            for (int at = 0; at < 9; at++) {
                const int row = y + at / 3 - 1;
                const int column = x + at % 3 - 1;
                if (row >= 0 && row < IMAGE_EDGE && column >= 0 && column < IMAGE_EDGE)
                    sum += (double)coefficients[at] * in[row * IMAGE_EDGE + column];
            }
            out[y * IMAGE_EDGE + x] = sum;
        }
    }
}

static int convolve_with(struct demo *demo, zepi_module_t input, struct buffers *buffers,
                         const char *name, const float coefficients[9])
{
    const int edge = IMAGE_EDGE;
    const float *in = buffers->shared[0];
    const float *out = buffers->shared[1];
    const zepi_argument_t arguments[] = {pointer_argument(buffers->shared[0]),
                                         pointer_argument(buffers->shared[1]), int_argument(&edge),
                                         int_argument(&edge)};
    zepi_launch_desc_t desc = {.arguments = arguments,
                               .argument_count = 4,
                               .work_dim = 2,
                               .global_size = {IMAGE_EDGE, IMAGE_EDGE}};
    struct demo_row row = {.elements = (uint64_t)IMAGE_EDGE * IMAGE_EDGE, .tolerance = 1e-6};
    snprintf(row.name, sizeof(row.name), "convolution %dx%d", IMAGE_EDGE, IMAGE_EDGE);
    snprintf(row.constants, sizeof(row.constants), "float[3][3] = %s", name);
    if (zepi.spec_constant_set_by_name(input, "coefficients", 9 * sizeof(float), coefficients) !=
        ZEPI_SUCCESS)
        return host_fail("spec_constant_set_by_name");
    const int code = run(demo, input, "convolution", &desc, &row);
    if (code != EXIT_OK)
        return code;
    convolve(in, coefficients, buffers->expected);
    for (uint64_t i = 0; i < row.elements; i++)
        buffers->found[i] = out[i];
    compare(demo, buffers->expected, buffers->found, &row);
    return EXIT_OK;
}

static int run_convolution(struct demo *demo)
{
    static const float blur[9] = {1 / 16.0f, 2 / 16.0f, 1 / 16.0f, 2 / 16.0f, 4 / 16.0f,
                                  2 / 16.0f, 1 / 16.0f, 2 / 16.0f, 1 / 16.0f};
    static const float edges[9] = {-0.1f, -0.2f, -0.1f, 0.3f, 0.7f, -0.3f, 0.15f, 0.25f, 0.35f};
    zepi_spec_element_t elements[9];
    for (uint32_t i = 0; i < 9; i++)
        elements[i] = (zepi_spec_element_t){i, i * sizeof(float), sizeof(float)};
    const zepi_spec_layout_t layout = {.name = "coefficients",
                                       .size_bytes = 9 * sizeof(float),
                                       .elements = elements,
                                       .element_count = 9};
    struct buffers buffers;
    zepi_module_t input = NULL;
    int code = buffers_init(&buffers, demo, (size_t)IMAGE_EDGE * IMAGE_EDGE);
    if (code != EXIT_OK)
        return code;
    float *in = buffers.shared[0];
    for (uint32_t i = 0; i < IMAGE_EDGE * IMAGE_EDGE; i++)
        in[i] = (float)(i * 2654435761u >> 16 & 0xff) / 255.0f;
    code = create_module(demo, "convolution", &layout, &input);
    if (code == EXIT_OK)
        code = convolve_with(demo, input, &buffers, "blur", blur);
    if (code == EXIT_OK)
        code = convolve_with(demo, input, &buffers, "edges", edges);
    host_release(input);
    buffers_finish(&buffers);
    return code;
}

// ---- Matrix multiply ----

// The factors' elements: whole numbers for int, fractions for float.
static double factor(uint32_t i, bool is_float)
{
    const double number = (double)(i * 2246822519u >> 20) - 2048;
    return is_float ? number / 1024 : (double)((int)number % 128);
}

static void store(void *memory, uint32_t i, bool is_float, double number)
{
    if (is_float)
        ((float *)memory)[i] = (float)number;
    else
        ((int *)memory)[i] = (int)number;
}

// The product, on the host; `b` is room for a factor.
static void multiply(bool is_float, double *b, double *c)
{
    const uint32_t count = MATRIX_EDGE * MATRIX_EDGE;
    for (uint32_t i = 0; i < count; i++) {
        b[i] = factor(i + count, is_float);
        c[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double a = factor(i, is_float);
        const double *row = &b[i % MATRIX_EDGE * MATRIX_EDGE];
        double *sums = &c[i / MATRIX_EDGE * MATRIX_EDGE];
        for (int column = 0; column < MATRIX_EDGE; column++)
            sums[column] += a * row[column];
    }
}

// One kernel of a module built for blocks of this edge.
static int multiply_as(struct demo *demo, zepi_module_t executable, struct buffers *buffers,
                       bool is_float, size_t edge, struct demo_row *row)
{
    const uint32_t count = MATRIX_EDGE * MATRIX_EDGE;
    const int size = MATRIX_EDGE;
    const size_t block_bytes = edge * edge * 4;
    const zepi_argument_t arguments[] = {
        pointer_argument(buffers->shared[0]), pointer_argument(buffers->shared[1]),
        pointer_argument(buffers->shared[2]), int_argument(&size),
        local_argument(block_bytes),          local_argument(block_bytes)};
    zepi_launch_desc_t desc = {.arguments = arguments,
                               .argument_count = 6,
                               .work_dim = 2,
                               .global_size = {MATRIX_EDGE, MATRIX_EDGE},
                               .group_size = {edge, edge}};
    row->elements = count;
    row->tolerance = is_float ? 1e-5 : 0;
    snprintf(row->name, sizeof(row->name), "multiply %dx%d %s", MATRIX_EDGE, MATRIX_EDGE,
             is_float ? "float" : "int");
    for (uint32_t i = 0; i < count; i++) {
        store(buffers->shared[0], i, is_float, factor(i, is_float));
        store(buffers->shared[1], i, is_float, factor(i + count, is_float));
        store(buffers->shared[2], i, is_float, -1);
    }
    const int code = run_kernel(
        demo, executable, is_float ? "matrix_multiply_float" : "matrix_multiply_int", &desc, row);
    if (code != EXIT_OK)
        return code;
    multiply(is_float, buffers->found, buffers->expected);
    for (uint32_t i = 0; i < count; i++)
        buffers->found[i] = is_float ? (double)((float *)buffers->shared[2])[i]
                                     : (double)((int *)buffers->shared[2])[i];
    compare(demo, buffers->expected, buffers->found, row);
    return EXIT_OK;
}

// Both kernels of one module; edge 0: the constant is left as it is.
static int multiply_with(struct demo *demo, zepi_module_t input, struct buffers *buffers,
                         int64_t edge)
{
    struct demo_row row = {0};
    zepi_module_t executable;
    if (edge == 0)
        snprintf(row.constants, sizeof(row.constants), "block unset (default 1)");
    else
        snprintf(row.constants, sizeof(row.constants), "block = %lld", (long long)edge);
    if (edge != 0 && zepi.spec_constant_set(input, 0, sizeof(edge), &edge) != ZEPI_SUCCESS)
        return host_fail("spec_constant_set");
    int code = build(demo, input, &row, &executable);
    if (code != EXIT_OK)
        return code;
    const size_t block_edge = edge ? (size_t)edge : 1;
    code = multiply_as(demo, executable, buffers, true, block_edge, &row);
    row.is_built = false;
    if (code == EXIT_OK)
        code = multiply_as(demo, executable, buffers, false, block_edge, &row);
    host_release(executable);
    return code;
}

static int run_matrix_multiply(struct demo *demo)
{
    static const int64_t edges[] = {0, 4, 8, 16};
    struct buffers buffers;
    zepi_module_t input = NULL;
    int code = buffers_init(&buffers, demo, (size_t)MATRIX_EDGE * MATRIX_EDGE);
    if (code != EXIT_OK)
        return code;
    code = create_module(demo, "matrix_multiply", NULL, &input);
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]) && code == EXIT_OK; i++)
        code = multiply_with(demo, input, &buffers, edges[i]);
    host_release(input);
    buffers_finish(&buffers);
    return code;
}

// ---- One value ----

static int run_single_value(struct demo *demo)
{
    const float set = 3.25f;
    struct buffers buffers;
    zepi_module_t input = NULL;
    int code = buffers_init(&buffers, demo, 1);
    if (code != EXIT_OK)
        return code;
    code = create_module(demo, "single_value", NULL, &input);
    for (int i = 0; i < 2 && code == EXIT_OK; i++) {
        const zepi_argument_t argument = pointer_argument(buffers.shared[0]);
        zepi_launch_desc_t desc = {
            .arguments = &argument, .argument_count = 1, .work_dim = 1, .global_size = {1}};
        struct demo_row row = {.name = "single task", .elements = 1};
        snprintf(row.constants, sizeof(row.constants),
                 i == 0 ? "float unset (default 42)" : "float = %g", (double)set);
        buffers.expected[0] = i == 0 ? 42 : (double)set;
        if (i > 0 && zepi.spec_constant_set(input, 0, sizeof(set), &set) != ZEPI_SUCCESS)
            code = host_fail("spec_constant_set");
        if (code == EXIT_OK)
            code = run(demo, input, "single_value", &desc, &row);
        if (code == EXIT_OK) {
            buffers.found[0] = *(float *)buffers.shared[0];
            compare(demo, buffers.expected, buffers.found, &row);
        }
    }
    host_release(input);
    buffers_finish(&buffers);
    return code;
}

int demo_run(struct demo *demo)
{
    int code = run_convolution(demo);
    if (code == EXIT_OK)
        code = run_matrix_multiply(demo);
    if (code == EXIT_OK)
        code = run_single_value(demo);
    if (code != EXIT_OK || !demo->has_wrong_number)
        return code;
    fputs("zepi demo: a number is wrong\n", stderr);
    return EXIT_FAILED;
}
