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
package=$(echo "$scratch"/zepi_*_amd64.deb) development=$(echo "$scratch"/libzepi-dev_*_amd64.deb)
if type lintian >/dev/null 2>&1; then
    # Neither errors nor warnings.
    lintian --allow-root --tag-display-limit 0 "$package" "$development" >"$scratch/said" 2>&1 || true
    grep -E '^[EW]:' "$scratch/said" && fail 'lintian has errors or warnings'
else
    echo 'without lintian: it is not installed'
fi
expect 0 'libze1 (>= 1.8.12)' dpkg-deb -f "$package" Depends
expect 0 'libc6 (>= ' dpkg-deb -f "$package" Depends
expect 0 'libcjson1' dpkg-deb -f "$package" Depends
if [ -e "$build/lib/zepi/libzepi_shared_store.so" ]; then
    expect 0 'libhiredis' dpkg-deb -f "$package" Recommends
    expect 0 'libssl3' dpkg-deb -f "$package" Recommends
    [[ $(dpkg-deb -f "$package" Depends) != *hiredis* ]] || fail 'the package depends on hiredis'
fi
dpkg-deb -x "$package" "$scratch/root" && dpkg-deb -x "$development" "$scratch/root" || exit 1
ZE_CPU_OPENCL=$(sed -n 's/^ZEPI_VENV:[A-Z]*=//p' "$build/CMakeCache.txt")/lib/libintelocl.so
export ZE_CPU_OPENCL
expect 0 'right' "$scratch/root/usr/bin/zepi" demo --cpu
expect 0 'right' env ZEPI_COMPILER=process ZEPI_CACHE_DISK=off "$scratch/root/usr/bin/zepi" demo --cpu
if [ -e "$build/lib/zepi/libzepi_shared_store.so" ]; then
    # Asked for over a socket that is not there: it is loaded.
    expect 1 'shared state: no connection' env ZEPI_CACHE_SHARED=unix:///nowhere "$scratch/root/usr/bin/zepi" cache show
fi
lib=lib/$(gcc -print-multiarch)
for file in "$lib"/libzepi.so{,.0} "$lib"/libze_cpu.so.1 "$lib"/zepi/adapters/libur_adapter_level_zero{,_v2}.so.0 \
    include/zepi/zepi.h share/man/man1/zepi.1.gz share/doc/{zepi,libzepi-dev}/{copyright,changelog.gz} \
    share/doc/zepi/docs/deploy.md; do
    [ -e "$scratch/root/usr/$file" ] || fail "the package has no /usr/$file"
done
grep -q 'Yann Collet' "$scratch/root/usr/share/doc/zepi/copyright" || fail 'the notice of xxHash is missing'
# Programs are compiled with the files of libzepi-dev.
printf '#include <zepi/zepi.h>\nint main(void) { zepi_plugin_t table = {0}; return zepiPluginInit(&table) == ZEPI_ERROR_INVALID_SIZE ? 0 : 1; }\n' >"$scratch/main.c"
# shellcheck disable=SC2046 # flags
gcc "$scratch/main.c" $(PKG_CONFIG_PATH=$scratch/root/usr/$lib/pkgconfig pkg-config --cflags --libs zepi) -o "$scratch/main" &&
    expect 0 '' env LD_LIBRARY_PATH="$scratch/root/usr/$lib" "$scratch/main"
mkdir "$scratch/project" && printf 'cmake_minimum_required(VERSION 3.21)\nproject(main C)\nfind_package(zepi 0.4 REQUIRED)\nadd_executable(main ../main.c)\ntarget_link_libraries(main zepi::zepi)\n' >"$scratch/project/CMakeLists.txt"
expect 0 '' cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$scratch/root/usr" -DCMAKE_LIBRARY_ARCHITECTURE="${lib#lib/}"
expect 0 '' cmake --build "$scratch/project/build"
expect 0 '' "$scratch/project/build/main"

[ $failures -eq 0 ] && echo 'package: everything is right'
