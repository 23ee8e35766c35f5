"""Every threshold on a score that makes a difference, and the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError
from discrim.typing import Floats

Loss = Callable[[Floats, Floats, Floats, Floats], Any]


@dataclass(frozen=True, eq=False)
class CutPoints:
    """All rules "positive where the score is above t" that differ on some rows, t ascending from -inf to inf.

    ``tn``, ``fp``, ``fn`` and ``tp`` are the weights of true negatives to true positives of each. A ``points[i]`` lies
    in the middle between two scores, or at the usual threshold where that lies between them.
    """

    points: Floats
    tn: Floats
    fp: Floats
    fn: Floats
    tp: Floats

    @classmethod
    def of(cls, score: Floats, is_positive: NDArray[np.bool_], weight: Floats, usual: float) -> CutPoints:
        """Cost: one sort."""
        values, place = np.unique(score, return_inverse=True)
        fn, tn = (
            np.concatenate([[0.0], np.cumsum(np.bincount(place, weight * of, len(values)))])
            for of in (is_positive, ~is_positive)
        )
        if fn[-1] <= 0 or tn[-1] <= 0:
            raise DataError(
                "A threshold needs rows of both classes to be chosen by; one of them has none here, or none with a "
                "positive sample_weight."
            )
        return cls(_points(values, usual), tn, tn[-1] - tn, fn, fn[-1] - fn)

    def best(self, criterion: str | Loss, target: float, costs: Floats, usual: float) -> float:
        """The point of least loss; of several the one nearest to the usual threshold."""
        first, second = self.losses(criterion, target, costs)
        tied = first <= first.min() + 1e-12 * abs(first.min())
        tied &= second <= second[tied].min()
        places = np.flatnonzero(tied)
        return float(self.points[places[np.abs(self.points[places] - usual).argmin()]])

    def losses(self, criterion: str | Loss, target: float, costs: Floats) -> tuple[Floats, Floats]:
        """What is made small, and what decides between points where that is equal."""
        nothing = np.zeros(len(self.points))
        if criterion == "error":
            return self.fp + self.fn, nothing
        if criterion == "cost":
            table = np.array([[self.tn, self.fp], [self.fn, self.tp]])
            return np.einsum("kj,kji->i", costs, table), nothing
        if criterion == "sensitivity":
            return np.where(_reaches(self.tp, self.tp[0], target), self.fp, np.inf), self.fn
        if criterion == "specificity":
            return np.where(_reaches(self.tn, self.tn[-1], target), self.fn, np.inf), self.fp
        assert callable(criterion)
        return self._called(criterion), nothing

    def _called(self, criterion: Loss) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.asarray(criterion(self.tn, self.fp, self.fn, self.tp), dtype=np.float64)
        if loss.shape != self.points.shape:
            raise ParameterError(
                "The 'criterion' parameter must return one number for each cut point when it is called with arrays "
                f"(tn, fp, fn, tp) of {len(self.points)} numbers; it returned the shape {loss.shape}."
            )
        loss = np.where(np.isnan(loss), np.inf, loss)
        if np.isposinf(loss).all():
            raise ParameterError("The 'criterion' parameter returned NaN or infinity for every cut point.")
        return loss


def _points(values: Floats, usual: float) -> Floats:
    """A score equal to a point counts as negative, so a point is at least the score before it."""
    middle = values[:-1] + 0.5 * (values[1:] - values[:-1])
    middle = np.where(middle < values[1:], middle, values[:-1])
    points = np.concatenate([[-np.inf], middle, [np.inf]])
    points[np.searchsorted(values, usual, side="right")] = usual
    return points


def _reaches(part: Floats, whole: float, target: float) -> NDArray[np.bool_]:
    return np.asarray(part >= (target - 1e-12) * whole)
