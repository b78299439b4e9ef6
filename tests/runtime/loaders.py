#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The real loaders of Unified Runtime with zepi's adapter: as it is, intercepting every call, with
its validation layer, beside a second adapter, with the runtime's logger; and the loader of release
2026.0, whose tables have another layout: it gets a message and no adapter, and the program goes on.

  loaders.py ZEPI PYTHON OLDER

OLDER: folder of the libraries of release 2026.0 (tools/setup puts them there).
Exit codes: 0 fine, 1 something is wrong, 77 dpnp or the older release is not there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = """
import dpctl
devices = dpctl.get_devices()
print(*sorted(device.backend.name for device in devices))
if any(device.backend.name == "level_zero" for device in devices):
    import dpnp
    print(float((dpnp.arange(1000, dtype="float32", device="level_zero") * 2 + 1).sum()))
"""
SUM = "1000000.0"


def main():
    zepi, python = map(os.path.abspath, sys.argv[1:3])
    older = pathlib.Path(sys.argv[3])
    library = pathlib.Path(python).parent.parent / "lib"
    if subprocess.run([python, "-c", "import dpnp"], capture_output=True).returncode != 0:
        print(f"{python} has no dpnp: tools/setup installs it")
        return 77
    if not (older / "libur_loader.so.0").exists():
        print(f"{older} has no runtime of release 2026.0: tools/setup puts it there")
        return 77

    adapter = pathlib.Path(zepi).parent.parent / "lib" / "libur_adapter_zepi.so"
    wrong = 0

    def check(story, added, expected, message=""):
        nonlocal wrong
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("UR_", "ONEAPI_", "ZE_", "ZEPI_LOG"))}
        # The variables come after zepi exec, which sets one of them itself.
        command = [zepi, "exec", "--cpu", "--", "env", *(f"{k}={v}" for k, v in added.items()),
                   python, "-c", SCRIPT]
        process = subprocess.run(command, env=environment, capture_output=True, text=True,
                                 timeout=300)
        said = process.stdout + process.stderr
        is_right = process.returncode == 0 and process.stdout.split() == expected and message in said
        print(f"{story}: {'right' if is_right else 'WRONG'}")
        if not is_right:
            wrong += 1
            print(f"  exit code {process.returncode}, expected {expected} and {message!r} in\n{said}")

    check("the loader of 2026.2", {}, ["level_zero", SUM])
    check("every call intercepted", {"UR_ENABLE_LOADER_INTERCEPT": "1"}, ["level_zero", SUM])
    check("the validation layer", {"UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION"},
          ["level_zero", SUM])
    # The wheels bring no other adapter that comes up here: a second one of the same code.
    with tempfile.TemporaryDirectory() as folder:
        second = shutil.copy(adapter, pathlib.Path(folder) / "libur_adapter_second.so")
        check("beside a second adapter", {"UR_ADAPTERS_FORCE_LOAD": f"{adapter},{second}"},
              ["level_zero", "level_zero", SUM])
    check("the loader of 2026.0",
          {"LD_PRELOAD": f"{older}/libsycl.so.9", "LD_LIBRARY_PATH": f"{older}:{library}"}, [],
          "its tables have another layout than this adapter's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
