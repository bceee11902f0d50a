#!/usr/bin/env python3
"""Checks what no compiler does: budgets, misplaced calls, file heads, dead files and dead links.

    python3 tools/tidy.py [--root DIR]

Prints file:line and what to do instead; exits 1 if there is anything to print. A comment
`budget: <reason>` in a file's first 15 lines lifts the file's budget; `// budget: <reason>`
above a function lifts that function's.
"""
import argparse
import functools
import pathlib
import posixpath
import re
import subprocess
import sys
from typing import NamedTuple

from cpp_structure import Structure
from cpp_tokens import CPP_SUFFIXES, Source, UnmatchedBracket

# -- tables ----------------------------------------------------------------------------------

LINES = (("include/", 250), ("tests/", 300), ("", 400))  # The first prefix that fits counts.
FUNCTION_LINES, LINE_LENGTH, FILES_PER_FOLDER = 60, 100, 20

LIBRARY = ("include/", "runtime/", "actors/", "strategy/")
RUNTIME = ("runtime/", "include/troupe/runtime/")
SIMULATED = ("include/", "actors/", "strategy/", "tests/sim/", "tests/planted/")
SOURCES = ("runtime", "actors", "strategy", "samples", "bench", "tests")


class Ban(NamedTuple):
    code: re.Pattern
    instead: str
    where: tuple        # Prefixes of the files it holds in,
    but_not: tuple      # less these.


def ban(pattern, instead, where=SIMULATED, but_not=RUNTIME):
    return Ban(re.compile(pattern), instead, where, but_not)


BANS = (
    ban(r"\bstd\s*::\s*j?thread\b(?!\s*::)",
        "a thread of its own: let the runtime have it, runtime{pool_size{n}}"),
    ban(r"\bstd\s*::\s*async\b", "std::async: await a task, or start one with async_run"),
    ban(r"\bthis_thread\s*::\s*sleep_\w+", "a sleeping thread: co_await troupe::sleep_for(delay)"),
    ban(r"\b(steady|system)_clock\s*::\s*now\b|\bhigh_resolution_clock\b",
        "a clock: take the time from the runtime, which simulation turns"),
    ban(r"\brandom_device\b|\bmt19937(_64)?\b|(?<![\w.>])rand\s*\(",
        "a random source: take the choice from the scheduler, which a seed repeats"),
    ban(r"(\bstd\s*::\s*|\breturn\s+|(?<![\w.>~*&:] )(?<![\w.>~*&:]))time\s*\(",
        "the C clock: take the time from the runtime, which simulation turns"),
    ban(r"\b(steady|system|high_resolution)_timer\b|\bdeadline_timer\b",
        "a real timer: use troupe::timer or troupe::sleep_for, which simulation turns"),
    ban(r"\bassert\s*\(|<cassert>", "assert: write TROUPE_ASSERT, which is on in every build",
        LIBRARY, ()),
    # The listed files run a scheduler's step; everybody else posts.
    ban(r"(\.|->)\s*resume\s*\(\s*\)", "resuming here: post it, so that the scheduler chooses when",
        LIBRARY, RUNTIME + ("include/troupe/core/activity.hpp",
                            "include/troupe/actors/replica_actor.hpp", "actors/mailbox.cpp")),
)

# Hosts and names are split by a class of one letter, so that this file does not hold them.
FORBIDDEN = (
    (r"\b(deb|ftp\w*(\.\w+)?|security|archive|snapshot|cdn-fastly|httpredir|backports)"
     r"\.[d]ebian\.org|\b([a-z]+\.)?archive\.[u]buntu\.com|\bsecurity\.[u]buntu\.com"
     r"|\b[p]ypi\.org|\b[p]ythonhosted\.org|\bregistry\.[n]pmjs\.org|\b[c]rates\.io",
     "the name of a package host: derive it from the machine's own configuration, "
     "apt-get indextargets --format '$(REPO_URI)'"),
    (r"/work[/](main|shared)\b|/tmp[/](brief|checks-work)\b",
     "a path of one machine: name files from the project's root"),
    (r"\b([c]laude|[a]nthropic|[o]penai|[c]hat-?gpt|[c]opilot)\b"
     r"|\b[l]anguage [m]odel\b|\bai[- ]([g]enerated|[a]ssisted|[a]ssistant)\b"
     r"|[c]o-authored-by|\bas [r]equested\b",
     "a word about who wrote this: the project speaks of itself alone; remove it"),
)
FORBIDDEN = tuple((re.compile(pattern, re.IGNORECASE), why) for pattern, why in FORBIDDEN)
OPEN_END = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")
BUDGET = re.compile(r"budget:\s*\S")
LINK = re.compile(r"\]\(([^()\s#:]+)(?:#[^()\s]*)?\)")  # To a file of the project.
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}


