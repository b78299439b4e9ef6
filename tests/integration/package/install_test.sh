#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi is installed, the folder is moved, and docs/first-kernel.md is done there step by step: its files,
# its commands, with CMake and with pkg-config, without a GPU. Then the command, its page and completion.
# Arguments: the build folder, the document, version of clang and llvm-spirv.
set -u
build=$1 document=$2 version=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"
export HOME=$scratch XDG_CACHE_HOME=$scratch/cache
unset ZEPI_CACHE_DIR ZEPI_PLUGIN ZEPI_ZE_CPU ZEPI_UR_ADAPTER

# block KIND NUMBER: the text of the document's NUMBERth block of this kind.
block()
{
    awk -v kind="\`\`\`$1" -v number="$2" '
        $0 == kind { inside = ++count == number; next }
        /^```/ { inside = 0 }
        inside' "$document"
}

# do_block NUMBER WORDS: its commands succeed and print WORDS.
do_block()
{
    block sh "$1" | sed "s/^version=.*/version=$version/" >"$scratch/commands"
    expect 0 "$2" bash -e "$scratch/commands"
}

cmake --install "$build" --prefix "$scratch/before" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
mv "$scratch/before" "$scratch/zepi"
mkdir "$scratch/work" && cd "$scratch/work" || exit 1
block opencl 1 >scale.cl
block c 1 >first.c
block cmake 1 >CMakeLists.txt
eval "$(block sh 1 | grep '^export')"
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
pushd "$source" >/dev/null || exit 1
eval "$(block sh 2 | grep '^export')"
popd >/dev/null || exit 1

[ "$(wc -l <first.c)" -le 60 ] || fail 'the program has more than 60 lines'
do_block 3 'scale'
do_block 4 '1000 numbers are right'
rm -rf build
do_block 5 '1000 numbers are right'
do_block 4 '1000 numbers are right'
# The program can fail: another factor is not in the document.
sed 's/factor = 3;/factor = 4;/' first.c >wrong.c
# shellcheck disable=SC2046 # flags
cc wrong.c $(PKG_CONFIG_PATH=$HOME/zepi/lib/pkgconfig pkg-config --cflags --libs zepi) -o wrong
expect 1 'out[1] is 4' env LD_LIBRARY_PATH="$HOME/zepi/lib" ./wrong
expect 1 '/nowhere: cannot open shared object file' env ZE_ENABLE_ALT_DRIVERS=/nowhere build/first

# The second example, whose kernels the package's function compiles; on Intel's driver, too, where it is.
mkdir docs && cp -r "$source/docs/example" docs
do_block 6 '10 rounds are right'
if [ -e "$build/lib/libdrm_shim.so" ] && [ -e "$build/lib/intel-driver/usr" ]; then
    expect 0 '10 rounds are right' env -u ZE_ENABLE_ALT_DRIVERS "$build/bin/zepi" exec --intel-driver -- example/smooth
fi
# A change of the OpenCL C is compiled.
sed -i 's/\* __spirv_SpecConstant(3/* 3 * __spirv_SpecConstant(3/' docs/example/smooth.cl
expect 1 'the result is' sh -c 'cmake --build example && example/smooth'
echo 'zepi_add_kernels(nothing smooth.cl)' >>docs/example/CMakeLists.txt
expect 1 "zepi_add_kernels: there is no target 'nothing'" cmake -S docs/example -B example

# The reason of ze_cpu, with each library that it tried.
expect 3 'in a virtual environment, pip install intel-opencl-rt' env ZE_CPU_OPENCL=/nowhere zepi info --cpu
expect 3 '/nowhere: cannot open shared object file' env ZE_CPU_OPENCL=/nowhere zepi info --cpu
without=(env -u ZE_CPU_OPENCL -u LD_LIBRARY_PATH "VIRTUAL_ENV=$scratch/environment")
expect 3 "$HOME/zepi/bin/../lib/libintelocl.so: cannot open" "${without[@]}" zepi info --cpu
expect 3 "; $scratch/environment/lib/libintelocl.so: cannot open" "${without[@]}" zepi info --cpu
# The runtime of an environment is found, and named.
mkdir "$scratch/environment"
runtime=$(realpath "$ZE_CPU_OPENCL")
ln -s "$(dirname "$runtime")" "$scratch/environment/lib"
expect 0 "opencl runtime: $runtime" "${without[@]}" zepi info --cpu
expect 0 "opencl runtime: $runtime" zepi info --cpu

# A program that links with zepi needs the major version.
[[ $(readelf -d wrong) == *'[libzepi.so.0]'* ]] || fail 'the program does not need libzepi.so.0'

# Installed files know no path of the build.
if grep -r -l -a -F -e "$build" -e "$source" -e "$(realpath "$source/build/venv")" "$HOME/zepi"; then
    fail 'a file names the folder that zepi was built in, or its sources'
fi

# An empty file in place of the loader, which the dynamic linker finds first.
mkdir "$scratch/empty" && : >"$scratch/empty/libze_loader.so.1"
expect 1 'install libze1' env LD_LIBRARY_PATH="$scratch/empty" build/first
for command in 'info' 'demo' 'exec -- true'; do
    # shellcheck disable=SC2086
    expect 3 'install libze1' env LD_LIBRARY_PATH="$scratch/empty" "$HOME/zepi/bin/zepi" $command
done

[ "$(command -v zepi)" = "$HOME/zepi/bin/zepi" ] || fail 'the command is not the installed one'
expect 0 'right' zepi demo --cpu
expect 0 'right' env ZEPI_COMPILER=process ZEPI_CACHE_DISK=off zepi demo --cpu
expect 0 "$HOME/zepi/bin/../lib/libze_cpu.so.1" zepi exec --cpu -- env
expect 0 "UR_ADAPTERS_SEARCH_PATH=$HOME/zepi/bin/../lib/zepi/adapters" zepi exec --cpu -- env
# The same without /proc, where the machine allows a mount of one's own.
without_proc=(unshare --mount --map-root-user sh -c 'mount -t tmpfs none /proc && exec "$@"' -)
if "${without_proc[@]}" true 2>/dev/null; then
    expect 0 "$HOME/zepi/bin/../lib/libze_cpu.so.1" "${without_proc[@]}" zepi exec --cpu -- env
    expect 0 "$HOME/zepi/bin/../lib/libze_cpu.so.1" "${without_proc[@]}" sh -c 'cd "$HOME/zepi/bin" && ./zepi exec --cpu -- env'
fi
# Nothing of the folder that it was built in.
if grep -r -l -F -e "$build" -e "$scratch/before" "$HOME/zepi/lib/cmake" "$HOME/zepi/lib/pkgconfig"; then
    fail 'a file names the folder that zepi was built in'
fi

# The home page is named where the build has one.
homepage=$(sed -n 's/^ZEPI_HOMEPAGE:[A-Z]*=//p' "$build/CMakeCache.txt")
urls=$(grep '^URL:' "$HOME/zepi/lib/pkgconfig/zepi.pc")
[ "$urls" = "${homepage:+URL: $homepage}" ] || fail "zepi.pc has '$urls' for the home page '$homepage'"

page=$HOME/zepi/share/man/man1/zepi.1
for command in $(zepi --help | sed -n 's/^  \([a-z][a-z]*\)  *[a-zA-Z].*/\1/p'); do
    grep -q "^\.B $command\>" "$page" || fail "zepi.1 has no command $command"
done
! type groff >/dev/null 2>&1 || expect 0 'SYNOPSIS' groff -man -ww -P-cbou -Tascii "$page"

# complete WORD...: completions of the last word.
complete_words()
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zepi; echo "${COMPREPLY[*]}"' - \
        "$HOME/zepi/share/bash-completion/completions/zepi" "$@"
}
expect 0 'compare' complete_words zepi com
expect 0 '--intel-driver' complete_words zepi demo --i
expect 0 'verify' complete_words zepi cache v

[ $failures -eq 0 ] && echo 'install: everything is right'
