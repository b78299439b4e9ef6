// SPDX-License-Identifier: MIT
// What the execution of kernels of native code has to get right.
__global int runs = 5;
__global const int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};

struct mixed {
    char small;
    double wide;
    short pair[2];
    int number;
};

__kernel void tell_sub_groups(__global uint *out)
{
    out[get_global_id(0)] = get_max_sub_group_size();
}

__attribute__((intel_reqd_sub_group_size(16))) __kernel void need_16(__global uint *out)
{
    out[get_global_id(0)] = get_max_sub_group_size();
}

__kernel void count_runs(__global int *out)
{
    if (get_global_id(0) == 0)
        out[0] = ++runs;
}

// From a table that nothing may write, beside a variable.
__kernel void look_up(__global int *out)
{
    const size_t i = get_global_id(0);
    out[i] = digits[i * 5 & 7] + runs;
}

__kernel void take_apart(char before, struct mixed mixed, char unused, __global double *out)
{
    out[0] = before;
    out[1] = mixed.small;
    out[2] = mixed.wide;
    out[3] = mixed.pair[1];
    out[4] = mixed.number;
}

__kernel void number_groups(__global int *out)
{
    out[get_global_id(0)] = (int)(get_group_id(0) + 100 * get_num_groups(0));
}

// Asks for the global size alone.
__kernel void compare_sizes(uint x, uint y, uint z, __global int *out)
{
    const uint expected[3] = {x, y, z};
    for (int i = 0; i < 3; i++) {
        if (get_global_size(i) != expected[i])
            out[i] = (int)get_global_size(i);
    }
}

// Asks for local ids alone.
__kernel void note_local_ids(__global int *out)
{
    const int x = (int)get_local_id(0), y = (int)get_local_id(1), z = (int)get_local_id(2);
    out[x + 8 * y + 32 * z] = 1;
}

__kernel void note_first_local_ids(__global int *out)
{
    out[get_local_id(0)] = 1;
}

__kernel void place_two(__local int *first, int scale, __local long *second, __global long *out)
{
    const int item = (int)get_local_id(0), last = (int)get_local_size(0) - 1;
    first[item] = scale * item;
    second[item] = -scale * item;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[item] = first[last - item] + 1000 * second[last - item];
}

__kernel void print_number(int number)
{
    printf("the number is %d\n", number);
}

// What a failed assertion of SYCL calls.
void __devicelib_assert_fail(const char *expression, const char *file, int line,
                             const char *function, ulong x, ulong y, ulong z, ulong local_x,
                             ulong local_y, ulong local_z);

__kernel void check_number(int number)
{
    char expression[] = "number < 3", file[] = "execution.cl", function[] = "check_number";
    if (number >= 3)
        __devicelib_assert_fail(expression, file, 12, function, get_global_id(0), 0, 0, 0, 0, 0);
}
