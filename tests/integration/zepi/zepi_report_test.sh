#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi report, as a person types it. Arguments: the program; with --hang, a plugin that never loads.
set -u
zepi=$1 hang=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

# has WORDS: the report has them.
has()
{
    grep -q -F -e "$1" report.txt || { fail "the report lacks: $1"; head -n 30 report.txt; }
}

if [ "$hang" = --hang ]; then
    # A program that opens a pipe without a writer waits.
    mkfifo plugin.so
    start=$SECONDS
    expect 1 'zepi info did not end within' env ZEPI_PLUGIN="$scratch/plugin.so" "$zepi" report --cpu -o report.txt
    [ $((SECONDS - start)) -lt 120 ] || fail 'the report took more than two minutes'
    has 'zepi info did not end within'
    has '==== messages of the kernel about the GPU'
    [ $failures -eq 0 ] && echo 'report: everything is right'
    exit
fi

mkdir -p environment/lib/python3.11/site-packages/dpctl-1.2.3.dist-info
: >environment/lib/libsycl.so.9
expect 0 'Every number is right' env VIRTUAL_ENV="$scratch/environment" "$zepi" report --cpu
mv zepi-report.txt report.txt || exit 1
for words in '==== machine' '==== zepi info' 'zepi CPU driver' ' - early-copies' '==== zepi demo' 'convolution' \
    'times of operations' 'no product of the tests is near to it' 'copy of 64 bytes' '==== messages of the kernel' 'libze_loader.so.1' 'libze_cpu.so.1' \
    'C library: glibc' 'Every number is right' "$scratch/environment/lib/libsycl.so.9" 'dpctl-1.2.3'; do
    has "$words"
done

# A driver that completes launches without executing them gives wrong numbers.
expect 1 'WRONG' env ZE_CPU_EXECUTE=0 "$zepi" report --cpu -o report.txt
sed -n '/^Wrong:$/,/^$/p' report.txt | grep -q 'multiply.*WRONG' || fail 'the head names no wrong number'
has 'zepi demo ended with exit code 1'
has 'ZE_CPU_EXECUTE=0'
# Without a driver there is a report, too.
expect 3 'exit code 3' env ZEPI_ZE_CPU=/nowhere "$zepi" report --cpu -o report.txt
has '/nowhere: No such file'
expect 1 'No such file' "$zepi" report --cpu -o /nowhere/report.txt
expect 2 'usage' "$zepi" report surplus

[ $failures -eq 0 ] && echo 'report: everything is right'
