#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a program of zepi's stories (Criterion's, or of SYCL) on Intel's driver, without those that
# left_out lists:
#   stories.sh ZEPI DRIVER-FOLDER PROGRAM [PATTERN]
# With a pattern those of Criterion that it names, also if left_out lists them.
# With "system" in place of the folder they run on a GPU, on the system's driver.
set -u
zepi=$1 driver=$2 program=$3
here=$(dirname "$0")
name=$(basename "$program")
pattern=${4:-}
on=--intel-driver
if [ "$driver" = system ]; then
    on=--gpu
elif [ ! -e "$driver/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1" ]; then
    echo "skipped: Intel's driver is not in $driver: run tools/setup --intel-driver"
    exit 77
fi
# "name suite/test reason..." or "name * reason..."; the stories of SYCL have no suite. A name may be
# that of a program on one product: "name@product".
left_out=$(awk -v name="$name" -v product="$name@${DRM_SHIM_PRODUCT:-}" \
               '$1 == name || $1 == product { print $2 }' "$here/left_out")
set --
[ -z "$pattern" ] || left_out=
case $name in
runtime.*) for story in $left_out; do set -- "$@" "-$story"; done ;;
*) [ -z "$left_out" ] || set -- --filter "!($(echo "$left_out" | paste -sd '|'))" ;;
esac
[ -z "$pattern" ] || set -- --filter "$pattern"
# Native code of zepi's cache needs the record of its inputs: both are new.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# These fill the device's memory.
case $name in *.deferred_free) export DRM_SHIM_VRAM_GIB=1 ;; esac
export TEST_DRIVER=intel DRM_SHIM_RECORDS="$scratch/records" ZEPI_CACHE_DIR="$scratch/cache"
"$zepi" exec $on -- "$program" "$@"
