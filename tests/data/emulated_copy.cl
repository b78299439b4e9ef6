// SPDX-License-Identifier: MIT
// The kernel scaled_copy_int of scaled_copy.cl, which takes its constant through one more argument.
__kernel void scaled_copy_int(__global const int *in, __global int *out, __global const int *constants)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * constants[0];
}
