// SPDX-License-Identifier: MIT
// Needs one function that link_base.cl has, and a function and a variable that no unit has.
extern int base(int value);
extern int missing_function(int value);
extern __global int missing_variable;

__kernel void partial(__global int *data)
{
    data[0] = base(data[0]) + missing_function(data[0]) + missing_variable;
}
