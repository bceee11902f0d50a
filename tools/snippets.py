#!/usr/bin/env python3
"""Keeps the C++ in README.md and docs/*.md equal to code that is compiled and run.

    python3 tools/snippets.py [--check]     report fences that differ; exits 1 if one does
    python3 tools/snippets.py --write       copy the regions into the fences

The line before a fence says where its text comes from:

    <!-- snippet: samples/merge_call.cpp#step -->   lines between // [step] and // [/step]
    <!-- snippet: samples/merge_call.cpp -->        the whole file
    <!-- wrong -->                                  code that shows a mistake
    <!-- sketch: reason -->                         code that nobody can compile, and why
"""
import argparse
import difflib
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass, field

DOCUMENTS = ("README.md", "docs/*.md")
CPP = {"cpp", "c++", "cxx", "cc", "hpp"}
FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,}|~{3,})\s*(?P<language>[\w+#-]*)")
MARKER = re.compile(r"\s*<!--\s*(snippet|wrong|sketch)\s*(?::\s*(.*?))?\s*-->\s*$")
REGION = re.compile(r"\s*(?://|#)\s*\[/?[\w.-]+\]\s*$")


@dataclass
class Fence:
    line: int  # Of the opening ticks, from 1.
    language: str
    indent: str
    marker: str = ""
    argument: str = ""
    body: list = field(default_factory=list)


def fences(text):
    """Yields the fenced blocks of a document, with the marker on the line before each."""
    lines = text.splitlines()
    open_fence, ticks = None, ""
    for number, line in enumerate(lines, 1):
        if open_fence:
            if line.strip().startswith(ticks) and not line.strip().strip(ticks[0]):
                yield open_fence
                open_fence = None
            else:
                indent = open_fence.indent
                open_fence.body.append(line[len(indent):] if line.startswith(indent) else line)
            continue
        match = FENCE.match(line)
        if match:
            ticks = match["ticks"]
            language = match["language"].lower()
            open_fence = Fence(number, "cpp" if language in CPP else language, match["indent"])
            before = MARKER.match(lines[number - 2]) if number > 1 else None
            if before:
                open_fence.marker, open_fence.argument = before[1], before[2] or ""


class Problem(Exception):
    pass


def region(root, argument):
    """The lines that `path` or `path#region` names, without markers and common indent."""
    name, _, label = argument.partition("#")
    path = root / name
    if not path.is_file():
        raise Problem(f"there is no file {name}; name one from the project's root")
    lines = path.read_text(encoding="utf-8").splitlines()
    if label:
        begins, ends = ([i for i, line in enumerate(lines)
                         if re.fullmatch(rf"\s*(//|#)\s*\[{slash}{re.escape(label)}\]\s*", line)]
                        for slash in ("", "/"))
        if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
            raise Problem(f"{name} has no region '{label}'; put its lines once between "
                          f"// [{label}] and // [/{label}]")
        lines = lines[begins[0] + 1:ends[0]]
    text = "\n".join(line for line in lines if not REGION.match(line))
    return textwrap.dedent(text).strip("\n").split("\n")


def check(root, name, text):
    """Yields a message for each fence of one document that is not compiled code."""
    for fence in fences(text):
        where = f"{name}:{fence.line}"
        if fence.marker == "snippet":
            try:
                wanted = region(root, fence.argument)
            except Problem as problem:
                yield f"{where}: {problem}"
                continue
            if wanted != fence.body:
                diff = difflib.unified_diff(fence.body, wanted, name, fence.argument, lineterm="")
                yield (f"{where}: differs from {fence.argument}; run tools/snippets.py --write\n"
                       + "\n".join(diff))
        elif fence.marker == "sketch" and not fence.argument:
            yield f"{where}: a sketch without a reason; write <!-- sketch: <reason> -->"
        elif fence.language == "cpp" and not fence.marker:
            yield (f"{where}: C++ that nothing compiles; put "
                   "<!-- snippet: path/file.cpp#region --> on the line before, or "
                   "<!-- wrong -->, or <!-- sketch: <reason> -->")


def rewritten(root, text):
    """The document with every snippet fence brought up to date."""
    lines = text.splitlines()
    for fence in reversed(list(fences(text))):
        if fence.marker == "snippet":
            body = [fence.indent + line if line else "" for line in region(root, fence.argument)]
            lines[fence.line:fence.line + len(fence.body)] = body
    return "\n".join(lines) + "\n"


def documents(root):
    for pattern in DOCUMENTS:
        yield from sorted(root.glob(pattern))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="report differences (the default)")
    mode.add_argument("--write", action="store_true", help="copy the regions into the fences")
    options = parser.parse_args(arguments)
    found = []
    for path in documents(options.root):
        name, text = path.relative_to(options.root).as_posix(), path.read_text(encoding="utf-8")
        if options.write:
            try:
                new = rewritten(options.root, text)
            except Problem as problem:
                found.append(f"{name}: {problem}")
                continue
            if new != text:
                path.write_text(new, encoding="utf-8")
                print(f"updated {name}")
        else:
            found += check(options.root, name, text)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
