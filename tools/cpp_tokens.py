"""Reads C++ as tokens, so that the checks never mistake a comment or a string for code.

A Source has the code tokens of one file with their positions, the partner of each
bracket, the comments, and the preprocessor lines. Nothing is expanded: a macro call is
a name and brackets, and the text of a #define is not code.
"""
import bisect
import pathlib
import re
from typing import NamedTuple

CPP_SUFFIXES = {".hpp", ".cpp", ".h", ".cc", ".cxx", ".hh", ".hxx", ".ipp"}
OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {")", "]", "}"}

TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>  //(?:\\\r?\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<string>   (?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"\w*
                  | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w* )
    | (?P<char>     (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'\w* )
    | (?P<number>   \.?\d(?:(?<=[eEpP])[+-]|'?[\w.])* )
    | (?P<word>     [A-Za-z_]\w* )
    | (?P<mark>     \.\.\.|->\*|<=>|<<=|::|->|\+\+|--|&&|\|\||<<|\#\#|[-+*/%&|^=!<>]=|\S )
    )""",
    re.VERBOSE | re.DOTALL,
)
# From a '#' that opens a line to the end of its last continued line.
DIRECTIVE = re.compile(r"(?:/\*.*?\*/|\\\r?\n|(?!//|/\*)[^\n])*", re.DOTALL)
INCLUDE = re.compile(r'#\s*include\s*([<"])([^>"]+)[>"]')


class Comment(NamedTuple):
    line: int
    last_line: int
    text: str
    alone: bool  # Nothing but the comment on its first line.


class Directive(NamedTuple):
    line: int
    text: str


class UnmatchedBracket(Exception):
    """The file's brackets do not pair up; `line` says where."""

    def __init__(self, line, mark):
        super().__init__(f"'{mark}' has no partner: the check cannot read on; close the bracket")
        self.line = line


class Source:
    """One file, or one fenced block of a document, as tokens."""

    def __init__(self, text, first_line=1):
        self.text = text
        self.first_line = first_line
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.comments, self.directives = [], []
        self.t, self.kind, self.pos = [], [], []
        self._read()
        try:
            self.partner = self._pair(range(len(self.t)))
        except UnmatchedBracket:
            # Branches of an #if often share a bracket: read only the first branch of each.
            self._drop_else_branches()
            self.partner = self._pair(range(len(self.t)))

    def line(self, index):
        """The line of token `index`."""
        return self.line_at(self.pos[index])

    def line_at(self, position):
        return bisect.bisect_right(self.line_starts, position) + self.first_line - 1

    def _read(self):
        text, position, match_at = self.text, 0, TOKEN.match
        t, kind, pos = self.t, self.kind, self.pos
        while True:
            match = match_at(text, position)
            if match is None:
                return
            group = match.lastgroup
            start, position = match.start(group), match.end()
            if group == "comment":
                self._add_comment(start, match[group])
            elif group == "mark" and match[group] == "#" and self._opens_line(start):
                directive = DIRECTIVE.match(text, start)
                self.directives.append(Directive(self.line_at(start), directive[0]))
                position = directive.end()
            else:
                t.append(match[group])
                kind.append(group)
                pos.append(start)

    def _opens_line(self, position):
        begin = self.text.rfind("\n", 0, position) + 1
        return not self.text[begin:position].strip()

    def _add_comment(self, start, text):
        line = self.line_at(start)
        self.comments.append(
            Comment(line, line + text.count("\n"), text, self._opens_line(start)))

    def _pair(self, indexes):
        partner, stack, t = {}, [], self.t
        for i in indexes:
            mark = t[i]
            if mark in OPEN and self.kind[i] == "mark":
                stack.append(i)
            elif mark in CLOSE and self.kind[i] == "mark":
                if not stack or OPEN[t[stack[-1]]] != mark:
                    raise UnmatchedBracket(self.line(stack[-1] if stack else i),
                                           t[stack[-1]] if stack else mark)
                partner[i] = stack[-1]
                partner[stack.pop()] = i
        if stack:
            raise UnmatchedBracket(self.line(stack[-1]), t[stack[-1]])
        return partner

    def _drop_else_branches(self):
        dropped, depth, begins = [], 0, {}
        for line, text in self.directives:
            word = re.match(r"#\s*(\w*)", text)[1]
            if word in ("if", "ifdef", "ifndef"):
                depth += 1
            elif word in ("else", "elif", "elifdef", "elifndef"):
                begins.setdefault(depth, line)
            elif word == "endif":
                if depth in begins:
                    dropped.append((begins.pop(depth), line))
                depth -= 1
        keep = [i for i in range(len(self.t))
                if not any(a < self.line(i) < b for a, b in dropped)]
        self.t, self.kind, self.pos = ([column[i] for i in keep]
                                       for column in (self.t, self.kind, self.pos))


def read_text(path):
    """The file's text, whatever its bytes; line ends as they are."""
    return path.read_bytes().decode("utf-8", errors="replace")


def includes(source):
    """Yields (line, opening mark, name) of every #include."""
    for directive in source.directives:
        match = INCLUDE.match(directive.text)
        if match:
            yield directive.line, match[1], match[2]


def cpp_files(root, folders):
    """The C++ files below `folders` of `root`, in a stable order."""
    for folder in folders:
        base = pathlib.Path(root) / folder
        if base.is_dir():
            yield from sorted(p for p in base.rglob("*")
                              if p.suffix in CPP_SUFFIXES and p.is_file())
