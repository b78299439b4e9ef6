// SPDX-License-Identifier: MIT
__kernel void negate(__global int *data)
{
    size_t i = get_global_id(0);
    data[i] = -data[i];
}
