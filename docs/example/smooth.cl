// SPDX-License-Identifier: MIT
// Two kernels with specialization constants: an array of three numbers, and one number.
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

// Each item becomes a weighted sum of itself and its neighbours. The ids of the array's elements are 0 to 2.
__kernel void smooth(__global const float *in, __global float *out)
{
    const float weights[3] = {__spirv_SpecConstant(0, 0.0f), __spirv_SpecConstant(1, 1.0f),
                              __spirv_SpecConstant(2, 0.0f)};
    const int item = get_global_id(0);
    const int count = get_global_size(0);
    float sum = weights[1] * in[item];
    if (item > 0)
        sum += weights[0] * in[item - 1];
    if (item + 1 < count)
        sum += weights[2] * in[item + 1];
    out[item] = sum;
}

__kernel void scale(__global const float *in, __global float *out)
{
    out[get_global_id(0)] = in[get_global_id(0)] * __spirv_SpecConstant(3, 1.0f);
}
