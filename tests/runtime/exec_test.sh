#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which DPC++ runtime zepi exec finds for a command, and which variables it sets. Arguments: ZEPI, and the Python of an
# environment with the runtime.
set -u
zepi=$1 python=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
export HOME=$scratch
unset PYTHONPATH LD_LIBRARY_PATH LD_PRELOAD UR_ADAPTERS_FORCE_LOAD UR_ADAPTERS_SEARCH_PATH ZE_ENABLE_ALT_DRIVERS
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
library=$(realpath "$(dirname "$python")/../lib/libsycl.so.9")
run=("$zepi" exec --cpu --verbose --)

# A Python without the runtime, a script of it, and a program that links with a stand-in for libsycl.
mkdir "$scratch/bin" "$scratch/other"
ln -s "$(realpath "$python")" "$scratch/bin/python3"
printf '#!%s\nprint("started")\n' "$scratch/bin/python3" >"$scratch/script"
chmod +x "$scratch/script"
echo 'int sycl(void); int sycl(void) { return 0; }' >"$scratch/sycl.c"
echo 'int sycl(void); int main(void) { return sycl(); }' >"$scratch/program.c"
cc -shared -fPIC -Wl,-soname,libsycl.so.9 "$scratch/sycl.c" -o "$scratch/other/libsycl.so.9" || exit 1
cc "$scratch/program.c" "$scratch/other/libsycl.so.9" -o "$scratch/program" || exit 1

expect 0 "zepi: runtime: DPC++ 2026.2." "${run[@]}" "$python" -c ''
expect 0 ", $library" "${run[@]}" "$python" -c ''
expect 3 'pip install dpctl' "${run[@]}" "$scratch/bin/python3" -c ''
expect 0 "$library" env PYTHONPATH="$packages" "${run[@]}" "$scratch/bin/python3" -c ''
expect 0 "$library" env LD_LIBRARY_PATH="$(dirname "$library")" "${run[@]}" "$scratch/bin/python3" -c ''
expect 0 "$scratch/other/libsycl.so.9" env LD_PRELOAD="$scratch/other/libsycl.so.9" "${run[@]}" "$python" -c ''
expect 3 "$scratch/program needs libsycl.so.9, which is not found" "${run[@]}" "$scratch/program"
expect 0 "DPC++ of an unknown release, $scratch/other/libsycl.so.9" env LD_LIBRARY_PATH="$scratch/other" \
    "${run[@]}" "$scratch/program"
