"""What long work tells while it goes on."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Optional, TypedDict, Union, final


@final
class SolveProgress(TypedDict):
    """An iteration of a solver: the best so far, and what is proven."""

    iteration: int
    upper_bound: float
    lower_bound: float
    gap: float
    seconds: float


@final
class StepProgress(TypedDict):
    """A step of anything else, and how much of it is done; a total of 0 is not known."""

    step: str
    done: int
    total: int


#: What ``progress=`` takes everywhere: ``True`` for a bar, or a function that gets a dict, a few times per second.
Progress = Union[bool, Callable[[Any], object]]


def need(module: str, what: str, extra: str) -> Any:
    """A library that people may have; where not, how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{what} needs {module}: pip install "lrgeo[{extra}]"') from error


class progress_bar:
    """A bar of tqdm's: the gap of a solve, the units of a step. ``progress=True`` makes one."""

    def __init__(self) -> None:
        self._bar: Any = need("tqdm.auto", "progress=True", "progress").tqdm()
        self._step: Optional[str] = None

    def __call__(self, now: Union[SolveProgress, StepProgress]) -> None:
        if "iteration" in now:
            self._show("solving", now["iteration"], 0)
            self._bar.set_postfix_str(f"cost {now['upper_bound']:.5g}, gap {100 * now['gap']:.3g} %")
        else:
            self._show(now["step"], now["done"], now["total"])

    def _show(self, step: str, done: int, total: int) -> None:
        if step != self._step:
            self._step = step
            self._bar.reset(total or None)
            self._bar.set_postfix_str("", refresh=False)
            self._bar.set_description_str(step)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()
