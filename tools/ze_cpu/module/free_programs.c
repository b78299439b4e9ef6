// SPDX-License-Identifier: MIT
#include "free_programs.h"

#include "options.h"

#include <pthread.h>
#include <stdbool.h>

#define PROGRAMS 16

static struct {
    pthread_mutex_t mutex;
    struct free_program {
        struct zepi_digest code;
        cl_program program; // owned, may be NULL
    } programs[PROGRAMS];
    uint32_t next; // the place that the next program takes
} list = {.mutex = PTHREAD_MUTEX_INITIALIZER};

cl_program cpu_free_program_take(struct zepi_digest code)
{
    cl_program program = NULL;
    pthread_mutex_lock(&list.mutex);
    for (uint32_t i = 0; i < PROGRAMS && program == NULL; i++)
        if (list.programs[i].program != NULL && zepi_digest_equal(list.programs[i].code, code)) {
            program = list.programs[i].program;
            list.programs[i].program = NULL;
        }
    pthread_mutex_unlock(&list.mutex);
    return program;
}

static bool has_variables(cl_program program)
{
    const struct cpu_opencl *cl = cpu_opencl();
    size_t size_bytes;
    return cl->api->clGetProgramBuildInfo(program, cl->device,
                                          CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                          sizeof(size_bytes), &size_bytes, NULL) != CL_SUCCESS ||
           size_bytes > 0;
}

void cpu_free_program_give(struct zepi_digest code, cl_program program)
{
    if (cpu_options()->code_folder != NULL && code.low != 0 && !has_variables(program)) {
        pthread_mutex_lock(&list.mutex);
        struct free_program *place = &list.programs[list.next++ % PROGRAMS];
        cl_program before = place->program;
        *place = (struct free_program){code, program};
        pthread_mutex_unlock(&list.mutex);
        program = before;
    }
    if (program != NULL)
        cpu_opencl()->api->clReleaseProgram(program);
}
