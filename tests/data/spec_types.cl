// SPDX-License-Identifier: MIT
// A specialization constant of every scalar type, and the elements of a structure; the kernels store
// the bits of each, zero-extended.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
bool __attribute__((overloadable)) __spirv_SpecConstant(int id, bool value);
char __attribute__((overloadable)) __spirv_SpecConstant(int id, char value);
uchar __attribute__((overloadable)) __spirv_SpecConstant(int id, uchar value);
short __attribute__((overloadable)) __spirv_SpecConstant(int id, short value);
ushort __attribute__((overloadable)) __spirv_SpecConstant(int id, ushort value);
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);
uint __attribute__((overloadable)) __spirv_SpecConstant(int id, uint value);
long __attribute__((overloadable)) __spirv_SpecConstant(int id, long value);
ulong __attribute__((overloadable)) __spirv_SpecConstant(int id, ulong value);
half __attribute__((overloadable)) __spirv_SpecConstant(int id, half value);
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);
double __attribute__((overloadable)) __spirv_SpecConstant(int id, double value);

__kernel void show_types(__global ulong *out)
{
    out[0] = __spirv_SpecConstant(20, (bool)false);
    out[1] = as_uchar(__spirv_SpecConstant(21, (char)-1));
    out[2] = __spirv_SpecConstant(22, (uchar)2);
    out[3] = as_ushort(__spirv_SpecConstant(23, (short)-3));
    out[4] = __spirv_SpecConstant(24, (ushort)4);
    out[5] = as_uint(__spirv_SpecConstant(25, -5));
    out[6] = __spirv_SpecConstant(26, 6u);
    out[7] = as_ulong(__spirv_SpecConstant(27, -7L));
    out[8] = __spirv_SpecConstant(28, 8UL);
    out[9] = as_ushort(__spirv_SpecConstant(29, (half)0.5f));
    out[10] = as_uint(__spirv_SpecConstant(30, 0.25f));
    out[11] = as_ulong(__spirv_SpecConstant(31, 0.125));
}

// struct { char tag; int count; double scale; short never_used; }: tests/integration knows where each
// element lies. The last one is in no code.
__kernel void show_structure(__global ulong *out)
{
    out[0] = as_uchar(__spirv_SpecConstant(40, (char)1));
    out[1] = as_uint(__spirv_SpecConstant(41, 2));
    out[2] = as_ulong(__spirv_SpecConstant(42, 3.0));
}
