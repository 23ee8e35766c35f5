"""Held-out fits of least squares and ridge against refitting without the rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from discrim.block import Block
from discrim.families.recipe import Shape, Turned
from discrim.families.regression.recipe import LeastSquaresRecipe, RidgeRecipe
from discrim.statistics import ClassMoments, Depth


def held_out(x, codes, classes, penalty=0.0):
    """Indicators predicted without each row."""
    recipe = RidgeRecipe(alpha=penalty) if penalty else LeastSquaresRecipe()
    block, shape = Block(x, codes, np.arange(classes)), Shape(Turned(x.shape[1]))
    solved = recipe.solve(ClassMoments.of(block, Depth.POOLED), shape)
    return recipe.held_out(solved, shape)(block) / 2


def refitted(x, y, rows, penalty):
    keep = ~np.isin(np.arange(len(x)), rows)
    if penalty:
        return Ridge(alpha=penalty, solver="svd").fit(x[keep], y[keep]).predict(x[rows])
    design = np.column_stack([np.ones(len(x)), x])
    return design[rows] @ np.linalg.lstsq(design[keep], y[keep], rcond=None)[0]


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_each_row_is_predicted_as_by_the_fit_without_it(penalty):
    rng = np.random.default_rng(0)
    x, codes = rng.normal(size=(40, 5)) + 3.0, rng.integers(0, 3, 40).astype(np.int32)
    expected = np.concatenate([refitted(x, np.eye(3)[codes], np.array([i]), penalty) for i in range(len(x))])
    np.testing.assert_allclose(held_out(x, codes, 3, penalty), expected, rtol=1e-10, atol=1e-12)


def test_a_row_that_decides_a_coefficient_alone_is_nan():
    x = np.zeros((6, 1))
    x[0] = 1.0
    loo = held_out(x, np.array([0, 0, 1, 1, 0, 1], dtype=np.int32), 2)
    assert np.isnan(loo[0]).all()
    assert np.isfinite(loo[1:]).all()
