"""HiGHS on a problem file (.npz, docs/problem-format.md): one line of JSON with CPU seconds and objective."""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "engine"))
from peers import highs  # noqa: E402


def read(path):
    with np.load(path) as file:
        arcs = np.column_stack([file["arcs_index"], file["arcs_distance"]])
        cost = file["cost"]
        ties = file["tie"] if "tie" in file else np.zeros(cost.shape)
        return float(file["epsilon"]), arcs, cost, ties


if __name__ == "__main__":
    problem = read(sys.argv[1])
    print(json.dumps({method: highs(problem, method, float(sys.argv[2])) for method in sys.argv[3:]}))
