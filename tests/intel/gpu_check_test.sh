#!/bin/sh
# SPDX-License-Identifier: MIT
# tools/check --gpu with ten of its checks, on Intel's driver without a GPU: TOOLS-CHECK BUILD DRIVER-FOLDER
set -u
check=$1 build=$2 driver=$3
if [ ! -e "$driver/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1" ] || [ ! -e "$build/lib/libdrm_shim.so" ]; then
    echo "skipped: Intel's driver is not in $driver, or libdrm_shim.so was not built: run tools/setup --intel-driver, then build"
    exit 77
fi
output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT
failed=0
# expect WHAT CONDITION...
expect()
{
    what=$1
    shift
    if "$@"; then
        echo "$what ... ok"
    else
        echo "$what ... FAILED"
        failed=1
    fi
}

"$check" --gpu --intel-driver --build "$build" --output "$output" --part 60 --test info --test demo --test dpctl \
    --test integration.memory --test integration.spec_constants --test ur.device_global --test runtime.sycl_buffers \
    --test runtime.sycl_globals --test runtime.sycl_kernels --test runtime.sycl_usm >"$output/said" 2>&1
expect 'ten checks pass' [ $? -eq 0 ]
cat "$output/said"
expect 'the last line has their counts' [ "$(tail -n 1 "$output/said")" = '10 passed, 0 failed, 0 skipped' ]
for line in '| ur.device_global | passed' 'Intel(R) Arc(TM) B580' 'v2 '; do
    expect "the results have '$line'" grep -q -F "$line" "$output/results.md"
done

# Kernels are passed over, so that numbers are wrong.
DRM_SHIM_EXEC=0 "$check" --gpu --intel-driver --build "$build" --output "$output" --test demo >"$output/said" 2>&1
expect 'a failure is the exit code' [ $? -eq 1 ]
expect 'its text is there' grep -q WRONG "$output/failures/demo.txt"
expect 'and in the results' grep -q '| demo | failed .*exit code 1' "$output/results.md"
if [ ! -e /dev/dri ]; then
    "$check" --gpu --build "$build" --output "$output" --test demo >"$output/said" 2>&1
    expect 'without a GPU it says so' [ $? -eq 3 ]
    expect 'and what is missing' grep -q 'there is no GPU' "$output/said"
fi
exit $failed
