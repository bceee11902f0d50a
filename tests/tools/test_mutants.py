"""Plants bugs in small files, and reads what the copy says with and without them."""
import contextlib
import io

from planted import PlantedTree

import mutants

ENTRY = "barrier: late\n  in a.cpp\n  shown by late, depth 2\n"
FILE = "// a.cpp - a file.\n\nvoid f() {\n  if (a &&\n      b) {\n    x = 1;\n  }\n  x = 2;\n}\n"


class Mutants(PlantedTree):
    def run_on(self, entries, code=FILE, name="a.cpp"):
        """Everything about the entries `entries` for one file: (status, its copy, complaint)."""
        self.plant({"tests/planted/mutants/all.mutants": entries, name: code})
        copy, complaint = self.root / "copy", io.StringIO()
        with contextlib.redirect_stderr(complaint):
            status = mutants.main(["--root", str(self.root), "--write", str(copy)])
        made = copy / name
        return status, made.read_text() if made.exists() else "", complaint.getvalue()

    def expect_copy(self, entries, *parts, **of):
        status, text, complaint = self.run_on(entries, **of)
        self.assertEqual((status, complaint), (0, ""))
        for part in parts:
            self.assertIn(part, text)

    def expect_refused(self, entries, part, **of):
        status, _, complaint = self.run_on(entries, **of)
        self.assertEqual(status, 1)
        self.assertIn(part, complaint)

    def test_statements_are_behind_a_switch(self):
        self.expect_copy(ENTRY + "- x = 2;\n+ x = 3;\n",
                         "if (::troupe::planted::active == 1) { x = 3; } else { x = 2; }",
                         "extern int active;")

    def test_statements_can_be_left_out(self):
        self.expect_copy(ENTRY + "- x = 2;\n+\n", "== 1) {  } else { x = 2; }")

    def test_an_expression_is_chosen(self):
        self.expect_copy(ENTRY + "- a && b\n+ a || b\n", "== 1 ? (a || b) : (a &&\n      b))")
        self.expect_copy(ENTRY + "- a && b\n+ false\n",
                         "(!(::troupe::planted::active == 1) && (a &&")

    def test_marks_tell_what_of_a_text_is_replaced(self):
        self.expect_copy(ENTRY + "- if (a && «b») {\n- x = 1;\n+ c\n",
                         "if (a &&\n      (::troupe::planted::active == 1 ? (c) : (b))) {")

    def test_entries_may_share_a_place(self):
        two = ENTRY + "- x = 2;\n+ x = 3;\n" + ENTRY + "- x = 2;\n+ x = 4;\n"
        self.expect_copy(two, "== 1) { x = 3; } else { x = 2; }", "== 2) { x = 4; } else { if")

    def test_entries_must_not_overlap(self):
        two = ENTRY + "- a && b\n+ false\n" + ENTRY + "- b) { x = 1;\n+ c\n"
        self.expect_refused(two, "overlaps that of another entry")

    def test_a_text_that_is_gone_or_there_twice_is_refused(self):
        self.expect_refused(ENTRY + "- x = 7;\n+\n", "all.mutants:1: barrier: late: its text is in "
                            "a.cpp 0 times, not once: x = 7;")
        self.expect_refused(ENTRY + "- x =\n+ y\n", "2 times, not once")

    def test_an_entry_that_lacks_something_is_refused(self):
        self.expect_refused("barrier: late\n  in a.cpp\n- x = 2;\n+\n", "incomplete")
        self.expect_refused(ENTRY + "- x = 2;\n", "incomplete")
        self.expect_refused(ENTRY + "  shown, somehow\n", "not understood: shown, somehow")
        self.expect_refused(ENTRY.replace("a.cpp", "b.cpp") + "- x = 2;\n+\n", "no file b.cpp")

    def test_a_header_keeps_its_head(self):
        self.expect_copy(ENTRY.replace("a.cpp", "a.hpp") + "- x = 2;\n+\n",
                         "#pragma once\n\nnamespace troupe::planted {", name="a.hpp",
                         code="// a.hpp - a file.\n\n#pragma once\n" + FILE)

    def test_the_list_names_program_depth_and_budget(self):
        self.run_on(ENTRY.replace("depth 2", "depth 3, budget 70") + "- x = 2;\n+\n")
        listing = (self.root / "copy/mutants.cpp").read_text()
        self.assertIn('{"barrier: late", 3, late, 70, 1},', listing)

    def test_a_copy_that_no_entry_wants_is_removed(self):
        self.run_on(ENTRY + "- x = 2;\n+\n")
        (self.root / "copy/include").mkdir()
        (self.root / "copy/include/old.hpp").write_text("")
        mutants.main(["--root", str(self.root), "--write", str(self.root / "copy")])
        self.assertFalse((self.root / "copy/include/old.hpp").exists())
