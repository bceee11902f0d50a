"""Gives bench/plot.py reports of a benchmark, and reads the charts it draws."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))

import plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def table(replicas, costs, goal="A1", what="a round", unit="ns per round"):
    """One table of a report; `costs` is {contender: value}, None for one without samples."""
    rows = [{"name": name, "samples": [],
             **({} if value is None else {"value": value, "p10": value / 2, "p90": value * 2})}
            for name, value in costs.items()]
    return {"title": f"{what}, {replicas} replicas on a thread", "unit": unit,
            "judged_by": "median", "contenders": rows, "goals": [{"id": f"{goal}.{replicas}"}]}


def report(*tables):
    return {"machine": "a <machine>", "tables": list(tables)}


class Plot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, text):
        """(exit code, standard output, standard error) of the script on a report's text."""
        source = self.folder / "report.json"
        if text is not None:
            source.write_text(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = plot.main([str(source), str(self.folder / "plots")])
        return code, out.getvalue(), err.getvalue()

    def draw(self, *tables):
        """{name of the file: its root element}."""
        code, _, err = self.run_it(json.dumps(report(*tables)))
        self.assertEqual(code, 0, err)
        files = (self.folder / "plots").iterdir()
        return {path.name: xml.parse(path).getroot() for path in files}

    def corners(self, chart):
        """The curves' points, in the order of drawing."""
        return [[tuple(map(float, corner.split(","))) for corner in line.get("points").split()]
                for line in chart.iter(f"{SVG}polyline")]

    def texts(self, chart):
        return ["".join(text.itertext()) for text in chart.iter(f"{SVG}text")]

    def test_a_question_asked_twice_is_a_chart_of_its_class_with_a_line_for_each_contender(self):
        charts = self.draw(table(2, {"troupe": 50, "peer": 70}),
                           table(64, {"troupe": 700, "peer": 800}))
        self.assertEqual(list(charts), ["a.svg"])
        self.assertEqual([len(line) for line in self.corners(charts["a.svg"])], [2, 2])
        for text in ("troupe", "peer", "replicas", "ns per round", "2", "64",
                     "a round, N replicas on a thread"):
            self.assertIn(text, self.texts(charts["a.svg"]))

    def test_both_axes_are_logarithmic(self):
        chart = self.draw(*(table(n, {"troupe": n ** 2}) for n in (10, 100, 1000)))["a.svg"]
        [[(x0, y0), (x1, y1), (x2, y2)]] = self.corners(chart)
        self.assertAlmostEqual(x1 - x0, x2 - x1, delta=0.2)
        self.assertAlmostEqual(y1 - y0, y2 - y1, delta=0.2)
        self.assertLess(x0, x1)
        self.assertGreater(y0, y1)  # More is higher up.

    def test_what_costs_more_is_above_and_ours_lies_on_top_of_the_others(self):
        chart = self.draw(table(2, {"troupe": 50, "peer": 70}),
                          table(64, {"troupe": 700, "peer": 800}))["a.svg"]
        peer, ours = self.corners(chart)
        self.assertLess(peer[0][1], ours[0][1])
        classes = [line.get("class") for line in chart.iter(f"{SVG}polyline")]
        self.assertEqual(classes, ["curve", "curve ours"])

    def test_a_point_says_what_it_is_with_its_spread(self):
        chart = self.draw(table(2, {"troupe": 50}), table("1,024", {"troupe": 700}))["a.svg"]
        told = [title.text for title in chart.iter(f"{SVG}title")]
        self.assertIn("troupe, 1,024 replicas: 700 ns per round (p10 350, p90 1,400)", told)

    def test_one_question_goes_on_in_another_goal(self):
        charts = self.draw(table(2, {"troupe": 50}),
                           table("100,000", {"troupe": 5e6}, goal="F1"))
        self.assertEqual(list(charts), ["a.svg"])

    def test_two_questions_of_a_class_are_two_charts(self):
        charts = self.draw(*(table(n, {"troupe": n}, what=what)
                             for what in ("a round", "a meeting") for n in (2, 64)))
        self.assertEqual(sorted(charts), ["a-2.svg", "a.svg"])

    def test_without_goals_a_chart_is_named_after_its_question(self):
        tables = [table(n, {"troupe": n}) for n in (2, 64)]
        for each in tables:
            each["goals"] = []
        self.assertEqual(list(self.draw(*tables)), ["a-round.svg"])

    def test_what_has_no_logarithm_no_samples_or_a_wrong_result_is_left_out(self):
        second = table(64, {"troupe": 700, "zero": 0, "absent": None, "wrong": 3})
        second["contenders"][-1]["wrong"] = "a sum"
        chart = self.draw(table(2, {"troupe": 50}), second)["a.svg"]
        self.assertEqual(len(self.corners(chart)), 1)
        for name in ("zero", "absent", "wrong"):
            self.assertNotIn(name, self.texts(chart))

    def test_it_is_readable_on_black_and_needs_nothing_from_elsewhere(self):
        self.draw(table(2, {"troupe": 50}), table(64, {"troupe": 700}))
        text = (self.folder / "plots" / "a.svg").read_text()
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertNotIn("href", text)
        self.assertIn("a &lt;machine&gt;", text)

    def test_a_report_without_a_curve_fails_with_a_sentence_and_writes_nothing(self):
        for tables in ((), (table(64, {"troupe": 700}),),
                       (table(2, {"troupe": 0}), table(64, {"troupe": 0}))):
            code, out, err = self.run_it(json.dumps(report(*tables)))
            self.assertEqual((code, out), (1, ""))
            self.assertIn("bench: nothing to plot: a curve wants", err)
            self.assertFalse((self.folder / "plots").exists())

    def test_what_is_no_report_fails_with_a_sentence(self):
        code, _, err = self.run_it("{")
        self.assertEqual(code, 1)
        self.assertIn("is no report of bench/run --json", err)

    def test_a_report_that_is_not_there_fails_with_a_sentence(self):
        code, _, err = self.run_it(None)
        self.assertEqual(code, 1)
        self.assertIn("cannot read", err)


class Run(unittest.TestCase):
    def test_to_plot_a_list_is_wrong_usage(self):
        done = subprocess.run([ROOT / "bench" / "run", "--list", "--plot"], capture_output=True,
                              text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing to plot", done.stderr)


if __name__ == "__main__":
    unittest.main()
