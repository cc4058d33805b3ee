"""Mechanisms side by side, those of others included."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional, Union

import numpy as np

from ._lrgeo import LrgeoError, Map, Mechanism

#: A mechanism written in Python: takes a map, returns its matrix, or its rows one by one.
Own = Callable[[Map], Any]


def compare(mechanisms: Iterable[Union[Mechanism, Own]], city: Optional[Map] = None) -> list[dict[str, Any]]:
    """What mechanisms cost and protect, one dict each (``pandas.DataFrame(lrgeo.compare([...]))`` is a table).

    One of your own is a function, or an object that can be called: it gets the map and returns a row per place, what
    somebody there reports. It is verified like ours, and its promise is the least epsilon that it keeps.
    """
    lines = []
    for given in mechanisms:
        mechanism, name = _mechanism(given, city)
        lines.append(
            {"kind": name, "epsilon": mechanism.epsilon, "guarantee": mechanism.guarantee, **mechanism.evaluate()}
        )
    return lines


def _mechanism(given: Union[Mechanism, Own], city: Optional[Map]) -> tuple[Mechanism, str]:
    if isinstance(given, Mechanism):
        return given, given.kind
    if not callable(given):
        raise LrgeoError(f"mechanisms: {type(given).__name__} is neither a mechanism nor a function of a map")
    if city is None:
        raise LrgeoError("city: functions are given the map; say which: lrgeo.compare([..], city)")
    rows = given(city)
    matrix = rows if isinstance(rows, np.ndarray) else np.array(list(rows), dtype=np.float64)
    return city.import_matrix(matrix), getattr(given, "__name__", type(given).__name__)
