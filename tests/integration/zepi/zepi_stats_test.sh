#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The report that ZEPI_STATS writes at the end of a process. Arguments: the program, a folder of SPIR-V files
# (tests/data).
set -u
zepi=$1 data=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"

# run COUNT [NAME=VALUE...]: launches a kernel so often, built with the count as a constant.
run()
{
    env "${@:2}" "$zepi" run "$data/scaled_copy.spv" --cpu --kernel scaled_copy_int --global 4 \
        --spec 7="$1":i32 --repeat "$1" --arg buffer:i32:4,ramp=0:1 --arg buffer:i32:4,out
}

# tells LINE PYTHON: line number LINE of the JSON, as `it`, satisfies a condition.
tells()
{
    expect 0 '' python3 -c "
import json, sys
it = json.loads(open('$scratch/it.jsonl').read().splitlines()[$1])
print(it)
sys.exit(not ($2))"
}

json=ZEPI_STATS=$scratch/it.jsonl
expect 0 'argument 1: 0 3 6 9' run 3 "$json"
expect 0 'argument 1: 0 3 6 9' run 3 "$json"
expect 0 'argument 1: 0 2 4 6' run 2 "$json"
expect 1 'MODULE_BUILD_FAILURE' run 1 "$json" ZE_CPU_FAIL=zeModuleCreate:1:ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
kernels="'scaled_copy_int' in it['compiler']['slowest'][0]['kernels']"
tells 0 "it['programs']['compiled'] == 1 and it['compiler']['seconds'] > 0 and $kernels"
tells 0 "it['launches'] == 3 and it['program'] == 'zepi' and it['failed_calls']['count'] == 0"
tells 1 "it['programs']['compiled'] == 0 and it['programs']['disk'] > 0 and it['launches'] == 3"
tells 1 "it['compiler'] == {'seconds': 0, 'builds': 0, 'failures': 0, 'slowest': []}"
tells 2 "it['launches'] == 2 and it['programs']['compiled'] == 1"
tells 3 "it['compiler']['failures'] == 1 and it['compiler']['slowest'][0]['failed'] and $kernels"
tells 3 "it['failed_calls']['last'] == 'zeModuleCreate' and it['launches'] == 0"
# Each name in the report is explained.
tells 3 "[name for name in __import__('re').findall(r'\"(\w+)\":', open('$scratch/it.jsonl').read())
    if '\`' + name + '\`' not in open('$(dirname "$0")/../../../docs/options.md').read()] == []"

expect 0 '  launches       3,' run 3 ZEPI_STATS=stderr
expect 1 '' grep '[{"]' <(run 3 ZEPI_STATS=stderr 2>&1)
expect 0 'expected a name that ends in .jsonl' run 3 ZEPI_STATS="$scratch/it.json"
[ -e "$scratch/it.json" ] && fail 'a report in a file of another name'
# Why a disk cache is not used.
expect 0 '  disk cache     used' run 3 ZEPI_STATS=stderr
unused() { expect 0 "  disk cache     not used: $1" run 4 ZEPI_STATS=stderr "${@:2}"; }
mkdir -m 777 "$scratch/open"
unused "$scratch/open: writable by group or others" ZEPI_CACHE_DIR="$scratch/open"
unused "/proc/self/no: No such file or directory" ZEPI_CACHE_DIR=/proc/self/no
unused "/dev/full: no folder, or a symbolic link" ZEPI_CACHE_DIR=/dev/full
unused 'ZEPI_CACHE_DISK is off' ZEPI_CACHE_DISK=off
unused 'ZEPI_CACHE is off' ZEPI_CACHE=off
unused 'ZEPI_CACHE_DISK_BYTES is 0' ZEPI_CACHE_DISK_BYTES=0
unused 'no folder: set ZEPI_CACHE_DIR, XDG_CACHE_HOME or HOME' ZEPI_CACHE_DIR= XDG_CACHE_HOME= HOME=
unused "/no/folder: /no/folder is missing" ZEPI_CACHE_READ_ONLY_DIRS=/no/folder
expect 0 'not used: /no/folder: /no/folder is missing' run 5 ZEPI_CACHE_READ_ONLY_DIRS=/no/folder
expect 0 'expected at most eight absolute paths' run 4 ZEPI_CACHE_READ_ONLY_DIRS=/a:b
expect 0 'ZEPI_STATS=/nowhere/it: No such file' run 3 ZEPI_STATS=/nowhere/it
expect 0 'ZEPI_STATS=/dev/full: No space left' run 3 ZEPI_STATS=/dev/full
expect 1 ' s  failed: scaled_copy_int, ' run 1 ZEPI_STATS=stderr ZEPI_CACHE_DISK=off \
    ZE_CPU_FAIL=zeModuleCreate:1:ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
