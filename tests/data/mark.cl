// SPDX-License-Identifier: MIT
// A value for each work-item: two kernels that can take each other's place.
__kernel void mark(int value, __global int *out)
{
    out[get_global_id(0)] = value;
}

__kernel void mark_negative(int value, __global int *out)
{
    out[get_global_id(0)] = -value;
}
