#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The real loaders of Unified Runtime with zepi's adapter: of each release that it serves, with a kernel
launched and its numbers checked; alone, beside OpenCL in the place of Intel's adapters for Level Zero,
which has the loader intercept every call, and with the loader's validation layer.

  loaders.py ZEPI PYTHON RUNTIMES

RUNTIMES: folder of older releases (tools/setup puts them there): libraries, and for 2025.3, whose runtime
is not binary compatible, an environment with programs of it.
Exit codes: 0 fine, 1 something is wrong, 77 dpctl is not there.
"""
import os
import pathlib
import subprocess
import sys

# Every device, once; Intel's adapters for Level Zero, none.
LIST = """
import sys
import numpy, dpctl, dpctl.memory, dpctl.program
print(*sorted(device.backend.name for device in dpctl.get_devices()))
files = {line.split()[-1] for line in open("/proc/self/maps") if "libur_adapter_level_zero" in line}
print(*(file for file in files if "/lib/zepi/adapters/" not in file))
"""
LAUNCH = LIST + """
queue = dpctl.SyclQueue("level_zero", property="in_order")
memory = [dpctl.memory.MemoryUSMShared(4000, queue=queue) for i in range(3)]
a, b, total = (numpy.ndarray((1000,), dtype="f4", buffer=part) for part in memory)
a[:] = numpy.arange(1000)
b[:] = 2
program = dpctl.program.create_program_from_spirv(queue, open(sys.argv[1], "rb").read())
kernel = program.get_sycl_kernel("vector_add")
for factor in (1, 3):
    b[:] = 2 * factor
    queue.submit(kernel, memory, [1000])
    queue.wait()
    print(float(total.sum()))
queue.submit(kernel, [memory[2], memory[1], memory[0]], [1000])
queue.wait()
print(float(a.sum()))
"""
NUMBERS = ["501500.0", "505500.0", "511500.0"]
RIGHT = ["level_zero", *NUMBERS]
BOTH = ["level_zero", "opencl"]


def main():
    zepi, python = map(os.path.abspath, sys.argv[1:3])
    runtimes = pathlib.Path(sys.argv[3]).resolve()
    library = pathlib.Path(python).parent.parent / "lib"
    spirv = pathlib.Path(zepi).parent.parent / "tests/data/vector_add.spv"
    if subprocess.run([python, "-c", "import dpctl"], capture_output=True).returncode != 0:
        print(f"{python} has no dpctl: tools/setup installs it")
        return 77
    zepi_adapter = pathlib.Path(zepi).parent.parent / "lib/libur_adapter_zepi.so"
    wrong = 0

    def check(story, added, expected, message="", interpreter=python, script=LAUNCH):
        nonlocal wrong
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("UR_", "ONEAPI_", "ZE_", "ZEPI_LOG"))}
        # The variables come after zepi exec, which sets some of them itself.
        command = [zepi, "exec", "--cpu", "--", "env", *(f"{k}={v}" for k, v in added.items()),
                   str(interpreter), "-c", script, str(spirv)]
        process = subprocess.run(command, env=environment, capture_output=True, text=True,
                                 timeout=300)
        said = process.stdout + process.stderr
        is_right = process.returncode == 0 and process.stdout.split() == expected and message in said
        print(f"{story}: {'right' if is_right else 'WRONG'}")
        if not is_right:
            wrong += 1
            print(f"  exit code {process.returncode}, expected {expected} and {message!r} in\n{said}")

    def loader_of(release, added, interpreter=python):
        loader = f"the loader of {release}"
        check(loader, {**added, "UR_ADAPTERS_FORCE_LOAD": str(zepi_adapter)}, RIGHT, interpreter=interpreter)
        beside = {**added, "OCL_ICD_FILENAMES": f"{library}/libintelocl.so"}
        check(f"{loader}, beside OpenCL", beside, [*BOTH, *NUMBERS], interpreter=interpreter)
        for version in ("0", "1"):
            check(f"{loader}, beside OpenCL, UR_LOADER_USE_LEVEL_ZERO_V2={version}",
                  {**beside, "UR_LOADER_USE_LEVEL_ZERO_V2": version}, BOTH, interpreter=interpreter, script=LIST)

    loader_of("2026.2", {})
    check("the validation layer", {"UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION"}, RIGHT)
    check("a release that zepi does not know counts as none", {"ZEPI_UR_LAYOUT": "1999.1"}, RIGHT,
          "ZEPI_UR_LAYOUT=1999.1: expected")
    for release in ("2026.0", "2026.1"):
        folder = runtimes / release / "lib"
        if not (folder / "libur_loader.so.0").exists():
            print(f"the loader of {release}: skipped, {folder} has no runtime: tools/setup fetches it")
            continue
        # Programs of 2026.2 run on it.
        loader_of(release, {"LD_PRELOAD": f"{folder}/libsycl.so.9", "LD_LIBRARY_PATH": f"{folder}:{library}"})
    older = runtimes / "2025.3/venv/bin/python3"
    if older.exists():
        loader_of("2025.3", {}, older)
    else:
        print(f"the loader of 2025.3: skipped, there is no {older}: tools/setup --tests makes it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
