"""The losses of linear classification: what a score costs, row by row, and how fast the cost changes."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.errors import ParameterError
from discrim.typing import Floats

Pointwise = Callable[[Floats, Floats], Floats]
Codes = NDArray[np.integer]

# The change of the slope is at most this part of the change of the scores: p p' - diag(p) has no larger eigenvalue.
SOFTMAX_CURVATURE = 0.5

# 1 / (1 + exp(-h)), without overflow.
sigmoid = special.expit


@dataclass(frozen=True)
class Loss:
    """The cost of score h for target r, entry by entry.

    ``value(h, r)`` is the cost and ``slope(h, r)`` its derivative by h; at a kink the one that still corrects, so that
    a row on the boundary counts as wrong, as in the lectures. Targets are ``targets[0]`` for the first class and
    ``targets[1]`` for the second.

    ``convex`` says whether the cost is convex in h. ``curvature`` bounds the change of the slope, |slope(a) - slope(b)|
    <= curvature |a - b|, which gives safe steps; None where there is a kink. ``error_factor`` is the least c for which
    c value is at least 1 on every wrong row (r h <= 0), None where no c will do: with c = 1 the cost itself bounds the
    number of errors.
    """

    name: str
    value: Pointwise
    slope: Pointwise
    curvature: float | None = None
    error_factor: float | None = None
    convex: bool = True
    targets: tuple[float, float] = (-1.0, 1.0)

    @property
    def smooth(self) -> bool:
        return self.curvature is not None

    @property
    def bounds_error(self) -> bool:
        """Is the cost at least the 0/1 error?"""
        return self.error_factor is not None and self.error_factor <= 1.0


def of_margin(value: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> tuple[Pointwise, Pointwise]:
    """Value and slope by (h, r) of a cost that depends on the margin m = r h alone, for r = +-1."""
    return lambda h, r: value(r * h), lambda h, r: r * slope(r * h)


def find_loss(name: object) -> Loss:
    """The loss of this name."""
    if isinstance(name, str) and name in LOSSES:
        return LOSSES[name]
    known = ", ".join(repr(each) for each in LOSSES)
    near = difflib.get_close_matches(str(name), LOSSES, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise ParameterError(f"There is no loss {name!r}. {hint}The losses are {known}.")


def _squared(h: Floats, r: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(0.5 * (r - h) ** 2)


def _cross_entropy(h: Floats, r: Floats) -> Floats:
    """- r log y - (1 - r) log(1 - y) with y = sigmoid(h); targets may be shares between 0 and 1."""
    return np.asarray(r * np.logaddexp(0.0, -h) + (1.0 - r) * np.logaddexp(0.0, h))


def _log(m: Floats) -> Floats:
    return np.logaddexp(0.0, -m)


def _squared_hinge(m: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(1.0 - m, 0.0) ** 2)


def _modified_huber(m: Floats) -> Floats:
    """(1 - m)^2 from -1 to 1, zero beyond, and the straight line -4 m before: outliers pull no harder than that."""
    return np.asarray(np.where(m >= -1.0, np.clip(1.0 - m, 0.0, 2.0) ** 2, -4.0 * m))


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("perceptron", *of_margin(lambda m: np.maximum(-m, 0.0), lambda m: np.where(m <= 0.0, -1.0, 0.0))),
        Loss("squared", _squared, lambda h, r: np.asarray(h - r), curvature=1.0, error_factor=2.0),
        Loss(
            "cross_entropy",
            _cross_entropy,
            lambda h, r: np.asarray(sigmoid(h) - r),
            curvature=0.25,
            error_factor=float(1.0 / np.log(2.0)),
            targets=(0.0, 1.0),
        ),
        Loss(
            "log", *of_margin(_log, lambda m: -sigmoid(-m)), curvature=0.25, error_factor=float(1.0 / np.log(2.0))
        ),
        Loss(
            "hinge",
            *of_margin(lambda m: np.maximum(1.0 - m, 0.0), lambda m: np.where(m <= 1.0, -1.0, 0.0)),
            error_factor=1.0,
        ),
        Loss(
            "squared_hinge",
            *of_margin(_squared_hinge, lambda m: -2.0 * np.maximum(1.0 - m, 0.0)),
            curvature=2.0,
            error_factor=1.0,
        ),
        Loss(
            "modified_huber",
            *of_margin(_modified_huber, lambda m: np.where(m >= -1.0, -2.0 * np.clip(1.0 - m, 0.0, 2.0), -4.0)),
            curvature=2.0,
            error_factor=1.0,
        ),
    )
}  # fmt: skip


def softmax_loss(h: Floats, code: Codes) -> tuple[Floats, Floats]:
    """- log p_code with p = softmax(h), n, for scores n x K and the numbers of the classes, n; and its slopes, n x K.

    The derivatives by the scores are p - 1 for the row's own class and p for the others.
    """
    own = np.arange(len(h)), code
    shifted = h - h.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1)
    slope = e / total[:, None]
    slope[own] -= 1.0
    return np.log(total) - shifted[own], slope


def softmax(h: Floats) -> Floats:
    """exp(h_k) / sum exp(h), without overflow."""
    e = np.exp(h - h.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))
