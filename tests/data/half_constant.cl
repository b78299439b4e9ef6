// SPDX-License-Identifier: MIT
// A specialization constant of half precision; its bits are stored, since not every device computes so.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
half __attribute__((overloadable)) __spirv_SpecConstant(int id, half value);

__kernel void show_half(__global ushort *out)
{
    out[0] = as_ushort(__spirv_SpecConstant(4, (half)1.0f));
}
