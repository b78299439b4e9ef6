#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian package: its dependencies, and the command as unpacked from it. Argument: the build folder.
set -u
build=$1
if ! type dpkg-shlibdeps >/dev/null 2>&1; then
    echo 'skipped: there is no dpkg-shlibdeps (dpkg-dev)'
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"
unset ZEPI_PLUGIN ZEPI_ZE_CPU ZEPI_UR_ADAPTER
export ZEPI_CACHE_DIR=$scratch/cache

cpack --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
package=$(echo "$scratch"/zepi_*_amd64.deb)
expect 0 'libze1 (>= 1.8.12)' dpkg-deb -f "$package" Depends
expect 0 'libc6 (>= ' dpkg-deb -f "$package" Depends
expect 0 'libcjson1' dpkg-deb -f "$package" Depends
if [ -e "$build/lib/zepi/libzepi_shared_store.so" ]; then
    expect 0 'libhiredis' dpkg-deb -f "$package" Depends
    expect 0 'libssl3' dpkg-deb -f "$package" Depends
fi
dpkg-deb -x "$package" "$scratch/root" || exit 1
ZE_CPU_OPENCL=$(sed -n 's/^ZEPI_VENV:[A-Z]*=//p' "$build/CMakeCache.txt")/lib/libintelocl.so
export ZE_CPU_OPENCL
expect 0 'right' "$scratch/root/usr/bin/zepi" demo --cpu
expect 0 'right' env ZEPI_COMPILER=process ZEPI_CACHE_DISK=off "$scratch/root/usr/bin/zepi" demo --cpu
if [ -e "$build/lib/zepi/libzepi_shared_store.so" ]; then
    # Asked for over a socket that is not there: it is loaded.
    expect 1 'shared_state: no connection' env ZEPI_CACHE_SHARED=unix:///nowhere "$scratch/root/usr/bin/zepi" cache show
fi
for file in lib/libzepi.so lib/libzepi.so.0 lib/libze_cpu.so.1 lib/zepi/adapters/libur_adapter_level_zero.so.0 \
    lib/zepi/adapters/libur_adapter_level_zero_v2.so.0 include/zepi/zepi.h share/man/man1/zepi.1 share/doc/zepi/copyright; do
    [ -e "$scratch/root/usr/$file" ] || fail "the package has no /usr/$file"
done

[ $failures -eq 0 ] && echo 'package: everything is right'
