"""Tests of discriminant analysis against R, published tables, scipy.stats and brute force."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg, stats

from discrim import LinearDiscriminantAnalysis
from discrim.datasets import load_crabs, load_iris
from discrim.inference.discriminant import (
    box_m,
    coefficient_table,
    structure_loadings,
    univariate_f,
    wilks_tests,
)

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "mass.json"


class Sums:
    """Weights, means and scatter of labelled rows, by the textbook."""

    def __init__(self, x, y):
        groups = [x[y == k] for k in np.unique(y)]
        self.weight = np.array([float(len(g)) for g in groups])
        self.mean = np.array([g.mean(axis=0) for g in groups])
        self.scatter = np.array([(g - g.mean(axis=0)).T @ (g - g.mean(axis=0)) for g in groups])
        self.within = self.scatter.sum(axis=0)
        self.total = (x - x.mean(axis=0)).T @ (x - x.mean(axis=0))
        self.n, self.p, self.K = len(x), x.shape[1], len(groups)

    @property
    def eigen(self):
        values, vectors = linalg.eigh(self.total - self.within, self.within)
        most = min(self.p, self.K - 1)
        return values[::-1][:most], vectors[:, ::-1][:, :most]

    def wilks_tests(self):
        return wilks_tests(self.eigen[0], self.n, self.p, self.K)


@pytest.fixture(scope="module", params=["iris", "crabs"])
def case(request):
    data = load_iris() if request.param == "iris" else load_crabs(log=True)
    return Sums(*data.xy), json.loads(REFERENCE.read_text())[request.param]["canonical"]


@pytest.fixture(scope="module")
def iris():
    return Sums(*load_iris().xy)


def normal_rows(sizes, p, seed, gap=0.5):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), p)) + gap * rng.normal(size=(len(sizes), p))[y], y


def test_wilks_lambda_is_that_of_manova_in_r(case):
    sums, expected = case
    assert_allclose(sums.wilks_tests().wilks_lambda, expected["wilks"], rtol=1e-9)


def test_structure_loadings_are_the_within_class_correlations_of_r(case):
    sums, expected = case
    sigma = sums.within / (sums.n - sums.K)
    found = structure_loadings(sigma @ sums.eigen[1], np.diag(sigma), sums.eigen[1])
    expected = np.array(expected["structure_within"])
    assert_allclose(found * np.sign((found * expected).sum(axis=0)), expected, atol=1e-9)


def test_bartletts_tests_of_the_iris_are_as_published(iris):
    found = iris.wilks_tests()
    assert_allclose(found.chi2, [546.1153, 36.5297], atol=5e-5)
    assert_allclose(found.lambdas, [0.0234386, 0.7779734], atol=5e-8)
    assert found.df.tolist() == [8, 3]
    assert_allclose(found.p_value, stats.chi2.sf(found.chi2, [8, 3]), rtol=1e-10)


def test_wilks_lambda_is_a_ratio_of_determinants():
    sums = Sums(*normal_rows([9, 12, 20, 7], 5, seed=1))
    expected = np.linalg.det(sums.within) / np.linalg.det(sums.total)
    assert_allclose(sums.wilks_tests().wilks_lambda, expected, rtol=1e-10)


def test_eigenvalues_beyond_the_possible_dimensions_are_rounding_and_ignored():
    assert len(wilks_tests([2.0, 0.5, 1e-17], n=30, p=5, K=3).lambdas) == 2
    assert len(wilks_tests([2.0, 0.5], n=30, p=1, K=3).lambdas) == 1


def test_perfect_separation_is_certain():
    found = wilks_tests([np.inf, 0.5], n=30, p=4, K=3)
    assert found.lambdas[0] == 0
    assert found.p_value[0] == 0
    assert 0 < found.p_value[1] < 1


def test_no_difference_at_all_gives_p_value_one():
    assert wilks_tests([0.0, 0.0], n=30, p=4, K=3).p_value.tolist() == [1, 1]


def test_too_few_rows_give_no_test_rather_than_a_wrong_one():
    found = wilks_tests([3.0, 0.5], n=6, p=8, K=3)
    assert np.isnan(found.chi2).all()
    assert np.isnan(found.p_value).all()


def test_a_single_class_has_nothing_to_test():
    found = wilks_tests([], n=10, p=3, K=1)
    assert len(found.lambdas) == 0
    assert found.wilks_lambda == 1


def test_a_constant_column_has_no_loading():
    loadings = structure_loadings(np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), np.array([[1.0], [0.0]]))
    assert loadings[0, 0] == 1
    assert np.isnan(loadings[1, 0])


def test_univariate_f_of_the_iris_is_as_published(iris):
    found, _ = univariate_f(iris.weight, iris.mean, np.diag(iris.within))
    assert_allclose(found, [119.26, 49.16, 1180.16, 960.01], atol=5e-3)


def test_univariate_f_is_scipys_analysis_of_variance():
    x, y = normal_rows([5, 9, 13, 4], 6, seed=3)
    sums = Sums(x, y)
    expected = stats.f_oneway(*(x[y == k] for k in range(4)))
    found = univariate_f(sums.weight, sums.mean, np.diag(sums.within))
    assert_allclose(found, [expected.statistic, expected.pvalue], rtol=1e-9)


def test_univariate_f_of_columns_without_spread():
    weight, mean = np.array([5.0, 5.0]), np.array([[0.0, 1.0], [2.0, 1.0]])
    statistic, p_value = univariate_f(weight, mean, np.zeros(2))
    assert statistic[0] == np.inf
    assert p_value[0] == 0
    assert np.isnan([statistic[1], p_value[1]]).all()


@pytest.mark.parametrize("weight", [[7.0], [1.0, 1.0]])
def test_univariate_f_needs_two_classes_and_more_rows_than_classes(weight):
    found = univariate_f(np.array(weight), np.ones((len(weight), 3)), np.ones(3))
    assert np.isnan(found).all()


def test_box_m_of_the_iris_is_as_published(iris):
    statistic, df, p_value = box_m(iris.weight, iris.scatter)[:3]
    assert statistic == pytest.approx(140.94, abs=5e-3)
    assert df == 20
    assert p_value == pytest.approx(stats.chi2.sf(statistic, 20), rel=1e-10)


def test_box_m_of_one_column_is_bartletts_test_but_for_its_correction():
    x, y = normal_rows([6, 15, 9], 1, seed=4)
    x = x * np.array([1.0, 2.0, 0.7])[y][:, None]
    sums = Sums(x, y)
    expected = stats.bartlett(*(x[y == k, 0] for k in range(3)))
    statistic, df, p_value = box_m(sums.weight, sums.scatter)[:3]
    # Bartlett divides M by 1 + c where Box multiplies by 1 - c: the same to first order in c.
    c = (1 / 5 + 1 / 14 + 1 / 8 - 1 / 27) / 6
    assert statistic == pytest.approx(expected.statistic * (1 + c) * (1 - c), rel=1e-9)
    assert p_value == pytest.approx(stats.chi2.sf(statistic, 2), rel=1e-9)
    assert df == 2


def test_box_m_does_not_depend_on_the_units_or_the_axes(iris):
    turn = np.random.default_rng(5).normal(size=(4, 4)) * [1e-6, 1.0, 1e6, 1.0]
    turned = np.einsum("ji,kjl,lm->kim", turn, iris.scatter, turn)
    assert_allclose(box_m(iris.weight, turned), box_m(iris.weight, iris.scatter), rtol=1e-6)


def test_box_m_rejects_at_its_level_when_the_covariances_are_equal():
    rejected = [
        box_m(s.weight, s.scatter).p_value < 0.05
        for s in (Sums(*normal_rows([40, 50, 60], 3, seed)) for seed in range(400))
    ]
    # Binomial(400, 0.05): four standard deviations either side.
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)


def few_rows():
    return Sums(*normal_rows([4, 30], 4, seed=6))


def one_row():
    return Sums(*normal_rows([1, 30], 2, seed=6))


def collinear():
    x, y = normal_rows([30, 30], 3, seed=7)
    x[y == 0, 2] = x[y == 0, 0] - 2 * x[y == 0, 1]
    return Sums(x, y)


def constant_in_one_class():
    x, y = normal_rows([30, 30], 3, seed=8)
    x[y == 1, 1] = 4.0
    return Sums(x, y)


@pytest.mark.parametrize("make", [few_rows, one_row, collinear, constant_in_one_class])
def test_box_m_is_nan_when_a_class_has_no_inverse(make):
    sums = make()
    statistic, df, p_value = box_m(sums.weight, sums.scatter)[:3]
    assert np.isnan([statistic, p_value]).all()
    assert df == sums.p * (sums.p + 1) / 2


def test_box_m_of_weights_too_small_to_correct_for_is_nan():
    found = box_m(np.array([1.2, 1.2]), np.array([np.eye(2), 2 * np.eye(2)]))
    assert np.isnan([found.chi2, found.p_value]).all()


def test_coefficients_are_tested_as_by_lm_in_r():
    numbers = json.loads(REFERENCE.read_text())["iris"]["indicator"]
    coef, expected = np.array(numbers["coef"])[:, 1], numbers["second_class"]
    statistic, p_value = coefficient_table(coef, np.array(expected["std_error"]), df=145)
    assert_allclose(statistic, expected["t"], rtol=1e-10)
    assert_allclose(p_value, expected["p"], rtol=1e-9)


def test_without_degrees_of_freedom_the_statistic_is_normal_far_into_the_tail():
    coef = np.array([0.0, -1.96, 3.0, 37.0])
    statistic, p_value = coefficient_table(coef, np.ones(4))
    assert_allclose(statistic, coef)
    assert_allclose(p_value, 2 * stats.norm.sf(np.abs(coef)), rtol=1e-10)


def test_a_coefficient_without_error_is_certain_and_one_without_value_is_unknown():
    statistic, p_value = coefficient_table(np.array([1.0, 0.0, np.nan]), np.array([0.0, 0.0, 1.0]), df=10)
    assert statistic[0] == np.inf
    assert p_value[0] == 0
    assert np.isnan(statistic[1:]).all()
    assert np.isnan(p_value[1:]).all()


def test_columns_that_others_determine_change_no_test_of_the_dimensions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += y
    more = np.column_stack([X, X[:, 0] + X[:, 1], 2 * X[:, 2]])
    plain, spare = LinearDiscriminantAnalysis().fit(X, y).summary(), LinearDiscriminantAnalysis().fit(more, y).summary()
    assert_allclose(np.asarray(spare.tables[0]), np.asarray(plain.tables[0]), rtol=1e-7)


def test_the_unit_of_weights_that_are_fractions_changes_no_test():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    weight = rng.uniform(0.2, 3.0, 60)
    one, ten = (LinearDiscriminantAnalysis().fit(X, y, unit * weight).summary() for unit in (1.0, 10.3))
    assert_allclose(np.asarray(ten.tables[0]), np.asarray(one.tables[0]), rtol=1e-7)
    assert_allclose(ten.p_value, one.p_value, rtol=1e-7)
    counts = rng.integers(1, 4, 60)
    counted = LinearDiscriminantAnalysis().fit(X, y, counts).summary()
    written = LinearDiscriminantAnalysis().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).summary()
    assert_allclose(counted.p_value, written.p_value, rtol=1e-7)
