#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi compare: a program with zepi and with another adapter in turns. Arguments: ZEPI, and the Python of an
# environment with the runtime.
set -u
zepi=$1 python=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
unset PYTHONPATH LD_LIBRARY_PATH LD_PRELOAD UR_ADAPTERS_FORCE_LOAD UR_ADAPTERS_SEARCH_PATH ZE_ENABLE_ALT_DRIVERS \
    ZE_CPU_TYPE ONEAPI_DEVICE_SELECTOR ZEPI_STATS
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp
ours=$(realpath "$(dirname "$zepi")/../lib/libur_adapter_zepi.so")
intels=libur_adapter_level_zero_v2.so.0

# tells PYTHON: the JSON in $scratch/it, as `it`, with its rows by adapter and start as `row`, satisfies a condition.
tells()
{
    expect 0 '' python3 -c "
import json, sys
it = json.load(open('$scratch/it'))
row = {(row['adapter'], row['start']): row for row in it['rows']}
print(it)
sys.exit(not ($1))"
}

# compare OPTION...: --json, and the output into the file.
compare() { "$zepi" compare --json "$@" >"$scratch/it" || fail "compare $*"; }

# Both starts of a program of dpnp. Intel's adapter takes no CPU.
compare --cpu --rounds 1 -- "$python" -c 'import dpnp; print(dpnp.arange(8).sum())'
tells "row['zepi', 'first']['compiled']['median'] > 0 and row['zepi', 'first']['from_cache']['median'] == 0"
tells "row['zepi', 'warm']['compiled']['median'] == 0"
tells "row['zepi', 'warm']['from_cache']['median'] == row['zepi', 'first']['compiled']['median']"
tells "'ze_cpu says that it is a CPU' in row['$intels', 'first']['left_out'] and len(it['rows']) == 4"

# What is measured, of the program and of a process that it starts.
cat >"$scratch/load.py" <<'END'
import resource, subprocess, sys, time
def burn(seconds):
    while sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) < seconds:
        pass
if len(sys.argv) > 1:
    subprocess.run([sys.executable, sys.argv[0]], check=True)
    time.sleep(0.3)
else:
    bytes = bytearray(200 << 20)
burn(0.15)
END
compare --cpu --rounds 2 --adapter "$ours" -- "$python" "$scratch/load.py" child
other=$(basename "$ours")
tells "all(row['wall_s']['low'] > 0.3 + row['processor_s']['low'] / 2 for row in it['rows'])"
tells "all(0.3 < row['processor_s']['low'] <= row['processor_s']['median'] <= row['processor_s']['high'] for row in it['rows'])"
tells "all(200 << 20 < row['peak_bytes']['low'] <= row['peak_bytes']['high'] < 400 << 20 for row in it['rows'])"
# It does not use zepi.
tells "'compiled' not in row['zepi', 'first'] and 'compiled' not in row['$other', 'warm'] and it['rounds'] == 2"

# Folders: empty at the first start, kept for the warm one; none is shared by rounds or adapters. Settings of the
# driver and the adapter.
cat >"$scratch/folders" <<'END'
#!/bin/bash
for folder in "$ZEPI_CACHE_DIR" "$SYCL_CACHE_DIR" "$NEO_CACHE_DIR"; do
    [ -d "$folder" ] || exit 9
    ls "$folder"
    touch "$folder/left"
done | tr '\n' ' ' >>"$LOG"
echo "${UR_ADAPTERS_FORCE_LOAD##*/} ${ZEPI_STATS:+stats} ${ZEPI_CACHE_SHARED-} $ZE_CPU_TYPE" >>"$LOG"
END
chmod +x "$scratch/folders"
LOG=$scratch/log ZEPI_CACHE_SHARED=redis://nowhere compare --cpu=gpu --rounds 2 --adapter "$ours" -- "$scratch/folders"
cat >"$scratch/wanted" <<END
 stats  gpu
$other   gpu
left left left  stats  gpu
left left left $other   gpu
$other   gpu
 stats  gpu
