#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi's option --intel-driver, as a user types it: ZEPI, PYTHON and the driver's folder are the arguments.
set -u
zepi=$1 python=$2 driver=$3
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
# shellcheck source=tests/intel/expect.sh
. "$(dirname "$0")/expect.sh"

find_device='import dpctl; print(dpctl.get_devices()[0].name)'
device='Intel.*Arc.*B580'
printf '#!%s\n%s\n' "$python" "$find_device" >"$scratch/script"
printf '#!/usr/bin/env python3\nimport os, sys\nos.execv(sys.argv[1], sys.argv[1:])\n' >"$scratch/by_env"
printf '#!%s\n' "$scratch/loop" >"$scratch/loop"
chmod +x "$scratch"/*
mkdir "$scratch/bin" && ln -s "$(realpath "$(dirname "$python")")/python3" "$scratch/bin/here"

# kept ADAPTER: the KiB that it keeps of process and device after a program of random sizes.
kept()
{
    ZEPI_UR_ADAPTER=$1 "$zepi-bench" --held --intel-driver 2>&1 | grep -o '[0-9]* KiB' | tr -dc '0-9\n'
}

# expect_no_more WHAT OWN OTHER: a number that is at most another one.
expect_no_more()
{
    if [ -n "$2" ] && [ -n "$3" ] && [ "$2" -le "$3" ]; then
        echo "$1 ... ok"
    else
        echo "$1 ... FAILED: '$2', expected at most '$3'"
        failed=1
    fi
}

expect 'a launch with local memory is measured' 0 'with local memory' \
    "$zepi-bench" --intel-driver --case launch-local
mapfile -t own < <(kept "$(dirname "$zepi")/../lib/libur_adapter_zepi.so")
mapfile -t v2 < <(kept "$(dirname "$python")/../lib/libur_adapter_level_zero_v2.so")
expect_no_more 'a program of random sizes keeps no more of the process than with v2' "${own[0]-}" "${v2[0]-}"
expect_no_more 'a program of random sizes keeps no more of the device than with v2' "${own[1]-}" "${v2[1]-}"
expect 'a report is about this driver, and every number in it is right' 0 'Every number is right' \
    "$zepi" report --intel-driver -o "$scratch/report.txt"
expect 'and names the nearest product' 0 'tests is bmg .Arc B580' cat "$scratch/report.txt"
expect 'and the one of another device' 0 'tests is lnl ' "$zepi" report --device --intel-driver=lnl
expect 'the report names the driver' 0 'libze_intel_gpu.so' cat "$scratch/report.txt"
expect 'info says which driver it is, and that there is no GPU' 0 "driver: Intel's .*libze_intel_gpu.*, without a GPU: kernels are executed on the CPU" \
    "$zepi" info --intel-driver
expect 'info says that kernels are passed over' 0 'without a GPU: kernels are compiled and passed over' \
    env DRM_SHIM_EXEC=0 "$zepi" info --intel-driver
expect 'the device is that of the driver' 0 "$device" "$zepi" info --intel-driver --json
expect 'the demo has right numbers' 0 'single task +float = 3.25 .* right' "$zepi" demo --intel-driver
expect 'info names the quirks of its version' 0 ' - early-copies' "$zepi" info --intel-driver
expect 'products are listed' 0 '^pvc .* 2 tiles' "$zepi" info --intel-driver=list
expect 'the device is the product that is named' 0 'device id: 0x64a0' "$zepi" info --intel-driver=lnl
expect 'an unknown product is refused with the list' 2 '^dg2 ' "$zepi" info --intel-driver=nvl
expect 'a program is told of an unknown product' 0 "'nvl' is none of the products, nor up to 4 of them with commas; they are bmg lnl" \
    env DRM_SHIM_PRODUCT=nvl "$zepi" exec --intel-driver -- "$python" -c 'import dpctl; dpctl.get_devices()'
expect 'two drivers are refused' 2 'exclude each other' "$zepi" info --cpu --intel-driver
expect 'zepi-bench measures on it' 0 '"operation":[[:space:]]*"launch-3"' \
    "$zepi-bench" --intel-driver --case launch-3 --json
expect 'a program in an environment of Python' 0 "$device" \
    "$zepi" exec --intel-driver -- "$python" -c "$find_device"
expect 'a program is compared with Intel'"'"'s adapter' 0 'wall s +[0-9.]+ +[0-9.]+ +[0-9]' \
    "$zepi" compare --intel-driver --rounds 1 -- "$python" -c 'import dpctl; dpctl.SyclQueue()'
expect 'a script starts by its interpreter' 0 "$device" "$zepi" exec --intel-driver -- "$scratch/script"
expect 'a script that env finds starts what it starts' 0 "$device" \
    "$zepi" exec --intel-driver -- "$scratch/by_env" "$scratch/script"
expect 'a name in PATH' 0 '^7$' \
    env PATH="$scratch/bin:$PATH" "$zepi" exec --intel-driver -- here -c 'print(7)'
expect 'processes that a program starts come up on it as well' 0 "$device" \
    "$zepi" exec --intel-driver -- "$python" -c \
    "import subprocess, sys; subprocess.run([sys.executable, '-c', '''$find_device'''], check=True)"
expect 'a program starts itself again' 0 '^6$' \
    "$zepi" exec --intel-driver -- "$python" -c \
    "
import subprocess
subprocess.run(['/proc/self/exe', '-c', 'print(2 * 3)'], check=True)"
expect 'a program that is not there is not found by a child either' 0 'FileNotFoundError' \
    "$zepi" exec --intel-driver -- "$python" -c \
    "
import subprocess
try: subprocess.run(['there-is-no-such-program'])
except FileNotFoundError as error: print(repr(error))"
echo 'int seven(void) { return 7; }' >"$scratch/seven.c"
gcc -shared -fPIC -z execstack -o "$scratch/seven.so" "$scratch/seven.c"
expect 'a library that asks for an executable stack is loaded' 0 '^7$' \
    "$zepi" exec --intel-driver -- "$python" -c \
    "
import ctypes
print(ctypes.CDLL('$scratch/seven.so').seven())"
expect 'a kernel is built for the CPU when it is created, before it is launched' 0 'count: zeModuleCreate 1' \
    env ZE_CPU_COUNT=1 "$zepi" exec --intel-driver -- "$python" -c \
    "
import sys, dpctl, dpctl.program
bytes = open(sys.argv[1], 'rb').read()
bundle = dpctl.program.create_program_from_spirv(dpctl.SyclQueue(), bytes)
bundle.get_sycl_kernel('negate')" "$(dirname "$zepi")/../tests/data/negate.spv"
data=$(dirname "$zepi")/../tests/data
"$zepi" build --intel-driver "$data/scaled_copy.spv" --spec 7=5 -o "$scratch/native" >/dev/null 2>&1
expect 'native code of another process has its constants' 0 '^argument 1: 5 10 15 20$' \
    "$zepi" run --intel-driver "$scratch/native" --kernel scaled_copy_int --global 4 \
    --arg buffer:i32:4,ramp=1:1 --arg buffer:i32:4,out
expect "the exit code is the command's" 5 '' "$zepi" exec --intel-driver -- "$python" -c 'import sys; sys.exit(5)'
expect 'a command that is not there' 127 'No such file' "$zepi" exec --intel-driver -- there-is-no-such-program
expect 'scripts that name each other' 126 'symbolic links' "$zepi" exec --intel-driver -- "$scratch/loop"
expect 'a driver that is not there' 3 'tools/setup --intel-driver' \
    env ZEPI_INTEL_DRIVER="$scratch" "$zepi" info --intel-driver
expect 'a shim that is not there' 3 'ZEPI_DRM_SHIM' \
    env ZEPI_DRM_SHIM="$scratch/none" "$zepi" info --intel-driver
expect 'an adapter that is not there' 3 'No such file' \
    "$zepi" exec --intel-driver --adapter "$scratch/none" -- true

exit $failed
