// SPDX-License-Identifier: MIT
// Kernels that take their constants through one more argument, as in a C structure.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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

// Every scalar type, each after one of another size. Bool and half are their bits.
struct types {
    uchar truth;
    double real64;
    uchar small_unsigned;
    ushort half_bits;
    char small;
    ulong large_unsigned;
    short medium;
    uint number_unsigned;
    ushort medium_unsigned;
    float real;
    long large;
    int number;
};

__kernel void use_types(__global long *out, __global const struct types *types)
{
    out[0] = types->truth;
    out[1] = as_long(types->real64);
    out[2] = types->small_unsigned;
    out[3] = types->half_bits;
    out[4] = types->small;
    out[5] = types->large_unsigned;
    out[6] = types->medium;
    out[7] = types->number_unsigned;
    out[8] = types->medium_unsigned;
    out[9] = as_int(types->real);
    out[10] = types->large;
    out[11] = types->number;
}
