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

__attribute__((noinline)) int checked(int value, int limit)
{
    if (value < limit)
        return value;
    printf("%d is not less than %d\n", value, limit);
    __builtin_unreachable();
}

// Items that pass two checks exchange values.
__attribute__((intel_reqd_sub_group_size(16))) __kernel void broadcast_behind_checks(__global int *out, int limit)
{
    int item = checked(out[ITEMS + get_local_id(0)], limit);
    if (item + 1 > limit) {
        printf("%d is too large\n", item);
        __builtin_unreachable();
    }
    int last = sub_group_broadcast(item, 15);
    if (get_sub_group_local_id() == 0)
        out[get_sub_group_id()] = last;
}
