#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi-bench, as a person types it. Arguments: the program, the sanitizers it was built with.
set -u
bench=$1 sanitizers=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"

expect 0 'usage' "$bench" --help
expect 0 'launch-100-sizes' "$bench" --help
expect 2 'unrecognized option' "$bench" --no-such-option
expect 2 'usage' "$bench" what
expect 2 "no operation 'nothing'" "$bench" --case nothing
expect 2 'usage' "$bench" --adapter a --adapter b --adapter c --adapter d
expect 1 'standard output: ' sh -c '"$0" --case copy >/dev/full' "$bench"
expect 3 '/nowhere: No such file' env ZEPI_ZE_CPU=/nowhere "$bench" --case copy
expect 3 '/nowhere: No such file' env ZEPI_PLUGIN=/nowhere "$bench" --case copy
expect 1 'install valgrind' env PATH=/nowhere "$bench" --instructions --case copy

# Text has at most 100 columns.
expect_narrow() {
    local wide
    "$@" >"$scratch/text" 2>"$scratch/text.log" || fail "$*: $(head -n 5 "$scratch/text.log")"
    [ -s "$scratch/text" ] || fail "$*: no text"
    wide=$(grep -E '.{101}' "$scratch/text") && fail "$*: over 100 columns: $wide"
}

expect_narrow "$bench" --growth --case copy
expect 0 'KiB more after a million' "$bench" --growth --case copy

# An adapter that does not come up is left out; the rest is measured.
expect 0 '/nowhere.so is left out' "$bench" --case copy --adapter /nowhere.so
expect 0 'copy of 64 bytes' "$bench" --case copy --adapter /nowhere.so
expect 0 'is left out: it is no adapter' "$bench" --case copy \
    --adapter "$(dirname "$bench")/../lib/libzepi.so"

# The whole, once; and zepi's own adapter, under another name.
adapter=$(dirname "$bench")/../lib/libur_adapter_zepi.so
named="$scratch/a<b & 'c'.so"
with_adapter=()
if [ -e "$adapter" ]; then
    cp "$(readlink -f "$adapter")" "$named"
    ln -s "$(dirname "$(readlink -f "$adapter")")/zepi" "$scratch/zepi" # the libraries that it finds beside it
    with_adapter=(--adapter "$named")
fi
"$bench" --json >"$scratch/all.json" 2>"$scratch/all.log" ||
    fail "zepi-bench --json: $(head -n 5 "$scratch/all.log")"
"$bench" --json --case copy --case threads-launch "${with_adapter[@]}" >"$scratch/copy.json" 2>"$scratch/copy.log" ||
    fail "zepi-bench --adapter: $(head -n 5 "$scratch/copy.log")"
python3 - "$scratch" "${#with_adapter[@]}" <<'END' || fail 'what zepi-bench says'
import json, sys

folder, adapters = sys.argv[1], int(sys.argv[2])
launches = {"launch-3", "launch-12", "launch-24", "launch-event", "launch-after", "launch-local"}
launches |= {"launch-2-sizes", "launch-100-sizes", "launch-turns"}
common = launches | {"copy", "queue", "allocate", "kernel", "program", "program-large"}
more = {"busy-allocate", "launch-buffer"}
own = more | {"launch-value", "launch-values"}
expected = {"zepi": common | own}
if adapters:
    expected["zepi, Unified Runtime"] = common | more

def check(is_good, what):
    if not is_good:
        sys.exit(f"    wrong: {what}")

whole = json.load(open(f"{folder}/all.json"))
found = {}
for cell in whole["operations"]:
    found.setdefault(cell["row"], set()).add(cell["operation"])
    check(0 < cell["best_ns"] <= cell["median_ns"], cell)
    check(("image_bytes" in cell) == cell["operation"].startswith("program"), cell)
check(found == expected, found)
check(whole["rounds"] >= 15 and whole["spin_throughput"] > 0, "rounds, spin")
names = {pair["operation"] for pair in whole["threads"] if pair["row"] == "zepi"}
check(names == {"threads-launch", "threads-one-queue"}, names)
check(all(pair["throughput"] > 0 and pair["two_threads_ns"] > 0 for pair in whole["threads"]), "threads")

few = json.load(open(f"{folder}/copy.json"))
rows = {cell["row"] for cell in few["operations"]}
check({cell["operation"] for cell in few["operations"]} == {"copy"}, few)
check(not adapters or "a<b & 'c'.so" in rows, rows)
END

# Instructions are the same from run to run.
if [ -z "$sanitizers" ] && valgrind --version >/dev/null 2>&1; then
    for run in 1 2; do
        "$bench" --instructions --json --case launch-3 >"$scratch/count$run.json" ||
            fail 'zepi-bench --instructions'
    done
    expect_narrow "$bench" --instructions --case launch-3
    python3 - "$scratch" <<'END' || fail 'instructions'
import json, sys

runs = [json.load(open(f"{sys.argv[1]}/count{run}.json"))["operations"] for run in (1, 2)]
for one, other in zip(*runs, strict=True):
    if abs(one["instructions"] - other["instructions"]) > 1:
        sys.exit(f"    not repeatable: {one} {other}")
    if not (one["instructions"] > 0 and one["is_straight"]):
        sys.exit(f"    wrong: {one}")
END
fi

[ -z "$(find "$scratch" -maxdepth 1 -name 'zepi-bench-*')" ] || fail 'folders stay'
[ $failures -eq 0 ]
