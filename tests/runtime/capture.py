#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The DPC++ runtime on zepi on Debian's Intel driver and loader, in capture mode: the compiler is
real, nothing executes. dpctl lists the device, and a dpnp expression compiles and launches.

  capture.py ADAPTER PYTHON

Exit codes: 0 fine, 1 something is wrong, 77 the driver or dpnp is not there.
"""
import glob
import os
import subprocess
import sys
import tempfile

LIST = "import dpctl; print(dpctl.get_devices())"
LAUNCH = """
import dpnp
a = dpnp.empty(16, dtype="float32")
b = dpnp.multiply(a, a)
b.sycl_queue.wait()
print(b.shape)
"""


def run(adapter, python, script, folder):
    environment = dict(os.environ, NEOReadDebugKeys="1", SetCommandStreamReceiver="1",
                       ProductFamilyOverride="tgllp", UR_ADAPTERS_FORCE_LOAD=adapter,
                       ZEPI_CACHE_DIR=folder)
    environment.pop("ZE_ENABLE_ALT_DRIVERS", None)
    process = subprocess.run([python, "-c", script], text=True, env=environment, cwd=folder,
                             capture_output=True, timeout=120)
    if process.returncode != 0:
        sys.exit(f"capture: exit code {process.returncode}\n{process.stdout}{process.stderr}")
    return process.stdout.strip()


def main():
    adapter, python = map(os.path.abspath, sys.argv[1:])
    if not glob.glob("/usr/lib/*/libze_intel_gpu.so.1.3.*"):
        print("Debian's package intel-opencl-icd is not installed: tools/setup installs it")
        return 77
    if subprocess.run([python, "-c", "import dpnp"], capture_output=True).returncode != 0:
        print(f"{python} has no dpnp: tools/setup installs it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        devices = run(adapter, python, LIST, folder)
        shape = run(adapter, python, LAUNCH, folder)
    print(devices, shape)
    return 0 if "level_zero" in devices and "Intel(R) Graphics" in devices and shape == "(16,)" else 1


if __name__ == "__main__":
    sys.exit(main())
