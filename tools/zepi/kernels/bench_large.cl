// SPDX-License-Identifier: MIT
// As bench.cl, with more kernels beside the one that is used.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

__kernel void three(__global int *a, __global int *b, int c)
{
    a[get_global_id(0)] = b[get_global_id(0)] + c * __spirv_SpecConstant(0, 1);
}

#define BLEND(number)                                                                              \
    __kernel void blend_##number(__global float4 *a, __global float4 *b, __global float4 *c,       \
                                 float d)                                                          \
    {                                                                                              \
        const size_t at = get_global_id(0);                                                        \
        const float4 mixed = b[at] * d + c[at] * (number - d);                                     \
        a[at] = at % number ? mixed : sqrt(mixed) + number;                                        \
    }
BLEND(2)
BLEND(3)
BLEND(5)
BLEND(7)
BLEND(11)
BLEND(13)
BLEND(17)
BLEND(19)
BLEND(23)
BLEND(29)
BLEND(31)
BLEND(37)
BLEND(41)
BLEND(43)
BLEND(47)
BLEND(53)
