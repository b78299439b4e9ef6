// SPDX-License-Identifier: MIT
// A translation unit with a kernel that calls the library and has a specialization constant.
extern float apply_gain(float value, float gain);
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

__kernel void amplify(__global float *data)
{
    size_t i = get_global_id(0);
    data[i] = apply_gain(data[i], __spirv_SpecConstant(0, 2.0f));
}
