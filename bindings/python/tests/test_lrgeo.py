"""The package as somebody uses it who has installed the wheel."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import lrgeo

HERE = Path(__file__).parent


def problem(n, seed=1, epsilon=2.0):
    """Places on a square with all pairs as arcs; a report costs its distance."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(0, 4, size=(n, 2))
    d = np.linalg.norm(at[:, None] - at[None, :], axis=2)
    i, j = np.triu_indices(n, 1)
    return d / n, np.column_stack([i, j, d[i, j]]), epsilon


def test_a_solution_is_strict_and_its_bound_is_proven():
    cost, arcs, epsilon = problem(40)
    solution = lrgeo.solve(cost, arcs, epsilon)
    assert solution.status == "optimal" and solution.gap <= 1e-6
    assert solution.lower_bound <= solution.objective
    z = solution.z
    assert z.shape == (40, 40) and np.allclose(z.sum(axis=1), 1, atol=1e-12)
    for i, j, d in arcs:
        i, j = int(i), int(j)
        assert np.all(z[i] <= np.exp(epsilon * d) * z[j]) and np.all(z[j] <= np.exp(epsilon * d) * z[i])
    assert np.isclose((cost * z).sum(), solution.objective, rtol=1e-9)


def test_refusals_say_what_is_wrong():
    cost, arcs, epsilon = problem(5)
    with pytest.raises(lrgeo.LrgeoError, match="epsilon"):
        lrgeo.solve(cost, arcs, -1.0)
    with pytest.raises(lrgeo.LrgeoError, match="arcs"):
        lrgeo.solve(cost, [[0, 9, 1.0]], epsilon)
    with pytest.raises(lrgeo.LrgeoError):
        lrgeo.solve(np.full((3, 3), np.nan), arcs[:2], epsilon)
    with pytest.raises(lrgeo.LrgeoError, match="epsilon or privacy"):
        lrgeo.Map.demo(1000).build()
    with pytest.raises(lrgeo.LrgeoError, match="kind"):
        lrgeo.Map.demo(1000).build("magic", epsilon=1.0)


def test_progress_is_told_and_an_error_of_it_is_raised():
    cost, arcs, epsilon = problem(120)
    seen = []
    lrgeo.solve(cost, arcs, epsilon, progress=seen.append)
    assert seen and {"iteration", "gap", "upper_bound"} <= seen[-1].keys()

    def fails(_):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        lrgeo.solve(cost, arcs, epsilon, progress=fails)


def test_other_threads_run_while_it_solves():
    cost, arcs, epsilon = problem(200)
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    seconds = lrgeo.solve(cost, arcs, epsilon).seconds
    done.set()
    thread.join()
    assert counted > 50 * seconds, "the interpreter's lock was held"


