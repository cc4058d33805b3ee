#!/usr/bin/env python3
"""The targets of the engine, in one run: our times beside the peers' on the same problems.

    python3 bench/engine/run.py [--quick] [--data DIR]

Makes a virtual environment with the peers, builds the engine, and writes bench/results/engine.md and .json.
Each instance is solved by the engine on one thread (best of three) and by the peers on one thread, one after
the other. Run it on an idle machine; it takes about a quarter of an hour (--quick: without the instances on
which the peers take minutes).
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "bench/.venv"
LIMIT = 600

# name, arguments of the engine, peers, target: ("ratio", n) against the best peer or ("units", n) in u_n
INSTANCES = [
    ("OMG K = 100, eps 2", ["omg", "100", "2"], ["highs-simplex", "highs-ipm"], ("ratio", 300), False),
    ("OMG K = 200, eps 5", ["omg", "200", "5"], ["highs-simplex", "highs-ipm"], ("ratio", 2000), True),
    ("OMG K = 200, eps 2", ["omg", "200", "2"], ["highs-simplex", "highs-ipm"], ("ratio", 1000), True),
    ("OMG grid 7x7, all pairs, eps 1", ["grid", "7", "1"], ["qif"], ("ratio", 1000), False),
    ("OMG K = 1331, eps 5", ["omg", "1331", "5"], [], ("units", 50), True),
    ("OMG K = 1331, eps 2", ["omg", "1331", "2"], [], ("units", 150), True),
    ("OMG K = 400, eps 1", ["omg", "400", "1"], [], ("units", 400), False),
    ("CLR-Geo 4x20, eps 5", ["clr", "4", "20", "5"], ["highs-simplex"], ("ratio", 15), False),
    ("CLR-Geo 4x50, eps 5", ["clr", "4", "50", "5"], ["highs-simplex"], ("ratio", 60), False),
    ("CLR-Geo 4x100, eps 5", ["clr", "4", "100", "5"], ["highs-simplex"], ("ratio", 100), True),
    ("CLR-Geo 10x50, eps 5", ["clr", "10", "50", "5"], [], ("units", 300), False),
]
RESOLVE = ("re-solve after 5 % off, K = 200, eps 2", ["omg", "200", "2", "--resolve"], 5)


def prepare():
    if not (VENV / "bin/python").exists():
        print("making bench/.venv with numpy, highspy and qif", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin/pip", "install", "-q", "numpy", "highspy", "qif"], check=True)
    build = ["cargo", "build", "-q", "--release", "-j2", "-p", "lrgeo-optim", "--example", "engine"]
    subprocess.run(build, cwd=ROOT, check=True)


def engine(arguments, data):
    command = [ROOT / "target/release/examples/engine", *arguments, "--data", data]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def peer(*arguments):
    command = [VENV / "bin/python", ROOT / "bench/engine/peers.py", *map(str, arguments)]
    try:
        output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT + 120)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return {"seconds": LIMIT, "objective": None}
    return json.loads(output.stdout)


def measure(instance, data, units):
    name, arguments, peers, (kind, target), _ = instance
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "problem")
        ours = min((engine(arguments, data) for _ in range(3)), key=lambda run: run["seconds"])
        if peers:
            engine([*arguments, "--dump", dump], data)
        theirs = {p: peer(p, dump, LIMIT) for p in peers}
    row = {"name": name, "kind": kind, "target": target, "ours": ours, "peers": theirs}
    solved = {p: r for p, r in theirs.items() if r["objective"] is not None}
    if kind == "ratio":
        times = [r["seconds"] for r in (solved or theirs).values()]
        row["achieved"] = min(times) / ours["seconds"]
        scale = max(abs(ours["objective"]), 1e-12)
        row["difference"] = max((abs(r["objective"] - ours["objective"]) / scale for r in solved.values()), default=None)
    else:
        n = ours["rows"]
        if n not in units:
            units[n] = peer("product", n)["seconds"]
        row["unit"], row["achieved"] = units[n], ours["seconds"] / units[n]
    return row


def line(row):
    ours = row["ours"]
    if row["kind"] == "ratio":
        peers = ", ".join(
            f"{name} {r['seconds']:.2f} s" + ("" if r["objective"] is not None else " (not solved)")
            for name, r in row["peers"].items()
        )
        goal, got = f"{row['target']:,}x", f"{row['achieved']:,.0f}x"
        met = row["achieved"] >= row["target"]
    else:
        peers = f"u_n = {1000 * row['unit']:.1f} ms"
        goal, got = f"{row['target']} u_n", f"{row['achieved']:.1f} u_n"
        met = row["achieved"] <= row["target"]
    gap = f"{ours['gap']:.1e}"
    agree = "" if row.get("difference") is None else f"{row['difference']:.0e}"
    verdict = "met" if met else "**missed**"
    return (
        f"| {row['name']} | {ours['seconds']:.4f} s | {ours['iterations']} | {gap} | {peers} | {agree} | {got} | {goal} | {verdict} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", default="../shared/data")
    options = parser.parse_args()
    prepare()
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    head = [
        "# The engine against its peers",
        "",
        f"Machine: {model}, {os.cpu_count()} cores; everything on one thread, one run, solved to a relative gap of 1e-6. "
        "Data: Rome places and streets (`../shared/data`), contiguous blocks around the centre, 20 random targets, seed in "
        "`bench/engine`; `u_n` is one dense n x n x n product by numpy on the same core. Times are of solving only, "
        "ours with strict repair and check included.",
        "",
        "| instance | ours | iterations | gap | peers | difference of objectives | achieved | target | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    rows, units = [], {}
    for instance in INSTANCES:
        if options.quick and instance[4]:
            continue
        rows.append(measure(instance, options.data, units))
        print(line(rows[-1]), flush=True)
    name, arguments, target = RESOLVE
    again = engine(arguments, options.data)
    tail = []
    for what in ("cost_changed", "epsilon_changed"):
        times = again[what]
        ratio = times["cold"] / times["warm"]
        tail.append(
            f"| {name} ({what.replace('_', ' ')}) | {times['warm']:.4f} s | | | from scratch {times['cold']:.4f} s | "
            f"| {ratio:.1f}x | {target}x | {'met' if ratio >= target else '**missed**'} |"
        )
        print(tail[-1], flush=True)
    results = ROOT / "bench/results"
    (results / "engine.md").write_text("\n".join(head + [line(r) for r in rows] + tail) + "\n")
    (results / "engine.json").write_text(json.dumps({"machine": model, "rows": rows, "resolve": again}, indent=1) + "\n")


if __name__ == "__main__":
    main()
