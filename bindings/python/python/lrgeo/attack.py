"""What leaks besides the report: uploads, requests, the cost table, repeated reports, traces.

Each attack names a user's place from what it sees; ``top_1`` says how often the first guess is right. Users are so many at
random, likelier where the prior is larger, or a list of places. The same seed gives the same numbers, which are those of
``lrgeo attack`` on the command line. Ctrl-C ends an attack.

>>> import lrgeo
>>> city = lrgeo.Map.demo(1000)
>>> lrgeo.attack.upload(city, users=20).attacks[0].all.top_1
1.0
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _lrgeo
from ._lrgeo import Map, Mechanism
from ._progress import Progress

__all__ = [
    "Attack",
    "Defended",
    "Followed",
    "Leak",
    "Success",
    "Targets",
    "Tiles",
    "Trace",
    "Upload",
    "repeat",
    "request",
    "targets",
    "trace",
    "upload",
    "upload_exact",
]

#: So many at random, or the numbers of places.
Users = Union[int, Iterable[int]]


@dataclass(frozen=True)
class Success:
    """How well an attack does."""

    users: int
    #: How often the first guess is right,
    top_1: float
    #: and how often one of five is.
    top_5: float
    #: How many places explain what was seen at least as well as the truth: the median,
    anonymity_median: float
    #: and the 5th percentile.
    anonymity_low: float
    #: How far off the first guess is on average.
    error_km: float


@dataclass(frozen=True)
class Attack:
    """What an attacker sees, and how well it does: on all users, on those inside and on those near the edge of the map."""

    sees: str
    all: Success
    interior: Optional[Success]
    edge: Optional[Success]

    def as_row(self) -> dict[str, Any]:
        """A line of a table: ``pandas.DataFrame(attack.as_row() for attack in attacks)``."""
        row = {key: value for key, value in asdict(self).items() if key not in ("all", "interior", "edge")}
        row.update(asdict(self.all))
        row["top_1_interior"] = self.interior.top_1 if self.interior else None
        row["top_1_edge"] = self.edge.top_1 if self.edge else None
        return row


@dataclass(frozen=True)
class Tiles:
    """What fetching tiles adds to a report: how often the first guess is right."""

    #: Places of each tile, and how many equally likely ones would hide as well.
    places: NDArray[np.int64]
    likely: NDArray[np.float64]
    #: About users of each tile who fetch no other; NaN where nobody is expected.
    right: NDArray[np.float64]
    #: Pairs of places at most so far apart are neighbours; so many there are, and so many are in different tiles.
    within_km: float
    neighbours: int
    separated: int
    #: Who sees nothing, and who sees the report alone; None on very large maps.
    blind: Optional[float]
    with_report: Optional[float]
    #: Phones that fetch so many tiles: how often the guess is right, and how likely a place is ruled out for certain.
    fetched: NDArray[np.int64]
    fetched_right: NDArray[np.float64]
    ruled_out: NDArray[np.float64]


@dataclass(frozen=True)
class Upload:
    """Uploads of the paper's protocol, field by field and with defences, the tile that is fetched instead, and blind guessing."""

    attacks: list[Attack]
    tiles: Tiles


@dataclass(frozen=True)
class Leak:
    """What a field of an upload tells about the place."""

    field: str
    #: How many different ones there are.
    uploads: int
    shannon_bits: float
    min_entropy_bits: float
    #: How likely the best guess is right.
    guess: float
    #: The fewest places that upload the same.
    smallest_class: int


@dataclass(frozen=True)
class Defended:
    """A defence, what it leaves, and what it costs."""

    defence: str
    #: Classes of places that upload the same, where it makes them.
    parts: Optional[int]
    #: What a report costs with it, where it changes that.
    cost: Optional[float]
    fields: list[Leak]


@dataclass(frozen=True)
class Targets:
    """The targets that were found in the cost table."""

    targets: int
    #: Street nodes that might have been targets, those of them that any table can tell apart, and entries that were used.
    candidates: int
    distinct: int
    equations: int
    #: From the truth: 0 is everything, 1 nothing.
    total_variation: float
    #: The same of guessing that all candidates are equally likely.
    chance: float
    mass_on_targets: float
    likeliest_named: bool
    error_km: float


@dataclass(frozen=True)
class Followed(Attack):
    """People who move and report by one rule, followed."""

    draws_per_journey: float
    journey_spent_per_km: float


@dataclass(frozen=True)
class Trace:
    """Every rule, on foot and by car, and blind guessing."""

    followed: list[Followed]
    chance: Optional[Attack]


COUNTS = (1, 2, 5, 10, 20)


