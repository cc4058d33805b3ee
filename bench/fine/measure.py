#!/usr/bin/env python3
"""Fine maps and real priors: every instance to its gap, and four of them stopped at ten moments.

    bench/fine/run.sh [--smoke] [--only NAME,NAME] [--no-stops] [--patience N] [--data DIR]

The unit r is the time of OMG Rome 1,331 places, eps 2, to 1e-6 on two threads, solved first in the same run; so the run needs the
machine for itself. Every solve is a process of its own. A whole run writes bench/results/fine.{json,md}; `--smoke` (small versions
of everything, to see that it works) and `--only` write to bench/out instead. Only the standard library is needed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402  (beside the benchmarks' folders)

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "target/release"
THREADS = "2"

# Instance, gap, target in r, megabytes at most. The last two must be as fast as they were, 5 s and 14 s beside r = 9 s, and take no
# more memory. The closed form gives 0.84 %; 0.15 % is what has to be asked for to be given the table's 0.11 % (0.11 % gives 0.055 %).
ROWS = [
    ("reykjavik", 0.02, 3, None),
    ("jittered50", 0.02, 3, None),
    ("jittered100", 0.02, 20, 4000),
    ("triangular2500", 0.02, 5, None),
    ("sf500", 0.001, 1, None),
    ("sf500-even", 0.001, 1, None),
    ("sf200", 0.02, 6, None),
    ("sf200-even", 0.02, 6, None),
    ("coarse100", 0.009, 5 / 9, 351),
    ("coarse100", 0.0015, 14 / 9, 650),
]
# A solve that takes this many times its target is stopped (--patience): what it then has proven is worth as much as when it would have ended.
PATIENCE = 3.0
# Those whose places are known: elsewhere there is no Laplace noise to compare with.
STOPPED = ["reykjavik", "triangular2500", "sf500", "sf200"]
MOMENTS = 10
# What is shown has six digits or so; a cost that rose or differs by less than this is the same.
SAME = 1e-6


def process(program, *words):
    """The line of JSON that one process prints."""
    command = [str(RELEASE / program), *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def fine(options, task, name, *words):
    words = [task, name, *words, "--threads", THREADS, "--data", options.data]
    return process("lrgeo-bench-fine", *words, *(["--smoke"] if options.smoke else []))


def unit(options):
    places = 200 if options.smoke else 1331
    return process("examples/engine", "omg", places, 2, "--gap", "1e-6", "--threads", THREADS, "--data", options.data)


def moments(first, last):
    """Ten of them, each the same factor after the one before."""
    factor = (last / first) ** (1 / (MOMENTS - 1))
    return [round(first * factor**at, 3) for at in range(MOMENTS)]


def stop(options, name, seconds):
    """An instance stopped at ten moments, beside what Laplace noise costs on it."""
    gap = next(gap for row, gap, _, _ in ROWS if row == name)
    times = moments(0.05 if options.smoke else 1.0, seconds)
    record = fine(options, "stop", name, "--gap", gap, "--at", ",".join(map(str, times)))
    record["laplace"] = fine(options, "laplace", name)["laplace"]
    return record


def verdict(record):
    """Of the ten solves: how many are no dearer than remapped Laplace, than the one before, and cost what was shown."""
    solves = [moment["solve"] for moment in record["stopped"]]
    costs = [solve.get("cost", float("inf")) for solve in solves]
    remapped = record["laplace"]["remapped"]
    return {
        "beats_laplace": sum(cost <= remapped for cost in costs),
        "not_dearer": 1 + sum(later <= earlier * (1 + SAME) for earlier, later in zip(costs, costs[1:])),
        "as_shown": sum(abs(solve["shown"] / solve["cost"] - 1) <= SAME for solve in solves if solve.get("shown")),
        "strict": sum(solve.get("strict", False) for solve in solves),
    }


def solve_row(row, r):
    line, solve = row["line"], row["line"]["solve"]
    if "error" in solve:
        return f"| {line['about']} | {line['places']:,} | {100 * row['gap']:g} % | {solve['error']} | {solve['seconds']:.1f} | {solve['cpu']:.1f} | | {row['target']:.2g} r | |"
    ended = "" if solve["gap"] <= row["gap"] else ">"
    strict = "" if solve["strict"] else " NOT STRICT"
    memory = f"{line['megabytes']:,.0f} MB" + (f" (at most {row['megabytes']:,})" if row["megabytes"] else "")
    return (
        f"| {line['about']} | {line['places']:,} | {100 * row['gap']:g} % | {100 * solve['gap']:.3g} %{strict} | {solve['seconds']:.1f} | "
        f"{solve['cpu']:.1f} | {ended}{solve['seconds'] / r:.2f} r | {row['target']:.2g} r | {memory} |"
    )


def stop_rows(record):
    remapped = record["laplace"]["remapped"]
    rows = []
    for moment in record["stopped"]:
        solve = moment["solve"]
        if "error" in solve:
            rows.append(f"| {record['about']} | {moment['after']:g} | {solve['seconds']:.1f} | {solve['error']} | | | |")
            continue
        shown = f"{solve['shown']:.6f}" if solve.get("shown") else "nothing"
        rows.append(
            f"| {record['about']} | {moment['after']:g} | {solve['seconds']:.1f} | {solve['cost']:.6f} | {shown} | "
            f"{solve['cost'] / remapped:.3f} | {100 * solve['gap']:.2g} % |"
        )
    return rows


def page(record):
    r = record["unit"]["seconds"]
    text = [
        "# Fine maps and real priors",
        "",
        f"`bench/fine/run.sh` on {record['machine']} (at the start). The unit is r = {r:.2f} s: {record['unit']['instance']}, to 1e-6, {THREADS} threads, in the",
        "same run. All pairs; the real cities on spanners of stretch 1.005. Seconds are those of solving, by the clock and of the processors, without",
        f"reading the map; memory is the peak of the whole process. `>`: stopped at {record['patience']:g} times the target. Cost and strictness are what the",
        "independent checker finds in the matrix.",
        "",
        "| instance | places | asked | proven | wall s | CPU s | time | target | peak memory |",
        "|---|---|---|---|---|---|---|---|---|",
        *(solve_row(row, r) for row in record["rows"]),
    ]
    seconds = {row["line"]["instance"]: row["line"]["solve"]["seconds"] for row in record["rows"]}
    for name in ("sf500", "sf200"):
        if name in seconds and f"{name}-even" in seconds:
            text += ["", f"Taxi prior against even prior, {name}: {seconds[name] / seconds[f'{name}-even']:.1f} times the time (target: twice)."]
    if record["stops"]:
        text += [
            "",
            "## Stopped at ten moments",
            "",
            "Solved anew for each moment. *Cost* is that of the matrix handed out, *shown* that of the last line of progress.",
            "",
            "| instance | stopped after, s | done after, s | cost | shown | cost / remapped Laplace | proven gap |",
            "|---|---|---|---|---|---|---|",
            *(row for stopped in record["stops"] for row in stop_rows(stopped)),
            "",
            f"| instance | remapped Laplace (plain) | at most that | not dearer than before | as shown (to {SAME:g}) | strict |",
            "|---|---|---|---|---|---|",
        ]
        for stopped in record["stops"]:
            of, laplace = stopped["verdict"], stopped["laplace"]
            counts = " | ".join(f"{of[key]} of {MOMENTS}" for key in ("beats_laplace", "not_dearer", "as_shown", "strict"))
            text.append(f"| {stopped['about']} | {laplace['remapped']:.6f} ({laplace['plain']:.6f}) | {counts} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", type=lambda names: set(names.split(",")))
    parser.add_argument("--no-stops", action="store_true")
    parser.add_argument("--patience", type=float, default=PATIENCE)
    parser.add_argument("--data", default="../shared/data")
    options = parser.parse_args()
    folder = ROOT / "bench" / ("out" if options.smoke or options.only else "results")
    folder.mkdir(exist_ok=True)
    record = {"machine": machine.description(), "unit": unit(options), "patience": options.patience, "rows": [], "stops": []}
    r = record["unit"]["seconds"]
    # Small versions take a second; patience in units of a small r would stop them.
    limit = (lambda target: 10.0) if options.smoke else (lambda target: options.patience * target * r)

    def save():
        (folder / "fine.json").write_text(json.dumps(record, indent=1) + "\n")
        (folder / "fine.md").write_text(page(record))

    print(f"r = {r:.2f} s", flush=True)
    for name, gap, target, megabytes in ROWS:
        if options.only and name not in options.only:
            continue
        line = fine(options, "solve", name, "--gap", gap, "--limit", limit(target))
        record["rows"].append({"gap": gap, "target": target, "megabytes": megabytes, "line": line})
        print(solve_row(record["rows"][-1], r), flush=True)
        save()
    for name in STOPPED:
        if options.no_stops or options.only and name not in options.only:
            continue
        target = next(target for row, _, target, _ in ROWS if row == name)
        stopped = stop(options, name, 2.0 if options.smoke else target * r)
        stopped["verdict"] = verdict(stopped)
        record["stops"].append(stopped)
        print(name, stopped["verdict"], flush=True)
        save()
    return 0


if __name__ == "__main__":
    sys.exit(main())