expect 0 "$scratch/other/libsycl.so.9" env LD_LIBRARY_PATH="$scratch/other" "${run[@]}" "$scratch/bin/python3" -c ''
# The runtime that is named is the one that the process loads: which one comes first is up to the package, and a
# library of another name is for others.
mkdir -p "$scratch/"{first,last,eight,pkg/thing}
cp "$scratch/other/libsycl.so.9" "$scratch/first"
cp "$scratch/other/libsycl.so.9" "$scratch/last"
cc -shared -fPIC -Wl,-soname,libsycl.so.8 "$scratch/sycl.c" -o "$scratch/eight/libsycl.so.8" || exit 1
echo 'int sycl(void); int thing(void); int thing(void) { return sycl(); }' >"$scratch/thing.c"
# expect_loaded FOLDER LD_LIBRARY_PATH TAGS: by a package with RUNPATH (enable-new-dtags) or RPATH.
expect_loaded()
{
    cc -shared -fPIC "$scratch/thing.c" "$scratch/last/libsycl.so.9" "-Wl,-rpath,$scratch/last,--$3" \
        -o "$scratch/pkg/thing/thing.so" || exit 1
    local output maps='import ctypes, sys; ctypes.CDLL(sys.argv[1])
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libsycl" in line))'
    output=$(LD_LIBRARY_PATH=$2 PYTHONPATH=$scratch/pkg "${run[@]}" "$scratch/bin/python3" -c "$maps" \
        "$scratch/pkg/thing/thing.so" 2>&1 | grep -F libsycl)
    [ "$output" = "zepi: runtime: DPC++ of an unknown release, $scratch/$1/libsycl.so.9
$scratch/$1/libsycl.so.9" ] || fail "with $3 and LD_LIBRARY_PATH=$2, expected $1: $output"
}
expect_loaded first "$scratch/first:$scratch/other" enable-new-dtags
expect_loaded first "$scratch/eight:$scratch/first" enable-new-dtags
expect_loaded last "$scratch/eight" enable-new-dtags
expect_loaded last '' enable-new-dtags
expect_loaded last "$scratch/first" disable-new-dtags
# A runtime that is too old, as its comment tells.
mkdir "$scratch/old"
echo '__asm__(".ident \"Intel(R) oneAPI DPC++/C++ Compiler 2025.1.1 (2025.1.1.20250418)\"");' >>"$scratch/sycl.c"
cc -shared -fPIC -Wl,-soname,libsycl.so.9 "$scratch/sycl.c" -o "$scratch/old/libsycl.so.9" || exit 1
expect 3 'loads DPC++ 2025.1.1' env LD_LIBRARY_PATH="$scratch/old" "${run[@]}" "$scratch/program"
expect 3 "pip install 'intel-sycl-rt>=2025.3'" env LD_LIBRARY_PATH="$scratch/old" "${run[@]}" "$scratch/bin/python3" -c ''
expect 0 ", $library" env LD_LIBRARY_PATH="$scratch/old" "${run[@]}" "$python" -c ''
# Programs that start others.
expect 0 'runtime: unknown' "${run[@]}" env "$scratch/bin/python3" -c ''
expect 0 'runtime: unknown' "${run[@]}" sh -c ''
expect 0 'started' "${run[@]}" "$scratch/script"
expect 127 'No such file' "${run[@]}" "$scratch/none"

adapters=$(dirname "$zepi")/../lib/zepi/adapters
expect 0 "UR_ADAPTERS_SEARCH_PATH=$adapters" "${run[@]}" true
expect 0 "UR_ADAPTERS_SEARCH_PATH=$adapters,/other" env UR_ADAPTERS_SEARCH_PATH=/other "${run[@]}" true
expect 0 'UR_ADAPTERS_FORCE_LOAD is unset' env UR_ADAPTERS_FORCE_LOAD=/other "${run[@]}" true
expect 0 "UR_ADAPTERS_FORCE_LOAD=$scratch/script" "$zepi" exec --cpu --adapter "$scratch/script" -- env
expect 0 "UR_ADAPTERS_FORCE_LOAD=$scratch/script" env ZEPI_UR_ADAPTER="$scratch/script" "$zepi" exec --cpu -- env
expect 3 "$scratch/none: No such file" env ZEPI_UR_ADAPTER="$scratch/none" "${run[@]}" true


# The device's type, and the line for a program that asks for a GPU.
devices='import dpctl; print([str(device.device_type) for device in dpctl.get_devices()])'
unset ZE_CPU_TYPE ONEAPI_DEVICE_SELECTOR
expect 0 'type: CPU' "$zepi" info --cpu
expect 0 "['device_type.cpu']" env ONEAPI_DEVICE_SELECTOR='level_zero:*' "$zepi" exec --cpu -- "$python" -c "$devices"
expect 0 "['device_type.gpu']" env ONEAPI_DEVICE_SELECTOR='level_zero:*' "$zepi" exec --cpu=gpu -- "$python" -c "$devices"
expect 0 'asks for a GPU' env ONEAPI_DEVICE_SELECTOR='level_zero:gpu' "$zepi" exec --cpu -- "$python" -c "$devices"
# expect_lines COUNT SELECTOR OPTION: that often.
expect_lines()
{
    local lines
    lines=$(ONEAPI_DEVICE_SELECTOR=$2 "$zepi" exec "$3" -- "$python" -c "$devices; $devices" 2>&1 |
        grep -c 'asks for a GPU')
    [ "$lines" -eq "$1" ] || fail "the line about GPUs stands $lines times with $2 $3"
}
expect_lines 1 level_zero:gpu --cpu
expect_lines 1 'opencl:cpu;Level_Zero:cpu,GPU' --cpu
expect_lines 1 '*:gpu' --cpu
expect_lines 0 level_zero:gpu --cpu=gpu
expect_lines 0 'level_zero:*' --cpu
expect_lines 0 '!*:gpu' --cpu
expect_lines 0 'level_zero:*;!opencl:gpu' --cpu
expect_lines 0 opencl:gpu --cpu
expect 2 'expected --cpu or --cpu=gpu' "$zepi" exec --cpu=other -- true

[ $failures -eq 0 ] && echo 'exec: everything is right'
