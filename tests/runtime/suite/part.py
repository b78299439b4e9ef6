# SPDX-License-Identifier: MIT
"""A plugin of pytest that chooses tests: a fixed part of a large suite, spread over all of it, and
without those that are known to break the runtime that zepi is compared with."""
import os
import re
import zlib

import pytest

PART = int(os.environ.get("SUITE_PART", "1"))
# Of the files of tests one in so many is read: to collect all of dpnp's tests takes a quarter of a minute.
FILES = int(os.environ.get("SUITE_FILES", "1"))


def short(name):
    """A test's name without what differs from machine to machine and from backend to backend."""
    return re.sub(r"\b(opencl|level_zero):(cpu|gpu)\b", "DEVICE", name.split("site-packages/")[-1])


def is_chosen(name, part=PART):
    return zlib.crc32(short(name).encode()) % part == 0


def pytest_ignore_collect(collection_path):
    is_left_out = collection_path.name.startswith("test_") and not is_chosen(str(collection_path), FILES)
    return True if is_left_out else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    """The variants of a test that are not chosen are not even made: there are a hundred thousand."""
    calls = getattr(metafunc, "_calls", None)
    if PART > 1 and calls:
        function = f"{metafunc.definition.parent.nodeid}::{metafunc.definition.name}"
        chosen = [call for call in calls if is_chosen(f"{function}[{call.id}]")]
        calls[:] = chosen or calls[:1]


def pytest_collection_modifyitems(config, items):
    left_out = set(os.environ.get("SUITE_LEAVE_OUT", "").split("\n"))
    chosen = [item for item in items if is_chosen(item.nodeid) and short(item.nodeid) not in left_out]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen
