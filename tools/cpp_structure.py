"""Finds functions, lambdas, classes and statements in the tokens of cpp_tokens.py.

It is no parser of C++: it knows just enough to tell a block from a braced initialiser,
a lambda from a subscript, and one full expression from the next. Code it cannot place
becomes an ordinary statement, and what it says of the rest stays right.
"""
from dataclasses import dataclass, field

CLASS_KEYS = {"class", "struct", "union", "enum", "namespace"}
CONTROL = {"if", "while", "for", "switch", "catch"}
# Words before '[' that leave it the start of a lambda; after other words it is a subscript.
BEFORE_LAMBDA = {"return", "co_return", "co_await", "co_yield", "throw", "case", "else", "do"}
# Words before '(' that leave the declaration without a parameter list.
NOT_A_PARAMETER_LIST = {"alignas", "decltype", "noexcept", "explicit", "requires", "operator",
                        "__attribute__", "__declspec"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "try", "volatile", "mutable"}


@dataclass
class Part:
    """One full expression of a control statement's header."""
    role: str  # init, condition, step, range, handler
    first: int
    last: int


@dataclass
class Statement:
    kind: str  # expression, block, function, class, or a keyword: if while for switch do catch
    first: int
    last: int = 0
    parts: list = field(default_factory=list)
    children: list = field(default_factory=list)
    lambdas: list = field(default_factory=list)


@dataclass
class Body:
    """Code that suspends as one: a function's or a lambda's."""
    kind: str  # function, lambda, fragment
    first: int  # Where its declaration or its '[' stands.
    open: int = 0
    close: int = 0
    captures: bool = False
    statements: list = field(default_factory=list)


@dataclass
class Class:
    name: str
    key: str
    first: int
    open: int
    close: int
    members: list = field(default_factory=list)


