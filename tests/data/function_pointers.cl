// SPDX-License-Identifier: MIT
// A function whose address the host asks for, and a kernel that calls what it is given.
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
