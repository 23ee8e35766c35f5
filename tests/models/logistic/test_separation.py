"""Separated classes are told, and Firth's likelihood answers where the plain one cannot."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris

from discrim import LogisticRegression
from discrim.datasets import load_endometrial
from discrim.errors import SeparationWarning

pytestmark = pytest.mark.filterwarnings("error")

CASE_A = np.repeat([0.0, 1.0], 10)[:, None], np.array([0, 1] * 5 + [1] * 10)


def separated(X, y, **parameters):
    with pytest.warns(SeparationWarning):
        return LogisticRegression(C=np.inf, **parameters).fit(X, y)


def test_an_infinite_slope_is_told_with_its_column_and_direction():
    X, y = CASE_A
    with pytest.warns(SeparationWarning, match=r"separated.*'x0'.*infinite.*bias_reduction='firth'") as caught:
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert caught[0].filename == __file__
    found = model.separation_
    assert (found.separated, found.complete, found.columns, found.classes) == (True, False, ["x0"], [0, 1])
    assert_array_equal(np.sign(found.direction), [0, 1])
    summary = model.summary()
    assert summary.coef[1] == np.inf
    assert not np.isfinite(summary.std_error[1])
    # Where x is 0 half of the rows are of either class.
    assert_allclose(summary.coef[0], 0, atol=1e-8)
    assert_allclose(summary.std_error[0], np.sqrt(4 / 10), rtol=1e-6)
    assert_allclose(summary.deviance, 20 * np.log(2), rtol=1e-8)
    assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.5, 1.0], atol=1e-6)


def test_the_endometrial_column_is_infinite_and_the_others_are_those_of_the_limit():
    pytest.importorskip("pandas")
    frame = load_endometrial().frame()
    model = separated(frame[["NV", "PI", "EH"]], frame.iloc[:, -1])
    summary = model.summary()
    assert model.separation_.columns == ["NV"]
    assert_allclose(summary.coef, [4.30452, np.inf, -0.04218, -2.90261], atol=6e-6)
    assert "Inf" in str(summary)


def test_firths_estimates_are_finite_and_those_of_the_literature():
    X, y = CASE_A
    model = LogisticRegression(C=np.inf, bias_reduction="firth").fit(X, y)
    assert_allclose(model.coef_, [[3.0445]], atol=5e-5)
    assert_allclose(model.summary().std_error[1], 1.6446, atol=5e-5)
    assert model.separation_.separated
    X, y = load_endometrial().xy
    model = LogisticRegression(C=np.inf, bias_reduction="firth").fit(X, y)
    assert_allclose(model.summary().coef, [3.77456, 2.92927, -0.03475, -2.60416], atol=6e-6)
    assert_allclose(model.summary().std_error, [1.48869, 1.55076, 0.03958, 0.77602], atol=6e-6)
    assert model.solver_ == "firth"


def test_one_iris_against_the_rest_is_separated_completely():
    X, y = load_iris(return_X_y=True)
    model = separated(X, y == 0)
    assert model.separation_.complete
    direction = model.separation_.direction
    margins = (direction[0] + X @ direction[1:]) * np.where(y == 0, 1, -1)
    assert margins.min() > 0
    assert model.score(X, y == 0) == 1.0
    assert np.isinf(model.summary().coef).all()


def test_of_three_irises_one_is_kept_apart():
    X, y = load_iris(return_X_y=True)
    model = separated(X, y)
    assert (model.separation_.separated, model.separation_.complete) == (True, False)
    later = LogisticRegression(C=np.inf).fit(X[y > 0], y[y > 0])
    # The two classes that overlap are told apart as if the third were not there.
    assert_allclose(model.summary().deviance, later.summary().deviance, rtol=1e-6)
    assert not later.separation_.separated


def test_quasi_complete_separation_leaves_the_other_estimates_as_they_are_in_the_limit():
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=200), np.repeat([0.0, 1.0], 100)
    y = np.where(group == 1, 1, rng.random(200) < 1 / (1 + np.exp(-x))).astype(int)
    model = separated(np.column_stack([x, group]), y)
    alone = LogisticRegression(C=np.inf).fit(x[:100, None], y[:100])
    assert_allclose(model.summary().coef[:2], alone.summary().coef, rtol=1e-7)
    assert_allclose(model.summary().std_error[:2], alone.summary().std_error, rtol=1e-6)
    assert model.summary().coef[2] == np.inf


def test_overlapping_classes_are_not_called_separated():
    rng = np.random.default_rng(1)
    for size in (0.1, 1.0, 8.0):
        X = rng.normal(size=(400, 3))
        y = (rng.random(400) < 1 / (1 + np.exp(-size * X.sum(axis=1)))).astype(int)
        model = LogisticRegression(C=np.inf).fit(X, y)
        assert not model.separation_.separated
        assert model.separation_.columns == []
        assert np.isfinite(model.summary().std_error).all()


def test_one_row_on_the_wrong_side_makes_large_but_finite_estimates():
    x = np.concatenate([np.linspace(-1, 0, 50), np.linspace(0.01, 1, 50), [-1e-3]])
    y = np.repeat([0, 1, 1], [50, 50, 1])
    model = LogisticRegression(C=np.inf).fit(x[:, None], y)
    assert not model.separation_.separated
    assert model.coef_[0, 0] > 50
    assert np.isfinite(model.summary().std_error).all()


def test_with_a_penalty_separation_is_looked_for_when_asked_and_needs_no_warning():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y == 0)
    assert model.separation_.separated
    assert np.isfinite(model.summary().coef).all()
    assert not LogisticRegression().fit(X, y == 1).separation_.separated


def test_separation_is_found_whatever_the_units():
    X, y = load_breast_cancer(return_X_y=True)
    assert separated(X, y).separation_.complete
    X, y = load_endometrial().xy
    X = np.asarray(X, float)
    moved = separated(X * [1e-6, 1.0, 1e6] + [1e3, 0, 0], y)
    assert moved.separation_.columns in (["x0"], ["(Intercept)", "x0"])
    assert_allclose(moved.summary().coef[2:] * [1.0, 1e6], [-0.04218, -2.90261], atol=1e-5)


def test_separated_groups_are_found_from_shares():
    X, successes = np.array([[0.0], [1.0]]), np.array([5, 10])
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(X, successes, trials=10)
    assert model.separation_.columns == ["x0"]
    assert_allclose(model.summary().coef, [0.0, np.inf], atol=1e-8)


def test_a_class_without_weight_makes_the_intercept_infinite_and_nothing_else():
    X, y = CASE_A
    with pytest.warns(SeparationWarning, match="Class 0 has no weight: its probability is estimated as 0") as told:
        model = LogisticRegression(C=np.inf).fit(X, y, (y == 1).astype(float))
    assert len(told) == 1
    assert model.separation_.columns == ["(Intercept)"]
    assert model.summary().coef[0] == np.inf
    assert np.isfinite(model.summary().coef[1:]).all()


@pytest.mark.parametrize("gone", ["a", "c"])
def test_one_of_three_classes_without_weight_leaves_the_fit_of_the_others(gone):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 2)), np.array(["a", "b", "c"])[np.arange(90) % 3]
    kept = y != gone
    two = LogisticRegression(C=np.inf).fit(X[kept], y[kept])
    with pytest.warns(SeparationWarning, match=f"Class '{gone}' has no weight") as told:
        model = LogisticRegression(C=np.inf, reference="b").fit(X, y, kept.astype(float))
    assert len(told) == 1
    assert model.separation_.classes == [gone]
    assert model.separation_.columns == ["(Intercept)"]
    assert_allclose(model.predict_proba(X)[:, np.isin(model.classes_, two.classes_)], two.predict_proba(X), atol=1e-7)
    summary = model.summary().to_frame()
    assert summary.loc[f"{gone}:(Intercept)", "Estimate"] == -np.inf
    other = "a" if gone == "c" else "c"
    assert np.isfinite(summary.filter(like=f"{other}:", axis=0).to_numpy()).all()


@pytest.mark.parametrize("parameters", [{}, {"l1_ratio": 1.0}, {"class_weight": {1: 0.0}}])
def test_a_class_without_weight_is_named_under_a_penalty_too(parameters):
    X, y = CASE_A
    weight = None if "class_weight" in parameters else (y == 0).astype(float)
    with pytest.warns(SeparationWarning, match="Class 1 has no weight"):
        model = LogisticRegression(**parameters).fit(X, y, weight)
    assert model.separation_.columns == ["(Intercept)"]
    assert model.predict_proba(X)[:, 1].max() < 1e-9


def test_more_columns_than_rows_are_separated():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    model = separated(X, y)
    assert model.separation_.complete
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("parameters", [{}, {"l1_ratio": 1.0}, {"C": np.inf, "bias_reduction": "firth"}])
def test_penalised_fits_of_separated_classes_are_silent(parameters):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(**parameters).fit(X[:100], y[:100])
    assert model.score(X[:100], y[:100]) == 1.0


@pytest.mark.parametrize("classes", [2, 6])
def test_overlap_of_a_penalised_fit_is_proved_without_a_linear_program(classes, monkeypatch):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(600, 5)), rng.integers(0, classes, 600)
    model = LogisticRegression(C=0.1).fit(x, labels)
    monkeypatch.setattr("discrim.families.logistic.separation.linprog", None)
    assert not model.separation_.separated


def test_the_warning_names_the_classes_that_are_kept_apart():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    with pytest.warns(SeparationWarning, match=r"^Class 'setosa' is separated from the others: the estimates of"):
        LogisticRegression(C=np.inf).fit(X, names)
    with pytest.warns(SeparationWarning, match=r"^The classes False, True are completely separated: the estimates of"):
        LogisticRegression(C=np.inf).fit(X, y == 0)
    with pytest.warns(SeparationWarning, match=r"^The classes 0, 1 are separated: the estimate of 'x0' is infinite"):
        LogisticRegression(C=np.inf).fit(*CASE_A)
