"""The package as somebody uses it who has installed the wheel."""

import contextlib
import json
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


def test_arrays_may_be_anything_that_numpy_makes_one_of():
    cost, arcs, epsilon = problem(12)
    z = lrgeo.solve(cost, arcs, epsilon).z
    whole = np.concatenate([cost, cost])
    for same in (np.asfortranarray(cost), whole[:12], whole[::-1][12:][::-1], cost.tolist()):
        assert np.array_equal(lrgeo.solve(same, arcs.tolist(), epsilon).z, z)
    single = cost.astype(np.float32)
    assert np.array_equal(lrgeo.solve(single, arcs, epsilon).z, lrgeo.solve(single.astype(float), arcs, epsilon).z)
    city = lrgeo.Map.demo(1000)
    exp = city.build("exp", epsilon=1.0)
    lat, lon = city.coords.T
    assert not lat.flags.c_contiguous, "a column"
    assert np.array_equal(exp.sample(lat, lon, seed=1), exp.sample(list(lat), list(lon), seed=1))
    assert exp.sample([], []).shape == (0,)


def test_what_was_given_is_not_touched_and_may_change_while_solving():
    cost, arcs, epsilon = problem(120)
    before = cost.copy()
    expected = lrgeo.solve(cost, arcs, epsilon).z

    def spoils(_):
        cost[:] = np.nan

    assert np.array_equal(cost, before)
    assert np.array_equal(lrgeo.solve(cost, arcs, epsilon, progress=spoils).z, expected)
    assert np.isnan(cost).all(), "the callback was called"


def test_refusals_say_what_is_wrong():
    cost, arcs, epsilon = problem(5)
    with pytest.raises(lrgeo.LrgeoError, match="epsilon"):
        lrgeo.solve(cost, arcs, -1.0)
    with pytest.raises(lrgeo.LrgeoError, match="arcs"):
        lrgeo.solve(cost, [[0, 9, 1.0]], epsilon)
    with pytest.raises(lrgeo.LrgeoError):
        lrgeo.solve(np.full((3, 3), np.nan), arcs[:2], epsilon)
    with pytest.raises(lrgeo.LrgeoError, match="time_limit"):
        lrgeo.solve(cost, arcs, epsilon, time_limit=-1.0)
    with pytest.raises(lrgeo.LrgeoError, match="time_limit"):
        lrgeo.Map.demo(1000).build(epsilon=1.0, time_limit=float("nan"))
    with pytest.raises(lrgeo.LrgeoError, match="utility"):
        lrgeo.Map.demo(1000).with_utility(np.zeros((3, 3)))
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


def test_a_bar_of_tqdm_shows_solves_and_steps(capfd):
    pytest.importorskip("tqdm")
    cost, arcs, epsilon = problem(150)
    lrgeo.solve(cost, arcs, epsilon, progress=True)
    shown = capfd.readouterr().err
    assert "solving" in shown and "gap" in shown
    bar = lrgeo.progress_bar()
    bar({"step": "walking", "done": 3, "total": 10})
    bar({"step": "walking", "done": 7, "total": 10})
    bar.close()
    assert "walking" in (shown := capfd.readouterr().err) and "7/10" in shown
    lrgeo.solve(cost, arcs, epsilon, progress=False)
    assert capfd.readouterr().err == ""


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


