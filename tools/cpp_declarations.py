"""Tells declarations from expressions and aggregates from classes, by their tokens alone."""

# Types whose objects have nothing to destroy, and words that are part of such types.
TRIVIAL = {"auto", "bool", "char", "short", "int", "long", "float", "double", "void", "unsigned",
           "signed", "const", "constexpr", "static", "volatile", "thread_local", "mutable",
           "inline", "constinit", "std", "size_t", "ptrdiff_t", "uintptr_t", "intptr_t", "byte",
           "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t",
           "int64_t", "coroutine_handle", "chrono", "nanoseconds", "milliseconds", "string_view",
           "span", "source_location"}
NOT_A_TYPE = {"return", "co_return", "co_await", "co_yield", "throw", "delete", "goto", "new",
              "case", "else", "break", "continue", "sizeof", "not", "friend", "typedef",
              "static_assert", "public", "private", "protected", "template"}


def is_declaration(structure, i, last):
    """True if a variable is declared: a type, then a name, then what may follow a name."""
    t, kind, has_type = structure.t, structure.kind, False
    if i < last and t[i] == "using":
        return True
    while i < last:
        word = t[i]
        if kind[i] == "word":
            if word in NOT_A_TYPE:
                return False
            if has_type and t[i - 1] != "::":
                after = t[i + 1] if i + 1 < last else ""
                if after in ("", "=", "(", "{", "[", ",", ":"):
                    return True
            has_type = True
        elif word == "<" and has_type:
            i = structure.after_angles(i) or last
            continue
        elif word == "[":
            if has_type and t[i - 1] in ("auto", "&", "&&"):
                return True  # A structured binding.
            if t[i + 1] != "[":
                return False
            i = structure.partner[i]  # An attribute.
        elif word not in ("::", "*", "&") and not (word == "&&" and t[i - 1] == "auto"):
            return False
        i += 1
    return False


def aggregates(structures):
    """The names of all classes without a constructor, that need destroying, of all files.

    A name that some file gives to another kind of class is left out.
    """
    classes = [(s, c) for s in structures for c in s.classes]
    harmless, size = {c.name for _, c in classes if c.key == "enum"}, -1
    while size != len(harmless):  # What consists of harmless members is harmless.
        size = len(harmless)
        states = [(c.name, aggregate_state(s, c, harmless)) for s, c in classes]
        harmless |= {name for name, state in states if state == "trivial"}
    return {name for name, state in states if state == "owning"} - harmless - {
        name for name, state in states if state == "closed"} - {""}


def aggregate_state(structure, found, harmless):
    """Of a class: "owning", an aggregate whose members need destroying; "trivial", an
    aggregate whose members do not; "closed", no aggregate."""
    inside = structure.t[found.open:found.close]
    if found.key == "enum":
        return "trivial"
    if "private" in inside or "protected" in inside or "virtual" in inside or (
            found.key == "class" and "public" not in inside):
        return "closed"
    members = [m for m in found.members if m.kind != "class"]
    if any(is_constructor(structure, found.name, m) for m in members):
        return "closed"
    return "owning" if any(is_owning(structure, m, harmless) for m in members) else "trivial"


def is_constructor(structure, name, member):
    t, first, last = structure.t, member.first, member.last
    if t[first] == "using":
        return "::" in t[first:last] and "=" not in t[first:last]  # An inherited one.
    for i in range(first, min(last - 1, first + 12)):
        if t[i] == name and t[i + 1] == "(":
            return i == first or t[i - 1] in ("constexpr", "consteval", "explicit", "inline",
                                              ")", ">", "]")
    return False


def is_owning(structure, member, harmless):
    """True for a data member of a type that is not known to be trivial."""
    t, first, last = structure.t, member.first, member.last
    if member.kind != "expression" or t[first] in ("static", "friend", "using", "typedef") or (
            not is_declaration(structure, first, last)):
        return False
    head = t[first:last]
    for mark in ("=", "{"):
        head = head[:head.index(mark)] if mark in head else head
    if {"(", "*", "&", "operator"}.intersection(head):
        return False
    return any(structure.kind[first + k] == "word" and word not in TRIVIAL
               and word not in harmless
               for k, word in enumerate(head[:-1]))
