from os import PathLike
from typing import Any, Optional, Sequence, Union, final, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._progress import Progress

__all__ = [
    "LrgeoError",
    "__version__",
    "solve",
    "attack_upload",
    "attack_upload_exact",
    "attack_request",
    "attack_targets",
    "attack_repeat",
    "attack_trace",
    "Solution",
    "Map",
    "Mechanism",
    "Client",
]

__version__: str

class LrgeoError(Exception): ...

@final
class Solution:
    @property
    def z(self) -> NDArray[np.float64]: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def status(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def mu(self) -> NDArray[np.float64]: ...

def solve(
    cost: ArrayLike,
    arcs: ArrayLike,
    epsilon: float,
    *,
    gap: float = ...,
    time_limit: Optional[float] = None,
    progress: Optional[Progress] = None,
) -> Solution: ...

@final
class Map:
    @staticmethod
    def open(path: Union[str, PathLike[str]]) -> Map: ...
    @staticmethod
    def demo(cell_m: float = 500.0, *, seed: int = 1) -> Map: ...
    @staticmethod
    def from_osm(
        path: Union[str, PathLike[str]],
        *,
        cell_m: float = 500.0,
        travel: str = "drive",
        targets: Optional[int] = None,
        seed: int = 1,
        progress: Optional[Progress] = None,
    ) -> Map: ...
    def central(self, places: int) -> Map: ...
    def with_utility(self, utility: Union[str, ArrayLike]) -> Map: ...
    def save(self, path: Union[str, PathLike[str]]) -> str: ...
    @property
    def coords(self) -> NDArray[np.float64]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def prior(self) -> NDArray[np.float64]: ...
    @property
    def version(self) -> str: ...
    def losses(self, *, progress: Optional[Progress] = None) -> NDArray[np.float64]: ...
    def places_frame(self) -> pd.DataFrame: ...
    def places_geoframe(self) -> pd.DataFrame: ...
    def build(
        self,
        kind: Optional[str] = None,
        *,
        epsilon: Optional[float] = None,
        privacy: Optional[str] = None,
        gamma_km: Optional[float] = None,
        users: Optional[Sequence[int]] = None,
        gap: Optional[float] = None,
        time_limit: Optional[float] = None,
        progress: Optional[Progress] = None,
    ) -> Mechanism: ...
    def import_matrix(
        self,
        matrix: ArrayLike,
        *,
        epsilon: Optional[float] = None,
        gamma_km: Optional[float] = None,
        progress: Optional[Progress] = None,
    ) -> Mechanism: ...
    def __len__(self) -> int: ...

@final
class Mechanism:
    @staticmethod
    def open(
        path: Union[str, PathLike[str]], city: Optional[Map] = None, *, progress: Optional[Progress] = None
    ) -> Mechanism: ...
    def save(self, path: Union[str, PathLike[str]]) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def expected_cost(self) -> float: ...
    @property
    def unit(self) -> str: ...
    @property
    def lower_bound(self) -> Optional[float]: ...
    @property
    def coords(self) -> NDArray[np.float64]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def prior(self) -> NDArray[np.float64]: ...
    def matrix(self) -> NDArray[np.float64]: ...
    def rows(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.float64]: ...
    @overload
    def sample(self, lat: pd.DataFrame, lon: None = None, *, seed: Optional[int] = None) -> pd.DataFrame: ...
    @overload
    def sample(self, lat: ArrayLike, lon: ArrayLike, *, seed: Optional[int] = None) -> NDArray[np.int64]: ...
    def places_frame(self) -> pd.DataFrame: ...
    def places_geoframe(self) -> pd.DataFrame: ...
    def accuracy_m(self, report: int) -> float: ...
    def verify(self) -> dict[str, Any]: ...
    def evaluate(self, *, progress: Optional[Progress] = None) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class Client:
    def __new__(
        cls, server: str, state: Union[str, PathLike[str]], *, key: Optional[str] = None, targets: int = 0
    ) -> Client: ...
    def obfuscate(self, lat: float, lon: float, *, mode: str = "coordinates") -> dict[str, Any]: ...

# For lrgeo.attack, which gives results their types.

_Users = Union[int, list[int]]

def attack_upload(
    city: Map, settings: str, lr_radius_km: Optional[float], users: _Users, seed: int, progress: Optional[Progress]
) -> tuple[list[dict[str, Any]], dict[str, Any]]: ...
def attack_upload_exact(
    city: Map, settings: str, lr_radius_km: Optional[float], users: _Users, seed: int, progress: Optional[Progress]
) -> list[dict[str, Any]]: ...
def attack_request(
    city: Map,
    settings: str,
    lr_radius_km: Optional[float],
    counts: list[int],
    users: _Users,
    seed: int,
    progress: Optional[Progress],
) -> list[dict[str, Any]]: ...
def attack_targets(
    city: Map, decoys: int, equations: int, seed: int, progress: Optional[Progress]
) -> dict[str, Any]: ...
def attack_repeat(
    mechanism: Mechanism, counts: list[int], users: _Users, seed: int, progress: Optional[Progress]
) -> list[dict[str, Any]]: ...
def attack_trace(
    mechanism: Mechanism,
    city: Map,
    fixes: int,
    every_s: float,
    reuse_km: Optional[float],
    particles: Optional[int],
    misfit: Optional[float],
    users: _Users,
    seed: int,
    progress: Optional[Progress],
) -> tuple[list[dict[str, Any]], Optional[dict[str, Any]]]: ...