def test_another_error_of_a_signal_is_raised():
    cost, arcs, epsilon = problem(500, epsilon=0.7)

    class TooLong(Exception):
        pass

    def late(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(TooLong):
            lrgeo.solve(cost, arcs, epsilon, gap=1e-12)
    finally:
        signal.signal(signal.SIGALRM, before)


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
        with pytest.raises(lrgeo.LrgeoError, match="city"):
            again.evaluate()
        assert lrgeo.Mechanism.open(tmp_path / "m.lrmech", city).evaluate() == mechanism.evaluate()
        with pytest.raises(lrgeo.LrgeoError, match="map"):
            lrgeo.Mechanism.open(tmp_path / "m.lrmech", lrgeo.Map.demo(700))
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

    def uniform(city):
        return np.full((len(city), len(city)), 1 / len(city))

    def lazily(city):
        return (np.full(len(city), 1 / len(city)) for _ in range(len(city)))

    lines = lrgeo.compare([uniform, lazily, exp], city)
    assert [line["kind"] for line in lines] == ["uniform", "lazily", "exp"]
    assert lines[0]["expected_cost"] == lines[1]["expected_cost"] == table[0]["expected_cost"]
    with pytest.raises(lrgeo.LrgeoError, match="city"):
        lrgeo.compare([uniform])
    with pytest.raises(lrgeo.LrgeoError):
        city.import_matrix(np.eye(n), epsilon=1.0)
    with pytest.raises(lrgeo.LrgeoError, match="does not sum"):
        city.import_matrix(np.zeros((n, n)))


def test_own_costs():
    city = lrgeo.Map.demo(1000)
    minutes = city.with_utility("travel-time")
    assert minutes.build("exp", epsilon=1.0).unit == "min"
    assert minutes.central(20).build("exp", epsilon=1.0).unit == "min", "a part has the costs of the whole"
    own = city.with_utility(np.arange(len(city) ** 2, dtype=float).reshape(len(city), -1))
    assert own.losses()[0, 1] == 1.0
    part = own.central(20)
    chosen = [own.ids.index(name) for name in part.ids]
    assert np.array_equal(part.losses(), own.losses()[np.ix_(chosen, chosen)])


def test_a_million_coordinates_in_one_call():
    city = lrgeo.Map.demo(500)
    mechanism = city.build("exp", epsilon=2.0)
    rng = np.random.default_rng(1)
    places = rng.integers(0, len(city), 1_000_000)
    at = city.coords[places] + rng.normal(0, 0.0003, (1_000_000, 2))
    lat, lon = at.T.copy()
    begun = time.thread_time()
    reports = mechanism.sample(lat, lon)
    seconds = time.thread_time() - begun
    print(f"one million coordinates in {seconds:.2f} s of this thread")
    assert (reports >= 0).mean() > 0.99


def test_a_client_reports_to_a_server(command, tmp_path):
    command("map", "build", "--demo", "--cell", "500m", "-o", "city.lrmap")
    command("mechanism", "build", "city.lrmap", "--privacy", "factor 2 within 300 m", "-o", "n.lrmech", "-q")
    command("key", "new", "-o", "k")
    command("publish", "n.lrmech", "--key", "k", "-o", "tiles", "-q")
    with serving(command, tmp_path, "--tiles", "tiles", "--key", "k") as address:
        city = lrgeo.Map.open(tmp_path / "city.lrmap")
        lat, lon = city.coords[50]
        client = lrgeo.Client(address, tmp_path / "state.json")
        first = client.obfuscate(lat, lon)
        assert first["accuracy_m"] > 100 and not first["remembered"] and first["spent_per_km"] > 0
        again = client.obfuscate(lat, lon)
        assert again["remembered"] and again["place"] == first["place"] and again["spent_per_km"] == 0


def test_a_server_takes_costs_of_ones_own(command, tmp_path):
    # Enough likely places for what a client asks for by itself.
    city = lrgeo.Map.demo(700)
    city.save(tmp_path / "city.lrmap")
    # Whatever is reported costs the same, but for one place that costs nothing from anywhere.
    costs = np.ones((len(city), len(city)))
    costs[:, 17] = 0.0
    np.save(tmp_path / "costs.npy", costs)
    with serving(command, tmp_path, "--utility", "costs.npy") as address:
        for at in (3, 60):
            client = lrgeo.Client(address, tmp_path / f"{at}.json")
            report = client.obfuscate(*city.coords[at], mode="published")
            assert report["place"] == 17, "the cheapest there is, and it tells nothing"


@contextlib.contextmanager
def serving(command, folder, *options):
    """A server on `city.lrmap`; the address that it listens at."""
    serve = [command.binary, "serve", "--map", "city.lrmap", "--data", "data", "--listen", "127.0.0.1:0", *options]
    server = subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield re.search(r"http://\S+", server.stdout.readline()).group()
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
