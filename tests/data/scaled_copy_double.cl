// SPDX-License-Identifier: MIT
// In a module of its own: not every device has double precision.
double __attribute__((overloadable)) __spirv_SpecConstant(int id, double value);

__kernel void scaled_copy_double(__global const double *in, __global double *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * __spirv_SpecConstant(1, 1.0);
}
