// SPDX-License-Identifier: MIT
// Kernels that take their constants through one more argument, as in a C structure.
struct constants {
    char small;
    int number;
    float real;
    long large;
    short last;
};

__kernel void use_all(__global long *out, __global const struct constants *constants)
{
    out[0] = constants->small;
    out[1] = constants->number;
    out[2] = as_int(constants->real);
    out[3] = constants->large;
    out[4] = constants->last;
}

__kernel void use_some(__global long *out, __global const struct constants *constants)
{
    out[0] = constants->number;
}

__kernel void use_none(__global long *out)
{
    out[0] = 77;
}
