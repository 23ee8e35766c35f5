"""R's pROC says the same: areas, DeLong intervals and the paired test. The numbers are in roc.json."""

from __future__ import annotations

import json
from pathlib import Path

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
    assert_allclose(found.auc_ci(0.95), expected["ci95"], rtol=1e-10)
    assert_allclose(found.auc_ci(0.80), expected["ci80"], rtol=1e-10)


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