left left left $other   gpu
left left left  stats  gpu
END
expect 0 '' diff "$scratch/wanted" "$scratch/log"
expect 0 'zepi / the other' "$zepi" compare --cpu --rounds 1 --adapter "$ours" -- true
expect 0 'at most 100 columns' bash -c '"$0" compare --cpu --rounds 2 --adapter "$1" -- true | grep -v / |
    awk "length > 100 { exit 1 } END { print NR < 10 ? NR : \"at most 100 columns\" }"' "$zepi" "$ours"
expect 0 'median (lowest to highest) of 1 round in turns' "$zepi" compare --cpu --rounds 1 -- true

# An adapter that cannot be had is said in its row.
expect 0 "left out: the program's DPC++ runtime is not known" "$zepi" compare --cpu --rounds 1 -- true
expect 0 "left out: there is no $scratch/none.so" "$zepi" compare --cpu --rounds 1 --adapter "$scratch/none.so" -- true
echo 'int sycl(void); int sycl(void) { return 0; }' >"$scratch/sycl.c"
echo 'int sycl(void); int main(void) { return sycl(); }' >"$scratch/program.c"
cc -shared -fPIC -Wl,-soname,libsycl.so.9 "$scratch/sycl.c" -o "$scratch/libsycl.so.9" || exit 1
cc "$scratch/program.c" "$scratch/libsycl.so.9" -o "$scratch/program" || exit 1
expect 0 "left out: there is no $scratch/$intels" env LD_LIBRARY_PATH="$scratch" "$zepi" compare --cpu --rounds 1 -- \
    "$scratch/program"
touch "$scratch/$intels"
expect 0 'left out: the runtime has no loader of adapters' env LD_LIBRARY_PATH="$scratch" "$zepi" compare --cpu \
    --rounds 1 -- "$scratch/program"
echo 'void crash(void) __attribute__((constructor)); void crash(void) { __builtin_trap(); }' >"$scratch/crash.c"
cc -shared -fPIC "$scratch/crash.c" -o "$scratch/libur_loader.so.0" || exit 1
expect 0 'left out: it crashes as it looks for devices' env LD_LIBRARY_PATH="$scratch" "$zepi" compare --cpu \
    --rounds 1 -- "$scratch/program"

# A program that fails ends it with its status, and its output can be read.
expect 7 'this is why' "$zepi" compare --cpu -- sh -c 'echo this is why; exit 7'
expect 7 'round 1, first start, zepi: sh ended with 7' "$zepi" compare --cpu -- sh -c 'exit 7'
expect 137 'sh was ended by signal 9' "$zepi" compare --cpu -- sh -c 'kill -KILL $$'
expect 6 "$other: sh ended with 6" "$zepi" compare --cpu --adapter "$ours" -- \
    sh -c '[ -z "${UR_ADAPTERS_FORCE_LOAD-}" ] || exit 6'
expect 5 'round 2, warm start, zepi: sh ended with 5' "$zepi" compare --cpu -- \
    sh -c "echo >>'$scratch/count'; [ \"\$(wc -l <'$scratch/count')\" -lt 4 ] || exit 5"
expect 127 'No such file' "$zepi" compare --cpu -- "$scratch/nothing"
expect 3 'has no DPC++ runtime' "$zepi" compare --cpu -- /usr/bin/python3 -c ''

# An interrupted one ends its program, and leaves no folder.
"$zepi" compare --cpu -- sh -c "echo \$\$ >'$scratch/id'; exec sleep 100" 2>"$scratch/said" &
while [ ! -s "$scratch/id" ]; do sleep 0.1; done
kill $!
wait $!
[ $? -eq 143 ] || fail 'an interrupted compare does not end with 143'
! kill -0 "$(cat "$scratch/id")" 2>/dev/null || fail 'the program of an interrupted compare goes on'
expect 1 '' grep . "$scratch/said"
[ -z "$(ls "$TMPDIR")" ] || fail "folders are left: $(ls "$TMPDIR")"

[ $failures -eq 0 ] && echo 'compare: everything is right'
