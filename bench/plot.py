#!/usr/bin/env python3
"""Draws the curves of a report of bench/run as SVG.

    python3 bench/plot.py REPORT.json FOLDER

A question that was asked for several numbers of replicas becomes one chart: cost over replicas,
both axes logarithmic, a line for each contender, a bar from p10 to p90 at each point. The file
bears the name of the goals' class, a.svg for A1. Prints the files it wrote; exits 1, with a
sentence, when there is no curve in the report.
"""
import argparse
import html
import json
import math
import pathlib
import re
import sys
from typing import NamedTuple

REPLICAS = re.compile(r"([\d,]+) replicas")

WIDTH, HEIGHT = 900, 540
LEFT, RIGHT, TOP, BOTTOM = 90, 620, 64, 470  # The plane that the curves are in.
LEGEND = RIGHT + 30

# Told apart on white and on black, also by most who see fewer colours; a marker helps the rest.
COLOURS = ("#2a7fd4", "#e0662f", "#1c9e77", "#b35fc4", "#c99a00", "#d94a70", "#6b7f95", "#7a8f1f")
MARKERS = ("circle", "square", "diamond", "triangle")

# Written out, without variables of CSS: not every program that shows an SVG knows them.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .paper { fill: #ffffff; } .title { font-size: 16px; font-weight: 600; }
  .tick { font-size: 12px; fill: #57606a; }
  .grid { stroke: #d8dee4; } .axis { fill: none; stroke: #57606a; }
  .curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; } .ours { stroke-width: 3.2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .paper { fill: #14181d; } .tick { fill: #9aa5b1; }
    .grid { stroke: #30363d; } .axis { stroke: #9aa5b1; }
  }
"""


class Problem(Exception):
    pass


class Point(NamedTuple):
    replicas: int
    value: float
    low: float   # p10
    high: float  # p90


class Chart(NamedTuple):
    name: str     # Of the file: "a".
    title: str
    unit: str
    points: str   # What a point is: "median".
    curves: dict  # {contender: [Point], by replicas}


def points_of(table, replicas):
    """Yields (contender, Point) of what can stand on a logarithmic axis."""
    for row in table["contenders"]:
        value = row.get("value", 0)
        if value > 0 and not row.get("wrong"):
            low = row["p10"] if row["p10"] > 0 else value
            yield row["name"], Point(replicas, value, min(low, value), max(row["p90"], value))


def charts(report):
    """The questions that were asked for several numbers of replicas, in the report's order."""
    questions = {}
    for table in report["tables"]:
        match = REPLICAS.search(table["title"])
        if not match:
            continue
        key = REPLICAS.sub("N replicas", table["title"]), table["unit"], table["judged_by"]
        goals, curves = questions.setdefault(key, ([], {}))
        goals += [goal["id"] for goal in table["goals"]]
        for contender, point in points_of(table, int(match[1].replace(",", ""))):
            curves.setdefault(contender, []).append(point)

    drawn = {}
    for (title, unit, points), (goals, curves) in questions.items():
        if len({point.replicas for curve in curves.values() for point in curve}) < 2:
            continue
        stem = goals[0][0].lower() if goals else re.sub(r"\W+", "-", title.split(",")[0]).strip("-")
        name, again = stem, 1
        while name in drawn:
            again += 1
            name = f"{stem}-{again}"
        for curve in curves.values():
            curve.sort()
        drawn[name] = Chart(name, title, unit, points, curves)
    return list(drawn.values())


class Axis:
    """Maps a value to a coordinate, by its logarithm."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        room = max(self.high - self.low, 0.5) * 0.05
        self.low, self.high = self.low - room, self.high + room
        self.begin, self.end = begin, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def apart(self, values):
        """Those of `values` whose names have room beside each other."""
        kept = []
        for value in sorted(values):
            if not kept or abs(self.at(value) - self.at(kept[-1])) > 40:
                kept.append(value)
        return kept

    def decades(self):
        """The powers of ten on the axis; with 2 and 5 between them where there are few."""
        for steps in ((1,), (1, 2, 5)):
            ticks = [step * 10.0 ** power
                     for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                     for step in steps if self.low <= math.log10(step * 10.0 ** power) <= self.high]
            if len(ticks) > 2:
                break
        return ticks


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def marker(shape, x, y, colour):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    corners = {"diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
               "triangle": ((0, -5), (5, 4), (-5, 4))}[shape]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{path}" fill="{colour}"/>'


def grid(across, measured, up, unit):
    for tick in up.decades():
        y = up.at(tick)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>'
        yield (f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
               f"{number(tick)}</text>")
    for tick in across.apart(measured):
        x = across.at(tick)
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}"/>'
        yield (f'<text class="tick" x="{x:.1f}" y="{BOTTOM + 20}" text-anchor="middle">'
               f"{number(tick)}</text>")
    yield f'<path class="axis" d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}"/>'
    middle = (TOP + BOTTOM) / 2
    yield f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 44}" text-anchor="middle">replicas</text>'
    yield (f'<text x="24" y="{middle}" text-anchor="middle" '
           f'transform="rotate(-90 24 {middle})">{html.escape(unit)}</text>')


def curve(name, points, colour, shape, across, up, unit):
    ours = " ours" if name == "troupe" else ""
    places = [(across.at(point.replicas), up.at(point.value)) for point in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="curve{ours}" points="{line}" stroke="{colour}"/>'
    for point, (x, y) in zip(points, places):
        told = (f"{name}, {point.replicas:,} replicas: {point.value:,.4g} {unit} "
                f"(p10 {point.low:,.4g}, p90 {point.high:,.4g})")
        yield (f"<g><title>{html.escape(told)}</title>"
               f'<line x1="{x:.1f}" y1="{up.at(point.low):.1f}" x2="{x:.1f}" '
               f'y2="{up.at(point.high):.1f}" stroke="{colour}"/>'
               f"{marker(shape, x, y, colour)}</g>")


def legend(number_of, name, colour, shape):
    y = TOP + 10 + 24 * number_of
    ours = " ours" if name == "troupe" else ""
    yield f'<path class="curve{ours}" d="M{LEGEND} {y} h24" stroke="{colour}"/>'
    yield marker(shape, LEGEND + 12, y, colour)
    yield f'<text x="{LEGEND + 34}" y="{y + 4}">{html.escape(name)}</text>'


def draw(chart, machine):
    """The chart as the text of an SVG file. The legend is in the order of the first values."""
    every = [point for points in chart.curves.values() for point in points]
    measured = {point.replicas for point in every}
    across = Axis(measured, LEFT, RIGHT)
    up = Axis([v for point in every for v in (point.low, point.high)], BOTTOM, TOP)
    names = list(chart.curves)
    looks = {name: (COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
             for i, name in enumerate(names)}
    rows = sorted(names, key=lambda name: -chart.curves[name][0].value)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'width="{WIDTH}" height="{HEIGHT}" role="img">',
             f"<title>{html.escape(chart.title)}</title>", f"<style>{STYLE}</style>",
             f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
             f'<text class="title" x="{LEFT}" y="30">{html.escape(chart.title)}</text>',
             f'<text class="tick" x="{LEFT}" y="50">{html.escape(machine)}; '
             f"{chart.points}, p10 to p90</text>"]
    lines += grid(across, measured, up, chart.unit)
    for name in reversed(names):  # The first of a table is ours: it lies on top.
        lines += curve(name, chart.curves[name], *looks[name], across, up, chart.unit)
    for i, name in enumerate(rows):
        lines += legend(i, name, *looks[name])
    return "\n".join(lines) + "\n</svg>\n"


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise Problem(f"cannot read {path}: {problem.strerror}") from problem
    except json.JSONDecodeError as problem:
        raise Problem(f"{path} is no report of bench/run --json: {problem}") from problem


def plot(report, folder):
    """Yields the files it wrote."""
    found = charts(report)
    if not found:
        raise Problem("nothing to plot: a curve wants one question for two numbers of replicas, "
                      "and this report has none; --only A,B has them")
    folder.mkdir(parents=True, exist_ok=True)
    for chart in found:
        path = folder / f"{chart.name}.svg"
        path.write_text(draw(chart, report["machine"]), encoding="utf-8")
        yield path


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    wanted = parser.parse_args(arguments)
    try:
        for path in plot(read(wanted.report), wanted.folder):
            print(f"bench: wrote {path}")
    except Problem as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
