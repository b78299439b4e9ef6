// SPDX-License-Identifier: MIT
// Top of a diamond over link_left.cl and link_right.cl, which both stand on link_base.cl.
extern int left(int value);
extern int right(int value);

// Each translation unit has a helper of this name; none of them is exported.
static __attribute__((noinline)) int helper(int value)
{
    return value + 1;
}

__kernel void diamond(__global int *data)
{
    size_t i = get_global_id(0);
    data[i] = helper(left(data[i]) + right(data[i]));
}
