"""Report where you nearly are.

>>> import lrgeo
>>> city = lrgeo.Map.demo(1000)
>>> noise = city.build(privacy="factor 2 within 300 m")
>>> noise.verify()["holds"]
True
"""

from __future__ import annotations

from ._lrgeo import Client, LrgeoError, Map, Mechanism, Solution, __version__
from ._lrgeo import solve as _solve

__all__ = ["Client", "LrgeoError", "Map", "Mechanism", "Solution", "compare", "frame", "geo_frame", "progress_bar", "solve", "__version__"]


def solve(cost, arcs, epsilon, *, gap=1e-6, time_limit=None, progress=None):
    """The cheapest matrix whose rows are distributions and that keeps ``z[i, k] <= exp(epsilon * d) * z[j, k]`` for every arc ``(i, j, d)``, both ways.

    ``cost`` is rows x columns with the prior in it. ``progress=True`` shows a bar (tqdm), a callable gets a dict. Ctrl-C ends with the best so far.
    """
    import numpy as np

    cost = np.ascontiguousarray(cost, dtype=np.float64)
    arcs = np.ascontiguousarray(arcs, dtype=np.float64).reshape(-1, 3)
    with _told(progress) as tell:
        return _solve(cost, arcs, float(epsilon), gap=gap, time_limit=time_limit, progress=tell)


class progress_bar:
    """A bar of tqdm's that shows the gap of a solve: ``city.build(..., progress=lrgeo.progress_bar())``."""

    def __init__(self):
        from tqdm.auto import tqdm

        self._bar = tqdm(unit=" iterations")

    def __call__(self, now):
        self._bar.update(now["iteration"] - self._bar.n)
        self._bar.set_postfix_str(f"cost {now['upper_bound']:.5g}, gap {100 * now['gap']:.3g} %")

    def close(self):
        """Ends the bar."""
        self._bar.close()


class _told:
    """What to call while solving: nothing, what was given, or a bar that is closed at the end."""

    def __init__(self, progress):
        self._own = progress is True
        self._tell = progress_bar() if self._own else (progress or None)

    def __enter__(self):
        return self._tell

    def __exit__(self, *_):
        if self._own:
            self._tell.close()


def frame(of):
    """The places of a map or mechanism as a pandas frame: id, lat, lon, prior, as far as they are known."""
    import pandas as pd

    coords = of.coords
    columns = {"lat": coords[:, 0], "lon": coords[:, 1]}
    if isinstance(of, Map):
        columns = {"id": of.ids, **columns, "prior": of.prior}
    return pd.DataFrame(columns)


def geo_frame(of):
    """The same as a geopandas frame of points (EPSG:4326)."""
    import geopandas as gpd

    places = frame(of)
    points = gpd.points_from_xy(places.pop("lon"), places.pop("lat"))
    return gpd.GeoDataFrame(places, geometry=points, crs="EPSG:4326")


def compare(mechanisms):
    """What mechanisms cost and protect, side by side, as a list of dicts (``pandas.DataFrame(lrgeo.compare([...]))``).

    A mechanism of your own, written in Python, stands beside ours: ``city.import_matrix(rows)``.
    """
    return [{"kind": m.kind, "epsilon": m.epsilon, "guarantee": m.guarantee, **m.evaluate()} for m in mechanisms]
