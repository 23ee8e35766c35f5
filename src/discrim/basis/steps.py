"""Steps at thresholds of single columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.basis.base import Basis
from discrim.basis.knots import place_knots
from discrim.errors import ParameterError


class StepBasis(Basis):
    """1{x_j > t} or sign(x_j - t) for every column j and each of its thresholds t.

    A linear rule in steps is an additive one that is constant between thresholds.

    Parameters
    ----------
    knots : int, array, or a list of arrays: how many thresholds a column, or the thresholds themselves
    values : {'step', 'sign'}: 0 and 1, or -1, 0 and 1
    placement : {'quantile', 'uniform'}, where a number of thresholds is placed

    Attributes
    ----------
    knots_ : list of the thresholds of each column

    Examples
    --------
    >>> from discrim.basis import StepBasis
    >>> StepBasis(knots=[0.0, 1.0]).fit_transform([[-1.0], [0.5], [2.0]])
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    def __init__(self, knots: Any = 5, *, values: str = "step", placement: str = "quantile") -> None:
        self.knots = knots
        self.values = values
        self.placement = placement

    def _learn(self, x: NDArray[np.float64]) -> None:
        if self.values not in {"step", "sign"}:
            raise ParameterError.bad_value("values", self.values, "'step' or 'sign'")
        self.knots_ = place_knots(x, self.knots, self.placement)

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        gaps = np.concatenate([x[:, [j]] - knots for j, knots in enumerate(self.knots_)], axis=1)
        # A missing value has no side; the comparison would give it one.
        steps = np.where(np.isnan(gaps), np.nan, gaps > 0) if self.values == "step" else np.sign(gaps)
        return np.asarray(steps, dtype=x.dtype)

    def names_of(self, names: Sequence[str]) -> list[str]:
        text = "{name}>{t:.6g}" if self.values == "step" else "sign({name}-{t:.6g})"
        return [text.format(name=name, t=t) for name, knots in zip(names, self.knots_, strict=True) for t in knots]
