"""Report where you nearly are.

>>> import lrgeo
>>> city = lrgeo.Map.demo(1000)
>>> noise = city.build(privacy="factor 2 within 300 m")
>>> noise.verify()["holds"]
True
"""

from __future__ import annotations

from . import attack
from ._compare import compare
from ._lrgeo import Client, LrgeoError, Map, Mechanism, Solution, __version__, solve
from ._progress import Progress, SolveProgress, StepProgress, progress_bar

__all__ = [
    "Client",
    "LrgeoError",
    "Map",
    "Mechanism",
    "Progress",
    "Solution",
    "SolveProgress",
    "StepProgress",
    "attack",
    "compare",
    "progress_bar",
    "solve",
    "__version__",
]
