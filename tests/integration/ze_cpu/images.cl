// SPDX-License-Identifier: MIT
__kernel void average(__read_only image2d_t from, __write_only image2d_t to, sampler_t sampler)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 here = read_imagef(from, sampler, (float2)(at.x + 0.5f, at.y + 0.5f));
    float4 next = read_imagef(from, sampler, (float2)(at.x + 1.5f, at.y + 0.5f));
    write_imagef(to, at, (here + next) * 0.5f);
}
