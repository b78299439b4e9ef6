#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The store that machines share, with a real server: processes with empty folders stand for machines.
# Arguments: the program, a folder of SPIR-V files (tests/data), the core library.
set -u
zepi=$1 data=$2 core=$3
scratch=$(mktemp -d)
server=
# shellcheck disable=SC2317 # by the trap
stop_server()
{
    [ -z "$server" ] || kill -9 "$server"
    [ -z "$server" ] || wait "$server" 2>/dev/null
    server=
}
trap 'stop_server; rm -rf "$scratch"' EXIT
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"
unset ZEPI_CACHE ZEPI_CACHE_DISK
unset ZEPI_COMPILER # processes count their compiles
export ZE_CPU_COUNT=1 ZEPI_LOG=error ZEPI_CACHE_DIR=$scratch/cache

# A core without the library of the store beside it, as in the wheel; and with one that cannot be loaded.
mkdir "$scratch/lonely"
cp "$core" "$scratch/lonely"
lonely=(env LD_LIBRARY_PATH="$scratch/lonely" ZEPI_CACHE_SHARED=unix:///nowhere "$zepi")
expect 1 'is built without it' "${lonely[@]}" cache show
echo nothing >"$scratch/lonely/libzepi_shared_store.so"
expect 1 'its library cannot be used' "${lonely[@]}" cache show
expect 0 'its library cannot be used' "${lonely[@]}" build "$data/negate.spv" --cpu
if ZEPI_CACHE_SHARED=unix:///nowhere "$zepi" cache show 2>/dev/null | grep -q 'is built without it'; then
    echo 'skipped: the shared store is not built (libhiredis-dev, libssl-dev)'
    exit 77
fi
expect 1 'shared state: no connection: No such file' env ZEPI_CACHE_SHARED=unix:///nowhere "$zepi" cache show
expect 0 'needs a key' env ZEPI_CACHE_SHARED=redis://127.0.0.1:1 "$zepi" build "$data/negate.spv" --cpu
expect 0 'expected redis://HOST' env ZEPI_CACHE_SHARED=http://127.0.0.1 "$zepi" build "$data/negate.spv" --cpu
expect 0 'expected a number from 1 to 3600' env ZEPI_CACHE_SHARED_SECONDS=0 "$zepi" info --cpu
# Processes that have no such store load none of its libraries.
expect 0 libhiredis env LD_DEBUG=files ZEPI_CACHE_SHARED=unix:///nowhere "$zepi" build "$data/negate.spv" --cpu
LD_DEBUG=files "$zepi" build "$data/spin.spv" --cpu 2>&1 | grep -q -e libhiredis -e libcrypto && fail 'libraries of the store are loaded'
[ $failures -eq 0 ] || exit 1
if ! type redis-server redis-cli >/dev/null 2>&1; then
    echo 'skipped: there is no redis-server'
    exit 77
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cli() { redis-cli -s "$scratch/redis" "$@" 2>&1; }
start_server()
{
    redis-server --bind 127.0.0.1 --port "$port" --unixsocket "$scratch/redis" --dir "$scratch" \
        --save '' --appendonly no >"$scratch/redis.log" 2>&1 &
    server=$!
    for _ in $(seq 200); do
        [ "$(cli ping)" = PONG ] && return
        sleep 0.1
    done
    cat "$scratch/redis.log"
    exit 1
}
socket=redis+unix://$scratch/redis
head -c 32 /dev/urandom >"$scratch/key"
chmod 600 "$scratch/key"
export ZEPI_CACHE_SHARED=$socket
start_server

# machine NUMBER ARGUMENT...: builds as a machine of its own. Its output is $scratch/NUMBER.
machine()
{
    ZEPI_CACHE_DIR=$scratch/machine$1 "$zepi" build "${@:2}" --cpu >"$scratch/$1" 2>&1 ||
        { cat "$scratch/$1"; touch "$scratch/failed"; }
}
new_machines() { rm -rf "$scratch"/machine*; }
# How often machines 1 to COUNT compiled from SPIR-V.
compiles()
{
    local number
    for number in $(seq "$1"); do
        sed -n 's/.*count: compile:spirv //p' "$scratch/$number"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}
# machines COUNT ARGUMENT...: all at once.
machines()
{
    local number builds=()
    for number in $(seq "$1"); do
        machine "$number" "${@:2}" &
        builds+=($!)
    done
    wait "${builds[@]}"
}

# Sixteen, one compile: on a socket, and over TCP with a key.
ZE_CPU_BUILD_MS=500 machines 16 "$data/vector_add.spv"
[ "$(compiles 16)" = 1 ] || fail "on a socket, sixteen machines compile $(compiles 16) times"
new_machines
ZEPI_CACHE_SHARED=redis://127.0.0.1:$port/1 ZEPI_CACHE_SHARED_KEY_FILE=$scratch/key ZE_CPU_BUILD_MS=500 \
    machines 16 "$data/vector_add.spv"
[ "$(compiles 16)" = 1 ] || fail "over TCP, sixteen machines compile $(compiles 16) times"
# The records are HMACs of what follows, as another program has them.
[ "$(cli -n 1 --scan | grep -c claim)" = 0 ] || fail 'a claim is left'
for name in $(cli -n 1 --scan); do
    cli -n 1 --raw get "$name" >"$scratch/record"
    python3 - "$scratch/record" "$scratch/key" <<'PYTHON' || fail 'a record has no HMAC-SHA256'
import hashlib, hmac, sys
record, key = (open(name, "rb").read() for name in sys.argv[1:])
mac, rest = record[:32], record[32:-1]
sys.exit(hmac.new(key, rest, hashlib.sha256).digest() != mac or rest[:8] != b"ZEPIbld\n")
PYTHON
done

# Where it came from; from then on the disk has it; and a machine without a disk.
new_machines
ZEPI_STATS=stderr machine 1 "$data/vector_add.spv"
expect 0 ' 0 from disk, 1 shared, 0 compiled' cat "$scratch/1"
ZEPI_STATS=stderr machine 1 "$data/vector_add.spv"
expect 0 ' 1 from disk, 0 shared, 0 compiled' cat "$scratch/1"
ZEPI_STATS=$scratch/stats.jsonl ZEPI_CACHE_DISK=off machine 2 "$data/vector_add.spv"
expect 0 '"shared": 1, "compiled": 0' cat "$scratch/stats.jsonl"
[ ! -e "$scratch/machine2" ] || fail 'a machine without a disk has a folder'
expect 0 "shared: $socket" "$zepi" cache show
expect 0 'shared state: usable' "$zepi" cache show
expect 0 '"shared_state":' "$zepi" info --cpu --json

# A damaged record is a miss, is told, and is replaced.
new_machines
cli --scan | while read -r name; do cli setrange "$name" 200 damaged >/dev/null; done
machine 1 "$data/vector_add.spv"
[ "$(compiles 1)" = 1 ] || fail 'a damaged record is used'
expect 0 'is damaged' cat "$scratch/1"
machine 2 "$data/vector_add.spv"
[ "$(compiles 2)" = 1 ] || fail 'a damaged record is not replaced'

# The builder is killed: one of the others builds, once its claim has ended.
ZE_CPU_BUILD_MS=60000 ZEPI_CACHE_DIR=$scratch/machine0 ZEPI_CACHE_SHARED_SECONDS=5 \
    "$zepi" build "$data/negate.spv" --cpu >/dev/null 2>&1 &
builder=$!
for _ in $(seq 300); do
    [ "$(cli --scan | grep -c claim)" = 0 ] || break
    sleep 0.1
done
kill -9 "$builder"
wait "$builder" 2>/dev/null
ZEPI_CACHE_SHARED_SECONDS=5 ZE_CPU_BUILD_MS=200 machines 4 "$data/negate.spv"
[ "$(compiles 4)" = 1 ] || fail "after the builder's death four machines compile $(compiles 4) times"

# The server is killed while one machine builds and others wait: all of them build.
ZE_CPU_BUILD_MS=2000 machines 4 "$data/spin.spv" &
all=$!
for _ in $(seq 300); do
    [ "$(cli --scan | grep -c claim)" = 0 ] || break
    sleep 0.1
done
stop_server
wait "$all"
[ "$(compiles 4)" = 4 ] || fail "after the server's death four machines compile $(compiles 4) times"
expect 0 'it is left alone for 60 s' cat "$scratch/1" "$scratch/2" "$scratch/3" "$scratch/4"

[ ! -e "$scratch/failed" ] || fail 'a build failed'
[ $failures -eq 0 ] && echo 'shared store: everything is right'
