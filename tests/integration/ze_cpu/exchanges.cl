// SPDX-License-Identifier: MIT

#define ITEMS 64

// What the first item alone writes, it has from the others.
__attribute__((intel_reqd_sub_group_size(16))) __kernel void shuffle_for_one(__global int *out)
{
    __global const int *values = out + ITEMS;
    int item = (int)get_local_id(0);
    int direct = sub_group_shuffle(2 * values[item], 3);
    int crossed = sub_group_shuffle_xor(3 * values[item], 5);
    int below = sub_group_shuffle_down(4 * values[item], 7);
    int above = sub_group_shuffle_down(sub_group_shuffle_up(5 * values[item], 2), 11);
    if (item == 0) {
        out[0] = direct;
        out[1] = crossed;
        out[2] = below;
        out[3] = above;
    }
}
