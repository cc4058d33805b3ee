#!/usr/bin/env python3
"""How time and memory of column generation grow: with places (OMG) and with users and places per user (CLR-Geo).

    python3 bench/engine/growth.py [--data DIR]

CPU seconds of one thread to a gap of 1e-6, peak memory of the process. Writes bench/results/growth.md and .svg; the
exponents are least-squares slopes on the log-log plot. Only the standard library is needed.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINE = ROOT / "target/release/examples/engine"
SERIES = [
    ("OMG, eps 5", "places K", [(k, ["omg", k, 5]) for k in (50, 100, 200, 400, 800, 1331)]),
    ("OMG, eps 2", "places K", [(k, ["omg", k, 2]) for k in (50, 100, 200, 400, 800)]),
    ("CLR-Geo, 20 places per user, eps 5", "users", [(m, ["clr", m, 20, 5]) for m in (1, 2, 4, 8, 16)]),
    ("CLR-Geo, 2 users, eps 5", "places per user", [(n, ["clr", 2, n, 5]) for n in (10, 20, 40, 80)]),
]
COLOURS = ["#1b6ca8", "#c0392b", "#2d8a4e", "#8e44ad"]


def run(arguments, data):
    """One solve: CPU seconds of the solver and peak megabytes of the process."""
    command = [str(ENGINE), *map(str, arguments), "--threads", "1", "--data", data]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    answer = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return answer["cpu"] or answer["seconds"], usage.ru_maxrss / 1024


def slope(points):
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def picture(series):
    left, top, width, height = 70, 20, 620, 400
    x_low, x_high = 0, math.log10(2000)
    values = [y for _, points in series for _, y in points]
    y_low, y_high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    at_x = lambda x: left + width * (math.log10(x) - x_low) / (x_high - x_low)
    at_y = lambda y: top + height * (y_high - math.log10(y)) / (y_high - y_low)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {top + height + 150}" '
        'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    ]
    for power in range(y_low, y_high + 1):
        y = at_y(10.0**power)
        out.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for x in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        out.append(f'<path d="M{at_x(x):.1f} {top}v{height}" stroke="#eee"/><text x="{at_x(x):.1f}" y="{top + height + 18}" text-anchor="middle">{x}</text>')
    for n, (name, points) in enumerate(series):
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in points)
        y = top + height + 50 + 22 * n
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[n]}" stroke-width="2"/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(v):.1f}" r="4" fill="{COLOURS[n]}"/>' for x, v in points]
        out.append(f'<circle cx="{left}" cy="{y - 4}" r="5" fill="{COLOURS[n]}"/><text x="{left + 14}" y="{y}">{name}: exponent {slope(points):.2f}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    data = parser.parse_args().data
    subprocess.run(["cargo", "build", "-q", "--release", "-j2", "-p", "lrgeo-optim", "--example", "engine"], cwd=ROOT, check=True)
    where = "Rome (`../shared/data`)" if (ROOT / data / "02-rome-streets").exists() else "a jittered grid"
    text = [
        "# Growth of column generation",
        "",
        f"CPU seconds of one thread to a proven gap of 1e-6 on {where}, {os.cpu_count()} cores, seed in `bench/engine/main.rs`; peak memory of the whole process.",
        "",
        "| series | size | CPU s | MB |",
        "|---|---|---|---|",
    ]
    series = []
    for name, unit, points in SERIES:
        measured = []
        for size, arguments in points:
            seconds, megabytes = run(arguments, data)
            measured.append((size, seconds))
            text.append(f"| {name} | {unit} {size} | {seconds:.4f} | {megabytes:.0f} |")
            print(text[-1], flush=True)
        series.append((f"{name}, by {unit}", measured))
    text += ["", *[f"- {name}: exponent {slope(points):.2f}" for name, points in series], "", "![growth](growth.svg)"]
    (ROOT / "bench/results/growth.md").write_text("\n".join(text) + "\n")
    (ROOT / "bench/results/growth.svg").write_text(picture(series))


if __name__ == "__main__":
    main()
