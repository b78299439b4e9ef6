# SPDX-License-Identifier: MIT
"""zepi, a Level Zero backend for SYCL runtimes, in a Python program:

    import zepi
    zepi.enable()     # before the first import of dpctl, dpnp or another package with SYCL
    import dpnp

The command `zepi exec -- python app.py` does the same for a program that stays as it is.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sysconfig
from typing import Any, Dict, List, Optional, Union

__all__ = ["enable", "info", "stats"]
_is_enabled = False


def _command() -> str:
    installed = os.path.join(sysconfig.get_path("scripts"), "zepi")
    command = installed if os.access(installed, os.X_OK) else shutil.which("zepi")
    if command is None:
        raise RuntimeError(f"the command zepi is neither {installed} nor in PATH")
    return command


def _run(arguments: List[str]) -> bytes:
    result = subprocess.run([_command(), *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode(errors="replace").strip() or f"zepi failed: {result.returncode}")
    return result.stdout


def _mapped(name: str) -> Optional[str]:
    """The path of a loaded library whose file name begins so."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if os.path.basename(path).startswith(name):
                    return "/" + path
    except OSError:
        pass
    return None


def enable(*, cpu: Union[bool, str] = False, gpu: bool = False, stats: bool = False) -> None:
    """Lets the DPC++ runtime of this process load zepi for Level Zero: sets the variables that `zepi exec` sets.

    A GPU is used if one comes up, else ze_cpu, which executes on the CPU. cpu=True: ze_cpu in any case;
    cpu="gpu": ze_cpu as a device that says it is a GPU; gpu=True: a GPU or an error. stats=True: counts for
    stats(). Raises RuntimeError if the runtime (libsycl) is loaded already, or zepi or a driver is missing.
    """
    global _is_enabled
    if _is_enabled:
        return
    loaded = _mapped("libsycl.so")
    if loaded is not None:
        raise RuntimeError(f"{loaded} is loaded already: call zepi.enable() before the first import that needs SYCL")
    flags = (["--cpu" if cpu is True else f"--cpu={cpu}"] if cpu else []) + (["--gpu"] if gpu else [])
    output = _run(["exec", *flags, "--", "env", "-0"])
    variables = dict(entry.split(b"=", 1) for entry in output.split(b"\0") if b"=" in entry)
    for name in set(os.environb) - set(variables):
        del os.environb[name]
    os.environb.update(variables)
    if stats:
        os.environ.setdefault("ZEPI_STATS", "on")
    _is_enabled = True


def info() -> Dict[str, Any]:
    """Drivers, devices, the cache and the options in force, as `zepi info --json` prints them."""
    result: Dict[str, Any] = json.loads(_run(["info", "--json"]))
    return result


def stats() -> Dict[str, Any]:
    """What zepi has built, launched, copied and allocated in this process, as ZEPI_STATS writes it in JSON.

    Raises RuntimeError if zepi is not loaded, or does not count: enable(stats=True), or ZEPI_STATS in the
    environment, before the runtime starts.
    """
    path = _mapped("libzepi_core.so")
    if path is None:
        raise RuntimeError("zepi is not loaded in this process: enable() it, and use a device of Level Zero")
    write = ctypes.CDLL(path).zepi_stats_write_json
    write.restype = ctypes.c_size_t
    write.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(65536)
    length = write(text, len(text))
    if not 0 < length < len(text):
        raise RuntimeError("zepi does not count in this process: enable(stats=True)")
    result: Dict[str, Any] = json.loads(text.value)
    return result
