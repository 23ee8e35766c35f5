"""R's pROC says the same: areas, DeLong intervals and the paired test. The numbers are in roc.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim.datasets import load_endometrial, load_iris
from discrim.evaluation import compare_auc, roc

NUMBERS = json.loads((Path(__file__).parent / "roc.json").read_text())


def iris():
    X, y = load_iris().xy
    keep = y != "setosa"
    X = X[keep]
    return y[keep], {"sepal_length": X[:, 0], "sepal_width": X[:, 1], "petal_width": X[:, 3]}


def endometrial():
    data = load_endometrial()
    X = dict(zip(data.feature_names, data.data.T, strict=True))
    return data.target, {"pi": X["PI"], "eh": -X["EH"]}


SCORES = {"iris": iris, "endometrial": endometrial}
CURVES = [(name, score) for name, of in SCORES.items() for score in of()[1]]


@pytest.mark.parametrize(("name", "score"), CURVES)
def test_the_area_and_its_interval_are_those_of_pROC(name, score):
    y, scores = SCORES[name]()
    expected, found = NUMBERS[name][score], roc(y, scores[score])
    assert_allclose(found.auc, expected["auc"], rtol=1e-12)
    assert_allclose(found.auc_std_error**2, expected["variance"], rtol=1e-10)
    assert_allclose(found.auc_ci(0.95, "delong"), expected["ci95"], rtol=1e-10)
    assert_allclose(found.auc_ci(0.80, "delong"), expected["ci80"], rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "pair", "first", "second"),
    [
        ("iris", "pair", "sepal_length", "petal_width"),
        ("iris", "pair_sepal", "sepal_length", "sepal_width"),
        ("endometrial", "pair", "pi", "eh"),
    ],
)
def test_the_paired_test_is_that_of_pROC(name, pair, first, second):
    y, scores = SCORES[name]()
    expected, found = NUMBERS[name][pair], compare_auc(y, scores[first], scores[second])
    assert_allclose(found.auc, expected["auc"], rtol=1e-12)
    assert_allclose(found.statistic, expected["statistic"], rtol=1e-8)
    assert_allclose(found.p_value, expected["p_value"], rtol=1e-8)
    assert_allclose(found.ci(), expected["ci"], rtol=1e-8)


POINTS = NUMBERS["points"]
TO_CORNER, WEIGHTED = {"best_method": "closest.topleft"}, {"best_weights": (3, 0.2)}


def number(entry):
    return {"NA": np.nan, "-Inf": -np.inf}.get(entry, entry)


@pytest.mark.parametrize(
    ("kind", "x", "options"),
    [
        ("youden", "best", {}),
        ("closest", "best", TO_CORNER),
        ("weighted", "best", WEIGHTED),
        ("weighted_closest", "best", TO_CORNER | WEIGHTED),
        ("specificity", [0.9, 0.95, 0.88, 0.05, 0, 1], {"input": "specificity"}),
        ("sensitivity", [0.9, 0.8, 0.44, 0.05, 1], {"input": "sensitivity"}),
        ("threshold", [6.05, 6.25], {"input": "threshold"}),
    ],
)
def test_points_are_those_of_pROC(kind, x, options):
    y, scores = iris()
    found = np.asarray(roc(y, scores["sepal_length"]).coords(x, **options))
    expected = np.array([[number(entry) for entry in row] for row in POINTS[kind]], float)
    assert_allclose(found[:, : expected.shape[1]], expected, rtol=1e-9)


@pytest.mark.parametrize("entry", POINTS["parts"], ids=lambda entry: f"{entry['focus']}-{entry['correct']}")
def test_partial_areas_are_those_of_pROC(entry):
    y, scores = iris()
    curve, more = roc(y, scores["sepal_length"]), {"focus": entry["focus"], "correct": entry["correct"]}
    assert_allclose(curve.partial_auc((1, 0.8), **more), entry["high"], rtol=1e-9)
    assert_allclose(curve.partial_auc((0.9, 0.3), **more), entry["low"], rtol=1e-9)


def test_the_unpaired_test_is_that_of_pROC():
    y, scores = iris()
    found = compare_auc(roc(y, scores["sepal_length"]), roc(y[::2], scores["petal_width"][::2]))
    assert_allclose(found.statistic, POINTS["unpaired"]["statistic"], rtol=1e-9)
    assert_allclose(found.df, POINTS["unpaired"]["df"], rtol=1e-9)
    assert_allclose(found.p_value, POINTS["unpaired"]["p_value"], rtol=1e-8)


def test_bootstrap_tests_and_intervals_are_those_of_pROC_but_for_chance():
    y, scores = iris()
    length, width = (roc(y, scores[name]) for name in ("sepal_length", "sepal_width"))
    half = roc(y[::2], scores["petal_width"][::2])
    for kind, found in (
        ("bootstrap", compare_auc(length, width, method="bootstrap")),
        ("bootstrap_unpaired", compare_auc(length, half, method="bootstrap")),
        ("bootstrap_partial", compare_auc(length, width, method="bootstrap", bounds=(1, 0.8))),
    ):
        # 2,000 draws leave a sixtieth of the standard error to chance.
        assert_allclose(found.statistic, POINTS[kind]["statistic"], rtol=0.07)
    assert_allclose(length.partial_auc_ci((1, 0.8)), POINTS["ci_partial"], atol=0.004)
    for kind, fixed, free in (("ci_se", "specificity", "sensitivity"), ("ci_sp", "sensitivity", "specificity")):
        found = length.ci_coords([0.9, 0.8], input=fixed)
        ends = np.column_stack([found[f"{free} lower"], found[f"{free} upper"]])
        assert_allclose(ends, POINTS[kind], atol=0.031)
