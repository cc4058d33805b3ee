"""Frames of pandas and geopandas; and what is said where they are not installed."""

import subprocess
import sys

import numpy as np
import pytest

import lrgeo

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def noise(city):
    return city.build(privacy="factor 2 within 300 m")


def test_places_are_a_frame(city, noise):
    for of in (city, noise):
        frame = of.places_frame()
        assert isinstance(frame, pandas.DataFrame) and list(frame) == ["id", "lat", "lon", "prior"]
        assert np.array_equal(frame[["lat", "lon"]].to_numpy(), of.coords) and list(frame["id"]) == of.ids


def test_people_in_a_frame_get_one_of_reports_and_of_nothing_else(city, noise):
    people = pandas.DataFrame(city.coords[:6], columns=["lat", "lon"], index=list("abcdef"))
    people["name"] = "somebody"
    people.loc["c", "lat"] = 0.0
    people.loc["d", "lon"] = np.nan
    reports = noise.sample(people, seed=4)
    assert list(reports) == ["report", "lat", "lon", "accuracy_m", "epsilon_per_km"]
    assert list(reports.index) == list("abcdef")
    numbers = noise.sample(people["lat"].to_numpy(), people["lon"].to_numpy(), seed=4)
    assert np.array_equal(reports["report"], numbers) and list(numbers[2:4]) == [-1, -1]
    on, off = reports.drop(index=["c", "d"]), reports.loc[["c", "d"]]
    assert np.array_equal(on[["lat", "lon"]], noise.coords[on["report"]])
    assert (on["accuracy_m"] == [noise.accuracy_m(k) for k in on["report"]]).all()
    assert (on["epsilon_per_km"] == noise.epsilon).all() and (off["epsilon_per_km"] == 0).all()
    assert off[["lat", "lon", "accuracy_m"]].isna().all(axis=None)
    assert len(noise.sample(people.iloc[:0])) == 0


def test_refusals(city, noise):
    with pytest.raises(lrgeo.LrgeoError, match="lon"):
        noise.sample(pandas.DataFrame({"lat": [1.0]}))
    with pytest.raises(TypeError, match="frame"):
        noise.sample(city.coords)


def test_points_of_geopandas_come_back_as_points_in_their_own_projection(city, noise):
    geopandas = pytest.importorskip("geopandas")
    places = city.places_geoframe()
    assert isinstance(places, geopandas.GeoDataFrame) and places.crs == "EPSG:4326" and list(places) == ["id", "prior", "geometry"]
    people = places.iloc[:5].to_crs("EPSG:3857").rename_geometry("where")
    people.loc[2, "where"] = None
    reports = noise.sample(people, seed=4)
    assert isinstance(reports, geopandas.GeoDataFrame) and reports.crs == people.crs
    assert set(reports) == {"report", "where", "accuracy_m", "epsilon_per_km"} and reports.geometry.name == "where"
    assert reports["report"][2] == -1 and reports.geometry.isna().sum() == 1
    assert list(reports.index) == list(people.index)
    there = reports.drop(index=2).to_crs("EPSG:4326")
    expected = noise.coords[there["report"]]
    assert np.allclose(there.geometry.y, expected[:, 0], atol=1e-9) and np.allclose(there.geometry.x, expected[:, 1], atol=1e-9)
    # Straight through degrees the reports are those of the arrays.
    degrees = places.iloc[:5]
    lat, lon = city.coords[:5].T
    assert np.array_equal(noise.sample(degrees, seed=4)["report"], noise.sample(lat, lon, seed=4))
    with pytest.raises(lrgeo.LrgeoError, match="crs"):
        noise.sample(degrees.set_crs(None, allow_override=True))
    with pytest.raises(lrgeo.LrgeoError, match="no points"):
        noise.sample(people.iloc[:2].set_geometry(people.iloc[:2].buffer(10.0)))


@pytest.mark.parametrize(
    "call, missing",
    [
        ("city.places_frame()", "pandas"),
        ("city.places_geoframe()", "geopandas"),
        ("city.build('exp', epsilon=1.0, progress=True)", "tqdm"),
    ],
)
def test_what_is_missing_is_said_with_how_to_get_it(call, missing):
    program = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        f"sys.modules[{missing + '.auto'!r}] = None\n"
        "import lrgeo\n"
        "city = lrgeo.Map.demo(1000)\n"
        f"try:\n    {call}\n"
        "except ImportError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert missing in said and "pip install" in said
