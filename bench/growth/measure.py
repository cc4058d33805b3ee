#!/usr/bin/env python3
"""How time and memory grow: with places K, with users, and with places per user |N_m|.

    bench/growth/run.sh [--up-to K] [--draw] [--data DIR]

CPU seconds of one thread and peak memory of the process that solves. A whole run writes bench/results/growth.{json,md,svg};
one that `--up-to` cuts short writes to bench/out instead. `--draw` makes text and picture again from the numbers of the last
run. Only the standard library is needed.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

import picture

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402  (beside the benchmarks' folders)

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "target/release/examples"
# Solves quicker than this are repeated: the clock of CPU time ticks every few milliseconds.
SHORT, REPEATS = 0.5, 7


def omg(epsilon):
    return lambda places: ["engine", "omg", places, epsilon]


def large(gap):
    return lambda places: ["large", math.isqrt(places), 2, gap]


# Panel, name of the series, sizes, and what to run at a size.
SERIES = [
    ("places K", "column generation to 1e-6, Rome, eps 5/km", (50, 100, 200, 400, 800, 1331), omg(5)),
    ("places K", "column generation to 1e-6, Rome, eps 2/km", (50, 100, 200, 400, 800, 1331), omg(2)),
    ("places K", "large maps to 2 %, jittered grid, eps 2/km", (2500, 10000, 40000), large(2e-2)),
    ("places K", "large maps to 0.15 %, jittered grid, eps 2/km", (2500, 10000, 40000), large(1.5e-3)),
    ("users", "CLR-Geo to 1e-6, |N_m| 20, K 400, eps 5/km", (1, 2, 4, 8, 16), lambda m: ["engine", "clr", m, 20, 5]),
    ("places per user |N_m|", "CLR-Geo to 1e-6, 2 users, K 400, eps 5/km", (10, 20, 40, 80, 160), lambda n: ["engine", "clr", 2, n, 5]),
]


def run(command):
    """One process on one thread, and what it printed."""
    words = [EXAMPLES / command[0], *map(str, command[1:])]
    one_thread = {**os.environ, "RAYON_NUM_THREADS": "1"}
    return subprocess.run(words, cwd=ROOT, env=one_thread, check=True, capture_output=True, text=True).stdout


def measure(command, data):
    """CPU seconds, megabytes and proven gap of one solve."""
    if command[0] == "engine":
        # The problem is read from a file, so that the memory is not that of Rome's streets.
        problem = ROOT / "bench/out/growth.npz"
        run([*command, "--data", data, "--dump", problem, "--unsolved"])
        command = ["engine", "file", problem, "--threads", "1"]
    result = json.loads(run(command))
    seconds = result["cpu"] or result["seconds"]
    if seconds < SHORT:
        # On one thread the least wall-clock time is the CPU time, on a finer clock.
        again = [json.loads(run(command))["seconds"] for _ in range(REPEATS)]
        seconds = min([result["seconds"], *again])
    return {"seconds": seconds, "megabytes": result["megabytes"], "gap": result["gap"]}


def table(record):
    exponent = picture.exponent
    text = [
        "# Growth",
        "",
        f"`bench/growth/run.sh` on {record['machine']} (at the start). CPU seconds of one thread, strict output and proof of the bound included;",
        f"peak memory of the whole process. Below {SHORT} s the least of {REPEATS + 1} runs. Places of Rome and jittered grids as in `bench/engine` and",
        "`bench/large`, where the seeds are" + ("" if record["rome"] else "; Rome's data was absent, a jittered grid stands for it") + ".",
        "",
        "![growth](growth.svg)",
        "",
        "An exponent is the least-squares slope on the log-log plot over all sizes of a series; *since* is the slope from the size before, *at the end*",
        "the last of these: where all is small, fixed costs flatten the fit (a process that does nothing takes 4 MB). Rome's arcs join places",
        "within 0.7 km, from 800 places on within 1 km (twice as many arcs), which is in the last two exponents of its series.",
        "",
        "| series | over | exponent of time | at the end | exponent of memory | at the end |",
        "|---|---|---|---|---|---|",
    ]
    for series in record["series"]:
        points = series["points"]
        fits = (f"{exponent(points, what):.2f} | {exponent(points[-2:], what):.2f}" for what in ("seconds", "megabytes"))
        words = " | ".join([series["name"], series["over"]]).replace("|N_m|", "N_m")
        text.append(f"| {words} | {' | '.join(fits)} |")
    for series in record["series"]:
        text += [
            "",
            f"## {series['name']}, by {series['over']}",
            "",
            "| size | CPU s | since | MB | since | proven gap |",
            "|---|---|---|---|---|---|",
        ]
        for before, point in zip([None, *series["points"]], series["points"]):
            since = ["" if before is None else f"{exponent([before, point], what):.2f}" for what in ("seconds", "megabytes")]
            text.append(
                f"| {point['size']:,} | {point['seconds']:.4g} | {since[0]} | {point['megabytes']:,.0f} | {since[1]} | {point['gap']:.2g} |"
            )
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--up-to", type=int, default=40_000, metavar="K", help="largest number of places")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parser.add_argument("--data", default="../shared/data")
    options = parser.parse_args()
    whole = options.up_to >= max(max(sizes) for _, _, sizes, _ in SERIES)
    folder = ROOT / "bench" / ("results" if whole else "out")
    (ROOT / "bench/out").mkdir(exist_ok=True)
    if options.draw:
        record = json.loads((folder / "growth.json").read_text())
    else:
        record = {"machine": machine.description(), "rome": (ROOT / options.data / "02-rome-streets").exists(), "series": []}
        for over, name, sizes, command in SERIES:
            points = []
            for size in sizes:
                if over != "places K" or size <= options.up_to:
                    points.append({"size": size, **measure(command(size), options.data)})
                    print(f"{name}, {over} {size}: {points[-1]}", flush=True)
            if len(points) > 1:
                record["series"].append({"name": name, "over": over, "points": points})
        (folder / "growth.json").write_text(json.dumps(record, indent=1) + "\n")
    (folder / "growth.md").write_text(table(record))
    (folder / "growth.svg").write_text(picture.draw(record["series"]))


if __name__ == "__main__":
    main()
