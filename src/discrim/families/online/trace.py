"""The way that the weights went: what the pictures of a lecture are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import MissingDependencyError
from discrim.store.fields import Array, Text, Whole
from discrim.store.kinds import stored
from discrim.store.values import Value
from discrim.typing import Floats

# Points and numbers that a trace may have; beyond, every second point is dropped.
MOST_POINTS = 2_000
MOST_NUMBERS = 1 << 20


@stored(
    "trace",
    step=Array("t", "<i8"),
    coef=Value(),
    intercept=Value(),
    loss=Array("t", allowed=("inf", "nan")),
    mistakes=Array("t", "<i8"),
    unit=Text(),
    stride=Whole(),
)
@dataclass(frozen=True, eq=False)
class Trace:
    """Weights, loss and wrong rows along the way, a point for each entry of ``step``.

    ``coef`` (points x p, or points x K x p for K functions) and ``intercept`` (points, or points x K) are in the units
    of the columns; ``loss`` is the criterion that is minimised, ``mistakes`` counts rows on the wrong side. ``unit``
    says what a step is, "step" or "epoch". Long runs are thinned: a point is kept every ``stride`` steps, and the first
    and last always.
    """

    step: NDArray[np.int64]
    coef: Floats
    intercept: Floats
    loss: Floats
    mistakes: NDArray[np.int64]
    unit: str
    stride: int

    def __len__(self) -> int:
        return len(self.step)

    def __repr__(self) -> str:
        thinned = f", every {self.stride}th kept" if self.stride > 1 else ""
        return f"Trace({len(self)} points up to {self.unit} {self.step[-1]}{thinned})"

    def to_frame(self, names: Sequence[str] | None = None) -> Any:
        """A pandas frame with a row for each point: step, loss, mistakes, intercept and a column for each weight."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError.for_package("pandas", "Trace.to_frame", "all") from error
        coef = self.coef.reshape(len(self), -1)
        constant = self.intercept.reshape(len(self), -1)
        functions = constant.shape[1]
        own = list(names) if names is not None else [f"x{j}" for j in range(coef.shape[1] // functions)]
        ends = [""] if functions == 1 else [f"[{k}]" for k in range(functions)]
        columns: dict[str, Any] = {self.unit: self.step, "loss": self.loss, "mistakes": self.mistakes}
        columns.update({f"(Intercept){end}": constant[:, k] for k, end in enumerate(ends)})
        labels = [f"{name}{end}" for end in ends for name in own]
        columns.update({label: coef[:, i] for i, label in enumerate(labels)})
        return pd.DataFrame(columns)


class Recorder:
    """Collects the points of a trace in bounded memory.

    When it is full, every second point goes and from then on only every second step is kept.
    The last step is always there.
    """

    def __init__(self, unit: str, numbers: int = 1) -> None:
        """``numbers`` is how many weights a point has."""
        self.unit, self.stride = unit, 1
        self._most = max(min(MOST_POINTS, MOST_NUMBERS // max(numbers, 1)), 4)
        self._points: dict[int, tuple[Floats, Any, float, int]] = {}

    def wants(self, step: int) -> bool:
        """Is a point of this step kept? If not, its loss need not be computed."""
        return step % self.stride == 0

    def add(self, step: int, coef: Floats, intercept: Any, loss: float, mistakes: int) -> None:
        last = next(reversed(self._points), 0)
        if not self.wants(last):
            del self._points[last]
        self._points[step] = (np.array(coef), np.array(intercept, dtype=float), float(loss), int(mistakes))
        if self.wants(step) and len(self._points) > self._most:
            self.stride *= 2
            self._points = {kept: point for kept, point in self._points.items() if self.wants(kept) or kept == step}

    def trace(self) -> Trace:
        coef, intercept, loss, mistakes = zip(*self._points.values(), strict=True)
        return Trace(
            np.array(list(self._points), np.int64), np.array(coef), np.array(intercept), np.array(loss),
            np.array(mistakes, np.int64), self.unit, self.stride,
        )  # fmt: skip
