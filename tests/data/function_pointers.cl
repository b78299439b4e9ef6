// SPDX-License-Identifier: MIT
// A function whose address the host asks for, a kernel that calls what it is given, and kernels that
// call functions of their own by pointers.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
int twice(int number)
{
    return 2 * number;
}

__kernel void call(__global const ulong *function, __global int *out)
{
    const size_t i = get_global_id(0);
    out[i] = ((int (*)(int))function[0])((int)i);
}

__attribute__((noinline)) int negative(int number)
{
    return -number;
}

__attribute__((noinline)) int width(int dimension)
{
    return (int)get_global_size(dimension);
}

__kernel void store_table(__global ulong *table)
{
    table[0] = (ulong)twice;
    table[1] = (ulong)negative;
    table[2] = (ulong)width;
}

__kernel void call_for_sizes(__global const ulong *table, __global int *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = ((int (*)(int))table[2])(i);
}

// Neighbours call different functions.
__kernel void call_of_table(__global const ulong *table, __global int *out)
{
    const size_t i = get_global_id(0);
    out[i] = ((int (*)(int))table[i & 1])((int)i);
}

__kernel void call_either(int which, __global int *out)
{
    const size_t i = get_global_id(0);
    int (*function)(int) = (which >> (i & 7)) & 1 ? twice : negative;
    out[i] = function((int)i);
}
