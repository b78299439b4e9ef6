#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi cache warm, export, import and verify. Arguments: the program, a folder of SPIR-V files (tests/data).
set -u
zepi=$1 data=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"
unset ZEPI_CACHE ZEPI_CACHE_DISK
unset ZEPI_COMPILER # processes count their compiles
export ZEPI_CACHE_DIR=$scratch/cache ZE_CPU_COUNT=1

files() { find "$1" -name '*.zepi1' | wc -l; }
options=(--cpu --options '-ze-opt-level=2')
# The number of compiles from SPIR-V in a process.
compiles() { "$zepi" build "$@" 2>&1 | sed -n 's/.*count: compile:spirv //p'; }

# order NAME...: the first kernels of modules, as one process builds them one after the other.
order()
{
    (cd "$data" && ZEPI_LOG=info ZE_CPU_BUILD_MS=1100 "$zepi" cache warm "${@/%/.spv}" --cpu --processes 1 \
        --folder "$scratch/ordered") 2>&1 | sed -n 's/.* the build for .* s: \([a-z0-9_]*\).*/\1/p' | tr '\n' ' '
}

# An executable is read as bytes with modules among them; one of them is there twice.
{
    head -c 4096 "$zepi"
    cat "$data/vector_add.spv" "$data/negate.spv" "$data/vector_add.spv" "$data/importer.spv"
    head -c 100 /dev/zero
} >"$scratch/program"
expect 0 'modules: 2' "$zepi" cache warm "$scratch/program" --cpu --processes 2
expect 0 'linked with others: 1' "$zepi" cache warm "$scratch/program" --cpu
[ "$(compiles "$data/vector_add.spv" "${options[@]}")" = 0 ] || fail 'what is warm is compiled'
[ "$(compiles "$data/negate.spv" "${options[@]}")" = 0 ] || fail 'what is warm is compiled'
[ "$(compiles "$data/vector_add.spv" --cpu --options '-cl-opt-disable')" = 1 ] || fail 'other options are no other build'
expect 0 'built: 1' "$zepi" cache warm "$scratch/program" "$data/spin.spv" --cpu --kernels 'sp?n'
[ "$(compiles "$data/spin.spv" "${options[@]}")" = 0 ] || fail 'a .spv file is not warm'
# Nothing to build is a failure.
expect 1 'modules: 0' "$zepi" cache warm "$scratch/program" --cpu --kernels 'nothing*'
expect 1 'there is no SPIR-V module with a kernel nothing* in the file' \
    "$zepi" cache warm "$scratch/program" --cpu --kernels 'nothing*'
expect 1 'there is no SPIR-V module in the file' "$zepi" cache warm "$0" --cpu
expect 0 '"modules":' "$zepi" cache warm "$scratch/program" --cpu --json
expect 1 'No such file' "$zepi" cache warm "$scratch/none" --cpu
expect 2 'expected a FILE' "$zepi" cache warm
expect 2 '--processes none: expected 1 to 256' "$zepi" cache warm "$scratch/program" --processes none
# The compiler's record is a file, too.
expect 0 'stored: 3 files' "$zepi" cache warm "$scratch/program" --cpu --folder "$scratch/once"
expect 0 'found: 2' "$zepi" cache warm "$scratch/program" --cpu --folder "$scratch/once"
expect 0 'stored: 0 files' "$zepi" cache warm "$scratch/program" --cpu --folder "$scratch/once"
expect 1 '2 modules were compiled, and' env ZEPI_CACHE_DISK_BYTES=0 "$zepi" cache warm "$scratch/program" --cpu \
    --folder "$scratch/unkept"
# One module that is not built leaves the others.
# A terminal gets a progress bar.
expect 0 'of 2 modules, 0 s' script -qec "'$zepi' cache warm '$scratch/program' --cpu --folder '$scratch/drawn'" /dev/null
# The largest is built first.
expect 0 'add_1 vector_add negate' order negate vector_add twenty_kernels
# A process that dies takes one module with it.
ZE_CPU_BUILD_MS=1000 "$zepi" cache warm "$scratch/program" --cpu --processes 1 --folder "$scratch/killed" >"$scratch/said" 2>&1 &
warming=$!
until child=$(pgrep -P $warming) || ! kill -0 $warming 2>/dev/null; do sleep 0.02; done
kill -SEGV "$child"
wait $warming && fail 'a process that died is no failure'
expect 0 'ended with signal 11' cat "$scratch/said"
grep -q -E '^built: +0|not built: 2' "$scratch/said" && fail 'no process took the place of one that died'
expect 1 'not built: 2' "$zepi" cache warm "$scratch/program" --cpu --options '-no-such-option' --folder "$scratch/refused"

