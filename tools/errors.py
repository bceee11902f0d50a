#!/usr/bin/env python3
"""Keeps the examples in docs/errors.md equal to what the errors say when they are raised.

    python3 tools/errors.py [BUILD] [--check]   report what differs or lacks; exits 1 if any does
    python3 tools/errors.py [BUILD] --write     copy the texts into the document

Runs the programs of tests/catalogue in a build directory (build/release if none is given): each
test raises its error through a public call and leaves the text. Every code of error.hpp needs a
test "TR-104 merge_mismatch: ..." there, and a section "### TR-104 `merge_mismatch`" in the
document, whose example is the indented block that begins with the code.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CATALOGUE, DOCUMENT = "include/troupe/core/error.hpp", "docs/errors.md"
TESTS = "tests/catalogue"
CODE = re.compile(r"^  (\w+) = (\d+),")
TEST = re.compile(r'"(TR-\d+) (\w+): ')
SECTION = re.compile(r"### (TR-\d+) `(\w+)`$")
HEADING = re.compile(r"#{1,3} ")
INDENT = "    "


class Problem(Exception):
    pass


def codes(header):
    """{"TR-104": "merge_mismatch"} of the text of error.hpp."""
    lines = header.partition("enum class errc {")[2].partition("};")[0].splitlines()
    return {f"TR-{match[2]}": match[1] for match in map(CODE.match, lines) if match}


def examples(root, build):
    """{"TR-104": its text}, as the tests leave it now."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TROUPE_ERROR_EXAMPLES=folder)
        for source in sorted((root / TESTS).glob("*.test.cpp")):
            program = build / "tests" / f"catalogue.{source.name.split('.')[0]}"
            if not program.is_file():
                raise Problem(f"there is no {program.name} in {build}; build it first")
            run = subprocess.run([program], env=environment, capture_output=True, text=True,
                                 timeout=50, check=False)
            if run.returncode != 0:
                raise Problem(f"{program.name} fails:\n{run.stdout}{run.stderr}")
        return {path.stem: path.read_text(encoding="utf-8").splitlines()
                for path in pathlib.Path(folder).glob("TR-*.txt")}


def sections(text):
    """Yields (tag, name, number of the heading, of the line after the section), from 0."""
    lines = text.splitlines()
    fenced = False
    begin = None
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not HEADING.match(line):
            continue
        if begin:
            yield (*begin, number)
        match = SECTION.match(line)
        begin = (match[1], match[2], number) if match else None
    if begin:
        yield (*begin, len(lines))


def example_in(lines, tag, begin, end):
    """The numbers of the example's first line and of the one after it; both `end` if none."""
    first = next((i for i in range(begin, end) if lines[i].startswith(f"{INDENT}{tag}: ")), end)
    last = first
    while last < end and lines[last].startswith(INDENT):
        last += 1
    return first, last


def check_tests(root, catalogue):
    """Yields a message for each code without a test, and for each test of another code."""
    tested = {}
    for source in sorted((root / TESTS).glob("*.test.cpp")):
        name = source.relative_to(root).as_posix()
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            for match in TEST.finditer(line):
                tested[match[1]] = name
                if catalogue.get(match[1]) != match[2]:
                    yield f"{name}:{number}: there is no {match[1]} {match[2]} in {CATALOGUE}"
    for tag, code in catalogue.items():
        if tag not in tested:
            yield f'{TESTS}: no test raises it; add TEST_CASE("{tag} {code}: ...")'


def check_document(text, catalogue, shown):
    """Yields a message for each code that the document does not show as the tests do."""
    lines, described = text.splitlines(), {}
    for tag, name, begin, end in sections(text):
        where = f"{DOCUMENT}:{begin + 1}"
        if catalogue.get(tag) != name:
            yield f"{where}: there is no {tag} {name} in {CATALOGUE}"
        if tag in described:
            yield f"{where}: {tag} has a section already, at line {described[tag]}"
        described[tag] = begin + 1
        first, last = example_in(lines, tag, begin, end)
        if tag not in shown:
            if tag in catalogue:
                yield f"{where}: no test of {tag} shows its error; call show() in one"
        elif [line.removeprefix(INDENT) for line in lines[first:last]] != shown[tag]:
            yield (f"{where}: the example is not what the test prints; run tools/errors.py "
                   "BUILD --write")
    for tag, name in catalogue.items():
        if tag not in described:
            yield f"{DOCUMENT}: {tag} has no section; write ### {tag} `{name}`"


def rewritten(text, shown):
    """The document with the tests' texts; a section that has no example gets it at its end."""
    lines = text.splitlines()
    for tag, _, begin, end in reversed(list(sections(text))):
        if tag not in shown:
            continue
        new = [INDENT + line for line in shown[tag]]
        first, last = example_in(lines, tag, begin, end)
        if first == end:
            while not lines[first - 1]:
                first -= 1
            last, new = first, ["", *new]
        lines[first:last] = new
    return "\n".join(lines) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="report differences (the default)")
    mode.add_argument("--write", action="store_true", help="copy the texts into the document")
    options = parser.parse_args(arguments)
    document = ROOT / DOCUMENT
    catalogue = codes((ROOT / CATALOGUE).read_text(encoding="utf-8"))
    try:
        shown = examples(ROOT, options.build.resolve())
    except Problem as problem:
        print(f"tools/errors.py: {problem}")
        return 1
    text = document.read_text(encoding="utf-8")
    if options.write:
        new = rewritten(text, shown)
        if new != text:
            document.write_text(new, encoding="utf-8")
            print(f"updated {DOCUMENT}")
        text = new
    found = [*check_tests(ROOT, catalogue), *check_document(text, catalogue, shown)]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
