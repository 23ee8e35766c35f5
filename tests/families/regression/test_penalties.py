"""Grids of penalties, judged by the squared error of rows of which only the statistic is left."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LassoClassifier, RidgeClassifier
from discrim.block import Block
from discrim.families.recipe import Shape, Turned
from discrim.families.regression.lasso import LassoRecipe
from discrim.families.regression.recipe import RidgeRecipe
from discrim.statistics import ClassFactors, ClassMoments, Depth, FactorsOf, MomentsOf

SHAPE = Shape(Turned(5))


def rows_of(n=70, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 5)) + rng.normal(size=(classes, 5))[y], y


def moments(x, y, depth=Depth.POOLED, kind=ClassMoments):
    return kind.of(Block(x, y.astype(np.int32), np.arange(y.max() + 1)), depth)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [RidgeClassifier, LassoClassifier])
@pytest.mark.parametrize("priors", [False, True])
def test_errors_from_statistics_are_those_of_predictions(kind, intercept, classes, priors):
    x, y = rows_of(classes=classes)
    given = np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum() if priors else None
    model = kind(fit_intercept=intercept, priors=given)
    depth = Depth.FULL if priors else Depth.POOLED
    grid = model.recipe().grid(moments(x[:40], y[:40], depth))
    parts = [moments(x[40:55], y[40:55], depth), moments(x[55:], y[55:], depth)]
    found = grid.mean_losses(moments(x[:40], y[:40], depth), SHAPE, parts)
    assert found.shape == (len(grid.settings), 2)
    for i in (0, len(grid.settings) // 2):
        fitted = model.set_params(**grid.settings[i]).fit(x[:40], y[:40])
        for column, test in enumerate((slice(40, 55), slice(55, None))):
            target = 2.0 * (y[test][:, None] == np.arange(classes)) - 1.0
            scores = fitted.decision_function(x[test])
            wrong = target[:, 1] - scores if classes == 2 else target - scores
            assert found[i, column] == pytest.approx((wrong**2).sum() / len(target), rel=1e-8)


@pytest.mark.parametrize("recipe", [RidgeRecipe(), LassoRecipe(), LassoRecipe(alpha="cv")])
def test_the_most_regularised_setting_comes_first(recipe):
    alphas = [setting["alpha"] for setting in recipe.grid(moments(*rows_of())).settings]
    assert alphas == sorted(alphas, reverse=True)


def test_penalties_of_the_ridge_grow_with_the_weight_of_the_rows():
    x, y = rows_of(n=100)
    grids = [RidgeRecipe().grid(moments(np.tile(x, (k, 1)), np.tile(y, k))) for k in (1, 10)]
    assert_allclose(grids[1].alphas, 10 * grids[0].alphas)


def test_a_fit_chooses_among_a_hundred_and_somebody_else_among_round_numbers():
    statistic = moments(*rows_of())
    assert len(LassoRecipe(alpha="cv").grid(statistic).settings) == 100
    assert len(LassoRecipe(alpha=0.3).grid(statistic).settings) == 15


def test_columns_keep_the_form_that_their_number_asks_for():
    x, y = rows_of()
    assert LassoRecipe().grid(moments(x, y, kind=ClassFactors)).reduction == FactorsOf(Depth.POOLED)
    assert LassoRecipe().grid(moments(x, y)).reduction == MomentsOf(Depth.POOLED)


def test_what_survives_a_rotation():
    assert RidgeRecipe().grid(moments(*rows_of())).rotation_invariant
    assert not LassoRecipe().grid(moments(*rows_of())).rotation_invariant
    for other in (RidgeRecipe(alpha=0.0), RidgeRecipe(positive=True), RidgeRecipe(fit_intercept=False)):
        assert not other.rotation_invariant
    assert RidgeRecipe(positive=True).grid(moments(*rows_of())) is None


def test_a_chosen_lasso_shows_the_errors_of_all_folds():
    x, y = rows_of()
    model = LassoClassifier("cv", cv=4).fit(x, y)
    assert model.cv_results_["squared_error"].shape == (100, 4)
    assert model.cv_results_["alpha"] == model.alpha_ == model.chosen.settings["alpha"]
