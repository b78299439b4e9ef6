// SPDX-License-Identifier: MIT
// Every kind of argument that OpenCL C has for a kernel, and instructions that the other modules of the
// tests lack: images, atomics, halfs and doubles, structures, switches, calls, debug-free recursion.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct __attribute__((packed)) packed {
    char first;
    int second;
    double third;
};

struct nested {
    char first;
    short second[3];
    float3 third;
    struct {
        long x;
        half y;
    } fourth[2];
};

union number {
    int i;
    float f;
    double d;
};

struct __attribute__((aligned(32))) aligned {
    int first;
};

__kernel void scalars(char a, ushort b, int c, ulong d, half e, float f, double g,
                      __global double *out)
{
    out[0] = a + b + c + d + e + f + g;
}

__kernel void vectors(uchar2 a, short3 b, int4 c, half3 d, float3 e, double8 f, uint16 g,
                      __global double *out)
{
    out[0] = a.x + b.x + c.x + d.x + e.x + f.s7 + g.sf;
}

__kernel void structures(struct packed a, struct nested b, union number c, struct aligned d,
                         __global double *out)
{
    out[0] = a.second + a.third + b.second[2] + b.fourth[1].y + c.d + d.first;
}

__kernel void pointers(__global struct packed *a, __constant struct nested *b, __local float4 *c,
                       __global void *d, const __global volatile int *restrict e)
{
    a->third = b->fourth[1].y + c->x + *e + *(__global int *)d;
    vstore_half_rte((float)a->third, 1, (__global half *)d);
    vstore3((int3)(1, 2, 3), 2, (__global int *)d);
}

__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void images(read_only image2d_t a, write_only image2d_t b, sampler_t c,
                     read_only image3d_t d, read_only image1d_buffer_t e,
                     read_only image2d_array_t f, __global float4 *out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = read_imagef(a, c, convert_float2(at)) + read_imagef(a, nearest, at) +
                 read_imagef(d, c, (int4)(at, at)) + read_imagef(e, at.x) +
                 read_imagef(f, c, (int4)(at, at));
    write_imagef(b, at, sum);
    out[at.x] = sum + get_image_width(a) + get_image_array_size(f);
}

__kernel __attribute__((reqd_work_group_size(8, 4, 2)))
__attribute__((intel_reqd_sub_group_size(16))) void
sized(__global int *out)
{
    out[get_global_id(0)] = get_local_id(1);
}

static __attribute__((noinline)) long fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__kernel void flow(volatile __global int *data, __local uint *shared, long selector)
{
    atomic_add(data, 1);
    atomic_cmpxchg(data, 1, 2);
    atomic_max(shared, 3u);
    barrier(CLK_LOCAL_MEM_FENCE);
    switch (selector) {
    case 1:
        data[1] = fibonacci(data[2]);
        break;
    case 0x100000001:
        data[1] = data[3];
        break;
    }
    for (int i = 0; i < data[4]; i++) {
        if (i == data[5])
            continue;
        if (i > data[6])
            break;
        data[7] += popcount(data[i]) + mad24(data[i], 2, 3);
    }
    event_t event = async_work_group_copy(shared, (const __global uint *)data, 4, 0);
    wait_group_events(1, &event);
}
