#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The wheel of tools/wheel in a Python environment of its own: the command and a program with dpctl run,
# and zepi leaves nothing behind when it goes.
#
#   wheel_test.sh BUILD VENV          dpctl, runtime and OpenCL's runtime are those of VENV
#   wheel_test.sh BUILD VENV --alone  all come by pip from the registry, as a user has it
set -u
build=$1 venv=$2 alone=${3:-}
root=$(realpath "$(dirname "$0")/../..")
if [ ! -x "$venv/bin/python3" ] || [ ! -e "$build/lib/libur_adapter_zepi.so" ]; then
    echo "skipped: there is no $venv, or it has no headers of Unified Runtime: run tools/setup"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$root/tests/support/expect.sh"
unset ZEPI_PLUGIN ZEPI_ZE_CPU ZEPI_UR_ADAPTER ZE_CPU_OPENCL ZE_ENABLE_ALT_DRIVERS
export ZEPI_CACHE_DIR=$scratch/cache
environment=$scratch/environment
cd "$scratch" || exit 1

wheel=$("$root/tools/wheel" --build "$build" --output "$scratch") || exit 1
[[ $wheel == */zepi-*-py3-none-manylinux_2_*_x86_64.whl ]] || fail "$wheel names no C library"

pip() { "$venv/bin/python3" -m pip --disable-pip-version-check --python "$environment/bin/python3" "$@" >pip.log 2>&1 || { cat pip.log; exit 1; }; }
/usr/bin/python3 -m venv --without-pip "$environment" || exit 1
export PYTHONDONTWRITEBYTECODE=1
(cd "$environment" && find . ! -type d | sort) >before
if [ "$alone" = --alone ]; then
    pip install --no-input "$wheel" 'dpctl==0.22.*'
else
    pip install --no-deps "$wheel"
    export ZE_CPU_OPENCL=$venv/lib/libintelocl.so
    # No more than dpctl's own packages.
    "$venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("platlib"))' \
        >"$("$environment/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/dpctl.pth"
fi

expect 0 'zepi CPU driver' "$environment/bin/zepi" info --cpu
expect 0 'right' "$environment/bin/zepi" demo --cpu
# The shared store is there, with libraries of the system; without them one line says what it needs.
if [ -e "$build/lib/zepi/libzepi_shared_store.so" ]; then
    expect 1 'shared state: no connection' env ZEPI_CACHE_SHARED=unix:///nowhere "$environment/bin/zepi" cache show
    mkdir without && : >"without/$(ldd "$environment/lib/zepi/libzepi_shared_store.so" | grep -o 'libhiredis[^ ]*' | head -n 1)"
    expect 1 'it needs hiredis and libcrypto 3 of the system' env LD_LIBRARY_PATH="$scratch/without" \
        ZEPI_CACHE_SHARED=unix:///nowhere "$environment/bin/zepi" cache show
fi
cat >program.py <<'PROGRAM'
import dpctl
import dpctl.memory

device = dpctl.SyclDevice("level_zero")
queue = dpctl.SyclQueue(device)
memory = dpctl.memory.MemoryUSMDevice(5, queue=queue)
memory.copy_from_host(bytearray(b"right"))
print(device.name, memory.copy_to_host().tobytes().decode())
for line in open("/proc/self/maps"):
    if "libintelocl" in line or "libur_adapter_" in line or "libze_cpu" in line:
        print(line.split()[-1])
PROGRAM
run=("$environment/bin/zepi" exec --cpu -- "$environment/bin/python3" program.py)
expect 0 'zepi CPU driver' "${run[@]}"
expect 0 'right' "${run[@]}"
expect 0 "$environment/lib/libze_cpu.so.1" "${run[@]}"
expect 0 "$environment/lib/zepi/adapters/libur_adapter_level_zero.so.0" "${run[@]}"
expect 0 "$environment/lib/libur_adapter_zepi.so" "${run[@]}"
[ "$alone" != --alone ] || expect 0 "$environment/lib/libintelocl.so" "${run[@]}"

expect 0 'right' env ZEPI_COMPILER=process ZEPI_CACHE_DISK=off "$environment/bin/zepi" demo --cpu

# From Python: before the runtime is loaded, and not after.
mkdir empty && : >empty/libze_loader.so.1
cat >enabled.py <<'PROGRAM'
import sys
import zepi

zepi.enable(cpu=True, stats=True)
zepi.enable(cpu=True)  # no effect
import dpctl
import dpctl.memory

queue = dpctl.SyclQueue("level_zero")
memory = dpctl.memory.MemoryUSMDevice(5, queue=queue)
memory.copy_from_host(bytearray(b"right"))
assert memory.copy_to_host().tobytes() == b"right"
assert zepi.stats()["copies"]["count"] >= 2, zepi.stats()
assert zepi.info()["platforms"][0]["is_ze_cpu"] is True
print("enabled", any("libur_adapter_zepi" in line for line in open("/proc/self/maps")))
PROGRAM
expect 0 'enabled True' "$environment/bin/python3" enabled.py
expect 1 'is loaded already: call zepi.enable() before' "$environment/bin/python3" -c 'import dpctl, zepi; zepi.enable()'
expect 1 'there is no Level Zero loader' env LD_LIBRARY_PATH="$scratch/empty" "$environment/bin/python3" -c \
    'import zepi; zepi.enable(cpu=True)'
expect 1 'zepi is not loaded' "$environment/bin/python3" -c 'import zepi; zepi.stats()'
[ -e "$("$environment/bin/python3" -c 'import os, zepi; print(os.path.dirname(zepi.__file__))')/py.typed" ] ||
    fail 'the package has no type hints'

# An empty file in place of the loader, which the dynamic linker finds first.
expect 3 'install libze1' env LD_LIBRARY_PATH="$scratch/empty" "${run[@]}"

if [ "$alone" != --alone ]; then
    pip uninstall --yes zepi
    (cd "$environment" && find . ! -type d ! -name dpctl.pth | sort) >after
    diff before after || fail 'zepi left files behind'
fi
[ $failures -eq 0 ] && echo 'wheel: everything is right'
