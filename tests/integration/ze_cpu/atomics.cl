// SPDX-License-Identifier: MIT
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SPIRV __attribute__((overloadable))
float SPIRV __spirv_AtomicFAddEXT(volatile __global float *, int, int, float);
float SPIRV __spirv_AtomicFMaxEXT(volatile __global float *, int, int, float);
double SPIRV __spirv_AtomicFAddEXT(volatile __global double *, int, int, double);
double SPIRV __spirv_AtomicFMinEXT(volatile __global double *, int, int, double);
float SPIRV __spirv_AtomicFAddEXT(volatile __local float *, int, int, float);
float SPIRV __spirv_AtomicFMinEXT(volatile __local float *, int, int, float);
double SPIRV __spirv_AtomicFAddEXT(volatile __local double *, int, int, double);
double SPIRV __spirv_AtomicFMaxEXT(volatile __local double *, int, int, double);

#define DEVICE 1
#define WORKGROUP 2

__kernel void across_groups(__global float *single, __global double *twice)
{
    __spirv_AtomicFAddEXT(&single[0], DEVICE, 0, 0.5f);
    __spirv_AtomicFMaxEXT(&single[1], DEVICE, 0, (float)get_global_id(0));
    __spirv_AtomicFAddEXT(&twice[0], DEVICE, 0, 0.25);
    __spirv_AtomicFMinEXT(&twice[1], DEVICE, 0, -(double)get_global_id(0));
}

__kernel void in_a_group(__global float *single, __global double *twice)
{
    __local float sum, least;
    __local double wide_sum, wide_most;
    if (get_local_id(0) == 0) {
        sum = least = 0;
        wide_sum = wide_most = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __spirv_AtomicFAddEXT(&sum, WORKGROUP, 0, 0.5f);
    __spirv_AtomicFMinEXT(&least, WORKGROUP, 0, -(float)get_local_id(0));
    __spirv_AtomicFAddEXT(&wide_sum, WORKGROUP, 0, 0.25);
    __spirv_AtomicFMaxEXT(&wide_most, WORKGROUP, 0, (double)get_local_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        single[0] = sum;
        single[1] = least;
        twice[0] = wide_sum;
        twice[1] = wide_most;
    }
}
