// SPDX-License-Identifier: MIT
// Neither a driver nor another test module defines the function.
extern int nobody_defines_this(int value);

__kernel void call_unresolved(__global int *data)
{
    size_t i = get_global_id(0);
    data[i] = nobody_defines_this(data[i]);
}
