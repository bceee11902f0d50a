#!/usr/bin/env python3
"""Plants bugs in a copy of the library, each behind a switch; the sources stay clean of them.

    python3 tools/mutants.py --check          report entries whose text is not in its file, once
    python3 tools/mutants.py --files          the files that entries change
    python3 tools/mutants.py --write FOLDER   the changed files, and FOLDER/mutants.cpp, their list

The entries are in tests/planted/mutants/*.mutants:

    barrier: what is wrong then
      in actors/barrier_actor.cpp
      shown by name_of_a_program, depth 2, budget 500
    - text of the file, line breaks and indents as you like; it is there exactly once
    + what takes its place

Where the text is more than what is replaced, that is between « and ». What ends in ; or } is
statements, everything else an expression. In the copy each place reads: if this entry is active,
the one, or else the other.
"""
import argparse
import pathlib
import re
import sys
from dataclasses import dataclass, field

ENTRIES = "tests/planted/mutants"
SHOWN = re.compile(r"shown by (\w+), depth ([1-4])(?:, budget (\d+))?")
SWITCH = "namespace troupe::planted {\nextern int active;\n}\n"


class BadEntry(Exception):
    pass


@dataclass
class Mutant:
    where: str  # Of the entry, as file:line.
    name: str
    number: int
    file: str = ""
    program: str = ""
    depth: int = 0
    budget: int = 500
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)

    def fail(self, why):
        raise BadEntry(f"{self.where}: {self.name}: {why}")


def parse(root):
    """All entries, numbered from 1."""
    mutants = []
    for path in sorted((root / ENTRIES).glob("*.mutants")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            where = f"{ENTRIES}/{path.name}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if line[0] not in " -+":
                mutants.append(Mutant(where, line.strip(), len(mutants) + 1))
                continue
            if not mutants:
                raise BadEntry(f"{where}: a line before the first entry's name")
            take_line(mutants[-1], line)
    for each in mutants:
        if not (each.file and each.program and each.old and each.new):
            each.fail("incomplete; it wants 'in', 'shown by', '-' and '+' lines")
    return mutants


def take_line(entry, line):
    text = line[1:].strip()
    if line[0] == "-":
        entry.old.append(text)
    elif line[0] == "+":
        entry.new.append(text)
    elif text.startswith("in "):
        entry.file = text[3:]
    elif match := SHOWN.fullmatch(text):
        entry.program, entry.depth = match[1], int(match[2])
        entry.budget = int(match[3] or entry.budget)
    else:
        entry.fail(f"not understood: {text}")


def span(entry, text):
    """Where in the file the replaced text begins and ends."""
    old = " ".join(entry.old)
    before, marked, rest = old.partition("«")
    if not marked:
        before, rest = "", old + "»"
    inner, _, after = rest.partition("»")
    flexible = lambda part: r"\s+".join(map(re.escape, part.split()))
    # Blanks beside a mark are no part of what is replaced.
    gap = lambda part, at: r"\s*" if part and part[at].isspace() else ""
    pattern = (flexible(before) + gap(before, -1) + f"({flexible(inner)})" + gap(after, 0)
               + flexible(after))
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        entry.fail(f"its text is in {entry.file} {len(found)} times, not once: {old}")
    return found[0].span(1)


def choice(entries, text):
    """The original, or what the active one of `entries` has in its place."""
    def active(entry):
        return f"::troupe::planted::active == {entry.number}"
    if text.rstrip()[-1] not in ";}":
        for entry in entries:
            new = " ".join(entry.new)
            # What is converted to bool by its place only is no operand of ?:.
            text = {"false": f"(!({active(entry)}) && ({text}))",
                    "true": f"({active(entry)} || ({text}))",
                    }.get(new, f"({active(entry)} ? ({new}) : ({text}))")
        return text
    for entry in entries:
        text = f"if ({active(entry)}) {{ {' '.join(entry.new)} }} else {{ {text} }}"
    return text


def mutate(name, text, entries):
    """The text of a file with all its entries in it."""
    places = {}
    for entry in entries:
        places.setdefault(span(entry, text), []).append(entry)
    ordered = sorted(places.items(), reverse=True)
    for (later, _), (earlier, mine) in zip(ordered, ordered[1:]):
        if earlier[1] > later[0]:
            mine[0].fail("its text overlaps that of another entry")
    for (first, last), mine in ordered:
        text = text[:first] + choice(mine, text[first:last]) + text[last:]
    if "#pragma once" in text:
        return text.replace("#pragma once\n", "#pragma once\n\n" + SWITCH, 1)
    return SWITCH + text


def mutated_files(root, mutants):
    by_file = {}
    for each in mutants:
        if not (root / each.file).is_file():
            each.fail(f"there is no file {each.file}")
        by_file.setdefault(each.file, []).append(each)
    return {name: mutate(name, (root / name).read_text("utf-8"), entries)
            for name, entries in by_file.items()}


def listing(mutants):
    rows = "".join(f'      {{"{m.name}", {m.depth}, {m.program}, {m.budget}, {m.number}}},\n'
                   for m in mutants)
    return ('#include "tests/planted/mutants/programs.hpp"\n\nnamespace troupe::planted {\n\n'
            f"bugs of_mutants() {{\n  return {{\n{rows}  }};\n}}\n\n"
            "}  // namespace troupe::planted\n")


def write(folder, files):
    """Makes these the files of the folder; what is unchanged is not compiled again."""
    for old in folder.rglob("*"):
        # A header that no entry changes any more would hide the library's own.
        if old.is_file() and old.relative_to(folder).as_posix() not in files:
            old.unlink()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--files", action="store_true")
    what.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    try:
        mutants = parse(options.root)
        if options.files:
            print("\n".join(sorted({m.file for m in mutants})))
            return 0
        files = mutated_files(options.root, mutants)
    except BadEntry as problem:
        print(problem, file=sys.stderr)
        return 1
    if options.write:
        write(options.write, {**files, "mutants.cpp": listing(mutants)})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