cd "$scratch" || exit 1
expect 0 '' run 3 ZEPI_STATS=text
expect 0 ' 0 shared, 0 compiled' cat "$scratch/text"
expect 1 '' grep -F statistics <(run 3 ZEPI_STATS=off 2>&1)

# In programs that exec starts, too, where there is an adapter.
if [ -d "$(dirname "$zepi")/../lib/zepi/adapters" ]; then
    expect 0 '  launches       2,' "$zepi" exec --cpu --stats -- \
        "$zepi" run "$data/scaled_copy.spv" --cpu --kernel scaled_copy_int --global 4 --repeat 2 \
        --arg buffer:i32:4 --arg buffer:i32:4
    # exec stays beside the program: it says if there is no report, ends as the program, and hands signals on.
    expect 0 'no process used zepi' "$zepi" exec --cpu --stats -- true
    expect 0 'no process used zepi' "$zepi" exec --cpu --stats="$scratch/none.jsonl" -- true
    expect 7 'no process used zepi' "$zepi" exec --cpu --stats -- sh -c 'exit 7'
    expect 127 'No such file' "$zepi" exec --cpu --stats -- "$scratch/nothing"
    expect 143 'no process used zepi' "$zepi" exec --cpu --stats -- sh -c 'kill -TERM $$'
    expect 0 'got TERM' sh -c '"$1" exec --cpu --stats -- sh -c "trap \"echo got TERM; exit 0\" TERM; echo up >\"\$0\"; while :; do sleep 0.05; done" "$2" &
        while [ ! -s "$2" ] && kill -0 $!; do sleep 0.05; done; kill -TERM $!; wait $!' - "$zepi" "$scratch/up"
    "$zepi" exec --cpu --stats -- "$zepi" demo --cpu 2>&1 >/dev/null | grep -q 'no process used zepi' && fail 'a process that used zepi is not seen'
    # A GPU or nothing.
    expect 3 'there is no GPU of a driver other than ze_cpu' env -u ZE_ENABLE_ALT_DRIVERS "$zepi" exec --gpu -- true
fi

expect 0 ' s: scaled_copy_int, ' run 1 ZEPI_LOG=info ZEPI_CACHE_DISK=off ZE_CPU_BUILD_MS=1200
# A compile that takes long is told of while it goes on, with ZEPI_LOG=info or on a terminal, and nowhere else.
long() { run 1 ZEPI_CACHE_DISK=off ZE_CPU_BUILD_MS=5300 "$@" >"$scratch/said.$1" 2>&1; }
export -f run
export zepi data
long ZEPI_LOG=info &
long ZEPI_LOG=off &
env SHELL="$BASH" script -qec 'run 1 ZEPI_CACHE_DISK=off ZE_CPU_BUILD_MS=5300' /dev/null \
    >"$scratch/said.terminal" 2>&1 </dev/null &
wait
expect 0 'has compiled for 5 s and goes on' cat "$scratch/said.ZEPI_LOG=info"
expect 0 ' s: scaled_copy_int, ' cat "$scratch/said.ZEPI_LOG=info"
expect 1 '' grep -F 'later starts' "$scratch/said.ZEPI_LOG=info" # without a cache on disk
expect 1 '' grep -F compiled "$scratch/said.ZEPI_LOG=off"
expect 0 'has compiled for 5 s and goes on' cat "$scratch/said.terminal"
[ "$failures" -eq 0 ]
