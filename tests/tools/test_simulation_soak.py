"""Plants a build directory with tests that fail under some seeds, and expects them to be named."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Speaks as Catch2 does: its argument is a list of test cases; BAD is the seed that breaks "b, c".
PROGRAM = r"""#!/usr/bin/env bash
[ -z "${TROUPE_SIM_SCHEDULE:-}" ] || exit 9
good=true
[ "${TROUPE_SIM_SEED:-}" != BAD ] || good=false
result() { echo "<TestCase name=\"$1\"><OverallResult success=\"$2\"/></TestCase>"; }
[ $# = 1 ] && exit 0
echo '<Catch2TestRun>'
result a true
result 'b, c' $good
echo '</Catch2TestRun>'
echo noise >&2
[ $good = true ]
"""
LISTED = r"""
add_test([=[a]=] "FOLDER/program" "a")
add_test([=[b, c]=] "FOLDER/program" "b\\, c")
add_test([=[other]=] "sh" "-c" "test \"$TROUPE_SIM_SEED\" != BAD")
add_test([=[unlabelled]=] "false")
set_tests_properties([=[a]=] [=[b, c]=] [=[other]=] PROPERTIES LABELS sim)
"""
# The program speaks of two cases, however many it is asked for.
THIRD = r"""
add_test([=[third]=] "FOLDER/program" "z")
set_tests_properties([=[third]=] PROPERTIES LABELS sim)
"""


class SimulationSoak(unittest.TestCase):
    def soak(self, *options, program=0, other=0, listed=LISTED):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder).resolve()
            (build / "program").write_text(PROGRAM.replace("BAD", str(program)))
            (build / "program").chmod(0o755)
            (build / "CTestTestfile.cmake").write_text(
                listed.replace("FOLDER", str(build)).replace("!= BAD", f"!= {other}"))
            done = subprocess.run(
                [sys.executable, "-B", ROOT / "tools" / "simulation-soak", build,
                 "--fast", "60", *options],  # Whatever else the machine does.
                env={**os.environ, "TROUPE_SIM_SCHEDULE": "tr1:0000:-00"},  # Not for the tests.
                capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stdout.replace(str(build), "BUILD"), done.stderr

    def test_what_never_fails_is_counted_up_to_the_number_wanted(self):
        code, out, _ = self.soak("--runs", "7")
        self.assertEqual(code, 0, out)
        self.assertIn("ctest -L sim: 3 tests passed", out)
        self.assertIn("\n9 runs of 3 test cases, seeds 1 to 3: 0 failed", out)

    def test_a_case_that_fails_under_one_seed_is_named_with_its_command(self):
        code, out, _ = self.soak("--runs", "30", program=4)
        self.assertEqual(code, 1, out)
        self.assertIn(r"fails: TROUPE_SIM_SEED=4 BUILD/program 'b\, c'", out)
        self.assertIn("30 runs of 3 test cases, seeds 1 to 10: 1 failed", out)

    def test_a_test_that_is_no_program_of_cases_is_run_as_it_is(self):
        code, out, _ = self.soak("--runs", "30", "--seed", "20", other=22)
        self.assertEqual(code, 1, out)
        self.assertIn("fails: TROUPE_SIM_SEED=22 ", out)
        self.assertIn("seeds 20 to 29: 1 failed", out)

    def test_a_program_that_breaks_off_is_a_failure_of_all_its_cases(self):
        code, out, _ = self.soak("--runs", "3", listed=LISTED + THIRD)
        self.assertEqual(code, 1, out)
        self.assertIn("fails: TROUPE_SIM_SEED=1 BUILD/program 'a,b\\, c,z'", out)

    def test_slow_tests_are_left_out(self):
        slow = LISTED.replace('"sh" "-c" "', '"sh" "-c" "sleep 0.6; ')
        code, out, _ = self.soak("--runs", "2", "--fast", "0.5", listed=slow)
        self.assertEqual(code, 0, out)
        self.assertIn("2 of 3 took at most 0.5 s", out)

    def test_tests_that_are_not_built_are_an_error(self):
        code, _, err = self.soak(listed="")
        self.assertEqual(code, 2)
        self.assertIn("are not built in", err)

    def test_tests_that_always_fail_are_no_flakes(self):
        code, _, err = self.soak(listed=LISTED.replace('"sh" "-c" "', '"sh" "-c" "exit 1; '))
        self.assertEqual(code, 1)
        self.assertIn("no need to look for flakes", err)


if __name__ == "__main__":
    unittest.main()
