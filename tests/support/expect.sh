# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of commands share, for bash: sourced. Counts in `failures`.
failures=0

fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect CODE WORDS COMMAND...: exit code, and words in its output (both streams). An error of a sanitizer
# would be hidden by an expected exit code of 1.
expect()
{
    local code=$1 words=$2 output status
    shift 2
    output=$("$@" 2>&1 </dev/null)
    status=$?
    if [ "$status" -ne "$code" ] || ! grep -q -F -e "$words" <<<"$output" ||
        grep -q -E 'Sanitizer:|: runtime error:' <<<"$output"; then
        fail "$* (exit code $status, expected $code; expected in the output: $words)"
        sed 's/^/    /' <<<"$output" | head -n 20
    fi
}
