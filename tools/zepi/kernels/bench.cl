// SPDX-License-Identifier: MIT
// Kernels that are launched for the cost of launching them.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

__kernel void three(__global int *a, __global int *b, int c)
{
    a[get_global_id(0)] = b[get_global_id(0)] + c * __spirv_SpecConstant(0, 1);
}

__kernel void three_too(__global int *a, __global int *b, int c)
{
    a[get_global_id(0)] = b[get_global_id(0)] - c;
}

__kernel void with_local(__global int *a, __global int *b, int c, __local int *d)
{
    d[get_local_id(0)] = b[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = d[0] + c;
}

__kernel void twelve(__global int *a, __global int *b, int c, int d, int e, int f, long g, long h,
                     float i, int j, __global int *k, __global int *l)
{
    a[get_global_id(0)] =
        b[get_global_id(0)] + c + d + e + f + (int)(g + h) + (int)i + j + k[0] + l[0];
}

__kernel void twenty_four(__global int *a, __global int *b, int c, int d, int e, int f, long g,
                          long h, float i, int j, __global int *k, __global int *l, __global int *m,
                          __global int *n, int o, int p, int q, int r, long s, long t, float u,
                          int v, __global int *w, __global int *x)
{
    a[get_global_id(0)] = b[get_global_id(0)] + c + d + e + f + (int)(g + h) + (int)i + j + k[0] +
                          l[0] + m[0] + n[0] + o + p + q + r + (int)(s + t) + (int)u + v + w[0] +
                          x[0];
}