# -- files -----------------------------------------------------------------------------------

class File:
    def __init__(self, root, name):
        self.name, self.path = name, pathlib.PurePosixPath(name)
        self.bytes = (root / name).read_bytes()
        self.text = self.bytes.decode("utf-8", errors="replace")
        self.lines = self.text.split("\n")
        self.is_cpp = self.path.suffix in CPP_SUFFIXES
        self.is_header = self.is_cpp and self.path.suffix.startswith(".h")
        self.is_code = (self.is_cpp or self.path.suffix in (".py", ".sh", ".cmake")
                        or self.path.name == "CMakeLists.txt" or self.text.startswith("#!"))

    def is_in(self, prefixes, but_not=()):
        return self.name.startswith(prefixes) and not (but_not and self.name.startswith(but_not))

    @functools.cached_property
    def source(self):
        return Source(self.text)

    @functools.cached_property
    def structure(self):
        return Structure(self.source)

    @functools.cached_property
    def code(self):
        """The text with comments and the insides of strings blanked; every position stays."""
        blank = lambda match: re.sub(r"[^\n]", " ", match[0])
        return re.sub(r'//[^\n]*|/\*.*?\*/|R"([^(\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                      r"|(?<!\w)'(?:\\.|[^'\\\n])+'", blank, self.text, flags=re.DOTALL)

    def line_at(self, position):
        return self.text.count("\n", 0, position) + 1


def tracked(root):
    """The names of the project's files: what git would commit, or everything but build/."""
    if (root / ".git").exists():
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)
        if listing.returncode == 0:
            names = listing.stdout.decode().split("\0")
            return sorted({n for n in names if n and (root / n).is_file()})
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()
                  and not SKIPPED_FOLDERS.intersection(p.relative_to(root).parts))


# -- rules for one file: each yields (line, message) -------------------------------------------

def check_text(file):
    if file.text.startswith("\ufeff"):
        yield 1, "a byte order mark; save as plain UTF-8"
    for number, line in enumerate(file.lines, 1):
        if line.endswith("\r"):
            yield number, "a carriage return; end lines with a line feed alone"
            line = line[:-1]
        if "\t" in line:
            yield number, "a tab; indent with spaces"
        if line != line.rstrip():
            yield number, "blanks at the end of the line; remove them"
        if len(line) > LINE_LENGTH and file.is_code and "://" not in line:
            yield number, f"{len(line)} columns; break the line at {LINE_LENGTH}"
        if OPEN_END.search(line):
            word = OPEN_END.search(line)[1]
            yield number, f"{word} without an issue; write {word}(#<number>), or do it"
        for pattern, why in FORBIDDEN:
            if pattern.search(line):
                yield number, why
    if file.text and not file.text.endswith("\n"):
        yield len(file.lines), "no line feed at the end of the file; add one"
    elif file.text.endswith("\n\n"):
        yield len(file.lines) - 1, "empty lines at the end of the file; remove them"


def check_size(file):
    if not (file.is_cpp or file.path.suffix == ".py"):
        return
    count = file.text.count("\n")
    limit = next(limit for prefix, limit in LINES if file.name.startswith(prefix))
    if count > limit and not any(BUDGET.search(line) for line in file.lines[:15]):
        yield limit + 1, (f"{count} lines, and the budget is {limit}; split the file by noun, or "
                          "say why not: // budget: <reason> in its first 15 lines")


def check_functions(file):
    above = {c.last_line: c for c in file.source.comments if c.alone}
    for body in file.structure.bodies:
        if body.kind != "function":
            continue
        first, last = file.source.line(body.first), file.source.line(body.close)
        line, lifted = first - 1, False
        while line in above and not lifted:
            lifted = bool(BUDGET.search(above[line].text))
            line = above[line].line - 1
        if last - first >= FUNCTION_LINES and not lifted:
            yield first, (f"a function of {last - first + 1} lines, and the budget is "
                          f"{FUNCTION_LINES}; split it, or say why not: "
                          "// budget: <reason> above it")


def check_bans(file):
    for rule in BANS:
        if file.is_in(rule.where, rule.but_not):
            for match in rule.code.finditer(file.code):
                yield file.line_at(match.start()), f"not here: {rule.instead}"
    if file.is_header:
        for match in re.finditer(r"\busing\s+namespace\b", file.code):
            yield file.line_at(match.start()), ("using namespace in a header; "
                                                "write the names in full")


def check_head(file):
    if file.is_header and not re.search(r"^#pragma once$", file.text, re.MULTILINE):
        yield 1, "a header without #pragma once; put it below the head comment"
    wanted = file.is_in(LIBRARY) or re.fullmatch(r"samples/[^/]+\.cpp", file.name)
    if not (wanted and file.is_cpp):
        return
    comment = []
    for line in file.lines:
        if not re.match(r"// ?\S", line):
            break
        comment.append(line[2:].strip())
    begins = file.lines[0].startswith(f"// {file.path.name} - ")
    first_only = file.name.startswith("samples/")
    sentence = file.lines[0] if first_only else " ".join(comment)
    if not begins or not re.search(r"[.:]$|[.:] ", sentence):
        shape = "in one line, for its list" if first_only else "on its first line"
        yield 1, f"no head comment; write // {file.path.name} - <sentence>. {shape}"


def check_unordered(file):
    if not file.is_in(LIBRARY + ("tests/sim/",)) or "unordered_" not in file.text:
        return
    t, structure, names = file.source.t, file.structure, set()
    for i, word in enumerate(t):
        if re.fullmatch(r"unordered_(multi)?(map|set)", word) and t[i + 1] == "<":
            k = structure.after_angles(i + 1)
            while k and k < len(t) and t[k] in ("&", "*", "const"):
                k += 1
            if k and k < len(t):
                names.add(t[k])
    for first, last in ranges(structure):
        if t[last - 1] in names:
            yield file.source.line(first), (f"the order of '{t[last - 1]}' is no order; iterate a "
                                            "vector or a std::map, or sort the keys first")


def ranges(structure):
    """The ranges of all range-for loops, as token positions."""
    def walk(statements):
        for statement in statements:
            yield from ((p.first, p.last) for p in statement.parts if p.role == "range")
            yield from walk(statement.children)
    for body in structure.bodies:
        yield from walk(body.statements)


# -- rules for the project: each yields (file, line, message) ---------------------------------

def check_listed(files):
    names, included = {f.name: f for f in files}, [f.text for f in files if f.is_cpp]
    for file in files:
        folder = file.path.parent
        if not file.is_cpp or file.path.parts[0] not in SOURCES:
            continue
        if file.is_header and not file.is_in(LIBRARY):
            lists, listed = included, rf"{re.escape(file.path.name)}\""
        else:
            lists = [names[n].text for n in (f"{p}/CMakeLists.txt" for p in file.path.parents)
                     if n in names]
            # Tests and samples may be listed without their endings.
            word = file.path.name if file.is_in(LIBRARY) else file.path.name.split(".")[0]
            listed = rf"(?<![\w.-]){re.escape(word)}(?![\w-])"
        if not any(re.search(listed, text) for text in lists):
            nearest = next((f"{p}/CMakeLists.txt" for p in file.path.parents
                            if f"{p}/CMakeLists.txt" in names), f"{folder}/CMakeLists.txt")
            yield file.name, 1, f"a dead file; add it to {nearest}, or delete it"
    public = names.get("include/CMakeLists.txt")
    for file in files:
        if file.is_header and file.name.startswith("include/"):
            inner = file.name.removeprefix("include/")
            if not public or not re.search(rf"(?<![\w/]){re.escape(inner)}\b", public.text):
                yield file.name, 1, ("a header nobody installs; "
                                     f"add {inner} to include/CMakeLists.txt")


def check_folders(files):
    folders = {}
    for file in files:
        if file.path.parts[0] != "tests":
            folders.setdefault(str(file.path.parent), []).append(file.name)
    for folder, members in folders.items():
        if len(members) > FILES_PER_FOLDER:
            yield members[FILES_PER_FOLDER], 1, (
                f"{folder} has {len(members)} files, and the budget is {FILES_PER_FOLDER}; "
                "give a noun its own folder")


def check_links(files):
    present = {str(p) for f in files for p in (f.path, *f.path.parents)}
    for file in files:
        if file.path.suffix != ".md":
            continue
        quoted = False
        for number, line in enumerate(file.lines, 1):
            quoted ^= line.startswith("```")
            for target in LINK.findall("" if quoted or line.startswith("    ") else line):
                there = posixpath.normpath(posixpath.join(file.path.parent.as_posix(), target))
                if there not in present:
                    yield file.name, number, f"nothing is at {target}; mend the link"


# -- all of it ---------------------------------------------------------------------------------

FILE_RULES = (check_text, check_size)
CPP_RULES = (check_functions, check_bans, check_head, check_unordered)


def breaches(root):
    files = [File(root, name) for name in tracked(root)]
    files = [file for file in files if b"\0" not in file.bytes]
    found = set()
    for file in files:
        for rule in FILE_RULES + (CPP_RULES if file.is_cpp else ()):
            try:
                found |= {(file.name, line, message) for line, message in rule(file)}
            except UnmatchedBracket as problem:
                found.add((file.name, problem.line, str(problem)))
    for rule in (check_listed, check_folders, check_links):
        found |= set(rule(files))
    return [f"{name}:{line}: {message}" for name, line, message in sorted(found)]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    found = breaches(parser.parse_args(arguments).root)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
