# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The tests of commands on Intel's driver, for bash: sourced with the command in $zepi and the driver's folder in
# $driver. Skips without them. `failed` is 1 after a failure.
# shellcheck disable=SC2034,SC2154 # the script that sources this has the names, and reads the result
failed=0

if [ ! -e "$driver/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1" ] || [ ! -e "$(dirname "$zepi")/../lib/libdrm_shim.so" ]; then
    echo "skipped: Intel's driver is not in $driver, or libdrm_shim.so was not built: run tools/setup --intel-driver, then build"
    exit 77
fi

# expect WHAT STATUS PATTERN COMMAND...: COMMAND's exit status, and a pattern in its output.
expect()
{
    local what=$1 status=$2 pattern=$3 output got
    shift 3
    output=$("$@" 2>&1)
    got=$?
    if [ $got -eq "$status" ] && grep -q -E -e "$pattern" <<<"$output"; then
        echo "$what ... ok"
        return
    fi
    echo "$what ... FAILED: exit code $got, expected $status and '$pattern' in:"
    tail -n 20 <<<"$output" | sed 's/^/    /'
    failed=1
}
