// SPDX-License-Identifier: MIT
// One work-item stores one specialization constant.
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

__kernel void single_value(__global float *out)
{
    out[0] = __spirv_SpecConstant(0, 42.0f);
}
