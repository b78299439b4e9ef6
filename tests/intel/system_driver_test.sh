#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zepi's option --intel-driver on a system whose own driver is new enough: the packages' folder lies over the
# system's libraries, for the processes of this script alone. ZEPI, PYTHON and the driver's folder are the arguments.
set -u
zepi=$1 python=$2 driver=$3
libraries=usr/lib/x86_64-linux-gnu
if [ ! -e "$driver/$libraries/libze_intel_gpu.so.1" ] || [ ! -e "$(dirname "$zepi")/../lib/libdrm_shim.so" ]; then
    echo "skipped: Intel's driver is not in $driver, or libdrm_shim.so was not built: run tools/setup --intel-driver, then build"
    exit 77
fi
if [ "${4-}" != inside ]; then
    if ! unshare --user --map-root-user --mount true 2>/dev/null; then
        echo "skipped: this system lets no process have mounts of its own"
        exit 77
    fi
    exec unshare --user --map-root-user --mount "$0" "$zepi" "$python" "$(realpath "$driver")" inside
fi
if ! mount -t overlay -o "lowerdir=$driver/$libraries:/$libraries" overlay "/$libraries" 2>/dev/null; then
    echo "skipped: this system lets no process mount an overlay"
    exit 77
fi

scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
export ZEPI_CACHE_DIR=$scratch/cache
unset ZE_ENABLE_ALT_DRIVERS ZEPI_INTEL_DRIVER
failed=0
# expect WHAT PATTERN COMMAND...: COMMAND succeeds and prints a line with the pattern.
expect()
{
    local what=$1 pattern=$2 output got
    shift 2
    output=$("$@" 2>&1)
    got=$?
    if [ $got -eq 0 ] && grep -q -E -e "$pattern" <<<"$output"; then
        echo "$what ... ok"
        return
    fi
    echo "$what ... FAILED: exit code $got, and '$pattern' expected in:"
    tail -n 20 <<<"$output" | sed 's/^/    /'
    failed=1
}

expect "info names the system's driver" "driver: Intel's /$libraries/libze_intel_gpu" "$zepi" info --intel-driver
expect 'the demo has right numbers' 'single task +float = 3.25 .* right' "$zepi" demo --intel-driver
expect "a program starts by itself, not through the packages' loader" '^B580 True$' \
    "$zepi" exec --intel-driver -- "$python" -c '
import dpctl, os
name = dpctl.SyclDevice("level_zero:gpu").name
print("B580" if "B580" in name else name, "python" in os.path.basename(os.readlink("/proc/self/exe")))'
expect 'processes that a program starts come up on it as well' 'B580' \
    "$zepi" exec --intel-driver -- sh -c '"$0" -c "import dpctl; print(dpctl.get_devices()[0].name)"' "$python"
# An older system driver than the packages' is passed over.
mkdir -p "$scratch/newer/$libraries" && for file in "$driver/$libraries"/*; do
    case $file in
    */libze_intel_gpu.so.*) ;;
    *) ln -s "$file" "$scratch/newer/$libraries/" ;;
    esac
done
cp "$(realpath "$driver/$libraries/libze_intel_gpu.so.1")" "$scratch/newer/$libraries/libze_intel_gpu.so.1.99.0"
ln -s libze_intel_gpu.so.1.99.0 "$scratch/newer/$libraries/libze_intel_gpu.so.1"
expect "a driver that is newer than the system's is taken" "driver: Intel's $scratch/newer/$libraries/libze_intel_gpu.so.1.99.0" \
    env ZEPI_INTEL_DRIVER="$scratch/newer" "$zepi" info --intel-driver
exit $failed