class Structure:
    def __init__(self, source):
        self.source, self.t, self.kind = source, source.t, source.kind
        self.partner = source.partner
        self.bodies, self.classes = [], []
        self.fragment = Body("fragment", 0, 0, len(self.t))
        self.bodies.append(self.fragment)
        self._scope(0, len(self.t), None, self.fragment.statements)

    # -- statements ------------------------------------------------------------------------

    def _scope(self, i, end, body, out):
        while i < end:
            i = self._statement(i, end, body, out)

    def _at(self, i):
        return self.t[i] if i < len(self.t) else ""

    def _statement(self, i, end, body, out):
        """Reads one statement or declaration at `i` into `out`; returns where the next starts."""
        word = self._at(i)
        if i >= end or word in (";", ")", "]", "}"):
            return i + 1
        if word == "{":
            block = Statement("block", i, self.partner[i])
            out.append(block)
            self._scope(i + 1, self.partner[i], body, block.children)
            return self.partner[i] + 1
        if word in CONTROL:
            control = self._control(i, end, body, out)
            if control:
                return control
        if word == "do" and i + 1 < end:
            return self._do(i, end, body, out)
        if word in ("try", "else"):
            return self._statement(i + 1, end, body, out)
        if word in ("case", "default") and body:
            return self._after_colon(i, end)
        if self.kind[i] == "word" and self._at(i + 1) == ":":
            return i + 2  # A label, or public:, private:, protected:.
        return self._declaration(i, end, body, out)

    def _after_colon(self, i, end):
        while i < end and self.t[i] != ":":
            i = self.partner[i] + 1 if self.t[i] in "([{" else i + 1
        return i + 1

    def _control(self, i, end, body, out):
        word, k = self.t[i], i + 1
        while self._at(k) in ("constexpr", "consteval", "!"):
            k += 1
        if self._at(k) != "(":
            return None
        statement = Statement(word, i)
        statement.parts = self._header(word, k + 1, self.partner[k])
        for part in statement.parts:
            statement.lambdas += self._lambdas(part.first, part.last)
        out.append(statement)
        k = self._statement(self.partner[k] + 1, end, body, statement.children)
        if word == "if" and k < end and self._at(k) == "else":
            k = self._statement(k + 1, end, body, statement.children)
        statement.last = min(k, end) - 1
        return k

    def _header(self, word, first, last):
        if word == "catch":
            return [Part("handler", first, last)]
        cuts = self.cuts(first, last, ";")
        if word == "for" and len(cuts) == 3:
            return [Part(role, *cut) for role, cut in zip(("init", "condition", "step"), cuts)]
        *inits, tail = cuts
        parts = [Part("init", *cut) for cut in inits]
        if word != "for":
            return parts + [Part("condition", *tail)]
        variable, *ranges = self.cuts(*tail, ":")
        return parts + [Part("init", *variable)] + [Part("range", *cut) for cut in ranges]

    def cuts(self, first, last, mark):
        """Splits a range at each `mark` outside brackets."""
        cuts, begin, i = [], first, first
        while i < last:
            if self.t[i] == mark:
                cuts.append((begin, i))
                begin = i + 1
            i = self.partner[i] + 1 if i in self.partner and self.partner[i] > i else i + 1
        return cuts + [(begin, last)]

    def _do(self, i, end, body, out):
        statement = Statement("do", i)
        out.append(statement)
        k = self._statement(i + 1, end, body, statement.children)
        if self._at(k) == "while" and self._at(k + 1) == "(":
            close = self.partner[k + 1]
            statement.parts = [Part("condition", k + 2, close)]
            statement.lambdas = self._lambdas(k + 2, close)
            k = close + 1
        statement.last = min(k, end) - 1
        return k

    # -- declarations and expressions ------------------------------------------------------

    def _declaration(self, i, end, body, out):
        t, k = self.t, i
        parameters = assigned = initialisers = False
        key = None
        while k < end:
            word = t[k]
            if word == ";":
                break
            if word == "(":
                parameters = parameters or t[k - 1] not in NOT_A_PARAMETER_LIST or k == i
                k = self.partner[k] + 1
                continue
            if word == "[":
                found = self.lambda_at(k)
                k = (found[2] if found else self.partner[k]) + 1
                continue
            if word == "<" and k > i and self.kind[k - 1] == "word" and t[k - 1] != "operator":
                k = self.after_angles(k) or k + 1
                continue
            if word == "=" and t[k - 1] != "operator":
                assigned = True
            elif word == ":" and parameters and not assigned and body is None:
                initialisers = True
            elif word in CLASS_KEYS and key is None and not (parameters or assigned):
                key = k
            elif word == "{":
                what = self._brace(i, k, body, parameters, assigned, initialisers, key)
                if what == "function":
                    return self._function(i, k, out)
                if what == "block":
                    self._expression(i, k, out)
                    return self._statement(k, end, body, out)
                if what == "namespace":
                    self._scope(k + 1, self.partner[k], None, out)
                    return self.partner[k] + 1
                if what == "class":
                    self._class(i, k, key, out)
                    i = self.partner[k] + 1  # Declarators, if any, are a statement of their own.
                k = self.partner[k] + 1
                continue
            k += 1
        self._expression(i, k, out)
        return k + 1

    def _brace(self, i, k, body, parameters, assigned, initialisers, key):
        """What the '{' at `k` opens: function, class, block, or a braced initialiser."""
        before = self.t[k - 1]
        if assigned or before == "requires" or (
                before == ")" and self.t[self.partner[k - 1] - 1] == "requires"
                and self.t[self.partner[k - 1] - 2] == "requires"):
            return "initialiser"  # Or a requires-expression, which is skipped like one.
        if parameters and body is None:
            member = self.kind[k - 1] == "word" and before not in AFTER_PARAMETERS
            return "initialiser" if initialisers and (member or before == ">") else "function"
        if parameters and before == ")" and self.t[self.partner[k - 1] - 1] != "decltype":
            return "block"  # A macro that takes a block, such as SECTION(...) { }.
        if self.t[i] == "extern" and self.kind[k - 1] == "string":
            return "namespace"
        if key is not None and not parameters:
            return "namespace" if self.t[key] == "namespace" else "class"
        return "initialiser"

    def _function(self, i, k, out):
        body = Body("function", i, k, self.partner[k])
        self.bodies.append(body)
        out.append(Statement("function", i, body.close, lambdas=self._lambdas(i, k)))
        self._scope(k + 1, body.close, body, body.statements)
        return body.close + 1

    def _class(self, i, k, key, out):
        close = self.partner[k]
        out.append(Statement("class", i, close))
        found = Class(self._class_name(key + 1, k), self.t[key], i, k, close)
        self.classes.append(found)
        if found.key != "enum":
            self._scope(k + 1, close, None, found.members)

    def _class_name(self, i, end):
        name = ""
        while i < end and self.t[i] not in (":", "final"):
            if self.t[i] in "([":
                i = self.partner[i]
            elif self.kind[i] == "word":
                name = self.t[i]
            elif self.t[i] == "<":
                break
            i += 1
        return name

    def _expression(self, first, last, out):
        if first < last:
            out.append(Statement("expression", first, last, lambdas=self._lambdas(first, last)))

    # -- pieces ----------------------------------------------------------------------------

    def after_angles(self, i):
        """Where the template arguments that open at `i` end, or None if it is a comparison."""
        depth = 0
        while i < len(self.t):
            word = self.t[i]
            if word in "([" or (word == "{" and depth):
                i = self.partner[i]
            elif word == "<":
                depth += 1
            elif word == ">":
                depth -= 1
                if depth == 0:
                    return i + 1
            elif word in (";", ")", "]", "}", "||", "?", "+=", "<<"):
                return None
            i += 1
        return None

    def lambda_at(self, i):
        """(first, open, close) of the lambda whose '[' stands at `i`, or None."""
        t, before = self.t, self._at(i - 1) if i else ""
        if self._at(i + 1) == "[" or before == "[":
            return None  # An attribute.
        if before in (")", "]", ">") or (i and self.kind[i - 1] in ("string", "number")):
            return None
        if i and self.kind[i - 1] == "word" and before not in BEFORE_LAMBDA:
            return None
        if before in ("&", "&&") and self._at(i - 2) == "auto":
            return None  # A structured binding.
        k = self.partner[i] + 1
        while k < len(t):
            word = t[k]
            if word == "{":
                return i, k, self.partner[k]
            if word == "<":
                k = self.after_angles(k) or len(t)
            elif word in "([":
                k = self.partner[k] + 1
            elif self.kind[k] == "word" or word in ("->", "::", "*", "&", "&&", "..."):
                k += 1
            else:
                return None
        return None

    def _lambdas(self, first, last):
        """Reads the lambdas of a range into bodies, and returns them."""
        found, k = [], first
        if "[" not in self.t[first:last]:
            return found
        while k < last:
            place = self.lambda_at(k) if self.t[k] == "[" else None
            if place:
                body = Body("lambda", k, place[1], place[2],
                            captures=self.partner[k] > k + 1)
                self.bodies.append(body)
                found.append(body)
                self._scope(body.open + 1, body.close, body, body.statements)
                k = body.close
            k += 1
        return found
