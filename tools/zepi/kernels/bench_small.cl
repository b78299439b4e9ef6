// SPDX-License-Identifier: MIT
// A small program, made anew for the cost of that.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

__kernel void three(__global int *a, __global int *b, int c)
{
    a[get_global_id(0)] = b[get_global_id(0)] + c * __spirv_SpecConstant(0, 1);
}

__kernel void twelve(__global int *a, __global int *b, int c, int d, int e, int f, long g, long h,
                     float i, float j, __global int *k, __global int *l)
{
    a[get_global_id(0)] =
        b[get_global_id(0)] + c + d + e + f + (int)(g + h) + (int)(i + j) + k[0] + l[0];
}

__kernel void two(__global int *a, int b)
{
    a[get_global_id(0)] = b;
}
