"""The losses of linear classification, most of them functions of the margin m = r h."""

from __future__ import annotations

import difflib

import numpy as np

from discrim.errors import ParameterError
from discrim.losses.loss import Loss, of_margin
from discrim.typing import Floats


def find_loss(name: object) -> Loss:
    """The loss of this name."""
    if isinstance(name, str) and name in LOSSES:
        return LOSSES[name]
    known = ", ".join(repr(each) for each in LOSSES)
    near = difflib.get_close_matches(str(name), LOSSES, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise ParameterError(f"There is no loss {name!r}. {hint}The losses are {known}.")


def sigmoid(h: Floats) -> Floats:
    """1 / (1 + exp(-h)), without overflow."""
    small = np.exp(-np.abs(h))
    return np.asarray(np.where(h >= 0, 1.0, small) / (1.0 + small))


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
        Loss(
            "perceptron",
            *of_margin(lambda m: np.maximum(-m, 0.0), lambda m: np.where(m <= 0.0, -1.0, 0.0)),
            curvature=None,
            error_factor=None,
        ),
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
            curvature=None,
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