# To another machine: files, and the record of the compiler for processes there.
expect 0 'exported: ' "$zepi" cache export "$scratch/exported"
expect 0 'unused' "$zepi" cache import "$scratch/exported" --folder "$scratch/there" --cpu --json
[ "$(files "$scratch/there")" -ge "$(files "$scratch/cache")" ] || fail 'import left files out'
ZEPI_CACHE_DIR=$scratch/there
[ "$(compiles "$data/negate.spv" "${options[@]}")" = 0 ] || fail 'what was imported is compiled'
"$zepi" cache export - --folder "$scratch/cache" | cmp -s - "$scratch/exported" || fail 'export to standard output differs'
# shellcheck disable=SC2016 # the inner shell expands them
expect 0 'imported: ' sh -c '"$1" cache import - --folder "$2/piped" --cpu <"$2/exported"' - "$zepi" "$scratch"
expect 2 'expected a FILE' "$zepi" cache export
expect 2 'expected a FILE' "$zepi" cache import
expect 1 'No such file' "$zepi" cache import "$scratch/none"
expect 1 'is no exported cache' "$zepi" cache import "$data/negate.spv"
expect 1 'No space left' "$zepi" cache export /dev/full --folder "$scratch/cache"
[ -c /dev/full ] || fail 'export removes a device'
# shellcheck disable=SC2016
expect 1 'File too large' sh -c 'ulimit -f 1; trap "" XFSZ; "$1" cache export "$2/large" --folder "$2/cache"' - "$zepi" "$scratch"
[ ! -e "$scratch/large" ] || fail 'what is half an export stays'
# Bytes that are damaged or missing cost what they are part of.
head -c -1 "$scratch/exported" >"$scratch/short"
expect 1 'bad: 1 files' "$zepi" cache import "$scratch/short" --folder "$scratch/short.there" --cpu
{ cat "$scratch/exported"; printf '\001\000\000\000\000\000\000\000x'; } >"$scratch/long"
expect 1 'bad: 1 files' "$zepi" cache import "$scratch/long" --folder "$scratch/long.there" --cpu
# On a full disk, which a limit for files stands in for, what is too large is left out and the rest is used.
"$zepi" cache warm "$data/negate.spv" "$data/twenty_kernels.spv" --cpu --folder "$scratch/full.here" >/dev/null 2>&1
"$zepi" cache export "$scratch/full" --folder "$scratch/full.here" >/dev/null
(ulimit -f 8; "$zepi" cache import "$scratch/full" --folder "$scratch/full.there" --cpu) >"$scratch/counted" 2>"$scratch/said"
[ $? -eq 1 ] || fail 'a full disk is no failure'
expect 0 'not written: 1 files' cat "$scratch/counted"
sed -i '/^ze_cpu: /d' "$scratch/said"
[ "$(wc -l <"$scratch/said")" = 1 ] || fail 'a full disk is not told in one line'
expect 0 '1 of 3 files could not be written there: File too large' cat "$scratch/said"
[ -z "$(find "$scratch/full.there" -type f ! -name '*.zepi1')" ] || fail 'half a file stays'
expect 0 'bad and removed: 0 files' "$zepi" cache verify --cpu --folder "$scratch/full.there"
[ "$(ZEPI_CACHE_DIR=$scratch/full.there compiles "$data/negate.spv" "${options[@]}")" = 0 ] || fail 'the rest is not used'

# Files that would not be used are named, with the reason.
ZEPI_CACHE_DIR=$scratch/cache
expect 0 'compared with: ' "$zepi" cache verify --cpu
"$zepi" cache verify --cpu 2>/dev/null | grep -q '^unused' && fail 'something is not used'
expect 0 'with other settings of it' env CL_CONFIG_ZEPI_TEST=1 "$zepi" cache verify --cpu
# Another path of the same driver.
driver=$(dirname "$zepi")/../lib/libze_cpu.so.1
mkdir "$scratch/elsewhere" && cp "$driver" "$scratch/elsewhere/libze_cpu.so.1"
expect 0 'of a driver at another path' env ZEPI_ZE_CPU="$scratch/elsewhere/libze_cpu.so.1" "$zepi" cache verify --cpu
expect 0 '"reason":' env CL_CONFIG_ZEPI_TEST=1 "$zepi" cache verify --cpu --json
# Code for another device is one line a reason, and a failure if nothing else is there.
expect 1 'unused: 4 files: of a driver at another path (the device here is ' \
    env ZEPI_ZE_CPU="$scratch/elsewhere/libze_cpu.so.1" "$zepi" cache import "$scratch/exported" --folder "$scratch/other" --cpu
expect 1 'has no code that ' env ZEPI_ZE_CPU="$scratch/elsewhere/libze_cpu.so.1" "$zepi" cache import \
    "$scratch/exported" --folder "$scratch/other" --cpu --json

# A folder that cannot be written keeps its files: clear and trim say so. For root a mount of its own is one.
before=$(files "$scratch/cache")
# shellcheck disable=SC2016 # the inner shell expands them
read_only=(unshare -rm sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"' - "$scratch/cache")
if "${read_only[@]}" true 2>/dev/null; then
    expect 1 "$scratch/cache: Read-only file system: $before files stay" "${read_only[@]}" "$zepi" cache clear
    expect 1 'files stay' "${read_only[@]}" "$zepi" cache trim 1
    expect 1 'modules were compiled, and' "${read_only[@]}" "$zepi" cache warm "$data/vector_add.spv" --cpu --options '-ze-opt-level=1'
    [ "$(files "$scratch/cache")" = "$before" ] || fail 'a read-only folder lost files'
else
    echo 'without a read-only mount: unshare or mount are not allowed here'
fi

[ $failures -eq 0 ]
