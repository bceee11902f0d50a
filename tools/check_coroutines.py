#!/usr/bin/env python3
"""Finds the coroutine forms that g++ compiles to wrong code, and those that are wrong
with every compiler. docs/coroutine-pitfalls.md shows each with its cure.

    python3 tools/check_coroutines.py               the project
    python3 tools/check_coroutines.py PATH...       your own files and folders

Prints file:line and the form to write instead; exits 1 if there is anything to print.
A comment `// coroutine-form: <reason>`, on the line or alone on the line above, allows
one statement what it does there.
"""
import pathlib
import re
import sys

from cpp_declarations import aggregates, is_declaration
from cpp_structure import Structure
from cpp_tokens import CPP_SUFFIXES, Source, UnmatchedBracket, cpp_files, read_text
from snippets import fences

FOLDERS = ("include", "runtime", "actors", "strategy", "samples", "tests", "bench")
DOCUMENTS = ("README.md", "docs/*.md")
AWAITS = {"co_await", "co_yield"}
SUSPENDS = AWAITS | {"co_return"}
LOCKS = {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"}
AND_OR = {"&&", "||", "and", "or"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="}
MACRO = re.compile(r"(?:[A-Z][A-Z0-9_]{2,}|assert)\Z")
EXCUSE = re.compile(r"//\s*coroutine-form:\s*(\S.*)?")

MESSAGES = {
    "operand": "co_await is an operand of {0}, which g++ may run although it must not; "
               "write an if around it: if (a) {{ b = co_await f(); }}",
    "ternary": "?: in one full expression with co_await: g++ runs the branch not taken or destroys "
               "a result twice; write an if, or name the ?: first",
    "braces": "braces in one full expression with co_await: g++ 12 destroys the object twice or "
              "rejects the list; name it first: T x{{...}}; co_await f(std::move(x)), "
              "or write = and ( )",
    "default": "a default argument in braces: g++ 12 destroys it twice where the call is awaited; "
               "write = T()",
    "lambda": "a capturing lambda in one full expression with co_await: g++ 12 destroys its "
              "captures twice; name it first: auto g = [...] {{...}}; co_await f(std::move(g))",
    "aggregate": "'{0}' has no constructor and is built in one full expression with co_await: "
                 "g++ 12 destroys it twice; name it first, or give it a constructor",
    "awaiter": "'{0}' is awaited and has members but no constructor: g++ 12 destroys it twice when "
               "made in place; give it a constructor",
    "macro": "co_await in the argument of macro {0}, which may guard or repeat it; "
             "name the result first: auto r = co_await f(); {0}(r)",
    "bare": "co_await in the condition of {0}, in a coroutine that declares no variable: g++ 12 "
            "starts it over at each resume; name the result: const auto r = co_await f(); {0} (r)",
    "do": "co_await in the condition of do-while: g++ skips it after a continue; "
          "write while (true) {{ ... const bool more = co_await f(); if (!more) break; }}",
    "catch": "co_await in a catch handler is not C++; store std::current_exception(), leave the "
             "handler, then await",
    "lock": "'{0}' (line {1}) is held across co_await; end its block first: "
            "{{ std::scoped_lock lock(m); ... }} and await after it",
    "captures": "a capturing lambda is a coroutine: its captures die with the lambda, not with the "
                "frame; drop the captures and pass the values as parameters",
}


class Checker:
    def __init__(self, name, source):
        self.name, self.source, self.t = name, source, source.t
        self.kind, self.partner = source.kind, source.partner
        self.aggregates = set()  # Of all files scanned; filled in before run().
        self.structure = Structure(source)
        self.found = set()

    def run(self):
        if any(word in SUSPENDS for word in self.t):
            for body in self.structure.bodies:
                self.check_body(body)
            for found in self.structure.classes:  # The handlers of functions that are a try.
                self.check_statements(found.members, [], bare=False, in_handler=False)
        if any(word in ("await_ready", "co_await") for word in self.t):
            self.check_awaiters()
        self.check_defaults()
        return self.excused()

    def report(self, rule, index, statement_first, *details):
        message = MESSAGES[rule].format(*details)
        self.found.add((self.source.line(index), statement_first, message))

    def excused(self):
        """Drops what a comment allows; a comment that allows nothing is itself reported."""
        excuses = {}
        comment_lines = {c.line for c in self.source.comments if c.alone}
        for comment in self.source.comments:
            match = EXCUSE.match(comment.text)
            if match:
                covers = comment.line
                while comment.alone and covers in comment_lines:
                    covers += 1
                excuses[covers] = (comment.line, match[1])
        used, kept = {}, []
        for line, statement, message in sorted(self.found):
            covers = next((c for c in (line, self.source.line(statement))
                           if excuses.get(c, ("", ""))[1]
                           and used.setdefault(c, statement) == statement), None)
            if covers is None:
                kept.append((line, message))
        for covers, (line, reason) in excuses.items():
            if not reason:
                kept.append((line, "coroutine-form without a reason; "
                                   "write // coroutine-form: <why this form is right here>"))
            elif covers not in used:
                kept.append((line, "coroutine-form allows nothing here; remove the comment"))
        return [f"{self.name}:{line}: {message}" for line, message in sorted(kept)]

    # -- bodies ----------------------------------------------------------------------------

    def check_body(self, body):
        suspends = self.suspends(body.open, body.close, body) if body.kind != "fragment" else False
        if body.kind == "lambda" and body.captures and suspends:
            self.report("captures", body.first, body.first)
        bare = body.kind == "function" and suspends and not self.declares(body.statements)
        self.check_statements(body.statements, [], bare, in_handler=False)

    def suspends(self, first, last, body):
        """True if the range suspends, the lambdas inside `body` left out."""
        if not SUSPENDS.intersection(self.t[first:last]):
            return False
        inner = [(b.open, b.close) for b in self.structure.bodies
                 if body.open < b.open and b.close < body.close]
        return any(self.t[i] in SUSPENDS and self.is_operator(i)
                   and not any(a < i < b for a, b in inner) for i in range(first, last))

    def check_statements(self, statements, locks, bare, in_handler):
        held = list(locks)
        for statement in statements:
            if statement.kind == "expression":
                self.check_expression(statement.first, statement.last, held, in_handler)
                self.update_locks(statement.first, statement.last, held)
                continue
            inside, handler = list(held), in_handler or statement.kind == "catch"
            for part in statement.parts:
                awaits = self.check_expression(part.first, part.last, inside, handler)
                if awaits and part.role == "condition":
                    if statement.kind == "do":
                        self.report("do", awaits[0], statement.first)
                    elif bare and not is_declaration(self.structure, part.first, part.last):
                        self.report("bare", awaits[0], statement.first, statement.kind)
                self.update_locks(part.first, part.last, inside)
            self.check_statements(statement.children, inside, bare, handler)

    def declares(self, statements):
        """True if a variable, a type or a using is declared anywhere among `statements`."""
        return any(
            s.kind == "class"
            or s.kind == "catch" and self.t[s.parts[0].first] != "..."
            or s.kind == "expression" and is_declaration(self.structure, s.first, s.last)
            or any(p.role in ("init", "condition")
                   and is_declaration(self.structure, p.first, p.last) for p in s.parts)
            or self.declares(s.children) for s in statements)

    # -- locks -----------------------------------------------------------------------------

    def update_locks(self, first, last, held):
        """Follows declarations of locks, and unlock() and lock() on them."""
        t = self.t
        for i in range(first, last - 1):
            if t[i] in LOCKS and is_declaration(self.structure, first, last):
                k = self.structure.after_angles(i + 1) if t[i + 1] == "<" else i + 1
                if k and k < last and self.kind[k] == "word" and "defer_lock" not in t[k:last]:
                    held.append((t[k], self.source.line(k)))
            elif t[i] == "." and t[i + 1] in ("unlock", "release"):
                held[:] = [lock for lock in held if lock[0] != t[i - 1]]
            elif t[i] == "." and t[i + 1] in ("lock", "try_lock") and self.is_lock(t[i - 1]):
                held.append((t[i - 1], self.source.line(i)))

    def is_lock(self, name):
        """True if the file declares `name` as one of the locks."""
        return re.search(rf"\b({'|'.join(LOCKS)})\b[^;()]*\b{re.escape(name)}\b", self.source.text)

    # -- full expressions ------------------------------------------------------------------

    def is_operator(self, i):
        return i == 0 or self.t[i - 1] != "operator"

    def flat(self, first, last):
        """The indexes of a full expression; of a lambda only its captures."""
        k, found = first, []
        while k < last:
            place = self.structure.lambda_at(k) if self.t[k] == "[" else None
            if place:
                captures_end = self.partner[k]
                found += range(k, captures_end + 1)
                k = place[2]
            else:
                found.append(k)
            k += 1
        return found

    def check_expression(self, first, last, locks, in_handler):
        """Checks one full expression; returns the indexes of its awaits."""
        t = self.t
        if not AWAITS.intersection(t[first:last]):
            return []
        flat = self.flat(first, last)
        awaits = [i for i in flat if t[i] in AWAITS and self.is_operator(i)]
        if not awaits:
            return []
        if in_handler:
            self.report("catch", awaits[0], first)
        for name, line in locks:
            self.report("lock", awaits[0], first, name, line)
        for k, i in enumerate(flat):
            if self.kind[i] == "mark":
                self.check_mark(i, first)
            elif self.kind[i] == "word" and k + 1 < len(flat) and t[flat[k + 1]] == "(":
                self.check_call(i, first, awaits)
        self.check_operands(flat, awaits, first)
        return awaits

    def check_mark(self, i, first):
        if self.t[i] == "?":
            self.report("ternary", i, first)
        elif self.t[i] == "{":
            self.report("braces", i, first)
        elif self.t[i] == "[" and self.partner[i] > i + 1 and self.structure.lambda_at(i):
            self.report("lambda", i, first)

    def check_call(self, i, first, awaits):
        name, close = self.t[i], self.partner[i + 1]
        if name in self.aggregates and close > i + 2:
            self.report("aggregate", i, first, name)
        if MACRO.match(name) and any(i < a < close for a in awaits):
            self.report("macro", i, first, name)

    def check_operands(self, flat, awaits, first):
        """Reports awaits that share an operand region with && or ||.

        A region ends at a comma, an assignment or the colon of a range-for; a bracketed
        group belongs to the region around it.
        """
        t, awaiting = self.t, set(awaits)
        stack = [[None, [], []]]  # The operator of the region, its awaits, those of the group.

        def close_region():
            operator, here, group = stack[-1]
            if operator and here:
                self.report("operand", here[0], first, operator)
            group += here
            stack[-1][:2] = [None, []]

        for i in flat:
            word = t[i]
            if i in awaiting:
                stack[-1][1].append(i)
            elif self.kind[i] not in ("mark", "word"):
                continue
            elif word in ("(", "[", "{"):
                stack.append([None, [], []])
            elif word in (")", "]", "}"):
                close_region()
                stack[-2][1].extend(stack.pop()[2])
            elif word in AND_OR and self.is_binary(i):
                stack[-1][0] = stack[-1][0] or word
            elif word in (",", ":") or word in ASSIGNMENTS:
                close_region()
        close_region()

    def is_binary(self, i):
        """False for the && of an rvalue reference."""
        after = self.t[i + 1] if i + 1 < len(self.t) else ""
        return after not in (">", ",", ")", "]", "=", "") and not (
            after == "..." and self.t[i + 2] in (">", ","))

    # -- declarations ------------------------------------------------------------------------

    def check_awaiters(self):
        for found in self.structure.classes:
            if found.name in self.aggregates and any(
                    self.t[i] == "await_ready" or self.t[i] == "co_await"
                    and self.t[i - 1] == "operator"
                    for m in found.members if m.kind != "class"
                    for i in range(m.first, m.last)):
                self.report("awaiter", found.first, found.first, found.name)


    def check_defaults(self):
        """Default arguments that build a list, or an aggregate, where the call is awaited."""
        t, members = self.t, [m for c in self.structure.classes for m in c.members]
        for m in self.structure.fragment.statements + members:
            i = m.first
            if m.kind not in ("function", "expression"):
                continue
            while i < m.last and t[i] not in ("(", "{", "="):
                i = self.structure.after_angles(i) or i + 1 if t[i] == "<" else i + 1
            if i >= m.last or t[i] != "(":
                continue
            for first, last in self.structure.cuts(i + 1, self.partner[i], ","):
                braces = [k for k in self.flat(first, last) if t[k] == "{"]
                if "=" not in t[first:last] or not braces:
                    continue
                typed = t[first:t.index("=", first) - 1]  # Less the parameter's own name.
                if self.partner[braces[0]] > braces[0] + 1 or self.aggregates.intersection(typed):
                    self.report("default", braces[0], m.first)


# -- files -----------------------------------------------------------------------------------

def sources_of(path, name):
    """Yields (name, Source) for a C++ file, or for each C++ block of a document."""
    if path.suffix != ".md":
        yield name, Source(read_text(path))
        return
    for fence in fences(read_text(path)):
        if fence.language == "cpp" and fence.marker != "wrong":
            yield name, Source("\n".join(fence.body) + "\n", fence.line + 1)


def project_files(root):
    yield from cpp_files(root, FOLDERS)
    for pattern in DOCUMENTS:
        yield from sorted(root.glob(pattern))


def user_files(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.suffix in CPP_SUFFIXES | {".md"})
        elif path.exists():
            yield path
        else:
            sys.exit(f"{path}: no such file or folder; name C++ files or folders of them")


def breaches(files, root):
    lines, checkers = [], []
    for path in files:
        name = path.relative_to(root).as_posix() if root else str(path)
        try:
            for where, source in sources_of(path, name):
                checkers.append(Checker(where, source))
        except UnmatchedBracket as problem:
            lines.append(f"{name}:{problem.line}: {problem}")
    known = aggregates([checker.structure for checker in checkers])
    for checker in checkers:
        checker.aggregates = known
        lines += checker.run()
    return lines


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments[:1] == ["--root"] and len(arguments) == 2:
        root, arguments = pathlib.Path(arguments[1]).resolve(), []
    files = user_files(map(pathlib.Path, arguments)) if arguments else project_files(root)
    found = breaches(files, None if arguments else root)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
