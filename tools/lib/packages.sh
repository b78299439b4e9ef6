# SPDX-License-Identifier: MIT
# Debian packages, for tools/setup. Sourced, not run; needs steps.sh.
#
#   packages_missing PACKAGE...     those that are not installed
#   packages_available PACKAGE...   those that the configured sources have
#   packages_size_mb PACKAGE...     megabytes that apt-get would fetch to install them
#   packages_install PACKAGE...     installs them
#   packages_device_compiler        the newest clang and llvm-spirv of one version: that is installed,
#                                   else that the sources have; nothing if there is no such pair
# shellcheck shell=bash

# Of the package names on stdin, the newest version that both programs have.
newest_pair()
{
    sed -n -E 's/^(clang|llvm-spirv)-([0-9]+)$/\2/p' | sort -n | uniq -d | tail -n 1
}

packages_installed()
{
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p'
}

packages_missing()
{
    [ $# -eq 0 ] || printf '%s\n' "$@" | grep -v -x -F -f <(packages_installed)
}

packages_available()
{
    # A name that only other packages mention has no candidate.
    [ $# -eq 0 ] || apt-cache policy "$@" 2>/dev/null |
        awk '/^[^ ]/ { sub(/:$/, "", $1); name = $1 } /^  Candidate:/ && $2 != "(none)" { print name }'
}

packages_size_mb()
{
    local bytes=0
    [ $# -eq 0 ] || bytes=$(apt-get install --print-uris -y --no-install-recommends "$@" 2>/dev/null |
        awk "/^'/ { bytes += \$3 } END { print bytes + 0 }")
    echo $((bytes / 1000000))
}

packages_install()
{
    DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

packages_device_compiler()
{
    local version names
    version=$(packages_installed | newest_pair)
    if [ -z "$version" ]; then
        mapfile -t names < <(apt-cache pkgnames | grep -E '^(clang|llvm-spirv)-[0-9]+$')
        version=$(packages_available "${names[@]}" | newest_pair)
    fi
    [ -z "$version" ] || printf '%s\n' "clang-$version" "llvm-spirv-$version"
}