def test_ctrl_c_ends_with_the_best_so_far():
    program = (
        "import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import lrgeo; from test_lrgeo import problem\n"
        "cost, arcs, epsilon = problem(500, epsilon=0.7)\n"
        "print('begin', flush=True)\n"
        "s = lrgeo.solve(cost, arcs, epsilon, gap=1e-12)\n"
        "print(s.status, s.objective >= s.lower_bound, np.allclose(s.z.sum(axis=1), 1), flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(HERE)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, "Ctrl-C must not throw the work away"
    assert said.split()[1:] == ["True", "True"], said


def test_a_mechanism_is_built_verified_saved_and_drawn_from(tmp_path):
    city = lrgeo.Map.demo(1000)
    noise = city.build(privacy="factor 2 within 300 m")
    assert noise.kind == "laplace" and noise.verify()["holds"]
    published = city.build(epsilon=1.0, time_limit=20)
    assert published.lower_bound <= published.expected_cost
    for mechanism in [noise, published]:
        mechanism.save(tmp_path / "m.lrmech")
        again = lrgeo.Mechanism.open(tmp_path / "m.lrmech")
        assert np.array_equal(again.matrix(), mechanism.matrix())
        lat, lon = city.coords.T.copy()
        rows = mechanism.rows(lat, lon)
        assert np.allclose(rows.sum(axis=1), 1)
        first, same = (mechanism.sample(lat, lon, seed=7) for _ in range(2))
        assert np.array_equal(first, same) and (first >= 0).all()
        assert mechanism.sample(np.array([0.0]), np.array([0.0]))[0] == -1, "off the map"
        assert mechanism.accuracy_m(int(first[0])) > 100


def test_draws_follow_their_rows():
    city = lrgeo.Map.demo(1000)
    mechanism = city.build("exp", epsilon=1.0)
    n = 200_000
    at = city.coords[40]
    drawn = mechanism.sample(np.full(n, at[0]), np.full(n, at[1]), seed=3)
    row = mechanism.matrix()[40]
    counts = np.bincount(drawn, minlength=len(city))
    error = np.abs(counts / n - row)
    assert (error < 5 * np.sqrt(row / n) + 1e-4).all()


def test_a_mechanism_of_ones_own_is_compared():
    city = lrgeo.Map.demo(1000)
    n = len(city)
    own = city.import_matrix(np.full((n, n), 1 / n))
    assert own.kind == "own" and own.verify()["holds"] and own.epsilon < 1e-3
    exp = city.build("exp", epsilon=1.0)
    table = lrgeo.compare([own, exp])
    assert table[1]["expected_cost"] < table[0]["expected_cost"]
    assert table[1]["hit_rate"] > table[0]["hit_rate"]
    with pytest.raises(lrgeo.LrgeoError):
        city.import_matrix(np.eye(n), epsilon=1.0)
    with pytest.raises(lrgeo.LrgeoError, match="does not sum"):
        city.import_matrix(np.zeros((n, n)))


def test_own_costs_and_frames():
    city = lrgeo.Map.demo(1000)
    minutes = city.with_utility("travel-time")
    assert minutes.build("exp", epsilon=1.0).unit == "min"
    own = city.with_utility(np.arange(len(city) ** 2, dtype=float).reshape(len(city), -1))
    assert own.losses()[0, 1] == 1.0
    pandas = pytest.importorskip("pandas")
    frame = lrgeo.frame(city)
    assert isinstance(frame, pandas.DataFrame) and list(frame) == ["id", "lat", "lon", "prior"]


def test_a_million_coordinates_in_one_call():
    city = lrgeo.Map.demo(500)
    mechanism = city.build("exp", epsilon=2.0)
    rng = np.random.default_rng(1)
    places = rng.integers(0, len(city), 1_000_000)
    at = city.coords[places] + rng.normal(0, 0.0003, (1_000_000, 2))
    lat, lon = at.T.copy()
    begun = time.perf_counter()
    reports = mechanism.sample(lat, lon)
    seconds = time.perf_counter() - begun
    print(f"one million coordinates in {seconds:.2f} s")
    assert (reports >= 0).mean() > 0.99


def test_a_client_reports_to_a_server(tmp_path):
    binary = os.environ.get("LRGEO")
    if not binary:
        pytest.skip("LRGEO does not name the binary of lrgeo")
    run = lambda *arguments: subprocess.run([binary, *arguments], cwd=tmp_path, check=True, capture_output=True)
    run("map", "build", "--demo", "--cell", "500m", "-o", "city.lrmap")
    run("mechanism", "build", "city.lrmap", "--privacy", "factor 2 within 300 m", "-o", "n.lrmech", "-q")
    run("key", "new", "-o", "k")
    run("publish", "n.lrmech", "--key", "k", "-o", "tiles", "-q")
    serve = [binary, "serve", "--map", "city.lrmap", "--tiles", "tiles", "--key", "k", "--data", "data", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(serve, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        city = lrgeo.Map.open(tmp_path / "city.lrmap")
        lat, lon = city.coords[50]
        client = lrgeo.Client(address, tmp_path / "state.json")
        first = client.obfuscate(lat, lon)
        assert first["accuracy_m"] > 100 and not first["remembered"] and first["spent_per_km"] > 0
        again = client.obfuscate(lat, lon)
        assert again["remembered"] and again["place"] == first["place"] and again["spent_per_km"] == 0
    finally:
        server.terminate()
        server.wait()


def test_the_examples_of_the_readme_run():
    text = (HERE.parent / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    exec(compile(code.replace("demo(500)", "demo(1000)"), "README.md", "exec"), {})


def test_reports_are_those_of_every_other_language():
    golden = json.loads((HERE.parents[1] / "golden.json").read_text())
    noise = lrgeo.Map.demo(500).build("laplace", epsilon=2.0)
    for case in golden["reports"]:
        at = np.array([case["lat"]]), np.array([case["lon"]])
        assert noise.sample(*at, seed=case["seed"])[0] == case["report"]
