"""The peers: the same linear programmes by HiGHS (simplex, interior point) and by qif.

    peers.py highs-simplex|highs-ipm|qif DUMP LIMIT     one line of JSON: seconds, objective
    peers.py product N                                  seconds of one dense N x N x N product (u_n)

DUMP is what `engine ... --dump` writes: rows, columns, epsilon, number of arcs, whether there are ties; then
arcs (i, j, d), costs and ties (0: free), all as little-endian doubles. One thread each.
"""

import json
import math
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np


def read(path):
    """The problem as the engine wrote it."""
    numbers = np.fromfile(path, dtype="<f8")
    rows, columns, arcs = int(numbers[0]), int(numbers[1]), int(numbers[3])
    at = 5
    triples = numbers[at : at + 3 * arcs].reshape(arcs, 3)
    at += 3 * arcs
    cost = numbers[at : at + rows * columns].reshape(rows, columns)
    at += rows * columns
    tie = numbers[at:].reshape(rows, columns) if numbers[4] else np.zeros((rows, columns))
    return rows, columns, numbers[2], triples, cost, tie


def programme(path):
    """Costs, a matrix by rows, and the bounds of the rows. Tied entries are y_k f_ik."""
    rows, columns, epsilon, arcs, cost, tie = read(path)
    free = tie == 0.0
    variable = np.where(free, np.cumsum(free).reshape(rows, columns) - 1, 0)
    count = int(free.sum())
    tied_columns = np.flatnonzero((~free).any(axis=0))
    y = {k: count + n for n, k in enumerate(tied_columns)}
    objective = np.zeros(count + len(tied_columns))
    objective[variable[free]] = cost[free]
    for k in tied_columns:
        objective[y[k]] = (cost[:, k] * tie[:, k]).sum()

    starts, index, value, low, high = [0], [], [], [], []

    def entry(i, k):
        return (variable[i, k], 1.0) if free[i, k] else (y[k], tie[i, k])

    def add(terms, least, most):
        merged = {}
        for column, factor in terms:
            merged[column] = merged.get(column, 0.0) + factor
        index.extend(merged)
        value.extend(merged.values())
        starts.append(len(index))
        low.append(least)
        high.append(most)

    for i in range(rows):
        add([entry(i, k) for k in range(columns)], 1.0, 1.0)
    for i, j, d in arcs:
        factor = math.exp(epsilon * d)
        for a, b in ((int(i), int(j)), (int(j), int(i))):
            for k in range(columns):
                if free[a, k] or free[b, k]:
                    (p, u), (q, v) = entry(a, k), entry(b, k)
                    add([(p, u), (q, -factor * v)], -math.inf, 0.0)
    return objective, np.array(starts), np.array(index), np.array(value), np.array(low), np.array(high)


def highs(path, method, limit):
    import highspy

    objective, starts, index, value, low, high = programme(path)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(objective), len(low)
    lp.col_cost_ = objective
    lp.col_lower_ = np.zeros(len(objective))
    lp.col_upper_ = np.full(len(objective), highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = low, high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, index, value
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", method)
    solver.setOptionValue("time_limit", float(limit))
    solver.passModel(lp)
    begun = time.perf_counter()
    solver.run()
    seconds = time.perf_counter() - begun
    solved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return {"seconds": seconds, "objective": solver.getInfo().objective_function_value if solved else None}


def qif(path, _limit):
    import qif as library

    rows, columns, epsilon, arcs, cost, _ = read(path)
    distance = np.full((rows, rows), math.inf)
    for i, j, d in arcs:
        distance[int(i), int(j)] = distance[int(j), int(i)] = epsilon * d
    np.fill_diagonal(distance, 0.0)
    prior = np.full(rows, 1.0 / rows)
    begun = time.perf_counter()
    channel = library.mechanism.d_privacy.min_loss_given_d(
        pi=prior,
        n_cols=columns,
        d_priv=lambda i, j: float(distance[i, j]),
        loss=lambda i, k: float(cost[i, k]) * rows,
    )
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "objective": float((np.asarray(channel) * cost).sum())}


def product(n):
    """One dense product: the unit of time in which large solves are told."""
    generator = np.random.default_rng(1)
    a, b = generator.random((n, n)), generator.random((n, n))
    times = []
    for _ in range(3 if n < 5000 else 1):
        begun = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - begun)
    return {"seconds": min(times)}


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "product":
        answer = product(int(sys.argv[2]))
    elif what == "qif":
        answer = qif(sys.argv[2], sys.argv[3])
    else:
        answer = highs(sys.argv[2], what.removeprefix("highs-"), sys.argv[3])
    print(json.dumps(answer))
