# SPDX-License-Identifier: MIT
# One line a step, for tools/setup, tools/quickstart and tools/check. Sourced, not run.
#
#   steps_begin NAME        NAME stands before each line; cd to the project, log to build/logs/NAME.log
#   step LABEL COMMAND...   runs COMMAND with its output in the log and prints "NAME: LABEL ... ok (3 s)";
#                           the command's exit status is the function's
#   steps_die MESSAGE...    one line on stderr, exit 1
# shellcheck shell=bash

steps_begin()
{
    STEPS_NAME=$1
    cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
    ROOT=$PWD
    STEPS_LOG=$ROOT/build/logs/$1.log
    mkdir -p "$ROOT/build/logs" 2>/dev/null && { : >>"$STEPS_LOG"; } 2>/dev/null ||
        steps_die "cannot write to $ROOT/build: run as the owner of this folder"
}

# A step of a second or more says how long it took.
step()
{
    local label=$1 start=$SECONDS status
    shift
    printf '%s: %s ... ' "$STEPS_NAME" "$label"
    printf '\n== %s: %s (%s)\n' "$STEPS_NAME" "$label" "$(date '+%F %T')" >>"$STEPS_LOG"
    "$@" >>"$STEPS_LOG" 2>&1 9>&- </dev/null
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok ($((SECONDS - start)) s)"
    else
        echo "FAILED ($((SECONDS - start)) s)"
    fi
    return $status
}

steps_die()
{
    printf '%s: %s\n' "$STEPS_NAME" "$*" >&2
    exit 1
}

# The reason of a failed step if its log shows a failure of the network, else nothing.
steps_network_trouble()
{
    local end
    end=$(tail -n 200 "$STEPS_LOG")
    if grep -q -i 'certificate verify failed' <<<"$end"; then
        echo 'the package registry has a certificate that this machine does not trust: install the certificate (of the proxy?), then run this again'
    elif grep -q -i -E 'resolving|could not resolve|(could not|unable to) connect|connection (failed|refused|timed out)|network is unreachable|name resolution|newconnectionerror' <<<"$end"; then
        echo 'the package registry cannot be reached: check the network or the proxy, then run this again'
    fi
}
