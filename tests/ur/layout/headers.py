#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: headers.py NEWEST OLDER FUNCTION...

The adapter is compiled with the newest release's ur_api.h and serves older hosts, too: what both headers have
must be the same. OLDER is an older release's header. A FUNCTION is refused, or has another one in its place in the
older release's tables (plugin/ur/CMakeLists.txt), so that its parameters, and numbers of the queries that it
translates, may differ.
"""
import pathlib
import re
import sys

# Numbers that urDeviceGetInfo translates.
TRANSLATED = {"urDeviceGetInfo": re.compile(
    "UR_DEVICE_INFO_(XE_STACK_COUNT|XE_REGIONS_PER_STACK|XE_CLUSTERS_PER_REGION|XE_CORES_PER_CLUSTER|EUS_PER_XE_CORE"
    "|MAX_LANES_PER_HW_THREAD)$")}


def read_enumerators(text):
    numbers = {}
    for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.S):
        for name, number in re.findall(r"(\w+) = ([^,]*),", body + ","):
            bit = re.match(r"UR_BIT\((\d+)\)", number)
            numbers[name] = 1 << int(bit[1]) if bit else numbers.get(number.strip(), number.strip())
    return numbers


def read_structures(text):
    """Members by name. Structures of parameters are for tracing."""
    found = re.findall(r"typedef (?:struct|union) (\w+) \{(.*?)\} \w+;", text, re.S)
    return {name: " ".join(body.split()) for name, body in found if not name.endswith("_params_t")}


def read_functions(text):
    """Types of the parameters."""
    return {name: [re.sub(r"\w+$", "", " ".join(parameter.split())) for parameter in parameters.split(",")]
            for name, parameters in re.findall(r"UR_APICALL\s+(ur\w+)\((.*?)\);", text, re.S)}


def main():
    newest, older = (re.sub(r"//[^\n]*", "", pathlib.Path(path).read_text()) for path in sys.argv[1:3])
    replaced = sys.argv[3:]
    compared = wrong = 0
    for read in (read_enumerators, read_structures, read_functions):
        ours, theirs = read(newest), read(older)
        both = ours.keys() & theirs.keys()
        compared += len(both)
        for name in sorted(both):
            if ours[name] == theirs[name] or name in replaced or \
                    any(TRANSLATED[function].match(name) for function in TRANSLATED.keys() & replaced):
                continue
            print(f"{name} is {theirs[name]} in {sys.argv[2]}, {ours[name]} in the newest header")
            wrong += 1
    print(f"{compared} names compared, {wrong} differ")
    return wrong > 0 or compared < 1000


if __name__ == "__main__":
    sys.exit(main())
