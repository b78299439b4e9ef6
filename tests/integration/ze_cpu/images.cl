// SPDX-License-Identifier: MIT
__kernel void average(__read_only image2d_t from, __write_only image2d_t to, sampler_t sampler)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 here = read_imagef(from, sampler, (float2)(at.x + 0.5f, at.y + 0.5f));
    float4 next = read_imagef(from, sampler, (float2)(at.x + 1.5f, at.y + 0.5f));
    write_imagef(to, at, (here + next) * 0.5f);
}

// Every format: an image of one row as what a kernel reads, and from what it writes.
__kernel void read_float(__read_only image2d_t from, __global float4 *to)
{
    to[get_global_id(0)] = read_imagef(from, (int2)(get_global_id(0), 0));
}

__kernel void read_int(__read_only image2d_t from, __global int4 *to)
{
    to[get_global_id(0)] = read_imagei(from, (int2)(get_global_id(0), 0));
}

__kernel void read_uint(__read_only image2d_t from, __global uint4 *to)
{
    to[get_global_id(0)] = read_imageui(from, (int2)(get_global_id(0), 0));
}

__kernel void write_float(__write_only image2d_t to, __global const float4 *from)
{
    write_imagef(to, (int2)(get_global_id(0), 0), from[get_global_id(0)]);
}

__kernel void write_int(__write_only image2d_t to, __global const int4 *from)
{
    write_imagei(to, (int2)(get_global_id(0), 0), from[get_global_id(0)]);
}

__kernel void write_uint(__write_only image2d_t to, __global const uint4 *from)
{
    write_imageui(to, (int2)(get_global_id(0), 0), from[get_global_id(0)]);
}

// Every shape: adds where it is to what was there.
static uint sum(uint4 there)
{
    return there.x + 100 * get_global_id(2) + 10 * get_global_id(1) + get_global_id(0);
}

__kernel void shape_1d(__read_only image1d_t from, __write_only image1d_t to)
{
    int at = get_global_id(0);
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

__kernel void shape_buffer(__read_only image1d_buffer_t from, __write_only image1d_buffer_t to)
{
    int at = get_global_id(0);
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

__kernel void shape_1d_array(__read_only image1d_array_t from, __write_only image1d_array_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

__kernel void shape_2d(__read_only image2d_t from, __write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

__kernel void shape_2d_array(__read_only image2d_array_t from, __write_only image2d_array_t to)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
__kernel void shape_3d(__read_only image3d_t from, __write_only image3d_t to)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imageui(to, at, (uint4)(sum(read_imageui(from, at))));
}

// Every sampler.
__kernel void sample(__read_only image2d_t from, sampler_t sampler, __global const float *at,
                     __global float *out)
{
    out[get_global_id(0)] = read_imagef(from, sampler, (float2)(at[get_global_id(0)], 0.5f)).x;
}
