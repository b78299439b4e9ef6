// SPDX-License-Identifier: MIT
// A translation unit that needs no other: its kernel is found by name, with a value for each launch.
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

__kernel void shift(__global float *data)
{
    size_t i = get_global_id(0);
    data[i] = data[i] + __spirv_SpecConstant(0, 10.0f);
}
