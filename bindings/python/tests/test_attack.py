"""The attacks: what they must find, the same as on the command line, and how they end."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import numpy as np
import pytest

import lrgeo


@pytest.fixture(scope="module")
def exp(city):
    return city.build("exp", epsilon=2.0)


def test_costs_of_an_upload_name_everybody_and_a_tile_nobody(city):
    found = lrgeo.attack.upload(city, users=range(40))
    by_name = {attack.sees: attack for attack in found.attacks}
    assert by_name["costs C_hat, rows in any order"].all.top_1 == 1.0
    assert by_name["costs C_hat, rows in any order"].all.users == 40
    tile, blind = by_name["a public tile (published, local)"], by_name["nothing but the prior"]
    assert blind.all.top_1 <= tile.all.top_1 < 0.2
    assert sum(part.users for part in (blind.interior, blind.edge) if part) == 40
    tiles = found.tiles
    assert tiles.places.sum() == len(city) and tiles.fetched[0] == 1 and tiles.fetched[-1] == len(tiles.places)
    assert tiles.blind <= tiles.with_report <= tiles.fetched_right[0]
    row = tile.as_row()
    assert row["sees"] == tile.sees and row["top_1"] == tile.all.top_1 and "all" not in row


def test_what_uploads_tell_is_computed_and_classes_hide_it(city):
    lines = lrgeo.attack.upload_exact(city.central(40), users=2)
    plain = {leak.field: leak for leak in lines[0].fields}
    assert lines[0].defence == "as it is" and plain["all together"].smallest_class == 1
    classes = [line for line in lines if line.parts is not None]
    assert classes[-1].cost > 0
    for line in classes:
        # Distances as a multiset and in order are bounds of one leak, from below and above.
        leaks = [leak for leak in line.fields if not leak.field.endswith("at most")]
        assert len(leaks) == 6 and all(leak.shannon_bits <= np.log2(line.parts) + 1e-9 for leak in leaks)


def test_requests_and_reports_say_more_the_more_there_are(city, exp):
    requests = lrgeo.attack.request(city, lr_radius_km=1.5, counts=[1, 30], users=60)
    assert requests[0].all.top_1 < requests[1].all.top_1
    assert requests[-1].sees == "nothing but the prior"
    reports = lrgeo.attack.repeat(exp, counts=[1, 50], users=60)
    named = {attack.sees: attack.all.top_1 for attack in reports}
    assert named["1 fresh report, multiplied"] < named["50 fresh reports, multiplied"]
    assert named["50 reports, remembered"] == named["1 fresh report, multiplied"]


def test_the_targets_come_out_of_the_table(city):
    found = lrgeo.attack.targets(city, decoys=60, equations=1500, seed=3)
    assert found.total_variation < 1e-6 < found.chance and found.likeliest_named
    assert lrgeo.attack.targets(city, decoys=60, equations=10, seed=3).total_variation > 0.05


def test_people_who_move_are_followed(city, exp):
    found = lrgeo.attack.trace(exp, city, users=5, fixes=10, particles=200)
    assert len(found.followed) == 10 and found.chance.sees == "nothing but the prior"
    anew, remembered = found.followed[0], found.followed[3]
    assert anew.sees == "walk: every fix drawn anew" and anew.draws_per_journey == 10
    assert remembered.draws_per_journey < 3
    assert np.isclose(anew.journey_spent_per_km, 10 * exp.epsilon)
    with pytest.raises(lrgeo.LrgeoError, match="another map|map"):
        lrgeo.attack.trace(exp, lrgeo.Map.demo(700), users=2, fixes=2)


def test_the_same_seed_gives_the_numbers_of_the_command_line(city, exp, command, tmp_path):
    city.save(tmp_path / "city.lrmap")
    exp.save(tmp_path / "exp.lrmech")
    same = "--users", "random:30", "--seed", "5", "--json", "-q"

    def said(*arguments):
        return json.loads(command("attack", *arguments, *same))

    users = {"users": 30, "seed": 5}
    as_dicts = lambda attacks: [asdict(attack) for attack in attacks]
    assert as_dicts(lrgeo.attack.upload(city, **users).attacks) == said("upload", "city.lrmap")["results"]
    assert as_dicts(lrgeo.attack.request(city, **users)) == said("request", "city.lrmap")["results"]
    assert as_dicts(lrgeo.attack.repeat(exp, **users)) == said("repeat", "exp.lrmech")["results"]
    few = "--fixes", "6", "--particles", "100"
    trace = lrgeo.attack.trace(exp, city, fixes=6, particles=100, **users)
    assert as_dicts(trace.followed) == said("trace", "exp.lrmech", "--map", "city.lrmap", *few)["results"]
    assert lrgeo.attack.repeat(exp, **users) != lrgeo.attack.repeat(exp, users=30, seed=6)


def test_refusals_name_what_is_wrong(city, exp):
    for field, attack in {
        "settings": lambda: lrgeo.attack.upload(city, settings="magic"),
        "users": lambda: lrgeo.attack.upload(city, users=[len(city)]),
        "counts": lambda: lrgeo.attack.repeat(exp, counts=[5, 1]),
        "lr_radius_km": lambda: lrgeo.attack.request(city, lr_radius_km=float("nan")),
        "every": lambda: lrgeo.attack.trace(exp, city, every_s=float("nan"), users=2),
        "misfit": lambda: lrgeo.attack.trace(exp, city, misfit=2.0, users=2),
    }.items():
        with pytest.raises(lrgeo.LrgeoError, match=field):
            attack()


def test_steps_are_told_and_an_error_of_the_callback_ends_the_attack(city, exp):
    seen = []
    lrgeo.attack.trace(exp, city, users=12, fixes=40, particles=500, progress=seen.append)
    assert all({"step", "done", "total"} == now.keys() for now in seen)
    journeys = [now for now in seen if now["step"] == "journeys"]
    assert journeys and journeys[-1]["done"] <= journeys[-1]["total"] == 12

    def fails(_):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        lrgeo.attack.trace(exp, city, users=60, fixes=60, progress=fails)


def test_ctrl_c_ends_an_attack():
    program = (
        "import lrgeo, time\n"
        "city = lrgeo.Map.demo(1000)\n"
        "exp = city.build('exp', epsilon=2.0)\n"
        "print('begin', flush=True)\n"
        "try:\n"
        "    lrgeo.attack.trace(exp, city, users=80, fixes=2000, particles=4000)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', len(lrgeo.attack.repeat(exp, users=3, counts=[1])), flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=120)
    assert (process.returncode, said.split()[0], errors) == (0, "interrupted", "")
