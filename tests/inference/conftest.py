"""A logistic regression put together from its parts, for tests of what is reported about it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discrim.block import Block
from discrim.engines import RowPasses, passes_over
from discrim.families.logistic.objective import Coordinates, Objective, newton
from discrim.inference.fitted import Fitted
from discrim.sources import open_rows

TINY = 1e-300


def rows_of(x, y, weight=None, offset=None, trials=None):
    """Rows of labels, or of numbers of successes among ``trials``."""
    if trials is None:
        rows = RowPasses(open_rows(x, y, weight))
        return passes_over(dataclasses.replace(rows.whole, offset=offset))
    share = np.divide(y, trials, out=np.zeros(len(y)), where=trials > 0)
    block = Block(x, (share > 0.5).astype(np.int32), np.array([0, 1]), trials.astype(float), offset, share)
    return passes_over(block)


def saturated_loss(rows):
    if rows.whole.share is None:
        return 0.0
    s, w = rows.whole.share, rows.whole.weight
    return -float(w @ (s * np.log(np.maximum(s, TINY)) + (1 - s) * np.log(np.maximum(1 - s, TINY))))


def fit_rows(rows, *, reference=0, intercept=True, alpha=0.0, aliased=(), **more):
    """The ``Fitted`` of these rows by Newton's method, as a model would make it."""
    x = rows.whole.x
    p, classes = x.shape[1], rows.whole.classes
    softmax = len(classes) > 2
    dense = x if isinstance(x, np.ndarray) else x.toarray()
    coordinates = Coordinates(dense.mean(axis=0) * intercept, np.maximum(dense.std(axis=0), TINY), intercept)
    objective = Objective(rows, classes, coordinates, softmax=softmax)
    free = np.ones(objective.shape, bool)
    if softmax and not alpha:
        free[reference] = False
    free[..., [j + intercept for j in aliased]] = False
    ridge = np.zeros(objective.shape)
    ridge[..., int(intercept) :] = alpha / coordinates.scale**2
    solution = newton(objective, np.zeros(objective.shape), ridge=ridge, free=free)
    null_free = free.copy()
    null_free[..., int(intercept) :] = False
    null = newton(objective, np.zeros(objective.shape), free=null_free)
    is_aliased = np.zeros(1 + p, bool)
    is_aliased[[1 + j for j in aliased]] = True
    settings = {
        "objective": objective, "coordinates": coordinates, "solution": solution, "free": free, "ridge": ridge,
        "aliased": is_aliased, "names": [f"x{j}" for j in range(p)], "terms": [(f"x{j}", [j]) for j in range(p)],
        "classes": classes, "rows": solution.at.rows, "weight": solution.at.weight, "null_loss": null.loss,
        "saturated_loss": saturated_loss(rows), "reference": reference, "penalty": "l2" if alpha else "none",
    }  # fmt: skip
    return Fitted(**{**settings, **more})


def fit_xy(x, y, *, weight=None, offset=None, trials=None, **settings):
    return fit_rows(rows_of(x, y, weight, offset, trials), **settings)


@pytest.fixture(scope="session")
def fit():
    """``fit(x, y, weight=, offset=, trials=, reference=, intercept=, alpha=, aliased=, ...) -> Fitted``."""
    return fit_xy


@pytest.fixture(scope="session")
def fit_of_rows():
    return fit_rows


@pytest.fixture(scope="session")
def binary():
    """Columns of very unequal scale and place, and labels 'no' and 'yes'."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 3)) * [1.0, 1e3, 1e-2] + [0.0, 5e3, 1.0]
    eta = 0.3 + x[:, 0] - 1.5e-3 * (x[:, 1] - 5e3) + 40 * (x[:, 2] - 1.0)
    return x, np.where(rng.random(150) < 1 / (1 + np.exp(-eta)), "yes", "no")


@pytest.fixture(scope="session")
def grouped():
    """Successes among trials, with a known part of the log-odds."""
    rng = np.random.default_rng(2)
    x = rng.normal(loc=[0.0, 3.0], size=(40, 2))
    trials, offset = rng.integers(1, 12, 40), rng.normal(size=40) * 0.3
    eta = offset + x @ [0.8, -0.5] + 1.0
    return x, rng.binomial(trials, 1 / (1 + np.exp(-eta))), trials, offset


@pytest.fixture(scope="session")
def three():
    """Three classes 'a', 'b', 'c'."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2)) * [1.0, 10.0] + [0.0, 40.0]
    scores = np.column_stack([np.zeros(200), 0.5 + x[:, 0], 0.1 * (x[:, 1] - 40) - 0.3])
    return x, np.array(["a", "b", "c"])[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]
