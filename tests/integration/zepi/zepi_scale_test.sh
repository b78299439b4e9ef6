#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi-bench --scale: that it leaves no type of plugin/ out, and that operations cost the same while many
# objects are alive. Arguments: the program, the sanitizers it was built with, then the types to measure; none:
# all of them, which takes minutes.
set -u
bench=$1 sanitizers=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
# shellcheck source=tests/support/expect.sh
. "$here/../../support/expect.sh"

python3 - "$here/../../.." <<'END' || fail 'types'
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
defined, named = set(), set()
for file in (root / "plugin").rglob("*.c"):
    defined |= set(re.findall(r"^ZEPI_DEFINE_(?:RECYCLED_)?TYPE\((\w+),", file.read_text(), re.M))
for file in (root / "tools/bench/scale").glob("*.c"):
    text = file.read_text()
    named |= {word for types in re.findall(r'\.types = "([^"]*)"', text) for word in types.split()}
    named |= set(re.findall(r'^ +\{"(\w+)", *"', text, re.M))
if len(defined) < 20 or defined - named:
    sys.exit(f"    not measured, and no reason is given: {sorted(defined - named)}")
END

if [ -z "$sanitizers" ] && ! valgrind --version >/dev/null 2>&1; then
    echo 'skipped: there is no valgrind'
    exit 77
fi
expect 2 'usage' "$bench" --scale --growth
expect 2 'usage' "$bench" --scale --intel-driver
expect 2 'usage' "$bench" --scale --case copy
expect 2 "no operation 'nothing'" "$bench" --scale --case nothing
expect 1 'install valgrind' env PATH=/nowhere "$bench" --scale --case pool
expect 0 'virtual-mapping' "$bench" --help

if [ -z "$sanitizers" ]; then
    cases=()
    for name; do cases+=(--case "$name"); done
    "$bench" --scale --json "${cases[@]}" >"$scratch/scale.json" 2>"$scratch/scale.log" ||
        fail "zepi-bench --scale: $(head -n 20 "$scratch/scale.log")"
    python3 - "$scratch/scale.json" "$@" <<'END' || fail 'what zepi-bench --scale says'
import json, sys

whole = json.load(open(sys.argv[1]))
if (whole["few"], whole["many"], whole["limit"]) != (200, 20000, 2) or not whole["left_out"]:
    sys.exit("    wrong: the sizes, the limit, or what is left out")
found = {cell["case"] for cell in whole["operations"]}
if not found or sys.argv[2:] and found != set(sys.argv[2:]):
    sys.exit(f"    wrong: {sorted(found)}")
for cell in whole["operations"]:
    few, many = cell["instructions_few"], cell["instructions_many"]
    if not (few > 0 and many > 0):
        sys.exit(f"    nothing was measured: {cell}")
    if cell["is_within_limit"] != (many <= 2 * few):
        sys.exit(f"    wrong: {cell}")
END
fi

[ -z "$(find "$scratch" -maxdepth 1 -name 'zepi-bench-*')" ] || fail 'folders stay'
[ $failures -eq 0 ]
