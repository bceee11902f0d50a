"""Gives tests/counts/check.py costs that hold and costs that do not."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "counts"))

import check  # noqa: E402

RECORD = """\
# of the release preset
GNU-12 merge_call 2 600 0
GNU-12 run 2 1000 0
Clang-19 run 2 9 0
"""
CASES = (("merge_call", 2), ("run", 2))


class Counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bounds = pathlib.Path(folder.name) / "bounds.txt"
        self.bounds.write_text(RECORD)

    def check(self, costs, *options, compiler="GNU-12", valgrind="/bin/valgrind"):
        """(exit code, what was printed) where a round costs `costs`, in the order of CASES."""
        measured = dict(zip(CASES, costs))
        out = io.StringIO()
        with mock.patch.multiple(check, BOUNDS=self.bounds, CASES=CASES,
                                 measure=lambda _, *case: check.Cost(*measured[case])), \
                mock.patch.object(check.shutil, "which", lambda _: valgrind), \
                contextlib.redirect_stdout(out):
            return check.main(["program", compiler, *options]), out.getvalue()

    def test_what_was_recorded_holds_and_so_does_three_per_cent_more(self):
        self.assertEqual(self.check([(600, 0), (1030, 0)])[0], 0)

    def test_more_than_three_per_cent_more_fails_and_is_named(self):
        code, out = self.check([(619, 0), (1000, 0)])
        self.assertEqual(code, 1)
        self.assertIn("merge_call of 2: 619 instructions, +3.2% of the recorded 600", out)

    def test_an_allocation_more_fails(self):
        code, out = self.check([(600, 0), (900, 0.5)])
        self.assertEqual(code, 1)
        self.assertIn("0.5 allocations: 0 were recorded", out)

    def test_a_gain_holds_and_asks_to_be_recorded(self):
        code, out = self.check([(500, 0), (1000, 0)])
        self.assertEqual(code, 0)
        self.assertIn("record the gain with --write", out)

    def test_write_records_this_compiler_and_leaves_the_others(self):
        self.assertEqual(self.check([(500, 0), (800, 1)], "--write")[0], 0)
        self.assertEqual(self.bounds.read_text().splitlines(),
                         ["# of the release preset", "Clang-19 run 2 9 0",
                          "GNU-12 merge_call 2 500 0", "GNU-12 run 2 800 1"])
        self.assertEqual(self.check([(500, 0), (800, 1)])[0], 0)

    def test_a_compiler_without_a_record_is_skipped(self):
        self.assertEqual(self.check([(9, 9), (9, 9)], compiler="GNU-14")[0], check.SKIPPED)

    def test_a_record_that_lacks_a_case_fails(self):
        code, out = self.check([(9, 0), (9, 0)], compiler="Clang-19")
        self.assertEqual(code, 1)
        self.assertIn("merge_call", out)

    def test_without_valgrind_it_is_skipped(self):
        code, out = self.check([(9, 9), (9, 9)], valgrind=None)
        self.assertEqual(code, check.SKIPPED)
        self.assertIn("valgrind is not installed", out)


if __name__ == "__main__":
    unittest.main()
