#!/usr/bin/env python3
"""Checks that includes only ever point down the house, that each third-party library has
one door, and that no header includes itself in a circle.

    python3 tools/check_layers.py [--root DIR]

Prints file:line and the include to write instead; exits 1 if there is anything to print.
"""
import argparse
import pathlib
import re
import sys
from typing import NamedTuple

from cpp_tokens import Source, UnmatchedBracket, cpp_files, includes, read_text


class Door(NamedTuple):
    library: str
    header: re.Pattern  # What counts as one of the library's headers.
    files: tuple        # Who may include them; everybody else includes one of these.


# A layer may include itself and what stands before it.
LAYERS = ("core", "runtime", "actors", "strategy")

DOORS = (
    Door("Asio", re.compile(r"(boost/)?asio(\.hpp|/)"),
         ("include/troupe/runtime/asio.hpp", "runtime/asio_private.hpp")),
    Door("Catch2", re.compile(r"catch2/"), ("include/troupe/runtime/sim_test_case.hpp",)),
    Door("Eigen", re.compile(r"Eigen/"), ("include/troupe/strategy/values/eigen.hpp",)),
    Door("Taskflow", re.compile(r"taskflow/"),
         ("runtime/taskflow.hpp", "include/troupe/runtime/adaptors/taskflow.hpp")),
    Door("concurrentqueue", re.compile(r"(.*/)?(blocking)?concurrentqueue\.h\b"),
         ("runtime/concurrent_queue.hpp",)),
)

LIBRARY = ("include",) + LAYERS[1:]           # Layers and doors hold here.
OUTSIDE = ("tests", "samples", "bench")       # These include anything public.
STANDARD = re.compile(r"[a-z][a-z0-9_]*\Z")   # <vector>, <coroutine>; not <stdint.h>.
SYSTEM = re.compile(r"(sys|linux|netinet|arpa)/|\w+\.h\Z")  # Of the system: in runtime/ only.


class Include(NamedTuple):
    line: int
    quoted: bool
    name: str    # As written.
    target: str  # The project's file it names, or "".


def layer_of(path):
    """core, runtime, actors or strategy; "troupe" for what gathers them all; "" for neither."""
    parts = path.split("/")
    if parts[:2] == ["include", "troupe"]:
        return parts[2] if len(parts) > 3 and parts[2] in LAYERS else "troupe"
    return parts[0] if parts[0] in LAYERS else ""


def resolve(root, path, name):
    """The file of the project that `name` means inside `path`, or ""."""
    for base in (pathlib.PurePosixPath(path).parent, "include", "."):
        candidate = pathlib.PurePosixPath(base) / name
        if ".." not in candidate.parts and (root / candidate).is_file():
            return str(candidate)
    if name.startswith("troupe/"):
        return f"include/{name}"  # Not there yet; the layer it would be in is known.
    return ""


def read(root, folders):
    """Maps each C++ file below `folders` to its includes; unreadable files go to `problems`."""
    files, problems = {}, []
    for path in cpp_files(root, folders):
        name = path.relative_to(root).as_posix()
        try:
            source = Source(read_text(path))
        except UnmatchedBracket as problem:
            problems.append(f"{name}:{problem.line}: {problem}")
            continue
        files[name] = [Include(line, mark == '"', what, resolve(root, name, what))
                       for line, mark, what in includes(source)]
    return files, problems


def own_breach(path, include):
    """What is wrong with including a file of the project, or None."""
    here, there = layer_of(path), layer_of(include.target)
    public = include.target.startswith("include/")
    if path.split("/")[0] in OUTSIDE:
        if there and not public:
            return f'"{include.name}" is private; include a header of include/troupe instead'
        return None
    if path.startswith("include/") and not public:
        return (f'a public header may not include the private "{include.name}"; '
                "declare here what it needs and define it in the source file")
    if there == "troupe" and here != "troupe":
        return (f'"{include.name}" gathers every layer; '
                "include the headers this file uses instead")
    if here in LAYERS and there in LAYERS and LAYERS.index(there) > LAYERS.index(here):
        return (f"{here} may not include {there}: includes point down, "
                f"{' <- '.join(LAYERS)}; pass what is needed as a value or a function, "
                f"or move it to {here}")
    return None


def foreign_breach(path, include):
    """What is wrong with including a file from elsewhere into the library, or None."""
    for door in DOORS:
        if door.header.match(include.name):
            if path in door.files:
                return None
            usable = [f for f in door.files
                      if f.startswith("include/") or not path.startswith("include/")]
            names = " or ".join(f'"{f.removeprefix("include/")}"' for f in usable)
            return (f"{door.library} has one door; include {names} instead" if names else
                    f"{door.library} is no part of the interface; use it in a source file")
    if not include.quoted and STANDARD.match(include.name):
        return None
    if path.startswith("include/troupe/core/"):
        return (f"core includes the standard library and core only, not {include.name}; "
                "move what needs it to runtime")
    if SYSTEM.match(include.name) and path.startswith("runtime/"):
        return None
    return (f"{include.name} is neither ours nor the standard library's; "
            "give its library a door in tools/check_layers.py, in runtime/")


def cycles(files):
    """Yields (path, include, circle) for each include that closes a circle."""
    done, trail = set(), []

    def visit(path):
        trail.append(path)
        for include in files.get(path, ()):
            if include.target in trail:
                yield path, include, trail[trail.index(include.target):] + [include.target]
            elif include.target and include.target not in done:
                yield from visit(include.target)
        trail.pop()
        done.add(path)

    for path in files:
        if path not in done:
            yield from visit(path)


def breaches(root):
    files, problems = read(root, LIBRARY + OUTSIDE)
    yield from problems
    for path, found in files.items():
        for include in found:
            if include.target:
                message = own_breach(path, include)
            elif path.split("/")[0] in LIBRARY:
                message = foreign_breach(path, include)
            else:
                message = None
            if message:
                yield f"{path}:{include.line}: {message}"
    for path, include, circle in cycles(files):
        yield (f"{path}:{include.line}: includes in a circle: {' -> '.join(circle)}; "
               "move what both need into a header below them")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(breaches(parser.parse_args(arguments).root))
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
