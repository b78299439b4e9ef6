#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/layers on a small project with a table of its own: layers_test.py TOOLS-LAYERS"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

LAYERS = """
low
middle   low
high     middle
beside   low
"""


def load_layers(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("layers", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("layers", loader))
    loader.exec_module(module)
    return module


class Layers(unittest.TestCase):
    def check(self, files):
        """The lines for a project of these files: {name: the files that it includes}."""
        with tempfile.TemporaryDirectory() as folder:
            for name, includes in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{include}"\n' for include in includes))
            return layers.check(pathlib.Path(folder), LAYERS)

    def test_a_file_includes_its_folder_and_all_below(self):
        self.assertEqual(self.check({
            "low/a.h": [], "middle/b.h": ["low/a.h"], "high/c.c": ["c.h", "low/a.h", "middle/b.h"],
            "high/c.h": ["high/d.h", "../low/a.h"], "high/d.h": []}), [])

    def test_an_include_that_goes_up_is_named_with_its_file(self):
        self.assertEqual(self.check({"low/a.c": ["middle/b.h"], "middle/b.h": []}),
                         ['low/a.c includes "middle/b.h", but low is not above middle'])

    def test_an_include_that_goes_sideways_is_named(self):
        self.assertEqual(self.check({"beside/a.h": ["middle/b.h"], "middle/b.h": []}),
                         ['beside/a.h includes "middle/b.h", but beside is not above middle'])

    def test_a_folder_that_the_table_lacks_and_a_file_that_is_nowhere_are_errors(self):
        self.assertEqual(self.check({"low/deeper/a.h": ["a.h"], "low/b.c": ["nowhere.h"]}),
                         ['low/b.c includes "nowhere.h", which is nowhere',
                          'low/deeper/a.h: LAYERS has no folder low/deeper'])

    def test_a_circle_is_shown_whole_and_once(self):
        files = {"low/a.h": [], "low/a.c": ["a.h", "b.h"], "low/b.h": ["low/c.h"], "low/c.h": ["a.h"],
                 "low/d.h": ["a.h"]}
        self.assertEqual(self.check(files), ["low: a circle: a includes b includes c includes a"])

    def check_plugin(self, **texts):
        """The lines for a plugin of these files of ze/: the table of quirks has one row, "slow-waits"."""
        with tempfile.TemporaryDirectory() as folder:
            ze = pathlib.Path(folder, "plugin", "ze")
            ze.mkdir(parents=True)
            (ze / "QUIRKS.md").write_text("| slow-waits | Intel's | 22.43 |\n")
            for name, text in texts.items():
                (ze / f"{name}.c").write_text(text)
            return layers.check_driver_names(pathlib.Path(folder))

    def test_drivers_are_named_by_the_table_of_quirks_alone(self):
        for text in ("// Intel's driver", "// (26.27)", "// of the null driver", "// ze_cpu does not", "// NEO"):
            lines = self.check_plugin(a=f"int a;\n{text}\n")
            self.assertEqual(len(lines), 1, text)
            self.assertIn("plugin/ze/a.c:2 names a driver", lines[0])

    def test_extensions_the_vendor_and_the_uuid_are_no_drivers(self):
        self.assertEqual(self.check_plugin(a='OpSaveMemoryINTEL "cl_intel_subgroups" "zeIntelGetDriverVersionString" '
                                             '"Intel(R) Corporation" ze_cpu_uuid info.is_ze_cpu 2026.27'), [])

    def test_a_quirk_that_a_comment_names_is_in_the_table(self):
        self.assertEqual(self.check_plugin(a="// Quirk slow-waits.\n// As for the quirk\n// slow-waits.\n"), [])
        for text in ("// Quirk fast-waits.", "// quirk\n    // fast-waits", "(quirk fast-waits)"):
            self.assertEqual(self.check_plugin(a=text),
                             ["plugin/ze/a.c names the quirk fast-waits, which plugin/ze/QUIRKS.md lacks"])


if __name__ == "__main__":
    layers = load_layers(sys.argv.pop(1))
    unittest.main()
