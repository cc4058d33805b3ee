"""Places and reports as frames of pandas and geopandas, where people have them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from ._lrgeo import LrgeoError, Map, Mechanism
from ._progress import need

if TYPE_CHECKING:
    import pandas as pd

WGS84 = "EPSG:4326"


def places_frame(of: Union[Map, Mechanism]) -> pd.DataFrame:
    """The places: id, lat, lon, prior."""
    pandas = need("pandas", "a frame of places", "frames")
    lat, lon = of.coords.T
    frame: pd.DataFrame = pandas.DataFrame({"id": of.ids, "lat": lat, "lon": lon, "prior": of.prior})
    return frame


def places_geoframe(of: Union[Map, Mechanism]) -> pd.DataFrame:
    """The places as points: id, prior, geometry."""
    geopandas = need("geopandas", "a frame of points", "frames")
    places = places_frame(of)
    points = geopandas.points_from_xy(places.pop("lon"), places.pop("lat"))
    frame: pd.DataFrame = geopandas.GeoDataFrame(places, geometry=points, crs=WGS84)
    return frame


def sample(mechanism: Mechanism, frame: Any, seed: Optional[int]) -> pd.DataFrame:
    """Reports for a frame of people: of the same kind and index, and with nothing else of theirs in it."""
    pandas = need("pandas", "sample with a frame", "frames")
    if not isinstance(frame, pandas.DataFrame):
        raise TypeError("sample: give lat and lon, or a frame of pandas or geopandas")
    # A frame of geopandas is there only if the library is.
    geopandas = sys.modules.get("geopandas")
    if geopandas is not None and isinstance(frame, geopandas.GeoDataFrame):
        points = _points(frame)
        reports = mechanism.sample(points.y.to_numpy(), points.x.to_numpy(), seed=seed)
        columns = _columns(mechanism, reports)
        at = geopandas.points_from_xy(columns.pop("lon"), columns.pop("lat"), crs=WGS84)
        # Nobody is at a point without coordinates.
        at = geopandas.GeoSeries(at, index=frame.index).where(reports >= 0, None).to_crs(frame.crs)
        name = frame.geometry.name
        said: pd.DataFrame = geopandas.GeoDataFrame({**columns, name: at}, geometry=name, index=frame.index)
        return said
    for column in ("lat", "lon"):
        if column not in frame:
            raise LrgeoError(f"frame: has no column {column}; it needs lat and lon, or be a GeoDataFrame of points")
    lat, lon = (frame[column].to_numpy(dtype=np.float64) for column in ("lat", "lon"))
    reports = mechanism.sample(lat, lon, seed=seed)
    plain: pd.DataFrame = pandas.DataFrame(_columns(mechanism, reports), index=frame.index)
    return plain


def _points(frame: Any) -> Any:
    points = frame.geometry
    if points.crs is None:
        raise LrgeoError('frame: has no crs, so where its points are is not known; say it: frame.set_crs("EPSG:4326")')
    if not (points.isna() | (points.geom_type == "Point")).all():
        raise LrgeoError("frame: has geometries that are no points; frame.centroid makes points of them")
    return points.to_crs(WGS84)


def _columns(mechanism: Mechanism, reports: np.ndarray[Any, Any]) -> dict[str, Any]:
    seen = np.unique(reports[reports >= 0])
    accuracy = np.full(len(mechanism) + 1, np.nan)
    accuracy[seen] = [mechanism.accuracy_m(int(report)) for report in seen]
    # Off the map, which is -1, is the last line.
    coords = np.vstack([mechanism.coords, [np.nan, np.nan]])
    return {
        "report": reports,
        "lat": coords[reports, 0],
        "lon": coords[reports, 1],
        "accuracy_m": accuracy[reports],
        "epsilon_per_km": np.where(reports >= 0, mechanism.epsilon, 0.0),
    }
