"""Runs the program of SIM_TEST_CASEs, and looks at what it prints and keeps.

    SIM_TEST_CASES=PROGRAM python3 tests/sim_test_case/check.py
"""
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get("SIM_TEST_CASES", "")
HOLDS = "gradients are applied once"
FAILS = r"who's first\, \[or] not"
FILE = "who.27s_first.2c_.5bor.5d_not.schedules"


class SimTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.corpus = pathlib.Path(folder.name) / "corpus"

    def run_case(self, case, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TROUPE_SIM_")}
        environment.update(variables)
        done = subprocess.run([PROGRAM, case, *arguments], env=environment, text=True,
                              capture_output=True, timeout=120, check=False)
        return done.returncode, re.sub(r"\n +", " ", done.stdout)

    def keeping(self, **more):
        return {"TROUPE_SIM_CORPUS": str(self.corpus), **more}

    def recorded(self):
        return (self.corpus / FILE).read_text().splitlines()

    def test_a_test_that_holds_prints_one_line(self):
        status, out = self.run_case(HOLDS)
        self.assertEqual(status, 0, out)
        told = [line for line in out.splitlines() if line.startswith(HOLDS)]
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0], r"once: proved: holds under all 36 schedules, [\d.]+ ms$")
        self.assertIn("All tests passed (1 assertion in 1 test case)", out)

    def test_a_test_with_options_of_its_own_uses_them(self):
        _, out = self.run_case("some orders hold")
        self.assertIn("some orders hold: holds under 12 schedules; there are more", out)

    def test_a_test_that_fails_is_one_failure_with_the_report(self):
        status, out = self.run_case(FAILS)
        self.assertNotEqual(status, 0)
        self.assertRegex(out, r"assertions: 1 \| 1 failed")
        self.assertIn("does not hold: replica 0 is first", out)
        self.assertIn("schedule: tr1:", out)

    def test_a_failure_stands_at_the_claim_that_does_not_hold(self):
        lines = (pathlib.Path(__file__).parent / "program.cpp").read_text().splitlines()
        claim = 1 + next(i for i, line in enumerate(lines) if "replica 0 is first" in line)
        _, out = self.run_case(FAILS)
        self.assertRegex(out, rf"program\.cpp:{claim}: FAILED:")

    def test_a_claim_that_is_never_met_is_one_failure(self):
        status, out = self.run_case("something never happens")
        self.assertNotEqual(status, 0)
        self.assertIn("sometimes: this", out)

    def test_the_printed_command_replays_this_test_and_no_other(self):
        _, out = self.run_case(FAILS)
        command = re.search(r"^who's first, \[or\] not: fails: (TROUPE_SIM_.*)$", out, re.M)
        self.assertTrue(command, out)
        done = subprocess.run(command[1], shell=True, text=True, capture_output=True,
                              timeout=120, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fails under the given schedule", done.stdout)
        self.assertIn("test cases: 1 | 1 failed", done.stdout)

    def test_a_failing_schedule_is_recorded_once(self):
        for _ in range(3):
            status, _ = self.run_case(FAILS, **self.keeping())
            self.assertNotEqual(status, 0)
        self.assertEqual(len(self.recorded()), 1)
        self.assertTrue(self.recorded()[0].startswith("tr1:"))
        self.assertEqual(os.listdir(self.corpus), [FILE])

    def test_a_recorded_schedule_is_tried_first(self):
        _, first = self.run_case(FAILS, **self.keeping())
        self.assertIn("recorded: ", first)
        _, again = self.run_case(FAILS, **self.keeping())
        self.assertIn("1 of 1 recorded schedule still fails", again)
        self.assertIn(self.recorded()[0], again)
        self.assertRegex(again, r"assertions: 1 \| 1 failed")

    def test_recorded_schedules_of_a_repaired_test_hold_and_stay(self):
        self.run_case(FAILS, **self.keeping())
        kept = self.recorded()
        status, out = self.run_case(FAILS, **self.keeping(REPAIRED="1"))
        self.assertEqual(status, 0, out)
        self.assertIn("; recorded schedules that hold: 1", out)
        self.assertEqual(self.recorded(), kept)

    def test_a_schedule_that_no_longer_fits_is_tried_as_far_as_it_fits(self):
        self.corpus.mkdir()
        # Entries of parties that this test does not have, and its own failing one.
        self.run_case(FAILS, **self.keeping())
        text = "tr1:0000:Z9z-xx\n" + "\n".join(self.recorded()) + "\n"
        (self.corpus / FILE).write_text(text)
        _, failing = self.run_case(FAILS, **self.keeping())
        self.assertIn("1 of 1 recorded schedule still fails", failing)
        _, holding = self.run_case(FAILS, **self.keeping(REPAIRED="1"))
        self.assertIn("recorded lines that cannot be read: 1", holding)

    def test_a_given_schedule_leaves_the_corpus_alone(self):
        self.run_case(FAILS, **self.keeping())
        given = self.recorded()[0]
        (self.corpus / FILE).unlink()
        _, out = self.run_case(FAILS, **self.keeping(TROUPE_SIM_SCHEDULE=given))
        self.assertIn("fails under the given schedule", out)
        self.assertEqual(os.listdir(self.corpus), [])

    def test_a_test_that_holds_makes_no_file(self):
        self.run_case(HOLDS, **self.keeping())
        self.assertFalse(self.corpus.exists())

    def test_a_folder_that_cannot_be_written_is_told_and_changes_nothing_else(self):
        status, out = self.run_case(FAILS, TROUPE_SIM_CORPUS="/dev/null/corpus")
        self.assertNotEqual(status, 0)
        self.assertIn("does not hold: replica 0 is first", out)
        self.assertIn("not recorded: cannot write /dev/null/corpus", out)

    def start_endless(self, stderr):
        return subprocess.Popen([PROGRAM, "no end in sight,something never happens"],
                                text=True, stderr=stderr,
                                stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(
                                    signal.SIGINT, signal.SIG_DFL))

    def test_on_a_terminal_a_long_exploration_shows_a_line_and_heeds_ctrl_c(self):
        ours, theirs = pty.openpty()
        running = self.start_endless(theirs)
        os.close(theirs)
        shown = b""
        while shown.count(b" schedules, ") < 2:
            shown += os.read(ours, 1024)
        self.assertRegex(shown, rb"\r\x1b\[Ksimulation: [\d,]+ schedules, "
                                rb"[\d,]+/s, about 0 % of all")
        self.assertNotIn(b"\n", shown)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=60)
        os.close(ours)
        self.assertIn("no end in sight: interrupted: holds under the ", out)
        # And no other test is begun.
        self.assertNotIn("something never happens\n", out)
        self.assertNotEqual(running.returncode, 0)

    def test_in_a_pipe_nothing_is_shown_and_ctrl_c_is_what_it_always_is(self):
        running = self.start_endless(subprocess.PIPE)
        time.sleep(1.8)
        self.assertIsNone(running.poll())
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
        self.assertEqual(error, "")
        self.assertNotIn("interrupted:", out)
        self.assertNotEqual(running.returncode, 0)


if __name__ == "__main__":
    unittest.main()