def upload(
    city: Map,
    *,
    settings: str = "practical",
    lr_radius_km: Optional[float] = None,
    users: Users = 200,
    seed: int = 1,
    progress: Optional[Progress] = None,
) -> Upload:
    """Names the place from one upload of the paper's protocol (settings: practical or paper), or from the tile of ours."""
    attacks, tiles = _lrgeo.attack_upload(city, settings, lr_radius_km, _users(users), seed, progress)
    return Upload([_attack(attack) for attack in attacks], _tiles(tiles))


def upload_exact(
    city: Map,
    *,
    settings: str = "practical",
    lr_radius_km: Optional[float] = None,
    users: Users = 10,
    seed: int = 1,
    progress: Optional[Progress] = None,
) -> list[Defended]:
    """What each field of an upload tells about anybody, computed, with its defences; ten users at most price them."""
    found = _lrgeo.attack_upload_exact(city, settings, lr_radius_km, _users(users), seed, progress)
    return [Defended(**{**line, "fields": [Leak(**leak) for leak in line["fields"]]}) for line in found]


def request(
    city: Map,
    *,
    settings: str = "practical",
    lr_radius_km: Optional[float] = None,
    counts: Sequence[int] = COUNTS,
    users: Users = 200,
    seed: int = 1,
    progress: Optional[Progress] = None,
) -> list[Attack]:
    """Names the place from so many requests for circles of the cost table."""
    found = _lrgeo.attack_request(city, settings, lr_radius_km, list(counts), _users(users), seed, progress)
    return [_attack(attack) for attack in found]


def targets(
    city: Map, *, decoys: int = 300, equations: int = 3000, seed: int = 1, progress: Optional[Progress] = None
) -> Targets:
    """Recovers where people go from the cost table, among so many street nodes besides the true ones."""
    return Targets(**_lrgeo.attack_targets(city, decoys, equations, seed, progress))


def repeat(
    mechanism: Mechanism,
    *,
    counts: Sequence[int] = COUNTS,
    users: Users = 200,
    seed: int = 1,
    progress: Optional[Progress] = None,
) -> list[Attack]:
    """Names the place from so many reports of somebody who stays: drawn anew each time, and remembered."""
    found = _lrgeo.attack_repeat(mechanism, list(counts), _users(users), seed, progress)
    return [_attack(attack) for attack in found]


def trace(
    mechanism: Mechanism,
    city: Map,
    *,
    fixes: int = 120,
    every_s: float = 10.0,
    reuse_km: Optional[float] = None,
    particles: Optional[int] = None,
    misfit: Optional[float] = None,
    users: Users = 200,
    seed: int = 1,
    progress: Optional[Progress] = None,
) -> Trace:
    """Follows people who walk and drive along streets, by what they report and when.

    A report is given again within ``reuse_km`` of where it was drawn, 1/epsilon if nothing is said, as phones do.
    """
    followed, chance = _lrgeo.attack_trace(
        mechanism, city, fixes, every_s, reuse_km, particles, misfit, _users(users), seed, progress
    )
    return Trace([_followed(one) for one in followed], None if chance is None else _attack(chance))


def _users(users: Users) -> Union[int, list[int]]:
    return int(users) if isinstance(users, (int, np.integer)) else [int(place) for place in users]


def _success(found: Optional[dict[str, Any]]) -> Optional[Success]:
    return None if found is None else Success(**found)


def _attack(found: dict[str, Any]) -> Attack:
    return Attack(found["sees"], Success(**found["all"]), _success(found["interior"]), _success(found["edge"]))


def _followed(found: dict[str, Any]) -> Followed:
    drawn = found["draws_per_journey"], found["journey_spent_per_km"]
    attack = _attack(found)
    return Followed(attack.sees, attack.all, attack.interior, attack.edge, *drawn)


def _column(lines: list[dict[str, Any]], key: str) -> NDArray[np.float64]:
    # What is not known is null there, and NaN here.
    return np.array([line[key] for line in lines], dtype=np.float64)


def _tiles(found: dict[str, Any]) -> Tiles:
    tiles, guesses = found["tiles"], found["guesses"] or {"blind": None, "with_report": None, "fetching": []}
    fetching = guesses["fetching"]
    return Tiles(
        places=_column(tiles, "places").astype(np.int64),
        likely=_column(tiles, "likely"),
        right=_column(tiles, "right"),
        **found["borders"],
        blind=guesses["blind"],
        with_report=guesses["with_report"],
        fetched=_column(fetching, "fetched").astype(np.int64),
        fetched_right=_column(fetching, "right"),
        ruled_out=_column(fetching, "ruled_out"),
    )
