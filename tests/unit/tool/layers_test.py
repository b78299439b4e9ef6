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


if __name__ == "__main__":
    layers = load_layers(sys.argv.pop(1))
    unittest.main()
