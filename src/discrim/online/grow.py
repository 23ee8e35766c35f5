"""New classes join a model that learns one class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.kernels import reference_online as names
from discrim.online.learning import Learning
from discrim.online.weights import Weights


def grown(
    old: NDArray[Any], weights: Weights, wanted: NDArray[Any], learning: Learning
) -> tuple[NDArray[Any], Weights]:
    """The classes ``wanted`` (sorted, with all the old ones) and weights for them.

    What was learned stays: with two classes the first is what the second is not. A new class begins at the
    score -1 for every row, which is what it would have been taught by the rows before it.
    """
    if len(wanted) == len(old):
        return old, weights
    weights.settle()
    p = weights.w.shape[1]
    places = np.searchsorted(wanted, old)
    if len(old) <= 2:
        if len(wanted) == 2:
            return wanted, (_negated(weights) if places[0] == 1 else weights)
        # The one problem becomes two, one for each side; the first side is there even where it has no class yet.
        mirrored = _negated(weights)
        larger = Weights.zeros(len(wanted), p, learning)
        larger.memory[:, names.INTERCEPT] = -1.0
        larger.put(slice(places[0], places[0] + 1), mirrored)
        if len(old) == 2:
            larger.put(slice(places[1], places[1] + 1), weights)
        return wanted, larger
    larger = weights.grown(len(wanted), p, places, learning)
    new = np.setdiff1d(np.arange(len(wanted)), places)
    larger.memory[new, names.INTERCEPT] = -1.0
    return wanted, larger


def _negated(weights: Weights) -> Weights:
    """The same boundary seen from the other side."""
    other = weights.copied()
    other.w *= -1.0
    other.memory[:, [names.INTERCEPT, names.AVERAGE_INTERCEPT]] *= -1.0
    if other.averages is not None:
        other.averages *= -1.0
    return other
