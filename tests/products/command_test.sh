#!/bin/bash
# SPDX-License-Identifier: MIT
# zepi's command with devices of several products: command_test.sh ZEPI DRIVER-FOLDER DATA-FOLDER
set -u
zepi=$1 driver=$2 data=$3
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
# shellcheck source=tests/intel/expect.sh
. "$(dirname "$0")/../intel/expect.sh"

expect 'devices of two products are there, the discrete one first' 0 '0xe20b .*0x9a49' \
    sh -c "'$zepi' info --intel-driver=tgl,bmg | grep 'device id' | tr '\n' ' '"
expect 'three products' 0 '^3$' sh -c "'$zepi' info --intel-driver=lnl,dg2-i915,bmg | grep -c 'device id'"
expect 'two GPUs of one product' 0 '^2$' sh -c "'$zepi' info --intel-driver=bmg,bmg | grep -c 'device id'"
expect 'the first device runs' 0 'single task +float = 3.25 .* right' "$zepi" demo --intel-driver=bmg,tgl
expect 'an unknown product is refused with the list' 2 '^dg2 ' "$zepi" info --intel-driver=bmg,nvl
expect 'an empty name is refused' 2 'no such product' "$zepi" info --intel-driver=bmg,
expect 'more devices than there can be are refused' 2 'up to 4' "$zepi" info --intel-driver=bmg,bmg,bmg,bmg,bmg
expect 'a program is told of an unknown product' 3 "'bmg,nvl' is none of the products.*bmg lnl" \
    env DRM_SHIM_PRODUCT=bmg,nvl "$zepi" info --intel-driver
expect 'a cache is warmed for one product' 0 '^stored: 2 files' \
    "$zepi" cache warm "$data/vector_add.spv" --intel-driver=bmg
expect 'and used by it' 0 '^found: 1$' "$zepi" cache warm "$data/vector_add.spv" --intel-driver=bmg
expect 'another product does not use it, and says so' 0 '^unused: .*for another device' \
    "$zepi" cache verify --intel-driver=tgl
expect 'which is written to a file' 0 '^exported: 2 files' "$zepi" cache export "$scratch/file" --intel-driver=bmg
expect 'and brought to another product is of no use' 1 \
    'for another device .the device here is Intel.R. Iris' "$zepi" cache import "$scratch/file" --intel-driver=tgl
expect 'nor to another one of its kind' 1 'has no code that Intel.R. Arc' \
    "$zepi" cache import "$scratch/file" --intel-driver=dg2
expect 'which builds anew' 0 '^found: 0$' "$zepi" cache warm "$data/vector_add.spv" --intel-driver=dg2
expect 'both lie side by side' 0 '^found: 1$' "$zepi" cache warm "$data/vector_add.spv" --intel-driver=bmg
expect 'a double is refused with a sentence by the Arc A770, which has none' 1 \
    "0x70000004.: error: in kernel 'scaled_copy_double': Double type is not supported" \
    "$zepi" build --intel-driver=dg2 "$data/scaled_copy_double.spv"
expect 'and built for Meteor Lake' 0 '^built in' "$zepi" build --intel-driver=mtl "$data/scaled_copy_double.spv"
for product in bmg tgl; do
    expect "$product: a kernel driver that answers nothing is no driver" 3 'platforms: none' \
        env DRM_SHIM_FAULT=device_query:1+:ENODEV "$zepi" info --intel-driver=$product
done
expect 'and one without contexts' 3 'platforms: none' \
    env DRM_SHIM_FAULT=exec_queue_create:1+:ENOMEM "$zepi" info --intel-driver=tgl

exit $failed
