// SPDX-License-Identifier: MIT
// Kernels on images of one to three dimensions, with and without a sampler.
__kernel void add_line(read_only image1d_t from, write_only image1d_t to, int4 more)
{
    int at = get_global_id(0);
    write_imagei(to, at, read_imagei(from, at) + more);
}

__kernel void add_plane(read_only image2d_t from, write_only image2d_t to, float4 more)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, at) + more);
}

__kernel void add_space(read_only image3d_t from, __global uint4 *to, uint4 more)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    size_t i = at.x + get_global_size(0) * (at.y + get_global_size(1) * (size_t)at.z);
    to[i] = read_imageui(from, at) + more;
}

__kernel void sample_plane(read_only image2d_t from, sampler_t sampler, __global const float2 *at,
                           __global float4 *to)
{
    size_t i = get_global_id(0);
    to[i] = read_imagef(from, sampler, at[i]);
}

__kernel void tell_size(read_only image2d_t image, __global int *to)
{
    to[0] = get_image_width(image);
    to[1] = get_image_height(image);
}
