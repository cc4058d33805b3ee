"""What the wheel of Python measures: bench/results/bindings.md.

    LRGEO=target/release/lrgeo python bench/bindings/python.py            in an environment with the wheel

Times are CPU seconds, not those of the clock: other work on the machine does not change them much. `memory` alone runs one
solve of 1,500 x 1,500 costs and says how much more memory it took than its inputs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import lrgeo


def places(n, seed=1):
    rng = np.random.default_rng(seed)
    at = rng.uniform(0, 4, size=(n, 2))
    return np.linalg.norm(at[:, None] - at[None, :], axis=2)


def sampling():
    city = lrgeo.Map.demo(500)
    rng = np.random.default_rng(1)
    at = city.coords[rng.integers(0, len(city), 1_000_000)] + rng.normal(0, 0.0003, (1_000_000, 2))
    for kind, count in (("exp", 1_000_000), ("laplace", 2_000)):
        mechanism = city.build(kind, epsilon=2.0)
        lat, lon = at[:count].T.copy()
        runs = []
        for _ in range(5):
            begun = time.thread_time()
            mechanism.sample(lat, lon)
            runs.append((time.thread_time() - begun) / count)
        print(f"sample, {kind}: {1e-6 / min(runs):.2f} million per CPU second (five runs: {', '.join(f'{1e-6 / r:.2f}' for r in runs)})")


def solving():
    """CPU seconds of `lrgeo.solve`, copies and all, over those of `lrgeo solve` on the same problem, which reads a file and writes none."""
    d = places(200)
    i, j = np.triu_indices(200, 1)
    cost, arcs = d / 200, np.column_stack([i, j, d[i, j]])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problem.json")
        with open(path, "w") as file:
            problem = {"version": 1, "epsilon": 2.0, "cost": cost.tolist(), "arcs": [[int(i), int(j), d] for i, j, d in arcs]}
            json.dump(problem, file)
        python, rust = [], []
        for _ in range(5):
            begun = time.process_time()
            solution = lrgeo.solve(cost, arcs, 2.0)
            python.append(time.process_time() - begun)
            out = os.path.join(folder, "solution.json")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([os.environ["LRGEO"], "solve", path, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            rust.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        with open(out) as file:
            assert abs(json.load(file)["objective"] - solution.objective) <= 2e-6 * solution.objective
    show = lambda runs: ", ".join(f"{run:.2f}" for run in runs)
    print(f"solve, 200 places: {show(python)} CPU seconds; lrgeo solve: {show(rust)}; ratio of the least {min(python) / min(rust):.3f}")


def memory():
    d = places(1500)
    near = np.argsort(d, axis=1)[:, 1:7]
    pairs = {(min(i, j), max(i, j)) for i in range(1500) for j in map(int, near[i])}
    arcs = np.array([(i, j, d[i, j]) for i, j in sorted(pairs)])
    cost = d / 1500
    del d, near, pairs
    if "--single" in sys.argv:
        cost = cost.astype(np.float32)
    # What went before must not hide the solve.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = current()
    begun = time.process_time()
    lrgeo.solve(cost, arcs, 1.0, time_limit=float(os.environ.get("SECONDS_LIMIT", "20")))
    print(f"memory, 1,500 x 1,500 ({cost.nbytes / 2**20:.0f} MB): {high() - before:.0f} MB above {before:.0f} MB, {time.process_time() - begun:.1f} CPU seconds")


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def current():
    return status("VmRSS")


def high():
    return status("VmHWM")


if __name__ == "__main__":
    if "memory" in sys.argv:
        memory()
    else:
        sampling()
        solving()
        subprocess.run([sys.executable, __file__, "memory"], check=True)
