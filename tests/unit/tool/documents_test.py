#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents for users, and the usage of the scripts in tools/: documents_test.py ROOT"""
import pathlib
import re
import subprocess
import sys
import unittest

WORDS = ("stor(y|ies)", "gears?", "walk(s|ed|ing)?", "doors?", "judge[sd]?", "taken by none")
PARAGRAPH_WORDS = 100
SCRIPTS = ("check", "conformance", "fuzz", "quickstart", "setup", "soak", "wheel")


def documents(*folders):
    """Those for users, and the pages in the folders."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    for folder in folders:
        found += ROOT.glob(f"{folder}/**/*.md")
    return sorted(found)


def without_code(text):
    """The text without blocks of code: their lines are empty."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def anchors(path):
    """The names that links to headings of a file have."""
    headings = re.findall(r"^#+ (.*)$", without_code(path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    def test_links_lead_to_files_and_headings(self):
        for document in documents("cache", "plugin", "tools"):
            for link in re.findall(r"\]\(([^)\s]+)\)", without_code(document.read_text())):
                if "://" in link:
                    continue
                name, _, anchor = link.partition("#")
                target = (document.parent / name).resolve() if name else document
                self.assertTrue(target.exists(), f"{document.name}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(target), f"{document.name}: {link}")

    def test_the_readme_lists_every_document(self):
        text = (ROOT / "README.md").read_text()
        for document in ROOT.glob("docs/*.md"):
            self.assertIn(f"(docs/{document.name})", text)

    def test_words_of_the_project_stay_out(self):
        for document in documents("cache", "tools"):
            for number, line in enumerate(without_code(document.read_text()).splitlines(), 1):
                plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
                found = re.search(rf"\b({'|'.join(WORDS)})\b", plain, re.I)
                self.assertIsNone(found, f"{document.name}:{number}: {found and found[0]}")

    def test_paragraphs_are_short(self):
        for document in documents():
            for number, line in enumerate(without_code(document.read_text()).splitlines(), 1):
                self.assertLessEqual(len(line.split()), PARAGRAPH_WORDS, f"{document.name}:{number}")


    def test_the_manual_page_names_the_commands(self):
        commands = re.findall(r'^    \{"(\w+)", command_', (ROOT / "tools/zepi/main.c").read_text(), re.M)
        section = (ROOT / "tools/package/zepi.1").read_text().split(".SH COMMANDS")[1].split(".SH")[0]
        self.assertEqual(set(re.findall(r"^\.B (\w+)", section, re.M)), set(commands))


class Usage(unittest.TestCase):
    def test_scripts_print_it_and_refuse_unknown_arguments(self):
        for name in SCRIPTS:
            for argument, code in (("--help", 0), ("--nonsense", 2)):
                run = subprocess.run([ROOT / "tools" / name, argument], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, code, f"tools/{name} {argument}")
                self.assertIn("usage:", (run.stdout + run.stderr).lower(), f"tools/{name} {argument}")


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
