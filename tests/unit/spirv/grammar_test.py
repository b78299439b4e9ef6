#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: grammar_test.py SOURCE [GRAMMAR]

Compares the table of SPIR-V instructions in SOURCE (plugin/spirv/spirv_grammar.c) with the grammar of the
specification, GRAMMAR, by default the one of the package spirv-headers: names and operands of each instruction. Exits
with 77 if there is no grammar.
"""
import json
import pathlib
import re
import sys

GRAMMAR = "/usr/include/spirv/unified1/spirv.core.grammar.json"

# Instructions that some grammars do not have yet; one that has them must agree.
NEWER = {"OpTypeUntypedPointerKHR", "OpUntypedVariableKHR", "OpUntypedAccessChainKHR",
         "OpUntypedInBoundsAccessChainKHR", "OpUntypedPtrAccessChainKHR", "OpUntypedInBoundsPtrAccessChainKHR",
         "OpTypeCooperativeMatrixKHR", "OpConvertFToBF16INTEL", "OpConvertBF16ToFINTEL", "OpArithmeticFenceEXT"}

# Rows that differ from the grammar.
DIFFERENT = {"OpFPGARegINTEL": "tri",  # the grammar has two operands, of which compilers write one
             "OpTypeBufferSurfaceINTEL": "T"}  # compilers leave out the access qualifier

# Operands that the grammar has in an enumerant's parameters.
PARAMETERS = {"OpExecutionModeId": "*i", "OpDecorateId": "*i"}

LETTERS = {"IdResultType": "t", "IdResult": "r", "IdRef": "i", "IdScope": "i", "IdMemorySemantics": "i",
           "LiteralString": "s", "LiteralContextDependentNumber": "n", "LiteralSpecConstantOpInteger": "O",
           "PairLiteralIntegerIdRef": "S", "PairIdRefIdRef": "ii", "PairIdRefLiteralInteger": "iw",
           "MemoryAccess": "M", "ImageOperands": "X"}


def read_table(source):
    """(first opcode, last opcode, operands, names) of each row."""
    rows = re.findall(r'\{(\d+), (\d+), "([^"]*)",\s*"([^"]*)"\}', source)
    return [(int(first), int(last), text, re.split(r" \.\. |, ", names)) for first, last, text, names in rows]


def spell_table(text):
    """The operands of a row with the mark of an optional one in front of each that is optional."""
    head, mark, rest = text.partition("?")
    return head + "".join(mark + letter for letter in rest)


def spell_grammar(instruction):
    """An instruction's operands as a row of the table has them."""
    if instruction["opname"] in DIFFERENT:
        return DIFFERENT[instruction["opname"]]
    text = ""
    for operand in instruction.get("operands", []):
        text += operand.get("quantifier", "") + LETTERS.get(operand["kind"], "w")
    if instruction["opname"].startswith("OpType"):
        text = text.replace("r", "T", 1)
    if instruction["opname"] == "OpExtInst":
        text = text.replace("*i", "E")
    text = text.replace("*S", "S") + PARAMETERS.get(instruction["opname"], "")
    # Literals at the end that may be missing are not in the table.
    return re.sub(r"([?*]w)+$", "", text)


def compare(rows, instructions):
    """A line for each difference."""
    lines = []
    for (first, last, text, names), following in zip(rows, rows[1:] + [(1 << 16, 0, "", [])]):
        if not first <= last < following[0]:
            lines.append(f"{names[0]}: {first} to {last} are out of order")
        ends = [(first, names[0]), (last, names[-1])]
        for opcode in range(first, last + 1):
            found = instructions.get(opcode)
            if not found:
                if not NEWER.issuperset(names):
                    lines.append(f"{opcode} ({' .. '.join(names)}): the grammar does not have it")
                continue
            spelt = {spell_grammar(instruction) for instruction in found}
            if spell_table(text) not in spelt:
                lines.append(f'{found[0]["opname"]} ({opcode}): the table has "{text}", the grammar {spelt}')
            known = {name for one in found for name in (one["opname"], *one.get("aliases", []))}
            lines += [f"{opcode}: the table has {name}, the grammar {known}" for end, name in ends
                      if end == opcode and name not in known]
    return lines


def find_missed(rows, instructions):
    """A line for each row in which one more id would not be found."""
    return [f"{names[0]}: a wrong row is not found" for first, last, text, names in rows
            if first in instructions and not compare([(first, last, text + "i", names)], instructions)]


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    grammar = pathlib.Path(arguments[1] if len(arguments) > 1 else GRAMMAR)
    if not grammar.exists():
        print(f"there is no {grammar} (package spirv-headers)")
        return 77
    instructions = {}
    for instruction in json.loads(grammar.read_text())["instructions"]:
        instructions.setdefault(instruction["opcode"], []).append(instruction)
    rows = read_table(pathlib.Path(arguments[0]).read_text())
    lines = compare(rows, instructions) + find_missed(rows, instructions)
    print("\n".join(lines) or f"{len(rows)} rows agree with {len(instructions)} instructions")
    return 1 if lines or len(rows) < 200 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
