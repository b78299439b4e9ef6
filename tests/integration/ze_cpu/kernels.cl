// SPDX-License-Identifier: MIT
int __attribute__((overloadable)) __spirv_SpecConstant(int, int);
float __attribute__((overloadable)) __spirv_SpecConstant(int, float);

__kernel void add(__global const int *a, __global const int *b, __global int *sum)
{
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
}

__kernel void constants(__global int *out, __global float *out_float)
{
    size_t i = get_global_id(0);
    out[i] = (int)i * __spirv_SpecConstant(7, 3);
    out_float[i] = __spirv_SpecConstant(8, 0.5f);
}

__kernel void scale(__global int *data, int factor)
{
    data[get_global_id(0)] *= factor;
}

__kernel void reverse_in_group(__global int *data, __local int *scratch)
{
    size_t i = get_local_id(0);
    scratch[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = scratch[get_local_size(0) - 1 - i];
}

__kernel __attribute__((reqd_work_group_size(8, 2, 1), work_group_size_hint(4, 2, 1))) void
shaped(__global int *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int)get_local_size(0);
}

// Long enough that the host gets ahead of it.
__kernel void slow(__global int *data, int rounds)
{
    int value = data[get_global_id(0)];
    for (int i = 0; i < rounds; i++)
        value = value * 1664525 + 1013904223;
    data[get_global_id(0)] = value;
}

// Shows where a launch was and in what groups.
__kernel void place(__global int *out, int value)
{
    out[get_global_id(0)] = value + 1000 * (int)get_local_size(0);
}

// Takes more arguments than place.
__kernel void place_sum(__global int *out, int first, int second, __global const int *third)
{
    out[get_global_id(0)] = first + second + third[0];
}

// Two of these meet only if they run at the same time: each says that it is there and looks for the
// other one, for a while.
__kernel void meet(__global volatile int *mine, __global volatile int *theirs, int rounds,
                   __global int *has_met)
{
    int seen = 0;
    *mine = 1;
    for (int i = 0; i < rounds && seen == 0; i++)
        seen = *theirs;
    *has_met = seen;
}

__kernel void store_numbers(__global long *out, long wide, int narrow)
{
    out[0] = wide;
    out[1] = narrow;
}
