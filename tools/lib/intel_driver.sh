# SPDX-License-Identifier: MIT
# Intel's newest Level Zero driver, fetched as Debian packages into a folder of the project. Sourced
# by tools/setup; needs steps.sh.
#
#   intel_driver_is_there   true if build/intel-driver/root leads to a whole driver
#   intel_driver_fetch      fetches the packages and unpacks them; nothing is installed
#
#   build/intel-driver/<version of libze-intel-gpu1>/root   the packages' files
#   build/intel-driver/root -> <version>/root               the version in use
# shellcheck shell=bash

INTEL_DRIVER=build/intel-driver
# The driver, its compiler, the loader, the C and C++ library that they are built with, with the
# symbols that valgrind needs, and the kernel's headers, of which tools/drm_shim needs drm/xe_drm.h.
# Level Zero's headers, which tools/ze_cpu/specification reads, go to root/level_zero: no build finds
# them there.
INTEL_DRIVER_PACKAGES=(libze-intel-gpu1 libigdfcl2 libigc2 libigdgmm12 libze1 libze-dev
    libc6 libc6-dbg libstdc++6 libgcc-s1 zlib1g linux-libc-dev)
# Suites of Debian that have the driver, in the order in which they are tried.
INTEL_DRIVER_SUITES=(sid testing)

intel_driver_is_there()
{
    local root=$INTEL_DRIVER/root
    [ -e $root/usr/include/drm/xe_drm.h ] && [ -e $root/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1 ] &&
        [ -e $root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 ] &&
        [ -e $root/usr/lib/x86_64-linux-gnu/.debug ] && [ -e $root/level_zero/ze_api.h ]
}

# True if the tests are known to pass on version $1.
intel_driver_is_known()
{
    grep -q -x -F "$1" tests/intel/known_drivers
}

# Writes the configured sources of this release's main suite into the folder $1, with the suite $2
# in its place. Other suites (security, updates, other vendors') have no counterpart.
derive_suite_sources()
{
    local file codename
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    rm -rf "$1" && mkdir -p "$1" || return 1
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -e "$file" ] && sed -n -E "s/^[[:space:]]*(deb[[:space:]]+(\[[^]]*\][[:space:]]+)?[^[:space:]]+[[:space:]]+)($codename|stable|testing|unstable|sid)([[:space:]].*)/\1$2\4/p" \
            "$file" >"$1/$(basename "$file" .list).list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -e "$file" ] && awk -v RS= -v suite="$2" -v codename="$codename" '{
            count = split($0, lines, "\n"); text = ""; is_main = 0
            for (i = 1; i <= count; i++) {
                if (tolower(lines[i]) ~ /^suites:/) {
                    words = split(lines[i], word, /[ \t]+/)
                    for (j = 2; j <= words; j++)
                        is_main = is_main || word[j] == codename || word[j] ~ /^(stable|testing|unstable|sid)$/
                    lines[i] = "Suites: " suite
                } else if (tolower(lines[i]) ~ /^types:/) {
                    lines[i] = "Types: deb"
                }
                text = text lines[i] "\n"
            }
            if (is_main)
                print text
        }' "$file" >"$1/$(basename "$file")"
    done
    return 0
}

# apt-get or apt-cache with sources, lists, status and cache of its own in the folder $1.
own_apt()
{
    local work=$1 command=$2
    shift 2
    "$command" -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources.list.d" \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" \
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# Chooses a suite in the work folder $1: the first with a known driver, else the first with a driver.
# Leaves that suite's lists there and prints the driver's version.
choose_suite()
{
    local work=$1 suite version fallback=
    for suite in "${INTEL_DRIVER_SUITES[@]}" again; do
        if [ "$suite" = again ]; then
            [ -n "$fallback" ] || return 1
            suite=$fallback
        fi
        derive_suite_sources "$work/sources.list.d" "$suite" || return 1
        # One of several sources may be unreachable: the missing packages decide. Lists that are past their
        # date, as a mirror's may be, are still signed, and the version that the tests know is not the newest.
        own_apt "$work" apt-get -o Acquire::Check-Valid-Until=no update >&2
        version=$(own_apt "$work" apt-cache policy libze-intel-gpu1 | sed -n 's/^  Candidate: //p')
        [ -n "$version" ] && [ "$version" != '(none)' ] || continue
        if [ "$suite" = "$fallback" ] || intel_driver_is_known "$version"; then
            echo "$version"
            return 0
        fi
        fallback=${fallback:-$suite}
    done
    return 1
}

intel_driver_fetch()
{
    local work=$ROOT/$INTEL_DRIVER/work version package
    rm -rf "$work" && mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" \
        "$work/root" || return 1
    : >"$work/state/status"
    version=$(choose_suite "$work") || { echo 'none of the configured sources has libze-intel-gpu1'; return 1; }
    version=${version//[:\/]/_}

    (cd "$work/debs" && own_apt "$work" apt-get download "${INTEL_DRIVER_PACKAGES[@]}") || return 1
    for package in "$work"/debs/*.deb; do
        dpkg-deb -x "$package" "$work/root" || return 1
    done
    mv "$work/root/usr/include/level_zero" "$work/root/level_zero" || return 1
    # Valgrind looks beside a library for its symbols.
    mkdir "$work/root/usr/lib/x86_64-linux-gnu/.debug" &&
        mv "$work"/root/usr/lib/debug/.build-id/*/*.debug "$work/root/usr/lib/x86_64-linux-gnu/.debug" || return 1
    rm -rf "$work/debs" "${INTEL_DRIVER:?}/$version" && mkdir -p "$INTEL_DRIVER/$version" &&
        mv "$work/root" "$INTEL_DRIVER/$version/root" && rm -rf "$work" &&
        ln -sfn "$version/root" $INTEL_DRIVER/root
}
