#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command zepi, as a person types it. Arguments: the program, a folder of SPIR-V files (tests/data),
# the demo's kernels.
set -u
zepi=$1 data=$2 kernels=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"

# refuse WORDS COMMAND...: succeeds, and does not print the words.
refuse()
{
    local words=$1 output
    shift
    if ! output=$("$@" 2>&1 </dev/null) || grep -q -F -e "$words" <<<"$output"; then
        fail "$* (expected success, without: $words)"
    fi
}

# json COMMAND...: succeeds and prints valid JSON.
json()
{
    if ! "$@" 2>/dev/null </dev/null | python3 -m json.tool >/dev/null; then
        fail "no JSON from: $*"
    fi
}

run()
{
    expect 0 "$1" "$zepi" run "$data/scaled_copy.spv" --cpu "${@:2}"
}

expect 2 'usage' "$zepi"
expect 2 "no command 'nothing'" "$zepi" nothing
expect 0 'demo' "$zepi" --help
expect 0 'zepi ' "$zepi" --version
for command in info build run demo cache compare; do
    expect 0 'usage' "$zepi" $command --help
    expect 2 "zepi $command: unrecognized option" "$zepi" $command --no-such-option
    expect 2 "usage: zepi $command" "$zepi" $command --no-such-option
done

# CODE|WORDS|OPTIONS: what each command says that can choose a driver.
while IFS='|' read -r code words options; do
    for command in 'info' 'demo' 'report' 'build x.spv' 'run x.spv' 'exec -- true' 'compare -- true'; do
        # shellcheck disable=SC2086 # of several words; the command's own come last
        expect "$code" "$words" "$zepi" ${command%% *} $options ${command#"${command%% *}"}
    done
done <<'END'
2|--cpu=other: expected --cpu or --cpu=gpu|--cpu=other
2|--cpu=: expected --cpu or --cpu=gpu|--cpu=
2|--intel-driver=nonsense: there is no such product|--intel-driver=nonsense
2|lnl|--intel-driver=nonsense
2|exclude each other|--cpu --gpu
2|exclude each other|--cpu=gpu --gpu
2|exclude each other|--gpu --cpu
2|exclude each other|--cpu --intel-driver
2|exclude each other|--gpu --intel-driver=lnl
0|usage: zepi|--cpu=gpu --help
0|usage: zepi|--cpu --cpu --help
END

# All lines of the synopsis.
expect 2 'COMMAND [ARGUMENT...]' "$zepi" exec --no-such-option

expect 0 'right' "$zepi" demo --cpu
json "$zepi" demo --cpu --json
expect 2 'there is no command' "$zepi" compare --cpu
expect 2 '--rounds 0: expected 1 to 100' "$zepi" compare --rounds 0 -- true
expect 2 '--rounds 2x: expected 1 to 100' "$zepi" compare --rounds 2x -- true
# A driver that completes launches without executing them gives wrong numbers.
expect 1 'WRONG' env ZE_CPU_EXECUTE=0 "$zepi" demo --cpu
expect 3 'no GPU' env ZE_ENABLE_ALT_DRIVERS="$(dirname "$zepi")/../lib/libze_cpu.so.1" "$zepi" demo --gpu
expect 3 "/nowhere: No such file" env ZEPI_PLUGIN=/nowhere "$zepi" info
expect 0 'usage: zepi build' "$zepi" help build
expect 0 'usage: zepi COMMAND' "$zepi" help
expect 0 'zepi 0.' "$zepi" -V
expect 2 'did you mean info' "$zepi" inof
expect 2 'zepi --help lists them' "$zepi" help nothing
for words in --help 'info --cpu' 'info --cpu --json'; do
    # shellcheck disable=SC2086
    expect 1 'standard output: ' sh -c '"$0" "$@" >/dev/full' "$zepi" $words
done
# Before the build, and the driver, come up.
expect 1 '/nowhere/native: No such file' env ZEPI_PLUGIN=/nowhere "$zepi" build "$data/scaled_copy.spv" -o /nowhere/native
expect 3 "/nowhere: No such file" env ZEPI_ZE_CPU=/nowhere "$zepi" info --cpu
expect 0 'ZEPI_CACHE_DISK_BYTES' "$zepi" info --cpu
expect 0 'max group size per dimension: ' "$zepi" info --cpu
expect 0 'type: GPU' "$zepi" info --cpu=gpu
expect 0 ' - early-copies' "$zepi" info --cpu
expect 0 'quirks: none' env ZEPI_QUIRKS=none "$zepi" info --cpu
expect 3 "ZEPI_QUIRKS has 'early'" env ZEPI_QUIRKS=early "$zepi" info --cpu
json "$zepi" info --cpu --json
ZE_CPU_DEVICES=2 ZE_CPU_SUB_DEVICES=2 json "$zepi" info --cpu --json

run 'argument 1: 0 3 6 9' --kernel scaled_copy_int --global 4 --spec 7=3:i32 \
    --arg buffer:i32:4,ramp=0:1 --arg buffer:i32:4,out
run 'argument 1: 2.5 3.75 5 6.25' --kernel scaled_copy_float --global 4 --local 2 --spec 3=2.5 \
    --arg buffer:f32:4,ramp=1:0.5 --arg buffer:f32:4,out
run 'argument 0: 100 -300 -5 7 0 1065353216' --kernel show_constants --global 1 --spec 11=100:i8 \
    --spec 5=-300:i16 --spec 7=-5:i32 --spec 2=7 --spec 13=false --arg buffer:i64:6,out
run 'argument 0: -1 -2 4 7' --kernel show_constants --global 1 --layout pair=7,2 --spec pair=4,7 \
    --arg buffer:i64:6,out
json "$zepi" run "$data/scaled_copy.spv" --cpu --json --kernel scaled_copy_int --global 4 \
    --arg buffer:i32:4,fill=9 --arg buffer:i32:4,out
run 'round 3' --kernel scaled_copy_int --global 4 --repeat 3 --arg buffer:i32:4 --arg buffer:i32:4

# Files in and out, and native code as an input.
printf '\001\000\000\000\002\000\000\000' >"$scratch/in"
run '' --kernel scaled_copy_int --global 2 --spec 7=2 --arg "buffer:i32:2,file=$scratch/in" \
    --arg "buffer:i32:2,out=$scratch/out"
expect 0 '           2           4' od -A n -t d4 "$scratch/out"
expect 2 'constant 3 is f32' "$zepi" build "$data/scaled_copy.spv" --cpu --spec 3=1:i32
expect 0 'native code' "$zepi" build "$data/scaled_copy.spv" --cpu --spec 7=5 -o "$scratch/native"
expect 0 'argument 1: 5 10' "$zepi" run "$scratch/native" --cpu --kernel scaled_copy_int --global 2 \
    --arg buffer:i32:2,ramp=1:1 --arg buffer:i32:2,out
expect 0 'scaled_copy_float' "$zepi" build "$data/scaled_copy.spv" --cpu --show
expect 0 '  SPIR-V, input, ' "$zepi" build "$data/scaled_copy.spv" --cpu --show
expect 0 '5  u16  = 65534 (default 65534, 2 bytes)' "$zepi" build "$data/scaled_copy.spv" --cpu --show
json "$zepi" build "$data/scaled_copy.spv" --cpu --show --json
# Arguments of kernels, as SPIR-V declares them.
expect 0 'argument 1: value, 4 bytes' "$zepi" build "$data/execution.spv" --cpu --show
expect 0 'argument 2: pointer, address space local, 8 bytes' "$zepi" build "$data/execution.spv" --cpu --show
expect 0 'argument 3: pointer, address space global, 8 bytes' "$zepi" build "$data/execution.spv" --cpu --show
expect 0 "{'kind': 'pointer', 'address_space': 'local', 'size_bytes': 8}" bash -c '"$0" build "$1" --cpu --show --json |
    python3 -c "import json, sys
kernels = {kernel[\"name\"]: kernel for kernel in json.load(sys.stdin)[\"kernels\"]}
print(kernels[\"place_two\"][\"arguments\"][2])"' "$zepi" "$data/execution.spv"
expect 0 'constants and arguments of' "$zepi" build "$scratch/native" --cpu --show
# Source code in place of SPIR-V is named, with the commands.
sources=$(dirname "$0")/../../data
cp "$sources/negate.cl" "$data/negate.bc" "$scratch"
expect 1 "negate.cl is OpenCL C, expected SPIR-V or native code" "$zepi" build "$scratch/negate.cl" --cpu
expect 1 "llvm-spirv --spirv-max-version=1.2 -o $scratch/negate.spv $scratch/negate.bc" \
    "$zepi" build "$scratch/negate.cl" --cpu --show
expect 1 "-emit-llvm -o $scratch/negate.bc $scratch/negate.cl" "$zepi" build "$scratch/negate.cl" --cpu --compile
expect 1 'negate.bc is LLVM bitcode, expected SPIR-V or native code' "$zepi" run "$scratch/negate.bc" --cpu \
    --kernel negate --global 1
expect 1 'log is text, expected SPIR-V or native code' bash -c 'echo words >"$1" && "$0" build --link "$1" --cpu' \
    "$zepi" "$scratch/log"
expect 0 '0  f32  = 1' "$zepi" build "$kernels/convolution.spv" --cpu --layout c=0..8 \
    --spec c=1,2,3,4,5,6,7,8,9 --show
expect 0 '8  f32  = 9' "$zepi" build "$kernels/convolution.spv" --cpu --layout c=0..8 \
    --spec c=1,2,3,4,5,6,7,8,9:f32 --show

# The native code on disk. There is that of the builds above.
files() { find "$ZEPI_CACHE_DIR" -name '*.zepi1' | wc -l; }
expect 2 'usage' "$zepi" cache
expect 2 'usage' "$zepi" cache nothing
expect 2 'too much' "$zepi" cache show more
expect 0 "results: $(files) files" "$zepi" cache show
expect 0 "good: $(files) files" "$zepi" cache verify
json "$zepi" cache show --json
json "$zepi" cache verify --json
victim=$(find "$ZEPI_CACHE_DIR" -name '*.zepi1' | head -n 1)
printf 'x' | dd of="$victim" bs=1 seek=70 conv=notrunc 2>/dev/null
expect 1 'bad: 1 files' "$zepi" cache verify --keep
expect 1 "unused: $(basename "$victim"): damaged" "$zepi" cache verify --keep
# A file of another version of the format is named, too.
other=${victim%1}9999
cp "$victim" "$other"
expect 1 "unused: $(basename "$other"): of another version of the file format" "$zepi" cache verify --keep --cpu
rm "$other"
expect 1 'bad and removed: 1 files' "$zepi" cache verify
expect 0 'bad and removed: 0 files' "$zepi" cache verify
expect 2 'expected a number' "$zepi" cache trim
expect 2 'expected a number' "$zepi" cache trim 10X
expect 0 'removed: 0 files' "$zepi" cache trim 1G
expect 0 'removed: ' "$zepi" cache trim 8K
[ "$(find "$ZEPI_CACHE_DIR" -name '*.zepi1' -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }')" -le 8192 ] ||
    fail 'trim 8K leaves more'
json "$zepi" cache clear --json
[ "$(files)" -eq 0 ] || fail 'clear leaves files'
expect 0 'not there yet' "$zepi" cache show --folder "$scratch/none"
mkdir "$scratch/open" && chmod 777 "$scratch/open"
expect 1 'writable by group or others' "$zepi" cache clear --folder "$scratch/open"
# A process says once that it does not use such a folder, and why, unless ZEPI_LOG=off.
unused="zepi: error: the cache on disk is not used: $scratch/open: writable by group or others"
said() { "$@" "$zepi" build "$data/scaled_copy.spv" --cpu 2>&1 | grep -c -F "$unused"; }
[ "$(said env ZEPI_CACHE_DIR="$scratch/open")" = 1 ] || fail "expected once '$unused'"
[ "$(said env ZEPI_CACHE_DIR="$scratch/open" ZEPI_LOG=off)" = 0 ] || fail 'a line in spite of ZEPI_LOG=off'
expect 1 'writable by group or others' "$zepi" cache verify --folder "$scratch/open"
expect 1 'there is no folder' env -u ZEPI_CACHE_DIR -u XDG_CACHE_HOME -u HOME "$zepi" cache show
# Objects: compiled, linked, joined, shown.
expect 0 'import: function triple' "$zepi" build "$data/importer.spv" --cpu --show
expect 0 'native code' "$zepi" build --compile "$data/exporter.spv" --cpu -o "$scratch/exporter.o"
expect 0 'state: executable' "$zepi" build --link "$scratch/exporter.o" "$data/importer.spv" --cpu \
    --show -o "$scratch/linked"
expect 0 'argument 0: 100 103 106 109' "$zepi" run "$scratch/linked" --cpu \
    --kernel triple_and_offset --global 4 --arg buffer:i32:4,ramp=0:1,out
expect 1 "function 'triple'" "$zepi" build --link "$data/importer.spv" --cpu
# Native code lists no imports and does not tell whether it is an object: the cache knows both.
expect 0 'state: object' "$zepi" build --compile "$data/importer.spv" --cpu --show -o "$scratch/importer.o"
expect 0 'state: object' "$zepi" build --show "$scratch/importer.o" --cpu
expect 0 'import: function triple' "$zepi" build --show "$scratch/importer.o" --cpu
expect 0 'state: object' "$zepi" build --show "$scratch/exporter.o" --cpu
expect 0 'export: variable offset' "$zepi" build --show "$scratch/exporter.o" --cpu
expect 0 "import: function triple of $scratch/importer.o" "$zepi" build --link "$scratch/importer.o" \
    "$scratch/exporter.o" --cpu --show -o "$scratch/linked.o"
expect 0 'export: function triple' "$zepi" build --show "$scratch/linked.o" --cpu
refuse 'import: function triple' "$zepi" build --show "$scratch/linked.o" --cpu
expect 0 "imports and exports of $scratch/importer.o: unknown" \
    env ZEPI_CACHE_DIR="$scratch/other" "$zepi" build --show "$scratch/importer.o" --cpu
expect 0 'state: object' env ZEPI_CACHE_DIR="$scratch/other" "$zepi" build --show "$scratch/importer.o" --cpu
json "$zepi" build --show "$scratch/linked.o" --cpu --json
expect 0 'import: function triple' bash -c '"$0" build --show - --cpu <"$1"' "$zepi" "$data/importer.spv"
expect 1 'No such file' "$zepi" build --link "$scratch/missing.o" --cpu
lines=$("$zepi" build --link "$scratch/missing.o" --cpu 2>&1 | wc -l)
[ "$lines" -eq 1 ] || fail "a missing file takes $lines lines"
expect 0 'images: 1' "$zepi" build --join "$data/negate.spv" "$data/negate.spv" --cpu --show
expect 2 'expected one FILE' "$zepi" build "$data/negate.spv" "$data/negate.spv" --cpu
expect 2 '--link takes no --spec' "$zepi" build --link "$data/scaled_copy.spv" --spec 7=1 --cpu

# An error is one line.
expect 1 'there is no specialization constant 99' "$zepi" build "$data/scaled_copy.spv" --cpu --spec 99=1
expect 2 "no value of type i8" "$zepi" build "$data/scaled_copy.spv" --cpu --spec 11=300:i8
expect 2 "no value of type f32" "$zepi" build "$data/scaled_copy.spv" --cpu --spec 3=1e999
expect 2 "no value of type u32" "$zepi" build "$data/scaled_copy.spv" --cpu --spec '7= 1'
expect 0 '7  u32  = 12 ' "$zepi" build "$data/scaled_copy.spv" --cpu --show \
    --spec 7=000000000000000000000000000000000000000000000000000000000000000000012
expect 2 'not made of i32' "$zepi" build "$kernels/convolution.spv" --cpu --layout c=0..1 \
    --spec c=1,2:i32
expect 2 'expected 2 values' "$zepi" build "$kernels/convolution.spv" --cpu --layout c=0..1 \
    --spec c=1,2,3
expect 1 'constant 1 is there twice' "$zepi" build "$kernels/convolution.spv" --cpu --layout c=1,2,1
expect 2 'every value one of the type' "$zepi" run "$data/negate.spv" --cpu --kernel negate \
    --global 1 --arg buffer:u8:3,ramp=254:1
expect 2 'one of fill=, ramp= and file=' "$zepi" run "$data/negate.spv" --cpu --kernel negate \
    --global 1 --arg buffer:u8:3,ramp=0,fill=1
expect 1 "'nobody_defines_this'" "$zepi" build "$data/unresolved_import.spv" --cpu
expect 1 'No such file' "$zepi" build "$scratch/missing.spv" --cpu
head -c 100 "$data/negate.spv" >"$scratch/cut.spv"
expect 1 'not valid SPIR-V' "$zepi" build "$scratch/cut.spv" --cpu
expect 1 "no kernel 'none'" "$zepi" run "$data/negate.spv" --cpu --kernel none --global 1
expect 1 'no multiple' "$zepi" run "$data/scaled_copy.spv" --cpu --kernel scaled_copy_int --global 4 \
    --local 3 --arg buffer:i32:4 --arg buffer:i32:4
expect 2 'expected' "$zepi" run "$data/negate.spv" --cpu --kernel negate --global 4 --arg what
expect 2 '--kernel and --global' "$zepi" run "$data/negate.spv" --cpu
expect 3 'there is no device' env ZE_ENABLE_ALT_DRIVERS=/nowhere "$zepi" info

[ $failures -eq 0 ]
