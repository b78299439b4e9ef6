# SPDX-License-Identifier: MIT
"""A plugin of pytest that chooses tests: a fixed part of a large suite, spread over all of it, and
without those that are known to break the runtime that zepi is compared with."""
import os
import re
import zlib


def short(name):
    """A test's name without what differs from machine to machine and from backend to backend."""
    return re.sub(r"\b(opencl|level_zero):(cpu|gpu)\b", "DEVICE", name.split("site-packages/")[-1])


def pytest_collection_modifyitems(config, items):
    part = int(os.environ.get("SUITE_PART", "1"))
    left_out = set(os.environ.get("SUITE_LEAVE_OUT", "").split("\n"))
    chosen = [item for item in items
              if zlib.crc32(short(item.nodeid).encode()) % part == 0 and short(item.nodeid) not in left_out]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen
