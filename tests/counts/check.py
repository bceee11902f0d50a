#!/usr/bin/env python3
"""Counts instructions and heap allocations of merges, runs and sums, and compares with a record.

    python3 tests/counts/check.py PROGRAM COMPILER            compare with bounds.txt
    python3 tests/counts/check.py PROGRAM COMPILER --write    record what they are now

COMPILER is one word, GNU-12: instructions are the compiler's as well, so it has bounds of its own.
Exits 1 when something takes 3 % more instructions than were recorded, or allocates more; 77,
skipped, when valgrind is not installed or nothing was recorded for the compiler.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

BOUNDS = pathlib.Path(__file__).resolve().parent / "bounds.txt"
# So many replicas, or tensors of so many bytes.
CASES = (("merge_call", 2), ("merge_call", 64), ("run", 2), ("run", 64),
         ("reduce", 1 << 10), ("reduce", 64 << 10), ("maximum", 64 << 10))
MARGIN = 0.03
SKIPPED = 77
FEW, MANY = 100, 400  # Rounds: what two runs differ in is the price of MANY - FEW of them.
COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")


class Problem(Exception):
    pass


class Cost(NamedTuple):
    instructions: float  # Of one round.
    allocations: float


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    if done.returncode != 0:
        raise Problem(f"{' '.join(map(str, command))} ended with {done.returncode}:\n"
                      f"{done.stdout}{done.stderr}")
    return done


def count(program, what, size, rounds):
    """(instructions, allocations) of the whole program."""
    done = call(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
                 what, str(size), str(rounds)])
    found = COLLECTED.search(done.stderr)
    if not found:
        raise Problem(f"callgrind said no number of instructions:\n{done.stderr}")
    return int(found[1]), int(done.stdout)


def measure(program, what, size):
    few, many = (count(program, what, size, rounds) for rounds in (FEW, MANY))
    return Cost(*((more - less) / (MANY - FEW) for less, more in zip(few, many)))


def recorded(text, compiler):
    """{(what, size): Cost} of the compiler's lines in bounds.txt."""
    bounds = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == compiler:
            bounds[words[1], int(words[2])] = Cost(float(words[3]), float(words[4]))
    return bounds


def verdict(case, cost, bound):
    """(whether it holds, a line that says so)."""
    name = f"{case[0]} of {case[1]}"
    change = cost.instructions / bound.instructions - 1
    line = (f"{name}: {cost.instructions:,.0f} instructions, {change:+.1%} of the recorded "
            f"{bound.instructions:,.0f}; {cost.allocations:g} allocations")
    if cost.instructions > bound.instructions * (1 + MARGIN):
        return False, f"{line}: more than {MARGIN:.0%} above"
    if cost.allocations > bound.allocations:
        return False, f"{line}: {bound.allocations:g} were recorded"
    if change < -MARGIN:
        line += ": record the gain with --write"
    return True, line


def write(compiler, costs):
    text = BOUNDS.read_text() if BOUNDS.exists() else ""
    others = [line for line in text.splitlines() if line.split()[:1] != [compiler]]
    others += [f"{compiler} {what} {size} {cost.instructions:.0f} {cost.allocations:g}"
               for (what, size), cost in costs.items()]
    BOUNDS.write_text("\n".join(others) + "\n")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args(arguments)
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return SKIPPED
    bounds = recorded(BOUNDS.read_text() if BOUNDS.exists() else "", wanted.compiler)
    if not bounds and not wanted.write:
        print(f"skipped: nothing was recorded for {wanted.compiler}")
        return SKIPPED
    try:
        costs = {case: measure(wanted.program, *case) for case in CASES}
    except Problem as problem:
        print(problem)
        return 1
    if wanted.write:
        write(wanted.compiler, costs)
        return 0
    lacking = [case for case in CASES if case not in bounds]
    if lacking:
        print(f"bounds.txt has no line of {wanted.compiler} for {lacking}; --write records them")
        return 1
    results = [verdict(case, costs[case], bounds[case]) for case in CASES]
    print("\n".join(line for _, line in results))
    return 0 if all(holds for holds, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
