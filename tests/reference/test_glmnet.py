"""R's glmnet says the same: lasso, elastic net and ridge, and their cross-validation, at the same lambdas.

glmnet minimises mean loss + lambda (l1_ratio |beta|_1 + (1 - l1_ratio) / 2 |beta|^2), the mean taken with the
weights. Without standardising that is scikit-learn's objective with C = 1 / (lambda sum of weights), so the same
numbers hold ``logistic_path`` and ``LogisticRegression`` to account. The runs of R have thresh = 1e-26, which
leaves gradients of about 1e-13. The calls are in glmnet.json.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import PredefinedSplit

from discrim import LogisticRegression, logistic_path
from discrim.datasets import load_crabs

NUMBERS = json.loads((Path(__file__).parent / "glmnet.json").read_text())
PATHS = list(NUMBERS["paths"])
RAW = [name for name in PATHS if name.endswith("_raw")]
L1_RATIO = {"lasso": 1.0, "net": 0.5, "ridge": 0.0}


def data(name):
    """Columns, labels, and the weights of the cases that have them."""
    if name.startswith("cancer"):
        return *load_breast_cancer(return_X_y=True), None
    if name.startswith("wine"):
        return *load_wine(return_X_y=True), None
    crabs = load_crabs()
    weight = 0.3 + (np.arange(200) % 5) / 4 if "weighted" in name else None
    return crabs.data, (crabs.extra["sex"] == "M").astype(int), weight


def l1_ratio_of(name):
    return next((ratio for word, ratio in L1_RATIO.items() if word in name), 1.0)


def stacked(coef):
    """lambdas x columns, or lambdas x classes x columns."""
    return np.array(list(coef.values()) if isinstance(coef, dict) else coef)


@cache
def path(name, gap=1e-20):
    X, y, weight = data(name)
    return logistic_path(
        X,
        y,
        l1_ratio=l1_ratio_of(name),
        lambdas=NUMBERS["paths"][name]["lambda"],
        sample_weight=weight,
        standardize=not name.endswith("_raw"),
        fit_intercept="no_intercept" not in name,
        gap=gap,
    )


def centred(intercept):
    """Softmax intercepts can all be moved together; glmnet's sum to zero."""
    intercept = np.asarray(intercept)
    return intercept - intercept.mean(axis=-1, keepdims=True) if intercept.shape[-1:] == (3,) else intercept


@pytest.mark.parametrize("name", PATHS)
def test_the_coefficients_along_the_path_are_those_of_glmnet(name):
    expected = NUMBERS["paths"][name]
    wanted = stacked(expected["coef"])
    found = path(name)
    assert_allclose(found.lambdas, expected["lambda"], rtol=1e-15)
    assert found.coef.shape == wanted.shape
    scale = data(name)[0].std(axis=0)
    assert_allclose(found.coef * scale, wanted * scale, rtol=1e-7, atol=1e-8)
    assert_array_equal(found.coef != 0, wanted != 0)


@pytest.mark.parametrize("name", PATHS)
def test_six_digits_are_those_of_glmnet_unless_more_are_asked_for(name):
    wanted, found = stacked(NUMBERS["paths"][name]["coef"]), path(name, gap=None)
    scale = data(name)[0].std(axis=0)
    assert_allclose(found.coef * scale, wanted * scale, rtol=0, atol=1e-6 * np.abs(wanted * scale).max())


@pytest.mark.parametrize("name", PATHS)
def test_the_intercepts_along_the_path_are_those_of_glmnet(name):
    wanted = np.array(NUMBERS["paths"][name]["intercept"])
    assert_allclose(centred(path(name).intercept), centred(wanted), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", PATHS)
def test_the_share_of_deviance_explained_is_that_of_glmnet(name):
    assert_allclose(path(name).dev_ratio, NUMBERS["paths"][name]["dev_ratio"], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", RAW)
@pytest.mark.parametrize("step", range(4))
def test_a_single_fit_is_the_point_of_the_path_at_its_lambda(name, step):
    X, y, weight = data(name)
    expected = NUMBERS["paths"][name]
    total = len(y) if weight is None else weight.sum()
    model = LogisticRegression(
        C=1 / (expected["lambda"][step] * total),
        l1_ratio=l1_ratio_of(name),
        fit_intercept="no_intercept" not in name,
        tol=1e-12,
        max_iter=100_000,
    ).fit(X, y, sample_weight=weight)
    scale = X.std(axis=0)
    wanted = np.atleast_2d(stacked(expected["coef"])[step])
    assert_allclose(model.coef_ * scale, wanted * scale, rtol=1e-6, atol=1e-7)
    assert_allclose(
        centred(model.intercept_), centred(np.atleast_1d(expected["intercept"][step])), rtol=1e-6, atol=1e-6
    )


def test_the_grid_of_lambdas_is_that_of_glmnet():
    wanted = NUMBERS["own_grid"]["lambda"]
    X, y, _ = data("cancer")
    assert_allclose(logistic_path(X, y, l1_ratio=1.0, n_lambdas=20).lambdas[: len(wanted)], wanted, rtol=1e-8)


CV = list(NUMBERS["cv"])


@cache
def crossed(name):
    X, y, weight = data(name)
    expected = NUMBERS["cv"][name]
    return logistic_path(
        X,
        y,
        l1_ratio=l1_ratio_of(name),
        lambdas=expected["lambda"],
        sample_weight=weight,
        standardize=not name.endswith("_raw"),
        cv=PredefinedSplit(expected["fold"]),
    )


@pytest.mark.parametrize("name", CV)
def test_the_deviance_of_left_out_folds_is_that_of_cv_glmnet(name):
    expected = NUMBERS["cv"][name]
    assert_allclose(crossed(name).cv_mean, expected["cvm"], rtol=1e-6)
    assert_allclose(crossed(name).cv_se, expected["cvsd"], rtol=1e-6)


@pytest.mark.parametrize("name", CV)
def test_the_chosen_lambdas_are_those_of_cv_glmnet(name):
    expected = NUMBERS["cv"][name]
    assert crossed(name).lambda_min_ == pytest.approx(expected["lambda_min"], rel=1e-12)
    assert crossed(name).lambda_1se_ == pytest.approx(expected["lambda_1se"], rel=1e-12)
