// SPDX-License-Identifier: MIT
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

// Size of the sub-group, the sum of its items' numbers, and where the item is.
__attribute__((intel_reqd_sub_group_size(16))) __kernel void tell(__global int *out)
{
    int item = (int)get_local_linear_id();
    int group = (int)(get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2));
    int items = (int)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    int groups = (int)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
    int sum = sub_group_reduce_add(item);
    __global int *own = out + 6 * (groups * items + item);
    own[0] = (int)get_sub_group_size();
    own[1] = sum;
    own[2] = group;
    own[3] = (int)get_global_id(0);
    own[4] = (int)get_global_id(1);
    own[5] = (int)get_global_id(2);
}

__kernel void tell_chosen(__global int *out)
{
    out[get_local_linear_id()] = (int)get_max_sub_group_size();
}

__attribute__((intel_reqd_sub_group_size(16))) __attribute__((reqd_work_group_size(1, 32, 1))) __kernel void
tell_of_32(__global int *out)
{
    out[get_local_id(1)] = sub_group_reduce_add((int)get_local_id(1));
}
