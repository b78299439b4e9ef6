#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configuring says which parts are built and which are not, and fails for a part that has to be built and cannot.
# Argument: the sources.
set -u
sources=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"

configure() { cmake -S "$sources" -B "$scratch/$1" -G Ninja -DZEPI_TESTS=OFF -DZEPI_VENV="$scratch/none" "${@:2}"; }

expect 1 'ZEPI_UR=ON: the adapter of Unified Runtime cannot be built: no' configure needed -DZEPI_UR=ON
expect 1 'ZEPI_COMMAND=ON: the command zepi cannot be built: no clang' configure needed -DZEPI_UR=AUTO -DZEPI_COMMAND=ON \
    -DZEPI_CLANG=OFF -DZEPI_LLVM_SPIRV=OFF
configure some -DZEPI_ZE_CPU=OFF -DZEPI_SHARED_STORE=OFF >"$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }
for line in 'plugin for runtimes in C: built' 'adapter of Unified Runtime (ZEPI_UR): NOT built: no' \
    'shared store of the cache (ZEPI_SHARED_STORE): NOT built: ZEPI_SHARED_STORE=OFF' \
    'driver for CPUs, ze_cpu (ZEPI_ZE_CPU): NOT built: ZEPI_ZE_CPU=OFF' 'command zepi (ZEPI_COMMAND): built'; do
    expect 0 "$line" cat "$scratch/said"
done
[ $failures -eq 0 ] && echo 'configure: everything is right'
